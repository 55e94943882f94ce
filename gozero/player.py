"""A player of Go: a position, a search over it, and the judgement when to pass and when to resign.

Vocabulary. A *start* is a game before its first move: size, komi, handicap and stones (a `GameRecord` without moves); position and tree
can always be rebuilt from the start and the moves. *Limits* say what one move may cost. The *root* is the position to be searched,
which differs from the position on the board when a colour is asked to move out of turn or after the game has ended.

The player answers for one game at a time, in one thread. It knows no protocol, and of time only the deadline it is given.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from gozero import endgame
from gozero.evaluators.base import Evaluator
from gozero.games import go
from gozero.games.game import BLACK, WHITE, Game
from gozero.position import Move, Position
from gozero.search.choose import choose
from gozero.search.search import RootResult, Search
from gozero.search.settings import SearchSettings
from gozero.sgf import GameRecord

MANY_VISITS = 100_000_000  # the budget where time alone limits a move


@dataclass(frozen=True)
class Limits:
    """What one move may cost: whichever is reached first."""

    visits: int | None = 400  # simulations, those kept from the move before included; None: as many as there is time for
    deadline: float = math.inf  # seconds, on the clock of time.monotonic


@dataclass(frozen=True)
class PlayerSettings:
    """How a player plays."""

    rules: str = "chinese"
    seed: int | None = None  # None: no two sittings are alike
    resign: bool = True
    resign_threshold: float = -0.9  # expected result, -1..1 (KataGo's GTP: -0.9)
    resign_moves: int = 3  # own moves in a row below the threshold (KataGo's GTP: 3)
    resign_not_before: float = 0.25  # plies per point of the board
    opening: float = 0.12  # plies per point of the board in which moves are drawn, for variety
    opening_temperature: float = 0.25  # drawn by visits ** (1 / this); 0: always the most visited move
    search: SearchSettings = field(default_factory=lambda: SearchSettings(leaves=8, max_nodes=100_000))


class Player:
    """One game of Go at a time, on any of ``sizes``.

    Args:
        sizes: board sizes that the weights can play, ascending.
        open_evaluator: gives the evaluator for a game; called when a move is first wanted on a board of that size. It may take seconds.
        settings: how to play.
        size: points a side of the first game.
        komi: of the first game; later games keep what was set last.
    """

    def __init__(
        self,
        sizes: Sequence[int],
        open_evaluator: Callable[[Game], Evaluator],
        settings: PlayerSettings,
        *,
        size: int = 13,
        komi: float = 7.5,
    ) -> None:
        self.sizes = sizes
        self._settings = settings
        self._open_evaluator = open_evaluator
        self._random = np.random.default_rng(settings.seed)
        self._tree: _Tree | None = None
        self._begin(GameRecord(size, komi=komi))

    # The game

    @property
    def size(self) -> int:
        return self._start.size

    @property
    def komi(self) -> float:
        return self._start.komi or 0.0

    def new_game(self, size: int | None = None) -> None:
        """An empty board, of another size if given; komi stays, handicap does not."""
        self._begin(GameRecord(size or self.size, komi=self.komi))

    def set_komi(self, komi: float) -> None:
        """Count with another komi (finite) from now on, also for this game."""
        self._begin(replace(self._start, komi=komi), self.position.moves)

    def place_handicap(self, points: Sequence[int]) -> None:
        """Begin a handicap game: Black's stones on the empty board, White to move. ValueError if they have no liberty."""
        self._begin(GameRecord(self.size, komi=self.komi, handicap=len(points), black_stones=tuple(points), to_play=WHITE))

    def load_record(self, record: GameRecord) -> None:
        """Take over a game; without a komi of its own it gets the present one.

        Raises:
            ValueError: its size cannot be played, or one of its moves. The game is as it was.
        """
        if record.size not in self.sizes:
            raise ValueError(f"board size {record.size} is not supported; these weights play {', '.join(map(str, self.sizes))}")
        komi = self.komi if record.komi is None else record.komi
        self._begin(replace(record, komi=komi, moves=(), result=""), record.moves)

    def record(self) -> GameRecord:
        """The game so far."""
        return replace(self._start, moves=tuple(self.position.moves), rules=self._settings.rules)

    def is_empty(self) -> bool:
        """Whether there is no stone on the board."""
        return not endgame.board_of(self.position.state, self.size).any()

    def play(self, colour: int, action: int) -> None:
        """Play for either colour at any time. IllegalMove where the board forbids it; repeating an earlier board is accepted."""
        self.position.play(action, colour, superko=False)

    def undo(self) -> None:
        """Take back the last move. IndexError when there is none; stones that were set up stay."""
        self.position.undo()
        self._low_values.clear()

    def legal(self, colour: int) -> np.ndarray:
        """What the rules, superko included, allow ``colour`` to play now, bool [A]."""
        return _to_move(self.position, colour).legal()

    def _begin(self, start: GameRecord, moves: Sequence[tuple[int, int]] = ()) -> None:
        """Set up ``start`` and play ``moves``; only when all of it has succeeded does it take the old game's place."""
        game = go.make(start.size, self._settings.rules, start.komi or 0.0, start.handicap)
        position = Position(game)
        stones = dict.fromkeys(start.black_stones, BLACK) | dict.fromkeys(start.white_stones, WHITE)
        if stones or start.to_play != BLACK:
            position.set_up(stones, start.to_play)
        for colour, action in moves:
            position.play(action, colour, superko=False)
        self._start, self.position = start, position
        self._low_values: Counter[int] = Counter()  # own moves in a row with a hopeless value, by colour

    # Moves

    def load(self) -> None:
        """Open the evaluator for this board now, not when the next move is wanted."""
        self._loaded_tree()

    def genmove(self, colour: int, limits: Limits, should_stop: Callable[[], bool] = lambda: False) -> int:
        """Choose a move for ``colour`` and play it; the resign action leaves the board as it is."""
        root = _to_move(self.position, colour)
        sensible = self._sensible(root)
        action, value = _only_action(sensible), None
        if action is None:
            result = self._loaded_tree().search(root, sensible, limits, should_stop)
            drawn = root.ply < self._settings.opening * root.game.points
            action, value = choose(result, self._settings.opening_temperature if drawn else 0.0, self._random), result.value
        if self._resigns(colour, value):
            return self.position.game.resign_action
        self.play(colour, action)
        return action

    def suggest(self, colour: int, limits: Limits, should_stop: Callable[[], bool] = lambda: False) -> int:
        """The move for ``colour`` from a search of its own without chance; not played, and never a resignation."""
        root = _to_move(self.position, colour)
        sensible = self._sensible(root)
        action = _only_action(sensible)
        if action is not None:
            return action
        tree = _Tree(self._loaded_tree().evaluator, self._settings.search, seed=0)
        return tree.search(root, sensible, limits, should_stop).best

    def _sensible(self, root: Position) -> np.ndarray:
        """The actions to choose from, bool [A]; see ``endgame.sensible_moves``."""
        pass_by_opponent = Move(BLACK + WHITE - root.to_play, root.game.pass_action)
        opponent_passed = self.position.moves[-1:] == [pass_by_opponent]
        return endgame.sensible_moves(root.game, root.state, root.legal(), opponent_passed=opponent_passed)

    def _loaded_tree(self) -> _Tree:
        if self._tree is None or self._tree.evaluator.game.rows != self.size:
            self._tree = _Tree(self._open_evaluator(self.position.game), self._settings.search, int(self._random.integers(2**63)))
        return self._tree

    def _resigns(self, colour: int, value: float | None) -> bool:
        """Count low values in a row; in handicap games White, who is meant to be behind, resigns later and at a lower value."""
        settings, handicap = self._settings, self._start.handicap if colour == WHITE else 0
        threshold = -1 + (1 + settings.resign_threshold) / (1 + handicap)
        if value is None or value >= threshold:
            self._low_values[colour] = 0
            return False
        self._low_values[colour] += 1
        earliest = settings.resign_not_before * self.position.game.points * (1 + handicap / 9)
        return settings.resign and self.position.ply >= earliest and self._low_values[colour] >= settings.resign_moves

    # The end

    def settled_score(self) -> float:
        """Black's points above White's, dead stones inside pass-alive territory removed."""
        points = float(go.settled_score(self.position.state))
        return points if self.position.to_play == BLACK else -points

    def final_status(self) -> endgame.FinalStatus:
        """What is alive, dead and whose; agrees with ``settled_score``."""
        return endgame.final_status(self.position.state, self.size)


