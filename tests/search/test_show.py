"""A tree for the eye."""

import numpy as np

from gozero.evaluators.rollout import UniformEvaluator
from gozero.games.coords import parse_vertex
from gozero.search.root import SearchRequest
from gozero.search.search import PrincipalVariation, Search
from gozero.search.settings import SearchSettings
from tests.search.naive import start
from tests.search.trees import GO5, searched


def test_text_follows_the_visits() -> None:
    search = searched(GO5, 200)
    lines = search.text(0, depth=2).splitlines()
    result = search.result()
    assert lines[0].startswith("root   visits 200   value")
    top = [line.split() for line in lines if line.startswith("  ") and not line.startswith("   ")]
    visits = [int(words[2]) for words in top if words[0] != "..."]
    assert visits == sorted(visits, reverse=True) and visits[0] == result.visits.max()
    assert parse_vertex(top[0][0], 5) == result.best
    assert any(line.startswith("    ") for line in lines)


def test_nothing_searched_yet() -> None:
    search = Search(GO5, UniformEvaluator(GO5), SearchSettings(max_nodes=10))
    assert search.text() == "not searched\n"
    search.begin(0, SearchRequest(*start(GO5), 5))
    assert search.text() == "not searched\n"
    assert search.principal_variation(0, 3, 4) == PrincipalVariation([3], [0], 0.0)


def test_principal_variation_is_playable() -> None:
    search = searched(GO5, 500, actions=(12,))
    line, visits, score = search.principal_variation(0, search.result().best, 6)
    assert visits == sorted(visits, reverse=True) and visits[0] == search.result().visits.max() and -1 <= score <= 1
    assert len(visits) == len(line)
    assert line[0] == search.result().best and 2 <= len(line) <= 6
    state, history = start(GO5, 12)
    mask = np.zeros(GO5.actions, np.uint8)
    for action in line:
        GO5.legal(state, history, mask)
        assert mask[action]
        GO5.step(state, history, action)
    assert search.principal_variation(0, line[0], 1) == PrincipalVariation(line[:1], visits[:1], score)
