"""Reads the log of a run, log.jsonl: its reports and the matches of its gate.

Vocabulary.
  report   {"group/name": number}, one a generation; see `training.doctor.monitor`.
  history  the reports, oldest first, one a generation: a generation that was done again after a crash counts once, as
           it was done last.
  match    of the gate: the numbers gate/generation, gate/steps (of the learner, when the network was taken), gate/games,
           gate/score, gate/low, gate/high, gate/passed and run/evaluations, in a line of its own. In logs of earlier
           versions it stands in the report of its generation.
  unfit    a line that no run writes: no JSON, a number that is missing, of another type, or impossible, a board that no
           game has, an empty verdict.

A report lacks what its version of gozero did not measure, so each number may be missing, but for those that belong
together. An unfit line is left out, with a complaint; a last line that a crash has torn is left out in silence. Losses
that are not a number stay: a run that breaks writes them. Nothing is written here.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gozero.games.coords import MAX_SIZE
from gozero.system.options import SettingsError

LOG = "log.jsonl"
VERDICT = "verdict"  # the one entry of a line of the log that is text
GENERATION, STEPS, GATE_STEPS = "run/generation", "run/steps", "gate/steps"
RATE = "speed/evaluations"
OF_ITS_OWN = "gate/matches"  # a report with this number counts matches that have lines of their own

Report = dict[str, float]

_COUNTER = re.compile(
    r"run/.*|gate/(generation|matches|refused)|games\d+/(count|length)|.*[/_](games|rollouts|seconds|steps|checked)"
)
_COUNT = re.compile(r"games(\d+)/count")
_GAMES = re.compile(r"games(\d+)/.*")
_SIZES = {str(size) for size in range(2, MAX_SIZE + 1)}
_GAME_SHARES = "capped|settled|early|black|draws|distinct|commonest|recorded"
_SHARE = re.compile(
    rf"games\d+/({_GAME_SHARES})|gate/(score|low|high|passed)|strength/.*_(score|low|high)"
    r"|perfect/.*_(share|low|high)|resign/false_positives"
)
_TOGETHER = (  # numbers that are measured together
    (re.compile(r"(gate/|strength/.*_)(?:score|games)"), ("{0}score", "{0}games", "{0}low", "{0}high")),
    (re.compile(r"gate/score"), ("gate/passed",)),
    (re.compile(GATE_STEPS), ("gate/generation", "gate/score")),
    (re.compile(r"strength/uct_score"), ("strength/uct_rollouts",)),
    (re.compile(r"(perfect/.*_)share"), ("{0}low", "{0}high")),
    (re.compile(r"perfect/search_share"), ("perfect/policy_share", "run/evaluations")),
)


class _UnfitError(Exception):
    """Why a line is left out."""


@dataclass
class RunLog:
    """What a log holds."""

    reports: list[Report] = field(default_factory=list)  # the history
    verdicts: dict[int, str] = field(default_factory=dict)  # by generation
    matches: list[Report] = field(default_factory=list)  # of the gate, oldest first
    complaint: str = ""  # one line about unfit lines; empty where there are none


def resumed(folder: Path) -> RunLog:
    """The log, as `read`, of a run that is to go on. SettingsError where the file cannot be read."""
    try:
        return read(folder)
    except (OSError, ValueError) as error:
        why = error.strerror if isinstance(error, OSError) else error
        raise SettingsError(
            f"cannot read {(folder / LOG).absolute()}: {why}; move it away: the run goes on without it"
        ) from None


def read(folder: Path) -> RunLog:
    """The log of a run folder; empty where there is none. OSError or ValueError where the file cannot be read."""
    path, log, unfit = folder / LOG, RunLog(), []
    data = path.read_bytes() if path.exists() else b""
    text = data.decode(errors="replace")
    lines = text.split("\n")  # what follows the last newline is empty, or torn
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                _take(log, _parsed(line))
        except _UnfitError as error:
            if number < len(lines):
                unfit.append(f"line {number} of {path.absolute()} is left out: {error}")
    if not (log.reports or log.matches):
        data.decode()  # where it is no text at all, that is what is wrong with it
    more = f"; and so many others: {len(unfit) - 1}" if len(unfit) > 1 else ""
    log.complaint = unfit[0] + more if unfit else ""
    return log


def _take(log: RunLog, values: dict[str, Any]) -> None:
    """Put a line into the log; what an earlier restart made void goes."""
    verdict = values.pop(VERDICT, None)
    if GENERATION not in values:
        _drop(log.matches, GATE_STEPS, values[GATE_STEPS])
        log.matches.append(values)
        return
    generation = int(values[GENERATION])
    if not values.get(RATE, 1.0):  # written by earlier versions where the games were played before a restart
        for name in (RATE, "speed/selfplay_seconds", "speed/selfplay_busy"):
            values.pop(name, None)
    for report in _drop(log.reports, GENERATION, generation):
        log.verdicts.pop(int(report[GENERATION]), None)
    log.reports.append(values)
    if verdict is not None:
        log.verdicts[generation] = verdict
    if "gate/score" in values and OF_ITS_OWN not in values:
        _drop(log.matches, "gate/generation", generation)
        found = {name: value for name, value in values.items() if name.startswith("gate/") or name == "run/evaluations"}
        log.matches.append({**found, "gate/generation": values[GENERATION]})


def _drop(entries: list[Report], name: str, least: float) -> list[Report]:
    """Remove the newest entries down to the first whose number, 0 where it has none, is below `least`; return them."""
    kept = len(entries)
    while kept and entries[kept - 1].get(name, 0.0) >= least:
        kept -= 1
    dropped = entries[kept:]
    del entries[kept:]
    return dropped


def _parsed(line: str) -> dict[str, Any]:
    """The numbers, and the verdict, of a line. _UnfitError where it is unfit."""
    try:
        values = json.loads(line)
    except (ValueError, RecursionError):
        raise _UnfitError("it is no JSON") from None
    if not isinstance(values, dict):
        raise _UnfitError("it is no JSON object")
    if GENERATION not in values and GATE_STEPS not in values:
        raise _UnfitError(f"it has no {GENERATION}")
    for name, value in values.items():
        _check(name, value)
    for pattern, others in _TOGETHER:
        for found in filter(None, map(pattern.fullmatch, values)):
            for other in (each.format(*found.groups()) for each in others):
                if other not in values:
                    raise _UnfitError(f"it has {found.group()} but no {other}")
    generation = values[GENERATION if GENERATION in values else "gate/generation"]
    if generation != int(generation):
        raise _UnfitError(f"its generation is {generation}, no whole number")
    return values


def _check(name: str, value: object) -> None:
    """Raise _UnfitError where an entry cannot be what its name says."""
    if name == VERDICT:
        if not isinstance(value, str):
            raise _UnfitError(f"{name} is {json.dumps(value)}, no text")
        if not value.strip():
            raise _UnfitError(f"{name} is empty")
        return
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _UnfitError(f"{name} is {json.dumps(value)}, no number")
    if isinstance(value, int) and abs(value) > 2**63:
        raise _UnfitError(f"{name} is too large")
    if (found := _GAMES.fullmatch(name)) and found[1] not in _SIZES:
        raise _UnfitError(f"it has {name}, and no board has that size")
    if _COUNTER.fullmatch(name) and not (math.isfinite(value) and value >= 0):
        raise _UnfitError(f"{name} is {value}, which cannot be counted: expected a number from 0 on")
    if _SHARE.fullmatch(name) and not 0.0 <= value <= 1.0:
        raise _UnfitError(f"{name} is {value}: expected a share from 0 to 1")


def refused(matches: Iterable[Report]) -> int:
    """How many of the newest matches the gate refused in a row."""
    count = 0
    for match in matches:
        count = 0 if match["gate/passed"] else count + 1
    return count


def series(history: Iterable[Report], name: str, against: str = GENERATION) -> tuple[list[float], list[float]]:
    """(x, y): the values of `against` and `name` in the reports that have both."""
    found = [(report[against], report[name]) for report in history if name in report and against in report]
    return [x for x, _ in found], [y for _, y in found]


def last(history: list[Report], name: str) -> float | None:
    """The newest value of `name`; None where no report has it."""
    return next((report[name] for report in reversed(history) if name in report), None)


def sizes(report: Report) -> list[int]:
    """Board sizes of the generation's games."""
    return sorted(int(found[1]) for name in report if (found := _COUNT.fullmatch(name)))
