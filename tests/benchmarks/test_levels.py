"""The field of the levels' tournament: each level meets the next one and the one three further up."""

from pathlib import Path

from gozero.levels import LEVELS
from training.tournament import field

FIELD = Path(__file__).parents[2] / "benchmarks" / "levels.toml"


def test_neighbours_and_every_third_meet() -> None:
    read = field.load(FIELD)
    names = ["random", *(f"level {number}" for number in range(1, len(LEVELS) + 1))]
    assert [entrant.name for entrant in read.entrant] == names
    met = {(pair.b, pair.a) for pair in read.pair}
    assert met == {pair for step in (1, 3) for pair in zip(names, names[step:], strict=False)}
