import json
import os
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pitree.catalog import scan
from pitree.catalog.locations import FoundFile, Problem
from pitree.catalog.rows import NO_MESSAGES, SessionRow
from pitree.catalog.scan import Mark, ScanStoppedError, read_session, scan_file, scan_store
from pitree.catalog.tally import Span
from pitree.sessions.errors import NotASessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.tokens import body_usages, usage_cost, usage_tokens

from .store import TIME_MS, Json, entry, found, header, message, row, scanned, write


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "s.jsonl"


def text(words: object) -> Json:
    return {"type": "text", "text": words}


# ---- what a row says


def test_a_whole_session(path: Path) -> None:
    made = row(
        path,
        header("abc", cwd="/code", parentSession="/store/parent.jsonl"),
        message("system", "not for lists"),
        message("user", "please  fix\nthe test", at=TIME_MS + 1000),
        message(
            "assistant", [{"type": "thinking", "thinking": "hm"}, text("I"), text("will")], at=TIME_MS + 3000
        ),
        message("toolResult", [text("a file")], at=TIME_MS + 9000, toolCallId="c"),
        message(
            "user", [text("thanks"), {"type": "image", "data": "AAAA", "mimeType": "image/png"}], at=TIME_MS
        ),
        message("bashExecution", command="ls", output="x", at=TIME_MS + 9000),
        entry("session_info", name="  the name \n"),
        entry("label", targetId="e", label="not the name"),
        entry(
            "custom", customType="x", data={"type": "message", "message": {"role": "user", "content": "no"}}
        ),
    )

    assert made.path == path
    assert (made.id, made.cwd, made.parent_session) == ("abc", "/code", "/store/parent.jsonl")
    assert made.name == "the name"
    assert (made.created, made.modified) == (TIME_MS, TIME_MS + 3000)
    assert made.message_count == 6
    assert made.first_message == "please  fix\nthe test"
    assert made.text == "please  fix\nthe test I will thanks"
    assert made.damage == 0
    assert (made.size, made.mtime_ns) == (path.stat().st_size, path.stat().st_mtime_ns)


def test_a_session_without_messages(path: Path) -> None:
    made = row(path, header(cwd=...))

    assert (made.message_count, made.first_message, made.text) == (0, NO_MESSAGES, "")
    assert (made.name, made.parent_session, made.cwd) == (None, None, "")


@pytest.mark.parametrize(
    ("names", "expected"),
    [
        (["one", "two"], "two"),
        (["one", " \t"], None),
        (["one", ""], None),
        (["one", None], None),
        (["one", ...], None),
        (["one", 5], None),
        (["one", {"a": "b"}], None),
        (["\ufeffone\u2028"], "one"),
        (["\x85one\x1c"], "\x85one\x1c"),
        (["日本"], "日本"),
    ],
)
def test_the_last_name_counts_and_a_blank_one_clears_it(
    path: Path, names: list[object], expected: str | None
) -> None:
    assert row(path, header(), *(entry("session_info", name=name) for name in names)).name == expected


@pytest.mark.parametrize(
    ("lines", "expected"),
    [
        ([message("assistant", "first"), message("user", "second")], "second"),
        ([message("user", ""), message("user", [text("")]), message("user", [text("x")])], "x"),
        ([message("user", [{"type": "image"}]), message("user", [text("a"), text("b")])], "a b"),
        ([message("user", [text("a"), {"type": "text"}, text(None), text("b")])], "a   b"),
        ([message("user", [text(5), {"type": "text", "text": True}, text(2.5)])], "5 true 2.5"),
        ([message("user", [text([1]), text({"a": 2}), text("x")])], "  x"),
        ([message("user", [text("a"), "b", 5, None, text("c")])], "a c"),
        ([message("user", [{"text": "no type"}])], NO_MESSAGES),
        ([message("toolResult", "x"), message("custom", "y")], NO_MESSAGES),
        (
            [message("user", None), message("user"), message("user", 5), message("user", {"a": 1})],
            NO_MESSAGES,
        ),
        (
            [message(None, "x"), message(["user"], "y"), message({"user": 1}, "z"), message(5, "x")],
            NO_MESSAGES,
        ),
        ([entry("message", message=None), entry("message"), entry("message", message="x")], NO_MESSAGES),
        ([json.dumps(message("user", "half \ud83d")).encode()], "half \ud83d"),
    ],
)
def test_the_first_message(path: Path, lines: list[Json | bytes], expected: str) -> None:
    made = row(path, header(), *lines)

    assert made.first_message == expected
    assert made.message_count == len(lines)


