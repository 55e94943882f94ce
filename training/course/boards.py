"""The games of the course, and what each one's stages take when the user does not say: networks, passes over the data.

A pass shows every position once, under one symmetry. Othello's first position allows four of the eight symmetries.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from gozero import games
from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from gozero.games.game import Game


@dataclass(frozen=True)
class Course:
    """What the stages of one game take if nothing else is given."""

    game: str
    channels: tuple[int, ...]  # of the value network's 3x3 convolutions
    units: int  # of its first linear layer
    policy_channels: tuple[int, ...]  # of the policy's 3x3 convolutions; a 1x1 convolution follows
    # value networks, and policies: 1 if the stones show whose turn it is, else one for the positions after Black's
    # moves and one for those after White's
    colours: int
    passes: int  # over the data
    size: int | None = None  # of the board, if it is not what the game takes by itself


COURSES = {
    course.game: course
    for course in (
        Course("tictactoe", (32, 64), 100, (32, 64, 70), 1, 16),
        Course("course_go", (30, 50, 70), 100, (30, 50, 70), 2, 8),
        Course("simple_go", (16, 32, 32), 100, (32, 32, 70), 2, 8),
        Course("gomoku", (16, 32, 32), 100, (32, 32, 70), 1, 8, size=9),
        Course("othello", (16, 32, 32), 100, (32, 32, 70), 2, 4),
    )
}


def course_of(name: str) -> Course:
    """The course of that game. ChoiceError where it has none."""
    if name not in COURSES:
        raise ChoiceError(f"the course has no game {name!r}: expected one of {', '.join(COURSES)}")
    return COURSES[name]


def game_of(course: Course) -> Game:
    """Its rules and first position."""
    return games.make(course.game, size=course.size)
