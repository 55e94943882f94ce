"""Policy networks from the winners' moves.

The newest value networks play against themselves, with random moves among theirs. A policy network for each colour
learns the moves of the games which that colour won. It then plays against random moves, once by drawing from its
probabilities and once by its most probable move.
"""

from __future__ import annotations

import argparse
from typing import Any

from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.words import counted
from training.course.expansion import Expander
from training.course.folder import SUPERVISED, CourseFolder, value_stage
from training.course.learning import learn
from training.course.movers import PolicyMover, ValueMover
from training.course.networks import PolicyNetwork, new_networks
from training.course.playing import gathered, played, scores, shares
from training.elo import MatchScore


def work(folder: CourseFolder, options: argparse.Namespace) -> None:
    settings = {
        "generation": folder.newest(options.generation),
        "games": options.games,
        "passes": options.passes or folder.course.passes,
        "moves": options.moves,
        "seed": options.seed,
    }
    if not folder.has_made(SUPERVISED, settings):
        _make(folder, settings)
    _measure(folder, options)


def _make(folder: CourseFolder, settings: dict[str, Any]) -> None:
    say(f"supervised policies: playing {counted(settings['games'], 'game', ',')}")
    expander, chosen = Expander(folder.game), settings["moves"] == "chosen"
    mover = ValueMover(expander, folder.load(value_stage(settings["generation"])))
    games = played(expander, mover, settings["games"], settings["seed"] + 1)
    rows = gathered(games, folder.course.colours, lambda batch, colour: batch.policy_rows(colour, chosen=chosen))
    if any(len(boards) == 0 for boards, _ in rows):
        raise UserError(f"one colour won none of {settings['games']} games: give more --games")
    say(f"supervised policies: learning from {sum(len(boards) for boards, _ in rows):,} moves")
    networks = new_networks(PolicyNetwork, folder.game, folder.course, settings["seed"])
    learn(networks, rows, folder.game, settings["passes"], settings["seed"], points=True)
    folder.save(SUPERVISED, "policy", networks, settings)


def _measure(folder: CourseFolder, options: argparse.Namespace) -> None:
    """Play against random, unless that is done; print it."""

    def measure() -> dict[str, MatchScore]:
        expander, networks, found = Expander(folder.game), folder.load(SUPERVISED), {}
        for way, seed in (("drawn", options.seed), ("greedy", None)):
            mover = PolicyMover(expander, networks, seed)
            for colour, score in scores(expander, mover, None, options.test_games, options.seed).items():
                found[f"{way} moves, net plays {colour}"] = score
        return found

    results = folder.measured(SUPERVISED, {"test_games": options.test_games, "seed": options.seed}, measure)
    print("Evaluating supervised policies against random")
    print("\n".join(f"{name}: {shares(score)}" for name, score in results.items()), flush=True)
