"""Analysis: lz-analyze, kata-analyze, cgos-genmove_analyze and similar commands, for clients that show the search.

A dialect is how a look at the search is written: Leela Zero's whole numbers out of 10,000, KataGo's fractions, CGOS's
JSON. An analysis goes on until any line arrives, an empty one too; a genmove of these ends when it has its move. All
numbers are for the side that the client names.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from gozero.games import coords
from gozero.search.settings import Restriction
from gtp.protocol import Command, GtpError, Stream
from gtp.session import Session, colour_of, number_of, vertices, whole_number_of

if TYPE_CHECKING:
    import numpy as np

    from gozero.games.game import Game
    from gozero.play.searcher import Analysis, MoveAnalysis, Observer

Dialect = Callable[["Analysis", Mapping[str, bool], "Game"], str]  # look, flags, kind -> one line

SHORTEST, USUAL = 0.01, 0.5
"""Seconds between two looks: the least, and the default."""
CGOS_MOVES = 10
"""Moves in a report to CGOS, which stores it."""


FLAGS = ("ownership", "movesOwnership", "rootInfo", "pvVisits")
IGNORED = ("ownershipStdev", "movesOwnershipStdev", "pvEdgeVisits", "noResultValue")
"""Of KataGo, with numbers that are not available here."""
OPTIONS = ("interval", "minmoves", "maxmoves", "avoid", "allow", *FLAGS, *IGNORED)


@dataclass
class Request:
    """What the client asked for. Restrictions hold for an analysis only; a genmove ignores them."""

    colour: int
    looks: dict[str, Any] = field(default_factory=lambda: {"interval": USUAL})  # fields of the `Observer`
    flags: dict[str, bool] = field(default_factory=dict)
    restrictions: list[Restriction] = field(default_factory=list)


def _analyse(session: Session, command: Command, stream: Stream, dialect: Dialect) -> None:
    """Search and report until a line arrives; after `--analysis-visits`, pause until a line arrives."""
    from gozero.play.searcher import Limits

    request = _request(session, command, strict=True)
    limits = Limits(session.settings.analysis_visits, should_stop=session.signals.is_wanted_elsewhere)
    observer = _observer(session, request, stream, dialect, sees_the_end=False)
    with session.thinking() as player:
        player.analyse(request.colour, limits, observer, request.restrictions)
    session.signals.wait()


def _genmove(session: Session, command: Command, stream: Stream, dialect: Dialect) -> None:
    """genmove, with looks during the search and one at its end; then ``play`` and the move."""
    request = _request(session, command, strict=False)
    observer = _observer(session, request, stream, dialect, sees_the_end=True)
    with session.move(request.colour) as limits:
        action = session.player.genmove(request.colour, limits, observer)
    stream.line(f"play {session.vertex(action)}")


def _observer(session: Session, request: Request, stream: Stream, dialect: Dialect, *, sees_the_end: bool) -> Observer:
    """An observer that writes each look as a line of the answer."""
    from gozero.play.searcher import Observer

    kind = session.game.definition
    return Observer(
        lambda analysis: stream.line(dialect(analysis, request.flags, kind)), sees_the_end=sees_the_end,
        ownership=request.flags.get("ownership", False), moves_ownership=request.flags.get("movesOwnership", False),
        **request.looks,
    )  # fmt: skip


def _request(session: Session, command: Command, *, strict: bool) -> Request:
    """Read ``[COLOUR] [INTERVAL]``, then ``interval CENTISECONDS``, ``minmoves N``, ``maxmoves N``, ``avoid|allow
    COLOUR V,V,... PLIES``, ``ownership BOOL`` and the other flags, in any order. GtpError for invalid values and, if
    ``strict``, for unknown options.
    """
    words = command.arguments
    request = Request(session.game.position.to_play)
    if words and words[0].isalpha() and words[0] not in OPTIONS:
        request.colour = colour_of(words.pop(0))
    if words and not words[0][0].isalpha():
        words.insert(0, "interval")
    while words:
        name = words.pop(0)
        if name in OPTIONS:
            count = 3 if name in ("avoid", "allow") else 1
            if len(words) < count:
                raise GtpError(f"syntax error: {name} without its value")
            _take(session, request, name, words[:count])
            words = words[count:]
        elif strict:
            raise GtpError(f"unknown option {name!r}; expected one of {', '.join(OPTIONS)}")
        elif words and words[0] not in OPTIONS:  # its value
            words.pop(0)
    return request


def _take(session: Session, request: Request, name: str, values: list[str]) -> None:
    """Take an option with its values into a request."""
    text = values[0]
    if name == "interval":
        request.looks["interval"] = max(SHORTEST, number_of(text) / 100)
    elif name in ("minmoves", "maxmoves"):
        request.looks["least_moves" if name == "minmoves" else "most_moves"] = max(0, whole_number_of(text))
    elif name in ("avoid", "allow"):
        parts = filter(None, values[1].split(","))
        actions = frozenset(action for part in parts for action in _actions(session, part))
        side, depth = colour_of(text), whole_number_of(values[2])
        request.restrictions.append(Restriction(side, actions, depth, alone=name == "allow"))
    elif text.lower() in ("true", "false"):
        request.flags[name] = text.lower() == "true"
    else:
        raise GtpError(f"syntax error: {name} {text!r}: expected true or false")


def _actions(session: Session, text: str) -> list[int]:
    """The action of a vertex, or those of (from) all points of a rectangle such as ``a1:c3``."""
    first, colon, last = text.partition(":")
    if not colon:
        return [session.action(text)]
    kind = session.game.definition
    corners = [coords.point(session.point(corner), *session.game.board) for corner in (first, last)]
    (top, bottom), (left, right) = map(sorted, zip(*corners, strict=True))
    points = [coords.action(row, col, kind.cols) for row in range(top, bottom + 1) for col in range(left, right + 1)]
    return [point + first for first in range(0, kind.pass_action, kind.points) for point in points]


def lz_lines(analysis: Analysis, flags: Mapping[str, bool], kind: Game) -> str:
    """Leela Zero's: whole numbers out of 10,000."""
    return " ".join(
        f"info move {kind.vertex(move.action)} visits {move.visits} winrate {_ten_thousandths(move.value)} "
        f"prior {round(10_000 * move.prior)} lcb {_ten_thousandths(move.bound)} order {order} "
        f"pv {vertices(move.line, kind)}"
        for order, move in enumerate(analysis.moves)
    )


