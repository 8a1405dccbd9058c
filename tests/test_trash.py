"""The trash, a real one: what goes in comes back, and nothing is lost on the way."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from pitree import trash

pytestmark = pytest.mark.skipif(
    sys.platform in {"darwin", "win32"}, reason="the trash of freedesktop systems is looked into"
)


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Have a trash of one's own; the library reads where it is when it is loaded."""
    folder = tmp_path / "data"
    monkeypatch.setenv("XDG_DATA_HOME", str(folder))
    monkeypatch.setenv("HOME", str(tmp_path))
    for name in [name for name in sys.modules if name.partition(".")[0] == "send2trash"]:
        monkeypatch.delitem(sys.modules, name)
    return folder


def file(folder: Path, name: str = "session.jsonl", content: str = "content") -> Path:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(content)
    os.utime(path, (1_000_000_000, 1_000_000_000))
    return path


def everything(folder: Path) -> list[str]:
    return sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if not path.is_dir())


@pytest.mark.parametrize("name", ["session.jsonl", "with blank %41.jsonl", "日本.jsonl"])
def test_there_and_back(name: str, tmp_path: Path, data: Path) -> None:
    path = file(tmp_path / "store", name)
    before = path.stat()
    thrown = trash.put(path)
    assert not path.exists()
    assert thrown.original == path
    assert thrown.place is not None
    assert thrown.place.is_relative_to(data / "Trash" / "files")
    assert thrown.place.read_text() == "content"
    trash.restore(thrown)
    assert path.read_text() == "content"
    after = path.stat()
    assert (after.st_ino, after.st_mtime_ns, after.st_mode) == (
        before.st_ino,
        before.st_mtime_ns,
        before.st_mode,
    )
    assert everything(data) == []


def test_a_name_that_is_no_text(tmp_path: Path) -> None:
    path = tmp_path / os.fsdecode(b"\xff.jsonl")
    path.write_text("content")
    thrown = trash.put(path)
    trash.restore(thrown)
    assert path.read_text() == "content"


def test_several_of_one_name(tmp_path: Path) -> None:
    thrown = [trash.put(file(tmp_path / "store", content=f"{number}")) for number in range(3)]
    path = thrown[0].original
    for number in (1, 0, 2):
        trash.restore(thrown[number])
        assert path.read_text() == f"{number}"
        path.unlink()


def test_of_a_link_only_the_link(tmp_path: Path) -> None:
    target = file(tmp_path / "elsewhere")
    link = tmp_path / "link.jsonl"
    link.symlink_to(target)
    thrown = trash.put(link)
    assert not link.is_symlink()
    assert target.read_text() == "content"
    trash.restore(thrown)
    assert link.is_symlink()
    assert link.read_text() == "content"


def test_nothing_is_written_over(tmp_path: Path) -> None:
    thrown = trash.put(file(tmp_path / "store", content="old"))
    file(tmp_path / "store", content="new")
    with pytest.raises(trash.TrashError, match="another file of that name"):
        trash.restore(thrown)
    assert thrown.original.read_text() == "new"
    assert thrown.place is not None
    assert thrown.place.read_text() == "old"


def test_a_folder_that_is_gone_is_made_again(tmp_path: Path) -> None:
    thrown = trash.put(file(tmp_path / "store"))
    thrown.original.parent.rmdir()
    trash.restore(thrown)
    assert thrown.original.read_text() == "content"


def test_an_emptied_trash(tmp_path: Path) -> None:
    thrown = trash.put(file(tmp_path / "store"))
    assert thrown.place is not None
    thrown.place.unlink()
    with pytest.raises(trash.TrashError, match="look for it in"):
        trash.restore(thrown)
    with pytest.raises(trash.TrashError, match="your system's trash"):
        trash.restore(trash.Trashed(thrown.original, None))


def test_a_trash_that_cannot_be_had(tmp_path: Path, data: Path) -> None:
    data.write_text("in the way")
    path = file(tmp_path / "store")
    with pytest.raises(trash.TrashError, match=f"{path} cannot be put into the trash"):
        trash.put(path)
    assert path.read_text() == "content"
    trash.remove_for_good(path)
    assert not path.exists()
    with pytest.raises(trash.TrashError, match="No such file"):
        trash.remove_for_good(path)


def test_what_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(trash.TrashError, match="is not there"):
        trash.put(tmp_path / "nothing")


def test_a_trash_on_another_file_system(tmp_path: Path) -> None:
    """It is then at the top of that file system, as the specification has it."""
    other = tmp_path / "other"
    other.mkdir()
    if subprocess.run(["mount", "-t", "tmpfs", "none", other], capture_output=True, check=False).returncode:
        pytest.skip("may not mount a file system here")
    try:
        thrown = trash.put(file(other))
        assert thrown.place is not None
        assert thrown.place.is_relative_to(other / f".Trash-{os.getuid()}")
        trash.restore(thrown)
        assert thrown.original.read_text() == "content"
    finally:
        subprocess.run(["umount", "--lazy", other], check=True)


def test_a_read_only_folder(tmp_path: Path) -> None:
    folder = tmp_path / "store"
    path = file(folder)
    if subprocess.run(["mount", "--bind", folder, folder], capture_output=True, check=False).returncode:
        pytest.skip("may not mount a file system here")
    try:
        subprocess.run(["mount", "-o", "remount,ro,bind", folder], check=True)
        with pytest.raises(trash.TrashError, match="its folder cannot be written to"):
            trash.put(path)
        with pytest.raises(trash.TrashError, match="Read-only"):
            trash.remove_for_good(path)
        assert path.read_text() == "content"
    finally:
        subprocess.run(["umount", "--lazy", folder], check=True)
