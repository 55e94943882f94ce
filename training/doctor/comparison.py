"""Several runs on one page or in one picture: losses, strength and bias, each with a curve for each run.

Vocabulary.
  run    a run folder as far as its log.jsonl and settings.json tell, with a label that no other run here has.
  panel  one number of the log, with a curve for each run that has it; left out where no run has.
  chain  runs of which each began with the weights of the one before: one curve, along which the counters go on.

Nothing is measured here. What does not compare is said on the page: losses of different games or boards, and a value
loss of a scalar head (squared error) beside one of win, draw and loss (cross-entropy).
"""

from __future__ import annotations

import html
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, is_dataclass, replace
from pathlib import Path
from typing import Any, get_origin, get_type_hints

from gozero import plots
from gozero.nets.course_nets import BODIES
from gozero.plots import Curve, Panel
from gozero.system.console import say
from gozero.system.errors import PlotError
from gozero.system.options import SettingsError, flat
from training.doctor import history, page
from training.doctor.history import Report, RunLog
from training.doctor.page import ACROSS, PICTURE, ReportError
from training.settings import config
from training.settings.config import LoopSettings
from training.storage import storage

CHAINED = ("evaluations", "steps", "hours")  # counters of a run's own work, without what it took over by --records
LOSSES = ("policy", "value", "ownership", "score", "reply", "total")
ONE_VALUE = ("agz13", *BODIES)  # networks whose value is one number, whatever the setting


@dataclass(frozen=True)
class ComparedRun:
    """What a run folder tells about a run."""

    label: str
    reports: list[Report]  # at least one, oldest first
    verdict: str  # the newest; empty where there is none
    settings: dict[str, Any]  # as in settings.json, of any version; empty where it cannot be read
    complaint: str = ""  # about lines of the log that are left out


def read_settings(folder: Path) -> dict[str, Any]:
    """The settings of a run folder, without values that they cannot have; empty where they cannot be read."""
    try:
        return _possible(LoopSettings, config.saved(folder / "settings.json"))
    except (OSError, ValueError, TypeError):
        return {}


def _possible(table: type[Any], values: Mapping[str, Any]) -> dict[str, Any]:
    """A table's plain values without those that its settings cannot have; names of other versions stay, as do stages."""
    kinds, found = get_type_hints(table), {}
    for name, value in values.items():
        kind = kinds.get(name)
        if is_dataclass(kind) and isinstance(value, dict):
            found[name] = _possible(kind, value)  # type: ignore[arg-type]
        elif kind is None or (get_origin(kind) is tuple and isinstance(value, list)):
            found[name] = value
        else:
            with suppress(SettingsError):
                config.from_dict(table, {name: value}, name)
                found[name] = value
    return found


def read_log(folder: Path) -> RunLog:
    """The log of a run folder, with a report at least. ReportError where there is none, or it cannot be read."""
    try:
        log = history.read(folder)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else "it is no text"
        raise ReportError(f"cannot read {folder.absolute() / history.LOG}: {why}") from None
    if not folder.is_dir():
        raise ReportError(f"there is no folder {folder.absolute()}")
    if not log.reports:
        what = f"{folder.absolute()} holds no {history.LOG} with a finished generation"
        begun = "let its run finish one first" if storage.holds_run(folder) else "is it a run folder?"
        raise ReportError(f"{what}; {log.complaint or begun}")
    return log


