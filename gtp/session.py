"""One session with a controller: the board and playing commands, and the state that all command groups share.

The position is `gozero.play.current_game`'s, moves are chosen by `gozero.play.player.Player`, and the wire is `gtp.protocol`'s. The
player is made at its first use, so that a controller which only asks for the name never waits for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from functools import partial
from typing import TYPE_CHECKING, cast

from gozero.games import FALLING_GAMES, coords
from gozero.games.colours import COLOUR_WORDS
from gozero.play.engine import beyond_training, no_more_memory, spanned
from gozero.play.time_controls import Clock, moves_to_share
from gozero.system.output import Log, tell
from gtp.arguments import colour_of, vertex_of, whole_number_of
from gtp.graphics import live
from gtp.notes import searched
from gtp.protocol import Command, GtpError, Handler, Signals
from gtp.settings import GtpSettings, player_settings

if TYPE_CHECKING:
    import numpy as np

    from gozero.games.position import Move
    from gozero.play.current_game import CurrentGame, GoGame
    from gozero.play.ending import GoEnding
    from gozero.play.player import Player
    from gozero.play.searcher import Limits, Searched

DEFAULT_VISITS = 400
DEFAULT_SECONDS = 5.0

say = partial(tell, "gozero-gtp")
"""One line to the user, on stderr."""


class Session:
    """Settings, player, clock and signals of one sitting.

    ``make_player`` is called once, at the first command that needs a board. A command after which the engine should
    rest (``kgs-game_over``) calls ``stop_pondering``. Every search writes a line to the ``log``. The first one that
    ends for lack of memory is reported there and on stderr. ``describe`` puts the engine with these settings in words.

    Attributes:
        opponent: the other player's name, "" while unknown.
        trained: board sizes that the weights learned from, ascending; () where that is not known.
    """

    def __init__(
        self,
        settings: GtpSettings,
        make_player: Callable[[], Player],
        signals: Signals,
        describe: Callable[[GtpSettings], str] = lambda settings: "",
        log: Log | None = None,
        trained: Sequence[int] = (),
    ) -> None:
        self.settings = settings
        self.signals = signals
        self.opponent = ""
        self._describe = describe
        self.trained = trained
        self.clock = Clock(settings.lag)
        self._log = log
        self._make_player = make_player
        self._player: Player | None = None
        self._is_memory_told = False
        self._ponder_after: list[Move] | None = None  # the game as it stood after the engine's last move

    @property
    def player(self) -> Player:
        if self._player is None:
            self._player = self._make_player()
            self._player.searcher.on_full = self._tell_of_memory
            if self._log is not None:
                self._player.searcher.on_search = partial(_tell, self._player.game, self._log)
        return self._player

    @property
    def game(self) -> CurrentGame:
        """The game in progress."""
        return self.player.game

    @property
    def go_game(self) -> GoGame:
        """The same, for the commands that only games of Go's family have."""
        return cast("GoGame", self.game)

    @property
    def go_ending(self) -> GoEnding:
        """How that game ends, for the same commands."""
        return cast("GoEnding", self.player.ending)

    @property
    def description(self) -> str:
        """The engine with its settings as they are now, for records."""
        return self._describe(self.settings)

    def _tell_of_memory(self, limit: int) -> None:
        """Say, once, that search trees have reached their memory limit."""
        if self._is_memory_told:
            return
        self._is_memory_told = True
        say(no_more_memory(limit))
        if self._log is not None:
            self._log.say(no_more_memory(limit))

    def warn_of_size(self, size: int) -> None:
        """Warn if the weights were not trained on a board like this."""
        if line := beyond_training(self.trained, size):
            say(line)

    def change(self, settings: GtpSettings) -> None:
        """Play by other settings from the next move on."""
        self.player.change(player_settings(settings, self.game.name))
        self.clock.lag = settings.lag
        self.settings = settings

    def limits(self, colour: int) -> Limits:
        """The limits of a move that starts now: the user's settings or the clock, whichever ends first; without both,
        the defaults. The controller may stop it.

        The player is loaded first. A clock runs meanwhile; the user's own seconds begin when a search can.
        """
        from gozero.play.searcher import Limits

        wanted, settings = time.monotonic(), self.settings
        self.player.load()
        ready = time.monotonic()
        latest = ready + (math.inf if settings.time is None else settings.time)
        allowance = self.clock.allowance(colour, moves_to_share(self.game.kind.points, self.game.position.ply))
        visits, deadline, target = settings.move_visits, latest, math.inf
        if allowance is not None:
            deadline, target = min(latest, wanted + allowance.most), min(latest, wanted + allowance.target)
        elif visits is None and settings.time is None:
            visits, deadline = DEFAULT_VISITS, ready + DEFAULT_SECONDS
        return Limits(visits, deadline, target, self.signals.should_stop)

    @contextmanager
    def thinking(self) -> Iterator[Player]:
        """Around every search: gives the player, loaded. GtpError where it is not that side's turn, or none of the
        moves is legal.
        """
        from gozero.play.current_game import TurnError
        from gozero.play.player import NoChoiceError

        self.player.load()
        try:
            with self.signals.thinking():
                yield self.player
        except (TurnError, NoChoiceError) as error:
            raise GtpError(str(error)) from None

    @contextmanager
    def move(self, colour: int) -> Iterator[Limits]:
        """Around the search for a move that will be played: gives its limits, and takes its time off the clock of
        ``colour``.
        """
        started, before = time.monotonic(), len(self.game.position.moves)
        limits = self.limits(colour)
        with self.thinking():
            yield limits
        self.clock.spend(colour, time.monotonic() - started)
        moves = self.game.position.moves
        self._ponder_after = list(moves) if len(moves) > before else None  # None: it has resigned

    def ponder(self) -> None:
        """With ``--ponder``, search the opponent's turn until a line arrives: after a move of the engine's own, while
        the game goes on.
        """
        if not self.settings.ponder or self._ponder_after is None or self.signals.is_wanted_elsewhere():
            return
        if self.game.position.moves != self._ponder_after:
            return
        try:
            self.player.ponder(self.signals.is_wanted_elsewhere)
        except Exception as error:  # noqa: BLE001 - a bug in what nobody asked for must not take the game with it
            self.stop_pondering()
            say(f"stopped pondering: {type(error).__name__}: {error}")

    def stop_pondering(self) -> None:
        """Do not ponder until the engine has made another move."""
        self._ponder_after = None


