"""Why the rules refuse a move, in one sentence for a person."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from gozero.games import FALLING_GAMES, GO_FAMILY
from gozero.games.colours import COLOUR_NAMES
from gozero.games.game import EMPTY, Game
from gozero.games.position import Position

REASONS = {
    "course_go": "{move} would be suicide, retake a ko at once, or fill an eye of yours that is not in danger.",
    "nogo": "{move} would capture stones or take its own last liberty, and neither is allowed in NoGo.",
    "othello": "{move} doesn't flip any discs.",
    "breakthrough": "{move} is not possible: ahead of a piece the point must be empty, slantwise free of its own colour.",
}


def refusal(position: Position, action: int, written: Callable[[Game, int], str] = Game.vertex) -> str:
    """Why the side to move may not play ``action``, which is written so; empty where it may."""
    game = position.game
    if position.is_over:
        return "The game is over."
    if position.is_legal(action):
        return ""
    if action == game.pass_action:
        if game.has_pass:
            return "You may pass only when you have no other move."
        return f"There is no passing in {game.name}."
    move, board = written(game, action), game.board(position.state).flat
    if game.moves_pieces:
        if board[game.ends(action)[0]] != position.to_play:
            return f"{move} does not begin with a piece of {COLOUR_NAMES[position.to_play]}'s."
    elif board[action] != EMPTY:
        return f"{move} is taken."
    if game.name in GO_FAMILY:
        return f"{move} {_refused_in_go(position, action)}"
    usual = "{move} is not allowed for {side} here."
    return REASONS.get(game.name, usual).format(move=move, side=COLOUR_NAMES[position.to_play])


def landing(position: Position, action: int) -> int:
    """The action that is meant by ``action``: where pieces fall, the legal point of its column, if there is one."""
    game = position.game
    if game.name not in FALLING_GAMES or not 0 <= action < game.points:
        return action
    column = np.flatnonzero(position.legal()[: game.points].reshape(game.shape)[:, action % game.cols])
    return int(column[0]) * game.cols + action % game.cols if len(column) else action


def _refused_in_go(position: Position, action: int) -> str:
    """The end of the sentence for an empty point of a game of Go's family."""
    game = position.game
    ko = None if game.marks is None else game.marks(position.state)[0]
    if action == ko:
        return "would retake the ko at once: play elsewhere first."
    if position.is_legal(action, superko=False):
        return "would repeat an earlier position of the board (superko)."
    return "would leave your own stones without a liberty (suicide)."
