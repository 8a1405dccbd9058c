"""Everything that the preview can say of a hostile session is safe to print."""

from pathlib import Path

from pitree.sessions.file import SessionFile
from pitree.ui.documents.changes import changes_documents
from pitree.ui.documents.context import context_document
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.raw import raw_document, raw_text

from .store import make
from .stream import cut


def test_every_document_is_safe(tmp_path: Path) -> None:
    for path in make(tmp_path / "sessions", tmp_path / "work"):
        with SessionFile.load(path) as session:
            for entry in session.entries:
                assert_safe(raw_text(session, entry))
                for document in (
                    entry_document(session, entry),
                    entry_document(session, entry, whole=True, colour=True),
                    context_document(session, entry.id),
                    context_document(session, entry.id, whole=True),
                    raw_document(session, entry),
                    *changes_documents(session, entry),
                ):
                    assert_safe("\n".join([document.title, *document.texts()]))
                    for line in document.lines():
                        assert_safe("".join(text for text, _ in line.spans))


def assert_safe(text: str) -> None:
    stream = cut(text.encode())
    assert stream.kinds == set()
    assert stream.forbidden == set()
