"""What the pages of one run and of several share: the run folder as they read it, HTML, and panels of curves."""

from __future__ import annotations

import base64
import html
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from gozero import plots
from gozero.plots import Curve, Panel
from gozero.system.errors import UserError
from gozero.system.options import SettingsError
from training.doctor import history
from training.doctor.history import Report, RunLog, series
from training.settings import config
from training.settings.config import LoopSettings
from training.storage import storage

FILE = "report.html"  # in a run folder
COMPARED = "comparison.html"  # in the working directory
ACROSS = ("evaluations", "rows", "games", "steps", "generation", "hours")  # what the curves are drawn over
PICTURE = ".png"  # the name's end that asks for the losses alone, as a picture
LOSSES = ("policy", "value", "ownership", "score", "reply", "total")

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1080px; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin: 2em 0 .3em; border-bottom: 1px solid #ddd } p { margin: .4em 0 }
img { max-width: 100%; display: block; margin: .5em 0 } pre { font-size: 12px; background: #f6f6f6; padding: 1em; overflow-x: auto }
td, th { padding: .15em 1em .15em 0; text-align: left; vertical-align: top }
.verdict { padding: .6em 1em; border-left: 6px solid #999; background: #f6f6f6 }
.learning { border-color: #2a2 } .stuck { border-color: #e90 } .broken { border-color: #d22 }
"""


class ReportError(UserError):
    """No page can be made; one line."""


def read_log(folder: Path) -> RunLog:
    """The log of a run folder, with a report at least. ReportError if there is none, or it cannot be read."""
    try:
        log = history.read(folder)
    except OSError as error:
        raise ReportError(f"cannot read {folder.absolute() / history.LOG}: {error.strerror}") from None
    if not folder.is_dir():
        raise ReportError(f"there is no folder {folder.absolute()}")
    if not log.reports:
        what = f"{folder.absolute()} holds no {history.LOG} with a finished generation"
        begun = "let its run finish one first" if storage.holds_run(folder) else "is it a run folder?"
        raise ReportError(f"{what}; {log.complaint or begun}")
    return log


def read_settings(folder: Path) -> LoopSettings | None:
    """The settings of a run folder; None if they cannot be read."""
    try:
        return config.saved(folder / "settings.json")
    except SettingsError:
        return None


def save(path: Path, content: bytes) -> Path:
    """Write a file that appears whole or not at all, and return its path. ReportError if that fails."""
    try:
        with storage.replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise ReportError(f"cannot write {path.absolute()}: {error.strerror}") from None
    return path


def page(title: str, body: str) -> bytes:
    """The whole page, UTF-8."""
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    heading = f"<h1>{html.escape(title)}</h1>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{heading}\n{body}</body></html>\n'.encode()


def table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of plain texts."""
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in line) for tag, line in lines)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in cells) + "</table>\n"


def section(heading: str, words: str, png: bytes | None) -> Iterator[str]:
    """A heading, a sentence and a picture; nothing without the picture."""
    if png is not None:
        picture = base64.b64encode(png).decode()
        image = f'<img alt="{html.escape(heading)}" src="data:image/png;base64,{picture}">'
        yield f"<h2>{heading}</h2>\n<p>{words}</p>\n{image}\n"


def curves(heading: str, words: str, panels: Sequence[Panel]) -> Iterator[str]:
    """A section of panels; those without a curve are left out."""
    filled = [panel for panel in panels if panel.curves]
    return section(heading, words, plots.curves(filled) if filled else None)


def found(reports: Sequence[Report], names: Mapping[str, str], across: str) -> list[Curve]:
    """A curve for each {name in the report: label} that the reports have; a constant predictor's is a guide.

    Losses and times that are 0 throughout are left out: the game has no owned points, say, or the run no gate.
    """
    made = [(name, label, *series(reports, name, across)) for name, label in names.items()]
    return [
        Curve(label, x, y, guide="/constant_" in name)
        for name, label, x, y in made
        if any(y) or (x and not name.startswith(("train/", "held/", "speed/")))
    ]


def scores(label: str, reports: Sequence[Report], prefix: str, across: str = "run/evaluations") -> list[Curve]:
    """A curve of the score with its interval over `across`; none if no report has it."""
    names = (across, f"{prefix}score", f"{prefix}low", f"{prefix}high")
    known = [report for report in reports if all(name in report for name in names)]
    x, y, low, high = ([report[name] for report in known] for name in names)
    return [Curve(label, x, y, low, high)] if known else []
