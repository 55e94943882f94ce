"""Growing a network: the outputs stay, the gradients come, and what cannot grow is refused with advice."""

from dataclasses import replace

import pytest
import torch

from gozero import games
from gozero.nets import growth, model
from gozero.nets.model import NetOutput
from gozero.system.errors import ChoiceError
from tests.trained import lively
from tests.training.refusals import one_line

GROWTHS = [("b4c16", "b4c24"), ("b4c16", "b7c16"), ("b3c8", "b5c40"), ("b2c40", "b2c64"), ("b3c16", "b3c16")]


def example(size: int) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(size)
    planes = (torch.rand(4, 11, size, size, generator=generator) > 0.6).float()
    return planes, torch.randn(4, 7, generator=generator)


@pytest.mark.parametrize(("small", "large"), GROWTHS)
@pytest.mark.parametrize("size", [5, 9])
def test_a_grown_network_says_the_same(small: str, large: str, size: int) -> None:
    before = lively(model.config(small))
    after = growth.grow(before.state_dict(), model.config(small), model.config(large), seed=3).eval()
    with torch.inference_mode():
        for name, one, other in zip(NetOutput._fields, before(*example(size)), after(*example(size)), strict=True):
            assert torch.allclose(one, other, rtol=0, atol=1e-4), name


@pytest.mark.parametrize("name", ["b4c16", "b5c24"])
@pytest.mark.parametrize(("version", "more"), [(1, 2), (1, 3), (2, 3)])
def test_a_network_that_is_given_tactics_says_the_same_at_first(name: str, version: int, more: int) -> None:
    small, large = model.config("b4c16", features=version), model.config(name, features=more)
    before = lively(small)
    after = growth.grow(before.state_dict(), small, large, seed=3).eval()
    planes, numbers = example(7)
    tactics = torch.ones(4, large.tactics, 7, 7, requires_grad=True)
    found = after(planes, numbers, tactics)
    known = (tactics[:, : small.tactics],) if small.tactics else ()
    for one, other in zip(before(planes, numbers, *known), found, strict=True):
        assert torch.allclose(one, other, rtol=0, atol=1e-4)
    found.value.sum().backward()
    assert after.stem.conv.weight.grad[:, small.planes + small.tactics :].abs().amax() > 0, (
        "it cannot learn to use them"
    )


@pytest.mark.parametrize("name", ["b2c16", "se2c16", "vgg2c16"])
def test_a_network_goes_on_with_another_limit_of_the_sizes_that_it_is_told(name: str) -> None:
    free = model.config(name)
    limited = replace(free, size_limit=9)
    before = lively(free)
    after = growth.grow(before.state_dict(), free, limited, seed=3).eval()
    assert after.config == limited
    planes, numbers = before.example(4, (9, 9))
    numbers[:, model.SIZE_INPUT] = (9 - 13) / 6
    with torch.inference_mode():
        for one, other in zip(before(planes, numbers), after(planes, numbers), strict=True):
            assert torch.equal(one, other)


def test_gradients_reach_the_new_channels_and_blocks() -> None:
    small, large = model.config("b4c16"), model.config("b5c24")
    net = growth.grow(lively(small).state_dict(), small, large, seed=3).train()
    optimiser = torch.optim.SGD(net.parameters(), lr=1e-3)
    # the first step moves what listens to the new channels, the second the channels, the third all of the new block
    for _ in range(3):
        optimiser.zero_grad()
        output = net(*example(5))
        (output.value.square().mean() + output.policy.square().mean() + output.ownership.square().mean()).backward()
        optimiser.step()
    for name, parameter in net.named_parameters():
        if name.endswith("conv.weight") and name.startswith("blocks"):
            learned = parameter.grad.abs()
            assert (
                learned[:, small.channels :].amax() if learned.shape[1] == large.channels else learned.amax()
            ) > 0, name
            assert learned[small.channels :].amax() > 0, f"{name} does not learn its new outputs"


def test_the_seed_decides_the_new_channels() -> None:
    small, large = model.config("b2c8"), model.config("b2c16")
    tensors = lively(small).state_dict()
    one, same, other = (growth.grow(tensors, small, large, seed).state_dict()["stem.conv.weight"] for seed in (1, 1, 2))
    assert torch.equal(one, same)
    assert not torch.equal(one, other)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ("b4c16", "b3c16", "cannot become b3c16 with input features 1, which has fewer blocks"),
        ("b4c16", "b4c8", "fewer channels"),
        ("b4c16+", "b4c16", "b4c16 with input features 2 cannot become b4c16 with input features 1"),
        ("se4c16", "se4c16+", "b<blocks>c<channels> alone grows"),
        ("se4c16", "se4c24", "b<blocks>c<channels> alone grows"),
        ("agz13", "b10c256", "train a new network from its records"),
        ("b10c256", "agz13", "train a new network from its records"),
    ],
)
def test_what_cannot_grow_is_one_clear_line(old: str, new: str, words: str) -> None:
    before, after = (model.config(name.rstrip("+"), features=2 if name.endswith("+") else 1) for name in (old, new))
    with one_line(ChoiceError, words):
        growth.grow({}, before, after, seed=1)
    with pytest.raises(ChoiceError):
        growth.check(model.config("b4c16"), model.config("b4c16", games.make("othello")))
