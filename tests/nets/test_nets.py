"""Networks: the seed network layer by layer, size-agnostic weights, folding, and that they can learn."""

import dataclasses
import math

import numpy as np
import pytest
import torch
from torch import nn

from gozero import games
from gozero.nets import blocks, course_nets, features, inference, model
from gozero.nets.blocks import BatchRenorm, PoolingBlock
from tests.trained import random_states, trained_like


def inputs(size: int, count: int = 4) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(size)
    planes = (torch.rand(count, 11, size, size, generator=generator) < 0.3).float()
    numbers = torch.randn(count, 7, generator=generator)
    numbers[:, model.SIZE_INPUT] = (size - 13) / 6
    return planes, numbers


def test_the_seed_network_has_exactly_its_layers() -> None:
    convolutions = [(11, 256)] + [(256, 256)] * 20 + [(256, 2), (256, 1)]
    with torch.device("meta"):
        net = model.build(model.config("agz13"))
    assert [(m.in_channels, m.out_channels) for m in net.modules() if isinstance(m, nn.Conv2d)] == convolutions
    assert all(m.kernel_size == (3, 3) and m.bias is None for m in net.modules() if isinstance(m, nn.Conv2d))
    assert [m.num_features for m in net.modules() if isinstance(m, nn.BatchNorm2d)] == [
        outputs for _, outputs in convolutions
    ]
    assert [(m.in_features, m.out_features) for m in net.modules() if isinstance(m, nn.Linear)] == [
        (338, 171),
        (169, 256),
        (256, 1),
    ]
    assert model.parameter_count(net) == 11_941_240


def limited_and_not(limit: int) -> tuple[nn.Module, nn.Module]:
    """One network with a limit of the sizes that it is told, and the same without."""
    config = model.config("b2c16")
    free = trained_like(config, random_states(games.make("go", size=9), 16))
    with torch.no_grad():
        free.value.score.weight.fill_(0.1)
    limited = model.build(dataclasses.replace(config, size_limit=limit)).eval()
    limited.load_state_dict(free.state_dict())
    return limited, free


def test_boards_within_the_limit_are_seen_as_they_are() -> None:
    limited, free = limited_and_not(13)
    for size in (7, 13):
        with torch.inference_mode():
            for one, other in zip(limited(*inputs(size)), free(*inputs(size)), strict=True):
                assert torch.equal(one, other)


def test_beyond_the_limit_a_board_is_told_as_the_largest_known_with_as_much_of_it_in_komi() -> None:
    limited, free = limited_and_not(9)
    planes, numbers = inputs(13)
    known = numbers.clone()
    known[:, model.SIZE_INPUT] = (9 - 13) / 6
    known[:, model.KOMI_INPUT] *= 81 / 169
    with torch.inference_mode():
        found, expected = limited(planes, numbers), free(planes, known)
    expected = expected._replace(score=expected.score * 169 / 81)
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other)


def test_the_seed_network_gives_log_probabilities_and_a_value() -> None:
    with torch.inference_mode():
        output = model.build(model.config("agz13"), seed=0).eval()(*inputs(13))
    assert output.policy.shape == (4, 171) and output.value.shape == (4,)
    torch.testing.assert_close(output.policy.exp().sum(1), torch.ones(4))
    assert (output.value.abs() <= 1).all()
    assert output.wdl is None and output.score is None and output.ownership is None and output.reply is None


@pytest.mark.parametrize("size", [5, 7, 9, 13, 19])
def test_one_set_of_weights_plays_every_board(size: int) -> None:
    net = model.build(model.config("b2c16"), seed=0).eval()
    output = net(*inputs(size))
    points = size * size
    assert output.policy.shape == output.reply.shape == (4, points + 2)
    assert output.wdl.shape == (4, 3)
    assert output.value.shape == output.score.shape == (4,)
    assert output.ownership.shape == (4, points)


