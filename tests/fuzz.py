"""Reads session files that were broken at random, by hand: `python -m tests.fuzz --minutes 10`.

Nothing may raise but what is announced, and nothing unsafe may come out. Files that break something are kept.
"""

import argparse
import random
import sys
import tempfile
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from hostile.store import ATTACKS, make
from hostile.stream import cut

from pitree.catalog.locations import FoundFile
from pitree.catalog.scan import read_session
from pitree.sessions.context import build_session_context
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile
from pitree.sessions.filters import FILTERS
from pitree.sessions.rows import visible_rows
from pitree.sessions.text import display, one_line
from pitree.ui.documents.changes import changes_documents
from pitree.ui.documents.context import context_document
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.raw import raw_document

_STORE = Path(__file__).parents[1] / "pitree" / "demo" / "store"
_PIECES = [
    *(
        b'"',
        b"{",
        b"}",
        b"[",
        b"]",
        b",",
        b":",
        b"\n",
        b"\r\n",
        b"\0",
        b"\xff",
        b"null",
        b"1e999",
        b"-0",
        b"NaN",
    ),
    *(
        b'"id":"',
        b'"parentId":null',
        b'"type":"message"',
        b'"content":',
        b"\\ud83d",
        b"\\u0000",
        b"\xe2\x80\xa8",
    ),
    *(attack.encode("utf-8", "replace") for attack in ATTACKS),
]


def broken(content: bytes, chance: random.Random) -> bytes:
    """Return the content with a few things wrong with it."""
    lines = content.split(b"\n")
    for _ in range(chance.randint(1, 6)):
        at = chance.randrange(len(lines))
        line = bytearray(lines[at])
        place = chance.randrange(len(line) + 1)
        match chance.randrange(9):
            case 0:
                line[place : place + chance.randint(1, 40)] = b""
            case 1:
                line[place:place] = chance.choice(_PIECES)
            case 2 if line:
                line[place % len(line)] = chance.randrange(256)
            case 3:
                line[place:place] = chance.randbytes(chance.randint(1, 20))
            case 4:
                lines.insert(chance.randrange(len(lines) + 1), bytes(line))
            case 5:
                other = chance.choice(lines)
                line[place:] = other[chance.randrange(len(other) + 1) :]
            case 6:
                chance.shuffle(lines)
            case 7:
                del lines[at + 1 : at + 1 + chance.randint(1, 3)]
            case _:
                swap = chance.choice(lines).split(b'"')
                word = chance.choice(swap)
                line = bytearray(bytes(line).replace(chance.choice(swap), word, 1)) if swap[0] else line
        lines[min(at, len(lines) - 1)] = bytes(line)
    made = b"\n".join(lines)
    return made[: chance.randrange(len(made) + 1)] if chance.random() < 0.1 else made


def look(path: Path, chance: random.Random) -> None:
    """Do with a file what a person does with a session."""
    scanned = read_session(FoundFile.at(path))
    if scanned is not None:
        safe(scanned.row.title)
    with SessionFile.load(path) as session:
        for name in FILTERS:
            rows = visible_rows(session.tree, name)
            for index in range(len(rows)):
                safe(rows.lead(index))
        entries = list(session.entries)
        for entry in chance.sample(entries, min(4, len(entries))):
            build_session_context(session, entry.id)
            documents = [
                entry_document(session, entry),
                raw_document(session, entry),
                context_document(session, entry.id),
                *changes_documents(session, entry),
            ]
            for document in documents:
                safe("\n".join([document.title, *document.texts()]))
        for damage in session.damage:
            safe(display(damage.reason))


def safe(text: str) -> None:
    """Fail where a text could harm a terminal."""
    stream = cut(text.encode())
    assert not stream.kinds, stream.kinds
    assert not stream.forbidden, stream.forbidden


def main() -> int:
    """Break files until the time is up; return how many broke something."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=1.0)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    args = parser.parse_args()
    chance = random.Random(args.seed)
    until = time.monotonic() + 60 * args.minutes
    tried = texts = failures = 0
    with tempfile.TemporaryDirectory() as place:
        contents = [path.read_bytes() for path in sorted(_STORE.glob("sessions/*/*.jsonl"))]
        contents += [path.read_bytes() for path in make(Path(place) / "store", Path(place) / "work")]
        contents += [b"\n".join(content.split(b"\n")[:12]) for content in contents]
        file = Path(place) / "s.jsonl"
        while time.monotonic() < until:
            content = broken(chance.choice(contents), chance)
            file.write_bytes(content)
            tried += 1
            try:
                look(file, chance)
            except SessionError:
                pass
            except Exception:  # noqa: BLE001 - that is what is looked for
                failures += 1
                kept = Path(tempfile.gettempdir()) / f"pitree-fuzz-{args.seed}-{tried}.jsonl"
                kept.write_bytes(content)
                traceback.print_exc()
                print(f"kept: {kept}")  # noqa: T201
            for _ in range(40):
                text = "".join(
                    chance.choices([*ATTACKS, "日", "❤\ufe0f", "👩\u200d", "a"], k=chance.randint(1, 9))
                )
                text += "".join(chr(chance.randrange(0x110000)) for _ in range(6))
                safe(display(text))
                safe(one_line(text, 30))
                assert display(display(text)) == display(text), ascii(text)
                texts += 1
    print(f"seed {args.seed}: {tried:,} files and {texts:,} texts tried, {failures} failures")  # noqa: T201
    return failures


if __name__ == "__main__":
    sys.exit(main())
