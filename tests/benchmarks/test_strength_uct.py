"""The match against OpenSpiel: both play one game, told by random play, and every match runs and counts its games."""

from __future__ import annotations

import importlib.util
import math

import numpy as np
import pytest

from benchmarks import strength_uct
from gozero import games
from gozero.games.game import BLACK, NOT_OVER, TO_PLAY, Game

installed = pytest.mark.skipif(
    importlib.util.find_spec("pyspiel") is None, reason="OpenSpiel is not installed: make bench"
)

RANDOM_GAMES = 60


def for_black(game: Game, state: np.ndarray) -> int:
    return int(game.outcome(state)) * (1 if state[TO_PLAY] == BLACK else -1)


@installed
@pytest.mark.parametrize("name", ["connect4", "othello"])
def test_both_allow_the_same_moves_and_count_the_same_results(name: str) -> None:
    match = strength_uct.MATCHES[name]
    game, their = games.make(name, **match.settings), strength_uct.their_game(match)
    history, mask, generator = game.new_histories(1)[0], np.zeros(game.actions, np.uint8), np.array([1], np.uint64)
    results = set()
    for _ in range(RANDOM_GAMES):
        state, position = game.initial.copy(), their.new_initial_state()
        while game.outcome(state) == NOT_OVER:
            board = game.to_text(state)
            assert not position.is_terminal(), board
            assert position.current_player() == (0 if state[TO_PLAY] == BLACK else 1), board
            game.legal(state, history, mask)
            assert sorted(map(match.theirs, np.flatnonzero(mask).tolist())) == position.legal_actions(), board
            action = int(game.sample(state, history, generator))
            position.apply_action(match.theirs(action))
            game.step(state, history, action)
        assert position.is_terminal(), game.to_text(state)
        assert position.player_return(0) == for_black(game, state), game.to_text(state)
        results.add(for_black(game, state))
    assert {-1, 1} <= results


@installed
@pytest.mark.parametrize("name", strength_uct.MATCHES)
def test_a_short_match_runs(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    strength_uct.main(["--game", name, "--short"])
    printed = capsys.readouterr()
    assert printed.err.count("plies, ") == 2
    assert "illegal" not in printed.err
    assert strength_uct.MATCHES[name].title in printed.out
    assert " of 2 = " in printed.out


def test_an_illegal_move_loses() -> None:
    game = games.make("connect4")
    assert strength_uct.play(game, lambda *_: game.resign_action, lambda *_: 0) == (-1, 0, True)


@installed
@pytest.mark.parametrize("opponent", strength_uct.OPPONENTS)
def test_every_opponent_plays_a_legal_move(opponent: str) -> None:
    match, game = strength_uct.MATCHES["connect4"], games.make("connect4")
    bot = strength_uct.their_bot(strength_uct.their_game(match), opponent, "uct", 2.0, 20, 1)
    mover = strength_uct.open_spiel(match, game, bot)
    assert mover(game.initial.copy(), game.new_histories(1)[0], []) in range(35, 42)  # the lowest row


@installed
def test_ucb1_gives_a_child_that_ends_the_game_its_exploration() -> None:
    """(2 wins of 3 visits) + 2 sqrt(ln 20 / 3), where OpenSpiel's own score is the outcome alone."""
    from open_spiel.python.algorithms.mcts import SearchNode

    child = SearchNode(0, 0, 1.0)
    assert strength_uct.ucb1(child, 20, 2.0) == float("inf")
    child.explore_count, child.total_reward, child.outcome = 3, 2.0, [1.0, -1.0]
    assert strength_uct.ucb1(child, 20, 2.0) == pytest.approx(2 / 3 + 2 * (math.log(20) / 3) ** 0.5)
    assert child.uct_value(20, 2.0) == 1.0


def played(seed: int) -> list[int]:
    """The moves of a game of Connect-4 up to our last one."""
    match, game, seen = strength_uct.MATCHES["connect4"], games.make("connect4"), list[int]()
    bot = strength_uct.their_bot(strength_uct.their_game(match), "c++", "uct", 2.0, 20, seed)
    we, they = (
        strength_uct.ours(game, 20, "uct", 2.0, seed),
        strength_uct.open_spiel(match, game, bot),
    )

    def watched(state: np.ndarray, history: np.ndarray, actions: list[int]) -> int:
        move = we(state, history, actions)
        seen[:] = [*actions, move]
        return move

    strength_uct.play(game, watched, they)
    return seen


@installed
def test_a_seed_repeats_its_game_and_another_does_not() -> None:
    assert played(1) == played(1) != played(2)


def test_without_openspiel_it_is_one_line(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None)
    with pytest.raises(SystemExit) as left:
        strength_uct.main(["--short"])
    assert left.value.code == 2
    assert capsys.readouterr() == (
        "",
        "benchmarks.strength_uct: OpenSpiel is not installed: pip install 'gozero[bench]'\n",
    )
