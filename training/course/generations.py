"""Value networks, generation by generation.

Generation 0 learns who will win from games of random moves. Each later one learns from games between players that look
one move ahead with the generation before, with random moves among theirs. Every generation then plays against random
moves with both colours, and with the generation before.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np

from gozero import plots
from gozero.system.console import progress_bar, say
from gozero.system.words import counted
from training.course.expansion import Expander
from training.course.folder import CourseFolder, announced, value_stage
from training.course.learning import learn
from training.course.movers import Mover, RandomMover, ValueMover
from training.course.networks import ValueNetwork, new_networks
from training.course.playing import Score, against, gathered, played, random_scores

DUEL_OPENING = 3  # each player's first moves against the generation before that may be random


def work(folder: CourseFolder, options: argparse.Namespace) -> None:
    for generation in range(options.generations):
        name, passes = value_stage(generation), options.passes or folder.course.passes
        games = options.games if generation else options.first_games
        settings = {"games": games, "passes": passes, "levels": options.levels, "seed": options.seed}
        if folder.has_made(name, settings, {} if generation else {"games": "first_games"}):
            say(f"generation {generation}: finished before, {folder.file(name)}")
        else:
            _make(folder, generation, settings)
        _measure(folder, generation, options)


def _make(folder: CourseFolder, generation: int, settings: dict[str, Any]) -> None:
    """Play, learn, save."""
    seed = int(np.random.SeedSequence([settings["seed"], generation]).generate_state(1)[0])
    with announced(f"generation {generation}: {counted(settings['games'], 'game', ',')}"):
        expander = Expander(folder.game)
        mover: Mover = RandomMover(expander, seed)
        if generation:
            mover = ValueMover(expander, folder.load(value_stage(generation - 1)), settings["levels"])
        games = played(expander, mover, settings["games"], seed, by_chance=not generation)
        rows = gathered(games, folder.course.colours, lambda batch, colour: batch.value_rows(colour))
    with announced(f"generation {generation}: learning from {sum(len(boards) for boards, _ in rows):,} positions"):
        networks = new_networks(ValueNetwork, folder.game, folder.course, seed)
        learn(networks, rows, folder.game, settings["passes"], seed)
        folder.save(value_stage(generation), "value", networks, settings)


def _measure(folder: CourseFolder, generation: int, options: argparse.Namespace) -> None:
    """Play a generation's games against random and against the one before, unless that is done; print them."""
    names = ("test_games", "duel_games", "levels", "seed")
    stages = [value_stage(number) for number in (generation, generation - 1) if number >= 0]

    def measure() -> dict[str, Any]:
        expander = Expander(folder.game)
        mover, *older = (ValueMover(expander, folder.load(stage), options.levels) for stage in stages)
        with announced(f"generation {generation}: games against random and the generation before"):
            found = random_scores(expander, mover, options.test_games, options.seed)
            for other in older:
                with progress_bar(options.duel_games, "against the one before", " games") as bar:
                    duel = against(expander, mover, other, options.duel_games, options.seed, bar.update, DUEL_OPENING)
                found["duel"] = asdict(duel)
        _draw(folder, generation)
        return found

    results = folder.measured(stages[0], {name: getattr(options, name) for name in names}, stages, measure)
    print(f"Evaluating generation {generation} neural network")
    for colour in ("black", "white"):
        print(f"net plays {colour}: {Score(**results[colour])}")
    if generation:
        duel = Score(**results["duel"])
        print(f"net plays generation {generation - 1}: {duel} ({counted(duel.games, 'game')})", flush=True)


def _draw(folder: CourseFolder, generation: int) -> None:
    """Write the picture of the first moves' values."""
    game, name = folder.game, value_stage(generation)
    values = ValueMover(Expander(game), folder.load(name)).values(game.new_states(1))[0, : game.points]
    heat = np.where(np.isfinite(values), values, 0.0).reshape(game.shape)
    title = f"generation {generation}: values of the first move"
    picture = plots.BoardPicture(title, game.board(game.initial.copy()), heat, signed=True)
    folder.save_picture(name, plots.boards([picture]))
