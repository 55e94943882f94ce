"""The boards on which self-play plays: a second implementation of Go that is compared with our kernels, or these alone.

`pachi`: each move of a game is played on pachi-py's board first and then by the kernels; the stones, the legal moves
and the final count are compared at once. `pachi-tree`: the search too copies pachi-py's board for each simulation and
plays its moves there (`gozero.search.plain`). If the two differ one of them is wrong, so a run must stop.

pachi-py knows neither superko nor our bans on suicide: a move that it alone allows must be one of these, which is seen
by playing it there. Games end here by more than two passes (`training.records.scoring`), and it is asked for the count
of every ending: of the board as our kernels clean it, without the stones that lie dead in pass-alive territory. New
Zealand's rules alone allow what it refuses, the suicide of one stone.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from itertools import islice

import numpy as np

from gozero.games.game import BLACK, EMPTY, NOT_OVER, TO_PLAY, WHITE, Game
from gozero.games.go import go
from gozero.games.go.header import KOMI_UNITS
from gozero.games.go.rules import SIMPLE, SITUATIONAL
from gozero.search.plain import Rules
from gozero.system.options import SettingsError
from training.records import scoring
from training.selfplay import pachi
from training.settings.config import TREE_SIMULATOR, SelfPlaySettings, Stage

DESCRIPTIONS = {
    "pachi": "pachi-py's board, compared with gozero's own rules at every move",
    TREE_SIMULATOR: "pachi-py's board, which searches copy, compared with gozero's own rules",
    "numba": "gozero's own rules alone",
}


class Disagreement(Exception):  # noqa: N818  # its reader is the user, and it is no error of theirs
    """Two boards differ over a game: one line, then the position and the moves that lead to it."""


def resolve(name: str, game: Game, play: SelfPlaySettings, stages: tuple[Stage, ...]) -> str:
    """What `name` (one of `config.SIMULATORS`) means here for a game that is played so: a key of `DESCRIPTIONS`.
    SettingsError for one that is not installed, or cannot play this game or its searches.
    """
    if name == "numba":
        return name
    reason = _why_not(game)
    if not reason and name == TREE_SIMULATOR:
        reason = _why_no_tree(play, stages)
    if name != "auto" and reason:
        raise SettingsError(f"simulator = {name!r}: {reason}; or set simulator to auto or numba")
    return "numba" if reason else name if name != "auto" else "pachi"


def _why_not(game: Game) -> str:
    """Why pachi-py cannot play this game; empty if it can."""
    if game.name != "go":
        return f"pachi-py plays Go, not {game.name}"
    if game.initial[go.SUICIDE] and game.initial[go.KO_RULE] == SITUATIONAL:
        return "pachi-py refuses the suicide of one stone, which these rules allow"
    try:
        pachi.load()
    except pachi.PachiMissingError as error:
        return str(error)
    return ""


def _why_no_tree(play: SelfPlaySettings, stages: tuple[Stage, ...]) -> str:
    """What the searches of `pachi-tree` lack; empty if nothing."""
    if any(stage.evaluator != "network" for stage in stages):
        return "its searches ask a network, not playouts"
    for name, wanted in (("root", "puct"), ("forced_playouts", 0), ("score_weight", 0)):
        if (value := getattr(play, name)) != wanted:
            return f"its searches have no selfplay.{name} = {value}: take {wanted}, or the preset s3"
    return ""


class Simulator(Rules):
    """A game in progress by gozero's own rules alone, and what a second board does besides."""

    def play(self, state: np.ndarray, history: np.ndarray, action: int) -> None:
        """Play a legal move of the game in state int32 [S] with history uint64 [H], in place."""
        self.step(state, history, action)

    def check_score(self, state: np.ndarray, score: float) -> None:
        """Compare Black's lead in points at the end of the game, komi included, with a second count."""


def simulator(name: str, game: Game) -> Simulator:
    """The board of a new game; `name` is a key of `DESCRIPTIONS`. SettingsError if pachi-py is not installed here."""
    try:
        return Simulator(game) if name == "numba" else PachiSimulator(game)
    except pachi.PachiMissingError as error:
        raise SettingsError(f"simulator = {name!r}: {error}; or set simulator to numba") from None


