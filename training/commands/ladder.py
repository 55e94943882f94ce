"""`gozero ladder`: the score against ever stronger opponents, and the mean over them, with intervals.

    gozero ladder --weights connect4.pt --visits 50 --plot ladder.png
    gozero ladder --weights ttt.pt ttt-mlp.pt ttt-vgg.pt --plot ladder.png
    gozero ladder --weights nogo9.pt --visits 50 400 --opponent "hahanogo {sims}" --sims 20000

    rung      one opponent: plain UCT of so many simulations, from 10 doubling to 20,480, or the program of --opponent
              with {sims} set
    climber   the player that meets every rung in a match of --games games with each colour: each of the weights at so
              many visits, or `policy`: without a search
    control   another climber to compare with: plain UCT of as many visits, and a perfect player where the game is
              solved; only against plain UCT, so that all means belong to the same opponents

The mean gives every opponent the same weight; its interval takes all games for one match, which is a little too wide,
never too narrow. A ladder is a tournament (docs/tournaments.md), with the exit codes of `gozero tournament`.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

from gozero.system.console import Parser, positive
from training.matches.interface import POLICY, ROLLOUT_PLAYERS
from training.matches.options import add_game, add_play, check_files, check_opponent, complete

SIMULATIONS = tuple(10 * 2**rung for rung in range(12))  # of the plain UCT opponents


def main(arguments: Sequence[str] | None = None) -> int:
    parser = Parser(prog="gozero ladder", description=__doc__)
    add = parser.add_argument
    add_game(parser)
    add(
        "--weights", nargs="+", default=[], metavar="FILE", help="the networks that climb (default: the controls alone)"
    )
    visits = "of the climber, each in turn; policy: its network without a search (default 50)"
    add("--visits", type=_visits, nargs="+", default=["50"], metavar="N", help=visits)
    rollouts = "the opponents and their control: plain UCT, or PUCT with rollouts and one prior for all (default uct)"
    add("--rollouts", choices=ROLLOUT_PLAYERS, default=ROLLOUT_PLAYERS[0], help=rollouts)
    add("--opponent", metavar="COMMAND", help="a GTP engine instead of plain UCT; {sims} stands for its simulations")
    sims = "of the opponents (default 10 20 ... 20480)"
    add("--sims", type=positive, nargs="+", default=SIMULATIONS, metavar="N", help=sims)
    add("--games", type=positive, default=10, help="per opponent and colour (default 10)")
    add_play(parser, "none is left")
    add("--no-controls", action="store_true", help="without plain UCT and the perfect player as climbers")
    add("--plot", type=Path, metavar="FILE.png", help="save the score against the opponents' simulations")
    return parser.run(_run, arguments)


def _visits(text: str) -> str:
    """The type of --visits: a whole number, or `policy`."""
    return POLICY if text == POLICY else str(positive(text))


_visits.__name__ = "number"  # argparse names the type in its message


def _run(options: argparse.Namespace) -> int:
    if options.opponent is not None:
        check_opponent(options.opponent)
    check_files(options.plot)
    complete(options, options.weights)
    from training.matches import ladder

    return ladder.play(options)
