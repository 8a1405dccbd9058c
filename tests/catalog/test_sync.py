"""The cache and the store: whatever happened before, what is listed and found is what is there now."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree.catalog import cache as cache_module
from pitree.catalog import sync as sync_module
from pitree.catalog.cache import Cache
from pitree.catalog.errors import CacheLostError
from pitree.catalog.locations import FoundFile, Store
from pitree.catalog.rows import SessionRow, newest_first
from pitree.catalog.scan import Mark, Scanned, read_session, scan_file
from pitree.catalog.search import Search
from pitree.catalog.sync import Update, update
from pitree.sessions.query import parse_query

from .store import Json, entry, found, header, message, write

ROOT = Path(__file__).parents[2]


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "store"
    write(root / "--a--/one.jsonl", header("one", cwd="/a"), message("user", "the first word"), mtime=1)
    write(root / "--a--/two.jsonl", header("two", cwd="/a"), message("user", "half \ud83d"), mtime=2)
    write(root / "--b--/three.jsonl", header("three", cwd="/b"), message("user", "x\n" * 5000), mtime=3)
    write(root / "--b--/none.jsonl", b"no session")
    return Store(root, flat=False, source="default")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "cache"


@pytest.fixture
def cache(folder: Path) -> Iterator[Cache]:
    made = Cache(folder)
    yield made
    made.close()


class Seen:
    """What one update showed: rows by location, and how many came from where."""

    def __init__(self, store: Store, cache: Cache, **given: object) -> None:
        self.rows: dict[str, SessionRow] = {}
        self.known = 0
        self.read = 0
        self.done: Update = update(store, cache, on_rows=self, **given)  # type: ignore[arg-type]
        self.cache = cache

    def __call__(self, rows: list[SessionRow], _done: int, total: int) -> None:
        self.rows.update((row.location, row) for row in rows)
        if total:
            self.read += len(rows)
        else:
            self.known = len(self.rows)

    @property
    def present(self) -> list[SessionRow]:
        return newest_first(row for place, row in self.rows.items() if place in self.done.locations)

    @property
    def facts(self) -> list[Json]:
        """Everything that is listed or found, in order."""
        whole = self.cache.first_messages(self.present)
        labels = self.cache.labels(self.present)
        return [
            {name: getattr(row, name) for name in row.__struct_fields__ if name not in ("key", "shortened")}
            | {"first_message": whole.get(row.key, row.first_message)}
            | {"text": self.cache.text(row.key), "labels": labels.get(row.key, [])}
            | {"spans": [span for part in self.cache.parts(row.key) for span in part.spans]}
            for row in self.present
        ]

    def found(self, query: str) -> list[str]:
        return [row.id for row in Search(self.cache).find(self.present, parse_query(query))]


def test_a_cache_says_what_the_files_say(store: Store, cache: Cache) -> None:
    seen = Seen(store, cache)

    assert (seen.known, seen.read) == (0, 3)
    for row, facts in zip(seen.present, seen.facts, strict=True):
        read = scan_file(found(row.path))
        assert read is not None
        assert (facts["text"], facts["first_message"]) == (read.text, read.first_message)
        assert row.title == read.title
    assert seen.found("first") == ["one"]


def test_what_is_known_is_shown_at_once_and_not_read_again(
    store: Store, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = Seen(store, cache)
    monkeypatch.setattr(sync_module, "read_session", None)
    again = Seen(store, cache)

    assert (again.known, again.read) == (3, 0)
    assert again.facts == before.facts


def test_another_process_knows_it_too(store: Store, cache: Cache, folder: Path) -> None:
    before = Seen(store, cache)
    other = Cache(folder)
    again = Seen(store, other)

    assert (again.known, again.read) == (3, 0)
    assert again.facts == before.facts
    other.close()


def test_only_what_changed_is_read(store: Store, cache: Cache) -> None:
    Seen(store, cache)
    with (store.root / "--a--/one.jsonl").open("ab") as file:
        file.write(json.dumps(message("assistant", "another")).encode() + b"\n")
    (store.root / "--b--/three.jsonl").unlink()
    write(store.root / "--c--/four.jsonl", header("four"), message("user", "new"), mtime=9)
    write(store.root / "--b--/none.jsonl", header("some"), message("user", "now it is one"), mtime=10)

    seen = Seen(store, cache)

    assert (seen.known, seen.read) == (3, 3)
    assert {row.id for row in seen.present} == {"one", "two", "four", "some"}
    assert seen.facts == Seen(store, Cache(None)).facts
    assert seen.found("another") == ["one"]
    assert Seen(store, cache).read == 0


@pytest.mark.parametrize("gone", ["file", "folder"])
def test_what_is_gone_is_forgotten(store: Store, cache: Cache, folder: Path, gone: str) -> None:
    Seen(store, cache)
    for path in (store.root / "--b--").iterdir():
        path.unlink()
    if gone == "folder":
        (store.root / "--b--").rmdir()
    Seen(store, cache)

    with sqlite3.connect(folder / "sessions-1.sqlite3") as connection:
        for table, left in (("files", 2), ("marks", 2), ("parts", 2)):
            counted = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608
            assert counted == (left,)
    connection.close()


def test_a_root_that_is_away_for_a_while_is_not_forgotten(store: Store, cache: Cache) -> None:
    Seen(store, cache)
    store.root.rename(store.root.with_name("away"))
    assert Seen(store, cache).present == []
    store.root.with_name("away").rename(store.root)

    assert Seen(store, cache).read == 0


def test_one_file_in_two_places_is_read_once(store: Store, cache: Cache, tmp_path: Path) -> None:
    (store.root / "--linked--").symlink_to(store.root / "--a--")
    outside = write(tmp_path / "outside.jsonl", header("out"), message("user", "out"))
    (store.root / "--b--/alias.jsonl").symlink_to(outside)

    first = Seen(store, cache)
    again = Seen(store, cache)

    assert first.facts == again.facts
    assert again.read == 0
    assert sorted(row.id for row in first.present) == sorted(["one", "two", "one", "two", "three", "out"])
    assert sorted({row.key for row in first.present}) == sorted({row.key for row in again.present})
    assert len({row.key for row in first.present}) == 4


def test_a_file_asked_for_is_listed_wherever_it_is(store: Store, cache: Cache, tmp_path: Path) -> None:
    outside = write(tmp_path / "outside.jsonl", header("out"), message("user", "out"))
    for read in (4, 0):
        seen = Seen(store, cache, also=[outside, tmp_path / "nothing.jsonl"])
        assert seen.read == read
        assert str(outside) in seen.rows
        assert "out" in [row.id for row in seen.present]


def test_one_folder_only(store: Store, cache: Cache) -> None:
    seen = Seen(store, cache, cwd="/a")
    assert {row.id for row in seen.present} == {"one", "two"}
    assert Seen(store, cache).read == 1


def test_names_that_are_not_utf_8(store: Store, cache: Cache) -> None:
    odd = os.fsencode(store.root) + b"/--\xff--"
    os.mkdir(odd)  # noqa: PTH102
    with open(odd + b"/\xfe.jsonl", "wb") as file:  # noqa: PTH123
        file.write(json.dumps(header("odd")).encode())
    for read in (4, 0):
        seen = Seen(store, cache)
        assert seen.read == read
        [row] = [row for row in seen.present if row.id == "odd"]
        assert os.fsencode(row.path) == odd + b"/\xfe.jsonl"


def test_a_file_that_cannot_be_read_keeps_its_row(
    store: Store, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    Seen(store, cache)
    path = store.root / "--a--/one.jsonl"
    os.utime(path, (77, 77))

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(sync_module, "read_session", refuse)
    seen = Seen(store, cache)

    assert [(problem.path, problem.reason) for problem in seen.done.problems] == [(path, "Permission denied")]
    assert "one" in [row.id for row in seen.present]


# ---- the same as reading anew, whatever came before

changes = st.lists(
    st.tuples(
        st.sampled_from(["append", "tear", "mend", "rewrite", "replace", "remove", "name", "label"]),
        st.integers(0, 2),
        st.integers(0, 99),
    ),
    max_size=10,
)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(changes=changes)
def test_a_cache_that_followed_is_one_made_anew(
    tmp_path_factory: pytest.TempPathFactory, changes: list[tuple[str, int, int]]
) -> None:
    root = tmp_path_factory.mktemp("store")
    store = Store(root, flat=True, source="")
    followed = Cache(root / "cache")
    clock = 1_000
    for kind, which, number in changes:
        clock += 1
        path = root / f"{which}.jsonl"
        change(kind, path, number)
        if path.exists():
            os.utime(path, (clock, clock))
        Seen(store, followed)
    fresh = Cache(None)
    assert Seen(store, followed).facts == Seen(store, fresh).facts
    for query in ("word7", "tail", "re:word[0-9]", '"word7 word7"'):
        assert Seen(store, followed).found(query) == Seen(store, fresh).found(query)
    followed.close()
    fresh.close()


def change(kind: str, path: Path, number: int) -> None:
    line = json.dumps(message("user", f"word{number} word{number % 10}", at=number, id=str(number))).encode()
    data = path.read_bytes() if path.exists() else json.dumps(header(path.stem)).encode() + b"\n"
    match kind:
        case "append":
            data += line + b"\n"
        case "tear":
            data += line[: number % len(line)]
        case "mend":
            data += b"\n"
        case "rewrite":
            data = data.replace(b"word", b"tail", 1) + b"\n" * (number % 2)
        case "name":
            data += json.dumps(entry("session_info", name=f"n{number}")).encode() + b"\n"
        case "label":
            data += json.dumps(entry("label", targetId="e", label=f"l{number}")).encode()
        case _:
            path.unlink(missing_ok=True)
            if kind == "remove":
                return
            data += line
    path.write_bytes(data)


# ---- when something is wrong with the cache


def break_it(file: Path) -> None:
    file.write_bytes(b"SQLite format 3\0" + b"broken" * 1000)


def truncate(file: Path) -> None:
    os.truncate(file, 5000)


def older(file: Path) -> None:
    file.unlink()
    connection = sqlite3.connect(file)
    connection.execute("CREATE TABLE files (key, folder)")
    connection.commit()
    connection.close()


def without_a_table(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("DROP TABLE parts")
    connection.commit()
    connection.close()


def nonsense_inside(file: Path) -> None:
    connection = sqlite3.connect(file)
    connection.execute("UPDATE files SET row = x'c0ffee'")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("damage", [break_it, truncate, older, without_a_table, nonsense_inside])
def test_a_damaged_cache_is_made_anew(store: Store, folder: Path, damage: Callable[[Path], None]) -> None:
    cache = Cache(folder)
    before = Seen(store, cache).facts
    cache.close()
    damage(folder / "sessions-1.sqlite3")

    cache = Cache(folder)
    seen = Seen(store, cache)

    assert seen.facts == before
    assert seen.found("first") == ["one"]
    cache.close()
    cache = Cache(folder)  # and it serves again
    assert Seen(store, cache).read == 0
    assert cache.trouble is None
    cache.close()


def test_a_cache_that_breaks_in_use_says_so_and_serves_again(
    store: Store, cache: Cache, folder: Path
) -> None:
    seen = Seen(store, cache)
    without_a_table(folder / "sessions-1.sqlite3")

    with pytest.raises(CacheLostError):
        cache.text(seen.present[0].key)

    again = Seen(store, cache)
    assert again.read == 3
    assert again.found("first") == ["one"]


def test_a_folder_that_cannot_be_used_is_done_without(store: Store, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    cache = Cache(tmp_path / "file" / "cache")

    assert cache.trouble is not None
    assert "cannot be used" in cache.trouble
    assert Seen(store, cache).found("first") == ["one"]
    cache.close()


def test_a_cache_that_somebody_holds_for_too_long_is_done_without(
    store: Store, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cache_module, "_BUSY_SECONDS", 0.05)
    Cache(folder).close()
    holder = sqlite3.connect(folder / "sessions-1.sqlite3", isolation_level=None)
    holder.execute("BEGIN EXCLUSIVE")
    cache = Cache(folder)

    assert Seen(store, cache).found("first") == ["one"]
    assert cache.trouble is not None
    assert "locked" in cache.trouble
    holder.close()
    cache.close()


def test_nobody_else_can_read_it(store: Store, cache: Cache, folder: Path) -> None:
    Seen(store, cache)
    assert all(file.stat().st_mode & 0o077 == 0 for file in folder.iterdir())


# ---- several at once


def test_who_read_on_from_the_same_place_does_not_say_it_twice(
    store: Store, cache: Cache, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    Seen(store, cache)
    other = Cache(folder)
    with (store.root / "--a--/one.jsonl").open("ab") as file:
        file.write(json.dumps(message("assistant", "another")).encode() + b"\n")
    once = [True]

    def after_the_other(file: FoundFile, mark: Mark | None = None, **_: object) -> Scanned | None:
        scanned = read_session(file, mark)
        if once.pop() if once else False:
            Seen(store, other)
        return scanned

    monkeypatch.setattr(sync_module, "read_session", after_the_other)
    Seen(store, cache)
    monkeypatch.undo()

    assert Seen(store, cache).facts == Seen(store, Cache(None)).facts
    other.close()


def test_two_threads_at_once_read_nothing_twice(
    store: Store, cache: Cache, monkeypatch: pytest.MonkeyPatch
) -> None:
    for place in range(100):
        write(store.root / f"--a--/{place:03}.jsonl", header(f"id{place}"), message("user", "word"))
    read: list[str] = []

    def watched(file: FoundFile, *given: Any, **named: Any) -> Scanned | None:  # noqa: ANN401
        read.append(file.file)
        return read_session(file, *given, **named)

    monkeypatch.setattr(sync_module, "read_session", watched)
    threads = [threading.Thread(target=Seen, args=(store, cache)) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()

    assert sorted(read) == sorted(set(read))
    assert len(read) == 104


def test_two_programs_at_once_and_one_that_is_killed(tmp_path: Path) -> None:
    root = tmp_path / "store"
    for place in range(400):
        write(root / f"{place:03}.jsonl", header(f"id{place}"), *[message("user", f"word{place}")] * 20)
    store = Store(root, flat=True, source="")
    program = (
        "import sys; from pathlib import Path\n"
        "from pitree.catalog.cache import Cache\n"
        "from pitree.catalog.locations import Store\n"
        "from pitree.catalog.sync import update\n"
        "update(Store(Path(sys.argv[1]), True, ''), Cache(Path(sys.argv[2])),\n"
        "       on_rows=lambda rows, done, total: print(done, flush=True))\n"
    )

    def start() -> "subprocess.Popen[bytes]":
        command = [sys.executable, "-c", program, str(root), str(tmp_path / "cache")]
        return subprocess.Popen(command, stdout=subprocess.PIPE, env={**os.environ, "PYTHONPATH": str(ROOT)})

    with start() as killed, start() as first, start() as second:
        assert killed.stdout is not None
        killed.stdout.readline()
        killed.send_signal(signal.SIGKILL)
        first.communicate()
        second.communicate()
        assert (killed.wait(), first.wait(), second.wait()) == (-signal.SIGKILL, 0, 0)

    cache = Cache(tmp_path / "cache")
    seen = Seen(store, cache)
    assert (cache.trouble, seen.read, len(seen.present)) == (None, 0, 400)
    assert seen.facts == Seen(store, Cache(None)).facts
    cache.close()


def test_searching_while_it_is_filled(store: Store, cache: Cache) -> None:
    for place in range(300):
        write(store.root / f"--a--/{place:03}.jsonl", header(f"id{place}"), message("user", "word" * 50))
    seen = Seen(store, cache)
    for path in store.root.glob("--a--/???.jsonl"):
        os.utime(path, (5, 5))
    thread = threading.Thread(target=lambda: Seen(store, cache))
    thread.start()
    counts = set()
    while thread.is_alive():
        counts.add(len(seen.found("word")))
        time.sleep(0)
    thread.join()

    assert counts <= {301}
