"""Following a file that grows, in whatever pieces, gives what reading it at once gives."""

import os
from pathlib import Path
from typing import Any

import msgspec
import pytest
from agent.build import Session, encode, moment
from agent.strategies import sessions
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree import commands
from pitree.cli import main
from pitree.sessions.context import build_session_context
from pitree.sessions.entries import decode_entry
from pitree.sessions.errors import NotASessionError, SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.filters import FILTERS
from pitree.sessions.jsonl import Line
from pitree.sessions.rows import visible_rows

from . import damaged
from .damaged import Make


def seen(session: SessionFile) -> dict[str, Any]:
    """Give all that can be seen of a session."""
    tree = session.tree
    try:
        context: object = build_session_context(session, tree.leaf_id).messages
    except SessionError as error:
        context = str(error)
    return {
        "header": session.header,
        "version": session.version,
        "read_only": session.read_only,
        "refused": session.refused_by_pi,
        "size": session.size,
        "damage": session.damage,
        "entries": [msgspec.structs.astuple(entry) for entry in tree.entries],
        "superseded": [msgspec.structs.astuple(entry) for entry in tree.superseded],
        "notes": [tree.notes(entry) for entry in tree.entries],
        "parents": tree.parents,
        "roots": list(tree.roots),
        "children": [list(tree.children(position)) for position in range(len(tree))],
        "leaf": tree.leaf_id,
        "name": tree.name,
        "labels": (tree.labels, tree.stray_labels, tree.label_times),
        "rows": {mode: [(row.entry.id, row.depth) for row in visible_rows(tree, mode)] for mode in FILTERS},
        "context": context,
        "bodies": [session.body(entry) for entry in tree.entries],
    }


