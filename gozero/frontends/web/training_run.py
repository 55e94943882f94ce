"""The weights that a page may choose beside each game's own, and a training run's folder, as far as the page shows it.

The folder is written by `training`, which this package does not import: a run is known here by its files alone.
"""

from __future__ import annotations

from pathlib import Path

from gozero.frontends.web.settings import EngineProcessSettings
from gozero.nets.locations import find
from gozero.nets.weights import WeightsError, header
from gozero.system import files
from gozero.system.options import SettingsError

REPORT = "report.html"  # in the folder


def run_folder(text: str) -> Path:
    """The folder of a run, as the user gave it. SettingsError if there is none."""
    folder = files.full(text)
    if not folder.is_dir():
        raise SettingsError(f"--run {text}: no such folder: {folder}")
    return folder


def offered_weights(settings: EngineProcessSettings) -> dict[str, Path]:
    """The weights of the run and of ``--weights`` by their names on the page. SettingsError or WeightsError if unusable."""
    offered = {}
    if settings.run is not None:
        folder = run_folder(settings.run)
        offered = _weights_in(folder)
        if not offered and not (folder / REPORT).is_file():
            raise SettingsError(f"--run {folder}: neither weights (*.pt) nor {REPORT}: is it the folder of a run?")
    if settings.weights is not None:
        path = find(settings.weights)
        header(path)
        offered[path.name] = path
    return offered


def _weights_in(folder: Path) -> dict[str, Path]:
    found = {}
    for path in sorted(folder.rglob("*.pt")):
        try:
            header(path)
        except WeightsError:  # a checkpoint, or a file that is just being written
            continue
        found[f"{folder.name}: {path.relative_to(folder).as_posix().removesuffix('.pt')}"] = path
    return found
