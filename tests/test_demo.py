"""The demo store has something of everything, and a copy of it is ready to work in."""

import base64
import json
import re
import struct
import zlib
from collections import Counter
from collections.abc import Callable, Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest

from pitree import demo

Json = dict[str, Any]
FILES = sorted((demo.STORE / "sessions").glob("*/*.jsonl"))


class Session:
    """What the json module makes of one file."""

    def __init__(self, path: Path) -> None:
        self.path = path
        *whole, self.torn = path.read_text(encoding="utf-8").split("\n")
        self.header, *self.entries = (json.loads(line) for line in whole)
        self.by_id: dict[str, Json] = {entry["id"]: entry for entry in self.entries if "id" in entry}

    @property
    def version(self) -> int:
        return int(self.header.get("version", 1))

    def of_type(self, kind: str) -> list[Json]:
        return [entry for entry in self.entries if entry["type"] == kind]

    def messages(self, role: str) -> list[Json]:
        return [entry["message"] for entry in self.of_type("message") if entry["message"]["role"] == role]

    def blocks(self, role: str, kind: str) -> list[Json]:
        contents = (message["content"] for message in self.messages(role))
        return [
            block
            for content in contents
            if isinstance(content, list)
            for block in content
            if block["type"] == kind
        ]

    def texts(self, role: str) -> str:
        plain = [message["content"] for message in self.messages(role) if isinstance(message["content"], str)]
        return "\n".join(plain + [block["text"] for block in self.blocks(role, "text")])

    def above(self, entry: Json) -> list[Json]:
        """Everything between an entry and its root, the nearest first."""
        found = []
        while entry["parentId"] is not None:
            entry = self.by_id[entry["parentId"]]
            found.append(entry)
        return found

    def forks(self) -> list[Json]:
        """Where a conversation goes on in several ways; labels and names that hang there do not count."""
        quiet = {"label", "session_info"}
        children = Counter(
            self._talk_above(entry, quiet) for entry in self.entries if entry["type"] not in quiet
        )
        return [self.by_id[parent] for parent, count in children.items() if parent and count > 1]

    def _talk_above(self, entry: Json, quiet: set[str]) -> str | None:
        return next((above["id"] for above in self.above(entry) if above["type"] not in quiet), None)


SESSIONS = [Session(path) for path in FILES]
TREES = [session for session in SESSIONS if session.version == 3]
STAR = max(TREES, key=lambda session: len(session.entries))


def named(name: str, sessions: list[Session]) -> list[Any]:
    assert sessions, name
    return [pytest.param(session, id=session.path.name[:16]) for session in sessions]


def milliseconds(moment: str) -> float:
    return datetime.fromisoformat(moment).timestamp() * 1000


FEATURES: dict[str, Callable[[Session], object]] = {
    "an image": lambda s: s.blocks("user", "image"),
    "thinking": lambda s: s.blocks("assistant", "thinking"),
    "a label": lambda s: s.of_type("label"),
    "a name": lambda s: s.of_type("session_info"),
    "a compaction": lambda s: s.of_type("compaction"),
    "a branch summary with file lists": lambda s: [
        e for e in s.of_type("branch_summary") if e["details"]["readFiles"] and e["details"]["modifiedFiles"]
    ],
    "a tool result": lambda s: [m for m in s.messages("toolResult") if not m["isError"]],
    "a tool error": lambda s: [m for m in s.messages("toolResult") if m["isError"]],
    "a diff": lambda s: [m for m in s.messages("toolResult") if m.get("details", {}).get("diff")],
    "a shell command": lambda s: [m for m in s.messages("bashExecution") if "excludeFromContext" not in m],
    "a shell command out of context": lambda s: [
        m for m in s.messages("bashExecution") if m.get("excludeFromContext") is True
    ],
    "an aborted reply": lambda s: [m for m in s.messages("assistant") if m["stopReason"] == "aborted"],
    "an aborted reply that had begun": lambda s: [
        m
        for m in s.messages("assistant")
        if m["stopReason"] == "aborted" and any(block["type"] == "text" for block in m["content"])
    ],
    "a failed reply": lambda s: [
        m for m in s.messages("assistant") if m["stopReason"] == "error" and m["errorMessage"]
    ],
    "a system message": lambda s: s.messages("system"),
    "a change of model": lambda s: len({e["modelId"] for e in s.of_type("model_change")}) > 1,
    "a change of thinking level": lambda s: (
        len({e["thinkingLevel"] for e in s.of_type("thinking_level_change")}) > 1
    ),
    "state of an extension": lambda s: s.of_type("custom"),
    "a shown message of an extension": lambda s: [e for e in s.of_type("custom_message") if e["display"]],
    "a hidden message of an extension": lambda s: [
        e for e in s.of_type("custom_message") if not e["display"]
    ],
    "a context edit": lambda s: s.of_type("context_edit"),
    "usage": lambda s: s.of_type("usage"),
    "Japanese": lambda s: re.search("[ぁ-ん]", s.texts("user")),
    "Korean": lambda s: re.search("[가-힣]", s.texts("user")),
    "a family of four in one character": lambda s: (
        "\U0001f469\u200d\U0001f469\u200d\U0001f467\u200d\U0001f466" in s.texts("user")
    ),
    "flags": lambda s: "\U0001f1ef\U0001f1f5\U0001f1f0\U0001f1f7" in s.texts("user"),
    "a table": lambda s: "|---|" in s.texts("assistant"),
    "a block of code": lambda s: "```python" in s.texts("assistant"),
    "a fork of another session": lambda s: "parentSession" in s.header,
    "a plain list of version 1": lambda s: s.version == 1 and all("id" not in e for e in s.entries),
    "a torn last line": lambda s: s.torn,
    "a folder that is gone": lambda s: s.header["cwd"] == str(demo.GONE),
}


