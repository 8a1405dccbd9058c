"""Random sessions: well-formed trees of every entry type that Pi and pitree read alike."""

from hypothesis import strategies as st

from .build import Json, Session, call, milliseconds, moment, text, usage
from .oracle import OWN_LEAF, OwnLeaf

# Among them what JavaScript and Python disagree on: which characters are blank, what may stand alone.
_CHARACTERS = 'ab \n\t\r\x00\x1c\x85\u00a0\u2028\u3000\ufeff\ufffdé日😀\ud83d\udc00"\\'
_words = st.text(_CHARACTERS, max_size=6)
_scalars = (
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | _words
)
_json = st.recursive(
    _scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(_words, inner, max_size=3),
    max_leaves=6,
)
_blocks = st.lists(
    st.one_of(
        _words.map(text),
        st.builds(lambda words: {"type": "thinking", "thinking": words}, _words),
        st.just({"type": "image", "data": "aGk=", "mimeType": "image/png"}),
    ),
    max_size=3,
)
_contents = _words | _blocks | st.none()
_levels = st.sampled_from(["off", "minimal", "low", "medium", "high", "xhigh"])
_stops = st.sampled_from(["stop", "toolUse", "length", "error", "aborted", "deferred", None])
_more = st.fixed_dictionaries(
    {}, optional={"details": _json, "usage": st.just(usage()), "fromHook": st.booleans()}
)


@st.composite
def sessions(draw: st.DrawFn) -> Session:
    """Make a session of up to 25 entries, whose parents, timestamps and targets are drawn freely."""
    made = Session(**draw(st.fixed_dictionaries({}, optional={"metadata": _json, "parentSession": _words})))
    for number in range(1, 1 + draw(st.integers(0, 25))):
        earlier = made.ids()
        # Mostly chains, else nothing ever gets deep.
        parent = made.last if draw(st.integers(0, 9)) < 6 else draw(st.sampled_from([None, *earlier]))
        known = st.sampled_from([*earlier, f"{number:08x}", "deadbeef"])
        kind, fields = draw(_entries(known))
        # Few distinct moments: many ties, and an order that is not the file's.
        fields["timestamp"] = moment(draw(st.integers(0, 6)))
        made.entry(kind, parent, **fields)
    if draw(st.integers(0, 9)) == 0:
        made.lines = draw(st.permutations(made.lines))
    if draw(st.integers(0, 3)) == 0:
        made.lines = [_shuffled(draw, line) for line in made.lines]
    return made


@st.composite
def sessions_and_leaves(draw: st.DrawFn) -> tuple[Session, list[str | OwnLeaf | None]]:
    """Make a session, and the leaves to look from: its own and up to three more (None is a place too)."""
    made = draw(sessions())
    others = st.lists(st.sampled_from([None, *made.ids()]), max_size=3, unique=True)
    return made, [OWN_LEAF, *draw(others)]


def _shuffled(draw: st.DrawFn, line: Json | bytes) -> Json | bytes:
    return dict(draw(st.permutations(list(line.items())))) if isinstance(line, dict) else line


def _entries(known: st.SearchStrategy[str]) -> st.SearchStrategy[tuple[str, Json]]:
    """Draw an entry's type and fields; `known` draws ids of entries, or almost."""
    chosen: list[tuple[int, str, st.SearchStrategy[Json]]] = [
        (8, "message", st.fixed_dictionaries({"message": _messages()})),
        (1, "model_change", st.fixed_dictionaries({"provider": _words, "modelId": _words})),
        (1, "thinking_level_change", st.fixed_dictionaries({"thinkingLevel": _levels})),
        (2, "compaction", _compactions(known)),
        (1, "branch_summary", _with(_more, fromId=known | st.just("root"), summary=_words)),
        (1, "custom", st.fixed_dictionaries({"customType": _words}, optional={"data": _json})),
        (1, "custom_message", _with(_more, customType=_words, content=_contents, display=st.booleans())),
        (1, "label", st.fixed_dictionaries({"targetId": known}, optional={"label": _words | st.none()})),
        (1, "session_info", st.fixed_dictionaries({}, optional={"name": _words | st.none()})),
        (2, "context_edit", st.fixed_dictionaries({"targetId": known, "replacement": _replacements()})),
        (1, "usage", st.fixed_dictionaries({"kind": _words, "usage": st.just(usage())})),
        (1, "active_tools_change", st.fixed_dictionaries({"activeToolNames": st.lists(_words, max_size=2)})),
        (
            1,
            "of_a_later_version",
            st.dictionaries(st.sampled_from(["message", "content", "targetId"]), _json),
        ),
    ]
    weighted = [(kind, fields) for weight, kind, fields in chosen for _ in range(weight)]
    return st.sampled_from(weighted).flatmap(lambda pair: pair[1].map(lambda fields: (pair[0], dict(fields))))


def _with(
    optional: st.SearchStrategy[Json], **required: st.SearchStrategy[object]
) -> st.SearchStrategy[Json]:
    return st.builds(_merged, st.fixed_dictionaries(required), optional)


def _merged(first: Json, second: Json) -> Json:
    return {**first, **second}


def _compactions(known: st.SearchStrategy[str]) -> st.SearchStrategy[Json]:
    system = st.builds(lambda words: {"role": "system", "content": words, "timestamp": 5}, _words)
    fields = st.fixed_dictionaries(
        {"summary": _words, "tokensBefore": st.integers(0, 10**6)},
        optional={"firstKeptEntryId": known, "systemMessage": system | st.none()},
    )
    return st.builds(_merged, fields, _more)


def _replacements() -> st.SearchStrategy[Json | None]:
    return st.none() | st.builds(lambda content: {"content": content}, _words | _blocks)


def _messages() -> st.SearchStrategy[Json]:
    stamps = st.builds(milliseconds, st.integers(0, 6))
    calls = st.lists(
        st.builds(lambda arguments: call("read", **arguments), st.just({"path": "/a"})), max_size=2
    )
    said = st.builds(lambda blocks, called: [*blocks, *called], _blocks, calls) | st.none()
    ran: Json = {"exitCode": st.integers(0, 2), "cancelled": st.booleans(), "truncated": st.booleans()}
    shapes: list[Json] = [
        {"role": "user", "content": _contents},
        {"role": "user", "content": _words},
        {"role": "assistant", "content": said, "provider": _words, "model": _words, "stopReason": _stops},
        {"role": "assistant", "content": said, "provider": _words, "model": _words, "stopReason": _stops},
        {
            "role": "toolResult",
            "content": _contents,
            "toolCallId": _words,
            "toolName": _words,
            "details": _json,
        },
        {
            "role": "bashExecution",
            "command": _words,
            "output": _words,
            **ran,
            "excludeFromContext": st.booleans(),
        },
        {"role": "custom", "customType": _words, "content": _contents, "display": st.booleans()},
        {"role": "branchSummary", "summary": _words, "fromId": _words},
        {"role": "compactionSummary", "summary": _words, "tokensBefore": st.integers(0, 9)},
        {
            "role": "system",
            "content": _contents,
            "sections": st.dictionaries(_words, _words | st.none(), max_size=2),
        },
    ]
    return st.sampled_from(shapes).flatmap(
        lambda shape: st.fixed_dictionaries(
            {
                name: value if isinstance(value, st.SearchStrategy) else st.just(value)
                for name, value in shape.items()
            },
            optional={"timestamp": stamps},
        )
    )
