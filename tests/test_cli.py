"""The command line, as scripts and people use it: documents, drawings, exit codes, one-line errors."""

import json
import os
import shlex
import stat
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from agent.build import SESSION_ID, START, Session, call, moment, text
from sessions import damaged
from sessions.test_text import is_safe

from pitree import __version__
from pitree.catalog.locations import folder_name
from pitree.cli import main
from pitree.commands import COMMANDS
from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.errors import SessionError
from pitree.sessions.file import SessionFile

ROOT = Path(__file__).parents[1]
PATIENCE_SECONDS = 60.0


class Done(NamedTuple):
    """How a command ended, and what it wrote."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:  # noqa: ANN401 - any JSON value
        """The one JSON document on standard output, after an untroubled run."""
        assert (self.code, self.err) == (0, "")
        assert self.out.count("\n") == 1
        return json.loads(self.out)

    @property
    def error(self) -> str:
        """The one line of an error, after nothing else was printed."""
        assert self.out == ""
        (line,) = self.err.splitlines()
        assert line.startswith("pitree: ")
        return line.removeprefix("pitree: ")


Run = Callable[..., Done]


@pytest.fixture
def work(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Be in a folder of one's own."""
    folder = home / "code" / "paperboy"
    folder.mkdir(parents=True)
    monkeypatch.chdir(folder)
    return folder


@pytest.fixture
def pitree(work: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Run:
    """Run a command in this process."""

    def run(*arguments: str | Path) -> Done:
        capfdbinary.readouterr()
        try:
            code = main([str(argument) for argument in arguments])
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else -1
        out, err = capfdbinary.readouterr()
        return Done(code, out.decode(), err.decode())

    assert work == Path.cwd()
    return run


class Store:
    """The default store of the home, and the sessions in it."""

    def __init__(self, home: Path) -> None:
        self.root = home / ".pi" / "agent" / "sessions"
        self._count = 0

    def add(self, made: Session, *, cwd: Path | None = None, minutes: int = 0) -> Path:
        """Write a session into the folder of its working directory, or that of another one."""
        self._count += 1
        folder = self.root / folder_name(str(made.header["cwd"] if cwd is None else cwd))
        folder.mkdir(parents=True, exist_ok=True)
        path = made.write(folder / f"2026-01-02T03-04-0{self._count}-000Z_{made.header['id']}.jsonl")
        seconds = START.timestamp() + 60 * minutes
        os.utime(path, (seconds, seconds))
        return path


@pytest.fixture
def store(home: Path) -> Store:
    return Store(home)


def talk(work: Path, session_id: str = SESSION_ID, first: str = "hi", **header: object) -> Session:
    made = Session(cwd=str(work), id=session_id, **header)
    made.user(first)
    made.assistant("ok")
    return made


def forked(work: Path) -> Session:
    """Make a session with a fork, a label, a name and tool calls."""
    made = Session(cwd=str(work))
    asked = made.user("Fix the login page")
    made.calls(call("read", "1", path="/src/login.ts", offset=10, limit=31))
    made.result("export function login", "1")
    fixed = made.assistant("Done.")
    made.user("Now the tests", fixed)
    made.assistant("They pass.")
    made.user("Try Redux instead", fixed)
    made.label(asked, "start")
    made.name("Login work")
    return made


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
        "deep_and_long",
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
        "├─◇ user: Try Redux instead\n"
        "└▾  user: Now the tests\n"
        "      assistant: They pass.\n",
        "",
    )
    assert pitree("tree", path, "--filter", "user-only").out.splitlines() == [
        "• [start] user: Fix the login page",
        "├─◇ user: Try Redux instead",
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
        *("context at 00000004", "1,213 in 4 messages", "maker/m-1", "bash in 00000002 has no result"),
        *("1 compactionSummary", "00000004", "short", "2 user", "00000001", "see\nthis\n", "image/png"),
        *("3 assistant", "late", "hm\nhm\n", "bash", "ls", "4 bashExecution", "ls\n", "a\nb\n"),
    ]
    rest = shown.out
    for words in told:
        assert words in rest
        rest = rest.partition(words)[2]


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


@pytest.mark.parametrize("make", damaged.SESSIONS, ids=lambda make: make.__name__)
def test_every_file_can_be_printed_in_every_way(pitree: Run, tmp_path: Path, make: damaged.Make) -> None:
    path = tmp_path / "session.jsonl"
    path.write_bytes(make())
    for name in ("default", "no-tools", "user-only", "labeled-only", "all"):
        for json_or_not in ([], ["--json"]):
            assert pitree("tree", path, "--filter", name, *json_or_not).code == 0
    for json_or_not in ([], ["--json"]):
        assert pitree("context", path, *json_or_not).code == 0


# As a process


