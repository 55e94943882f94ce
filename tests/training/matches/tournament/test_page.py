"""The page loads nothing and cannot be broken by names; the text for the terminal."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest

from tests.training.matches.tournament.test_rating import played
from training.elo import Z95
from training.matches.tables import aligned
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.results import Results, Standing, intervals, page, remarks, signed, text


def results_of(names: list[str], count: int = 6, **details: Any) -> Results:
    """Results of a small tic-tac-toe field with so many games of the first two, all won by the first."""
    first, second = sorted(names[:2])
    made = [
        played(first, second, index, first, moves=f"B A{index}", result="B+", ended="game end", **details)
        for index in range(count)
    ]
    field = Field(tuple(Entrant("random", name) for name in names), game="tictactoe", size=3)
    return Results(field, made, {})


def test_the_page_is_whole_and_loads_nothing() -> None:
    made = page(results_of(["a", "b", "c"]))
    assert re.findall(r"\b(?:src|href|data)\s*=|https?://|@import|url\(", made) == []
    assert "<table" in made and "<style" in made


def test_names_cannot_break_the_page() -> None:
    evil = '</style><script>alert("x")</script>&amp;'
    made = page(results_of([evil, "b"], detail="<b>&"))
    assert "<script>" not in made and "<b>&" not in made and "&lt;b&gt;&amp;" in made


def test_all_intervals_stand_on_one_scale() -> None:
    ratings = {"a": (150.0, 50.0), "b": (0.0, 100.0), "c": (math.nan, math.nan)}
    rows = [Standing(name, "", *elo, 2, 1, 0, 1, 0.5, 0, 1, 0, 0, 0, 1, 1) for name, elo in ratings.items()]
    first, second, none = intervals(rows)
    assert none == ""
    bars = [[float(number) for number in re.findall(r"([\d.]+)%", bar)] for bar in (first, second)]
    span = 150 + Z95 * 50 + Z95 * 100
    assert bars[1][0] == 0 and bars[0][0] + bars[0][1] == pytest.approx(100, abs=0.1)
    assert bars[1][1] == pytest.approx(100 * 2 * Z95 * 100 / span, abs=0.1)


def test_ratings_have_a_sign_but_for_nothing() -> None:
    assert [signed(elo) for elo in (34.6, -0.4, 0.4, -12.0)] == ["+35", "0", "0", "-12"]


def test_a_page_without_games() -> None:
    assert 'class="interval"' not in page(results_of(["a", "b"], count=0))


def test_the_text_has_table_crosstable_and_remarks() -> None:
    lines = text(results_of(["a", "b", "idle"], detail="crash")).splitlines()
    assert lines[2].split() == [
        "entrant", "Elo,", "95", "%", "LOS", "games", "won", "drawn", "lost", "score", "faults", "s/move",
    ]  # fmt: skip
    assert [line.split()[-7:] for line in lines[3:6]] == [
        ["6", "6", "0", "0", "100.0%", "0", "0.100"], ["6", "0", "0", "6", "0.0%", "6", "0.200"],
        ["0", "0", "0", "0", "-", "0", "-"],
    ]  # fmt: skip
    assert any(line.split()[:2] == ["1", "a"] and "6/6" in line for line in lines)
    assert "b lost 6 games by game end; a - b, game 1: crash" in lines
    assert aligned([["1", "ab"], ["22", "c"]]) == [" 1  ab", "22  c"]


def test_a_winner_that_a_player_names_otherwise_is_told() -> None:
    results = results_of(["a", "b"], claims=("W+1", None))
    assert "a player named another winner than the referee in 6 games, the first of them a - b, game 1" in remarks(
        results
    )
