"""The laws of the game contract (`gozero.games.game`), held to by every game in the table `gozero.games.GAMES`.

A game that joins the table needs one line in VARIANTS, and one in ORACLES for its slow referee.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import numpy as np
import pytest

from gozero import games
from gozero.games import symmetry
from gozero.games.game import BLACK, EMPTY, NOT_OVER, PLY, TO_PLAY, WHITE, Game, outcome_batch, step_batch
from gozero.games.position import IllegalMove, Position
from gozero.system.jit import OUTCOME, STEP, as_argument
from tests.naive.breakthrough import NaiveBreakthrough
from tests.naive.course_go import NaiveCourseGo
from tests.naive.go import NaiveGo
from tests.naive.hexagons import NaiveHex
from tests.naive.lines import naive_connect4, naive_gomoku, naive_tictactoe
from tests.naive.nogo import NaiveNoGo
from tests.naive.othello import NaiveOthello
from tests.naive.simple_go import NaiveSimpleGo
from tests.rows import Row


class Oracle(Protocol):
    """What a slow referee of a game must answer."""

    def legal(self) -> set[int]: ...
    def play(self, action: int) -> None: ...
    def over(self) -> bool: ...
    def result(self) -> int: ...


ORACLES: dict[str, Callable[..., Oracle]] = {
    "go": lambda size, rules="chinese", komi=7.5: NaiveGo(size, rules=rules, komi=komi),
    "nogo": NaiveNoGo,
    "othello": NaiveOthello,
    "simple_go": NaiveSimpleGo,
    "connect4": naive_connect4,
    "course_go": NaiveCourseGo,
    "hex": NaiveHex,
    "breakthrough": NaiveBreakthrough,
    "gomoku": naive_gomoku,
    "tictactoe": naive_tictactoe,
}
VARIANTS: list[tuple[str, dict[str, Any]]] = [
    ("go", {"size": 2, "komi": 0.0}),
    ("go", {"size": 5}),
    ("go", {"size": 5, "rules": "tromp-taylor"}),
    ("go", {"size": 7, "rules": "chinese-simple", "komi": 9.0}),
    ("go", {"size": 7, "rules": "aga"}),
    ("go", {"size": 9}),
    ("go", {"size": 13, "rules": "new-zealand"}),
    ("nogo", {"size": 2}),
    ("nogo", {"size": 5}),
    ("nogo", {"size": 9}),
    ("othello", {"size": 4}),
    ("othello", {"size": 6}),
    ("othello", {"size": 8}),
    ("simple_go", {}),
    ("course_go", {}),
    ("connect4", {}),
    ("gomoku", {"size": 5}),
    ("gomoku", {"size": 9}),
    ("gomoku", {"size": 7, "rules": "exact"}),
    ("tictactoe", {}),
    ("hex", {"size": 3}),
    ("hex", {"size": 11}),
    ("breakthrough", {"size": 5}),
    ("breakthrough", {"size": 8}),
]
GAMES_PLAYED = 6


def name_of(variant: tuple[str, dict[str, Any]]) -> str:
    return "-".join([variant[0], *map(str, variant[1].values())])


@pytest.fixture(params=VARIANTS, ids=name_of)
def variant(request: pytest.FixtureRequest) -> tuple[str, dict[str, Any]]:
    chosen: tuple[str, dict[str, Any]] = request.param
    return chosen


@pytest.fixture
def game(variant: tuple[str, dict[str, Any]]) -> Game:
    return games.make(variant[0], **variant[1])


def play_uniformly(game: Game, seed: int, plies: int) -> Iterator[Row]:
    """A game of uniformly random moves: the row after each ply, the first position before all."""
    rng, row = random.Random(seed), Row(game, plies=plies + 1)
    yield row
    for _ in range(plies):
        if game.outcome(row.state) != NOT_OVER:
            return
        yield row.play(rng.choice(sorted(row.legal())))


def some_rows(game: Game) -> Iterator[Row]:
    """Positions of a few random games."""
    for seed in range(GAMES_PLAYED):
        yield from play_uniformly(game, seed, min(2 * game.points, 120))


def test_every_game_of_the_table_is_tried() -> None:
    assert {name for name, _ in VARIANTS} == set(games.GAMES) == set(ORACLES)


def test_an_unknown_game_is_refused_by_name() -> None:
    with pytest.raises(ValueError, match="chequers"):
        games.make("chequers")


def test_the_description_fits_the_kernels(game: Game) -> None:
    assert game.name in games.GAMES
    assert game.actions == len(game.directions) * game.points + 2
    assert (game.pass_action, game.resign_action) == (game.actions - 2, game.actions - 1)
    assert (game.initial.dtype, game.initial.shape) == (np.int32, (game.state_ints,))
    assert (game.initial[TO_PLAY], game.initial[PLY]) == (BLACK, 0)
    assert not game.initial.flags.writeable
    assert set(game.symmetries) <= set(range(2 * symmetry.SYMMETRIES)) and 0 in game.symmetries


def test_a_position_is_terminal_or_some_action_of_the_board_is_legal_and_a_ply_counts_and_turns(game: Game) -> None:
    for row in some_rows(game):
        legal, outcome = row.legal(), game.outcome(row.state)
        assert outcome in (1, 0, -1) or (outcome == NOT_OVER and legal), str(row)
        assert game.resign_action not in legal, str(row)
        assert game.has_pass or game.pass_action not in legal, str(row)
        assert (row.state[PLY], row.to_play) == (len(row.actions), (BLACK, WHITE)[len(row.actions) % 2]), str(row)


def test_asking_changes_nothing(game: Game) -> None:
    for row in some_rows(game):
        before = row.state.copy(), row.history.copy()
        row.legal()
        game.outcome(row.state)
        if game.owner is not None and game.score is not None:
            row.points(game.owner)
            game.score(row.state)
        assert (row.state == before[0]).all() and (row.history == before[1]).all(), str(row)


def test_a_diagram_is_read_back_as_it_was_written(game: Game) -> None:
    for row in some_rows(game):
        if game.name == "course_go" and row.state[PLY] == game.max_plies:
            continue  # its limit of plies, which a diagram does not show
        text = game.to_text(row.state)
        again = game.from_text(text)
        assert game.to_text(again) == text
        assert (game.from_text(game.to_text(again)) == again).all(), text
        assert game.outcome(again) == game.outcome(row.state), text
        if game.score is not None:
            assert game.score(again) == game.score(row.state), text


def test_legal_and_outcome_commute_with_the_symmetries(game: Game) -> None:
    for number in game.symmetries:
        row, turned = Row(game), Row(game, _first_position(game, number))
        rng = random.Random(number)
        for _ in range(min(2 * game.points, 200)):
            legal = row.legal()
            assert turned.legal() == {turn(action, game, number) for action in legal}, (
                f"symmetry {number}\n{row}\n{turned}"
            )
            assert game.outcome(turned.state) == game.outcome(row.state), f"symmetry {number}\n{row}\n{turned}"
            if game.owner is not None:
                owner = symmetry.apply_points(np.array(row.points(game.owner)), game.shape, number)
                assert turned.points(game.owner) == owner.tolist(), f"symmetry {number}\n{row}\n{turned}"
            if game.outcome(row.state) != NOT_OVER:
                break
            action = rng.choice(sorted(legal))
            row.play(action)
            turned.play(turn(action, game, number))


def turn(action: int, game: Game, number: int) -> int:
    return symmetry.apply_action(action, game.shape, number, game.directions)


def _first_position(game: Game, number: int) -> np.ndarray:
    """The game's first position under a symmetry, which may exchange the colours; turned, it is the same."""
    if not number & symmetry.COLOURS_EXCHANGED:
        return game.initial
    colours = symmetry.apply_points(game.board(game.initial.copy()).ravel(), game.shape, number)
    return game.set_up(np.array([EMPTY, WHITE, BLACK], np.uint8)[colours], WHITE)


