"""What an entry's document shows of its neighbours: results and calls, what summaries cover, damage."""

import re
from pathlib import Path
from typing import Any

import pytest

from pitree.sessions.entries import JsonObject
from pitree.sessions.file import SessionFile
from pitree.ui.documents.context import context_document
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.model import Document
from pitree.ui.documents.raw import raw_document, raw_text

from .files import MOMENT, call, message, session_file


def document_of(session: SessionFile, entry_id: str, **more: Any) -> Document:  # noqa: ANN401
    return entry_document(session, session.find(entry_id), **more)


def text_of(document: Document) -> str:
    return "\n".join(document.texts())


def links_of(document: Document) -> dict[str, str]:
    """Return the entries that links lead to, by what is underlined."""
    return {
        text: line.link or "" for line in document.lines() for text, style in line.spans if style == "link"
    }


def result(call_id: str, content: object, **more: object) -> JsonObject:
    return message("toolResult", content, toolCallId=call_id, toolName="read", **more)


@pytest.fixture
def session(tmp_path: Path) -> SessionFile:
    return session_file(
        tmp_path / "s.jsonl",
        message("user", "go"),
        message("assistant", [call("read", {"path": "a.py"}, "c1"), call("bash", {"command": "x"}, "c2")]),
        result("c2", "no such command", isError=True),
        result("c1", [{"type": "text", "text": "import this\n" + "x" * 300}]),
        message("assistant", [call("ls", {}, "c3")]),
        message("user", "never mind"),
        result("c3", "late") | {"parentId": "e2"},
        message("user", "beside") | {"parentId": "e1"},
    )


def test_calls_lead_to_their_results(session: SessionFile) -> None:
    document = document_of(session, "e2")
    text = text_of(document)
    assert re.search(r"→ read · a\.py\n↳ result   import this x+…\n", text)
    assert "x\n↳ result   ✗ no such command\n" in text
    links = links_of(document)
    assert links["no such command"] == "e3"
    assert next(target for words, target in links.items() if words.startswith("import this")) == "e4"
    assert links["e1 (user)"] == "e1"
    assert links["e3 ✗ bash: x"] == "e3"  # the first of two children


def test_a_result_of_another_reply_is_no_result(session: SessionFile) -> None:
    assert "↳ no result below" in text_of(document_of(session, "e5"))  # c3 is answered elsewhere


def test_results_lead_to_their_calls(session: SessionFile) -> None:
    assert links_of(document_of(session, "e4"))["read: a.py"] == "e2"
    assert "no such call above" in text_of(document_of(session, "e7"))


def test_of_many_children_some_are_links(tmp_path: Path) -> None:
    children = [message("user", f"child {number}") | {"parentId": "e1"} for number in range(20)]
    session = session_file(tmp_path / "s.jsonl", message("user", "go"), *children)
    document = document_of(session, "e1")
    assert "children   20\n" in text_of(document)
    assert len(links_of(document)) == 12
    assert links_of(document)["e2 user: child 0"] == "e2"
    assert "… and 8 more" in text_of(document)


def test_what_a_compaction_covers(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("user", "one"),
        {"type": "model_change", "provider": "p", "modelId": "m"},
        message("assistant", "two"),
        message("user", "three"),
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "e4"},
        {"type": "compaction", "summary": "s", "firstKeptEntryId": "e1"},
        {"type": "compaction", "summary": "s", "retainedTail": []},
    )
    document = document_of(session, "e5")
    text = text_of(document)
    assert "covers     3 entries, 2 messages\nfrom       e1 (user)\nup to      e3 (assistant)\n" in text
    assert "keeps      1 entry\nkeeps from e4 (user)\n" in text
    assert {links_of(document)[name] for name in ("e1 (user)", "e3 (assistant)", "e4 (user)")} == {
        "e1",
        "e3",
        "e4",
    }
    assert "covers" not in text_of(document_of(session, "e6"))
    assert "covers     6 entries, 3 messages\n" in text_of(document_of(session, "e7"))


def test_what_a_branch_summary_covers(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("user", "one"),
        message("assistant", "two"),
        message("user", "three"),
        {"type": "branch_summary", "fromId": "e3", "summary": "tried", "parentId": "e1"},
        {"type": "branch_summary", "fromId": "gone", "summary": "tried"},
    )
    text = text_of(document_of(session, "e4"))
    assert "covers     2 entries, 2 messages\nfrom       e2 (assistant)\nended at   e3 (user)\n" in text
    assert "covers" not in text_of(document_of(session, "e5"))


def test_calls_that_a_tool_made_itself(tmp_path: Path) -> None:
    nested = [
        {"id": "n1", "name": "read", "arguments": {"path": "a.py"}, "status": "ok"},
        {"id": "n2", "name": "bash", "arguments": {"command": "no"}, "status": "error", "error": "x"},
        "odd",
    ]
    session = session_file(
        tmp_path / "s.jsonl", result("c", "ok", nestedCalls={"calls": nested, "complete": False, "more": 1})
    )
    text = text_of(document_of(session, "e1"))
    assert (
        "calls of its own · 3 calls\nread: a.py\n✗ bash: no\ntool\nnot all of them were recorded\nmore "
        in text
    )


