"""Muon: its steps are those of torch.optim.Muon, which takes matrices only, and AdamW's for all else."""


import pytest
import torch
from torch import nn

from tests.training.learner.test_learner_settings import learner
from training.learner.optimisers import optimiser, orthogonal
from training.settings.config import LearnerSettings

RATE, SCALE = 1e-2, 1.6


@pytest.mark.parametrize("shape", [(8, 64), (24, 9), (16, 16)])
def test_steps_are_made_orthogonal(shape: tuple[int, int]) -> None:
    torch.manual_seed(1)
    matrices = torch.randn(5, *shape) * torch.tensor([1e-6, 1e-2, 1, 1e3, 1e6])[:, None, None]
    found = torch.linalg.svdvals(orthogonal(matrices))
    assert float(found.min()) > 0.3 and float(found.max()) < 1.3
    left, _, right = torch.linalg.svd(matrices, full_matrices=False)
    turned = left.mT @ orthogonal(matrices) @ right.mT  # the singular vectors stay: a diagonal of singular values
    assert float((turned - torch.diag_embed(turned.diagonal(dim1=1, dim2=2))).abs().max()) < 1e-3


def test_a_gradient_of_zero_moves_nothing() -> None:
    assert not orthogonal(torch.zeros(1, 8, 16)).any()


def test_filters_take_the_steps_of_torchs_muon() -> None:
    """Layers wider than high and, the last, higher than wide; torch's Muon has them as matrices."""
    torch.manual_seed(2)
    net = nn.ModuleList([nn.Conv2d(16, 12, 3, bias=False), nn.Linear(24, 10, bias=False), nn.Conv2d(1, 12, 3)])
    net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it
    before = [parameter.detach().clone() for parameter in net.parameters()]
    matrices = [parameter.flatten(1).clone() for parameter in before if parameter.dim() > 1]
    theirs = torch.optim.Muon(
        matrices, lr=RATE * SCALE / 0.2, weight_decay=0.1 * 0.2 / SCALE, adjust_lr_fn="match_rms_adamw"
    )
    settings = LearnerSettings(optimiser="muon", learning_rate=RATE, muon_scale=SCALE, weight_decay=0.1)
    ours = optimiser(net, settings, "bf16")
    for _ in range(3):
        for parameter in net.parameters():
            parameter.grad = torch.randn_like(parameter)
        for matrix, layer in zip(matrices, net, strict=True):
            assert layer.weight.grad is not None
            matrix.grad = layer.weight.grad.flatten(1).clone()
        ours.step()
        theirs.step()
    for layer, matrix, old in zip(net, matrices, before[:3], strict=True):
        moved = (layer.weight.detach() - old).flatten(1)
        expected = matrix - old.flatten(1)
        # bf16 has eight bits, and the columns are summed in another order
        assert float((moved - expected).norm() / expected.norm()) < 0.02


def test_biases_and_small_layers_take_adamws_steps() -> None:
    ours, adam = (learner(optimiser=name) for name in ("muon", "adamw"))
    for _ in range(2):
        for one in (ours, adam):
            for weight in one.net.parameters():
                weight.grad = torch.sin(torch.arange(weight.numel()).float()).reshape(weight.shape)
            one.optimiser.step()
    matrices = {id(weight) for weight in ours.optimiser.param_groups[0]["params"]}
    same = [
        (id(mine) in matrices, torch.equal(mine, other))
        for mine, other in zip(ours.net.parameters(), adam.net.parameters(), strict=True)
    ]
    assert {(True, False), (False, True)} == set(same)
