"""The results of a search as the JSON objects of KataGo's protocol.

All numbers are for the side that the query names, those of a look for the side to move: win rates as shares 0..1, leads
in points, ownership + for that side. What the network does not know is left out. Priors and the policy have no side.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from gozero.evaluators.base import Evaluation
from gozero.frontends.analysis.tasks import AnalysisTask
from gozero.games import coords
from gozero.games.colours import COLOUR_LETTERS
from gozero.games.game import BLACK, WHITE
from gozero.games.position import Position
from gozero.play.searcher import Analysis, MoveAnalysis

DIGITS = 6


def answer(task: AnalysisTask, *, is_during_search: bool) -> dict[str, Any]:
    """The answer for a task of which at least one wave is over."""
    sign, analysis, raw = _sign(task), task.analysis(), task.raw
    assert raw is not None
    values = {
        **task.head(is_during_search=is_during_search),
        "moveInfos": [_move(move, order, task, sign) for order, move in enumerate(analysis.moves)],
        "rootInfo": _root(task, analysis, raw, sign),
    }
    if analysis.ownership is not None:
        values["ownership"] = _rounded(sign * analysis.ownership)
    if task.query.policy:
        values["policy"] = _policy(task.root, raw.logits[0])
    return values


def _sign(task: AnalysisTask) -> int:
    """1 if numbers are reported for the side to move, else -1."""
    side = {"black": BLACK, "white": WHITE}.get(task.query.perspective, task.root.to_play)
    return 1 if side == task.root.to_play else -1


def _move(move: MoveAnalysis, order: int, task: AnalysisTask, sign: int) -> dict[str, Any]:
    query, size = task.query, task.query.size
    length = query.line_length + 1  # the protocol counts the moves after the first
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
    if query.line_visits:
        values["pvVisits"] = list(move.line_visits[:length])
    if move.ownership is not None:
        values["ownership"] = _rounded(sign * move.ownership)
    return values


def _root(task: AnalysisTask, analysis: Analysis, raw: Evaluation, sign: int) -> dict[str, Any]:
    lead = {} if raw.score is None else {"rawLead": round(sign * float(raw.score[0]), DIGITS)}
    return {
        "currentPlayer": COLOUR_LETTERS[task.root.to_play],
        "visits": analysis.visits,
        **_worth(sign * analysis.value, analysis.score, sign),
        "rawWinrate": round(_winrate(sign * float(raw.value[0])), DIGITS),
        **lead,
        **({} if analysis.hits is None else {"cacheHits": analysis.hits}),
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
    return np.round(values.astype(np.float64), digits).tolist()
