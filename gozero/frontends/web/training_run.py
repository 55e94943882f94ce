"""The weights that a page may choose beside each game's own, and a training run's folder, as far as the page shows it.

The folder is written by `training`, which this package does not import: a run is known here by its files alone.
"""

from __future__ import annotations

from pathlib import Path

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.nets.locations import find
from gozero.nets.weights import WeightsError, header
from gozero.system.options import SettingsError, path_of

REPORT = "report.html"


class TrainingRun:
    """A run.

    Args:
        text: the folder, as the user gave it. SettingsError where there is none.
    """

    def __init__(self, text: str) -> None:
        self.folder = path_of(text)
        if not self.folder.is_dir():
            raise SettingsError(f"--run {text}: no such folder: {self.folder}")
        self.weights = self._weights()
        if not self.weights and not self.report.is_file():
            raise SettingsError(f"--run {self.folder}: neither weights (*.pt) nor {REPORT}: is it the folder of a run?")

    @property
    def name(self) -> str:
        return self.folder.name

    @property
    def report(self) -> Path:
        """The page that the run writes."""
        return self.folder / REPORT

    def _weights(self) -> dict[str, Path]:
        """The weights files of the folder by the names that the page shows."""
        found = {}
        for path in sorted(self.folder.rglob("*.pt")):
            try:
                header(path)
            except WeightsError:  # a checkpoint, or a file that is just being written
                continue
            found[f"{self.name}: {path.relative_to(self.folder).as_posix().removesuffix('.pt')}"] = path
        return found


def offered_weights(settings: EngineProcessSettings) -> dict[str, Path]:
    """The weights files of the user's run and ``--weights``, by the names that the page shows. SettingsError or
    WeightsError if they cannot be used.
    """
    offered = {} if settings.run is None else TrainingRun(settings.run).weights
    if settings.weights is not None:
        path = find(settings.weights)
        header(path)
        offered[path.name] = path
    return offered