def test_value_is_the_chance_to_win_less_the_chance_to_lose() -> None:
    game = games.make("go", size=5)
    states = random_states(game, 8)
    output = trained_like(model.config("b2c16"), states)(*inputs(5))
    win, _, loss = output.wdl.softmax(1).T
    torch.testing.assert_close(output.value, win - loss)
    assert output.value.std() > 0.05  # or nothing was tested


@pytest.mark.parametrize(("blocks", "pooling"), [(2, [1]), (6, [1, 4]), (10, [1, 4, 7])])
def test_every_third_block_pools(blocks: int, pooling: list[int]) -> None:
    net = model.build(model.config(f"b{blocks}c8"), seed=0)
    assert [index for index, block in enumerate(net.blocks) if isinstance(block, PoolingBlock)] == pooling


def test_pooling_carries_news_across_the_board() -> None:
    """A stone in one corner changes the logits in the other, 18 points away, which 3x3 convolutions of two blocks
    cannot see.
    """
    states = random_states(games.make("go", size=19), 4)
    net = trained_like(model.config("b2c16"), states)
    planes, numbers = inputs(19, 1)
    changed = planes.clone()
    changed[0, 0, 0, 0] = 1 - changed[0, 0, 0, 0]
    assert abs(net(planes, numbers).policy[0, 360] - net(changed, numbers).policy[0, 360]) > 1e-6


def test_komi_reaches_value_and_score() -> None:
    net = trained_like(model.config("b2c16"), random_states(games.make("go", size=7), 8))
    planes, numbers = inputs(7)
    more = numbers.clone()
    more[:, 0] += 1
    assert (net(planes, numbers).value != net(planes, more).value).all()
    assert (net(planes, numbers).score != net(planes, more).score).all()


@pytest.mark.parametrize(
    "name",
    [
        "", "b10", "c64", "b0c64", "b10c3", "B10c64", "b10c64x", "agz20", "agz9c", "b-1c8",
        "mlp2c200", "se4x64", "vgg0c8",  # each kind has its own letter before the width
        "b2c8k2", "se2c8k4", "mlp2x8k2", "vgg2c8k0", "vgg2c8k10", "vgg2c8k",  # VGG networks alone have other filters
    ],
)  # fmt: skip
def test_an_unknown_name_is_refused_with_a_hint(name: str) -> None:
    with pytest.raises(ValueError, match=r"unknown network .* such as b10c64"):
        model.config(name)


def test_a_configuration_survives_json() -> None:
    config = model.config("b10c96")
    assert model.NetConfig.from_dict(config.to_dict()) == config
    with pytest.raises(ValueError, match="unknown network field 'width'"):
        model.NetConfig.from_dict(config.to_dict() | {"width": 3})
    with pytest.raises(ValueError, match="incomplete network configuration"):
        model.NetConfig.from_dict({"name": "b1c8"})
    for limit in (0, -3, "13", [13], True):
        with pytest.raises(ValueError, match="expected a board's size, 2 or more, or none"):
            model.NetConfig.from_dict(config.to_dict() | {"size_limit": limit})
    with pytest.raises(ValueError, match="unknown network kind 'rnn'"):
        model.NetConfig.from_dict(config.to_dict() | {"kind": "rnn"})
    with pytest.raises(ValueError, match="need a board size"):
        model.build(dataclasses.replace(model.config("agz13"), size=None))


@pytest.mark.parametrize(
    ("name", "kind", "blocks", "channels", "shape"),
    [
        ("se4c64", "senet", 4, 64, "4 blocks of 64 channels"),
        ("vgg2c32", "vgg", 2, 32, "2 layers of 32 channels"),
        ("mlp2x200", "mlp", 2, 200, "2 layers of 200 units"),
        ("b1c8", "resnet", 1, 8, "1 block of 8 channels"),
    ],
)
def test_names_of_the_other_kinds(name: str, kind: str, blocks: int, channels: int, shape: str) -> None:
    config = model.config(name, games.make("go", size=7))
    assert (config.kind, config.blocks, config.channels, config.shape) == (kind, blocks, channels, shape)
    assert config.board == ((7, 7) if kind == "mlp" else None)
    assert model.NetConfig.from_dict(config.to_dict()) == config


