"""Plays a tournament in its folder: what is left of it, its files, and the table at the end."""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gozero.system.console import INTERRUPTED, SUCCESS, progress_bar, say, stop_on_signals
from training.matches.tournament import field as fields
from training.matches.tournament import journal, rehearsal, results
from training.matches.tournament.conductor import Conductor
from training.matches.tournament.field import Field
from training.matches.tournament.journal import Journal, PlayedGame
from training.matches.tournament.page import Pages
from training.matches.tournament.presets import OUT
from training.matches.tournament.results import Results
from training.storage import storage

FAULTY = 1  # exit code: a game was lost by a fault, or an entrant could not start
SAID_FAULTS = 3  # of one entrant that are said at once
REWRITE = 60.0  # seconds between two versions of the page while games are played
PAGE, TABLE, DOCUMENT = "tournament.html", "results.csv", "results.json"


@dataclass(frozen=True)
class View:
    """What a command says of the results, beside the tournament's own page and files."""

    text: Callable[[Results], str] = results.text  # for stdout, at the end
    parts: Callable[[Results], Iterable[str]] = lambda found: ()  # HTML at the head of the page
    files: Callable[[Results], Mapping[str, str]] = lambda found: {}  # names and contents


def play_all(options: argparse.Namespace, paths: Sequence[Path]) -> int:
    """Play, in turn, the fields of the files that the options of `training.commands.tournament` name; the exit code."""
    read = [(path, fields.load(path, games=options.games, processes=options.processes)) for path in paths]
    stop, code = None, SUCCESS
    for path, field in read:
        folder = (options.out or OUT / options.field) if len(paths) > 1 else options.out or OUT / path.stem
        folder = folder / path.stem if len(paths) > 1 else folder
        if options.dry_run:
            code = max(code, rehearse(field, folder))
            continue
        stop = stop or stop_on_signals("games under way are played anew by the same command")
        code = max(code, play(field, folder, stop))
        if stop():
            return INTERRUPTED
    return code


def play(field: Field, folder: Path, stop: Callable[[], bool], view: View | None = None) -> int:
    """Play one tournament as far as it goes; the exit code without regard to a stop.

    Raises:
        SettingsError: the folder's journal cannot be used, or contradicts the field.
        BusyError, FolderError: see `storage.alone`.
        PoolError: processes of this machine cannot play.
        StorageError: a file of the folder cannot be written.
    """
    view = view or View()
    with storage.alone(folder), Journal(folder, field) as opened:
        conductor = Conductor(field, opened, folder)
        files = _Files(conductor, folder, view)
        say(f"{field}; {conductor.left:,} of {conductor.asked:,} games to play; {folder / PAGE}")
        with progress_bar(len(opened.games) + conductor.left, "tournament", " games") as bar:
            bar.initial = bar.n = len(opened.games)
            faults: Counter[str] = Counter()
            try:
                for game in conductor.play(stop):
                    faults[game.faulty] += 1
                    if game.detail and faults[game.faulty] <= SAID_FAULTS:
                        more = "; further ones are counted" if faults[game.faulty] == SAID_FAULTS else ""
                        bar.clear()
                        say(f"{results.where(game)}: {game.faulty}: {game.ended}: {game.detail}{more}")
                    bar.total = len(opened.games) + conductor.left
                    bar.update()
                    files.save(game)
            finally:
                final = files.write()
    print(view.text(final))
    return FAULTY if final.faults or final.withdrawn else SUCCESS


def rehearse(field: Field, folder: Path, steps: Mapping[int, tuple[str, int]] | None = None) -> int:
    """Print what playing it in this folder would need; the exit code. `steps` as for `rehearsal.rehearse`."""
    code = SUCCESS
    print(field)
    for is_fine, line in rehearsal.rehearse(field, journal.played(folder, field), steps):
        print(line, flush=True)
        code = code if is_fine else FAULTY
    return code


class _Files:
    """Makes the files of the folder from the journal: each game as it ends, page and tables once a minute and at the
    end. StorageError if one cannot be written.
    """

    def __init__(self, conductor: Conductor, folder: Path, view: View) -> None:
        self._conductor, self._folder, self._view = conductor, folder, view
        self._game = conductor.field.make_game()
        self._pages = Pages(self._game)
        self._written = time.monotonic()
        games = conductor.journal.games
        for played in games:  # a killed run may not have come to the last one
            if (
                played is games[-1]
                or not (folder / journal.GAMES / journal.file_name(played, conductor.field)).exists()
            ):
                journal.write_game(played, conductor.field, self._game, folder)

    def save(self, played: PlayedGame) -> None:
        """Save a game that has ended, and now and then the page."""
        journal.write_game(played, self._conductor.field, self._game, self._folder)
        if time.monotonic() - self._written > REWRITE:
            self.write()

    def write(self) -> Results:
        found = Results.of(self._conductor)
        contents = {TABLE: results.csv_text(found), DOCUMENT: results.json_text(found)}
        contents |= {PAGE: self._pages.page(found, self._view.parts(found)), **self._view.files(found)}
        for name, content in contents.items():
            with storage.writing(self._folder / name), storage.replacing(self._folder / name) as file:
                file.write(content.encode())
        self._written = time.monotonic()
        return found
