"""How a self-play game begins, when it is over, and how it is counted; scores and ownership are Black's here.

A Go game is settled when every point is pass-alive or pass-alive territory (Benson 1976); stones that are dead there
are removed before the count, as players would agree to do. Other games are over when their rules say so.
"""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import numpy as np

from gozero import games
from gozero.games.colours import leader, result_text
from gozero.games.game import BLACK, NOT_OVER, PLY, TO_PLAY, Game
from gozero.games.go import go, header
from gozero.games.go.rules import RULES, rule_set
from gozero.system.errors import ChoiceError
from training.settings.config import LoopSettings

GO = "go"
SMALL_BOARD_KOMI = {7: 9.5}  # the first player wins by 9 on 7x7; elsewhere the usual 7.5 is near enough
USUAL_KOMI = RULES["chinese"].komi
WHOLE_KOMI = 0.25  # share of the games whose komi is a whole number


@cache
def make(name: str, size: int, rules: str, max_length: float) -> Game:
    """The game as self-play plays it: Go is counted after max_length · area moves, in the search as in the record.

    Dead stones are removed before the count. Otherwise they would make a pass a blunder or a win in the search: in one
    of fourteen 13x13 games that ended by passes they decided who was ahead, and self-play masks the moves that would
    capture them.
    """
    if name != GO:
        return games.make(name, size=size, rules=rules or None)
    check_rules(rules)
    game = games.make(name, size=size, rules=rules or None, move_limit=_limit(max_length, size * size))
    return replace(game, outcome=go.settled_outcome, score=go.settled_score)


def check_rules(rules: str | None) -> None:
    """ChoiceError for rules of Go that count territory: players must then agree on dead stones, not capture them."""
    if rules and rule_set(rules).territory:
        raise ChoiceError(f"rules {rules}: here nobody agrees about dead stones; choose rules that count area")


def longest(settings: LoopSettings, game: Game) -> int:
    """The moves after which a run ends a game of its matches: Go's as in self-play, others by their rules alone."""
    return _limit(settings.selfplay.max_length, game.points) if game.name == GO else game.max_plies


def _limit(max_length: float, points: int) -> int:
    """The moves after which a game of Go is counted: 0 would be no limit."""
    return max(1, int(max_length * points))


def game_of(settings: LoopSettings, size: int) -> Game:
    """A run's game at a board size, as its self-play plays it."""
    return make(settings.game, size, settings.rules, settings.selfplay.max_length)


def last_game(settings: LoopSettings) -> Game:
    """A run's game on the largest board of its last stage: what it is all for."""
    return game_of(settings, max(settings.stage[-1].sizes))


def match_game(settings: LoopSettings, size: int) -> tuple[Game, float]:
    """(the game as it is played in matches, its komi in points)."""
    komi, rules = usual_komi(settings.game, size), settings.rules or None
    return games.make(settings.game, size=size, rules=rules, komi=komi if settings.game == GO else None), komi


def begin(game: Game, komi: float, plies: int) -> tuple[np.ndarray, np.ndarray]:
    """(state int32 [S], history uint64 [plies + 1]) of a new game; only Go has a komi."""
    state = game.new_states(1)[0]
    if game.name == GO:
        header.set_komi(state, komi)
    return state, game.new_histories(1, plies)[0]


def usual_komi(name: str, size: int) -> float:
    """The komi around which games of a size are played, in points; 0 where there is none."""
    return SMALL_BOARD_KOMI.get(size, USUAL_KOMI) if name == GO else 0.0


def draw_komi(name: str, size: int, generator: np.random.Generator) -> float:
    """Draw the komi of a game: 80 % within ±1 of the size's usual one, 14 % with a standard deviation of 3 points, 6 %
    of 12. A quarter of all are whole numbers. 0 where there is no komi.

    With a whole-number komi a game can be drawn; without such games a network would not learn draws.
    """
    if name != GO:
        return 0.0
    usual = usual_komi(name, size)
    kind = generator.random()
    komi = usual + (
        int(generator.integers(-1, 2)) if kind < 0.8 else round(generator.normal(0, 3 if kind < 0.94 else 12))
    )
    chance = generator.random()
    return komi if chance >= WHOLE_KOMI else komi + (0.5 if chance < WHOLE_KOMI / 2 else -0.5)


def decided_points(game: Game, state: np.ndarray) -> np.ndarray | None:
    """bool [points]: whether the owner of each point can no longer change.

    None in games other than Go, and in the first plies (half as many as the board has points), where it always can.
    """
    if game.name != GO or state[PLY] * 2 <= game.points:
        return None
    alive = np.empty(game.points, np.int8)
    go.pass_alive(state, alive)
    return alive != 0


def ending(game: Game, state: np.ndarray, decided: np.ndarray | None = None) -> str | None:
    """How the game has ended, one of `records.ENDINGS`; None if it has not.

    `decided` is the result of `decided_points`, if that is known already.
    """
    if game.name != GO:
        return None if game.outcome(state) == NOT_OVER else "finished"
    if game.outcome(state) != NOT_OVER:
        return "passes" if state[go.PASSES] >= 2 else "capped"
    decided = decided_points(game, state) if decided is None else decided
    return "settled" if decided is not None and decided.all() else None


def final_owner(game: Game, state: np.ndarray) -> np.ndarray:
    """int8 [points]: +1 Black's, -1 White's, 0 neither; all 0 in games without owned points."""
    owner = np.zeros(game.points, np.int8)
    kernel = go.settled_owner if game.name == GO else game.owner
    if kernel is not None:
        kernel(state, owner)
    return owner if state[TO_PLAY] == BLACK else -owner


def final_score(game: Game, state: np.ndarray) -> float:
    """Black's lead in points, komi included; its sign is the result.

    Where there are no points, 1 for a win and 0 for a draw.
    """
    kernel = go.settled_score if game.name == GO else game.score or game.outcome
    score = float(kernel(state))
    return score if state[TO_PLAY] == BLACK else -score


def counted_result(game: Game, score: float) -> str:
    """Black's lead as a result: `B+3.5`, `W+0.5` or `0`; the bare winner, `B+`, in a game without points."""
    return result_text(leader(score), None if game.score is None else score)


def known(game: Game) -> tuple[bool, bool, bool]:
    """Which targets the end of a game gives: a value (always), a score, owners of points."""
    return True, game.score is not None, game.owner is not None
