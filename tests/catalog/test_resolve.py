import os
from pathlib import Path

import pytest

from pitree.catalog import header as header_module
from pitree.catalog.errors import SessionNotFoundError
from pitree.catalog.header import read_header
from pitree.catalog.locations import Store
from pitree.catalog.resolve import resolve_session
from pitree.catalog.scan import scan_file
from pitree.sessions.errors import SessionError

from .store import found, header, message, write


@pytest.fixture
def store(tmp_path: Path) -> Store:
    root = tmp_path / "store"
    write(root / "--a--/one.jsonl", header("0199aaaa-1"))
    write(root / "--a--/two.jsonl", header("0199aaab-2"), message("user", "x"))
    write(root / "--b--/three.jsonl", header("short"))
    write(root / "--b--/four.jsonl", header("shorter"))
    write(root / "--b--/broken.jsonl", b"5")
    return Store(root, flat=False, source="default")


@pytest.fixture
def cwd(tmp_path: Path) -> Path:
    made = tmp_path / "cwd"
    made.mkdir()
    return made


@pytest.mark.parametrize(
    ("argument", "name"),
    [("0199aaaa-1", "one"), ("0199aaaa", "one"), ("0199aaab", "two"), ("short", "three"), ("shorte", "four")],
)
def test_an_id_or_the_only_one_that_begins_so(argument: str, name: str, store: Store, cwd: Path) -> None:
    assert resolve_session(argument, store, cwd).stem == name


def test_a_path_needs_no_store(store: Store, cwd: Path) -> None:
    made = write(cwd / "deep/x.jsonl", b"whatever")
    odd = write(cwd / "0199aaaa-1", header())
    back = write(cwd / "a\\b", header())

    assert resolve_session("deep/x.jsonl", store, cwd) == made
    assert resolve_session("./deep/../deep/x.jsonl", store, cwd) == made
    assert resolve_session(str(made), store, Path("/")) == made
    assert resolve_session("x.jsonl", store, cwd / "deep") == made
    assert resolve_session("0199aaaa-1", store, cwd) == odd
    assert resolve_session("a\\b", store, cwd) == back


def test_a_path_may_begin_with_home(store: Store, cwd: Path, home: Path) -> None:
    made = write(home / "x.jsonl", header())

    assert resolve_session("~/x.jsonl", store, cwd) == made


@pytest.mark.parametrize(
    ("argument", "message"),
    [
        (
            "no/such",
            "{cwd}/no/such does not exist; give the path of a session file or the beginning of an id",
        ),
        ("such.jsonl", "{cwd}/such.jsonl does not exist; give the path of"),
        ("x\\y", "{cwd}/x\\y does not exist; give"),
        ("./", "{cwd} is not a file; give the path of a session file"),
        ("a\0/b", "{cwd}/a␀/b does not exist"),
        (
            "0198",
            "no session id begins with '0198' among 5 files in {root} (default); `pitree list --all` shows",
        ),
        ("aaaa", "no session id begins with 'aaaa'"),
        ("", "no session was named; give a path, or the beginning of a session's id"),
        (" ", "no session was named"),
        ("\x1b[31m", "no session id begins with '␛[31m'"),
    ],
)
def test_what_is_not_there_is_said(argument: str, message: str, store: Store, cwd: Path) -> None:
    with pytest.raises(SessionNotFoundError) as caught:
        resolve_session(argument, store, cwd)

    assert str(caught.value).startswith(message.format(cwd=cwd, root=store.root))
    assert isinstance(caught.value, SessionError)


