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

import contextlib

import numpy as np

from gozero.games import coords
from gozero.games.diagram import SYMBOLS, print_diagram
from gozero.games.game import BLACK, WHITE, Game
from gozero.games.go import go
from gozero.games.go.rules import SITUATIONAL
from gozero.system.options import SettingsError
from training.records import scoring
from training.records.records import Record
from training.records.replay import CorruptRecordError, states_of
from training.selfplay import pachi

SIMULATORS = ("auto", "pachi", "numba")
DESCRIPTIONS = {"pachi": "pachi-py beside gozero's own rules", "numba": "gozero's own rules alone"}


class Disagreement(Exception):  # noqa: N818  # its reader is the user, and it is no error of theirs
    """Two boards differ over a game: one line, then the position and the moves that lead to it."""


def resolve(name: str, game: Game) -> str:
    """`pachi` or `numba`, what `name` (one of SIMULATORS) means for this game here.

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
    """The referee that `name` (one of SIMULATORS) stands for; None where the kernels are alone.

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
        ours, last = _positions(self.game, record)
        theirs = self._positions(record.moves[: len(ours) + 1])
        common = min(len(ours), len(theirs))
        differs = (ours[:common] != theirs[:common]).any(axis=1)
        if differs.any():
            ply = int(np.argmax(differs))
            raise self._disagreement(
                record, ours, ply, f"different stones are left after it; {self._beside(ours[ply], theirs[ply])}"
            )
        if common < len(record.moves):
            words = f"the kernels call it {_word(common < len(ours))}, pachi-py {_word(common < len(theirs))}"
            raise self._disagreement(record, ours, common, words)
        self._check_score(record, ours, last)

    def _positions(self, moves: np.ndarray) -> np.ndarray:
        """uint8 [k, points]: the stones on pachi-py's board after each of the first k moves, which it allows."""
        board, size = pachi.PachiBoard(self.game.rows), self.game.rows
        planes = np.empty((len(moves), 3, size, size), np.int64)
        count = 0
        for action in moves.tolist():
            try:
                board.play(action, _mover(count))
            except pachi.PachiIllegalError:
                break
            board.read(planes[count])
            count += 1
        stones = planes[:count].reshape(count, 3, -1)
        return (stones[:, 0] * BLACK + stones[:, 1] * WHITE).astype(np.uint8)

    def _check_score(self, record: Record, ours: np.ndarray, last: np.ndarray) -> None:
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
            raise self._disagreement(record, ours, len(ours), words)

    def _disagreement(self, record: Record, ours: np.ndarray, ply: int, words: str) -> Disagreement:
        """An error with the game, the move at `ply` (or the final count) and `words` about it in one line.

        The position before it and the moves follow.
        """
        size, played = self.game.rows, record.moves[: ply + 1].tolist()
        what = f"move {ply + 1}, {_move(played[ply], ply, size)}" if ply < len(record.moves) else "the final count"
        colours = ours[ply - 1] if ply else np.zeros(self.game.points, np.uint8)
        game = f"a {size}x{size} game of generation {record.generation}, komi {record.komi:g}"
        return Disagreement(
            f"the simulators disagree about {game}: {what}: {words}\n"
            f"{print_diagram(colours.reshape(size, size), _mover(ply))}\n"
            f"moves: {' '.join(_move(action, at, size) for at, action in enumerate(played))}"
        )

    def _beside(self, ours: np.ndarray, theirs: np.ndarray) -> str:
        """The differences of two boards uint8 [points] in words."""
        names = {point: coords.vertex(point, self.game.rows) for point in np.flatnonzero(ours != theirs)[:8].tolist()}
        return ", ".join(
            f"{name} {SYMBOLS[ours[at]]} to the kernels, {SYMBOLS[theirs[at]]} to pachi-py"
            for at, name in names.items()
        )


def _positions(game: Game, record: Record) -> tuple[np.ndarray, np.ndarray]:
    """(stones uint8 [k, points] after each of the first k moves, which the kernels allow; the state int32 [S] then)."""
    after: list[np.ndarray] = []
    with contextlib.suppress(CorruptRecordError):
        for state in states_of(record, game):
            after.append(game.board(state).reshape(-1).astype(np.uint8))
    return np.array(after[1:], np.uint8).reshape(-1, game.points), state


def _mover(ply: int) -> int:
    """The colour that plays at this ply: games of self-play begin with Black and alternate."""
    return BLACK if ply % 2 == 0 else WHITE


def _word(legal: bool) -> str:
    return "legal" if legal else "illegal"


def _move(action: int, ply: int, size: int) -> str:
    """A move as `B D4`."""
    name = coords.vertex(action, size) if action <= size * size + 1 else f"action {action}"
    return f"{'B' if _mover(ply) == BLACK else 'W'} {name}"
