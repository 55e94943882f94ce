"""GoGui: what its menu of analyze commands shows on the board, and `gogui-interrupt`.

`gogui-analyze_commands` lists each command with its type, which says how GoGui shows the answer: `dboard` (a number -1
to 1 for each point, Black's above 0), `sboard` (a text for each point, `""` for none), `bwboard` (`b`, `w` or `.`),
`gfx` (drawings, see `gtp.reports`), `string`, `hstring`, `plist`, `none`, `param`. Boards are rows from the top.
Answers that need only the network come at once; those that need a search continue the present one up to the limits of
a move.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING

from gozero.games import coords
from gozero.games.colours import BLACK, WHITE
from gtp import reports
from gtp.arguments import colour_of
from gtp.protocol import Command, GtpError
from gtp.reports import Board
from gtp.session import Commands, Session

if TYPE_CHECKING:
    from gozero.play.report import Analysis
    from gozero.play.searcher import Limits

TREE_DEPTH = 3
NOTHING = '""'
"""The text of an sboard's point that has none."""

Drawing = Callable[["Analysis", Board], str]


MENU = (
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
GO_MENU = (
    "dboard/Ownership/gogui-ownership",
    *MENU,
    "sboard/Liberties/gogui-liberties",
    "bwboard/Pass-alive Points/gogui-pass_alive",
    "plist/Dead Stones/final_status_list dead",
    "plist/Black Territory/final_status_list black_territory",
    "plist/White Territory/final_status_list white_territory",
)
"""type/label/command; GoGui puts the side to move for %m and asks its user for %c."""


def move_values(session: Session, command: Command) -> str:
    """Per cent: the win rate after each legal move, as the network sees it without a search."""
    colour = _colour(session, command)
    with session.thinking() as player:
        values = player.searcher.values_after(player.game.root(colour))[: player.game.kind.points].tolist()
    texts = [NOTHING if math.isnan(value) else f"{50 * (1 + value):.0f}" for value in values]
    return rows(texts, player.game.board)


def search_tree(session: Session, command: Command) -> str:
    """The most visited lines as text."""
    return _searched(
        session, command, lambda look, board: session.player.searcher.open(session.game.kind).text(depth=TREE_DEPTH).rstrip()
    )


def _known(session: Session, command: Command, draw: Drawing) -> str:
    """An answer from one visit, or from the search of this position if there was one."""
    from gozero.play.searcher import Limits

    return _drawn(session, _colour(session, command), Limits(visits=1), draw)


def _searched(session: Session, command: Command, draw: Drawing) -> str:
    """An answer from a search within the limits of a move; an existing search is continued."""
    colour = _colour(session, command)
    return _drawn(session, colour, session.limits(colour), draw)


def _drawn(session: Session, colour: int, limits: Limits, draw: Drawing, *, ownership: bool = False) -> str:
    from gozero.play.report import Observer

    looks: list[Analysis] = []
    observer = Observer(looks.append, least_moves=session.game.kind.actions, ownership=ownership)
    with session.thinking() as player:
        player.analyse(colour, limits, observer)
    return draw(looks[-1], player.game.board)


def _colour(session: Session, command: Command) -> int:
    """The argument, else the side to move."""
    if len(command.arguments) > 1:
        raise GtpError("syntax error: expected a colour or nothing")
    return colour_of(command.text) if command.text else session.game.position.to_play


def ownership(session: Session, command: Command) -> str:
    """The expected owner of each point."""
    from gozero.play.searcher import Limits

    return _drawn(session, session.game.position.to_play, Limits(visits=1), owners, ownership=True)


def liberties(session: Session, command: Command) -> str:
    """The liberties of the chain on each point."""
    from gozero.scoring.regions import liberties_of

    game = session.game
    return rows([str(count) if count else NOTHING for count in liberties_of(game.stones()).flat], game.board)


def pass_alive(session: Session, command: Command) -> str:
    """The owner of each pass-alive point."""
    from gozero.games.go.area import owners_of, pass_alive_owners

    game = session.game
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


COMMANDS: Commands = {
    "gogui-version": lambda session, command: "",
    "gogui-interrupt": lambda session, command: "",
    "gogui-analyze_commands": lambda session, command: "\n".join(MENU),
    "gogui-value": lambda session, command: _known(session, command, reports.summary),
    "gogui-policy": lambda session, command: _known(session, command, reports.policy),
    "gogui-move_values": move_values,
    "gogui-visits": lambda session, command: _searched(session, command, reports.visits),
    "gogui-principal_variation": lambda session, command: _searched(session, command, reports.variation),
    "gogui-search_tree": search_tree,
}
GO: Commands = {
    "gogui-analyze_commands": lambda session, command: "\n".join(GO_MENU),
    "gogui-ownership": ownership,
    "gogui-liberties": liberties,
    "gogui-pass_alive": pass_alive,
}
