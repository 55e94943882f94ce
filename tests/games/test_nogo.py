"""NoGo: forbidden moves by diagram, and the values of small boards."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gozero.games import nogo
from gozero.games.coords import parse_vertex
from gozero.games.game import BLACK, NOT_OVER, WHITE
from tests.rows import Row, deviation, shown
from training.matches.perfect import TreeSolver

FORBIDDEN = {
    # name: (board, empty points where Black may not play, empty points where White may not)
    "nothing on the empty board": ("..../..../..../....", "", ""),
    "a corner stone with one liberty": ("OX../..../..../....", "A3", ""),
    "a corner stone with two": ("O.../.X../..../....", "", ""),
    "an eye in the corner": (".X../X.../..../....", "", "A4"),
    "an eye in the middle": ("..X../.X.X./..X../...../.....", "", "C4"),
    "an eye at the edge": ("X.O./XX.O/..O./....", "D4", ""),
    "the last liberty of both sides": ("X.O/XXO/XOO", "B3", "B3"),
    "the last liberty of one side": ("X.O/XOO/OO.", "B3 C1", "B3"),
    "joining chains that breathe no more": ("X.XO/OOO./..../....", "B4 D3", "B4"),
    "joining a chain that breathes": ("X.X./OOO./..../....", "", "B4"),
    "the far end of a long chain": ("XXXX/OOOX/..OX/..O.", "D1", "D1"),
    "two chains with the same last liberty": (".XO/XOO/O..", "A3 B1", "A3"),
    "a last liberty that a chain touches twice": (".XO/XXO/OO.", "A3 C1", "A3 C1"),
}


@pytest.mark.parametrize("name", FORBIDDEN)
def test_moves_that_capture_or_stifle_are_illegal(name: str) -> None:
    text, black, white = FORBIDDEN[name]
    for to_play, forbidden in (("X", black), ("O", white)):
        row = shown(nogo.make, text, to_play)
        empty = {point for point, stone in enumerate(row.stones()) if not stone}
        assert empty - row.legal() == {parse_vertex(vertex, row.game.cols) for vertex in forbidden.split()}, (
            f"{to_play}\n{row}"
        )


def test_who_cannot_move_loses() -> None:
    assert nogo.outcome(shown(nogo.make, ".X/X.", "O").state) == -1
    assert nogo.outcome(shown(nogo.make, ".X/X.", "X").state) == NOT_OVER


def test_owner_and_score_count_the_moves_left() -> None:
    black, white = shown(nogo.make, ".X./X../...", "X"), shown(nogo.make, ".X./X../...", "O")
    assert black.points(nogo.owner) == [1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert white.points(nogo.owner) == [-1, 0, 0, 0, 0, 0, 0, 0, 0]
    assert (nogo.score(black.state), nogo.score(white.state)) == (7 - 6 - 1, 6 - 7 - 1)


@pytest.mark.parametrize("to_play", ["X", "O"])
def test_where_nobody_can_move_the_side_to_move_loses(to_play: str) -> None:
    row = shown(nogo.make, ".XO/XXO/OO.", to_play)
    assert (nogo.outcome(row.state), nogo.score(row.state)) == (-1, -1)


def test_playouts_choose_uniformly() -> None:
    row = shown(nogo.make, "X.O./XX.O/..O./....")
    assert deviation(row, draws=6000) < 30  # of 8 degrees of freedom: p < 0.001


@pytest.mark.parametrize(("size", "played", "least"), [(3, 4, 8), (4, 20, 80), (5, 40, 200)])
def test_what_is_solved_is_what_perfect_play_leads_to(size: int, played: int, least: int) -> None:
    """By a solver that looks at every move; few results are left open where it is asked, none where few moves are."""
    rng, game, solved = random.Random(size), nogo.make(size), 0
    solver = TreeSolver(game)
    for _ in range(played):
        row = Row(game)
        while moves := sorted(row.legal()):
            found = nogo.solved(row.state)
            if len(moves) <= 4:
                assert found in (1, -1), str(row)
            if len(moves) <= 7 and found != NOT_OVER:
                assert found == max(solver.scores(row.state).values()), str(row)
                solved += 1
            row.play(rng.choice(moves))
        assert nogo.solved(row.state) == -1
    assert solved >= least


def test_little_is_solved_of_a_whole_game() -> None:
    assert nogo.solved(Row(nogo.make(9)).state) == NOT_OVER


@pytest.mark.parametrize("colour", [BLACK, WHITE])
def test_a_position_set_up_knows_its_moves(colour: int) -> None:
    """Rows that were played and rows that were set up hold the same points in another order."""
    row, rng = Row(nogo.make(7)), random.Random(colour)
    while row.legal():
        fresh = Row(row.game, row.game.set_up(np.array(row.stones(), np.uint8), row.to_play))
        assert fresh.legal() == row.legal(), str(row)
        assert fresh.points(nogo.owner) == row.points(nogo.owner), str(row)
        row.play(rng.choice(sorted(row.legal())))


@pytest.mark.parametrize(("size", "value"), [(2, 1), (3, 1), (4, -1)])
def test_the_first_player_wins_2x2_and_3x3_and_loses_4x4(size: int, value: int) -> None:
    """3x3 and 4x4 as published: Du, Wei and Müller 2023."""
    game = nogo.make(size)
    assert max(TreeSolver(game).scores(game.initial.copy()).values()) == value
