"""The checks of the learner, the network and its strength."""

from __future__ import annotations

import math

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
    Finding,
    Reports,
    check,
)
from training.doctor.checkup import FIRST_LINE
from training.matches.elo import wilson

LEAST_GAIN = 0.02  # nats by which the policy must be better than the uniform guess


@check(BROKEN, "a lower learning_rate, from a checkpoint before it happened")
def not_a_number(run: Reports) -> str | None:
    """A loss, or the length of a step, is infinite or not a number."""
    groups = ("train/", "held/", "moved/")
    bad = [name for name, value in run.now.items() if name.startswith(groups) and not math.isfinite(value)]
    return f"{bad[0]} is {run.now[bad[0]]}" if bad else None


@check(
    BROKEN,
    "a higher learning_rate",
    still=(1e-6, "of the weights' length a step; AdamW moves them by 1e-4 or more, to the end of a run"),
    least_steps=(5, "steps of a generation that must show in the weights"),
    growth=(0.1, "of the new rows: the least by which a window changes that still grows or was emptied"),
)
def frozen(run: Reports, still: float, least_steps: int, growth: float) -> Finding | str | None:
    """The learner took steps and the weights did not change, or rows came and it took no step."""
    if len(run.all) < 2:
        return None
    steps = run.now.get("run/steps", 0) - run.all[-2].get("run/steps", 0)
    for part, name in (("net", "weights"), ("ema", "average of the weights")):
        if steps >= least_steps and run.now.get(f"moved/{part}", 1.0) < still * steps:
            return f"the {name} did not move in {steps:.0f} steps: the learner is frozen"
    return _no_step(run, growth)


def _no_step(run: Reports, growth: float) -> Finding | None:
    """Rows for a batch or more came in the recent generations, and no step was taken."""
    then, names = run.all[-RECENT - 1 :], ("run/rows", "run/steps")
    if len(then) <= RECENT or not all(name in report for name in names for report in then):
        return None
    rows, taken = (then[-1][name] - then[0][name] for name in names)
    if rows < run.settings.learner.batch or taken != 0:
        return None
    windows, least = [report.get("run/window", 0.0) for report in then], run.settings.replay.least_rows
    if max(windows) < least and max(windows) - min(windows) < growth * rows:
        return Finding(
            f"no step is taken before {least:,} rows may be drawn (replay.least_rows), and the window stays at "
            f"{windows[-1]:,.0f}",
            "a smaller replay.least_rows, or a larger replay.window or window_games",
        )
    if min(windows[1:]) < least:  # it was emptied, or still grows
        return None
    return Finding(f"{rows:.0f} new rows and no step: the learner is frozen", "a reuse above 0, and a held_out below 1")


@check(
    BROKEN,
    "the sign of komi in features, replay and learner",
    go_alone=True,
    komi_score=(-0.25, "points a point of komi: +1 where it is understood, -1 where its sign is wrong"),
    komi_value=(-0.01, "of the value a point; +0.04 in sound networks at 13x13"),
    view=(-0.3, "cosine: 0.98 in sound networks, -1 in one that sees Black and White"),
    even=((0.2, 0.8), "Black's share of the points within which the probes count"),
)
def misread(
    run: Reports, komi_score: float, komi_value: float, view: float, even: tuple[float, float]
) -> Finding | str | None:
    """The network takes komi, or the colours, the wrong way round.

    Not checked if one colour wins nearly all games: there colour and komi predict the result.
    """
    black, games = run.pooled("black", RECENT)
    if run.steps < LEAST_STEPS or not games or not even[0] < black / games < even[1]:
        return None
    for name, bound in (("probe/komi_score", komi_score), ("probe/komi_value", komi_value)):
        slopes = run.recent(name)
        if slopes and max(slopes) < bound:
            return f"more komi makes the network expect less ({slopes[-1]:+.2f} a point): the sign of komi is wrong"
    seen = run.recent("probe/view")
    if seen and max(seen) < view:
        what = f"the network judges by colour, not by side to move (cosine {seen[-1]:.2f})"
        return Finding(what, "the view of the targets")
    return None


