"""The signs that a run is broken or stuck: each a function of the history and the settings that finds one thing wrong,
or nothing.

Vocabulary.
  finding  what is wrong, and what to do about it. *broken*: what is learned is wrong, stop and mend it. *stuck*: sound,
           but it does not get better. *note*: worth knowing; no alarm.
  share    k of n games. One that comes from chance alone must raise no alarm: its Wilson interval at `Z` has to lie
           beyond the bound.

A threshold stands with its reason above the one check that uses it, or at the top if several do; the laws
(`training.records.laws`) have none, because they hold exactly. A number that a history lacks makes its check pass.
Nothing is measured here.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from training.doctor.checkup import FITTED, OPENING_MOVES
from training.doctor.history import Report, last, sizes
from training.matches.elo import wilson
from training.settings.config import LoopSettings

BROKEN, STUCK, NOTE = "broken", "stuck", "note"

Z = 3.0  # one false alarm in a thousand for each share looked at, and a run looks at hundreds
LEAST_STEPS = 500  # of the learner, before what the network has not learned says anything
VALUE_STEPS = 1000  # the value learns from one number a game: it needs longer
RECENT = 3  # generations over which a noisy number must agree
LEAST_GAMES = 16
LEAST_GAIN = 0.02  # nats below the uniform guess
PLATEAU = 10  # generations in which nothing got better, against the ten before


class Finding(NamedTuple):
    """One thing wrong."""

    level: str  # BROKEN, STUCK or NOTE
    because: str  # half a sentence with the number that shows it
    remedy: str  # half a sentence: what to try


def pooled(
    history: list[Report], name: str, generations: int = 1, least_size: int = 0, most_size: float = math.inf
) -> tuple[float, float]:
    """(k, n): of the newest generations' n games on boards of these sizes, how many a share `name` stands for."""
    k = n = 0.0
    for report in history[-generations:]:
        for size in sizes(report):
            if least_size <= size <= most_size and f"games{size}/{name}" in report:
                k += report[f"games{size}/{name}"] * report[f"games{size}/count"]
                n += report[f"games{size}/count"]
    return k, n


def beyond(k: float, n: float, bound: float) -> bool:
    """Whether the share k of n is above `bound` by more than chance."""
    games = round(n)  # shares of games times games are whole numbers up to rounding
    return n > 0 and wilson(min(k, games), games, Z)[0] > bound


def steps_of(history: list[Report]) -> float:
    return last(history, "run/steps") or 0.0


def recent(history: list[Report], name: str) -> list[float]:
    """The newest `RECENT` values; empty where there are fewer."""
    found = [report[name] for report in history[-RECENT:] if name in report]
    return found if len(found) == RECENT else []


def not_a_number(history: list[Report], settings: LoopSettings) -> Finding | None:
    bad = [
        name
        for name, value in history[-1].items()
        if name.startswith(("train/", "held/", "moved/")) and not math.isfinite(value)
    ]
    remedy = "a lower learning_rate, from a checkpoint before it happened"
    return Finding(BROKEN, f"{bad[0]} is {history[-1][bad[0]]}", remedy) if bad else None


TURN_ROUNDING = 1e-3  # float16 targets


def unlawful(history: list[Report], settings: LoopSettings) -> Finding | None:
    """A law of `training.records.laws` that does not hold."""
    laws = {
        "law/komi": (
            "score, owners and komi do not add up in {:.0%} of the rows: komi has the wrong sign or size",
            "features and scoring",
        ),
        "law/value": ("the result is not the sign of the score in {:.0%} of the rows", "scoring and replay"),
        "law/occupied": (
            "{:.1%} of the policy target lies on stones: policy and planes are turned differently",
            "symmetry and replay",
        ),
        "law/view": ("ownership is taught from one colour's view, not the mover's", "the signs in replay"),
        "turn/policy": ("policy and planes are turned differently (by {:.2f} of a target)", "symmetry.apply_policy"),
        "turn/reply": (
            "the reply and the planes are turned differently (by {:.2f} of a target)",
            "symmetry.apply_policy",
        ),
        "turn/owner": ("ownership and planes are turned differently (by {:.2f} of a target)", "symmetry.apply_points"),
    }
    for name, (because, place) in laws.items():
        value = history[-1].get(name, 0.0)
        if value > (TURN_ROUNDING if name.startswith("turn/") else 0):
            return Finding(
                BROKEN, because.format(value), f"mending {place}, then a new run: these rows teach the wrong thing"
            )
    return None


