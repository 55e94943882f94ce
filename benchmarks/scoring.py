"""Counting finished games: the claim is that final_score names GNU Go's winner in at least 98 of 100, with the shipped
weights.

    python -m benchmarks.scoring                                  the games of a match that ours played against GNU Go
    python -m benchmarks.scoring --games FILE.csv ... --size 9    those of other matches, as training.arena --csv lists
                                                                  them, on another board or with another --komi
    python -m benchmarks.scoring --fresh --count 20               games that GNU Go plays against itself

Opponents that play on to the end are harder: games of the engine itself against any program that speaks GTP and never
resigns, listed by

    python -m training.arena "gtp:gozero-gtp --visits 400 --no-resign" "gtp:pachi -t =1000 threads=1,resign_threshold=0"
        --size 13 --komi 7.5 --games 100 --opening-moves 2 --parallel 3 --move-seconds 600 --csv FILE.csv     (one line)

Both engines get the moves and are asked for their final_score. Where the winners differ the board is shown with both
scores; where only the points differ, one line. Nothing is claimed for fresh games: there GNU Go, which counts them by
playing on, passes with dead stones on the board and with borders that are far from closed.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from benchmarks.harness import finish, game_rows, machine, need_program, parser
from gozero import coords, games
from gozero.errors import ChoiceError
from gozero.position import Position
from gtp.client import Engine, FailureError
from training.console import finite, positive, whole

CLAIMED = 0.98
FRESH_SIZE = 13
GNUGO = "gnugo --mode gtp --level {level} --seed {seed} --chinese-rules --positional-superko --capture-all-dead"
MATCH = Path(__file__).parent / "matches" / "gnugo1-13-100.csv"
MOST_MOVES = 400
Game = list[str]  # arguments of play, such as "b D4"


class Board(NamedTuple):
    """What the games are played on."""

    size: int
    komi: float

    def __str__(self) -> str:
        return f"{self.size}x{self.size} with komi {self.komi:g}"


def fresh_games(board: Board, count: int, first_seed: int) -> Iterator[Game]:
    """Games of GNU Go against itself on 13x13, each begun with two plies of its own number so that no two are alike."""
    for seed in range(first_seed, first_seed + count):
        with Engine(GNUGO.format(level=1, seed=seed)) as gnugo:
            try:
                yield _played_by(
                    gnugo,
                    board,
                    [f"b {'CDEFG'[seed % 5]}{3 + seed // 5 % 5}", f"w {'JKL'[seed // 25 % 3]}{9 + seed % 3}"],
                )
            except FailureError as error:  # its old fault in ladder reading
                sys.stderr.write(f"scoring: {error}\n")


def _played_by(engine: Engine, board: Board, opening: Game) -> Game:
    """Let an engine play a game with itself to the second pass."""
    _set_up(engine, board, opening)
    game = list(opening)
    while [move.split()[1].lower() for move in game[-2:]] != ["pass"] * 2 and len(game) < MOST_MOVES:
        colour = "bw"[len(game) % 2]
        game.append(f"{colour} {engine.send(f'genmove {colour}')}")
    return game


def listed_games(files: Sequence[Path], board: Board) -> list[Game]:
    """The games of matches that ended by two passes. OSError; ChoiceError for a file that is no list of games, or whose
    games are not of that board.
    """
    found = list[Game]()
    for file in files:
        for number, row in enumerate(game_rows(file, "moves", "ended", "result"), 1):
            if row["ended"] == "two passes":
                words = row["moves"].split()
                if not _is_of(board, words[1::2], row["result"]):
                    raise ChoiceError(f"{file}: game {number} is none of {board}: give its --size and --komi")
                found.append([" ".join(move) for move in zip(words[::2], words[1::2], strict=False)])
    if not found:
        raise ChoiceError(f"no game in {', '.join(map(str, files))} ended by two passes")
    return found


def _is_of(board: Board, vertices: Sequence[str], result: str) -> bool:
    """Whether a game can be played on a board, and then has the result that it is listed with."""
    position = Position(games.make("go", size=board.size, rules="chinese", komi=board.komi))
    try:
        for vertex in vertices:
            position.play(coords.parse_vertex(vertex, board.size))
        return position.is_over and position.score() == points_of(result)
    except ValueError:
        return False


def _set_up(engine: Engine, board: Board, game: Game) -> None:
    for command in (
        f"boardsize {board.size}",
        "clear_board",
        f"komi {board.komi:g}",
        *(f"play {move}" for move in game),
    ):
        engine.send(command)


def compare(ours: Engine, theirs: Engine, board: Board, game: Game) -> tuple[str, str]:
    """Both final scores."""
    for engine in (ours, theirs):
        _set_up(engine, board, game)
    return ours.send("final_score"), theirs.send("final_score")


def points_of(score: str) -> float:
    """Black's lead."""
    return 0.0 if score == "0" else float(score[2:]) * (1 if score[0] == "B" else -1)


def main(arguments: Sequence[str] | None = None) -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    options.add_argument(
        "--games", nargs="+", type=Path, metavar="CSV", default=[MATCH], help=f"lists of games (default {MATCH.name})"
    )
    options.add_argument("--fresh", action="store_true", help="let GNU Go play itself instead")
    options.add_argument("--size", type=positive, default=13, help="of the board (default 13)")
    options.add_argument("--komi", type=finite, default=7.5, help="of the games (default 7.5)")
    options.add_argument("--count", type=positive, default=100, help="how many games at most (default 100)")
    options.add_argument("--seed", type=whole(0), default=1, help="of the first fresh game (default 1)")
    options.add_argument("--level", type=int, default=10, help="of the GNU Go that counts (default 10)")
    chosen = options.parse_args(arguments)
    count = 4 if chosen.short else chosen.count
    board = Board(chosen.size, chosen.komi)
    if chosen.fresh and board.size != FRESH_SIZE:
        raise ChoiceError(f"--fresh plays on {FRESH_SIZE}x{FRESH_SIZE}, not on {board.size}x{board.size}")
    played = fresh_games(board, count, chosen.seed) if chosen.fresh else listed_games(chosen.games, board)
    need_program("gnugo", "apt-get install gnugo")
    signs = equal = number = 0
    with ExitStack() as stack:
        ours = stack.enter_context(Engine([sys.executable, "-m", "gtp", "--weights", chosen.weights]))
        theirs = stack.enter_context(Engine(GNUGO.format(level=chosen.level, seed=1)))
        for number, game in zip(range(1, count + 1), played, strict=False):
            our_score, their_score = compare(ours, theirs, board, game)
            signs += our_score[0] == their_score[0]
            equal += points_of(our_score) == points_of(their_score)
            if our_score[0] != their_score[0]:
                print(
                    f"game {number}: ours {our_score}, GNU Go's {their_score}; dead for us: "
                    f"{ours.send('final_status_list dead').split()}"
                )
                print(ours.send("showboard"), flush=True)
            elif points_of(our_score) != points_of(their_score):
                print(f"game {number}: ours {our_score}, GNU Go's {their_score}", flush=True)
    print(f"final_score of {number} finished games, {board}, {chosen.weights}\n  {machine()}")
    print(f"  the same winner as GNU Go's in {signs} of {number} (claimed {CLAIMED:.0%}), the same points in {equal}")


if __name__ == "__main__":
    finish(main)
