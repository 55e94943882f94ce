"""What every front end sets an engine up with."""

from pathlib import Path

import pytest

from gozero import games
from gozero.evaluators import factory
from gozero.evaluators.factory import Evaluators
from gozero.nets import model, weights
from gozero.nets.weights import Header, WeightsError
from gozero.play.engine import find_weights, search_settings, supported_sizes
from gozero.system.errors import ChoiceError
from tests.search.naive import HashEvaluator, WideEvaluator


@pytest.fixture
def nogo_weights(tmp_path: Path) -> Path:
    config = model.config("b1c8", games.make("nogo"))
    weights.save(tmp_path / "nogo.pt", model.build(config, seed=1), config, game="nogo", size=6)
    return tmp_path / "nogo.pt"


def test_weights_by_name_by_game_and_by_neither(nogo_weights: Path) -> None:
    assert find_weights(None, None)[1].game == "go"
    assert find_weights(None, "tictactoe")[1].game == "tictactoe"
    assert find_weights(str(nogo_weights), None) == find_weights(str(nogo_weights), "nogo")
    with pytest.raises(WeightsError, match="it plays nogo, not go"):
        find_weights(str(nogo_weights), "go")
    with pytest.raises(ChoiceError, match="no network comes with snort"):
        find_weights(None, "snort")


def test_boards() -> None:
    assert list(supported_sizes(Header("go", size=13))) == list(range(5, 20))
    assert list(supported_sizes(Header("go", board=(13, 13), size=13))) == [13]
    assert list(supported_sizes(Header("tictactoe"))) == [3]


def test_an_evaluator_is_opened_once_for_a_board(nogo_weights: Path) -> None:
    evaluators = Evaluators(nogo_weights, "torch", 1)
    small, large = (evaluators.open(games.make("nogo", size=size)) for size in (4, 6))
    assert (small.game.size, large.game.size) == (4, 6)
    assert evaluators.open(games.make("nogo", size=4)) is small
    with pytest.raises(WeightsError):
        evaluators.open(games.make("go", size=9))


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_a_file_that_is_replaced_or_lost_meanwhile_changes_nothing(backend: str, nogo_weights: Path) -> None:
    def values(evaluators: Evaluators, size: int) -> list[float]:
        game = games.make("nogo", size=size)
        return evaluators.open(game).evaluate(game.new_states(1)).value.tolist()

    evaluators, unharmed = (Evaluators(nogo_weights, backend, 1) for _ in range(2))
    expected = [values(unharmed, size) for size in (6, 5, 4)]
    assert values(evaluators, 6) == expected[0]
    config = model.config("b1c8", games.make("nogo"))
    weights.save(nogo_weights, model.build(config, seed=2), config, game="nogo", size=6)
    assert values(Evaluators(nogo_weights, backend, 1), 5) != expected[1]
    assert values(evaluators, 5) == expected[1]
    nogo_weights.unlink()
    assert values(evaluators, 4) == expected[2]


@pytest.mark.parametrize(("kind", "sizes"), [(HashEvaluator, [1]), (WideEvaluator, [1, 2, 4, 8, 16, 32, 64])])
def test_an_evaluator_is_ready_for_the_batches_that_it_prefers(
    kind: type[HashEvaluator], sizes: list[int], nogo_weights: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(factory.Evaluators, "_open", lambda opener, game: kind(game))
    evaluator = Evaluators(nogo_weights).open(games.make("nogo", size=6))
    assert isinstance(evaluator, kind)
    assert evaluator.batches == sizes


def test_searches_differ_by_visits_and_game() -> None:
    assert [search_settings(visits, "nogo").leaves for visits in (1, 199, 200, None)] == [2, 2, 8, 8]
    assert [search_settings(visits, "nogo").most_leaves for visits in (1, 199, 200, None)] == [2, 2, 64, 64]
    assert [search_settings(100, game).c_puct for game in ("go", "nogo")] == [1.1, 0.65]
    assert [search_settings(100, game).score_weight > 0 for game in ("go", "simple_go", "nogo")] == [True, True, False]