def _to_move(position: Position, colour: int) -> Position:
    """The position with ``colour`` to move and the game not over: a copy in which the other side has passed, if need be."""
    root = position.copy()
    out_of_turn = root.to_play != colour
    if out_of_turn:
        root.play(root.game.pass_action)
    if out_of_turn or root.is_over:
        root.state[go.PASSES] = 0  # nobody meant those passes to end the game
    return root


def _only_action(mask: np.ndarray) -> int | None:
    """The action of a mask bool [A] that allows just one, else None."""
    actions = np.flatnonzero(mask)
    return int(actions[0]) if len(actions) == 1 else None


class _Tree:
    """One search tree that follows the game: what was searched for an earlier move is kept where the moves since lead into it."""

    def __init__(self, evaluator: Evaluator, settings: SearchSettings, seed: int) -> None:
        self.evaluator = evaluator
        self._search = Search(evaluator.game, evaluator, settings, seed=seed)
        self._line: list[Move] = []  # the moves that lead to the tree's root

    def search(self, root: Position, mask: np.ndarray, limits: Limits, should_stop: Callable[[], bool]) -> RootResult:
        """Search ``root`` among the actions of ``mask`` bool [A] until the limits are reached or ``should_stop()``."""
        visits = MANY_VISITS if limits.visits is None else limits.visits
        keep = self._follow(root.moves)
        self._search.begin(0, root.state, root.history_row(0), visits, root_mask=mask, keep=keep)
        self._line = list(root.moves)
        self._search.run(limits.deadline, should_stop)
        return self._search.result(0)

    def _follow(self, moves: list[Move]) -> bool:
        """Advance the tree to the position after ``moves``; False where that is not below its root."""
        if moves[: len(self._line)] != self._line:
            return False
        return all(self._search.advance(0, move.action) for move in moves[len(self._line) :])
