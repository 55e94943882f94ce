"""Analysis: lz-analyze, kata-analyze, cgos-genmove_analyze and similar commands, for clients that show the search.

Vocabulary. A *dialect* is how a look at the search is written: Leela Zero's whole numbers out of 10,000, KataGo's
fractions, CGOS's JSON. An *analysis* goes on until any line arrives, an empty one too; a *genmove* of these ends when
it has its move, whatever arrives. All numbers are for the side that the client names. Options come as names and values;
see `_Request`.

The search itself is run by `gozero.play.player`, what a look holds `gozero.play.report`'s.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from gozero.games import GO_FAMILY, coords
from gozero.search.restrictions import Restriction
from gozero.system.errors import ChoiceError
from gtp.arguments import colour_of, number_of, point_of, vertex_of, whole_number_of
from gtp.commands.rules import rules_of
from gtp.protocol import Command, GtpError, Stream, StreamHandler
from gtp.session import Session

if TYPE_CHECKING:
    import numpy as np

    from gozero.games.go.rules import RuleSet
    from gozero.games.position import Position
    from gozero.play.report import Analysis, MoveAnalysis, Observer

Dialect = Callable[["Analysis", Mapping[str, bool], tuple[int, int]], str]  # look, flags, (columns, rows) -> one line

SHORTEST, USUAL = 0.01, 0.5
"""Seconds between two looks: the least, and the default."""

FLAGS = ("ownership", "movesOwnership", "rootInfo", "pvVisits")
CGOS_MOVES = 10
"""Moves in a report to CGOS, which stores it."""

UNANSWERED_FLAGS = ("ownershipStdev", "movesOwnershipStdev", "pvEdgeVisits", "noResultValue")
"""KataGo's options whose numbers are not available here: accepted and ignored."""


@dataclass
class _Request:
    """What the client asked for.

    ``[COLOUR] [INTERVAL]``, then ``interval CENTISECONDS``, ``minmoves N``, ``maxmoves N``, ``avoid|allow COLOUR V,V,... PLIES``,
    ``rules NAME|JSON``, ``ownership BOOL`` and the other flags, in any order. Restrictions and rules hold for an
    analysis only; a genmove ignores them.
    """

    colour: int
    interval: float = USUAL
    least_moves: int = 0
    most_moves: int = 10**6
    flags: dict[str, bool] = field(default_factory=dict)
    restrictions: list[Restriction] = field(default_factory=list)
    rules: RuleSet | None = None


