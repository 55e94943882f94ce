"""The files of a run folder: their places, what is cut off after a crash, what is removed to save room, disk errors.

A shard is records/NNNNNN.gzr, the games of one generation (`training.records`). Games that were written after the
checkpoint from which a run continues are played again, so their bytes are cut.
"""

from __future__ import annotations

import contextlib
import errno
import os
import re
from collections.abc import Iterator
from pathlib import Path

from filelock import FileLock, Timeout

from gozero.system import files
from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.words import counted

MEGABYTE = 1_000_000
LOCK = "lock"  # a file of the run folder, held by the process that works there
FORBIDDEN = (errno.EACCES, errno.EPERM, errno.EROFS)
REPAIR = "make room or repair the disk"  # what to do about any other failure
NO_LOCKS = (errno.ENOLCK, errno.EOPNOTSUPP)  # what network drives say that have none; filelock sees to ENOSYS


class StorageError(UserError):
    """A file of the run cannot be written; one line with the path and the reason."""

    def __init__(self, path: Path, why: str, remedy: str = REPAIR) -> None:
        super().__init__(
            f"cannot write {path.absolute()}: {why}; what was saved before is whole: {remedy}, then give the same "
            "command again"
        )


class FolderError(UserError):
    """A folder in which no run can be; one line with the reason."""

    def __init__(self, folder: Path, why: str) -> None:
        super().__init__(f"cannot work in the folder {folder.absolute()}: {why}; change that, or give another folder")


def refuse_url(folder: Path) -> None:
    """UserError for a URL, which as a path would be a folder `s3:` here."""
    if re.match(r"\w{2,}:/", str(folder)):
        raise UserError(f"{folder} is a URL; give a folder of this machine (`gozero train --storage` takes a URL)")


@contextlib.contextmanager
def alone(folder: Path, file: str = "") -> Iterator[None]:
    """Keep other processes from working in a run folder, or on a file there. The system releases it when this process
    ends.

    A missing folder is made, and removed at the end if it is still empty. UserError if another process works there, or
    the folder is a URL, or cannot be made or written. A file system without locks gets a warning.
    """
    refuse_url(folder)
    made = [place for place in (folder, *folder.parents) if not place.exists()]
    name, what = (f"{file}.{LOCK}", "file") if file else (LOCK, "folder")
    lock = FileLock(folder / name)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock.acquire(timeout=0)
    except Timeout:
        raise UserError(
            f"{folder.absolute() / file} is in use by another gozero command; wait until it ends, or give another "
            f"{what}"
        ) from None
    except OSError as error:
        if error.errno not in NO_LOCKS:
            raise FolderError(folder, error.strerror or str(error)) from None
        say(f"{folder.absolute()}: its file system has no locks; take care that no other command works there")
    try:
        yield
    finally:
        with contextlib.suppress(OSError):
            if file:  # a run folder keeps its lock, see `identity`
                (folder / name).unlink()
        lock.release()
        with contextlib.suppress(OSError):  # another process uses it by now, or it is gone
            if made and {path.name for path in folder.iterdir()} <= {name}:
                (folder / name).unlink(missing_ok=True)
                for place in made:
                    place.rmdir()


def identity(folder: Path) -> tuple[int, int] | None:
    """What distinguishes a run folder from another of the same name: its lock file's device and number, which the
    system does not use again while a process has it; None where there is none.
    """
    try:
        found = (folder / LOCK).stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


@contextlib.contextmanager
def writing(path: Path) -> Iterator[None]:
    """Turn a disk error inside, while `path` is written, into a StorageError."""
    try:
        yield
    except (OSError, RuntimeError) as error:
        failure = _disk_failure(error)
        if failure is None:
            raise
        names = (failure.filename2, failure.filename)  # of a copy the second is where it was to go
        name = next((each for each in names if isinstance(each, str | bytes)), path)
        remedy = "allow gozero to write there" if failure.errno in FORBIDDEN else REPAIR
        raise StorageError(Path(os.fsdecode(name)), failure.strerror or str(failure), remedy) from None


def _disk_failure(error: BaseException | None) -> OSError | None:
    """The OSError behind an exception, if any: torch turns a full disk into a RuntimeError that does not name it."""
    while error is not None and not isinstance(error, OSError):
        error = error.__context__
    return error


