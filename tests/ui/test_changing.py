"""Changing sessions on the screen: what is asked, what is written, and that nothing typed is lost."""

import json
import os
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from syrupy.assertion import SnapshotAssertion
from textual._callback import invoke
from textual.containers import Vertical
from textual.pilot import Pilot
from textual.screen import Screen
from textual.widgets import Input, OptionList, Static, TextArea

from pitree import demo
from pitree.agent.launch import Launch
from pitree.catalog.locations import Store
from pitree.journal import Deed
from pitree.sessions.file import SessionFile
from pitree.ui.dialogs.choice import Choice
from pitree.ui.dialogs.deeds import Deeds
from pitree.ui.dialogs.move import MoveDialog
from pitree.ui.dialogs.typing import LineEdit, TextEditor
from pitree.ui.dialogs.waiting import Waiting

from .conftest import NOW, AppFactory
from .waiting import browser, sessions, settled, tree, tree_texts, wait_until

PHOTOS = "019ceb8b"
VERSION_1 = "1027c4d1"
QUESTION = "03061e60"  # a user message of Photos, off the path to the leaf


@pytest.fixture(autouse=True)
def _own_trash(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    _forget_the_trash()
    yield
    _forget_the_trash()  # else others would find this one


def _forget_the_trash() -> None:
    for name in [name for name in sys.modules if name.partition(".")[0] == "send2trash"]:
        del sys.modules[name]  # it reads where the trash is when it is loaded


def file_of(store: Store, session_id: str = PHOTOS) -> Path:
    (found,) = store.root.rglob(f"*_{session_id}*.jsonl")
    return found


def entries(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_bytes().splitlines()[1:]]


def top(pilot: Pilot[Any]) -> Screen[Any]:
    found: Screen[Any] = pilot.app.screen
    return found


async def shown(pilot: Pilot[Any], kind: type[Screen[Any]], says: str = "") -> None:
    """Wait until a dialog is on the screen, and says something."""

    def there() -> bool:
        if not isinstance(top(pilot), kind) or (kind is MoveDialog and not _weighed(pilot)):
            return False
        return says in words(pilot)

    await wait_until(pilot, there, f"{kind.__name__} shows {says!r}")
    await pilot.pause()


def _weighed(pilot: Pilot[Any]) -> bool:
    dialog = top(pilot)
    return isinstance(dialog, MoveDialog) and dialog.settled


def words(pilot: Pilot[Any]) -> str:
    """Give all that the dialog says."""
    told = [str(static.render()) for static in top(pilot).query(Static)]
    told += [f"{frame.border_title}\n{frame.border_subtitle}" for frame in top(pilot).query(Vertical)]
    for options in top(pilot).query(OptionList):
        told += [str(options.get_option_at_index(place).prompt) for place in range(options.option_count)]
    return "\n".join(told)


async def done(pilot: Pilot[Any], said: str) -> None:
    """Wait until the panes are back, and the status line says something."""
    await wait_until(pilot, lambda: top(pilot) is browser(pilot) and said in browser(pilot).said, said)
    await settled(pilot)


async def drawn(pilot: Pilot[Any], text: str) -> None:
    """Wait until the tree shows something."""
    await wait_until(pilot, lambda: any(text in row for row in tree_texts(pilot)), f"{text!r} in the tree")


async def on_entry(pilot: Pilot[Any], entry_id: str) -> None:
    await settled(pilot)
    await pilot.press("tab")
    tree(pilot).select(entry_id)
    await settled(pilot)


def title(pilot: Pilot[Any]) -> str:
    row = sessions(pilot).highlighted
    return "" if row is None else row.title


# ---- labels and names


async def test_a_label(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    path = file_of(store)
    before = path.read_bytes()
    async with app().run_test(size=(140, 40)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L")
        await shown(pilot, LineEdit, "(empty clears it)")
        await pilot.press(*"dead end")
        assert pilot.app.export_screenshot() == picture
        assert path.read_bytes() == before, "nothing is written before Enter"
        await pilot.press("enter")
        await done(pilot, "Ctrl+Z undoes this: labelled 03061e60: dead end")
        highlighted = tree(pilot).highlighted
        assert highlighted is not None
        assert highlighted.id == QUESTION
        await drawn(pilot, "[dead end] user: Floyd")
        label = entries(path)[-1]
        assert (label["targetId"], label["label"]) == (QUESTION, "dead end")
        assert label["parentId"] == entries(path)[-2]["id"], "the branch stays the same"
        await pilot.press("L", *["backspace"] * 8, "enter")
        await done(pilot, "label cleared")
        await pilot.press("ctrl+z")
        await done(pilot, "undone: label “dead end” → (none)")
        await drawn(pilot, "[dead end] user: Floyd")
        await pilot.press("ctrl+z")
        await done(pilot, "undone: label (none) → “dead end”")
        await pilot.press("ctrl+z")
        await done(pilot, "There is nothing to undo.")
    assert path.read_bytes().startswith(before)
    assert len(entries(path)) == len(before.splitlines()) - 1 + 4


@pytest.mark.parametrize("keys", [("escape",), ("x", "escape"), ("enter",)])
async def test_a_label_that_is_left(keys: tuple[str, ...], app: AppFactory, store: Store) -> None:
    before = file_of(store).read_bytes()
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L")
        await shown(pilot, LineEdit)
        await pilot.press(*keys)
        await wait_until(pilot, lambda: top(pilot) is browser(pilot))
        await settled(pilot)
    assert file_of(store).read_bytes() == before


async def test_a_name(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+r")
        await shown(pilot, LineEdit, "name")
        assert top(pilot).query_one(Input).value == "Photos that survive e-ink"
        await pilot.press(*" (done)")
        assert pilot.app.export_screenshot() == picture
        await pilot.press("enter")
        await done(pilot, "named: Photos that survive e-ink (done)")
        await wait_until(pilot, lambda: title(pilot) == "Photos that survive e-ink (done)", "the new name")
        assert entries(file_of(store))[-1]["type"] == "session_info"


# ---- moving


async def test_move_after_a_reply(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    path = file_of(store)
    async with app().run_test(size=(140, 40)) as pilot:
        await on_entry(pilot, "0751b639")
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "Context then:  26 messages, 8,242 tokens")
        assert "4 entries are left behind." in words(pilot)
        assert "The call of bash has no result there" in words(pilot)
        assert pilot.app.export_screenshot() == picture
        await pilot.press("g")
        await done(pilot, "moved to 0751b639")
        highlighted = tree(pilot).highlighted
        assert highlighted is not None
        assert highlighted.id == "0751b639"
        await drawn(pilot, "◆  leaf  assistant: The Zero")
        moved = entries(path)[-1]
        assert (moved["customType"], moved["parentId"]) == ("pitree.leaf", "0751b639")
        await pilot.press("ctrl+z")
        await done(pilot, "undone: moved")
        assert browser(pilot).session is not None
        assert entries(path)[-1]["parentId"] == moved["data"]["from"]


async def test_an_open_end_leads_to_a_sound_place(app: AppFactory, store: Store) -> None:
    async with app().run_test(size=(140, 40)) as pilot:
        await on_entry(pilot, "0751b639")
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "n  Go to the nearest sound place instead: bash: ping")
        await pilot.press("n")
        await shown(pilot, MoveDialog, "Continue after this tool result.")
        assert "has no result" not in words(pilot)
        await pilot.press("enter")
        await done(pilot, "moved to 89eb9881")
    assert entries(file_of(store))[-1]["parentId"] == "89eb9881"


async def test_ask_again_in_pi(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    path = file_of(store)
    made = app(pi=sys.executable, is_folder=lambda _: True)
    async with made.run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "Ask this again differently.")
        await pilot.press("enter")
        await shown(pilot, TextEditor, "Ctrl+S moves the leaf and sends this in Pi")
        await pilot.press("ctrl+end", *" Please.")
        assert pilot.app.export_screenshot() == picture
        await pilot.press("ctrl+s")
        # (the folder of the demo session is not there)
        await shown(pilot, Choice, "folder is gone")
        await pilot.press("r")
        await pilot.pause()
    launch = made.return_value
    assert isinstance(launch, Launch)
    assert launch.argv[1:] == (
        "--session",
        str(path),
        "Floyd–Steinberg first. Smallest change wins until proven otherwise. Please.",
    )
    moved = entries(path)[-1]
    assert (moved["customType"], moved["parentId"]) == ("pitree.leaf", "e65c4d91")


async def test_a_question_can_also_be_gone_before_or_after(app: AppFactory, store: Store) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "Context then:  6 messages, 6,323 tokens")
        await pilot.press("down", "down")
        await shown(pilot, MoveDialog, "Context then:  7 messages, ~6,340 tokens")
        assert "Continue after this message" in words(pilot)
        await pilot.press("enter")
        await done(pilot, f"moved to {QUESTION}")
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "1 entry is left behind.")
        await pilot.press("g")
        await done(pilot, "moved to e65c4d91")
    assert [entry["parentId"] for entry in entries(file_of(store))[-2:]] == [QUESTION, "e65c4d91"]


async def test_an_outline_is_edited_and_written(
    app: AppFactory, store: Store, picture: SnapshotAssertion
) -> None:
    path = file_of(store)
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "o  … with an outline")
        await pilot.press("o")
        await shown(pilot, TextEditor, "Ctrl+S")
        text = top(pilot).query_one(TextArea).text
        assert text.startswith("What was asked:\n- Blue noise it is.")
        assert pilot.app.export_screenshot() == picture
        await pilot.press("ctrl+end", "enter", *"The end.", "ctrl+s")
        await done(pilot, "moved with a summary to 0ca624db")
        summary = entries(path)[-1]
        assert summary["summary"] == f"{text}\nThe end."
        assert summary["details"]["modifiedFiles"][0] == "paperboy/dither.py"
        await drawn(pilot, "branch summary: What was asked")