@check(
    BROKEN,
    "a lower learning_rate or a larger batch",
    gap=(0.5, "nats of the policy loss; in sound networks three in a row stay below 0.13, one alone reached 0.41"),
)
def batch_norm(run: Reports, gap: float) -> str | None:
    """The running statistics of the batch norms do not fit the rows."""
    gaps = run.recent("probe/norm_gap")
    if run.steps >= LEAST_STEPS and gaps and min(gaps) >= gap:
        return f"batch norm costs {gaps[-1]:.2f} nats in evaluation: its running statistics do not fit"
    return None


@check(
    STUCK,
    "more rows of that size, played (its share in the stage) or drawn (replay.size_weights)",
    bias=(0.15, "of -1..1; a sound network's values are within 0.03 of the results in the mean"),
    least_rows=(400, "held-out rows of a size below which its mean says too little"),
)
def biased(run: Reports, bias: float, least_rows: int) -> str | None:
    """The values of one board size are biased towards the side to move, or against it.

    Both sides are to move equally often, so the mean should be right; a bias misleads a search at every other ply.
    """
    for size in run.sizes if run.steps >= VALUE_STEPS else ():
        found = run.recent(f"held{size}/bias")
        enough = run.now.get(f"held{size}/rows", 0) >= least_rows
        if found and enough and (min(found) > bias or max(found) < -bias):
            which = "high" if found[-1] > 0 else "low"
            return f"on {size}x{size} the side to move is valued {abs(found[-1]):.2f} too {which} in the mean"
    return None


@check(
    STUCK,
    "no games of that size until the network has learned smaller ones, and without those played so far",
    go_alone=True,
    share=(0.7, "of the policy; 0.4 in an untrained network at 9x9, 0.1 and less in sound ones"),
)
def first_line(run: Reports, share: float) -> str | None:
    """On the empty board of one size the network would play on the first line, or pass.

    A search of few visits looks only at what the policy proposes, so such openings are not unlearned.
    """
    for name in run.now if run.steps >= LEAST_STEPS else ():
        shares = run.recent(name) if name.startswith(FIRST_LINE) else []
        if shares and min(shares) > share:
            size = name.removeprefix(FIRST_LINE)
            return f"on an empty {size}x{size} board {shares[-1]:.0%} of the policy is on the first line"
    return None


@check(
    STUCK,
    "more opening variety and noise, a lower learning_rate",
    entropy=(0.1, "as a share of the uniform policy's"),
    right=(0.5, "top-1 on held-out games above which little entropy is no fault"),
)
def collapsed(run: Reports, entropy: float, right: float) -> str | None:
    """The policy has hardly any entropy left, and is wrong."""
    found, top1, uniform = (run.last(f"held/{name}") for name in ("entropy", "top1", "constant_policy"))
    if found is None or top1 is None or uniform is None or run.steps < LEAST_STEPS:
        return None
    if found < entropy * uniform and top1 < right:
        return f"the policy has collapsed: entropy {found:.2f} of {uniform:.2f} nats, and right in {top1:.0%}"
    return None


@check(
    STUCK,
    "another learning_rate, and first games by rollouts (a stage with evaluator = 'rollouts')",
    policy=(LEAST_GAIN, "nats below the uniform guess that the policy must be"),
    value=(0.0, "nats below the base rate of the results that the value must be"),
)
def no_gain(run: Reports, policy: float, value: float) -> str | None:
    """After many steps the network is no better than a constant predictor."""
    for name, steps, least in (("policy", LEAST_STEPS, policy), ("value", VALUE_STEPS, value)):
        found, guess = run.recent(f"held/{name}"), run.recent(f"held/constant_{name}")
        chance = 2 * _error(run, "held") if name == "value" else 0.0
        if run.steps >= steps and found and guess and np.mean(found) > np.mean(guess) - least + chance:
            return f"held-out {name} loss {np.mean(found):.2f} against a constant guess's {np.mean(guess):.2f}"
    return None


