"""Game records and SGF, both ways: the one reader and the one writer for every front end and for training.

It knows no rules: a record may have moves that a position will refuse. Comments are written, not read.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from sgfmill import boards

from gozero import __version__ as VERSION
from gozero.games import coords
from gozero.games.colours import BLACK, COLOUR_LETTERS, COLOUR_WORDS, WHITE, opponent
from gozero.games.go.handicap import FEWEST_STONES
from gozero.records import sgf_nodes
from gozero.records.sgf_nodes import SgfNode, place
from gozero.records.sgf_reading import (
    first_plays,
    handicap_of,
    is_set_up,
    komi_of,
    main_line,
    move_of,
    player_of,
    points_of,
    size_of,
    tidied,
)
from gozero.records.sgf_text import decoded, writable
from gozero.system.words import counted

GAME_NUMBERS = {"go": 1, "simple_go": 1, "nogo": 1, "othello": 2, "gomoku": 4}
"""The GM number of each game that can be written. NoGo has no number of its own: its moves are moves of Go that never
capture, so that every Go program shows such a game as it was, and RU[NoGo] tells them apart. The numbers know neither
Connect-4 nor tic-tac-toe.
"""
NOGO_RULES = "NoGo"
PROGRAM = f"gozero:{VERSION}"
COLOURS_OF_SGF = {letter: colour for colour, letter in COLOUR_LETTERS.items()}
_KINDS = {str(number): name for name, number in reversed(GAME_NUMBERS.items())} | {"go": "go"}
_MAX_WRITTEN_KOMI = 1e15  # beyond it an exponent would have to be written, which SGF does not know


class RecordError(ValueError):
    """Data are no game record, or one that cannot be read; the message is one line."""


@dataclass(frozen=True)
class GameRecord:
    """How a game began, and its moves, in this package's colours and actions."""

    size: int  # points a side
    moves: tuple[tuple[int, int], ...] = ()  # (colour, action) in order; colours need not alternate
    komi: float | None = None  # points for White; None if the file has no readable value
    handicap: int = 0  # Black's handicap stones, which are among `black_stones`
    black_stones: tuple[int, ...] = ()  # actions, on the board before the first move
    white_stones: tuple[int, ...] = ()
    to_play: int = BLACK
    next_to_play: int | None = None  # after the last move, where that is not the other side
    result: str = ""  # as SGF has it: B+3.5, W+R, 0; empty if it is not known
    rules: str = ""
    black_name: str = ""
    white_name: str = ""
    black_rank: str = ""
    white_rank: str = ""
    event: str = ""
    date: str = ""
    comments: tuple[tuple[int, str], ...] = ()  # (number of moves, text on the position after them)
    game: str = "go"  # a key of `GAME_NUMBERS`; only Go is read unless others are asked for
    remarks: tuple[str, ...] = field(default=(), compare=False)  # of the reader: what was left out or read otherwise


TEXTS = {
    "PB": "black_name", "BR": "black_rank", "PW": "white_name", "WR": "white_rank", "EV": "event", "DT": "date",
    "RU": "rules", "RE": "result",
}  # fmt: skip
"""Properties of the root, and the fields of a record that hold them."""
_RULES = {"aga": "AGA", "ing": "GOE", "japanese": "Japanese", "new-zealand": "NZ"}  # as FF[4] spells them


