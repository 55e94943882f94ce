"""The reports of a run: a line for each generation, the doctor's verdict, TensorBoard, log.jsonl and report.html.

The numbers have the same names in TensorBoard and in log.jsonl. Messages go to stderr. This module only collects and
writes: the run gives losses and speeds, `checkup` and `strength` measure, `verdict` judges, `report` draws.
"""

from __future__ import annotations

import contextlib
import json
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path

from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.words import counted
from training.doctor import history, report, strength
from training.doctor import verdict as doctor
from training.doctor.checkup import Checkup, MeasuredRun
from training.doctor.curves import Curves
from training.doctor.history import Report
from training.learner.trainer import Losses
from training.records import scoring
from training.settings.config import LoopSettings
from training.storage import storage


def summary(numbers: Report, settings: LoopSettings) -> str:
    """The report as one line, the most important numbers first."""
    games = ", ".join(
        f"{scoring.game_of(settings, size).dimensions}: {counted(numbers[f'games{size}/count'], 'game', '.0f')} of "
        f"{counted(numbers[f'games{size}/length'], 'move', '.0f')}"
        for size in history.sizes(numbers)
    )
    parts = [
        f"generation {numbers['run/generation']:.0f}",
        f"{numbers['run/hours']:.2f} h",
        counted(numbers["run/rows"], "row", ",.0f"),
        games or "no new games",  # all were played elsewhere, or earlier ones left rows enough
    ]
    if numbers.get("speed/evaluations"):  # none if the games were played elsewhere
        by = " by random playouts" if numbers.get("speed/playouts") else ""
        parts.append(f"{numbers['speed/evaluations']:,.0f} evaluations/s{by}")
    if "cluster/workers" in numbers:
        idle, behind = numbers.get("cluster/idle", 0.0), numbers.get("cluster/staleness", 0.0)
        workers = counted(numbers["cluster/workers"], "worker", ".0f")
        parts.append(f"{workers}, idle {idle:.0%}, {behind:.1f} versions behind")
    for group in ("train", "held"):
        shown = {name: numbers.get(f"{group}/{name}") for name in ("policy", "value", "ownership", "top1")}
        shown["ownership"] = shown["ownership"] or None  # 0 in a game without owned points
        losses = [f"{name} {value:.3f}" for name, value in shown.items() if value is not None]
        if losses:
            parts.append(f"{group} " + " ".join(losses))
    return " | ".join(parts)


class Monitor:
    """Watches a run: measures it after each generation, judges it, and writes to the terminal, TensorBoard, log.jsonl
    and report.html.
    """

    def __init__(self, folder: Path, settings: LoopSettings) -> None:
        """Raises SettingsError for settings that cannot be used, and OSError for a log that cannot be read."""
        self.folder, self.settings = folder, settings
        log = history.read(folder)
        self._history = log.reports
        if log.complaint:
            say(log.complaint)
        self._checkup = Checkup()
        self._log, self._turn = (folder / history.LOG).open("a", encoding="utf-8"), threading.Lock()
        self._curves = Curves(folder, settings.monitor.losses_every)
        self._is_behind = False  # the page, of what this session has logged; its times alone follow a clock set back

    def generation(self, numbers: Report, run: MeasuredRun, stop: Callable[[], bool] = lambda: False) -> None:
        """Report a generation of `run` that is done. Long measurements end within seconds once `stop()` is true."""
        stage, share = self.settings.stage_at(run.progress.rows), run.progress.full_share
        numbers = {**numbers, "run/stage": float(self.settings.stage.index(stage)), "run/full_share": share}
        generation = int(numbers["run/generation"])
        if not stop():
            began = time.monotonic()
            numbers |= self._checkup.measure(run, generation)
            numbers["speed/checkup_seconds"] = time.monotonic() - began
        if not stop():
            numbers |= strength.measure(run, generation, self._history, stop)
        self._history = [*(old for old in self._history if old["run/generation"] < generation), numbers]
        verdict = doctor.verdict(self._history, self.settings)
        say(summary(numbers, self.settings))
        say(f"  {verdict.text}")
        numbers["doctor/verdict"] = doctor.SCALES[verdict.status]
        self._append({**numbers, history.VERDICT: verdict.text})
        self._curves.report(numbers, verdict.text)
        every = self.settings.monitor.report_every
        if every and generation % every == 0 and not stop():
            self._report(stop)

    def step(self, number: int, losses: Losses) -> None:
        """Draw the losses of the learner's step of that number, if its turn is come."""
        with storage.writing(self.folder / "tensorboard"):
            self._curves.step(number, losses)

    def match(self, numbers: Report) -> None:
        """Log a match of the gate, which may end at any time, also after the last generation."""
        with storage.writing(self.folder / history.LOG):
            self._append(numbers)

    def close(self, stop: Callable[[], bool]) -> None:
        """Close the files. A run that was not stopped gets its last report, another one a line on how to have it."""
        for file in (self._log, self._curves):
            with contextlib.suppress(OSError):  # what could not be written has been an error before
                file.close()
        page, log = self.folder / report.FILE, self.folder / history.LOG
        is_new = page.exists() and not self._is_behind and page.stat().st_mtime_ns >= log.stat().st_mtime_ns
        if is_new or not self._history or not self.settings.monitor.report_every:
            return
        if stop() or not self._report(stop):
            say(f"{report.FILE} is not up to date; gozero report {self.folder} writes it")

    def _append(self, line: Mapping[str, float | str]) -> None:
        """Write a line of the log; the gate has a thread of its own."""
        with self._turn:
            self._log.write(json.dumps(line) + "\n")
            self._log.flush()
            self._is_behind = True

    def _report(self, stop: Callable[[], bool]) -> bool:
        """Write report.html, unless that is stopped; a page that cannot be drawn or written ends no run."""
        self._is_behind = False  # before it is read: the gate may log meanwhile
        try:
            return report.write(self.folder, stop) is not None
        except UserError as error:
            say(f"no report: {error}")
            return True
