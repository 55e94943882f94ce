"""From the settings to a player, late: what takes long is imported and opened when it is first needed, or in the background before that.

Vocabulary: *kernels* are the compiled rules and search, half a second from the cache; the *evaluator* is the network ready to run, one
for each board size. A thread may open them ahead; whoever needs them earlier waits for it. Only this module knows of that thread.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from gozero.games import GO_FAMILY
from gtp.protocol import FatalError
from gtp.session import say
from gtp.settings import DEFAULT_GAME, MAX_SIZE, WEIGHTS, Settings

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.games.game import Game
    from gozero.player import Player
    from gozero.weights import Header

MANY_LEAVES, FEW_LEAVES = 8, 2
MANY_VISITS = 200
"""From so many visits a move on, positions are evaluated ``MANY_LEAVES`` at a time."""

SMALLEST_GO = 5
"""Points a side; Go is smaller only in tests of its rules."""

PATIENCE = 4.0
"""Seconds after which the user is told why nothing happens: kernels that are in the cache take a second."""


class Loader:
    """Makes the player and opens its evaluators, once each, for whichever thread asks first.

    Args:
        settings: the user's.
        path, header: of the weights file; see ``find_weights``.
    """

    def __init__(self, settings: Settings, path: Path, header: Header) -> None:
        self._settings = settings
        self._path = path
        self._header = header
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
            if game.size not in self._evaluators:
                try:
                    evaluator = open_evaluator(self._path, game, backend=self._settings.backend, threads=self._settings.threads)
                except (WeightsError, ValueError) as error:
                    raise FatalError(str(error)) from None
                evaluator.evaluate(game.new_states(1))  # the first evaluation is the slowest
                self._evaluators[game.size] = evaluator
            return self._evaluators[game.size]

    def load_in_background(self, on_failure: Callable[[FatalError], None]) -> None:
        """Begin to make the player and to open the evaluator for its board; a failure is reported from the other thread."""

        def load() -> None:
            try:
                self.evaluator(self.player().position.game)
            except FatalError as error:
                on_failure(error)

        threading.Thread(target=load, name="gtp-loader", daemon=True).start()

    def _make_player(self) -> Player:
        from gozero import games
        from gozero.go_player import GoPlayer
        from gozero.player import Player, PlayerSettings
        from gozero.search.settings import SearchSettings

        settings, game = self._settings, self._header.game
        sizes = supported_sizes(self._header)
        size = settings.size or self._header.size or games.usual(game, "size")
        if size not in sizes:
            raise FatalError(f"board size {size} is not supported; {self._path} plays {', '.join(map(str, sizes))}")
        many = settings.visits is None or settings.visits >= MANY_VISITS
        player_settings = PlayerSettings(
            rules=settings.rules,
            seed=settings.seed,
            resign=not settings.no_resign,
            resign_threshold=settings.resign_threshold,
            search=SearchSettings(leaves=MANY_LEAVES if many else FEW_LEAVES, max_nodes=max_nodes(settings.visits)),
        )
        try:
            if game in GO_FAMILY:
                return GoPlayer(game, sizes, self.evaluator, player_settings, size=size, komi=settings.komi)
            return Player(game, sizes, self.evaluator, player_settings, size=size)
        except ValueError as error:  # rules that the game does not have
            raise FatalError(str(error)) from None


def max_nodes(visits: int | None) -> int:
    """Room for a search tree: twice the visits, for what is kept from the move before, within 20,000 to 400,000 nodes."""
    return 200_000 if visits is None else min(max(2 * visits, 20_000), 400_000)


def find_weights(settings: Settings) -> tuple[Path, Header]:
    """The weights file to use, and what it says of itself; needs neither torch nor any rules.

    Raises:
        FatalError: it is missing or damaged, plays no game that is known, or not the one that was asked for.
    """
    from gozero.weights import WeightsError, find, header

    game = settings.game or (DEFAULT_GAME if settings.weights is None else None)
    try:
        path = find(settings.weights or WEIGHTS[game or DEFAULT_GAME])
        found = header(path)
        if found.game not in WEIGHTS or (game and found.game != game):
            raise WeightsError(path, f"it plays {found.game}, not {game or 'one of ' + ', '.join(WEIGHTS)}")
    except WeightsError as error:
        raise FatalError(str(error)) from None
    return path, found


def supported_sizes(header: Header) -> Sequence[int]:
    """The board sizes that a weights file plays, ascending; of a board that is not square, its columns."""
    if header.only is not None:
        return (header.only,)
    smallest = SMALLEST_GO if header.game == "go" else 1
    return [size for size in range(smallest, MAX_SIZE + 1) if _has_size(header.game, size)]


def _has_size(game: str, size: int) -> bool:
    from gozero import games

    try:
        games.make(game, size=size)
    except ValueError:
        return False
    return True
