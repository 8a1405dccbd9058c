"""Scripts of SessionManager calls, to be run by Pi's and by pitree's: random ones, and what they lead to.

The form of a script is the one that `oracle.mjs` takes. What the two lead to is the same when everything that
is made up on the way (ids, times, paths) is named by the order in which it came up.
"""

import json
import re
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from hypothesis import strategies as st

from pitree import SessionManager
from pitree.sessions.errors import SessionError

from .build import Json, call, text, usage
from .compare import difference
from .oracle import Oracle

UNDEFINED: Json = {"$undefined": True}
CWD = "/home/ada/paperboy"
_ISO = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
_FILE = re.compile(r"\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z_[0-9a-zA-Z._-]+\.jsonl")
_STARTED_MS = time.time() * 1000 - 60_000


@dataclass
class Script:
    """The calls: how the manager is made, and what is done with it."""

    start: Json
    steps: list[Json]

    def __repr__(self) -> str:
        return "\n".join(json.dumps(step) for step in [self.start, *self.steps])


def step(name: str, *arguments: object) -> Json:
    """Make a call of Pi's method `name`."""
    return {"do": name, "with": list(arguments)}


def entry(number: int) -> Json:
    """Stand for the id of an entry, by its place in the session."""
    return {"$entry": number}


CREATE: Json = {"make": "create", "with": [CWD, {"$dir": "sessions"}]}
IN_MEMORY: Json = {"make": "inMemory", "with": [CWD]}


# ---- what pitree makes of one


def run_in_pitree(script: Script, folder: Path) -> list[Json]:
    """Do with pitree's SessionManager what `oracle.mjs` does with Pi's."""
    scratch = Path(tempfile.mkdtemp(dir=folder))
    files: list[Path] = []
    start = getattr(SessionManager, _snake(script.start["make"]))
    manager: SessionManager = start(*_meant(script.start["with"], None, files, scratch))
    with manager:
        answers: list[Json] = [{"error": None, "state": _state(manager, files)}]
        for done in script.steps:
            error = None
            positional = _meant(done["with"], manager, files, scratch)
            named = {}
            if done["do"] == "newSession":
                options = positional.pop() if positional else {}
                given = {"parentSession": "parent_session", "id": "session_id"}
                named = {given[name]: value for name, value in options.items()}
            try:
                getattr(manager, _snake(done["do"]))(*positional, **named)
            except SessionError as raised:
                error = str(raised)
            answers.append({"error": error, "state": _state(manager, files)})
    return answers


def _snake(name: str) -> str:
    return re.sub("[A-Z]", lambda letter: f"_{letter[0].lower()}", name)


def _meant(value: Any, manager: SessionManager | None, files: list[Path], scratch: Path) -> Any:  # noqa: ANN401 - any JSON value
    if isinstance(value, list):
        return [_meant(inner, manager, files, scratch) for inner in value]
    if not isinstance(value, dict):
        return value
    if "$undefined" in value:
        return None
    if "$entry" in value:
        entries = [] if manager is None else manager.tree.entries
        return entries[value["$entry"] % len(entries)].id if entries else "nowhere"
    if "$file" in value:
        return files[value["$file"]]
    if "$dir" in value:
        return scratch / value["$dir"]
    return {key: _meant(inner, manager, files, scratch) for key, inner in value.items()}


def _state(manager: SessionManager, files: list[Path]) -> Json:
    file = manager.get_session_file()
    if file is not None and file not in files:
        files.append(file)
    entries = manager.get_entries()
    ids = [made["id"] for made in entries]
    context = manager.build_session_context()
    return {
        "header": manager.get_header(),
        "sessionId": manager.get_session_id(),
        "file": None if file is None else str(file),
        "stored": file.read_bytes().decode() if file is not None and file.exists() else None,
        "persisted": manager.is_persisted(),
        "cwd": manager.get_cwd(),
        "name": manager.get_session_name(),
        "leaf": manager.get_leaf_id(),
        "leafEntry": manager.get_leaf_entry(),
        "entries": entries,
        "labels": [manager.get_label(entry_id) for entry_id in ids],
        "branch": [made["id"] for made in manager.get_branch()],
        "branches": [len(manager.get_branch(entry_id)) for entry_id in ids],
        "children": [[child["id"] for child in manager.get_children(parent)] for parent in (None, *ids)],
        "tree": _outline(manager),
        "contextEntries": [made["id"] for made in manager.build_context_entries()],
        "context": {
            "messages": context.messages,
            "thinkingLevel": context.thinking_level,
            "model": context.model,
        },
    }


