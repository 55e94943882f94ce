"""Positions: the Python border where moves are checked, played out of turn, taken back and set up."""

from __future__ import annotations

import random

import numpy as np
import pytest

from gozero import games
from gozero.games.coords import parse_vertex
from gozero.games.game import BLACK, PLY, WHITE
from gozero.games.go import go
from gozero.games.position import IllegalMove, Position
from tests.naive.go import NaiveGo
from tests.rows import Row


def at(vertex: str, size: int = 9) -> int:
    return parse_vertex(vertex, size)


def begin(size: int = 9, *vertices: str, rules: str = "chinese", komi: float = 7.5) -> Position:
    position = Position(go.make(size, rules, komi))
    for vertex in vertices:
        position.play(at(vertex, size))
    return position


def play_at_random(position: Position, plies: int, seed: int) -> None:
    rng = random.Random(seed)
    for _ in range(plies):
        position.play(rng.choice(np.flatnonzero(position.legal()).tolist()))


def same(first: Position, second: Position) -> bool:
    """Whether two positions cannot be told apart, their pasts included."""
    return (
        (first.state == second.state).all()
        and (first.history_row(0) == second.history_row(0)).all()
        and first.moves == second.moves
        and (first.legal() == second.legal()).all()
    )


def test_moves_alternate_and_are_remembered() -> None:
    position = begin(9, "E5", "C3", "pass")
    assert position.moves == [(BLACK, at("E5")), (WHITE, at("C3")), (BLACK, at("pass"))]
    assert (position.to_play, position.ply) == (WHITE, 3)


def test_a_position_prints_as_a_board() -> None:
    text = str(begin(9, "E5", "C3"))
    assert text.splitlines()[0].startswith("X to play")
    assert [text.count(symbol) for symbol in "XO"] == [2, 1], text


@pytest.mark.parametrize("vertex", ["E5", "C3", "resign"])
def test_an_illegal_move_is_refused_in_one_clear_line(vertex: str) -> None:
    position = begin(9, "E5", "C3")
    before = position.copy()
    with pytest.raises(IllegalMove) as refusal:
        position.play(at(vertex))
    assert vertex in str(refusal.value) and "Black" in str(refusal.value) and "\n" not in str(refusal.value)
    assert same(position, before), str(position)


@pytest.mark.parametrize("action", [-1, -83, 83, 10**9])
def test_numbers_that_are_no_action_never_reach_the_kernel(action: int) -> None:
    position = begin(9, "E5")
    assert not position.is_legal(action)
    with pytest.raises(IllegalMove):
        position.play(action)


def test_an_illegal_move_out_of_turn_changes_nothing() -> None:
    position = begin(9, "E5")
    before = position.copy()
    with pytest.raises(IllegalMove, match="Black"):
        position.play(at("E5"), BLACK)
    assert same(position, before), str(position)


def test_one_colour_may_play_twice() -> None:
    position = begin(9, "E5")
    position.play(at("D4"), BLACK)
    position.play(at("C3"), BLACK)
    assert position.moves == [(BLACK, at("E5")), (BLACK, at("D4")), (BLACK, at("C3"))]
    assert position.to_play == WHITE
    assert not position.is_over, str(position)
    assert str(position).count("X") == 3, str(position)


def test_two_passes_of_one_side_alone_do_not_end_the_game() -> None:
    position = begin(9, "C3")
    for _ in range(2):
        position.play(position.game.pass_action, BLACK)
        assert not position.is_over, str(position)
    position.undo()
    assert not position.is_over and position.to_play == WHITE
    position.play(position.game.pass_action)
    assert position.is_over


def test_white_may_begin() -> None:
    position = begin(9)
    position.play(at("E5"), WHITE)
    assert position.to_play == BLACK and not position.is_over
    assert str(position).count("O") == 1, str(position)


def test_filling_a_ko_oneself_out_of_turn_is_no_retaking() -> None:
    position = Position(go.make(5))
    position.set_up({at(v, 5): colour for v, colour in KO_STONES.items()}, BLACK)
    position.play(at("D4", 5), BLACK)
    assert not position.is_legal(at("C4", 5)), str(position)
    position.play(at("C4", 5), BLACK)
    assert position.to_play == WHITE


KO_STONES = {"C5": 1, "D5": 2, "B4": 1, "C4": 2, "E4": 2, "C3": 1, "D3": 2}


@pytest.mark.parametrize("rules", ["chinese", "tromp-taylor", "aga", "chinese-simple"])
def test_undo_brings_back_every_position_of_the_game(rules: str) -> None:
    position = Position(go.make(5, rules))
    past = []
    for seed in range(60):
        past.append(position.copy())
        if position.is_over:
            break
        play_at_random(position, 1, seed)
    for number in range(len(position.moves)):
        several = position.copy()
        several.undo(len(several.moves) - number)
        assert same(several, past[number]), f"{several}\n{past[number]}"
    while position.moves:
        position.undo()
        expected = past[len(position.moves)]
        assert same(position, expected), f"{position}\n{expected}"


def test_undo_takes_back_a_move_out_of_turn_with_its_pass() -> None:
    position = begin(9, "E5")
    before = position.copy()
    position.play(at("D4"), BLACK)
    position.undo()
    assert same(position, before), str(position)


