"""The positions that a query asks for, and the search of each.

The moves of a game are taken as `play` over GTP takes them: for either side at any time, and a move that only superko
forbids too. The engine considers the moves that the full rules allow.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator
from gozero.evaluators.cache import Owners
from gozero.frontends.analysis.queries import Query, QueryError
from gozero.games import coords
from gozero.games.go import go
from gozero.games.position import IllegalMove, Position
from gozero.play.engine import search_settings
from gozero.play.searcher import Analysis, Observer, analysis_of
from gozero.search.root import SearchRequest, left_out
from gozero.search.search import Search
from gozero.search.tree import node_bytes
from gozero.system.errors import SetUpError


class AnalysisTask:
    """A turn of a query to be searched, and from `begin` on its `search`. Its root is a position that is not over;
    after the first wave `raw` is the evaluation of that position, n = 1.
    """

    def __init__(self, query: Query, turn: int, root: Position) -> None:
        self.query, self.turn, self.root = query, turn, root
        # int32 [2, A], in how many plies each move is left out, for the side to move and the other
        self._left_out = left_out(query.restrictions, root.to_play, root.game.actions)
        if not (root.legal() & (self._left_out[0] == 0)).any():
            field = "allowMoves" if query.restrictions[0].alone else "avoidMoves"
            raise QueryError(field, f"no legal move is left at turn {turn}")

    def begin(self, evaluator: Evaluator, now: float, memory: int) -> None:
        """Start the search, in a tree of that many bytes at most."""
        query, root = self.query, self.root
        settings = search_settings(query.visits, root.game.name)
        room = max(1, min(query.visits + settings.leaves, memory // node_bytes(root.game)))
        self.evaluator = evaluator
        self.raw: Evaluation | None = None
        self.deadline = now + query.seconds
        self.next_report = now + query.first_report
        self._owners = Owners(evaluator)
        self.search = Search(root.game, evaluator, replace(settings, max_nodes=room))
        request = SearchRequest(
            root.state, root.history_row(0), query.visits,
            noise=query.temperature is not None, temperature=query.temperature, left_out=self._left_out,
            wide_root_noise=query.wide_root_noise,
        )  # fmt: skip
        self.search.begin(0, request)

    def collect(self) -> np.ndarray:
        """int32 [n, S], the leaves of its next wave, in the first one the position itself; see `Search.collect`."""
        self._leaves = self.search.collect()
        return self._leaves

    def absorb(self, found: Evaluation | None) -> None:
        """Take the evaluation of those leaves; None if there were none."""
        if found is not None:
            self._owners.add(self._leaves, found)
            if self.raw is None:
                self.raw = found.of([0])  # a copy: the evaluator may reuse its arrays
        self.search.absorb(found)

    def head(self, *, is_during_search: bool) -> dict[str, Any]:
        """The fields that every answer has."""
        return {"id": self.query.id, "turnNumber": self.turn, "isDuringSearch": is_during_search}

    def analysis(self) -> Analysis:
        """The result so far; at least one wave must be over."""
        query = self.query
        observer = Observer(ownership=query.ownership, moves_ownership=query.moves_ownership)
        return analysis_of(self.search, self.root, observer, owners=self._owners)


def tasks(query: Query) -> list[AnalysisTask]:
    """The turns of a query, in the order of the game. QueryError for impossible stones or moves, and if no move is
    left.
    """
    position = Position(games.make("go", size=query.size, rules=query.rules, komi=query.komi, handicap=query.handicap))
    try:
        position.set_up(dict(query.stones), query.to_play)
    except SetUpError as error:
        raise QueryError("initialStones", str(error)) from None
    found = []
    for turn in range(len(query.moves) + 1):
        if turn > 0:
            colour, action = query.moves[turn - 1]
            try:
                position.play(action, colour, superko=False)
            except IllegalMove:
                vertex = coords.vertex(action, query.size)
                raise QueryError("moves", f"Illegal move {turn - 1}: {vertex}") from None
        if turn in query.priorities:
            root = position.copy()
            if root.is_over:
                root.state[go.PASSES] = 0  # a query for a move means that the passes have not ended the game
            found.append(AnalysisTask(query, turn, root))
    return found


def evaluated(evaluator: Evaluator, leaves: list[np.ndarray]) -> list[Evaluation | None]:
    """The evaluations of each search's leaves, int32 [n, S], in one batch; None if there are none."""
    states = np.concatenate(leaves)
    if not len(states):
        return [None] * len(leaves)
    evaluation = evaluator.evaluate(states)
    ends = np.cumsum([len(part) for part in leaves]).tolist()
    return [
        evaluation.of(slice(end - len(part), end)) if len(part) else None
        for part, end in zip(leaves, ends, strict=True)
    ]
