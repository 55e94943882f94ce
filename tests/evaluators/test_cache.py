"""The cache of evaluations: what is found is what the other evaluator would say."""

from typing import Any

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.base import Evaluation
from gozero.evaluators.cache import CachedEvaluator
from gozero.games.game import BLACK, PLY, Game
from gozero.games.position import Position
from gozero.nets.features import encode, keys
from gozero.play.engine import search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Analysis, Limits, Observer
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests.search.naive import HashEvaluator, WideEvaluator
from tests.trained import random_states

GO = games.make("go", size=5)
PLENTY = 2**20


class Counting:
    """Says of each position numbers that follow from what a network would see of it; counts the positions."""

    def __init__(self, game: Game, *, score: bool = True) -> None:
        self.game = game
        self.asked = 0
        self._score = score

    def evaluate(self, states: np.ndarray) -> Evaluation:
        self.asked += len(states)
        planes, numbers = encode(self.game, states)[:2]
        seen = np.concatenate((planes.reshape(len(states), -1), numbers), 1)
        mixed = np.sin(seen @ np.arange(1.0, seen.shape[1] + 1)).astype(np.float32)
        logits = np.outer(mixed, np.arange(self.game.actions, dtype=np.float32))
        ownership = np.repeat(mixed[:, None], self.game.points, 1)
        return Evaluation(logits, mixed, 3 * mixed if self._score else None, ownership if self._score else None)


@pytest.mark.parametrize("name", ["go", "nogo", "othello", "tictactoe"])
def test_what_is_found_is_what_the_evaluator_says(name: str) -> None:
    game = GO if name == "go" else games.make(name)
    states, plain, inner = random_states(game, 60, seed=1), Counting(game), Counting(game)
    cached = CachedEvaluator(inner, PLENTY)
    for _ in range(3):
        found, wanted = cached.evaluate(states), plain.evaluate(states)
        for field, expected in zip(found[:4], wanted[:4], strict=True):
            np.testing.assert_array_equal(field, expected)
    assert found.known is not None and found.known.all()
    assert inner.asked <= len(states) + 1


def test_a_position_that_comes_twice_in_a_batch_is_asked_for_once() -> None:
    inner = Counting(GO)
    cached = CachedEvaluator(inner, PLENTY)
    cached.evaluate(GO.new_states(1))
    asked = inner.asked
    (state,) = random_states(GO, 1, seed=2)
    found = cached.evaluate(np.stack([state, state]))
    assert inner.asked == asked + 1
    assert found.known is not None and not found.known.any()
    assert found.value[0] == found.value[1]


def test_positions_that_differ_for_the_network_have_different_keys() -> None:
    states = random_states(GO, 200, seed=3)
    seen = [b"".join(part.tobytes() for part in parts) for parts in zip(*encode(GO, states, 2), strict=True)]
    by_key = dict(zip(keys(GO, states), seen, strict=True))
    assert len(set(seen)) == len(by_key) > 100
    assert [by_key[key] for key in keys(GO, states)] == seen


def test_komi_makes_another_position() -> None:
    inner = Counting(GO)
    cached = CachedEvaluator(inner, PLENTY)
    other = games.make("go", size=5, komi=0.5)
    first, second = (cached.evaluate(game.new_states(1)).value[0] for game in (GO, other))
    assert first != second


def test_what_was_asked_for_last_is_kept() -> None:
    inner = Counting(GO)
    states = random_states(GO, 60, seed=4)
    row = sum(field.nbytes for field in inner.evaluate(states[:1]) if field is not None)
    cached = CachedEvaluator(inner, 8 * (row + len(keys(GO, states[:1])[0]) + 300))
    for first in range(0, 24, 4):
        cached.evaluate(states[[0, *range(first + 1, first + 5)]])
    again = cached.evaluate(states[[0, 24, 5]]).known
    assert again is not None and again.tolist() == [True, True, False]
    np.testing.assert_array_equal(cached.evaluate(states[20:28]).value, inner.evaluate(states[20:28]).value)


def test_a_batch_beyond_the_room_is_evaluated_plainly() -> None:
    cached = CachedEvaluator(Counting(GO), 0)
    states = random_states(GO, 60, seed=5)
    assert cached.evaluate(states).known is None
    np.testing.assert_array_equal(cached.evaluate(states).value, Counting(GO).evaluate(states).value)


