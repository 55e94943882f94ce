"""Value networks, generation by generation.

Generation 0 learns who will win from games of random moves. Each later one learns from games between players that look
one move ahead with the generation before, with random moves among theirs. Every generation then plays against random
moves with both colours, and with the generation before.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from gozero import plots
from gozero.system.console import say
from gozero.system.words import counted
from training.course.expansion import Expander
from training.course.folder import CourseFolder, value_stage
from training.course.learning import learn
from training.course.movers import ValueMover
from training.course.networks import ValueNetwork, new_networks
from training.course.playing import gathered, played, scores, shares
from training.elo import MatchScore

DUEL_OPENING = 3  # each player's first moves against the generation before that may be random


def work(folder: CourseFolder, options: argparse.Namespace) -> None:
    for generation in range(options.generations):
        games = options.games if generation else options.first_games
        settings = {"games": games, "passes": options.passes or folder.course.passes, "seed": options.seed}
        if not folder.has_made(value_stage(generation), settings):
            _make(folder, generation, settings)
        _measure(folder, generation, options)


def _mover(folder: CourseFolder, generation: int) -> ValueMover | None:
    """The player of a generation; before the first it moves at random."""
    return ValueMover(Expander(folder.game), folder.load(value_stage(generation))) if generation >= 0 else None


def _make(folder: CourseFolder, generation: int, settings: dict[str, Any]) -> None:
    seed = int(np.random.SeedSequence([settings["seed"], generation]).generate_state(1)[0])
    say(f"generation {generation}: playing {counted(settings['games'], 'game', ',')}")
    games = played(Expander(folder.game), _mover(folder, generation - 1), settings["games"], seed)
    rows = gathered(games, folder.course.colours, lambda batch, colour: batch.value_rows(colour))
    say(f"generation {generation}: learning from {sum(len(boards) for boards, _ in rows):,} positions")
    networks = new_networks(ValueNetwork, folder.game, folder.course, seed)
    learn(networks, rows, folder.game, settings["passes"], seed)
    folder.save(value_stage(generation), "value", networks, settings)


def _measure(folder: CourseFolder, generation: int, options: argparse.Namespace) -> None:
    """Play a generation's games against random and against the one before, unless that is done; print them."""

    def measure() -> dict[str, MatchScore]:
        say(f"generation {generation}: games against random and the generation before")
        expander, mover, older = Expander(folder.game), _mover(folder, generation), _mover(folder, generation - 1)
        assert mover is not None
        found = scores(expander, mover, None, options.test_games, options.seed)
        if older is not None:
            duel = scores(expander, mover, older, options.duel_games // 2, options.seed, DUEL_OPENING)
            found["duel"] = duel["black"] + duel["white"]
        _draw(folder, generation, mover)
        return found

    settings = {name: getattr(options, name) for name in ("test_games", "duel_games", "seed")}
    results = folder.measured(value_stage(generation), settings, measure)
    print(f"Evaluating generation {generation} neural network")
    for colour in ("black", "white"):
        print(f"net plays {colour}: {shares(results[colour])}")
    if duel := results.get("duel"):
        print(f"net plays generation {generation - 1}: {shares(duel)} ({counted(duel.games, 'game')})", flush=True)


def _draw(folder: CourseFolder, generation: int, mover: ValueMover) -> None:
    """Write the picture of the first moves' values."""
    game = folder.game
    values = mover.values(game.new_states(1))[0, : game.points]
    heat = np.where(np.isfinite(values), values, 0.0).reshape(game.shape)
    title = f"generation {generation}: values of the first move"
    picture = plots.BoardPicture(title, game.board(game.initial.copy()), heat, signed=True)
    folder.save_picture(value_stage(generation), plots.boards([picture]))