def process(*arguments: str | Path, **changed: Any) -> Done:  # noqa: ANN401 - what `run` takes
    """Run `python -m pitree` in the working directory with nothing on its standard input."""
    given: dict[str, Any] = {
        "env": {**os.environ, "PYTHONPATH": str(ROOT)},
        "stdin": subprocess.DEVNULL,
        "stdout": subprocess.PIPE,
        "stderr": subprocess.PIPE,
        "timeout": PATIENCE_SECONDS,
        **changed,
    }
    done = subprocess.run([sys.executable, "-m", "pitree", *arguments], check=False, **given)
    return Done(done.returncode, (done.stdout or b"").decode(), (done.stderr or b"").decode())


def test_version_and_help(work: Path) -> None:
    assert work.is_dir()
    assert process("--version") == Done(0, f"pitree {__version__}\n", "")
    shown = process("--help")
    assert (shown.code, shown.err) == (0, "")
    for words in (
        "pitree [FILE|ID]",
        "pitree list",
        "pitree tree FILE",
        "--read-only",
        "--demo",
        "--version",
    ):
        assert words in shown.out


@pytest.mark.parametrize("command", ["list", "tree", "context", "show", "resume"])
def test_every_command_has_help(pitree: Run, command: str) -> None:
    shown = pitree(command, "--help")
    assert (shown.code, shown.err) == (0, "")
    assert shown.out.startswith(f"usage: pitree {command} ")
    assert ("--json" in shown.out) == (command != "resume")


def test_without_a_terminal_the_screen_refuses_politely(store: Store, work: Path) -> None:
    store.add(talk(work))
    for arguments in ([], [SESSION_ID], ["--demo"], ["--all"]):
        refused = process(*arguments)
        assert refused.code == 1
        assert refused.error == (
            "the screen needs a terminal; without one there are `pitree list`, `tree`, `context`, `show`"
        )


def test_a_reader_that_goes_away_is_no_trouble(store: Store, work: Path) -> None:
    made = Session(cwd=str(work))
    for number in range(3000):
        made.user(f"number {number} " + "x" * 100)
    path = store.add(made)
    for arguments in (["tree", path], ["tree", path, "--json"], ["context", path], ["list", "--json"]):
        with subprocess.Popen(
            [sys.executable, "-m", "pitree", *arguments],
            env={**os.environ, "PYTHONPATH": str(ROOT)},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        ) as running:
            assert running.stdout is not None
            assert running.stderr is not None
            running.stdout.read(1)
            running.stdout.close()
            assert running.stderr.read() == b""
            assert running.wait(PATIENCE_SECONDS) in {0, 1}


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no full device here")
def test_a_full_disk_is_one_line(store: Store, work: Path) -> None:
    store.add(talk(work))
    with Path("/dev/full").open("wb") as full:
        done = process("list", stdout=full)
    assert (done.code, done.err) == (1, "pitree: the system: No space left on device\n")


def test_closed_streams_are_no_reason_for_a_traceback(store: Store, work: Path) -> None:
    path = store.add(talk(work))
    python = f"PYTHONPATH={ROOT} {sys.executable} -m pitree"

    def shell(line: str) -> Done:
        done = subprocess.run(
            ["/bin/sh", "-c", line], capture_output=True, timeout=PATIENCE_SECONDS, check=False
        )
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    closed = shell(f"{python} list >&-")
    assert (closed.code, closed.error) == (1, "standard output is closed, so there is nowhere to print to")
    assert shell(f"{python} <&-").error.startswith("the screen needs a terminal")
    assert shell(f"{python} list --json 2>&-").code == 0
    assert shell(f"{python} tree nowhere 2>&-") == Done(1, "", "")
    assert path.exists()


