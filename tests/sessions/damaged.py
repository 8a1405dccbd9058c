"""Session files that went wrong for somebody, each one kind of damage, and a few that only look odd.

Where a file has a plain conversation in it, that is "hi" and its answer "ok", with the ids `00000001` and
`00000002`.
"""

from collections.abc import Callable
from pathlib import Path

from agent.build import Session, call, encode, moment, text

HI, OK = "00000001", "00000002"

Make = Callable[[], bytes]


def talk(**header: object) -> Session:
    """Begin with a plain conversation."""
    made = Session(**header)
    made.user("hi")
    made.assistant("ok")
    return made


def plain() -> bytes:
    return talk().encoded()


def repeated_ids() -> bytes:
    made = Session()
    made.entry("session_info", id="A", name="x")
    made.entry("custom", id="B", customType="z")
    made.entry("session_info", None, id="A", name="x")
    made.entry("custom", id="B", customType="z")
    made.entry("message", id="C", message={"role": "user", "content": "hi"})
    made.entry("message", id="D", message={"role": "assistant", "content": [text("ok")]})
    return made.encoded()


def self_parent() -> bytes:
    made = Session()
    made.user("hi", HI)
    made.assistant("ok")
    return made.encoded()


def cycle_of_three() -> bytes:
    made = talk()
    made.entry("custom", "00000005", customType="one")
    made.user("two")
    made.assistant("three")
    return made.encoded()


def orphan() -> bytes:
    made = talk()
    made.user("orphan", "zzzz")
    made.assistant("after the orphan")
    return made.encoded()


def two_roots() -> bytes:
    made = talk()
    made.user("hi again", None)
    made.assistant("second")
    return made.encoded()


def no_final_newline() -> bytes:
    return plain().rstrip(b"\n")


def torn_tail() -> bytes:
    return plain() + b'{"type":"message","id":"C","parentId":"B","ti'


def byte_order_mark() -> bytes:
    return b"\xef\xbb\xbf" + plain()


def title_before_header() -> bytes:
    return encode([{"type": "title", "v": 1, "title": "t"}]) + plain()


def empty() -> bytes:
    return b""


def only_blanks() -> bytes:
    return b"\n \r\n\t\n"


def no_header() -> bytes:
    return plain().partition(b"\n")[2]


def header_without_id() -> bytes:
    return talk(id=None).encoded()


def only_header() -> bytes:
    return Session().encoded()


def blank_and_bad_lines_before_header() -> bytes:
    return b"\nnot json\n" + plain()


def carriage_returns() -> bytes:
    return plain().replace(b"\n", b"\r\n")


def raw_separators() -> bytes:
    made = Session()
    made.user("before\u2028after")
    made.assistant("x\u2029y\x85z")
    return made.encoded(ascii_only=False)


def stale_leaf() -> bytes:
    made = Session()
    first = made.user("q1")
    made.assistant("a1")
    made.user("q2")
    made.assistant("a2")
    made.name("renamed by another program", first)
    return made.encoded()


def call_without_arguments() -> bytes:
    made = Session()
    made.user("hi")
    made.calls({**call("bash", "t1"), "arguments": None}, stopReason="length")
    return made.encoded()


def name_cleared() -> bytes:
    made = talk()
    made.name("Named")
    made.name("  ")
    return made.encoded()


def labels_cleared() -> bytes:
    made = talk()
    made.label(HI, "one")
    made.label(HI, "two")
    made.label(OK, "b")
    made.label(OK, None)
    made.label("nope", "ghost")
    return made.encoded()


def retain_none() -> bytes:
    made = talk()
    made.compaction("self", summary="SUM", tokensBefore=9)
    made.user("after")
    return made.encoded()


def context_edits() -> bytes:
    made = Session()
    asked = made.user("secret")
    said = made.assistant("ok")
    made.edit(asked, None)
    made.user("next")
    made.edit(said, "short")
    return made.encoded()


def empty_branch_summary() -> bytes:
    made = talk()
    made.summary("", OK, HI)
    made.user("after")
    return made.encoded()


def of_a_later_version() -> bytes:
    made = Session(version=4)
    made.user("hi")
    made.entry("quantum_state", payload={})
    made.assistant("ok")
    return made.encoded()


def version_1() -> bytes:
    return encode(
        [
            {
                "type": "session",
                "id": "v1id",
                "timestamp": moment(0),
                "cwd": "/home/ada/code",
                "provider": "x",
            },
            {"type": "message", "timestamp": moment(1), "message": {"role": "user", "content": "v1 hello"}},
            {
                "type": "message",
                "timestamp": moment(2),
                "message": {
                    "role": "assistant",
                    "content": [text("v1 reply")],
                    "provider": "x",
                    "model": "m",
                },
            },
        ]
    )


def parent_session_missing() -> bytes:
    return talk(parentSession="/nowhere/gone.jsonl").encoded()


def two_headers() -> bytes:
    return plain() + plain().partition(b"\n")[0] + b"\n"


def bad_lines() -> bytes:
    made = talk()
    for line in (b"", b"  ", b"\x00" * 9, b"null", b"[1]", b'"text"', b"5", b"{", b"{'a':1}", b'{"a":NaN}'):
        made.raw(line)
    made.user("after", OK)
    return made.encoded()