@pytest.mark.parametrize(
    ("lines", "after"),
    [
        ([message("user", "x", at=TIME_MS + 5), message("assistant", "x", at=TIME_MS + 3)], 5),
        ([message("user", "x", at=TIME_MS + 5.75)], 5),
        ([message("user", "", at=TIME_MS + 5)], 5),
        ([message("user", None, at=TIME_MS + 5)], 5),
        ([message("user", at=TIME_MS + 5)], 0),
        ([message("toolResult", "x", at=TIME_MS + 5), message("custom", "x", at=TIME_MS + 5)], 0),
        ([message("user", "x", at=..., timestamp="2026-01-01T00:00:07.000Z")], 7000),
        ([message("user", "x", at="soon", timestamp="2026-01-01T00:00:07Z")], 7000),
        ([message("user", "x", at=True, timestamp="2026-01-01T00:00:07Z")], 7000),
        ([message("user", "x", at=None, timestamp="2026-01-01T02:00:07+02:00")], 7000),
        ([message("user", "x", at=..., timestamp=TIME_MS + 7)], 7),
        ([message("user", "x", at=..., timestamp="soon"), message("user", "x", at=..., timestamp=...)], 0),
        ([message("user", "x", at=..., timestamp=None)], 0),
        ([message("user", "x", at=0), message("user", "x", at=-5)], 0),
        ([message("user", "x", at=1e300), message("user", "x", at=10**400)], 0),
        ([message("user", [text(5)], at=TIME_MS + 5)], 5),
    ],
)
def test_modified_is_the_newest_activity_else_the_time_of_the_header(
    path: Path, lines: list[Json], after: int
) -> None:
    assert row(path, header(), *lines).modified == TIME_MS + after


@pytest.mark.parametrize(
    ("stamp", "created", "modified"),
    [
        ("2026-01-01T00:00:00.000Z", TIME_MS, TIME_MS),
        ("soon", None, 1_234_568.0),
        (..., None, 1_234_568.0),
        (TIME_MS, TIME_MS, 1_234_568.0),
        (None, 0.0, 1_234_568.0),
    ],
)
def test_without_any_other_time_the_time_of_the_file_counts(
    path: Path, stamp: object, created: float | None, modified: float
) -> None:
    write(path, header(timestamp=stamp))
    os.utime(path, ns=(0, 1_234_567_500_000))

    made = scan_file(found(path))

    assert made is not None
    assert (made.created, made.modified) == (created, modified)


@pytest.mark.parametrize("spaced", [True, False])
@pytest.mark.parametrize("order", [["role", "content"], ["content", "role"]])
def test_neither_blanks_nor_the_order_of_keys_matter(path: Path, order: list[str], spaced: bool) -> None:
    fields: Json = {"role": "user", "content": 'said "toolResult"' + "x" * 1000, "timestamp": TIME_MS + 5}
    inner = {key: fields[key] for key in [*order, "timestamp"]}
    separators = (", ", ": ") if spaced else (",", ":")
    talk = json.dumps({"message": inner, "id": "e", "type": "message"}, separators=separators).encode()
    result = json.dumps(
        {"message": {**inner, "role": "toolResult"}, "type": "message"}, separators=separators
    )

    made = row(path, header(), talk, result.encode())

    assert made.message_count == 2
    assert made.text == fields["content"]
    assert made.modified == TIME_MS + 5


def test_only_the_role_of_a_message_makes_a_tool_result(path: Path) -> None:
    result = {"role": "toolResult", "content": "no"}

    made = row(
        path,
        header(),
        {"note": "toolResult", **message("user", "one")},
        {"note": "toolResult", **entry("session_info", name="named")},
        {"note": "toolResult", **entry("message", message=None)},
        entry("custom", message=result),
        entry("message", message=result),
    )

    assert (made.text, made.name, made.message_count, made.damage) == ("one", "named", 3, 0)


# ---- what is wrong with a file


GOOD = [header(), message("user", "one"), message("assistant", "two")]


