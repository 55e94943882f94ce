"""A store on this disk that breaks when it is told to, and small run folders to copy there. Not a test."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import fsspec
from fsspec.implementations.local import LocalFileSystem


class Killed(BaseException):
    """The process ends here: nothing that catches errors sees it."""


class BrittleFileSystem(LocalFileSystem):
    """Local files. After `left` more changes the next is half done, and then `error` is raised, once."""

    protocol = "brittle"
    left: int | None = None
    error: BaseException = OSError("the line is dead")

    def pipe_file(self, path: Any, value: bytes, *arguments: Any, **named: Any) -> None:
        half = self._half()
        super().pipe_file(path, value if half is None else value[: len(value) // 2], *arguments, **named)
        if half is not None:
            raise half

    def rm_file(self, path: Any) -> None:
        half = self._half()
        if half is not None:
            raise half
        super().rm_file(path)

    def mv(self, path1: Any, path2: Any, **named: Any) -> None:
        half = self._half()
        super().mv(path1, path2, **named)
        if half is not None:  # it seems to have failed
            raise half

    @classmethod
    def _half(cls) -> BaseException | None:
        """The error to be raised now, if its turn is come."""
        if cls.left is None:
            return None
        cls.left -= 1
        if cls.left >= 0:
            return None
        cls.left = None
        return cls.error


fsspec.register_implementation("brittle", BrittleFileSystem, clobber=True)


def break_after(changes: int | None, error: BaseException | None = None) -> None:
    """Let the store break after so many changes; None: let it work."""
    BrittleFileSystem.left, BrittleFileSystem.error = changes, error or OSError("the line is dead")


def write(path: Path, content: bytes) -> None:
    """Replace a file whole, as a run does with all but shards and log."""
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.tmp")
    fresh.write_bytes(content)
    fresh.replace(path)


def work(folder: Path, generation: int, seed: int = 0) -> None:
    """A generation in a run folder: a new checkpoint, the one three before it gone, a shard, a longer log."""
    text = f"{seed} {generation} "
    write(folder / f"checkpoints/{generation:06d}.pt", (text + "checkpoint").encode() * 50)
    (folder / f"checkpoints/{generation - 3:06d}.pt").unlink(missing_ok=True)
    for path, some in ((f"records/{generation:06d}.gzr", 30), ("log.jsonl", 1)):
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        with (folder / path).open("ab") as file:
            file.write(text.encode() * some + b"\n")
    for name in ("weights.pt", "frozen/000001.pt", "report.html"):
        write(folder / name, (text + name).encode() * 20)
    write(folder / "settings.json", b"{}")


def state(folder: Path) -> dict[str, bytes]:
    """What is to survive of a run folder."""
    kept = (path for path in folder.rglob("*") if path.is_file() and path.name not in ("lock", "storage.json"))
    return {path.relative_to(folder).as_posix(): path.read_bytes() for path in kept}


def objects(place: Path) -> list[str]:
    """The files of a store on this disk, less its manifest."""
    names = (path.relative_to(place).as_posix() for path in place.rglob("*") if path.is_file())
    return sorted(name for name in names if not name.startswith("manifest.json"))
