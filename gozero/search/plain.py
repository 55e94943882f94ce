"""PUCT in plain Python, one node an object: the search to read first, and the reference of the fast one.

It visits what `gozero.search.search` visits, at a tenth of its speed, and offers what self-play uses of it. It has a PUCT
root with noise, and copies the rules' board for each simulation. It has no Gumbel root, no forced playouts, no points,
no virtual loss and no proofs, and keeps no tree after a move.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np

from gozero.evaluators.base import Evaluation, Evaluator
from gozero.games.game import NOT_OVER, PLY, Game
from gozero.search.root import RootResult, SearchRequest
from gozero.search.settings import SearchSettings


class Rules:
    """The rules by which a game and its search are played: here those of the game's kernels alone."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def copy(self) -> Rules:
        """The same board, for a line of moves of its own. The kernels' is the caller's state."""
        return self

    def step(self, state: np.ndarray, history: np.ndarray, action: int) -> None:
        """Play a legal action in state int32 [S] with history uint64 [H], in place."""
        self.game.step(state, history, action)

    def legal(self, state: np.ndarray, history: np.ndarray, out: np.ndarray) -> None:
        """Write the actions that a search considers into out uint8 [A]."""
        (self.game.thinkable or self.game.legal)(state, history, out)


@dataclass
class TreeNode:
    """A position of the tree; its values are for its side to move."""

    prior: dict[int, float] = field(default_factory=dict)  # of its actions, highest first; none until it is evaluated
    children: dict[int, TreeNode] = field(default_factory=dict)
    visits: int = 0
    value_sum: float = 0.0

    @property
    def q(self) -> float:
        """The mean value of all visits."""
        return self.value_sum / self.visits


class Leaf(NamedTuple):
    """The end of a line that waits for the evaluator."""

    tree: int
    line: list[TreeNode]
    state: np.ndarray  # int32 [S]
    legal: np.ndarray  # uint8 [A]