def test_a_batch_equals_one_at_a_time(game: Game) -> None:
    batch, plies = 8, min(game.points, 60)
    rng = random.Random(5)
    states, histories = game.new_states(batch), game.new_histories(batch)
    rows = [Row(game) for _ in range(batch)]
    outcomes = np.empty(batch, np.int8)
    step, outcome = as_argument(game.step, STEP), as_argument(game.outcome, OUTCOME)
    for _ in range(plies):
        outcome_batch(outcome, states, outcomes)
        actions = np.full(batch, -1, np.int64)
        for b, row in enumerate(rows):
            assert outcomes[b] == game.outcome(row.state), str(row)
            if outcomes[b] == NOT_OVER:
                actions[b] = rng.choice(sorted(row.legal()))
                row.play(int(actions[b]))
        step_batch(step, states, histories, actions)
        assert (states == np.stack([row.state for row in rows])).all()


def test_games_end_within_the_stated_bound(variant: tuple[str, dict[str, Any]]) -> None:
    """With the bound as move limit the game is over by then; a playout passes at its end and needs none."""
    name, settings = variant
    bound = games.make(name, **settings).max_plies
    game = games.make(name, **settings, move_limit=bound) if name == "go" else games.make(name, **settings)
    assert game.max_plies == bound
    for seed in range(GAMES_PLAYED):
        row = Row(game)
        for row in play_uniformly(game, seed, bound):  # noqa: B007
            pass
        assert game.outcome(row.state) != NOT_OVER, str(row)


def test_random_play_matches_the_slow_referee(variant: tuple[str, dict[str, Any]], game: Game) -> None:
    for seed in range(3):
        oracle = ORACLES[variant[0]](**variant[1])
        for row in play_uniformly(game, seed, 150):
            if row.actions:
                oracle.play(row.actions[-1])
            assert (game.outcome(row.state) != NOT_OVER) == oracle.over(), str(row)
            if oracle.over():
                assert game.outcome(row.state) == oracle.result(), str(row)
            else:
                assert row.legal() == oracle.legal(), str(row)


def test_playouts_choose_legal_actions_and_end(game: Game) -> None:
    row = Row(game, plies=5 * game.points + 61)
    generator = np.array([7], np.uint64)
    while game.outcome(row.state) == NOT_OVER:
        action = int(game.sample(row.state, row.history, generator))
        assert action in row.legal(), f"{action}\n{row}"
        row.play(action)
        assert len(row.actions) < 5 * game.points + 60, str(row)


def test_the_border_refuses_what_is_not_legal(game: Game) -> None:
    rng, position = random.Random(3), Position(game)
    for _ in range(60):
        if position.is_over:
            break
        legal = set(np.flatnonzero(position.legal()).tolist())
        before = position.state.copy()
        for action in {*range(-2, game.actions + 2)} - legal:
            assert not position.is_legal(action)
            with pytest.raises(IllegalMove):
                position.play(action)
        assert (position.state == before).all(), str(position)
        position.play(rng.choice(sorted(legal)))
