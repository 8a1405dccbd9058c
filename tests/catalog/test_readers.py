"""Reading in other processes comes to the same as reading here, also where they die."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from pitree.catalog import readers, sync
from pitree.catalog.cache import Cache
from pitree.catalog.locations import FoundFile, Store, files_in

from .store import header, message, write
from .test_sync import Seen

pytestmark = pytest.mark.skipif(os.name != "posix", reason="elsewhere there are no readers")


@pytest.fixture
def store(tmp_path: Path) -> Store:
    for place in range(200):
        talk = [message("user", f"word{place} \ud83d" if place % 50 == 0 else f"word{place}")] * 5
        write(tmp_path / f"store/{place:03}.jsonl", header(f"id{place}"), *talk, mtime=place + 1)
    write(tmp_path / "store/none.jsonl", b"no session")
    (tmp_path / "store/alias.jsonl").symlink_to("000.jsonl")
    return Store(tmp_path / "store", flat=True, source="")


@pytest.fixture
def cache(tmp_path: Path) -> Iterator[Cache]:
    made = Cache(tmp_path / "cache")
    yield made
    made.close()


@pytest.fixture(autouse=True)
def _readers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "WORTH_IT_BYTES", 0)
    monkeypatch.setattr(readers, "processors", lambda: 2)
    monkeypatch.setattr(readers, "_SHARE_FILES", 7)


def same_as_here(seen: Seen, store: Store) -> None:
    alone = Cache(None)
    assert seen.facts == Seen(store, alone).facts
    assert seen.found("word7") == Seen(store, alone).found("word7")
    alone.close()


def test_the_same_as_here(store: Store, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "read_session", None)  # nothing is read here
    monkeypatch.setattr(readers, "_SHARE_BYTES", 0)  # all of it is large enough to be left to others

    seen = Seen(store, cache)

    monkeypatch.undo()
    assert len(seen.present) == 201
    same_as_here(seen, store)
    assert Seen(store, cache).read == 0


def test_what_grew_is_read_on(store: Store, cache: Cache) -> None:
    Seen(store, cache)
    for path in store.root.glob("1*.jsonl"):
        with path.open("ab") as file:
            file.write(b'{"type":"session_info","id":"n","parentId":null,"timestamp":"","name":"new"}\n')

    seen = Seen(store, cache)

    assert seen.read == 100
    assert sum(row.name == "new" for row in seen.present) == 100
    same_as_here(seen, store)


def test_files_that_cannot_be_read(store: Store, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    def one_more(*given: object, **named: object) -> list[FoundFile]:
        gone = FoundFile(str(store.root), "gone.jsonl", 5, 5, 5)
        return [*files_in(*given, **named), gone]  # type: ignore[arg-type]

    monkeypatch.setattr(sync, "files_in", one_more)
    seen = Seen(store, cache)

    assert [problem.path.name for problem in seen.done.problems] == ["gone.jsonl"]
    assert len(seen.present) == 201


@pytest.mark.parametrize("command", [["false"], ["no-such-program"], ["sh", "-c", "echo ready; read line"]])
def test_readers_that_die(
    command: list[str], store: Store, cache: Cache, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = tmp_path / "program"
    program.write_text("#!/bin/sh\nexec " + " ".join(f"'{word}'" for word in command) + "\n")
    program.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(program))

    seen = Seen(store, cache)

    assert len(seen.present) == 201
    same_as_here(seen, store)


def test_a_reading_that_is_stopped_leaves_no_readers(store: Store, cache: Cache) -> None:
    asked: list[None] = []

    def stop() -> bool:
        asked.append(None)
        return len(asked) > 20

    seen = Seen(store, cache, stop=stop)

    assert len(seen.rows) < 201
    shown = subprocess.run(["ps", "-A", "-o", "args"], capture_output=True, text=True, check=True).stdout
    assert str(cache.file) not in shown


def test_readers_need_a_cache_to_share(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sync, "read_elsewhere", None)
    cache = Cache(None)

    assert len(Seen(store, cache).present) == 201
    cache.close()


def test_little_is_read_here(store: Store, cache: Cache, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(readers, "WORTH_IT_BYTES", 1 << 30)
    monkeypatch.setattr(sync, "read_elsewhere", None)

    assert len(Seen(store, cache).present) == 201
