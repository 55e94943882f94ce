"""Networks with other norms, values and filters: what they are made of, their files, and that every evaluator runs
them.
"""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
import torch
from torch import nn

from gozero import games
from gozero.evaluators import graphs
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.games.game import BLACK, TO_PLAY, WHITE
from gozero.nets import features, growth, model, weights
from gozero.nets.blocks import BatchRenorm, ConvNorm
from gozero.nets.course_nets import colours
from gozero.system.errors import ChoiceError
from tests.trained import lively, random_states

VARIANTS = [
    ("vgg2c16k2", "none", "scalar", "connect4"),
    ("vgg2c16k4", "none", "wdl", "tictactoe"),
    ("b2c16", "batch", "scalar", "connect4"),
    ("se2c16", "none", "scalar", "connect4"),
    ("mlp2x32", "renorm", "scalar", "tictactoe"),
    ("s0mlp", "renorm", "wdl", "connect4"),
    # its filters are as wide as the game wants them
    ("s0vgg", "renorm", "wdl", "tictactoe"),
    ("s0vgg", "renorm", "wdl", "connect4"),
    ("s0senet", "renorm", "wdl", "tictactoe"),
]


@pytest.mark.parametrize(("network", "norm", "value", "name"), VARIANTS)
def test_every_evaluator_says_what_the_network_says(
    network: str, norm: str, value: str, name: str, tmp_path: Path
) -> None:
    game = games.make(name)
    config = model.config(network, game, norm=norm, value=value)
    if network == "s0senet":  # the same layers, quick to trace
        config = dataclasses.replace(config, channels=16)
    net, states = lively(config), random_states(game, 12)
    weights.save(tmp_path / "w.pt", net, config, game=name, size=game.size, trained_sizes=(game.size,))
    assert weights.load(tmp_path / "w.pt", name).config == config
    graphs.embed(tmp_path / "w.pt")
    with torch.inference_mode():
        expected = net(*(torch.from_numpy(array) for array in features.encode(game, states)))
    found = {
        "torch": TorchEvaluator(net, game, device="cpu", threads=1, precision="f32"),
        "file": open_evaluator(str(tmp_path / "w.pt"), game, threads=1, precision="f32"),
        "int8": open_evaluator(str(tmp_path / "w.pt"), game, threads=1, precision="int8"),
    }
    for backend, evaluator in found.items():
        result, tolerance = evaluator.evaluate(states), 0.1 if backend == "int8" else 2e-4
        np.testing.assert_allclose(result.value, expected.value, atol=tolerance, err_msg=backend)
        np.testing.assert_allclose(result.logits, expected.policy, atol=5 * tolerance, err_msg=backend)


@pytest.mark.parametrize("kernel", [2, 3, 4])
def test_filters_have_the_width_that_the_name_says(kernel: int) -> None:
    net = model.build(model.config(f"vgg2c8k{kernel}", games.make("connect4")))
    trunk = [net.stem.conv, *(block.conv.conv for block in net.blocks)]
    assert all(conv.kernel_size == (kernel, kernel) for conv in trunk)
    x = torch.zeros(1, 8, 6, 7)
    x[0, :, 2, 3] = 1
    layer = ConvNorm(8, 8, kernel, norm="none")
    with torch.no_grad():
        layer.conv.weight.fill_(1.0)
        rows, columns = np.nonzero(layer(x)[0, 0].numpy())
    assert layer(x).shape == x.shape
    before, after = (kernel - 1) // 2, kernel // 2  # a filter sees so far to the left and to the right
    assert (rows.min(), rows.max()) == (2 - after, 2 + before)
    assert (columns.min(), columns.max()) == (3 - after, 3 + before)


def test_a_norm_is_what_its_name_says() -> None:
    def norms(norm: str, network: str = "b2c8") -> list[nn.Module]:
        net = model.build(model.config(network, norm=norm))
        return [module.norm for module in net.modules() if isinstance(module, ConvNorm)]

    assert all(type(norm) is BatchRenorm and norm.momentum == 0.02 for norm in norms("renorm"))
    for network in ("b2c8", "agz13"):
        assert all(type(norm) is nn.BatchNorm2d and norm.momentum == 0.1 for norm in norms("batch", network))
    assert all(type(norm) is nn.Identity for norm in norms("none"))
    assert all(
        module.conv.bias is not None
        for module in model.build(model.config("b2c8", norm="none")).modules()
        if isinstance(module, ConvNorm)
    )


def test_without_a_norm_a_residual_block_still_begins_as_the_identity() -> None:
    net = model.build(model.config("b1c8", norm="none"), seed=1)
    x = torch.rand(2, 8, 5, 5, generator=torch.Generator().manual_seed(1))
    assert torch.equal(net.blocks[0](x, torch.zeros(2, 1)), x)


