"""Pictures of a run folder: the openings of the games, the network's outputs in a few positions, the first layer.

The positions are those of the newest games that the learner never saw. Pictures whose files are missing or unreadable
are left out.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import islice
from pathlib import Path

import numpy as np
import torch
from torch import nn

from gozero import plots
from gozero.games.game import PLY, Game
from gozero.nets import features, filters, weights
from gozero.nets.model import Network
from gozero.nets.weights import WeightsError
from gozero.plots import BoardPicture
from gozero.system.words import counted
from training.records import records, scoring
from training.records.records import Record
from training.records.rows import CorruptRecordError, is_held_out, states_of
from training.settings.config import LoopSettings
from training.storage import storage

SHARDS = 5  # newest ones that are read
MOST_OPENINGS = 200  # newest games of a size that the picture of the openings is drawn from
EXAMPLES = 3
DEPTHS = (0.2, 0.5, 0.8)  # where in its game each example is
OPENINGS = (
    "Where the newest games began on each size, and the policy of its empty board before any search; a narrow choice "
    "early in a run, or one on the first line of a large board, is a sign of collapse."
)
PREDICTIONS = (
    "Before any search: shares of the policy, and the expected owner of each point at the end, if the game has owned "
    "points (red: the side to move)."
)
FILTERS = "One column for each filter of the first layer: red and blue are the two sides' stones, the rest is grey."


def pictures(folder: Path, settings: LoopSettings) -> Iterator[tuple[str, str, bytes]]:
    """(heading, a sentence, PNG) of each picture of a run folder."""
    games, net = list[Record](), None
    for shard in storage.numbered(folder / "records", ".gzr")[-SHARDS:]:
        with suppress(OSError):
            games += records.read(shard).records
    with suppress(WeightsError, MemoryError):
        file = weights.load(folder / "weights.pt", game=settings.game)
        net = file.network()
    if boards := list(openings(settings, games, net)):
        yield "Openings", OPENINGS, plots.boards(boards)
    if net is not None:
        game = scoring.game_of(settings, file.size or settings.stage[-1].main_size)
        yield "What the network thinks", PREDICTIONS, plots.boards(list(predictions(settings, game, games, net)))
        yield "First layer", FILTERS, plots.sides(filters.first_layer(file))


def openings(settings: LoopSettings, games: Sequence[Record], net: nn.Module | None) -> Iterator[BoardPicture]:
    """Each size's first moves in the newest games, counted, and the policy of its empty board."""
    for size in sorted({record.size for record in games}):
        game = scoring.game_of(settings, size)
        moves = [int(record.moves[0]) for record in games if record.size == size and len(record.moves)]
        firsts = [game.ends(move)[1] for move in moves[-MOST_OPENINGS:] if move < game.pass_action]
        if not firsts:
            continue
        counts = np.bincount(firsts, minlength=game.points).reshape(game.shape).astype(float)
        title = f"{game.dimensions}: first moves of {counted(len(firsts), 'game')}"
        yield BoardPicture(title, np.zeros_like(counts, dtype=np.uint8), counts, numbers=True)
        if net is not None:
            yield next(_prediction(net, game, _empty(game), game.dimensions))


def predictions(settings: LoopSettings, game: Game, games: Sequence[Record], net: nn.Module) -> Iterator[BoardPicture]:
    """Policy and ownership of the empty board with its usual komi, and of positions of held-out games."""
    yield from _prediction(net, game, _empty(game), "empty board")
    share = settings.replay.held_out
    unseen = [record for record in games if record.size == game.size and is_held_out(record, share)]
    for record, depth in zip(unseen[-EXAMPLES:], DEPTHS, strict=False):
        ply = int(depth * len(record.moves))
        title = f"generation {record.generation}, move {ply + 1}"
        with suppress(CorruptRecordError):  # by the default rules, where settings.json cannot be read
            yield from _prediction(net, game, next(islice(states_of(record, game), ply, None)), title)


def _empty(game: Game) -> np.ndarray:
    """The state int32 [S] of the empty board with its usual komi."""
    return scoring.begin(game, scoring.usual_komi(game.name, game.size), 0)[0]


@torch.inference_mode()
def _prediction(net: nn.Module, game: Game, state: np.ndarray, title: str) -> Iterator[BoardPicture]:
    """One board with the policy under its stones; one with the ownership, where the game has it and the network that
    head.
    """
    assert isinstance(net, Network)
    inputs = features.encode(game, state[None], net.config.features)
    planes, output = inputs[0], net(*map(torch.from_numpy, inputs))
    legal = np.zeros(game.actions, np.uint8)
    game.legal(state, np.zeros(int(state[PLY]) + 2, np.uint64), legal)  # superko aside: a picture needs no more
    shares = output.policy[0].double().where(torch.from_numpy(legal > 0), -np.inf).softmax(0).numpy()
    board = game.board(state)
    mover = "Black" if planes[0, -1, 0, 0] else "White"
    policy = shares[: game.pass_action].reshape(-1, *board.shape).sum(0)  # of a piece that moves, all its moves
    value = f"value {float(output.value[0]):+.2f}"
    passing = f"pass {shares[game.pass_action]:.1%}, " if game.has_pass else ""
    yield BoardPicture(f"{title}\n{mover}'s policy, {passing}{value}", board, policy)
    owners = output.owners
    if owners is not None and game.owner is not None:
        owner = owners[0].numpy().reshape(board.shape)
        yield BoardPicture(
            f"{title}\nred: {mover}'s points, {value}, score {float(output.score[0]):+.1f}", board, owner, signed=True
        )
