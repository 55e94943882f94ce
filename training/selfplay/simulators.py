"""The referee that checks self-play's games by the rules: a second implementation beside our kernels, or the kernels
alone.

It plays one recorded game on pachi-py's board and compares: each move legal there, the same stones after it (so the
captures are equal), and the same final count. If the two differ one of them is wrong, so a run must stop.

pachi-py knows neither superko nor our bans on suicide: its legal moves contain ours, so it judges the moves that were
played, not those that were refused. Games end here by more than two passes (`training.records.scoring`), and it is
asked for the count of every ending: of the board as our kernels clean it, without the stones that lie dead in
pass-alive territory. New Zealand's rules alone allow what it refuses, the suicide of one stone.
`training.records.replay` holds every record against the kernels in any case; no referee changes a record.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from gozero.games import coords
from gozero.games.colours import COLOUR_LETTERS
from gozero.games.diagram import print_diagram
from gozero.games.game import BLACK, WHITE, Game
from gozero.games.go import go
from gozero.games.go.rules import SITUATIONAL
from gozero.system.options import SettingsError
from training.records import scoring
from training.records.records import Record
from training.records.rows import CorruptRecordError, states_of
from training.selfplay import pachi

DESCRIPTIONS = {"pachi": "pachi-py beside gozero's own rules", "numba": "gozero's own rules alone"}


class Disagreement(Exception):  # noqa: N818  # its reader is the user, and it is no error of theirs
    """Two boards differ over a game: one line, then the position and the moves that lead to it."""


def resolve(name: str, game: Game) -> str:
    """`pachi` or `numba`, what `name` (one of `config.SIMULATORS`) means for this game here.

    Raises:
        SettingsError: pachi-py was asked for and is not installed, or cannot play this game.
    """
    if name == "numba":
        return name
    reason = _why_not(game)
    if name == "pachi" and reason:
        raise SettingsError(f"simulator = 'pachi': {reason}; or set simulator to auto or numba")
    return "numba" if reason else "pachi"


def _why_not(game: Game) -> str:
    """Why pachi-py cannot referee this game; empty if it can."""
    if game.name != "go":
        return f"pachi-py plays Go, not {game.name}"
    if game.initial[go.SUICIDE] and game.initial[go.KO_RULE] == SITUATIONAL:
        return "pachi-py refuses the suicide of one stone, which these rules allow"
    try:
        pachi.load()
    except pachi.PachiMissingError as error:
        return str(error)
    return ""


def referee(name: str, game: Game) -> PachiReferee | None:
    """The referee that `name` (one of `config.SIMULATORS`) stands for; None where the kernels are alone.

    Raises what `resolve` raises.
    """
    return PachiReferee(game) if resolve(name, game) == "pachi" else None


class PachiReferee:
    """Plays recorded games of one size on pachi-py's board."""

    name = "pachi"

    def __init__(self, game: Game) -> None:
        self.game = game

    def check(self, record: Record) -> None:
        """Raise Disagreement unless both boards agree about the whole game."""
        board, states = pachi.PachiBoard(self.game.rows), states_of(record, self.game)
        state, before = next(states), np.zeros(self.game.points, np.uint8)
        for ply, action in enumerate(record.moves.tolist()):
            ours, theirs = self._stones(states), self._stones_beside(board, action, ply)
            if ours is None or theirs is None:
                legal = {True: "illegal", False: "legal"}
                words = f"the kernels call it {legal[ours is None]}, pachi-py {legal[theirs is None]}"
            elif (ours != theirs).any():
                points = " ".join(coords.vertex(point, self.game.rows) for point in np.flatnonzero(ours != theirs)[:8])
                words = f"different stones are left after it, at {points}"
            else:
                before = ours
                continue
            raise self._disagreement(record, before, ply, words)
        self._check_score(record, before, state)

    def _stones(self, states: Iterator[np.ndarray]) -> np.ndarray | None:
        """uint8 [points] after the next move on our board; None if that is illegal."""
        try:
            return self.game.board(next(states)).reshape(-1)
        except CorruptRecordError:
            return None

    def _stones_beside(self, board: pachi.PachiBoard, action: int, ply: int) -> np.ndarray | None:
        """The same of pachi-py's board."""
        planes = np.empty((3, *self.game.shape), np.int64)
        try:
            board.play(action, _mover(ply))
        except pachi.PachiIllegalError:
            return None
        board.read(planes)
        return (planes[0] * BLACK + planes[1] * WHITE).astype(np.uint8).reshape(-1)

    def _check_score(self, record: Record, before: np.ndarray, last: np.ndarray) -> None:
        """Compare the record's score with pachi-py's count of the last position without its dead stones."""
        stones, owner = self.game.board(last).reshape(-1), scoring.final_owner(self.game, last)
        dead = ((stones == BLACK) & (owner < 0)) | ((stones == WHITE) & (owner > 0))
        board = pachi.PachiBoard(self.game.rows)
        # pachi-py cannot set up stones; those of a legal position capture none
        for action in np.flatnonzero((stones > 0) & ~dead).tolist():
            board.play(action, int(stones[action]))
        theirs, kernels = board.lead() - record.komi, scoring.final_score(self.game, last)
        if not theirs == kernels == record.score:
            words = f"for Black the record counts {record.score:+g}, the kernels {kernels:+g}, pachi-py {theirs:+g}"
            raise self._disagreement(record, before, len(record.moves), words)

    def _disagreement(self, record: Record, before: np.ndarray, ply: int, words: str) -> Disagreement:
        """An error with the game, the move at `ply` (or the final count) and `words` about it in one line.

        The position before it and the moves follow.
        """
        size, played = self.game.rows, record.moves[: ply + 1].tolist()
        what = f"move {ply + 1}, {_move(played[ply], ply, size)}" if ply < len(record.moves) else "the final count"
        game = f"a {size}x{size} game of generation {record.generation}, komi {record.komi:g}"
        return Disagreement(
            f"the simulators disagree about {game}: {what}: {words}\n"
            f"{print_diagram(before.reshape(size, size), _mover(ply))}\n"
            f"moves: {' '.join(_move(action, at, size) for at, action in enumerate(played))}"
        )


def _mover(ply: int) -> int:
    """The colour that plays at this ply: games of self-play begin with Black and alternate."""
    return BLACK if ply % 2 == 0 else WHITE


def _move(action: int, ply: int, size: int) -> str:
    """A move as `B D4`."""
    name = coords.vertex(action, size) if action <= size * size + 1 else f"action {action}"
    return f"{COLOUR_LETTERS[_mover(ply)]} {name}"
