"""What a table says: text and page, from games that are given."""

from __future__ import annotations

import re

import pytest

from tests.training.matches.tournament.test_rating import played
from training.elo import MatchScore
from training.matches.match import MatchGame
from training.matches.table import published
from training.matches.table.play import Contest, cell_text
from training.matches.table.published import PublishedPair
from training.matches.tournament.results import Results, page

FEW, POLICY = PublishedPair(50, 20_000), PublishedPair(0, 1_000)


def contest(command: str = "") -> Contest:
    return Contest(published.load("s2"), ("nogo9.pt",), command)


def results_of(contest: Contest, games: list[MatchGame], size: int = 9) -> Results:
    field = contest.field("test", [FEW, POLICY], game="nogo", size=size, games=8)
    return Results(field, games, {})


def won(contest: Contest, pair: PublishedPair, wins: int, games: int) -> list[MatchGame]:
    """So many games of a pair, of which ours wins the first ones; names stand in the order of the alphabet."""
    ours, theirs = contest.our_name("nogo9.pt", pair), contest.their_name(pair)
    a, b = sorted((ours, theirs))
    return [played(a, b, index, ours if index < wins else theirs, moves=f"B A{index + 1}") for index in range(games)]


def test_cells() -> None:
    assert cell_text(MatchScore(0, 0), 8) == "not played"
    assert cell_text(MatchScore(3, 1), 8) == "75.0% [30.1, 95.4] 4/8"
    assert cell_text(MatchScore(290, 210), 500) == "58.0% [53.6, 62.2] 500"


@pytest.mark.parametrize("command", ["", "/opt/zebra --sims {sims}"])
def test_our_share_is_ours_whoever_stands_first_in_the_alphabet(command: str) -> None:
    one = contest(command)
    text = one.text(results_of(one, won(one, FEW, 6, 8)))
    assert re.search(
        r"^here, nogo9.pt +75\.0% \[40\.9, 92\.9\] 8 +not played +not played +not played$", text, re.MULTILINE
    )


def test_the_text_has_our_cells_below_the_published_figures() -> None:
    one = contest()
    text = one.text(results_of(one, won(one, POLICY, 1, 4)))
    rows = [re.split(r"  +", line) for line in text.splitlines()]
    assert ["simulations", "400 : 50,000", "1,600 : 100,000"] in rows
    assert ["sample rate 1", "< 10%", "< 10%"] in rows
    assert ["here, nogo9.pt", "25.0% [4.6, 69.9] 4/8", "not played", "not played"] in rows
    assert ["larger network", "89.4%", "85.4%", "77.4%", "52.0%"] in rows
    assert "Here against plain UCT, 8 games wanted in a cell, 4 with each colour" in text
    assert "12 games left" in text
    assert "different games" not in text


def test_another_board_is_said_to_be_another_game() -> None:
    one = contest()
    assert "Here nogo 7x7 is played: the figures are of different games." in one.text(results_of(one, [], 7))


def test_the_page_begins_with_the_table() -> None:
    one = contest()
    results = results_of(one, [])
    heads = re.findall(r"<h[12]>([^<]*)</h[12]>", page(results, one.html(results)))
    assert heads[1:7] == [*(part.title for part in one.table.parts), "The tournament behind it"]