@pytest.mark.parametrize(
    ("line", "damage"),
    [
        (b"", 0),
        (b" \t\r\x0b\x0c", 0),
        (b"not json", 1),
        (b'{"type":"message","message":{"role":"user","content":"torn', 1),
        (b'{"type":"message","message":{"role":"toolResult","content":"torn', 1),
        (b"5", 1),
        (b"null", 1),
        (b"[]", 1),
        (b'"text"', 1),
        (b'{"type":"message","message":{"role":"toolResult","content":NaN}}', 1),
        (b'{"type":"message","message":{"role":"toolResult","content":"raw \x01"}}', 1),
        (b"\x00" * 50_000, 1),
        (json.dumps(header("another")).encode(), 1),
        (b"{}", 0),
        (b'{"type":5,"id":{}}', 0),
        (b'{"type":"later"}', 0),
    ],
)
def test_a_bad_line_costs_itself_and_is_counted(path: Path, line: bytes, damage: int) -> None:
    made = row(path, GOOD[0], GOOD[1], line, GOOD[2])

    assert (made.damage, made.message_count, made.text, made.id) == (damage, 2, "one two", "s1")


@pytest.mark.parametrize("end", [b"", b"\n", b"\r\n", b"\n\n\n"])
def test_the_end_of_the_last_line_does_not_matter(path: Path, end: bytes) -> None:
    made = row(path, *GOOD, end=end)

    assert (made.text, made.damage) == ("one two", 0)


def test_millions_of_empty_lines_are_not_decoded(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    head = json.dumps(header()).encode()
    write(path, b"\n" * 1000 + head + b"\n" * 1000)
    decoded: list[bytes] = []

    def watched(data: bytes) -> Any:  # noqa: ANN401 - any JSON value
        decoded.append(data)
        return json.loads(data)

    monkeypatch.setattr("pitree.catalog.tally.parse_value", watched)
    monkeypatch.setattr("pitree.catalog.header.parse_value", watched)

    assert scan_file(found(path)) is not None
    assert decoded == [head]


def test_an_unfinished_last_line_is_damage(path: Path) -> None:
    made = row(path, *GOOD, b'{"type":"message","mess', end=b"")

    assert (made.text, made.damage) == ("one two", 1)


def test_line_ends_are_newlines_and_nothing_else(path: Path) -> None:
    odd = "a\u2028b\u2029c\x85d"

    made = row(path, header(), message("user", odd), json.dumps(message("assistant", "x")).encode() + b"\r")

    assert (made.text, made.damage) == (f"{odd} x", 0)


def test_bytes_that_are_not_utf_8_are_read(path: Path) -> None:
    data = json.dumps(message("user", "caf@")).encode()

    assert row(path, header(), data.replace(b"@", b"\xe9")).text == "caf\ufffd"


@pytest.mark.parametrize(
    "lines",
    [
        [],
        [b""],
        [b"not json"],
        [message("user", "x")],
        [message("user", "x"), header()],
        [{"type": "custom", "id": "e"}, header()],
        [header() | {"id": 5}],
        [{"type": "session"}],
        [b"\xef\xbb\xbf" + json.dumps(header()).encode(), message("user", "x")],
        [*[{"type": "title"}] * 21, header()],
    ],
)
def test_no_session(path: Path, lines: list[Json | bytes]) -> None:
    assert scanned(path, *lines) is None


@pytest.mark.parametrize(
    ("lines", "damage"),
    [
        ([b"", b" "], 0),
        ([b"torn", b"5", b"null"], 3),
        ([{"type": "title", "title": "x"}], 1),
        ([{"type": "title"}] * 20, 20),
    ],
)
def test_what_may_stand_before_the_header(path: Path, lines: list[Json | bytes], damage: int) -> None:
    made = row(path, *lines, *GOOD)

    assert (made.text, made.damage) == ("one two", damage)


@pytest.mark.parametrize("size", [1, 2, 7, 64, 1000])
def test_lines_are_put_together_whatever_the_chunks(
    path: Path, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(scan, "CHUNK_BYTES", size)

    made = row(path, *GOOD, b"bad", message("user", "long" * 500), entry("session_info", name="n"), end=b"")

    assert (made.text, made.damage, made.name) == ("one two " + "long" * 500, 1, "n")


def test_a_fifo_is_no_session_and_does_not_hang(path: Path) -> None:
    os.mkfifo(path)

    assert scan_file(found(path)) is None


def test_a_file_that_is_gone_raises(path: Path) -> None:
    with pytest.raises(FileNotFoundError):
        scan_file(FoundFile(str(path.parent), path.name, 0, 0, 0))


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 2**70) | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from("ab"), inner, max_size=2),
    max_leaves=4,
)
odd_objects = st.fixed_dictionaries(
    {},
    optional={
        "type": st.sampled_from(["message", "session_info", "session", "custom"]) | json_values,
        "id": st.text(max_size=3) | json_values,
        "timestamp": st.just("2026-01-01T00:00:09Z") | json_values,
        "name": st.text(max_size=5) | json_values,
        "message": json_values
        | st.fixed_dictionaries(
            {},
            optional={
                "role": st.sampled_from(["user", "assistant", "toolResult"]) | json_values,
                "content": st.lists(st.fixed_dictionaries({"type": st.just("text"), "text": json_values}))
                | json_values,
                "timestamp": st.integers(0, 2**40) | json_values,
            },
        ),
    },
)
odd_lines = odd_objects.map(lambda value: json.dumps(value).encode()) | st.binary(max_size=20)


