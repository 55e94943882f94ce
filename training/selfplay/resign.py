"""Decides when a game of self-play counts as conceded, and measures how often that is wrong.

The level of a side is the lowest root value in its last `STREAK` moves, its peak the highest level in a game. A game in
which a level reaches the threshold is conceded: the other side would have resigned. It is still played to its end, so
that its result is certain, but cheaply. One game in ten is unresigned, played fully whatever the levels are; only these
measure the threshold. A false one is an unresigned game whose loser, or one of the sides of a drawn game, had reached
the threshold. It is the setting's, or higher if that is needed to keep the share of false ones below `FALSE_SHARE`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from training.records.records import Record
from training.settings.config import SelfPlaySettings

STREAK = 5  # own moves in a row
FALSE_SHARE = 0.05  # AlphaGo Zero's bound on false resignations
MEMORY = 200  # unresigned games that count: a few generations
ENOUGH = 20  # of them, before anything is conceded
NEVER = float("inf")


def level(values: Sequence[float]) -> float:
    """The level of the side that searched last, from the root value of each ply for the side that moved there; -1
    before it has searched `STREAK` times.
    """
    own = values[-1 : -2 * STREAK : -2]
    return min(own) if len(own) == STREAK else -1.0


@dataclass
class Calibration:
    """The threshold of a pool's games, from its newest unresigned games."""

    settings: SelfPlaySettings
    # (winner's, loser's), oldest first
    peaks: deque[tuple[float, float]] = field(default_factory=lambda: deque(maxlen=MEMORY))

    def add(self, record: Record) -> None:
        """Count a finished game if it is unresigned. In a drawn game both sides count as losers."""
        if record.unresigned:
            black, white = record.peaks
            decided = (black, white) if record.score > 0 else (white, black)
            self.peaks.append(decided if record.score else (-1.0, max(black, white)))

    @classmethod
    def of(cls, settings: SelfPlaySettings, pairs: Iterable[Sequence[float]]) -> Calibration:
        """That of a pool's state: the (winner's, loser's) peaks that it kept, oldest first."""
        return cls(settings, deque(((winner, loser) for winner, loser in pairs), MEMORY))

    def threshold(self, generation: int) -> float:
        """The level at which a game is conceded in this generation; NEVER before enough is known."""
        lowest = self.settings.resign_threshold
        if lowest == 0 or generation <= self.settings.resign_generations or len(self.peaks) < ENOUGH:
            return NEVER
        mistakes = sorted({loser for _, loser in self.peaks if lowest <= loser < 1})
        for candidate in (lowest, *(mistake + 1e-9 for mistake in mistakes)):
            false, conceded = self.checked(candidate)
            if false < FALSE_SHARE * max(conceded, 1):
                return candidate
        return NEVER

    def checked(self, threshold: float) -> tuple[int, int]:
        """(false ones, all) of the unresigned games that would have been conceded at a threshold."""
        false = sum(loser >= threshold for _, loser in self.peaks)
        return false, sum(max(pair) >= threshold for pair in self.peaks)


def report(calibrations: Iterable[Calibration], generation: int, records: Sequence[Record]) -> dict[str, float]:
    """The numbers for the report of a generation with these records, from the calibrations of the pools; empty as long
    as no unresigned game is finished, and where `resign_threshold` is 0.

    Returns:
        resign/conceded: share of the games, 0..1.
        resign/threshold: the highest in use; 1 where nothing is conceded yet.
        resign/checked: unresigned games that would have been conceded at the thresholds in use, or at the setting's.
        resign/false_positives: share of those, 0..1, in which that would have been wrong.
    """
    known = [found for found in calibrations if found.peaks and found.settings.resign_threshold]
    if not known or not records:
        return {}
    thresholds = [found.threshold(generation) for found in known]
    checked = [
        found.checked(found.settings.resign_threshold if threshold == NEVER else threshold)
        for found, threshold in zip(known, thresholds, strict=True)
    ]
    false, conceded = (sum(counts) for counts in zip(*checked, strict=True))
    return {
        "resign/conceded": sum(record.conceded is not None for record in records) / len(records),
        "resign/threshold": min(max(thresholds), 1.0),
        "resign/checked": conceded,
        "resign/false_positives": false / max(conceded, 1),
    }