@pytest.mark.parametrize("feature", FEATURES)
def test_the_store_has(feature: str) -> None:
    assert any(FEATURES[feature](session) for session in SESSIONS)


def test_the_store_is_a_handful_of_small_files() -> None:
    assert 8 <= len(SESSIONS) <= 12
    assert sum(path.stat().st_size for path in FILES) < 400_000
    assert {session.header["cwd"] for session in SESSIONS} == {
        "/home/ada/code/paperboy",
        "/home/ada/code/tidepool",
        "/home/ada/notes",
        str(demo.GONE),
    }
    without_name = [session for session in SESSIONS if not session.of_type("session_info")]
    assert len(without_name) == len(SESSIONS) / 2


def test_all_tools_are_used() -> None:
    used = {block["name"] for session in SESSIONS for block in session.blocks("assistant", "toolCall")}
    assert used == {"read", "write", "edit", "bash", "grep", "find", "ls"}


def test_the_star_branches_and_its_branches_branch() -> None:
    assert len(STAR.entries) >= 60
    forks = STAR.forks()
    assert len(forks) >= 4
    trunk = min(forks, key=lambda fork: len(STAR.above(fork)))
    nested = [fork for fork in forks if trunk in STAR.above(fork)]
    assert len(nested) == len(forks) - 1
    assert len(STAR.of_type("label")) >= 4
    newest = max(SESSIONS, key=lambda session: str(session.entries[-1]["timestamp"]))
    assert newest is STAR
    assert STAR.entries[-1]["message"]["stopReason"] == "stop"


def test_names_of_folders_and_files_tell_what_the_headers_say() -> None:
    for session in SESSIONS:
        header = session.header
        assert session.path.parent.name == "--" + header["cwd"].strip("/").replace("/", "-") + "--"
        assert session.path.name == re.sub("[:.]", "-", header["timestamp"]) + f"_{header['id']}.jsonl"


@pytest.mark.parametrize("session", named("trees", TREES))
def test_entries_are_links_of_one_tree(session: Session) -> None:
    assert len(session.by_id) == len(session.entries)
    seen: set[str] = set()
    for entry in session.entries:
        assert re.fullmatch("[0-9a-f]{8}", entry["id"])
        assert entry["parentId"] in seen or (entry["parentId"] is None and not seen)
        seen.add(entry["id"])
    for entry in session.of_type("label") + session.of_type("context_edit"):
        assert entry["targetId"] in session.by_id


