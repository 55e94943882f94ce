"""Search: many trees at once, in waves of select -> evaluate -> expand and back up.

A wave takes at most `settings.leaves` leaves of every unfinished tree, or one of each move of its Gumbel root's round
(`settings.whole_rounds`), and evaluates them in one batch; of one tree alone it takes more as the tree grows, for an
evaluator that prefers large batches (`settings.most_leaves`).

Visits are those of the root: its own evaluation and all simulations below it, kept ones included. A value is the
expected result for the side to move, -1 … 1; a child's q is for the side to move at the root. A tree without room for
another node ends its search. The same seed and calls give the same result; trees do not influence each other.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from typing import NamedTuple

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator, preferred_batch
from gozero.evaluators.rollout import RowEvaluator
from gozero.games.game import PLY, Game
from gozero.search import descent
from gozero.search.puct import Params
from gozero.search.root import RootResult, SearchRequest, apply_request, draw_gumbels, plant, reroot, root_result
from gozero.search.settings import VISITS_PER_LEAF, SearchSettings
from gozero.search.tree import WIN, Forest, most_nodes, new_forest
from gozero.system.jit import LEGAL, OUTCOME, SAMPLE, SCORE, STEP, as_argument

MAX_VISITS = 2**30
TEXT_WIDTH = 5  # moves of one node in the text of a tree
ROW_SIMULATIONS = 256  # of each tree in one wave with a row evaluator: a few milliseconds between checks of the clock


class PrincipalVariation(NamedTuple):
    """A move at the root and the most visited moves after it."""

    actions: list[int]
    visits: list[int]  # of each action; [0] where the first was never tried
    score: float  # mean points after the first action, for the root's side to move; 0 if the evaluator knows none


class Search:
    """B trees of one game, searched with one evaluator; a `RowEvaluator` is called without leaving the kernel. `seed`
    is that of all noise and playouts. MemoryError if the system cannot reserve `settings.max_nodes`.
    """

    def __init__(
        self, game: Game, evaluator: Evaluator | RowEvaluator, settings: SearchSettings, trees: int = 1, seed: int = 0
    ) -> None:  # fmt: skip
        self.game = game
        self.settings = settings
        self.forest = new_forest(game, trees, min(settings.max_nodes, most_nodes(game)))
        self._step, self._legal = as_argument(game.step, STEP), as_argument(game.legal, LEGAL)
        self._thinkable = self._legal if game.thinkable is None else as_argument(game.thinkable, LEGAL)
        self._outcome, self._sample = as_argument(game.outcome, OUTCOME), as_argument(game.sample, SAMPLE)
        self._solved = as_argument(game.solved or descent.unsolved, OUTCOME)
        self._no_score = as_argument(descent.no_score, SCORE)
        self._score = self._no_score if game.score is None else as_argument(game.score, SCORE)
        self._params = _params(settings, game.points)
        self._begun = np.zeros(trees, np.int64)
        self._finished = np.zeros(trees, np.int64)
        self._row_logits = np.zeros(game.actions, np.float32)
        self._leaves = descent.new_leaves(game, 0)
        self.restart(evaluator, seed)

    def restart(self, evaluator: Evaluator | RowEvaluator, seed: int) -> None:
        """Reset to a new search with this evaluator and seed; the memory is reused."""
        self.evaluator, self.seed = evaluator, seed
        self._prepare_leaves()
        self._rows = evaluator if isinstance(evaluator, RowEvaluator) else None
        self._reserve = self.settings.max_depth + (self._rows.plies if self._rows else 0)
        self.drop()
        self._begun[:] = 0
        self._knows_score = False  # whether the evaluator gives scores: known after its first call

    def drop(self) -> None:
        """Forget all that was searched, as when a tree waits for leaves that will never be evaluated."""
        for field in ("node_count", "edge_count", "active", "full"):
            self.forest.trees[field] = 0
        self._collected = 0  # leaves that wait for `absorb`

    def begin(self, tree: int, request: SearchRequest) -> None:
        """Set what a tree, 0 … B-1, searches. ValueError for another tree, and as `SearchRequest.check`."""
        if not 0 <= tree < len(self.forest.trees):
            raise ValueError(f"tree {tree}: this search has trees 0 to {len(self.forest.trees) - 1}")
        request.check(self.game)
        self._make_room(int(request.state[PLY]) + 1)
        keep = apply_request(self.forest, tree, request, self.settings)
        seed = self._tree_seed(tree) if request.seed is None else request.seed
        plant(self.forest, tree, min(request.visits, MAX_VISITS), seed, keep, request.on_top)
        self.forest.trees[tree]["last_ply"] = request.state[PLY] + self.settings.max_depth
        if request.noise and request.gumbel is None and self.settings.root == "gumbel":
            draw_gumbels(self.forest, tree)

    def advance(self, tree: int, action: int) -> bool:
        """Play a move at the root and keep the tree below it for a request with `keep`. False if there is none."""
        kept = reroot(self.forest, tree, action)
        if kept:
            self.game.step(self.forest.roots[tree], self.forest.histories[tree], action)
        return bool(kept)

    def wave(self) -> list[int]:
        """Search one wave of all unfinished trees. Returns those that finished. An evaluator's error drops all."""
        states = self.collect()
        try:
            evaluation = self.evaluator.evaluate(states) if len(states) else None
        except BaseException:
            self.drop()
            raise
        return self.absorb(evaluation)

    def collect(self) -> np.ndarray:
        """The first half of a wave, for callers with other work: its leaves int32 [n, S], valid until `absorb`."""
        if self._rows is None:
            self._collected = descent.collect(
                self._step, self._legal, self._thinkable, self._outcome, self._solved,
                self._score if self._knows_score else self._no_score,
                self.forest, self._params, self._leaves, self._wave_leaves(),
            )  # fmt: skip
        return self._leaves.states[: self._collected]

    def absorb(self, evaluation: Evaluation | None = None) -> list[int]:
        """The second half: take the leaves' evaluation, None if there were none. Returns the trees that finished."""
        if self._rows is not None:
            done = descent.simulate_rows(
                self._step, self._legal, self._outcome, self._no_score, self._sample, self._rows.function,
                self.forest, self._params,
                self._leaves, self._rows.options, ROW_SIMULATIONS, self._row_logits, self._finished,
            )  # fmt: skip
        else:
            found = self._arrays(evaluation)
            done = descent.absorb(self.forest, self._leaves, self._collected, *found, self._finished)
            self._collected = 0
        return self._finished[:done].tolist()

    def _arrays(self, evaluation: Evaluation | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Logits float32 [n, A], values and scores float32 [n] as the kernel wants them."""
        if evaluation is None:
            return self._row_logits[None, :], self._no_scores, self._no_scores
        logits, value, score, *_ = evaluation
        self._knows_score = score is not None
        scores = self._no_scores if score is None else np.ascontiguousarray(score, np.float32)
        return np.ascontiguousarray(logits, np.float32), np.ascontiguousarray(value, np.float32), scores

    @property
    def is_finished(self) -> bool:
        """Whether the search of every tree has ended."""
        return not self.forest.trees["active"].any()

    def is_full(self) -> bool:
        """Whether the search of the first tree ended because there was no room for another node."""
        return bool(self.forest.trees[0]["full"])

    def has_room(self, tree: int) -> bool:
        """Whether a tree leaves half of its nodes to another search."""
        return bool(self.forest.trees[tree]["node_count"] <= self.settings.max_nodes // 2)

    def run(self, deadline: float | None = None, stop: Callable[[], bool] | None = None) -> None:
        """Search in waves, at least one, until all trees are finished, `deadline` (time.monotonic) or `stop()`."""
        while not self.is_finished:
            self.wave()
            if (deadline is not None and time.monotonic() >= deadline) or (stop is not None and stop()):
                break

    def root_visits(self, tree: int = 0) -> int:
        """Visits of a tree's root, those that were kept included; 0 before its first wave."""
        return int(self.forest.nodes[tree, 0]["visits"]) if self.forest.trees[tree]["node_count"] else 0

    def result(self, tree: int = 0) -> RootResult:
        """What the search of a tree has found. ValueError if its root has no move: not searched, or game over."""
        return root_result(self.forest, tree, self._params)

    def principal_variation(self, tree: int, action: int, length: int) -> PrincipalVariation:
        """`action` at the root and the most visited moves after it, at most `length` >= 1 actions in all."""
        forest = self.forest
        root, count = forest.nodes[tree, 0], forest.trees[tree]["node_count"]
        edges = slice(root["edge_start"], root["edge_start"] + root["child_count"]) if count else slice(0)
        tried = forest.children[tree, edges][forest.actions[tree, edges] == action]
        if not len(tried):
            return PrincipalVariation([action], [0], 0.0)
        index = int(tried[0])
        first = forest.nodes[tree, index]
        visits = int(first["visits"])
        line = PrincipalVariation([action], [visits], -float(first["score_sum"]) / max(1, visits))
        while len(line.actions) < length:
            following = next(children_of(forest, tree, index), None)
            if following is None:
                break
            index = following[2]
            line.actions.append(following[0])
            line.visits.append(int(forest.nodes[tree, index]["visits"]))
        return line

    def text(self, tree: int = 0, depth: int = 2) -> str:
        """The root and its most visited lines, `depth` plies deep: vertex, visits, q for its side, prior, reply."""
        if not self.root_visits(tree):
            return "not searched\n"
        root = self.forest.nodes[tree, 0]
        value, nodes = root["value_sum"] / root["visits"], self.forest.trees[tree]["node_count"]
        head = f"root   visits {root['visits']}   value {value:+.3f}   nodes {nodes}"
        return "".join(f"{line}\n" for line in (head, *_lines(self.game, self.forest, tree, 0, depth, "  ")))

    def _prepare_leaves(self) -> None:
        """Find out to how many leaves a wave of a tree may grow with this evaluator, and have slots for them."""
        trees, settings = len(self.forest.trees), self.settings
        fewest = self._fewest_leaves = settings.gumbel_m if settings.whole_rounds else settings.leaves
        wanted = min(settings.most_leaves, preferred_batch(self.evaluator)) if trees == 1 else fewest
        self._most_leaves = max(fewest, wanted)
        slots = max(2, trees * self._most_leaves)
        if slots != len(self._leaves.trees):
            self._leaves = descent.new_leaves(self.game, slots)
            self._no_scores = np.zeros(slots, np.float32)

    def _wave_leaves(self) -> int:
        """Leaves that the next wave takes of each tree."""
        if self._most_leaves == self._fewest_leaves:
            return self._most_leaves
        return min(self._most_leaves, max(self._fewest_leaves, self.root_visits() // VISITS_PER_LEAF))

    def _tree_seed(self, tree: int) -> int:
        """A seed, different for each search of each tree."""
        self._begun[tree] += 1
        begun = int(self._begun[tree]) * 0xD6E8FEB86659FD93
        return (self.seed * 0x9E3779B97F4A7C15 + tree * 0xC2B2AE3D27D4EB4F + begun) % 2**64

    def _make_room(self, past: int) -> None:
        """Let histories hold `past` entries and the plies a search may add."""
        old = self.forest.histories
        if past + self._reserve > old.shape[1]:
            histories = np.zeros((len(old), past + past // 2 + self._reserve), np.uint64)
            histories[:, : old.shape[1]] = old
            self.forest = self.forest._replace(histories=histories)


def _params(settings: SearchSettings, points: int) -> Params:
    """The numbers that kernels take from the settings, on a board of this many points."""
    numbers = {**vars(settings), "score_scale": 2.0 * math.sqrt(points)}  # KataGo's static one
    return Params(*(float(numbers[name]) for name in Params._fields))


def choose(result: RootResult, temperature: float, rng: np.random.Generator, *, undrawn: int | None = None) -> int:
    """The action to play: at temperature 0 the best one, otherwise drawn by visits ** (1 / temperature), or by the
    prior's power if none has a visit. Drawing respects proofs: a proven win is played at once, a proven loss only if
    nothing else has a visit. `undrawn`, the pass, is played if it is the best, but never drawn in another's place.
    """
    weights = result.visits if result.visits.any() else result.prior
    if temperature == 0 or result.best == undrawn or not weights.any():
        return result.best
    if result.refuted is not None:
        weights = np.where(result.refuted, 0, weights)
        if result.bound[result.best] == WIN or not weights.any():
            return result.best
    if undrawn is not None:
        weights = np.where(np.arange(len(weights)) == undrawn, 0, weights)
        if not weights.any():
            return result.best
    return draw(weights, temperature, rng)


def draw(weights: np.ndarray, temperature: float, rng: np.random.Generator) -> int:
    """An action drawn by weights [A] ** (1 / temperature), of which one is above 0; at 0 the heaviest."""
    if temperature < 0:
        raise ValueError(f"temperature {temperature}: expected 0 or above")
    if temperature == 0:
        return int(weights.argmax())
    powers = (weights / weights.max()) ** min(1.0 / temperature, 1e30)  # more is no float32
    return int(rng.choice(len(powers), p=powers / powers.sum()))


def children_of(forest: Forest, tree: int, index: int) -> Iterator[tuple[int, float, int]]:
    """(action, prior, child) of a node's visited moves, most visits first, the higher prior among equals."""
    node = forest.nodes[tree, index]
    edges = np.arange(node["edge_start"], node["edge_start"] + node["child_count"])
    visits = forest.nodes["visits"][tree, forest.children[tree, edges]]
    for edge in edges[np.lexsort((-forest.priors[tree, edges], -visits))]:
        yield int(forest.actions[tree, edge]), float(forest.priors[tree, edge]), int(forest.children[tree, edge])


def _lines(game: Game, forest: Forest, tree: int, index: int, depth: int, indent: str) -> Iterator[str]:
    if depth == 0:
        return
    for k, (action, prior, child) in enumerate(children_of(forest, tree, index)):
        if k == TEXT_WIDTH:
            yield f"{indent}... {forest.nodes[tree, index]['child_count'] - TEXT_WIDTH} more"
            return
        node = forest.nodes[tree, child]
        q = -node["value_sum"] / max(node["visits"], 1)
        follow = next(children_of(forest, tree, child), None)
        reply = f"  then {game.vertex(follow[0])}" if follow else ""
        yield f"{indent}{game.vertex(action):<5} visits {node['visits']:<6} q {q:+.3f}  prior {prior:.3f}{reply}"
        yield from _lines(game, forest, tree, child, depth - 1, indent + "  ")