def kata_lines(analysis: Analysis, flags: Mapping[str, bool], kind: Game) -> str:
    """KataGo's: fractions, points where the network knows them, and what the flags ask for."""
    parts = [_kata_move(order, move, flags, kind) for order, move in enumerate(analysis.moves)]
    if flags.get("rootInfo"):
        hits = "" if analysis.hits is None else f" cacheHits {analysis.hits}"
        parts.append(f"rootInfo visits {analysis.visits} {_worth(analysis)}{hits}")
    if analysis.ownership is not None:
        parts.append(f"ownership {_fractions(analysis.ownership)}")
    return " ".join(parts)


def _kata_move(order: int, move: MoveAnalysis, flags: Mapping[str, bool], kind: Game) -> str:
    text = (
        f"info move {kind.vertex(move.action)} visits {move.visits} {_worth(move)} prior {move.prior:.6f} "
        f"lcb {_winrate(move.bound):.6f} utilityLcb {move.bound:.6f} order {order} pv {vertices(move.line, kind)}"
    )
    if flags.get("pvVisits"):
        text += f" pvVisits {' '.join(map(str, move.line_visits))}"
    if move.ownership is not None:
        text += f" movesOwnership {_fractions(move.ownership)}"
    return text


def cgos_lines(analysis: Analysis, flags: Mapping[str, bool], kind: Game) -> str:
    """CGOS's: one JSON object, with the ten best moves."""
    moves = [
        {
            "move": kind.vertex(move.action),
            "winrate": round(_winrate(move.value), 4),
            **_score(move),
            "prior": round(move.prior, 4),
            "visits": move.visits,
            "pv": vertices(move.line, kind),
        }
        for move in analysis.moves[:CGOS_MOVES]
    ]
    root = {"winrate": round(_winrate(analysis.value), 4), **_score(analysis), "visits": analysis.visits}
    return json.dumps({**root, "moves": moves})


def _winrate(value: float) -> float:
    """An expected result -1..1 as a share 0..1."""
    return (1 + value) / 2


def _ten_thousandths(value: float) -> int:
    return round(10_000 * _winrate(value))


def _worth(found: Analysis | MoveAnalysis) -> str:
    """KataGo's value of a move or of the root; the lead under two names, if the network knows it."""
    points = "" if found.score is None else f" scoreMean {found.score:.3f} scoreLead {found.score:.3f}"
    return f"utility {found.value:.6f} winrate {_winrate(found.value):.6f}{points}"


def _score(found: Analysis | MoveAnalysis) -> dict[str, float]:
    return {} if found.score is None else {"score": round(found.score, 2)}


def _fractions(ownership: np.ndarray) -> str:
    return " ".join(f"{owner:.3f}" for owner in ownership)


STREAMS: dict[str, Callable[[Session, Command, Stream], None]] = {
    "lz-analyze": lambda session, command, stream: _analyse(session, command, stream, lz_lines),
    "kata-analyze": lambda session, command, stream: _analyse(session, command, stream, kata_lines),
    "lz-genmove_analyze": lambda session, command, stream: _genmove(session, command, stream, lz_lines),
    "kata-genmove_analyze": lambda session, command, stream: _genmove(session, command, stream, kata_lines),
    "cgos-genmove_analyze": lambda session, command, stream: _genmove(session, command, stream, cgos_lines),
}
