import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from pitree.agent.launch import (
    AgentNotFoundError,
    Launch,
    find_pi,
    fork,
    replace_process,
    resume,
    run_child,
    shell_line,
    working_directory,
)

ROOT = Path(__file__).parents[2]
SAY = "import json, os, sys; print(json.dumps([sys.argv[1:], os.getcwd(), dict(os.environ)]))"


@pytest.fixture
def bin_folder(tmp_path: Path) -> Path:
    made = tmp_path / "bin"
    made.mkdir()
    return made


@pytest.fixture
def _plain_file_here(bin_folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    program(bin_folder / "plain", executable=False)
    monkeypatch.chdir(bin_folder)


def program(path: Path, *, executable: bool = True) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755 if executable else 0o644)
    return path


# ---- which program


def test_pi_is_found_on_the_path_and_stays_a_word(bin_folder: Path) -> None:
    program(bin_folder / "pi")

    assert find_pi(None, {"PATH": f"/nowhere:{bin_folder}"}) == ("pi",)


def test_what_names_the_program_in_the_order_in_which_it_counts(bin_folder: Path) -> None:
    for name in ("pi", "mine", "other"):
        program(bin_folder / name)
    environ = {"PATH": str(bin_folder), "PITREE_PI": "mine"}

    assert find_pi("other", environ) == ("other",)
    assert find_pi(None, environ) == ("mine",)
    assert find_pi(None, {**environ, "PITREE_PI": ""}) == ("pi",)


def test_a_command_is_cut_as_a_shell_cuts_it(bin_folder: Path) -> None:
    program(bin_folder / "node")

    assert find_pi("node '/x y/pi.js' --flag", {"PATH": str(bin_folder)}) == ("node", "/x y/pi.js", "--flag")


