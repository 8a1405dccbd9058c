"""What was done is remembered across programs, damaged lines and all."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pitree.journal import Deed, Journal

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("kept", [True, False])
def test_deeds_come_newest_first_until_undone(kept: bool, tmp_path: Path) -> None:
    journal = Journal(tmp_path / "state" if kept else None)
    assert journal.deeds() == []
    first = journal.note(Deed("label", "/a.jsonl", before=None, after="x"))
    second = journal.note(Deed("name", "/a.jsonl"))
    again = Journal(tmp_path / "state") if kept else journal
    assert again.deeds() == [second, first]
    again.note(Deed("name", "/a.jsonl", undoes=second.id))
    assert journal.deeds() == [first]
    assert first.id != second.id


def test_what_no_other_json_writer_takes(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    noted = journal.note(Deed("name", os.fsdecode(b"/\xff.jsonl"), before="\ud83d", after="\u2028\0"))
    assert Journal(tmp_path).deeds() == [noted]


def test_damage_costs_only_its_line(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    first = journal.note(Deed("name", "/a"))
    with (tmp_path / "journal.jsonl").open("ab") as file:
        file.write(b'{"kind":5}\nnonsense\n[]\n\xff\n{"kind":"na')
    second = journal.note(Deed("name", "/b"))
    assert journal.deeds() == [second, first]


def test_it_is_nobody_elses_and_does_not_grow_for_ever(tmp_path: Path) -> None:
    journal = Journal(tmp_path)
    for number in range(3):
        journal.note(Deed("name", f"/{number}", after="x" * 600_000))
    file = tmp_path / "journal.jsonl"
    assert file.stat().st_mode & 0o777 == 0o600
    assert [deed.path for deed in journal.deeds()] == ["/2", "/1", "/0"]
    with file.open("ab") as many:
        many.write(file.read_bytes().splitlines(keepends=True)[0].replace(b"x" * 600_000, b"x") * 2000)
    journal.note(Deed("name", "/last"))
    assert len(file.read_bytes().splitlines()) == 501
    assert journal.deeds()[0].path == "/last"


def test_two_programs_at_once(tmp_path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from pitree.journal import Deed, Journal\n"
        "journal = Journal(pathlib.Path(sys.argv[1]))\n"
        "for number in range(200): journal.note(Deed('name', f'/{number}'))\n"
    )
    command = [sys.executable, "-c", script, str(tmp_path)]
    running = [subprocess.Popen(command, env={**os.environ, "PYTHONPATH": str(ROOT)}) for _ in range(2)]
    assert [one.wait(60) for one in running] == [0, 0]
    assert len(Journal(tmp_path).deeds()) == 400
