"""Reads the log of a run, log.jsonl: a report {"group/name": number} for each generation, and the matches of its gate.

A report lacks what its version of gozero did not measure, so each number may be missing. A generation that was done
again after a crash counts once, as it was done last. A line that is damaged is left out, with a complaint.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from gozero.system.files import from_json

LOG = "log.jsonl"
VERDICT = "verdict"  # the one entry of a line of the log that is text
GENERATION, GATE_STEPS = "run/generation", "gate/steps"  # one of them is in each line

Report = dict[str, float]

_COUNT = re.compile(r"games(\d+)/count")


@dataclass
class RunLog:
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
            values = _parsed(line)
        except (ValueError, TypeError, OverflowError):
            damaged.append(number)
            continue
        verdict = values.pop(VERDICT, None)
        entries, key = (log.reports, GENERATION) if GENERATION in values else (log.matches, GATE_STEPS)
        while entries and entries[-1][key] >= values[key]:  # an earlier restart made them void
            log.verdicts.pop(int(entries.pop().get(GENERATION, -1)), None)
        entries.append(values)
        if verdict is not None:
            log.verdicts[int(values[GENERATION])] = verdict
    if damaged:
        more = f"; {len(damaged) - 1} others too" if len(damaged) > 1 else ""
        which = f"line {damaged[0]} of {path.absolute()}"
        log.complaint = f"{which} is left out: it is damaged, or no report of a run{more}"
    return log


def _parsed(line: str) -> dict[str, Any]:
    """The numbers, and the verdict, of a line. ValueError or TypeError if it has others."""
    values = from_json(line)
    if not isinstance(values, dict) or not values.keys() & {GENERATION, GATE_STEPS}:
        raise TypeError(line)
    for name, value in values.items():
        if type(value) not in ((str,) if name == VERDICT else (int, float)):
            raise TypeError(name)
    int(values.get(GENERATION, 0))
    return values


def last(history: list[Report], name: str) -> float | None:
    """The newest value of `name`; None if no report has it."""
    return next((report[name] for report in reversed(history) if name in report), None)


def sizes(report: Report) -> list[int]:
    """Board sizes of the generation's games."""
    return sorted(int(found[1]) for name in report if (found := _COUNT.fullmatch(name)))