class PachiSimulator(Simulator):
    """A game, or with `copy` a line of its search, on pachi-py's board and by the kernels.

    Wherever they differ it raises Disagreement.
    """

    def __init__(self, game: Game) -> None:
        super().__init__(game)
        self._board, self._moves = pachi.PachiBoard(game.rows), list[tuple[int, int]]()  # (colour, action)
        self._seen = {self._key(self._board, BLACK)}  # the positions of the game

    def copy(self) -> PachiSimulator:
        twin = copy.copy(self)
        twin._board, twin._moves = self._board.copy(), self._moves.copy()
        return twin

    def step(self, state: np.ndarray, history: np.ndarray, action: int) -> None:
        colour = int(state[TO_PLAY])
        self._moves.append((colour, action))
        try:
            self._board.play(action, colour)
        except pachi.PachiIllegalError:
            raise self._disagreement(state, "the kernels call it legal, pachi-py illegal") from None
        super().step(state, history, action)

    def legal(self, state: np.ndarray, history: np.ndarray, out: np.ndarray) -> None:
        """What a search considers at the end of a line: pachi-py's legal moves less suicide and superko, which the
        kernels know.
        """
        self._compare_stones(state)
        super().legal(state, history, out)
        out &= self._board.legal(int(state[TO_PLAY]), len(out))

    def play(self, state: np.ndarray, history: np.ndarray, action: int) -> None:
        self.step(state, history, action)
        self._compare_stones(state)
        self._seen.add(self._key(self._board, int(state[TO_PLAY])))
        if self.game.outcome(state) == NOT_OVER:
            self._compare_legal(state, history)

    def check_score(self, state: np.ndarray, score: float) -> None:
        """Count the board on pachi-py without its dead stones; compare it with `score` and the kernels' count."""
        stones, owner = self.game.board(state).reshape(-1), scoring.final_owner(self.game, state)
        dead = ((stones == BLACK) & (owner < 0)) | ((stones == WHITE) & (owner > 0))
        board = pachi.PachiBoard(self.game.rows)
        # pachi-py cannot set up stones; those of a legal position capture none
        for action in np.flatnonzero((stones > 0) & ~dead).tolist():
            board.play(action, int(stones[action]))
        theirs = board.lead() - state[go.KOMI] / KOMI_UNITS
        if not theirs == scoring.final_score(self.game, state) == score:
            raise self._disagreement(state, f"for Black the kernels count {score:+g}, pachi-py {theirs:+g}")

    def _key(self, board: pachi.PachiBoard, to_play: int) -> tuple[bytes, int]:
        """What superko forbids to come again."""
        return board.stones().tobytes(), to_play if self.game.initial[go.KO_RULE] == SITUATIONAL else 0

    def _compare_stones(self, state: np.ndarray) -> None:
        differing = np.flatnonzero(self.game.board(state).reshape(-1) != self._board.stones())
        if len(differing):
            raise self._disagreement(state, f"different stones are left after it, at {self._points(differing)}")

    def _compare_legal(self, state: np.ndarray, history: np.ndarray) -> None:
        """Pachi-py's legal moves are the kernels', and those that are suicide or superko there."""
        ours, colour = np.zeros(self.game.actions, np.uint8), int(state[TO_PLAY])
        self.game.legal(state, history, ours)
        theirs = self._board.legal(colour, len(ours))
        for action in np.flatnonzero(theirs != ours).tolist():
            if ours[action] or not self._is_forbidden(action, colour):
                words = f"the kernels alone {'allow' if ours[action] else 'forbid'} {self._points([action])} next"
                raise self._disagreement(state, words)

    def _is_forbidden(self, action: int, colour: int) -> bool:
        """Whether a move that pachi-py allows is suicide or superko, by playing it."""
        after = self._board.copy()
        after.play(action, colour)
        if after.stones()[action] == EMPTY and not self.game.initial[go.SUICIDE]:
            return True
        knows_superko = self.game.initial[go.KO_RULE] != SIMPLE
        return bool(knows_superko) and self._key(after, BLACK + WHITE - colour) in self._seen

    def _points(self, actions: Iterable[int]) -> str:
        """The first eight by name."""
        return " ".join(self.game.vertex(int(action)) for action in islice(actions, 8))

    def _disagreement(self, state: np.ndarray, words: str) -> Disagreement:
        """An error with `words` about the last move in one line, then the kernels' position and all moves."""
        moves = [f"{'B' if colour == BLACK else 'W'} {self.game.vertex(action)}" for colour, action in self._moves]
        game = f"a {self.game.dimensions} game, komi {state[go.KOMI] / KOMI_UNITS:g}"
        last = f"move {len(moves)}, {moves[-1]}" if moves else "the first position"
        return Disagreement(
            f"the simulators disagree about {game}: {last}: {words}\n{self.game.to_text(state)}\n"
            f"moves: {' '.join(moves)}"
        )
