"""The checks of what a run learns from: its rows, its games and their files."""

from __future__ import annotations

import numpy as np

from training.doctor.check import (
    BROKEN,
    LEAST_GAMES,
    NOTE,
    RECENT,
    STUCK,
    Finding,
    Reports,
    beyond,
    check,
)
from training.doctor.checkup import OPENING_MOVES

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
WRONG_ROWS = "repairing what it names, then a new run: the targets of these rows are wrong"


@check(
    BROKEN,
    WRONG_ROWS,
    share=(0.0, "the laws hold exactly"),
    turn_rounding=(1e-3, "targets are float16"),
)
def broken_law(run: Reports, share: float, turn_rounding: float) -> Finding | None:
    """A law of the rows (`training.records.laws`) does not hold."""
    for name, (because, place) in LAWS.items():
        value = run.now.get(name, 0.0)
        if value > (turn_rounding if name.startswith("turn/") else share):
            return Finding(because.format(value), WRONG_ROWS.replace("what it names", place))
    return None


@check(
    BROKEN,
    "a larger no_pass_until and no_pass_generations",
    go_alone=True,
    share=(0.05, "of the games over before the opening is; below 0.01 in sound runs"),
    probability=(0.5, "mean of a pass with less than an eighth of the board taken"),
)
def pass_war(run: Reports, share: float, probability: float) -> str | None:
    """Games end by two passes in the opening, or the network expects them to."""
    k, n = run.pooled("early")
    if beyond(k, n, share):
        return f"{k:.0f} of {n:.0f} games ended by passes in the opening"
    passes = run.recent("probe/early_pass")
    if passes and min(passes) > probability:
        return f"the network passes on an open board (probability {passes[-1]:.2f})"
    return None


@check(
    BROKEN,
    "gozero records check RUN_FOLDER, then the disk; a change of the rules damages records too",
    share=(0.01, "of the games: more than a crash leaves; fewer are only noted"),
)
def damaged_records(run: Reports, share: float) -> Finding | None:
    """Records could not be read."""
    corrupt, games = run.last("run/corrupt") or 0.0, run.last("run/games") or 0.0
    level = BROKEN if beyond(corrupt, games + corrupt, share) else NOTE
    return Finding(f"damaged records were skipped, {corrupt:.0f} so far", level=level) if corrupt else None


@check(BROKEN, "not recording cheap searches", slack=(1.15, "recorded share of the moves against `full_share`"))
def cheap_rows(run: Reports, slack: float) -> str | None:
    """More moves are recorded than are searched fully.

    Games in flight outlive a change of `full_share`, so the largest that the run has had is allowed.
    """
    share = max(report.get("run/full_share", 1.0) for report in run.all)
    rows = moves = 0.0
    for size in run.sizes:
        count = run.now[f"games{size}/count"] * run.now.get(f"games{size}/length", 0.0)
        moves += count
        rows += count * run.now.get(f"games{size}/recorded", 0.0)
    if beyond(rows, moves, min(1.0, slack * share)):
        return f"{rows / moves:.0%} of the moves are recorded, {share:.0%} are searched fully"
    return None


@check(
    STUCK,
    "a larger opening_share and opening_mean, or more noise at the root",
    distinct=(0.5, "share of different games below which self-play repeats itself"),
    commonest=(
        0.5,
        "of the games begin alike; sound runs: 0.35 in Connect-4, 0.1 at 9x9; "
        "Connect-4 at 0.55 got better with other openings",
    ),
    least_size=(5, "a smaller board has few games to choose from"),
)
def repetition(run: Reports, distinct: float, commonest: float, least_size: int) -> str | None:
    """Games are the same, or begin the same way."""
    k, n = run.pooled("distinct", least_size=least_size)
    if n >= LEAST_GAMES and beyond(n - k, n, 1 - distinct):
        return f"only {k:.0f} of {n:.0f} games differ"
    for size in run.sizes:
        k, n = run.pooled("commonest", RECENT, size, size)
        if size >= least_size and n >= LEAST_GAMES and beyond(k, n, commonest):
            return f"{k:.0f} of {n:.0f} games begin with the same {OPENING_MOVES} moves"
    return None


@check(STUCK, "a komi that rules out draws, such as 7.5", go_alone=True, share=(0.5, "of the games"))
def drawn(run: Reports, share: float) -> str | None:
    """Most games are drawn."""
    k, n = run.pooled("draws")
    return f"{k:.0f} of {n:.0f} games are drawn" if n >= LEAST_GAMES and beyond(k, n, share) else None


@check(
    NOTE,
    "waiting; settled games go on too long",
    go_alone=True,
    capped=(0.01, "of the games reach the limit of moves"),
    length=(1.3, "mean moves as a share of the area; 0.6 to 0.9 is usual"),
)
def endless(run: Reports, capped: float, length: float) -> Finding | str | None:
    """Games are very long."""
    k, n = run.pooled("capped", RECENT, least_size=7)
    if beyond(k, n, capped):
        remedy = "a look at them: gozero records list RUN_FOLDER --sort moves --reverse --limit 20"
        return Finding(f"{k:.0f} of {n:.0f} games reached the limit of moves", remedy)
    for size in run.sizes:
        moves = run.now.get(f"games{size}/length", 0.0)
        if size >= 9 and moves > length * size**2 and run.now[f"games{size}/count"] >= LEAST_GAMES:
            return f"games on {size}x{size} last {moves:.0f} moves"
    return None


@check(
    NOTE,
    "another komi if the network is strong, waiting if it is not",
    go_alone=True,
    share=(0.9, "of the points"),
)
def one_sided(run: Reports, share: float) -> str | None:
    """One colour wins nearly all games on boards of 7x7 and more.

    On smaller boards the first player wins whatever the usual komi is.
    """
    black, games = run.pooled("black", RECENT, least_size=7)
    for points, who in ((black, "Black"), (games - black, "White")):
        if beyond(points, games, share):
            return f"{who} won {points:g} of {games:.0f} games"
    return None


@check(NOTE, "finding what else uses the processor", speed=(1 / 3, "of the median speed in this stage"))
def slowed(run: Reports, speed: float) -> str | None:
    """Self-play is much slower than before in this stage."""
    stage = run.now.get("run/stage")
    alike = [report for report in run.all[-20:] if report.get("run/stage") == stage]
    speeds = [report["speed/evaluations"] for report in alike if report.get("speed/evaluations")]
    if stage is None or len(speeds) <= RECENT or speeds[-1] > speed * np.median(speeds[:-1]):
        return None
    return f"{speeds[-1]:,.0f} evaluations/s, {np.median(speeds[:-1]):,.0f} before"


@check(
    NOTE,
    "a higher resign_threshold",
    share=(0.05, "of the games that were played on although one side would have resigned"),
)
def false_resignations(run: Reports, share: float) -> str | None:
    """Games would have been resigned by a side that did not lose them."""
    checked, wrong = (run.last(f"resign/{name}") or 0.0 for name in ("checked", "false_positives"))
    if checked < LEAST_GAMES or not beyond(wrong * checked, checked, share):
        return None
    return f"{wrong * checked:.0f} of {checked:.0f} games would have been resigned wrongly"
