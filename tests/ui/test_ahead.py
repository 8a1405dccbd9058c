"""What a list's first picture needs: the same rows as a whole reading gives, whoever reads them."""

from pathlib import Path

import pytest
from catalog.store import header, message, write

from pitree.catalog import readers
from pitree.catalog.cache import Cache
from pitree.catalog.known import FIRST_ROWS, cache_file, newest_known
from pitree.catalog.locations import Store
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.starting import end_reader
from pitree.catalog.sync import update
from pitree.sessions.machine import processors
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


@pytest.fixture(autouse=True)
def worth_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a reader asked however little there is to read."""
    monkeypatch.setattr(readers, "_WORTH_ASKING_BYTES", 1)


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


@pytest.mark.parametrize("reads", ["as it is up", "never"])
def test_without_a_cache_a_reader_is_started(reads: str, store: Store, caches: Path, tmp_path: Path) -> None:
    first = first_rows(store, caches)
    first.wait()
    reader = first.take_reader()
    if processors() < 2:
        assert reader is None
        return
    assert reader is not None
    assert first.take_reader() is None
    if reads == "never":
        reader.kill()
        reader.wait()
    taken = Taken()
    cache = Cache(caches)
    done = update(store, cache, on_rows=taken, reader=reader)
    cache.close()
    end_reader(reader)
    assert done.locations == set(taken.rows)
    assert taken.facts() == read_whole(store, tmp_path / "other").facts()


def test_what_is_known_is_there_without_reading(store: Store, caches: Path) -> None:
    whole = read_whole(store, caches)
    for path in store.root.glob("*/*"):
        path.unlink()  # so that nothing can be read
    first = first_rows(store, caches)
    first.wait()
    told = [(row.location, row.title, row.message_count) for row in first.rows]
    assert told == whole.facts()[:FIRST_ROWS]
    assert first.take_reader() is None


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
