"""pitree's SessionManager does what Pi's does: call by call, the same entries, files, leaf and context."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from .build import Json, call, text, usage
from .oracle import Oracle
from .scripts import CREATE, IN_MEMORY, UNDEFINED, Script, assert_same_outcome, entry, scripts, step


def user(content: object = "hello", **more: object) -> Json:
    return step("appendMessage", {"role": "user", "content": content, "timestamp": 5, **more})


def assistant(content: object = None, **more: object) -> Json:
    said = [text("fine")] if content is None else content
    made = {"role": "assistant", "content": said, "provider": "p", "model": "m", "stopReason": "stop"}
    return step("appendMessage", {**made, "timestamp": 5, **more})


def other(role: str, **fields: object) -> Json:
    return step("appendMessage", {"role": role, **fields, "timestamp": 5})


def result(**more: object) -> Json:
    made = {"toolCallId": "call-1", "toolName": "read", "content": [text("done")], "isError": False}
    return other("toolResult", **{**made, **more})


def label(target: object, words: object) -> Json:
    return step("appendLabelChange", target, words)


YES, NO = True, False
WRONG: list[object] = [{}, {"content": None}, {"content": 5}, {"content": {}}, "new", 5, []]
TALK = [user("one"), assistant(), user("two"), assistant()]
LEVEL, MODEL = step("appendThinkingLevelChange", "high"), step("appendModelChange", "p", "m-2")

SCRIPTS: dict[str, list[Json]] = {
    "every method": [
        LEVEL,
        MODEL,
        *TALK,
        step("appendCompaction", "short", entry(2), 1200, {"readFiles": ["a"]}, YES, usage()),
        step("appendCustomEntry", "state", {"id": "x", "type": "message", "n": [1, 2.5, None]}),
        step("appendSessionInfo", " a\r\n\nname\ufeff "),
        step("appendCustomMessageEntry", "hint", "Prefer small steps.", NO, {"d": 1}),
        step("appendCustomMessageEntry", "hint", [text("In blocks.")], YES),
        label(entry(2), "here"),
        step("appendContextEdit", entry(3), None),
        step("appendUsage", "summary", "p", "m", usage(), "a note"),
        step("appendUsage", "summary", "p", "m", usage(), ""),
        step("appendUsage", "summary", "p", "m", usage()),
        step("branchWithSummary", entry(2), "left", {"modifiedFiles": []}, NO, usage()),
        step("branchWithSummary", None, "before the first"),
        user("another root"),
    ],
    "no file without a conversation": [
        LEVEL,
        step("appendSessionInfo", "named"),
        other("system", content="Be brief."),
        other("bashExecution", command="ls", output="a"),
        other("custom", customType="c", content="hi", display=True),
        step("appendCustomMessageEntry", "hint", "hi", YES),
        user("now"),
        MODEL,
    ],
    "a file with the first reply": [MODEL, assistant(), user()],
    "names": [
        step("appendSessionInfo", "  first  "),
        step("appendSessionInfo", "\n"),
        step("appendSessionInfo", "x\ry"),
        user(),
        step("appendSessionInfo", ""),
    ],
    "labels": [
        *TALK,
        label(entry(1), "a"),
        label(entry(0), "b"),
        label(entry(1), "c"),
        label(entry(0), ""),
        label(entry(1), UNDEFINED),
        label(entry(5), "on a label"),
        label("deadbeef", "nowhere"),
    ],
    "moves": [
        *TALK,
        step("branch", entry(0)),
        user("beside two"),
        step("branch", "deadbeef"),
        step("resetLeaf"),
        step("branchWithSummary", "deadbeef", "no"),
        step("branchWithSummary", entry(1), "from the root"),
        step("resetLeaf"),
        step("branchWithSummary", None, "from the root to the root"),
        step("branchWithSummary", entry(0), ""),
    ],
    "edits": [
        user(),
        assistant([text("a"), call("read", path="/a")], stopReason="toolUse"),
        result(),
        step("appendCustomMessageEntry", "hint", "hi", YES),
        MODEL,
        other("bashExecution", command="ls", output="a"),
        other("system", content="Be brief."),
        *(
            step("appendContextEdit", entry(target), replacement)
            for replacement in (None, {"content": "new"}, {"content": [text("new")], "more": 1})
            for target in range(8)
        ),
        *(step("appendContextEdit", entry(0), wrong) for wrong in WRONG),
        step("branch", entry(0)),
        step("appendContextEdit", entry(1), None),  # not on the branch
        step("appendContextEdit", "deadbeef", None),
    ],
    "compactions": [
        other(
            "system", content="Be brief.", sections={"tone": "dry", "old": "x"}, toolsAdded=[{"name": "read"}]
        ),
        *TALK,
        other("system", content=[text("And"), text("kind.")], sections={"old": None, "new": "y"}),
        other("system", content=None, toolsRemoved=[{"name": "read"}], toolsAdded=[{"name": "bash", "n": 1}]),
        step("appendCompaction", "first", entry(3), 10),
        user("three"),
        step("appendCompaction", "keeps nothing", UNDEFINED, 20),
        user("four"),
        step("appendCompaction", "keeps from before the last one", entry(3), 30),
        step("appendCompaction", "keeps from nowhere", "deadbeef", 40),
        other("system", content="Later on."),
        step("appendCompaction", "again", entry(8), 50, UNDEFINED, NO, UNDEFINED),
    ],
    "branched sessions": [
        user("one"),
        label(entry(0), "first"),
        assistant(),  # hangs on a label
        label(entry(2), "second"),
        label(entry(0), "first again"),
        step("appendSessionInfo", "named"),
        user("two"),
        step("appendCompaction", "keeps from a label on", entry(3), 10),
        step("appendContextEdit", entry(6), {"content": "2"}),
        step("branch", entry(2)),
        user("left behind"),
        label(entry(9), "not on the path"),
        step("createBranchedSession", "deadbeef"),
        step("createBranchedSession", entry(8)),
        user("goes on"),
        step("createBranchedSession", entry(2)),
        step("setSessionFile", {"$file": 0}),
        step("createBranchedSession", entry(1)),
        step("newSession", {"parentSession": "/p.jsonl"}),
        MODEL,
        label(entry(0), "model"),
        step("createBranchedSession", entry(1)),
        user("and now a file"),
        step("setSessionFile", {"$file": -1}),
    ],
    "a kept boundary that is a label just before the compaction": [
        user(),
        label(entry(0), "x"),
        step("appendCompaction", "nothing between", entry(1), 10),
        step("createBranchedSession", entry(2)),
    ],
    "other files": [
        *TALK,
        step("setSessionFile", {"$dir": "sessions/other.jsonl"}),
        MODEL,
        user(),
        step("setSessionFile", {"$file": 0}),
        user("back again"),
        step("newSession", {"id": "chosen"}),
        step("newSession", {"id": "-no"}),
        step("newSession", {"id": "no\n"}),
        user(),
        step("setSessionFile", {"$file": 1}),
    ],
    "odd characters and numbers": [
        user("\ud83d \u2028 \x00 \x7f 日本 😀", more=[2**53, -0.5, 1e300, True, None, {}, []]),
        step("appendCustomEntry", "\ud83d", {"\udc00": "\u2029"}),
        step("appendSessionInfo", "\u3000\ud83d\u0085"),
        label(entry(0), "\ud83d"),
    ],
}
ONLY_ON_DISK = ("other files",)


@pytest.mark.parametrize("name", SCRIPTS)
def test_scripts(name: str, oracle: Oracle, tmp_path: Path) -> None:
    assert_same_outcome(Script(CREATE, SCRIPTS[name]), oracle, tmp_path)


@pytest.mark.parametrize("name", [name for name in SCRIPTS if name not in ONLY_ON_DISK])
def test_scripts_in_memory(name: str, oracle: Oracle, tmp_path: Path) -> None:
    steps = [done for done in SCRIPTS[name] if done["do"] != "setSessionFile"]
    assert_same_outcome(Script(IN_MEMORY, steps), oracle, tmp_path)


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(before=st.sampled_from([[], *SCRIPTS.values()]), script=scripts)
def test_random_scripts(oracle: Oracle, folder: Path, before: list[Json], script: Script) -> None:
    if script.start == IN_MEMORY:
        before = [done for done in before if done["do"] != "setSessionFile"]
    assert_same_outcome(Script(script.start, [*before, *script.steps]), oracle, folder)
