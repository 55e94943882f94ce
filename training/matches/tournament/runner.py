"""Plays a tournament in its folder: what is left of it, its files, and the table at the end."""

from __future__ import annotations

import argparse
import shutil
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

import numpy as np

from gozero.games.game import Game
from gozero.games.position import Position
from gozero.system import files
from gozero.system.console import INTERRUPTED, SUCCESS, progress_bar, say, stop_on_signals
from gozero.system.errors import UserError
from gozero.system.words import counted
from training.matches.interface import Fault, PlayerError, Turn, said
from training.matches.match import Fixture, MatchGame
from training.matches.options import OUT
from training.matches.players import open_player, play_at_random
from training.matches.tables import csv_text
from training.matches.tournament import field as fields
from training.matches.tournament import journal, results
from training.matches.tournament.field import SPRT, Field
from training.matches.tournament.journal import Journal, missing
from training.matches.tournament.pool import WorkerPool
from training.matches.tournament.results import Results
from training.matches.tournament.worker import CANNOT_START
from training.storage import storage

FAULTY = 1  # exit code: a game was lost by a fault, a result is disputed, or an entrant could not start
SAID_FAULTS = 3  # of one entrant that are said at once
RANDOM_GAMES = 8
EARLY = 0.2  # share of a random game after which a move is timed: beyond books of openings, far from the end
SLOW = 5.0  # seconds of a move, from which an entrant is not asked for as many at once as a worker asks for
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
        for is_fine, line in rehearse(field, journal.played(folder, field) if folder else []):
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


def rehearse(field: Field, games: Sequence[MatchGame]) -> Iterator[tuple[bool, str]]:
    """`--dry-run`: (whether that is fine, a line), one for each entrant that has a game to play, then the games that
    are not among `games`, and the time that they take.

    Each entrant is opened as a worker would open it, and moves in positions of random games, two at least (an engine
    may know its answer to the first one); the quickest move counts. A game is taken to be as long as random games are,
    so the hours are a guess.
    """
    game, seconds = field.make_game(), dict[str, float]()
    randoms = [_played(field, game, number, field.max_moves) for number in range(RANDOM_GAMES)]
    plies = sum(position.ply for position in randoms) / RANDOM_GAMES
    early = [_played(field, game, number, int(plies * EARLY)) for number in range(4)]
    playing = {name for pair in field.pairings for name in pair}
    for entrant in field.entrant:
        if entrant.name in playing:
            say(f"{entrant.name}: a few moves are timed")
            try:
                seconds[entrant.name] = _seconds_a_move(field, early, entrant.player)
            except Exception as error:  # noqa: BLE001 - whatever it raises, it is named
                yield False, f"{entrant.name}: does not play: {said(error)}"
            else:
                yield True, f"{entrant.name}: plays, {seconds[entrant.name]:.3f} s a move"
    counts = missing(field, games)
    left, workers = sum(counts.values()), min(field.workers, max(1, sum(counts.values())))
    work = sum(count * plies / 2 * (seconds.get(a, 0.0) + seconds.get(b, 0.0)) for (a, b), count in counts.items())
    most, pairings = "at most " if field.kind == SPRT else "", counted(len(counts), "pairing")
    yield len(seconds) == len(playing), (
        f"{most}{left:,} games left of {len(counts) * field.games:,} ({pairings} of {field.games}), about {plies:.0f} "
        f"plies each: about {timedelta(seconds=round(work / workers))} in {counted(workers, 'process')}, and the start "
        "of each"
    )


def _played(field: Field, game: Game, number: int, plies: int) -> Position:
    """A position of a random game."""
    return play_at_random(Position(game), plies, np.array([field.seed + number], np.uint64))


def _seconds_a_move(field: Field, positions: Sequence[Position], description: str) -> float:
    """Of an entrant that is asked twice for one move, then, unless it is slow, twice for as many as in a worker. It
    raises what keeps it from playing.
    """
    taken = list[float]()
    with closing(open_player(description, field.conditions(positions[0].game))) as player:
        for position, together in zip(positions, (1, 1, field.together, field.together), strict=True):
            if len(taken) == 2 and (field.together == 1 or min(taken) > SLOW):
                break
            turns = [Turn(slot, position) for slot in range(together)]
            faults = [fault for turn in turns if (fault := player.begin(turn.slot, seed=field.seed)) is not None]
            start = time.perf_counter()
            answers = faults or player.choose(turns)
            if isinstance(answers[0], Fault):
                raise PlayerError(answers[0].text)
            taken.append((time.perf_counter() - start) / len(turns))
    return min(taken)


def play(field: Field, folder: Path, stop: Callable[[], bool], view: View) -> int:
    """Play one tournament as far as it goes; the exit code without regard to a stop.

    Raises:
        SettingsError: the folder's journal cannot be used, or contradicts the field.
        UserError: see `storage.alone`; or processes of this machine cannot play.
        StorageError: a file of the folder cannot be written.
    """
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
        found = self.results
        table, page = csv_text(results.numbers(found)), results.page(found, self._view.head(found))
        contents: dict[Path, str | bytes] = {TABLE: table, DOCUMENT: results.json_text(found), PAGE: page}
        contents |= self._view.files(found)
        for name, content in contents.items():
            with storage.writing(self._folder / name):  # a user's --csv may be a link or a device
                files.write(self._folder / name, content.encode() if isinstance(content, str) else content)
        self._written = time.monotonic()
        return found
