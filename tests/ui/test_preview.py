"""The preview pane: what is on its screen, and that it neither waits nor piles up work."""

import asyncio
import json
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len
from textual.app import App, ComposeResult
from textual.pilot import Pilot

from pitree.sessions.entries import Entry, JsonObject
from pitree.sessions.file import SessionFile
from pitree.ui.documents import entry as entry_documents
from pitree.ui.documents.entry import entry_document
from pitree.ui.documents.layout import Layout, Place
from pitree.ui.documents.model import (
    STYLE_NAMES,
    Document,
    Line,
    Lines,
    Row,
    Span,
    StyleName,
    TextSlice,
    text_slices,
)
from pitree.ui.documents.wrapping import wrap_line
from pitree.ui.panes.preview import Preview

from .files import MOMENT, call, message, session_file
from .waiting import wait_until


class Host(App[None]):
    """A screen with nothing but the pane; remembers what it showed."""

    CSS = "Preview { border: round $surface-lighten-2; }"

    def __init__(self) -> None:
        super().__init__()
        self.shown: list[tuple[str | None, str]] = []

    def compose(self) -> ComposeResult:
        yield Preview(id="preview")

    def on_mount(self) -> None:
        self.query_one(Preview).focus()

    def on_preview_shown(self, event: Preview.Shown) -> None:
        self.shown.append((event.entry_id, event.tab))


HEAD = "{} · {} · 2026-03-01 10:00:00"
# An entry's head and a blank line; a blank line, parent, children and line.
ROWS_ABOVE, ROWS_BELOW = 2, 4


def pane(pilot: Pilot[None]) -> Preview:
    return pilot.app.query_one(Preview)


def screen_of(pilot: Pilot[None]) -> str:
    """Return the rows of the document that are drawn, as text."""
    view = pane(pilot).view
    return "\n".join(view.render_line(y).text.rstrip() for y in range(view.page)).rstrip()


def top_line(pilot: Pilot[None]) -> str:
    return pane(pilot).view.render_line(0).text.rstrip()


def above_the_place(pilot: Pilot[None]) -> str:
    """Return the rows of a screen scrolled to the end of a root entry, without the ones that place it."""
    rows = screen_of(pilot).split("\n")
    assert len(rows) == pane(pilot).view.page
    place = rows.index("parent     none, it is a root")
    assert rows[place - 1] == ""
    assert rows[place + 1] == "children   0"
    assert rows[place + 2].startswith("line       2 · ")
    return "\n".join(rows[: place - 1])


async def show(pilot: Pilot[None], session: SessionFile, entry_id: str) -> None:
    """Show an entry and wait until it is on the screen."""
    pane(pilot).show(session, session.find(entry_id))
    await shown(pilot, entry_id, pane(pilot).tab)


async def shown(pilot: Pilot[None], entry_id: str | None, tab: str) -> None:
    """Wait for the next document, which must be that one."""
    host = pilot.app
    assert isinstance(host, Host)
    await wait_until(pilot, lambda: host.shown, f"{entry_id} {tab} was shown")
    assert host.shown.pop(0) == (entry_id, tab)
    await pilot.pause()


@pytest.fixture
def session(tmp_path: Path) -> Iterator[SessionFile]:
    with session_file(
        tmp_path / "s.jsonl",
        message("user", "What is in this folder?"),
        message("assistant", [call("bash", {"command": "ls"})], provider="p", model="m"),
        message("toolResult", [{"type": "text", "text": "a.py"}], toolCallId="c1", toolName="bash"),
        message("user", "\n".join(f"row {number}" for number in range(200))),
        message("user", "word " * 400 + "end"),
    ) as made:
        yield made


# ---- what is shown


async def test_without_an_entry_it_says_what_to_do(session: SessionFile, tmp_path: Path) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        assert "Highlight a session" in screen_of(pilot)
        pane(pilot).show(session, None)
        await shown(pilot, None, "entry")
        assert "Highlight an entry" in screen_of(pilot)
        pane(pilot).show(session_file(tmp_path / "empty.jsonl"), None)
        await shown(pilot, None, "entry")
        assert "no entries yet" in screen_of(pilot)


