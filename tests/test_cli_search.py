"""`pitree search`, and what the printing commands keep of sessions for the next time."""

from pathlib import Path

import pytest
from commandline import Run, Store, forked, talk


def kept(home: Path) -> list[str]:
    return sorted(path.name for path in (home / ".cache" / "pitree").glob("*.sqlite3"))


@pytest.fixture
def sessions(store: Store, work: Path) -> list[Path]:
    return [
        store.add(forked(work), minutes=5),
        store.add(talk(work, "0199aaaa-1", first="A login\npage \x1b[31mhangs"), minutes=2),
        store.add(talk(Path("/elsewhere"), "0199bbbb-2", first="elsewhere"), cwd=Path("/elsewhere")),
    ]


def test_search_says_where(pitree: Run, sessions: list[Path]) -> None:
    found = pitree("search", "login", "--json").document

    assert [(row["path"], row["name"], [hit["role"] for hit in row["hits"]]) for row in found] == [
        (str(sessions[0]), "Login work", ["user"]),
        (str(sessions[1]), None, ["user"]),
    ]
    assert found[1].keys() == {"path", "id", "name", "hits"}
    [hit] = found[1]["hits"]
    assert hit["snippet"] == "A login page ␛[31mhangs"
    assert pitree("show", sessions[1], hit["entryId"], "--json").document["message"]["role"] == "user"


def test_search_as_text(pitree: Run, sessions: list[Path]) -> None:
    done = pitree("search", "page", "hangs")

    assert (done.code, done.err) == (0, "")
    [title, hit] = done.out.splitlines()
    assert title.startswith("0199aaaa-1 ")
    assert title.endswith("A login")
    assert hit.endswith("user        A login page ␛[31mhangs")
    assert len(sessions) == 3


def test_search_everywhere_and_in_tools(pitree: Run, sessions: list[Path]) -> None:
    assert [row["id"] for row in pitree("search", "elsewhere", "--all", "--json").document] == ["0199bbbb-2"]
    assert pitree("search", "login.ts", "--json").document == []
    [row] = pitree("search", "login.ts", "--tools", "--json").document
    assert row["path"] == str(sessions[0])
    assert [hit["role"] for hit in row["hits"]] == ["assistant"]
    assert "src/login.ts" in row["hits"][0]["snippet"]


def test_search_narrowed(pitree: Run, sessions: list[Path]) -> None:
    found = pitree("search", "has:branches", "login", "--json").document

    assert [row["path"] for row in found] == [str(sessions[0])]
    assert [row["path"] for row in pitree("list", "has:branches", "--json").document] == [str(sessions[0])]


def test_nothing_found(pitree: Run, sessions: list[Path]) -> None:
    done = pitree("search", "zebra")

    assert (done.code, done.out) == (0, "")
    assert done.err.startswith("pitree: nothing found in ")
    assert "(--all looks everywhere)" in done.err
    assert len(sessions) == 3


@pytest.mark.parametrize(
    ("arguments", "error"),
    [
        (["re:("], "search 're:(': regular expression: a group is not closed"),
        ([" "], "nothing to search for; give words"),
    ],
)
def test_searches_that_cannot_be_done(arguments: list[str], error: str, pitree: Run, work: Path) -> None:
    assert work.is_dir()
    done = pitree("search", *arguments)

    assert done.code == 1
    assert done.error.startswith(error)


def test_what_was_read_is_kept_and_followed(pitree: Run, sessions: list[Path], home: Path) -> None:
    before = pitree("list", "--json").document
    assert kept(home) == ["sessions-1.sqlite3"]
    assert pitree("list", "--json").document == before
    with sessions[1].open("ab") as file:
        file.write(b'{"type":"session_info","id":"n","parentId":null,"timestamp":"","name":"named"}\n')

    assert "named" in [row["name"] for row in pitree("list", "--json").document]


@pytest.mark.parametrize("command", [["list"], ["search", "x"], ["resume", "--pi", "no-such-pi"]])
def test_nothing_is_kept_if_it_is_not_wanted(
    command: list[str], pitree: Run, sessions: list[Path], home: Path
) -> None:
    assert sessions
    pitree(*command, "--no-cache")
    assert kept(home) == []


def test_a_cache_that_is_garbage_costs_nothing(pitree: Run, sessions: list[Path], home: Path) -> None:
    before = pitree("list", "--json").document
    [file] = (home / ".cache" / "pitree").glob("*.sqlite3")
    file.write_bytes(b"garbage" * 5000)

    assert pitree("list", "--json").document == before
    assert len(sessions) == 3


@pytest.mark.parametrize("command", ["list", "search"])
def test_a_narrowing_word_that_means_nothing_is_told(pitree: Run, sessions: list[Path], command: str) -> None:
    assert sessions
    done = pitree(command, "has:nothing", "before:soon", 'cwd:""', "re:has:name")
    assert (done.code, done.out) == (0, "")
    assert [line.removeprefix("pitree: ") for line in done.err.splitlines()[1:]] == [
        "has:nothing is looked for as text: has: takes one of branches, name, labels, damage, parent, cost",
        "before:soon is looked for as text: before: takes a year, month or day, as in 2026-01",
        'cwd:"" is looked for as text: cwd: takes some text',
    ]
    assert len(pitree(command, "has:labels", '"has:nothing here"').err.splitlines()) == 1
