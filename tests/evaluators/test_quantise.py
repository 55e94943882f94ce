"""Networks in int8: which layers, by which ranges, what is left of what the network knows, and when int8 is chosen."""

from pathlib import Path

import numpy as np
import pytest
import torch

from gozero import games
from gozero.evaluators import graphs, openvino_evaluator, quantise
from gozero.evaluators.base import Evaluation
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.graphs import convert
from gozero.evaluators.openvino_core import compiled
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.games.game import Game
from gozero.nets import features, locations, model, weights
from gozero.system.errors import ChoiceError
from gozero.system.machine import is_fast_in_int8
from tests.trained import random_states, trained_like

WIDE = model.config("b3c32")
needs_int8 = pytest.mark.skipif(not is_fast_in_int8(), reason="int8 was measured on x86 alone")


@pytest.fixture
def game() -> Game:
    return games.make("go", size=5)


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        (
            "b3c32",
            [
                "blocks.0.conv1", "blocks.0.conv2", "blocks.1.conv1", "blocks.1.conv2", "blocks.2.conv1",
                "blocks.2.conv2",
            ],
        ),
        ("se1c16", ["blocks.0.conv1", "blocks.0.conv2"]),
        ("vgg2c16", ["blocks.0.conv", "blocks.1.conv"]),
        ("mlp2x16", []),
    ],
)  # fmt: skip
def test_the_layers_are_the_convolutions_of_the_blocks(name: str, expected: list[str], game: Game) -> None:
    graph = convert(model.build(model.config(name, game), seed=1))
    assert list(quantise.layers(graph)) == expected
    assert quantise.width(graph) == (0 if not expected else model.config(name, game).channels)


def test_ranges_are_the_largest_inputs(game: Game) -> None:
    """Held against the network itself, on positions that need more than one batch."""
    states = random_states(game, 2 * quantise.BATCH + 3)
    net = trained_like(WIDE, states)
    seen: dict[str, float] = {}
    for index, block in enumerate(net.blocks):
        for name in ("conv1", "conv2"):
            layer = getattr(block, name)
            layer.register_forward_hook(
                lambda _, given, out, key=f"blocks.{index}.{name}": seen.update({key: given[0].max().item()})
            )
    inputs = features.encode(game, states)
    with torch.inference_mode():
        net(*map(torch.from_numpy, inputs))
    found = quantise.observed(convert(net), inputs, threads=1)
    assert found.keys() == seen.keys()
    assert found == pytest.approx(seen, rel=0.02)  # observed in bf16 where the processor computes in it


@needs_int8
def test_int8_keeps_what_the_shipped_weights_know() -> None:
    """With everything quantised the values would be off by 0.12; with ranges of half the size by 0.03."""
    game = games.make("go", size=13)
    graph = graphs.load(locations.SHIPPED_FOLDER / "best.pt", "go").graph
    states = random_states(game, 200)
    exact = OpenVINOEvaluator(graph.clone(), game, threads=1, precision="f32").evaluate(states)
    quick = OpenVINOEvaluator(graph, game, threads=1, precision="int8")
    found = quick.evaluate(states)
    assert quick.precision == "int8"
    one, two = (logits - np.logaddexp.reduce(logits, axis=1, keepdims=True) for logits in (exact.logits, found.logits))
    assert np.sum(np.exp(one) * (one - two), axis=1).mean() < 0.002
    assert 0 < np.abs(exact.value - found.value).mean() < 0.012
    assert np.quantile(np.abs(exact.value - found.value), 0.99) < 0.08
    assert exact.score is not None
    assert found.score is not None
    assert np.abs(exact.score - found.score).mean() < 0.5


@needs_int8
def test_the_same_weights_always_say_the_same(game: Game) -> None:
    """Whatever the batch, the number of threads, and what was evaluated before: a run that goes on plays the games it
    would have played.
    """
    states = random_states(game, 12)
    net = trained_like(WIDE, states)
    first = OpenVINOEvaluator.from_module(net, game, threads=1, precision="int8")
    whole = first.evaluate(states)
    second = OpenVINOEvaluator.from_module(trained_like(WIDE, states, seed=5), game, threads=2, precision="int8")
    assert not np.array_equal(second.evaluate(states).logits, whole.logits)
    second.refresh(net)
    for parts in ([second.evaluate(states)], [second.evaluate(states[:5]), second.evaluate(states[5:])]):
        assert all(np.array_equal(*pair) for pair in zip(Evaluation.joined(parts), whole, strict=True))