def test_several_sessions_are_listed_up_to_five(store: Store, cwd: Path) -> None:
    with pytest.raises(SessionNotFoundError) as caught:
        resolve_session("0199", store, cwd)
    few = str(caught.value)
    for place in range(3):
        write(store.root / f"--c--/{place}.jsonl", header(f"0199c-{place}"))
    with pytest.raises(SessionNotFoundError) as caught:
        resolve_session("0199", store, cwd)
    five = str(caught.value)
    for place in range(3, 5):
        write(store.root / f"--c--/{place}.jsonl", header(f"0199c-{place}"))
    with pytest.raises(SessionNotFoundError) as caught:
        resolve_session("0199", store, cwd)
    many = str(caught.value)

    assert few.startswith(
        f"2 sessions in {store.root} (default): the id begins with '0199'; give more of the id"
    )
    assert f"0199aaaa-1 ({store.root}/--a--/one.jsonl)" in few
    assert f"0199aaab-2 ({store.root}/--a--/two.jsonl)" in few
    assert five.count(".jsonl)") == 5
    assert five.endswith(".jsonl)")
    assert many.startswith("7 sessions in")
    assert many.count(".jsonl)") == 5
    assert many.endswith(", 2 more")


def test_two_files_with_one_id_ask_for_a_path(store: Store, cwd: Path) -> None:
    write(store.root / "--c--/copy.jsonl", header("short"))

    with pytest.raises(
        SessionNotFoundError, match=r"2 sessions in .*: the id is 'short'; give a path instead: "
    ):
        resolve_session("short", store, cwd)


def test_one_file_under_two_names_is_one_session(store: Store, cwd: Path) -> None:
    (store.root / "linked").symlink_to(store.root / "--a--")

    assert resolve_session("0199aaaa", store, cwd).resolve() == store.root / "--a--/one.jsonl"


def test_files_that_cannot_be_read_cost_only_themselves(
    store: Store, cwd: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse_one(path: Path) -> dict[str, object] | None:
        if path.stem == "three":
            raise PermissionError(13, "Permission denied")
        return read_header(path)

    monkeypatch.setattr("pitree.catalog.resolve.read_header", refuse_one)

    assert resolve_session("0199aaab", store, cwd).stem == "two"
    assert resolve_session("short", store, cwd).stem == "four"


def test_the_store_can_be_flat(cwd: Path) -> None:
    write(cwd / "s/one.jsonl", header("abc"))

    assert resolve_session("ab", Store(cwd / "s", flat=True, source="x"), cwd) == cwd / "s/one.jsonl"


# ---- headers


@pytest.mark.parametrize("size", [1, 5, 4096])
@pytest.mark.parametrize("end", [b"", b"\n"])
def test_a_header_is_found_whatever_the_chunks(
    tmp_path: Path, size: int, end: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(header_module, "_CHUNK_BYTES", size)
    path = write(
        tmp_path / "s.jsonl", b"", b"torn", {"type": "title"}, header("abc", metadata="m" * 5000), end=end
    )

    answer = read_header(path)

    assert answer is not None
    assert answer["id"] == "abc"


@pytest.mark.parametrize("first", [message("user", "x"), {"type": "session", "id": 5}, b"\0" * (1 << 20)])
def test_no_header(tmp_path: Path, first: bytes | dict[str, object]) -> None:
    assert read_header(write(tmp_path / "s.jsonl", first, header())) is None


@pytest.mark.skipif(not Path("/dev/fd").is_dir(), reason="nothing tells which files are open")
def test_files_are_closed(tmp_path: Path) -> None:
    paths = [write(tmp_path / "a.jsonl", header()), write(tmp_path / "b.jsonl", b"no")]
    before = len([*Path("/dev/fd").iterdir()])

    for path in paths * 5:
        read_header(path)
        scan_file(found(path))

    assert len([*Path("/dev/fd").iterdir()]) == before


def test_no_more_is_read_than_the_header_needs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = write(tmp_path / "s.jsonl", header("abc"), b"x" * 100_000, message("user", "x"))
    read = os.read
    sizes = []

    def counted(fd: int, size: int) -> bytes:
        sizes.append(size)
        return read(fd, size)

    monkeypatch.setattr("pitree.catalog.header.os.read", counted)

    assert read_header(path) is not None
    assert sum(sizes) == 4096
