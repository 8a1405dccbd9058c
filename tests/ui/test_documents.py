"""What the preview says of each kind of entry, and of a context; nothing in a file can trip it up."""

import base64
import json
import re
import struct
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from pitree.sessions import glimpse
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.glimpse import Glimpse
from pitree.sessions.ledger import Ledger
from pitree.ui.documents.changes import changes_documents
from pitree.ui.documents.context import context_document, context_documents
from pitree.ui.documents.diff import diff_lines
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.images import image_dimensions, image_line
from pitree.ui.documents.layout import Layout
from pitree.ui.documents.model import STYLE_NAMES, Document
from pitree.ui.documents.raw import raw_document
from pitree.ui.documents.values import file_size, json_lines, moment, money

from . import hostile
from .files import call, message, session_file, usage

# Not taken from the code under test: C0, DEL, C1, bidirectional overrides and isolates, line separators, lone
# surrogates, tags outside a flag.
UNSAFE = re.compile("[\x00-\x1f\x7f-\x9f\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")


def text_of(document: Document) -> str:
    return "\n".join(document.texts())


def shown_by(document: Document) -> str:
    """Return what the screen shows of a document."""
    return "\n".join(line.shown for line in document.lines() if not line.hidden)


def content_of(document: Document) -> str:
    """Return the text of an entry's document without what follows the content: its quiet fields."""
    content, blank, foot = text_of(document).rpartition("\n\n")
    assert blank, text_of(document)
    model, usage = "(model .*\n)?(thinking .*\n)?", "(usage .*\n( {11}.*\n)?)?(exit code .*\n)?"
    children = "(child      .*|children   \\d+(\n {11}.*)*)"
    assert re.fullmatch(f"{model}{usage}parent     .*\n{children}\nline       .*", foot), foot
    return content


def styles_of(document: Document, text: str) -> set[str]:
    """Return the styles of the spans that hold `text`."""
    return {style for line in document.lines() for span, style in line.spans if text in span}


def field(document: Document, name: str) -> str:
    """Return the value of the first field of that name."""
    found = re.search(rf"^{re.escape(name)} +(.*)$", text_of(document), re.MULTILINE)
    assert found is not None, f"no field {name} in:\n{text_of(document)}"
    return found[1]


@pytest.fixture
def last(tmp_path: Path) -> Any:  # noqa: ANN401 - a function
    """Return the document of the last of some entries."""

    def make(*entries: dict[str, Any], whole: bool = False) -> Document:
        with session_file(tmp_path / "s.jsonl", *entries) as session:
            return entry_document(session, session.entries[-1], whole=whole)

    return make


# ---- the head


def test_the_end_of_a_session_claims_nothing_about_the_rest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(glimpse, "WORTH_IT_BYTES", 0)
    monkeypatch.setattr(glimpse, "_FIRST_BYTES", 400)
    monkeypatch.setattr(glimpse, "_SCREENFUL", 1)
    session_file(tmp_path / "s.jsonl", *(message("user", f"text {number}") for number in range(50))).close()
    with Glimpse.of(tmp_path / "s.jsonl") or pytest.fail("no glimpse") as end:
        assert 0 < len(end.entries) < 50
        document = entry_document(end, end.entries[0])
        assert field(document, "parent") == "not read yet"
        assert field(document, "children") == "not counted yet"
        assert field(document, "line").startswith("not counted yet")


def test_the_head_says_what_and_where(tmp_path: Path) -> None:
    with session_file(
        tmp_path / "s.jsonl",
        message("user", "one"),
        message("user", "two"),
        message("user", "three"),
        message("user", "four") | {"parentId": "e2"},
        {"type": "label", "targetId": "e2", "label": "turning point"},
    ) as session:
        document = entry_document(session, session.entries[1])
    assert document.title == "user e2"
    label = "label      turning point · 2026-03-01 10:00:00"
    assert content_of(document) == f"user · e2 · 2026-03-01 10:00:00\n{label}\n\ntwo"
    assert field(document, "parent") == "e1 (user)"
    assert field(document, "children") == "2"
    found = re.fullmatch(r"3 · (\d+) bytes at byte (\d+)", field(document, "line"))
    assert found is not None
    data = (tmp_path / "s.jsonl").read_bytes()
    assert json.loads(data[int(found[2]) :][: int(found[1])])["id"] == "e2"


