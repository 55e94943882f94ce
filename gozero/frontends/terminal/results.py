"""The results of people's games against the engine: a CSV file in the user's data folder, a line for each game.

Its columns are the fields of `GameResult`. Which games are written is decided by `gozero.frontends.terminal.play`.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from gozero.games.colours import COLOUR_WORDS
from gozero.system import files
from gozero.system.errors import ResultsError

RESULTS = ("won", "drawn", "lost")
HEADING = ("game", "board", "weights", "strength", "games", *RESULTS, "score", "as Black", "as White")


class Opponent(NamedTuple):
    """Whom a person has played. Two weights files of one name are told apart by their sha256."""

    game: str
    board: str  # such as 13x13
    weights: str  # the file's name and the first digits of its sha256; or "random playouts"
    strength: str  # "400 visits" or "level 3"


class GameResult(NamedTuple):
    """One game, as the person sees it."""

    opponent: Opponent
    colour: str  # the person's: black or white
    result: str  # won, drawn or lost


def path() -> Path:
    """Where the file is. ResultsError if the system names no home folder."""
    try:
        return files.user_data() / "results.csv"
    except OSError as error:
        raise ResultsError(f"there is no place for your results: {error.strerror or error}") from None


def read(file: Path) -> list[GameResult]:
    """The results, the oldest first; none if there is no file. ResultsError if it cannot be read."""
    try:
        rows = list(csv.reader(file.read_text("utf-8").splitlines()))
    except FileNotFoundError:
        return []
    except (OSError, ValueError, csv.Error) as error:
        raise ResultsError(f"cannot read your results, {file}: {error}") from None
    for number, row in enumerate(rows, 1):
        if len(row) != 6 or row[4] not in COLOUR_WORDS.values() or row[5] not in RESULTS:
            raise ResultsError(f"line {number} of your results, {file}, is damaged: mend or remove it")
    return [GameResult(Opponent(*row[:4]), row[4], row[5]) for row in rows]


def add(file: Path, result: GameResult) -> None:
    """Append a result. ResultsError if it cannot be written."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow((*result.opponent, result.colour, result.result))
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with file.open("ab", buffering=0) as stream:  # in one piece: another game may end at the same time
            stream.write(line.getvalue().encode())
    except OSError as error:
        raise ResultsError(f"cannot write your results, {file}: {(error.strerror or str(error)).lower()}") from None


def print_all(game: str | None) -> None:
    """Print the results of people's games, of one kind if a game is named."""
    file = path()
    found = [each for each in read(file) if game in (None, each.opponent.game)]
    print(table(found) if found else "There are no results yet.", flush=True)
    print(f"The results are in {file}.", file=sys.stderr)


def table(results: Sequence[GameResult]) -> str:
    """A line for each opponent below a heading, aligned."""
    opponents = dict.fromkeys(each.opponent for each in results)
    rows = [HEADING, *(_row(who, [each for each in results if each.opponent == who]) for who in opponents)]
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    shape = "  ".join(f"{{:{'<' if column < 4 else '>'}{width}}}" for column, width in enumerate(widths))
    return "\n".join(shape.format(*row).rstrip() for row in rows)


def _row(opponent: Opponent, results: Sequence[GameResult]) -> tuple[str, ...]:
    counts = Counter(each.result for each in results)
    sides = [[each for each in results if each.colour == colour] for colour in COLOUR_WORDS.values()]
    scores = [_score(each) for each in (results, *sides)]
    return (*opponent, str(len(results)), *(str(counts[each]) for each in RESULTS), *scores)


def _score(results: Sequence[GameResult]) -> str:
    """The person's share of the points, a draw counting half."""
    if not results:
        return "-"
    points = sum({"won": 1.0, "drawn": 0.5, "lost": 0.0}[each.result] for each in results)
    return f"{100 * points / len(results):.0f} %"
