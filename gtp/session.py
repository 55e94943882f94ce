"""One session with a controller: the state that all commands share, and how they read colours and numbers.

The player is made at its first use, so that a controller which only asks for the name never waits for it.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, cast

from gozero.games import coords
from gozero.games.colours import COLOUR_WORDS, COLOURS
from gozero.play.engine import beyond_training, no_more_memory
from gozero.play.time_controls import Clock, moves_to_share
from gozero.system import console, options
from gozero.system.errors import ChoiceError, SetUpError
from gozero.system.streams import Log
from gozero.system.words import counted
from gtp.protocol import Command, GtpError, Signals
from gtp.settings import PROGRAM, GtpSettings, player_settings

if TYPE_CHECKING:
    from gozero.games.game import Game
    from gozero.games.position import Move
    from gozero.play.current_game import CurrentGame, GoGame
    from gozero.play.ending import GoEnding
    from gozero.play.player import Player
    from gozero.play.searcher import Analysis, Limits

DEFAULT_VISITS = 400
DEFAULT_SECONDS = 5.0
LARGEST_NUMBER = 1e9  # whole numbers beyond this are cut to it; no size, time or count is larger


def say(text: str) -> None:
    """One line to the user, on stderr."""
    console.say(f"{PROGRAM}: {text}")


@dataclass(eq=False)
class Session:
    """Settings, player, clock and signals of one session.

    Every search writes a line to the log. The first one that ends for lack of memory is reported there and on stderr.
    """

    settings: GtpSettings
    make_player: Callable[[], Player]  # called once, at the first command that needs a board
    signals: Signals
    describe: Callable[[GtpSettings], str] = lambda settings: ""  # the engine with these settings, in words
    log: Log | None = None
    trained: Sequence[int] = ()  # board sizes that the weights learned from, ascending; () if that is not known
    opponent: str = ""  # the other player's name, while known
    clock: Clock = field(default_factory=Clock)
    _ponder_after: list[Move] | None = None  # the game as it stood after the engine's last move

    @cached_property
    def player(self) -> Player:
        player = self.make_player()
        player.searcher.on_full = lambda limit: console.warn(PROGRAM, no_more_memory(limit), self.log)
        if self.log is not None:
            player.searcher.on_search = self._log_search
        return player

    @property
    def game(self) -> CurrentGame:
        return self.player.game

    @property
    def go_game(self) -> GoGame:
        """The same, for the commands that only games of Go's family have."""
        return cast("GoGame", self.game)

    @property
    def go_ending(self) -> GoEnding:
        """How that game ends, for the same commands."""
        return cast("GoEnding", self.player.ending)

    def action(self, text: str) -> int:
        """The action of a vertex on this board; ``pass`` too, ``resign`` not."""
        resignation = self.game.definition.resign_action
        try:
            action = self.game.definition.action(text)
        except ValueError:
            action = resignation
        if action == resignation:
            how = f"; expected from-to, such as {self.example}" if self.game.definition.moves_pieces else ""
            raise GtpError(f"invalid color or coordinate: {text!r}{how}")
        return action

    @property
    def example(self) -> str:
        """A move as it is written, on boards of any size."""
        return "A2-A3" if self.game.definition.moves_pieces else "B2"

    def point(self, text: str) -> int:
        """The number of a point of this board."""
        try:
            point = coords.parse_vertex(text, *self.game.board)
        except ValueError:
            raise GtpError(f"invalid color or coordinate: {text!r}") from None
        if point >= self.game.definition.points:
            raise GtpError(f"invalid coordinate: {text!r}")
        return point

    def vertex(self, action: int) -> str:
        return self.game.definition.vertex(action)

    def vertices(self, actions: Iterable[int]) -> str:
        """Their vertices, in a line."""
        return vertices(map(int, actions), self.game.definition)

    def summary(self, analysis: Analysis) -> str:
        """The evaluation in a line."""
        return summary(analysis, self.game.definition)

    def _log_search(self, purpose: str, analysis: Analysis, reused: int, seconds: float) -> None:
        assert self.log is not None
        side, speed = COLOUR_WORDS[analysis.colour], (analysis.visits - reused) / max(seconds, 1e-6)
        self.log.say(f"{side}, {purpose}: {self.summary(analysis)}; {seconds:.2f} s, {speed:.0f}/s")

    def warn_of_size(self, size: int) -> None:
        """Warn if the weights were not trained on a board like this."""
        if line := beyond_training(self.trained, size):
            say(line)

    def change(self, settings: GtpSettings) -> None:
        """Play by other settings from the next move on."""
        self.player.change(player_settings(settings, self.game.name))
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
        visits, deadline, target = settings.move_visits, latest, math.inf
        moves = moves_to_share(self.game.definition.points, self.game.position.ply)
        if (allowance := self.clock.allowance(colour, moves, settings.lag)) is not None:
            deadline, target = min(latest, wanted + allowance.most), min(latest, wanted + allowance.target)
        elif visits is None and settings.time is None:
            visits, deadline = DEFAULT_VISITS, ready + DEFAULT_SECONDS
        return Limits(visits, deadline, target, self.signals.should_stop)

    @contextmanager
    def thinking(self) -> Iterator[Player]:
        """Around every search: gives the player, loaded. GtpError if it is not that side's turn or no move is legal."""
        self.player.load()
        with refused():
            yield self.player

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


@contextmanager
def refused(what: str = "") -> Iterator[None]:
    """Around what the game may refuse: GtpError with its reason, behind these words."""
    from gozero.games.position import IllegalMove
    from gozero.play.current_game import TurnError

    try:
        yield
    except (ChoiceError, IllegalMove, SetUpError, TurnError) as error:
        raise GtpError(f"{what}: {error}" if what else str(error)) from None


Commands = dict[str, Callable[[Session, Command], str | None]]
"""Handlers by the names of their commands, see `gtp.protocol.Handler`."""


def vertices(actions: Iterable[int], kind: Game) -> str:
    """The vertices of these actions, in a line."""
    return " ".join(kind.vertex(action) for action in actions)


def summary(analysis: Analysis, kind: Game) -> str:
    """One line: the win rate of the best move for the side to move, visits, lead if known, the expected line."""
    best = analysis.moves[0]
    score = "" if best.score is None else f", score {best.score:+.1f}"
    chance, line = 50 * (1 + best.value), vertices(best.line, kind)
    return f"win rate {chance:.1f} %, {counted(analysis.visits, 'visit')}{score}: {line}"


def colour_of(text: str) -> int:
    """BLACK or WHITE for ``b``, ``black``, ``w``, ``white`` in any case."""
    if text.lower() not in COLOURS:
        raise GtpError(f"invalid color: {repr(text) if text else 'missing'}; expected b, black, w or white")
    return COLOURS[text.lower()]


def number_of(text: str) -> float:
    """A finite number."""
    try:
        return options.number_of(text)
    except ValueError:
        raise GtpError(f"syntax error: {text!r} is not a number") from None


def whole_number_of(text: str) -> int:
    """A whole number, cut to ± ``LARGEST_NUMBER``."""
    digits = text.lstrip("+-")
    if not (digits.isascii() and digits.isdigit()) or len(text) - len(digits) > 1:
        raise GtpError(f"syntax error: {text!r} is not a whole number")
    value = float(text)  # never fails, however long the number is
    return int(min(max(value, -LARGEST_NUMBER), LARGEST_NUMBER))
