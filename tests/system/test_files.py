"""Files that the user has named: whole, or as they were."""

import errno
import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from gozero.system import files


def test_a_file_is_replaced_and_keeps_its_permissions(tmp_path: Path) -> None:
    path, link = tmp_path / "game.sgf", tmp_path / "link.sgf"
    link.symlink_to(path)
    files.write(path, b"one")
    path.chmod(0o600)
    files.write(link, b"two")
    assert path.read_bytes() == b"two"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert link.is_symlink()
    assert sorted(tmp_path.iterdir()) == [path, link]


@pytest.mark.parametrize("umask", [0o022, 0o077])
def test_a_new_file_has_the_permissions_of_any_other(umask: int, tmp_path: Path) -> None:
    before = os.umask(umask)
    try:
        files.write(tmp_path / "game.sgf", b"one")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "game.sgf").stat().st_mode) == 0o666 & ~umask


def test_a_disk_that_is_full_leaves_the_file_as_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "game.sgf"
    files.write(path, b"one")

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(OSError, match="No space"):
        files.write(path, b"another")
    assert path.read_bytes() == b"one"
    assert list(tmp_path.iterdir()) == [path]


def test_a_folder_that_cannot_be_written_may_hold_a_file_that_can(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "game.sgf"
    path.write_bytes(b"one")

    def refused(*_: object) -> int:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))

    monkeypatch.setattr(os, "open", refused)  # by which a new file is made
    files.write(path, b"two")
    assert path.read_bytes() == b"two"


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="the system has no pipes with names")
def test_a_file_that_a_read_only_system_refuses_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(name: str | Path, *_: object, **__: object) -> int:
        raise OSError(errno.EROFS, os.strerror(errno.EROFS), str(name))

    monkeypatch.setattr(os, "open", refuse)
    monkeypatch.setattr(Path, "unlink", refuse)
    with pytest.raises(OSError, match=r"game\.sgf'"):
        files.write(tmp_path / "game.sgf", b"one")


def test_into_a_pipe_is_written(tmp_path: Path) -> None:
    pipe, read = tmp_path / "pipe", []
    os.mkfifo(pipe)
    reader = threading.Thread(target=lambda: read.append(pipe.read_bytes()))
    reader.start()
    files.write(pipe, b"one")
    reader.join()
    assert read == [b"one"]
    assert pipe.is_fifo()


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_device_is_not_replaced(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(OSError, match="it is a device or a pipe, not a file"), files.replacing(pipe):
        pass
    assert pipe.is_fifo() and list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(sys.platform == "win32", reason="there is no /dev/stdout")
def test_into_a_pipe_without_a_name_is_written() -> None:
    code = "from pathlib import Path; from gozero.system import files; files.write(Path('/dev/stdout'), b'one')"
    assert subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout == b"one"