def test_the_demo_can_be_printed_and_leaves_nothing(
    pitree: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    listed = pitree("list", "--demo", "--all", "--json").document
    assert len(listed) == 10
    assert {row["path"].startswith(str(tmp_path)) for row in listed} == {True}
    assert len(pitree("list", "--demo", "--json").document) < 10
    assert list((tmp_path / "temporary").iterdir()) == []


# resume


@pytest.fixture
def fake_pi(tmp_path: Path) -> Path:
    """Make a program that prints its arguments and its working directory, and ends with code 7."""
    program = tmp_path / "bin" / "pi"
    program.parent.mkdir()
    program.write_text('#!/bin/sh\nprintf "%s|" "$(pwd)" "$@"\nexit 7\n')
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return program


@pytest.fixture
def on_path(fake_pi: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have that program be called `pi`."""
    monkeypatch.setenv("PATH", f"{fake_pi.parent}:/usr/bin:/bin")
    return fake_pi


def resumed(done: Done) -> list[str]:
    """Give the working directory and the arguments that the stand-in saw."""
    assert (done.code, done.err) == (7, "")
    return done.out.removesuffix("|").split("|")


@pytest.mark.usefixtures("on_path")
def test_resume_becomes_pi_in_the_folder_of_the_session(store: Store, work: Path) -> None:
    elsewhere = work.parent / "else where"
    elsewhere.mkdir()
    path = store.add(talk(elsewhere, "abc"))
    assert resumed(process("resume", "abc")) == [str(elsewhere), "--session", str(path)]
    assert resumed(process("resume", path, "go on\nplease")) == [
        str(elsewhere),
        "--session",
        str(path),
        "go on\nplease",
    ]
    assert resumed(process("resume", "abc", "--fork")) == [str(work), "--fork", str(path)]


@pytest.mark.usefixtures("on_path")
def test_resume_without_a_name_takes_the_newest_of_this_folder(store: Store, work: Path) -> None:
    path = store.add(talk(work, "newest"))
    old = Session(cwd=str(work), id="old")
    old.message("user", content="x", timestamp=1)
    store.add(old)
    store.add(talk(work.parent, "other"))
    assert resumed(process("resume")) == [str(work), "--session", str(path)]


def test_resume_with_a_program_of_another_name(store: Store, work: Path, fake_pi: Path) -> None:
    path = store.add(talk(work))
    named = fake_pi.rename(fake_pi.with_name("my pi"))
    expected = [str(work), "--session", str(path)]
    assert resumed(process("resume", "--pi", f"'{named}'")) == expected
    assert (
        resumed(process("resume", env={**os.environ, "PYTHONPATH": str(ROOT), "PITREE_PI": f"'{named}'"}))
        == expected
    )
    with_words = process("resume", SESSION_ID, "--pi", f"/bin/sh '{named}' --model m", "say this")
    assert resumed(with_words) == [str(work), "--model", "m", *expected[1:], "say this"]


def test_a_missing_pi_is_told_with_the_command_to_run(
    pitree: Run, store: Store, work: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    elsewhere = work.parent / "it's elsewhere"
    elsewhere.mkdir()
    path = store.add(talk(elsewhere, "abc"))
    monkeypatch.setenv("PATH", "/nowhere")
    missing = pitree("resume", "abc", "say this")
    assert missing.code == 1
    assert missing.error.startswith(
        "pi cannot be run (from PATH); install Pi, or name it with --pi or $PITREE_PI; "
    )
    command = missing.error.partition("the command to run is: ")[2]
    words = ["pi", "--session", str(path), "say this"]
    assert command == f"cd {shlex.quote(str(elsewhere))} && {shlex.join(words)}"
    missing = pitree("resume", "abc", "--fork", "--pi", "node /x/pi.js")
    words = ["node", "/x/pi.js", "--fork", str(path)]
    assert missing.error.endswith(
        f"the command to run is: cd {shlex.quote(str(work))} && {shlex.join(words)}"
    )


def test_a_folder_that_is_gone_is_asked_about(pitree: Run, store: Store, work: Path, on_path: Path) -> None:
    path = store.add(talk(work.parent / "gone", "abc"))
    gone = pitree("resume", "abc")
    assert gone.code == 1
    assert gone.error == (
        f"the session's folder {work.parent}/gone is gone; "
        f"--here resumes it from {work}, --fork forks it into there"
    )
    assert resumed(process("resume", "abc", "--here")) == [str(work), "--session", str(path)]
    assert resumed(process("resume", "abc", "--fork")) == [str(work), "--fork", str(path)]
    assert on_path.exists()


@pytest.mark.usefixtures("on_path")
def test_a_session_without_a_folder_resumes_here(store: Store, work: Path) -> None:
    path = store.add(talk(work, "abc"))
    path.write_bytes(path.read_bytes().replace(b'"cwd":', b'"odd":'))
    assert resumed(process("resume", path)) == [str(work), "--session", str(path)]


@pytest.mark.usefixtures("on_path")
def test_a_fork_goes_into_the_same_flat_store(work: Path, tmp_path: Path) -> None:
    flat = tmp_path / "flat"
    flat.mkdir()
    path = talk(work, "abc").write(flat / "session.jsonl")
    forked_ = resumed(process("resume", "abc", "--fork", "--session-dir", flat))
    assert forked_ == [str(work), "--session-dir", str(flat), "--fork", str(path)]


def test_what_cannot_be_resumed(pitree: Run, tmp_path: Path, on_path: Path) -> None:
    files = damaged.write_all(tmp_path / "flat")
    refused = pitree("resume", files["title_before_header"])
    assert refused.code == 1
    assert refused.error == (
        f"{files['title_before_header']} cannot be resumed: "
        "line 1 stands before the header, so Pi does not take it for a session"
    )
    assert pitree("resume", files["plain"], "words", "--fork").error == (
        "a fork cannot be given a prompt; leave out --fork or the prompt"
    )
    on_path.write_text("no program\x00")
    failed = pitree("resume", files["plain"], "--here")
    assert (failed.code, failed.error) == (1, "pi could not be started: Exec format error")


def test_the_demo_waits_for_pi_and_gives_its_exit_code(on_path: Path, work: Path) -> None:
    where, *arguments = resumed(process("resume", "--demo"))
    assert where.endswith("/ada/code/paperboy")
    assert arguments[0] == "--session"
    assert not Path(arguments[1]).exists()  # it was there until the program ended
    assert on_path.exists()
    assert work.is_dir()
