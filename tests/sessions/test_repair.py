"""Repaired copies: nothing is lost, the model sees the same, and a second repair changes nothing."""

import json
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from agent.build import Session, encode, moment
from agent.cases import CASES, WITHOUT_IDS
from hypothesis import given, settings
from hypothesis import strategies as st

from pitree.sessions.checkup import examine, findings
from pitree.sessions.errors import NotASessionError, WriteError
from pitree.sessions.examined import Examined
from pitree.sessions.findings import Finding
from pitree.sessions.repair import KEPT_TYPE, Repaired, repair

from . import damaged
from .damaged import HI, OK, talk
from .mutations import check, mutate

FILES = [
    *(make() for make in (*damaged.SESSIONS, *damaged.NO_SESSIONS) if make is not damaged.deep_and_long),
    *(
        make().encoded()
        for make in (*CASES, *WITHOUT_IDS)
        if make.__name__ != "a_long_chain_with_a_late_fork"
    ),
]


@pytest.mark.parametrize("make", [*damaged.SESSIONS, *damaged.NO_SESSIONS], ids=lambda make: make.__name__)
def test_files_that_went_wrong(make: damaged.Make, tmp_path: Path) -> None:
    check(make(), tmp_path)


def test_sound_files_are_copied_to_the_byte(tmp_path: Path) -> None:
    assert sum(check(data, tmp_path) == ["missing-folder"] for data in FILES) > 50


@settings(max_examples=250)
@given(st.integers(0, 2**64))
def test_anything_made_worse(tmp_path_factory: pytest.TempPathFactory, seed: int) -> None:
    drawn = random.Random(seed)
    folder = tmp_path_factory.getbasetemp() / "worse"
    folder.mkdir(exist_ok=True)
    check(mutate(drawn.choice(FILES), drawn), folder)


def test_interrupted_at_the_end_it_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(session: Examined) -> list[Finding]:
        if session.path == out:
            raise KeyboardInterrupt
        return findings(session)

    path, out = tmp_path / "damaged.jsonl", tmp_path / "copy.jsonl"
    path.write_bytes(damaged.torn_tail())
    monkeypatch.setattr("pitree.sessions.repair.findings", interrupted)
    with pytest.raises(KeyboardInterrupt):
        repair(path, out)
    assert [*tmp_path.iterdir()] == [path]


# ---- what becomes of each kind


def repaired(data: bytes, folder: Path) -> Repaired:
    path = folder / "damaged.jsonl"
    path.write_bytes(data)
    return repair(path, folder / "copy.jsonl")


def lines_of(done: Repaired) -> list[dict[str, Any]]:
    return [json.loads(line) for line in done.out.read_text(encoding="utf-8").splitlines()]


def rejected(done: Repaired) -> list[bytes]:
    return [] if done.rejected is None else done.rejected.read_bytes().split(b"\n")[:-1]


def test_links_that_cannot_be_are_cut(tmp_path: Path) -> None:
    for make, line in ((damaged.self_parent, 2), (damaged.cycle_of_three, 4), (damaged.orphan, 4)):
        folder = tmp_path / make.__name__
        folder.mkdir()
        data = make()
        done = repaired(data, folder)
        before = [json.loads(each) for each in data.splitlines()]
        before[line - 1]["parentId"] = None
        assert lines_of(done) == before
        assert rejected(done) == [data.split(b"\n")[line - 1]]
        (deed,) = done.deeds
        assert (deed.line, "the copy has parentId null" in deed.detail) == (line, True)


def test_a_fused_line_is_split(tmp_path: Path) -> None:
    session = talk()
    torn = b'{"type":"custom","id":"0000000a","pare'
    session.user("swallowed")
    whole = encode([session.lines.pop()]).rstrip(b"\n")
    session.raw(torn + whole)
    session.assistant("after")
    done = repaired(session.encoded(), tmp_path)
    assert [line.get("id") for line in lines_of(done)[1:]] == [HI, OK, "00000003", "00000004"]
    assert rejected(done) == [torn + whole]


def test_a_fused_line_at_the_end_is_split_as_if_it_were_finished(tmp_path: Path) -> None:
    session = talk()
    session.user("swallowed")
    session.tail = b'{"type":"cus' + encode([session.lines.pop()]).rstrip(b"\n")
    done = repaired(session.encoded(), tmp_path)
    assert [finding.kind for finding in done.found[1:]] == ["fused-line", "no-final-newline"]
    assert lines_of(done)[-1]["id"] == "00000003"
    assert rejected(done) == [session.tail]


