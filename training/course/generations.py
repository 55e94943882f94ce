"""Value networks, generation by generation.

Generation 0 learns who will win from games of random moves. Each later one learns from games between players that look
one move ahead with the generation before, with random moves among theirs. Every generation then plays against random
moves with both colours, and with the generation before.

The networks are in DIR/value-N.pt, the figures in DIR/value-N.json; DIR/value-N.png shows what each first move is
worth, from red for a sure win to blue for a sure loss. A finished generation is left out, so the same
command goes on where it was stopped. The value of a position after a move is the chance that the mover wins less that
it loses; a game that is over counts as it ended.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

import numpy as np

from gozero import plots
from gozero.games.colours import COLOUR_NAMES
from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.system.console import say
from gozero.system.words import counted
from training.course import command
from training.course.expansion import Expander
from training.course.folder import CourseFolder, value_stage
from training.course.learning import Hyperparameters, fit
from training.course.movers import Mover, RandomMover, ValueMover
from training.course.networks import Networks, ValueNetwork, new_networks
from training.course.playing import PARALLEL, Played, Score, against, against_random, batches, mixed, play

DUEL_OPENING = 3  # each player's first moves against the generation before that may be random
Rows = list[tuple[np.ndarray, np.ndarray]]  # for each network: boards uint8 [n, P], targets int64 [n]


def work(folder: CourseFolder, options: argparse.Namespace) -> None:
    for generation in range(options.generations):
        name, settings = value_stage(generation), _settings(folder, options, generation)
        if folder.has_made(name, settings, {} if generation else {"games": "first_games"}):
            say(f"generation {generation}: finished before, {folder.file(name)}")
        else:
            _make(folder, generation, settings)
        _measure(folder, generation, options)


def _settings(folder: CourseFolder, options: argparse.Namespace, generation: int) -> dict[str, Any]:
    """What a generation depends on."""
    passes = options.passes or folder.course.passes
    games = options.games if generation else options.first_games
    return {"games": games, "passes": passes, "levels": options.levels, "seed": options.seed}


def _make(folder: CourseFolder, generation: int, settings: dict[str, Any]) -> None:
    """Play, learn, save."""
    seed = int(np.random.SeedSequence([settings["seed"], generation]).generate_state(1)[0])
    with command.stage(f"generation {generation}: {counted(settings['games'], 'game', ',')}"):
        expander = Expander(folder.game)
        mover: Mover = RandomMover(expander, seed)
        if generation:
            mover = ValueMover(expander, folder.load(value_stage(generation - 1)), settings["levels"])
        rows = value_rows(folder, played(expander, mover, settings["games"], seed, by_chance=not generation))
    with command.stage(f"generation {generation}: learning from {sum(len(boards) for boards, _ in rows):,} positions"):
        networks = new_networks(ValueNetwork, folder.game, folder.course, seed)
        learn(networks, rows, folder, Hyperparameters(settings["passes"]), seed)
        folder.save(value_stage(generation), "value", networks, settings)


def played(expander: Expander, mover: Mover, games: int, seed: int, *, by_chance: bool = False) -> Iterator[Played]:
    """Games of a mover with itself, in batches, with mixed randomness or wholly ``by_chance``."""
    random = np.random.default_rng(seed)
    with command.progress(games, "playing", "games") as tell:
        for count, own in batches(games, seed, PARALLEL):
            randomness = (
                np.ones((2, count)) if by_chance else np.stack([mixed(expander.game, count, random) for _ in "bw"])
            )
            yield play(expander, (mover, mover), randomness, own)
            tell(count, "")


def value_rows(folder: CourseFolder, games: Iterator[Played]) -> Rows:
    """What each value network learns from: the positions after its colour's moves, and who won."""
    colours = (EMPTY,) if folder.course.colours == 1 else (BLACK, WHITE)
    return gathered([[batch.value_rows(colour) for colour in colours] for batch in games])


