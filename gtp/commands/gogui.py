"""GoGui: what its menu of analyze commands shows on the board, and `gogui-interrupt`.

`gogui-analyze_commands` lists each command with its type, which says how GoGui shows the answer: `dboard` (a number -1
to 1 for each point, Black's above 0, in rows from the top), `gfx` (drawings), `string`, `hstring`, `plist`, `none`,
`param`. A drawing is lines, each a command and what it is about: `LABEL D4 12 E5 3`, `VAR b D4 w E5`. GoGui reads live
ones from stderr, between `gogui-gfx:` and an empty line. A pass is no point: only texts and variations can show it; of
games whose pieces move there are texts alone.

Answers that need only the network come at once; those that need a search continue the
present one up to the limits of a move.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from gozero.games.colours import BLACK, COLOUR_LETTERS, opponent
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session, colour_of, summary, vertices

if TYPE_CHECKING:
    from gozero.games.game import Game
    from gozero.play.searcher import Analysis, Limits, MoveAnalysis, Observer

TREE_DEPTH = 3
LISTED_MOVES = 10  # likely moves that are named where no point can be marked
SMALLEST_SHARE = 0.005  # moves with a smaller share are left out: they would show as 0 %
LIVE_INTERVAL = 0.5  # seconds between two live drawings

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
    _searched(session, command, summary)
    return session.player.searcher.open(session.game.definition).text(depth=TREE_DEPTH).rstrip()


def _searched(session: Session, command: Command, draw: Drawing) -> str:
    """An answer from a search within the limits of a move; an existing search is continued."""
    colour = _colour(session, command)
    return _drawn(session, colour, draw, session.limits(colour))


def _drawn(session: Session, colour: int, draw: Drawing, limits: Limits | None = None) -> str:
    """An answer from a search; without limits from one visit, or from the search of this position if there was one."""
    from gozero.play.searcher import Limits, Observer

    analyses: list[Analysis] = []
    observer = Observer(analyses.append, least_moves=session.game.definition.actions, ownership=draw is owners)
    with session.thinking() as player:
        player.analyse(colour, Limits(visits=1) if limits is None else limits, observer)
    return draw(analyses[-1], player.game.definition)


def _colour(session: Session, command: Command) -> int:
    """The argument, else the side to move."""
    if len(command.arguments) > 1:
        raise GtpError("syntax error: expected a colour or nothing")
    return colour_of(command.text) if command.text else session.game.position.to_play


def owners(analysis: Analysis, kind: Game) -> str:
    """Ownership as a dboard."""
    if analysis.ownership is None:
        raise GtpError("these weights know no ownership")
    sign = 1 if analysis.colour == BLACK else -1
    cols, texts = kind.cols, [f"{sign * owner:.3f}" for owner in analysis.ownership]
    return "\n" + "\n".join(" ".join(texts[start : start + cols]) for start in range(0, len(texts), cols))


# Drawings


def visits(analysis: Analysis, kind: Game) -> str:
    """The moves that were searched, with their visits, the best one in green."""
    tried = [move for move in analysis.moves if move.visits]
    best = [f"COLOR green {vertices([move.action], kind)}" for move in tried[:1] if _is_point(move, kind)]
    most = max((move.visits for move in tried), default=1)
    marks = [(move, move.visits / most, short(move.visits)) for move in tried]
    return "\n".join([*best, *_marked(marks, analysis.colour, kind), f"TEXT {summary(analysis, kind)}"])


def policy(analysis: Analysis, kind: Game) -> str:
    """What the network would play, in per cent; squares are in proportion to the likeliest move."""
    likely = [move for move in analysis.moves if move.prior >= SMALLEST_SHARE]
    most = max((move.prior for move in likely), default=1.0)
    marks = [(move, move.prior / most, f"{100 * move.prior:.0f}") for move in likely]
    if kind.moves_pieces:
        return f"TEXT {', '.join(f'{kind.vertex(move.action)} {label} %' for move, _, label in marks[:LISTED_MOVES])}"
    passing = sum(move.prior for move in analysis.moves if move.action == kind.pass_action)
    return "\n".join([*_marked(marks, analysis.colour, kind), f"TEXT pass {100 * passing:.1f} %"])


def variation(analysis: Analysis, kind: Game) -> str:
    """The line that the search expects, as numbered stones."""
    colours = [COLOUR_LETTERS[colour].lower() for colour in (analysis.colour, opponent(analysis.colour))]
    moves = [f"{colours[ply % 2]} {kind.vertex(action)}" for ply, action in enumerate(analysis.moves[0].line)]
    shown = "" if kind.moves_pieces else f"VAR {' '.join(moves)}\n"
    return f"{shown}TEXT {summary(analysis, kind)}"


@contextmanager
def live(kind: Game) -> Iterator[Observer]:
    """Around a search: gives an observer that draws it on stderr; at the end the board is cleared."""
    from gozero.play.searcher import Observer

    def write(text: str) -> None:
        sys.stderr.write(text)
        sys.stderr.flush()

    try:
        yield Observer(lambda analysis: write(f"gogui-gfx:\n{visits(analysis, kind)}\n\n"), LIVE_INTERVAL)
    finally:
        write("gogui-gfx: CLEAR\n")


def short(count: int) -> str:
    """A number in four characters, so that it fits on a point."""
    if count < 10_000:
        return str(count)
    return f"{count // 1000}k" if count < 1_000_000 else f"{count // 1_000_000}M"


def _marked(marks: list[tuple[MoveAnalysis, float, str]], colour: int, kind: Game) -> list[str]:
    """Moves with the sizes of their squares, 0 to 1, and their labels; empty if no move is a point."""
    sign = 1 if colour == BLACK else -1
    shown = [mark for mark in marks if _is_point(mark[0], kind)]
    points = [(kind.vertex(move.action), sign * size, label) for move, size, label in shown]
    if not points:
        return []
    influence = " ".join(f"{vertex} {size:.3f}" for vertex, size, _ in points)
    labels = " ".join(f"{vertex} {label}" for vertex, _, label in points)
    return [f"INFLUENCE {influence}", f"LABEL {labels}"]


def _is_point(move: MoveAnalysis, kind: Game) -> bool:
    return not kind.moves_pieces and move.action < kind.points


COMMANDS: Commands = {
    "gogui-version": lambda session, command: "",
    "gogui-interrupt": lambda session, command: "",
    "gogui-analyze_commands": analyze_commands,
    "gogui-value": lambda session, command: _drawn(session, _colour(session, command), summary),
    "gogui-policy": lambda session, command: _drawn(session, _colour(session, command), policy),
    "gogui-visits": lambda session, command: _searched(session, command, visits),
    "gogui-principal_variation": lambda session, command: _searched(session, command, variation),
    "gogui-search_tree": search_tree,
}
GO: Commands = {
    "gogui-analyze_commands": lambda session, command: "\n".join(GO_MENU),
    "gogui-ownership": lambda session, command: _drawn(session, session.game.position.to_play, owners),
}