def test_repeated_ids(tmp_path: Path) -> None:
    session = talk()
    session.entry("custom", HI, id=OK, customType="another with that id")
    session.user("below the last one", OK)
    done = repaired(session.encoded(), tmp_path)
    _, first, second, third, fourth = lines_of(done)
    assert (first["id"], third["id"], fourth["parentId"]) == (HI, OK, OK)
    assert second["id"] not in (HI, OK)
    assert second["message"]["content"][0]["text"] == "ok"
    assert rejected(done) == [session.encoded().split(b"\n")[2]]
    done.out.unlink()
    assert done.rejected is not None
    done.rejected.unlink()
    again = repaired(damaged.plain() + damaged.plain().split(b"\n", 1)[1], tmp_path)
    assert again.out.read_bytes() == damaged.plain()
    assert rejected(again) == damaged.plain().split(b"\n")[1:3]


def test_what_points_at_nothing_is_kept_inside(tmp_path: Path) -> None:
    session = talk()
    session.label("nowhere", "lost")
    session.edit("nowhere", None)
    session.entry("message")
    session.user("after")
    done = repaired(session.encoded(), tmp_path)
    kept = lines_of(done)[3:6]
    for line, was in zip(kept, session.lines[2:5], strict=True):
        assert isinstance(was, dict)
        assert line == {
            "type": "custom",
            "customType": KEPT_TYPE,
            "data": was,
            **{key: was[key] for key in ("id", "parentId", "timestamp")},
        }
    assert lines_of(done)[6] == session.lines[5]


def test_an_edit_without_a_replacement_still_rules_out_an_earlier_one(tmp_path: Path) -> None:
    session = talk()
    session.edit(HI, "something else")
    session.entry("context_edit", targetId=HI)
    session.entry("context_edit", targetId=OK)
    done = repaired(session.encoded(), tmp_path)
    assert lines_of(done)[4]["replacement"] == {"content": "hi"}
    assert lines_of(done)[5]["customType"] == KEPT_TYPE
    check(session.encoded(), tmp_path)


def test_a_boundary_that_is_not_there_keeps_none(tmp_path: Path) -> None:
    session = talk()
    compaction = session.compaction("nowhere")
    session.user("after")
    done = repaired(session.encoded(), tmp_path)
    assert lines_of(done)[3]["firstKeptEntryId"] == compaction


def test_fields_that_are_not_what_they_have_to_be(tmp_path: Path) -> None:
    session = talk()
    session.raw(b'{"type":"custom","id":"x","parentId":"00000002"}')
    session.entry("custom", timestamp=None)
    session.entry("custom", timestamp=1_767_323_050_000)
    named = session.entry("session_info", name=7)
    session.entry("custom", named, id=None, customType="c")
    session.user("after", None)
    done = repaired(session.encoded(), tmp_path)
    lines = lines_of(done)
    assert [line["timestamp"] for line in lines[3:6]] == [
        moment(2),
        "1970-01-01T00:00:00.000Z",
        "2026-01-02T03:04:10.000Z",
    ]
    assert "name" not in lines[6]
    assert (len(lines[7]["id"]), lines[7]["customType"]) == (8, "c")


def test_files_that_pi_refuses(tmp_path: Path) -> None:
    plain = damaged.plain()
    header = json.loads(plain.splitlines()[0])
    folders = iter(range(9))

    def mended(data: bytes) -> Repaired:
        folder = tmp_path / f"{next(folders)}"
        folder.mkdir()
        return repaired(data, folder)

    assert mended(damaged.byte_order_mark()).out.read_bytes() == plain
    assert mended(damaged.title_before_header()).out.read_bytes() == plain
    late = damaged.no_header() + plain.splitlines(keepends=True)[0]
    assert mended(late).out.read_bytes() == plain
    fused = plain.replace(b"\n", b"", 1)
    assert mended(fused).out.read_bytes() == plain
    without_id = lines_of(mended(damaged.header_without_id()))
    assert without_id[0] == {**header, "id": without_id[0]["id"]}
    without_header = lines_of(mended(damaged.no_header()))
    made = {"type": "session", "version": 3, "timestamp": moment(1)}
    assert without_header[0] == {**made, "id": without_header[0]["id"]}
    assert without_header[1:] == [json.loads(line) for line in plain.splitlines()[1:]]


@pytest.mark.parametrize("version", [b"NaN", b"1e400", b"9" * 5000, b'"x"', b"[3]", b"-1"])
def test_headers_of_odd_versions(version: bytes, tmp_path: Path) -> None:
    header = b'{"type":"session","id":"odd","version":' + version + b"}"
    for newline in (b"\n", b""):
        check(header + newline + damaged.no_header(), tmp_path)


