"""The player of games other than Go."""

import pytest

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.position import IllegalMove
from gozero.play.current_game import TurnError
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Limits
from tests.fixed_player import SEARCH, other_player


def test_nobody_moves_out_of_turn() -> None:
    one = other_player("nogo", 4)
    assert not one.game.legal(WHITE).any()
    for move in (
        lambda: one.game.play(WHITE, 0),
        lambda: one.genmove(WHITE, Limits(4)),
        lambda: one.suggest(WHITE, Limits(4)),
    ):
        with pytest.raises(TurnError, match="it is Black's turn"):
            move()
    with pytest.raises(ValueError, match="not over"):
        one.game.winner()
    one.game.play(BLACK, 0)
    with pytest.raises(IllegalMove, match="A4 is illegal for White"):
        one.game.play(WHITE, 0)
    with pytest.raises(IllegalMove, match="pass is illegal for White"):
        one.game.play(WHITE, one.game.definition.pass_action)


def test_after_the_end_the_loser_resigns_and_the_winner_passes() -> None:
    one = other_player("tictactoe", 3)
    for ply, action in enumerate([0, 3, 1, 4, 2]):
        one.game.play(BLACK + ply % 2, action)
    assert one.game.winner() == BLACK
    assert one.genmove(WHITE, Limits(4)) == one.game.definition.resign_action
    assert one.genmove(BLACK, Limits(4)) == one.game.definition.pass_action
    assert one.game.position.ply == 5
    for move in (lambda: one.game.play(WHITE, 5), lambda: one.suggest(WHITE, Limits(4))):
        with pytest.raises(TurnError, match="the game is over"):
            move()


@pytest.mark.parametrize(
    ("game", "size"), [("nogo", 4), ("othello", 4), ("gomoku", 5), ("connect4", 7), ("tictactoe", 3)]
)
def test_a_game_against_itself_is_legal_and_passes_after_its_end_change_nothing(game: str, size: int) -> None:
    one = make_player(game, [size], RolloutEvaluator, PlayerSettings(seed=1, resign=False, search=SEARCH), size=size)
    with pytest.raises(ValueError, match="not over"):
        one.game.position.pass_after_end(BLACK)
    while not one.game.is_over:
        colour = one.game.position.to_play
        legal = one.game.legal(colour)
        assert legal[one.suggest(colour, Limits(8))]
        assert legal[one.genmove(colour, Limits(8))], str(one.game.position)
    assert not one.game.legal(BLACK).any() and not one.game.legal(WHITE).any()
    state, moves, winner = one.game.position.state.copy(), list(one.game.position.moves), one.game.winner()
    for colour in (WHITE, BLACK, BLACK):
        one.game.play(colour, one.game.definition.pass_action)
    aside = one.game.position.copy()
    assert [move.colour for move in one.game.position.moves[len(moves) :]] == [WHITE, BLACK, BLACK]
    assert (one.game.is_over, one.game.winner(), one.game.position.state.tolist()) == (True, winner, state.tolist())
    for _ in range(3):
        one.game.undo()
        aside.undo()
    assert (
        (one.game.position.moves, one.game.position.state.tolist())
        == (moves, state.tolist())
        == (aside.moves, aside.state.tolist())
    )
    one.game.undo()
    assert not one.game.is_over
    assert len(one.game.position.moves) == len(moves) - 1


def test_nobody_resigns_where_points_are_counted() -> None:
    one = make_player("othello", [4], RolloutEvaluator, PlayerSettings(seed=1, resign=False, search=SEARCH), size=4)
    while not one.game.is_over:
        one.genmove(one.game.position.to_play, Limits(2))
    assert one.game.winner() != EMPTY
    assert [one.genmove(colour, Limits(2)) for colour in (BLACK, WHITE)] == [one.game.definition.pass_action] * 2


def test_a_lost_game_is_resigned() -> None:
    one = other_player("gomoku", 9, for_black=-0.95)
    moves = [one.genmove(one.game.position.to_play, Limits(5)) for _ in range(23)]
    assert moves[-1] == one.game.definition.resign_action
    assert (
        one.game.position.ply == 22
    )  # not before a quarter of the 81 points is played: Black's first move from then on
    assert one.game.position.to_play == BLACK