usual_lines = st.sampled_from(
    [
        message("user", "a question", id="a", model="no"),
        message("assistant", [text("an answer")], id="b", parentId="a", at=TIME_MS + 5),
        entry("message", id="c", parentId="b", message={"role": "toolResult", "usage": {"totalTokens": 7}}),
        entry("session_info", name="named", id="d", parentId="c"),
        entry("label", targetId="a", label="here", id="f", parentId="d"),
        entry("label", targetId="a", id="g", parentId="f"),
        entry("usage", id="h", usage={"totalTokens": 3, "cost": {"total": 0.5}}),
        message("assistant", "not so", id="i", model="opus", usage={"input": 2, "cost": {"total": 1}}),
        entry("message", id="j", message={"role": "assistant", "usage": {"input": 2, "cost": {"total": 1}}}),
        entry("message", id="k", message={"role": "user", "usage": {"input": 2, "cost": {"total": 1}}}),
        entry("message", id="l", usage={"input": 2}, message={"role": "toolResult"}),
        entry("compaction", id="m", summary="s", usage={"totalTokens": 5, "cost": {"total": 2}}),
        entry("custom", id="n", usage={"totalTokens": 5, "cost": {"total": 2}}),
    ]
).map(lambda value: json.dumps(value).encode())
fused_lines = usual_lines.flatmap(
    lambda line: st.sampled_from([b'{"type":"mess', line[:-9]]).map(lambda torn: torn + line)
)
deep_lines = st.just(
    b'{"type":"message","id":"deep","x":'
    + b"[" * 2000
    + b"]" * 2000
    + b',"message":{"role":"user","content":"y"}}'
)
any_lines = odd_lines | usual_lines | fused_lines | deep_lines


@given(lines=st.lists(any_lines, max_size=6), cut=st.integers(0, 30))
def test_a_row_says_what_the_opened_file_says(
    tmp_path_factory: pytest.TempPathFactory, lines: list[bytes], cut: int
) -> None:
    path = tmp_path_factory.mktemp("odd") / "s.jsonl"
    data = b"\n".join([json.dumps(header()).encode(), *lines])
    path.write_bytes(data[: len(data) - cut])

    made = scan_file(found(path))

    try:
        session = SessionFile.load(path)
    except NotASessionError:
        assert made is None
        return
    with session:
        assert made is not None
        entries = [*session.tree.entries, *session.tree.superseded]
        assert (made.id, made.cwd, made.name) == (session.id, session.cwd, session.tree.name)
        assert made.message_count == sum(entry.type == "message" for entry in entries)
        unusable = [damage for damage in session.damage if damage.entry_id is None]
        assert made.damage == len(unusable)
        used = [usage for entry in entries for usage in body_usages(session.body(entry))]
        assert made.tokens == sum(map(usage_tokens, used))
        assert made.cost == pytest.approx(sum(map(usage_cost, used)))
        assert made.labels == len(session.tree.labels | session.tree.stray_labels)


