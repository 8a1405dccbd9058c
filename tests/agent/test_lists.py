"""`pitree list --json` shows of every session what Pi's list shows, and the sessions that Pi's list loses."""

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, cast

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile

from .build import Session, encode, milliseconds, moment, text
from .cases import CASES, WITHOUT_IDS
from .command import pitree_json
from .compare import difference
from .oracle import Oracle
from .strategies import sessions

Listed = dict[str, dict[str, Any]]
"""File name to what is shown of it, in the order shown."""

SEPARATORS = "raw_separators_in_a_line.jsonl"
SAME_FIELDS = ("path", "id", "cwd", "messageCount", "firstMessage")


def talk(*, name: object = None, **header: object) -> Session:
    """Make an ordinary session with something odd in its header or its name."""
    made = Session(**header)
    made.user("a question")
    made.assistant("an answer")
    if name is not None:
        made.name(name)
    return made


def said(*messages: dict[str, object], **header: object) -> Session:
    """Make a session of these messages as they are; entries are one second apart."""
    made = Session(**header)
    for message in messages:
        made.entry("message", message=message)
    return made


def without(made: Session, *fields: str) -> Session:
    for field in fields:
        del made.header[field]
    return made


ODD: dict[str, Session] = {
    "named": talk(name="a name"),
    "name-cleared": talk(name=" \n "),
    "name-with-newlines": talk(name=" one\ntwo "),
    "name-with-odd-edges": talk(name="\ufeff\x85 x \x1c"),
    "forked": talk(parentSession="/store/parent.jsonl"),
    "parent-is-empty": talk(parentSession=""),
    "no-cwd": without(talk(), "cwd"),
    "cwd-is-a-number": talk(cwd=5),
    "no-time": without(talk(), "timestamp"),
    "time-is-no-time": talk(timestamp="yesterday"),
    "only-time-is-the-file": Session(timestamp="yesterday"),
    "no-time-and-no-messages": without(Session(), "timestamp"),
    "time-is-a-number": Session(timestamp=milliseconds(5)),
    "time-without-milliseconds": Session(timestamp="2025-12-31T23:59:59Z"),
    "time-with-an-offset": Session(timestamp="2025-12-31T23:59:59.5+02:00"),
    "version-4": talk(version=4),
    "only-an-assistant": said(
        {"role": "assistant", "content": [text("hello")], "timestamp": milliseconds(77)}
    ),
    "only-bash": said(
        {"role": "bashExecution", "command": "ls", "output": "x", "timestamp": milliseconds(999)}
    ),
    "first-texts-are-empty": said(
        {"role": "user", "content": ""},
        {"role": "user", "content": [{"type": "image", "data": "", "mimeType": "image/png"}]},
        {"role": "user", "content": [text("")]},
        {"role": "assistant", "content": [text("not this")]},
        {"role": "user", "content": [text("this"), {"type": "image"}, text("and this")]},
    ),
    "first-text-is-blank": said({"role": "user", "content": " \n"}, {"role": "user", "content": "later"}),
    "texts-without-text": said(
        {"role": "user", "content": [{"type": "text"}, text("x"), {"type": "text", "text": None}]}
    ),
    "long-first-message": said({"role": "user", "content": "long \n" * 40_000}),
    "message-without-content": said(
        {"role": "user", "timestamp": milliseconds(500)}, {"role": "user", "content": "x"}
    ),
    "message-time-is-text": said({"role": "user", "content": "x", "timestamp": moment(900)}),
    "message-time-is-fractional": said({"role": "user", "content": "x", "timestamp": milliseconds(9) + 0.75}),
    "message-time-is-negative": said({"role": "user", "content": "x", "timestamp": -5}),
    "message-time-is-zero": said({"role": "user", "content": "x", "timestamp": 0}),
    "newest-message-is-not-the-last": said(
        {"role": "user", "content": "x", "timestamp": milliseconds(800)},
        {"role": "assistant", "content": [], "timestamp": milliseconds(700)},
    ),
    "tool-results-are-no-activity": said(
        {"role": "user", "content": "x", "timestamp": milliseconds(60)},
        {"role": "toolResult", "content": [text("y")], "timestamp": milliseconds(600)},
    ),
    "odd-characters": said({"role": "user", "content": "\ud83d \u2028 \x1b[31m \x85 日本"}),
    "role-is-a-list": said({"role": "user", "content": "x"}, {"role": ["user"], "content": "y"}),
    "unusual id": talk(id="not.a-uuid_1"),
}
# Pi's list drops a whole session for one odd value in it.
LOST_BY_PI: dict[str, Session] = {
    "content-is-null": said({"role": "user", "content": "seen"}, {"role": "assistant", "content": None}),
    "content-is-a-number": said({"role": "user", "content": 7}),
    "block-is-null": said({"role": "user", "content": [None, text("x")]}),
    "message-is-null": said({"role": "user", "content": "x"}, cast("dict[str, object]", None)),
    "name-is-a-number": talk(name=5),
}
NO_SESSIONS: dict[str, bytes] = {
    "empty": b"",
    "blank": b"\n \n",
    "garbage": b"\x00\xff\n{{{\n",
    "array": b"[]\n",
    "starts-with-a-message": encode([{"type": "message", "message": {"role": "user", "content": "x"}}]),
    "byte-order-mark": b"\xef\xbb\xbf" + talk().encoded(),
}


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Make a flat folder of sessions, hand-made ones and odd ones, and of files that are none."""
    folder = tmp_path_factory.mktemp("store")
    for make in (*CASES, *WITHOUT_IDS):
        make().write(folder / f"{make.__name__}.jsonl")
    for name, made in (ODD | LOST_BY_PI).items():
        made.write(folder / f"{name}.jsonl")
    for name, content in NO_SESSIONS.items():
        (folder / f"{name}.jsonl").write_bytes(content)
    talk().write(folder / "no-suffix.json")
    (folder / "folder.jsonl").mkdir()
    talk().write(folder / "folder.jsonl" / "deeper.jsonl")
    for number, path in enumerate(sorted(folder.iterdir())):
        changed = 1_700_000_000_000_000_000 + number * 1_000_600_000  # 0.6 ms: how is it rounded?
        os.utime(path, ns=(changed, changed))
    return folder


@pytest.fixture(scope="module")
def by_pi(oracle: Oracle, store: Path) -> Listed:
    """List the store as Pi does."""
    return listed_by_pi(oracle, store)


@pytest.fixture(scope="module")
def by_pitree(store: Path) -> Listed:
    """List the store as pitree does."""
    return listed_by_pitree(store)


def test_the_store_is_worth_comparing(by_pi: Listed) -> None:
    assert {f"{name}.jsonl" for name in ODD} <= by_pi.keys()
    assert not {f"{name}.jsonl" for name in LOST_BY_PI | NO_SESSIONS} & by_pi.keys()


def test_what_pi_lists_is_listed_alike(by_pi: Listed, by_pitree: Listed) -> None:
    alike = {name: info for name, info in by_pi.items() if name != SEPARATORS}
    assert_listed_alike(alike, by_pitree)


def test_newest_first(by_pi: Listed, by_pitree: Listed) -> None:
    assert_same_order(by_pi, by_pitree)


@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(made=st.lists(sessions(), min_size=1, max_size=12))
def test_random_sessions(
    oracle: Oracle, made: list[Session], tmp_path_factory: pytest.TempPathFactory
) -> None:
    store = tmp_path_factory.mktemp("random")
    for number, session in enumerate(made):
        session.write(store / f"{number}.jsonl")
    by_pi, by_pitree = listed_by_pi(oracle, store), listed_by_pitree(store)
    assert_listed_alike(by_pi, by_pitree)
    assert_same_order(by_pi, by_pitree)
    assert len(by_pitree) == len(made)


def test_everything_that_opens_is_listed(store: Path, by_pitree: Listed) -> None:
    assert by_pitree.keys() == {path.name for path in store.glob("*.jsonl") if opens(path)}
    assert {f"{name}.jsonl" for name in LOST_BY_PI} <= by_pitree.keys()


@pytest.mark.parametrize(
    ("name", "count", "first"),
    [
        ("content-is-null", 2, "seen"),
        ("content-is-a-number", 1, "(no messages)"),
        ("block-is-null", 1, "x"),
        ("message-is-null", 2, "x"),
        ("name-is-a-number", 2, "a question"),
    ],
)
def test_what_pi_loses(by_pitree: Listed, name: str, count: int, first: str) -> None:
    row = by_pitree[f"{name}.jsonl"]
    assert (row["messageCount"], row["firstMessage"], row["name"]) == (count, first, None)


def test_separators_inside_a_line(by_pi: Listed, by_pitree: Listed) -> None:
    """Pi's list, unlike Pi itself, takes U+2028 in a string for the end of the line."""
    pi, ours = by_pi[SEPARATORS], by_pitree[SEPARATORS]
    assert (pi["messageCount"], pi["firstMessage"]) == (1, "(no messages)")
    assert ours["messageCount"] == 2
    assert ours["firstMessage"] == "a\u2028b\u2029c\x85d\u00a0e"


