"""Game records and SGF, both ways, over sgfmill.

Vocabulary: a *record* is how a game began (size, komi, handicap, stones set up, who plays first) and its moves, in this
package's colours and actions. A *line* is one way through a game's variations; `parse` reads the main line, `lines` all
of them. A *collection* is several games in one file. Moves are taken as they stand: this module knows no rules, so a
record may hold moves that a position will refuse. Comments are written, not read.
"""

from __future__ import annotations

import codecs
import math
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import takewhile

from sgfmill import boards, sgf_grammar
from sgfmill.sgf import Sgf_game, Tree_node

from gozero import __version__ as VERSION
from gozero import coords
from gozero.colours import BLACK, WHITE
from gozero.sgf_text import komi_of, line_of, text_of, writable

GAME_NUMBERS = {"go": 1, "simple_go": 1, "nogo": 1, "othello": 2, "gomoku": 4}
"""The GM number of each game that can be written. NoGo has no number of its own: its moves are moves of Go that never
capture, so that every Go program shows such a game as it was, and RU[NoGo] tells them apart. The numbers know neither
Connect-4 nor tic-tac-toe.
"""
NOGO_RULES = "NoGo"
LEAST_SIZE = 2  # points a side that sgfmill knows
FEWEST_STONES = 2  # of Black's ahead that make a handicap game: one alone is a first move
SGF_COLOURS = {BLACK: "b", WHITE: "w"}
COLOURS_OF_SGF = {"b": BLACK, "w": WHITE}
_MAX_WRITTEN_KOMI = 1e15  # beyond it sgfmill would have to write an exponent, which SGF does not know
_CHARSET = re.compile(rb"\bCA\s*\[\s*([\w.:-]+)\s*\]")
# Encodings in which the second byte of a character may be `\\` or `]`: such a file must be decoded before its brackets
# are looked for.
_WIDE = {"gb2312": "gb18030", "gbk": "gb18030", "gb18030": "gb18030", "big5": "big5hkscs", "big5hkscs": "big5hkscs"}
_WIDE |= {"shift_jis": "cp932", "cp932": "cp932", "johab": "johab", "cp949": "cp949"}


class RecordError(ValueError):
    """Data are no game record, or one that cannot be read; the message is one line."""


@dataclass(frozen=True)
class GameRecord:
    """One game.

    Attributes:
        size: points a side.
        moves: (colour, action) in order; colours need not alternate.
        komi: points for White; None where the file has no readable value.
        unread_komi: such a value as it is written, or empty.
        handicap: number of Black's handicap stones, which are among ``black_stones``; 0 for an even game, or where the
            file's value is invalid.
        black_stones, white_stones: actions of the stones on the board before the first move.
        to_play: who plays first.
        result: as SGF has it: ``B+3.5``, ``W+R``, ``0``, or empty where it is not known.
        rules, black_name, white_name, black_rank, white_rank, event: free text.
        comments: (number of moves, text) of the comment on the position after that many moves.
        game: a key of `GAME_NUMBERS`; only Go is read unless others are asked for.
    """

    size: int
    moves: tuple[tuple[int, int], ...] = ()
    komi: float | None = None
    unread_komi: str = ""
    handicap: int = 0
    black_stones: tuple[int, ...] = ()
    white_stones: tuple[int, ...] = ()
    to_play: int = BLACK
    result: str = ""
    rules: str = ""
    black_name: str = ""
    white_name: str = ""
    black_rank: str = ""
    white_rank: str = ""
    event: str = ""
    comments: tuple[tuple[int, str], ...] = ()
    game: str = "go"


@dataclass(frozen=True)
class Variation:
    """One way through a game's tree; its first `shared` moves belong to an earlier line of the game too."""

    record: GameRecord
    shared: int


