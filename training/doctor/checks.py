"""The checks of the doctor: of the games that a run learns from, its learner, its network, its strength.

Chance must not raise an alarm: the Wilson interval of a share of games, at `Z` standard deviations, has to lie beyond
the limit. A number that no report has makes a check pass.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from training.doctor import history
from training.doctor.checkup import FIRST_LINE, OPENING_MOVES
from training.doctor.history import Report
from training.elo import wilson
from training.settings.config import LoopSettings

# broken: what is learned is wrong; stuck: it is sound, but does not get better; a note raises no alarm
BROKEN, STUCK, NOTE = "broken", "stuck", "note"

Z = 3.0  # one false alarm in a thousand for each share looked at, and a run looks at hundreds
# steps of the learner, before what the network has not learned says anything; the value learns from one number a game
LEAST_STEPS, LEAST_VALUE_STEPS = 500, 1000
RECENT = 3  # generations over which a noisy number must agree
LEAST_GAMES = 16
LEAST_GAIN = 0.02  # nats by which the policy must be better than the uniform guess
EVEN = (0.2, 0.8)  # Black's share of the points; beyond, colour and komi predict the result
REPORT = "reporting this with log.jsonl: it is a bug in gozero, and the targets of these rows are wrong"


@dataclass(frozen=True)
class Reports:
    """What a check looks at: the reports of a run, at least one, oldest first, and its settings."""

    all: list[Report]
    settings: LoopSettings

    @property
    def now(self) -> Report:
        """The newest report."""
        return self.all[-1]

    @property
    def steps(self) -> float:
        """Of the learner so far."""
        return self.last("run/steps") or 0.0

    @property
    def measured(self) -> str:
        """Whose losses say whether it learns: the `held` games' or, where none is held out, the `fit` ones', which it
        learned from.
        """
        return "held" if self.settings.replay.held_out else "fit"

    @property
    def sizes(self) -> list[int]:
        """The board sizes of the newest games."""
        return history.sizes(self.now)

    def last(self, name: str) -> float | None:
        """The newest value of `name`; None if no report has it."""
        return history.last(self.all, name)

    def recent(self, name: str) -> list[float]:
        """The newest `RECENT` values; empty if there are fewer."""
        found = [report[name] for report in self.all[-RECENT:] if name in report]
        return found if len(found) == RECENT else []

    def pooled(
        self, name: str, generations: int = 1, least_size: int = 0, most_size: float = math.inf
    ) -> tuple[float, float]:
        """(k, n): of the newest generations' n games on boards of these sizes, how many a share `name` stands for."""
        k = n = 0.0
        for report in self.all[-generations:]:
            for size in history.sizes(report):
                if least_size <= size <= most_size and f"games{size}/{name}" in report:
                    k += report[f"games{size}/{name}"] * report[f"games{size}/count"]
                    n += report[f"games{size}/count"]
        return k, n


Judge = Callable[[Reports], str | None]  # half a sentence with the number that shows the sign, if there is one


class Check(NamedTuple):
    """One sign that a run is broken or stuck."""

    sign: str
    level: str
    remedy: str  # half a sentence: what to try
    go_alone: bool  # other games have no komi, and may well be drawn, or won by one side
    judge: Judge


def check(level: str, remedy: str, *, go_alone: bool = False) -> Callable[[Judge], Check]:
    """Make a check of a function, whose docstring begins with the sign."""
    return lambda judge: Check((judge.__doc__ or judge.__name__).partition("\n")[0], level, remedy, go_alone, judge)


def beyond(k: float, n: float, bound: float) -> bool:
    """Whether the share k of n is above `bound` by more than chance."""
    games = round(n)  # shares of games times games are whole numbers up to rounding
    return n > 0 and wilson(min(k, games), games, Z)[0] > bound


# Games


@check(BROKEN, "a larger no_pass_until and no_pass_generations", go_alone=True)
def pass_war(run: Reports) -> str | None:
    """Games end by two passes in the opening, or the network expects them to."""
    k, n = run.pooled("early")
    if beyond(k, n, 0.05):  # below 0.01 in sound runs
        return f"{k:.0f} of {n:.0f} games ended by passes in the opening"
    passes = run.recent("probe/early_pass")
    if passes and min(passes) > 0.5:
        return f"the network passes on an open board (probability {passes[-1]:.2f})"
    return None


