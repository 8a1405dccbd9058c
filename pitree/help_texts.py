"""What `--help` says below the options: examples, and for the whole the environment, files and exit codes."""

from collections.abc import Mapping
from typing import Final

_WHOLE: Final = """\
examples:
  pitree                              this folder's sessions, or the list as you left it
  pitree 019ceb8b                     on one session, by the beginning of its id
  pitree --demo                       on made-up sessions, in a throw-away copy
  pitree search '"due back"' --all    where somebody said just that
  pitree tree 019ceb8b --filter all | less
  pitree list --all --json | jq -r '.[] | select(.damage > 0) | .path'

In the screen, F1 lists the keys, Ctrl+K finds every action by name, and Ctrl+Q leaves.

environment:
  PI_CODING_AGENT_DIR            Pi's own folder (else ~/.pi/agent); with it, sessions, settings and keys
  PI_CODING_AGENT_SESSION_DIR    the session root (--session-dir counts for more)
  PITREE_PI                      the program to resume with (--pi counts for more)
  PAGER, VISUAL, EDITOR          what reads a long text, and what edits
  NO_COLOR                       without colours
  TEXTUAL_DISABLE_KITTY_KEY      1: without the Kitty keyboard protocol, where a terminal gets it wrong
  XDG_CONFIG_HOME, XDG_STATE_HOME, XDG_CACHE_HOME, XDG_DATA_HOME

files (`pitree version` says where they are here):
  ~/.config/pitree/config.toml   the settings; `pitree config --example` prints one with everything in it
  ~/.pi/agent/keybindings.json   Pi's keys, which hold here as well
  ~/.local/state/pitree          what was done, for undo; folds, and how the list was left
  ~/.cache/pitree                what was read of sessions; can be deleted at any time

exit codes:
  0  done
  1  it could not be done; standard error says what, where and what to do
  2  a wrong call
  130  ended by Ctrl+C"""

_COMMANDS: Final[Mapping[str, str]] = {
    "list": """\
examples:
  pitree list                         the sessions of this folder
  pitree list --all has:branches      those that have branches, everywhere
  pitree list --all '"rate limit"' after:2026-01
  pitree list --json | jq -r '.[].path'""",
    "search": """\
examples:
  pitree search parser                where the sessions of this folder say that
  pitree search --all 're:time(d )?out' cwd:web
  pitree search --tools ENOENT        also in what tools were told and answered""",
    "tree": """\
examples:
  pitree tree 019ceb8b                as the screen draws it
  pitree tree session.jsonl --ids     with the ids that `show` and `move` take
  pitree tree 019ceb8b --filter user-only""",
    "context": """\
examples:
  pitree context 019ceb8b             what the model would see next
  pitree context 019ceb8b --leaf 03061e60 --changes
  pitree context 019ceb8b --json | jq .tokens""",
    "show": """\
examples:
  pitree show 019ceb8b 03061e60       one entry in full
  pitree show 019ceb8b 03061e60 --json""",
    "resume": """\
examples:
  pitree resume                       the newest session of this folder
  pitree resume 019ceb8b "Go on with the tests"
  pitree resume 019ceb8b --fork       where its folder is gone: a copy for this one""",
    "move": """\
examples:
  pitree move 019ceb8b 03061e60 --dry-run     what that would mean
  pitree move 019ceb8b 03061e60 --outline     and keep an outline of what is left
  pitree move 019ceb8b 03061e60 --before      ask that message anew
  pitree undo                                 take it back""",
    "label": """\
examples:
  pitree label 019ceb8b 03061e60 "works up to here"
  pitree label 019ceb8b 03061e60      clears it""",
    "name": """\
examples:
  pitree name 019ceb8b "Login page"
  pitree name 019ceb8b                prints the name
  pitree name 019ceb8b --clear""",
    "fork": """\
examples:
  pitree fork 019ceb8b                the branch to the leaf, as a session of its own
  pitree fork 019ceb8b --leaf 03061e60 --cwd ~/code/other""",
    "rm": """\
examples:
  pitree rm 019ceb8b                  asks first
  pitree rm --yes old-*.jsonl         to the trash; `pitree undo` brings them back""",
    "undo": """\
examples:
  pitree undo                         again: the change before that
  pitree undo --list""",
    "doctor": """\
examples:
  pitree doctor                       all sessions of the store
  pitree doctor 019ceb8b --strict     one, remarks included
  pitree doctor broken.jsonl --repair mended.jsonl
  pitree doctor --json | jq -r '.[] | select(.ok | not) | .path'""",
    "config": """\
examples:
  pitree config                       what holds, and what is wrong; exit code 1 if anything is
  pitree config --example > ~/.config/pitree/config.toml
  pitree config --config other.toml""",
    "version": """\
examples:
  pitree version                      to paste into a report
  pitree version --json""",
    "completion": """\
examples:
  pitree completion bash > ~/.local/share/bash-completion/completions/pitree
  pitree completion zsh > ~/.zfunc/_pitree        (a folder in $fpath)
  pitree completion fish > ~/.config/fish/completions/pitree.fish""",
}


def epilog(prog: str) -> str:
    """Return what stands below the options of `pitree` or `pitree COMMAND`; "" where that is nothing."""
    _, _, command = prog.partition(" ")
    return _COMMANDS.get(command, "") if command else _WHOLE
