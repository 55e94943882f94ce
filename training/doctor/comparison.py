"""Several runs on one page or in one picture: losses, strength and bias, each with a curve for each run.

What does not compare is said on the page: losses of different games or boards, and a value loss of a scalar head
(squared error) beside one of win, draw and loss (cross-entropy).
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from gozero import plots
from gozero.nets.course_nets import BODIES
from gozero.plots import Panel
from gozero.system.console import say
from gozero.system.errors import PlotError
from gozero.system.options import flat
from training.doctor import history, page
from training.doctor.history import Report
from training.doctor.page import ACROSS, LOSSES, PICTURE, ReportError
from training.settings.config import LoopSettings

CHAINED = ("evaluations", "steps", "hours")  # counters of a run's own work, without what it took over by --records
COUNTERS = ("generation", "hours", "games", "rows", "evaluations", "steps")
ONE_VALUE = ("agz13", *BODIES)  # networks whose value is one number, whatever the setting

# title of a panel -> number of the report
LOSS_PANELS = {
    f"{name} loss, {title}": f"{part}/{name}"
    for name in LOSSES
    for part, title in (("train", "training"), ("held", "held-out games"))
}
SCORES = {
    "score against that rollout PUCT": "strength/uct_",
    "score against its own earlier weights": "strength/frozen_",
}
STRENGTH = {
    "rollouts of rollout PUCT, doubled once beaten": "strength/uct_rollouts",
    "yardstick: top-1": "yardstick/top1",
    "yardstick: error of the win rate": "yardstick/winrate_error",
    "solved game: value kept by the search": "perfect/search_share",
    "solved game: value kept by the policy": "perfect/policy_share",
}
JUDGEMENT = {
    "calibration, held-out games": "held/calibration",
    "top-1, held-out games": "held/top1",
    "winner right, held-out games": "held/value_sign",
    "entropy of the policy, held-out games": "held/entropy",
    "norm of the gradient": "train/gradient",
    "evaluations/s of self-play": "speed/evaluations",
}


@dataclass(frozen=True)
class ComparedRun:
    """What a run folder has about a run."""

    label: str
    reports: list[Report]  # at least one, oldest first
    verdict: str  # the newest; empty if there is none
    settings: LoopSettings | None  # None if they cannot be read
    complaint: str = ""  # about lines of the log that are left out

    @property
    def has_scalar_value(self) -> bool:
        """Whether the value is one number with a squared error, by the settings or by its network."""
        return self.settings is not None and (
            self.settings.value_head == "scalar" or self.settings.network in ONE_VALUE
        )


def write(
    folders: Sequence[Path],
    out: Path,
    across: str = ACROSS[0],
    warn: Callable[[str], None] = say,
    *,
    chained: bool = False,
) -> Path:
    """Make a page of two or more run folders, or, if `out` ends with .png, a picture of their losses; return `out`.

    Args:
        folders: all different.
        out: appears whole or not at all.
        across: one of `ACROSS`.
        warn: called about what does not compare, and lines of the logs that are left out.
        chained: each run began with the weights of the one before: one curve, along which the counters go on; over one
            of `CHAINED` alone.

    ReportError if a folder holds no run, the runs no losses, or the page cannot be drawn or written.
    """
    if chained and across not in CHAINED:
        raise ReportError(
            f"--chained is drawn over {', '.join(CHAINED)}: of {across}, a run counts again what it took over"
        )
    runs = [_open(folder, label) for folder, label in zip(folders, _labels(folders), strict=True)]
    drawn = [_chain(runs)] if chained else runs
    losses = [panel for panel in _panels(drawn, LOSS_PANELS, across) if panel.curves]
    if not losses:
        raise ReportError(f"no loss of these runs is logged with its {across}; try another --across")
    found = warnings(runs, across, chained=chained)
    for warning in (*(run.complaint for run in runs if run.complaint), *found):
        warn(warning)
    try:
        if out.suffix.lower() == PICTURE:
            return page.save(out, plots.curves(losses))
        names = ", ".join(run.label for run in runs)
        body = "".join([*_head(runs, found), *_curves(drawn, losses, across), *_differences(runs)])
        return page.save(out, page.page(f"Runs compared: {names}", body))
    except PlotError as error:
        raise ReportError(str(error)) from None


def _labels(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths, of equal length, that tell the folders apart. ReportError for one given twice."""
    whole = [Path(os.path.realpath(folder)) for folder in folders]
    for number, folder in enumerate(whole):
        if folder in whole[:number]:
            raise ReportError(f"{folder} is given twice: name each run once")
    length = 1
    while len({folder.parts[-length:] for folder in whole}) < len(whole):
        length += 1
    return ["/".join(folder.parts[-length:]) for folder in whole]


