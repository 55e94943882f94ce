"""Othello: flips and passes by diagram, what is solved, and the value of 4x4."""

from __future__ import annotations

import random
from functools import cache

import numpy as np
import pytest

from gozero import games
from gozero.games import othello, symmetry
from gozero.games.coords import parse_vertex
from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, WHITE
from gozero.games.position import IllegalMove, Position
from tests.naive.othello import NaiveOthello
from tests.rows import Row, deviation, picture, shown
from training.matches.perfect import TreeSolver


def test_the_first_position_is_the_standard_one() -> None:
    row = Row(othello.make())
    points = {colour: {k for k, disc in enumerate(row.stones()) if disc == colour} for colour in (BLACK, WHITE)}
    assert points[BLACK] == {parse_vertex(vertex, 8) for vertex in ("D5", "E4")}
    assert points[WHITE] == {parse_vertex(vertex, 8) for vertex in ("D4", "E5")}
    assert row.legal() == {parse_vertex(vertex, 8) for vertex in ("D3", "C4", "F5", "E6")}


@pytest.mark.parametrize("size", othello.SIZES)
def test_the_symmetries_are_those_that_keep_the_first_position(size: int) -> None:
    game = othello.make(size)
    discs = np.array(Row(game).stones())
    kept = [
        number for number in range(symmetry.SYMMETRIES) if (symmetry.apply_points(discs, size, number) == discs).all()
    ]
    assert list(game.symmetries) == kept == [0, 2, 5, 7]


FLIPS = {
    # name: (before, side to move, move, after)
    "one disc": ("..../.XO./.OX./....", "X", "D3", "..../.XXX/.OX./...."),
    "two ways": ("X.../O.../.OX./....", "X", "A2", "X.../X.../XXX./...."),
    "eight ways": ("X.X.X./.OOO../XO.OX./.OOO../X.X.X./......", "X", "C4", "X.X.X./.XXX../XXXXX./.XXX../X.X.X./......"),
    "not behind a gap": ("XO.O.X" + 5 * "/......", "X", "C6", "XXXO.X" + 5 * "/......"),
    "not to the edge": (".OOX.." + 5 * "/O.....", "X", "A6", "XXXX.." + 5 * "/O....."),
    "not a line beyond an own disc": (".OXOX." + 5 * "/......", "X", "A6", "XXXOX." + 5 * "/......"),
    "a whole row": (7 * "......../" + ".OOOOOOX", "X", "A1", 7 * "......../" + "XXXXXXXX"),
    "a whole column": (".......O/" + 6 * ".......X/" + "........", "O", "H1", 7 * ".......O/" + ".......O"),
    "the falling diagonal": (
        "......../.O....../..O...../...O..../....O.../.....O../......O./.......X",
        "X",
        "A8",
        "X......./.X....../..X...../...X..../....X.../.....X../......X./.......X",
    ),
    "the rising diagonal": (
        "......../......X./.....X../....X.../...X..../..X...../.X....../O.......",
        "O",
        "H8",
        ".......O/......O./.....O../....O.../...O..../..O...../.O....../O.......",
    ),
}


@pytest.mark.parametrize("name", FLIPS)
def test_flips(name: str) -> None:
    before, to_play, move, after = FLIPS[name]
    row = shown(othello.make, before, to_play)
    assert row.allows(move), str(row)
    assert picture(row.play(move)) == after, str(row)


@pytest.mark.parametrize("size", othello.SIZES)
def test_no_line_runs_over_the_edge(size: int) -> None:
    """One disc of each colour, wherever they stand: the kernels shift, the referee walks rows and columns."""
    game, naive = othello.make(size), NaiveOthello(size)
    for black in range(game.points):
        for white in range(game.points):
            if black != white:
                colours = np.full(game.points, EMPTY, np.uint8)
                colours[[black, white]] = BLACK, WHITE
                naive.past = [(tuple(colours.tolist()), BLACK)]
                row = Row(game, game.set_up(colours, BLACK), plies=1)
                assert row.legal() == (naive.moves(BLACK) or {game.pass_action}), str(row)


