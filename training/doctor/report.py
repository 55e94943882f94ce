"""One page, report.html, that shows how a run goes. It opens anywhere, without network or server.

The page is made from the files of the run folder alone: log.jsonl, settings.json, records/, weights.pt. A section whose
numbers are not there is left out. The run makes the page every few generations and at its end.
"""

from __future__ import annotations

import html
import json
import math
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from pathlib import Path

from gozero.plots import Curve, Panel
from gozero.system.errors import ChoiceError, PlotError
from training.doctor import history, page
from training.doctor.gallery import Gallery, board_name
from training.doctor.history import Report, RunLog
from training.doctor.page import FILE, LOSSES, ReportError, found, scores
from training.records import scoring
from training.settings.config import LoopSettings

VERDICTS = 12  # newest ones that are listed
MATCHES = 30  # newest ones of the gate that are listed
TICKS = 6  # most generations named above the losses
COUNTERS = ("generation", "hours", "games", "rows", "evaluations", "steps", "window", "corrupt")
_NUMBER = re.compile(r"[+-]?\d[\d.,]*")

# title of a panel -> {number of the report: label}
LOSS_PANELS = {
    **{
        name: {f"train/{name}": "training", f"held/{name}": "held-out games", f"held/constant_{name}": "constant guess"}
        for name in LOSSES
    },
    "right on held-out games": {"held/top1": "top-1", "held/value_sign": "winner right"},
    "entropy": {"held/entropy": "policy", "held/constant_policy": "uniform"},
    "learning rate, as a factor": {"train/rate": "rate"},
}
YARDSTICK = {
    "yardstick": {"yardstick/top1": "top-1", "yardstick/winrate_error": "error of the win rate"},
    "yardstick: ln of the policy": {"yardstick/log_share": "mean log-share"},
}
GAMES = {
    "length": "moves a game",
    "capped": "share that reached the limit of moves",
    "settled": "share ended by settled boards",
    "early": "share over in the opening",
    "black": "Black's share of the points",
    "distinct": "share of different games",
    "commonest": "share that begins as most do",
}
PARTS = {"selfplay": "self-play", "learner": "learner", "gate": "gate", "waiting": "waiting"}
SPEED = {
    "share of the time at work": {f"speed/{part}_busy": label for part, label in PARTS.items()},
    "seconds of a generation": {f"speed/{part}_seconds": label for part, label in PARTS.items()}
    | {"strength/seconds": "strength", "speed/checkup_seconds": "checks"},
    "CPU threads of the learner": {"speed/learner_threads": "threads"},
}
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
    settings: LoopSettings | None

    @property
    def reports(self) -> list[Report]:
        """At least one, oldest first."""
        return self.log.reports

    @cached_property
    def gallery(self) -> Gallery:
        """The newest games and the network, read once."""
        return Gallery.open(self.folder, self.settings)

    def panels(self, table: Mapping[str, Mapping[str, str]], across: str = "generation", **more: object) -> list[Panel]:
        """A panel for each entry of a table {title: {number of the report: label}}."""
        return [
            Panel(title, found(self.reports, names, f"run/{across}"), across, **more)  # type: ignore[arg-type]
            for title, names in table.items()
        ]


def write(
    folder: Path, stop: Callable[[], bool] = lambda: False, warn: Callable[[str], None] = lambda _: None
) -> Path | None:
    """Make folder/report.html; it appears whole or not at all. Returns its path, or None if `stop()` said in the
    meantime that it is not wanted. `warn` is called about lines of the log that are left out.

    Raises:
        ReportError: there is nothing to show, matplotlib is missing, settings.json asks for what the game does not
            have, or the file cannot be written.
    """
    files = Files(folder, page.read_log(folder), page.read_settings(folder))
    if files.log.complaint:
        warn(files.log.complaint)
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


def summary(files: Files) -> Iterator[str]:
    """The newest verdict and the counters."""
    now = files.reports[-1]
    verdict = files.log.verdicts.get(int(now["run/generation"]), "")
    if verdict:
        kind = html.escape(verdict.partition(",")[0].partition(" ")[0])
        yield f'<p class="verdict {kind}">{html.escape(verdict)}</p>\n'
    known = [name for name in COUNTERS if f"run/{name}" in now]
    yield page.table(known, [[f"{now[f'run/{name}']:,.{2 if name == 'hours' else 0}f}" for name in known]])


def losses(files: Files) -> Iterator[str]:
    """Every loss over the learner's steps, generations above."""
    every = math.ceil(len(files.reports) / TICKS)
    marked = [report for report in files.reports[::every] if "run/steps" in report]
    ticks = [(report["run/steps"], f"g{report['run/generation']:.0f}") for report in marked]
    words = (
        "Over the learner's steps; generations above. A constant guess does not look at the board: what is below it "
        "was learned."
    )
    yield from page.curves("Losses", words, files.panels(LOSS_PANELS, "steps", ticks=ticks))


