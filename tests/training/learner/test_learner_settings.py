"""The learner's settings: each does what its line says, and what it replaces stays as it was."""

import copy
from typing import Any

import pytest
import torch
from torch import nn

from gozero import games
from gozero.nets import growth, model
from gozero.nets.blocks import BatchRenorm
from tests.training.learner.test_learner import TINY, fixed_batch
from training.learner.learner import LOSSES, Learner, network_config, resolved
from training.records import scoring
from training.settings import config, presets
from training.settings.config import LearnerSettings, LoopSettings

STAGE = {"stage": [{"rows": 1, "sizes": {"5": 1}}]}


def learner(**changes: Any) -> Learner:
    return Learner(TINY, LearnerSettings(**{"warm_up": 0, "precision": "f32", **changes}), seed=1)


def test_adam_adds_l2_to_the_gradient_of_all_parameters() -> None:
    """One step of the run's learner is one of torch's Adam with `weight_decay` on every parameter."""
    ours = learner(optimiser="adam", learning_rate=1e-2, weight_decay=0.1, decay_all=True, clip=0.0)
    ours.train(fixed_batch())  # all gradients and moments exist now
    theirs = copy.deepcopy(ours.net)
    adam = torch.optim.Adam(theirs.parameters(), lr=1e-2, weight_decay=0.1)
    places = {id(weight): index for index, weight in enumerate(ours.net.parameters())}
    inner = list(theirs.parameters())
    for weight, state in ours.optimiser.state.items():
        adam.state[inner[places[id(weight)]]] = copy.deepcopy(state)
    ours.train(fixed_batch())
    for mine, other in zip(ours.net.parameters(), inner, strict=True):
        assert mine.grad is not None
        other.grad = mine.grad.clone()
    adam.step()
    for mine, other in zip(ours.net.parameters(), inner, strict=True):
        torch.testing.assert_close(mine, other)


@pytest.mark.parametrize("optimiser", ["adamw", "adam", "sgd"])
def test_biases_and_norms_decay_where_asked(optimiser: str) -> None:
    def decays(decay_all: bool) -> list[float]:
        found = learner(optimiser=optimiser, weight_decay=0.1, decay_all=decay_all)
        return [group["weight_decay"] for group in found.optimiser.param_groups]

    assert decays(False) == [0.1, 0.0]
    assert decays(True) == [0.1, 0.1]


def test_the_step_size_changes_at_its_steps() -> None:
    found = learner(learning_rate=1e-3, rates={1: 1e-2, 3: 1e-4}, optimiser="sgd")
    used = []
    for _ in range(4):
        found.train(fixed_batch(), rate=0.5)
        used.append(found.optimiser.param_groups[0]["lr"])
    assert used == pytest.approx([5e-4, 5e-3, 5e-3, 5e-5])


def test_the_step_size_has_fallen_below_its_highest() -> None:
    constant = LearnerSettings(learning_rate=1e-3)
    assert [constant.has_fallen(5, rate) for rate in (1.0, 0.99)] == [False, True]
    stairs = LearnerSettings(learning_rate=1e-3, rates={10: 2e-3, 20: 1e-3})
    assert [stairs.has_fallen(steps, 1.0) for steps in (9, 10, 19, 20)] == [False, False, False, True]
    begun = LearnerSettings(learning_rate=1e-2, rates={0: 1e-3, 20: 1e-3})  # learning_rate itself never held
    assert [begun.has_fallen(steps, 1.0) for steps in (0, 20)] == [False, False]


def test_step_sizes_come_back_from_the_saved_settings() -> None:
    settings = config.from_values(LoopSettings, STAGE | {"learner": {"rates": {"200": 1e-4, "0": 1e-2}}}, "test")
    assert settings.learner.rates == {0: 1e-2, 200: 1e-4}
    assert config.from_values(LoopSettings, settings.to_dict(), "again") == settings
    assert LearnerSettings().rates is not LearnerSettings().rates, "a table of its own for each"


def test_the_total_is_of_the_losses_by_their_weights() -> None:
    weights = {name: 2.0 + place for place, name in enumerate(LOSSES)}
    found = learner(**{f"{name}_weight": weight for name, weight in weights.items()}).train(fixed_batch())
    assert float(found["total"]) == pytest.approx(sum(float(found[name]) * weights[name] for name in LOSSES), rel=1e-5)


def test_without_an_average_the_last_step_plays() -> None:
    found = learner(ema=0.0, learning_rate=1e-2)
    for _ in range(3):
        found.train(fixed_batch())
    for average, current in zip(found.ema.state_dict().values(), found.net.state_dict().values(), strict=True):
        assert torch.equal(average, current)


def test_a_gradient_is_cut_only_where_asked() -> None:
    free, cut = learner(clip=0.0, value_weight=100.0), learner(clip=1e-3, value_weight=100.0)
    norms = [float(found.train(fixed_batch())["gradient"]) for found in (free, cut)]
    assert norms[0] == pytest.approx(norms[1]) and norms[0] > 1
    left = [float(nn.utils.get_total_norm(p.grad for p in found.net.parameters())) for found in (free, cut)]
    assert left[0] == pytest.approx(norms[0], rel=1e-4)
    assert left[1] == pytest.approx(1e-3, rel=1e-2)


@pytest.mark.parametrize("network", ["b2c8", "se2c8", "vgg2c8k2", "mlp2x16"])
def test_one_number_is_taught_by_its_squared_error(network: str) -> None:
    game = games.make("go", size=5)
    found = Learner(model.config(network, game, value="scalar"), LearnerSettings(precision="f32", warm_up=0), seed=1)
    batch = fixed_batch()
    output = found.net(*(torch.from_numpy(array) for array in batch.inputs))
    assert output.wdl is None and output.value.abs().max() <= 1
    square = (output.value - torch.from_numpy(batch.value)).square().mean()
    assert float(found.train(batch)["value"]) == pytest.approx(square.item(), rel=1e-4)


def test_a_run_s_network_has_the_norm_and_the_value_that_its_settings_name() -> None:
    values = STAGE | {"network": "b1c8", "norm": "none", "value_head": "scalar"}
    found = Learner.of(config.from_values(LoopSettings, values, "test"))
    assert (found.config.norm, found.config.value) == ("none", "scalar")
    assert not any(isinstance(module, nn.BatchNorm2d) for module in found.net.modules())


@pytest.mark.parametrize(
    ("preset", "overrides", "norm", "value"),
    [
        ("s3", (), "batch", "scalar"), ("s0", (), "none", "scalar"), ("s0", ("network=s0senet",), "batch", "scalar"),
        ("ttt", ("network=mlp2x8",), "none", "wdl"), ("ttt", (), "renorm", "wdl"), ("s4", (), "batch", "scalar"),
    ],
)  # fmt: skip
def test_resolved_settings_name_the_parts_that_the_network_has(
    preset: str, overrides: tuple[str, ...], norm: str, value: str
) -> None:
    found = resolved(presets.load(presets.path_of(preset), preset, overrides))
    assert (found.norm, found.value_head) == (norm, value)
    with torch.device("meta"):
        net = model.build(network_config(found))
        output = net.eval()(*net.example(1, scoring.last_game(found).shape))
    assert (output.wdl is None) == (value == "scalar")
    growth.check(network_config(presets.load(presets.path_of(preset), preset, overrides)), network_config(found))
    kinds = {type(module) for module in net.modules() if isinstance(module, nn.BatchNorm2d)}
    assert kinds == {"batch": {nn.BatchNorm2d}, "renorm": {BatchRenorm}, "none": set()}[norm]
