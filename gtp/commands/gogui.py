"""GoGui: what its menu of analyze commands shows on the board, and `gogui-interrupt`.

`gogui-analyze_commands` lists each command with its type, which says how GoGui shows the answer: `dboard` (a number -1
to 1 for each point, Black's above 0, in rows from the top), `gfx` (drawings, see `gtp.reports`), `string`, `hstring`,
`plist`, `none`, `param`. Answers that need only the network come at once; those that need a search continue the
present one up to the limits of a move.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING

from gozero.games.colours import BLACK
from gtp import reports
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session, colour_of

if TYPE_CHECKING:
    from gozero.games.game import Game
    from gozero.play.searcher import Analysis, Limits

TREE_DEPTH = 3

Drawing = Callable[["Analysis", "Game"], str]


MENU = (
    "string/Value/gogui-value %m",
    "gfx/Policy/gogui-policy %m",
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
    "plist/Dead Stones/final_status_list dead",
    "plist/Black Territory/final_status_list black_territory",
    "plist/White Territory/final_status_list white_territory",
)
"""type/label/command; GoGui puts the side to move for %m and asks its user for %c."""


def analyze_commands(session: Session, command: Command) -> str:
    """The menu; moves from point to point are no list of points."""
    menu = "\n".join(MENU)
    return menu.replace("plist/", "string/") if session.game.definition.moves_pieces else menu


def search_tree(session: Session, command: Command) -> str:
    """The most visited lines as text."""

    def lines(analysis: Analysis, kind: Game) -> str:
        return session.player.searcher.open(session.game.definition).text(depth=TREE_DEPTH).rstrip()

    return _searched(session, command, lines)


def _known(session: Session, command: Command, draw: Drawing) -> str:
    """An answer from one visit, or from the search of this position if there was one."""
    from gozero.play.searcher import Limits

    return _drawn(session, _colour(session, command), Limits(visits=1), draw)


def _searched(session: Session, command: Command, draw: Drawing) -> str:
    """An answer from a search within the limits of a move; an existing search is continued."""
    colour = _colour(session, command)
    return _drawn(session, colour, session.limits(colour), draw)


def _drawn(session: Session, colour: int, limits: Limits, draw: Drawing, *, ownership: bool = False) -> str:
    from gozero.play.searcher import Observer

    analyses: list[Analysis] = []
    observer = Observer(analyses.append, least_moves=session.game.definition.actions, ownership=ownership)
    with session.thinking() as player:
        player.analyse(colour, limits, observer)
    return draw(analyses[-1], player.game.definition)


def _colour(session: Session, command: Command) -> int:
    """The argument, else the side to move."""
    if len(command.arguments) > 1:
        raise GtpError("syntax error: expected a colour or nothing")
    return colour_of(command.text) if command.text else session.game.position.to_play


def ownership(session: Session, command: Command) -> str:
    """The expected owner of each point."""
    from gozero.play.searcher import Limits

    return _drawn(session, session.game.position.to_play, Limits(visits=1), owners, ownership=True)


def owners(analysis: Analysis, kind: Game) -> str:
    """Ownership as a dboard."""
    if analysis.ownership is None:
        raise GtpError("these weights know no ownership")
    sign = 1 if analysis.colour == BLACK else -1
    cols, texts = kind.cols, [f"{sign * owner:.3f}" for owner in analysis.ownership]
    return "\n" + "\n".join(" ".join(texts[start : start + cols]) for start in range(0, len(texts), cols))


COMMANDS: Commands = {
    "gogui-version": lambda session, command: "",
    "gogui-interrupt": lambda session, command: "",
    "gogui-analyze_commands": analyze_commands,
    "gogui-value": lambda session, command: _known(session, command, reports.summary),
    "gogui-policy": lambda session, command: _known(session, command, reports.policy),
    "gogui-visits": lambda session, command: _searched(session, command, reports.visits),
    "gogui-principal_variation": lambda session, command: _searched(session, command, reports.variation),
    "gogui-search_tree": search_tree,
}
GO: Commands = {"gogui-analyze_commands": lambda session, command: "\n".join(GO_MENU), "gogui-ownership": ownership}
