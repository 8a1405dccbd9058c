"""Entries with anything anywhere: what a broken or malicious program could leave in a session file."""

from typing import Any

from hypothesis import strategies as st

Json = Any

_KEYS = st.sampled_from(["path", "text", "data", "content", "", "\x1b[2J", "a\nb", "type"])
_TEXTS = st.one_of(
    st.text(max_size=30),
    st.sampled_from(
        [
            "\x1b]52;c;AAAA\x1b\\",
            "one\r\ntwo\rthree\n",
            "\u202eturned\u2066",
            "\ud83d",
            "\x9b31m",
            "```\n\x07code\n```\n# title\n- item `x`\n> \t quote",
            "漢字とかな " * 9,
            "👩‍👩‍👧‍👦 ❤️ 🏴󠁧󠁢󠁳󠁣󠁴󠁿",
            "a" * 3000,
            "\n" * 50,
        ]
    ),
)
_SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(), st.floats(allow_nan=False, allow_infinity=False), _TEXTS
)
values = st.recursive(
    _SCALARS,
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(_KEYS, inner, max_size=4)),
    max_leaves=8,
)
"""Any JSON value."""


def _objects(known: dict[str, st.SearchStrategy[Json]]) -> st.SearchStrategy[dict[str, Json]]:
    """Objects in which each known field is missing, of its type, or anything else."""
    fields = {name: st.one_of(good, values) for name, good in known.items()}
    return st.fixed_dictionaries({}, optional=fields)


_USAGES = _objects(
    {
        "input": st.integers(),
        "output": st.integers(),
        "cacheRead": st.integers(),
        "totalTokens": st.integers(),
        "cost": _objects({"total": st.floats(allow_nan=False)}),
    }
)
_EDITS = _objects({"oldText": _TEXTS, "newText": _TEXTS})
_ARGUMENTS = _objects(
    {
        "path": _TEXTS,
        "command": _TEXTS,
        "content": _TEXTS,
        "offset": st.integers(),
        "limit": st.integers(),
        "oldText": _TEXTS,
        "newText": _TEXTS,
        "edits": st.one_of(st.lists(_EDITS, max_size=3), _EDITS, st.just('[{"oldText":"a","newText":"b"}]')),
    }
)
_BLOCKS = _objects(
    {
        "type": st.sampled_from(["text", "thinking", "toolCall", "image"]),
        "text": _TEXTS,
        "thinking": _TEXTS,
        "redacted": st.booleans(),
        "data": st.sampled_from(["iVBORw0KGgo", "/9j/", "R0lGODlh", "UklGRgAAAABXRUJQ", "é"]),
        "mimeType": _TEXTS,
        "id": st.sampled_from(["call", ""]),
        "name": st.sampled_from(["read", "edit", "write", "bash", "grep", "find", "ls", "other"]),
        "arguments": _ARGUMENTS,
    }
)
_CONTENTS = st.one_of(_TEXTS, st.lists(st.one_of(_BLOCKS, values), max_size=4))
messages = _objects(
    {
        "role": st.sampled_from(
            [
                "user",
                "assistant",
                "toolResult",
                "bashExecution",
                "custom",
                "branchSummary",
                "compactionSummary",
                "system",
                "hookMessage",
            ]
        ),
        "content": _CONTENTS,
        "provider": _TEXTS,
        "model": _TEXTS,
        "usage": _USAGES,
        "stopReason": st.sampled_from(["stop", "toolUse", "error", "aborted", "length"]),
        "errorMessage": _TEXTS,
        "toolCallId": st.just("call"),
        "toolName": _TEXTS,
        "isError": st.booleans(),
        "details": _objects({"diff": _TEXTS, "patch": _TEXTS}),
        "command": _TEXTS,
        "output": _TEXTS,
        "exitCode": st.integers(),
        "cancelled": st.booleans(),
        "excludeFromContext": st.booleans(),
        "summary": _TEXTS,
        "tokensBefore": st.integers(),
        "fromId": _TEXTS,
        "customType": _TEXTS,
        "sections": st.dictionaries(_KEYS, _TEXTS, max_size=2),
        "timestamp": st.integers(),
    }
)
"""A message of any role."""

entries = _objects(
    {
        "type": st.sampled_from(
            [
                "message",
                "compaction",
                "branch_summary",
                "custom",
                "custom_message",
                "label",
                "session_info",
                "model_change",
                "thinking_level_change",
                "context_edit",
                "usage",
                "active_tools_change",
                "leaf",
                "unheard_of",
            ]
        ),
        "id": st.sampled_from(["odd", "odd \x1b[2J\x9b31m\u202e"]),
        "parentId": st.just("first"),
        "timestamp": st.just("2026-03-01T10:00:00.000Z"),
        "message": messages,
        "summary": _TEXTS,
        "tokensBefore": st.integers(),
        "firstKeptEntryId": st.just("first"),
        "retainedTail": st.lists(st.one_of(messages, values), max_size=3),
        "systemMessage": messages,
        "details": _objects({"readFiles": st.lists(_TEXTS), "modifiedFiles": st.lists(_TEXTS)}),
        "fromHook": st.booleans(),
        "fromId": _TEXTS,
        "customType": _TEXTS,
        "data": values,
        "content": _CONTENTS,
        "display": st.booleans(),
        "targetId": st.sampled_from(["first", "odd", "odd \x1b[2J\x9b31m\u202e", "nowhere \x1b[2J"]),
        "label": _TEXTS,
        "name": _TEXTS,
        "provider": _TEXTS,
        "modelId": _TEXTS,
        "thinkingLevel": _TEXTS,
        "replacement": st.one_of(st.none(), _objects({"content": _CONTENTS})),
        "usage": _USAGES,
        "kind": _TEXTS,
        "note": _TEXTS,
        "activeToolNames": st.lists(_TEXTS),
    }
)
"""An entry of any type, known or not."""
