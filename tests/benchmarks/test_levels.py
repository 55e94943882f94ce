"""The field of the levels' tournament: each level meets the next one, and other programs are there to compare with."""

from itertools import pairwise

from gozero.play.levels import LEVELS
from tests import ROOT
from training.matches.tournament import field

FIELD = ROOT / "benchmarks" / "levels.toml"


def test_neighbours_meet() -> None:
    read = field.load(FIELD)
    names = [f"level {number}" for number in range(1, len(LEVELS) + 1)]
    assert {*names, "random", "GNU Go 1", "Pachi 500"} < {entrant.name for entrant in read.entrant}
    met = {(pair.b, pair.a) for pair in read.pair}
    assert met > {*pairwise(names)}