@check(BROKEN, "gozero records check RUN_FOLDER, then the disk; a change of the rules damages records too")
def damaged_records(run: Reports) -> str | None:
    """Records could not be read."""
    corrupt, games = run.last("run/corrupt") or 0.0, run.last("run/games") or 0.0
    if beyond(corrupt, games + corrupt, 0.01):  # more than a crash leaves
        return f"damaged records were skipped, {corrupt:.0f} so far"
    return None


@check(BROKEN, "not recording cheap searches")
def cheap_rows(run: Reports) -> str | None:
    """More moves are recorded than are searched fully.

    Games in flight outlive a change of `full_share`, so the largest that the run has had is allowed.
    """
    share = max(report.get("run/full_share", 1.0) for report in run.all)
    rows = moves = 0.0
    for size in run.sizes:
        count = run.now[f"games{size}/count"] * run.now.get(f"games{size}/length", 0.0)
        moves += count
        rows += count * run.now.get(f"games{size}/recorded", 0.0)
    if beyond(rows, moves, min(1.0, 1.15 * share)):
        return f"{rows / moves:.0%} of the moves are recorded, {share:.0%} are searched fully"
    return None


@check(STUCK, "a larger opening_share and opening_mean, or more noise at the root")
def repetition(run: Reports) -> str | None:
    """Games are the same, or begin the same way, on boards of 5x5 and more."""
    # sound runs: 0.35 in Connect-4, 0.1 at 9x9; Connect-4 at 0.55 got better with other openings
    k, n = run.pooled("distinct", least_size=5)
    if n >= LEAST_GAMES and beyond(n - k, n, 0.5):
        return f"only {k:.0f} of {n:.0f} games differ"
    for size in run.sizes:
        k, n = run.pooled("commonest", RECENT, max(size, 5), size)
        if n >= LEAST_GAMES and beyond(k, n, 0.5):
            return f"{k:.0f} of {n:.0f} games begin with the same {OPENING_MOVES} moves"
    return None


@check(STUCK, "a komi that rules out draws, such as 7.5", go_alone=True)
def drawn(run: Reports) -> str | None:
    """Most games are drawn."""
    k, n = run.pooled("draws")
    return f"{k:.0f} of {n:.0f} games are drawn" if n >= LEAST_GAMES and beyond(k, n, 0.5) else None


@check(NOTE, "waiting, and a look: gozero records list RUN_FOLDER --sort moves --reverse --limit 20", go_alone=True)
def endless(run: Reports) -> str | None:
    """Games are very long: they reach the limit of moves, or have 1.3 moves a point (0.6 to 0.9 is usual)."""
    k, n = run.pooled("capped", RECENT, least_size=7)
    if beyond(k, n, 0.01):
        return f"{k:.0f} of {n:.0f} games reached the limit of moves"
    for size in run.sizes:
        moves = run.now.get(f"games{size}/length", 0.0)
        if size >= 9 and moves > 1.3 * size**2 and run.now[f"games{size}/count"] >= LEAST_GAMES:
            return f"games on {size}x{size} last {moves:.0f} moves"
    return None


@check(NOTE, "another komi if the network is strong, waiting if it is not", go_alone=True)
def one_sided(run: Reports) -> str | None:
    """One colour wins nearly all games on boards of 7x7 and more.

    On smaller boards the first player wins whatever the usual komi is.
    """
    black, games = run.pooled("black", RECENT, least_size=7)
    for points, who in ((black, "Black"), (games - black, "White")):
        if beyond(points, games, 0.9):
            return f"{who} won {points:g} of {games:.0f} games"
    return None


@check(NOTE, "a higher resign_threshold")
def false_resignations(run: Reports) -> str | None:
    """Games would have been resigned by a side that did not lose them."""
    checked, wrong = (run.last(f"resign/{name}") or 0.0 for name in ("checked", "false_positives"))
    if checked < LEAST_GAMES or not beyond(wrong * checked, checked, 0.05):
        return None
    return f"{wrong * checked:.0f} of {checked:.0f} games would have been resigned wrongly"


# The learner


