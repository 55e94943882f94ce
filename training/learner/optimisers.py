"""The optimisers that a run may choose (`LearnerSettings.optimiser`): PyTorch's, and Muon."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

from training.settings.config import LearnerSettings

# Of Muon. The polynomial x → ax + bx³ + cx⁵ draws all singular values in (0, 1] towards 1; its slope at zero is steep,
# so five rounds suffice to bring them near 1, and nearer does no good.
COEFFICIENTS, ROUNDS = (3.4445, -4.7750, 2.0315), 5
MOMENTUM = 0.95
LEAST_SIDE = 8  # rows and columns of a matrix that Muon takes; smaller ones are left to AdamW


class Muon(torch.optim.AdamW):
    """Muon for the filters and matrices of a network, AdamW for all else.

    A filter is a matrix of one row an output. Its step is the momentum (Nesterov's) with all singular values made about
    1, so that rare directions of the gradient count as much as frequent ones. The step's root mean square is `scale` of
    the learning rate; where AdamW's is depends on the gradients, 0.2 to 0.4 of it as a rule.

    Source: K. Jordan et al., "Muon: An optimizer for hidden layers in neural networks" (2024); the scale of a step
    after J. Liu et al., "Muon is Scalable for LLM Training" (2025). `torch.optim.Muon` is the same for matrices, and
    refuses filters.
    """

    def __init__(self, groups: list[dict[str, Any]], *, scale: float, dtype: torch.dtype, **settings: Any) -> None:
        """`groups`: those with `orthogonal` true are Muon's; `dtype`: in which steps are made orthogonal; `settings`:
        of AdamW.
        """
        super().__init__(groups, **settings)
        self._scale, self._dtype = scale, dtype

    @torch.no_grad()
    def step(self, closure: Callable[[], Any] | None = None) -> Any:
        """One update; the gradients of Muon's parameters are gone afterwards, as AdamW must not see them."""
        for group in self.param_groups:
            if group.get("orthogonal", False):
                self._step_orthogonally(group)
        return super().step(closure)

    def _step_orthogonally(self, group: dict[str, Any]) -> None:
        alike: dict[torch.Size, list[tuple[nn.Parameter, Tensor]]] = defaultdict(list)
        for parameter in group["params"]:
            if parameter.grad is not None:
                found = self._momentum(parameter)
                alike[found.shape].append((parameter, found))
                parameter.grad = None
        for (rows, columns), entries in alike.items():
            parameters, moments = zip(*entries, strict=True)
            steps = orthogonal(torch.stack(moments).to(self._dtype)).float()
            length = group["lr"] * self._scale * max(rows, columns) ** 0.5
            torch._foreach_mul_(parameters, 1 - group["lr"] * group["weight_decay"])
            for parameter, step in zip(parameters, steps, strict=True):
                parameter.sub_(step.view(parameter.shape), alpha=length)

    def _momentum(self, parameter: nn.Parameter) -> Tensor:
        """Nesterov's momentum after the parameter's gradient, as a matrix."""
        state, gradient = self.state[parameter], parameter.grad
        assert gradient is not None
        if not state:
            # AdamW looks for a count of steps in every state that it loads
            state.update(step=torch.zeros(()), momentum=torch.zeros_like(gradient))
        state["step"] += 1
        state["momentum"].lerp_(gradient, 1 - MOMENTUM)
        return gradient.lerp(state["momentum"], MOMENTUM).flatten(1)


def orthogonal(matrices: Tensor) -> Tensor:
    """The matrices [n, r, c] with singular values of about 1 in place of their own (Newton and Schulz's iteration)."""
    if matrices.shape[1] > matrices.shape[2]:
        return orthogonal(matrices.mT).mT
    a, b, c = COEFFICIENTS
    found = matrices / matrices.norm(dim=(1, 2), keepdim=True).clamp(min=1e-7)
    for _ in range(ROUNDS):
        gram = found @ found.mT
        found = torch.baddbmm(found, torch.baddbmm(gram, gram, gram, beta=b, alpha=c), found, beta=a)
    return found


def _is_matrix(parameter: Tensor) -> bool:
    """Whether Muon takes it: filters and matrices, but those of a few outputs or inputs."""
    return parameter.dim() > 1 and min(len(parameter), parameter[0].numel()) >= LEAST_SIDE


def optimiser(net: nn.Module, settings: LearnerSettings, precision: str) -> torch.optim.Optimizer:
    """The optimiser of the network; weights of layers decay, and biases and batch norms where the settings say so.

    `precision`: f32 or bf16, the learner's.
    """
    parameters, decay = list(net.parameters()), settings.weight_decay
    layers = [p for p in parameters if p.dim() > 1]
    vectors: dict[str, Any] = {
        "params": [p for p in parameters if p.dim() <= 1],
        "weight_decay": decay if settings.decay_all else 0.0,
    }
    groups = [{"params": layers, "weight_decay": decay}, vectors]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=settings.learning_rate, momentum=settings.momentum)
    rate, fused = settings.learning_rate, parameters[0].is_cuda
    if settings.optimiser == "muon":
        matrices = {"params": [p for p in layers if _is_matrix(p)], "weight_decay": decay, "orthogonal": True}
        small = {"params": [p for p in layers if not _is_matrix(p)], "weight_decay": decay}
        dtype = torch.bfloat16 if precision == "bf16" else torch.float32
        return Muon([matrices, small, vectors], scale=settings.muon_scale, dtype=dtype, lr=rate, fused=fused)
    kind = torch.optim.Adam if settings.optimiser == "adam" else torch.optim.AdamW
    return kind(groups, lr=rate, fused=fused)
