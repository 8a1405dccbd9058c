"""The document of what a move changes."""

import base64
import re
from pathlib import Path

import pytest

from pitree.sessions.file import SessionFile, StoppedError
from pitree.sessions.ledger import Ledger
from pitree.ui.documents.changes import changes_documents
from pitree.ui.documents.context import context_documents
from pitree.ui.documents.model import Document

from .files import call, message, session_file, usage


def text_of(document: Document) -> str:
    return "\n".join(document.texts())


def changes(session: SessionFile, entry_id: str) -> str:
    (document,) = changes_documents(session, session.find(entry_id))
    assert not document.unfinished
    return text_of(document)


@pytest.fixture
def session(tmp_path: Path) -> SessionFile:
    return session_file(
        tmp_path / "s.jsonl",
        {"type": "model_change", "provider": "p", "modelId": "m"},
        message("user", "x" * 400),
        message("assistant", "one way", provider="p", model="m", usage=usage(1000, 1)),
        message("user", "y" * 40),
        {"type": "thinking_level_change", "thinkingLevel": "high", "parentId": "e2"},
        message("assistant", [call("bash", {"command": "ls"})], provider="p", model="m2"),
        message("toolResult", [{"type": "text", "text": "a.py"}], toolCallId="c1"),
    )


def test_to_another_branch(session: SessionFile) -> None:
    text = changes(session, "e4")
    assert text.startswith(
        "changes when the leaf moves to e4 (user)\n"
        "(Choosing it in Pi's /tree goes to its parent, to say it again.)\n"
        "from       e7 (toolResult)\n"
        "in common  up to e2 (user)\n"
        "behind     3 entries\n"
        "leaves     2 messages, ~6 tokens\n"
        "comes back 2 messages, ~12 tokens\n"
        "stays      1 message\n"
        "tokens     ~106 now, ~1,010 there\n"
        "model      p/m2 → p/m\n"
        "thinking   high → off\n"
        "read       no files\n"
        "modified   no files\n"
        "\n"
        "leaves the context · 2 messages\n"
        "\n"
        "−─ 2 assistant · ~5 tokens · e6\n"
        "→ bash: ls\n"
        "\n"
        "−─ 3 toolResult · ~1 tokens · e7\n"
        "↳ bash: ls\n"
        "a.py\n"
        "\n"
        "comes back · 2 messages\n"
        "\n"
        "+─ 2 assistant · ~2 tokens · e3\n"
        "one way\n"
    )


def test_up_and_down_the_same_branch(session: SessionFile) -> None:
    assert "in common  all of the way to the entry: it is above the leaf\n" in changes(session, "e2")
    assert "comes back 0 messages\n" in changes(session, "e2")


def test_the_leaf_itself_and_what_the_model_does_not_see(tmp_path: Path, session: SessionFile) -> None:
    assert "The leaf is here: nothing changes.\ntokens     ~106" in changes(session, "e7")
    labelled = session_file(
        tmp_path / "t.jsonl", message("user", "a"), {"type": "label", "targetId": "e1", "label": "L"}
    )
    assert changes(labelled, "e1").endswith("\n\nThe model would see what it sees now.")


def test_with_nothing_in_common_and_from_before_the_first(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl", message("user", "a"), message("user", "b") | {"parentId": None}
    )
    assert "in common  nothing: no entry is above both\nbehind     1 entry\n" in changes(session, "e1")
    session = session_file(tmp_path / "t.jsonl", message("user", "a"), {"type": "leaf", "targetId": None})
    assert "from       before the first entry\nin common  nothing" in changes(session, "e1")


def test_where_the_leaf_would_go_further_down(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl", message("user", "a"), message("user", "b"), {"type": "leaf", "targetId": "e1"}
    )
    text = changes(session, "e2")
    assert "in common  all of the way to the leaf: the entry is below it\nleaves     0 messages\n" in text


def test_large_ones_are_shown_before_they_are_counted(tmp_path: Path) -> None:
    session = session_file(
        tmp_path / "s.jsonl",
        message("user", "a"),
        message("toolResult", [{"type": "text", "text": "line\n" * 500_000}], toolCallId="c1"),
        message("assistant", "x" * 2_000_000, usage=usage(900, 1)),
    )
    first, last = changes_documents(session, session.find("e1"))
    assert (first.unfinished, last.unfinished) == (True, False)
    assert "leaves     2 messages, … tokens\n" in text_of(first)
    assert "\ntokens     … being counted\n" in text_of(first)
    assert "\nread       … being looked for\nmodified   … being looked for\n" in text_of(first)
    assert re.search(
        r"leaves     2 messages, ~1,125,000 tokens\n.*\n.*\ntokens     900 now, ~1 there", text_of(last)
    )
    assert "toolResult · 3.0 MB · e2\n" + "line\n" * 6 + "… of 3.0 MB\n" in text_of(first)
    first, last = context_documents(session, "e3", Ledger(session))
    assert (first.unfinished, last.unfinished) == (True, False)
    assert "tokens     … being counted\ncost       … being added up\n" in text_of(first)
    assert "tokens     900, as counted with the last reply\ncost       $1.00 on the way here" in text_of(last)
    # so that what is on the screen stays where it is
    assert [section.size[0] for section in first.sections] == [section.size[0] for section in last.sections]


def test_files_of_what_is_left_behind(tmp_path: Path) -> None:
    calls = [
        call("read", {"path": "a\x1b.py"}),
        call("edit", {"path": "b.py"}),
        call("read", {"path": "b.py"}),
    ]
    calls += [call("write", {"path": f"made/{number:02}.py"}) for number in range(40)]
    session = session_file(tmp_path / "s.jsonl", message("user", "go"), message("assistant", calls))
    text = changes(session, "e1")
    assert "\nread       a␛.py\nmodified   b.py, made/00.py, made/01.py, " in text
    assert "made/28.py and 11 more\n" in text
    assert "read" not in changes(session, "e2")


@pytest.mark.parametrize("after", [0, 2])
def test_it_can_be_stopped(session: SessionFile, after: int) -> None:
    asked: list[int] = []

    def stop() -> bool:
        asked.append(1)
        return len(asked) > after

    with pytest.raises(StoppedError):
        list(changes_documents(session, session.find("e3"), stop=stop))
    assert len(asked) == after + 1


def test_a_file_cut_meanwhile_is_said_in_its_line(session: SessionFile) -> None:
    (document,) = changes_documents(session, session.find("e4"))
    session.path.write_bytes(session.path.read_bytes()[:400])
    text = text_of(document)
    assert "line 7" in text
    assert "was cut" in text


def test_of_a_large_image_no_wrong_size_is_said(tmp_path: Path) -> None:
    data = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\3" + bytes(900_000)).decode()
    image = {"type": "image", "mimeType": "image/png", "data": data}
    session = session_file(tmp_path / "s.jsonl", message("user", [image]))
    *_, document = context_documents(session, "e1", Ledger(session))
    assert "user · 1.2 MB · e1\n▣ image/png · 2 × 3\n… of 1.2 MB" in text_of(document)
    assert document.blocks[0].source.images() == [image]
