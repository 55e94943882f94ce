"""A slow search in plain Python, one node an object: what the kernels are held against. Also evaluators with known
answers.
"""

from __future__ import annotations

import math
import zlib
from dataclasses import dataclass, field

import numpy as np

from gozero.evaluators.base import Evaluation
from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game
from gozero.search.settings import SearchSettings


class HashEvaluator:
    """Random-looking logits and values that depend on the state alone."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.batches: list[int] = []

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.batches.append(len(states))
        generators = [np.random.default_rng(zlib.crc32(state.tobytes())) for state in states]
        logits = np.array([generator.normal(0, 1.5, self.game.actions) for generator in generators], np.float32)
        values = np.array([generator.uniform(-0.9, 0.9) for generator in generators], np.float32)
        return Evaluation(logits, values, values * 10)


class FailingEvaluator(HashEvaluator):
    """Has no memory for one batch, after so many others."""

    def __init__(self, game: Game, after: int) -> None:
        super().__init__(game)
        self._after = after

    def evaluate(self, states: np.ndarray) -> Evaluation:
        if len(self.batches) == self._after:
            self.batches.append(len(states))
            raise MemoryError
        return super().evaluate(states)


class WideEvaluator(HashEvaluator):
    """Prefers batches of 64, as on a GPU."""

    preferred_batch = 64


@dataclass
class Node:
    state: np.ndarray
    history: np.ndarray
    prior: dict[int, float] = field(default_factory=dict)
    children: dict[int, Node] = field(default_factory=dict)
    value: float = 0.0
    score: float = 0.0
    terminal: bool = False
    visits: int = 0
    value_sum: float = 0.0
    score_sum: float = 0.0
    values: list[float] = field(default_factory=list)  # of all visits

    @property
    def q(self) -> float:
        return self.value_sum / self.visits

    @property
    def counts(self) -> dict[int, int]:
        """The visits of each action that has some."""
        return {action: child.visits for action, child in self.children.items()}

    @property
    def lead(self) -> float:
        return self.score_sum / self.visits


class NaiveSearch:
    """One tree, one leaf at a time, the formulas as the papers print them."""

    def __init__(
        self, game: Game, evaluator: HashEvaluator, settings: SearchSettings, state: np.ndarray, history: np.ndarray
    ) -> None:
        self.game, self.evaluator, self.settings = game, evaluator, settings
        self.root = Node(state.copy(), history.copy())
        self.gumbels = np.zeros(game.actions)
        self.left_out = np.zeros((2, game.actions))
        self.schedule: list[int] = []

    def run(self, visits: int) -> Node:
        self._visit(self.root)
        if self.settings.root == "gumbel":
            width = max(1, min(self.settings.gumbel_m, len(self.root.prior), visits - 1))
            self.schedule = considered_visits(width, visits - 1)
        while self.root.visits < visits:
            self._visit(self.root)
        return self.root

    def _visit(self, node: Node, parent: Node | None = None) -> tuple[float, float]:
        """One simulation from this node; its value and score for the side to move here."""
        if node.visits == 0:
            node.value, node.score = self._evaluate(node)
            if node.terminal and self.game.score is not None:
                node.score = self.game.score(node.state)
            elif node.terminal and parent is not None:
                node.score = node.value * abs(parent.score)
        if node.visits == 0 or node.terminal:
            value, score = node.value, node.score
        else:
            halving = node is self.root and self.settings.root == "gumbel"
            action = self._gumbel_action() if halving else self._puct_action(node)
            if action not in node.children:
                node.children[action] = Node(node.state.copy(), node.history.copy())
                self.game.step(node.children[action].state, node.children[action].history, action)
            value, score = (-number for number in self._visit(node.children[action], node))
        node.visits += 1
        node.value_sum += value
        node.score_sum += score
        node.values.append(value)
        return value, score

    def _evaluate(self, node: Node) -> tuple[float, float]:
        result = self.game.outcome(node.state)
        if result != NOT_OVER:
            node.terminal = True
            return float(result), 0.0
        mask = np.zeros(self.game.actions, np.uint8)
        (self.game.thinkable or self.game.legal)(node.state, node.history, mask)
        root = self.root.state
        mask &= self.left_out[int(node.state[TO_PLAY] != root[TO_PLAY])] <= node.state[PLY] - root[PLY]
        found = self.evaluator.evaluate(node.state[None])
        weights = {int(a): math.exp(found.logits[0, a]) for a in np.flatnonzero(mask)}
        node.prior = {a: weight / sum(weights.values()) for a, weight in weights.items()}
        assert found.score is not None
        return float(found.value[0]), float(found.score[0])

    def _puct_action(self, node: Node) -> int:
        total = sum(child.visits for child in node.children.values())
        mass = sum(node.prior[a] for a in node.children)

        def score(action: int) -> float:
            child = node.children.get(action)
            q = -child.q if child else node.q - self.settings.fpu * math.sqrt(mass)
            q += self._points_gained(node, child) if child else 0.0
            return q + self.settings.c_puct * node.prior[action] * math.sqrt(total) / (
                1 + (child.visits if child else 0)
            )

        if total == 0:
            return max(node.prior, key=lambda a: node.prior[a])
        if node is self.root:
            for action, child in node.children.items():
                if child.visits < self._forced(action):
                    return action
        return max(node.prior, key=score)

    def _points_gained(self, node: Node, child: Node) -> float:
        gain = (-child.lead - node.lead) / (2 * math.sqrt(self.game.points))
        return self.settings.score_weight * 2 / math.pi * math.atan(gain)

    def _forced(self, action: int) -> float:
        """n_forced of a root action."""
        return math.sqrt(self.settings.forced_playouts * self.root.prior[action] * (self.root.visits - 1))

    def pruned_policy(self) -> dict[int, float]:
        """Shares of the root's visits after policy-target pruning, a visit at a time."""
        root, kept = self.root, {action: child.visits for action, child in self.root.children.items()}
        most = max(kept, key=lambda a: kept[a])

        def score(action: int, visits: int) -> float:
            prior = root.prior[action]
            child = root.children[action]
            return (
                self._points_gained(root, child)
                - child.q
                + self.settings.c_puct * prior * math.sqrt(root.visits - 1) / (1 + visits)
            )

        for action in set(kept) - {most}:
            forced = self._forced(action)
            while forced >= 1 and kept[action] > 0 and score(action, kept[action] - 1) < score(most, kept[most]):
                kept[action] -= 1
                forced -= 1
            if kept[action] == 1:
                kept[action] = 0
        return {action: visits / sum(kept.values()) for action, visits in kept.items() if visits}

    def gumbel_scores(self) -> dict[int, float]:
        """logit + sigma(completed q) of each root action."""
        root, children = self.root, self.root.children
        visits = sum(child.visits for child in children.values())
        mass = sum(root.prior[a] for a in children)
        weighted = sum(root.prior[a] * -child.q for a, child in children.items())
        mixed = (root.value + (visits * weighted / mass if children else 0)) / (1 + visits)
        scale = (
            self.settings.c_visit + max((child.visits for child in children.values()), default=0)
        ) * self.settings.c_scale
        q = {a: -children[a].q + self._points_gained(root, children[a]) if a in children else mixed for a in root.prior}
        return {a: math.log(root.prior[a]) + scale * (q[a] + 1) / 2 for a in root.prior}

    def _gumbel_action(self) -> int:
        wanted = self.schedule[self.root.visits - 1]
        scores = self.gumbel_scores()
        running = [a for a in scores if (self.root.children[a].visits if a in self.root.children else 0) == wanted]
        return max(running, key=lambda a: scores[a] + self.gumbels[a])


def considered_visits(considered: int, simulations: int) -> list[int]:
    """For each simulation, how many visits the action to be visited has so far (sequential halving, Danihelka et al.,
    figure 1).
    """
    phases = max(1, math.ceil(math.log2(considered)))
    visits = [0] * considered
    sequence: list[int] = []
    width = considered
    while len(sequence) < simulations:
        for _ in range(max(1, simulations // (phases * width))):
            sequence += visits[:width]
            visits[:width] = [count + 1 for count in visits[:width]]
        width = min(width, max(2, width // 2))
    return sequence[:simulations]


def start(game: Game, *actions: int, room: int = 400) -> tuple[np.ndarray, np.ndarray]:
    """State and history after these actions."""
    state, history = game.new_states(1)[0], np.zeros(room, np.uint64)
    history[0] = game.hash_of(state)
    for action in actions:
        game.step(state, history, action)
    assert state[PLY] == len(actions)
    return state, history
