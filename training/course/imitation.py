"""Policy networks from the winners' moves.

The newest value networks play against themselves, with random moves among theirs. A policy network for each colour
learns the moves of the games which that colour won. It then plays against random moves, once by drawing from its
probabilities and once by its most probable move.

The networks are in DIR/policy-supervised.pt, the figures in DIR/policy-supervised.json.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Any

from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.system.console import say
from gozero.system.words import counted
from training.course import command
from training.course.expansion import Expander
from training.course.folder import SUPERVISED, CourseError, CourseFolder, value_stage
from training.course.generations import Rows, gathered, learn, played, random_scores
from training.course.learning import Hyperparameters
from training.course.movers import PolicyMover, ValueMover
from training.course.networks import PolicyNetwork, new_networks
from training.course.playing import Played, Score

DRAWN, GREEDY = "drawn", "greedy"  # how a policy moves


def newest(folder: CourseFolder, generation: int | None) -> int:
    """The generation of value networks to use. CourseError where it is not there."""
    found = folder.generations()
    if found == 0 or (generation is not None and generation >= found):
        wanted = "value networks" if generation is None else f"value networks of generation {generation}"
        raise CourseError(
            f"there are no {wanted} in {folder.path}: first run gozero course generations "
            f"--game {folder.course.game} --run {folder.path}"
        )
    return found - 1 if generation is None else generation


def work(folder: CourseFolder, options: argparse.Namespace) -> None:
    settings = {
        "generation": newest(folder, options.generation),
        "games": options.games,
        "passes": options.passes or folder.course.passes,
        "moves": options.moves,
        "seed": options.seed,
    }
    if folder.has_made(SUPERVISED, settings):
        say(f"supervised policies: finished before, {folder.file(SUPERVISED)}")
    else:
        _make(folder, settings)
    _measure(folder, options)


def _make(folder: CourseFolder, settings: dict[str, Any]) -> None:
    with command.stage(f"supervised policies: {counted(settings['games'], 'game', ',')}"):
        expander = Expander(folder.game)
        mover = ValueMover(expander, folder.load(value_stage(settings["generation"])))
        games = played(expander, mover, settings["games"], settings["seed"] + 1)
        rows = policy_rows(folder, games, chosen=settings["moves"] == "chosen")
    if any(len(boards) == 0 for boards, _ in rows):
        raise CourseError(f"one colour won none of {settings['games']} games: give more --games")
    with command.stage(f"supervised policies: learning from {sum(len(boards) for boards, _ in rows):,} moves"):
        networks = new_networks(PolicyNetwork, folder.game, folder.course, settings["seed"])
        learn(networks, rows, folder, Hyperparameters(settings["passes"]), settings["seed"], points=True)
        folder.save(SUPERVISED, "policy", networks, settings)


def policy_rows(folder: CourseFolder, games: Iterator[Played], *, chosen: bool) -> Rows:
    """What each policy network learns from: the positions before its colour's winning moves, and these moves."""
    colours = (EMPTY,) if folder.course.colours == 1 else (BLACK, WHITE)
    return gathered([[batch.policy_rows(colour, chosen=chosen) for colour in colours] for batch in games])


def _measure(folder: CourseFolder, options: argparse.Namespace) -> None:
    """Play against random, unless that is done; print it."""
    wanted = {"test_games": options.test_games, "seed": options.seed, "networks": [folder.digest(SUPERVISED)]}
    results = folder.results(SUPERVISED)
    if results is None or results.get("settings") != wanted:
        expander, networks = Expander(folder.game), folder.load(SUPERVISED)
        results = {"settings": wanted}
        for way, seed in ((DRAWN, options.seed), (GREEDY, None)):
            mover = PolicyMover(expander, networks, seed)
            results[way] = random_scores(expander, mover, options.test_games, options.seed)
        folder.save_results(SUPERVISED, results)
    print("Evaluating supervised policies against random")
    for way in (DRAWN, GREEDY):
        for colour in ("black", "white"):
            print(f"{way} moves, net plays {colour}: {Score(**results[way][colour])}", flush=True)