def test_damage_is_said_in_words(last: Any) -> None:  # noqa: ANN401
    document = last(message("user", "one") | {"parentId": "gone", "timestamp": 12})
    assert "⚠ parent gone is missing" in text_of(document)
    assert "⚠ timestamp is a number" in text_of(document)
    assert styles_of(document, "⚠ parent gone") == {"error"}
    assert field(document, "parent") == "none, it is a root"


# ---- messages


def test_user_text_is_lightly_marked_up(last: Any) -> None:  # noqa: ANN401
    text = "# Plan\n\n- use `grep`\n\n```py\nprint(1)\n```\nafter"
    document = last(message("user", text))
    assert styles_of(document, "Plan") == {"heading"}
    assert styles_of(document, "grep") == {"code"}
    assert styles_of(document, "print(1)") == {"code"}
    assert styles_of(document, "after") == {"text"}
    assert "\n\nPlan\n\n• use grep\n\n  print(1)\nafter\n\n" in shown_by(document)
    assert content_of(document).endswith(f"\n\n{text}")
    item = next(line for line in document.lines() if line.text.startswith("- use"))
    assert item.indent == 2


def test_what_is_indented_goes_on_indented(last: Any) -> None:  # noqa: ANN401
    plain = last(
        message(
            "toolResult",
            [{"type": "text", "text": "a\n    b"}],
        )
    )
    indents = {line.text: line.indent for line in plain.lines()}
    assert indents["a"] == 0
    assert indents["    b"] == 4
    fenced = last(message("user", "```\n  code\n```"))
    assert {line.shown: line.indent for line in fenced.lines()}["    code"] == 4


def test_a_long_text_is_plain_and_cut_until_asked_for(last: Any) -> None:  # noqa: ANN401
    text = "# no heading\n" + "x" * 99 + "\n" + ("y" * 99 + "\n") * 999
    document = last(message("user", text))
    assert styles_of(document, "# no heading") == {"text"}
    assert document.cut
    assert content_of(document).endswith("y\n… 36 kB more (press m for all)")
    whole = last(message("user", text), whole=True)
    assert not whole.cut
    assert content_of(whole).endswith("\n" + "y" * 99)
    assert text_of(whole).count("y" * 99) == 999


def test_an_assistant_message(last: Any) -> None:  # noqa: ANN401
    thought = "\n".join(f"thought {number} " + "z" * 60 for number in range(20))
    document = last(
        message(
            "assistant",
            [
                {"type": "thinking", "thinking": thought, "thinkingSignature": "secret"},
                {"type": "text", "text": "I will look."},
                call("read", {"path": "/srv/a.py", "offset": 10, "limit": 31}),
            ],
            provider="anthropic",
            model="claude-x",
            api="anthropic-messages",
            usage=usage(12345, 0.0174),
            stopReason="error",
            errorMessage="overloaded",
        )
    )
    assert field(document, "model") == "anthropic/claude-x (anthropic-messages)"
    assert "usage      12,345 tokens · $0.0174\n           in 12,145 · out 150 · cache read 50\n" in text_of(
        document
    )
    assert field(document, "stop") == "error ✗ the reply failed"
    assert styles_of(document, "✗ the reply failed") == {"error"}
    assert field(document, "error") == "overloaded"
    text = text_of(document)
    assert "thinking · 1.4 kB" in text
    assert "thought 5" in text
    assert "thought 6" not in text
    assert "… 1.0 kB more (press m for all)" in text
    assert "\nI will look.\n" in text
    assert "→ read · /srv/a.py:10-40" in text
    assert "secret" not in text
    assert "more fields" not in text


@pytest.mark.parametrize(
    ("reason", "shown"),
    [
        ("stop", None),
        ("toolUse", None),
        ("length", "length ✗ the reply was cut at its longest"),
        ("tired", "tired"),
    ],
)
def test_only_an_end_that_says_something_is_shown(last: Any, reason: str, shown: str | None) -> None:  # noqa: ANN401
    document = last(message("assistant", "done", stopReason=reason))
    head = "assistant · e1 · 2026-03-01 10:00:00\n"
    assert content_of(document) == head + (f"stop       {shown}\n" if shown else "") + "\ndone"