STILL = 1e-6  # of the weights' length a step; AdamW moves them by 1e-4 or more, at the end of a run too
LEAST_MOVE_STEPS = 5  # steps of a generation that must show in the weights


def frozen(history: list[Report], settings: LoopSettings) -> Finding | None:
    """The learner took steps and nothing moved, or took none."""
    if len(history) < 2:
        return None
    steps = history[-1].get("run/steps", 0) - history[-2].get("run/steps", 0)
    for part, name in (("net", "weights"), ("ema", "average of the weights")):
        if steps >= LEAST_MOVE_STEPS and history[-1].get(f"moved/{part}", 1.0) < STILL * steps:
            return Finding(
                BROKEN, f"the {name} did not move in {steps:.0f} steps: the learner is frozen", "a higher learning_rate"
            )
    if len(history) > RECENT and all("run/steps" in report for report in history[-RECENT - 1 :]):
        rows, taken = (history[-1][name] - history[-RECENT - 1][name] for name in ("run/rows", "run/steps"))
        if rows >= settings.learner.batch and taken == 0:
            return Finding(
                BROKEN,
                f"{rows:.0f} new rows and no step: the learner is frozen",
                "a reuse above 0, and a held_out below 1",
            )
    return None


KOMI_SCORE_SLOPE = -0.25  # points a point: +1 where komi is understood, -1 where its sign is wrong
KOMI_VALUE_SLOPE = -0.01  # a point; +0.04 in sound networks at 13x13
WRONG_VIEW = -0.3  # cosine: 0.98 in sound networks, -1 in one that sees Black and White
EVEN = (0.2, 0.8)  # Black's share of the points within which colour and komi do not stand for the result


def misread(history: list[Report], settings: LoopSettings) -> Finding | None:
    """The network takes komi, or the colours, the wrong way round. Where one colour wins nearly all, they stand for the
    result.
    """
    black, games = pooled(history, "black", RECENT)
    if steps_of(history) < LEAST_STEPS or not games or not EVEN[0] < black / games < EVEN[1]:
        return None
    for name, bound in (("probe/komi_score", KOMI_SCORE_SLOPE), ("probe/komi_value", KOMI_VALUE_SLOPE)):
        slopes = recent(history, name)
        if slopes and max(slopes) < bound:
            what = f"more komi makes the network expect less ({slopes[-1]:+.2f} a point): the sign of komi is wrong"
            return Finding(BROKEN, what, "the sign of komi in features, replay and learner")
    view = recent(history, "probe/view")
    if view and max(view) < WRONG_VIEW:
        return Finding(
            BROKEN,
            f"the network judges by colour, not by side to move (cosine {view[-1]:.2f})",
            "the view of the targets",
        )
    return None


NORM_GAP = 0.5  # nats of the policy loss; in sound networks three in a row stay below 0.13, one alone reached 0.41


def norms(history: list[Report], settings: LoopSettings) -> Finding | None:
    gaps = recent(history, "probe/norm_gap")
    if steps_of(history) < LEAST_STEPS or not gaps or min(gaps) < NORM_GAP:
        return None
    what = f"batch norm costs {gaps[-1]:.2f} nats in evaluation: its running statistics do not fit"
    return Finding(BROKEN, what, "a lower learning_rate or a larger batch")


BIASED = 0.15  # of -1..1; a sound network's values are within 0.03 of the results in the mean
BIAS_ROWS = 400  # held-out rows of a size below which its mean says too little


def biased(history: list[Report], settings: LoopSettings) -> Finding | None:
    """On one size of board the values lie to one side, though both sides are to move as often: at every other ply a
    search is misled.
    """
    if steps_of(history) < VALUE_STEPS:
        return None
    for size in sizes(history[-1]):
        found = recent(history, f"held{size}/bias")
        if (
            found
            and history[-1].get(f"held{size}/rows", 0) >= BIAS_ROWS
            and (min(found) > BIASED or max(found) < -BIASED)
        ):
            what = f"on {size}x{size} the side to move is valued {abs(found[-1]):.2f} too {'high' if found[-1] > 0 else 'low'} in the mean"
            return Finding(STUCK, what, "more rows of that size: its positions are normalised by the statistics of all")
    return None