def split(data: bytes) -> list[bytes]:
    """Each game of a collection as a file of its own. Data that cannot be split are returned unchanged, for `parse` to
    judge.
    """
    data, _ = _decoded(data)
    try:
        trees = sgf_grammar.parse_sgf_collection(data)
    except ValueError:
        return [data]
    return [data] if len(trees) == 1 else [sgf_grammar.serialise_game_tree(tree) for tree in trees]


def lines(data: bytes) -> list[Variation]:
    """All lines of the first game in ``data``, the main line first, then in the order of the file. RecordError as in
    `parse`.
    """
    found = []
    for nodes, shared in _paths(read_tree(data).get_root()):
        record, moves = _record(nodes, math.inf, shared)
        found.append(Variation(record, moves))
    return found


def parse(data: bytes, before_move: int | None = None) -> GameRecord:
    """The main line of the first game in ``data``; only the moves before number ``before_move`` (the first move is
    number 1), if given.

    Stones that are set up in the middle of a game begin a new one: the record then holds the board at that point as its
    set-up.

    Raises:
        RecordError: not a Go game in SGF, or a property that matters cannot be read; the message is one line.
    """
    return record_of(read_tree(data), before_move)


def record_of(tree: Sgf_game, before_move: int | None = None) -> GameRecord:
    """`parse` of a game that is read already."""
    return _record(tree.get_main_sequence(), math.inf if before_move is None else before_move)[0]


def _record(nodes: list[Tree_node], before_move: float, shared: int = 0) -> tuple[GameRecord, int]:
    """The record of a line's nodes, and how many of its moves stand in the first `shared` nodes."""
    root = nodes[0]
    size = root.get_size()
    if size < LEAST_SIZE:
        raise RecordError(f"board size {size}: expected {LEAST_SIZE} or more")
    reader = _Reader(size)
    try:
        shared_moves = reader.read(nodes, before_move, shared)
        black_stones = reader.actions("b")
        handicap = min(_handicap(root), max(len(black_stones), _first_plays(nodes)))
        if handicap < FEWEST_STONES:  # one stone is a first move
            handicap = 0
    except RecordError:
        raise
    except ValueError:  # sgfmill's, without a message or with Python's own
        raise RecordError(f"the file names a point off the {size}x{size} board or an unknown colour") from None
    komi = komi_of(root)
    record = GameRecord(
        size=size,
        moves=tuple((COLOURS_OF_SGF[colour], coords.from_sgf(move, size)) for colour, move in reader.moves),
        komi=komi,
        unread_komi=line_of(root, "KM") if komi is None else "",
        handicap=handicap,
        black_stones=black_stones,
        white_stones=reader.actions("w"),
        to_play=reader.first_to_play(nodes, handicap),
        result=line_of(root, "RE"),
        rules=line_of(root, "RU"),
        black_name=line_of(root, "PB"),
        white_name=line_of(root, "PW"),
        black_rank=line_of(root, "BR"),
        white_rank=line_of(root, "WR"),
        event=line_of(root, "EV"),
        game=_game(root) or "go",
    )
    return record, shared_moves


def _paths(root: Tree_node) -> Iterator[tuple[list[Tree_node], int]]:
    """Each way from the root to a leaf, and how many of its first nodes an earlier way has too. Trees may be deeper
    than Python's stack.
    """
    path: list[Tree_node] = []
    pending = [(root, 0, 0)]  # node, its depth, shared nodes
    while pending:
        node, depth, shared = pending.pop()
        del path[depth:]
        path.append(node)
        children = list(node)
        if not children:
            yield list(path), shared
        pending += [(child, depth + 1, depth + 1 if index else shared) for index, child in enumerate(children)][::-1]


