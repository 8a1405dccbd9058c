import os
from pathlib import Path

import pytest

from pitree.catalog.locations import Problem, Store, agent_dir, find_store, folder_name, session_paths

from .store import header, write


@pytest.fixture
def home(tmp_path: Path) -> Path:
    made = tmp_path / "home"
    made.mkdir()
    return made


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    made = tmp_path / "project"
    made.mkdir()
    return made


def settings(folder: Path, content: str | bytes) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    data = content.encode() if isinstance(content, str) else content
    (folder / "settings.json").write_bytes(data)


# ---- the agent's directory


@pytest.mark.parametrize(
    ("named", "expected"),
    [
        (None, "/home/ada/.pi/agent"),
        ("", "/home/ada/.pi/agent"),
        ("/srv/pi/../agent", "/srv/agent"),
        ("~", "/home/ada"),
        ("~/pi", "/home/ada/pi"),
        ("~bob/pi", "/here/~bob/pi"),
        ("pi", "/here/pi"),
        ("file:///srv/my%20agent", "/srv/my agent"),
    ],
)
def test_the_agent_directory(named: str | None, expected: str) -> None:
    environ = {"HOME": "/home/ada"} | ({} if named is None else {"PI_CODING_AGENT_DIR": named})

    assert agent_dir(environ, Path("/here")) == Path(expected)


def test_a_relative_agent_directory_counts_from_where_the_process_is(
    cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(cwd)

    assert agent_dir({"HOME": "/h", "PI_CODING_AGENT_DIR": "pi"}) == cwd / "pi"


def test_without_home_the_account_says_where_home_is() -> None:
    import pwd

    assert agent_dir({}) == Path(pwd.getpwuid(os.getuid()).pw_dir) / ".pi/agent"


# ---- the session root


def test_by_default_sessions_live_with_the_agent(cwd: Path, home: Path) -> None:
    assert find_store(cwd, None, {"HOME": str(home)}) == Store(home / ".pi/agent/sessions", False, "default")  # noqa: FBT003


def test_what_names_the_root_in_the_order_in_which_it_counts(cwd: Path, home: Path) -> None:
    environ = {"HOME": str(home), "PI_CODING_AGENT_SESSION_DIR": "/by/variable"}
    settings(cwd / ".pi", '{"sessionDir": "/by/project"}')
    settings(home / ".pi/agent", '{"sessionDir": "/by/person"}')
    seen = []

    seen.append(find_store(cwd, "/by/flag", environ))
    seen.append(find_store(cwd, None, environ))
    seen.append(find_store(cwd, "", environ))
    del environ["PI_CODING_AGENT_SESSION_DIR"]
    seen.append(find_store(cwd, None, environ))
    (cwd / ".pi/settings.json").unlink()
    seen.append(find_store(cwd, None, environ))

    assert [(str(store.root), store.source, store.flat) for store in seen] == [
        ("/by/flag", "--session-dir", True),
        ("/by/variable", "$PI_CODING_AGENT_SESSION_DIR", True),
        ("/by/variable", "$PI_CODING_AGENT_SESSION_DIR", True),
        ("/by/project", ".pi/settings.json", True),
        ("/by/person", "settings.json", True),
    ]


@pytest.mark.parametrize(
    ("written", "expected"),
    [("~/s", "{home}/s"), ("s", "{cwd}/s"), ("../s", "{cwd}/../s"), ("/s/./t", "/s/t"), ("file:///s", "/s")],
)
@pytest.mark.parametrize("by", ["flag", "variable", "project", "person"])
def test_roots_are_written_as_pi_takes_them(
    written: str, expected: str, by: str, cwd: Path, home: Path
) -> None:
    environ = {"HOME": str(home)}
    if by == "variable":
        environ["PI_CODING_AGENT_SESSION_DIR"] = written
    elif by != "flag":
        folder = cwd / ".pi" if by == "project" else home / ".pi/agent"
        settings(folder, f'{{"sessionDir": "{written}"}}')

    root = find_store(cwd, written if by == "flag" else None, environ).root

    assert root == Path(os.path.normpath(expected.format(home=home, cwd=cwd)))


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"{",
        b"[]",
        b"null",
        b'"x"',
        b'{"sessionDir": 5}',
        b'{"sessionDir": ["/x"]}',
        b"\xff\xfe",
        b"[" * 100_000,
    ],
)
def test_odd_settings_count_as_absent(content: bytes, cwd: Path, home: Path) -> None:
    settings(cwd / ".pi", content)
    settings(home / ".pi/agent", '{"sessionDir": "/by/person"}')

    assert find_store(cwd, None, {"HOME": str(home)}).source == "settings.json"