EARLY_SHARE = 0.05  # of the games over before the opening is; healthy below 0.01
EARLY_PASS = 0.5  # mean probability of a pass with less than an eighth of the board taken


def pass_war(history: list[Report], settings: LoopSettings) -> Finding | None:
    k, n = pooled(history, "early")
    if beyond(k, n, EARLY_SHARE):
        what = f"{k:.0f} of {n:.0f} games ended in the opening: pass wars"
        return Finding(BROKEN, what, "a larger no_pass_until and no_pass_generations")
    passes = recent(history, "probe/early_pass")
    if passes and min(passes) > EARLY_PASS:
        what = f"the network passes on an open board (probability {passes[-1]:.2f})"
        return Finding(BROKEN, what, "a larger no_pass_until and no_pass_generations")
    return None


CORRUPT_SHARE = 0.01  # of the games: more than a crash leaves


def damaged(history: list[Report], settings: LoopSettings) -> Finding | None:
    corrupt, games = last(history, "run/corrupt") or 0.0, last(history, "run/games") or 0.0
    if not corrupt:
        return None
    level = BROKEN if beyond(corrupt, games + corrupt, CORRUPT_SHARE) else NOTE
    remedy = "python -m training.records check RUN_FOLDER, then the disk; a change of the rules damages records too"
    return Finding(level, f"damaged records were skipped, {corrupt:.0f} so far", remedy)


RECORDED_SLACK = 1.15  # recorded share of the moves against `full_share`


def cheap_rows(history: list[Report], settings: LoopSettings) -> Finding | None:
    """More rows than full searches. Games in flight outlive a change of `full_share`: the largest that the run has had
    is allowed.
    """
    share = max(report.get("run/full_share", 1.0) for report in history)
    rows = moves = 0.0
    for size in sizes(history[-1]):
        count = history[-1][f"games{size}/count"] * history[-1][f"games{size}/length"]
        moves += count
        rows += count * history[-1].get(f"games{size}/recorded", 0.0)
    if beyond(rows, moves, min(1.0, RECORDED_SLACK * share)):
        what = f"{rows / moves:.0%} of the moves are recorded, {share:.0%} are searched fully"
        return Finding(BROKEN, what, "not recording cheap searches")
    return None


REPEATED = 0.5  # share of different games below which self-play repeats itself
SAME_OPENING = (
    0.5  # of the games; sound runs: 0.35 in Connect-4, 0.1 at 9x9; Connect-4 at 0.55 got better with other openings
)
LEAST_VARIED = 5  # a smaller board has few games to choose from


def repetition(history: list[Report], settings: LoopSettings) -> Finding | None:
    """Games that are the same, or begin the same way."""
    remedy = "a larger opening_share and opening_mean, or more noise at the root"
    k, n = pooled(history, "distinct", least_size=LEAST_VARIED)
    if n >= LEAST_GAMES and k / n < REPEATED:
        return Finding(STUCK, f"only {k:.0f} of {n:.0f} games differ", remedy)
    for size in sizes(history[-1]):
        k, n = pooled(history, "commonest", RECENT, size, size)
        if size >= LEAST_VARIED and n >= LEAST_GAMES and beyond(k, n, SAME_OPENING):
            return Finding(STUCK, f"{k:.0f} of {n:.0f} games begin with the same {OPENING_MOVES} moves", remedy)
    return None


DRAWN = 0.5


def drawn(history: list[Report], settings: LoopSettings) -> Finding | None:
    k, n = pooled(history, "draws")
    if n >= LEAST_GAMES and beyond(k, n, DRAWN):
        return Finding(STUCK, f"{k:.0f} of {n:.0f} games are drawn", "a komi that decides them")
    return None


COLLAPSED, WRONG = 0.1, 0.5  # entropy as a share of the uniform one; top-1 on held-out games


