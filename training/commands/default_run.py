"""What is said before the default run begins or continues."""

from __future__ import annotations

from pathlib import Path

from gozero.system.console import say
from training.doctor import history
from training.run import estimate
from training.settings.config import LoopSettings
from training.storage import checkpoint
from training.storage.checkpoint import Progress

MEASURED_SECONDS = 8.0  # before a default run begins


def announcement(preset: str, settings: LoopSettings, folder: Path) -> str:
    """The line before the default run: what begins or continues, how long a generation takes, how to stop it.

    SettingsError for a log that cannot be read.
    """
    where = f"{preset} in {folder.absolute()}"
    found = checkpoint.latest(folder / "checkpoints")
    if found is not None:
        what = f"continuing the default run, {where}: {_so_far(found[0].progress, history.read(folder).reports)}"
    else:
        say(
            f"a training run is about to begin, {where}: measuring the speed of this computer first, for about "
            f"{MEASURED_SECONDS:g} seconds; Ctrl-C stops it"
        )
        took = estimate.generation_hours(settings, MEASURED_SECONDS)
        what = (
            f"beginning the default run, {where}: self-play and learning in turns; "
            f"the first generation takes about {_minutes(took)} here"
        )
    return f"{what}; Ctrl-C stops it and saves, the same command continues"


def _so_far(progress: Progress, reports: list[history.Report]) -> str:
    """What a run has done, and how long its last generation took, if its log says so (that of a kept run is gone)."""
    done = f"it is in generation {progress.generation} after {_minutes(progress.hours)}"
    hours = {int(report["run/generation"]): report["run/hours"] for report in reports if "run/hours" in report}
    newest = max(hours, default=0)
    before = hours.get(newest - 1, None if newest != 1 else 0.0)
    return done if before is None else f"{done}; the last one took {_minutes(hours[newest] - before)}"


def _minutes(hours: float) -> str:
    minutes = 60 * hours
    return (
        f"{hours:.1f} hours"
        if hours >= 2
        else f"{minutes:.0f} minutes"
        if minutes >= 2
        else f"{60 * minutes:.0f} seconds"
    )
