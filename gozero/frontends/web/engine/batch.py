"""The analysis of a whole game: the positions of a line are searched many at once, their leaves evaluated together.

It works wave by wave and goes on where it was after a request. How fast this machine is, is measured before the first
one, so that a page can say how long it will take.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gozero.frontends.web.engine import counting
from gozero.frontends.web.engine.game_tree import START, Estimate
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.views import known
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.games.colours import BLACK
from gozero.games.position import Position
from gozero.play import engine
from gozero.play.searcher import Analysis, Observer, Searcher, analysis_of
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.system.errors import InputError

MOST_VISITS = 10_000
LEAVES = 32  # evaluated together: more are hardly faster, and a request waits for them
REPORT_EVERY = 0.2  # seconds, of every search
ENOUGH = 1000  # visits from which the speed of an analysis counts
PROBE_VISITS = 8  # of each position by which the speed is measured

Report = Callable[[dict[str, Any]], None]


class Host(NamedTuple):
    """What the searches of a game have of their process."""

    settings: EngineProcessSettings
    speeds: dict[Any, float]  # visits a second of an analysis, by game, weights and board
    should_stop: Callable[[], bool]  # whether an analysis pauses now, because a request waits
    # whether the search for the engine's move ends now; may answer requests that leave the live game alone
    is_cut: Callable[[], bool]
    report: Report  # takes what is sent to the page


class BatchAnalysis:
    """The analysis of all positions of a line of this game."""

    def __init__(self, session: GameSession, searcher: Searcher, host: Host) -> None:
        self._session, self._searcher, self._host = session, searcher, host
        self._key = (session.setup.game, session.setup.engine, session.game.size)
        self.stop()

    @property
    def is_running(self) -> bool:
        return bool(self._waiting or self._running)

    @property
    def speed(self) -> float | None:
        """Visits a second; None if it was not measured yet."""
        return self._host.speeds.get(self._key)

    @property
    def has_work(self) -> bool:
        """Whether it is running; or whether the speed is wanted, and the evaluator open or a record in review: opening
        it delays a player's move.
        """
        session = self._session
        is_open = session.live is not None or self._searcher.has_opened(session.game.size)
        is_wanted = len(session.line) > 1 and (is_open or session.tree.origin is not None)
        return self.is_running or (self.speed is None and is_wanted)

    def stop(self) -> None:
        """End it now; what is finished stays."""
        self._waiting: list[int] = []
        self._running: dict[int, tuple[int, Position]] = {}  # by tree: the node that it searches, and its position
        self._search: Search | None = None
        self._reported = 0.0  # when, by time.monotonic
        self._searched, self._spent = 0, 0.0  # visits that no cache knew, and the seconds for them

    def begin(self, visits: Any) -> None:
        """Analyse the positions of the shown line that are known less well. InputError for visits out of range."""
        if not isinstance(visits, int) or not 1 <= visits <= MOST_VISITS:
            raise InputError(f"visits = {str(visits)[:20]!r}: expected 1 to {MOST_VISITS:,}.")
        self.stop()
        self._visits = visits
        self._waiting = [node for node in self._session.line if self._missing(node) > 0]
        self._wanted = self._left()

    def work(self) -> bool:
        """Search until a request waits; whether the analysis is over."""
        if not self.is_running:
            self._measure()
            return False
        self._search = search = self._search or self._new_search(self._visits)
        while self.is_running:
            self._start(search)
            if self._running:
                self._wave(search)
            if self._searched >= ENOUGH:
                self._host.speeds[self._key] = self._searched / self._spent
            if not self.is_running or time.monotonic() >= self._reported + REPORT_EVERY:
                self._report_progress()
            if self._host.should_stop():
                break
        return not self.is_running

    def _new_search(self, visits: int) -> Search:
        settings = engine.search_settings(visits, self._session.game.name)
        settings = replace(settings, max_nodes=visits + settings.leaves)
        return self._searcher.many(self._session.game.definition, settings, LEAVES)

    def _start(self, search: Search) -> None:
        """Give positions that wait to free trees. Those at the end of a game are counted."""
        self._waiting = [node for node in self._waiting if node in self._session.tree]  # others were deleted
        free = [tree for tree in range(len(search.forest.trees)) if tree not in self._running]
        while free and self._waiting:
            node, position = self._waiting[0], self._session.position_at(self._waiting[0])
            if not position.is_over:
                search.begin(free[0], SearchRequest(position.state, position.history_row(0), self._visits))
                self._running[free.pop(0)] = node, position
            elif (found := counting.estimate(self._session, node, self._visits, self._host.should_stop)) is None:
                return
            else:
                self._session.tree.learn(node, found)
            self._waiting.pop(0)

    def _wave(self, search: Search) -> None:
        """A wave of all searches under way, and what those that end in it have found."""
        for tree in self._timed_wave(search, list(self._running)):
            node, position = self._running.pop(tree)
            analysis = analysis_of(search, position, Observer(most_moves=1), tree=tree)
            self._session.tree.learn(node, estimate_of(analysis))

    def _timed_wave(self, search: Search, trees: list[int]) -> list[int]:
        """A wave of these trees; which of them finished."""
        began, before = time.monotonic(), _fresh_visits(search, trees)
        ended = search.wave()
        self._spent += time.monotonic() - began
        self._searched += _fresh_visits(search, trees) - before
        return ended

    def _missing(self, node: int) -> int:
        """Visits that a position needs still, 0 or less if it is known well enough."""
        known = self._session.tree[node].estimate
        return self._visits - (0 if known is None else known.visits)

    def _report_progress(self) -> None:
        left = self._left()
        self._host.report({
            "is": "progress",
            "share": round(1 - left / max(1, self._wanted), 3),
            "seconds": None if self.speed is None else round(left / self.speed, 1),
            **known(self._session),
        })  # fmt: skip
        self._reported = time.monotonic()

    def _left(self) -> int:
        """Visits that are still to be made."""
        running = 0 if self._search is None else sum(map(self._search.root_visits, self._running))
        return sum(map(self._missing, self._waiting)) + self._visits * len(self._running) - running

    def _measure(self) -> None:
        """Measure the speed by a short search of the positions after the first moves, another time if a request waits."""
        first, search = self._session.position_at(START), self._new_search(PROBE_VISITS)
        actions = np.flatnonzero(first.legal())[: len(search.forest.trees)]
        positions = [position for position in first.children(actions) if not position.is_over]
        for tree, position in enumerate(positions):
            search.begin(tree, SearchRequest(position.state, position.history_row(0), PROBE_VISITS))
        while not search.is_finished:
            self._timed_wave(search, list(range(len(positions))))
            if self._host.should_stop():
                return
        self._host.speeds[self._key] = max(1, self._searched) / max(1e-3, self._spent)
        self._host.report({"is": "speed", "speed": self.speed})


def _fresh_visits(search: Search, trees: list[int]) -> int:
    """Visits in these trees, less the evaluations that were in a cache."""
    hits = getattr(search.evaluator, "hits", None) or 0
    return sum(search.root_visits(tree) for tree in trees) - hits


def estimate_of(analysis: Analysis) -> Estimate:
    """What an analysis found, for Black."""
    sign = 1 if analysis.colour == BLACK else -1
    score = None if analysis.score is None or not math.isfinite(analysis.score) else sign * analysis.score
    line = analysis.moves[0].line if analysis.moves else ()
    return Estimate(analysis.visits, (1 + sign * analysis.value) / 2, score, line)
