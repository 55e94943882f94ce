"""Counting finished games: the claim is that final_score names GNU Go's winner in at least 98 of 100, with the shipped
weights.

    python -m benchmarks.scoring                            the games of a match that ours played against GNU Go
    python -m benchmarks.scoring --games FILE.csv ...       those of other matches, as training.arena --csv lists them
    python -m benchmarks.scoring --fresh --count 20         games that GNU Go plays against itself

Opponents that play on to the end are harder: games of the engine itself against any program that speaks GTP and never
resigns, listed by

    python -m training.arena "gtp:gozero-gtp --visits 400 --no-resign" "gtp:pachi -t =1000 threads=1,resign_threshold=0"
        --size 13 --komi 7.5 --games 100 --opening-moves 2 --parallel 3 --move-seconds 600 --csv FILE.csv     (one line)

Both engines get the moves and are asked for their final_score. Where the winners differ the board is shown with both
scores; where only the points differ, one line. Nothing is claimed for fresh games: there GNU Go, which counts them by
playing on, passes with dead stones on the board and with borders that are far from closed.
"""

from __future__ import annotations

import csv
import sys
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path

from benchmarks.harness import finish, machine, need_program, parser
from gtp.client import Engine, FailureError

CLAIMED = 0.98
SIZE, KOMI = 13, "7.5"
GNUGO = "gnugo --mode gtp --level {level} --seed {seed} --chinese-rules --positional-superko --capture-all-dead"
MATCH = Path(__file__).parent / "matches" / "gnugo1-13-100.csv"
MOST_MOVES = 400
Game = list[str]  # arguments of play, such as "b D4"


def fresh_games(count: int, first_seed: int) -> Iterator[Game]:
    """Games of GNU Go against itself, each begun with two plies of its own number so that no two are alike."""
    for seed in range(first_seed, first_seed + count):
        with Engine(GNUGO.format(level=1, seed=seed)) as gnugo:
            try:
                yield _played_by(
                    gnugo, [f"b {'CDEFG'[seed % 5]}{3 + seed // 5 % 5}", f"w {'JKL'[seed // 25 % 3]}{9 + seed % 3}"]
                )
            except FailureError as error:  # its old fault in ladder reading
                sys.stderr.write(f"scoring: {error}\n")


def _played_by(engine: Engine, opening: Game) -> Game:
    """Let an engine play a game with itself to the second pass."""
    _set_up(engine, opening)
    game = list(opening)
    while [move.split()[1].lower() for move in game[-2:]] != ["pass"] * 2 and len(game) < MOST_MOVES:
        colour = "bw"[len(game) % 2]
        game.append(f"{colour} {engine.send(f'genmove {colour}')}")
    return game


def listed_games(files: Sequence[Path]) -> Iterator[Game]:
    """The games of matches that ended by two passes."""
    for file in files:
        with file.open(newline="", encoding="utf-8") as lines:
            for row in csv.DictReader(lines):
                words = row["moves"].split()
                if row["ended"] == "two passes":
                    yield [" ".join(move) for move in zip(words[::2], words[1::2], strict=True)]


def _set_up(engine: Engine, game: Game) -> None:
    for command in (f"boardsize {SIZE}", "clear_board", f"komi {KOMI}", *(f"play {move}" for move in game)):
        engine.send(command)


def compare(ours: Engine, theirs: Engine, game: Game) -> tuple[str, str]:
    """Both final scores."""
    for engine in (ours, theirs):
        _set_up(engine, game)
    return ours.send("final_score"), theirs.send("final_score")


def points_of(score: str) -> float:
    """Black's lead."""
    return 0.0 if score == "0" else float(score[2:]) * (1 if score[0] == "B" else -1)


def main() -> None:
    options = parser(__doc__ or "")
    options.add_argument("--weights", default="best.pt", metavar="FILE")
    options.add_argument(
        "--games", nargs="+", type=Path, metavar="CSV", default=[MATCH], help=f"lists of games (default {MATCH.name})"
    )
    options.add_argument("--fresh", action="store_true", help="let GNU Go play itself instead")
    options.add_argument("--count", type=int, default=100, help="how many games at most (default 100)")
    options.add_argument("--seed", type=int, default=1, help="of the first fresh game (default 1)")
    options.add_argument("--level", type=int, default=10, help="of the GNU Go that counts (default 10)")
    chosen = options.parse_args()
    need_program("gnugo", "apt-get install gnugo")
    count = 4 if chosen.short else chosen.count
    games = fresh_games(count, chosen.seed) if chosen.fresh else listed_games(chosen.games)
    signs = equal = number = 0
    with ExitStack() as stack:
        ours = stack.enter_context(Engine([sys.executable, "-m", "gtp", "--weights", chosen.weights]))
        theirs = stack.enter_context(Engine(GNUGO.format(level=chosen.level, seed=1)))
        for number, game in zip(range(1, count + 1), games, strict=False):
            our_score, their_score = compare(ours, theirs, game)
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
    print(f"final_score of {number} finished games, {SIZE}x{SIZE}, {chosen.weights}\n  {machine()}")
    print(f"  the same winner as GNU Go's in {signs} of {number} (claimed {CLAIMED:.0%}), the same points in {equal}")


if __name__ == "__main__":
    finish(main)
