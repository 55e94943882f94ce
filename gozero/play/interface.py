"""The Python interface: a network and its search for programs of your own, by positions instead of GTP.

`Engine.search` and `Engine.evaluate` answer for any position; `Engine.player` plays whole games as the GTP engine does,
with a clock, passing and resigning. docs/python.md has examples.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluation
from gozero.games.position import Position
from gozero.play import engine
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.play.searcher import Analysis, Limits, Observer, Searcher


class Engine:
    """One weights file, ready to search and evaluate positions of its game. One thread at a time may use it.

    Args:
        weights: a file, or the name of a network that comes with gozero; None: that of `game`.
        game: what the file must play; None: whatever it plays, Go without a name either.
        threads: CPU threads; None: as many as the process may use.
        backend: `"auto"`, `"openvino"` or `"torch"`.
        precision: `"auto"`, `"f32"`, `"bf16"` or `"int8"`.

    Raises:
        gozero.nets.weights.WeightsError: the file is missing or damaged, or plays another game.

    Attributes:
        path: the file's `pathlib.Path`.
        game: the game's name, as `gozero.make` takes it.
    """

    def __init__(
        self,
        weights: str | None = None,
        *,
        game: str | None = None,
        threads: int | None = None,
        backend: str = "auto",
        precision: str = "auto",
    ) -> None:
        self.path, self._header = engine.find_weights(weights, game)
        self.game = self._header.game
        settings = engine.EngineSettings(threads=threads, backend=backend, precision=precision)
        self._evaluators = settings.evaluators(self.path)

    def evaluate(self, positions: Sequence[Position]) -> Evaluation:
        """What the network alone thinks of positions [n >= 1] on boards of one size: logits float32 [n, A], value
        float32 [n], in Go score float32 [n] and ownership float32 [n, points], each for the side to move.
        """
        return self._evaluators.open(positions[0].game).evaluate(np.stack([position.state for position in positions]))

    def search(
        self, position: Position, *, visits: int | None = 400, seconds: float | None = None, seed: int = 0
    ) -> Analysis:
        """Search the legal moves until the root has `visits` (None: no limit) or `seconds` have passed; the position
        stays as it is. Each search has a tree of its own; the same seed and visits find the same.

        `moves[0].action` of the answer is the action to play. ValueError if the game is over, or without a limit.
        """
        if position.is_over or (visits is None and seconds is None):
            raise ValueError("the game is over" if position.is_over else "a search needs a limit: visits or seconds")
        analyses: list[Analysis] = []
        settings, random = engine.search_settings(visits, self.game), np.random.default_rng(seed)
        searcher = Searcher(self._evaluators.open, settings, random, engine.EngineSettings().tree_memory)
        limits = Limits(visits, math.inf if seconds is None else time.monotonic() + seconds)
        searcher.search(position, position.legal(), limits, Observer(analyses.append, ownership=True))
        return analyses[-1]

    def player(
        self, *, size: int | None = None, komi: float | None = None, settings: PlayerSettings | None = None
    ) -> Player:
        """A player of whole games, at the first move of one; None: what the game has, see `gozero.make`.

        ChoiceError for a board, komi or rules that the game or the network does not have.
        """
        sizes = engine.supported_sizes(self._header)
        size = size or self._header.size or games.usual(self.game, "size")
        # the visits of its moves are not known: waves that begin small grow with the tree
        search = replace(engine.search_settings(None, self.game), leaves=engine.FEW_LEAVES)
        settings = settings or PlayerSettings(search=search)
        return make_player(self.game, sizes, self._evaluators.open, settings, size=size, komi=komi)
