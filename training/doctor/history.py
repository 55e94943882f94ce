"""Reads the log of a run, log.jsonl: a report {"group/name": number} for each generation, and the matches of its gate.

A report lacks what its version of gozero did not measure, so each number may be missing. A generation that was done
again after a crash counts once, as it was done last. A line that is damaged is left out, with a complaint.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LOG = "log.jsonl"
VERDICT = "verdict"  # the one entry of a line of the log that is text
GENERATION, GATE_STEPS = "run/generation", "gate/steps"  # one of them is in each line
RATE = "speed/evaluations"

Report = dict[str, float]

_COUNT = re.compile(r"games(\d+)/count")


@dataclass
class RunLog:
    """What a log holds."""

    reports: list[Report] = field(default_factory=list)  # oldest first
    verdicts: dict[int, str] = field(default_factory=dict)  # by generation
    matches: list[Report] = field(default_factory=list)  # of the gate, oldest first
    complaint: str = ""  # one line about damaged lines; empty if there are none


def read(folder: Path) -> RunLog:
    """The log of a run folder; empty if there is none. OSError if the file cannot be read."""
    path, log, damaged = folder / LOG, RunLog(), []
    data = path.read_bytes() if path.exists() else b""
    whole = data.decode(errors="replace").split("\n")[:-1]  # what follows the last newline was torn by a crash
    for number, line in enumerate(whole, 1):
        try:
            _take(log, _parsed(line))
        except (ValueError, TypeError, OverflowError, RecursionError):
            damaged.append(f"line {number} of {path.absolute()} is left out: it is damaged, or no report of a run")
    more = f"; {len(damaged) - 1} others too" if len(damaged) > 1 else ""
    log.complaint = damaged[0] + more if damaged else ""
    return log


def _parsed(line: str) -> dict[str, Any]:
    """The numbers, and the verdict, of a line. ValueError or TypeError if it has others."""
    values = json.loads(line)
    if not isinstance(values, dict) or not values.keys() & {GENERATION, GATE_STEPS}:
        raise TypeError(line)
    for name, value in values.items():
        if type(value) not in ((str,) if name == VERDICT else (int, float)):
            raise TypeError(name)
    return values


def _take(log: RunLog, values: dict[str, Any]) -> None:
    """Put a line into the log; what an earlier restart made void goes."""
    verdict = values.pop(VERDICT, None)
    if GENERATION not in values:
        _drop(log.matches, GATE_STEPS, values[GATE_STEPS])
        log.matches.append(values)
        return
    generation = int(values[GENERATION])
    for report in _drop(log.reports, GENERATION, generation):
        log.verdicts.pop(int(report[GENERATION]), None)
    log.reports.append(values)
    if verdict is not None:
        log.verdicts[generation] = verdict


def _drop(entries: list[Report], name: str, least: float) -> list[Report]:
    """Remove the newest entries down to the first whose number is below `least`; return them."""
    count = len(entries)
    while count and entries[count - 1][name] >= least:
        count -= 1
    dropped = entries[count:]
    del entries[count:]
    return dropped


def series(history: Iterable[Report], name: str, against: str = GENERATION) -> tuple[list[float], list[float]]:
    """(x, y): the values of `against` and `name` in the reports that have both."""
    found = [(report[against], report[name]) for report in history if name in report and against in report]
    return [x for x, _ in found], [y for _, y in found]


def last(history: list[Report], name: str) -> float | None:
    """The newest value of `name`; None if no report has it."""
    return next((report[name] for report in reversed(history) if name in report), None)


def sizes(report: Report) -> list[int]:
    """Board sizes of the generation's games."""
    return sorted(int(found[1]) for name in report if (found := _COUNT.fullmatch(name)))