def collapse(history: list[Report], settings: LoopSettings) -> Finding | None:
    entropy, right, uniform = (last(history, f"held/{name}") for name in ("entropy", "top1", "constant_policy"))
    if entropy is None or right is None or uniform is None or steps_of(history) < LEAST_STEPS:
        return None
    if entropy < COLLAPSED * uniform and right < WRONG:
        what = f"the policy has collapsed: entropy {entropy:.2f} of {uniform:.2f} nats, and right in {right:.0%}"
        return Finding(STUCK, what, "more opening variety and noise, a lower learning_rate")
    return None


def no_gain(history: list[Report], settings: LoopSettings) -> Finding | None:
    """After many steps no better than a constant predictor."""
    for name, steps, least in (("policy", LEAST_STEPS, LEAST_GAIN), ("value", VALUE_STEPS, 0.0)):
        found, guess = recent(history, f"held/{name}"), recent(history, f"held/constant_{name}")
        if steps_of(history) >= steps and found and guess and np.mean(found) > np.mean(guess) - least:
            what = f"held-out {name} loss {np.mean(found):.2f} against a constant guess's {np.mean(guess):.2f}"
            return Finding(
                STUCK, what, "another learning_rate, and first games by rollouts (a stage with evaluator = 'rollouts')"
            )
    return None


def plateau(history: list[Report], settings: LoopSettings) -> Finding | None:
    """Neither policy nor value got better in ten generations of one stage, and no match says otherwise.

    No alarm: better games can be as hard to predict. A run at 13x13 gained 260 Elo in sixty generations, and this finds
    half of them.
    """
    new, old = history[-PLATEAU:], history[-2 * PLATEAU : -PLATEAU]
    names = ("held/policy", "held/value")
    same_stage = len({report.get("run/stage") for report in old + new}) == 1
    if len(old) < PLATEAU or not same_stage or any(name not in report for report in old + new for name in names):
        return None
    if any(np.mean([report[name] for report in new]) < np.mean([report[name] for report in old]) for name in names):
        return None
    if any(report.get("strength/frozen_low", 0.0) > 1 / 2 or report.get("strength/uct_up", 0.0) for report in new):
        return None
    remedy = "a match with earlier weights, which tells whether it got stronger all the same"
    return Finding(NOTE, f"no held-out loss fell in {PLATEAU} generations", remedy)


MATCHES = 4  # measurements of strength that are added up
NO_BETTER = 0.6  # upper end of the score against itself of some generations ago: 70 Elo in that time would pass it


def no_stronger(history: list[Report], settings: LoopSettings) -> Finding | None:
    """The last matches against its own earlier weights, added up."""
    played = [report for report in history if "strength/frozen_games" in report][-MATCHES:]
    games = sum(report["strength/frozen_games"] for report in played)
    points = sum(report["strength/frozen_games"] * report["strength/frozen_score"] for report in played)
    if len(played) < MATCHES or wilson(points, round(games))[1] >= NO_BETTER:
        return None
    what = f"it scored {points:g} of {games:.0f} against its own weights of some generations before"
    return Finding(STUCK, what, "more full_visits, the learning rate's fall (anneal), or a wider network")


def rejected(history: list[Report], settings: LoopSettings) -> Finding | None:
    gates = [report["gate/passed"] for report in history if "gate/passed" in report][-PLATEAU:]
    if len(gates) < PLATEAU or any(gates):
        return None
    return Finding(
        STUCK, f"the gate turned away {PLATEAU} networks in a row", "more gate games, a share nearer 0.5, or no gate"
    )


HELD_GAP = 0.03  # nats between held-out and training loss of the value
GAP_NOISE = 0.6  # nats: standard deviation of a game's value loss


def overfitted(history: list[Report], settings: LoopSettings) -> Finding | None:
    held, train, games = (
        recent(history, "held/value"),
        recent(history, "fit/value"),
        last(history, "window/held_games") or 0.0,
    )
    if not held or not train or games < LEAST_GAMES:
        return None
    gap = float(np.mean(held) - np.mean(train))
    if gap - 2 * GAP_NOISE * math.sqrt(1 / games + 1 / FITTED) > HELD_GAP:
        return Finding(NOTE, f"the value's loss is {gap:.2f} higher on held-out games", "half the reuse")
    return None


