"""The results of people's games against the engine: a CSV file in the user's data folder, a line for each game.

Its columns are those of `GameResult`. Which games are saved is decided by `gozero.frontends.terminal.play`.
"""

from __future__ import annotations

import csv
import io
import sys
from collections import Counter
from pathlib import Path
from typing import NamedTuple

from gozero.system import files
from gozero.system.errors import ResultsError

RESULTS = ("won", "drawn", "lost")


class GameResult(NamedTuple):
    """One game, as the person sees it. Two weights files of one name are told apart by their sha256."""

    game: str
    board: str  # such as 13x13
    weights: str  # the file's name and the first digits of its sha256; or "random playouts"
    strength: str  # "400 visits" or "level 3"
    colour: str  # the person's: black or white
    result: str  # one of `RESULTS`


def path() -> Path:
    """Where the file is. OSError if the system names no home folder."""
    return files.user_data() / "results.csv"


def read(file: Path) -> list[GameResult]:
    """The results, the oldest first; none if there is no file. OSError or ResultsError if it cannot be read."""
    try:
        found = [GameResult(*row) for row in csv.reader(file.read_text("utf-8").splitlines())]
        if all(each.result in RESULTS for each in found):
            return found
    except FileNotFoundError:
        return []
    except (ValueError, TypeError, csv.Error):  # TypeError: another number of columns
        pass
    raise ResultsError(f"your results, {file}, are damaged: mend or remove the file")


def add(file: Path, result: GameResult) -> None:
    """Append a result. OSError if it cannot be written."""
    line = io.StringIO()
    csv.writer(line, lineterminator="\n").writerow(result)
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.open("ab", buffering=0) as stream:  # in one piece: another game may end at the same time
        stream.write(line.getvalue().encode())


def counts(found: list[GameResult]) -> dict[tuple[str, ...], str]:
    """How often the person has won, drawn and lost, in words, by the opponent: game, board, weights and strength."""
    counted = {each[:4]: Counter(other.result for other in found if other[:4] == each[:4]) for each in found}
    return {who: ", ".join(f"{name} {count[name]}" for name in RESULTS) for who, count in counted.items()}


def print_all(game: str | None) -> None:
    """Print the results of people's games, of one kind if a game is named: a line for each opponent."""
    file = path()
    found = counts([each for each in read(file) if game in (None, each.game)])
    for who, words in found.items():
        print(f"{', '.join(who)}: {words}")
    if not found:
        print("There are no results yet.")
    sys.stdout.flush()
    print(f"The results are in {file}.", file=sys.stderr)
