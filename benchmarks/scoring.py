"""Counting finished games: the claim is that final_score names GNU Go's winner in at least 98 of 100.

    python -m benchmarks.scoring                                  the games of a match against GNU Go
    python -m benchmarks.scoring --games FILE.csv ... --size 9    those of other matches, as `gozero match --csv`
                                                                  lists them, on another board or with another --komi

Both engines get the moves of a game that ended by two passes and are asked for their final_score. Where the winners
differ the board is shown with both scores; where only the points differ, one line. Games in which both sides play on to
the end are easy; GNU Go against itself passes with dead stones on the board and borders that are far from closed.
"""

from __future__ import annotations

import csv
import gzip
import sys
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import finish, machine, need_program, parser
from gozero import games
from gozero.games import coords
from gozero.games.position import Position
from gozero.system.console import positive
from gozero.system.errors import ChoiceError
from gozero.system.options import number_of
from gtp.client import GtpEngine

CLAIMED = 0.98
GNUGO = "gnugo --mode gtp --level {level} --seed 1 --chinese-rules --positional-superko --capture-all-dead"
MATCHES = Path(__file__).parent / "matches"
LISTS = [MATCHES / "gnugo10-13-381.csv.gz", MATCHES / "gnugo10-13-381-b.csv.gz"]
Game = list[str]  # arguments of play, such as "b D4"


class Board(NamedTuple):
    size: int
    komi: float

    def __str__(self) -> str:
        return f"{self.size}x{self.size} with komi {self.komi:g}"


def listed_games(files: Sequence[Path], board: Board) -> list[Game]:
    """The games of matches (lists by `gozero match --csv`, compressed or not) that ended by two passes. OSError;
    ChoiceError for a file that is no such list, or whose games are not of that board.
    """
    found = list[Game]()
    for file in files:
        try:
            with gzip.open(file, "rt") if file.suffix == ".gz" else file.open(encoding="utf-8") as lines:
                rows = [row for row in csv.DictReader(lines) if row["ended"] == "two passes"]
            found += [_moves_of(row, board) for row in rows]
        except (ValueError, csv.Error, EOFError, gzip.BadGzipFile, KeyError) as error:
            raise ChoiceError(
                f"{file} is no list of games on {board} by gozero match --csv ({error}): give their --size and --komi"
            ) from None
    if not found:
        raise ChoiceError(f"no game in {', '.join(map(str, files))} ended by two passes")
    return found


def _moves_of(row: dict[str, str], board: Board) -> Game:
    """A game's moves; ValueError unless it can be played on the board, and has its result there."""
    words = row["moves"].split()
    position = Position(games.make("go", size=board.size, rules="chinese", komi=board.komi))
    for vertex in words[1::2]:
        position.play(coords.parse_vertex(vertex, board.size))
    if not position.is_over or position.score() != points_of(row["result"]):
        raise ValueError(f"a game that ended {row['result']}")
    return [" ".join(move) for move in zip(words[::2], words[1::2], strict=True)]


def points_of(score: str) -> float:
    return 0.0 if score == "0" else float(score[2:]) * (1 if score[0] == "B" else -1)


def final_score(engine: GtpEngine, board: Board, game: Game) -> str:
    begin = (f"boardsize {board.size}", "clear_board", f"komi {board.komi:g}")
    for command in (*begin, *(f"play {move}" for move in game)):
        engine.send(command)
    return engine.send("final_score")


def compare(ours: GtpEngine, theirs: GtpEngine, board: Board, played: Sequence[Game]) -> tuple[int, int]:
    """(how often both name the same winner, how often the same points); differences are printed."""
    winners = points = 0
    for number, game in enumerate(played, 1):
        our_score, their_score = (final_score(engine, board, game) for engine in (ours, theirs))
        is_same = points_of(our_score) == points_of(their_score)
        winners += our_score[0] == their_score[0]
        points += is_same
        if not is_same:
            print(f"game {number}: ours {our_score}, GNU Go's {their_score}", flush=True)
        if our_score[0] != their_score[0]:
            print(f"dead for us: {ours.send('final_status_list dead').split()}\n{ours.send('showboard')}", flush=True)
    return winners, points


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    options.add_argument("--games", nargs="+", type=Path, metavar="CSV", default=LISTS, help="default: gnugo10-13-381")
    options.add_argument("--size", type=positive, default=13, help="of the board (default 13)")
    options.add_argument("--komi", type=number_of, default=7.5, help="of the games (default 7.5)")
    options.add_argument("--count", type=positive, default=100, help="how many games at most (default 100)")
    options.add_argument("--level", type=int, default=10, help="of the GNU Go that counts (default 10)")
    chosen = options.parse_args(arguments)
    board = Board(chosen.size, chosen.komi)
    played = listed_games(chosen.games, board)[: 4 if chosen.short else chosen.count]
    need_program("gnugo", "apt-get install gnugo")
    with ExitStack() as stack:
        ours = stack.enter_context(GtpEngine([sys.executable, "-m", "gtp", "--weights", chosen.weights]))
        theirs = stack.enter_context(GtpEngine(GNUGO.format(level=chosen.level)))
        winners, points = compare(ours, theirs, board, played)
    count = len(played)
    print(f"final_score of {count} finished games, {board}, {chosen.weights}\n  {machine()}")
    print(f"  the same winner as GNU Go's in {winners} of {count} (claimed {CLAIMED:.0%}), the same points in {points}")


if __name__ == "__main__":
    finish(main)