def test_what_nobody_knows_is_shown_as_it_is(last: Any) -> None:  # noqa: ANN401
    document = last(message("assistant", [{"type": "novel", "x": [1]}], mood={"a": 1}) | {"extra": True})
    text = text_of(document)
    assert '"type": "novel"' in text
    assert 'mood\n{\n  "a": 1\n}' in text
    assert field(document, "extra") == "true"


@pytest.mark.parametrize(
    "arguments",
    [
        {"path": "a.py", "edits": [{"oldText": "a\nb\nc", "newText": "a\nB\nc"}]},
        {"path": "a.py", "edits": {"oldText": "a\nb\nc", "newText": "a\nB\nc"}},
        {"path": "a.py", "edits": json.dumps([{"oldText": "a\nb\nc", "newText": "a\nB\nc"}])},
        {"path": "a.py", "oldText": "a\r\nb\r\nc", "newText": "a\nB\nc"},
    ],
)
def test_an_edit_is_a_diff(last: Any, arguments: object) -> None:  # noqa: ANN401
    document = last(message("assistant", [call("edit", arguments)]))
    assert content_of(document).endswith("→ edit · a.py\n a\n-b\n+B\n c\n↳ no result below")
    assert styles_of(document, "-b") == {"diff-remove"}
    assert styles_of(document, "+B") == {"diff-add"}


def test_a_long_line_of_a_diff_goes_on_below_its_text(last: Any) -> None:  # noqa: ANN401
    lines = {"+ 7     x": 8, "-20 y": 4, "   ...": 3, "+    z": 5, "+": 1, "": 0}
    document = last(
        message("toolResult", "ok", toolCallId="c", details={"diff": "\n".join([*lines, "+end"])})
    )
    made = list(document.lines())
    start = next(place for place, line in enumerate(made) if line.text == "diff") + 1
    assert {line.text: line.indent for line in made[start : start + len(lines)]} == lines


def test_several_edits_are_counted(last: Any) -> None:  # noqa: ANN401
    edits = [{"oldText": "a", "newText": "b"}, {"oldText": "c"}]
    text = text_of(last(message("assistant", [call("edit", {"path": "a.py", "edits": edits})])))
    assert '1 of 2 replacements\n-a\n+b\n\n2 of 2 replacements\n{\n  "oldText": "c"\n}' in text


def test_calls_as_their_tools_mean_them(last: Any) -> None:  # noqa: ANN401
    calls = [
        call("bash", {"command": "make\nmake test", "timeout": 5}),
        call("write", {"path": "new.py", "content": "x = 1\n"}),
        call("bash", {"command": 7}),
        call("mine", {"a": [1, 2]}),
        call("mine", None),
    ]
    text = content_of(last(message("assistant", calls)))
    assert "→ bash\nmake\nmake test\ntimeout    5\n" in text
    assert "→ write · new.py\nx = 1\n" in text
    assert "→ bash\ncommand    7\n" in text
    assert '→ mine\n{\n  "a": [\n    1,\n    2\n  ]\n}\n' in text
    assert text.endswith("→ mine\n(no arguments)\n↳ no result below")


def test_a_tool_result_names_its_call(last: Any) -> None:  # noqa: ANN401
    document = last(
        message("assistant", [call("edit", {"path": "a.py"})]),
        message(
            "toolResult",
            [{"type": "text", "text": "no match"}],
            toolCallId="c1",
            toolName="edit",
            isError=True,
            details={"diff": "-1 a\n+1 b\n 2 c", "patch": "twice", "seconds": 3},
        ),
    )
    assert field(document, "call") == "edit: a.py"
    assert field(document, "result") == "✗ failed"
    assert "\nno match\n" in text_of(document)
    assert styles_of(document, "+1 b") == {"diff-add"}
    assert "twice" not in text_of(document)
    assert field(document, "seconds") == "3"


def test_a_tool_result_without_a_call_says_so(last: Any) -> None:  # noqa: ANN401
    document = last(message("toolResult", [], toolCallId="lost", toolName="bash"))
    assert field(document, "tool") == "bash"
    assert field(document, "call") == "lost (no such call above)"
    assert "(no content)" in text_of(document)