class AnalysisCommands:
    """The five commands."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def streams(self) -> Mapping[str, StreamHandler]:
        return {
            "lz-analyze": lambda command, stream: self._analyse(command, stream, lz_lines),
            "kata-analyze": lambda command, stream: self._analyse(command, stream, kata_lines),
            "lz-genmove_analyze": lambda command, stream: self._genmove(command, stream, lz_lines),
            "kata-genmove_analyze": lambda command, stream: self._genmove(command, stream, kata_lines),
            "cgos-genmove_analyze": lambda command, stream: self._genmove(command, stream, cgos_lines),
        }

    def _analyse(self, command: Command, stream: Stream, dialect: Dialect) -> None:
        """Search and report until a line arrives; after `--analysis-visits`, pause until a line arrives."""
        from gozero.play.searcher import Limits

        session = self._session
        request = self._request(command, strict=True)
        limits = Limits(session.settings.analysis_visits, should_stop=session.signals.is_wanted_elsewhere)
        observer = self._observer(request, stream, dialect, sees_the_end=False)
        arguments = limits, observer, request.restrictions
        with session.thinking() as player:
            if request.rules is None:
                player.analyse(request.colour, *arguments)
            else:
                player.analyse_aside(self._root_under(request.rules, request.colour), *arguments)
        session.signals.wait()

    def _genmove(self, command: Command, stream: Stream, dialect: Dialect) -> None:
        """genmove, with looks during the search and one at its end; then ``play`` and the move."""
        session = self._session
        request = self._request(command, strict=False)
        observer = self._observer(request, stream, dialect, sees_the_end=True)
        with session.move(request.colour) as limits:
            action = session.player.genmove(request.colour, limits, observer)
        stream.line(f"play {coords.vertex(action, *session.game.board)}")

    def _root_under(self, rules: RuleSet, colour: int) -> Position:
        """`GoGame.root_under`, with its refusals as GTP errors."""
        if self._session.game.name not in GO_FAMILY:
            raise GtpError(f"rules: {self._session.game.name} is not Go")
        from gozero.games.position import IllegalMove

        try:
            return self._session.go_game.root_under(rules, colour)
        except (ChoiceError, IllegalMove) as error:
            raise GtpError(f"rules: {error}") from None

    def _observer(self, request: _Request, stream: Stream, dialect: Dialect, *, sees_the_end: bool) -> Observer:
        """An observer that writes each look as a line of the answer."""
        from gozero.play.report import Observer

        board = self._session.game.board
        return Observer(
            lambda look: stream.line(dialect(look, request.flags, board)),
            request.interval,
            sees_the_end,
            request.least_moves,
            request.most_moves,
            ownership=request.flags.get("ownership", False),
            moves_ownership=request.flags.get("movesOwnership", False),
        )

    def _request(self, command: Command, *, strict: bool) -> _Request:
        """Read the arguments. GtpError for invalid values and, where ``strict``, for unknown options."""
        words = command.arguments
        request = _Request(self._session.game.position.to_play)
        if words and words[0].isalpha() and words[0] not in _OPTIONS:
            request.colour = colour_of(words.pop(0))
        if words and not words[0][0].isalpha():
            request.interval = _interval(words.pop(0))
        while words:
            name = words.pop(0)
            if name not in _OPTIONS:
                if strict:
                    raise GtpError(f"unknown option {name!r}; expected one of {', '.join(_OPTIONS)}")
                if words and words[0] not in _OPTIONS:  # its value
                    words = words[1:]
                continue
            count, apply = _OPTIONS[name]
            if len(words) < count:
                raise GtpError(f"syntax error: {name} without its value")
            values, words = words[:count], words[count:]
            apply(request, name, values, self._session.game.board)
        return request


def _take_interval(request: _Request, name: str, values: list[str], board: tuple[int, int]) -> None:
    request.interval = _interval(values[0])


def _take_count(request: _Request, name: str, values: list[str], board: tuple[int, int]) -> None:
    count = max(0, whole_number_of(values[0]))
    if name == "minmoves":
        request.least_moves = count
    else:
        request.most_moves = count


def _take_flag(request: _Request, name: str, values: list[str], board: tuple[int, int]) -> None:
    if values[0].lower() not in ("true", "false"):
        raise GtpError(f"syntax error: {name} {values[0]!r}: expected true or false")
    request.flags[name] = values[0].lower() == "true"


def _take_restriction(request: _Request, name: str, values: list[str], board: tuple[int, int]) -> None:
    colour, plies = colour_of(values[0]), whole_number_of(values[2])
    actions = frozenset(action for part in values[1].split(",") if part for action in _vertices(part, board))
    request.restrictions.append(Restriction(colour, actions, plies, alone=name == "allow"))


def _take_rules(request: _Request, name: str, values: list[str], board: tuple[int, int]) -> None:
    request.rules = rules_of(values[0])


_OPTIONS: dict[str, tuple[int, Callable[[_Request, str, list[str], tuple[int, int]], None]]] = {
    "interval": (1, _take_interval),
    "minmoves": (1, _take_count),
    "maxmoves": (1, _take_count),
    "avoid": (3, _take_restriction),
    "allow": (3, _take_restriction),
    "rules": (1, _take_rules),
    **dict.fromkeys(FLAGS, (1, _take_flag)),
    **dict.fromkeys(UNANSWERED_FLAGS, (1, _take_flag)),
}
"""For each option, how many values follow its name, and the function that applies them."""


def _interval(text: str) -> float:
    """Seconds from centiseconds."""
    return max(SHORTEST, number_of(text) / 100)


def _vertices(text: str, board: tuple[int, int]) -> list[int]:
    """The action of a vertex, or those of all points of a rectangle such as ``a1:c3``."""
    first, colon, last = text.partition(":")
    if not colon:
        return [vertex_of(text, *board)]
    (row, col), (other_row, other_col) = (coords.point(point_of(corner, *board), *board) for corner in (first, last))
    rows, cols = sorted((row, other_row)), sorted((col, other_col))
    return [coords.action(r, c, board[0]) for r in range(rows[0], rows[1] + 1) for c in range(cols[0], cols[1] + 1)]


def lz_lines(look: Analysis, flags: Mapping[str, bool], board: tuple[int, int]) -> str:
    """Leela Zero's: whole numbers out of 10,000."""
    return " ".join(
        f"info move {coords.vertex(move.action, *board)} visits {move.visits} winrate {_ten_thousandths(move.value)} "
        f"prior {round(10_000 * move.prior)} lcb {_ten_thousandths(move.bound)} order {order} pv {_line(move, board)}"
        for order, move in enumerate(look.moves)
    )


