"""From the settings to a player, late: what takes long is imported and opened when it is first needed, or in the background before that.

Vocabulary: *kernels* are the compiled rules and search, half a second from the cache; the *evaluator* is the network ready to run, one
for each board size. A thread may open them ahead; whoever needs them earlier waits for it. Only this module knows of that thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gtp.protocol import FatalError
from gtp.session import say
from gtp.settings import MAX_SIZE, MIN_SIZE, Settings

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.games.game import Game
    from gozero.player import Player

MANY_LEAVES, FEW_LEAVES = 8, 2
MANY_VISITS = 200
"""From so many visits a move on, positions are evaluated ``MANY_LEAVES`` at a time."""

PATIENCE = 4.0
"""Seconds after which the user is told why nothing happens: kernels that are in the cache take a second."""


class Loader:
    """Makes the player and opens its evaluators, once each, for whichever thread asks first.

    Args:
        settings: the user's.
        path: of the weights file, which is known to exist.
    """

    def __init__(self, settings: Settings, path: Path) -> None:
        self._settings = settings
        self._path = path
        self._player_lock = threading.Lock()
        self._evaluator_lock = threading.Lock()
        self._player: Player | None = None
        self._evaluators: dict[int, Evaluator] = {}

    def player(self) -> Player:
        """The one player. FatalError if the weights are of no use."""
        with self._player_lock:
            if self._player is None:
                patience = threading.Timer(
                    PATIENCE, say, ["loading rules and search; a first start compiles them, which takes up to a minute"]
                )
                patience.daemon = True
                patience.start()
                try:
                    self._player = self._make_player()
                finally:
                    patience.cancel()
            return self._player

    def evaluator(self, game: Game) -> Evaluator:
        """The evaluator for the board of ``game``. FatalError if it cannot be opened."""
        from gozero.evaluators.base import open_evaluator
        from gozero.weights import WeightsError

        with self._evaluator_lock:
            if game.rows not in self._evaluators:
                try:
                    evaluator = open_evaluator(self._path, game, backend=self._settings.backend, threads=self._settings.threads)
                except (WeightsError, ValueError) as error:
                    raise FatalError(str(error)) from None
                evaluator.evaluate(game.new_states(1))  # the first evaluation is the slowest
                self._evaluators[game.rows] = evaluator
            return self._evaluators[game.rows]

    def load_in_background(self, on_failure: Callable[[FatalError], None]) -> None:
        """Begin to make the player and to open the evaluator for its board; a failure is reported from the other thread."""

        def load() -> None:
            try:
                self.evaluator(self.player().position.game)
            except FatalError as error:
                on_failure(error)

        threading.Thread(target=load, name="gtp-loader", daemon=True).start()

    def _make_player(self) -> Player:
        from gozero.player import Player, PlayerSettings
        from gozero.search.settings import SearchSettings

        settings = self._settings
        sizes = supported_sizes(self._path)
        if settings.size not in sizes:
            raise FatalError(f"board size {settings.size} is not supported; {self._path} plays {', '.join(map(str, sizes))}")
        many = settings.visits is None or settings.visits >= MANY_VISITS
        return Player(
            sizes,
            self.evaluator,
            PlayerSettings(
                rules=settings.rules,
                seed=settings.seed,
                resign=not settings.no_resign,
                resign_threshold=settings.resign_threshold,
                search=SearchSettings(leaves=MANY_LEAVES if many else FEW_LEAVES, max_nodes=max_nodes(settings.visits)),
            ),
            size=settings.size,
            komi=settings.komi,
        )


def max_nodes(visits: int | None) -> int:
    """Room for a search tree: twice the visits, for what is kept from the move before, within 20,000 to 400,000 nodes."""
    return 200_000 if visits is None else min(max(2 * visits, 20_000), 400_000)


def supported_sizes(path: Path) -> Sequence[int]:
    """The board sizes that a weights file plays, ascending."""
    from gozero.weights import WeightsError, header

    try:
        size = header(path).only
    except WeightsError as error:
        raise FatalError(str(error)) from None
    return range(MIN_SIZE, MAX_SIZE + 1) if size is None else (size,)
