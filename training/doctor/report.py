"""The page of a run, report.html: it opens anywhere, without network or server.

It is made from the files of the run folder alone: log.jsonl, settings.json, records/, weights.pt. What a run has no
numbers for is left out. A run makes its page every few generations and at its end. TensorBoard compares runs.
"""

from __future__ import annotations

import base64
import html
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

from gozero import plots
from gozero.plots import Curve, Panel
from gozero.system import files
from gozero.system.console import say
from gozero.system.errors import UserError
from gozero.system.options import SettingsError
from training.doctor import history
from training.doctor.history import RunLog
from training.matches.tables import table_html
from training.settings import config
from training.settings.config import LoopSettings
from training.settings.learning import LOSSES
from training.storage import storage

FILE = "report.html"  # in a run folder
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


class Section(NamedTuple):
    """Panels under a heading, each with the numbers of the log that it shows; {} stands for a board size."""

    heading: str
    words: str
    across: str  # the counter that they are drawn over
    panels: tuple[tuple[str, ...], ...]


_GUESSES = "held/constant_{0}", "fit/constant_{0}"  # of a run that holds out no game, on those it learns from
_LOSSES = tuple((f"train/{name}", f"held/{name}", *(each.format(name) for each in _GUESSES)) for name in LOSSES)
_PARTS = ("selfplay", "learner", "gate", "waiting")
SECTIONS = (
    Section(
        "Losses",
        "train: learning; held: games that are never learned from. A constant guess does not look at the board: what is "
        "below it was learned.",
        "steps",
        (
            *_LOSSES,
            ("train/total",),
            ("held/top1", "held/value_sign"),
            ("held/entropy", "held/constant_policy"),
            ("held/calibration",),
            ("train/gradient",),
            ("train/rate",),
        ),
    ),
    Section(
        "Strength",
        "Share of the points with 95 % intervals; few games each, so trust the trend. uct: rollout PUCT, whose rollouts "
        "are doubled once it is beaten; frozen: the run's own earlier weights; gate: the network that plays.",
        "evaluations",
        (("strength/uct_score",), ("strength/uct_rollouts",), ("strength/frozen_score",), ("gate/score",)),
    ),
    Section(
        "Games",
        "Of each generation, by size of the board: moves a game; shares of the games that reached the limit of moves, "
        "ended by settled boards, were over in the opening, Black won, differ, begin as most do; mean value less mean "
        "result on held-out games.",
        "generation",
        (
            *((f"games{{}}/{name}",) for name in ("length", "capped", "settled", "early", "black", "distinct")),
            ("games{}/commonest",),
            ("held{}/bias",),
        ),
    ),
    Section(
        "Speed",
        "Evaluations a second, by random playouts and by the network; while one works the other waits.",
        "generation",
        (
            ("speed/playouts",),
            ("speed/evaluations",),
            tuple(f"speed/{part}_busy" for part in _PARTS),
            (*(f"speed/{part}_seconds" for part in _PARTS), "strength/seconds", "speed/checkup_seconds"),
            ("speed/learner_threads",),
        ),
    ),
    Section(
        "Cluster",
        "The workers of a run on many machines, the tasks that wait for one, their evaluations a second, the share of "
        "their time without work, and the versions between the network of a game and the newest.",
        "generation",
        (
            ("cluster/workers", "cluster/waiting"),
            ("cluster/evaluations", *(f"cluster/worker{number}" for number in range(1, 9))),
            ("cluster/idle",),
            ("cluster/staleness",),
        ),
    ),
    Section(
        "The verdict over time",
        "1 learning, 0 too early to say, -1 stuck, -2 broken. What to do about each: docs/doctor.md.",
        "generation",
        (("doctor/verdict",),),
    ),
)


def write(folder: Path, stop: Callable[[], bool] = lambda: False) -> Path | None:
    """Make folder/report.html; it appears whole or not at all. Returns its path, or None if `stop()` became true.

    UserError if there is nothing to show, matplotlib is missing, settings.json asks for what the game does not have,
    or the file cannot be written.
    """
    log, path, title = _log(folder), folder / FILE, html.escape(f"{folder.absolute().name}: report of the run")
    head = f'<meta charset="utf-8"><title>{title}</title><style>{STYLE}</style>'
    page = f'<!DOCTYPE html>\n<html lang="en"><head>{head}</head><body>\n<h1>{title}</h1>\n'
    try:
        for part in _parts(folder, log):
            if stop():
                return None
            page += part
        with files.replacing(path) as file:
            file.write(f"{page}</body></html>\n".encode(errors="backslashreplace"))
    except OSError as error:
        raise UserError(f"cannot write {path.absolute()}: {error.strerror}") from None
    return path


