"""Plays a tournament in its folder: what is left of it, its files, and the table at the end."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gozero.system import files
from gozero.system.console import INTERRUPTED, SUCCESS, progress_bar, say, stop_on_signals
from gozero.system.errors import UserError
from training.matches.match import Fixture, MatchGame
from training.matches.options import OUT
from training.matches.tournament import field as fields
from training.matches.tournament import journal, rehearsal, results
from training.matches.tournament.field import Field
from training.matches.tournament.journal import Journal
from training.matches.tournament.page import page
from training.matches.tournament.pool import WorkerPool
from training.matches.tournament.results import Results
from training.matches.tournament.worker import CANNOT_START
from training.storage import storage

FAULTY = 1  # exit code: a game was lost by a fault, a result is disputed, or an entrant could not start
SAID_FAULTS = 3  # of one entrant that are said at once
REWRITE = 60.0  # seconds between two versions of the page while games are played
STOPPED = "games under way are played anew by the same command"
PAGE, TABLE, DOCUMENT = Path("tournament.html"), Path("results.csv"), Path("results.json")


@dataclass(frozen=True)
class View:
    """What a command says of the results, beside the tournament's own page and files."""

    text: Callable[[Results], str] = results.text  # for stdout, at the end
    line: Callable[[MatchGame], str] | None = None  # for stdout, of a game that has ended; None: nothing
    head: Callable[[Results], Iterable[str]] = lambda found: ()  # HTML at the head of the page
    files: Callable[[Results], Mapping[Path, str | bytes]] = lambda found: {}  # paths from the folder, and contents


def play_all(options: argparse.Namespace, paths: Sequence[Path]) -> int:
    """Play, in turn, the fields of the files that the options of `training.commands.tournament` name; the exit code."""
    read = [(path, fields.load(path, games=options.games, processes=options.processes)) for path in paths]
    code, out = SUCCESS, options.out
    for path, field in read:
        if len(paths) > 1:
            options.out = (out or OUT / options.field) / path.stem
        code = max(code, play_once(field, options, View(), OUT / path.stem))
        if code == INTERRUPTED:
            break
    return code


def play_once(field: Field, options: argparse.Namespace, view: View, folder: Path | None = None) -> int:
    """Play a command's field in --out, else in `folder`, else in a folder that goes at the end; the exit code."""
    folder = options.out or folder
    if options.dry_run:
        print(field)
        code = SUCCESS
        for is_fine, line in rehearsal.rehearse(field, journal.played(folder, field) if folder else []):
            print(line, flush=True)
            code = code if is_fine else FAULTY
        return code
    stop = stop_on_signals(STOPPED if folder else "the games that have ended count")
    if folder:
        code = play(field, folder, stop, view)
    else:
        place = Path(tempfile.mkdtemp(prefix="gozero-"))
        try:
            code = play(field, place, stop, view)  # after an error the folder stays, for the log in it
        except storage.StorageError as error:
            raise UserError(f"{error} with --out {place}") from None
        shutil.rmtree(place)
    return INTERRUPTED if stop() else code


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
        tournament = _Tournament(opened, folder, view)
        left, done = tournament.results.left, len(opened.games)
        say(f"{field}; {left:,} of {len(field.pairings) * field.games:,} games to play in {folder}")
        with progress_bar(done + left, "tournament", " games") as bar:
            bar.initial = bar.n = done
            faults: Counter[str] = Counter()
            try:
                for game in tournament.play(stop):
                    faults[game.faulty] += 1
                    bar.clear()
                    if view.line:
                        print(view.line(game), flush=True)
                    elif game.detail and faults[game.faulty] <= SAID_FAULTS:
                        more = "; further ones are counted" if faults[game.faulty] == SAID_FAULTS else ""
                        say(f"{results.where(game)}: {game.faulty}: {game.ended}: {game.detail}{more}")
                    bar.total = len(opened.games) + tournament.results.left
                    bar.update()
            finally:
                final = tournament.write()
    print(view.text(final))
    return FAULTY if final.faults or final.withdrawn or final.disputed else SUCCESS


class _Tournament:
    """A tournament in its folder. The journal is authoritative; all other files are made from it: each game as it ends,
    page and tables once a minute and at the end. StorageError if one cannot be written.
    """

    def __init__(self, opened: Journal, folder: Path, view: View) -> None:
        self._journal, self._folder, self._view = opened, folder, view
        self._field, self._game = opened.field, opened.field.make_game()
        self._withdrawn: dict[str, str] = {}  # entrants that could not be started
        self._open = iter(journal.open_fixtures(self._field, opened.games))
        self._written = time.monotonic()
        for played in opened.games:  # a killed run may not have come to the last one
            if not (folder / journal.GAMES / journal.file_name(played, self._field)).exists():
                journal.write_game(played, self._field, self._game, folder)

    @property
    def results(self) -> Results:
        return Results(self._field, list(self._journal.games), dict(self._withdrawn))

    def play(self, stop: Callable[[], bool]) -> Iterator[MatchGame]:
        """Play what is left; each game is in the journal when it is yielded."""
        pool = WorkerPool(self._field, self._folder, self._next)
        for game in pool.play(lambda: stop() or self.results.is_decided):
            if game.ended == CANNOT_START:
                self._withdrawn[game.faulty] = f"could not be started: {game.detail}"
                continue
            self._journal.add(game)
            yield game
            journal.write_game(game, self._field, self._game, self._folder)
            if time.monotonic() - self._written > REWRITE:
                self.write()

    def _next(self) -> Fixture | None:
        """The next fixture of entrants that can start."""
        return next((each for each in self._open if not self._withdrawn.keys() & set(each.pair)), None)

    def write(self) -> Results:
        """Write page and tables."""
        found = self.results
        contents: dict[Path, str | bytes] = {TABLE: results.csv_text(found), DOCUMENT: results.json_text(found)}
        contents |= {PAGE: page(found, self._view.head(found)), **self._view.files(found)}
        for name, content in contents.items():
            with storage.writing(self._folder / name):  # a user's --csv may be a link or a device
                files.write(self._folder / name, content.encode() if isinstance(content, str) else content)
        self._written = time.monotonic()
        return found
