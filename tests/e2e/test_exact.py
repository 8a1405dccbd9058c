"""What is started is what the person named, with exactly these words, whatever lies in a session's folder."""

import os
import shutil
from pathlib import Path

import pytest
from commandline import Store, process, talk

from pitree.agent.launch import AgentNotFoundError, find_pi, resume, run_child, unspeakable
from pitree.sessions.helper import Helper

from .terminal import PITREE, terminal

_ROOT = Path(__file__).parents[2]
_PLANTED = (
    "pi",
    "node",
    "git",
    "less",
    "vi",
    "nano",
    "sensible-editor",
    "xdg-open",
    "python3",
    "direnv",
    "sh",
)


def program(path: Path, script: str, *, interpreter: str = "/bin/sh") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"#!{interpreter}\n{script}\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def told(home: Path) -> Path:
    """Name the file into which everything that should not be run writes."""
    return home / "run by itself"


@pytest.fixture
def trap(home: Path, told: Path) -> Path:
    """Make a folder that is full of what is run where somebody is careless."""
    folder = home / "trap"
    for name in _PLANTED:
        program(folder / name, f'echo "$0 $@" >> "{told}"; echo PI WAITS; read x')
    (folder / ".git" / "hooks").mkdir(parents=True)
    program(folder / "monitor", f'echo monitor >> "{told}"')
    (folder / ".git" / "config").write_text(f"[core]\n\tfsmonitor = {folder / 'monitor'}\n")
    (folder / ".envrc").write_text(f'echo envrc >> "{told}"\n')
    for name in ("json", "msgspec", "textual", "sitecustomize"):
        (folder / f"{name}.py").write_text(f"open({str(told)!r}, 'a').write({name!r})\n")
    return folder


@pytest.fixture
def environ(home: Path) -> dict[str, str]:
    programs = home / "bin"
    program(programs / "pi", "", interpreter="/usr/bin/env node")
    program(programs / "node", 'printf "%s|" "$PWD" "$@" > "$HOME/seen"; echo PI WAITS; read x')
    return {
        "HOME": str(home),
        # an empty place and a relative one: programs of whatever folder one is in
        "PATH": f":.:{programs}:{os.environ['PATH']}",
        "PYTHONPATH": str(_ROOT),
        "TERM": "tmux-256color",
        "LC_ALL": "C.UTF-8",
    }


def test_a_sessions_folder_runs_nothing(  # noqa: PLR0917
    store: Store, work: Path, home: Path, trap: Path, told: Path, environ: dict[str, str]
) -> None:
    path = store.add(talk(trap))
    with terminal([*PITREE, str(path)], cwd=work, environ=environ) as screen:
        screen.wait("◆")
        screen.keys("C-g")
        screen.wait("PI WAITS")
        screen.keys("Enter")
        screen.wait("Back from Pi.")
        screen.keys("BTab")
        screen.wait("Enter resume")
        (home / "seen").unlink()
        screen.keys("Enter")
        screen.wait("PI WAITS")
        screen.keys("Enter")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
    assert (home / "seen").read_text() == f"{trap}|{home}/bin/pi|--session|{path}|"
    assert not told.exists()


def test_started_in_such_a_folder_it_runs_nothing_either(
    store: Store, trap: Path, told: Path, environ: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(trap)
    path = store.add(talk(trap))
    # as the installed script does it: the folder is none of the places for modules
    command = [PITREE[0], "-P", "-m", "pitree", str(path)]
    with terminal(command, cwd=trap, environ=environ | {"PATH": os.environ["PATH"]}) as screen:
        screen.wait("◆")
        screen.keys("BTab", "C-o")
        screen.wait("the repository of")
        screen.keys("C-q")
        screen.wait(lambda text: text.rstrip().endswith("shell$"))
    helper = Helper.start_for(path, processes=1, worth_it=0)
    assert helper is not None
    helper.close()
    assert helper.processes[0].returncode == 0
    assert not told.exists()


@pytest.mark.parametrize(
    "name", ["-x.jsonl", "--model.jsonl", "two\nlines.jsonl", "a 'b' $(c) `d`.jsonl", "@x.jsonl"]
)
def test_a_files_name_is_one_word(name: str, home: Path, work: Path, environ: dict[str, str]) -> None:
    path = talk(work).write(work / name)
    done = process("resume", f"./{name}", env=environ | {"PATH": f"{home}/bin:{os.environ['PATH']}"})
    assert (done.code, done.err) == (1, "")  # nobody answers its `read`
    assert (home / "seen").read_text() == f"{work}|{home}/bin/pi|--session|{path}|"


def test_a_name_that_pi_would_misread_is_refused(work: Path, environ: dict[str, str]) -> None:
    path = talk(work).write(work / os.fsdecode(b"odd\xff.jsonl"))
    assert unspeakable(work / "日本語.jsonl") is None
    done = process("resume", path, env=environ)
    assert done.code == 1
    assert done.error == f"Pi cannot open {work}/odd\ufffd.jsonl: its path is not UTF-8; rename it first"


def test_a_relative_place_in_path_means_the_folder_one_is_in(
    home: Path, work: Path, trap: Path, told: Path, environ: dict[str, str]
) -> None:
    command = find_pi(None, environ)
    assert command == (f"{home}/bin/node", f"{home}/bin/pi")
    environ["PATH"] = f"{home}/bin:{os.environ['PATH']}"
    assert find_pi(None, environ) == ("pi",)
    program(work / "mine", 'echo here > "$HOME/seen"')
    environ["PATH"] = f".:{environ['PATH']}"
    launch = resume(find_pi("mine", environ), work / "s.jsonl", trap)
    assert launch.argv[0] == str(work / "mine")
    assert run_child(launch, environ) == 0
    assert (home / "seen").read_text() == "here\n"
    assert not told.exists()
    shutil.rmtree(home / "bin")
    with pytest.raises(AgentNotFoundError):
        find_pi(None, environ | {"PATH": f"{home}/bin"})