async def test_a_summary_that_is_not_written_is_asked_about(app: AppFactory, store: Store) -> None:
    before = file_of(store).read_bytes()
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("w")
        await shown(pilot, TextEditor)
        await pilot.press("ctrl+end", *"words", "escape")
        await shown(pilot, Choice, "Throw away what you typed?")
        await pilot.press("enter")
        await shown(pilot, TextEditor)
        assert top(pilot).query_one(TextArea).text.endswith("words")
        await pilot.press("escape")
        await shown(pilot, Choice)
        await pilot.press("t")
        await shown(pilot, MoveDialog)
        await pilot.press("escape")
        await wait_until(pilot, lambda: top(pilot) is browser(pilot))
    assert file_of(store).read_bytes() == before


PROGRAM = """\
#!/bin/sh
cat > /dev/null
echo '{"type":"message_update","assistantMessageEvent":{"type":"text_delta","delta":"Half"}}'
exec sleep 60
"""


async def test_a_model_that_is_given_up(
    app: AppFactory, store: Store, tmp_path: Path, picture: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The model itself: see `tests/agent/test_changing_screen.py`."""
    monkeypatch.setattr("pitree.ui.dialogs.waiting.monotonic", lambda: 0.0)
    before = file_of(store).read_bytes()
    program = tmp_path / "slow"
    program.write_text(PROGRAM)
    program.chmod(0o755)
    made = app(pi=str(program), environ=dict(os.environ), cwd=tmp_path, everything=True)
    async with made.run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("m")
        await shown(pilot, LineEdit)
        await pilot.press("enter")
        await shown(pilot, Waiting, "4 characters so far")
        assert pilot.app.export_screenshot() == picture
        await pilot.press("escape")
        await shown(pilot, MoveDialog)
        await pilot.press("escape")
    assert file_of(store).read_bytes() == before


async def test_a_model_that_is_not_there_leaves_other_ways(app: AppFactory) -> None:
    async with app(pi="/nowhere/pi").run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        await pilot.press("m")
        await shown(pilot, Choice, "/nowhere/pi cannot be run")
        await pilot.press("o")
        await shown(pilot, TextEditor)
        assert top(pilot).query_one(TextArea).text.startswith("What was asked:")


# ---- what happens meanwhile


def appended(path: Path) -> None:
    """Let an agent append a message."""
    line = {
        "type": "message",
        "id": "11111111",
        "parentId": entries(path)[-1]["id"],
        "timestamp": "2026-03-01T00:00:00.000Z",
    }
    message = {"role": "user", "content": "meanwhile", "timestamp": 0}
    with path.open("ab") as file:
        file.write(json.dumps(line | {"message": message}).encode() + b"\n")


async def test_a_session_that_grew_is_asked_about_again(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, "0ca624db")
        await pilot.press("enter")
        await shown(pilot, MoveDialog)
        left = int(words(pilot).partition(" entries are left behind.")[0].rpartition("\n")[2])
        appended(path)
        before = path.read_bytes()
        await pilot.press("w")
        await shown(pilot, TextEditor)
        await pilot.press("ctrl+end", *"kept", "ctrl+s")
        await shown(pilot, Choice, "an entry was appended")
        assert path.read_bytes() == before
        await pilot.press("a")
        await shown(pilot, MoveDialog, f"{left + 1} entries are left behind.")
        await pilot.press("w")
        await shown(pilot, TextEditor)
        assert top(pilot).query_one(TextArea).text.endswith("kept"), "what was typed is not lost"
        await pilot.press("ctrl+s")
        await done(pilot, "moved with a summary")
    assert entries(path)[-1]["summary"].endswith("kept")
    assert entries(path)[-1]["fromId"] == "11111111"


async def test_a_label_that_another_program_changed(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L")
        await shown(pilot, LineEdit)
        line = {"type": "label", "id": "11111111", "parentId": None, "timestamp": "t", "targetId": QUESTION}
        with path.open("ab") as file:
            file.write(json.dumps(line | {"label": "theirs"}).encode() + b"\n")
        await pilot.press(*"ours", "enter")
        await shown(pilot, Choice, "now it is 'theirs'")
        await pilot.press("a")
        await shown(pilot, LineEdit)
        assert top(pilot).query_one(Input).value == "ours"
        await pilot.press("enter")
        await done(pilot, f"labelled {QUESTION}: ours")


async def test_a_file_that_vanished_costs_nothing_that_was_typed(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    aside = path.with_suffix(".aside")
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L")
        await shown(pilot, LineEdit)
        path.rename(aside)
        await pilot.press(*"typed", "enter")
        await shown(pilot, Choice, "No such file")
        aside.rename(path)
        await pilot.press("a")
        await shown(pilot, LineEdit)
        assert top(pilot).query_one(Input).value == "typed"
        await pilot.press("enter")
        await done(pilot, "labelled")


async def test_an_agent_at_work_is_warned_of(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    just_now = datetime.fromisoformat(entries(path)[-1]["timestamp"]).timestamp() + 5
    async with app(clock=lambda: just_now).run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L")
        await shown(pilot, LineEdit)
        await pilot.press(*"one", "enter")
        await shown(pilot, Choice, "The agent wrote to it within the last minute.")
        before = path.read_bytes()
        await pilot.press("escape")
        await wait_until(pilot, lambda: top(pilot) is browser(pilot))
        assert path.read_bytes() == before
        await pilot.press("L", *"two", "enter")
        await shown(pilot, Choice)
        await pilot.press("w")
        await done(pilot, "labelled")
        await pilot.press("L", *" three", "enter")
        await done(pilot, "two three")  # once is enough
        await pilot.press("enter")
        await shown(pilot, MoveDialog, "The agent wrote to it within the last minute.")


async def test_an_old_version_is_migrated_when_that_is_agreed_to(app: AppFactory, store: Store) -> None:
    path = file_of(store, VERSION_1)
    old = path.read_bytes()
    async with app(file=path).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("L", *"old", "enter")
        await shown(pilot, Choice, "is of version 1")
        await pilot.press("l")
        await wait_until(pilot, lambda: top(pilot) is browser(pilot))
        assert path.read_bytes() == old
        await pilot.press("L", *"old", "enter")
        await shown(pilot, Choice, "is of version 1")
        await pilot.press("m")
        await done(pilot, "in the trash")
    with SessionFile.load(path) as session:
        assert session.version == 3
        assert list(session.tree.labels.values()) == ["old"]


# ---- forks


async def test_a_fork(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    path = file_of(store)
    before = path.read_bytes()
    async with app(cwd=Path(demo.START)).run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("alt+n")
        await shown(pilot, Choice, "s  For the session's own folder")
        assert pilot.app.export_screenshot() == picture
        await pilot.press("enter")
        await done(pilot, "forked into")
        made = browser(pilot).session_path
        assert made is not None
        assert made != path
        assert [entry["id"] for entry in entries(made)][-1] != QUESTION, "its labels come last"
        assert QUESTION in [entry["id"] for entry in entries(made)]
        assert path.read_bytes() == before
        await pilot.press("ctrl+z")
        await done(pilot, "undone: forked")
        assert not made.exists()


async def test_a_fork_for_another_folder(app: AppFactory, tmp_path: Path) -> None:
    async with app(everything=True, cwd=tmp_path).run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("alt+n")
        await shown(pilot, Choice, "h  For this folder")
        await pilot.press("o")
        await shown(pilot, LineEdit)
        await pilot.press(*"nowhere", "enter")
        await shown(pilot, LineEdit)
        await pilot.press(*["backspace"] * 8, "enter")
        await done(pilot, "forked into")
        made = browser(pilot).session
        assert made is not None
        assert made.cwd == str(tmp_path)


async def test_duplicate(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("alt+d")
        await done(pilot, "forked into")
        made = browser(pilot).session_path
        assert made is not None
    with SessionFile.load(path) as one, SessionFile.load(made) as other:
        branch = [entry.id for entry in one.tree.path(one.tree.leaf_id) if entry.type != "label"]
        assert [entry.id for entry in other.entries][: len(branch)] == branch


# ---- deleting


async def test_delete_and_bring_back(app: AppFactory, store: Store, picture: SnapshotAssertion) -> None:
    path = file_of(store)
    before = path.read_bytes()
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+d")
        await shown(pilot, Choice, "62 messages, 58,363 bytes")
        assert pilot.app.export_screenshot() == picture
        await pilot.press("escape")
        await wait_until(pilot, lambda: top(pilot) is browser(pilot))
        assert path.exists()
        await pilot.press("ctrl+d")
        await shown(pilot, Choice)
        await pilot.press("enter")
        await done(pilot, "Ctrl+Z undoes this: deleted Photos that survive e-ink")
        assert not path.exists()
        await wait_until(pilot, lambda: title(pilot) == "Four greys for portraits", "the next session")
        await pilot.press("ctrl+z")
        await done(pilot, "undone: deleted Photos")
        assert path.read_bytes() == before
        await wait_until(pilot, lambda: browser(pilot).session_path == path, "it is there again")


async def test_delete_the_marked_ones(app: AppFactory) -> None:
    async with app(everything=True).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("ctrl+t", "down", "ctrl+t")
        marked = [row.path for row in sessions(pilot).marked]
        await pilot.press("ctrl+d")
        await shown(pilot, Choice, "Delete 2 sessions?")
        await pilot.press("enter")
        await wait_until(pilot, lambda: top(pilot) is browser(pilot))
        await settled(pilot)
        assert all(path.exists() for path in marked), "what is highlighted first deletes nothing"
        assert [row.path for row in sessions(pilot).marked] == marked
        await pilot.press("ctrl+d")
        await shown(pilot, Choice, "Delete 2 sessions?")
        await pilot.press("y")
        await done(pilot, "Ctrl+Z undoes this: deleted 2 sessions")
        await wait_until(pilot, lambda: not sessions(pilot).marked, "the marks are gone with them")
        assert not any(path.exists() for path in marked)
        await pilot.press("ctrl+z")
        await done(pilot, "undone: deleted")
        await pilot.press("ctrl+z")
        await done(pilot, "undone: deleted")
        assert all(path.exists() for path in marked)
    assert len(marked) == 2


async def test_delete_without_a_trash_asks_once_more(app: AppFactory, store: Store, tmp_path: Path) -> None:
    (tmp_path / "data").write_text("in the way")
    path = file_of(store)
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        for last, gone in (("enter", False), ("r", True)):
            await pilot.press("ctrl+d")
            await shown(pilot, Choice, "Delete this session?")
            await pilot.press("y")
            await shown(pilot, Choice, "It cannot be put into the trash")
            await pilot.press(last)
            await done(pilot, "deleted Photos" if gone else "Nothing was deleted")
            assert path.exists() is not gone


# ---- undo, and what is refused


async def test_the_list_of_what_was_done(app: AppFactory, store: Store) -> None:
    path = file_of(store)
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press("L", *"one", "enter")
        await done(pilot, "labelled")
        await pilot.press("ctrl+r", *" two", "enter")
        await done(pilot, "named")
        await pilot.press("alt+z")
        await shown(pilot, Deeds, "label (none)")
        await pilot.press("down", "enter")
        await done(pilot, "undone: label (none)")
    assert entries(path)[-1]["type"] == "label"


async def test_how_the_list_looks(
    app: AppFactory, picture: SnapshotAssertion, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("pitree.ui.dialogs.deeds._when", lambda _: "14 Mar 18:00")
    async with app().run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        for deed in (
            Deed("label", "/store/one.jsonl", after="dead end", target_id=QUESTION),
            Deed("move", "/store/one.jsonl", before="b6e0981e"),
            Deed("delete", "/store/two.jsonl", title="A \x1b[31m title"),
        ):
            browser(pilot).changes.journal.note(deed)
        await pilot.press("alt+z")
        await shown(pilot, Deeds, "dead end")
        assert pilot.app.export_screenshot() == picture


@pytest.mark.parametrize("key", ["L", "ctrl+r", "enter", "alt+n", "ctrl+z", "alt+z"])
async def test_read_only(key: str, app: AppFactory, store: Store) -> None:
    before = file_of(store).read_bytes()
    async with app(read_only=True).run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        await pilot.press(key)
        await done(pilot, "pitree was started with --read-only")
        await pilot.press("shift+tab", "ctrl+d" if key == "L" else "alt+d")
        await done(pilot, "pitree was started with --read-only")
    assert file_of(store).read_bytes() == before


async def test_every_change_is_in_the_palette(app: AppFactory) -> None:
    async with app().run_test(size=(100, 30)) as pilot:
        await on_entry(pilot, QUESTION)
        commands = {command.title: command for command in pilot.app.get_system_commands(top(pilot))}
        for wanted in ("Label · Tree: ", "Rename · Sessions: ", "Delete · Sessions: "):
            (title,) = (title for title in commands if title.startswith(wanted))
            await invoke(commands[title].callback)
            await wait_until(pilot, lambda: isinstance(top(pilot), LineEdit | Choice), title)
            await pilot.press("escape")
            await wait_until(pilot, lambda: top(pilot) is browser(pilot))


async def test_what_a_terminal_would_obey_never_reaches_it(app: AppFactory, store: Store) -> None:
    """In none of the dialogs, though all of them show what stands in the file."""
    path = store.root / "--home-ada-code-paperboy--" / "hostile.jsonl"
    evil = "a\x1b]52;c;AA\x1b\\b\x9b31m\u202ec\x07\x00\td"
    header = {"type": "session", "version": 3, "id": "evil", "timestamp": "t", "cwd": str(demo.START)}
    message = {"role": "user", "content": f"{evil}\nnext", "timestamp": NOW * 1000}
    lines = [
        header,
        {"type": "message", "id": "1", "parentId": None, "timestamp": "t", "message": message},
        {"type": "label", "id": "2", "parentId": "1", "timestamp": "t", "targetId": "1", "label": evil},
        {"type": "session_info", "id": "3", "parentId": "2", "timestamp": "t", "name": evil},
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))

    def harmless() -> bool:
        drawn = [strip.text for strip in top(pilot)._compositor.render_strips()]
        return not any(set("\x1b\x9b\x07\x00\u202e\t") & set(text) for text in drawn)

    async with app(file=path, pi=sys.executable).run_test(size=(100, 30)) as pilot:
        await settled(pilot)
        await pilot.press("home")
        for keys, kind in (
            (("L",), LineEdit),
            (("ctrl+r",), LineEdit),
            (("alt+n",), Choice),
            (("enter",), MoveDialog),
        ):
            await pilot.press(*keys)
            await shown(pilot, kind)
            assert harmless(), keys
            if kind is not MoveDialog:
                await pilot.press("escape")
                await wait_until(pilot, lambda: top(pilot) is browser(pilot))
        await pilot.press("e")
        await shown(pilot, TextEditor)
        assert harmless()
        await pilot.press("escape")
        await shown(pilot, MoveDialog)
        await pilot.press("escape")
        await pilot.press("shift+tab", "ctrl+d")
        await shown(pilot, Choice)
        assert harmless()
