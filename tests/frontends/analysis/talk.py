"""A whole gozero analysis in this process, without weights, and what it is asked."""

import json
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import numpy as np

from gozero.evaluators.base import Evaluation
from gozero.frontends.analysis.queries import AnalysisSettings
from gozero.frontends.analysis.server import Server
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.nets.weights import Header

SIZE = 5
Answer = dict[str, Any]


class Opinionated:
    """Has a value for each position that depends on all of it, and none that makes sense; counts what it is asked."""

    def __init__(self, game: Game) -> None:
        self.game = game
        self.batches: list[int] = []
        random = np.random.default_rng(1)
        self._weights = random.normal(size=(game.state_ints, game.actions + 2 + game.points)) / 40

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.batches.append(len(states))
        said = np.sin((states % 1009) @ self._weights).astype(np.float32)
        sign = np.where(states[:, TO_PLAY] == BLACK, 1.0, -1.0).astype(np.float32)
        actions = self.game.actions
        return Evaluation(
            3 * said[:, :actions],
            sign * said[:, actions],
            10 * sign * said[:, actions + 1],
            sign[:, None] * said[:, actions + 2 :],
        )


class Talk:
    """A server and all that it has answered; `evaluators` are those it has opened, by board size."""

    def __init__(self, positions: int = 4, evaluator: Callable[[Game], Any] = Opinionated, **settings: Any) -> None:
        self.answers: list[Answer] = []
        self.warnings: list[str] = []
        self.evaluators: dict[int, Any] = {}
        self.cleared = 0
        self._evaluator = evaluator
        chosen = AnalysisSettings(positions=positions, max_memory=1024, **settings)
        weights = SimpleNamespace(path=Path("net.pt"), open=self._open, forget=self._clear)
        self.server = Server(chosen, Header("go"), cast(Any, weights), self._hear, self.warnings.append)

    def _open(self, game: Game) -> Any:
        return self.evaluators.setdefault(game.size, self._evaluator(game))

    def _clear(self) -> None:
        self.cleared += 1

    def _hear(self, answer: Any) -> None:
        self.answers.append(json.loads(json.dumps(answer)))  # what cannot be written as JSON must not pass

    def send(self, **fields: Any) -> list[Answer]:
        """What is answered at once."""
        before = len(self.answers)
        self.server.take(json.dumps(fields))
        return self.answers[before:]

    def finish(self) -> list[Answer]:
        """Everything that was answered until nothing is left to search."""
        while not self.server.is_idle:
            self.server.wave()
        return self.answers

    def analyse(self, **fields: Any) -> Answer:
        """The one answer to a query that asks for one turn."""
        before = len(self.answers)
        self.send(**query(**fields))
        answers = self.finish()[before:]
        assert len(answers) == 1, answers
        return answers[0]


def query(**fields: Any) -> Answer:
    """A query of a few visits on a small board."""
    return {
        "id": "q",
        "moves": [],
        "rules": "chinese",
        "boardXSize": SIZE,
        "boardYSize": SIZE,
        "maxVisits": 20,
        **fields,
    }