class SgfGame:
    """A game as its file has it, with what `gozero.records.sgf_reading.tidied` puts right; its `kind` is a key of
    `GAME_NUMBERS`, None for another game. RecordError, now or from a method, where its size, its points or its stones
    cannot be.
    """

    def __init__(self, root: SgfNode, text: str) -> None:
        self.root, self.text = root, text
        self.kind = _KINDS.get(root.line("GM").lower() or "1")
        if self.kind == "go" and root.line("RU") == NOGO_RULES:
            self.kind = "nogo"
        self.remarks: list[str] = []
        self.size, self._fault = 19, ""
        try:
            self.size = size_of(root)
            if self.kind is not None:
                is_named = self.kind == "othello" and self.size <= coords.MAX_SIZE  # larger boards have no names
                self.remarks = tidied(root, self.size, named=is_named)
        except ValueError as error:
            self._fault = f"{place(text, root.offset)}: {error}"

    @property
    def title(self) -> str:
        """The game in one line, for people."""
        players = " – ".join(filter(None, map(self.root.line, ("PB", "PW"))))
        parts = (*map(self.root.line, ("GN", "EV")), players, *map(self.root.line, ("DT", "RE")))
        moves = sum(move_of(node) is not None for node in main_line(self.root))
        return ", ".join([*filter(None, parts), counted(moves, "move")])

    def check(self, kinds: Sequence[str] = ("go",)) -> None:
        """RecordError unless it is one of these games."""
        if self.kind not in kinds:
            named = f"RU[{NOGO_RULES}]" if self.kind == "nogo" else f"GM[{self.root.line('GM')[:20]}]"
            raise self.error(self.root, f"{named} is not {'Go' if len(kinds) == 1 else 'one of ' + ', '.join(kinds)}")
        if self._fault:
            raise RecordError(self._fault)

    def record(self, before_move: int | None = None) -> GameRecord:
        """The main line; only the moves before number ``before_move`` (the first move is number 1), if given.

        Stones that are set up in the middle of a game begin a new one: the record then holds the board at that point as
        its set-up.
        """
        if self._fault:
            raise RecordError(self._fault)
        root, nodes = self.root, main_line(self.root)
        played = [index for index, node in enumerate(nodes) if move_of(node)]
        limit = len(played) if before_move is None else max(before_move - 1, 0)
        end = played[limit] if limit < len(played) else len(nodes)
        begun = max((index for index, node in enumerate(nodes[: end + 1]) if is_set_up(node)), default=0)
        black_stones, white_stones = self._stones(nodes[: begun + 1])
        handicap = min(handicap_of(root, self.size), max(len(black_stones), first_plays(nodes)))
        handicap = handicap if handicap >= FEWEST_STONES else 0
        texts = {name: root.line(known) for known, name in TEXTS.items()}
        if limit < len(played):
            texts["result"] = ""
        return GameRecord(
            size=self.size,
            moves=tuple(move for node in nodes[begun:end] if (move := self.move(node))),
            komi=komi_of(root),
            handicap=handicap,
            black_stones=black_stones,
            white_stones=white_stones,
            to_play=_first_to_play(nodes, begun, handicap),
            next_to_play=_next_to_play(nodes[begun:end]),
            game=self.kind or "go",
            remarks=tuple(self.remarks),
            **texts,  # type: ignore[arg-type]
        )

    def _stones(self, nodes: list[SgfNode]) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """Black's and White's stones after these nodes."""
        size, board = self.size, boards.Board(self.size)  # which counts its rows from the bottom: no matter
        for node in nodes:
            self._set_up(node, board)
            colour, action = self.move(node) or (BLACK, size**2)
            if action < size**2 and board.get(*divmod(action, size)) is None:
                board.play(*divmod(action, size), COLOUR_LETTERS[colour].lower())
        stones = sorted((row * size + col, colour) for colour, (row, col) in board.list_occupied_points())
        black, white = (tuple(action for action, colour in stones if colour == wanted) for wanted in "bw")
        return black, white

    def _set_up(self, node: SgfNode, board: boards.Board) -> None:
        try:
            sets = [
                {divmod(point, self.size) for point in points_of(node, name, self.size)} for name in ("AB", "AW", "AE")
            ]
        except ValueError as error:
            raise self.error(node, str(error)) from None
        if len(set().union(*sets)) < sum(map(len, sets)):
            raise self.error(node, "a point is set up twice in one node")
        if not board.apply_setup(*sets):
            raise self.error(node, "a chain that is set up has no liberty")

    def move(self, node: SgfNode) -> tuple[int, int] | None:
        """(colour, action) of a node's move, if it has one."""
        found = move_of(node)
        if found is None:
            return None
        try:
            return COLOURS_OF_SGF[found[0]], coords.from_sgf(found[1], self.size)
        except ValueError as error:
            raise self.error(node, f"{found[0]}: {error}") from None

    def unplayable(self, number: int) -> str:
        """Where the main line's move of that number, counted from 1, stands; that it cannot be played."""
        line = main_line(self.root)
        begun = max(index for index, node in enumerate(line) if not index or is_set_up(node))
        node = [node for node in line[begun:] if move_of(node)][number - 1]
        colour, action = self.move(node) or (BLACK, 0)
        move = f"move {number}, {COLOUR_WORDS[colour]} {coords.vertex(action, self.size)}"
        return f"{place(self.text, node.offset)}: {move}, cannot be played"

    def error(self, node: SgfNode, what: str) -> RecordError:
        return RecordError(f"{place(self.text, node.offset)}: {what}")


