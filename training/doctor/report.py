"""One page, report.html, that shows how a run goes. It opens anywhere, without network or server.

Vocabulary.
  section  a heading with pictures or text. A section whose numbers are not in the run folder is left out, so logs of
           older versions and runs just begun are shown too.

The page is made from the files of the folder alone: log.jsonl, settings.json, records/, weights.pt. The run makes it
every few generations and at its end; this command makes it at any time, also during the run. Verdicts are the
doctor's (`training.doctor.verdict`).
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path
from typing import Any

from gozero.plots import Curve, Panel
from gozero.system.console import say
from gozero.system.errors import ChoiceError, PlotError
from training.doctor import comparison, history, page
from training.doctor.gallery import Gallery, board_name
from training.doctor.history import Report, RunLog
from training.doctor.page import FILE, ReportError, found, nonzero, scores
from training.records import scoring

VERDICTS = 12  # newest ones that are listed
# that are reported, and their names
PARTS = {"selfplay": "self-play", "learner": "learner", "gate": "gate", "held": "held back"}
MATCHES = 30  # newest ones of the gate that are listed
_NUMBER = re.compile(r"[+-]?\d[\d.,]*")
TICKS = 6  # most generations named above the losses
CLUSTER_WORDS = "The workers of a run on many machines; versions: of the network, between a game's and the newest."
CLUSTER = {
    "workers": {"cluster/workers": "workers", "cluster/waiting": "tasks that wait for one"},
    "evaluations/s of a worker": {"cluster/evaluations": "mean"} | {f"cluster/worker{n}": str(n) for n in range(1, 9)},
    "share of the workers' time without work": {"cluster/idle": "idle"},
    "versions behind": {"cluster/staleness": "mean of the games"},
}


@dataclass(frozen=True)
class Files:
    """The parts of a run folder that the page shows."""

    folder: Path
    log: RunLog
    settings: dict[str, Any]

    @property
    def reports(self) -> list[Report]:
        """At least one, oldest first."""
        return self.log.reports

    @property
    def verdicts(self) -> dict[int, str]:
        """By generation."""
        return self.log.verdicts

    @cached_property
    def gallery(self) -> Gallery:
        """The newest games and the network, read once."""
        return Gallery.open(self.folder, self.settings)


def write(
    folder: Path, stop: Callable[[], bool] = lambda: False, tell: Callable[[str], None] = lambda _: None
) -> Path | None:
    """Make folder/report.html; it appears whole or not at all. Returns its path, or None where `stop()` said in the
    meantime that it is not wanted. `tell` hears of lines of the log that are left out.

    Raises:
        ReportError: there is nothing to show, matplotlib is missing, settings.json asks for what the game does not have,
            or the file cannot be written.
    """
    files = _open(folder)
    if files.log.complaint:
        tell(files.log.complaint)
    parts: list[str] = []
    try:
        for section in SECTIONS:
            if stop():
                return None
            parts += section(files)
    except (PlotError, ChoiceError) as error:
        raise ReportError(str(error)) from None
    whole = page.page(f"{folder.absolute().name}: report of the run", "".join(parts))
    return page.save(folder / FILE, whole)


def _open(folder: Path) -> Files:
    return Files(folder, comparison.read_log(folder), comparison.read_settings(folder))


def summary(files: Files) -> Iterator[str]:
    """The newest verdict and the counters."""
    now = files.reports[-1]
    verdict = files.verdicts.get(int(now["run/generation"]), "")
    if verdict:
        yield f'<p class="verdict {html.escape(verdict.partition(",")[0].partition(" ")[0])}">{html.escape(verdict)}</p>\n'
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
    shown = {name: f"{now[f'run/{name}']:,.{digits}f}" for name, digits in places.items() if f"run/{name}" in now}
    yield page.table(list(shown), [list(shown.values())])


def verdicts(files: Files) -> Iterator[str]:
    """The newest verdicts, those that differ in their numbers alone as one, and all of them as a curve."""
    rows = [
        [str(first) if first == last else f"{first} to {last}", text]
        for first, last, text in _stretches(files.verdicts)[-VERDICTS:][::-1]
    ]
    if rows:
        yield "<h2>Verdicts</h2>\n<p>Of several generations in a row whose verdicts differ in numbers alone, the newest.</p>\n"
        yield page.table(["generation", "verdict"], rows)
    curve = found(files.reports, {"doctor/verdict": "verdict"}, "run/generation")
    meaning = "1 learning, 0 too early to say, -1 stuck, -2 broken."
    words = f"{meaning} What to do about each: docs/training.md, “Is it learning?”."
    yield from page.curves("The verdict over time", words, [Panel("verdict", curve, "generation")])


def _stretches(verdicts: dict[int, str]) -> list[tuple[int, int, str]]:
    """(first generation, last generation, its verdict) of verdicts in a row that say the same but for their numbers."""
    found: list[tuple[int, int, str]] = []
    for _, alike in groupby(verdicts.items(), lambda entry: _NUMBER.sub("0", entry[1])):
        entries = list(alike)
        found.append((entries[0][0], *entries[-1]))
    return found


def losses(files: Files) -> Iterator[str]:
    """Every loss over the learner's steps, generations above."""
    every = math.ceil(len(files.reports) / TICKS)
    marks = [
        (report["run/steps"], f"g{report['run/generation']:.0f}")
        for report in files.reports[::every]
        if "run/steps" in report
    ]
    panels = []
    for name in comparison.LOSSES:
        labels = {
            f"train/{name}": "training",
            f"held/{name}": "held-out games",
            f"held/constant_{name}": "constant guess",
        }
        curves = nonzero(found(files.reports, labels, "run/steps", [f"held/constant_{name}"]))
        panels.append(Panel(name, curves, "steps", marks))
    measures = {"held/top1": "top-1", "held/value_sign": "winner right"}
    panels.append(Panel("right on held-out games", found(files.reports, measures, "run/steps"), "steps", marks))
    entropies = {"held/entropy": "policy", "held/constant_policy": "uniform"}
    panels.append(
        Panel("entropy", found(files.reports, entropies, "run/steps", ["held/constant_policy"]), "steps", marks)
    )
    panels.append(
        Panel("learning rate, as a factor", found(files.reports, {"train/rate": "rate"}, "run/steps"), "steps", marks)
    )
    words = (
        "Over the learner's steps; generations above. A constant guess does not look at the board: what is "
        "below it was learned."
    )
    yield from page.curves("Losses", words, panels)


