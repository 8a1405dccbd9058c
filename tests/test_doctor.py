"""`pitree doctor`: what it prints of files and folders, and the repaired copies it writes."""

import json
import os
from pathlib import Path

import pytest
from agent.build import Session
from commandline import Run, Store, forked, process, talk
from sessions import damaged
from sessions.test_text import is_safe

from pitree.sessions.findings import KINDS

NO_NAME = "Expecting property name enclosed in double quotes at character 2"
ORPHAN = "parent zzzz is not in the file; the conversation begins anew here, as at a root"


def at(path: Path, line: int) -> int:
    """Give where a line of a file begins."""
    return sum(map(len, path.read_bytes().splitlines(keepends=True)[: line - 1]))


def orphan(work: Path) -> Session:
    made = talk(work)
    made.user("orphan", "zzzz")
    return made


def test_one_file_as_json(pitree: Run, store: Store, work: Path) -> None:
    made = orphan(work)
    path = store.add(made)
    done = pitree("doctor", path, "--json")
    assert (done.code, done.err) == (1, "")
    assert json.loads(done.out) == [
        {
            "path": str(path),
            "ok": False,
            "findings": [
                {
                    "kind": "missing-parent",
                    "severity": "damage",
                    "line": 4,
                    "offset": at(path, 4),
                    "detail": ORPHAN,
                    "entryId": "00000003",
                }
            ],
        }
    ]