@given(parents=st.lists(st.integers(-1, 7), min_size=1, max_size=8))
def test_a_session_has_branches_where_its_tree_forks(
    tmp_path_factory: pytest.TempPathFactory, parents: list[int]
) -> None:
    """As every program writes them: no entry before its parent."""
    path = tmp_path_factory.mktemp("branches") / "s.jsonl"
    write(
        path,
        header(),
        *(
            message("user", "x", id=f"e{place}", parentId=f"e{parent}" if 0 <= parent < place else None)
            for place, parent in enumerate(parents)
        ),
    )
    made = scan_file(found(path))
    assert made is not None

    with SessionFile.load(path) as session:
        tree = session.tree
        tips = sum(not tree.children(position) for position in range(len(tree)))
        assert (made.branches > 0) == (tips > 1)


# ---- a whole store


class Told:
    """What a scan told, call by call."""

    def __init__(self) -> None:
        self.rows: list[SessionRow] = []
        self.calls: list[tuple[int, int, int]] = []
        self.threads: set[int] = set()

    def __call__(self, rows: list[SessionRow], done: int, total: int) -> None:
        self.rows += rows
        self.calls.append((len(rows), done, total))
        self.threads.add(threading.get_ident())


def store(folder: Path, count: int) -> list[FoundFile]:
    return [found(write(folder / f"{place:04}.jsonl", header(f"id{place}"))) for place in range(count)]


@pytest.fixture
def _slow_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("pitree.catalog.scan.time.monotonic", lambda: 0.0)


@pytest.mark.usefixtures("_slow_clock")
@pytest.mark.parametrize("workers", [1, 2, 5])
def test_rows_come_in_order_the_first_one_at_once(tmp_path: Path, workers: int) -> None:
    told = Told()

    scan_store(store(tmp_path, 250), on_rows=told, workers=workers)

    assert [made.id for made in told.rows] == [f"id{place}" for place in range(250)]
    assert told.calls == [(1, 1, 250), (100, 101, 250), (100, 201, 250), (49, 250, 250)]
    assert told.threads == {threading.get_ident()}


def test_rows_come_after_50_milliseconds(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ticks = iter(range(1000))
    monkeypatch.setattr("pitree.catalog.scan.time.monotonic", lambda: next(ticks) * 0.02)
    told = Told()

    scan_store(store(tmp_path, 8), on_rows=told, workers=1)

    assert told.calls == [(1, 1, 8), (3, 4, 8), (3, 7, 8), (1, 8, 8)]


@pytest.mark.usefixtures("_slow_clock")
def test_files_without_a_session_are_done_without_a_row(tmp_path: Path) -> None:
    files = [found(write(tmp_path / f"{place}.jsonl", b"no")) for place in range(2)]
    told = Told()

    scan_store([*files, *store(tmp_path, 1), *files], on_rows=told)

    assert told.calls == [(1, 3, 5), (0, 5, 5)]


def test_an_empty_store_is_done_at_once() -> None:
    told = Told()

    scan_store(iter([]), on_rows=told)

    assert told.calls == [(0, 0, 0)]


@pytest.mark.parametrize("workers", [1, 2])
def test_a_file_that_cannot_be_read_costs_only_itself(tmp_path: Path, workers: int) -> None:
    files = store(tmp_path, 3)
    files[1].path.unlink()
    told, problems = Told(), list[Problem]()

    scan_store(files, on_rows=told, workers=workers, problems=problems)

    assert [made.id for made in told.rows] == ["id0", "id2"]
    assert problems == [Problem(files[1].path, "No such file or directory")]
    assert told.calls[-1][1:] == (3, 3)


@pytest.mark.parametrize("workers", [1, 2])
def test_a_scan_can_be_stopped_between_files(tmp_path: Path, workers: int) -> None:
    told = Told()

    scan_store(store(tmp_path, 50), on_rows=told, workers=workers, stop=lambda: bool(told.rows))

    assert 1 <= len(told.rows) <= 1 + workers * 2
    assert told.calls[-1][1] < 50


def test_a_scan_can_be_stopped_inside_a_file(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scan, "CHUNK_BYTES", 100)
    write(path, header(), *[message("user", "x")] * 100)
    asked = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) == 3

    with pytest.raises(ScanStoppedError):
        scan_file(found(path), stop=stop)
    assert len(asked) == 3


