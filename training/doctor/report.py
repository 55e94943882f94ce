"""The page of a run, report.html, and one that compares several: it opens anywhere, without network or server.

It is made from the files of the run folders alone: log.jsonl, settings.json, records/, weights.pt. What a run has no
numbers for is left out. A run makes its page every few generations and at its end.
"""

from __future__ import annotations

import base64
import html
import json
import os
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from gozero import plots
from gozero.system import files
from gozero.system.errors import ChoiceError, PlotError
from gozero.system.options import flat
from training.doctor.panels import SECTIONS, LoggedRun, ReportError, Section, panels
from training.settings.config import LoopSettings

FILE = "report.html"  # in a run folder
COMPARED = "comparison.html"  # in the working directory
PICTURE = ".png"  # the name's end that asks for the losses alone, as a picture
ACROSS = ("evaluations", "rows", "games", "steps", "generation", "hours")  # what the curves are drawn over
COUNTERS = ("generation", "hours", "games", "rows", "evaluations", "steps", "window", "corrupt")
NEWEST = 12  # verdicts that are listed

STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1080px; padding: 0 1em }
body { color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin: 2em 0 .3em; border-bottom: 1px solid #ddd } p { margin: .4em 0 }
img { max-width: 100%; display: block; margin: .5em 0 }
pre { font-size: 12px; background: #f6f6f6; padding: 1em; overflow-x: auto }
td, th { padding: .15em 1em .15em 0; text-align: left; vertical-align: top }
.verdict { padding: .6em 1em; border-left: 6px solid #999; background: #f6f6f6 }
.learning { border-color: #2a2 } .stuck { border-color: #e90 } .broken { border-color: #d22 }
"""


def write(folder: Path, stop: Callable[[], bool] = lambda: False) -> Path | None:
    """Make folder/report.html; it appears whole or not at all. Returns its path, or None if `stop()` became true.

    ReportError if there is nothing to show, matplotlib is missing, settings.json asks for what the game does not have,
    or the file cannot be written.
    """
    run = LoggedRun.open(folder, folder.absolute().name)
    found: list[str] = []
    try:
        for part in _parts(run):
            if stop():
                return None
            found.append(part)
    except (PlotError, ChoiceError) as error:
        raise ReportError(str(error)) from None
    return _save(folder / FILE, _page(f"{run.label}: report of the run", found))


def _parts(run: LoggedRun) -> Iterator[str]:
    """The page of one run, piece by piece."""
    yield from _counters([run])
    for section in SECTIONS:
        yield from _curves(section, [run], section.across)
    yield from _verdicts(run)
    from training.doctor import gallery  # imports PyTorch

    for picture in gallery.pictures(run.folder, run.settings or LoopSettings()):
        yield _picture(*picture)
    if run.settings:
        yield f"<h2>Settings</h2>\n<pre>{html.escape(json.dumps(run.settings.to_dict(), indent=1))}</pre>\n"


def compare(folders: Sequence[Path], out: Path, across: str = ACROSS[0]) -> Path:
    """Make a page of several run folders, or, if `out` ends with .png, a picture of their losses; return `out`.

    Args:
        folders: all different.
        out: appears whole or not at all.
        across: one of `ACROSS`.

    ReportError if a folder holds no run, the runs no losses, or the page cannot be drawn or written.
    """
    runs = _opened(folders)
    losses = panels(SECTIONS[0], runs, across)
    if not losses:
        raise ReportError(f"no loss of these runs is logged with its {across}; try another --across")
    try:
        if out.suffix.lower() == PICTURE:
            return _save(out, plots.curves(losses))
        body = list(_counters(runs))
        for section in SECTIONS:
            body += _curves(section, runs, across)
    except PlotError as error:
        raise ReportError(str(error)) from None
    return _save(out, _page(f"Runs compared: {', '.join(run.label for run in runs)}", [*body, *_differences(runs)]))


def _opened(folders: Sequence[Path]) -> list[LoggedRun]:
    """The runs, named by the ends of their paths that differ. ReportError for one given twice, or without a run."""
    whole = [os.path.realpath(folder) for folder in folders]
    if len(set(whole)) < len(whole):
        raise ReportError("a run is given twice: name each once")
    labels = [os.path.relpath(path, os.path.commonpath(whole)) for path in whole]
    return [LoggedRun.open(folder, label) for folder, label in zip(folders, labels, strict=True)]


# HTML


def _page(title: str, body: Sequence[str]) -> bytes:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    whole = f"<h1>{html.escape(title)}</h1>\n{''.join(body)}"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{whole}</body></html>\n'.encode()


def _save(path: Path, content: bytes) -> Path:
    """Write a file that appears whole or not at all, and return its path. ReportError if that fails."""
    try:
        with files.replacing(path) as file:
            file.write(content)
    except OSError as error:
        raise ReportError(f"cannot write {path.absolute()}: {error.strerror}") from None
    return path


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    lines = [("th", head), *(("td", row) for row in rows)]
    cells = ("".join(f"<{tag}>{html.escape(text)}</{tag}>" for text in line) for tag, line in lines)
    return "<table>" + "".join(f"<tr>{line}</tr>" for line in cells) + "</table>\n"


def _picture(heading: str, words: str, png: bytes) -> str:
    picture = base64.b64encode(png).decode()
    image = f'<img alt="{html.escape(heading)}" src="data:image/png;base64,{picture}">'
    return f"<h2>{heading}</h2>\n<p>{words}</p>\n{image}\n"


def _curves(section: Section, runs: Sequence[LoggedRun], across: str) -> Iterator[str]:
    """A section; nothing if the runs have none of its numbers."""
    if drawn := panels(section, runs, across):
        yield _picture(section.heading, section.words, plots.curves(drawn))


def _counters(runs: Sequence[LoggedRun]) -> Iterator[str]:
    """The newest verdict and counters of each run."""
    known = [name for name in COUNTERS if any(f"run/{name}" in run.log.reports[-1] for run in runs)]
    rows = []
    for run in runs:
        if run.verdict:
            kind = html.escape(run.verdict.partition(",")[0].partition(" ")[0])
            name = f"{run.label}: " if len(runs) > 1 else ""
            yield f'<p class="verdict {kind}">{html.escape(name + run.verdict)}</p>\n'
        now = run.log.reports[-1]
        counts = {name: now.get(f"run/{name}") for name in known}
        rows.append(
            [run.label, *("" if n is None else f"{n:,.{2 if name == 'hours' else 0}f}" for name, n in counts.items())]
        )
    yield _table(["run", *known], rows)


def _verdicts(run: LoggedRun) -> Iterator[str]:
    """The newest verdicts."""
    rows = [[str(generation), text] for generation, text in run.log.verdicts.items()]
    if rows:
        yield "<h2>Verdicts</h2>\n" + _table(["generation", "verdict"], rows[-NEWEST:][::-1])


def _differences(runs: Sequence[LoggedRun]) -> Iterator[str]:
    """The settings that are not the same in all runs."""
    settings = [flat(run.settings.to_dict()) if run.settings else {} for run in runs]
    names = dict.fromkeys(name for each in settings for name in each)
    rows = [[name, *(str(each.get(name, "")) for each in settings)] for name in names]
    differing = [row for row in rows if len(set(row[1:])) > 1]
    if differing:
        yield "<h2>Settings that differ</h2>\n" + _table(["setting", *(run.label for run in runs)], differing)