@pytest.mark.parametrize("session", named("all", SESSIONS))
def test_time_goes_forward(session: Session) -> None:
    # A fork is younger than what it has copied, and keeps the times of the labels that it sets anew.
    own = [entry for entry in session.entries if entry["timestamp"] > session.header["timestamp"]]
    copied = [entry for entry in session.entries if entry not in own]
    assert bool(copied) == ("parentSession" in session.header)
    assert own
    for group in (own, [entry for entry in copied if entry["type"] != "label"]):
        moments = [entry["timestamp"] for entry in group]
        assert moments == sorted(moments)
        assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", moment) for moment in moments)
    for entry in session.of_type("message"):
        # A message is stamped when it begins, its entry when it is written.
        assert 0 <= milliseconds(entry["timestamp"]) - entry["message"]["timestamp"] < 60_000


@pytest.mark.parametrize("session", named("trees", TREES))
def test_results_follow_their_calls(session: Session) -> None:
    for entry in session.of_type("message"):
        if entry["message"]["role"] != "toolResult":
            continue
        calls = {
            block["id"]: block["name"]
            for above in session.above(entry)
            if above["type"] == "message" and above["message"]["role"] == "assistant"
            for block in above["message"]["content"]
            if block["type"] == "toolCall"
        }
        assert calls[entry["message"]["toolCallId"]] == entry["message"]["toolName"]
    results = {message["toolCallId"] for message in session.messages("toolResult")}
    assert {block["id"] for block in session.blocks("assistant", "toolCall")} == results


def usages() -> Iterator[Json]:
    for session in SESSIONS:
        yield from (entry["usage"] for entry in session.entries if "usage" in entry)
        yield from (message["usage"] for message in session.messages("assistant"))


def test_usage_adds_up() -> None:
    found = list(usages())
    assert len(found) > 100
    for usage in found:
        parts = ("input", "output", "cacheRead", "cacheWrite")
        assert usage["totalTokens"] == sum(usage[part] for part in parts)
        assert usage["cost"]["total"] == pytest.approx(sum(usage["cost"][part] for part in parts))


def test_the_compaction_keeps_a_part_of_its_path() -> None:
    (session,) = (session for session in SESSIONS if session.of_type("compaction"))
    (compaction,) = session.of_type("compaction")
    above = [entry["id"] for entry in session.above(compaction)]
    assert len(session.entries) >= 40
    assert 0 < above.index(compaction["firstKeptEntryId"]) < len(above) / 2
    assert compaction["tokensBefore"] > 0


def test_the_branch_summary_stands_for_the_branch_that_was_left() -> None:
    (summary,) = STAR.of_type("branch_summary")
    left = STAR.by_id[summary["fromId"]]
    path = {entry["id"] for entry in STAR.above(summary)}
    assert left["id"] not in path
    abandoned = [e for e in [left, *STAR.above(left)] if e["id"] not in path and e["type"] == "message"]
    changed = {
        block["arguments"]["path"]
        for entry in abandoned
        if entry["message"]["role"] == "assistant"
        for block in entry["message"]["content"]
        if block["type"] == "toolCall" and block["name"] in {"write", "edit"}
    }
    assert set(summary["details"]["modifiedFiles"]) == changed
    read = {
        block["arguments"]["path"]
        for entry in abandoned
        if entry["message"]["role"] == "assistant"
        for block in entry["message"]["content"]
        if block["type"] == "toolCall" and block["name"] == "read"
    }
    assert set(summary["details"]["readFiles"]) == read - changed


