"""Both network evaluators, held to one contract and to the plain network."""

import gc
import os
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from gozero import games
from gozero.evaluators.base import Evaluation, Evaluator, submitter
from gozero.evaluators.cuda_evaluator import CudaEvaluator
from gozero.evaluators.graphs import convert
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.games.game import Game
from gozero.nets import features, locations, model, weights
from gozero.system.machine import available_threads, float_precision
from tests.trained import random_states, trained_like

Make = Callable[..., Evaluator]
BACKENDS: list[Make] = [TorchEvaluator, OpenVINOEvaluator.from_module]
LINEAR_HEADS = model.NetConfig("agz7", "agz", blocks=2, channels=16, size=7, value_hidden=32)  # agz13 in small
CASES = [
    (model.config("b2c16"), 5), (model.config("b10c64"), 9), (model.config("b2c16", features=2), 7), (LINEAR_HEADS, 7),
]  # fmt: skip
SMALL = [(model.config("b2c16"), 7)]


@pytest.fixture(scope="module")
def case(request: pytest.FixtureRequest) -> tuple[Game, nn.Module, np.ndarray]:
    """A game, a trained-like network for it and positions."""
    config, size = request.param
    game = games.make("go", size=size)
    states = random_states(game, 12)
    return game, trained_like(config, states), states


@pytest.fixture(params=BACKENDS, ids=["torch", "openvino"])
def make(request: pytest.FixtureRequest) -> Make:
    return request.param


def in_lanes(net: nn.Module, game: Game, threads: int = 1, precision: str = "auto") -> CudaEvaluator:
    return CudaEvaluator(net, game, device="cpu", precision=precision)


every_evaluator = pytest.mark.parametrize("make", [*BACKENDS, in_lanes], ids=["torch", "openvino", "lanes"])


def plain(net: nn.Module, game: Game, states: np.ndarray) -> Evaluation:
    """What the network itself says, batch norm unfolded, in float32."""
    with torch.inference_mode():
        output = net(*map(torch.from_numpy, features.encode(game, states, net.config.features)))
    if output.score is None:
        return Evaluation(output.policy.numpy(), output.value.numpy())
    return Evaluation(
        output.policy.numpy(), output.value.numpy(), output.score.numpy(), 2 * output.ownership.sigmoid().numpy() - 1
    )


