"""What the commands print: documents, drawings, one-line errors, and nothing that harms a terminal."""

import json
import os
from pathlib import Path

import pytest
from agent.build import SESSION_ID, Session, call, moment, text, usage
from commandline import Done, Run, Store, forked, talk
from sessions import damaged
from sessions.test_text import is_safe

from pitree.commands import COMMANDS
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile

# list


def test_list_as_json(pitree: Run, store: Store, work: Path) -> None:
    made = forked(work)
    path = store.add(made)
    assert pitree("list", "--json").document == [
        {
            "path": str(path),
            "id": SESSION_ID,
            "cwd": str(work),
            "name": "Login work",
            "created": moment(0),
            "modified": moment(7),
            "messageCount": 7,
            "firstMessage": "Fix the login page",
            "parentSession": None,
            "size": path.stat().st_size,
            "damage": 0,
        }
    ]


def test_list_is_of_this_folder_and_newest_first(pitree: Run, store: Store, work: Path) -> None:
    other = work.parent / "elsewhere"
    older = Session(cwd=str(work), id="older")
    older.message("user", content="x", timestamp=1000)
    newer = Session(cwd=str(work), id="newer")
    newer.message("user", content="x", timestamp=2000)
    for made in (newer, older, talk(other, "other")):
        store.add(made)
    assert [row["id"] for row in pitree("list", "--json").document] == ["newer", "older"]
    assert [row["id"] for row in pitree("list", "--json", "--all").document] == ["other", "newer", "older"]
    assert [row["id"] for row in pitree("list", "--json", "--cwd", other).document] == ["other"]
    assert [row["id"] for row in pitree("list", "--json", "--cwd", "../elsewhere").document] == ["other"]


def test_list_of_nothing(pitree: Run, store: Store, work: Path) -> None:
    assert pitree("list", "--json").document == []
    assert pitree("list", "--all", "--json").document == []
    listed = pitree("list")
    assert listed.code == 0
    assert listed.error == f"no sessions in {work} (--all looks everywhere); looked in {store.root}"
    assert pitree("list", "--all").error == f"no sessions in the store; looked in {store.root}"


def test_list_as_text(pitree: Run, store: Store, work: Path) -> None:
    store.add(forked(work))
    broken = talk(work, "019b7a00-1111-7000-8000-000000000000", "日本語\nmore")
    broken.raw(b"{torn")
    store.add(broken)
    assert pitree("list", "--all").out.splitlines() == [
        f"019b7a00-0000  2026-01-02 03:04      7  Login work  {work}",
        f"019b7a00-1111  2026-01-02 03:04      2  日本語 ⚠  {work}",
    ]
    assert pitree("list").out.splitlines()[0] == "019b7a00-0000  2026-01-02 03:04      7  Login work"


@pytest.mark.parametrize("stamp", [-5, 0, 1e300, 8.64e15, 1767323046000000, "soon", None])
def test_list_shows_sessions_of_any_time(pitree: Run, store: Store, work: Path, stamp: object) -> None:
    made = Session(cwd=str(work), timestamp="1969-12-31T23:00:00.000Z" if stamp == -5 else "x")
    made.message("user", content="when?", timestamp=stamp)
    store.add(made)
    listed = pitree("list")
    assert (listed.code, listed.err) == (0, "")
    assert listed.out.endswith("      1  when?\n")
    assert [row["firstMessage"] for row in pitree("list", "--json").document] == ["when?"]


def test_list_searches(pitree: Run, store: Store, work: Path) -> None:
    for number, words in enumerate(("fix the login page", "write tests for login", "draw a cat")):
        store.add(talk(work, f"{number}", words))
    found = pitree("list", "login", "--json", "write").document
    assert [row["id"] for row in found] == ["1"]
    assert {row["id"] for row in pitree("list", "--json", "login").document} == {"0", "1"}
    assert [row["id"] for row in pitree("list", "--json", '"the login"').document] == ["0"]
    assert [row["id"] for row in pitree("list", "--json", "re:draw\\b.*cat").document] == ["2"]
    assert pitree("list", "no such thing").error.startswith(f"no sessions that match in {work}")
    wrong = pitree("list", "re:(")
    assert wrong.code == 1
    assert wrong.error.startswith("search 're:(': ")


