"""Players for tests whose evaluator expects the same result everywhere."""

from collections.abc import Callable

import numpy as np

from gozero.evaluators.base import Evaluation
from gozero.games import coords
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.play.searcher import Limits
from gozero.search.settings import SearchSettings

SIZE = 7
SEARCH = SearchSettings(max_nodes=3000)


class FixedEvaluator:
    """An evaluator that expects the same result for Black everywhere, has the same logits [A] for every position, None:
    likes no move, and counts how often it is asked.
    """

    def __init__(self, game: Game, for_black: float = 0.0, logits: np.ndarray | None = None) -> None:
        self.game, self.for_black, self.asked = game, for_black, 0
        self._logits = np.zeros(game.actions, np.float32) if logits is None else logits

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.asked += len(states)
        values = np.where(states[:, TO_PLAY] == BLACK, self.for_black, -self.for_black)
        return Evaluation(np.tile(self._logits, (len(states), 1)), values.astype(np.float32))


def liking(game: Game, action: int, logit: float = 4.0) -> np.ndarray:
    """Logits by which one action is liked, and no other."""
    return (np.arange(game.actions) == action) * np.float32(logit)


def player(
    for_black: float = 0.0,
    liked: str | None = None,
    *,
    resign: bool = True,
    resign_threshold: float = -0.9,
    opening: float = 0.0,
    seed: int = 1,
) -> tuple[Player, Callable[[], FixedEvaluator]]:
    """A player on 7x7 and a function that gives its evaluator, once it has one."""
    evaluators: list[FixedEvaluator] = []

    def open_evaluator(game: Game) -> FixedEvaluator:
        logits = None if liked is None else liking(game, coords.parse_vertex(liked, game.rows), 6.0)
        evaluators.append(FixedEvaluator(game, for_black, logits))
        return evaluators[-1]

    settings = PlayerSettings(
        seed=seed, resign=resign, resign_threshold=resign_threshold, opening=opening, search=SEARCH
    )
    return make_player("go", range(5, 20), open_evaluator, settings, size=SIZE), lambda: evaluators[-1]


def at(vertex: str) -> int:
    return coords.parse_vertex(vertex, SIZE)


def generate(player: Player, count: int, visits: int = 20) -> list[int]:
    """That many moves, colours in turn."""
    return [player.genmove(player.game.position.to_play, Limits(visits)) for _ in range(count)]


def moves_until_resignation(one: Player, colour: int, moves: int = 40) -> int | None:
    """How many moves of ``colour`` it takes until it resigns; the other side plays anything."""
    for count in range(moves):
        if one.game.position.to_play != colour:
            one.game.play(3 - colour, int(np.flatnonzero(one.game.legal(3 - colour))[0]))
        if one.genmove(colour, Limits(5)) == one.game.definition.resign_action:
            return count
    return None


def other_player(game: str, size: int, for_black: float = 0.0) -> Player:
    return make_player(
        game, [size], lambda board: FixedEvaluator(board, for_black), PlayerSettings(seed=1, search=SEARCH), size=size
    )
