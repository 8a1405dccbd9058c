"""Looking never writes: whatever is done to a store short of changing it, every byte and time stays."""

import os
import stat
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from pitree.catalog.cache import Cache
from pitree.catalog.locations import Store, session_paths
from pitree.catalog.resolve import resolve_session
from pitree.catalog.rows import SessionRow
from pitree.catalog.scan import scan_store
from pitree.catalog.search import Search
from pitree.catalog.sync import update
from pitree.cli import main
from pitree.sessions.context import build_session_context
from pitree.sessions.describe import describe
from pitree.sessions.errors import NotASessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.filters import FILTERS
from pitree.sessions.find import EntryTexts
from pitree.sessions.layout import Layout
from pitree.sessions.query import parse_query
from pitree.sessions.rows import layout_rows
from pitree.sessions.tokens import context_tokens

from . import damaged

LONG_AGO = 1_000_000_000

Facts = dict[str, tuple[Any, ...]]


def facts(root: Path) -> Facts:
    """Give all that can be seen of files and folders, and that reading does not change; links unfollowed."""
    found: Facts = {}
    for path in [root, *sorted(root.rglob("*"))]:
        seen = path.lstat()
        content = path.read_bytes() if stat.S_ISREG(seen.st_mode) else None
        kept = (seen.st_mode, seen.st_ino, seen.st_nlink, seen.st_size, seen.st_mtime_ns, seen.st_ctime_ns)
        found[str(path)] = (*kept, content)
    return found


@pytest.fixture
def folder(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Fill a folder of the default store, and be in the working directory that it belongs to."""
    monkeypatch.setenv("PATH", "/nowhere")
    work = home / "code"
    work.mkdir()
    monkeypatch.chdir(work)
    store = home / ".pi" / "agent" / "sessions"
    made = store / ("--" + str(work).strip("/").replace("/", "-") + "--")
    files = damaged.write_all(made)
    (made / "link.jsonl").symlink_to(files["plain"])
    (made / "broken.jsonl").symlink_to("nowhere")
    (made / "notes.txt").write_text("of another kind")
    (store / "empty").mkdir()
    for path in [home, *home.rglob("*")]:  # long ago, so that whatever is written now shows
        os.utime(path, (LONG_AGO, LONG_AGO), follow_symlinks=False)
    return made


def test_the_facts_show_what_changes(folder: Path) -> None:
    before = facts(folder.parent)
    plain = folder / "plain.jsonl"
    content = plain.read_bytes()
    plain.write_bytes(content)  # the same bytes, at another time
    changed = facts(folder.parent)
    assert {name for name in before if changed[name] != before[name]} == {str(plain)}
    (folder / "new").touch()
    (folder / "new").unlink()
    again = facts(folder.parent)
    assert {name for name in changed if again[name] != changed[name]} == {str(folder)}


def test_the_library_only_reads(folder: Path, home: Path) -> None:
    before = facts(home)
    store = Store(folder.parent, flat=False, source="default")
    rows: list[SessionRow] = []
    scan_store(session_paths(store), on_rows=lambda found, _done, _all: rows.extend(found))
    assert len(rows) == len(damaged.SESSIONS) + 1
    with closing(Cache(None)) as cache:
        rows.clear()
        update(store, cache, on_rows=lambda found, _done, _all: rows.extend(found))
        assert len(rows) == len(damaged.SESSIONS) + 1
        assert Search(cache).find(rows, parse_query("hi"))
    assert resolve_session(str(folder / "plain.jsonl"), store, folder).exists()
    opened = 0
    for path in sorted(folder.glob("*.jsonl")):
        try:
            session = SessionFile.load(path)
        except (NotASessionError, FileNotFoundError):
            continue
        with session:
            opened += 1
            look_at(session)
    assert opened == len(rows)
    assert facts(home) == before


def look_at(session: SessionFile) -> None:
    assert session.damage is not None
    words = EntryTexts(session)
    words.read()
    for leaf in [None, session.tree.leaf_id, *(entry.id for entry in session.entries)]:
        layout = Layout(session.tree, leaf)
        words.matches(layout, parse_query("hi"))
        context_tokens(build_session_context(session, leaf))
        for name in FILTERS:
            assert len(list(layout_rows(layout, name))) <= len(session.entries)
    for entry in session.entries:
        describe(session, entry)


@pytest.mark.usefixtures("capfdbinary")
def test_the_command_line_only_reads(folder: Path, home: Path) -> None:
    before = facts(home / ".pi")
    codes = {
        main(["list", *words]) for words in ([], ["--json"], ["--all"], ["hi"], ["--all", "--json", "hi"])
    }
    assert codes == {0}
    for path in sorted(folder.iterdir()):
        name = str(path)
        for arguments in (
            ["tree", name],
            ["tree", name, "--json", "--filter", "all"],
            ["context", name],
            ["context", name, "--json"],
            ["context", name, "--leaf", damaged.HI],
            ["show", name, damaged.HI],
            ["show", name, damaged.HI, "--json"],
            ["resume", name],
            [name],
        ):
            assert main(arguments) in {0, 1}
    assert main(["resume"]) == main([]) == 1
    assert facts(home / ".pi") == before
    assert {path.name for path in home.iterdir()} - {".pi", ".cache", "code"} == set()