def nearest(path: Path) -> Path:
    """The path itself if it exists, otherwise the nearest folder above it that does."""
    return next(place for place in (path.absolute(), *path.absolute().parents) if place.exists())


def shard(folder: Path, generation: int) -> Path:
    """The path of a generation's records in a run folder."""
    return folder / "records" / f"{generation:06d}.gzr"


def numbered(folder: Path, suffix: str) -> list[Path]:
    """The files of a folder that are named by a generation, oldest first: NUMBER.gzr, NUMBER.pt. Others are the user's,
    such as copies beside them.
    """
    named = (path for path in folder.glob(f"*{suffix}") if path.stem.isascii() and path.stem.isdigit())
    return sorted(named, key=lambda path: (int(path.stem), path.stem))


def holds_run(folder: Path) -> bool:
    """Whether a folder has a checkpoint."""
    return bool(numbered(folder / "checkpoints", ".pt"))


def length(path: Path) -> int:
    """Make a file durable and return its length in bytes; 0 where there is none."""
    if not path.exists():
        return 0
    with path.open("ab") as file:
        os.fsync(file.fileno())
        return file.tell()


def rewind(folder: Path, generation: int, shard_bytes: int) -> list[str]:
    """Take a run folder back to a checkpoint: cut the shard to its length then, rename later shards to *.gzr.cut and
    later checkpoints, which could not be read, to *.pt.cut.

    Returns a line about what was cut, if anything was.
    """
    for unread in numbered(folder / "checkpoints", ".pt"):
        if int(unread.stem) > generation:  # readable again some day, it would end what is done from here on
            unread.replace(unread.with_suffix(".pt.cut"))
    path, cut = shard(folder, generation), 0
    if path.exists() and path.stat().st_size > shard_bytes:
        cut += path.stat().st_size - shard_bytes
        os.truncate(path, shard_bytes)
    for later in numbered(path.parent, ".gzr"):
        if int(later.stem) > generation:
            cut += later.stat().st_size
            later.replace(later.with_suffix(".gzr.cut"))
    line = f"{cut:,} bytes of records are newer than the checkpoint and are cut: those games are played again"
    return [line] if cut else []


def clean(folder: Path, generation: int, handed_steps: int) -> None:
    """Remove what a killed process left half-written, and the log's lines of what is done again: generations from this
    one on, and matches of the gate about networks of more steps.
    """
    for pattern in ("*.tmp", "checkpoints/*.tmp"):
        for path in folder.glob(pattern):
            path.unlink()
    log = folder / "log.jsonl"
    lines = log.read_bytes().splitlines(keepends=True) if log.exists() else []
    remaining = [line for line in lines if line.endswith(b"\n") and not _is_done_again(line, generation, handed_steps)]
    if remaining != lines:
        with files.replacing(log) as file:
            file.write(b"".join(remaining))


def _is_done_again(line: bytes, generation: int, handed_steps: int) -> bool:
    """Whether a line of the log is of this generation or a later one, or of a match that is not decided any more; not
    for one that cannot be read, which is left for the reader to name.
    """
    try:
        values = files.from_json(line)
        if "run/generation" not in values:
            return bool(values["gate/steps"] > handed_steps)
        return bool(values["run/generation"] >= generation)
    except (ValueError, KeyError, TypeError):
        return False


def retire(folder: Path, needed_from: int, megabytes: int) -> list[str]:
    """Remove the oldest shards, before generation `needed_from`, until records/ holds at most so many MB (0: no limit).

    Returns a line about them, if any were removed.
    """
    paths = numbered(folder / "records", ".gzr")
    excess = sum(path.stat().st_size for path in paths) - megabytes * MEGABYTE
    gone: list[Path] = []
    for path in paths:
        if megabytes == 0 or excess <= 0 or int(path.stem) >= needed_from:
            break
        excess -= path.stat().st_size
        gone.append(path)
        path.unlink()
    if not gone:
        return []
    return [
        f"removed {counted(len(gone), 'old shard')} of records, {gone[0].name} to {gone[-1].name}: "
        f"records_mb = {megabytes} is reached"
    ]
