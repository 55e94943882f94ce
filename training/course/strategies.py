"""The course's strategies as evaluators, so that gozero's search, matches, terminal and GTP can play them.

    FOLDER:val[:PLIES]            full-width search on the value networks, 1 ply if none is given: its values are the
                                  policy of one evaluation; FOLDER:val@G plays generation G instead of the newest
    FOLDER:pol                    the policy's most probable move; the newest policies: reinforced ones, else supervised
                                  ones; pol@supervised and pol@reinforced name them
    FOLDER:val_and_pol[:VISITS]   gozero's search with the policy as prior and the value networks at its leaves, 100
                                  visits if none are given; the supervised policies unless @reinforced: as a prior the
                                  reinforced ones were worse in a short match

The empty board, which no value network learned, gets a guess.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import torch

from gozero.evaluators.base import Evaluation
from gozero.games.colours import opponent
from gozero.games.game import TO_PLAY, Game
from gozero.system.errors import UserError
from gozero.system.words import counted
from training.course.expansion import Expander
from training.course.folder import REINFORCED, SUPERVISED, CourseFolder, value_stage
from training.course.movers import NEVER, PolicyMover, ValueMover
from training.course.networks import Networks, expected_results

VAL, POL, BOTH = "val", "pol", "val_and_pol"
PLIES, VISITS = 1, 100
SHARPNESS = 100.0  # of the policy that stands for the values of `val`: a hundredth of a win is e times as probable
NUMBER = re.compile("[0-9]{1,18}")
POLICIES = {"supervised": SUPERVISED, "reinforced": REINFORCED}


@dataclass(frozen=True)
class Strategy:
    """A description that was understood; nothing is loaded."""

    folder: Path
    kind: str  # VAL, POL or BOTH
    which: str  # what stands behind the @, or ""
    number: int  # plies or visits

    @property
    def name(self) -> str:
        """For tables: `tictactoe val, depth 2`."""
        how = {VAL: f", depth {self.number}", POL: "", BOTH: f", {counted(self.number, 'visit')}"}[self.kind]
        which = f"@{self.which}" if self.which else ""
        return f"{self.folder.name} {self.kind}{which}{how}"

    @property
    def visits(self) -> int:
        """Of gozero's search: `val` and `pol` have said everything with their first evaluation."""
        return self.number if self.kind == BOTH else 1


def parse(text: str) -> Strategy:
    """The strategy of a description. UserError where it is none."""
    rest, _, last = text.rpartition(":")
    number = int(last) if NUMBER.fullmatch(last) else None
    if number is not None:
        rest, _, last = rest.rpartition(":")
    kind, _, which = last.partition("@")
    if not rest or kind not in (VAL, POL, BOTH) or number == 0 or (kind == POL and number is not None):
        expected = "FOLDER:val[:PLIES], FOLDER:pol or FOLDER:val_and_pol[:VISITS]"
        raise UserError(f"{text!r} is no player of the course: expected {expected}")
    if which and not (NUMBER.fullmatch(which) if kind == VAL else which in POLICIES):
        raise UserError(
            f"in {text!r}, {which!r} names no networks: expected val@0, val@1, ..., pol@supervised or pol@reinforced"
        )
    return Strategy(Path(rest), kind, which, number or (VISITS if kind == BOTH else PLIES))


class StrategyEvaluator:
    """Evaluates positions of a course's game by its networks (a `gozero.evaluators.base.Evaluator`): `pol` needs no
    `values`, `val` no `policies`.
    """

    def __init__(self, game: Game, strategy: Strategy, values: Networks, policies: Networks) -> None:
        self.game, self._kind = game, strategy.kind
        self._expander, self._values = Expander(game), values
        self._search = ValueMover(self._expander, values, strategy.number) if strategy.kind == VAL else None
        self._policy = None if self._search else PolicyMover(self._expander, policies)

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S] that are not over; they are left unchanged."""
        self.game.check_states(states)
        if self._search is not None:
            values = self._search.values(states)
            best = values.max(axis=1)
            return Evaluation(np.maximum(SHARPNESS * values, np.float32(NEVER)), best)
        assert self._policy is not None
        value = np.zeros(len(states), np.float32)
        if self._values:
            moved = opponent(states[:, TO_PLAY])
            value = -expected_results(self._values, self._expander.boards(states), moved, self.game.shape)
        return Evaluation(self._policy.logits(states).astype(np.float32), value)

    def of_points(self, state: np.ndarray) -> np.ndarray:
        """What the networks think of a move on each point, float32 [P], 0..1, nan where it is no candidate.

        The chance to win after it, a tie counting half, as `val` sees it; the policy's probability in `pol`.
        """
        points, states = self.game.points, state[None]
        if self._kind == POL:
            assert self._policy is not None
            logits = self._policy.logits(states)[0]
            shares = np.exp(logits - logits.max())
            return np.where(logits > NEVER, shares / shares.sum(), np.nan)[:points]
        search = self._search or ValueMover(self._expander, self._values)
        values = search.values(states)[0, :points]
        return np.where(np.isfinite(values), (1 + values) / 2, np.nan)


def open_strategy(strategy: Strategy, game: Game, threads: int = 1) -> StrategyEvaluator:
    """Its evaluator. UserError where its networks are missing, damaged, or of another game or board.

    PyTorch computes with so many threads from here on: networks as small as these are slower with several.
    """
    torch.set_num_threads(threads)
    folder = CourseFolder.of(strategy.folder, game.name)
    if folder.game.shape != game.shape:
        raise UserError(f"the course plays {game.name} on {folder.game.dimensions}, not on {game.dimensions}")
    values: Networks = []
    if strategy.kind != POL or folder.has(value_stage(0)):
        wanted = int(strategy.which) if strategy.kind == VAL and strategy.which else None
        values = folder.load(value_stage(folder.newest(wanted)))
    policies: Networks = []
    if strategy.kind != VAL:
        usual = REINFORCED if strategy.kind == POL and folder.has(REINFORCED) else SUPERVISED
        policies = folder.load(POLICIES.get(strategy.which, usual))
    return StrategyEvaluator(game, strategy, values, policies)