def test_files_are_found_again_from_another_directory(
    bin_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    program(bin_folder / "node")
    script = program(tmp_path / "dist/pi.js", executable=False)
    environ = {"PATH": str(bin_folder)}

    assert find_pi("bin/node dist/pi.js dist/other.js", environ) == (
        str(bin_folder / "node"),
        str(script),
        "dist/other.js",
    )
    assert find_pi("node --x", {"PATH": "bin"}) == (str(bin_folder / "node"), "--x")


def test_a_command_may_begin_with_home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    made = program(tmp_path / "tools/pi")
    monkeypatch.setenv("HOME", str(tmp_path))

    assert find_pi("~/tools/pi", {}) == (str(made),)


@pytest.mark.parametrize(
    ("command", "variable", "message", "words"),
    [
        (None, "", "pi cannot be run (from PATH); install Pi, or name it with --pi or $PITREE_PI", ["pi"]),
        (None, "mine -x", "mine cannot be run (from $PITREE_PI); ", ["mine", "-x"]),
        ("other -x", "mine", "other cannot be run (from --pi or the settings); ", ["other", "-x"]),
        ("plain", "", "plain cannot be run", ["plain"]),
        ("./plain", "", "./plain cannot be run", ["./plain"]),
        (
            "'open",
            "",
            '"\'open" cannot be read as a command (from --pi or the settings): No closing quotation',
            ["'open"],
        ),
        ("", "", "no program is named (by --pi or the settings)", ["pi"]),
        ("  ", "mine", "no program is named (by --pi or the settings)", ["pi"]),
        ("\x1b[31m", "", "␛[31m cannot be run", ["\x1b[31m"]),
    ],
)
@pytest.mark.usefixtures("_plain_file_here")
def test_a_program_that_is_not_there(
    command: str | None, variable: str, message: str, words: list[str], bin_folder: Path
) -> None:
    with pytest.raises(AgentNotFoundError) as caught:
        find_pi(command, {"PATH": str(bin_folder), "PITREE_PI": variable})

    assert str(caught.value).startswith(message)
    assert list(caught.value.words) == words


def test_what_was_asked_for_is_kept_as_it_was_written() -> None:
    with pytest.raises(AgentNotFoundError) as caught:
        find_pi("node  'x y.js'", {"PATH": "/nowhere"})

    assert caught.value.command == "node  'x y.js'"
    assert caught.value.words == ("node", "x y.js")


# ---- which arguments


@pytest.mark.parametrize(
    ("prompt", "words"),
    [
        (None, []),
        ("", []),
        (" \n", []),
        ("go on", ["go on"]),
        ("/tree", ["/tree"]),
        ("-v", ["--", "-v"]),
        ("--offline", ["--", "--offline"]),
        ("--", ["--", "--"]),
        ("@notes.md please", [" @notes.md please"]),
        ("ask @bob", ["ask @bob"]),
        ("null\0byte", ["nullbyte"]),
        ("half \ud83d", ["half ?"]),
        ("not utf-8 \udcff", ["not utf-8 \udcff"]),
        ("two\nlines", ["two\nlines"]),
    ],
)
def test_a_prompt_is_a_message_whatever_it_begins_with(prompt: str | None, words: list[str]) -> None:
    launch = resume(("node", "pi.js"), Path("/s/x.jsonl"), Path("/w"), prompt)

    assert launch == Launch(("node", "pi.js", "--session", "/s/x.jsonl", *words), Path("/w"))
    for word in launch.argv:
        assert b"\0" not in os.fsencode(word)


def test_session_files_are_named_by_absolute_paths(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "link").symlink_to("elsewhere")

    assert resume(("pi",), Path("link/../x.jsonl"), None).argv == (
        "pi",
        "--session",
        str(tmp_path / "x.jsonl"),
    )
    assert fork(("pi",), Path("link/x.jsonl"), None).argv == ("pi", "--fork", str(tmp_path / "link/x.jsonl"))


def test_a_fork_can_go_into_a_flat_root() -> None:
    launch = fork(("pi",), Path("/s/x.jsonl"), Path("/w"), session_dir=Path("/s"))

    assert launch == Launch(("pi", "--session-dir", "/s", "--fork", "/s/x.jsonl"), Path("/w"))


# ---- as a line for a shell


@pytest.mark.parametrize(
    ("word", "quoted"),
    [
        ("plain-1.jsonl", "plain-1.jsonl"),
        ("two words", "'two words'"),
        ("it's", "'it'\"'\"'s'"),
        ("$HOME `x` !!", "'$HOME `x` !!'"),
        ("日本 🎉", "'日本 🎉'"),
        ("", "''"),
        ("a\nb'\\", r"$'a\nb\'\\'"),
        ("\x1b[31m", r"$'\033[31m'"),
        ("\u202e1日", r"$'\342\200\2561日'"),
        ("\udcff", r"$'\377'"),
        ("tab\tx", r"$'tab\tx'"),
    ],
)
def test_a_shell_takes_the_line_for_the_same_words(word: str, quoted: str, tmp_path: Path) -> None:
    folder = tmp_path / (word or "x")
    folder.mkdir(parents=True)
    line = shell_line(Launch((sys.executable, "-c", SAY, word), folder))

    assert f" {quoted}" in line
    assert line.isprintable()
    done = subprocess.run(["bash", "-c", line], check=True, capture_output=True)
    arguments, cwd, _ = json.loads(done.stdout)
    assert (arguments, cwd) == ([word], str(folder))


def test_the_line_goes_to_the_folder_first() -> None:
    launch = resume(("pi",), Path("/s/x.jsonl"), Path("/a b"), "go on")

    assert shell_line(launch) == "cd '/a b' && pi --session /s/x.jsonl 'go on'"
    assert shell_line(Launch(("pi",), None)) == "pi"


# ---- starting it


def in_a_process(code: str, *arguments: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    """Run code with `pitree` importable, in a process of its own session."""
    prelude = (
        "import os, signal, sys\nfrom pathlib import Path\n"
        "from pitree.agent.launch import Launch, replace_process, run_child\n"
    )
    inherited = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    return subprocess.run(
        [sys.executable, "-c", prelude + code, *arguments],
        env={**inherited, "PYTHONPATH": str(ROOT), **environ},
        capture_output=True,
        check=False,
        timeout=60,
    )


@pytest.mark.parametrize("start", ["replace_process", "run_child"])
def test_the_program_gets_arguments_directory_and_environment(start: str, tmp_path: Path) -> None:
    done = in_a_process(
        "launch = Launch((sys.executable, '-c', sys.argv[1], 'a b', ''), Path(sys.argv[2]))\n"
        f"{start}(launch, {{'ONLY': 'this'}})",
        SAY,
        str(tmp_path),
        NO_COLOR="1",
    )

    arguments, cwd, environ = json.loads(done.stdout)
    assert (arguments, cwd) == (["a b", ""], str(tmp_path))
    assert environ.pop("ONLY") == "this"
    assert not set(environ) & {"NO_COLOR", "PATH", "HOME"}


def test_the_process_becomes_the_program() -> None:
    done = in_a_process(
        "print(os.getpid())\nreplace_process(Launch((sys.executable, '-c', sys.argv[1]), None), os.environ)",
        "import os; print(os.getpid()); exit(7)",
    )

    before, after = done.stdout.split()
    assert before == after
    assert done.returncode == 7


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
@pytest.mark.parametrize("start", ["replace_process", "run_child"])
def test_what_was_printed_before_comes_before(start: str, stream: str) -> None:
    done = in_a_process(
        f"sys.stderr = open(2, 'w', buffering=4096)\nprint('before', file=sys.{stream})\n"
        f"{start}(Launch(('sh', '-c', 'echo after; echo after >&2'), None), os.environ)"
    )

    assert getattr(done, stream) == b"before\nafter\n"


@pytest.mark.parametrize("start", ["replace_process", "run_child"])
def test_the_program_is_found_on_the_path_it_is_given(start: str, bin_folder: Path) -> None:
    (bin_folder / "stand-in").write_text("#!/bin/sh\necho found\n")
    (bin_folder / "stand-in").chmod(0o755)

    done = in_a_process(f"{start}(Launch(('stand-in',), None), {{'PATH': sys.argv[1]}})", str(bin_folder))

    assert done.stdout == b"found\n"


@pytest.mark.parametrize("name", ["PIPE", "XFSZ", "INT", "TERM"])
@pytest.mark.parametrize("start", ["replace_process", "run_child"])
def test_the_program_starts_with_signals_as_a_shell_has_them(start: str, name: str) -> None:
    done = in_a_process(
        f"status = {start}(Launch(('sh', '-c', sys.argv[1]), None), os.environ)\nprint('status', status)",
        f"kill -{name} $$; echo ignored",
    )
    number = signal.Signals[f"SIG{name}"].value

    if start == "replace_process":
        assert (done.returncode, done.stdout) == (-number, b"")
    else:
        assert done.stdout == f"status {128 + number}\n".encode()


def test_ctrl_c_in_the_program_does_not_end_us() -> None:
    done = in_a_process(
        "status = run_child(Launch(('sh', '-c', 'kill -INT $PPID; exit 3'), None), os.environ)\n"
        "print(status, signal.getsignal(signal.SIGINT) is signal.default_int_handler)"
    )

    assert done.stdout == b"3 True\n"


@pytest.mark.parametrize("cwd", [None, "/", "/no/such/folder"])
@pytest.mark.parametrize("start", [replace_process, run_child])
def test_a_program_that_cannot_be_started_leaves_everything_as_it_was(
    start: Callable[[Launch, Mapping[str, str]], int], cwd: str | None, tmp_path: Path
) -> None:
    missing = Launch((str(tmp_path / "missing"),), None if cwd is None else Path(cwd))
    numbers = (signal.SIGINT, signal.SIGPIPE, signal.SIGXFSZ)
    before = (Path.cwd(), [signal.getsignal(number) for number in numbers], dict(os.environ))
    descriptors = len([*Path("/dev/fd").iterdir()])

    with pytest.raises(FileNotFoundError):
        start(missing, {"PATH": "/bin"})

    assert (Path.cwd(), [signal.getsignal(number) for number in numbers], dict(os.environ)) == before
    assert len([*Path("/dev/fd").iterdir()]) == descriptors


# ---- the session's directory


def test_a_directory_that_is_there(tmp_path: Path) -> None:
    assert working_directory(str(tmp_path)) == tmp_path


@pytest.mark.parametrize(
    "cwd", ["", ".", "relative", "/no/such/folder", "/dev/null", "null\0", "/" + "x" * 5000]
)
def test_a_directory_that_is_not_there(cwd: str) -> None:
    assert working_directory(cwd) is None