def test_less_is_kept_where_the_system_has_less_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    plain, empty = Counting(GO), np.empty

    def scarce(shape: Any, dtype: Any = float) -> np.ndarray:
        if np.prod(shape) > 20_000:
            raise MemoryError
        return empty(shape, dtype)

    states = random_states(GO, 60, seed=8)
    cached = CachedEvaluator(Counting(GO), PLENTY)
    with monkeypatch.context() as patch:
        patch.setattr(np, "empty", scarce)
        first = cached.evaluate(states)
    again = cached.evaluate(states)
    assert again.known is not None and again.known.all()
    for found in (first, again):
        np.testing.assert_array_equal(found.value, plain.evaluate(states).value)


def test_fields_that_are_not_given_stay_away() -> None:
    cached = CachedEvaluator(Counting(GO, score=False), PLENTY)
    states = random_states(GO, 60, seed=6)
    for _ in range(2):
        found = cached.evaluate(states)
        assert found.score is None and found.ownership is None


def test_forgotten_evaluations_are_asked_for_again() -> None:
    inner = Counting(GO)
    cached = CachedEvaluator(inner, PLENTY)
    states = random_states(GO, 60, seed=7)
    cached.evaluate(states)
    cached.forget()
    known = cached.evaluate(states).known
    assert known is not None and not known.any()


def test_a_search_begun_anew_finds_the_same_without_a_new_evaluation() -> None:
    inner = Counting(GO)
    cached = CachedEvaluator(inner, PLENTY)
    results, asked = [], []
    for _ in range(2):
        search = Search(GO, cached, SearchSettings(leaves=4), seed=1)
        state = GO.new_states(1)[0]
        search.begin(0, SearchRequest(state, np.zeros(int(state[PLY]) + 1, np.uint64), 200))
        search.run()
        results.append(search.result())
        asked.append(inner.asked)
    assert asked[0] == asked[1] > 100
    np.testing.assert_array_equal(results[0].visits, results[1].visits)
    np.testing.assert_array_equal(results[0].q, results[1].q)


@pytest.mark.parametrize(("kind", "largest"), [(HashEvaluator, 8), (WideEvaluator, 64)])
def test_a_player_brings_the_batches_that_the_evaluator_behind_its_cache_prefers(
    kind: type[HashEvaluator], largest: int
) -> None:
    inner: list[HashEvaluator] = []

    def open_evaluator(game: Game) -> CachedEvaluator:
        inner.append(kind(game))
        return CachedEvaluator(inner[0], PLENTY)

    settings = PlayerSettings(seed=1, search=search_settings(None, "go"))
    player = make_player("go", (9,), open_evaluator, settings, size=9)
    looks: list[Analysis] = []
    player.analyse(BLACK, Limits(3000), Observer(looks.append))
    assert looks[-1].visits == 3000
    assert 0.8 * largest <= max(inner[0].batches) <= largest


def test_a_player_forgets_the_evaluations_of_every_board() -> None:
    opened = {}

    def open_evaluator(game: Game) -> CachedEvaluator:
        return opened.setdefault(game.size, CachedEvaluator(Counting(game), PLENTY))

    player = make_player("go", (5, 7), open_evaluator, PlayerSettings(seed=1), size=5)
    for size in (5, 7):
        player.game.new_game(size)
        player.load()
        opened[size].evaluate(games.make("go", size=size).new_states(1))
    player.forget()
    for size, evaluator in opened.items():
        known = evaluator.evaluate(games.make("go", size=size).new_states(1)).known
        assert known is not None and not known.any()


def test_hits_are_those_of_the_last_search() -> None:
    hits: list[int | None] = []
    settings = PlayerSettings(seed=1, search=SearchSettings())
    searcher = make_player(
        "go", (GO.size,), lambda game: CachedEvaluator(Counting(game), PLENTY), settings, size=GO.size
    ).searcher
    searcher.on_search = lambda purpose, analysis, reused, seconds: hits.append(analysis.hits)
    position, everywhere = Position(GO), np.ones(GO.actions, np.bool_)
    for visits in (50, 100, 100):
        if len(hits) == 2:
            searcher.restart()
        searcher.search(position, everywhere, Limits(visits))
    assert hits[0] == hits[1] == 0 and hits[2] is not None and hits[2] > 90