async def test_the_entry_and_the_context(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e3")
        assert screen_of(pilot).startswith(
            HEAD.format("toolResult", "e3") + "\ncall       bash: ls\n\na.py\n\nparent     e2 (assistant)\n"
        )
        await pilot.press("right")
        await shown(pilot, "e3", "context")
        assert screen_of(pilot).startswith(
            "context at e3\nmessages   3\ntokens     ~12, all of it estimated\n"
        )
        assert screen_of(pilot).endswith("── 3 toolResult · ~1 tokens · e3\n↳ bash: ls\na.py")
        await pilot.press("right")
        await shown(pilot, "e3", "changes")
        assert screen_of(pilot).startswith(
            "changes when the leaf moves to e3 (toolResult)\nfrom       e5 (user)"
        )
        await pilot.press("right")
        await shown(pilot, "e3", "entry")
        await pilot.press("left")
        await shown(pilot, "e3", "changes")
        await pilot.press("right")
        await shown(pilot, "e3", "entry")
        assert top_line(pilot) == HEAD.format("toolResult", "e3")


async def test_the_tabs_can_be_clicked(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e1")
        await pilot.click("#preview", offset=(10, 1))
        await shown(pilot, "e1", "context")
        await pilot.click("#preview", offset=(10, 1))  # already there: nothing to show anew
        await pilot.click("#preview", offset=(2, 1))
        await shown(pilot, "e1", "entry")


async def test_another_tab_stays_for_the_next_entry(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        pane(pilot).tab = "context"
        await show(pilot, session, "e1")
        assert top_line(pilot) == "context at e1"


async def test_styles_can_be_told_apart() -> None:
    async with Host().run_test() as pilot:
        await shown(pilot, None, "entry")
        style = pane(pilot).view.style
        for name in STYLE_NAMES:
            assert name == "text" or style(name) != style("text")
        assert style("muted").color != style("text").color
        assert style("diff-add").color != style("diff-remove").color


async def test_what_is_drawn_is_styled(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e3")
        name = next(segment for segment in pane(pilot).view.render_line(0) if segment.text == "toolResult")
        style = name.style
        assert style is not None
        assert style.bold
        assert style.color == pane(pilot).view.get_component_rich_style("document--tool").color
        muted = next(segment for segment in pane(pilot).view.render_line(0) if "e3" in segment.text)
        assert muted.style is not None
        assert muted.style.color == pane(pilot).view.get_component_rich_style("document--muted").color


async def test_a_file_that_is_gone_is_a_line_in_the_pane(session: SessionFile) -> None:
    async with Host().run_test(size=(120, 20)) as pilot:
        await shown(pilot, None, "entry")
        session.close()
        await show(pilot, session, "e1")
        assert "is closed" in screen_of(pilot)
        await pilot.press("right")
        await shown(pilot, "e1", "context")
        assert "is closed" in screen_of(pilot)


async def test_a_defect_is_a_line_in_the_pane(session: SessionFile, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*_: object, **__: object) -> Document:
        raise RuntimeError("odd\x1b[2J")

    monkeypatch.setattr(entry_documents, "entry_document", broken)
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e1")
        assert "cannot be shown: RuntimeError" in screen_of(pilot)
        assert "\x1b" not in screen_of(pilot)


# ---- newest wish wins


class Slow:
    """A session whose entry `e1` is read only when it is let."""

    def __init__(self, session: SessionFile) -> None:
        self.begun = threading.Event()
        self.let = threading.Event()
        self.read: list[str] = []
        body = session.body

        def slowly(entry: Entry) -> JsonObject:
            self.read.append(entry.id)
            if entry.id == "e1":
                self.begun.set()
                assert self.let.wait(20)
            return body(entry)

        session.body = slowly  # type: ignore[method-assign]


async def test_an_older_wish_is_never_shown(session: SessionFile) -> None:
    slow = Slow(session)
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        pane(pilot).show(session, session.find("e1"))
        await wait_until(pilot, slow.begun.is_set)
        pane(pilot).show(session, session.find("e2"))
        pane(pilot).show(session, session.find("e3"))
        slow.let.set()
        await shown(pilot, "e3", "entry")
        assert top_line(pilot) == HEAD.format("toolResult", "e3")
        assert "e2" not in slow.read[: slow.read.index("e3")]


async def test_reading_that_takes_long_is_said(session: SessionFile) -> None:
    slow = Slow(session)
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        pane(pilot).show(session, session.find("e1"))
        await wait_until(pilot, lambda: "Reading" in screen_of(pilot))
        slow.let.set()
        await shown(pilot, "e1", "entry")
        assert top_line(pilot) == HEAD.format("user", "e1")


async def test_nothing_wished_for_drops_what_is_being_read(session: SessionFile) -> None:
    slow = Slow(session)
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        pane(pilot).show(session, session.find("e1"))
        await wait_until(pilot, slow.begun.is_set)
        pane(pilot).show(None, None)
        await shown(pilot, None, "entry")
        slow.let.set()
        await show(pilot, session, "e3")  # comes next: e1 was dropped
        assert "e1" in slow.read


async def test_many_wishes_are_one_piece_of_work(
    session: SessionFile, monkeypatch: pytest.MonkeyPatch
) -> None:
    built: list[str] = []
    build = entry_document

    def counted(session: SessionFile, entry: Entry, *, whole: bool, colour: bool) -> Document:
        built.append(entry.id)
        return build(session, entry, whole=whole, colour=colour)

    monkeypatch.setattr(entry_documents, "entry_document", counted)
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        for _ in range(500):
            pane(pilot).show(session, session.find("e1"))
            pane(pilot).show(session, session.find("e2"))
        await shown(pilot, "e2", "entry")
        assert built in (["e2"], ["e2", "e2"])  # twice where the colours are loaded only now


async def test_work_that_could_not_begin_yet_is_not_lost(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        let = threading.Event()
        with ThreadPoolExecutor(1) as only:
            asyncio.get_running_loop().set_default_executor(only)
            busy = only.submit(let.wait, 20)  # such as another worker
            for entry_id in ("e1", "e2"):
                pane(pilot).show(session, session.find(entry_id))
                await wait_until(pilot, lambda: pane(pilot)._timer is None)
            let.set()
            assert busy.result()
            await shown(pilot, "e2", "entry")


async def test_a_context_is_left_when_it_is_no_longer_wanted(session: SessionFile) -> None:
    slow = Slow(session)
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        pane(pilot).tab = "context"
        pane(pilot).show(session, session.find("e5"))
        await wait_until(pilot, slow.begun.is_set)
        read = len(slow.read)
        pane(pilot).tab = "entry"
        await wait_until(pilot, lambda: pane(pilot)._timer is None)
        slow.let.set()
        await shown(pilot, "e5", "entry")
        assert slow.read[read:] == ["e5"]  # not e2 to e5 for a context that nobody sees


# ---- scrolling, wrapping, keeping the place


async def test_scrolling_by_keys(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e4")
        page = pane(pilot).view.page
        assert page == 17
        assert pane(pilot).view.line_count == ROWS_ABOVE + 200 + ROWS_BELOW
        await pilot.press("down", "down", "down", "up")
        assert top_line(pilot) == "row 0"
        await pilot.press("home", "pagedown")
        assert top_line(pilot) == f"row {page - ROWS_ABOVE}"
        await pilot.press("end")
        rows = screen_of(pilot).split("\n")
        assert len(rows) == page
        assert rows[-1].startswith("line       5 · ")
        assert rows[0] == f"row {200 + ROWS_BELOW - page}"
        assert rows[-1 - ROWS_BELOW] == "row 199"
        await pilot.press("pageup", "home")
        assert top_line(pilot) == HEAD.format("user", "e4")


async def test_long_lines_wrap_or_are_cut(session: SessionFile) -> None:
    async with Host().run_test(size=(60, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e5")
        wrapped = pane(pilot).view.line_count
        assert wrapped > 30
        await pilot.press("w")
        assert pane(pilot).view.line_count == ROWS_ABOVE + 1 + ROWS_BELOW
        assert all(cell_len(line) <= 58 for line in screen_of(pilot).split("\n"))
        await pilot.press("w")
        assert pane(pilot).view.line_count == wrapped


async def test_a_new_width_keeps_the_place(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e4")
        await pilot.press("pagedown", "pagedown", "down")
        before = top_line(pilot)
        assert before == f"row {2 * pane(pilot).view.page + 1 - ROWS_ABOVE}"
        await pilot.resize_terminal(50, 20)
        await wait_until(pilot, lambda: pane(pilot).view._layout_of.width < 50)
        await pilot.pause()
        assert top_line(pilot) == before


async def test_the_same_entry_again_keeps_the_place(session: SessionFile) -> None:
    async with Host().run_test(size=(80, 20)) as pilot:
        await shown(pilot, None, "entry")
        await show(pilot, session, "e4")
        await pilot.press("pagedown")
        before = top_line(pilot)
        await show(pilot, session, "e4")
        assert top_line(pilot) == before
        await show(pilot, session, "e5")
        assert top_line(pilot) == HEAD.format("user", "e5")


async def test_m_shows_all_of_a_long_text(tmp_path: Path) -> None:
    text = "\n".join(f"row {number} {'x' * 60}" for number in range(3000))
    with session_file(tmp_path / "s.jsonl", message("user", text)) as session:
        async with Host().run_test(size=(90, 20)) as pilot:
            await shown(pilot, None, "entry")
            await show(pilot, session, "e1")
            await pilot.press("end")
            assert above_the_place(pilot).endswith("more (press m for all)")
            before = top_line(pilot)
            await pilot.press("m")
            await shown(pilot, "e1", "entry")
            assert top_line(pilot) == before
            await pilot.press("end")
            assert above_the_place(pilot).endswith("row 2999 " + "x" * 60)
            assert pane(pilot).view.line_count == ROWS_ABOVE + 3000 + ROWS_BELOW


async def test_the_end_is_the_end_however_wrong_the_guess(tmp_path: Path, long_text: str) -> None:
    text = long_text[:55_000] + "\nthe end"
    with session_file(tmp_path / "s.jsonl", message("user", text)) as session:
        async with Host().run_test(size=(40, 20)) as pilot:
            await shown(pilot, None, "entry")
            await show(pilot, session, "e1")
            guessed = pane(pilot).view.line_count
            await pilot.press("end")
            assert pane(pilot).view.line_count != guessed
            assert above_the_place(pilot).endswith("\nthe end")
            await pilot.press("up", "end", "down")
            assert above_the_place(pilot).endswith("\nthe end")


async def test_a_tool_result_of_50_mb(tmp_path: Path) -> None:
    path = tmp_path / "s.jsonl"
    text = ("0123456789" * 9 + "\n") * 550_000
    lines = [
        {"type": "session", "version": 3, "id": "s", "timestamp": MOMENT, "cwd": "/"},
        {
            "id": "e1",
            "parentId": None,
            "timestamp": MOMENT,
            **message("toolResult", [{"type": "text", "text": text}]),
        },
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    with SessionFile.load(path) as session:
        async with Host().run_test(size=(100, 30)) as pilot:
            await shown(pilot, None, "entry")
            await show(pilot, session, "e1")
            assert "0123456789" in screen_of(pilot)
            assert sum(section.size[1] for section in pane(pilot).document.sections) < 70_000
            await pilot.press("m")
            await shown(pilot, "e1", "entry")
            layout = pane(pilot).view._layout_of
            assert sum(layout._exact) < 5  # of 12,000 sections: the others are only counted
            assert layout.height == pytest.approx(ROWS_ABOVE + 550_000 + ROWS_BELOW, rel=0.1)
            await pilot.press("end", *["up"] * ROWS_BELOW)
            await pilot.pause()
            assert screen_of(pilot).split("\n") == ["0123456789" * 9] * pane(pilot).view.page
            assert sum(layout._exact) < 10


# ---- rows

_styles = st.sampled_from(STYLE_NAMES)
_words = st.text("ab  漢字é\u0301👩‍👧❤️-", min_size=1, max_size=25)


@st.composite
def _lines(draw: st.DrawFn) -> Line:
    spans: list[Span] = draw(st.lists(st.tuples(_words, _styles), max_size=4))
    return Line(tuple(spans), draw(st.integers(0, 12)))


def _plain(row: Row) -> str:
    return "".join(text for text, _ in row)


@given(_lines(), st.integers(2, 30))
def test_rows_fit_and_hold_everything_but_blanks(line: Line, width: int) -> None:
    rows = [_plain(row) for row in wrap_line(line, width)]
    assert all(cell_len(row) <= width for row in rows)
    assert "".join(rows).replace(" ", "") == line.text.replace(" ", "")


@given(_lines(), st.integers(2, 30))
def test_rows_keep_the_styles(line: Line, width: int) -> None:
    def styled(spans: Row) -> list[tuple[str, StyleName]]:
        return [(character, style) for text, style in spans for character in text if character != " "]

    assert [one for row in wrap_line(line, width) for one in styled(row)] == styled(line.spans)


@pytest.mark.parametrize(
    ("text", "indent", "rows"),
    [
        ("one two three", 0, ["one two", "three"]),
        ("one two three four", 4, ["one two", "    three", "    four"]),
        ("one twothree", 0, ["one", "twothree"]),
        ("abcdefghijkl", 0, ["abcdefghi", "jkl"]),
        ("abcdefghijkl", 40, ["abcdefghi", "    jkl"]),
        ("    abcdefghi", 0, ["    abcde", "fghi"]),
        ("abcdefghi ", 0, ["abcdefghi"]),
        ("漢字漢字漢字", 0, ["漢字漢字", "漢字"]),
        ("ab 漢字漢字", 0, ["ab 漢字漢", "字"]),
        ("é two three", 0, ["é two", "three"]),
        ("", 0, [""]),
    ],
)
def test_where_rows_end(text: str, indent: int, rows: list[str]) -> None:
    assert [_plain(row) for row in wrap_line(Line(((text, "text"),), indent), 9)] == rows


def test_a_character_that_does_not_fit_still_gets_a_row() -> None:
    assert [_plain(row) for row in wrap_line(Line((("漢字", "text"),)), 1)] == ["漢", "字"]


# ---- laying out only what is looked at


@pytest.fixture(scope="module")
def long_text() -> str:
    lines = (f"{number} " + "word " * (number * 7 % 40) for number in range(1500))
    return "\n".join(lines)


def _whole(document: Document, width: int) -> list[Row]:
    return [row for line in document.lines() for row in wrap_line(line, width)]


@pytest.mark.parametrize("width", [11, 40, 100])
def test_going_down_shows_every_row_once(long_text: str, width: int) -> None:
    document = Document("", list(text_slices(long_text, len(long_text))))
    layout = Layout(document, width)
    assert not all(layout._exact)
    rows, top = [], 0
    while top < layout.height:
        assert layout.settle(top, 20) == top
        rows += [layout.row(y) for y in range(top, min(top + 20, layout.height))]
        top += 20
    assert rows == _whole(document, width)


@pytest.mark.parametrize("width", [11, 40, 100])
def test_going_up_from_the_end_shows_every_row_once(long_text: str, width: int) -> None:
    document = Document("", list(text_slices(long_text, len(long_text))))
    layout = Layout(document, width)
    top = layout.settle_end(20)
    rows = [layout.row(y) for y in range(top, layout.height)]
    assert len(rows) == 20
    while top:
        top = layout.settle(top - 1, 20, upwards=True)
        rows.insert(0, layout.row(top))
    assert rows == _whole(document, width)


def test_what_shows_nothing_takes_no_row() -> None:
    fence, code = Line(said="```"), Line((("  a", "code"),), 2, "a")
    document = Document("", [Lines((fence, code, fence)), Lines((fence,)), Lines((Line(), fence, code))])
    for wrap in (True, False):
        layout = Layout(document, 20, wrap=wrap)
        assert [_plain(layout.row(y)) for y in range(layout.height)] == ["  a", "", "  a"]
        for y in range(layout.height):
            assert layout.row_at(layout.place(y)) == y
    assert [line.text for line in document.lines()] == ["```", "a", "```", "```", "", "```", "a"]


def test_a_section_that_turns_out_to_show_nothing_can_be_passed() -> None:
    hidden = Lines(tuple(Line(said="```") for _ in range(30)))
    text = "row\n" * 20_000
    document = Document("", [hidden, *text_slices(text, len(text)), hidden])
    layout = Layout(document, 20)
    assert not all(layout._exact)
    assert layout.place(0) == Place(0, 0, 0.0)
    assert layout.settle(0, 10) == 0
    assert [_plain(layout.row(y)) for y in range(10)] == ["row"] * 10
    top = layout.settle_end(10)
    assert [_plain(layout.row(y)) for y in range(top, layout.height)] == ["row"] * 9 + [""]


def test_a_jump_into_the_middle_shows_something(long_text: str) -> None:
    layout = Layout(Document("", list(text_slices(long_text, len(long_text)))), 40)
    top = layout.settle(layout.height // 2, 20)
    assert all(layout.row(y) for y in range(top, top + 20))
    assert sum(layout._exact) < 4


def test_a_short_document_is_exact_at_once() -> None:
    text = "word " * 1000
    layout = Layout(Document("", [TextSlice(text, 0, len(text), 1)]), 42)
    assert layout.height == len(list(wrap_line(Line(((text, "text"),)), 42)))
    assert layout.height == 125


def test_no_more_than_a_screenful_is_kept(long_text: str) -> None:
    text = long_text * 20
    layout = Layout(Document("", list(text_slices(text, len(text)))), 40)
    assert len(layout.document.sections) > 300
    for top in range(0, layout.height, 20):
        layout.settle(top, 20)
    assert len(layout._cuts) < 200


@given(st.lists(st.text("abc\n", max_size=20_000), max_size=4).map("".join))
def test_slices_hold_the_whole_text(text: str) -> None:
    slices = list(text_slices(text, len(text)))
    assert "\n".join(Document("", slices).texts()) == text
    assert sum(part.size[0] for part in slices) == sum(len(part.lines()) for part in slices)


def test_slices_end_with_lines_where_they_can() -> None:
    text = "\n".join(f"line {number}" for number in range(5000))
    slices = list(text_slices(text, len(text)))
    assert len(slices) > 5
    assert [line.text for part in slices for line in part.lines()] == text.split("\n")
    assert max(part.size[1] for part in slices) <= 2 * 4096