class Follower:
    """Keeps a session up to date by `refresh`, loading it only where that says so; `loads` counts those."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.session: SessionFile | None = None
        self.loads = 0

    def look(self) -> None:
        """Take up what changed, and hold it against the file read anew."""
        if self.session is None or self.session.refresh().replaced:
            self.close()
            try:
                self.session = SessionFile.load(self.path)
                self.loads += 1
            except (NotASessionError, FileNotFoundError) as error:
                with pytest.raises(type(error)):
                    SessionFile.load(self.path)
                return
        with SessionFile.load(self.path) as fresh:
            assert seen(self.session) == seen(fresh)

    def close(self) -> None:
        if self.session is not None:
            self.session.close()
            self.session = None


WHOLE = encode(
    [{"type": "custom", "customType": "x", "id": "whole", "parentId": None, "timestamp": moment(9)}]
)[:-1]

noise = st.sampled_from(
    [
        b"",
        b"  \t\r",
        b"\x00\x00",
        b"null",
        b"5",
        b'{"type":"session","id":"again"}',
        b'{"type":"custom","id":"torn","data":"\xf0\x9f\x98' + WHOLE,
        b'{"type":"custom","id":"\xff\xfe"}',
        '{"type":"label","targetId":"00000001","label":"é日😀"}'.encode(),
        b'{"type":"leaf","id":"l","parentId":null,"targetId":"00000001","timestamp":"x"}',
    ]
)


@st.composite
def growing_files(draw: st.DrawFn) -> tuple[bytes, list[int]]:
    """Make a session of any version, with damaged lines in it, and the places where it is cut."""
    made = draw(sessions())
    made.header["version"] = draw(st.sampled_from([3, 3, 3, 2, 1, 4]))
    for line in draw(st.lists(noise, max_size=4)):
        made.lines.insert(draw(st.integers(0, len(made.lines))), line)
    repeated = draw(st.lists(st.sampled_from(made.lines), max_size=2)) if made.lines else []
    made.lines += repeated
    made.tail = draw(noise)
    content = draw(st.sampled_from([b"", b"\n", b'{"type":"title"}\n'])) + made.encoded(ascii_only=False)
    if draw(st.booleans()):
        content = content.rstrip(b"\n")
    cuts = draw(st.lists(st.integers(0, len(content)), max_size=12))
    # and some in the interesting places: around line ends
    ends = [place for place, byte in enumerate(content) if byte == 0x0A]
    around = st.builds(
        lambda end, by: min(end + by, len(content)), st.sampled_from(ends or [0]), st.integers(0, 2)
    )
    cuts += draw(st.lists(around, max_size=6))
    return content, sorted(cuts)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(file=growing_files())
def test_a_growing_file(file: tuple[bytes, list[int]], tmp_path_factory: pytest.TempPathFactory) -> None:
    content, cuts = file
    path = tmp_path_factory.mktemp("grows") / "session.jsonl"
    path.touch()
    follower = Follower(path)
    for start, end in zip([0, *cuts], [*cuts, len(content)], strict=True):
        with path.open("ab") as growing:
            growing.write(content[start:end])
        follower.look()
    follower.close()


def test_growth_is_followed_without_loading_again(tmp_path: Path) -> None:
    """Or the property above would hold for a reader that always begins anew."""
    content = damaged.labels_cleared() + damaged.bad_lines().partition(b"\n")[2]
    path = tmp_path / "session.jsonl"
    first = content.index(b"\n") + 1
    path.write_bytes(content[:first])
    follower = Follower(path)
    follower.look()
    for place in range(first, len(content), 7):
        with path.open("ab") as growing:
            growing.write(content[place : place + 7])
        follower.look()
    assert follower.loads == 1
    follower.close()


# ---- files that do more than grow

Change = Any


def _truncate(path: Path, place: float, _content: bytes) -> None:
    if path.exists():
        os.truncate(path, int(place * path.stat().st_size))


def _rewrite(path: Path, _place: float, content: bytes) -> None:
    path.write_bytes(content)


def _replace(path: Path, _place: float, content: bytes) -> None:
    beside = path.with_name("beside")
    beside.write_bytes(content)
    beside.replace(path)


def _remove(path: Path, _place: float, _content: bytes) -> None:
    path.unlink(missing_ok=True)


def _append(path: Path, place: float, content: bytes) -> None:
    with path.open("ab") as growing:
        growing.write(content[: int(place * len(content))])


contents = st.sampled_from(
    [
        make()
        for make in (
            damaged.plain,
            damaged.repeated_ids,
            damaged.torn_tail,
            damaged.title_before_header,
            damaged.bad_lines,
            damaged.version_1,
            damaged.two_headers,
            damaged.empty,
            damaged.no_header,
        )
    ]
)
changes = st.lists(
    st.tuples(
        st.sampled_from([_append, _append, _truncate, _rewrite, _replace, _remove]), st.floats(0, 1), contents
    ),
    min_size=1,
    max_size=8,
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(done=changes)
def test_other_changes(
    done: list[tuple[Change, float, bytes]], tmp_path_factory: pytest.TempPathFactory
) -> None:
    path = tmp_path_factory.mktemp("changes") / "session.jsonl"
    path.write_bytes(damaged.labels_cleared())
    follower = Follower(path)
    follower.look()
    for change, place, content in done:
        change(path, place, content)
        follower.look()
    follower.close()


def replaced(path: Path, change: Change) -> bool:
    with SessionFile.load(path) as session:
        before = seen(session)
        change()
        growth = session.refresh()
        if growth.replaced:
            assert growth.entries == []
            assert session.refresh().replaced, "it is not taken for the same one later"
            assert session.tree.leaf_id == before["leaf"]
            assert session.size == before["size"]
        return growth.replaced


def test_what_counts_as_another_file(tmp_path: Path) -> None:
    path = tmp_path / "session.jsonl"
    content = damaged.plain()

    def put(new: bytes) -> None:
        path.write_bytes(new)

    def put_back(new: bytes) -> None:
        """With times as they were: some tools do that."""
        facts = path.stat()
        put(new)
        os.utime(path, ns=(facts.st_atime_ns, facts.st_mtime_ns))

    def fresh(change: Change) -> bool:
        put(content)
        os.utime(path, (1_000_000_000, 1_000_000_000))
        return replaced(path, change)

    assert not fresh(lambda: None)
    assert not fresh(lambda: _append(path, 1, b'{"type":"custom","id":"x"}\n'))
    assert fresh(path.unlink)
    assert fresh(lambda: _replace(path, 0, content))
    assert fresh(lambda: put(content[:-1]))
    assert fresh(lambda: put(b""))
    assert fresh(lambda: put(content.replace(b"hi", b"ho")))
    assert fresh(lambda: put(content.replace(b"hi", b"hello")))
    assert fresh(lambda: put_back(content.replace(b"hi", b"hello")))
    long = content + encode([{"type": "custom", "id": f"{n}", "customType": "x" * 200} for n in range(20)])
    put(long)
    middle = long.replace(b'"id":"9"', b'"id":"@"')
    assert replaced(path, lambda: put(middle)), "a change far from both ends, told by the time"


def test_a_last_line_that_goes_on(tmp_path: Path) -> None:
    """`5` is a whole value until it turns out to be `55`; an entry whose line goes on is damage."""
    path = tmp_path / "session.jsonl"
    for tail, more in ((b"5", b"5\n"), (damaged.plain().rstrip(b"\n").split(b"\n")[2], b"}\n")):
        path.write_bytes(damaged.plain() + tail)
        follower = Follower(path)
        follower.look()
        _append(path, 1, more)
        follower.look()
        follower.close()


def test_a_long_line_that_comes_in_pieces_is_decoded_once(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    decoded = 0

    def counted(line: Line) -> object:
        nonlocal decoded
        decoded += len(line.data)
        return decode_entry(line)

    monkeypatch.setattr("pitree.sessions.intake.decode_entry", counted)
    made = Session()
    made.user("short")
    path = made.write(tmp_path / "session.jsonl")
    made.user("long " + "x" * (8 << 20))
    line = made.encoded()[path.stat().st_size :]
    follower = Follower(path)
    follower.look()
    session = follower.session
    assert session is not None
    for place in range(0, len(line), 1 << 20):
        with path.open("ab") as file:
            file.write(line[place : place + (1 << 20)])
        assert not session.refresh().replaced
    assert [entry.role for entry in session.entries] == ["user", "user"]
    assert session.damage == []
    assert decoded < 2 * len(line) + (4 << 20)
    follower.look()
    follower.close()


def test_a_read_error_in_the_middle_of_growth(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What was read before the error is not lost: the file is taken for another one from then on.

    All lines are alike here, so that beginning and end look the same wherever one stops reading.
    """
    line = b'{"type":"custom","id":"x","parentId":null,"timestamp":"t","n":1}'[:63].ljust(63)
    line = line.replace(b',"n":1', b"}     ")
    path = tmp_path / "session.jsonl"
    path.write_bytes(encode([Session().header]) + (line + b"\n") * 20)
    with SessionFile.load(path) as session:
        before = session.size
        _append(path, 1, (line + b"\n") * 20)
        monkeypatch.setattr("pitree.sessions.file.CHUNK_BYTES", 64)
        pread = os.pread
        calls = iter(range(100))

        def failing(fd: int, length: int, offset: int) -> bytes:
            if length == 64 and next(calls) == 3:
                raise OSError(5, "Input/output error")
            return pread(fd, length, offset)

        monkeypatch.setattr("os.pread", failing)
        with pytest.raises(OSError, match="Input/output error"):
            session.refresh()
        assert session.size > before
        assert session.refresh().replaced
        assert len(session.tree.superseded) == 19