def strength(files: Files) -> Iterator[str]:
    """Scores against opponents that do not change, and agreement with the yardstick."""
    across, reports = "run/evaluations", files.reports
    names = {"yardstick/top1": "top-1", "yardstick/winrate_error": "error of the win rate"}
    shares = {"yardstick/log_share": "mean log-share"}
    panels = [
        ("score against rollout PUCT", _against_uct(reports)),
        ("score against its own earlier weights", scores("earlier weights", reports, "strength/frozen_")),
        ("score at the gate", scores("the network that plays", files.log.matches, "gate/")),
        ("yardstick", found(reports, names, across)),
        ("yardstick: ln of the policy", found(reports, shares, across)),
    ]
    words = (
        "Share of the points with 95 % intervals; few games each, so trust the trend. The rollouts are doubled once "
        "they are beaten."
    )
    yield from page.curves("Strength", words, [Panel(title, curves, "evaluations") for title, curves in panels])


def gate(files: Files) -> Iterator[str]:
    """The newest matches of the gate, one a row."""
    rows = [
        [
            f"{match['gate/generation']:.0f}",
            f"{match['gate/steps']:,.0f}" if "gate/steps" in match else "",
            f"{match['gate/games']:.0f}",
            f"{match['gate/score']:.1%} ({match['gate/low']:.1%} to {match['gate/high']:.1%})",
            "plays" if match["gate/passed"] else "refused",
        ]
        for match in files.log.matches[-MATCHES:][::-1]
    ]
    if rows:
        yield f"<h2>The gate</h2>\n<p>The newest of {len(files.log.matches)} matches.</p>\n"
        yield page.table(["generation", "steps", "games", "score", "the new network"], rows)


