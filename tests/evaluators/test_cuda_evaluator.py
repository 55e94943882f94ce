"""The evaluator of the GPU path: on the CPU all of it but streams and graphs; those where there is a GPU."""

import contextlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from itertools import cycle
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
import torch
from torch import nn

from gozero import games
from gozero.evaluators import cuda_evaluator
from gozero.evaluators.base import AsynchronousEvaluator, Evaluation, preferred_batch
from gozero.evaluators.cuda_evaluator import PLAYERS, TURNS, CudaEvaluator, Lane, capacity_for, serves
from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.games.game import BLACK, Game
from gozero.nets import model, weights
from gozero.play.engine import search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Analysis, Limits, Observer
from tests.trained import random_states, trained_like

LINEAR_HEADS = model.NetConfig("agz7", "agz", blocks=2, channels=16, size=7, value_hidden=32)  # agz13 in small
SMALL = model.config("b2c16")
GPU = pytest.param("cuda", marks=pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU"))


@pytest.fixture(scope="module")
def game() -> Game:
    return games.make("go", size=7)


@pytest.fixture(scope="module")
def states(game: Game) -> np.ndarray:
    return random_states(game, 40)


@pytest.fixture(scope="module", params=[SMALL, LINEAR_HEADS], ids=lambda config: config.name)
def net(request: pytest.FixtureRequest, states: np.ndarray) -> nn.Module:
    return trained_like(request.param, states)


def exact(net: nn.Module, game: Game, states: np.ndarray) -> Evaluation:
    """What the plain evaluator says, in float32."""
    return TorchEvaluator(net, game, device="cpu", threads=1, precision="f32").evaluate(states)


@pytest.mark.parametrize("ownership", [False, True], ids=["self-play", "player"])
@pytest.mark.parametrize("device", ["cpu", GPU])
def test_it_says_what_the_network_says(
    device: str, ownership: bool, net: nn.Module, game: Game, states: np.ndarray
) -> None:
    """All that it was asked for, and nothing of what the network does not know."""
    evaluator = CudaEvaluator(net, game, device=device, precision="f32", ownership=ownership)
    assert isinstance(evaluator, AsynchronousEvaluator)
    expected = exact(net, game, states)
    if not ownership:
        expected = expected._replace(ownership=None)
    for one, two in zip(expected, evaluator.evaluate(states), strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            assert two.dtype == np.float32
            assert two.shape == one.shape
            assert two.flags.c_contiguous
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-4 if device == "cpu" else 5e-3)


def test_self_play_pays_nothing_for_ownership(game: Game, states: np.ndarray) -> None:
    evaluator = CudaEvaluator(trained_like(SMALL, states), game, device="cpu", precision="f32")
    evaluator.evaluate(states)
    assert {lane._down.shape[1] for lane in evaluator._free} == {game.actions + 2}


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_a_players_batches_of_all_sizes_share_a_few_lanes(
    device: str, game: Game, states: np.ndarray, tmp_path: Path
) -> None:
    """Up to 64, as its searches have them, and much larger ones, which take several lanes; a batch smaller than its lane
    sees nothing of the last one.
    """
    weights.save(tmp_path / "net.pt", trained_like(SMALL, states), SMALL)
    net = weights.load(tmp_path / "net.pt").network()
    evaluator = CudaEvaluator(net, game, device=device, precision="f32", ownership=True, capacities=PLAYERS)
    assert preferred_batch(evaluator) == 64
    many = np.ascontiguousarray(np.tile(states, (14, 1)))  # 560
    whole = exact(net, game, many)
    for count in (*range(1, 65), 100, 257, 560, 362, 64, 1):
        found = evaluator.evaluate(many[-count:])
        for name in ("logits", "value", "ownership"):
            one, two = getattr(whole, name), getattr(found, name)
            np.testing.assert_allclose(one[-count:], two, rtol=0, atol=1e-4 if device == "cpu" else 5e-3)
    capacities = [lane.capacity for lane in evaluator._free]
    assert sorted(set(capacities)) == list(PLAYERS)
    assert len(capacities) <= len(PLAYERS) + 1, "two of the largest for 560 positions, and one of each other capacity"


def test_an_analysis_is_that_of_the_plain_evaluator(game: Game, states: np.ndarray) -> None:
    """Moves, score and owners; with a network without these heads, none."""
    for config in (SMALL, LINEAR_HEADS):
        net, looks = trained_like(config, states), list[Analysis]()
        for evaluator in (
            TorchEvaluator(net, game, device="cpu", threads=1, precision="f32"),
            CudaEvaluator(net, game, device="cpu", precision="f32", ownership=True, capacities=PLAYERS),
        ):
            settings = PlayerSettings(seed=1, search=search_settings(100, "go"))
            player = make_player("go", (7,), lambda game, found=evaluator: found, settings, size=7)
            observer = Observer(looks.append, ownership=True, moves_ownership=True)
            player.analyse(BLACK, Limits(100), observer)
        plain, found = looks
        assert [(move.action, move.visits) for move in found.moves] == [
            (move.action, move.visits) for move in plain.moves
        ]
        assert (found.score is None) == (plain.score is None) == (config is LINEAR_HEADS)
        if plain.ownership is None:
            assert found.ownership is found.moves[0].ownership is None
        else:
            np.testing.assert_allclose(found.ownership, plain.ownership, atol=1e-3)
            for one, two in zip(plain.moves, found.moves, strict=True):
                np.testing.assert_allclose(one.ownership, two.ownership, atol=1e-3)


def test_it_serves_the_games_whose_positions_can_be_packed() -> None:
    assert [name for name in games.GAMES if serves(games.make(name))] == ["go", "simple_go"]


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_bf16_is_near(device: str, net: nn.Module, game: Game, states: np.ndarray) -> None:
    found = CudaEvaluator(net, game, device=device, precision="bf16").evaluate(states)
    plain = exact(net, game, states)
    assert np.abs(plain.logits - found.logits).mean() < 0.03 * np.abs(plain.logits).mean()
    assert np.abs(plain.value - found.value).mean() < 0.05


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_many_batches_are_under_way_at_once(device: str, game: Game, states: np.ndarray) -> None:
    """Taken in another order than submitted, and from several threads; results belong to the caller."""
    evaluator = CudaEvaluator(trained_like(SMALL, states), game, device=device, precision="f32")
    whole = evaluator.evaluate(states)
    parts = [np.ascontiguousarray(states[start : start + 10]) for start in (0, 10, 20, 30)]
    for _ in range(3):
        pending = [evaluator.submit(part) for part in parts]
        found = {index: pending[index].result() for index in (2, 0, 3, 1)}
        np.testing.assert_allclose(
            np.concatenate([found[index].logits for index in range(4)]), whole.logits, rtol=0, atol=1e-4
        )
    with ThreadPoolExecutor(4) as threads:
        for _ in range(5):
            values = [one.value for one in threads.map(evaluator.evaluate, parts)]
            np.testing.assert_allclose(np.concatenate(values), whole.value, rtol=0, atol=1e-4)
    assert len(evaluator._free) <= 5, "lanes are used again"


@pytest.mark.parametrize("device", ["cpu", GPU])
def test_refresh_overwrites_the_weights_where_they_are(device: str, game: Game, states: np.ndarray) -> None:
    """So that graphs, which know addresses alone, see the new ones."""
    other = trained_like(SMALL, states, seed=9)
    evaluator = CudaEvaluator(trained_like(SMALL, states), game, device=device, precision="f32")
    before, lanes = evaluator.evaluate(states), list(evaluator._free)
    places = [tensor.data_ptr() for tensor in evaluator._forward.state_dict().values()]
    evaluator.refresh(other)
    after = evaluator.evaluate(states)
    assert [tensor.data_ptr() for tensor in evaluator._forward.state_dict().values()] == places
    assert evaluator._free == lanes
    assert np.abs(before.logits - after.logits).max() > 0.1
    np.testing.assert_allclose(
        after.logits, exact(other, game, states).logits, rtol=0, atol=1e-4 if device == "cpu" else 5e-3
    )


def test_one_thread_makes_all_lanes(monkeypatch: pytest.MonkeyPatch, game: Game, states: np.ndarray) -> None:
    """cuDNN would measure its algorithms anew in every other one."""
    makers = set()

    class Noted(Lane):
        def __init__(self, *arguments: Any) -> None:
            makers.add(threading.get_ident())
            super().__init__(*arguments)

    monkeypatch.setattr(cuda_evaluator, "Lane", Noted)
    for _ in range(2):
        evaluator = CudaEvaluator(model.build(SMALL, seed=1), game, device="cpu")
        with ThreadPoolExecutor(3) as threads:
            list(threads.map(evaluator.evaluate, (states[:1], states[:20], states)))
    assert len(makers) == 1
    assert threading.get_ident() not in makers


class FewStreams:
    """Stands in for `torch.cuda`: a pool of two streams, nothing asynchronous, and what is launched into a capture is
    an error.
    """

    def __init__(self) -> None:
        self.ids = cycle((0, 1))
        self.captured: int | None = None
        self.launched: list[int] = []

    def Stream(self, device: torch.device) -> SimpleNamespace:  # noqa: N802 - torch's name
        return SimpleNamespace(
            stream_id=next(self.ids), device=device, wait_stream=lambda other: None, synchronize=lambda: None
        )

    def Event(self, blocking: bool) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(record=lambda: None, synchronize=lambda: None)

    def CUDAGraph(self) -> SimpleNamespace:  # noqa: N802
        return SimpleNamespace(replay=lambda: None)

    def current_stream(self, device: torch.device) -> None:
        return None

    @contextlib.contextmanager
    def stream(self, stream: SimpleNamespace) -> Iterator[None]:
        assert self.captured != stream.stream_id
        self.launched.append(stream.stream_id)
        yield

    @contextlib.contextmanager
    def graph(self, graph: object, stream: SimpleNamespace, capture_error_mode: str) -> Iterator[None]:
        assert capture_error_mode == "thread_local"
        self.captured = stream.stream_id
        yield
        self.captured = None


def test_nothing_is_launched_into_the_stream_of_a_capture(monkeypatch: pytest.MonkeyPatch) -> None:
    """Two lanes may have one stream; while a third is captured there both must wait, and lanes of other streams must
    not.
    """
    few, zeros = FewStreams(), torch.zeros
    monkeypatch.setattr(torch.backends.cudnn, "benchmark", False)
    monkeypatch.setattr(torch, "cuda", few)
    monkeypatch.setattr(torch, "zeros", lambda *shape, dtype, **elsewhere: zeros(*shape, dtype=dtype))
    waited: list[list[bool]] = []
    measures: list[bool] = []

    def forward(packed: torch.Tensor) -> torch.Tensor:
        measures.append(torch.backends.cudnn.benchmark)
        if few.captured is not None:
            waited.append([lane._turn.locked() for lane in lanes])
        return packed.float()

    lanes: list[Lane] = []
    try:
        lanes.extend(Lane(forward, 8, (3, 3), torch.device("cuda")) for _ in range(4))  # type: ignore[arg-type]
        assert waited == [[], [False], [True, False], [False, True, False]]
        few.launched.clear()
        for lane in lanes:
            lane.launch(5)
        assert few.launched == [0, 1, 0, 1]
        assert all(measures) and torch.backends.cudnn.benchmark, "set before the first lane, and never set back"
    finally:
        for stream in (0, 1):
            TURNS.pop(stream)


def test_capacities_are_few_and_waste_little() -> None:
    found = {count: capacity_for(count) for count in range(1, 4097)}
    assert all(count <= capacity <= max(8, 1.125 * count + 8) for count, capacity in found.items())
    assert all(capacity % 8 == 0 for capacity in found.values())
    assert len(set(found.values())) < 80


def test_int8_is_refused(game: Game) -> None:
    with pytest.raises(ValueError, match="unknown precision 'int8'; use one of: auto, f32, bf16"):
        CudaEvaluator(model.build(SMALL, seed=1), game, device="cpu", precision="int8")
