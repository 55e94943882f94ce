"""Reads the reports of a run from its log.jsonl.

Vocabulary.
  report   {"group/name": number}, one a generation; see `training.doctor.monitor`.
  history  the reports, oldest first, one a generation: a generation that was done again after a crash counts once, as
           it was done last.

A report lacks what its version of gozero did not measure, so each number may be missing. A line that was torn by a
crash is left out. Nothing is written here.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

Report = dict[str, float]
VERDICT = "verdict"  # the one entry of a line of the log that is text


def read(folder: Path) -> tuple[list[Report], dict[int, str]]:
    """(history, {generation: verdict}) of a run folder; both empty where there is no log."""
    log = folder / "log.jsonl"
    reports: dict[int, Report] = {}
    verdicts: dict[int, str] = {}
    for line in log.read_text(encoding="utf-8").splitlines() if log.exists() else []:
        try:
            values = json.loads(line)
            generation = int(values["run/generation"])
        except (ValueError, KeyError, TypeError):
            continue
        verdict = values.pop(VERDICT, None)
        # what an earlier restart made void
        for later in [number for number in reports if number >= generation]:
            del reports[later]
            verdicts.pop(later, None)
        reports[generation] = values
        if verdict is not None:
            verdicts[generation] = str(verdict)
    return list(reports.values()), verdicts


def series(history: Iterable[Report], name: str, against: str = "run/generation") -> tuple[list[float], list[float]]:
    """(x, y): the values of `against` and `name` in the reports that have both."""
    found = [(report[against], report[name]) for report in history if name in report and against in report]
    return [x for x, _ in found], [y for _, y in found]


def last(history: list[Report], name: str) -> float | None:
    """The newest value of `name`; None where no report has it."""
    return next((report[name] for report in reversed(history) if name in report), None)


def sizes(report: Report) -> list[int]:
    """Board sizes of the generation's games."""
    return sorted(int(name[5:-6]) for name in report if name.startswith("games") and name.endswith("/count"))