def _log(folder: Path) -> RunLog:
    """The log of a run folder, with one report at least. UserError if there is none, or it cannot be read."""
    try:
        log = history.read(folder)
    except OSError as error:
        raise UserError(f"cannot read {folder.absolute() / history.LOG}: {error.strerror}") from None
    if not log.reports:
        begun = "let its run finish one first" if storage.holds_run(folder) else "is it a run folder?"
        what = f"{folder.absolute()} holds no {history.LOG} with a finished generation"
        raise UserError(f"{what}; {log.complaint or begun}")
    if log.complaint:
        say(log.complaint)
    for report in log.reports:  # playouts are so much faster that they have a panel of their own
        by_playouts = report.pop("speed/playouts", 0.0)
        if by_playouts and "speed/evaluations" in report:
            report["speed/playouts"] = report.pop("speed/evaluations")
    return log


def _parts(folder: Path, log: RunLog) -> Iterator[str]:
    """The page, piece by piece."""
    now = log.reports[-1]
    if verdict := log.verdicts.get(int(now["run/generation"])):
        kind = html.escape(verdict.partition(",")[0].partition(" ")[0])
        yield f'<p class="verdict {kind}">{html.escape(verdict)}</p>\n'
    counts = {name: now[f"run/{name}"] for name in COUNTERS if f"run/{name}" in now}
    yield table_html([list(counts), [f"{n:,.{2 if name == 'hours' else 0}f}" for name, n in counts.items()]])
    for section in SECTIONS:
        if drawn := panels(section, log):
            yield _picture(section.heading, section.words, plots.curves(drawn))
    if log.verdicts:
        rows = [[str(generation), text] for generation, text in log.verdicts.items()]
        yield "<h2>Verdicts</h2>\n" + table_html([["generation", "verdict"], *rows[-NEWEST:][::-1]])
    try:
        settings = config.saved(folder / "settings.json")
    except SettingsError:
        settings = None
    from training.doctor import gallery  # imports PyTorch

    for picture in gallery.pictures(folder, settings or LoopSettings()):
        yield _picture(*picture)
    if settings:
        yield f"<h2>Settings</h2>\n<pre>{html.escape(json.dumps(settings.to_dict(), indent=1))}</pre>\n"


def panels(section: Section, log: RunLog) -> list[Panel]:
    """The panels of a section that have a curve."""
    sizes = sorted({size for report in log.reports for size in history.sizes(report)})
    found = []
    for names in section.panels:
        numbers = dict.fromkeys(name.format(size) for name in names for size in sizes or [0])
        curves = [curve for name in numbers if (curve := _curve(log, name, section.across))]
        if curves:
            found.append(Panel(names[0].partition("/")[2], curves, section.across))
    return found


def _curve(log: RunLog, name: str, across: str) -> Curve | None:
    """A number of the log over a counter, with its interval if it has one; a constant predictor's is a guide.

    None if it is not there. So are losses and times that are 0 throughout: the game has no owned points, say.
    """
    x, stem = f"run/{across}", name.removesuffix("score")
    lines = log.matches if name.startswith("gate/") else log.reports
    known = [line for line in lines if name in line and x in line]
    y = [line[name] for line in known]
    if not known or (not any(y) and name.startswith(("train/", "held/", "speed/"))):
        return None
    low, high = (
        [line[stem + end] for line in known] if all(stem + end in line for line in known) else ()
        for end in ("low", "high")
    )
    return Curve(name, [line[x] for line in known], y, low, high, guide="/constant_" in name)


def _picture(heading: str, words: str, png: bytes) -> str:
    picture = base64.b64encode(png).decode()
    image = f'<img alt="{html.escape(heading)}" src="data:image/png;base64,{picture}">'
    return f"<h2>{heading}</h2>\n<p>{words}</p>\n{image}\n"