LONG_GAME = 1.3  # mean moves as a share of the area; 0.6 to 0.9 is usual
CAPPED_SHARE = 0.01


def endless(history: list[Report], settings: LoopSettings) -> Finding | None:
    k, n = pooled(history, "capped", RECENT, least_size=7)
    if beyond(k, n, CAPPED_SHARE):
        remedy = "a look at them: python -m training.records list RUN_FOLDER --sort moves --reverse --limit 20"
        return Finding(NOTE, f"{k:.0f} of {n:.0f} games reached the limit of moves", remedy)
    for size in sizes(history[-1]):
        length = history[-1][f"games{size}/length"] / size**2
        if size >= 9 and length > LONG_GAME and history[-1][f"games{size}/count"] >= LEAST_GAMES:
            return Finding(
                NOTE,
                f"games on {size}x{size} last {length * size**2:.0f} moves",
                "patience; settled games go on too long",
            )
    return None


SIDED = (0.1, 0.9)


def one_sided(history: list[Report], settings: LoopSettings) -> Finding | None:
    """Boards below 7x7 are left out: there the first player wins whatever the usual komi is."""
    black, games = pooled(history, "black", RECENT, least_size=7)
    for share, who in ((black, "Black"), (games - black, "White")):
        if beyond(share, games, SIDED[1]):
            remedy = "another komi if the network is strong, patience if it is not"
            return Finding(NOTE, f"{who} won {share:g} of {games:.0f} games", remedy)
    return None


STALE = 2.0  # times the intended reuse


def stale(history: list[Report], settings: LoopSettings) -> Finding | None:
    if len(history) <= RECENT or settings.learner.epochs:
        return None
    rows, steps = (history[-1].get(name, 0) - history[-RECENT - 1].get(name, 0) for name in ("run/rows", "run/steps"))
    reuse = steps * settings.learner.batch / rows if rows > 0 else 0.0
    if reuse > STALE * settings.learner.reuse:
        what = f"each new row is used {reuse:.1f} times, {settings.learner.reuse:g} are meant: data grow stale"
        return Finding(NOTE, what, "a lower reuse")
    return None


SLOW = 1 / 3  # of the median speed in this stage


def slowed(history: list[Report], settings: LoopSettings) -> Finding | None:
    stage = history[-1].get("run/stage")
    alike = [report for report in history[-20:] if report.get("run/stage") == stage]
    speeds = [report["speed/evaluations"] for report in alike if report.get("speed/evaluations")]
    if stage is None or len(speeds) <= RECENT or speeds[-1] > SLOW * np.median(speeds[:-1]):
        return None
    what = f"{speeds[-1]:,.0f} evaluations/s, {np.median(speeds[:-1]):,.0f} before"
    return Finding(NOTE, what, "finding what else uses the processor")


FALSE_RESIGNATIONS = 0.05


def resigned(history: list[Report], settings: LoopSettings) -> Finding | None:
    checked, share = (last(history, f"resign/{name}") or 0.0 for name in ("checked", "false_positives"))
    if checked < LEAST_GAMES or not beyond(share * checked, checked, FALSE_RESIGNATIONS):
        return None
    what = f"{share * checked:.0f} of {checked:.0f} games would have been resigned wrongly"
    return Finding(NOTE, what, "a higher resign_threshold")


class Check(NamedTuple):
    """One thing that is looked for; its thresholds, with their reasons, stand above its function."""

    look: Callable[[list[Report], LoopSettings], Finding | None]
    go_alone: bool = False  # other games have no komi, and may be drawn or won by one side as they please


CHECKS = (
    Check(not_a_number), Check(unlawful), Check(frozen), Check(misread, go_alone=True), Check(norms), Check(biased),
    Check(pass_war, go_alone=True), Check(damaged), Check(cheap_rows), Check(repetition), Check(drawn, go_alone=True),
    Check(collapse), Check(no_gain), Check(no_stronger), Check(plateau), Check(rejected), Check(overfitted),
    Check(endless, go_alone=True), Check(one_sided, go_alone=True), Check(stale), Check(slowed), Check(resigned),
)  # fmt: skip