def test_there_is_nothing_to_undo_at_the_beginning() -> None:
    with pytest.raises(IndexError):
        begin(9).undo()
    position = begin(9, "E5")
    with pytest.raises(IndexError):
        position.undo(2)
    assert len(position.moves) == 1
    position.undo(0)
    assert len(position.moves) == 1


def test_undo_takes_back_passes_after_the_end_and_moves_before_it() -> None:
    position = begin(9, "E5", "pass")
    before = position.copy()
    position.play(at("pass"))
    for colour in (BLACK, WHITE):
        position.pass_after_end(colour)
    position.undo(1)
    assert position.is_over and len(position.moves) == 4
    position.undo(2)
    assert same(position, before), str(position)


def test_superko_reaches_back_to_the_beginning_and_undo_forgets_it() -> None:
    position = begin(2, "A2", "B2", "A1", "B1")
    naive = NaiveGo(2)
    for move in position.moves:
        naive.play(move.action)
    for _ in range(20):
        assert set(np.flatnonzero(position.legal()).tolist()) == naive.legal(), str(position)
        action = max(naive.legal() - {4}, default=4)
        position.play(action)
        naive.play(action)
        position.undo()
        position.play(action)
        if naive.over():
            break


def test_without_superko_only_the_board_forbids() -> None:
    position = Position(go.make(4))
    stones = {
        at(v, 4): c
        for v, c in {"B4": 2, "D4": 2, "A3": 1, "B3": 1, "C3": 2, "B2": 1, "C2": 2, "B1": 1, "C1": 2}.items()
    }
    position.set_up(stones, WHITE)
    for vertex in ("A4", "C4"):
        position.play(at(vertex, 4))
    returning = at("B4", 4)
    assert not position.is_legal(returning) and position.is_legal(returning, superko=False), str(position)
    with pytest.raises(IllegalMove):
        position.play(returning)
    position.play(returning, superko=False)
    assert position.moves[-1] == (WHITE, returning)
    position.undo()
    assert not position.is_legal(returning), str(position)


def test_without_superko_the_suicide_of_one_stone_is_the_rules_affair() -> None:
    for rules, allowed in (("tromp-taylor", True), ("new-zealand", True), ("chinese", False)):
        position = Position(games.make("go", size=5, rules=rules))
        position.set_up({at("A2", 5): WHITE, at("B1", 5): WHITE}, BLACK)
        assert position.is_legal(at("A1", 5), superko=False) == allowed, rules
        assert position.is_legal(at("A1", 5)) == (rules == "new-zealand"), rules  # White, not Black, is to move then


def test_a_set_up_position_starts_a_new_game() -> None:
    position = begin(9, "E5", "C3")
    position.set_up({at("A1"): BLACK, at("B2"): WHITE}, WHITE)
    assert (position.moves, position.ply, position.to_play) == ([], 0, WHITE)
    assert [str(position).splitlines()[row].split()[col] for row, col in ((9, 1), (8, 2))] == ["X", "O"], str(position)
    before = position.copy()
    position.play(at("C3"))
    position.undo()
    assert same(position, before), str(position)


def test_a_set_up_with_a_dead_chain_is_refused_and_changes_nothing() -> None:
    position = begin(9, "E5")
    before = position.copy()
    with pytest.raises(ValueError, match="libert"):
        position.set_up({at("A1"): BLACK, at("A2"): WHITE, at("B1"): WHITE})
    assert same(position, before), str(position)


@pytest.mark.parametrize("action", [-1, 81])
def test_a_set_up_beyond_the_board_is_refused(action: int) -> None:
    with pytest.raises(ValueError, match=f"action {action} "):
        begin(9).set_up({action: BLACK})


def test_score_and_owner_are_blacks_whoever_moves() -> None:
    position = begin(9, "E5", komi=7.5)
    assert position.to_play == WHITE
    assert position.score() == 81 - 7.5
    assert (position.owner() == 1).all()
    position.play(at("pass"))
    assert position.score() == 81 - 7.5
    assert (position.owner() == 1).all()
    position.play(at("pass"))
    assert position.is_over and position.outcome() == -1, "White is to move and has lost"


def test_a_copy_goes_its_own_way() -> None:
    position = begin(9, "E5")
    copied = position.copy()
    copied.play(at("C3"))
    assert (position.ply, copied.ply) == (1, 2)
    assert position.moves != copied.moves
    position.play(at("D4"))
    assert copied.state[PLY] == 2 and not same(position, copied)


def test_games_may_be_longer_than_self_play_makes_them() -> None:
    position = begin(2)
    for ply in range(400):
        position.play(position.game.pass_action, BLACK if ply % 2 else WHITE)
    assert len(position.moves) == 400


def test_the_history_row_has_room_and_holds_the_past() -> None:
    position = begin(9, "E5", "C3", "D4")
    row = position.history_row(10)
    assert row.dtype == np.uint64 and len(row) >= position.ply + 11
    replayed = Row(go.make(9)).play("E5", "C3", "D4")
    assert (row[: position.ply + 1] == replayed.history[: position.ply + 1]).all()
    row[0] = 0
    assert position.history_row(0)[0] == replayed.history[0], "it is a copy"
