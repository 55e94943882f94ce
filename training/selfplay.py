"""Self-play: many games at once in one search, a move at a time each, none waiting for another.

Vocabulary.
  pool     the games of one board size that are in flight; they stay in flight when the network changes, so that short games are not
           over-represented among the finished ones.
  full     a search with many simulations; its result becomes a row. The other moves are *cheap* and leave none (playout-cap randomisation,
           Wu 2019, section 3.1).
  opening  the first moves of most games, drawn from the raw policy, so that games differ; some are searched all the same, to be recorded.

`python -m training.selfplay --help` plays games from a weights file into a shard of records. It does not train; `training.loop` does.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib.util import find_spec
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from gozero import weights
from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import Game
from gozero.search.choose import choose
from gozero.search.search import RootResult, Search
from gozero.search.settings import SearchSettings
from gozero.weights import WeightsError
from training import scoring
from training.config import ConfigError, SelfPlaySettings, Stage, from_dict
from training.monitor import bar, say
from training.records import Record, Target, Writer, sparse_target

if TYPE_CHECKING:
    from torch import nn


@dataclass
class GameInProgress:
    """One game of a pool: its position, what has been played and recorded, and the kind of the search under way."""

    komi: float
    state: np.ndarray  # int32 [S]
    history: np.ndarray  # uint64 [plies + 1]
    generator: np.random.Generator  # the game's own: games do not depend on each other's order
    openings: int  # moves to be drawn from the raw policy
    moves: list[int] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    full: bool = False
    kept: int = 0  # visits that the search under way took over from the one before

    @property
    def in_opening(self) -> bool:
        return len(self.moves) < self.openings


class Pool:
    """Games of one size in flight. `use` sets the network and the visits, also under way; then `play` until enough rows are finished."""

    def __init__(self, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...]) -> None:
        self.game, self.settings, self.seed = game, settings, seed
        self.started = 0  # games begun so far: the next game's number, and part of its seed
        self.evaluations = 0  # visits of all finished searches
        self.games = [self._new_game() for _ in range(settings.games)]

    def use(self, evaluator: Evaluator | RowEvaluator, stage: Stage, generation: int) -> None:
        """Go on with this evaluator and stage; searches under way start again from their roots."""
        seed = int(np.random.default_rng([*self.seed, self.game.rows, generation]).integers(2**63))
        self._search = Search(self.game, evaluator, search_settings(self.settings, stage), trees=len(self.games), seed=seed)
        self._stage, self._generation = stage, generation
        for tree in range(len(self.games)):
            self._begin(tree)

    def play(self, rows: float, stop: Callable[[], bool] = lambda: False) -> Iterator[Record]:
        """Finished games, as they finish, until they hold at least `rows` rows or `stop()` says so."""
        while rows > 0 and not stop():
            for tree in self._search.wave():
                record = self._advance(tree)
                if record is not None:
                    rows -= record.rows
                    yield record

    def _new_game(self) -> GameInProgress:
        generator = np.random.default_rng([*self.seed, self.game.rows, self.started])
        self.started += 1
        komi = scoring.draw_komi(self.game.rows, generator)
        state, history = scoring.begin(self.game, komi, self.game.max_plies)
        openings = 0
        if generator.random() < self.settings.opening_share:
            openings = int(generator.exponential(self.settings.opening_mean * self.game.points))
        return GameInProgress(komi, state, history, generator, openings)

    def _begin(self, tree: int, keep: bool = False) -> None:
        """Start the search of the game's next move: full by a draw, otherwise cheap, in the opening one evaluation.

        With `keep` it builds on the tree that `Search.advance` left: its visits come on top, and the root is not evaluated again.
        """
        current = self.games[tree]
        current.full = current.generator.random() < self.settings.full_share
        cheap = 0 if current.in_opening else self._stage.cheap_visits
        visits = self._stage.full_visits if current.full else cheap
        current.kept = int(self._search.forest.nodes[tree, 0]["visits"]) if keep else 0
        budget = (current.kept or 1) + visits  # the root's own evaluation is a visit too
        mask = self._root_mask(current)
        self._search.begin(tree, current.state, current.history, budget, noise=current.full, root_mask=mask, keep=keep)

    def _root_mask(self, current: GameInProgress) -> np.ndarray | None:
        """Mask uint8 [A]: legal moves but pass, in the opening and early in the first generations' games; None: all legal moves."""
        early = len(current.moves) < self.settings.no_pass_until * self.game.points
        if not (current.in_opening or (early and self._generation < self.settings.no_pass_generations)):
            return None
        mask = np.empty(self.game.actions, np.uint8)
        legal = self.game.legal(current.state, current.history, mask)
        mask[self.game.pass_action] = 0
        return mask if legal > 1 else None

    def _advance(self, tree: int) -> Record | None:
        """Play the move of a finished search; the record if that ends the game (a new one then takes its place)."""
        current, result = self.games[tree], self._search.result(tree)
        self.evaluations += result.root_visits - current.kept
        action = self._move(current, result)
        if current.full:
            current.targets.append(sparse_target(len(current.moves), result.policy, result.value))
        self.game.step(current.state, current.history, action)
        current.moves.append(action)
        ending = scoring.ending(self.game, current.state)
        if ending is None:
            self._begin(tree, keep=self._search.advance(tree, action) and not current.in_opening)
            return None
        self.games[tree] = self._new_game()
        self._begin(tree)
        return self._record(current, ending)

    def _move(self, current: GameInProgress, result: RootResult) -> int:
        """The move to play. A Gumbel root has drawn its winner already; visits are drawn from by temperature."""
        if current.in_opening:
            prior = result.prior.astype(np.float64)
            return int(current.generator.choice(self.game.actions, p=prior / prior.sum()))
        if self._search.settings.root == "gumbel":
            return result.best
        return choose(result, self._temperature(len(current.moves)), current.generator)

    def _temperature(self, ply: int) -> float:
        """From `temperature` towards `temperature_end`, the difference halved every board width."""
        first, last = self.settings.temperature, self.settings.temperature_end
        return last + (first - last) * 0.5 ** (ply / self.game.rows)

    def _record(self, current: GameInProgress, ending: str) -> Record:
        moves, score = np.array(current.moves, np.int32), scoring.final_score(self.game, current.state)
        return Record(self.game.rows, current.komi, self._generation, moves, tuple(current.targets), score, ending, current.openings)