def divergence(logits: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Kullback-Leibler divergence of two policies, float [n]."""
    one, two = (x - np.logaddexp.reduce(x, axis=1, keepdims=True) for x in (logits, others))
    return np.sum(np.exp(one) * (one - two), axis=1)


@pytest.mark.parametrize("case", CASES, indirect=True, ids=lambda case: case[0].name)
def test_float32_says_what_the_network_says(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    game, net, states = case
    expected, found = plain(net, game, states), make(net, game, threads=1, precision="f32").evaluate(states)
    assert expected.value.std() > 0.05, "or nothing was tested"
    for one, two in zip(expected, found, strict=True):
        assert (one is None) == (two is None)
        if one is not None:
            assert two.dtype == np.float32
            np.testing.assert_allclose(one, two, rtol=0, atol=1e-3)


def in_bf16(make: Make, net: nn.Module, game: Game) -> Evaluator:
    """An evaluator in bf16, which OpenVINO has on some processors only."""
    if make == OpenVINOEvaluator.from_module and float_precision() != "bf16":
        pytest.skip("needs a processor that computes in bf16")
    return make(net, game, threads=1, precision="bf16")


@pytest.mark.parametrize("case", CASES, indirect=True, ids=lambda case: case[0].name)
def test_bf16_keeps_the_policy(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    game, net, states = case
    expected, found = plain(net, game, states), in_bf16(make, net, game).evaluate(states)
    assert expected.logits.std(axis=1).mean() > 1, "or nothing was tested"
    assert divergence(expected.logits, found.logits).max() < 0.01


def test_bf16_keeps_what_the_shipped_weights_know(make: Make) -> None:
    game = games.make("go", size=13)
    net, states = weights.load(locations.SHIPPED_FOLDER / "best.pt").network(), random_states(game, 100)
    expected, found = plain(net, game, states), in_bf16(make, net, game).evaluate(states)
    assert expected.value.std() > 0.3, "or nothing was tested"
    errors = np.abs(expected.value - found.value)
    assert errors.mean() < 0.008
    assert np.quantile(errors, 0.99) < 0.04
    assert divergence(expected.logits, found.logits).max() < 0.01


@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_a_batch_is_its_positions_one_at_a_time(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    """Exactly so with OpenVINO: the search finds the same game however it fills its batches."""
    game, net, states = case
    evaluator = make(net, game, threads=1)
    together = evaluator.evaluate(states)
    singles = [evaluator.evaluate(states[index : index + 1]) for index in range(len(states))]
    tolerance = 0 if isinstance(evaluator, OpenVINOEvaluator) else 0.05
    for apart, whole in zip(Evaluation.joined(singles)[:4], together[:4], strict=True):
        np.testing.assert_allclose(apart, whole, rtol=0, atol=tolerance)


@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_batches_can_be_under_way_at_once(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    """Taken in another order than asked for, and after new weights came, which they do not see."""
    game, net, states = case
    evaluator = make(net, game, threads=1)
    whole, submit = evaluator.evaluate(states), submitter(evaluator)
    first, second, third = submit(states[:4]), submit(states[4:9]), submit(states[9:])
    found = [pending.result() for pending in (third, first, second)]
    tolerance = 0 if isinstance(evaluator, OpenVINOEvaluator) else 0.05
    joined = Evaluation.joined([found[index] for index in (1, 2, 0)])
    for array, expected in zip(joined[:4], whole[:4], strict=True):
        np.testing.assert_allclose(array, expected, rtol=0, atol=tolerance)
    if isinstance(evaluator, OpenVINOEvaluator):
        late = submit(states)
        evaluator.refresh(trained_like(model.config("b2c16"), states, seed=9))
        assert np.array_equal(late.result().logits, whole.logits)


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only Linux tells a thread's processors")
@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_threads_are_not_bound_to_processors(case: tuple[Game, nn.Module, np.ndarray]) -> None:
    """Bound threads of several engines would all sit on the machine's first processors."""
    game, net, states = case
    OpenVINOEvaluator.from_module(net, game, threads=2).evaluate(states)
    threads = [int(task.name) for task in Path("/proc/self/task").iterdir()]
    assert {frozenset(os.sched_getaffinity(thread)) for thread in threads} == {frozenset(os.sched_getaffinity(0))}


@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_results_belong_to_the_caller(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    game, net, states = case
    evaluator = make(net, game, threads=1)
    given = states.copy()
    first = evaluator.evaluate(states)
    kept = first.of(list(range(len(states))))
    evaluator.evaluate(states[::-1].copy())
    assert all(np.array_equal(*pair) for pair in zip(first, kept, strict=True))
    assert np.array_equal(states, given)


@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_refresh_takes_new_weights(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    game, net, states = case
    other = trained_like(model.config("b2c16"), states, seed=9)
    evaluator = make(net, game, threads=1)
    evaluator.refresh(other)
    expected = make(other, game, threads=1).evaluate(states)
    assert all(np.array_equal(*pair) for pair in zip(evaluator.evaluate(states), expected, strict=True))


@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_a_graph_keeps_its_weights_when_another_network_is_converted(case: tuple[Game, nn.Module, np.ndarray]) -> None:
    game, net, states = case
    graph = convert(net)
    convert(trained_like(model.config("b2c16"), states, seed=9))
    found = OpenVINOEvaluator(graph, game, threads=1).evaluate(states)
    assert np.array_equal(found.logits, OpenVINOEvaluator.from_module(net, game, threads=1).evaluate(states).logits)


@pytest.mark.skipif(not Path("/proc/self/statm").exists(), reason="only Linux tells a process's memory this way")
def test_conversions_leave_nothing_behind() -> None:
    """A run converts its network thousands of times. Traced each time, this one would leave 11 MB."""

    def resident() -> float:
        """MB."""
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 1e6

    net, sizes = model.build(model.config("b2c16"), seed=1), []
    for _ in range(5):
        convert(net)
        sizes.append(resident())
    assert sizes[-1] - sizes[2] < 3


@every_evaluator
@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_later_training_does_not_reach_an_evaluator(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    game, _, states = case
    net = model.build(model.config("b2c16"), seed=1)
    evaluator = make(net, game, threads=1)
    before = evaluator.evaluate(states)
    with torch.no_grad():
        for parameter in net.parameters():
            parameter += 1
    assert net.training
    assert all(np.array_equal(*pair) for pair in zip(before, evaluator.evaluate(states), strict=True))


@every_evaluator
@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_what_is_no_batch_of_states_is_refused(case: tuple[Game, nn.Module, np.ndarray], make: Make) -> None:
    game, net, states = case
    evaluator = make(net, game, threads=1)
    for wrong in (states[0], states[:0], states.astype(np.int64), states[:, 1:]):
        with pytest.raises(ValueError, match=r"states must be int32 \[n, \d+\] with n >= 1"):
            evaluator.evaluate(wrong)
    with pytest.raises(ValueError, match="unknown precision 'int4'; use one of: auto, f32, bf16"):
        make(net, game, precision="int4")


@pytest.mark.skipif(not torch.cuda.is_available(), reason="needs an NVIDIA GPU")
@pytest.mark.parametrize("case", CASES, indirect=True, ids=lambda case: case[0].name)
def test_the_gpu_says_what_the_network_says(case: tuple[Game, nn.Module, np.ndarray]) -> None:
    game, net, states = case
    expected = plain(net, game, states)
    exact = TorchEvaluator(net, game, device="cuda", precision="f32").evaluate(states)
    np.testing.assert_allclose(expected.value, exact.value, atol=5e-3)
    quick = TorchEvaluator(net, game, device="cuda", precision="bf16").evaluate(states)
    assert np.abs(expected.value - quick.value).max() < 0.02
    assert divergence(expected.logits, quick.logits).max() < 0.01


@pytest.mark.skipif(available_threads() < 2, reason="OpenVINO makes no more streams than there are processors")
@pytest.mark.parametrize("case", SMALL, indirect=True)
def test_batches_that_are_under_way_together_share_the_threads(case: tuple[Game, nn.Module, np.ndarray]) -> None:
    """And each is what one thread alone finds, bit for bit."""
    game, net, states = case
    alone = OpenVINOEvaluator.from_module(net, game, threads=1)
    for threads, batches, streams in ((2, 2, 2), (1, 2, 1), (2, 1, 1), (2, 4, 2)):
        shared = OpenVINOEvaluator.from_module(net, game, threads=threads, batches=batches)
        assert shared._compiled.get_property("NUM_STREAMS") == streams
        if threads == 2:
            pending = [shared.submit(part) for part in np.split(states, 4)]
            for part, found in zip(np.split(states, 4), pending, strict=True):
                for expected, value in zip(alone.evaluate(part), found.result(), strict=True):
                    assert np.array_equal(expected, value)