def test_what_is_quiet_stands_at_the_foot(last: Any) -> None:  # noqa: ANN401
    document = last(
        message(
            "assistant",
            "done",
            provider="p",
            model="m",
            thinkingLevel="high",
            usage=usage(1000, 1),
            errorMessage="late",
            odd=1,
        )
    )
    assert text_of(document).split("\n")[1:-1] == [
        "error      late",
        "",
        "done",
        "",
        "more fields",
        "odd        1",
        "",
        "model      p/m",
        "thinking   high",
        "usage      1,000 tokens · $1.00",
        "           in 800 · out 150 · cache read 50",
        "parent     none, it is a root",
        "children   0",
    ]
    assert styles_of(document, "p/m") == {"muted"}


def test_a_compaction_keeps_its_foot_from_its_messages(last: Any) -> None:  # noqa: ANN401
    tail = [message("assistant", "kept", provider="p", model="m")["message"]]
    entry = {"type": "compaction", "summary": "s", "retainedTail": tail, "usage": usage(1000, 1)}
    assert re.search(
        "\nkept\n\nmodel      p/m\n\nusage      1,000 .*\n.*\nparent     none", text_of(last(entry))
    )


def test_a_command_goes_on_below_itself(last: Any) -> None:  # noqa: ANN401
    document = last(message("bashExecution", command="cat <<E\r\n  a\nE", exitCode=0))
    assert content_of(document).endswith("\n\n$ cat <<E\n  a\nE")
    assert next(line.indent for line in document.lines() if line.text == "$ cat <<E") == 2
    assert field(document, "exit code") == "0"
    long = last(message("bashExecution", command="x" * 9_000))
    assert content_of(long).endswith("\n\n$ " + "x" * 9_000)
    assert next(line.indent for line in document.lines() if line.text == "E") == 0


def test_a_bash_execution(last: Any) -> None:  # noqa: ANN401
    document = last(
        message(
            "bashExecution",
            command="ls",
            output="a\nb\n",
            exitCode=2,
            excludeFromContext=True,
            cancelled=True,
        )
    )
    assert field(document, "exit code") == "✗ 2"
    assert field(document, "context") == "left out: the model does not see it"
    assert field(document, "ended") == "✗ cancelled"
    assert content_of(document).endswith("\n$ ls\n\noutput · 4 bytes\na\nb")


# ---- images

_PNG = b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + struct.pack(">II", 1024, 768) + b"\x08\x06"
_JPEG = (
    b"\xff\xd8\xff\xe0\x00\x10JFIF\x00\x01\x01\x00\x00\x01\x00\x01\x00\x00"
    b"\xff\xe1\x9c\x42" + b"e" * 0x9C40 + b"\xff\xff\xc2\x00\x11\x08" + struct.pack(">HH", 33, 44) + b"\x03"
)
_WEBP = b"RIFF\x24\x00\x00\x00WEBP"


@pytest.mark.parametrize(
    ("data", "size"),
    [
        (_PNG, (1024, 768)),
        (b"GIF89a" + struct.pack("<HH", 5, 6), (5, 6)),
        (_JPEG, (44, 33)),
        (_WEBP + b"VP8X\x0a\x00\x00\x00\x10\x00\x00\x00\x0f\x27\x00\x57\x04\x00", (10000, 1112)),
        (_WEBP + b"VP8L\x0a\x00\x00\x00\x2f" + struct.pack("<I", 99 | 49 << 14), (100, 50)),
        (_WEBP + b"VP8 \x0a\x00\x00\x00\x00\x00\x00\x9d\x01\x2a" + struct.pack("<HH", 7, 8), (7, 8)),
        (_PNG[:18], None),
        (b"\xff\xd8\xff\xd9", None),
        (b"\xff\xd8\xff\xe0\x00\x00", None),
        (b"BM nothing known", None),
    ],
)
def test_image_dimensions(data: bytes, size: tuple[int, int] | None) -> None:
    assert image_dimensions(base64.b64encode(data).decode()) == size


def test_an_image_is_kind_size_and_dimensions(last: Any) -> None:  # noqa: ANN401
    data = base64.b64encode(_PNG + bytes(300_000)).decode()
    document = last(message("user", [{"type": "image", "mimeType": "image/png", "data": data}]))
    assert "▣ image/png · 300 kB · 1024 × 768" in text_of(document)
    assert len(text_of(document)) < 500


@pytest.mark.parametrize("data", [None, "", 5, "é", "====", "a"])
def test_an_image_without_usable_data(data: object) -> None:
    assert image_line({"type": "image", "mimeType": "image/png", "data": data}).startswith("image/png · ")


