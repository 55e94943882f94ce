"""`gozero table NAME --weights FILE ...`: a published table of results, played again with networks of ours.

    gozero table s2 --weights nogo9.pt --dry-run
    gozero table s2 --weights nogo9.pt --pairs 50:20k policy:1000 --games 10
    gozero table s2 --weights nogo9.pt runs/s2/weights.pt --opponent "hahanogo {sims}"

NAME is one of TABLES. The table's pairs are played as a tournament (docs/tournaments.md), with the files and exit codes
of `gozero tournament`: the same command continues one that was stopped, and more pairs, games or weights may be added
later. The table has our cells below the published figures.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence

from gozero.nets import locations
from gozero.system.console import Parser, positive
from gozero.system.errors import ChoiceError
from training.matches.options import SIMS, add_play, check_game, check_once, check_opponent
from training.matches.table import published
from training.matches.tournament.presets import OUT

PROGRAM = "gozero table"


def main(arguments: Sequence[str] | None = None) -> int:
    """Play what is asked for; the exit code is that of a tournament."""
    return _parser().run(_run, arguments)


def _parser() -> Parser:
    about = (__doc__ or "").split("\n\n", 1)[1].replace("TABLES", ", ".join(published.names()))
    parser = Parser(prog=PROGRAM, description=about)
    add = parser.add_argument
    add("table", metavar="NAME", help=f"which table: {', '.join(published.names())}")
    add("--weights", nargs="+", required=True, metavar="FILE", help="the networks, each of them in every pair")
    opponent = f"a GTP engine; {SIMS} stands for its simulations a move (default: plain UCT)"
    add("--opponent", metavar="COMMAND", help=opponent)
    add("--opponent-name", metavar="TEXT", help="its name in the table (default: the program's)")
    add("--pairs", nargs="+", metavar="PAIR", help="only these, such as 400:50k or policy:1000 (default: all)")
    add("--games", type=positive, metavar="N", help="of each colour in each cell (default: as many as were published)")
    add("--game", type=str.lower, metavar="NAME", help="default: the one that the weights play")
    add("--size", type=int, metavar="N", help="board size (default: the table's, or else that of the weights)")
    add_play(parser, f"{OUT}/table-NAME, behind it the names of another game and of the opponent", opening_moves=2)
    return parser


def _run(options: argparse.Namespace) -> int:
    table = published.load(options.table)
    check_once("weights", options.weights)
    for file in options.weights:
        locations.find(file)
    if options.game is not None:
        check_game(options.game)
    if options.opponent is not None:
        check_opponent(options.opponent)
    elif options.opponent_name:
        raise ChoiceError("--opponent-name names the engine of --opponent: give both, or neither")
    cells = table.chosen(options.pairs, f"the table {options.table}")
    from training.matches.table import play

    return play.play(options, table, cells)