def _open(folder: Path, label: str) -> ComparedRun:
    log = page.read_log(folder)
    verdict = log.verdicts.get(int(log.reports[-1]["run/generation"]), "")
    return ComparedRun(label, log.reports, verdict, page.read_settings(folder), log.complaint)


def _chain(runs: Sequence[ComparedRun]) -> ComparedRun:
    """The runs of a chain as one, whose counters are the sums over them."""
    reports: list[Report] = []
    before: Report = dict.fromkeys((f"run/{name}" for name in CHAINED), 0.0)
    for run in runs:
        moved = [{name: value + before.get(name, 0) for name, value in report.items()} for report in run.reports]
        before |= {name: moved[-1][name] for name in before if name in moved[-1]}
        reports += moved
    return ComparedRun(f"{runs[0].label} to {runs[-1].label}", reports, runs[-1].verdict, runs[-1].settings)


def _panels(runs: Sequence[ComparedRun], table: Mapping[str, str], across: str) -> list[Panel]:
    """A panel for each entry of a table {title: number of the report}, with a curve for each run that has it."""
    return [
        Panel(
            title,
            [curve for run in runs for curve in page.found(run.reports, {name: run.label}, f"run/{across}")],
            across,
        )
        for title, name in table.items()
    ]


def _head(runs: Sequence[ComparedRun], found: Sequence[str]) -> Iterator[str]:
    """A row for each run, with its counters, newest losses and verdict; then the warnings."""
    losses = [f"{part}/{name}" for part in ("train", "held") for name in ("policy", "value")]
    rows = [
        [
            run.label,
            run.settings.game if run.settings else "",
            run.settings.network if run.settings else "",
            *(_number(run.reports[-1].get(f"run/{name}"), 2 if name == "hours" else 0) for name in COUNTERS),
            *(_number(history.last(run.reports, name), 3) for name in losses),
            run.verdict,
        ]
        for run in runs
    ]
    yield page.table(["run", "game", "network", *COUNTERS, *losses, "verdict"], rows)
    for warning in found:
        yield f'<p class="verdict stuck">{html.escape(warning)}</p>\n'


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _curves(runs: Sequence[ComparedRun], losses: Sequence[Panel], across: str) -> Iterator[str]:
    """The three sections of curves."""
    words = f"Over {across}. A run without held-out games has curves of training alone."
    yield from page.curves("Losses", words, losses)
    scores = [
        Panel(
            title,
            [curve for run in runs for curve in page.scores(run.label, run.reports, prefix, f"run/{across}")],
            across,
        )
        for title, prefix in SCORES.items()
    ]
    words = "Few games each, so trust the trend. The scores are against opponents that each run has reached by itself."
    rollouts, *others = _panels(runs, STRENGTH, across)
    yield from page.curves("Strength", words, [rollouts, *scores, *others])
    names = sorted({name for run in runs for report in run.reports for name in report if name.endswith("/bias")})
    biases = {f"bias of the value, {name.partition('/')[0]}": name for name in names}
    words = "Bias is the mean value less the mean result: 0 is right. “fit” are training rows, “held” held-out games."
    yield from page.curves("Bias, and what is right", words, _panels(runs, biases | JUDGEMENT, across))


def warnings(runs: Sequence[ComparedRun], across: str, *, chained: bool = False) -> list[str]:
    """Sentences on what of these runs does not compare, and on runs that cannot be drawn over this counter."""
    games = sorted({run.settings.game for run in runs if run.settings})
    boards = {tuple(sorted({size for report in run.reports for size in history.sizes(report)})) for run in runs}
    found = []
    if len(games) > 1:
        found.append(f"These runs play different games ({', '.join(games)}): their losses do not compare.")
    elif len(boards) > 1:
        found.append("These runs played on different boards: their losses compare only in part.")
    if len({run.has_scalar_value for run in runs if run.settings}) > 1:
        found.append(
            "Some of these runs learn the value by squared error, others by cross-entropy: these losses do not compare."
        )
    missing = [run.label for run in runs if not any(f"run/{across}" in report for report in run.reports)]
    if missing:
        what = "its part of the curve is missing" if chained else "it has no curve here"
        found.append(f"The log of {', '.join(missing)} has no {across}, so {what}; try another --across.")
    return found


def _differences(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """The settings that are not the same in all runs."""
    settings = [flat(run.settings.to_dict()) if run.settings else {} for run in runs]
    names = dict.fromkeys(name for each in settings for name in each)
    rows = [[name, *(str(each.get(name, "")) for each in settings)] for name in names]
    differing = [row for row in rows if len(set(row[1:])) > 1]
    if differing:
        yield "<h2>Settings that differ</h2>\n" + page.table(["setting", *(run.label for run in runs)], differing)