def test_the_shortest_game() -> None:
    """Black has taken every disc after nine plies."""
    row = Row(othello.make()).play("E6", "F4", "E3", "F6", "G5", "D6", "E7", "F5", "C5")
    assert set(row.stones()) == {EMPTY, BLACK} and row.stones().count(BLACK) == 13
    assert (row.game.outcome(row.state), row.game.score(row.state)) == (-1, -13), str(row)


@pytest.mark.parametrize(("size", "most"), [(6, othello.SOLVED_EMPTY), (8, 7)])
def test_what_is_solved_is_what_perfect_play_leads_to(size: int, most: int) -> None:
    """By a solver that looks at every move, and wants the number of plies to be small."""
    rng, game, results = random.Random(size), othello.make(size), []
    solver = TreeSolver(game)
    for _ in range(20):
        row = Row(game)
        while game.outcome(row.state) == NOT_OVER:
            if row.stones().count(EMPTY) <= most:
                results.append(othello.solved(row.state))
                asked = row.state.copy()
                asked[PLY] = 0
                assert results[-1] == max(solver.scores(asked).values()), str(row)
            row.play(rng.choice(sorted(row.legal())))
    assert set(results) == {-1, 0, 1}


def test_the_loss_of_the_last_disc_is_foreseen() -> None:
    row = Row(othello.make()).play("E6", "F4", "E3", "F6", "G5", "D6", "E7", "F5")
    assert othello.solved(row.state) == 1, "the next move takes all"
    surrounded = 3 * "......../" + "..XXX.../..XOX.../..XXX.../......../........"
    assert othello.solved(shown(othello.make, surrounded, "O").state) == -1
    assert othello.solved(Row(othello.make()).state) == NOT_OVER


def test_a_pass_is_legal_exactly_where_no_point_is() -> None:
    position = Position(othello.make(4))
    with pytest.raises(IllegalMove):
        position.play(position.game.pass_action)
    position.set_up({parse_vertex("A4", 4): BLACK, parse_vertex("B4", 4): WHITE}, to_play=WHITE)
    assert np.flatnonzero(position.legal()).tolist() == [position.game.pass_action]
    assert not position.is_over
    position.play(position.game.pass_action)
    assert (position.to_play, position.ply) == (BLACK, 1)
    assert np.flatnonzero(position.legal()).tolist() == [parse_vertex("C4", 4)]


@pytest.mark.parametrize(
    ("text", "to_play", "outcome", "score"),
    [
        ("XX../XX../..../....", "X", 1, 4), ("XX../XX../..../....", "O", -1, -4), ("XX../..../..../..OO", "X", 0, 0),
        ("XXXX/XXXX/OOOO/OOOX", "O", -1, -2), ("XO../..../..../....", "O", NOT_OVER, 0),
    ],
)  # fmt: skip
def test_most_discs_win_once_neither_side_can_move(text: str, to_play: str, outcome: int, score: int) -> None:
    row = shown(othello.make, text, to_play)
    assert (row.game.outcome(row.state), row.game.score(row.state)) == (outcome, score), str(row)


def test_the_rules_have_the_name_of_records_and_journals() -> None:
    assert games.usual("othello", "rules") == "standard"


def test_sample_draws_every_legal_action_alike() -> None:
    assert deviation(Row(othello.make()).play("E6", "F4"), draws=6000) < 18  # of 4 degrees of freedom: p < 0.001


def test_the_second_player_wins_4x4_by_eight_discs() -> None:
    """With best play of both sides, searched to the end of every game."""
    game, history = othello.make(4), np.zeros(1, np.uint64)

    @cache
    def best_score(position: bytes) -> float:
        """What the side to move can force."""
        state = np.frombuffer(position, np.int32).copy()
        if game.outcome(state) != NOT_OVER:
            return game.score(state)
        mask, best = np.empty(game.actions, np.uint8), -np.inf
        game.legal(state, history, mask)
        for action in np.flatnonzero(mask):
            after = state.copy()
            game.step(after, history, action)
            best = max(best, -best_score(after.tobytes()))
        return best

    assert best_score(game.initial.tobytes()) == -8