def test_the_image_is_a_whole_png() -> None:
    (block,) = STAR.blocks("user", "image")
    data = base64.b64decode(block["data"], validate=True)
    assert block["mimeType"] == "image/png"
    assert data[:8] == b"\x89PNG\r\n\x1a\n"
    kinds, pixels, at = [], b"", 8
    while at < len(data):
        (length,) = struct.unpack_from(">I", data, at)
        kind, body = data[at + 4 : at + 8], data[at + 8 : at + 8 + length]
        assert struct.unpack_from(">I", data, at + 8 + length) == (zlib.crc32(kind + body),)
        kinds.append(kind)
        pixels += body if kind == b"IDAT" else b""
        at += 12 + length
    assert (kinds[0], kinds[-1]) == (b"IHDR", b"IEND")
    width, height, depth = struct.unpack_from(">IIB", data, 16)
    assert len(zlib.decompress(pixels)) == height * (1 + width * depth // 8)


def test_exactly_one_session_is_torn() -> None:
    (session,) = (session for session in SESSIONS if session.torn)
    with pytest.raises(ValueError, match="Unterminated string"):
        json.loads(session.torn)


# Copies


def shipped() -> dict[Path, tuple[bytes, int]]:
    return {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in FILES}


def copies(made: demo.Demo) -> dict[str, Path]:
    found = {path.name: path for path in made.agent_dir.glob("sessions/*/*.jsonl")}
    assert set(found) == {path.name for path in FILES}
    return found


def test_a_copy_differs_in_its_working_directories_only(tmp_path: Path) -> None:
    before = shipped()
    made = demo.make(tmp_path / "agent")
    assert shipped() == before
    assert made == demo.Demo(
        tmp_path / "agent", tmp_path / "agent/home/code/paperboy", tmp_path / "agent/home"
    )
    found = copies(made)
    for original in FILES:
        old_first, old_rest = original.read_bytes().split(b"\n", 1)
        new_first, new_rest = found[original.name].read_bytes().split(b"\n", 1)
        assert new_rest == old_rest
        old, new = json.loads(old_first), json.loads(new_first)
        assert new["cwd"] == old["cwd"].replace("/home/ada", str(made.home))
        assert found[original.name].parent.name == "--" + new["cwd"].strip("/").replace("/", "-") + "--"
        moved = {"cwd", "parentSession"}
        assert list(new) == list(old)
        assert {k: v for k, v in new.items() if k not in moved} == {
            k: v for k, v in old.items() if k not in moved
        }
        parent = old.get("parentSession")
        assert parent is None or new["parentSession"] == str(found[Path(parent).name])


def test_a_copy_has_all_its_folders_but_one(tmp_path: Path) -> None:
    made = demo.make(tmp_path / "agent", home=tmp_path / "elsewhere")
    assert made.home == tmp_path / "elsewhere"
    assert made.cwd == made.home / "code/paperboy"
    folders = {Path(Session(path).header["cwd"]) for path in copies(made).values()}
    assert {folder for folder in folders if not folder.is_dir()} == {made.home / "scratch/epub-spike"}
    assert made.cwd in folders


def test_a_parent_session_is_there(tmp_path: Path) -> None:
    sessions = [Session(path) for path in copies(demo.make(tmp_path / "agent")).values()]
    (fork,) = (session for session in sessions if "parentSession" in session.header)
    parent = Session(Path(fork.header["parentSession"]))
    shared = set(parent.by_id) & set(fork.by_id)
    assert 20 <= len(shared) < len(fork.by_id)


@pytest.mark.parametrize("rewrite", [True, False])
def test_a_copy_was_last_changed_when_its_last_entry_was_written(tmp_path: Path, rewrite: bool) -> None:
    for path in copies(demo.make(tmp_path / "agent", rewrite=rewrite)).values():
        last = datetime.fromisoformat(Session(path).entries[-1]["timestamp"])
        assert path.stat().st_mtime == pytest.approx(last.timestamp(), abs=0.001)


def test_a_copy_without_rewriting_is_the_store(tmp_path: Path) -> None:
    made = demo.make(tmp_path / "agent", rewrite=False)
    for original in FILES:
        copy = made.agent_dir / original.relative_to(demo.STORE)
        assert copy.read_bytes() == original.read_bytes()
    assert [path.name for path in made.agent_dir.iterdir()] == ["sessions"]
    assert (made.cwd, made.home) == (Path("/home/ada/code/paperboy"), Path("/home/ada"))


def test_a_copy_never_lands_on_other_sessions(tmp_path: Path) -> None:
    precious = tmp_path / "sessions" / "--home-grace--" / "mine.jsonl"
    precious.parent.mkdir(parents=True)
    precious.write_text("mine")
    with pytest.raises(FileExistsError):
        demo.make(tmp_path)
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == [precious]


def test_a_copy_behind_a_link_is_named_by_its_real_path(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "real")
    made = demo.make(tmp_path / "link" / "agent")
    assert made.home == tmp_path / "real/agent/home"


def test_a_temporary_copy_goes_with_all_that_was_done_to_it() -> None:
    with demo.temporary() as made:
        assert made.cwd.is_dir()
        assert made.agent_dir == made.home / ".pi" / "agent"
        some = next(iter(copies(made).values()))
        some.write_text("changed")
        (made.cwd / "new").write_text("new")
    assert not made.home.parent.exists()