@check(BROKEN, "a lower learning_rate, from a checkpoint before it happened")
def not_a_number(run: Reports) -> str | None:
    """A loss, or the length of a step, is infinite or not a number."""
    groups = ("train/", "held/", "moved/")
    bad = [name for name, value in run.now.items() if name.startswith(groups) and not math.isfinite(value)]
    return f"{bad[0]} is {run.now[bad[0]]}" if bad else None


@check(BROKEN, "a higher learning_rate, a reuse above 0, and a held_out below 1")
def frozen(run: Reports) -> str | None:
    """The learner took steps and the weights did not change, or rows came and it took no step."""
    if len(run.all) < 2:
        return None
    steps = run.now.get("run/steps", 0) - run.all[-2].get("run/steps", 0)
    size = run.settings.learner.step_size(int(run.now.get("run/steps", 1)) - 1) * run.now.get("train/rate", 1.0)
    # where a step's size is 1e-4 or more, AdamW moves them by 1e-4 of their length
    least = 1e-6 * steps * min(1.0, 1e4 * size)
    for part, name in (("net", "weights"), ("ema", "average of the weights")):
        if steps >= 5 and run.now.get(f"moved/{part}", 1.0) < least:
            return f"the {name} did not move in {steps:.0f} steps: the learner is frozen"
    return _no_step(run)


def _no_step(run: Reports) -> str | None:
    """Rows for a batch or more came in the recent generations, enough may be drawn, and no step was taken."""
    then, names = run.all[-RECENT - 1 :], ("run/rows", "run/steps")
    if len(then) <= RECENT or not all(name in report for name in names for report in then):
        return None
    rows, taken = (then[-1][name] - then[0][name] for name in names)
    waits = min(report.get("run/window", 0.0) for report in then[1:]) < run.settings.replay.least_rows
    if rows < run.settings.learner.batch or taken or waits:
        return None
    return f"{rows:.0f} new rows and no step: the learner is frozen"


@check(NOTE, "half the reuse, or a larger window")
def overfitted(run: Reports) -> str | None:
    """The value's loss is higher on held-out games than on the games it learned from."""
    held, fit = run.recent("held/value"), run.recent("fit/value")
    if not held or not fit or (run.last("window/held_games") or 0.0) < LEAST_GAMES:
        return None
    gap = float(np.mean(held) - np.mean(fit))
    if gap - 2 * math.hypot(_error(run, "held"), _error(run, "fit")) > 0.03:  # nats
        return f"the value's loss is {gap:.2f} higher on held-out games"
    return None


def _error(run: Reports, rows: str) -> float:
    """Standard error of the value's mean loss on the `held` or the `fit` rows, nats.

    All rows of a game learn its one result, so each game counts as one row.
    """
    spread, games = run.last(f"{rows}/value_spread"), run.last(f"window/{rows}_games")
    return 0.0 if spread is None or games is None else spread / math.sqrt(max(1.0, games))


# The network


@check(BROKEN, REPORT, go_alone=True)
def misread(run: Reports) -> str | None:
    """The network takes komi, or the colours, the wrong way round; not checked if one colour wins nearly all games."""
    black, games = run.pooled("black", RECENT)
    if run.steps < LEAST_STEPS or not games or not EVEN[0] < black / games < EVEN[1]:
        return None
    # a point of komi is worth +1 point, and +0.04 of the value at 13x13, if it is understood
    for name, bound in (("probe/komi_score", -0.25), ("probe/komi_value", -0.01)):
        slopes = run.recent(name)
        if slopes and max(slopes) < bound:
            return f"more komi makes the network expect less ({slopes[-1]:+.2f} a point): the sign of komi is wrong"
    seen = run.recent("probe/view")
    if seen and max(seen) < -0.3:  # 0.98 is sound
        return f"the network judges by colour, not by side to move (cosine {seen[-1]:.2f})"
    return None


@check(BROKEN, "a lower learning_rate or a larger batch")
def batch_norm(run: Reports) -> str | None:
    """The running statistics of the batch norms do not fit the rows."""
    gaps = run.recent("probe/norm_gap")
    # in sound networks three in a row stay below 0.13 nats, one alone reached 0.41
    if run.steps >= LEAST_STEPS and gaps and min(gaps) >= 0.5:
        return f"batch norm costs {gaps[-1]:.2f} nats in evaluation: its running statistics do not fit"
    return None