def test_a_new_agz13_sees_each_points_move_at_its_point() -> None:
    layer = model.build(model.config("agz13"), seed=0).policy_linear
    assert layer.weight.abs().argmax(dim=1)[:169].tolist() == list(range(169))
    assert layer.weight.abs()[169:].max() < 0.1, "pass and resignation lie nowhere"


def test_agz13_plays_nothing_but_go_on_13x13() -> None:
    with pytest.raises(ValueError, match="plays Go on 13x13 only, not go on 9x9"):
        model.config("agz13", games.make("go", size=9))


def test_agz_is_as_large_as_its_name_says() -> None:
    config = model.config("agz9c32", games.make("go", size=9))
    assert (config.blocks, config.channels, config.board) == (10, 32, (9, 9))
    output = model.build(config, seed=0).eval()(*inputs(9)[:2])
    assert output.policy.shape[1] == 83 and config.has_scalar_value


def test_the_seed_decides_the_weights_and_nothing_else() -> None:
    config = model.config("b2c8")
    torch.manual_seed(5)
    before = torch.random.get_rng_state()
    one, two, other = (model.build(config, seed).state_dict() for seed in (1, 1, 2))
    assert torch.equal(before, torch.random.get_rng_state())
    assert all(torch.equal(one[name], two[name]) for name in one)
    assert not torch.equal(one["stem.conv.weight"], other["stem.conv.weight"])


UNTRAINED = [
    *((name, "go", 9, norm) for name in ("b2c16", "b10c64", "se4c64", "vgg2c64") for norm in blocks.NORMS),
    *(("agz13", "go", 13, norm) for norm in blocks.NORMS),
    *((name, game, None, "renorm") for name in ("mlp2x200", *course_nets.BODIES) for game in ("tictactoe", "connect4")),
    *((name, "breakthrough", 5, "renorm") for name in ("b2c16", "mlp2x200")),
]


@pytest.mark.parametrize(("name", "game", "size", "norm"), UNTRAINED)
def test_an_untrained_network_has_no_opinion(name: str, game: str, size: int | None, norm: str) -> None:
    """Self-play from nothing must begin near-uniform and undecided, also in positions with many stones."""
    board = games.make(game, size=size)
    config = model.config(name, board, norm=norm)
    shown = features.encode(board, random_states(board, 4), config.features)
    with torch.inference_mode():
        output = model.build(config, seed=3).eval()(*map(torch.from_numpy, shown))
    assert output.policy.shape == (4, board.actions)
    logits = output.policy.masked_fill(output.policy < -20, -torch.inf).log_softmax(1)  # what cannot be played
    evenly = -logits.isfinite().sum(1).float().log()
    assert torch.where(logits.isfinite(), (logits - evenly[:, None]).abs(), 0.0).max() < math.log(2)
    assert output.value.abs().max() < 0.2
    assert output.score is None or output.score.abs().max() < 10


@pytest.mark.parametrize(("name", "size"), [("b2c16", 5), ("b10c64", 9), ("agz13", 13)])
def test_folding_changes_no_answer(name: str, size: int) -> None:
    states = random_states(games.make("go", size=size), 8)
    net = trained_like(model.config(name), states)
    folded = inference.fold(net)
    assert not any(isinstance(module, nn.BatchNorm2d) for module in folded.modules())
    assert any(isinstance(module, nn.BatchNorm2d) for module in net.modules()), "the original keeps its batch norm"
    with torch.inference_mode():
        for plain, merged in zip(net(*inputs(size)), folded(*inputs(size)), strict=True):
            if plain is not None:
                assert plain.std() > 1e-3
                torch.testing.assert_close(plain, merged, rtol=0, atol=1e-3)