def _tell(game: CurrentGame, log: Log, found: Searched) -> None:
    """Write a search to the log."""
    log.say(searched(found, game.board))


class BoardCommands:
    """Size, moves and pictures of the board."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "boardsize": self.boardsize,
            "query_boardsize": lambda command: str(self._session.game.size),
            "clear_board": self.clear_board,
            "play": self.play,
            "play_sequence": self.play_sequence,
            "gogui-play_sequence": self.play_sequence,
            "undo": lambda command: self._undo(1),
            "gg-undo": self.gg_undo,
            "is_legal": self.is_legal,
            "all_legal": self.all_legal,
            "move_history": self.move_history,
            "last_move": self.last_move,
            "list_stones": self.list_stones,
            "showboard": lambda command: f"\n{self._session.game.position}",
        }

    def boardsize(self, command: Command) -> str:
        """Clears the board; komi and time settings stay. The size of a board that is not square is its number of
        columns.
        """
        sizes = {str(size): size for size in self._session.game.sizes}
        if command.text not in sizes:
            say(
                f"board size {command.text[:40]!r} is not supported; these weights play {spanned(self._session.game.sizes)}"
            )
            raise GtpError("unacceptable size")
        self._session.game.new_game(sizes[command.text])
        self._session.warn_of_size(sizes[command.text])
        self._session.clock.reset()
        return ""

    def clear_board(self, command: Command) -> str:
        self._session.game.new_game()
        self._session.clock.reset()
        return ""

    def play(self, command: Command) -> str:
        """Play a move; in Go for either colour, with only simple ko and suicide refused: an opponent may repeat the
        board.
        """
        from gozero.games.position import IllegalMove
        from gozero.play.current_game import TurnError

        colour, action = self._move(command.arguments)
        try:
            self._session.game.play(colour, action)
        except TurnError as error:
            raise GtpError(f"illegal move: {error}") from None
        except IllegalMove:
            raise GtpError(f"illegal move{self._hint(action)}") from None
        return ""

    def play_sequence(self, command: Command) -> str:
        """``C V C V ...``: all of these moves or, where one cannot be played, none."""
        from gozero.games.position import IllegalMove
        from gozero.play.current_game import TurnError

        words = command.arguments
        moves = [self._move(words[start : start + 2]) for start in range(0, len(words), 2)]
        try:
            self._session.game.play_all(moves)
        except (IllegalMove, TurnError) as error:
            raise GtpError(f"illegal move: {error}") from None
        return ""

    def _hint(self, action: int) -> str:
        """Why an action is illegal, where a controller may not know: there is no passing, or the stone would fall to
        another point.
        """
        game = self._session.game
        if action == game.kind.pass_action and not game.kind.has_pass:
            return f": there is no passing in {game.name}"
        if game.name not in FALLING_GAMES:
            return ""
        column = coords.vertex(action, *game.board)[0]
        for point in game.legal(game.position.to_play).nonzero()[0]:
            if coords.vertex(int(point), *game.board)[0] == column:
                return f": the free point of column {column} is {coords.vertex(int(point), *game.board)}"
        return f": column {column} is full"

    def gg_undo(self, command: Command) -> str:
        """Undo N moves, by default one; all or none."""
        number = whole_number_of(command.arguments[0]) if command.arguments else 1
        if number < 0:
            raise GtpError("cannot undo")
        return self._undo(number)

    def is_legal(self, command: Command) -> str:
        """1 or 0, under the full rules: what genmove might answer."""
        colour, action = self._move(command.arguments)
        return str(int(self._session.game.legal(colour)[action]))

    def all_legal(self, command: Command) -> str:
        """The points that the full rules allow to a colour, from A1's corner upwards."""
        game = self._session.game
        legal = game.legal(colour_of(command.text))
        cols, rows = game.board
        points = [coords.action(row, col, cols) for row in reversed(range(rows)) for col in range(cols)]
        return " ".join(coords.vertex(point, cols, rows) for point in points if legal[point])

    def move_history(self, command: Command) -> str:
        """The moves from the last to the first, one a line."""
        game = self._session.game
        return "\n".join(
            f"{COLOUR_WORDS[colour]} {coords.vertex(action, *game.board)}"
            for colour, action in reversed(game.position.moves)
        )

    def last_move(self, command: Command) -> str:
        """Colour and vertex of the last move."""
        game = self._session.game
        if not game.position.moves:
            raise GtpError("no previous move known")
        colour, action = game.position.moves[-1]
        return f"{COLOUR_WORDS[colour]} {coords.vertex(action, *game.board)}"

    def list_stones(self, command: Command) -> str:
        """The points with stones of a colour, rows from the top."""
        game, colour = self._session.game, colour_of(command.text)
        return " ".join(
            coords.vertex(int(point), *game.board) for point in (game.stones().reshape(-1) == colour).nonzero()[0]
        )

    def _move(self, words: list[str]) -> tuple[int, int]:
        if len(words) < 2:
            raise GtpError("invalid color or coordinate: missing; expected a color and a vertex, such as b D4")
        if len(words) > 2:
            raise GtpError(f"invalid color or coordinate: {words[2]!r} is one argument too many")
        return colour_of(words[0]), vertex_of(words[1], *self._session.game.board)

    def _undo(self, number: int) -> str:
        if number > len(self._session.game.position.moves):
            raise GtpError("cannot undo")
        self._session.game.undo(number)
        return ""