def escapes() -> bytes:
    """Control characters of every kind wherever text can stand; nothing of it may reach a terminal."""
    bad = "\x1b]0;owned\x07\x1b[2J\x9b31m\r\n\t\x08\x7f\u202eevil\u2066\u200b\ud83d\U000e0041\u2028"
    made = Session(cwd=f"/home/{bad}", parentSession=bad, metadata={bad: bad})
    asked = made.user(bad)
    made.assistant(
        [{"type": "thinking", "thinking": bad}, text(bad), call(bad, bad, **{bad: bad})], errorMessage=bad
    )
    made.calls(
        *(call(tool, f"{tool}{bad}", path=bad, command=bad, pattern=bad) for tool in ("bash", "read", "grep"))
    )
    made.message("toolResult", toolCallId=f"bash{bad}", toolName=bad, content=[text(bad)], isError=True)
    made.message("bashExecution", command=bad, output=bad, exitCode=bad)
    made.message(bad, content=bad)
    made.message(
        "user", content=[{"type": "image", "mimeType": bad, "data": bad}, {"type": bad, "text": bad}]
    )
    for kind, field in (
        ("model_change", "modelId"),
        ("thinking_level_change", "thinkingLevel"),
        ("custom", "customType"),
        ("usage", "kind"),
        ("branch_summary", "summary"),
        ("compaction", "summary"),
        ("active_tools_change", "activeToolNames"),
        (bad, "x"),
    ):
        made.entry(kind, **{field: bad})
    made.entry("custom_message", customType=bad, content=bad, display=True)
    made.entry("message", id=bad, message={"role": "user", "content": "an id of control characters"})
    made.entry("custom", asked, id=f"{bad}2", customType="below")
    made.user("lost", f"{bad}3")
    made.label(asked, bad)
    made.label(bad, bad)
    made.name(bad)
    made.raw(f'{{"type":"{bad[:8]}'.encode())
    return made.encoded()


def odd_types() -> bytes:
    """Any type anywhere: lists for roles, numbers for ids, objects for texts."""
    made = Session(cwd=5, timestamp=[], parentSession={}, metadata=None)
    odd: list[object] = [None, True, 5, 2.5, [], {}, ["user"], {"role": "user"}]
    for value in odd:
        made.entry("message", message={"role": value, "content": value})
        made.entry("message", message=value)
        made.message("user", content=value)
        made.message("user", content=[value, {"type": value, "text": value}], timestamp=value)
        block = {"type": "toolCall", "id": value, "name": value, "arguments": value}
        made.message("assistant", content=[value, block], stopReason=value, usage=value, errorMessage=value)
        made.message("toolResult", toolCallId=value, toolName=value, content=value, isError=value)
        made.message("bashExecution", command=value, output=value, exitCode=value, cancelled=value)
        made.message("branchSummary", summary=value)
        made.message("system", content=value, sections=value, toolsAdded=value)
        for kind in (
            "compaction",
            "branch_summary",
            "custom_message",
            "label",
            "session_info",
            "leaf",
            "usage",
        ):
            fields = (
                "summary",
                "tokensBefore",
                "content",
                "targetId",
                "label",
                "name",
                "systemMessage",
                "usage",
            )
            made.entry(kind, **dict.fromkeys(fields, value))
        made.entry("compaction", firstKeptEntryId=value, retainedTail=value)
        made.entry("context_edit", targetId=HI, replacement=value)
        made.entry("context_edit", targetId=value, replacement={"content": value})
        made.entry("custom", id=value, parentId=value, timestamp=value)
    return made.encoded()


def deep_and_long() -> bytes:
    made = talk()
    deep: object = "bottom"
    for _ in range(400):
        deep = [{"in": deep}]
    made.calls(call("custom_tool", nested=deep))
    made.raw(b'{"type":"custom","id":"d","data":' + b"[" * 100_000 + b"]" * 100_000 + b"}")
    made.raw(b'{"type":"custom","id":"n","timestamp":"x","data":[1e400,' + b"9" * 5000 + b"]}")
    made.user("x" * 300_000)
    return made.encoded()


SESSIONS: tuple[Make, ...] = (
    plain,
    repeated_ids,
    self_parent,
    cycle_of_three,
    orphan,
    two_roots,
    no_final_newline,
    torn_tail,
    title_before_header,
    only_header,
    blank_and_bad_lines_before_header,
    carriage_returns,
    raw_separators,
    stale_leaf,
    call_without_arguments,
    name_cleared,
    labels_cleared,
    retain_none,
    context_edits,
    empty_branch_summary,
    of_a_later_version,
    version_1,
    parent_session_missing,
    two_headers,
    bad_lines,
    escapes,
    odd_types,
    deep_and_long,
)
"""What is a session, whatever is wrong with it."""

NO_SESSIONS: tuple[Make, ...] = (byte_order_mark, empty, only_blanks, no_header, header_without_id)


def write_all(folder: Path) -> dict[str, Path]:
    """Write a file of every kind into `folder`; gives them by name."""
    folder.mkdir(parents=True, exist_ok=True)
    files = {make.__name__: folder / f"{make.__name__}.jsonl" for make in (*SESSIONS, *NO_SESSIONS)}
    for make in (*SESSIONS, *NO_SESSIONS):
        files[make.__name__].write_bytes(make())
    return files
