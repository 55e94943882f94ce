"""Networks in int8: the 3x3 convolutions of the trunk compute in whole numbers of 8 bits, all else stays as it is.

A layer is here a 3x3 convolution whose input is a ReLU's, by its name in the network, "blocks.0.conv1". Its range is
the largest input on a sample of positions from random games: 0 to the range become 0 to 255, the weights of each output
channel -127 to 127. Real games' positions play no better (docs/inference.md).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from gozero import games
from gozero.evaluators.openvino_core import compiled, openvino, opset13, tactics
from gozero.games import GO_FAMILY
from gozero.games.game import NOT_OVER, Game
from gozero.games.go import header
from gozero.nets import features
from gozero.system.machine import float_precision

# positions; with 32 some ranges are a third too small, with 1,000 the values are no nearer to those in float32
SAMPLE = 256
A_GAME = 4  # of them from each game
BATCH = 64  # of them evaluated at a time
# standard deviation of the sample's komi in points: scores far from even need their place in the ranges as well
KOMI_SPREAD = 10.0
LEAST_CHANNELS = 32  # of a layer that is faster in int8
INPUT_LEVELS, WEIGHT_LEVELS = 256, 255


def layers(graph: Any) -> dict[str, Any]:
    """The layers of a graph of `graphs.convert` that can be quantised, by name, in their order."""
    found = {}
    for node in graph.get_ordered_ops():
        if node.get_type_name() == "Convolution":
            data, weights = (node.input_value(index).get_node() for index in (0, 1))
            if data.get_type_name() == "Relu" and tuple(weights.get_output_shape(0))[2:] == (3, 3):
                found[node.friendly_name.split("/")[0].removeprefix("__module.net.").removesuffix(".conv")] = node
    return found


def width(graph: Any) -> int:
    """Channels of the widest layer of a graph; 0 where it has none."""
    return max((node.get_output_partial_shape(0)[1].get_length() for node in layers(graph).values()), default=0)


def ranges(graph: Any, game: Game, threads: int) -> dict[str, float]:
    """The range of each layer on the game's sample, by the layer's name."""
    return observed(graph, sample(game.name, game.size, features.version_of(tactics(graph))), threads)


def observed(graph: Any, inputs: Sequence[np.ndarray], threads: int) -> dict[str, float]:
    """The range of each layer on encoded positions of one board, as `features.encode` gives them, by its name."""
    copy = graph.clone()
    found = layers(copy)
    axes = opset13.constant(np.arange(4))
    largest = [opset13.reduce_max(node.input_value(0), axes, False) for node in found.values()]
    watching = openvino.Model([opset13.result(node) for node in largest], copy.get_parameters(), "ranges")
    request = compiled(watching, inputs[0].shape[2:], threads, float_precision()).create_infer_request()
    tops = np.zeros(len(found), np.float32)
    for start in range(0, len(inputs[0]), BATCH):
        request.infer([array[start : start + BATCH] for array in inputs])
        tops = np.maximum(tops, [tensor.data for tensor in request.output_tensors])
    return dict(zip(found, tops.tolist(), strict=True))


def quantised(graph: Any, ranges: Mapping[str, float]) -> Any:
    """The graph with its layers in int8; a layer that saw only zeros is not changed, nor is the graph given."""
    result = graph.clone()
    for name, node in layers(result).items():
        if ranges[name] > 0:
            data, weights = node.input_value(0), node.input_value(1).get_node().get_data().astype(np.float32)
            top = np.abs(weights).max(axis=(1, 2, 3), keepdims=True)
            top[top == 0] = 1
            node.input(0).replace_source_output(_rounded(data, np.zeros(1), np.array([ranges[name]]), INPUT_LEVELS))
            node.input(1).replace_source_output(_rounded(opset13.constant(weights), -top, top, WEIGHT_LEVELS))
    return result


def _rounded(data: Any, low: np.ndarray, high: np.ndarray, levels: int) -> Any:
    """The node that rounds to the nearest of `levels` values from low to high, by which OpenVINO knows int8."""
    bounds = [opset13.constant(bound.astype(np.float32)) for bound in (low, high)]
    return opset13.fake_quantize(data, *bounds, *bounds, levels).output(0)


@lru_cache(maxsize=16)
def sample(name: str, size: int, version: int = 1) -> tuple[np.ndarray, ...]:
    """Encoded positions of random games, in Go with random komi: float32 [SAMPLE, ...] for each input of a network."""
    game, generator = games.make(name, size=size), np.random.default_rng(size)
    chosen: list[np.ndarray] = []
    while len(chosen) < SAMPLE:
        states = _random_game(game, generator)
        chosen.extend(states[generator.choice(len(states), min(A_GAME, len(states)), replace=False)])
    return features.encode(game, np.array(chosen[:SAMPLE]), version)


def _random_game(game: Game, generator: np.random.Generator) -> np.ndarray:
    """int32 [plies, S]: each position of a random game in which there was something to play."""
    state, history = game.new_states(1)[0], game.new_histories(1)[0]
    if game.name in GO_FAMILY:
        header.set_komi(state, state[header.KOMI] / header.KOMI_UNITS + round(generator.normal(0, KOMI_SPREAD)))
    moves, states = generator.integers(2**63, size=1).astype(np.uint64), []
    for _ in range(game.max_plies):
        if game.outcome(state) != NOT_OVER:
            break
        states.append(state.copy())
        game.step(state, history, game.sample(state, history, moves))
    return np.array(states)