def leaf_evaluator(kind: str, game: Game, net: nn.Module | None, threads: int, seed: int) -> Evaluator | RowEvaluator:
    """What evaluates the leaves of a stage: `rollouts`, or the network `net` on the fastest CPU backend that is installed."""
    if kind == "rollouts":
        from gozero.evaluators.rollout import RolloutEvaluator

        return RolloutEvaluator(game, rollouts=1, seed=seed)
    assert net is not None, "a network stage needs a network"
    if find_spec("openvino") is not None:
        from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator

        return OpenVINOEvaluator.from_module(net, game, threads=threads)
    from gozero.evaluators.torch_evaluator import TorchEvaluator

    return TorchEvaluator(net, game, threads=threads)


def search_settings(settings: SelfPlaySettings, stage: Stage) -> SearchSettings:
    """The search of a stage. Rollouts are too noisy for a Gumbel root's completed values: there the root is PUCT, its visits the target."""
    root = "puct" if stage.evaluator == "rollouts" else settings.root
    return SearchSettings(
        root=root,
        c_puct=settings.c_puct,
        fpu=settings.fpu,
        gumbel_m=settings.gumbel_m,
        c_visit=settings.c_visit,
        c_scale=settings.c_scale,
        dirichlet_weight=settings.dirichlet_weight if stage.evaluator == "network" else 0.0,  # playouts are noise enough
        max_nodes=4 * max(stage.full_visits, stage.cheap_visits) + 64,  # a kept tree and the new search
    )


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = argparse.ArgumentParser(prog="python -m training.selfplay", description="Play games of self-play into a shard of records.")
    options.add_argument("--weights", required=True, metavar="FILE", help="weights file, or none: plain UCT with random playouts")
    options.add_argument("--games", type=int, default=100, help="games to finish (default 100)")
    options.add_argument("--size", type=int, default=13, help="board size (default 13)")
    options.add_argument("--rules", default="chinese", help="rule set (default chinese)")
    options.add_argument("--full-visits", type=int, default=32, help="simulations of a recorded move (default 32)")
    options.add_argument("--cheap-visits", type=int, default=8, help="simulations of the other moves (default 8)")
    options.add_argument("--parallel", type=int, default=SelfPlaySettings().games, help="games at once (default %(default)s)")
    options.add_argument("--threads", type=int, default=0, help="CPU threads of the network (default: what the process may use)")
    options.add_argument("--seed", type=int, default=1, help="the same seed gives the same games (default 1)")
    options.add_argument("--out", required=True, metavar="FOLDER", help="folder of the shard selfplay.gzr, which is appended to")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Play games from the command line; the exit code: 0, or 2 for a request that makes no sense."""
    options = parser().parse_args(arguments)
    try:
        stage, settings = _stage(options), SelfPlaySettings(games=min(options.parallel, options.games))
        game = scoring.make("go", options.size, options.rules, settings.max_length)
        net = None if options.weights == "none" else weights.load(weights.find(options.weights)).network()
        evaluator = leaf_evaluator(stage.evaluator, game, net, options.threads, options.seed)
    except (ConfigError, WeightsError, ValueError) as error:
        say(f"training.selfplay: {error}")
        return 2
    pool = Pool(game, settings, (options.seed,))
    pool.use(evaluator, stage, settings.no_pass_generations)
    writer = Writer(Path(options.out) / "selfplay.gzr", vars(options))
    found: list[Record] = []
    began = time.monotonic()
    with bar(options.games, "self-play", " games") as progress:
        for record in islice(pool.play(float("inf")), options.games):
            writer.append(record)
            found.append(record)
            progress.update(1)
    writer.close()
    seconds = time.monotonic() - began
    rows = sum(record.rows for record in found)
    speed = f"{pool.evaluations:,} evaluations in {seconds:.1f} s, {pool.evaluations / seconds:,.0f} a second"
    say(f"{len(found)} games, {rows} rows, {speed}")
    return 0


def _stage(options: argparse.Namespace) -> Stage:
    """The command line as a stage, checked like one from a file."""
    values = {
        "rows": 1,
        "sizes": {options.size: 1.0},
        "full_visits": options.full_visits,
        "cheap_visits": options.cheap_visits,
        "evaluator": "rollouts" if options.weights == "none" else "network",
    }
    if options.games < 1 or options.parallel < 1:
        raise ConfigError(f"--games {options.games} --parallel {options.parallel}: both must be 1 or more")
    stage: Stage = from_dict(Stage, values, "command line")
    return stage


if __name__ == "__main__":
    sys.exit(main())