def test_settings_that_are_no_file_count_as_absent(cwd: Path, home: Path) -> None:
    (cwd / ".pi/settings.json").mkdir(parents=True)
    (home / ".pi/agent").mkdir(parents=True)
    os.mkfifo(home / ".pi/agent/settings.json")

    assert find_store(cwd, None, {"HOME": str(home)}).source == "default"


def test_settings_may_begin_with_a_byte_order_mark(cwd: Path, home: Path) -> None:
    settings(cwd / ".pi", b'\xef\xbb\xbf{"sessionDir": "/x"}')

    assert find_store(cwd, None, {"HOME": str(home)}).root == Path("/x")


@pytest.mark.parametrize("value", ["null", '""'])
def test_a_project_can_go_back_to_the_default_root(value: str, cwd: Path, home: Path) -> None:
    settings(cwd / ".pi", f'{{"sessionDir": {value}}}')
    settings(home / ".pi/agent", '{"sessionDir": "/by/person"}')

    assert find_store(cwd, None, {"HOME": str(home)}).source == "default"


# ---- folders


@pytest.mark.parametrize(
    ("cwd", "name"),
    [
        ("/home/ada/code", "--home-ada-code--"),
        ("/home/ada/code/", "--home-ada-code--"),
        ("//home/ada", "--home-ada--"),
        ("/home/../ada/./x", "--ada-x--"),
        ("/a/b", "--a-b--"),
        ("/a-b", "--a-b--"),
        ("/c:\\x", "--c--x--"),
        ("/-x-", "---x---"),
        ("/", "----"),
        ("/日本 語", "--日本 語--"),
    ],
)
def test_the_folder_of_a_working_directory(cwd: str, name: str) -> None:
    assert folder_name(cwd) == name


def test_a_flat_root_is_told_apart_by_headers_and_a_layout_by_folders() -> None:
    flat, layout = Store(Path("/s"), True, ""), Store(Path("/s"), False, "")  # noqa: FBT003

    assert flat.holds_for("/a/b/../c/", Path("/a/c"))
    assert not flat.holds_for("/a/b", Path("/a/c"))
    assert not flat.holds_for("", Path.cwd())
    assert layout.holds_for("/elsewhere", Path("/a/c"))


# ---- files


def names(store: Store, cwd: str | None = None, problems: list[Problem] | None = None) -> list[str]:
    found = session_paths(store, cwd, problems=problems)
    return [str(file.path.relative_to(store.root)) for file in found]


def test_the_layout_is_looked_at_exactly_one_folder_deep(tmp_path: Path) -> None:
    store = Store(tmp_path, flat=False, source="default")
    write(tmp_path / "top.jsonl", header())
    write(tmp_path / "--a--/one.jsonl", header(), mtime=1000)
    write(tmp_path / "--b--/two.jsonl", header(), mtime=3000)
    write(tmp_path / "--b--/deep/er.jsonl", header())
    write(tmp_path / "--b--/notes.txt", header())
    write(tmp_path / "--b--/run-2.jsonl/run-1/x.jsonl", header())
    write(tmp_path / "any folder/three.jsonl", header(), mtime=2000)

    assert names(store) == ["--b--/two.jsonl", "any folder/three.jsonl", "--a--/one.jsonl"]
    assert names(store, "/a") == ["--a--/one.jsonl"]
    assert names(store, "/nowhere") == []