# ---- the other types


def test_a_compaction(last: Any) -> None:  # noqa: ANN401
    document = last(
        message("user", "one"),
        {
            "type": "compaction",
            "summary": "# Goal\nship",
            "tokensBefore": 175004,
            "firstKeptEntryId": "e1",
            "usage": usage(1000, 2.5),
            "details": {"readFiles": ["a.py"], "modifiedFiles": ["b.py", "c.py"], "other": 1},
        },
    )
    assert field(document, "tokens") == "175,004 before it"
    assert field(document, "keeps from") == "e1 (user)"
    assert field(document, "usage").endswith("$2.50")
    assert styles_of(document, "Goal") == {"heading"}
    assert "files read · 1 file\na.py" in text_of(document)
    assert "files modified · 2 files\nb.py\nc.py" in text_of(document)
    assert field(document, "other") == "1"


def test_a_compaction_with_messages_of_its_own(last: Any) -> None:  # noqa: ANN401
    tail = [{"role": "user", "content": "kept"}, 5]
    text = text_of(last({"type": "compaction", "summary": "s", "retainedTail": tail}))
    assert "keeps      2 messages of its own" in text
    assert "kept message 1 · user\n\nkept" in text
    assert "kept message 2\n5" in text


@pytest.mark.parametrize(
    ("entry", "expected"),
    [
        (
            {"type": "branch_summary", "fromId": "e9", "summary": "tried"},
            "branch     summarizes .* e9\n\ntried",
        ),
        ({"type": "custom", "customType": "x.y", "data": {"a": 1}}, 'kind       x.y\n\ndata\n{\n  "a": 1\n}'),
        (
            {
                "type": "custom_message",
                "customType": "x",
                "content": "hello",
                "display": False,
                "details": [1],
            },
            "kind       x\ndisplay    hidden in Pi.*\n\nhello\n\ndetails\n\\[\n  1\n\\]",
        ),
        (
            {"type": "label", "targetId": "e1", "label": "L"},
            "sets       L\ntarget     e1 \\(user\\)\n +user: one",
        ),
        ({"type": "label", "targetId": "e1"}, "sets       nothing: it clears the label"),
        ({"type": "label", "targetId": "no", "label": "L"}, "target     no \\(no such entry\\)"),
        ({"type": "session_info", "name": "Tidy up"}, "name       Tidy up"),
        ({"type": "session_info", "name": " "}, "name       \\(none: it clears the name\\)"),
        ({"type": "model_change", "provider": "p", "modelId": "m"}, "model      p/m"),
        ({"type": "thinking_level_change", "thinkingLevel": "high"}, "thinking   high"),
        (
            {"type": "context_edit", "targetId": "e1", "replacement": None},
            "does       leaves .*\ntarget     e1 \\(user\\)",
        ),
        (
            {"type": "context_edit", "targetId": "e1", "replacement": {"content": "short"}},
            "does       puts .*\ntarget     e1 .*\n.*\n\nshort",
        ),
        ({"type": "context_edit", "targetId": "e1"}, "does       nothing: .*"),
        (
            {
                "type": "usage",
                "kind": "title",
                "provider": "p",
                "model": "m",
                "usage": usage(300, 1),
                "note": "n",
            },
            "for        title\nmodel      p/m\nusage      300 tokens.*\n           in 100.*\nnote       n",
        ),
        ({"type": "leaf", "targetId": "e1"}, "does       moves the leaf\ntarget     e1 \\(user\\)"),
        ({"type": "leaf", "targetId": None}, "does       moves the leaf before the first entry"),
        ({"type": "active_tools_change", "activeToolNames": ["a"]}, 'activeToolNames\n\\[\n  "a"\n\\]'),
        ({"type": "unheard_of", "x": {"y": None}}, 'fields\nx\n{\n  "y": null\n}'),
    ],
)
def test_entry_types(last: Any, entry: dict[str, Any], expected: str) -> None:  # noqa: ANN401
    text = text_of(last(message("user", "one"), entry))
    assert re.search(f"\n{expected}$", text, re.MULTILINE), text


# ---- the context