def test_a_made_up_header_takes_the_id_that_the_file_is_named_by(tmp_path: Path) -> None:
    path = tmp_path / "2026-01-02T03-04-05-000Z_019b7a00-0000-7000-8000-00000000c0de.jsonl"
    path.write_bytes(damaged.no_header())
    done = repair(path, tmp_path / "copy.jsonl")
    assert lines_of(done)[0]["id"] == "019b7a00-0000-7000-8000-00000000c0de"


def test_an_old_version_is_left_alone_or_migrated_whole(tmp_path: Path) -> None:
    sound = damaged.version_1()
    done = repaired(sound, tmp_path)
    assert (done.out.read_bytes(), done.deeds) == (sound, [])
    done.out.unlink()
    done = repaired(sound + b"{torn\n", tmp_path)
    header, asked, said = lines_of(done)
    assert (header["version"], asked["parentId"], said["parentId"]) == (3, None, asked["id"])
    assert rejected(done) == (sound + b"{torn").split(b"\n")


# ---- how it is written


def test_nothing_is_ever_written_over(tmp_path: Path) -> None:
    path = talk().write(tmp_path / "session.jsonl")
    path.write_bytes(path.read_bytes() + b"{torn\n")
    out, beside = tmp_path / "copy.jsonl", tmp_path / "copy.jsonl.rejected"
    makers: list[Callable[[Path], object]] = [Path.touch, lambda name: name.symlink_to("nowhere"), Path.mkdir]
    for taken in (out, beside):
        for make in makers:
            make(taken)
            before = sorted(tmp_path.iterdir())
            with pytest.raises(WriteError, match="is there already"):
                repair(path, out)
            assert sorted(tmp_path.iterdir()) == before
            if taken.is_dir():
                taken.rmdir()
            else:
                taken.unlink()
    with pytest.raises(WriteError, match="is there already"):
        repair(path, path)
    with pytest.raises(WriteError, match="No such file"):
        repair(path, tmp_path / "nowhere" / "copy.jsonl")
    assert sorted(tmp_path.iterdir()) == [path]


def test_the_copy_is_as_private_as_the_file(tmp_path: Path) -> None:
    path = talk().write(tmp_path / "session.jsonl")
    path.write_bytes(path.read_bytes() + b"{torn\n")
    path.chmod(0o640)
    done = repair(path, tmp_path / "copy.jsonl")
    assert done.rejected is not None
    for made in (done.out, done.rejected):
        assert stat.S_IMODE(made.stat().st_mode) == 0o640
    assert sorted(tmp_path.iterdir()) == sorted([path, done.out, done.rejected])


def test_a_copy_that_fails_leaves_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = talk().write(tmp_path / "session.jsonl")
    path.write_bytes(path.read_bytes() + b"{torn\n")

    def full(fd: int) -> None:
        raise OSError(28, "No space left on device", fd)

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(WriteError, match="No space left"):
        repair(path, tmp_path / "copy.jsonl")
    assert list(tmp_path.iterdir()) == [path]


def test_a_file_without_anything_of_a_session(tmp_path: Path) -> None:
    path = tmp_path / "other.jsonl"
    for data in (b"", b"\n\n", b"words\n", b'{"some":"object"}\n{"id":"x","value":5}\n', b"\0" * 5000):
        path.write_bytes(data)
        assert [finding.kind for finding in examine(path)] == ["no-session"]
        with pytest.raises(NotASessionError):
            repair(path, tmp_path / "copy.jsonl")
    assert list(tmp_path.iterdir()) == [path]


def test_a_session_that_grows_meanwhile(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = talk().write(tmp_path / "session.jsonl")
    assert not repair(path, tmp_path / "first.jsonl").grown

    def slow(session: Examined) -> list[Finding]:
        with path.open("ab") as file:
            file.write(encode([{"type": "custom", "id": "later", "parentId": OK, "timestamp": moment(9)}]))
        return findings(session)

    before = path.read_bytes()
    monkeypatch.setattr("pitree.sessions.repair.findings", slow)
    done = repair(path, tmp_path / "copy.jsonl")
    assert done.grown
    assert done.out.read_bytes() == before


def test_many_lines_that_say_nothing(tmp_path: Path) -> None:
    session = Session()
    session.user("before")
    data = session.encoded() + b"{\n" * 50_000
    done = repaired(data, tmp_path)
    assert done.out.read_bytes() == session.encoded()
    assert len(done.deeds) == 50_000
