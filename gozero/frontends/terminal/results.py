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

RESULTS = {"won": 1.0, "drawn": 0.5, "lost": 0.0}
"""The person's points for each."""


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
    """Where the file is. OSError if the system names no home folder."""
    return files.user_data() / "results.csv"


def read(file: Path) -> list[GameResult]:
    """The results, the oldest first; none if there is no file. OSError or ResultsError if it cannot be read."""
    try:
        rows = list(csv.reader(file.read_text("utf-8").splitlines()))
    except FileNotFoundError:
        return []
    except (ValueError, csv.Error) as error:
        raise ResultsError(f"cannot read your results, {file}: {error}") from None
    for number, row in enumerate(rows, 1):
        if len(row) != 6 or row[4] not in COLOUR_WORDS.values() or row[5] not in RESULTS:
            raise ResultsError(f"line {number} of your results, {file}, is damaged: mend or remove it")
    return [GameResult(Opponent(*row[:4]), row[4], row[5]) for row in rows]


def add(file: Path, result: GameResult) -> None:
    """Append a result. OSError if it cannot be written."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow((*result.opponent, result.colour, result.result))
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab", buffering=0) as stream:  # in one piece: another game may end at the same time
        stream.write(line.getvalue().encode())


def print_all(game: str | None) -> None:
    """Print the results of people's games, of one kind if a game is named: a line for each opponent."""
    file = path()
    found = [each for each in read(file) if game in (None, each.opponent.game)]
    if not found:
        print("There are no results yet.")
    rows: list[Sequence[str]] = [(*Opponent._fields, "games", *RESULTS, "score")] if found else []
    for opponent in dict.fromkeys(each.opponent for each in found):
        counts = Counter(each.result for each in found if each.opponent == opponent)
        score = sum(RESULTS[result] * count for result, count in counts.items()) / counts.total()
        rows.append((*opponent, str(counts.total()), *(str(counts[each]) for each in RESULTS), f"{100 * score:.0f} %"))
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    for row in rows:
        print("  ".join(text.ljust(width) for text, width in zip(row, widths, strict=True)).rstrip())
    sys.stdout.flush()
    print(f"The results are in {file}.", file=sys.stderr)
