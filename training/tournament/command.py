"""`python -m training.tournament FIELD.toml`: any number of players against each other, over all cores.

    python -m training.tournament field.toml --dry-run
    python -m training.tournament field.toml
    python -m training.tournament s1 --games 10
    python -m training.tournament --list-presets

A field names the entrants and the conditions; docs/tournaments.md lists its keys. What comes out lies in the folder of
--out: tournament.html, results.csv, results.json, games/ and journal.jsonl. The same command continues a tournament
that was stopped, however that happened. The table goes to stdout, progress and complaints to stderr. Exit code: 0; 1
when a game was lost by a fault or an entrant could not start; 2 when the request makes no sense; 130 after Ctrl-C.
"""

from __future__ import annotations

import argparse
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from filelock import FileLock, Timeout

from gozero.exits import INTERRUPTED, SUCCESS
from gozero.options import SettingsError
from training.console import Parser, run_command, stop_on_signals
from training.storage import storage
from training.tournament import field as fields
from training.tournament import game_files, journal, results
from training.tournament.conductor import Conductor
from training.tournament.crew import CrewError
from training.tournament.field import Field
from training.tournament.journal import Journal, PlayedGame
from training.tournament.page import Pages
from training.tournament.progress import ProgressLine
from training.tournament.rehearsal import rehearse
from training.tournament.results import Results

FAULTY = 1  # exit code: a game was lost by a fault, or an entrant could not start
SAID_FAULTS = 3  # of one entrant that are said at once
FOLDER = Path("tournaments")
REWRITE = 60.0  # seconds between two versions of the page while games are played
PAGE, TABLE, DOCUMENT = "tournament.html", "results.csv", "results.json"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for; the exit code is described above."""
    options = _parser().parse_args(arguments)
    return run_command("training.tournament", lambda: _run(options), (SettingsError, CrewError))


def _run(options: argparse.Namespace) -> int:
    if options.list_presets:
        print("\n".join(_listed()))
        return SUCCESS
    if options.field is None:
        raise SettingsError("give a FIELD.toml or a preset; --list-presets names the presets")
    return _play_all(options)


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="python -m training.tournament",
        description=(__doc__ or "").split("\n\n", 1)[1],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("field", nargs="?", metavar="FIELD", help="a TOML file, or the name of a preset")
    parser.add_argument("--out", type=Path, metavar="DIR", help=f"folder (default {FOLDER}/NAME OF THE FIELD)")
    parser.add_argument("--games", type=int, metavar="N", help="of each pairing, in place of the field's")
    parser.add_argument("--processes", type=int, metavar="N", help="in place of the field's")
    parser.add_argument(
        "--dry-run", action="store_true", help="only see whether all entrants start, and how long it will take"
    )
    parser.add_argument("--list-presets", action="store_true", help="what is there to be played by name")
    return parser


def _listed() -> list[str]:
    """Each preset with the first line of its file, or the fields it stands for."""
    lines = []
    for name, paths in fields.presets().items():
        about = paths[0].read_text(encoding="utf-8").splitlines()[0].lstrip("# ")
        lines.append(f"{name:18} {about if len(paths) == 1 else ', '.join(path.stem for path in paths)}")
    return lines


def _play_all(options: argparse.Namespace) -> int:
    """Every field of the request in turn; the exit code."""
    paths = fields.find(options.field)
    read = [(path, fields.load(path, games=options.games, processes=options.processes)) for path in paths]
    stop, code = None, SUCCESS
    for path, field in read:
        folder = (options.out or FOLDER / options.field) if len(paths) > 1 else options.out or FOLDER / path.stem
        folder = folder / path.stem if len(paths) > 1 else folder
        if options.dry_run:
            code = max(code, _rehearsed(field, folder))
            continue
        stop = stop or stop_on_signals("games under way are played anew by the same command")
        code = max(code, _sitting(field, folder, stop))
        if stop():
            return INTERRUPTED
    return code


def _rehearsed(field: Field, folder: Path) -> int:
    code = SUCCESS
    print(field)
    left = len(field.pairings) * field.games - len(journal.played(folder, field))
    for is_fine, line in rehearse(field, left):
        print(line, flush=True)
        code = code if is_fine else FAULTY
    return code


def _sitting(field: Field, folder: Path, stop: Callable[[], bool]) -> int:
    """Play one tournament as far as it goes; the exit code without regard to a stop."""
    with _alone(folder), Journal(folder, field) as opened:
        conductor = Conductor(field, opened, folder)
        scribe = _Scribe(conductor, folder)
        progress = ProgressLine(len(opened.games), len(opened.games) + conductor.left)
        progress.say(f"{field}; {conductor.left:,} of {conductor.asked:,} games to play; {folder / PAGE}")
        try:
            faults: Counter[str] = Counter()
            for game in conductor.play(stop):
                faults[game.faulty] += 1
                if game.detail and faults[game.faulty] <= SAID_FAULTS:
                    more = "; further ones are counted" if faults[game.faulty] == SAID_FAULTS else ""
                    progress.say(f"{results.where(game)}: {game.faulty}: {game.ended}: {game.detail}{more}")
                progress.add(conductor.left)
                scribe.save(game)
        finally:
            progress.close()
            final = scribe.write()
    print(results.text(final))
    return FAULTY if final.faults or final.withdrawn else SUCCESS


class _Scribe:
    """Keeps the files of the folder in step with the journal."""

    def __init__(self, conductor: Conductor, folder: Path) -> None:
        self._conductor, self._folder = conductor, folder
        self._game = conductor.field.make_game()
        self._pages = Pages(self._game)
        self._written = time.monotonic()
        for played in conductor.journal.games:  # a killed sitting may not have come to them
            game_files.write(played, conductor.field, self._game, folder)

    def save(self, played: PlayedGame) -> None:
        """Save a game that has ended, and now and then the page."""
        game_files.write(played, self._conductor.field, self._game, self._folder)
        if time.monotonic() - self._written > REWRITE:
            self.write()

    def write(self) -> Results:
        """Page and tables anew."""
        found = Results.of(self._conductor)
        contents = {PAGE: self._pages.page(found), TABLE: results.csv_text(found), DOCUMENT: results.json_text(found)}
        for name, content in contents.items():
            with storage.replacing(self._folder / name) as file:
                file.write(content.encode())
        self._written = time.monotonic()
        return found


@contextmanager
def _alone(folder: Path) -> Iterator[None]:
    """Keep other tournaments out of the folder. SettingsError where it cannot be made, or another works there."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        lock = FileLock(folder / "lock")
        lock.acquire(blocking=False)
    except Timeout:
        raise SettingsError(
            f"{folder} is in use by another tournament: let that one end, or give another --out"
        ) from None
    except OSError as error:
        raise SettingsError(f"cannot work in the folder {folder}: {error.strerror}; give another --out") from None
    try:
        yield
    finally:
        lock.release()
