"""The published figures, and how tables and pairs are read."""

from __future__ import annotations

import pytest

from gozero.system.errors import ChoiceError
from tests.training.refusals import one_line
from training.matches.table import published
from training.matches.table.published import PublishedPair

FIGURES = {
    (400, 50_000): (40.5, 58.0, 68.5, 73.5, 10.0, 65.4),
    (400, 100_000): (33.5, 56.0, 53.0, 63.5),
    (1_600, 100_000): (36.0, 58.5, 69.0, 75.0, 10.0, 63.6, 87.2, 90.6),
    (10_000, 1_000_000): (32.5, 59.5, 69.5, 72.0),
    (0, 1_000): (56.4,),
    (0, 2_000): (30.4,),
    (0, 2_500): (25.6,),
    (50, 20_000): (89.4,),
    (50, 50_000): (85.4,),
    (50, 100_000): (77.4,),
    (50, 1_000_000): (52.0,),
}


def test_the_figures_of_s2() -> None:
    table = published.load("s2")
    assert all(len(part.pairs) == len(figures) for part in table.parts for figures in part.figures.values())
    assert (table.game, table.size, table.games, table.opponent) == ("nogo", 9, 250, "HaHaNoGo")
    assert table.pairs == sorted(PublishedPair(*pair) for pair in FIGURES)
    for pair, figures in FIGURES.items():
        cells = [cell for part in table.parts for row in part.figures.values() for cell in zip(part.pairs, row, strict=True)]
        found = dict.fromkeys(figure for cell, figure in cells if cell == pair)
        assert list(found) == ["< 10%" if figure == 10 else f"{figure}%" for figure in figures], pair


@pytest.mark.parametrize(
    ("text", "pair"),
    [
        ("400:50000", (400, 50_000)), ("400:50k", (400, 50_000)), ("1,600:100,000", (1_600, 100_000)),
        ("10K:1M", (10_000, 1_000_000)), ("policy:1000", (0, 1_000)),
    ],
)  # fmt: skip
def test_pairs_in_all_their_spellings(text: str, pair: tuple[int, int]) -> None:
    assert PublishedPair.parse(text) == PublishedPair(*pair)


@pytest.mark.parametrize("text", ["", "400", ":400", "0:1000:3", "400:policy", "-3:10", "400:50001", "five:6"])
def test_a_pair_that_the_table_does_not_have_is_one_line(text: str) -> None:
    with one_line(ChoiceError, repr(text)):
        published.load("s2").chosen(["400:50k", text])
