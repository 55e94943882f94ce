"""Records of real games for the tests of training: random legal moves, random targets. Not a test itself."""

from collections.abc import Iterable
from contextlib import closing
from functools import cache
from pathlib import Path

import numpy as np

from gozero.games.game import Game
from training.records import scoring
from training.records.records import Record, Writer, sparse_target

MAX_LENGTH = 2.2


def game_of(size: int) -> Game:
    return scoring.make("go", size, "chinese", MAX_LENGTH)


@cache
def random_record(size: int, seed: int, every: int = 3) -> Record:
    """A game of Go, as `played_randomly`."""
    generator = np.random.default_rng([size, seed])
    return played_randomly(game_of(size), generator, scoring.draw_komi("go", size, generator), every)


def write_shard(path: Path, games: Iterable[Record], settings: dict[str, object] | None = None) -> None:
    """Append games to a shard."""
    with closing(Writer(path, settings or {})) as writer:
        for game in games:
            writer.append(game)


def played_randomly(game: Game, generator: np.random.Generator, komi: float = 0.0, every: int = 3) -> Record:
    """A game of random moves, in Go of those that fill no own eye, to its end; every `every`-th ply has a target."""
    state, history = scoring.begin(game, komi, game.max_plies)
    moves, targets, ending = [], [], None
    legal, words = np.zeros(game.actions, np.uint8), generator.integers(2**63, size=1).astype(np.uint64)
    while ending is None:
        if len(moves) % every == 0:
            game.legal(state, history, legal)
            policy = np.zeros(game.actions)
            policy[legal > 0] = generator.dirichlet(np.full(int(legal.sum()), 0.2))
            targets.append(sparse_target(len(moves), policy, generator.uniform(-1, 1)))
        action = int(game.sample(state, history, words))
        game.step(state, history, action)
        moves.append(action)
        ending = scoring.ending(game, state)
    score = scoring.final_score(game, state)
    return Record(game.size, komi, 1, np.array(moves, np.int32), tuple(targets), score, ending)