def serialise(record: GameRecord) -> bytes:
    """The record as an SGF file (UTF-8, FF[4]), without blank lines."""
    game = Sgf_game(record.size, encoding="UTF-8")
    root = game.get_root()
    root.set("GM", GAME_NUMBERS[record.game])
    root.set("AP", ("gozero", VERSION))
    if record.komi is not None and abs(record.komi) < _MAX_WRITTEN_KOMI:
        root.set("KM", record.komi)
    rules = NOGO_RULES if record.game == "nogo" else record.rules
    if record.handicap > 1 or _looks_given(record):
        root.set("HA", record.handicap)
    texts = (
        ("PB", record.black_name), ("BR", record.black_rank), ("PW", record.white_name), ("WR", record.white_rank),
        ("EV", record.event), ("RU", rules), ("RE", record.result),
    )  # fmt: skip
    for name, value in texts:
        if value:
            root.set(name, writable(value))
    if record.black_stones or record.white_stones:
        root.set_setup_stones(_points(record.black_stones, record.size), _points(record.white_stones, record.size))
        root.set("PL", SGF_COLOURS[record.to_play])
    elif record.to_play == WHITE:
        root.set("PL", "w")
    nodes = [root]
    for colour, action in record.moves:
        nodes.append(nodes[-1].new_child())
        nodes[-1].set_move(SGF_COLOURS[colour], coords.to_sgf(action, record.size))
    for number, text in record.comments:
        nodes[number].set("C", writable(text))
    return bytes(game.serialise())


def _looks_given(record: GameRecord) -> bool:
    """Whether a reader would take Black's stones for a handicap unless told otherwise, see `_handicap`."""
    return len(record.black_stones) > 1 and not record.white_stones and record.to_play == WHITE


def _points(actions: Iterable[int], size: int) -> list[tuple[int, int]]:
    return [move for action in actions if (move := coords.to_sgf(action, size)) is not None]


class _Reader:
    """Set-up and moves of a line, node by node, in sgfmill's colours and moves."""

    def __init__(self, size: int) -> None:
        self.stones = boards.Board(size)
        self.to_play: str | None = None  # as the file says
        self.last_mover: str | None = None  # of the moves that are part of the set-up by now
        self.begun = 0  # index of the node that set up the stones last
        self.moves: list[tuple[str, tuple[int, int] | None]] = []

    def read(self, nodes: list[Tree_node], before_move: float, shared: int) -> int:
        """Take in the nodes up to the one with the move of that number, counted from 1; the moves kept of the first
        `shared` nodes.
        """
        played = shared_moves = 0
        for index, node in enumerate(nodes):
            self._set_up(node, index)
            shared_moves = len(self.moves) if index <= shared else min(shared_moves, len(self.moves))
            colour, move = node.get_move()
            if colour is None:
                continue
            played += 1
            if played >= before_move:
                break
            self.moves.append((colour, move))
        return shared_moves

    def _set_up(self, node: Tree_node, index: int) -> None:
        """Apply AB, AW, AE and PL, if the node has them; PL among the moves says nothing of their first."""
        if node.has_setup_stones():
            self.begun = index
            if self.moves:
                self.to_play, self.last_mover = None, self.moves[-1][0]
            for colour, move in self.moves:
                if move is not None and self.stones.get(*move) is None:
                    self.stones.play(*move, colour)
            self.moves.clear()
            black, white, empty = node.get_setup_stones()
            if black & white or black & empty or white & empty:
                raise RecordError("a point is set up twice in one node")
            if not self.stones.apply_setup(black, white, empty):
                raise RecordError("a chain that is set up has no liberty")
        if not self.moves:
            self.to_play = _player(node) or self.to_play

    def actions(self, colour: str) -> tuple[int, ...]:
        size = self.stones.side
        return tuple(
            sorted(
                coords.from_sgf(point, size) for stone, point in self.stones.list_occupied_points() if stone == colour
            )
        )

    def first_to_play(self, nodes: list[Tree_node], handicap: int) -> int:
        """PL if given, else whoever moves first in the file once the stones are set up, else who did not move last before
        that, else White after handicap stones.
        """
        if self.to_play is not None:
            return COLOURS_OF_SGF[self.to_play]
        for node in nodes[self.begun :]:
            colour, _ = node.get_move()
            if colour is not None:
                return COLOURS_OF_SGF[colour]
        if self.last_mover is not None:
            return BLACK + WHITE - COLOURS_OF_SGF[self.last_mover]
        return WHITE if handicap > 1 else BLACK


