"""Files: where those of a user lie, how one is replaced whole, and what is read from JSON.

Several processes share the cache folder, in which compiled kernels lie; the most recently used versions stay there.
"""

from __future__ import annotations

import errno
import json
import math
import os
import secrets
import shutil
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any, NoReturn

import platformdirs

MOST_VERSIONS = 8  # of gozero, whose kernels (64 MB each) stay side by side


def user_data() -> Path:
    """The folder of what is stored about the user, such as results of games. OSError if there is no home folder."""
    return user_folder(platformdirs.user_data_path)


def user_folder(find: Callable[..., Path]) -> Path:
    """gozero's folder of a kind that platformdirs knows. OSError if there is no home folder."""
    try:
        folder = find("gozero", appauthor=False)
    except RuntimeError:
        raise OSError("there is no home folder") from None
    if not folder.is_absolute():  # what earlier versions of platformdirs give then
        raise OSError("there is no home folder")
    return folder


def full(path: Path | str) -> Path:
    """The absolute form of a path, with ~ for a home folder; links stay as they are named. A ~ of an unknown user
    stays, and so does a relative path if the working directory has been removed.
    """
    found = Path(os.path.expanduser(path))  # noqa: PTH111 - pathlib raises where there is no such user
    try:
        return found.absolute()
    except FileNotFoundError:
        return found


def from_json(text: str | bytes, *, is_finite: bool = False) -> Any:
    """The value of a JSON text. ValueError for other texts, however they are nested, and with `is_finite` for what
    Python reads as NaN or infinity, which no other reader would understand.
    """
    try:
        return json.loads(text, **(_FINITE if is_finite else {}))
    except RecursionError:
        raise ValueError("lists or objects are nested too deeply") from None


def _finite(text: str) -> float:
    """A number with a point or an exponent. ValueError if it is too large for Python."""
    value = float(text)
    return value if math.isfinite(value) else _refused(text)


def _refused(name: str) -> NoReturn:
    raise ValueError(f"{name[:40]} is no number in JSON, or too large for one")


_FINITE: dict[str, Any] = {"parse_constant": _refused, "parse_float": _finite}


def write(path: Path, content: bytes) -> None:
    """Write a file where the user wants it. A file, also one behind a link, is always whole, the old or the new one;
    devices and pipes are written to directly. OSError if that fails.
    """
    if path.exists() and not path.is_file():  # by its own name: what /dev/stdout leads to may have no other
        path.write_bytes(content)
        return
    target = Path(os.path.realpath(path))
    try:
        with replacing(target) as file:
            file.write(content)
    except PermissionError:  # perhaps of the folder only
        target.write_bytes(content)


@contextmanager
def replacing(path: Path) -> Iterator[IO[bytes]]:
    """Open a file that replaces `path` at the end: `path` is always whole, old or new, even after a crash. It keeps its
    permissions; a new file gets those of any other. An OSError names it, also if it is a device or a pipe.
    """
    if path.exists() and not (path.is_file() or path.is_dir()):  # a folder is refused below
        raise OSError(errno.EINVAL, "it is a device or a pipe, not a file", str(path))
    mode = stat.S_IMODE(path.stat().st_mode) if path.exists() else None
    fresh = path.with_name(f"{path.name[:50]}{secrets.token_hex(8)}.tmp")
    most = 0o666 if mode is None else mode  # of which the system takes away the umask
    try:
        with open(str(fresh), "xb", opener=lambda name, flags: os.open(name, flags, most)) as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        if mode is not None:
            fresh.chmod(mode)
        fresh.replace(path)
        sync(path.parent)
    except OSError as error:
        if error.errno is not None and error.filename in (None, str(fresh)):
            error.filename = str(path)
        raise
    finally:
        with suppress(OSError):  # a read-only file system refuses that also where there is none
            fresh.unlink()


def sync(folder: Path) -> None:
    """Make the names in a folder durable, where the system supports it."""
    with suppress(OSError):  # Windows opens no folders
        descriptor = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def user_cache() -> Path:
    """The platform's cache folder for gozero, which need not exist. OSError if there is no home folder."""
    return user_folder(platformdirs.user_cache_path)


def cache_name() -> str:
    """The cache folder for a message, or why there is none."""
    try:
        return str(user_cache())
    except OSError:
        return "the cache of a user without a home folder"


def remove_old(used: Path, pattern: str, most: int) -> None:
    """Remove the folders beside `used` that match, except it and the others used last, `most` in all; folders that
    cannot be removed stay.
    """
    with suppress(OSError):  # another process has removed one
        for old in sorted(used.parent.glob(pattern), key=lambda path: (path != used, -path.stat().st_mtime))[most:]:
            shutil.rmtree(old, ignore_errors=True)
