"""Sits down to games: a table, the searches that serve it, and the networks that they share."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import Evaluators
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.web import catalogue
from gozero.frontends.web.engine import kept
from gozero.frontends.web.engine.table import Table
from gozero.frontends.web.engine.thinking import Allowed, Report, Thinker
from gozero.frontends.web.engine.views import view
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.frontends.web.setups import Setup
from gozero.games.game import Game
from gozero.nets.weights import WeightsError
from gozero.system.errors import ChoiceError


class Seated:
    """A game with the searches that serve it."""

    def __init__(self, table: Table, thinker: Thinker, trained: tuple[int, ...]) -> None:
        self.table, self.thinker, self.trained = table, thinker, trained
        self.identity = secrets.token_hex(4)  # by which the page knows a new game
        self.counting = thinker.counting

    def view(self) -> dict[str, Any]:
        """All that the page shows."""
        return view(self.table, self.counting, level=self.thinker.engine_side.level, trained=self.trained) | {
            "identity": self.identity,
            "analysing": self.thinker.is_analysing,
            "batch": bool(self.thinker.batch),
        }

    def saved(self) -> dict[str, Any]:
        """Plain values from which the game can be taken up."""
        setup = replace(self.table.setup, level=self.thinker.engine_side.level)
        table = kept.to_values(self.table, time.monotonic())
        return {"identity": self.identity, "setup": asdict(setup), "table": table}


class Seats:
    """Makes the games of one process.

    Args:
        settings: of this process.
        stops, is_cut, report: as for `Thinker`.
        compile: waits until rules and search are compiled.
    """

    def __init__(
        self,
        settings: EngineProcessSettings,
        stops: Callable[[], bool],
        is_cut: Callable[[], bool],
        report: Report,
        compile: Callable[[], None],
    ) -> None:
        self._settings = settings
        self._stops, self._is_cut = stops, is_cut
        self._report = report
        self._compile = compile
        self._evaluators: dict[Path, Evaluators] = {}

    def seat(self, setup: Setup) -> Seated:
        """A new game. ChoiceError where its weights, its size or its handicap cannot be had."""
        path, size, sizes = _board_of(setup)
        table = Table(setup, size, sizes)
        settings = self._settings
        allowed = Allowed(settings.tree_memory, settings.analysis_visits, playouts=path is None)
        thinker = Thinker(
            table, lambda game: self._evaluator(path, game), allowed, self._stops, self._is_cut, self._report
        )
        return Seated(table, thinker, catalogue.trained_sizes(path))

    def fault_of(self, setup: Setup) -> str:
        """What is wrong with this game, also with its first search where a backend was chosen; "" where nothing is."""
        try:
            table = self.seat(setup).table
            if self._settings.backend != "auto" or self._settings.precision != "auto":
                self._evaluator(_board_of(setup)[0], table.game.kind)
        except (ValueError, WeightsError) as error:
            return str(error)
        return ""

    def _evaluator(self, path: Path | None, game: Game) -> Evaluator:
        self._compile()
        if path is None:
            return RolloutEvaluator(game)
        if path not in self._evaluators:
            self._evaluators[path] = self._settings.evaluators(path)
        return self._evaluators[path].open(game)


def _board_of(setup: Setup) -> tuple[Path | None, int, list[int]]:
    """(weights, size, sizes that they play). ChoiceError where they do not go together."""
    path = catalogue.weights_of(setup.game, setup.weights)
    sizes = list(catalogue.sizes_of(setup.game, path))
    size = setup.size or catalogue.usual_size(setup.game, path)
    if size not in sizes:
        title = catalogue.title_of(setup.game)
        raise ChoiceError(f"board size {size}: this engine plays {title} on {', '.join(map(str, sizes))}")
    return path, size, sizes