def _against_uct(reports: list[Report]) -> list[Curve]:
    """A curve of scores for each number of rollouts."""
    measured = [report for report in reports if "strength/uct_score" in report]
    counts = dict.fromkeys(report["strength/uct_rollouts"] for report in measured)
    return [
        curve
        for count in counts
        for curve in scores(
            f"rollout PUCT, {count:.0f} rollouts",
            [report for report in measured if report["strength/uct_rollouts"] == count],
            "strength/uct_",
        )
    ]


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
    yield from page.curves("Distance to perfect play", words, [Panel("moves that lose value", curves, "evaluations")])


def _distance(label: str, reports: list[Report], name: str) -> Curve:
    """1 - share, with its interval, over the evaluations."""
    y, low, high = ([1 - report[f"perfect/{name}_{end}"] for report in reports] for end in ("share", "high", "low"))
    return Curve(label, [report["run/evaluations"] for report in reports], y, low, high)


def games(files: Files) -> Iterator[str]:
    """How games go: lengths, endings, who wins."""
    sizes = sorted({size for report in files.reports for size in history.sizes(report)})
    boards = {size: board for size in sizes if (board := board_name(files.gallery.game, size))}
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
            found(files.reports, {f"games{size}/{name}": board for size, board in boards.items()}, "run/generation"),
            "generation",
        )
        for name, title in what.items()
        if name != "settled" or files.gallery.game == scoring.GO  # of other games no board is settled
    ]
    yield from page.curves("Games", "Of each generation, by size of the board.", panels)


def pictures(files: Files) -> Iterator[str]:
    """Openings, predictions, filters."""
    gallery = files.gallery
    words = (
        "Where the newest games began on each size, and the policy of its empty board before any search; a narrow choice "
        "early in a run, or one on the first line of a large board, is a sign of collapse."
    )
    yield from page.section("Openings", words, gallery.openings())
    words = (
        "Before any search: shares of the policy, and the expected owner of each point at the end, where the game has "
        "owned points (red: the side to move)."
    )
    yield from page.section("What the network thinks", words, gallery.predictions())
    words = (
        "One column for each filter of the first layer, one row for each input plane; red is positive, blue negative."
    )
    yield from page.section("First layer", words, gallery.filters())


def speed(files: Files) -> Iterator[str]:
    """Evaluations a second, and who waited."""
    rates = [
        Panel(title, found(reports, {history.RATE: "evaluations/s"}, "run/generation"), "generation")
        for title, reports in _by_evaluator(files.reports).items()
    ]
    parts = {f"speed/{part}_busy": label for part, label in PARTS.items()}
    busy = Panel("share of the time at work", nonzero(found(files.reports, parts, "run/generation")), "generation")
    seconds = {f"speed/{part}_seconds": label for part, label in PARTS.items()}
    seconds |= {"strength/seconds": "strength", "speed/checkup_seconds": "checks"}
    spent = Panel("seconds of a generation", nonzero(found(files.reports, seconds, "run/generation")), "generation")
    helping = found(files.reports, {"speed/learner_threads": "threads"}, "run/generation")
    threads = Panel("CPU threads of the learner", helping, "generation")
    yield from page.curves("Speed", "Who is not at work waits for the other.", [*rates, busy, spent, threads])
    yield from page.curves(
        "Cluster", CLUSTER_WORDS, [_cluster(files, title, names) for title, names in CLUSTER.items()]
    )


def _by_evaluator(reports: list[Report]) -> dict[str, list[Report]]:
    """The reports by who evaluated the positions of self-play; earlier versions did not tell. Playouts are far cheaper."""
    what = {None: "evaluations/s of self-play", 1.0: "evaluations/s, random playouts", 0.0: "evaluations/s, the network"}
    return {title: [each for each in reports if each.get("speed/playouts") == by] for by, title in what.items()}


def _cluster(files: Files, title: str, names: dict[str, str]) -> Panel:
    return Panel(title, found(files.reports, names, "run/generation"), "generation")


def settings(files: Files) -> Iterator[str]:
    """The resolved settings."""
    if files.settings:
        yield f"<h2>Settings</h2>\n<pre>{html.escape(json.dumps(files.settings, indent=1))}</pre>\n"


SECTIONS: tuple[Callable[[Files], Iterator[str]], ...] = (
    summary,
    losses,
    strength,
    gate,
    truth,
    games,
    verdicts,
    pictures,
    speed,
    settings,
)


def warn(warning: str) -> None:
    """Say what could not be shown."""
    say(f"gozero report: {warning}")
