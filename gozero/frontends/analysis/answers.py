"""The results of a search as the JSON objects of KataGo's protocol.

All numbers are for the side that the query names, those of a look for the side to move: win rates as shares 0..1, leads
in points, ownership + for that side. What the network does not know is left out. Priors and the policy have no side.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from gozero.evaluators.base import Evaluation
from gozero.frontends.analysis.analyst import QueryTask
from gozero.games import coords
from gozero.games.game import BLACK, WHITE
from gozero.games.position import Position
from gozero.games.symmetry import SYMMETRIES, apply_points
from gozero.play.report import Analysis, MoveAnalysis

DIGITS = 6


def answer(task: QueryTask, look: Analysis, raw: Evaluation, *, is_during_search: bool) -> dict[str, Any]:
    """The answer for a task that has been searched."""
    wishes, sign = task.query.wishes, _sign(task)
    values = {
        **_head(task, is_during_search=is_during_search),
        "moveInfos": [_move(move, order, task, sign) for order, move in enumerate(look.moves)],
        "rootInfo": _root(task, look, raw, sign),
    }
    if look.ownership is not None:
        values["ownership"] = _rounded(sign * look.ownership)
    if wishes.policy:
        values["policy"] = _policy(task.root, raw.logits[0])
    return values


def no_results(task: QueryTask) -> dict[str, Any]:
    """The answer for a task that was ended before it was searched."""
    return {**_head(task, is_during_search=False), "noResults": True}


def _head(task: QueryTask, *, is_during_search: bool) -> dict[str, Any]:
    return {"id": task.query.id, "turnNumber": task.turn, "isDuringSearch": is_during_search}


def _sign(task: QueryTask) -> int:
    """1 where numbers are reported for the side to move, else -1."""
    side = {"black": BLACK, "white": WHITE}.get(task.query.wishes.perspective, task.root.to_play)
    return 1 if side == task.root.to_play else -1


def _move(move: MoveAnalysis, order: int, task: QueryTask, sign: int) -> dict[str, Any]:
    wishes, size = task.query.wishes, task.query.size
    length = wishes.line_length + 1  # the protocol counts the moves after the first
    values = {
        "move": coords.vertex(move.action, size),
        "visits": move.visits,
        **_worth(sign * move.value, move.score, sign),
        "prior": round(move.prior, DIGITS),
        "lcb": round(_winrate(sign * move.bound), DIGITS),
        "utilityLcb": round(sign * move.bound, DIGITS),
        "order": order,
        "pv": [coords.vertex(action, size) for action in move.line[:length]],
    }
    if wishes.line_visits:
        values["pvVisits"] = list(move.line_visits[:length])
    if move.ownership is not None:
        values["ownership"] = _rounded(sign * move.ownership)
    return values


def _root(task: QueryTask, look: Analysis, raw: Evaluation, sign: int) -> dict[str, Any]:
    lead = {} if raw.score is None else {"rawLead": round(sign * float(raw.score[0]), DIGITS)}
    return {
        "currentPlayer": "B" if task.root.to_play == BLACK else "W",
        "visits": look.visits,
        **_worth(sign * look.value, look.score, sign),
        "rawWinrate": round(_winrate(sign * float(raw.value[0])), DIGITS),
        **lead,
        **({} if look.hits is None else {"cacheHits": look.hits}),
        **hashes(task.root),
    }


def _worth(value: float, score: float | None, sign: int) -> dict[str, float]:
    """An expected result -1..1 of the reported side, and the lead under KataGo's two names."""
    values = {"winrate": round(_winrate(value), DIGITS), "utility": round(value, DIGITS)}
    if score is None:
        return values
    lead = round(sign * score, DIGITS)
    return {**values, "scoreLead": lead, "scoreMean": lead}


def _winrate(value: float) -> float:
    return (1 + value) / 2


def _policy(root: Position, logits: np.ndarray) -> list[float]:
    """[P + 1]: the network's probabilities of the points and the pass, which sum to 1; -1 for what is illegal."""
    legal = root.legal()[: root.game.points + 1]
    powers = np.exp(logits[: len(legal)] - logits[: len(legal)][legal].max(), dtype=np.float64)
    return _rounded(np.where(legal, powers / powers[legal].sum(), -1.0), digits=9)


def _rounded(values: np.ndarray, digits: int = DIGITS) -> list[float]:
    rounded: list[float] = np.round(values.astype(np.float64), digits).tolist()
    return rounded


def hashes(root: Position) -> dict[str, str]:
    """`thisHash`, of stones, side to move and simple ko, and `symHash`, the same for all symmetries of a board."""
    size = root.game.size
    ko, _ = (None, 0) if root.game.marks is None else root.game.marks(root.state)
    points = root.game.board(root.state).reshape(-1).copy()
    if ko is not None:
        points[ko] = BLACK + WHITE
    head = bytes([size, root.to_play])
    boards = [head + apply_points(points, size, symmetry).tobytes() for symmetry in range(SYMMETRIES)]
    names = [hashlib.blake2b(board, digest_size=16).hexdigest().upper() for board in boards]
    return {"thisHash": names[0], "symHash": min(names)}
