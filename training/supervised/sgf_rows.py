"""Turns a game of an SGF file into rows for the learner: the position before each move, with its targets.

The rows are those of the main line. A game is cut before a move that breaks the rules or is played after two passes.

The policy's target is the move played, the reply's the move after it. The value is known if the file names a winner
by points or by resignation: a forfeit or a loss on time says nothing about the board. The score is known if the file
names points, ownership only if both sides passed at the end and the board as it stands, or without what is dead in
pass-alive territory, counts to the stated score. Komi is the file's. A move out of turn leaves no row.
"""

from __future__ import annotations

import re
import zlib
from dataclasses import dataclass

import numpy as np

from gozero.games.game import BLACK, TO_PLAY, WHITE, Game
from gozero.games.go import go
from gozero.games.go.rules import named_rules
from gozero.games.position import IllegalMove, Position
from gozero.records.sgf import GameRecord, SgfGame
from gozero.records.sgf_reading import points_in
from training.records import scoring
from training.records.rows import Rows, packed_inputs

_WON = re.compile(
    r"(?:(b(?:lack)?|[黑黒흑])|w(?:hite)?|[白백])\s*(?:\+|wins(?: by)?|[胜勝승])?\s*(.+?)\s*(?:[胜勝승]ち?)?", re.I
)
_RESIGNED = re.compile(r"r|res(?:ign(?:ation|ed)?)?\.?|中[盘盤]|中押し|불계", re.I)
_DRAWN = re.compile(r"0|draw|jigo|和棋|持碁", re.I)
_NO_BOARD = re.compile(r"|\?|void|[bw]\+[tf].*", re.I)  # no result, or one that says nothing about the board
_FALLBACK_RULES = "chinese-simple"  # for rules unknown here, without points for handicap stones


@dataclass(frozen=True)
class LabelledGame:
    """The rows of one game; `known` bool [3] says of value, score and owner whether the rows hold them (zeros stand for
    what is not known).

    `cut` says why the game was cut, or is empty. `identity` is the same for the same moves from the same beginning.
    """

    rows: Rows
    size: int
    known: tuple[bool, bool, bool]
    cut: str
    identity: int


def labelled(game: SgfGame, version: int = 1) -> LabelledGame:
    """The rows of a game's main line, with input features of this version. ValueError, with one line, if it is not Go,
    has a board that gozero cannot play, or no move to learn from.
    """
    game.check()
    record = game.record()
    position, before, cut = _played(record)
    if not before:
        raise ValueError("it holds no move to learn from")
    states, plies = zip(*before, strict=True)
    winner, points = _result(game, record)
    owner = None if cut or points is None else _owner(position, points)
    known = (winner is not None, points is not None, owner is not None)
    owners = np.zeros(position.game.points, np.int8) if owner is None else owner
    signs = np.array([1 if state[TO_PLAY] == BLACK else -1 for state in states])
    planes, global_inputs, tactics = packed_inputs(position.game, np.stack(states), version)
    legal_moves = len(position.moves)  # those of the game that could be played
    rows = Rows(
        planes=planes,
        globals=global_inputs,
        tactics=tactics,
        policy=_one_hot([record.moves[ply][1] for ply in plies], position.game),
        reply=_one_hot([_reply(record, ply, legal_moves) for ply in plies], position.game),
        value=((winner or 0) * signs).astype(np.int8),
        score=((points or 0.0) * signs).astype(np.float32),
        owner=(owners * signs[:, None]).astype(np.int8),
        root=np.full(len(states), np.nan, np.float32),  # no search
        weight=np.ones(len(states), np.float32),
        serial=np.arange(len(states)),
    )
    # copies of a game have the same
    identity = zlib.crc32(repr((record.size, record.black_stones, record.white_stones, record.moves)).encode())
    return LabelledGame(rows, record.size, known, cut, identity)


