"""What a list's first picture needs: the same rows as a whole reading gives, whoever reads them."""

from pathlib import Path

import pytest
from catalog.store import header, message, write

from pitree.catalog import readers
from pitree.catalog.cache import Cache
from pitree.catalog.known import FIRST_ROWS, cache_file, newest_known
from pitree.catalog.locations import Store
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.sync import update
from pitree.ui.ahead import FirstRows
from pitree.ui.state import ViewStore

COUNT = FIRST_ROWS + 20


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "store"
    for number in range(COUNT):
        folder = "--a--" if number % 2 else "--b--"
        said = message("user", f"word {number} " * 50, at=number)
        write(root / folder / f"{number}.jsonl", header(f"s{number}", cwd=str(tmp_path)), said)
    return Store(root, flat=False, source="default")


@pytest.fixture
def caches(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture(params=["here", "elsewhere"])
def reading(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have it read in this process, or in others."""
    if request.param == "elsewhere":
        monkeypatch.setattr(readers, "_SPARE_BYTES", 1)
        monkeypatch.setattr(readers, "processors", lambda: 2)


def first_rows(store: Store, caches: Path, cwd: Path = Path("/a")) -> FirstRows:
    return FirstRows(store, cwd, caches, ViewStore(None), scope="everything")


class Taken:
    """What was handed out."""

    def __init__(self) -> None:
        self.rows: dict[str, SessionRow] = {}

    def __call__(self, rows: list[SessionRow], _done: int, _total: int) -> None:
        self.rows.update((row.location, row) for row in rows)

    def facts(self) -> list[tuple[str, str, int]]:
        return [(row.location, row.title, row.message_count) for row in newest_first(self.rows.values())]


def read_whole(store: Store, caches: Path) -> Taken:
    taken = Taken()
    cache = Cache(caches)
    update(store, cache, on_rows=taken)
    cache.close()
    return taken


@pytest.mark.usefixtures("reading")
def test_an_unknown_store_is_read_at_once(store: Store, caches: Path, tmp_path: Path) -> None:
    first = first_rows(store, caches)
    taken = Taken()
    done = first.go_on_reading(everything=True, nested=False, on_rows=taken, stop=lambda: False)
    assert done is not None
    assert done.locations == set(taken.rows)
    assert taken.facts() == read_whole(store, tmp_path / "other").facts()
    assert first.rows
    assert first.exists == {str(tmp_path): True}
    cache = first.take_cache()
    assert cache is not None
    cache.close()
    # what was read is kept
    assert newest_known(cache_file(caches), [str(store.root / "--a--")])
    first.close()


def test_what_is_known_is_there_without_reading(store: Store, caches: Path) -> None:
    whole = read_whole(store, caches)
    for path in store.root.glob("*/*"):
        path.unlink()  # so that nothing can be read
    first = first_rows(store, caches)
    first.wait()
    told = [(row.location, row.title, row.message_count) for row in first.rows]
    assert told == whole.facts()[:FIRST_ROWS]
    assert first.go_on_reading(everything=True, nested=False, on_rows=Taken(), stop=lambda: False) is None
    first.close()


def test_of_another_scope_nothing_is_taken_over(store: Store, caches: Path) -> None:
    first = first_rows(store, caches)
    assert first.go_on_reading(everything=False, nested=False, on_rows=Taken(), stop=lambda: False) is None
    first.wait()
    first.close()


def test_it_ends_when_nobody_wants_it(store: Store, caches: Path) -> None:
    first = first_rows(store, caches)
    first.go_on_reading(everything=True, nested=False, on_rows=Taken(), stop=lambda: True)
    first.close()
    first.wait()


@pytest.mark.parametrize("damage", [b"", b"no database", b"SQLite format 3\0" + bytes(200)])
def test_a_cache_that_is_none_gives_nothing_and_is_left_alone(damage: bytes, tmp_path: Path) -> None:
    file = tmp_path / "cache.sqlite3"
    assert newest_known(file, ["/a"]) == []
    assert not file.exists()
    file.write_bytes(damage)
    assert newest_known(file, ["/a"]) == []
    assert file.read_bytes() == damage


def test_rows_are_where_the_folder_was_found(store: Store, caches: Path) -> None:
    read_whole(store, caches)
    link = store.root.parent / "link?#%20"
    link.symlink_to(store.root / "--a--")
    rows = newest_known(cache_file(caches), [str(link)])
    assert len(rows) == COUNT // 2
    assert {row.folder for row in rows} == {str(link)}