def test_an_error_of_the_receiver_ends_the_scan(tmp_path: Path) -> None:
    def fail(*_: Any) -> None:  # noqa: ANN401 - whatever it is given
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        scan_store(store(tmp_path, 50), on_rows=fail)


def test_looking_changes_nothing(tmp_path: Path) -> None:
    files = [*store(tmp_path, 2), found(write(tmp_path / "torn.jsonl", *GOOD, b"torn", end=b""))]
    before = [(file, file.path.read_bytes()) for file in files]

    scan_store(files, on_rows=Told())

    assert [(found(file.path), file.path.read_bytes()) for file in files] == before


# ---- a file that grows


class Followed:
    """A file read again and again, each time from where the reading before had ended."""

    def __init__(self) -> None:
        self.mark: Mark | None = None
        self.texts: list[str] = []
        self.spans: list[Span] = []
        self.began_anew = 0

    def read(self, path: Path) -> tuple[SessionRow, str, list[Span]] | None:
        scanned = read_session(found(path), self.mark)
        if scanned is None:
            self.mark = None
            return None
        if not scanned.goes_on:
            self.texts, self.spans = [], []
            self.began_anew += 1
        self.mark = scanned.mark
        if scanned.text.spans:
            self.texts.append(scanned.text.text)
            self.spans += scanned.text.spans
        last = [scanned.last.text] if scanned.last.spans else []
        return scanned.row, " ".join([*self.texts, *last]), [*self.spans, *scanned.last.spans]


def anew(path: Path) -> tuple[SessionRow, str, list[Span]] | None:
    return Followed().read(path)


def told(reading: tuple[SessionRow, str, list[Span]] | None) -> object:
    if reading is None:
        return None
    row, words, spans = reading
    return {name: getattr(row, name) for name in row.__struct_fields__}, words, spans


@given(
    version=st.sampled_from([1, 2, 3]),
    lines=st.lists(any_lines, max_size=8),
    cuts=st.lists(st.integers(0, 1500), max_size=4),
)
def test_a_file_that_grew_is_read_on_as_if_it_were_read_anew(
    tmp_path_factory: pytest.TempPathFactory, version: int, lines: list[bytes], cuts: list[int]
) -> None:
    path = tmp_path_factory.mktemp("grows") / "s.jsonl"
    data = b"\n".join([json.dumps(header(version=version)).encode(), *lines])
    followed = Followed()
    for cut in [*sorted(cuts), len(data)]:
        path.touch()
        with path.open("ab") as file:
            file.write(data[file.tell() : cut])
        assert told(followed.read(path)) == told(anew(path))


def test_what_was_read_is_not_read_again(path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    followed = Followed()
    write(path, header(), *[message("user", "word " * 1000)] * 50)
    followed.read(path)
    before = path.stat().st_size
    with path.open("ab") as file:
        file.write(json.dumps(message("user", "more")).encode() + b"\n")
    read: list[tuple[int, int]] = []
    pread = os.pread

    def watched(fd: int, length: int, offset: int) -> bytes:
        data = pread(fd, length, offset)
        read.append((offset, offset + len(data)))
        return data

    monkeypatch.setattr("pitree.catalog.scan.os.pread", watched)
    made = followed.read(path)

    assert made is not None
    assert made[1].endswith("word  more")
    assert all(end - start <= 512 or start >= before for start, end in read)
    assert followed.began_anew == 1


@pytest.mark.parametrize(
    "change",
    [
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b"one", b"uno")), id="rewritten"
        ),
        pytest.param(lambda path: os.truncate(path, path.stat().st_size - 20), id="cut"),
        pytest.param(
            lambda path: path.write_bytes(path.read_bytes().replace(b"two", b"too") + b"\n{}\n"),
            id="and-grown",
        ),
    ],
)
def test_another_file_is_read_anew(path: Path, change: Callable[[Path], object]) -> None:
    followed = Followed()
    write(path, *GOOD)
    followed.read(path)
    change(path)

    assert told(followed.read(path)) == told(anew(path))
    assert followed.began_anew == 2


def test_a_session_that_took_another_ones_name_is_read_anew(path: Path, tmp_path: Path) -> None:
    followed = Followed()
    write(path, *GOOD)
    followed.read(path)
    write(tmp_path / "new", *GOOD, message("user", "three")).replace(path)

    assert told(followed.read(path)) == told(anew(path))
    assert followed.began_anew == 2
