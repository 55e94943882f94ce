"""Agreement of a network with positions that a strong engine labelled. The command is `gozero yardstick`.

A yardstick is a file of labelled positions, one JSON object a line: `moves` (vertices from the empty board, Black
first), `best` (vertex), `shares` (visit share by vertex, up to ten moves), `winrate` (0 ... 1) and `score` (points),
both for the side to move, `ownership` (row-major from the top left, + for the side to move). The measures:

    top1           1 if the raw policy's first legal move is `best`; of k moves that are first together, each counts as
                   one k-th
    log_share      sum(share * ln(policy)): 0 would be certainty of the right move, the closer the better
    *_error        absolute differences; the win rate's from (value + 1) / 2

Beside the network stands the constant guess: uniform over the legal moves, win rate one half, score and ownership 0. It
costs no search and has no noise: two networks are compared on the same positions. These are never trained on.
"""

from __future__ import annotations

import argparse
import gzip
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
from math import isqrt
from pathlib import Path
from typing import Any

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.games import coords
from gozero.games.game import Game
from gozero.games.position import IllegalMove, Position
from gozero.system.errors import UserError
from gozero.system.files import from_json
from gozero.system.words import counted
from training.matches.tables import aligned

BATCH = 64  # positions evaluated at once
MOST_POINTS = 1000


@dataclass(frozen=True)
class Labelled:
    """n positions with their labels; everything is for the side to move."""

    game: Game
    states: np.ndarray  # int32 [n, S]
    legal: np.ndarray  # bool [n, A]
    best: np.ndarray  # int64 [n], actions
    shares: np.ndarray  # float32 [n, A], rows sum to about 1
    winrate: np.ndarray  # float32 [n], 0 ... 1
    score: np.ndarray  # float32 [n], points
    ownership: np.ndarray  # float32 [n, P], -1 ... 1


def read(path: Path, *, komi: float = 7.5) -> Labelled:
    """Load a yardstick (.jsonl, or .jsonl.gz); the board size is read off the first line's ownership.

    Raises `UserError` for a file that is missing, has another form, or holds an impossible position.
    """
    rows: list[tuple[Any, ...]] = []
    game: Game | None = None
    for number, line in enumerate(_lines(path), 1):
        try:
            label = from_json(line)
            # the labelling engine's "chinese" rules have simple ko, so a long cycle may occur in its games
            game = game or games.make("go", size=isqrt(len(label["ownership"])), rules="chinese-simple", komi=komi)
            rows.append(_row(game, label))
        except (AttributeError, KeyError, TypeError, ValueError, OverflowError, IllegalMove) as error:
            reason = str(error) if isinstance(error, ValueError) else "a value is of the wrong type, or too large"
            reason = f"{error} is missing" if isinstance(error, KeyError) else reason
            raise UserError(f"{path}, line {number} is no labelled position: {reason}") from None
    if game is None:
        raise UserError(f"{path}: no positions in it")
    return Labelled(game, *(np.stack(column) for column in zip(*rows, strict=True)))


def _lines(path: Path) -> Iterator[str]:
    try:
        with gzip.open(path, "rt", encoding="utf-8") if path.suffix == ".gz" else path.open(encoding="utf-8") as file:
            yield from file
    except (OSError, EOFError, UnicodeDecodeError, zlib.error) as error:
        raise UserError(
            f"cannot read the yardstick {path.absolute()}: {getattr(error, 'strerror', None) or error}"
        ) from None


def _row(game: Game, label: dict[str, Any]) -> tuple[Any, ...]:
    """One position and its labels, in the order of `Labelled`."""
    position = Position(game)
    for vertex in label["moves"]:
        position.play(coords.parse_vertex(vertex, game.rows))
    legal, shares = position.legal(), np.zeros(game.actions, np.float32)
    for vertex, share in label["shares"].items():
        shares[_move(vertex, legal, game)] = share
    winrate, score, ownership = (np.asarray(label[name], np.float32) for name in ("winrate", "score", "ownership"))
    if (winrate.shape, score.shape, ownership.shape) != ((), (), (game.points,)):
        raise ValueError(f"expected a winrate, a score, and ownership of {game.points} points")
    for name, values, low, high in (
        ("shares", shares, 0, 1),
        ("winrate", winrate, 0, 1),
        ("score", score, -MOST_POINTS, MOST_POINTS),
        ("ownership", ownership, -1, 1),
    ):
        if not ((low <= values) & (values <= high)).all():
            raise ValueError(f"{name}: expected numbers from {low} to {high}")
    best = np.int64(_move(label["best"], legal, game))
    return position.state.copy(), legal, best, shares, winrate, score, ownership


def _move(vertex: str, legal: np.ndarray, game: Game) -> int:
    """A move by its vertex; ValueError if it is none in this position."""
    action = coords.parse_vertex(vertex, game.rows)
    if not legal[action]:
        raise ValueError(f"{vertex} is no legal move there")
    return action


def evaluate(labelled: Labelled, evaluator: Evaluator) -> Evaluation:
    """Run an evaluator of the same game over all positions, `BATCH` at a time."""
    starts = range(0, len(labelled.states), BATCH)
    return Evaluation.joined([evaluator.evaluate(labelled.states[start : start + BATCH]) for start in starts])


def agreement(labelled: Labelled, evaluation: Evaluation) -> dict[str, float]:
    """The mean of each measure over all positions; without those for which the network has no output."""
    logits = np.where(labelled.legal, evaluation.logits, -np.inf).astype(np.float64)
    log_policy = logits - np.logaddexp.reduce(logits, axis=1, keepdims=True)
    shares = np.where(labelled.legal, labelled.shares, 0)
    first = logits == logits.max(axis=1, keepdims=True)
    values = {
        "top1": first[np.arange(len(first)), labelled.best] / first.sum(axis=1),
        "log_share": np.sum(shares * np.where(labelled.legal, log_policy, 0), axis=1),
        "winrate_error": np.abs((evaluation.value + 1) / 2 - labelled.winrate),
    }
    if evaluation.score is not None:
        values["score_error"] = np.abs(evaluation.score - labelled.score)
    if evaluation.ownership is not None:
        values["ownership_error"] = np.abs(evaluation.ownership - labelled.ownership).mean(axis=1)
    return {name: float(each.mean()) for name, each in values.items()}


def constant_guess(labelled: Labelled) -> Evaluation:
    count = len(labelled.states)
    zeros, logits = np.zeros(count, np.float32), np.zeros((count, labelled.game.actions), np.float32)
    return Evaluation(logits, zeros, zeros, np.zeros_like(labelled.ownership))


def table(columns: dict[str, dict[str, float]]) -> str:
    """A line for each measure that one of the agreements has, a column for each of these."""
    rows = [["", *columns]]
    for name in dict.fromkeys(name for column in columns.values() for name in column):
        values = (column.get(name) for column in columns.values())
        rows.append([name, *("-" if value is None else f"{value:.4f}" for value in values)])
    return "\n".join(aligned(rows, left=(0,)))


def measure(options: argparse.Namespace) -> int:
    """Print the agreement that the options of `training.commands.yardstick` ask for; the exit code."""
    labelled = read(options.yardstick, komi=options.komi)
    evaluation = evaluate(labelled, open_evaluator(options.weights, labelled.game))
    count, game = counted(len(labelled.states), "position"), labelled.game
    print(f"{count}, {game.rows}x{game.cols}, weights {options.weights}")
    outputs = {"network": evaluation, "constant guess": constant_guess(labelled)}
    print(table({name: agreement(labelled, output) for name, output in outputs.items()}))
    return 0
