"""`gozero truth`: how far a network is from perfect play, in a game whose values are known
(`training.matches.perfect`).

    gozero truth --weights connect4.pt --visits 100 --positions 1000
    gozero truth --weights nogo9.pt --size 4

    keeping    a move after which the position is worth as much as before; any other gives a win or a draw away
    judged     a position of ply 4 to 30 with the value of every legal move, at least one of which does not keep the
               value
    own play   games of the player with itself, each after a few random plies, so that no two are the same
    random     games of uniformly random moves

All positions differ, in stones or side to move, and no more than two are of one game; where a game has fewer than were
asked for, what was found is used, and its number printed. At the end come games against the perfect player, as many
with each colour: it draws among its best moves, so that games differ, and the number of different games is printed with
the results.
Judged positions are never trained on.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gozero import games
from gozero.system.console import Parser, positive, seed, whole
from gozero.system.machine import MOST_THREADS
from training.matches.interface import count_of
from training.matches.options import complete


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure a network; the exit code: 0, or 2 if the request makes no sense or the solver is missing."""
    parser = Parser(prog="gozero truth", description=__doc__)
    add, solved = parser.add_argument, "tictactoe, connect4, nogo or othello"
    add("--game", type=str.lower, choices=games.GAMES, metavar="NAME", help=f"{solved} (default: that of the weights)")
    add("--size", type=int, help="board size (default: that of the weights, else the game's own)")
    add("--weights", required=True, metavar="FILE", help="the network that is measured")
    add("--visits", type=positive, default=100, metavar="N", help="of its search (default 100)")
    add("--positions", type=positive, default=1000, metavar="N", help="how many, half from own play (default 1000)")
    colours = "with each colour against the perfect player (default 50)"
    add("--games", type=positive, default=50, metavar="N", help=colours)
    add("--seed", type=seed, default=1, help="fixes positions and games (default 1)")
    threads = "for network evaluation (default: all this process may use)"
    add("--threads", type=whole(1, MOST_THREADS), metavar="N", help=threads)
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    count_of(str(options.visits), "--visits")
    complete(options, [options.weights])
    from training.matches import truth

    return truth.measure(options)