def _decoded(data: bytes) -> tuple[bytes, str | None]:
    """(data, the encoding to read them by); None: the one they name. A text in an encoding of `_WIDE` becomes UTF-8, and
    bytes that are no text there are replaced; one that names no encoding of texts is latin-1.
    """
    named = _CHARSET.search(data)
    if named is None:
        return data, None
    name = named[1].decode()
    try:
        b"a".decode(name)
    except (LookupError, UnicodeError):  # unknown, or like hex and undefined no encoding of texts
        return data, "latin-1"
    codec = _WIDE.get(codecs.lookup(name).name)
    if codec is None:
        return data, None
    text = data[: named.start(1)] + b"UTF-8" + data[named.end(1) :]
    return text.decode(codec, errors="replace").encode(), "UTF-8"


def read_tree(data: bytes, games: Sequence[str] = ("go",), encoding: str | None = None) -> Sgf_game:
    """The first game in ``data``, with its variations, in ``encoding`` or else the one that it names; a file that names
    an unknown encoding is read as latin-1, which accepts every byte. RecordError where it is none of ``games``, keys of
    `GAME_NUMBERS`.
    """
    if encoding is None:
        data, encoding = _decoded(data)
    try:
        game = Sgf_game.from_bytes(data, override_encoding=encoding)
    except LookupError:
        game = Sgf_game.from_bytes(data, override_encoding="latin-1")
    except ValueError as error:
        if "encoding" not in str(error):
            raise RecordError(_plain(str(error))) from None
        game = Sgf_game.from_bytes(data, override_encoding="latin-1")
    root = game.get_root()
    if _game(root) not in games:
        named = f"RU[{NOGO_RULES}]" if _game(root) == "nogo" else f"GM[{_number(root)}]"
        raise RecordError(f"{named} is not {'Go' if len(games) == 1 else 'one of ' + ', '.join(games)}")
    return game


def _plain(message: str) -> str:
    """What sgfmill says, for people: of a size that it cannot read too."""
    if message.startswith("bad SZ property"):
        return f"{message.replace(' b', ' ', 1)}; expected one number, the points a side of a square board"
    return message


def _number(root: Tree_node) -> str:
    """GM; Go's where there is none."""
    return text_of(root, "GM").strip() or "1"


def _game(root: Tree_node) -> str | None:
    """The game as a key of `GAME_NUMBERS`, None for another one."""
    number = _number(root)
    if number == "1":
        return "nogo" if line_of(root, "RU") == NOGO_RULES else "go"
    return next((name for name, known in GAME_NUMBERS.items() if str(known) == number), None)


def _handicap(root: Tree_node) -> int:
    """HA, else the number of Black's stones on the root when they are enough for a handicap, none of White's, and Black does not
    play first.
    """
    if root.has_property("HA"):
        try:
            stones = int(root.get("HA"))
        except ValueError:
            return 0
        return stones if stones <= root.get_size() ** 2 else 0  # no board holds more
    black, white, _ = root.get_setup_stones()
    if len(black) < FEWEST_STONES or white or _player(root) == "b":
        return 0
    return len(black)


def _player(node: Tree_node) -> str | None:
    """PL, by its first letter as some programs write whole words; None where there is none. RecordError for no colour."""
    written = text_of(node, "PL").strip()
    if not written:
        return None
    if written[0].lower() not in COLOURS_OF_SGF:
        raise RecordError(f"PL[{written[:40]}] is no colour")
    return written[0].lower()


def _first_plays(nodes: list[Tree_node]) -> int:
    """Black's plays before White's first move, which some programs write instead of stones that are set up."""
    moves = (node.get_move() for node in nodes)
    return sum(1 for _ in takewhile(lambda move: move[0] == "b", (move for move in moves if move[0] is not None)))