def games(data: bytes | str) -> list[SgfGame]:
    """Each game of a file; the remarks on the file are the first one's. RecordError if there is none."""
    text, said = decoded(data) if isinstance(data, bytes) else (writable(data.removeprefix("\ufeff")), "")
    try:
        roots, remarks = sgf_nodes.parse(text)
    except ValueError as error:
        raise RecordError(str(error)) from None
    found = [SgfGame(root, text) for root in roots]
    found[0].remarks[:0] = [*([said] if said else []), *remarks]
    return found


def first_game(data: bytes | str) -> SgfGame:
    """The first game in ``data``, which has to be Go. RecordError if it cannot be read."""
    found = games(data)
    found[0].check()
    if len(found) > 1:
        found[0].remarks.append(f"the first of {len(found)} games was read")
    return found[0]


def serialise(record: GameRecord) -> bytes:
    """The record as an SGF file (UTF-8, FF[4]), without blank lines."""
    return sgf_nodes.write([tree_of(record)]).encode()


def tree_of(record: GameRecord) -> SgfNode:
    """The record as a tree of nodes."""
    root = SgfNode()
    heading: dict[str, object] = {"FF": 4, "GM": GAME_NUMBERS[record.game], "CA": "UTF-8", "AP": PROGRAM}
    heading["SZ"] = record.size
    if record.komi is not None and abs(record.komi) < _MAX_WRITTEN_KOMI:
        heading["KM"] = f"{record.komi:.15g}"
    black, white = record.black_stones, record.white_stones
    # else a reader would take Black's stones for a handicap, see `handicap_of`
    if record.handicap > 1 or (len(black) > 1 and not white and record.to_play == WHITE):
        heading["HA"] = record.handicap
    heading |= {known: getattr(record, name) for known, name in TEXTS.items()}
    heading["RU"] = NOGO_RULES if record.game == "nogo" else _RULES.get(record.rules, record.rules)
    for name, value in heading.items():
        root.set(name, str(value))
    for name, stones in (("AB", black), ("AW", white)):
        if stones:
            root.properties[name] = [coords.to_sgf(action, record.size) for action in sorted(stones)]
    if black or white or record.to_play == WHITE:
        root.set("PL", COLOUR_LETTERS[record.to_play])
    nodes = [root]
    for colour, action in record.moves:
        nodes.append(add_move(nodes[-1], colour, action, record.size))
    if record.next_to_play is not None:
        nodes[-1].children.append(SgfNode({"PL": [COLOUR_LETTERS[record.next_to_play]]}))
    for number, text in record.comments:
        nodes[number].set("C", text)
    return root


def add_move(parent: SgfNode, colour: int, action: int, size: int) -> SgfNode:
    """The new node of a move that follows."""
    parent.children.append(SgfNode({COLOUR_LETTERS[colour]: [coords.to_sgf(action, size)]}))
    return parent.children[-1]


def _first_to_play(nodes: list[SgfNode], begun: int, handicap: int) -> int:
    """The side to move first: PL of the set-up stones, else of the first move after them, else the opponent of the last
    move before them; without moves White after handicap stones, Black otherwise.
    """
    last = next((index for index in range(begun - 1, -1, -1) if move_of(nodes[index])), -1)
    first = next((index for index in range(begun, len(nodes)) if move_of(nodes[index])), len(nodes) - 1)
    setup = next((index for index in range(last + 1, begun) if index == 0 or is_set_up(nodes[index])), begun)
    if turns := list(filter(None, map(player_of, nodes[setup : first + 1]))):
        return COLOURS_OF_SGF[turns[-1]]
    if move := move_of(nodes[first]):
        return COLOURS_OF_SGF[move[0]]
    if last >= 0 and (move := move_of(nodes[last])):
        return opponent(COLOURS_OF_SGF[move[0]])
    return WHITE if handicap > 1 else BLACK


def _next_to_play(nodes: list[SgfNode]) -> int | None:
    """Who plays after the last move of these nodes, where the file says that it is the side that moved."""
    turn = ""
    for node in reversed(nodes):
        turn = turn or player_of(node) or ""
        if move := move_of(node):
            return COLOURS_OF_SGF[turn] if turn == move[0] else None
    return None