def _error(run: Reports, rows: str) -> float:
    """Standard error of the value's mean loss on the `held` or the `fit` rows, nats.

    All rows of a game learn its one result, so each game counts as one row.
    """
    spread, games = run.last(f"{rows}/value_spread"), run.last(f"window/{rows}_games")
    return 0.0 if spread is None or games is None else spread / math.sqrt(max(1.0, games))


@check(
    STUCK,
    "more full_visits, the learning rate's fall (anneal), or a wider network",
    matches=(4, "measurements of strength that are added up"),
    score=(0.6, "upper end of the 95 % interval of the score: 70 Elo in that time would pass it"),
)
def no_stronger(run: Reports, matches: int, score: float) -> str | None:
    """The last matches against its own earlier weights, added up, show no progress.

    The interval is one of 95 %: at three deviations 64 games would find one in twelve of the runs that stand still, not
    one in three.
    """
    played = [report for report in run.all if "strength/frozen_games" in report][-matches:]
    games = sum(report["strength/frozen_games"] for report in played)
    points = sum(report["strength/frozen_games"] * report["strength/frozen_score"] for report in played)
    if len(played) < matches or wilson(points, round(games))[1] >= score:
        return None
    return f"it scored {points:g} of {games:.0f} against its own weights of some generations before"


@check(NOTE, "a match with earlier weights, which shows whether it still got stronger")
def plateau(run: Reports) -> str | None:
    """Neither policy nor value got better in ten generations of one stage, and no match says otherwise.

    It raises no alarm, because better games can be as hard to predict: a 13x13 run gained 260 Elo in sixty generations,
    and this check finds half of them.
    """
    new, old = run.all[-PLATEAU:], run.all[-2 * PLATEAU : -PLATEAU]
    names = ("held/policy", "held/value")
    same_stage = len({report.get("run/stage") for report in old + new}) == 1
    if len(old) < PLATEAU or not same_stage or any(name not in report for report in old + new for name in names):
        return None
    if any(np.mean([report[name] for report in new]) < np.mean([report[name] for report in old]) for name in names):
        return None
    if any(report.get("strength/frozen_low", 0.0) > 1 / 2 or report.get("strength/uct_up", 0.0) for report in new):
        return None
    return f"no held-out loss fell in {PLATEAU} generations"


@check(STUCK, "more gate games, a share nearer 0.5, or no gate")
def rejected(run: Reports) -> str | None:
    """The gate refused all of the newest networks."""
    refused = run.last("gate/refused") or 0.0
    return f"the gate refused {refused:.0f} networks in a row" if refused >= PLATEAU else None


@check(
    NOTE,
    "half the reuse, or a larger window",
    gap=(0.03, "nats between held-out and training loss of the value, by more than chance"),
)
def overfitted(run: Reports, gap: float) -> str | None:
    """The value's loss is higher on held-out games than on the games it learned from."""
    held, fit = run.recent("held/value"), run.recent("fit/value")
    if not held or not fit or (run.last("window/held_games") or 0.0) < LEAST_GAMES:
        return None
    found = float(np.mean(held) - np.mean(fit))
    if found - 2 * math.hypot(_error(run, "held"), _error(run, "fit")) > gap:
        return f"the value's loss is {found:.2f} higher on held-out games"
    return None


@check(NOTE, "a lower reuse", excess=(2.0, "times the intended reuse"))
def stale(run: Reports, excess: float) -> str | None:
    """Rows are used more often than was meant."""
    learner = run.settings.learner
    if len(run.all) <= RECENT or learner.epochs or learner.generation_steps:
        return None
    rows, steps = (run.now.get(name, 0) - run.all[-RECENT - 1].get(name, 0) for name in ("run/rows", "run/steps"))
    reuse = steps * learner.batch / rows if rows > 0 else 0.0
    if reuse > excess * learner.reuse:
        return f"each new row is used {reuse:.1f} times, {learner.reuse:g} are meant: data grow stale"
    return None
