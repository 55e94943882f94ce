"""The field of the levels' tournament: each level meets the next one, the one three further up and other programs."""

from gozero.play.levels import LEVELS
from tests import ROOT
from training.matches.tournament import field

FIELD = ROOT / "benchmarks" / "levels.toml"


def test_neighbours_and_every_third_meet() -> None:
    read = field.load(FIELD)
    names = [f"level {number}" for number in range(1, len(LEVELS) + 1)]
    assert {*names} < {entrant.name for entrant in read.entrant}
    met = {(pair.b, pair.a) for pair in read.pair}
    assert met >= {pair for step in (1, 3) for pair in zip(names, names[step:], strict=False)}
