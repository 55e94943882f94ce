"""The games that a server stores: a file for each in a folder of the user's; in memory what cannot be written.

A file has two lines of JSON: the number of its format with the game's title, which the list shows; and the snapshot from
which an engine process restores the game. Several servers may use one folder; of one game the last change remains.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from asyncio import Future
from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from typing import Any, Concatenate, ParamSpec, TypeVar

from gozero.frontends.web.settings import PROGRAM, WebSettings
from gozero.system import files
from gozero.system.console import say
from gozero.system.options import SettingsError

P = ParamSpec("P")
T = TypeVar("T")
FORMAT = 2
MOST_FILES = 1000  # in the folder; those changed longest ago are deleted
MOST_IN_MEMORY = 100  # games; those changed longest ago are dropped
SUFFIX = ".game.json"
_TITLE = {
    "played": float, "game": str, "cols": int, "rows": int, "person": str, "level": int, "engine": str, "record": str,
    "moves": int, "goesOn": bool, "result": str,
}  # fmt: skip
_IDENTITY = re.compile(r"[0-9a-f]{8,32}")
_DAMAGED = (ValueError, LookupError, TypeError)  # what reading a file of another kind raises


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


def _in_thread(act: Callable[Concatenate[StoredGames, P], T]) -> Callable[Concatenate[StoredGames, P], Future[T]]:
    """A method that is run in the thread of the games; its result is to be awaited."""

    def run(self: StoredGames, *arguments: P.args, **named: P.kwargs) -> Future[T]:
        return self._loop.run_in_executor(self._thread, partial(act, self, *arguments, **named))

    return run


class StoredGames:
    """The snapshots of all games, by the identities of the games. One thread reads and writes the files, in order."""

    def __init__(self, folder: Path | None, on_fault: Callable[[str], None]) -> None:
        self._folder = folder  # for the files; None: nothing is written
        self._on_fault = on_fault  # called with a sentence when games can no longer be written
        self.fault = ""  # that sentence; "" while games can be written
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, "games")
        self._in_memory: OrderedDict[str, dict[str, Any]] = OrderedDict()  # the thread's: games that are not on disk

    @_in_thread
    def put(self, saved: dict[str, Any]) -> None:
        """Store a snapshot: on disk, and listed, once a move was played, so that it has a title."""
        identity = saved["game"]["identity"]
        if _IDENTITY.fullmatch(identity):
            self._in_memory[identity] = saved
            self._in_memory.move_to_end(identity)
            while len(self._in_memory) > MOST_IN_MEMORY:
                self._in_memory.popitem(last=False)
            self._write_all()

    @_in_thread
    def get(self, identity: str) -> dict[str, Any] | None:
        """The snapshot of a game; None if there is none that can be read."""
        if identity in self._in_memory or self._folder is None or not _IDENTITY.fullmatch(identity):
            return self._in_memory.get(identity)
        return _read(_path(self._folder, identity), is_whole=True)

    @_in_thread
    def titles(self) -> list[dict[str, Any]]:
        """The title of each game with its `identity`, the game played last first."""
        paths = {} if self._folder is None else _files(self._folder)
        titles = {identity: _read(path, is_whole=False) for identity, path in paths.items()}
        found = {identity: title for identity, title in titles.items() if title is not None}
        found |= {identity: saved["title"] for identity, saved in self._played()}
        games = [{**title, "identity": identity} for identity, title in found.items()]
        return sorted(games, key=lambda game: -float(game["played"]))

    @_in_thread
    def delete(self, identity: str) -> None:
        """Delete a game. OSError if its file cannot be deleted."""
        self._in_memory.pop(identity, None)
        if self._folder is not None and _IDENTITY.fullmatch(identity):
            _path(self._folder, identity).unlink(missing_ok=True)

    async def close(self) -> None:
        """Write what is not written yet."""
        await self._loop.run_in_executor(self._thread, self._write_all)
        self._thread.shutdown()

    def _played(self) -> list[tuple[str, dict[str, Any]]]:
        """The games in memory that are to be written."""
        return [(identity, saved) for identity, saved in self._in_memory.items() if saved["title"] is not None]

    def _write_all(self) -> None:
        """Write the games to disk. If one cannot be written, the next change tries it again."""
        if self._folder is None:
            return
        fault = ""
        for identity, saved in self._played():
            try:
                _write(_path(self._folder, identity), saved)
            except OSError as error:
                fault = f"Games cannot be stored in {self._folder}: {(error.strerror or str(error)).lower()}."
                break
            del self._in_memory[identity]
        if fault and fault != self.fault:
            self._loop.call_soon_threadsafe(self._on_fault, fault)
        self.fault = fault


def _path(folder: Path, identity: str) -> Path:
    return folder / f"{identity}{SUFFIX}"


def _files(folder: Path) -> dict[str, Path]:
    """The files of games by identity, none without a folder. A user's copy of a file has no identity."""
    paths = {path.name.removesuffix(SUFFIX): path for path in folder.glob(f"*{SUFFIX}")}
    return {identity: path for identity, path in paths.items() if _IDENTITY.fullmatch(identity)}


def _read(path: Path, *, is_whole: bool) -> dict[str, Any] | None:
    """The title in a file, or its whole snapshot; None if there is no file, or none that can be read."""
    try:
        with path.open(encoding="utf-8") as file:
            head = files.from_json(file.readline(), is_finite=True)
            if head["format"] != FORMAT:
                raise ValueError(f"format {head['format']}, not {FORMAT}")
            if not is_whole:
                return _title(head["title"])
            saved, identity = files.from_json(file.readline(), is_finite=True), path.name.removesuffix(SUFFIX)
            return {"setup": saved["setup"], "game": {**saved["game"], "identity": identity}, "title": saved["title"]}
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError as error:
        _leave_out(path, str(error.strerror))
    except _DAMAGED:
        _leave_out(path, "it is damaged, or of another version of gozero")
    return None


def _title(values: dict[str, Any]) -> dict[str, Any]:
    """A title that the page can show. LookupError or TypeError for values that are none."""
    if any(type(values[name]) is not kind for name, kind in _TITLE.items()):
        raise TypeError("a field of the title has another type")
    return {**values, "played": max(0.0, min(time.time(), values["played"]))}


@cache
def _leave_out(path: Path, why: str) -> None:
    """Name a file that cannot be read in the terminal, once."""
    say(f"{PROGRAM}: left out a game, {path}: {why}")


def _write(path: Path, saved: dict[str, Any]) -> None:
    """Write a game whole; if it is a new one, delete those that are too many. OSError if it cannot be written."""
    is_new = not path.exists()
    path.parent.mkdir(parents=True, exist_ok=True)
    head = {"format": FORMAT, "title": saved["title"]}
    with files.replacing(path) as file:
        file.write("".join(json.dumps(part, separators=(",", ":")) + "\n" for part in (head, saved)).encode())
    if is_new:
        with suppress(OSError):  # another server has deleted one
            games = sorted(_files(path.parent).values(), key=lambda game: (game == path, game.stat().st_mtime))
            for old in games[:-MOST_FILES]:
                old.unlink(missing_ok=True)
