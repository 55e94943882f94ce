"""The board: moves, set-ups and handicaps, and the engine's own moves.

A position that is set up begins a game: it has no history and no ko, komi stays, and its stones cannot be undone. If
the stones cannot stand like this, the board stays as it was.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING

from gozero.games import FALLING_GAMES, coords
from gozero.games.colours import BLACK, COLOUR_WORDS, EMPTY
from gozero.games.go.handicap import FEWEST_STONES, fixed_points, most_fixed
from gozero.system.words import spanned
from gtp.commands.gogui import live
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session, colour_of, refused, say, whole_number_of

if TYPE_CHECKING:
    import numpy as np

    from gozero.games.position import Move


def boardsize(session: Session, command: Command) -> None:
    """Clears the board; komi and time settings stay. The size of a board that is not square is its number of
    columns.
    """
    game = session.game
    sizes = {str(size): size for size in game.sizes}
    if command.text not in sizes:
        say(f"board size {command.text[:40]!r} is not supported; these weights play {spanned(game.sizes)}")
        raise GtpError("unacceptable size")
    game.new_game(sizes[command.text])
    session.warn_of_size(game.size)
    session.clock.reset()


def clear_board(session: Session, command: Command) -> None:
    session.game.new_game()
    session.clock.reset()


def play(session: Session, command: Command) -> None:
    """Play a move; in Go for either colour, with only simple ko and suicide refused: an opponent may repeat the
    board.
    """
    from gozero.games.position import IllegalMove

    colour, action = _move(session, command.arguments)
    with refused("illegal move"):
        try:
            session.game.play(colour, action)
        except IllegalMove:
            raise GtpError(f"illegal move{_hint(session, action)}") from None


def play_sequence(session: Session, command: Command) -> None:
    """``C V C V ...``: all of these moves or, if one cannot be played, none."""
    words = command.arguments
    moves = [_move(session, words[start : start + 2]) for start in range(0, len(words), 2)]
    with refused("illegal move"):
        session.game.play_all(moves)


def _hint(session: Session, action: int) -> str:
    """Why an action is illegal, where a controller may not know: there is no passing, or the stone would fall to
    another point.
    """
    from gozero.games.refusals import landing

    game = session.game
    if action == game.definition.pass_action and not game.definition.has_pass:
        return f": there is no passing in {game.name}"
    if game.name not in FALLING_GAMES:
        return ""
    free, column = landing(game.position, action), session.vertex(action)[0]
    if free == action:
        return f": column {column} is full"
    return f": the free point of column {column} is {session.vertex(free)}"


def undo(session: Session, command: Command) -> None:
    """Undo N moves, by default one; all or none."""
    number = whole_number_of(command.arguments[0]) if command.arguments else 1
    if not 0 <= number <= len(session.game.position.moves):
        raise GtpError("cannot undo")
    session.game.undo(number)


def is_legal(session: Session, command: Command) -> str:
    """1 or 0, under the full rules: what genmove might answer."""
    colour, action = _move(session, command.arguments)
    return str(int(session.game.legal(colour)[action]))


def all_legal(session: Session, command: Command) -> str:
    """The points, or moves from them, that the full rules allow to a colour, from A1's corner upwards."""
    kind, legal = session.game.definition, session.game.legal(colour_of(command.text))

    def place(action: int) -> tuple[int, int]:
        row, column = divmod(kind.ends(action)[0], kind.cols)
        return -row, column

    return session.vertices(sorted(legal[: kind.pass_action].nonzero()[0].tolist(), key=place))


def last_move(session: Session, command: Command) -> str:
    """Colour and vertex of the last move."""
    moves = session.game.position.moves
    if not moves:
        raise GtpError("no previous move known")
    return _move_text(session, moves[-1])


def move_history(session: Session, command: Command) -> str:
    """The moves, the last one first."""
    return "\n".join(_move_text(session, move) for move in reversed(session.game.position.moves))


def list_stones(session: Session, command: Command) -> str:
    """The points with stones of a colour, rows from the top."""
    colour = colour_of(command.text)
    points = (session.game.stones().reshape(-1) == colour).nonzero()[0].tolist()
    return " ".join(coords.vertex(point, *session.game.board) for point in points)


def _move_text(session: Session, move: Move) -> str:
    return f"{COLOUR_WORDS[move.colour]} {session.vertex(move.action)}"


def _move(session: Session, words: list[str]) -> tuple[int, int]:
    if len(words) < 2:
        raise GtpError(
            f"invalid color or coordinate: missing; expected a color and a vertex, such as b {session.example}"
        )
    if len(words) > 2:
        raise GtpError(f"invalid color or coordinate: {words[2]!r} is one argument too many")
    return colour_of(words[0]), session.action(words[1])


# Set-up and handicap


def set_position(session: Session, command: Command) -> None:
    """``C V C V ...``: these stones and no others, Black to move."""
    _begin(session, _stones(session, command), BLACK)


def gogui_setup(session: Session, command: Command) -> None:
    """``C V C V ...``: these stones beside those on the board; the colour ``e`` takes one off. Whose turn it is
    stays.
    """
    _begin(session, _present(session) | _stones(session, command), session.game.position.to_play)