def write(
    folders: Sequence[Path],
    out: Path,
    across: str = ACROSS[0],
    tell: Callable[[str], None] = say,
    *,
    chained: bool = False,
) -> Path:
    """Make a page of two or more run folders, or, where `out` ends with .png, a picture of their losses; return `out`.

    Args:
        folders: run folders, all different.
        out: the file; it appears whole or not at all.
        across: one of `ACROSS`.
        tell: hears of what does not compare, and of lines of the logs that are left out.
        chained: the runs are a chain, in this order; over one of `CHAINED` alone.

    Raises:
        ReportError: a folder holds no run, the runs have no losses, a chain has no such counter, matplotlib is
            missing, or `out` cannot be written.
    """
    if chained and across not in CHAINED:
        raise ReportError(
            f"--chained is drawn over {', '.join(CHAINED)}: of {across}, a run counts again what it took over"
        )
    runs = [_open(folder, label) for folder, label in zip(folders, _labels(folders), strict=True)]
    drawn = [_chain(runs)] if chained else runs
    try:
        if not _losses(drawn, across):
            raise ReportError(f"no loss of these runs is logged with its {across}; try another --across")
        found = warnings(runs, across, chained=chained)
        for warning in (*(run.complaint for run in runs if run.complaint), *found):
            tell(warning)
        if out.suffix.lower() == PICTURE:
            return page.save(out, plots.curves(_losses(drawn, across)))
        names = ", ".join(run.label for run in runs)
        return page.save(out, page.page(f"Runs compared: {names}", "".join(_body(runs, drawn, across, found))))
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
    log = read_log(folder)
    verdict = log.verdicts.get(int(log.reports[-1]["run/generation"]), "")
    return ComparedRun(label, log.reports, verdict, read_settings(folder), log.complaint)


def _chain(runs: Sequence[ComparedRun]) -> ComparedRun:
    """The runs of a chain as one, whose counters are the sums over them."""
    reports: list[Report] = []
    before: Report = dict.fromkeys((f"run/{name}" for name in CHAINED), 0.0)
    for run in runs:
        moved = [{name: value + before.get(name, 0) for name, value in report.items()} for report in run.reports]
        before |= {name: moved[-1][name] for name in before if name in moved[-1]}
        reports += moved
    return ComparedRun(f"{runs[0].label} to {runs[-1].label}", reports, runs[-1].verdict, runs[-1].settings)


def _curves(runs: Sequence[ComparedRun], name: str, across: str) -> list[Curve]:
    """A curve of a number of the log for each run that has it."""
    return [curve for run in runs for curve in page.found(run.reports, {name: run.label}, f"run/{across}")]


def _panel(title: str, runs: Sequence[ComparedRun], name: str, across: str) -> Panel:
    return Panel(title, _curves(runs, name, across), across)


def _filled(panels: Sequence[Panel]) -> list[Panel]:
    return [panel for panel in panels if panel.curves]


def _losses(runs: Sequence[ComparedRun], across: str) -> list[Panel]:
    """Each loss, in training and on held-out games."""
    panels = []
    for name in LOSSES:
        panels.append(_panel(f"{name} loss, training", runs, f"train/{name}", across))
        panels.append(_panel(f"{name} loss, held-out games", runs, f"held/{name}", across))
    return _filled([replace(panel, curves=page.nonzero(panel.curves)) for panel in panels])


def _strength(runs: Sequence[ComparedRun], across: str) -> list[Panel]:
    """Scores, how far each run has climbed, agreement with the yardstick, distance to perfect play."""
    at = f"run/{across}"
    scores = [replace(curve, label=run.label) for run in runs for curve in _scores(run, "strength/uct_", at)]
    frozen = [replace(curve, label=run.label) for run in runs for curve in _scores(run, "strength/frozen_", at)]
    return _filled(
        [
            _panel("rollouts of rollout PUCT, doubled once beaten", runs, "strength/uct_rollouts", across),
            Panel("score against that rollout PUCT", scores, across),
            Panel("score against its own earlier weights", frozen, across),
            _panel("yardstick: top-1", runs, "yardstick/top1", across),
            _panel("yardstick: error of the win rate", runs, "yardstick/winrate_error", across),
            _panel("solved game: value kept by the search", runs, "perfect/search_share", across),
            _panel("solved game: value kept by the policy", runs, "perfect/policy_share", across),
        ]
    )


def _scores(run: ComparedRun, prefix: str, at: str) -> list[Curve]:
    return page.scores(run.label, run.reports, prefix, at)