def test_older_files_have_the_usual_parts() -> None:
    config = model.config("b2c8")
    older = {name: value for name, value in config.to_dict().items() if name not in ("kernel", "norm", "value")}
    assert model.NetConfig.from_dict(older) == config


@pytest.mark.parametrize(("part", "value"), [("norm", "layer"), ("value", "number")])
def test_a_part_of_a_later_version_is_one_line(part: str, value: str) -> None:
    with pytest.raises(ChoiceError, match=f"unknown network {part} '{value}'; known"):
        model.NetConfig.from_dict(model.config("b2c8").to_dict() | {part: value})


def test_a_network_grows_only_into_one_with_the_same_parts() -> None:
    small = model.config("b1c8", norm="none", value="scalar")
    with pytest.raises(ChoiceError, match="norm and value_head"):
        growth.check(small, model.config("b2c16"))
    large = model.config("b2c16", norm="none", value="scalar")
    net = lively(small)
    grown = growth.grow(net.state_dict(), small, large, seed=1).eval()
    states = random_states(games.make("go", size=5), 6)
    inputs = [torch.from_numpy(array) for array in features.encode(games.make("go", size=5), states)]
    with torch.inference_mode():
        for one, other in zip(net(*inputs), grown(*inputs), strict=True):
            if one is not None:
                torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize(
    ("network", "name", "parameters"),
    [
        ("s0mlp", "tictactoe", 27 * 200 + 200 + 200 * 10 + 10),
        ("s0senet", "tictactoe", 11_260_354), ("s0vgg", "tictactoe", 40_138),
        ("s0mlp", "connect4", 126 * 200 + 200 + 200 * 8 + 8), ("s0vgg", "connect4", 39_398),
    ],
)  # fmt: skip
def test_the_course_s_networks_have_their_parameters(network: str, name: str, parameters: int) -> None:
    with torch.device("meta"):
        net = model.build(model.config(network, games.make(name)))
    assert model.parameter_count(net) == parameters


@pytest.mark.parametrize("name", ["tictactoe", "connect4"])
def test_the_course_s_planes_are_the_players_own_whoever_is_to_move(name: str) -> None:
    game = games.make(name)
    states = random_states(game, 40)
    planes = colours(torch.from_numpy(features.encode(game, states)[0])).numpy()
    boards = np.stack([game.board(state) for state in states])
    np.testing.assert_array_equal(planes[:, 0], boards == BLACK)
    np.testing.assert_array_equal(planes[:, 1], boards == WHITE)
    second = states[:, TO_PLAY] == WHITE
    assert 0 < second.sum() < len(second)
    np.testing.assert_array_equal(planes[:, 2], np.broadcast_to(second[:, None, None], boards.shape))


def test_a_column_s_logit_is_that_of_the_point_where_a_disc_lands() -> None:
    game = games.make("connect4")
    states = random_states(game, 20)
    net = model.build(model.config("s0mlp", game), seed=1).eval()
    inputs = [torch.from_numpy(array) for array in features.encode(game, states)]
    with torch.inference_mode():
        answer, policy = net.body(colours(inputs[0])), net(*inputs).policy.numpy()
    legal, history = np.zeros(game.actions, np.uint8), game.new_histories(1)[0]
    for row, state in enumerate(states):
        game.legal(state, history, legal)
        points = np.flatnonzero(legal)
        np.testing.assert_allclose(policy[row, points], answer[row, points % 7], rtol=1e-6)
        assert (policy[row, legal == 0] == -30).all()


def test_weights_files_of_the_course_s_networks_stay_readable() -> None:
    layers = {"s0mlp": "hidden answer", "s0vgg": "first second answer", "s0senet": "first norm stages answer"}
    for name, known in layers.items():
        tensors = model.build(model.config(name, games.make("tictactoe")), seed=1).state_dict()
        assert list(dict.fromkeys(tensor.split(".")[1] for tensor in tensors)) == known.split()


@pytest.mark.parametrize("name", ["s0mlp", "s0vgg", "s0senet"])
def test_the_course_s_networks_do_not_play_go(name: str) -> None:
    for game in (None, games.make("go", size=5), games.make("nogo", size=5)):
        with pytest.raises(ChoiceError, match=f"network {name} plays games such as tictactoe and connect4, not"):
            model.config(name, game)
    with pytest.raises(ChoiceError, match=f"network {name} sees input features 1, not 2; choose features = 1"):
        model.config(name, games.make("connect4"), features=2)