@pytest.fixture
def conversation(tmp_path: Path) -> SessionFile:
    return session_file(
        tmp_path / "s.jsonl",
        {"type": "model_change", "provider": "p", "modelId": "m"},
        message("user", "first line\n" * 9),
        message(
            "assistant", [call("bash", {"command": "ls"})], provider="p", model="m", usage=usage(1000, 0.5)
        ),
        message("toolResult", [{"type": "text", "text": "a"}], toolCallId="c1"),
        message("assistant", "done", usage=usage(2000, 0.75), provider="p", model="m2"),
        {"type": "thinking_level_change", "thinkingLevel": "high"},
        message("user", "x" * 400),
        message("assistant", [call("read", {"path": "a.py"}, "c2")], stopReason="toolUse"),
    )


def test_a_context_in_numbers(conversation: SessionFile) -> None:
    document = context_document(conversation, "e8")
    assert document.title == "context at e8"
    assert field(document, "messages") == "6"
    assert field(document, "tokens") == "~2,105: 2,000 counted with the last reply, ~105 estimated since"
    assert field(document, "cost") == "$1.25 on the way here, $1.25 in the whole session"
    assert field(context_document(conversation, "e3"), "cost").startswith("$0.5000 on the way here, $1.25 in")
    assert field(document, "model") == "(not stated)"
    assert field(context_document(conversation, "e5"), "model") == "p/m2"
    assert field(document, "thinking") == "high"
    assert field(document, "open call") == "✗ read in e8 has no result"
    assert field(context_document(conversation, "e5"), "tokens") == "2,000, as counted with the last reply"
    assert field(context_document(conversation, "e2"), "tokens") == "~25, all of it estimated"
    assert "open call" not in text_of(context_document(conversation, "e5"))


def test_a_context_message_by_message(conversation: SessionFile) -> None:
    text = text_of(context_document(conversation, "e8"))
    assert "1 user · ~25 tokens · e2\n" + "first line\n" * 6 + "… 34 bytes more\n" in text
    assert "2 assistant · ~5 tokens · e3\n→ bash: ls\n" in text
    assert "3 toolResult · ~1 tokens · e4\n↳ bash: ls\na\n" in text
    assert text.endswith("6 assistant · ~5 tokens · e8\n→ read: a.py")


def test_a_context_in_full(conversation: SessionFile) -> None:
    text = text_of(context_document(conversation, "e8", whole=True))
    assert "1 user · ~25 tokens · e2\n\n" + "first line\n" * 9 in text
    assert "\n→ bash\nls\n" in text


def test_a_context_in_full_leaves_out_what_no_model_is_sent(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("assistant", [call("edit", {"path": "a.py"})], provider="p", model="m", usage=usage(1000, 1)),
        message("toolResult", [{"type": "text", "text": "done"}], toolCallId="c1", details={"diff": "+1 b"}),
        message("assistant", "ok", provider="p", model="m", odd=1),
    )
    text = text_of(context_document(session, "e3", whole=True))
    assert text.partition("\n\n")[2] == (
        "── 1 assistant · ~5 tokens · e1\n\n→ edit · a.py\n\n"
        "── 2 toolResult · ~1 tokens · e2\ncall       edit: a.py\n\ndone\n\n"
        "── 3 assistant · ~1 tokens · e3\n\nok\n\nmore fields\nodd        1"
    )


def test_in_a_context_one_sees_who_talks_and_what_failed(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("user", "said **by** a person"),
        message("toolResult", "said **by** a tool", isError=True),
        message("bashExecution", command="ls", output="printed"),
        message("stranger", "said **by** nobody"),
    )
    document = context_document(session, "e4")
    assert styles_of(document, "by") == {"strong", "muted"}
    assert styles_of(document, "said **by** a tool") == {"muted"}
    assert styles_of(document, "printed") == {"muted"}
    text = text_of(document)
    assert "· e2 · ✗ failed\nsaid" in text
    assert "· e3\n$ ls\nprinted\n" in text
    assert "── 4 stranger · ~5 tokens · e4 · not sent\n" in text


def test_before_the_first_entry(conversation: SessionFile) -> None:
    document = context_document(conversation, None)
    assert document.title == "context before the first entry"
    assert field(document, "messages") == "0"
    assert field(document, "tokens") == "0"
    assert field(document, "model") == "(none yet)"


