"""The checks of what a run learns from: its rows, its games and their files (see `training.doctor.check`)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from training.doctor.check import (
    BROKEN,
    LEAST_GAMES,
    NOTE,
    RECENT,
    STUCK,
    Check,
    Finding,
    beyond,
    pooled,
    recent,
    threshold,
)
from training.doctor.checkup import OPENING_MOVES
from training.doctor.history import Report, last, sizes
from training.settings.config import LoopSettings

LAWS = {  # number of the report -> what its excess means, and where the fault is
    "law/komi": (
        "score, owners and komi do not add up in {:.0%} of the rows: komi has the wrong sign or size",
        "features and scoring",
    ),
    "law/value": ("the result is not the sign of the score in {:.0%} of the rows", "scoring and replay"),
    "law/occupied": (
        "{:.1%} of the policy target lies on stones: policy and planes are turned differently",
        "symmetry and replay",
    ),
    "law/view": ("the ownership target is from one colour's view, not the mover's", "the signs in replay"),
    "turn/policy": ("policy and planes are turned differently (by {:.2f} of a target)", "symmetry.apply_policy"),
    "turn/reply": ("the reply and the planes are turned differently (by {:.2f} of a target)", "symmetry.apply_policy"),
    "turn/owner": ("ownership and planes are turned differently (by {:.2f} of a target)", "symmetry.apply_points"),
}


@dataclass(frozen=True)
class BrokenLaw(Check):
    """A law of the rows (`training.records.laws`) does not hold."""

    level = BROKEN
    remedy = "repairing what it names, then a new run: the targets of these rows are wrong"

    share: float = threshold(0.0, "the laws hold exactly")
    turn_rounding: float = threshold(1e-3, "targets are float16")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        for name, (because, place) in LAWS.items():
            value = history[-1].get(name, 0.0)
            if value > (self.turn_rounding if name.startswith("turn/") else self.share):
                return self.found(because.format(value), self.remedy.replace("what it names", place))
        return None


@dataclass(frozen=True)
class PassWar(Check):
    """Games end by two passes in the opening, or the network expects them to."""

    level, go_alone = BROKEN, True
    remedy = "a larger no_pass_until and no_pass_generations"

    share: float = threshold(0.05, "of the games over before the opening is; below 0.01 in sound runs")
    probability: float = threshold(0.5, "mean of a pass with less than an eighth of the board taken")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        k, n = pooled(history, "early")
        if beyond(k, n, self.share):
            return self.found(f"{k:.0f} of {n:.0f} games ended in the opening: pass wars")
        passes = recent(history, "probe/early_pass")
        if passes and min(passes) > self.probability:
            return self.found(f"the network passes on an open board (probability {passes[-1]:.2f})")
        return None


@dataclass(frozen=True)
class DamagedRecords(Check):
    """Records could not be read."""

    level = BROKEN
    remedy = "gozero records check RUN_FOLDER, then the disk; a change of the rules damages records too"

    share: float = threshold(0.01, "of the games: more than a crash leaves; fewer are only noted")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        corrupt, games = last(history, "run/corrupt") or 0.0, last(history, "run/games") or 0.0
        if not corrupt:
            return None
        level = BROKEN if beyond(corrupt, games + corrupt, self.share) else NOTE
        return self.found(f"damaged records were skipped, {corrupt:.0f} so far", level=level)


@dataclass(frozen=True)
class CheapRows(Check):
    """More moves are recorded than are searched fully.

    Games in flight outlive a change of `full_share`, so the largest that the run has had is allowed.
    """

    level = BROKEN
    remedy = "not recording cheap searches"

    slack: float = threshold(1.15, "recorded share of the moves against `full_share`")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        share = max(report.get("run/full_share", 1.0) for report in history)
        rows = moves = 0.0
        for size in sizes(history[-1]):
            count = history[-1][f"games{size}/count"] * history[-1].get(f"games{size}/length", 0.0)
            moves += count
            rows += count * history[-1].get(f"games{size}/recorded", 0.0)
        if beyond(rows, moves, min(1.0, self.slack * share)):
            return self.found(f"{rows / moves:.0%} of the moves are recorded, {share:.0%} are searched fully")
        return None


@dataclass(frozen=True)
class Repetition(Check):
    """Games are the same, or begin the same way."""

    level = STUCK
    remedy = "a larger opening_share and opening_mean, or more noise at the root"

    distinct: float = threshold(0.5, "share of different games below which self-play repeats itself")
    commonest: float = threshold(
        0.5,
        "of the games begin alike; sound runs: 0.35 in Connect-4, 0.1 at 9x9; "
        "Connect-4 at 0.55 got better with other openings",
    )
    least_size: int = threshold(5, "a smaller board has few games to choose from")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        k, n = pooled(history, "distinct", least_size=self.least_size)
        if n >= LEAST_GAMES and beyond(n - k, n, 1 - self.distinct):
            return self.found(f"only {k:.0f} of {n:.0f} games differ")
        for size in sizes(history[-1]):
            k, n = pooled(history, "commonest", RECENT, size, size)
            if size >= self.least_size and n >= LEAST_GAMES and beyond(k, n, self.commonest):
                return self.found(f"{k:.0f} of {n:.0f} games begin with the same {OPENING_MOVES} moves")
        return None


@dataclass(frozen=True)
class Drawn(Check):
    """Most games are drawn."""

    level, go_alone = STUCK, True
    remedy = "a komi that rules out draws, such as 7.5"

    share: float = threshold(0.5, "of the games")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        k, n = pooled(history, "draws")
        if n >= LEAST_GAMES and beyond(k, n, self.share):
            return self.found(f"{k:.0f} of {n:.0f} games are drawn")
        return None


@dataclass(frozen=True)
class Endless(Check):
    """Games are very long."""

    level, go_alone = NOTE, True
    remedy = "patience; settled games go on too long"

    capped: float = threshold(0.01, "of the games reach the limit of moves")
    length: float = threshold(1.3, "mean moves as a share of the area; 0.6 to 0.9 is usual")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        k, n = pooled(history, "capped", RECENT, least_size=7)
        if beyond(k, n, self.capped):
            remedy = "a look at them: gozero records list RUN_FOLDER --sort moves --reverse --limit 20"
            return self.found(f"{k:.0f} of {n:.0f} games reached the limit of moves", remedy)
        for size in sizes(history[-1]):
            length = history[-1].get(f"games{size}/length", 0.0) / size**2
            if size >= 9 and length > self.length and history[-1][f"games{size}/count"] >= LEAST_GAMES:
                return self.found(f"games on {size}x{size} last {length * size**2:.0f} moves")
        return None


@dataclass(frozen=True)
class OneSided(Check):
    """One colour wins nearly all games on boards of 7x7 and more.

    On smaller boards the first player wins whatever the usual komi is.
    """

    level, go_alone = NOTE, True
    remedy = "another komi if the network is strong, patience if it is not"

    share: float = threshold(0.9, "of the points")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        black, games = pooled(history, "black", RECENT, least_size=7)
        for points, who in ((black, "Black"), (games - black, "White")):
            if beyond(points, games, self.share):
                return self.found(f"{who} won {points:g} of {games:.0f} games")
        return None


@dataclass(frozen=True)
class Slowed(Check):
    """Self-play is much slower than before in this stage."""

    level = NOTE
    remedy = "finding what else uses the processor"

    speed: float = threshold(1 / 3, "of the median speed in this stage")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        stage = history[-1].get("run/stage")
        alike = [report for report in history[-20:] if report.get("run/stage") == stage]
        speeds = [report["speed/evaluations"] for report in alike if report.get("speed/evaluations")]
        if stage is None or len(speeds) <= RECENT or speeds[-1] > self.speed * np.median(speeds[:-1]):
            return None
        return self.found(f"{speeds[-1]:,.0f} evaluations/s, {np.median(speeds[:-1]):,.0f} before")


@dataclass(frozen=True)
class FalseResignations(Check):
    """Games would have been resigned by a side that did not lose them."""

    level = NOTE
    remedy = "a higher resign_threshold"

    share: float = threshold(0.05, "of the games that were played on although one side would have resigned")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        checked, share = (last(history, f"resign/{name}") or 0.0 for name in ("checked", "false_positives"))
        if checked < LEAST_GAMES or not beyond(share * checked, checked, self.share):
            return None
        return self.found(f"{share * checked:.0f} of {checked:.0f} games would have been resigned wrongly")
