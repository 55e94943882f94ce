"""`python -m training.report RUN_FOLDER`: one page, report.html, that shows how a run goes. It opens anywhere, without
network or server.

Vocabulary.
  section  a heading with pictures or text. A section whose numbers are not in the run folder is left out, so logs of
           older versions and runs just begun are shown too.

The page is made from the files of the folder alone: log.jsonl, settings.json, records/, weights.pt. The run makes it
every few generations and at its end; this command makes it at any time, also during the run. Verdicts are the
doctor's (`training.doctor.verdict`).
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from gozero import plots
from gozero.games import make
from gozero.plots import Curve, Panel, PlotError
from training.console import Parser, run_command
from training.doctor import history
from training.doctor.gallery import Gallery
from training.doctor.history import Report, series
from training.storage import storage

VERDICTS = 12  # newest ones that are listed
TICKS = 6  # generations named above the losses
STYLE = """
body { font: 15px/1.45 system-ui, sans-serif; margin: 2em auto; max-width: 1080px; padding: 0 1em; color: #222; background: #fff }
h1 { font-size: 1.5em } h2 { font-size: 1.15em; margin: 2em 0 .3em; border-bottom: 1px solid #ddd } p { margin: .4em 0 }
img { max-width: 100%; display: block; margin: .5em 0 } pre { font-size: 12px; background: #f6f6f6; padding: 1em; overflow-x: auto }
td, th { padding: .15em 1em .15em 0; text-align: left; vertical-align: top }
.verdict { padding: .6em 1em; border-left: 6px solid #999; background: #f6f6f6 }
.learning { border-color: #2a2 } .stuck { border-color: #e90 } .broken { border-color: #d22 }
"""


class ReportError(Exception):
    """No page can be made; one line."""


@dataclass(frozen=True)
class Files:
    """The parts of a run folder that the page shows."""

    folder: Path
    reports: list[Report]
    verdicts: dict[int, str]
    settings: dict[str, Any]


def write(folder: Path, stop: Callable[[], bool] = lambda: False) -> Path:
    """Make folder/report.html; it appears whole or not at all, and not if `stop()` says so in the meantime. Returns its
    path.

    Raises:
        ReportError: there is nothing to show, matplotlib is missing, or the file cannot be written.
    """
    files = _open(folder)
    parts: list[str] = []
    try:
        for section in SECTIONS:
            if stop():
                return folder / "report.html"
            parts += section(files)
    except PlotError as error:
        raise ReportError(str(error)) from None
    return _save(folder / "report.html", _page(f"{folder.absolute().name}: report of the run", "".join(parts)))


def _open(folder: Path) -> Files:
    reports, verdicts = history.read(folder)
    if not reports:
        raise ReportError(f"{folder.absolute()} holds no log.jsonl with a finished generation; is it a run folder?")
    try:
        settings = json.loads((folder / "settings.json").read_text(encoding="utf-8"))
    except (OSError, ValueError):
        settings = {}
    return Files(folder, reports, verdicts, settings)


def _save(path: Path, page: str) -> Path:
    try:
        with storage.replacing(path) as file:
            file.write(page.encode())
    except OSError as error:
        raise ReportError(f"cannot write {path.absolute()}: {error.strerror}") from None
    return path


def _page(title: str, body: str) -> str:
    head = f'<meta charset="utf-8"><title>{html.escape(title)}</title><style>{STYLE}</style>'
    heading = f"<h1>{html.escape(title)}</h1>"
    return f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n{heading}\n{body}</body></html>\n'


def _image(png: bytes, text: str) -> str:
    return f'<img alt="{html.escape(text)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">\n'


def _section(heading: str, words: str, png: bytes | None) -> Iterator[str]:
    """A heading, a sentence and a picture; nothing without the picture."""
    if png is not None:
        yield f"<h2>{heading}</h2>\n<p>{words}</p>\n{_image(png, heading)}"


def _curves(heading: str, words: str, panels: Sequence[Panel]) -> Iterator[str]:
    """A section of panels; those without a curve are left out."""
    filled = [panel for panel in panels if panel.curves]
    return _section(heading, words, plots.curves(filled) if filled else None)


def _found(reports: list[Report], names: dict[str, str], across: str, guides: Sequence[str] = ()) -> list[Curve]:
    """A curve for each {name in the report: label} that the reports have; `guides` names the lines to compare with."""
    made = [(label, *series(reports, name, across), name in guides) for name, label in names.items()]
    return [Curve(label, x, y, guide=guide) for label, x, y, guide in made if x]


def summary(files: Files) -> Iterator[str]:
    """The newest verdict and counters, and the verdicts before it."""
    now = files.reports[-1]
    verdict = files.verdicts.get(int(now["run/generation"]), "")
    if verdict:
        yield f'<p class="verdict {verdict.split(",")[0].split()[0]}">{html.escape(verdict)}</p>\n'
    places = {
        "generation": 0,
        "hours": 2,
        "games": 0,
        "rows": 0,
        "evaluations": 0,
        "steps": 0,
        "window": 0,
        "corrupt": 0,
    }
    found = {name: f"{now[f'run/{name}']:,.{digits}f}" for name, digits in places.items() if f"run/{name}" in now}
    cells = "".join(f"<tr><th>{name}</th><td>{number}</td></tr>" for name, number in found.items())
    yield f"<table>{cells}</table>\n"
    newest = list(files.verdicts.items())[-VERDICTS:][::-1]
    rows = "".join(f"<tr><td>{number}</td><td>{html.escape(text)}</td></tr>" for number, text in newest)
    if rows:
        yield f"<h2>Verdicts</h2>\n<table><tr><th>generation</th><th></th></tr>{rows}</table>\n"
    curve = _found(files.reports, {"doctor/verdict": "verdict"}, "run/generation")
    meaning = "1 learning, 0 too early to say, -1 stuck, -2 broken."
    words = f"{meaning} What to do about each: docs/training.md, “Is it learning?”."
    yield from _curves("The verdict over time", words, [Panel("verdict", curve, "generation")])


def losses(files: Files) -> Iterator[str]:
    """Every loss over the learner's steps, generations above."""
    every = max(1, len(files.reports) // TICKS)
    marks = [
        (report["run/steps"], f"g{report['run/generation']:.0f}")
        for report in files.reports[::every]
        if "run/steps" in report
    ]
    panels = []
    for name in ("policy", "value", "ownership", "score", "reply", "total"):
        labels = {
            f"train/{name}": "training",
            f"held/{name}": "held-out games",
            f"held/constant_{name}": "constant guess",
        }
        panels.append(
            Panel(name, _found(files.reports, labels, "run/steps", [f"held/constant_{name}"]), "steps", marks)
        )
    measures = {"held/top1": "top-1", "held/value_sign": "winner right"}
    panels.append(Panel("right on held-out games", _found(files.reports, measures, "run/steps"), "steps", marks))
    entropies = {"held/entropy": "policy", "held/constant_policy": "uniform"}
    panels.append(
        Panel("entropy", _found(files.reports, entropies, "run/steps", ["held/constant_policy"]), "steps", marks)
    )
    panels.append(
        Panel("learning rate, as a factor", _found(files.reports, {"train/rate": "rate"}, "run/steps"), "steps", marks)
    )
    words = (
        "Over the learner's steps; generations above. A constant guess does not look at the board: what is "
        "below it was learned."
    )
    yield from _curves("Losses", words, panels)


def strength(files: Files) -> Iterator[str]:
    """Scores against opponents that do not change, and agreement with the yardstick."""
    across, reports = "run/evaluations", files.reports
    names = {"yardstick/top1": "top-1", "yardstick/winrate_error": "error of the win rate"}
    shares = {"yardstick/log_share": "mean log-share"}
    panels = [
        ("score against rollout PUCT", _against_uct(reports)),
        ("score against its own earlier weights", _scores("earlier weights", reports, "strength/frozen_")),
        ("score at the gate", _scores("the network that plays", reports, "gate/")),
        ("yardstick", _found(reports, names, across)),
        ("yardstick: ln of the policy", _found(reports, shares, across)),
    ]
    words = (
        "Share of the points with 95 % intervals; few games each, so trust the trend. The rollouts are doubled once "
        "they are beaten."
    )
    yield from _curves("Strength", words, [Panel(title, curves, "evaluations") for title, curves in panels])


def _against_uct(reports: list[Report]) -> list[Curve]:
    """A curve of scores for each number of rollouts."""
    measured = [report for report in reports if "strength/uct_score" in report]
    counts = dict.fromkeys(report["strength/uct_rollouts"] for report in measured)
    return [
        curve
        for count in counts
        for curve in _scores(
            f"rollout PUCT, {count:.0f} rollouts",
            [report for report in measured if report["strength/uct_rollouts"] == count],
            "strength/uct_",
        )
    ]


def _scores(label: str, reports: list[Report], prefix: str) -> list[Curve]:
    """A curve of the score with its interval over the evaluations; none where no report has it."""
    names = ("run/evaluations", f"{prefix}score", f"{prefix}low", f"{prefix}high")
    found = [report for report in reports if f"{prefix}score" in report]
    x, y, low, high = ([report[name] for report in found] for name in names)
    return [Curve(label, x, y, low, high)] if found else []


def truth(files: Files) -> Iterator[str]:
    """How often moves give a win or a draw away, where the game is solved."""
    reports = [report for report in files.reports if "perfect/search_share" in report]
    curves = (
        [_distance(label, reports, name) for name, label in (("policy", "policy alone"), ("search", "search"))]
        if reports
        else []
    )
    words = (
        "Share of the moves that lose value, with 95 % intervals, in positions of random games where some move does; "
        "0 is perfect play."
    )
    yield from _curves("Distance to perfect play", words, [Panel("moves that lose value", curves, "evaluations")])


def _distance(label: str, reports: list[Report], name: str) -> Curve:
    """1 - share, with its interval, over the evaluations."""
    y, low, high = ([1 - report[f"perfect/{name}_{end}"] for report in reports] for end in ("share", "high", "low"))
    return Curve(label, [report["run/evaluations"] for report in reports], y, low, high)


def games(files: Files) -> Iterator[str]:
    """How games go: lengths, endings, who wins."""
    sizes = sorted({size for report in files.reports for size in history.sizes(report)})
    boards = {size: make(files.settings.get("game", "go"), size=size).dimensions for size in sizes}
    what = {
        "length": "moves a game",
        "capped": "share that reached the limit of moves",
        "settled": "share ended by settled boards",
        "early": "share over in the opening",
        "black": "Black's share of the points",
        "distinct": "share of different games",
        "commonest": "share that begins as most do",
    }
    panels = [
        Panel(
            title,
            _found(files.reports, {f"games{size}/{name}": board for size, board in boards.items()}, "run/generation"),
            "generation",
        )
        for name, title in what.items()
    ]
    yield from _curves("Games", "Of each generation, by size of the board.", panels)


def pictures(files: Files) -> Iterator[str]:
    """Openings, predictions, filters."""
    gallery = Gallery.open(files.folder, files.settings)
    words = "Where the newest games began; a narrow choice early in a run is a sign of collapse."
    yield from _section("Openings", words, gallery.openings())
    words = (
        "Before any search: shares of the policy, and the expected owner of each point at the end, where the game has "
        "owned points (red: the side to move)."
    )
    yield from _section("What the network thinks", words, gallery.predictions())
    words = (
        "One column for each filter of the first layer, one row for each input plane; red is positive, blue negative."
    )
    yield from _section("First layer", words, gallery.filters())


def speed(files: Files) -> Iterator[str]:
    """Evaluations a second, and who waited."""
    rate = _found(files.reports, {"speed/evaluations": "evaluations/s"}, "run/generation")
    rates = Panel("evaluations/s of self-play", rate, "generation")
    parts = {f"speed/{part}_busy": label for part, label in (("selfplay", "self-play"), ("learner", "learner"))}
    busy = Panel("share of the time at work", _found(files.reports, parts, "run/generation"), "generation")
    seconds = {f"speed/{part}_seconds": label for part, label in (("selfplay", "self-play"), ("learner", "learner"))}
    seconds |= {"strength/seconds": "strength", "speed/checkup_seconds": "checks"}
    spent = Panel("seconds of a generation", _found(files.reports, seconds, "run/generation"), "generation")
    helping = _found(files.reports, {"speed/learner_threads": "threads"}, "run/generation")
    threads = Panel("CPU threads of the learner", helping, "generation")
    yield from _curves("Speed", "Who is not at work waits for the other.", [rates, busy, spent, threads])


def settings(files: Files) -> Iterator[str]:
    """The resolved settings."""
    if files.settings:
        yield f"<h2>Settings</h2>\n<pre>{html.escape(json.dumps(files.settings, indent=1))}</pre>\n"


SECTIONS: tuple[Callable[[Files], Iterator[str]], ...] = (
    summary,
    losses,
    strength,
    truth,
    games,
    pictures,
    speed,
    settings,
)


def main(arguments: Sequence[str] | None = None) -> int:
    """Make the page of a run folder; the exit code: 0, or 2 if that cannot be done."""
    options = Parser(prog="python -m training.report", description="Make report.html of a run folder.")
    options.add_argument("folder", type=Path, metavar="RUN_FOLDER")
    folder = options.parse_args(arguments).folder
    return run_command("training.report", lambda: _print_page(folder), (ReportError,))


def _print_page(folder: Path) -> int:
    print(write(folder).absolute())
    return 0