def test_a_flat_root_holds_its_own_files_only(tmp_path: Path) -> None:
    store = Store(tmp_path, flat=True, source="--session-dir")
    write(tmp_path / "one.jsonl", header(), mtime=1000)
    write(tmp_path / "two.jsonl", header(), mtime=1000)
    write(tmp_path / "--a--/three.jsonl", header())

    assert names(store) == names(store, "/a") == ["two.jsonl", "one.jsonl"]


def test_a_file_is_described_as_it_is(tmp_path: Path) -> None:
    path = write(tmp_path / "--a--/one.jsonl", header(), mtime=1234.5)

    [file] = session_paths(Store(tmp_path, flat=False, source=""))

    facts = path.stat()
    assert file.path == path
    assert file == (str(path.parent), path.name, facts.st_size, 1_234_500_000_000, facts.st_ino, False)


def test_links_are_followed_and_broken_ones_cost_only_themselves(tmp_path: Path) -> None:
    root = tmp_path / "root"
    real = write(tmp_path / "elsewhere/real.jsonl", header())
    write(root / "--a--/one.jsonl", header())
    (root / "linked").symlink_to(real.parent)
    (root / "--a--/alias.jsonl").symlink_to(real)
    (root / "--a--/gone.jsonl").symlink_to(root / "nothing")
    (root / "--a--/self.jsonl").symlink_to("self.jsonl")
    (root / "gone").symlink_to(root / "nothing")
    (root / "loop").symlink_to("loop")
    (root / "up").symlink_to(root)
    problems: list[Problem] = []

    listed = names(Store(root, flat=False, source=""), problems=problems)

    assert sorted(listed) == ["--a--/alias.jsonl", "--a--/one.jsonl", "linked/real.jsonl"]
    assert {problem.path.name for problem in problems} == {"gone", "loop", "gone.jsonl", "self.jsonl"}
    assert all(problem.reason for problem in problems)


def test_what_is_no_regular_file_is_no_session(tmp_path: Path) -> None:
    write(tmp_path / "--a--/one.jsonl", header())
    os.mkfifo(tmp_path / "--a--/pipe.jsonl")
    (tmp_path / "--a--/folder.jsonl").mkdir()

    assert names(Store(tmp_path, flat=False, source="")) == ["--a--/one.jsonl"]


def test_names_that_are_not_utf_8_are_names(tmp_path: Path) -> None:
    folder = os.fsencode(tmp_path) + b"/--\xff--"
    os.mkdir(folder)  # noqa: PTH102
    with open(folder + b"/\xfe.jsonl", "wb") as file:  # noqa: PTH123
        file.write(b"{}")

    [found] = session_paths(Store(tmp_path, flat=False, source=""))

    assert os.fsencode(found.path) == folder + b"/\xfe.jsonl"
    assert found.path.read_bytes() == b"{}"


def test_a_folder_that_cannot_be_read_costs_only_itself(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    write(tmp_path / "--a--/one.jsonl", header())
    write(tmp_path / "--b--/two.jsonl", header())
    scandir = os.scandir  # permissions would not stop root

    def refuse(path: str) -> object:
        if path.endswith("--b--"):
            raise PermissionError(13, "Permission denied", path)
        return scandir(path)

    monkeypatch.setattr("pitree.catalog.locations.os.scandir", refuse)
    problems: list[Problem] = []

    assert names(Store(tmp_path, flat=False, source=""), problems=problems) == ["--a--/one.jsonl"]
    assert problems == [Problem(tmp_path / "--b--", "Permission denied")]


@pytest.mark.parametrize("flat", [True, False])
def test_a_root_that_is_not_there_is_empty(tmp_path: Path, flat: bool) -> None:
    problems: list[Problem] = []

    assert session_paths(Store(tmp_path / "no", flat, ""), problems=problems) == []
    assert problems == []


def test_a_root_that_is_a_file_is_a_problem(tmp_path: Path) -> None:
    problems: list[Problem] = []
    (tmp_path / "root").write_text("")

    assert session_paths(Store(tmp_path / "root", flat=False, source=""), problems=problems) == []
    assert problems == [Problem(tmp_path / "root", "Not a directory")]
