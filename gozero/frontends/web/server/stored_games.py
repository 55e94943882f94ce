"""The games that a server stores: a file for each in a folder of the user's; in memory what cannot be written.

A file has two lines of JSON: the number of its format with the game's title, which the list shows; and the snapshot from
which an engine process restores the game. Several servers may use one folder; of one game the last change remains.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

from gozero.frontends.web.settings import PROGRAM, WebSettings
from gozero.system import files
from gozero.system.console import say
from gozero.system.options import SettingsError

FORMAT = 2
MOST_FILES = 1000  # in the folder; those changed longest ago are deleted
MOST_IN_MEMORY = 100  # games; those changed longest ago are dropped
PAUSE = 0.1  # seconds in which changes are collected before they are written
UNFINISHED = 3600.0  # seconds after which a file whose writing was broken off is deleted
SUFFIX = ".game.json"
_IDENTITY = re.compile(r"[0-9a-f]{8,32}")
_DAMAGED = (ValueError, LookupError, TypeError, RecursionError)  # what reading a file of another kind raises


def games_folder(settings: WebSettings) -> Path | None:
    """The folder of the games, which need not exist; None if none is to be written. SettingsError for no folder."""
    if settings.no_games:
        return None
    if settings.games is not None:
        folder = files.full(settings.games)
        if folder.exists() and not folder.is_dir():
            raise SettingsError(f"--games {settings.games}: this is not a folder")
        return folder
    try:
        return files.user_data() / "games"
    except OSError as error:
        say(f"{PROGRAM}: games are not stored on disk: {error}; choose a folder with --games")
        return None


class StoredGames:
    """The snapshots of all games, by the identities of the games.

    Args:
        folder: for the files; None: nothing is written.
        on_fault: called with a sentence when games can no longer be written.

    Attributes:
        fault: that sentence; "" while games can be written.
    """

    def __init__(self, folder: Path | None, on_fault: Callable[[str], None]) -> None:
        self.fault = ""
        self._folder = folder
        self._on_fault = on_fault
        self._in_memory: OrderedDict[str, dict[str, Any]] = OrderedDict()
        self._task: asyncio.Task[None] | None = None
        self._closing = asyncio.Event()
        self._lock = asyncio.Lock()  # of the files: a game that is being deleted is not written
        self._left_out: set[Path] = set()  # files that the terminal has named

    def put(self, saved: dict[str, Any]) -> None:
        """Store a snapshot: on disk, and listed, once a move was played, so that it has a title."""
        identity = saved["game"]["identity"]
        if not _IDENTITY.fullmatch(identity):
            return
        self._in_memory[identity] = saved
        self._in_memory.move_to_end(identity)
        while len(self._in_memory) > MOST_IN_MEMORY:
            self._in_memory.popitem(last=False)
        if self._folder is not None and (self._task is None or self._task.done()):
            self._task = asyncio.create_task(self._write_all(self._folder))

    async def get(self, identity: str) -> dict[str, Any] | None:
        """The snapshot of a game; None if there is none that can be read."""
        if identity in self._in_memory or self._folder is None or not _IDENTITY.fullmatch(identity):
            return self._in_memory.get(identity)
        return await asyncio.to_thread(self._read, self._folder / f"{identity}{SUFFIX}", is_whole=True)

    async def titles(self) -> list[dict[str, Any]]:
        """The title of each game with its `identity`, the game played last first."""
        found = {} if self._folder is None else await asyncio.to_thread(self._read_titles, self._folder)
        found |= {identity: saved["title"] for identity, saved in self._played()}
        games = [{**title, "identity": identity} for identity, title in found.items()]
        return sorted(games, key=lambda game: -float(game["played"]))

    async def delete(self, identity: str) -> None:
        """Delete a game. OSError if its file cannot be deleted."""
        async with self._lock:
            self._in_memory.pop(identity, None)
            if self._folder is not None and _IDENTITY.fullmatch(identity):
                await asyncio.to_thread((self._folder / f"{identity}{SUFFIX}").unlink, missing_ok=True)

    async def close(self) -> None:
        """Write what is not written yet."""
        self._closing.set()
        if self._task is not None:
            await self._task
        if self._folder is not None:
            await self._write_all(self._folder)  # what could not be written before

    def _played(self) -> list[tuple[str, dict[str, Any]]]:
        """The games in memory that are to be written."""
        return [(identity, saved) for identity, saved in self._in_memory.items() if saved["title"] is not None]

    async def _write_all(self, folder: Path) -> None:
        """Write until everything is on disk, or something cannot be written: the next change tries it again."""
        fault = ""
        while self._played() and not fault:
            with suppress(TimeoutError):
                await asyncio.wait_for(self._closing.wait(), PAUSE)
            for identity, _ in self._played():
                try:
                    async with self._lock:
                        await self._write(folder, identity)
                except OSError as error:
                    fault = f"Games cannot be stored in {folder}: {(error.strerror or str(error)).lower()}."
        if fault and fault != self.fault:
            self._on_fault(fault)
        self.fault = fault

    async def _write(self, folder: Path, identity: str) -> None:
        """Write a game, if it is not deleted by now; it leaves the memory, unless it has changed meanwhile."""
        saved = self._in_memory.get(identity)
        if saved is not None:
            await asyncio.to_thread(_write, folder / f"{identity}{SUFFIX}", saved)
            if self._in_memory.get(identity) is saved:
                del self._in_memory[identity]

    def _read(self, path: Path, *, is_whole: bool) -> dict[str, Any] | None:
        """The title in a file, or its whole snapshot; None if there is no file, or none that can be read."""
        try:
            with path.open(encoding="utf-8") as file:
                title = _title(file.readline())
                if not is_whole:
                    return title
                saved = json.loads(file.readline())
                if saved["game"]["identity"] != path.name.removesuffix(SUFFIX):
                    raise ValueError("it is another game's")
                return {"setup": saved["setup"], "game": dict(saved["game"]), "title": saved["title"]}
        except (FileNotFoundError, NotADirectoryError):
            return None
        except (OSError, *_DAMAGED) as error:
            self._leave_out(path, error)
            return None

    def _read_titles(self, folder: Path) -> dict[str, dict[str, Any]]:
        paths = {path.name.removesuffix(SUFFIX): path for path in folder.glob(f"*{SUFFIX}")}  # none without a folder
        # a user's copy of a file has no identity: it can be neither opened nor deleted here
        known = {identity: path for identity, path in paths.items() if _IDENTITY.fullmatch(identity)}
        titles = {identity: self._read(path, is_whole=False) for identity, path in known.items()}
        return {identity: title for identity, title in titles.items() if title is not None}

    def _leave_out(self, path: Path, error: Exception) -> None:
        """Name a file that cannot be read in the terminal, once."""
        if path not in self._left_out:
            self._left_out.add(path)
            why = error.strerror if isinstance(error, OSError) else "it is damaged, or of another version of gozero"
            say(f"{PROGRAM}: left out a game, {path}: {why}")


def _title(line: str) -> dict[str, Any]:
    """The title in the first line of a file. An error of `_DAMAGED` for any other line."""
    head = json.loads(line)
    if head["format"] != FORMAT:
        raise ValueError(f"format {head['format']}, not {FORMAT}")
    return {**head["title"], "played": float(head["title"]["played"])}


def _write(path: Path, saved: dict[str, Any]) -> None:
    """Write a game whole; if it is a new one, delete those that are too many. OSError if it cannot be written."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"format": FORMAT, "title": saved["title"]}
    with files.replacing(path) as file:
        file.write("".join(json.dumps(part, separators=(",", ":")) + "\n" for part in (head, saved)).encode())
    if is_new:
        _remove_old(path.parent)


def _remove_old(folder: Path) -> None:
    """Delete the oldest games beyond `MOST_FILES`, and what servers that were killed left half written."""
    with suppress(OSError):  # another server has deleted one
        changed = {path: path.stat().st_mtime for path in folder.glob(f"*{SUFFIX}*")}
        own = [path for path in changed if _IDENTITY.fullmatch(path.name.partition(".")[0])]  # others are the user's
        games = sorted((path for path in own if path.name.endswith(SUFFIX)), key=changed.__getitem__)
        since = time.time() - UNFINISHED
        parts = [path for path in own if path.name.endswith(".tmp") and changed[path] < since]
        for path in (*games[:-MOST_FILES], *parts):
            path.unlink(missing_ok=True)