def strength(files: Files) -> Iterator[str]:
    """Scores against opponents that do not change, and agreement with the yardstick."""
    matches = {
        "score against rollout PUCT": _against_uct(files.reports),
        "score against its own earlier weights": scores("earlier weights", files.reports, "strength/frozen_"),
        "score at the gate": scores("the network that plays", files.log.matches, "gate/"),
    }
    panels = [Panel(title, curves, "evaluations") for title, curves in matches.items()]
    words = (
        "Share of the points with 95 % intervals; few games each, so trust the trend. The rollouts are doubled once "
        "they are beaten."
    )
    yield from page.curves("Strength", words, [*panels, *files.panels(YARDSTICK, "evaluations")])


def _against_uct(reports: list[Report]) -> list[Curve]:
    """A curve of scores for each number of rollouts."""
    by_rollouts: dict[float, list[Report]] = {}
    for report in reports:
        if "strength/uct_rollouts" in report:
            by_rollouts.setdefault(report["strength/uct_rollouts"], []).append(report)
    return [
        curve
        for count, measured in by_rollouts.items()
        for curve in scores(f"rollout PUCT, {count:.0f} rollouts", measured, "strength/uct_")
    ]


def gate(files: Files) -> Iterator[str]:
    """The newest matches of the gate, one a row."""
    rows = [
        [
            f"{match['gate/generation']:.0f}",
            f"{match['gate/steps']:,.0f}",
            f"{match['gate/games']:.0f}",
            f"{match['gate/score']:.1%} ({match['gate/low']:.1%} to {match['gate/high']:.1%})",
            "plays" if match["gate/passed"] else "refused",
        ]
        for match in files.log.matches[-MATCHES:][::-1]
    ]
    if rows:
        yield f"<h2>The gate</h2>\n<p>The newest of {len(files.log.matches)} matches.</p>\n"
        yield page.table(["generation", "steps", "games", "score", "the new network"], rows)


def truth(files: Files) -> Iterator[str]:
    """How often moves give a win or a draw away, if the game is solved."""
    reports = [report for report in files.reports if "perfect/search_share" in report]
    x = [report["run/evaluations"] for report in reports]
    curves = []
    for name, label in (("policy", "policy alone"), ("search", "search")) if reports else ():
        y, low, high = ([1 - each[f"perfect/{name}_{end}"] for each in reports] for end in ("share", "high", "low"))
        curves.append(Curve(label, x, y, low, high))
    words = (
        "Share of the moves that lose value, with 95 % intervals, in positions of random games where some move does; "
        "0 is perfect play."
    )
    yield from page.curves("Distance to perfect play", words, [Panel("moves that lose value", curves, "evaluations")])


def games(files: Files) -> Iterator[str]:
    """How games go: lengths, endings, who wins."""
    sizes = sorted({size for report in files.reports for size in history.sizes(report)})
    boards = {size: board for size in sizes if (board := board_name(files.gallery.settings.game, size))}
    table = {
        title: {f"games{size}/{name}": board for size, board in boards.items()}
        for name, title in GAMES.items()
        if name != "settled" or files.gallery.settings.game == scoring.GO  # of other games no board is settled
    }
    yield from page.curves("Games", "Of each generation, by size of the board.", files.panels(table))


def verdicts(files: Files) -> Iterator[str]:
    """The newest verdicts, those in a row that differ in their numbers alone as one, and all of them as a curve."""
    rows = []
    for _, alike in groupby(files.log.verdicts.items(), lambda entry: _NUMBER.sub("0", entry[1])):
        first, *others = alike
        last, text = others[-1] if others else first
        rows.append([f"{first[0]} to {last}" if others else str(last), text])
    if rows:
        words = "Of several generations in a row whose verdicts differ in numbers alone, the newest."
        yield f"<h2>Verdicts</h2>\n<p>{words}</p>\n"
        yield page.table(["generation", "verdict"], rows[-VERDICTS:][::-1])
    meaning = "1 learning, 0 too early to say, -1 stuck, -2 broken."
    words = f"{meaning} What to do about each: docs/training.md, “Is it learning?”."
    yield from page.curves("The verdict over time", words, files.panels({"verdict": {"doctor/verdict": "verdict"}}))


def pictures(files: Files) -> Iterator[str]:
    """Openings, predictions, filters."""
    gallery = files.gallery
    words = (
        "Where the newest games began on each size, and the policy of its empty board before any search; a narrow "
        "choice early in a run, or one on the first line of a large board, is a sign of collapse."
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
    """Evaluations a second, by playouts and by the network, and who waited."""
    rates = []
    for title, playouts in (("evaluations/s, random playouts", 1.0), ("evaluations/s, the network", 0.0)):
        reports = [each for each in files.reports if each.get("speed/playouts") == playouts]
        rates.append(Panel(title, found(reports, {history.RATE: "evaluations/s"}, "run/generation"), "generation"))
    yield from page.curves("Speed", "Who is not at work waits for the other.", [*rates, *files.panels(SPEED)])
    words = "The workers of a run on many machines; versions: of the network, between a game's and the newest."
    yield from page.curves("Cluster", words, files.panels(CLUSTER))


def settings(files: Files) -> Iterator[str]:
    """The resolved settings."""
    if files.settings:
        yield f"<h2>Settings</h2>\n<pre>{html.escape(json.dumps(files.settings.to_dict(), indent=1))}</pre>\n"


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