def test_a_context_says_what_is_not_in_it(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("user", "old") | {"parentId": "lost"},
        message("assistant", "old answer", usage=usage(900, 4)),
        message("user", "kept"),
        {"type": "compaction", "summary": "sum", "firstKeptEntryId": "e3", "usage": usage(100, 1)},
        message("bashExecution", command="ls", output="", excludeFromContext=True),
        message("user", "omitted"),
        message("user", "long"),
        {"type": "context_edit", "targetId": "e6", "replacement": None},
        {"type": "context_edit", "targetId": "e7", "replacement": {"content": "short"}},
        {"type": "context_edit", "targetId": "e1", "replacement": None},
        message("assistant", "never sent", stopReason="aborted"),
    )
    document = context_document(session, "e11")
    text = text_of(document)
    assert field(document, "compaction") == "hides 2 of 11 entries (e4)"
    assert field(document, "cost") == "$5.00 on the way here, $5.00 in the whole session"
    assert "edit       leaves out e6 (e8)\n" in text
    assert "edit       replaces e7 (e9)\n" in text
    assert "edit       has no effect: e1 is not in this context (e10)\n" in text
    assert field(document, "gap") == "⚠ the path stops at e1: parent lost is missing"
    assert "1 compactionSummary · ~1 tokens · e4\nsum\n" in text
    assert "e5 · not sent" in text
    assert "e7 · changed by a context edit\nshort" in text
    assert "omitted" not in text
    assert "✗ the reply was aborted, so it is not sent\nnever sent" in text


def test_building_a_context_can_be_stopped(conversation: SessionFile) -> None:
    asked = 0

    def stop() -> bool:
        nonlocal asked
        asked += 1
        return asked > 3

    with pytest.raises(StoppedError):
        list(context_documents(conversation, "e8", Ledger(conversation), stop=stop))
    assert asked == 4


def test_of_a_very_long_context_nothing_is_read_before_it_is_looked_at(tmp_path: Path) -> None:
    count = 20_000
    session = session_file(tmp_path / "s.jsonl", *(message("user", f"say {n}") for n in range(1, count + 1)))
    *_, document = context_documents(session, f"e{count}", Ledger(session))
    read: list[str] = []
    body = session.body

    def noted(entry: Entry) -> JsonObject:
        read.append(entry.id)
        return body(entry)

    session.body = noted  # type: ignore[method-assign]
    layout = Layout(document, 80)
    layout.settle(0, 30)
    layout.settle_end(30)
    assert 10 < len(read) < 60
    assert (document.sections[-1].lines()[-1].text, document.blocks[-1].section) == (f"say {count}", count)
    assert [document.blocks[place].source.copy_text() for place in (0, 10_000, -1)] == [
        "say 1",
        "say 10001",
        f"say {count}",
    ]


# ---- nothing in a file can trip it up


@settings(max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(odd=hostile.entries, message_above=hostile.messages, message_below=hostile.messages)
def test_no_entry_raises_and_no_line_is_unsafe(
    tmp_path: Path, odd: dict[str, Any], message_above: dict[str, Any], message_below: dict[str, Any]
) -> None:
    with session_file(
        tmp_path / "s.jsonl",
        {"type": "message", "id": "first", "message": message_above},
        {"type": "message", "message": "x", **odd},
        {"type": "message", "id": "last", "message": message_below},
        {"type": "label", "targetId": "first", "label": "a\x1b[31mb"},
        {"type": "context_edit", "targetId": "last", "replacement": odd.get("replacement")},
    ) as session:
        for entry in session.entries:
            for whole in (False, True):
                check(entry_document(session, entry, whole=whole, colour=not whole))
                check(context_document(session, entry.id, whole=whole))
                check(raw_document(session, entry, whole=whole))
            for document in changes_documents(session, entry):
                check(document)


def check(document: Document) -> None:
    """Look at all that a document shows and says."""
    assert UNSAFE.search(document.title) is None
    for line in document.lines():
        assert UNSAFE.search(line.text) is None, ascii(line.text)
        assert "is closed" not in line.text
        for text, style in line.spans:
            assert UNSAFE.search(text) is None, ascii(text)
            assert style in STYLE_NAMES
    for section, source in document.blocks:
        assert 0 <= section < len(document.sections)
        assert isinstance(source.copy_text(), str)
        assert all(isinstance(image, dict) for image in source.images())


@pytest.mark.parametrize("depth", [300, 900])
def test_deep_nesting(tmp_path: Path, depth: int) -> None:
    deep = json.loads("[" * depth + "]" * depth)
    with session_file(
        tmp_path / "s.jsonl",
        {"type": "custom", "customType": "deep", "data": deep},
        message("assistant", [call("mine", deep)]),
        message("toolResult", deep, toolCallId="c1"),
        message("assistant", [], usage={"input": deep}),
    ) as session:
        for entry in session.entries[:2]:
            document = entry_document(session, entry)
            assert not document.cut
            assert text_of(document).count("[\n") == depth - 1
            assert text_of(document).count("]") == depth
        assert field(entry_document(session, session.entries[2]), "call").startswith("mine: ")
        context = context_document(session, "e4")
        assert field(context, "tokens") == f"~{depth // 2 + 1}, all of it estimated"
        assert f"── 1 assistant · ~{depth // 2 + 1} tokens · e2\n→ mine: [[[[" in text_of(context)
        spent = entry_document(session, session.entries[3])
        assert field(spent, "usage") == "0 tokens"
        assert "\nusage      0 tokens\n           in [[[[" in text_of(spent)


# ---- the parts


_plain = st.text('ab é漢😀\n\t"\\\\', max_size=6)


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | _plain,
        lambda inner: st.lists(inner) | st.dictionaries(_plain, inner),
    )
)
def test_indented_json_is_the_same_value(value: Any) -> None:  # noqa: ANN401
    made, cut = json_lines(value, limit=None)
    assert not cut
    assert json.loads("\n".join(line.text for line in made)) == value