def _judgement(runs: Sequence[ComparedRun], across: str) -> list[Panel]:
    """Bias of the value by board, its calibration, and what the policy gets right."""
    biases = sorted({name for run in runs for report in run.reports for name in report if name.endswith("/bias")})
    return _filled(
        [
            *(_panel(f"bias of the value, {name.partition('/')[0]}", runs, name, across) for name in biases),
            _panel("calibration, held-out games", runs, "held/calibration", across),
            _panel("top-1, held-out games", runs, "held/top1", across),
            _panel("winner right, held-out games", runs, "held/value_sign", across),
            _panel("entropy of the policy, held-out games", runs, "held/entropy", across),
            _panel("norm of the gradient", runs, "train/gradient", across),
            _panel("evaluations/s of self-play", runs, "speed/evaluations", across),
        ]
    )


def _body(
    runs: Sequence[ComparedRun], drawn: Sequence[ComparedRun], across: str, found: Sequence[str]
) -> Iterator[str]:
    """A row of the table for each of `runs`, the warnings, curves of those runs that are drawn."""
    yield from _summary(runs)
    for warning in found:
        yield f'<p class="verdict stuck">{html.escape(warning)}</p>\n'
    words = f"Over {across}. A run without held-out games has curves of training alone."
    yield from page.curves("Losses", words, _losses(drawn, across))
    words = "Few games each, so trust the trend. The scores are against opponents that each run has reached by itself."
    yield from page.curves("Strength", words, _strength(drawn, across))
    words = "Bias is the mean value less the mean result: 0 is right. “fit” are training rows, “held” held-out games."
    yield from page.curves("Bias, and what is right", words, _judgement(drawn, across))
    yield from _differences(runs)


def _summary(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """A row for each run: its counters, newest losses and verdict."""
    counters = ("generation", "hours", "games", "rows", "evaluations", "steps")
    losses = [f"{part}/{name}" for part in ("train", "held") for name in ("policy", "value")]
    rows = [
        [
            run.label,
            str(run.settings.get("game", "")),
            str(run.settings.get("network", "")),
            *(_number(run.reports[-1].get(f"run/{name}"), 2 if name == "hours" else 0) for name in counters),
            *(_number(history.last(run.reports, name), 3) for name in losses),
            run.verdict,
        ]
        for run in runs
    ]
    yield page.table(["run", "game", "network", *counters, *losses, "verdict"], rows)


def warnings(runs: Sequence[ComparedRun], across: str, *, chained: bool = False) -> list[str]:
    """Sentences on what of these runs does not compare, and on runs that cannot be drawn over this counter."""
    games = sorted({str(run.settings["game"]) for run in runs if "game" in run.settings})
    boards = {tuple(sorted({size for report in run.reports for size in history.sizes(report)})) for run in runs}
    found = []
    if len(games) > 1:
        found.append(f"These runs play different games ({', '.join(games)}): their losses do not compare.")
    elif len(boards) > 1:
        found.append("These runs played on different boards: their losses compare only in part.")
    if len({_has_scalar_value(run) for run in runs if run.settings}) > 1:
        found.append(
            "Some of these runs learn the value by squared error, others by cross-entropy: these losses do not compare."
        )
    missing = [run.label for run in runs if not any(f"run/{across}" in report for report in run.reports)]
    if missing:
        what = "its part of the curve is missing" if chained else "it has no curve here"
        found.append(f"The log of {', '.join(missing)} has no {across}, so {what}; try another --across.")
    return found


def _has_scalar_value(run: ComparedRun) -> bool:
    """Whether the value is one number with a squared error: by the settings, or because its network has no other."""
    return run.settings.get("value_head") == "scalar" or run.settings.get("network") in ONE_VALUE


def _number(value: float | None, digits: int) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _differences(runs: Sequence[ComparedRun]) -> Iterator[str]:
    """The settings that are not the same in all runs."""
    settings = [flat(run.settings) for run in runs]
    names = dict.fromkeys(name for each in settings for name in each)
    rows = [
        [name, *(str(each.get(name, "")) for each in settings)]
        for name in names
        if len({str(each.get(name, "")) for each in settings}) > 1
    ]
    if rows:
        yield "<h2>Settings that differ</h2>\n" + page.table(["setting", *(run.label for run in runs)], rows)
