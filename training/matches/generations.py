"""`gozero match --run`: generations of a run, or of two, against each other, and Elo over generations.

Each generation meets the two after it, and of two runs the nearest of the other run (MiniZero's self-eval and
fight-eval: Wu et al. 2024). It is a tournament of pairs.
"""

from __future__ import annotations

import argparse
import os
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path

from gozero import plots
from gozero.system.errors import ChoiceError
from training.elo import Z95
from training.matches.options import OUT, field_values
from training.matches.tournament import field as fields
from training.matches.tournament import runner
from training.matches.tournament.field import PAIRS
from training.matches.tournament.results import Results
from training.matches.tournament.runner import View
from training.settings import config
from training.storage import storage

PLOT = Path("elo.png")  # in the folder of the results


@dataclass(frozen=True)
class Generation:
    """The network of a generation of a run."""

    run: str  # its name
    number: int
    file: Path

    @property
    def name(self) -> str:
        return f"{self.run} {self.number}"


def play(options: argparse.Namespace) -> int:
    """Play the match that the options of `training.commands.match` ask for; the exit code."""
    runs = [Path(run) for run in options.run]
    first, *others = (config.saved(run / "settings.json") for run in runs)
    for name in ("game", "rules"):
        for other in others:
            if (one := getattr(first, name)) != (two := getattr(other, name)):
                raise ChoiceError(f"--run: the runs have {name} {one} and {two}: give runs of one {name}")
    if options.game not in (None, first.game):
        raise ChoiceError(f"--game {options.game}: the run plays {first.game}; leave --game out")
    names = [Path(os.path.normpath(run.absolute())).name for run in runs]  # a link's is its own
    names = names if len(set(names)) == len(names) else list(map(str, runs))
    sides = [_chosen(run, name, options.generations) for run, name in zip(runs, names, strict=True)]
    entrants = [
        {"player": f"weights:{each.file}:{options.visits}", "name": each.name} for side in sides for each in side
    ]
    pairs = [{"a": a.name, "b": b.name} for a, b in _pairs(sides)]
    values = field_values(options) | {"kind": PAIRS, "entrant": entrants, "pair": pairs, "games": options.games}
    values |= {"game": first.game, "rules": first.rules, "size": options.size or first.stage[-1].main_size}
    view = View(files=lambda found: {(options.plot.absolute() if options.plot else PLOT): _picture(found, sides)})
    # a run that has gone on is another tournament; paths are names too, and are to lead nowhere else
    folder = OUT / re.sub(r"[/\\: ]+", "-", " ".join(side[-1].name for side in sides)).strip("-")
    return runner.play_once(fields.made(values, "the match"), options, view, folder)


def _chosen(run: Path, name: str, count: int) -> list[Generation]:
    """At most `count` generations of which there is a network, the first and the last among them, evenly apart. A
    frozen network is that of a generation's end, a checkpoint the last that was saved before it. The newest checkpoint,
    which a run that has ended names after the generation that would follow, may be that frozen one again. ChoiceError
    if there are fewer than two.
    """
    paths = [path for folder in ("checkpoints", "frozen") for path in storage.numbered(run / folder, ".pt")]
    files = {int(path.stem): path for path in paths}
    numbers = sorted(files)
    newest = [(number - numbers[-1], files[number].parent.name) for number in numbers[-2:]]
    if newest == [(-1, "frozen"), (0, "checkpoints")]:
        numbers.pop()
    if len(numbers) < 2:
        raise ChoiceError(
            f"--run {run}: it has networks of {len(numbers)} generations, expected 2: train on, or with --set keep=100"
        )
    places = {round(place * (len(numbers) - 1) / (count - 1)) for place in range(count)}
    return [Generation(name, numbers[place], files[numbers[place]]) for place in sorted(places)]


def _pairs(sides: Sequence[Sequence[Generation]]) -> Iterator[tuple[Generation, Generation]]:
    """Who meets whom, each pair once."""
    for side in sides:
        yield from pairwise(side)
        yield from zip(side, side[2:], strict=False)
    for first, second in pairwise(sides):
        for each in first:
            yield each, min(second, key=lambda other: abs(other.number - each.number))


def _picture(found: Results, sides: Sequence[Sequence[Generation]]) -> bytes:
    """PNG: Elo with its interval over the generations of each run."""
    rated = {row.entrant: (row.elo, Z95 * row.standard_error) for row in found.table if row.elo == row.elo}
    curves = []
    for side in sides:
        played = [each for each in side if each.name in rated]
        elo, error = ([rated[each.name][part] for each in played] for part in (0, 1))
        low, high = ([e + sign * d for e, d in zip(elo, error, strict=True)] for sign in (-1, 1))
        curves.append(plots.Curve(side[0].run, [each.number for each in played], elo, low, high))
    return plots.curves([plots.Panel(f"{found.field.game}: Elo", curves, across="generation")])