def gogui_setup_player(session: Session, command: Command) -> None:
    """Set whose turn it is; nothing changes if it is that side's turn already."""
    colour = colour_of(command.text)
    if colour != session.game.position.to_play:
        _begin(session, _present(session), colour)


def _stones(session: Session, command: Command) -> dict[int, int]:
    """The colour, or EMPTY, of each point that is named."""
    words = command.arguments
    if len(words) % 2:
        raise GtpError("syntax error: expected pairs of a colour and a vertex")
    stones: dict[int, int] = {}
    for name, vertex in zip(words[::2], words[1::2], strict=True):
        colour = EMPTY if name.lower() in ("e", "empty") else colour_of(name)
        point = session.point(vertex)
        if point in stones:
            raise GtpError(f"{vertex} is named twice")
        stones[point] = colour
    return stones


def _present(session: Session) -> dict[int, int]:
    return dict(enumerate(session.game.stones().reshape(-1).tolist()))


def _begin(session: Session, points: Mapping[int, int], to_play: int) -> None:
    with refused("cannot set up"):
        session.game.set_up({point: colour for point, colour in points.items() if colour != EMPTY}, to_play)
    session.clock.reset()


def fixed_handicap(session: Session, command: Command) -> str:
    stones, size = _number(session, command), session.game.size
    if stones > (most := most_fixed(size)):
        known = f"fixed handicaps of 2 to {most}" if most else "no fixed handicap"
        raise GtpError(f"invalid handicap: {size}x{size} has {known}")
    return _place(session, fixed_points(stones, size))


def place_free_handicap(session: Session, command: Command) -> str:
    """The fixed points: GTP lets an engine place fewer stones than it is asked for."""
    size = session.game.size
    return _place(session, fixed_points(min(_number(session, command), most_fixed(size) or FEWEST_STONES), size))


def set_free_handicap(session: Session, command: Command) -> None:
    points = [session.point(argument) for argument in command.arguments]
    if len(points) < FEWEST_STONES:
        raise GtpError("invalid handicap: expected two vertices or more")
    if len(set(points)) < len(points):
        raise GtpError("invalid handicap: a vertex is named twice")
    _place(session, points)


def _number(session: Session, command: Command) -> int:
    if len(command.arguments) != 1:
        raise GtpError("syntax error: expected the number of stones")
    stones = whole_number_of(command.arguments[0])
    if stones < FEWEST_STONES:
        raise GtpError(f"invalid handicap: {stones}; expected {FEWEST_STONES} or more")
    return stones


def _place(session: Session, points: Sequence[int]) -> str:
    """Place the stones; their vertices."""
    if session.game.stones().any():
        raise GtpError("board not empty")
    with refused("invalid handicap"):
        session.go_game.place_handicap(points)
    return session.vertices(points)


# The engine's moves


def genmove(session: Session, command: Command) -> str:
    """Choose a move, play it, and take its time off the clock. After ``resign`` the board is as before."""
    colour = colour_of(command.text)
    drawing = live(session.game.definition) if session.settings.gogui_gfx else nullcontext()
    with drawing as observer, session.move(colour) as limits:
        action = session.player.genmove(colour, limits, observer)
    return session.vertex(action)


def restricted_genmove(session: Session, command: Command) -> str:
    """``restricted_genmove C V V ...``: the best of these moves, not played."""
    if len(command.arguments) < 2:
        raise GtpError("syntax error: expected a colour and the vertices to choose from")
    colour, *vertices = command.arguments
    actions = [session.action(vertex) for vertex in vertices]
    return _suggest(session, colour_of(colour), session.game.mask_of(actions))


def stop(session: Session, command: Command) -> None:
    """Stop pondering until the engine's next move. An analysis has ended already, as at any line."""
    session.stop_pondering()


def clear_cache(session: Session, command: Command) -> None:
    """Drop all searches: the next one begins as in a new engine."""
    session.player.forget()


def _suggest(session: Session, colour: int, among: np.ndarray | None = None) -> str:
    """The move genmove would choose, not played; it never resigns and is the same when asked again."""
    limits = session.limits(colour)
    with session.thinking() as player:
        return session.vertex(player.suggest(colour, limits, among))


COMMANDS: Commands = {
    "boardsize": boardsize,
    "query_boardsize": lambda session, command: str(session.game.size),
    "clear_board": clear_board,
    "play": play,
    "play_sequence": play_sequence,
    "gogui-play_sequence": play_sequence,
    "undo": undo,
    "gg-undo": undo,
    "is_legal": is_legal,
    "all_legal": all_legal,
    "move_history": move_history,
    "last_move": last_move,
    "list_stones": list_stones,
    "showboard": lambda session, command: f"\n{session.game.position}",
    "set_position": set_position,
    "gogui-setup": gogui_setup,
    "gogui-setup_player": gogui_setup_player,
    "genmove": genmove,
    "reg_genmove": lambda session, command: _suggest(session, colour_of(command.text)),
    "restricted_genmove": restricted_genmove,
    "stop": stop,
    "clear_cache": clear_cache,
}
HANDICAPS: Commands = {
    "fixed_handicap": fixed_handicap,
    "place_free_handicap": place_free_handicap,
    "set_free_handicap": set_free_handicap,
    "get_handicap": lambda session, command: str(session.go_game.handicap),
}
"""For an empty board, which White plays next, and the number of stones."""