def test_list_tells_what_it_could_not_read(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work))
    (path.parent / "broken.jsonl").symlink_to("nowhere")
    os.mkfifo(path.parent / "fifo.jsonl")
    (path.parent / "folder.jsonl").mkdir()
    listed = pitree("list", "--json")
    assert [row["id"] for row in json.loads(listed.out)] == [SESSION_ID]
    assert listed.code == 0
    assert listed.err == f"pitree: {path.parent}/broken.jsonl cannot be read: No such file or directory\n"


def test_list_of_every_kind_of_damage(pitree: Run, tmp_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    listed = pitree("list", "--all", "--json", "--session-dir", tmp_path / "flat").document
    assert {row["path"] for row in listed} == {str(files[make.__name__]) for make in damaged.SESSIONS}
    marked = {Path(row["path"]).stem for row in listed if row["damage"]}
    assert marked == {
        "torn_tail",
        "title_before_header",
        "blank_and_bad_lines_before_header",
        "two_headers",
        "bad_lines",
        "escapes",
    }


# tree


def test_tree_as_json(pitree: Run, store: Store, work: Path) -> None:
    made = forked(work)
    made.raw(b"{torn")
    path = store.add(made)
    assert pitree("tree", path, "--json").document == {
        "header": made.header,
        "leaf": "00000009",
        "name": "Login work",
        "labels": {"00000001": "start"},
        "filter": "default",
        "damage": [
            {
                "line": 11,
                "offset": path.read_bytes().index(b"{torn"),
                "reason": "not JSON: Expecting property name enclosed in double quotes at character 2",
            }
        ],
        "entries": [
            {
                "id": "00000001",
                "parentId": None,
                "type": "message",
                "role": "user",
                "depth": 0,
                "text": "user: Fix the login page",
                "label": "start",
                "onPath": True,
            },
            *(
                {
                    "id": entry_id,
                    "parentId": parent,
                    "type": "message",
                    "role": role,
                    "depth": depth,
                    "text": words,
                    "onPath": on_path,
                }
                for entry_id, parent, role, depth, words, on_path in [
                    ("00000003", "00000002", "toolResult", 0, "read: /src/login.ts:10-40", True),
                    ("00000004", "00000003", "assistant", 0, "assistant: Done.", True),
                    ("00000007", "00000004", "user", 1, "user: Try Redux instead", True),
                    ("00000005", "00000004", "user", 1, "user: Now the tests", False),
                    ("00000006", "00000005", "assistant", 2, "assistant: They pass.", False),
                ]
            ),
        ],
    }


def test_tree_as_drawn(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    assert pitree("tree", path) == Done(
        0,
        "• [start] user: Fix the login page\n"
        "• read: /src/login.ts:10-40\n"
        "• assistant: Done.\n"
        "├─◆ user: Try Redux instead\n"
        "└▾  user: Now the tests\n"
        "      assistant: They pass.\n",
        "",
    )
    with_ids = pitree("tree", path, "--ids").out.splitlines()
    assert with_ids[:2] == [
        "00000001  • [start] user: Fix the login page",
        "00000003  • read: /src/login.ts:10-40",
    ]
    assert pitree("tree", path, "--filter", "user-only").out.splitlines() == [
        "• [start] user: Fix the login page",
        "├─◆ user: Try Redux instead",
        "└─  user: Now the tests",
    ]
    assert pitree("tree", path, "--filter", "all").out.splitlines()[3:5] == [
        "├▾• user: Try Redux instead",
        "│   • label: start on 00000001",
    ]
    assert "◆ name: Login work" in pitree("tree", path, "--filter", "all").out


@pytest.mark.parametrize("name", ["default", "no-tools", "user-only", "labeled-only", "all"])
def test_tree_with_each_filter(pitree: Run, store: Store, work: Path, name: str) -> None:
    path = store.add(forked(work))
    shown = pitree("tree", path, "--filter", name, "--json").document
    assert shown["filter"] == name
    lines = pitree("tree", path, "--filter", name).out.splitlines()
    assert len(lines) == len(shown["entries"])
    for line, entry in zip(lines, shown["entries"], strict=True):
        assert line.endswith(entry["text"])


def test_damage_goes_to_standard_error(pitree: Run, tmp_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    shown = pitree("tree", files["orphan"])
    assert shown.code == 0
    assert shown.out.splitlines()[0] == "• ⚠ user: orphan"
    assert shown.err == f"pitree: {files['orphan']}, line 4: parent zzzz is missing\n"
    assert pitree("tree", files["torn_tail"]).err.startswith(
        f"pitree: {files['torn_tail']}, line 4: unfinished last line (not JSON: "
    )
    document = json.loads(pitree("tree", files["orphan"], "--json").out)
    offset = files["orphan"].read_bytes().index(b'{"type":"message","id":"00000003"')
    assert document["damage"] == [
        {"line": 4, "offset": offset, "reason": "parent zzzz is missing", "entryId": "00000003"}
    ]


def test_a_line_that_cannot_be_read_any_more_costs_only_itself(
    pitree: Run, store: Store, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = store.add(talk(work))
    body = SessionFile.body

    def lost(session: SessionFile, entry: Entry) -> JsonObject:
        if entry.id == "00000001":
            raise SessionError("it was cut:\x1b[31m")
        return body(session, entry)

    monkeypatch.setattr(SessionFile, "body", lost)
    assert pitree("tree", path) == Done(0, "• ✗ message: (it was cut:␛[31m)\n◆ assistant: ok\n", "")
    assert pitree("context", path, "--json").error == "it was cut:␛[31m"


# context


def test_context_as_json(pitree: Run, store: Store, work: Path) -> None:
    made = forked(work)
    path = store.add(made)
    messages = [line["message"] for line in made.lines if isinstance(line, dict) and "message" in line]
    shown = pitree("context", path, "--json").document
    assert shown == {
        "messages": [*messages[:4], messages[6]],
        "thinkingLevel": "off",
        "model": {"provider": "maker", "modelId": "m-1"},
        "entries": [f"{number:08x}" for number in (1, 2, 3, 4, 7, 8, 9)],
        "tokens": 22,
        "openEnd": [],
    }
    shown = pitree("context", path, "--leaf", "00000002", "--json").document
    assert shown["openEnd"] == [{"entryId": "00000002", "toolCallId": "1", "name": "read"}]
    assert shown["entries"] == ["00000001", "00000002"]


def test_context_says_where_the_path_breaks_off(pitree: Run, tmp_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    assert pitree("context", files["orphan"], "--json").document["gap"] == (
        "stops at 00000003: parent zzzz is missing"
    )
    assert "the path stops at 00000003: parent zzzz is missing" in pitree("context", files["orphan"]).out
    assert "gap" not in pitree("context", files["plain"], "--json").document


def test_context_before_anything(pitree: Run, tmp_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    assert pitree("context", files["only_header"], "--json").document == {
        "messages": [],
        "thinkingLevel": "off",
        "model": None,
        "entries": [],
        "tokens": 0,
        "openEnd": [],
    }


def test_context_as_text(pitree: Run, store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    made.user([text("see\nthis"), {"type": "image", "data": "aGVsbG8=", "mimeType": "image/png"}])
    made.calls(
        {"type": "thinking", "thinking": "hm\nhm"}, call("bash", "1", command="ls"), errorMessage="late"
    )
    made.message("bashExecution", command="ls", output="a\nb")
    made.compaction("00000001", summary="short")
    shown = pitree("context", store.add(made))
    assert (shown.code, shown.err) == (0, "")
    told = [
        *("context at 00000004", "messages   4", "~1,213", "maker/m-1", "bash in 00000002 has no result"),
        *("1 compactionSummary", "00000004", "short", "2 user", "00000001", "see\nthis\n", "image/png"),
        *("3 assistant", "late", "hm\nhm\n", "bash", "ls", "4 bashExecution", "ls\n", "a\nb\n"),
    ]
    rest = shown.out
    for words in told:
        assert words in rest
        rest = rest.partition(words)[2]


def moving(work: Path) -> Session:
    made = Session(cwd=str(work))
    fork = made.user("go")
    made.assistant("one way", usage={**usage(), "totalTokens": 500})
    made.user("x" * 40, fork)
    return made


def test_context_changes_as_json(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(moving(work))
    assert pitree("context", path, "--changes", "--leaf", "00000002", "--json").document == {
        "from": "00000003",
        "to": "00000002",
        "ancestor": "00000001",
        "leaves": [{"number": 2, "entryId": "00000003", "role": "user", "tokens": 10}],
        "returns": [{"number": 2, "entryId": "00000002", "role": "assistant", "tokens": 2}],
        "stays": 1,
        "readFiles": [],
        "modifiedFiles": [],
        "tokens": 11,
        "tokensThere": 500,
    }


def test_context_changes_as_text(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(moving(work))
    shown = pitree("context", path, "--changes", "--leaf", "00000002")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith("changes when the leaf moves to 00000002 (assistant)\n")
    assert "\ncomes back · 1 message\n\n+─ 2 assistant · ~2 tokens · 00000002\none way\n" in shown.out
    assert "nothing changes" in pitree("context", path, "--changes").out
    shown = pitree("context", store.add(Session(cwd=str(work))), "--changes")
    assert (shown.code, shown.error) == (1, "there is no entry to move to; name one with --leaf ID")


def test_context_text_of_fields_that_are_missing(pitree: Run, store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    made.message("bashExecution", command=None)
    made.message("compactionSummary", summary=None)
    made.entry("message", message={"content": [{"type": "image"}, text("x")]})
    made.message("user", content=[{"type": "text", "text": {"not": "text"}}])
    shown = pitree("context", store.add(made))
    assert (shown.code, shown.err) == (0, "")
    assert "None" not in shown.out
    assert '"not": "text"' in shown.out


# show


def test_show_as_json_is_the_stored_object(pitree: Run, store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    made.user("hi", None, big=2**70, lone="\ud83d", deep=[[None]], text="日本語")
    path = store.add(made)
    assert pitree("show", path, "00000001", "--json").document == made.lines[0]
    assert pitree("show", path, "00", "--json").document == made.lines[0]


def test_show_as_text(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(forked(work))
    shown = pitree("show", path, "00000002")
    assert (shown.code, shown.err) == (0, "")
    for words in ("assistant", "00000002", "read", "/src/login.ts"):
        assert words in shown.out


def test_show_prints_all_of_it(pitree: Run, store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    made.user("\n".join(f"line {number} " + "x" * 100 for number in range(20_000)))
    shown = pitree("show", store.add(made), "00000001").out
    assert [line for line in shown.splitlines() if "line 0 " in line or "line 19999 " in line] == [
        "line 0 " + "x" * 100,
        "line 19999 " + "x" * 100,
    ]
    assert shown.count("x" * 100) == 20_000


# Naming a session


def test_a_session_is_named_by_path_id_or_the_beginning_of_it(pitree: Run, store: Store, work: Path) -> None:
    path = store.add(talk(work, "aaaa-1"))
    store.add(talk(work.parent, "aabb-2"))
    for name in (path, "aaaa-1", "aaa", os.path.relpath(path, work)):
        assert pitree("tree", name, "--json").document["header"]["id"] == "aaaa-1"
    assert pitree("tree", "aab", "--json").document["header"]["id"] == "aabb-2"
    assert pitree("tree", "aa").error.startswith(
        f"2 sessions in {store.root} (default): the id begins with 'aa'"
    )
    assert pitree("tree", "zz").error.startswith("no session id begins with 'zz' among 2 files")
    assert pitree("tree", "./zz").error.startswith(f"{work}/zz does not exist")
    assert pitree("tree", work).error.startswith(f"{work} is not a file")


# What goes wrong


FAILING: dict[str, tuple[list[str], int]] = {
    "unknown id": (["tree", "nowhere"], 1),
    "no such file": (["context", "./nowhere.jsonl"], 1),
    "unknown entry": (["show", "PLAIN", "nowhere"], 1),
    "unknown leaf": (["context", "PLAIN", "--leaf", "nowhere"], 1),
    "ambiguous entry": (["show", "PLAIN", "0000"], 1),
    "empty entry": (["show", "PLAIN", ""], 1),
    "no session": (["tree", "EMPTY"], 1),
    "a file name with escapes": (["tree", "./\x1b[31m\n.jsonl"], 1),
    "an id with a surrogate": (["tree", "\udcff"], 1),
    "nothing named": (["tree", ""], 1),
    "nothing to resume": (["resume"], 1),
    "resume of nothing": (["resume", "EMPTY"], 1),
    "no file": (["tree"], 2),
    "no entry": (["show", "PLAIN"], 2),
    "too much": (["tree", "PLAIN", "more"], 2),
    "unknown option": (["list", "--what"], 2),
    "unknown filter": (["tree", "PLAIN", "--filter", "some"], 2),
    "an option without its value": (["context", "PLAIN", "--leaf"], 2),
    "a value for a flag": (["list", "--json=yes"], 2),
    "unknown screen option": (["--what"], 2),
    "two sessions for the screen": (["one", "two"], 2),
    "an option before the command": (["--demo", "search", "--tools", "words"], 2),
}


@pytest.mark.parametrize("case", FAILING)
def test_errors_are_one_line_and_an_exit_code(pitree: Run, tmp_path: Path, case: str) -> None:
    files = damaged.write_all(tmp_path / "flat")
    names = {"PLAIN": str(files["plain"]), "EMPTY": str(files["empty"])}
    arguments, code = FAILING[case]
    done = pitree(*(names.get(argument, argument) for argument in arguments))
    assert done.code == code
    assert is_safe(done.error)
    assert ("--help`" in done.error) == (code == 2)


def test_what_is_no_session_is_told_why(pitree: Run, tmp_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    assert pitree("tree", files["empty"]).error == f"{files['empty']} is no Pi session: it is empty"
    assert pitree("show", files["plain"], "x").error == f"no entry of {files['plain']} has the id 'x'"


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_what_may_not_be_read(pitree: Run, tmp_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    files["plain"].chmod(0)
    assert pitree("tree", files["plain"]).error == f"{files['plain']} cannot be read: Permission denied"


def test_an_interrupt_is_no_traceback(pitree: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(*_: object) -> int:
        raise KeyboardInterrupt

    monkeypatch.setitem(COMMANDS, "list", interrupted)
    interrupted.__doc__ = "Print."
    assert pitree("list") == Done(130, "", "")


# Nothing harms a terminal


@pytest.mark.parametrize("make", ["escapes", "odd_types", "deep_and_long", "repeated_ids"])
def test_text_is_safe_to_print(pitree: Run, tmp_path: Path, make: str) -> None:
    path = damaged.write_all(tmp_path / "flat")[make]
    entries = [
        entry["id"] for entry in json.loads(pitree("tree", path, "--filter", "all", "--json").out)["entries"]
    ]
    commands: list[list[str | Path]] = [
        ["list", "--all", "--session-dir", path.parent],
        ["tree", path],
        ["tree", path, "--filter", "all"],
        ["context", path],
        *(["context", path, "--leaf", entry] for entry in entries[::7]),
        *(["show", path, entry] for entry in entries),
    ]
    for command in commands:
        done = pitree(*command)
        assert done.code == 0
        for line in [*done.out.split("\n"), *done.err.split("\n")]:
            assert is_safe(line), (command, line)


def test_json_spells_out_what_terminals_obey(pitree: Run, tmp_path: Path) -> None:
    said = "\x7f \x85 \x9b31m \x9d0;title\x9c \u2028 \u202e \u2066 \ud800 \\ \x1b[2J ≤ é 日本"
    made = Session(cwd=str(tmp_path))
    made.user(said)
    path = made.write(tmp_path / "session.jsonl")
    done = pitree("context", path, "--json")
    assert is_safe(done.out.removesuffix("\n"))
    assert done.document["messages"][0]["content"] == said
    assert "≤ é 日本" in done.out


@pytest.mark.parametrize("make", damaged.SESSIONS, ids=lambda make: make.__name__)
def test_every_file_can_be_printed_in_every_way(pitree: Run, tmp_path: Path, make: damaged.Make) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(make())
    for name in ("default", "no-tools", "user-only", "labeled-only", "all"):
        for json_or_not in ([], ["--json"]):
            assert pitree("tree", path, "--filter", name, *json_or_not).code == 0
    for json_or_not in ([], ["--json"]):
        assert pitree("context", path, *json_or_not).code == 0


def test_a_root_that_is_named_has_to_be_there(pitree: Run, tmp_path: Path) -> None:
    done = pitree("list", "--all", "--session-dir", str(tmp_path / "mistyped"))
    assert done.code == 1
    assert "mistyped is not a folder" in done.err


def test_here_and_fork_exclude_each_other(pitree: Run) -> None:
    done = pitree("resume", "--here", "--fork")
    assert done.code == 2
    assert "not allowed with" in done.err