def test_one_file_as_text(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(orphan(work))
    done = pitree("doctor", path)
    assert (done.code, done.err) == (1, "")
    assert done.out.splitlines() == [
        str(path),
        f"  ⚠ line 4, byte {at(path, 4)}: missing-parent: {ORPHAN}",
        "1 file: 1 damaged",
    ]


def test_a_sound_file(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    assert pitree("doctor", path, "--json").document == [{"path": str(path), "ok": True, "findings": []}]
    done = pitree("doctor", path)
    assert (done.code, done.out) == (0, "1 file: no damage\n")


def test_remarks_count_only_where_that_is_asked_for(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work, parentSession="/nowhere/gone.jsonl"))
    ((found,), code) = (pitree("doctor", path, "--json").document, pitree("doctor", path).code)
    assert (found["ok"], code, [each["severity"] for each in found["findings"]]) == (True, 0, ["remark"])
    strict = pitree("doctor", path, "--json", "--strict")
    assert (strict.code, json.loads(strict.out)[0]["ok"]) == (1, False)
    assert pitree("doctor", store.root).out == "1 file: no damage; remarks on 1\n"
    assert "missing-session" in pitree("doctor", store.root, "--strict").out


def test_folders_and_the_store(pitree: Run, store: Store, work: Path) -> None:
    store.add(forked(work))
    store.add(orphan(work))
    deeper = store.root / "deep" / "er"
    deeper.mkdir(parents=True)
    (deeper / "torn.jsonl").write_bytes(damaged.torn_tail())
    (deeper / "broken.jsonl").symlink_to("nowhere")
    (deeper / "notes.txt").write_text("no session")
    (deeper / "notes.old").symlink_to("nowhere")
    done = pitree("doctor", "--json")
    assert done.code == 1
    found = {Path(each["path"]).name: each for each in json.loads(done.out)}
    assert len(found) == len(json.loads(done.out)) == 4
    assert [each["kind"] for each in found["torn.jsonl"]["findings"]] == ["missing-folder", "torn-tail"]
    assert [each["kind"] for each in found["broken.jsonl"]["findings"]] == ["unreadable"]
    assert sum(each["ok"] for each in found.values()) == 1
    assert pitree("doctor", store.root, "--json").out == done.out
    text = pitree("doctor")
    assert text.code == 1
    assert "missing-folder" not in text.out
    assert "  … and a remark; --strict prints them" in text.out.splitlines()
    assert text.out.splitlines()[-1] == "4 files: 3 damaged"
    assert len(json.loads(pitree("doctor", deeper, deeper / "torn.jsonl", "--json").out)) == 3


def test_no_sessions_at_all(pitree: Run, store: Store) -> None:
    done = pitree("doctor")
    assert (done.code, done.error) == (0, f"no session files; looked in {store.root}")
    assert pitree("doctor", "--json").document == []


def test_what_cannot_be_found_is_told_and_the_rest_goes_on(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    done = pitree("doctor", "nowhere.jsonl", path, "zz", "--json")
    assert done.code == 1
    first, second, third = json.loads(done.out)
    assert [each["ok"] for each in (first, second, third)] == [False, False, True]
    assert "does not exist" in first["findings"][0]["detail"]
    assert pitree("doctor", path.name.partition("_")[2][:8], "--json").document[0]["path"] == str(path)


def test_everything_that_went_wrong_is_printed_safely(pitree: Run, work: Path) -> None:
    damaged.write_all(work / "all")
    done = pitree("doctor", work / "all", "--strict")
    assert done.code == 1
    assert all(is_safe(line) for line in done.out.splitlines())
    assert "escapes.jsonl" in done.out
    assert "… and " in done.out
    document = pitree("doctor", work / "all", "--json").out
    assert {each["kind"] for file in json.loads(document) for each in file["findings"]} <= set(KINDS)
    assert all(is_safe(line) for line in document.splitlines())


def test_nothing_is_written(pitree: Run, work: Path) -> None:
    files = damaged.write_all(work / "all")
    before = {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files.values()}
    pitree("doctor", work / "all")
    assert {path: (path.read_bytes(), path.stat().st_mtime_ns) for path in files.values()} == before
    assert sorted((work / "all").iterdir()) == sorted(files.values())
    assert sorted(work.iterdir()) == [work / "all"]


def test_a_wrong_call(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    for arguments in (["--repair", "x"], [path, path, "--repair", "x"], [work, "--repair", "x"], ["--what"]):
        done = pitree("doctor", *arguments)
        assert (done.code, done.out) == (2, "")
        assert done.error
    assert list(work.iterdir()) == []


def test_help_tells_every_kind(pitree: Run) -> None:
    shown = pitree("doctor", "--help")
    assert (shown.code, shown.err) == (0, "")
    assert all(f"  {kind} " in shown.out for kind in KINDS)


def test_a_repaired_copy(pitree: Run, store: Store, work: Path) -> None:
    made = orphan(work)
    made.raw(b"{torn \x1b]0;x\x07")
    path = store.add(made)
    before = path.read_bytes()
    done = pitree("doctor", path, "--repair", "copy.jsonl")
    copy = work / "copy.jsonl"
    assert (done.code, done.err) == (0, "")
    assert done.out.splitlines() == [
        f"line 4, byte {at(path, 4)}: missing-parent: {ORPHAN}; the copy has parentId null",
        f"line 5, byte {at(path, 5)}: left out: malformed-line, not JSON: {NO_NAME}",
        f"{copy} has 3 entries and no damage; {path} is as it was",
        f"the lines that it does not have as they were are in {copy}.rejected",
    ]
    assert path.read_bytes() == before
    assert (work / "copy.jsonl.rejected").read_bytes() == b"".join(before.splitlines(keepends=True)[3:])
    assert pitree("doctor", copy).code == 0
    again = pitree("doctor", path, "--repair", "copy.jsonl")
    there = f"{copy} is there already, and nothing is written over; give another name"
    assert (again.code, again.error) == (1, there)


def test_a_repaired_copy_as_json(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(orphan(work))
    (found,) = pitree("doctor", path, "--repair", work / "copy.jsonl", "--json").document
    assert found["ok"] is False
    assert [each["kind"] for each in found["findings"]] == ["missing-parent"]
    made = found["repair"]
    assert (made["out"], made["rejected"]) == (f"{work}/copy.jsonl", f"{work}/copy.jsonl.rejected")
    assert (made["entries"], [deed["line"] for deed in made["deeds"]]) == (3, [4])


def test_a_copy_of_a_sound_file(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    done = pitree("doctor", path, "--repair", "copy.jsonl")
    assert (done.code, done.out) == (0, f"no damage: {work}/copy.jsonl is the same to the byte, 9 entries\n")
    assert (work / "copy.jsonl").read_bytes() == path.read_bytes()


def test_nothing_to_repair(pitree: Run, work: Path) -> None:
    (work / "empty.jsonl").touch()
    done = pitree("doctor", "empty.jsonl", "--repair", "copy.jsonl")
    assert (done.code, done.error) == (1, f"{work}/empty.jsonl is no Pi session: it is empty")
    assert not (work / "copy.jsonl").exists()


def test_a_line_that_an_agent_is_writing_is_no_damage(
    pitree: Run, store: Store, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = talk(work)
    made.tail = b'{"type":"message","id":"c","par'
    path = store.add(made)
    assert pitree("doctor", path).code == 1
    monkeypatch.setattr("pitree.doctor_command.being_written", lambda *_: "it is")
    done = pitree("doctor", path)
    assert (done.code, "unfinished-line" in done.out) == (0, True)


def test_no_progress_without_a_terminal(store: Store, work: Path) -> None:
    path = store.add(talk(work))
    for number in range(50):
        (path.parent / f"{number}.jsonl").write_bytes(path.read_bytes())
    done = process("doctor", env={**os.environ, "HOME": str(store.root.parents[2])})
    assert (done.code, done.err, done.out) == (0, "", "51 files: no damage\n")
