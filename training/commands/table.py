"""`gozero table NAME --weights FILE ...`: a published table of results, played again with networks of ours.

    gozero table s2 --weights nogo9.pt --dry-run
    gozero table s2 --weights nogo9.pt --pairs 50:20k policy:1000 --games 10
    gozero table s2 --weights nogo9.pt runs/s2/weights.pt --opponent "hahanogo {sims}"

The table's pairs are played as a tournament (docs/tournaments.md), with the files and exit codes of `gozero
tournament`: the same command continues one that was stopped, and more pairs, games or weights may be added later. The
table has our cells below the published figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gozero import games
from gozero.nets import locations
from gozero.system.console import Parser, positive
from training.matches.options import OUT, SIMS, add_play, check_opponent
from training.matches.table import published


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="gozero table", description=__doc__)
    add = parser.add_argument
    add("table", metavar="NAME", help=f"which table: {', '.join(published.names())}")
    add("--weights", nargs="+", required=True, metavar="FILE", help="the networks, each of them in every pair")
    opponent = f"a GTP engine; {SIMS} stands for its simulations a move (default: plain UCT)"
    add("--opponent", metavar="COMMAND", help=opponent)
    add("--pairs", nargs="+", metavar="PAIR", help="only these, such as 400:50k or policy:1000 (default: all)")
    add("--games", type=positive, metavar="N", help="of each colour in each cell (default: as many as were published)")
    add("--game", type=str.lower, choices=games.GAMES, metavar="NAME", help="default: the one that the weights play")
    add("--size", type=int, metavar="N", help="board size (default: the table's, or else that of the weights)")
    add_play(parser, f"{OUT}/table-NAME, with the names of another game and of the opponent", opening_moves=2)
    return parser.run(_run, arguments)


def _run(options: argparse.Namespace) -> int:
    table = published.load(options.table)
    for file in options.weights:
        locations.find(file)
    if options.opponent is not None:
        check_opponent(options.opponent)
    cells = table.chosen(options.pairs)
    from training.matches.table import play

    return play.play(options, table, cells)
