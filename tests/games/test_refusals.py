"""Why a move, a board, a rule set or a position is refused, in words."""

import numpy as np
import pytest

from gozero import games
from gozero.games import descriptions
from gozero.games.position import Position
from gozero.games.refusals import landing, refusal
from gozero.system.errors import ChoiceError, SetUpError


def position(game: str, *moves: int, **settings: object) -> Position:
    """A game after these moves of both sides in turn."""
    found = Position(games.make(game, **settings))
    for move in moves:
        found.play(move)
    return found


KO = (1, 2, 5, 8, 11, 12, 24, 6, 7)  # Black takes one stone at B4


def test_legal_moves_are_not_refused() -> None:
    assert refusal(position("go", size=5), 0) == ""


def test_ko_suicide_and_taken_points_in_go() -> None:
    assert refusal(position("go", *KO, size=5), 6) == "B4 would retake the ko at once: play elsewhere first."
    assert refusal(position("go", 0, size=5), 0) == "A5 is taken."
    corner = position("go", 1, 24, 5, size=5)
    assert refusal(corner, 0) == "A5 would leave your own stones without a liberty (suicide)."


@pytest.mark.parametrize(
    ("game", "vertex", "text"),
    [
        ("go", "J9", "J9"), ("gomoku", "J9", "I9"), ("hex", "J11", "i1"), ("othello", "H1", "h1"),
        ("connect4", "G1", "g1"), ("breakthrough", "A2-A3", "a2-a3"), ("gomoku", "pass", "pass"),
    ],
)  # fmt: skip
def test_moves_as_the_players_of_a_game_write_them(game: str, vertex: str, text: str) -> None:
    definition = games.make(game, **({"size": 9} if game in ("go", "gomoku") else {}))
    assert descriptions.vertex(definition, definition.action(vertex)) == text


def test_a_refusal_may_name_the_move_as_the_players_do() -> None:
    assert refusal(position("gomoku", 8, size=9), 8, descriptions.vertex) == "I9 is taken."


def test_superko() -> None:
    random, texts = np.random.default_rng(1), set()
    for _ in range(40):
        board = position("go", size=2)
        while not board.is_over and board.ply < 20:
            refused = [
                point for point in range(4) if not board.is_legal(point) and board.is_legal(point, superko=False)
            ]
            texts |= {refusal(board, point).split(" ", 1)[1] for point in refused}
            board.play(int(random.choice(np.flatnonzero(board.legal()))))
    assert "would repeat an earlier position of the board (superko)." in texts


@pytest.mark.parametrize(
    ("game", "moves", "action", "text"),
    [
        ("othello", (), 0, "A8 doesn't flip any discs."),
        ("othello", (), 64, "You may pass only when you have no other move."),
        ("connect4", (), 0, "A6 is not allowed for Black here."),
        ("connect4", (), 42, "There is no passing in connect4."),
        ("tictactoe", (4,), 4, "B2 is taken."),
        ("tictactoe", (0, 3, 1, 4, 2), 8, "The game is over."),
    ],
)
def test_other_games(game: str, moves: tuple[int, ...], action: int, text: str) -> None:
    assert refusal(position(game, *moves), action) == text


def test_nogo_allows_no_capture() -> None:
    board = position("nogo", 1, 0, size=4)  # White in the corner has one liberty left
    assert refusal(board, 4) == "A3 would capture stones or take its own last liberty, and neither is allowed in NoGo."


def test_a_click_anywhere_in_a_column_drops_the_piece() -> None:
    board = position("connect4", 38)
    assert landing(board, 3) == 31
    assert landing(board, 0) == 35
    assert landing(position("tictactoe"), 3) == 3


@pytest.mark.parametrize(
    ("game", "sizes", "message"),
    [
        ("go", (-1, 0, 1, 20, 25), ""),
        ("nogo", (-1, 0, 1, 14, 19), "NoGo has 2 to 13"),
        ("othello", (2, 5, 7, 10), "expected 4, 6 or 8"),
        ("breakthrough", (4, 9), ""),
        ("course_go", (9,), "course_go"),
        ("simple_go", (9,), ""),
        ("tictactoe", (4,), "tic-tac-toe has only 3"),
        ("gomoku", (4, 16), "gomoku has 5 to 15"),
        ("connect4", (8,), "Connect-4 has only 7"),
    ],
)
def test_boards_that_a_game_does_not_have(game: str, sizes: tuple[int, ...], message: str) -> None:
    for size in sizes:
        with pytest.raises(ChoiceError, match=f"board size {size} is not supported.*{message}"):
            games.make(game, size=size)


@pytest.mark.parametrize(
    ("game", "rules", "message"),
    [
        ("go", "stone-scoring", "stone-scoring"),
        ("go", "nonsense", "nonsense"),
        ("othello", "reversi", "unknown rules 'reversi': expected standard"),
        ("simple_go", "chinese", "unknown rules 'chinese'"),
        ("gomoku", "renju", "unknown rules 'renju': expected one of freestyle, exact"),
        ("connect4", "popout", "connect4 has no setting 'rules'"),
    ],
)
def test_rules_that_a_game_does_not_have(game: str, rules: str, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        games.make(game, rules=rules)


@pytest.mark.parametrize(
    ("game", "size", "rows", "message"),
    [
        ("go", 3, "XO. O.. ...", "libert"),
        ("nogo", 3, "XO. O.. ...", "has no liberty"),
        ("breakthrough", 5, "X.... ....O ..... ..... .....", "the side to move has won"),
        ("breakthrough", 5, "X.... X.... ..... ..... .....", "the side to move has won"),
        ("hex", 3, "XX. XX. ...", "4 black and 0 white stones"),
        ("hex", 3, "X.. XO. XO.", "the side to move has its chain"),
        ("connect4", 7, "....... ....... ....... ...X... ....... ...O...", "a disc floats"),
        ("tictactoe", 3, "XXX ... ...", "3 black and 0 white stones"),
        ("tictactoe", 3, "O.O .O. ..X", "1 black and 3 white stones"),
        ("tictactoe", 3, "XXX OO. ...", "the side to move has made a line"),
        ("tictactoe", 3, "XXX OOO ...", "the side to move has made a line"),
    ],
)
def test_stones_that_cannot_stand(game: str, size: int, rows: str, message: str) -> None:
    with pytest.raises(SetUpError, match=message):
        games.make(game, size=size).from_text("\n".join(["X to play", *rows.split()]))