def renormed(batches: int) -> tuple[BatchRenorm, nn.BatchNorm2d, torch.Tensor]:
    """A layer after so many batches, plain batch norm with the same numbers, and features unlike the running
    statistics.
    """
    torch.manual_seed(1)
    layer, plain = BatchRenorm(8, momentum=blocks.NORM_MOMENTUM), nn.BatchNorm2d(8, momentum=blocks.NORM_MOMENTUM)
    for tensor in (layer.weight, layer.bias, layer.running_mean, layer.running_var):
        nn.init.uniform_(tensor, 0.5, 1.5)
    layer.num_batches_tracked.fill_(batches)
    plain.load_state_dict(layer.state_dict())
    return layer, plain, 1.5 * torch.randn(16, 8, 5, 5) + torch.linspace(-1, 2, 8)[:, None, None]


def test_training_normalises_as_play_does() -> None:
    layer, plain, features = renormed(blocks.OPENED_BATCHES)
    features.requires_grad_(True)
    played = plain.eval()(features).detach()  # by the running statistics
    learned = layer.train()(features)
    torch.testing.assert_close(learned, played, rtol=0, atol=1e-5)
    torch.randn(learned.shape, generator=torch.Generator().manual_seed(2)).mul(learned).sum().backward()
    assert features.grad is not None
    assert features.grad.sum((0, 2, 3)).abs().max() < 1e-3, (
        "the gradient knows that the batch's mean moves with the features"
    )
    plain.train()(features)
    assert torch.equal(layer.running_mean, plain.running_mean) and torch.equal(layer.running_var, plain.running_var)
    assert layer.num_batches_tracked == blocks.OPENED_BATCHES + 1


def test_renormalisation_is_plain_at_first_and_limited_later() -> None:
    layer, plain, features = renormed(blocks.PLAIN_BATCHES)
    torch.testing.assert_close(layer(features), plain(features), rtol=0, atol=1e-5)
    layer, plain, features = renormed(10 * blocks.OPENED_BATCHES)
    with torch.no_grad():
        # a hundred deviations away: the shift ends at its limit
        far = layer(features + 100) / layer.weight[:, None, None]
        near = plain(features + 100) / plain.weight[:, None, None]
    assert (far - near).amax() < blocks.MOST_SHIFT + blocks.MOST_SCALE * near.abs().max()


def test_folding_takes_a_network_in_training_mode() -> None:
    net = model.build(model.config("b2c8"), seed=0).train()
    folded = inference.fold(net)
    assert net.training and not folded.training
    assert not any(parameter.requires_grad for parameter in folded.parameters())


@pytest.mark.parametrize(
    ("name", "rate"), [("b2c16", 0.005), ("se2c16", 0.005), ("vgg2c16", 0.005), ("mlp2x32", 0.002)]
)
def test_it_learns(name: str, rate: float) -> None:
    """Forty steps on sixteen positions: policy, value, ownership, score and reply all approach arbitrary targets."""
    torch.manual_seed(0)
    net = model.build(model.config(name, games.make("go", size=5)), seed=0).train()
    planes, numbers = inputs(5, 16)
    rng = np.random.default_rng(0)
    move, result = torch.from_numpy(rng.integers(0, 27, 16)), torch.from_numpy(rng.integers(0, 3, 16))
    owner, score = (
        torch.from_numpy(rng.integers(0, 2, (16, 25))).float(),
        torch.from_numpy(rng.normal(0, 10, 16)).float(),
    )
    losses = []
    for _ in range(40):
        output = net(planes, numbers)
        parts = (
            nn.functional.cross_entropy(output.policy, move),
            nn.functional.cross_entropy(output.reply, move.flip(0)),
            nn.functional.cross_entropy(output.wdl, result),
            nn.functional.binary_cross_entropy_with_logits(output.ownership, owner),
            nn.functional.huber_loss(output.score / 20, score / 20),
        )
        losses.append([float(part.detach()) for part in parts])
        net.zero_grad()
        sum(parts, torch.zeros(())).backward()
        with torch.no_grad():
            for parameter in net.parameters():  # what Adam does without its memory; torch.optim takes seconds to import
                parameter -= rate * parameter.grad.sign()
    assert all(last < 0.8 * first for first, last in zip(losses[0], losses[-1], strict=True)), (losses[0], losses[-1])
    assert all(parameter.grad is not None and parameter.grad.abs().sum() > 0 for parameter in net.parameters())
