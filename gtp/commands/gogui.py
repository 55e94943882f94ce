"""GoGui: what its menu of analyze commands shows on the board, and `gogui-interrupt`.

`gogui-analyze_commands` lists each command with its type, which says how GoGui shows the answer: `dboard` (a number -1
to 1 for each point, Black's above 0), `sboard` (a text for each point, `""` for none), `bwboard` (`b`, `w` or `.`),
`gfx` (drawings, see `gtp.reports`), `string`, `hstring`, `plist`, `none`, `param`. Boards are rows from the top.
Answers that need only the network come at once; those that need a search continue the present one up to the limits of
a move.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from gozero.games import coords
from gozero.games.colours import BLACK, WHITE
from gtp import reports
from gtp.arguments import colour_of
from gtp.protocol import Command, GtpError, Handler
from gtp.reports import Board
from gtp.session import CommandGroup

if TYPE_CHECKING:
    from gozero.play.report import Analysis
    from gozero.play.searcher import Limits

TREE_DEPTH = 3
NOTHING = '""'
"""The text of an sboard's point that has none."""

Drawing = Callable[["Analysis", Board], str]


class GoguiCommands(CommandGroup):
    """The commands of every game."""

    menu: tuple[str, ...] = (
        "string/Value/gogui-value %m",
        "gfx/Policy/gogui-policy %m",
        "sboard/Value of Each Move/gogui-move_values %m",
        "gfx/Visits/gogui-visits %m",
        "gfx/Principal Variation/gogui-principal_variation %m",
        "hstring/Search Tree/gogui-search_tree %m",
        "string/Explain Last Move/gomill-explain_last_move",
        "plist/Legal Moves/all_legal %c",
        "string/Final Score/final_score",
        "hstring/Describe Engine/gomill-describe_engine",
        "none/Clear Cache/clear_cache",
        "param/Parameters/gogui-param",
    )
    """type/label/command; GoGui puts the side to move for %m and asks its user for %c."""

    def commands(self) -> Mapping[str, Handler]:
        return {
            "gogui-version": lambda command: "",
            "gogui-interrupt": lambda command: "",
            "gogui-analyze_commands": lambda command: "\n".join(self.menu),
            "gogui-value": lambda command: self._known(command, reports.summary),
            "gogui-policy": lambda command: self._known(command, reports.policy),
            "gogui-move_values": self.move_values,
            "gogui-visits": lambda command: self._searched(command, reports.visits),
            "gogui-principal_variation": lambda command: self._searched(command, reports.variation),
            "gogui-search_tree": lambda command: self._searched(command, self._tree),
        }

    def move_values(self, command: Command) -> str:
        """Per cent: the win rate after each legal move, as the network sees it without a search."""
        colour = self._colour(command)
        with self._session.thinking() as player:
            values = player.searcher.values_after(player.game.root(colour))[: player.game.kind.points].tolist()
        texts = [NOTHING if math.isnan(value) else f"{50 * (1 + value):.0f}" for value in values]
        return rows(texts, player.game.board)

    def _tree(self, look: Analysis, board: Board) -> str:
        """The most visited lines as text."""
        return self._session.player.searcher.open(self._session.game.kind).text(depth=TREE_DEPTH).rstrip()

    def _known(self, command: Command, draw: Drawing) -> str:
        """An answer from one visit, or from the search of this position if there was one."""
        from gozero.play.searcher import Limits

        return self._drawn(self._colour(command), Limits(visits=1), draw)

    def _searched(self, command: Command, draw: Drawing) -> str:
        """An answer from a search within the limits of a move; an existing search is continued."""
        colour = self._colour(command)
        return self._drawn(colour, self._session.limits(colour), draw)

    def _drawn(self, colour: int, limits: Limits, draw: Drawing, *, ownership: bool = False) -> str:
        from gozero.play.report import Observer

        looks: list[Analysis] = []
        observer = Observer(looks.append, least_moves=self._session.game.kind.actions, ownership=ownership)
        with self._session.thinking() as player:
            player.analyse(colour, limits, observer)
        return draw(looks[-1], player.game.board)

    def _colour(self, command: Command) -> int:
        """The argument, else the side to move."""
        if len(command.arguments) > 1:
            raise GtpError("syntax error: expected a colour or nothing")
        return colour_of(command.text) if command.text else self._session.game.position.to_play


class GoguiGoCommands(GoguiCommands):
    """The commands of Go."""

    menu = (
        "dboard/Ownership/gogui-ownership",
        *GoguiCommands.menu,
        "sboard/Liberties/gogui-liberties",
        "bwboard/Pass-alive Points/gogui-pass_alive",
        "plist/Dead Stones/final_status_list dead",
        "plist/Black Territory/final_status_list black_territory",
        "plist/White Territory/final_status_list white_territory",
    )

    def commands(self) -> Mapping[str, Handler]:
        return {
            **super().commands(),
            "gogui-ownership": self.ownership,
            "gogui-liberties": self.liberties,
            "gogui-pass_alive": self.pass_alive,
        }

    def ownership(self, command: Command) -> str:
        """The expected owner of each point."""
        from gozero.play.searcher import Limits

        return self._drawn(self._session.game.position.to_play, Limits(visits=1), owners, ownership=True)

    def liberties(self, command: Command) -> str:
        """The liberties of the chain on each point."""
        from gozero.scoring.regions import liberties_of

        game = self._session.game
        return rows([str(count) if count else NOTHING for count in liberties_of(game.stones()).flat], game.board)

    def pass_alive(self, command: Command) -> str:
        """The owner of each pass-alive point."""
        from gozero.games.go.area import owners_of, pass_alive_owners

        game = self._session.game
        owners = owners_of(pass_alive_owners, game.stones())
        return rows([{BLACK: "b", WHITE: "w"}.get(int(colour), ".") for colour in owners], game.board)


def owners(look: Analysis, board: Board) -> str:
    """Ownership as a dboard."""
    if look.ownership is None:
        raise GtpError("these weights know no ownership")
    sign = 1 if look.colour == BLACK else -1
    return rows([f"{sign * owner:.3f}" for owner in look.ownership], board)


def rows(texts: list[str], board: Board) -> str:
    """A text for each point as the rows of the board."""
    cols, count = board
    lines = [" ".join(texts[coords.action(row, 0, cols) : coords.action(row + 1, 0, cols)]) for row in range(count)]
    return "\n" + "\n".join(lines)