def test_code_is_coloured_where_its_language_is_known(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message(
            "assistant", [call("write", {"path": "src/a.py", "content": "def f():\n\treturn 'x'  # why\n"})]
        ),
        message("assistant", "```js\nlet a = 1\n```\n\n```unheard\nlet a\n```"),
        message("assistant", [call("bash", {"command": "if true; then ls; fi"})]),
    )

    def styles(entry_id: str, *, colour: bool = True) -> dict[str, str]:
        document = document_of(session, entry_id, colour=colour)
        assert document.uncoloured is not colour
        return {text.strip(): style for line in document.lines() for text, style in line.spans}

    found = styles("e1")
    assert (found["def"], found["f"], found["'x'"], found["# why"]) == (
        "syntax-keyword",
        "syntax-name",
        "syntax-string",
        "syntax-comment",
    )
    found = styles("e2")
    assert (found["let"], found["1"]) == ("syntax-keyword", "syntax-number")
    assert found["let a"] == "code"
    assert styles("e3")["if"] == "syntax-keyword"
    assert "syntax-keyword" not in styles("e1", colour=False).values()
    assert text_of(document_of(session, "e1", colour=True)) == text_of(document_of(session, "e1"))


def test_long_code_and_long_lines_are_not_coloured(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("assistant", [call("write", {"path": "a.py", "content": "x = 1\n" * 2_000})]),
        message("assistant", [call("write", {"path": "a.py", "content": "x = 1" + " " * 2_000 + "# y"})]),
    )
    for entry_id in ("e1", "e2"):
        document = document_of(session, entry_id, colour=True)
        assert not {style for line in document.lines() for _, style in line.spans} & {"syntax-number"}


# ---- damage


DAMAGED = (
    b'{"type":"session","version":3,"id":"s","timestamp":"2026-03-01T10:00:00.000Z","cwd":"/"}\n'
    b'{"type":"message","id":"e1","parentId":null,"timestamp":"","message":{"role":"user","content":"one"}}\n'
    b'{"type":"message","id":"e2"\xff\x1b[31m\n'
    b"also bad\n"
    b'{"type":"message","id":"e3","parentId":"e1","timestamp":"","message":{"role":"user","content":5}}\n'
    b'{"type":"custom","id":7,"parentId":"e3","timestamp":""}\n'
    b'{"type":"mess'
)


@pytest.fixture
def damaged(tmp_path: Path) -> SessionFile:
    path = tmp_path / "damaged.jsonl"
    path.write_bytes(DAMAGED)
    return SessionFile.load(path)


def test_lines_that_are_no_entries_are_shown_next_to_one(damaged: SessionFile) -> None:
    text = text_of(document_of(damaged, "e1"))
    assert "⚠ line 3 of the file, next to this entry\nnot JSON" in text
    assert '{"type":"message","id":"e2"\\xff␛[31m\n' in text
    assert "⚠ line 4 of the file, next to this entry\n" in text
    assert "\nalso bad" in text
    assert "of the file, next to" not in text_of(document_of(damaged, "e3"))
    assert "⚠ line 7 of the file, next to this entry\nunfinished last line" in text_of(
        document_of(damaged, "line:6")
    )
    block = next(block for block in document_of(damaged, "e1").blocks if "e2" in block.source.copy_text())
    assert block.source.copy_text() == '{"type":"message","id":"e2"\\xff\x1b[31m'


def test_a_damaged_entry_shows_its_bytes_when_raw(damaged: SessionFile) -> None:
    entry = damaged.find("line:6")
    text = text_of(raw_document(damaged, entry))
    assert "damage     ⚠ id is a number" in text
    assert 'the line as it is\n{"type":"custom","id":7,"parentId":"e3","timestamp":""}' in text
    assert raw_text(damaged, entry) == (
        '{\n  "type": "custom",\n  "id": 7,\n  "parentId": "e3",\n  "timestamp": ""\n}\n'
    )


def test_a_line_that_no_longer_parses_is_shown_as_it_is(damaged: SessionFile) -> None:
    entry = damaged.find("e1")
    damaged.path.write_bytes(DAMAGED.replace(b'"id":"e1"', b'"id"\x1b"e1"'))
    text = text_of(raw_document(damaged, entry))
    assert "not JSON" in text
    assert '"id"␛"e1"' in text
    assert "␛" in raw_text(damaged, entry)
    assert MOMENT not in raw_text(damaged, entry)


def test_a_system_message_folds_its_sections_and_tools(tmp_path: Path) -> None:
    tools = [{"name": "read", "description": "x" * 500}, "odd", {"description": "no name"}]
    system = message("system", "Be brief.", sections={"tone": "dry", "old": None}, toolsAdded=tools)
    system["message"]["toolsRemoved"] = [{"name": "ba\x1bsh"}]
    session = session_file(tmp_path / "s.jsonl", system)
    document = document_of(session, "e1")
    text = text_of(document)
    assert "tone · 3 bytes\ndry\n\nold\n(removed)\n\ntools added · read, odd, {" in text
    assert re.search(r"no name\"\}\n… \d+ bytes more \(press m for all\)\n\ntools removed · ba␛sh\n", text)
    assert document.cut
    assert '"description": "xxx' in text_of(document_of(session, "e1", whole=True))
    listed = text_of(context_document(session, "e1"))
    assert "Be brief.\nsections: tone, old\ntools added: read, odd, {" in listed
    assert '"no name"}\ntools removed: ba␛sh' in listed