def kata_lines(look: Analysis, flags: Mapping[str, bool], board: tuple[int, int]) -> str:
    """KataGo's: fractions, points where the network knows them, and what the flags ask for."""
    parts = [_kata_move(order, move, flags, board) for order, move in enumerate(look.moves)]
    if flags.get("rootInfo"):
        parts.append(
            f"rootInfo visits {look.visits} utility {look.value:.6f} winrate "
            f"{_winrate(look.value):.6f}{_points(look.score)}{_hits(look)}"
        )
    if look.ownership is not None:
        parts.append(f"ownership {_fractions(look.ownership)}")
    return " ".join(parts)


def _kata_move(order: int, move: MoveAnalysis, flags: Mapping[str, bool], board: tuple[int, int]) -> str:
    text = (
        f"info move {coords.vertex(move.action, *board)} visits {move.visits} utility {move.value:.6f} winrate "
        f"{_winrate(move.value):.6f}"
        f"{_points(move.score)} prior {move.prior:.6f} lcb {_winrate(move.bound):.6f} utilityLcb {move.bound:.6f} "
        f"order {order} "
        f"pv {_line(move, board)}"
    )
    if flags.get("pvVisits"):
        text += f" pvVisits {' '.join(map(str, move.line_visits))}"
    if move.ownership is not None:
        text += f" movesOwnership {_fractions(move.ownership)}"
    return text


def cgos_lines(look: Analysis, flags: Mapping[str, bool], board: tuple[int, int]) -> str:
    """CGOS's: one JSON object, with the ten best moves."""
    moves = [
        {
            "move": coords.vertex(move.action, *board),
            "winrate": round(_winrate(move.value), 4),
            **({} if move.score is None else {"score": round(move.score, 2)}),
            "prior": round(move.prior, 4),
            "visits": move.visits,
            "pv": _line(move, board),
        }
        for move in look.moves[:CGOS_MOVES]
    ]
    score = {} if look.score is None else {"score": round(look.score, 2)}
    return json.dumps({"winrate": round(_winrate(look.value), 4), **score, "visits": look.visits, "moves": moves})


def _winrate(value: float) -> float:
    """An expected result -1..1 as a share 0..1."""
    return (1 + value) / 2


def _ten_thousandths(value: float) -> int:
    return round(10_000 * _winrate(value))


def _points(score: float | None) -> str:
    """KataGo's two names for the lead; nothing where the network knows none."""
    return "" if score is None else f" scoreMean {score:.3f} scoreLead {score:.3f}"


def _hits(look: Analysis) -> str:
    return "" if look.hits is None else f" cacheHits {look.hits}"


def _fractions(ownership: np.ndarray) -> str:
    return " ".join(f"{owner:.3f}" for owner in ownership)


def _line(move: MoveAnalysis, board: tuple[int, int]) -> str:
    return " ".join(coords.vertex(action, *board) for action in move.line)
