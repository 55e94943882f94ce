"""The page holds every position as the engine played it, loads nothing, and cannot be broken by names."""

from __future__ import annotations

import json
import re
from html.parser import HTMLParser
from typing import Any

import numpy as np
import pytest

from gozero import games
from gozero.games import coords
from gozero.games.game import BLACK, Game
from gozero.games.position import Position
from tests import ROOT
from tests.training.matches.tournament.test_rating import played
from training.matches.elo import MatchScore, rate
from training.matches.players import random_action
from training.matches.tables import aligned
from training.matches.tournament import page
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.page import Pages, changes, chosen
from training.matches.tournament.results import Results, Standing, signed, standings, text, totals


def random_game(game: Game, seed: int) -> tuple[str, list[np.ndarray]]:
    """(moves as the journal has them, the board after each)."""
    position, generator, boards = Position(game), np.array([seed], np.uint64), []
    while not position.is_over and position.ply < 120:
        position.play(random_action(position, generator))
        boards.append(game.board(position.state).ravel().copy())
    words = [
        f"{'B' if colour == BLACK else 'W'} {coords.vertex(action, game.cols, game.rows)}"
        for colour, action in position.moves
    ]
    return " ".join(words), boards


@pytest.mark.parametrize("name", ["go", "othello", "connect4", "gomoku", "tictactoe", "nogo"])
def test_the_changes_make_the_boards_of_the_engine(name: str) -> None:
    game = games.make(name, size=5) if name == "go" else games.make(name)
    moves, boards = random_game(game, seed=3)
    found = changes(game, played("a", "b", 0, "a", moves=moves))
    board = np.zeros(game.points, np.uint8)
    assert len(found) == 1 + len(boards)
    for number, change in enumerate(found):
        board[change[::2]] = change[1::2]
        if number:
            assert np.array_equal(board, boards[number - 1]), f"after move {number}"


def results_of(names: list[str], count: int = 6, **details: Any) -> Results:
    """Results of a small tic-tac-toe field with so many games of the first two."""
    game = games.make("tictactoe")
    first, second = sorted(names[:2])
    made = [
        played(first, second, index, first, moves=random_game(game, index)[0], result="B+", ended="game end", **details)
        for index in range(count)
    ]
    field = Field(tuple(Entrant("random", name) for name in names), game="tictactoe", size=3)
    found = totals(made)
    ratings = rate(names, found)
    table = standings(dict.fromkeys(names, "random"), made, ratings, {})
    return Results(field, made, found, ratings, table, {}, 0, None)


class Loads(HTMLParser):
    """What a page would fetch, and its tags."""

    def __init__(self) -> None:
        super().__init__()
        self.fetched: list[str] = []
        self.tags: list[str] = []

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.fetched += [str(value) for name, value in attributes if name in ("src", "href", "data")]


def data_of(made: str) -> dict[str, Any]:
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', made)
    assert found is not None
    return dict(json.loads(found[1]))


def test_the_page_is_whole_and_loads_nothing() -> None:
    made = Pages(games.make("tictactoe")).page(results_of(["a", "b", "c"]))
    loads = Loads()
    loads.feed(made)
    assert loads.fetched == []
    assert re.findall(r"https?://(?!www.w3.org/2000/svg)|@import|url\(", made) == []
    assert {"table", "svg", "script", "style", "select"} <= set(loads.tags)
    data = data_of(made)
    assert (data["rows"], data["cols"], len(data["games"])) == (3, 3, 6)
    assert all(len(game["s"]) == 1 + len(game["m"]) for game in data["games"])


def test_names_cannot_break_the_page() -> None:
    evil = '</script><script>alert("x")</script>&amp;'
    made = Pages(games.make("tictactoe")).page(results_of([evil, "b"], detail="<b>&"))
    assert "<script>alert" not in made and "<b>&" not in made
    assert evil in data_of(made)["entrants"]


def test_a_large_tournament_shows_its_faults_and_its_newest_games(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(page, "MOST_GAMES", 10)
    made = [played("a", "b", index, "a", detail="crash" if index < 3 else "") for index in range(50)]
    assert [game.index for game in chosen(made)] == [0, 1, 2, *range(43, 50)]
    assert len(chosen([played("a", "b", index, "a", detail="crash") for index in range(50)])) == 10


def test_the_plot_spans_all_intervals() -> None:
    even, ratings = MatchScore(1, 1), {"a": 120.0, "b": -120.0}
    rows = [Standing(name, "", even, elo, 30, 0, 0, 0, 1.0, 1.0) for name, elo in ratings.items()]
    made = page.plot(rows)
    ends = [float(x) for x in re.findall(r'x\d="([\d.]+)"[^>]*class="interval"', made)]
    assert made.count("<circle") == 2 and "+100" in made and "-100" in made
    assert all(page.LEFT < x < page.LEFT + page.PLOT + 2 * page.MARGIN for x in ends)
    assert "Nobody is rated" in page.plot([])


def test_ratings_have_a_sign_but_for_nothing() -> None:
    assert [signed(elo) for elo in (34.6, -0.4, 0.4, -12.0)] == ["+35", "0", "0", "-12"]


def test_a_page_without_games() -> None:
    made = Pages(games.make("tictactoe")).page(results_of(["a", "b"], count=0))
    assert 'id="data"' not in made and "Nobody is rated" in made


def test_the_text_has_table_crosstable_and_remarks() -> None:
    lines = text(results_of(["a", "b", "idle"], detail="crash")).splitlines()
    assert lines[2].split() == [
        "entrant",
        "Elo,",
        "95",
        "%",
        "LOS",
        "games",
        "won",
        "drawn",
        "lost",
        "score",
        "faults",
        "s/move",
    ]
    assert any(line.split()[:2] == ["1", "a"] and "6/6" in line for line in lines)
    assert "b lost 6 games by game end; a - b, game 1: crash" in lines
    assert aligned([["1", "ab"], ["22", "c"]]) == [" 1  ab", "22  c"]


def test_the_files_that_the_page_is_made_of_are_in_the_package() -> None:
    packaged = (ROOT / "setup.cfg").read_text()
    assert "training.matches.tournament = *.css, *.html, *.js, *.toml" in packaged
