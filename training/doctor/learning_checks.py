"""The checks of the learner, the network and its strength (see `training.doctor.check`)."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from training.doctor.check import (
    BROKEN,
    LEAST_GAMES,
    LEAST_STEPS,
    NOTE,
    PLATEAU,
    RECENT,
    STUCK,
    VALUE_STEPS,
    Check,
    Finding,
    pooled,
    recent,
    steps_of,
    threshold,
)
from training.doctor.checkup import FIRST_LINE
from training.doctor.history import Report, last, sizes
from training.doctor.history import refused as count_refused
from training.matches.elo import wilson
from training.settings.config import LoopSettings

LEAST_GAIN = 0.02  # nats by which the policy must be better than the uniform guess


@dataclass(frozen=True)
class NotANumber(Check):
    """A loss, or the length of a step, is infinite or not a number."""

    level = BROKEN
    remedy = "a lower learning_rate, from a checkpoint before it happened"

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        groups = ("train/", "held/", "moved/")
        bad = [name for name, value in history[-1].items() if name.startswith(groups) and not math.isfinite(value)]
        return self.found(f"{bad[0]} is {history[-1][bad[0]]}") if bad else None


@dataclass(frozen=True)
class Frozen(Check):
    """The learner took steps and the weights did not change, or rows came and it took no step."""

    level = BROKEN
    remedy = "a higher learning_rate"

    still: float = threshold(
        1e-6, "of the weights' length a step; AdamW moves them by 1e-4 or more, to the end of a run"
    )
    least_steps: int = threshold(5, "steps of a generation that must show in the weights")
    growth: float = threshold(
        0.1, "of the new rows: the least by which a window changes that still grows or was emptied"
    )

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        if len(history) < 2:
            return None
        steps = history[-1].get("run/steps", 0) - history[-2].get("run/steps", 0)
        for part, name in (("net", "weights"), ("ema", "average of the weights")):
            if steps >= self.least_steps and history[-1].get(f"moved/{part}", 1.0) < self.still * steps:
                return self.found(f"the {name} did not move in {steps:.0f} steps: the learner is frozen")
        return self._no_step(history, settings)

    def _no_step(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        """Rows for a batch or more came in the recent generations, and no step was taken."""
        names = ("run/rows", "run/steps")
        if len(history) <= RECENT or not all(name in report for name in names for report in history[-RECENT - 1 :]):
            return None
        rows, taken = (history[-1][name] - history[-RECENT - 1][name] for name in names)
        if rows < settings.learner.batch or taken != 0:
            return None
        windows, least = (
            [report.get("run/window", 0.0) for report in history[-RECENT - 1 :]],
            settings.replay.least_rows,
        )
        if max(windows) < least and max(windows) - min(windows) < self.growth * rows:
            return self._waiting(windows[-1], least)
        if min(windows[1:]) < least:  # it was emptied, or still grows
            return None
        return self.found(
            f"{rows:.0f} new rows and no step: the learner is frozen", "a reuse above 0, and a held_out below 1"
        )

    def _waiting(self, held: float, least: int) -> Finding:
        return self.found(
            f"no step is taken before {least:,} rows may be drawn (replay.least_rows), and the window stays at {held:,.0f}",
            "a smaller replay.least_rows, or a larger replay.window or window_games",
        )


@dataclass(frozen=True)
class Misread(Check):
    """The network takes komi, or the colours, the wrong way round.

    Not checked where one colour wins nearly all games: there colour and komi predict the result.
    """

    level, go_alone = BROKEN, True
    remedy = "the sign of komi in features, replay and learner"

    komi_score: float = threshold(
        -0.25, "points a point of komi: +1 where it is understood, -1 where its sign is wrong"
    )
    komi_value: float = threshold(-0.01, "of the value a point; +0.04 in sound networks at 13x13")
    view: float = threshold(-0.3, "cosine: 0.98 in sound networks, -1 in one that sees Black and White")
    even: tuple[float, float] = threshold((0.2, 0.8), "Black's share of the points within which the probes count")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        black, games = pooled(history, "black", RECENT)
        if steps_of(history) < LEAST_STEPS or not games or not self.even[0] < black / games < self.even[1]:
            return None
        for name, bound in (("probe/komi_score", self.komi_score), ("probe/komi_value", self.komi_value)):
            slopes = recent(history, name)
            if slopes and max(slopes) < bound:
                return self.found(
                    f"more komi makes the network expect less ({slopes[-1]:+.2f} a point): the sign of komi is wrong"
                )
        view = recent(history, "probe/view")
        if view and max(view) < self.view:
            what = f"the network judges by colour, not by side to move (cosine {view[-1]:.2f})"
            return self.found(what, "the view of the targets")
        return None


@dataclass(frozen=True)
class BatchNorm(Check):
    """The running statistics of the batch norms do not fit the rows."""

    level = BROKEN
    remedy = "a lower learning_rate or a larger batch"

    gap: float = threshold(
        0.5, "nats of the policy loss; in sound networks three in a row stay below 0.13, one alone reached 0.41"
    )

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        gaps = recent(history, "probe/norm_gap")
        if steps_of(history) >= LEAST_STEPS and gaps and min(gaps) >= self.gap:
            return self.found(f"batch norm costs {gaps[-1]:.2f} nats in evaluation: its running statistics do not fit")
        return None


@dataclass(frozen=True)
class Biased(Check):
    """The values of one board size are biased towards the side to move, or against it.

    Both sides are to move equally often, so the mean should be right; a bias misleads a search at every other ply.
    """

    level = STUCK
    remedy = "more rows of that size, played (its share in the stage) or drawn (replay.size_weights)"

    bias: float = threshold(0.15, "of -1..1; a sound network's values are within 0.03 of the results in the mean")
    least_rows: int = threshold(400, "held-out rows of a size below which its mean says too little")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        if steps_of(history) < VALUE_STEPS:
            return None
        for size in sizes(history[-1]):
            found = recent(history, f"held{size}/bias")
            enough = history[-1].get(f"held{size}/rows", 0) >= self.least_rows
            if found and enough and (min(found) > self.bias or max(found) < -self.bias):
                which = "high" if found[-1] > 0 else "low"
                return self.found(
                    f"on {size}x{size} the side to move is valued {abs(found[-1]):.2f} too {which} in the mean"
                )
        return None


@dataclass(frozen=True)
class FirstLine(Check):
    """On the empty board of one size the network would play on the first line, or pass.

    A search of few visits looks only at what the policy proposes, so such openings are not unlearned.
    """

    level, go_alone = STUCK, True
    remedy = "no games of that size until the network has learned smaller ones, and without those played so far"

    share: float = threshold(0.7, "of the policy; 0.4 in an untrained network at 9x9, 0.1 and less in sound ones")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        if steps_of(history) < LEAST_STEPS:
            return None
        for name in history[-1]:
            shares = recent(history, name) if name.startswith(FIRST_LINE) else []
            if shares and min(shares) > self.share:
                size = name.removeprefix(FIRST_LINE)
                return self.found(
                    f"on an empty {size}x{size} board {shares[-1]:.0%} of the policy is on the first line"
                )
        return None


@dataclass(frozen=True)
class Collapsed(Check):
    """The policy has hardly any entropy left, and is wrong."""

    level = STUCK
    remedy = "more opening variety and noise, a lower learning_rate"

    entropy: float = threshold(0.1, "as a share of the uniform policy's")
    right: float = threshold(0.5, "top-1 on held-out games above which little entropy is no fault")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        entropy, right, uniform = (last(history, f"held/{name}") for name in ("entropy", "top1", "constant_policy"))
        if entropy is None or right is None or uniform is None or steps_of(history) < LEAST_STEPS:
            return None
        if entropy < self.entropy * uniform and right < self.right:
            what = f"the policy has collapsed: entropy {entropy:.2f} of {uniform:.2f} nats, and right in {right:.0%}"
            return self.found(what)
        return None


@dataclass(frozen=True)
class NoGain(Check):
    """After many steps the network is no better than a constant predictor."""

    level = STUCK
    remedy = "another learning_rate, and first games by rollouts (a stage with evaluator = 'rollouts')"

    policy: float = threshold(LEAST_GAIN, "nats below the uniform guess that the policy must be")
    value: float = threshold(0.0, "nats below the base rate of the results that the value must be")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        for name, steps, least in (("policy", LEAST_STEPS, self.policy), ("value", VALUE_STEPS, self.value)):
            found, guess = recent(history, f"held/{name}"), recent(history, f"held/constant_{name}")
            chance = 2 * _error(history, "held") if name == "value" else 0.0
            if steps_of(history) >= steps and found and guess and np.mean(found) > np.mean(guess) - least + chance:
                what = f"held-out {name} loss {np.mean(found):.2f} against a constant guess's {np.mean(guess):.2f}"
                return self.found(what)
        return None


def _error(history: list[Report], rows: str) -> float:
    """Standard error of the value's mean loss on the `held` or the `fit` rows, nats.

    All rows of a game learn its one result, so each game counts as one row.
    """
    spread, games = last(history, f"{rows}/value_spread"), last(history, f"window/{rows}_games")
    return 0.0 if spread is None or games is None else spread / math.sqrt(max(1.0, games))


@dataclass(frozen=True)
class Plateau(Check):
    """Neither policy nor value got better in ten generations of one stage, and no match says otherwise.

    It raises no alarm, because better games can be as hard to predict: a 13x13 run gained 260 Elo in sixty generations,
    and this check finds half of them.
    """

    level = NOTE
    remedy = "a match with earlier weights, which shows whether it still got stronger"

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        new, old = history[-PLATEAU:], history[-2 * PLATEAU : -PLATEAU]
        names = ("held/policy", "held/value")
        same_stage = len({report.get("run/stage") for report in old + new}) == 1
        if len(old) < PLATEAU or not same_stage or any(name not in report for report in old + new for name in names):
            return None
        if any(np.mean([report[name] for report in new]) < np.mean([report[name] for report in old]) for name in names):
            return None
        if any(report.get("strength/frozen_low", 0.0) > 1 / 2 or report.get("strength/uct_up", 0.0) for report in new):
            return None
        return self.found(f"no held-out loss fell in {PLATEAU} generations")


@dataclass(frozen=True)
class NoStronger(Check):
    """The last matches against its own earlier weights, added up, show no progress.

    The interval is one of 95 %: at three deviations 64 games would find one in twelve of the runs that stand still, not
    one in three.
    """

    level = STUCK
    remedy = "more full_visits, the learning rate's fall (anneal), or a wider network"

    matches: int = threshold(4, "measurements of strength that are added up")
    score: float = threshold(0.6, "upper end of the 95 % interval of the score: 70 Elo in that time would pass it")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        played = [report for report in history if "strength/frozen_games" in report][-self.matches :]
        games = sum(report["strength/frozen_games"] for report in played)
        points = sum(report["strength/frozen_games"] * report["strength/frozen_score"] for report in played)
        if len(played) < self.matches or wilson(points, round(games))[1] >= self.score:
            return None
        return self.found(f"it scored {points:g} of {games:.0f} against its own weights of some generations before")


@dataclass(frozen=True)
class Rejected(Check):
    """The gate refused all of the newest networks."""

    level = STUCK
    remedy = "more gate games, a share nearer 0.5, or no gate"

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        judged = [report for report in history if "gate/passed" in report]
        refused = judged[-1].get("gate/refused", count_refused(judged)) if judged else 0
        return self.found(f"the gate refused {refused:.0f} networks in a row") if refused >= PLATEAU else None


@dataclass(frozen=True)
class Overfitted(Check):
    """The value's loss is higher on held-out games than on the games it learned from."""

    level = NOTE
    remedy = "half the reuse, or a larger window"

    gap: float = threshold(0.03, "nats between held-out and training loss of the value, by more than chance")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        held, train = recent(history, "held/value"), recent(history, "fit/value")
        games = last(history, "window/held_games") or 0.0
        if not held or not train or games < LEAST_GAMES:
            return None
        gap = float(np.mean(held) - np.mean(train))
        if gap - 2 * math.hypot(_error(history, "held"), _error(history, "fit")) > self.gap:
            return self.found(f"the value's loss is {gap:.2f} higher on held-out games")
        return None


@dataclass(frozen=True)
class Stale(Check):
    """Rows are used more often than was meant."""

    level = NOTE
    remedy = "a lower reuse"

    excess: float = threshold(2.0, "times the intended reuse")

    def look(self, history: list[Report], settings: LoopSettings) -> Finding | None:
        if len(history) <= RECENT or settings.learner.epochs or settings.learner.generation_steps:
            return None
        rows, steps = (
            history[-1].get(name, 0) - history[-RECENT - 1].get(name, 0) for name in ("run/rows", "run/steps")
        )
        reuse, meant = steps * settings.learner.batch / rows if rows > 0 else 0.0, settings.learner.reuse
        if reuse > self.excess * meant:
            return self.found(f"each new row is used {reuse:.1f} times, {meant:g} are meant: data grow stale")
        return None