def _outline(manager: SessionManager) -> list[list[Any]]:
    found = []
    waiting = [(0, node) for node in reversed(manager.get_tree())]
    while waiting:
        level, node = waiting.pop()
        found.append([level, node.entry, node.label, node.label_timestamp])
        waiting.extend((level + 1, child) for child in reversed(node.children))
    return found


# ---- telling the two apart


def assert_same_outcome(script: Script, oracle: Oracle, folder: Path) -> None:
    """Run a script in both, and fail at the first step whose outcome differs."""
    request = {"op": "script", "dir": str(folder), "start": script.start, "steps": script.steps}
    theirs = oracle.ask(request)
    ours = run_in_pitree(script, folder)
    assert isinstance(theirs, list)
    assert len(theirs) == len(ours) == 1 + len(script.steps)
    names = _Names(), _Names()
    for done, pi, pitree in zip([script.start, *script.steps], theirs, ours, strict=True):
        assert (pi["error"] is None) == (pitree["error"] is None), f"{done}: {pi['error']}, {pitree['error']}"
        left, right = names[0].normal(pi["state"]), names[1].normal(pitree["state"])
        assert left.keys() == right.keys()
        found = {key: difference(left[key], right[key]) for key in left}
        found = {key: place for key, place in found.items() if place}
        assert not found, f"{done}: {found}"


@dataclass
class _Names:
    """Gives what is made up on the way a name that is the same on both sides."""

    known: dict[str, str] = field(default_factory=dict)

    def normal(self, state: Json) -> Json:
        if state["file"] is not None:
            shape = _FILE.sub("TIME_ID.jsonl", Path(state["file"]).name)
            self._learn(state["file"], f"file {shape}")
        self._learn(state["sessionId"], "session")
        for made in state["entries"]:
            self._learn(made["id"], "entry")
        state = dict(state)
        stored = state["stored"]
        if stored is not None:
            assert stored.endswith("\n")
            state["stored"] = [json.loads(line) for line in stored[:-1].split("\n")]
        # What is written has its keys in Pi's order; what the context holds need not.
        return {key: self._named(value, ordered=key != "context") for key, value in state.items()}

    def _learn(self, made_up: str, kind: str) -> None:
        if made_up not in self.known:
            self.known[made_up] = f"<{kind} {len(self.known)}>"

    def _named(self, value: Any, *, ordered: bool) -> Any:  # noqa: ANN401 - any JSON value
        if isinstance(value, dict):
            pairs = {
                key: "<now>" if key == "timestamp" and _is_now(inner) else self._named(inner, ordered=ordered)
                for key, inner in value.items()
            }
            return list(pairs.items()) if ordered else pairs
        if isinstance(value, list):
            return [self._named(inner, ordered=ordered) for inner in value]
        if isinstance(value, str):
            return "<now>" if _ISO.fullmatch(value) else self.known.get(value, value)
        return value


def _is_now(value: object) -> bool:
    return isinstance(value, int | float) and value > _STARTED_MS


# ---- random ones

_words = st.sampled_from(["", "a", "  two words ", "line\r\n\nbreak", "日本 😀", "\ud83d", "\u2028", '"\\'])
_values = st.recursive(
    st.booleans() | st.integers(-(2**53), 2**53) | st.floats(-1e9, 1e9) | _words,
    lambda inner: (
        st.lists(inner, max_size=2)
        | st.dictionaries(st.sampled_from(["id", "type", "x", "日"]), inner, max_size=2)
    ),
    max_leaves=4,
)
_ids = st.builds(entry, st.integers(0, 40)) | st.just("deadbeef")
_known = st.builds(entry, st.integers(0, 40))
_optional = st.just(UNDEFINED) | _values
_flags = st.sampled_from([UNDEFINED, True, False])
_usages = st.sampled_from([UNDEFINED, usage()])
_blocks = st.lists(_words.map(text), max_size=2)
_tool = st.builds(lambda name: {"name": name, "description": "d", "parameters": {}}, st.sampled_from("abc"))
_sections = st.dictionaries(st.sampled_from(["tone", "rules"]), _words | st.none(), max_size=2)