def test_a_closed_session_is_not_followed(tmp_path: Path) -> None:
    session = SessionFile.load(Session().write(tmp_path / "session.jsonl"))
    session.close()
    with pytest.raises(SessionError, match="is closed"):
        session.refresh()


# ---- what the commands print


def printed(arguments: list[str], capfdbinary: pytest.CaptureFixture[bytes]) -> bytes:
    capfdbinary.readouterr()
    assert main(arguments) in (None, 0)
    return capfdbinary.readouterr().out


@pytest.mark.parametrize(
    "make",
    [
        damaged.labels_cleared,
        damaged.context_edits,
        damaged.repeated_ids,
        damaged.bad_lines,
        damaged.version_1,
    ],
)
def test_commands_print_the_same_of_a_followed_file(
    make: Make, home: Path, monkeypatch: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    content = make()
    path = home / "session.jsonl"
    every = (["tree", "--filter", "all"], ["tree", "--json"], ["context"], ["context", "--json"])
    lines = content.splitlines(keepends=True)
    path.write_bytes(lines[0])
    followed = SessionFile.load(path)
    for line in lines[1:]:
        for piece in (line[: len(line) // 2], line[len(line) // 2 :]):
            _append(path, 1, piece)
            assert not followed.refresh().replaced
    for arguments in every:
        cold = printed([*arguments, str(path)], capfdbinary)
        assert cold
        with monkeypatch.context() as patched:
            patched.setattr(commands, "open_session", lambda *_: followed)
            patched.setattr(followed, "close", lambda: None)
            assert printed([*arguments, str(path)], capfdbinary) == cold
    followed.close()