def gathered(batches: list[list[tuple[np.ndarray, np.ndarray]]]) -> Rows:
    """The rows of all batches together, by network."""
    return [
        (np.concatenate([b for b, _ in own]), np.concatenate([t for _, t in own])) for own in zip(*batches, strict=True)
    ]


def learn(
    networks: Networks,
    rows: Rows,
    folder: CourseFolder,
    hyperparameters: Hyperparameters,
    seed: int,
    *,
    points: bool = False,
) -> None:
    """Teach each network its rows."""
    total = hyperparameters.epochs * sum(len(boards) for boards, _ in rows)
    with command.progress(total, "learning", "rows") as tell:
        for network, (boards, targets) in zip(networks, rows, strict=True):
            fit(
                network,
                boards,
                targets,
                folder.game,
                hyperparameters,
                seed,
                lambda n, loss: tell(n, f"loss {loss:.4f}"),
                points=points,
            )


def _measure(folder: CourseFolder, generation: int, options: argparse.Namespace) -> None:
    """Play a generation's games against random and against the generation before, unless that is done; print them."""
    name = value_stage(generation)
    wanted = {
        "test_games": options.test_games,
        "duel_games": options.duel_games,
        "levels": options.levels,
        "seed": options.seed,
        "networks": [folder.digest(value_stage(number)) for number in (generation, generation - 1) if number >= 0],
    }
    results = folder.results(name)
    if results is None or results.get("settings") != wanted:
        with command.stage(f"generation {generation}: games against random and the generation before"):
            results = {"settings": wanted, **_measured(folder, generation, options)}
        _draw(folder, generation)
        folder.save_results(name, results)
    print(f"Evaluating generation {generation} neural network")
    for colour, text in (("black", "black:"), ("white", "white:")):
        print(f"net plays {text} {Score(**results[colour])}")
    if generation:
        duel = Score(**results["duel"])
        print(f"net plays generation {generation - 1}: {duel} ({counted(duel.games, 'game')})", flush=True)


def _measured(folder: CourseFolder, generation: int, options: argparse.Namespace) -> dict[str, Any]:
    """Scores by opponent, as dictionaries."""
    expander = Expander(folder.game)
    mover = ValueMover(expander, folder.load(value_stage(generation)), options.levels)
    results = random_scores(expander, mover, options.test_games, options.seed)
    if generation:
        older = ValueMover(expander, folder.load(value_stage(generation - 1)), options.levels)
        with command.progress(options.duel_games, "against the one before", "games") as tell:
            scores = against(
                expander, mover, older, options.duel_games, options.seed, lambda n: tell(n, ""), DUEL_OPENING
            )
        results["duel"] = asdict(total(scores))
    return results


def _draw(folder: CourseFolder, generation: int) -> None:
    """Write the picture of the first moves' values."""
    game, name = folder.game, value_stage(generation)
    values = ValueMover(Expander(game), folder.load(name)).values(game.new_states(1))[0, : game.points]
    heat = np.where(np.isfinite(values), values, 0.0).reshape(game.shape)
    title = f"generation {generation}: values of the first move"
    folder.save_picture(
        name, plots.boards([plots.BoardPicture(title, game.board(game.initial.copy()), heat, signed=True)])
    )


def random_scores(expander: Expander, mover: Mover, games: int, seed: int) -> dict[str, Any]:
    """A mover's scores against random moves, by the name of its colour."""
    results = {}
    with command.progress(2 * games, "against random", "games") as tell:
        for colour in (BLACK, WHITE):
            score = against_random(expander, mover, colour, games, seed, lambda n: tell(n, ""))
            results[COLOUR_NAMES[colour].lower()] = asdict(score)
    return results


def total(scores: dict[int, Score]) -> Score:
    """All games of both colours."""
    both = scores.values()
    return Score(sum(s.wins for s in both), sum(s.losses for s in both), sum(s.ties for s in both))
