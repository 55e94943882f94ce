"""The games in words, for the front ends."""

from __future__ import annotations

from dataclasses import dataclass
from string import ascii_lowercase, ascii_uppercase
from typing import TYPE_CHECKING

from gozero.games import coords
from gozero.games.colours import COLOUR_NAMES, opponent
from gozero.games.coords import GTP, Notation

if TYPE_CHECKING:
    from gozero.games.game import Game

CHESS = Notation(ascii_lowercase)


@dataclass(frozen=True)
class Description:
    """Its name for people, its rules in a line, by what it is won (``{margin}`` and ``{loser}`` are filled in), and how
    its players name the points.
    """

    title: str
    aim: str
    won_by: str
    notation: Notation = GTP


_AREA = (
    "The larger area wins, by Japanese rules the larger territory with prisoners; two passes end the game. Dead "
    "stones are taken off, but not under tromp-taylor."
)
_SMALL = "The larger area wins, without komi; after two passes or 100 moves all stones count as alive."
_EYES = "More one-point eyes win; who can move must, and no own eye may be filled that is not in danger."
_NOGO = "No move may capture, nor take its own chain's last liberty; who cannot move loses."
_DISCS = "A disc turns over the lines it encloses; most discs win; who can place none passes."
_DROPS = "Discs fall to the lowest free point of a column; four in a row win."
_AHEAD = "Pieces move one row ahead, straight or slantwise, and capture slantwise; who gets one to the last row wins."
_CHAIN = (
    "Black joins top and bottom, White left and right. A point also touches the ones above to the right and below to the "
    "left. The second move may be on the first stone, which then is White's."
)
DESCRIPTIONS = {
    "go": Description("Go", _AREA, "{margin} points"),
    "simple_go": Description("Simplified Go", _SMALL, "{margin} points"),
    "course_go": Description("The course's Go", _EYES, "{margin} eyes"),
    "nogo": Description("NoGo", _NOGO, "leaving {loser} no move"),
    "othello": Description("Othello", _DISCS, "{margin} discs", CHESS),
    "gomoku": Description("Gomoku", "Five in a row win.", "five in a row", Notation(ascii_uppercase)),
    "connect4": Description("Connect-4", _DROPS, "four in a row", CHESS),
    "hex": Description("Hex", _CHAIN, "a chain from edge to edge", Notation(ascii_lowercase, from_top=True)),
    "breakthrough": Description("Breakthrough", _AHEAD, "breaking through", CHESS),
    "tictactoe": Description("Tic-tac-toe", "Three in a row win.", "three in a row"),
}
"""In the order in which they are offered."""


def vertex(kind: Game, action: int) -> str:
    """An action as the game's players write it."""
    return coords.vertex(action, kind.cols, kind.rows, kind.directions, DESCRIPTIONS[kind.name].notation)


def won_by(game: str, winner: int, lead: float | None) -> str:
    """By what a game was won, with Black's lead in points if they are counted."""
    loser = COLOUR_NAMES[opponent(winner)]
    words = DESCRIPTIONS[game].won_by.format(margin=f"{abs(lead or 0.0):g}", loser=loser)
    return words.removesuffix("s") if words.startswith("1 ") else words