@needs_int8
def test_a_new_network_can_be_quantised(game: Game) -> None:
    """The last convolutions of its blocks are zero."""
    states = random_states(game, 4)
    net = model.build(WIDE, seed=1)
    exact, quick = (
        OpenVINOEvaluator.from_module(net, game, threads=1, precision=kind).evaluate(states) for kind in ("f32", "int8")
    )
    np.testing.assert_allclose(exact.value, quick.value, atol=0.01)
    np.testing.assert_allclose(exact.logits, quick.logits, atol=0.02)


def test_a_layer_that_meets_only_zeros_stays_as_it_is(game: Game) -> None:
    graph = convert(trained_like(WIDE, random_states(game, 8)))
    ranges = quantise.ranges(graph, game, threads=1)
    assert list(ranges) == list(quantise.layers(graph))
    silent = quantise.quantised(graph, ranges | {"blocks.1.conv2": 0.0})
    kinds = [node.get_type_name() for node in silent.get_ordered_ops()]
    assert kinds.count("FakeQuantize") == 2 * (len(ranges) - 1)
    inputs = features.encode(game, random_states(game, 3))
    assert np.isfinite(compiled(silent, game.shape, 1, "f32")(list(inputs))[0]).all()
    assert "FakeQuantize" not in [node.get_type_name() for node in graph.get_ordered_ops()]


@pytest.mark.parametrize(("name", "size"), [("go", 5), ("nogo", 9), ("connect4", 7), ("othello", 8), ("tictactoe", 3)])
def test_the_sample_holds_positions_of_every_part_of_a_game(name: str, size: int) -> None:
    planes, numbers = quantise.sample(name, size)
    game = games.make(name, size=size)
    assert planes.shape == (quantise.SAMPLE, len(features.layout(name).planes), *game.shape)
    shown = features.layout(name)
    stones = planes[:, [shown.own, shown.other]].sum((1, 2, 3))
    assert stones.min() <= 4
    assert stones.max() > 0.5 * game.points
    again = quantise.sample.__wrapped__(name, size)
    assert np.array_equal(again[0], planes)
    assert np.array_equal(again[1], numbers)
    if name == "go":
        assert np.abs(numbers[:, 0]).max() > 1, "komi of more than 20 points"


def test_int8_is_chosen_where_it_is_faster(game: Game, monkeypatch: pytest.MonkeyPatch) -> None:
    wide, narrow = convert(model.build(WIDE, seed=1)), convert(model.build(model.config("b1c16"), seed=1))
    floating = openvino_evaluator.float_precision()
    for fast, expected in ((True, "int8"), (False, floating)):
        monkeypatch.setattr(openvino_evaluator, "is_fast_in_int8", lambda fast=fast: fast)
        assert OpenVINOEvaluator(wide.clone(), game, threads=1).precision == expected
        assert OpenVINOEvaluator(narrow.clone(), game, threads=1).precision == floating
        assert OpenVINOEvaluator(wide.clone(), game, threads=1, precision="f32").precision == "f32"


def test_a_network_without_such_layers_stays_in_floating_point(game: Game) -> None:
    net = model.build(model.config("mlp2x16", game), seed=1)
    asked = OpenVINOEvaluator.from_module(net, game, threads=1, precision="int8")
    assert asked.precision == openvino_evaluator.float_precision()
    assert asked.evaluate(random_states(game, 2)).value.shape == (2,)


def test_int8_is_refused_by_pytorch(game: Game, tmp_path: Path) -> None:
    weights.save(tmp_path / "net.pt", model.build(WIDE, seed=1), WIDE)
    with pytest.raises(ChoiceError, match="int8 needs the backend openvino"):
        open_evaluator(tmp_path / "net.pt", game, backend="torch", precision="int8")
