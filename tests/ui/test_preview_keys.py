"""What one can do in the preview: find, follow links, choose blocks, copy, see the raw line."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from textual.message import Message
from textual.pilot import Pilot

from pitree.sessions.file import SessionFile
from pitree.ui.documents.find import find_all, typed_pattern
from pitree.ui.documents.layout import Spot
from pitree.ui.documents.model import Document, text_slices
from pitree.ui.panes.preview import Preview

from .files import call, message, session_file
from .test_preview import Host, pane, screen_of, show, shown, top_line
from .waiting import wait_until


class Listening(Host):
    """Remembers what the pane asks of the screen around it."""

    def __init__(self) -> None:
        super().__init__()
        self.asked: list[Message] = []

    def on_preview_link_followed(self, event: Preview.LinkFollowed) -> None:
        self.asked.append(event)

    def on_preview_copy_wanted(self, event: Preview.CopyWanted) -> None:
        self.asked.append(event)

    def on_preview_reading_wanted(self, event: Preview.ReadingWanted) -> None:
        self.asked.append(event)

    def on_preview_image_wanted(self, event: Preview.ImageWanted) -> None:
        self.asked.append(event)


PIXEL = base64.b64encode(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\2\0\0\0\3").decode()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[SessionFile]:
    lines = "\n".join(f"row {number} of {'many' if number % 50 else 'FIFTY'}" for number in range(1, 201))
    with session_file(
        tmp_path / "s.jsonl",
        message("user", "What is in this folder?"),
        message(
            "assistant", [{"type": "text", "text": "Let me **look**."}, call("bash", {"command": "ls\tx"})]
        ),
        message("toolResult", [{"type": "text", "text": lines}], toolCallId="c1", toolName="bash"),
        message("user", ["odd", {"type": "text", "text": "See?"}, {"type": "image", "data": PIXEL}]),
    ) as made:
        yield made


async def asked(pilot: Pilot[None], kind: type[Message]) -> Message:
    host = pilot.app
    assert isinstance(host, Listening)
    await wait_until(pilot, lambda: host.asked, f"{kind} was asked")
    event = host.asked.pop(0)
    assert isinstance(event, kind)
    return event


# ---- finding


async def test_finding(session: SessionFile) -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e3")
        await pilot.press("slash", *"fift")
        await wait_until(pilot, lambda: pane(pilot).search_status == "/fift▏ 1 of 4")
        assert "row 50 of FIFTY" in screen_of(pilot)
        await pilot.press("y", "backspace", "enter")  # typed, not a key
        await wait_until(pilot, lambda: pane(pilot).search_status == "/fift 1 of 4")
        await pilot.press("n", "n")
        assert pane(pilot).search_status == "/fift 3 of 4"
        assert "row 150 of FIFTY" in screen_of(pilot)
        await pilot.press("n", "n", "N")
        assert pane(pilot).search_status == "/fift 4 of 4"
        view = pane(pilot).view
        drawn = {part.text: part.style for y in range(view.page) for part in view.render_line(y)}
        assert drawn["FIFT"] is not None
        assert drawn["FIFT"].bgcolor == view.style("match-here").bgcolor
        await pilot.press("slash", *"nowhere")
        await wait_until(pilot, lambda: pane(pilot).search_status.endswith("not here"))
        assert pane(pilot).can_back_out
        pane(pilot).action_clear_search()
        assert (pane(pilot).search_status, pane(pilot).can_back_out) == ("", False)


async def test_what_is_found_is_marked_in_the_next_entry_too(session: SessionFile) -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e1")
        await pilot.press("slash", *"in th", "enter")
        await wait_until(pilot, lambda: pane(pilot).search_status == "/in th 1 of 1")
        await show(pilot, session, "e3")
        await wait_until(pilot, lambda: pane(pilot).search_status == "/in th not here")
        await show(pilot, session, "e1")
        await wait_until(pilot, lambda: pane(pilot).search_status == "/in th 1")
        assert top_line(pilot).startswith("user · e1")
        await pilot.press("n")
        assert pane(pilot).search_status == "/in th 1 of 1"


def test_where_text_is_found() -> None:
    text = "One\ttwo\n" + "x" * 10_000 + "ONE\none"
    document = Document("", list(text_slices(text, len(text))))

    def found(typed: str) -> list[Spot]:
        pattern = typed_pattern(typed)
        assert pattern is not None
        return list(find_all(document, pattern))

    everywhere = found("one")
    assert [
        document.sections[spot.section].lines()[spot.line].shown[spot.start :][:3] for spot in everywhere
    ] == [
        "One",
        "ONE",
        "one",
    ]
    assert found("ONE") == everywhere[1:2]
    assert found("one two") == [Spot(0, 0, 0)]  # as the tab is shown
    assert found("(") == found(".*") == []
    assert typed_pattern("  ") is None


# ---- links


async def test_links_by_keys(session: SessionFile) -> None:
    async with Listening().run_test(size=(60, 30)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e2")
        await pilot.press("l", "enter")
        event = await asked(pilot, Preview.LinkFollowed)
        assert isinstance(event, Preview.LinkFollowed)
        assert event.entry_id == "e3"  # the result of the call
        await pilot.press("l", "enter")
        event = await asked(pilot, Preview.LinkFollowed)
        assert isinstance(event, Preview.LinkFollowed)
        assert event.entry_id == "e1"  # the parent
        await pilot.press("L", "enter")
        event = await asked(pilot, Preview.LinkFollowed)
        assert isinstance(event, Preview.LinkFollowed)
        assert event.entry_id == "e3"
        await show(pilot, session, "e3")
        await pilot.press("backspace")
        event = await asked(pilot, Preview.LinkFollowed)
        assert isinstance(event, Preview.LinkFollowed)
        assert event.entry_id == "e2"


async def test_a_link_can_be_clicked(session: SessionFile) -> None:
    async with Listening().run_test(size=(60, 30)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e3")
        await pilot.click("#preview", offset=(14, 3))
        event = await asked(pilot, Preview.LinkFollowed)
        assert isinstance(event, Preview.LinkFollowed)
        assert event.entry_id == "e2"
        await pilot.click("#preview", offset=(3, 3))  # the field's name is none
        await pilot.press("enter")
        event2 = await asked(pilot, Preview.ReadingWanted)
        assert isinstance(event2, Preview.ReadingWanted)
        assert event2.reader == "pager"


async def test_messages_of_a_context_are_links(session: SessionFile) -> None:
    async with Listening().run_test(size=(60, 30)) as pilot:
        await shown(pilot, None, "entry")
        pane(pilot).tab = "context"
        await show(pilot, session, "e2")
        for entry_id in ("e2", "e1", "e2"):  # the call without a result, then the messages
            await pilot.press("l", "enter")
            event = await asked(pilot, Preview.LinkFollowed)
            assert isinstance(event, Preview.LinkFollowed)
            assert event.entry_id == entry_id


# ---- blocks and copying


async def copied(pilot: Pilot[None], *keys: str) -> tuple[str | None, str | None]:
    await pilot.press(*keys)
    event = await asked(pilot, Preview.CopyWanted)
    assert isinstance(event, Preview.CopyWanted)
    return event.text, None if event.block is None else event.block.source.copy_text()


async def test_copying_blocks(session: SessionFile) -> None:
    async with Listening().run_test(size=(60, 30)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e2")
        assert await copied(pilot, "y") == (None, "Let me **look**.")
        assert await copied(pilot, "b", "b", "y") == (None, "ls\tx")  # as it is, not as it is shown
        assert await copied(pilot, "B", "y") == (None, "Let me **look**.")
        assert await copied(pilot, "ctrl+x") == (None, None)
        text, _ = await copied(pilot, "Y")
        assert text is not None
        assert text.startswith("assistant · e2")
        pane(pilot).tab = "context"
        await shown(pilot, "e2", "context")
        assert await copied(pilot, "b", "y") == (None, "What is in this folder?")
        assert await copied(pilot, "b", "y") == (None, "Let me **look**.")


async def test_what_the_mouse_selects_is_copied(session: SessionFile) -> None:
    async with Listening().run_test(size=(20, 16)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e1")
        rows = screen_of(pilot).split("\n")
        first = rows.index("What is in this")
        assert rows[first + 1] == "folder?"
        await pilot.mouse_down(pane(pilot).view, offset=(5, first))
        await pilot.hover(pane(pilot).view, offset=(6, first + 1))
        await pilot.mouse_up(pane(pilot).view, offset=(6, first + 1))
        text, _ = await copied(pilot, "y")
        assert text in {"is in this folder", "is in this folder?"}
        view = pane(pilot).view
        chosen = view.screen.get_component_rich_style("screen--selection").bgcolor
        assert any(
            part.style is not None and part.style.bgcolor == chosen for part in view.render_line(first)
        )
        await show(pilot, session, "e2")  # of which nothing is selected
        assert await copied(pilot, "y") == (None, "Let me **look**.")


async def test_images_of_the_block(session: SessionFile) -> None:
    async with Listening().run_test(size=(60, 30)) as pilot:
        await shown(pilot, None, "entry")
        for tab in ("entry", "context"):
            await show(pilot, session, "e4")
            await pilot.press("o")
            event = await asked(pilot, Preview.ImageWanted)
            assert isinstance(event, Preview.ImageWanted)
            images = [image for block in event.blocks for image in block.source.images()]
            assert [image["data"] for image in images] == [PIXEL], tab
            if tab == "entry":
                pane(pilot).tab = "context"
                await shown(pilot, "e4", "context")


# ---- raw, numbers, half pages


async def test_the_raw_line(session: SessionFile) -> None:
    async with Host().run_test(size=(60, 40)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e4")
        await pilot.press("r")
        await shown(pilot, "e4", "entry")
        head, _, shown_json = screen_of(pilot).partition("\n\n")
        assert head.startswith("user · e4 · line 5, ")
        assert json.loads(shown_json) == json.loads(session.raw(session.find("e4")))
        await show(pilot, session, "e1")
        assert '"role": "user"' in screen_of(pilot)
        await pilot.press("r")
        await shown(pilot, "e1", "entry")
        assert '"role"' not in screen_of(pilot)


async def test_numbers_count_the_lines_of_a_text(session: SessionFile) -> None:
    async with Host().run_test(size=(60, 12)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e3")
        await pilot.press("number_sign")
        assert "\n  1 row 1 of many\n  2 row 2" in screen_of(pilot)
        assert "    call       bash" in screen_of(pilot)
        await pilot.press("number_sign")
        assert "\nrow 1 of many" in screen_of(pilot)


async def test_numbers_of_a_file_are_those_in_the_file(tmp_path: Path) -> None:
    with session_file(
        tmp_path / "s.jsonl",
        message("assistant", [call("read", {"path": "a.py", "offset": 40, "limit": 2})]),
        message("toolResult", [{"type": "text", "text": "def f():\n    pass"}], toolCallId="c1"),
    ) as session:
        async with Host().run_test(size=(60, 12)) as pilot:
            await shown(pilot, None, "entry")
            await show(pilot, session, "e2")
            await pilot.press("number_sign")
            assert " 40 def f():\n 41     pass" in screen_of(pilot)
            line = next(
                pane(pilot).view.render_line(y)
                for y in range(9)
                if "def" in pane(pilot).view.render_line(y).text
            )
            styles = {part.text: part.style for part in line}
            assert styles["def"] is not None
            assert styles["def"].color == pane(pilot).view.style("syntax-keyword").color


async def test_half_pages(session: SessionFile) -> None:
    async with Host().run_test(size=(60, 15)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e3")
        half = pane(pilot).view.page // 2
        await pilot.press("ctrl+d", "ctrl+d")
        assert int(pane(pilot).view.scroll_offset.y) == 2 * half
        await pilot.press("ctrl+u")
        assert int(pane(pilot).view.scroll_offset.y) == half


async def test_all_of_a_long_entry_is_searched(tmp_path: Path) -> None:
    with session_file(tmp_path / "s.jsonl", message("user", "hay\n" * 50_000 + "needle")) as session:
        async with Host().run_test(size=(60, 12)) as pilot:
            await shown(pilot, None, "entry")
            await show(pilot, session, "e1")
            assert pane(pilot).document.cut
            await pilot.press("slash", *"needle")
            await wait_until(pilot, lambda: pane(pilot).search_status == "/needle▏ 1 of 1")
            assert "needle" in screen_of(pilot)
            pane(pilot).tab = "context"
            await pilot.press("enter")
            await wait_until(pilot, lambda: pane(pilot).search_status == "/needle not in what is listed")