class PlainSearch:
    """B trees of one game; see the module.

    Attributes:
        roots: the trees.
    """

    def __init__(
        self,
        game: Game,
        evaluator: Evaluator,
        settings: SearchSettings,
        trees: int = 1,
        seed: int = 0,
        rules: Callable[[int], Rules] | None = None,
    ) -> None:
        """`rules` gives a tree's, with the board of its root; None: the game's kernels."""
        self.game, self.settings, self._trees = game, settings, trees
        own = Rules(game)
        self._rules = rules or (lambda tree: own)
        self.restart(evaluator, seed)

    def restart(self, evaluator: Evaluator, seed: int) -> None:
        """Reset to a new search with this evaluator and seed of its noise."""
        self.evaluator, self._generator = evaluator, np.random.default_rng(seed)
        self.roots = [TreeNode() for _ in range(self._trees)]
        self._requests: dict[int, SearchRequest] = {}  # of the trees whose search goes on
        self._histories: dict[int, np.ndarray] = {}  # uint64 [H]; each line writes beyond the root's part
        self._priors: dict[int, dict[int, float]] = {}  # of the roots, without temperature and noise
        self._leaves: list[Leaf] = []

    def begin(self, tree: int, request: SearchRequest) -> None:
        """Set what a tree searches; ValueError as `SearchRequest.check`. `left_out` and `keep` are not looked at."""
        request.check(self.game)
        self.roots[tree], self._requests[tree] = TreeNode(), request
        past = request.history[: request.state[PLY] + 1]  # a line has one ply more than the tree had visits, at most
        self._histories[tree] = np.concatenate([past, np.zeros(request.visits + 2, np.uint64)])

    def advance(self, tree: int, action: int) -> bool:
        """False: no tree is kept."""
        return False

    def has_room(self, tree: int) -> bool:
        """True: nodes are objects."""
        return True

    def root_visits(self, tree: int) -> int:
        """Visits of a tree's root."""
        return self.roots[tree].visits

    def run(self) -> None:
        """Search all trees to their end."""
        while self._requests:
            states = self.collect()
            self.absorb(self.evaluator.evaluate(states) if len(states) else None)

    def collect(self) -> np.ndarray:
        """The next leaf of each unfinished tree, int32 [n, S]; `absorb` takes its evaluation."""
        self._leaves = [leaf for tree in self._requests if (leaf := self._next_leaf(tree)) is not None]
        return np.array([leaf.state for leaf in self._leaves], np.int32).reshape(-1, self.game.state_ints)

    def absorb(self, evaluation: Evaluation | None = None) -> list[int]:
        """Expand the leaves and back up their values. Returns the trees that finished."""
        for index, leaf in enumerate(self._leaves):
            assert evaluation is not None
            leaf.line[-1].prior = _softmax(evaluation.logits[index], leaf.legal)
            if len(leaf.line) == 1:
                self._prepare_root(leaf.tree)
            _back_up(leaf.line, float(evaluation.value[index]))
        self._leaves = []
        finished = [tree for tree, request in self._requests.items() if self._is_done(tree, request)]
        for tree in finished:
            del self._requests[tree]
        return finished

    def result(self, tree: int = 0) -> RootResult:
        """What the search of a tree has found."""
        root = self.roots[tree]
        visits, (q, prior) = np.zeros(self.game.actions, np.int32), np.zeros((2, self.game.actions), np.float32)
        for action, probability in self._priors[tree].items():
            prior[action] = probability
        for action, child in root.children.items():
            visits[action], q[action] = child.visits, -child.q
        policy = visits / np.float32(visits.sum()) if visits.any() else prior
        best = max(root.children or root.prior, key=lambda action: (visits[action], root.prior[action]))
        return RootResult(visits, q, q, prior, policy, best, root.q, 0.0, root.visits)

    def _is_done(self, tree: int, request: SearchRequest) -> bool:
        return self.roots[tree].visits >= request.visits + request.on_top

    def _next_leaf(self, tree: int) -> Leaf | None:
        """Simulate until a line ends at a position that waits for the evaluator; None at the end of the search."""
        request = self._requests[tree]
        while not self._is_done(tree, request):
            rules, state, history = self._rules(tree).copy(), request.state.copy(), self._histories[tree]
            line = [self.roots[tree]]
            while line[-1].prior:
                action = self._choose(line[-1])
                rules.step(state, history, action)
                line.append(line[-1].children.setdefault(action, TreeNode()))
            outcome = self.game.outcome(state)
            if outcome == NOT_OVER:
                return Leaf(tree, line, state, self._legal(rules, state, history, request if len(line) == 1 else None))
            _back_up(line, float(outcome))
        return None

    def _choose(self, node: TreeNode) -> int:
        """The action of the highest Q(a) + c_puct P(a) sqrt(sum of N) / (1 + N(a)) (Silver et al. 2017)."""
        exploration = self.settings.c_puct * math.sqrt(node.visits - 1)
        visited = sum(node.prior[action] for action in node.children)
        urgency = node.q - self.settings.fpu * math.sqrt(visited)  # the Q of a move that has no visit

        def score(action: int) -> float:
            child = node.children.get(action)
            q, visits = (-child.q, child.visits) if child else (urgency, 0)
            return q + exploration * node.prior[action] / (1 + visits)

        return max(node.prior, key=score)

    def _legal(
        self, rules: Rules, state: np.ndarray, history: np.ndarray, request: SearchRequest | None
    ) -> np.ndarray:
        """uint8 [A]: the actions of a leaf; `request` is that of a root."""
        legal = np.zeros(self.game.actions, np.uint8)
        rules.legal(state, history, legal)
        if request is not None and request.root_mask is not None:
            legal &= request.root_mask
            if not legal.any():  # the caller allows only what a search does not consider
                self.game.legal(state, history, legal)
                legal &= request.root_mask
        return legal

    def _prepare_root(self, tree: int) -> None:
        """Remember the root's prior, and mix it with temperature and Dirichlet noise if the request explores."""
        root, request, settings = self.roots[tree], self._requests[tree], self.settings
        self._priors[tree] = root.prior
        if not request.noise:
            return
        powers = np.array(list(root.prior.values())) ** (1 / (request.temperature or settings.root_policy_temperature))
        alpha = settings.dirichlet_alpha or settings.dirichlet_total / len(powers)
        noise = self._generator.dirichlet(np.full(len(powers), alpha))
        share = settings.dirichlet_weight
        mixed = (1 - share) * powers / powers.sum() + share * noise
        root.prior = dict(sorted(zip(root.prior, mixed.tolist(), strict=True), key=lambda pair: -pair[1]))


def _softmax(logits: np.ndarray, legal: np.ndarray) -> dict[int, float]:
    """The prior of the legal actions uint8 [A], from logits float32 [A]; of equals the first is the lower action."""
    actions = np.flatnonzero(legal)
    weights = np.exp(logits[actions] - logits[actions].max())
    order = np.argsort(-weights, kind="stable")
    return dict(zip(actions[order].tolist(), (weights / weights.sum())[order].tolist(), strict=True))


def _back_up(line: list[TreeNode], value: float) -> None:
    """Count one visit, of this value for the side to move at the line's end, on the line from there to the root."""
    for node in reversed(line):
        node.visits += 1
        node.value_sum += value
        value = -value