def test_a_header_without_an_id(oracle: Oracle, tmp_path: Path) -> None:
    """Pi lists such a file but cannot open it, so pitree does not offer it."""
    (tmp_path / "store").mkdir()
    path = without(talk(), "id").write(tmp_path / "store" / "no-id.jsonl")
    assert [info["path"] for info in oracle.listed(path.parent)] == [str(path)]
    assert pitree_json("list", "--all", "--session-dir", path.parent, home=tmp_path) == []


def listed_by_pi(oracle: Oracle, store: Path) -> Listed:
    return {Path(info["path"]).name: info for info in oracle.listed(store)}


def listed_by_pitree(store: Path) -> Listed:
    document = pitree_json("list", "--all", "--session-dir", store, home=store.parent)
    return {Path(row["path"]).name: row for row in cast("list[dict[str, Any]]", document)}


def assert_listed_alike(by_pi: Listed, by_pitree: Listed) -> None:
    """Fail with every session that Pi lists and pitree does not, or shows differently."""
    found = []
    for name, info in by_pi.items():
        row = by_pitree.get(name)
        if row is None:
            found.append(f"{name}: not listed")
            continue
        expected = {field: info[field] for field in SAME_FIELDS} | {
            "name": info.get("name"),
            "parentSession": info.get("parentSessionPath"),
            "created": instant(info["created"]),
            "modified": instant(info["modified"]),
        }
        shown = row | {"created": instant(row["created"]), "modified": instant(row["modified"])}
        place = difference(expected, {field: shown[field] for field in expected})
        if place:
            found.append(f"{name}{place}")
    assert not found, "\n".join(found)


def assert_same_order(by_pi: Listed, by_pitree: Listed) -> None:
    """Hold on to "newest first"; sessions of the same moment may stand in any order among themselves."""
    ours = [instant(row["modified"]) for name, row in by_pitree.items() if name in by_pi]
    assert ours == [instant(info["modified"]) for info in by_pi.values()]


def opens(path: Path) -> bool:
    try:
        SessionFile.load(path).close()
    except (SessionError, OSError):
        return False
    return True


def instant(stamp: str | None) -> int | None:
    """Give a time of a list in Unix milliseconds; Pi shows one that is none as null."""
    if stamp is None:
        return None
    return (datetime.fromisoformat(stamp) - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(milliseconds=1)