def _result(game: SgfGame, record: GameRecord) -> tuple[int | None, float | None]:
    """`result_of` a record; a remark if it is one that is not read. ValueError if the board cannot give it."""
    text = record.result.strip()
    winner, points = result_of(text)
    if winner is None and not _NO_BOARD.fullmatch(text):
        game.remarks.append(f"the result, {text[:40]}, is not one that is read: only the moves are learned")
    if points is not None and abs(points) > 2 * record.size**2 + abs(komi_of(record)):  # area, and as many prisoners
        raise ValueError(f"RE[{text[:40]}] cannot be the result of a {record.size}x{record.size} game")
    return winner, points


def _played(record: GameRecord) -> tuple[Position, list[tuple[np.ndarray, int]], str]:
    """(last position, the state before each move in turn with its ply, why the game was cut)."""
    position = begin(record)
    before: list[tuple[np.ndarray, int]] = []
    for ply, (colour, action) in enumerate(record.moves):
        if position.is_over:
            resumed = any(later < record.size**2 for _, later in record.moves[ply:])
            return position, before, f"move {ply + 1}, after two passes" if resumed else ""
        state = position.state.copy() if colour == position.to_play else None
        try:
            position.play(action, colour, superko=False)  # the game was played under rules of its own
        except IllegalMove as error:
            return position, before, f"move {ply + 1}, {error}"
        if state is not None:
            before.append((state, ply))
    return position, before, ""


def begin(record: GameRecord) -> Position:
    """The first position of a record under the rules and komi that it names. ValueError where gozero cannot play it."""
    rules = named_rules(record.rules)
    game = go.make(record.size, rules or _FALLBACK_RULES, komi_of(record), record.handicap if rules else 0)
    position = Position(game)
    stones = dict.fromkeys(record.black_stones, BLACK) | dict.fromkeys(record.white_stones, WHITE)
    if stones or record.to_play != BLACK:
        position.set_up(stones, record.to_play)
    return position


def komi_of(record: GameRecord) -> float:
    """Points for White: the file's; the usual ones of its rules where it says nothing, none with handicap stones."""
    if record.komi is not None:
        return record.komi
    rules = named_rules(record.rules)
    usual = rules.komi if rules and rules.territory else scoring.usual_komi(scoring.GO, record.size)
    return 0.0 if record.handicap else usual


def result_of(text: str) -> tuple[int | None, float | None]:
    """(+1 Black won, -1 White won, 0 drawn, or None; Black's lead in points or None) from SGF's RE."""
    text = text.strip()
    if _DRAWN.fullmatch(text):
        return 0, 0.0
    if won := _WON.fullmatch(text):
        winner, points = 1 if won[1] else -1, points_in(won[2])
        if points is not None:
            return int(np.sign(winner * points)), winner * points
        if _RESIGNED.fullmatch(won[2]):
            return winner, None
    return None, None


def _owner(position: Position, points: float) -> np.ndarray | None:
    """int8 [P], + Black's, where the game was passed out and its board counts to `points` for Black; else None."""
    game, state = position.game, position.state
    if [move.action for move in position.moves[-2:]] != [game.pass_action] * 2:
        return None
    if abs(scoring.final_score(game, state) - points) < 0.01:
        return scoring.final_owner(game, state)
    return position.owner() if abs(position.score() - points) < 0.01 else None


def _reply(record: GameRecord, ply: int, legal_moves: int) -> int | None:
    """The opponent's next move, if it came next and could be played."""
    if ply + 1 >= legal_moves or record.moves[ply + 1][0] == record.moves[ply][0]:
        return None
    return record.moves[ply + 1][1]


def _one_hot(actions: list[int | None] | list[int], game: Game) -> np.ndarray:
    """float16 [n, A]; None leaves a row of zeros."""
    policy = np.zeros((len(actions), game.actions), np.float16)
    for row, action in enumerate(actions):
        if action is not None:
            policy[row, action] = 1
    return policy