@check(STUCK, "more rows of that size, played (its share in the stage) or drawn (replay.size_weights)")
def biased(run: Reports) -> str | None:
    """The values of one board size are biased towards the side to move, or against it.

    Both sides are to move equally often, so the mean should be right; a bias misleads a search at every other ply.
    """
    limit = 0.15  # of -1..1; a sound network's mean is within 0.03 of the results'
    for size in run.sizes if run.steps >= LEAST_VALUE_STEPS else ():
        biases = run.recent(f"held{size}/bias")
        enough = run.now.get(f"held{size}/rows", 0) >= 400
        if biases and enough and (min(biases) > limit or max(biases) < -limit):
            which = "high" if biases[-1] > 0 else "low"
            return f"on {size}x{size} the side to move is valued {abs(biases[-1]):.2f} too {which} in the mean"
    return None


@check(
    STUCK, "no games of that size until the network has learned smaller ones, and without those played so far",
    go_alone=True,
)  # fmt: skip
def first_line(run: Reports) -> str | None:
    """On the empty board of one size the network would play on the first line, or pass.

    A search of few visits looks only at what the policy proposes, so such openings are not unlearned.
    """
    for name in run.now if run.steps >= LEAST_STEPS else ():
        shares = run.recent(name) if name.startswith(FIRST_LINE) else []
        if shares and min(shares) > 0.7:  # 0.4 in an untrained network at 9x9, 0.1 and less in sound ones
            size = name.removeprefix(FIRST_LINE)
            return f"on an empty {size}x{size} board {shares[-1]:.0%} of the policy is on the first line"
    return None


@check(STUCK, "more opening variety and noise, a lower learning_rate")
def collapsed(run: Reports) -> str | None:
    """The policy has hardly any entropy left, and is wrong."""
    entropy, top1, uniform = (run.last(f"{run.measured}/{name}") for name in ("entropy", "top1", "constant_policy"))
    if entropy is None or top1 is None or uniform is None or run.steps < LEAST_STEPS:
        return None
    if entropy < 0.1 * uniform and top1 < 0.5:
        return f"the policy has collapsed: entropy {entropy:.2f} of {uniform:.2f} nats, and right in {top1:.0%}"
    return None


# Strength


@check(STUCK, "another learning_rate, and first games by rollouts (a stage with evaluator = 'rollouts')")
def no_gain(run: Reports) -> str | None:
    """After many steps the network is no better than a constant predictor."""
    rows = run.measured
    for name, needed, least, chance in (
        ("policy", LEAST_STEPS, LEAST_GAIN, 0.0),
        ("value", LEAST_VALUE_STEPS, 0.0, 2 * _error(run, rows)),
    ):
        own, guess = run.recent(f"{rows}/{name}"), run.recent(f"{rows}/constant_{name}")
        if run.steps >= needed and own and guess and np.mean(own) > np.mean(guess) - least + chance:
            what = "held-out " if rows == "held" else ""
            return f"{what}{name} loss {np.mean(own):.2f} against a constant guess's {np.mean(guess):.2f}"
    return None


@check(STUCK, "more full_visits, the learning rate's fall (anneal), or a wider network")
def no_stronger(run: Reports) -> str | None:
    """The last matches against its own earlier weights, added up, show no progress.

    The interval is one of 95 %: at three deviations 64 games would find one in twelve of the runs that stand still, not
    one in three. A gain of 70 Elo in the time of four measurements would pass.
    """
    played = [report for report in run.all if "strength/frozen_games" in report][-4:]
    games = sum(report["strength/frozen_games"] for report in played)
    points = sum(report["strength/frozen_games"] * report["strength/frozen_score"] for report in played)
    if len(played) < 4 or wilson(points, round(games))[1] >= 0.6:
        return None
    return f"it scored {points:g} of {games:.0f} against its own weights of some generations before"


@check(STUCK, "more gate games, a share nearer 0.5, or no gate")
def rejected(run: Reports) -> str | None:
    """The gate refused all of the newest networks."""
    refused = run.last("gate/refused") or 0.0
    return f"the gate refused {refused:.0f} networks in a row" if refused >= 10 else None


CHECKS = [each for each in list(vars().values()) if isinstance(each, Check)]