def test_long_json_is_cut_where_it_is_long() -> None:
    made, cut = json_lines({"short": 1, "long": "x" * 5000, "list": list(range(100_000))}, limit=10_000)
    assert cut
    assert made[2].text == f'  "long": "{"x" * 2000}…" (5.0 kB),'
    assert 6_000 < sum(len(line.text) for line in made) < 10_000


_line_texts = st.text("abc ", max_size=3)
_texts = st.lists(_line_texts, min_size=1, max_size=30).map("\n".join)


@given(_texts, _texts)
def test_a_diff_holds_both_texts(old: str, new: str) -> None:
    diff = list(diff_lines(old, new))
    shown_old = [line[1:] for line in diff if line[0] in "- "]
    shown_new = [line[1:] for line in diff if line[0] in "+ "]
    left_out = sum(
        int(found[1]) for line in diff if (found := re.fullmatch(r"@@ (\d+) lines in common @@", line))
    )
    assert len(shown_old) + left_out == len(old.split("\n"))
    assert len(shown_new) + left_out == len(new.split("\n"))
    if not left_out:
        assert shown_old == old.split("\n")
        assert shown_new == new.split("\n")


def test_a_diff_leaves_out_what_is_in_common() -> None:
    common = [f"line {number}" for number in range(20)]
    diff = list(diff_lines("\n".join([*common, "a"]), "\n".join([*common, "b"])))
    assert diff == ["@@ 17 lines in common @@", " line 17", " line 18", " line 19", "-a", "+b"]


def test_a_diff_of_large_texts_takes_no_quadratic_time() -> None:
    old, new = "\n".join("ab" * 2000), "\n".join("ba" * 2000)
    assert len(list(diff_lines(old, new))) > 4000


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (0, "0 bytes"),
        (1, "1 byte"),
        (999, "999 bytes"),
        (1000, "1.0 kB"),
        (9_949, "9.9 kB"),
        (9_950, "10 kB"),
        (999_499, "999 kB"),
        (999_500, "1.0 MB"),
        (52_428_800, "52 MB"),
        (2_000_000_000, "2,000 MB"),
    ],
)
def test_sizes(count: int, text: str) -> None:
    assert file_size(count) == text


def test_money_and_moments() -> None:
    assert [money(dollars) for dollars in (0, 0.0174, 1, 1234.5)] == [
        "$0.00",
        "$0.0174",
        "$1.00",
        "$1,234.50",
    ]
    assert moment("2026-03-01T10:00:00+02:00") == "2026-03-01 08:00:00"
    assert moment(1772359200000) == "2026-03-01 10:00:00"
    assert moment("soon\x1b") == "soon␛"
    assert moment(1e300) == "1e+300"
    assert moment("") == "(no time)"