class PlayCommands:
    """The engine's own moves."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "genmove": self.genmove,
            "reg_genmove": self.reg_genmove,
            "restricted_genmove": self.restricted_genmove,
            "stop": self.stop,
            "clear_cache": self.clear_cache,
        }

    def genmove(self, command: Command) -> str:
        """Choose a move, play it, and take its time off the clock. After ``resign`` the board is as before."""
        session, colour = self._session, colour_of(command.text)
        drawing = live(session.game.board) if session.settings.gogui_gfx else nullcontext()
        with drawing as observer, session.move(colour) as limits:
            action = session.player.genmove(colour, limits, observer)
        return coords.vertex(action, *session.game.board)

    def reg_genmove(self, command: Command) -> str:
        """The move genmove would choose, not played; it never resigns and is the same when asked again."""
        return self._suggest(colour_of(command.text))

    def restricted_genmove(self, command: Command) -> str:
        """``restricted_genmove C V V ...``: the best of these moves, not played."""
        session = self._session
        if len(command.arguments) < 2:
            raise GtpError("syntax error: expected a colour and the vertices to choose from")
        colour, *vertices = command.arguments
        actions = [vertex_of(vertex, *session.game.board) for vertex in vertices]
        return self._suggest(colour_of(colour), session.game.mask_of(actions))

    def stop(self, command: Command) -> str:
        """Stop pondering until the engine's next move. An analysis has ended already, as at any line."""
        self._session.stop_pondering()
        return ""

    def clear_cache(self, command: Command) -> str:
        """Drop all searches: the next one begins as in a new engine."""
        self._session.player.forget()
        return ""

    def _suggest(self, colour: int, among: np.ndarray | None = None) -> str:
        session = self._session
        limits = session.limits(colour)
        with session.thinking() as player:
            action = player.suggest(colour, limits, among)
        return coords.vertex(action, *session.game.board)
