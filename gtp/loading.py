"""Makes a player from the settings, late: slow imports and files wait until they are needed, or load in the background
before that.

The kernels, the compiled rules and search, take half a second from the cache and half a minute without; one thread
compiles them. Until they are ready the board is played without, and a search waits for them. Another thread may open
the evaluator, the network ready to run, ahead of the first search. Only this module knows of these threads.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from gozero import games
from gozero.nets.weights import WeightsError
from gozero.play import engine
from gozero.system.errors import ChoiceError
from gozero.system.words import spanned
from gtp.protocol import FatalError
from gtp.settings import GtpSettings, player_settings

if TYPE_CHECKING:
    from gozero.evaluators.base import Evaluator
    from gozero.games.game import Game
    from gozero.nets.weights import Header
    from gozero.play.player import Player
    from gozero.system.jit import Compilation

FIRST_WAIT = 0.5
"""Seconds that the first command waits for the kernels; cached ones are ready by then."""


class Loader:
    """Makes the player and opens its evaluators, once each, for the thread that asks first; path and header are those
    of the weights file. ChoiceError for a board size or rules that it does not play.
    """

    def __init__(self, settings: GtpSettings, path: Path, header: Header) -> None:
        self._settings, self._header, self._sizes = settings, header, engine.supported_sizes(header)
        size, rules = settings.size, settings.rules
        if size is not None and size not in self._sizes:
            raise ChoiceError(f"board size {size} is not supported; {path} plays {spanned(self._sizes)}")
        engine.check_choices(header.game, None, rules)
        if rules is not None and header.game != engine.DEFAULT_GAME:
            games.make(header.game, size=header.only, rules=rules)
        self._player_lock = threading.Lock()
        self._player: Player | None = None
        self._compilation: Compilation | None = None
        self._evaluators = settings.evaluators(path)
        self._ahead: set[int | None] = set()  # boards whose evaluators a thread opens ahead; None: the first one

    def player(self) -> Player:
        """The one player. FatalError if the weights cannot be used."""
        with self._player_lock:
            if self._player is None:
                with _fatal():
                    from gozero.system.jit import Compilation, collecting

                    with collecting() as kernels:
                        self._player = self._make_player()
                    self._compilation = Compilation(kernels)
                    self._compilation.wait(FIRST_WAIT)
            return self._player

    def evaluator(self, game: Game) -> Evaluator:
        """The evaluator for the board of ``game``, with the kernels compiled. FatalError if it cannot be opened."""
        with _fatal():
            if self._compilation is not None:
                self._compilation.wait()  # first: opening a network encodes positions
            return self._evaluators.open(game)

    def load_in_background(self, on_failure: Callable[[FatalError], None]) -> None:
        """Begin to make the player and to open the evaluator for its present board, once for each board; a failure is
        reported from the other thread.
        """
        size = None if self._player is None else self._player.game.definition.size
        if size in self._ahead:
            return
        self._ahead.add(size)

        def load() -> None:
            try:
                self.evaluator(self.player().game.definition)
            except FatalError as error:
                on_failure(error)

        threading.Thread(target=load, name="gtp-loader", daemon=True).start()

    def _make_player(self) -> Player:
        from gozero.nets import features  # noqa: F401  # the evaluator's kernels with the others
        from gozero.play.player import make_player

        settings, game = self._settings, self._header.game
        size = settings.size or self._header.size or games.usual(game, "size")
        how = player_settings(settings, game)
        return make_player(game, self._sizes, self.evaluator, how, size=size, komi=settings.komi)


@contextmanager
def _fatal() -> Iterator[None]:
    """FatalError if what every move needs cannot be loaded: unusable weights, rules that the game does not have, or
    libraries that find too little memory, which they report in many ways.
    """
    try:
        yield
    except (WeightsError, ChoiceError) as error:
        raise FatalError(str(error)) from None
    except ModuleNotFoundError:  # an incomplete installation
        raise
    except (ImportError, MemoryError, OSError, RuntimeError) as error:
        lines = [line for line in str(error).split("\n") if line.strip()]
        why = lines[-1] if lines else type(error).__name__  # the last line says most
        raise FatalError(f"rules and network cannot be loaded, perhaps for lack of memory: {why}") from None