def _message(role: str, **fields: st.SearchStrategy[Any]) -> st.SearchStrategy[Json]:
    return st.builds(
        lambda chosen: step("appendMessage", {"role": role, **chosen, "timestamp": 5}),
        st.fixed_dictionaries(dict(fields)),
    )


_messages = st.one_of(
    _message("user", content=_words | _blocks),
    _message("user", content=_words, extra=_values),
    _message(
        "assistant",
        content=_blocks | st.just([call("read", path="/a")]),
        provider=_words,
        model=_words,
        stopReason=st.sampled_from(["stop", "toolUse", "error"]),
    ),
    _message("toolResult", toolCallId=st.just("call-1"), toolName=_words, content=_blocks, details=_values),
    _message("bashExecution", command=_words, output=_words, excludeFromContext=st.booleans()),
    _message("custom", customType=_words, content=_words | _blocks, display=st.booleans()),
    _message(
        "system",
        content=_words | _blocks | st.none(),
        sections=_sections,
        toolsAdded=st.lists(_tool, max_size=2),
        toolsRemoved=st.lists(_tool, max_size=1),
    ),
)
_replacements = st.sampled_from(
    [
        None,
        None,
        {"content": "instead"},
        {"content": [text("instead")]},
        {"content": 5},
        {},
        {"content": None},
    ]
)
_MOVING_ON = [{"id": "chosen"}, {"id": "-no"}, {"id": ""}, {"parentSession": "/p.jsonl"}]
_SOME = [
    (12, _messages),
    (1, st.builds(lambda level: step("appendThinkingLevelChange", level), st.sampled_from(["off", "high"]))),
    (1, st.builds(lambda *words: step("appendModelChange", *words), _words, _words)),
    (
        2,
        st.builds(
            lambda *given: step("appendCompaction", *given),
            _words,
            _ids | st.just(UNDEFINED),
            st.integers(0, 10**6),
            _optional,
            _flags,
            _usages,
        ),
    ),
    (1, st.builds(lambda *given: step("appendCustomEntry", *given), _words, _optional)),
    (1, st.builds(lambda name: step("appendSessionInfo", name), _words)),
    (
        1,
        st.builds(
            lambda *given: step("appendCustomMessageEntry", *given),
            _words,
            _words | _blocks,
            st.booleans(),
            _optional,
        ),
    ),
    (3, st.builds(lambda *given: step("appendLabelChange", *given), _ids, _words | st.just(UNDEFINED))),
    (3, st.builds(lambda *given: step("appendContextEdit", *given), _ids, _replacements)),
    (
        1,
        st.builds(
            lambda *given: step("appendUsage", *given),
            _words,
            _words,
            _words,
            st.just(usage()),
            _words | st.just(UNDEFINED),
        ),
    ),
    (3, st.builds(lambda target: step("branch", target), _ids)),
    (1, st.just(step("resetLeaf"))),
    (
        2,
        st.builds(
            lambda *given: step("branchWithSummary", *given),
            _ids | st.none(),
            _words,
            _optional,
            _flags,
            _usages,
        ),
    ),
    (2, st.builds(lambda target: step("createBranchedSession", target), _ids)),
    (1, st.builds(lambda options: step("newSession", options), st.sampled_from(_MOVING_ON))),
]
_WITH_FILES = [
    (2, st.builds(lambda number: step("setSessionFile", {"$file": number}), st.integers(-1, 0))),
    (
        1,
        st.builds(
            lambda name: step("setSessionFile", {"$dir": name}), st.sampled_from(["a.jsonl", "sessions/b"])
        ),
    ),
]


def _steps(choices: list[tuple[int, st.SearchStrategy[Json]]]) -> st.SearchStrategy[list[Json]]:
    weighted = [strategy for weight, strategy in choices for _ in range(weight)]
    return st.lists(st.one_of(weighted), min_size=1, max_size=20).map(_with_fresh_ids)


def _with_fresh_ids(steps: list[Json]) -> list[Json]:
    """Give numbers to chosen session ids: one used twice within a millisecond would name the same file."""
    return [
        step("newSession", {"id": f"chosen-{place}"}) if done["with"] == [{"id": "chosen"}] else done
        for place, done in enumerate(steps)
    ]


scripts = st.builds(Script, st.just(CREATE), _steps(_SOME + _WITH_FILES)) | st.builds(
    Script, st.just(IN_MEMORY), _steps(_SOME)
)
"""Any calls in any order, some of them refused."""
