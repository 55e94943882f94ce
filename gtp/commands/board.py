"""The board, and the engine's own moves."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import nullcontext
from typing import TYPE_CHECKING

from gozero.games import FALLING_GAMES, coords
from gozero.games.colours import COLOUR_WORDS
from gozero.play.engine import spanned
from gtp.arguments import colour_of, whole_number_of
from gtp.protocol import Command, GtpError, Handler
from gtp.reports import live
from gtp.session import CommandGroup, say

if TYPE_CHECKING:
    import numpy as np

    from gozero.games.position import Move


class BoardCommands(CommandGroup):
    """Size, moves and pictures of the board."""

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
        game = self._session.game
        sizes = {str(size): size for size in game.sizes}
        if command.text not in sizes:
            say(f"board size {command.text[:40]!r} is not supported; these weights play {spanned(game.sizes)}")
            raise GtpError("unacceptable size")
        game.new_game(sizes[command.text])
        self._session.warn_of_size(game.size)
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
        column = self._session.vertex(action)[0]
        for vertex in map(self._session.vertex, game.legal(game.position.to_play).nonzero()[0].tolist()):
            if vertex[0] == column:
                return f": the free point of column {column} is {vertex}"
        return f": column {column} is full"

    def gg_undo(self, command: Command) -> str:
        """Undo N moves, by default one; all or none."""
        return self._undo(whole_number_of(command.arguments[0]) if command.arguments else 1)

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
        return self._session.vertices(point for point in points if legal[point])

    def last_move(self, command: Command) -> str:
        """Colour and vertex of the last move."""
        moves = self._session.game.position.moves
        if not moves:
            raise GtpError("no previous move known")
        return self._move_text(moves[-1])

    def move_history(self, command: Command) -> str:
        """The moves, the last one first."""
        return "\n".join(map(self._move_text, reversed(self._session.game.position.moves)))

    def list_stones(self, command: Command) -> str:
        """The points with stones of a colour, rows from the top."""
        colour = colour_of(command.text)
        return self._session.vertices((self._session.game.stones().reshape(-1) == colour).nonzero()[0])

    def _move_text(self, move: Move) -> str:
        return f"{COLOUR_WORDS[move.colour]} {self._session.vertex(move.action)}"

    def _move(self, words: list[str]) -> tuple[int, int]:
        if len(words) < 2:
            raise GtpError("invalid color or coordinate: missing; expected a color and a vertex, such as b D4")
        if len(words) > 2:
            raise GtpError(f"invalid color or coordinate: {words[2]!r} is one argument too many")
        return colour_of(words[0]), self._session.action(words[1])

    def _undo(self, number: int) -> str:
        if not 0 <= number <= len(self._session.game.position.moves):
            raise GtpError("cannot undo")
        self._session.game.undo(number)
        return ""


class PlayCommands(CommandGroup):
    """The engine's own moves."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "genmove": self.genmove,
            "reg_genmove": lambda command: self._suggest(colour_of(command.text)),
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
        return session.vertex(action)

    def restricted_genmove(self, command: Command) -> str:
        """``restricted_genmove C V V ...``: the best of these moves, not played."""
        if len(command.arguments) < 2:
            raise GtpError("syntax error: expected a colour and the vertices to choose from")
        colour, *vertices = command.arguments
        actions = [self._session.action(vertex) for vertex in vertices]
        return self._suggest(colour_of(colour), self._session.game.mask_of(actions))

    def stop(self, command: Command) -> str:
        """Stop pondering until the engine's next move. An analysis has ended already, as at any line."""
        self._session.stop_pondering()
        return ""

    def clear_cache(self, command: Command) -> str:
        """Drop all searches: the next one begins as in a new engine."""
        self._session.player.forget()
        return ""

    def _suggest(self, colour: int, among: np.ndarray | None = None) -> str:
        """The move genmove would choose, not played; it never resigns and is the same when asked again."""
        limits = self._session.limits(colour)
        with self._session.thinking() as player:
            return self._session.vertex(player.suggest(colour, limits, among))
