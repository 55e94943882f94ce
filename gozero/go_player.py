"""A player of Go: what Go alone has beside `gozero.player` - komi, handicap, records, moves out of turn, and how a game ends.

Vocabulary. A *start* is a game before its first move: size, komi, handicap and stones (a `GameRecord` without moves); position and tree
can always be rebuilt from the start and the moves. The *root* differs from the position on the board when a colour is asked to move out
of turn or after the game has ended: controllers ask for both, and two passes end a game only if nobody plays on.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from itertools import takewhile

import numpy as np

from gozero import endgame, games
from gozero.evaluators.base import Evaluator
from gozero.games import go
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from gozero.player import Player, PlayerSettings
from gozero.position import Move, Position
from gozero.sgf import GameRecord

FEWEST_GIFTS = 2  # plays of Black's in a row that begin a handicap game: one alone is a first move


class GoPlayer(Player):
    """One game of Go, or of a game of its family, at a time.

    Args:
        game: a name in `gozero.games.GO_FAMILY`.
        komi: of the first game, None: the game's own; later games keep what was set last. Simplified Go has none: it stays 0.
        sizes, open_evaluator, settings, size: as for `Player`.
    """

    def __init__(
        self,
        game: str,
        sizes: Sequence[int],
        open_evaluator: Callable[[Game], Evaluator],
        settings: PlayerSettings,
        *,
        size: int,
        komi: float | None = None,
    ) -> None:
        usual_komi: float | None = games.usual(game, "komi")
        self._has_komi = usual_komi is not None
        self._start = GameRecord(size, komi=usual_komi if komi is None else komi)
        super().__init__(game, sizes, open_evaluator, settings, size=size)

    # The game

    @property
    def komi(self) -> float:
        return self._start.komi or 0.0 if self._has_komi else 0.0

    @property
    def is_over(self) -> bool:
        """Never: whoever plays on after two passes goes on with the game."""
        return False

    def new_game(self, size: int | None = None) -> None:
        """An empty board, of another size if given; komi stays, handicap does not."""
        self._begin_from(GameRecord(size or self.size, komi=self.komi))

    def set_komi(self, komi: float) -> None:
        """Count with another komi (finite) from now on, also for this game; without effect in a game that has none."""
        notes, last_note = self.notes, self.last_note
        self._begin_from(replace(self._start, komi=komi), self.position.moves)
        self.notes, self.last_note = notes, last_note

    def place_handicap(self, points: Sequence[int]) -> None:
        """Begin a handicap game: Black's stones on the empty board, White to move. ValueError if they have no liberty."""
        self._begin_from(GameRecord(self.size, komi=self.komi, handicap=len(points), black_stones=tuple(points), to_play=WHITE))

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """As `Player.set_up`; komi stays, handicap does not."""
        black, white = (tuple(sorted(point for point in stones if stones[point] == colour)) for colour in (BLACK, WHITE))
        self._begin_from(GameRecord(self.size, komi=self.komi, black_stones=black, white_stones=white, to_play=to_play))

    def load_record(self, record: GameRecord) -> None:
        """Take over a game; without a komi of its own it gets the present one.

        Raises:
            ValueError: its size cannot be played, or one of its moves. The game is as it was.
        """
        if record.size not in self.sizes:
            raise ValueError(f"board size {record.size} is not supported; these weights play {', '.join(map(str, self.sizes))}")
        komi = self.komi if record.komi is None else record.komi
        self._begin_from(replace(record, komi=komi, moves=(), result=""), record.moves)

    def record(self) -> GameRecord:
        """The game so far."""
        rules = self._settings.rules or games.usual(self._name, "rules")
        return replace(self._start, komi=self.komi, moves=tuple(self.position.moves), rules=rules)

    @property
    def handicap(self) -> int:
        """Black's stones ahead: those the game began with, else Black's plays before White's first move where they are two or more."""
        if self._start.handicap or self._start.black_stones or self._start.white_stones:
            return self._start.handicap
        gifts = takewhile(lambda move: move.colour == BLACK and move.action != self.game.pass_action, self.position.moves)
        stones = sum(1 for _ in gifts)
        return stones if stones >= FEWEST_GIFTS else 0

    def is_empty(self) -> bool:
        """Whether there is no stone on the board."""
        return not self.stones().any()

    def play(self, colour: int, action: int) -> None:
        """Play for either colour at any time. IllegalMove where the board forbids it; repeating an earlier board is accepted."""
        self.position.play(action, colour, superko=False)

    def legal(self, colour: int) -> np.ndarray:
        """What the rules, superko included, allow ``colour`` to play now, bool [A]."""
        return self._root(colour).legal()

    def _begin_from(self, start: GameRecord, moves: Sequence[tuple[int, int]] = ()) -> None:
        """Set up ``start`` and play ``moves``; only when all of it has succeeded does it take the old game's place."""
        position = Position(self._game_of(start))
        stones = dict.fromkeys(start.black_stones, BLACK) | dict.fromkeys(start.white_stones, WHITE)
        if stones or start.to_play != BLACK:
            position.set_up(stones, start.to_play)
        for colour, action in moves:
            position.play(action, colour, superko=False)
        self._start = start
        self._begin(position)

    def _game_of(self, start: GameRecord) -> Game:
        """The rules for this start; simplified Go knows neither komi nor a bonus for handicap."""
        bonuses = {"komi": start.komi, "handicap": start.handicap} if self._has_komi else {}
        return games.make(self._name, size=start.size, rules=self._settings.rules, **bonuses)

    # Moves

    def _root(self, colour: int) -> Position:
        """The position with ``colour`` to move and no pass to end the game: a copy in which the other side has passed, if need be."""
        root = self.position.copy()
        out_of_turn = root.to_play != colour
        if out_of_turn:
            root.play(root.game.pass_action)
        if out_of_turn or root.is_over:
            root.state[go.PASSES] = 0  # nobody meant those passes to end the game
        return root

    def _sensible(self, root: Position) -> np.ndarray:
        """The actions to choose from, bool [A]; see ``endgame.sensible_moves``. Beyond a limit of moves there is nothing but to pass."""
        if root.is_over:
            return np.arange(root.game.actions) == root.game.pass_action
        pass_by_opponent = Move(BLACK + WHITE - root.to_play, root.game.pass_action)
        opponent_passed = self.position.moves[-1:] == [pass_by_opponent]
        return endgame.sensible_moves(root.game, root.state, root.legal(), opponent_passed=opponent_passed)

    def _resignation(self, colour: int) -> tuple[float, float]:
        """In handicap games White, who is meant to be behind, resigns later and at a lower value."""
        handicap = self.handicap if colour == WHITE else 0
        threshold, earliest = super()._resignation(colour)
        played = max(0, 2 * (handicap - self._start.handicap) - 1)  # plies that Black's gifts took, White's passes between them included
        return -1 + (1 + threshold) / (1 + handicap), earliest * (1 + handicap / 9) + played

    # The points

    def pass_alive(self) -> np.ndarray:
        """Whose each point is whoever moves (Benson), uint8 [rows, cols]: BLACK, WHITE or EMPTY."""
        owners = np.empty(self.game.points, np.int8)
        go.pass_alive(self.position.state, owners)
        side = self.position.to_play
        return np.choose(owners + 1, [BLACK + WHITE - side, EMPTY, side]).astype(np.uint8).reshape(self.game.shape)

    # The end

    def settled_score(self) -> float:
        """Black's points above White's, dead stones inside pass-alive territory removed."""
        points = float(go.settled_score(self.position.state))
        return points if self.position.to_play == BLACK else -points

    def final_status(self) -> endgame.FinalStatus:
        """What is alive, dead and whose; agrees with ``settled_score``."""
        return endgame.final_status(self.position.state, self.size)
