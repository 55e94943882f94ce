"""A game of Go before its first move: size, komi, handicap, stones and rules, and the position that moves lead to from
there.

It is a value: another komi, other rules or a new game make another start. It holds no position and searches nothing.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from gozero import games
from gozero.games.game import BLACK, WHITE, Game
from gozero.games.go.handicap import FEWEST_STONES
from gozero.games.go.rules import RuleSet, rule_set
from gozero.games.position import Move, Position
from gozero.records.sgf import GameRecord
from gozero.system.errors import ChoiceError


@dataclass(frozen=True)
class GoStart:
    """The start of a game of Go, or of a game of its family.

    Attributes:
        name: in `gozero.games.GO_FAMILY`.
        setting: the record of the game without its moves; a komi of None counts as 0.
        given_rules: a name or a rule set; None: the game's own.
    """

    name: str
    setting: GameRecord
    given_rules: str | RuleSet | None = None

    @classmethod
    def first(cls, name: str, size: int, komi: float | None, rules: str | None) -> GoStart:
        """An empty board; komi None: the game's own."""
        return cls(name, GameRecord(size, komi=games.usual(name, "komi") if komi is None else komi), rules)

    @property
    def has_komi(self) -> bool:
        """Whether the game knows komi, and with it other rules than its own; simplified Go does not."""
        return games.usual(self.name, "komi") is not None

    @property
    def komi(self) -> float:
        return self.setting.komi or 0.0 if self.has_komi else 0.0

    @property
    def rules(self) -> RuleSet:
        return rule_set(self.given_rules or games.usual(self.name, "rules"))

    def empty(self, size: int) -> GoStart:
        """An empty board; komi and rules stay, handicap does not."""
        return replace(self, setting=GameRecord(size, komi=self.komi))

    def with_komi(self, komi: float) -> GoStart:
        """The same with another komi; it counts for nothing in a game that has none."""
        return replace(self, setting=replace(self.setting, komi=komi))

    def under(self, rules: RuleSet) -> GoStart:
        """The same by other rules. ChoiceError where the game has only its own."""
        if not self.has_komi:
            raise ChoiceError(f"{self.name} has only its own rules")
        return replace(self, given_rules=rules)

    def with_handicap(self, points: Sequence[int]) -> GoStart:
        """Black's stones on the empty board, White to move."""
        stones = tuple(points)
        setting = GameRecord(
            self.setting.size, komi=self.komi, handicap=len(stones), black_stones=stones, to_play=WHITE
        )
        return replace(self, setting=setting)

    def with_stones(self, stones: Mapping[int, int], to_play: int) -> GoStart:
        """These stones, a colour for each action; komi and rules stay, handicap does not."""
        black, white = (
            tuple(sorted(point for point in stones if stones[point] == colour)) for colour in (BLACK, WHITE)
        )
        setting = GameRecord(self.setting.size, komi=self.komi, black_stones=black, white_stones=white, to_play=to_play)
        return replace(self, setting=setting)

    def of_record(self, record: GameRecord) -> GoStart:
        """The start of a record; a record without komi gets the present one; the rules stay."""
        return replace(
            self,
            setting=replace(
                record, komi=self.komi if record.komi is None else record.komi, moves=(), next_to_play=None, result=""
            ),
        )

    def record(self, moves: Sequence[Move]) -> GameRecord:
        """The game after these moves."""
        return replace(self.setting, komi=self.komi, moves=tuple(moves), rules=self.rules.name)

    def handicap(self, moves: Sequence[Move]) -> int:
        """Black's stones ahead: those the game began with, else Black's plays before White's first move where they are
        two or more.
        """
        if self.setting.handicap or self.setting.black_stones or self.setting.white_stones:
            return self.setting.handicap
        pass_action = self.setting.size**2
        stones = sum(1 for _ in takewhile(lambda move: move.colour == BLACK and move.action != pass_action, moves))
        return stones if stones >= FEWEST_STONES else 0

    def position(self, moves: Sequence[tuple[int, int]] = ()) -> Position:
        """The position after these moves, (colour, action); superko is not held against them. ValueError where one
        cannot be played.
        """
        position = Position(self._game())
        stones = dict.fromkeys(self.setting.black_stones, BLACK) | dict.fromkeys(self.setting.white_stones, WHITE)
        if stones or self.setting.to_play != BLACK:
            position.set_up(stones, self.setting.to_play)
        for colour, action in moves:
            position.play(action, colour, superko=False)
        return position

    def _game(self) -> Game:
        """Simplified Go knows neither komi nor a bonus for handicap."""
        bonuses = {"komi": self.komi, "handicap": self.setting.handicap} if self.has_komi else {}
        return games.make(self.name, size=self.setting.size, rules=self.given_rules, **bonuses)
