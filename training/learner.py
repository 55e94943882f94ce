"""The learner: AdamW on the losses of the recipe, with an exponential moving average (EMA) of the weights that plays and is shipped.

Vocabulary.
  step   one batch through the network and one update.
  loss   what a head is taught, before its weight; `LOSSES` lists them. A network without a head (agz13 has two) skips its loss.
  EMA    the average of the weights after each step; steadier than the weights themselves (Polyak averaging; KataGo uses SWA).

It knows no games and draws no rows: `training.replay` gives batches. The learning rate's factor is the loop's to decide.
"""

from __future__ import annotations

import copy
from typing import Any

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from gozero import nets
from gozero.nets import NetConfig, Output
from training.config import LearnerSettings
from training.replay import Batch

LOSSES = ("policy", "value", "ownership", "score", "reply")


def losses(output: Output, batch: Batch) -> dict[str, Tensor]:
    """The unweighted losses of a batch, by name of `LOSSES`; scalars. Targets are converted to tensors on the output's device."""
    target = {
        name: torch.from_numpy(getattr(batch, name)).to(output.policy.device) for name in ("policy", "reply", "value", "score", "owner")
    }
    known = None if batch.known is None else torch.from_numpy(batch.known).to(output.policy.device).float()
    found = {"policy": _cross_entropy(output.policy, target["policy"])}
    if output.wdl is not None:  # classes: win, draw, loss
        value = F.cross_entropy(output.wdl.float(), 1 - target["value"], reduction="none")
    else:
        value = F.mse_loss(output.value.float(), target["value"].float(), reduction="none")
    found["value"] = _mean(value, known, 0)
    if output.score is not None:
        score = F.huber_loss(output.score.float() / nets.SCORE_UNIT, target["score"] / nets.SCORE_UNIT, reduction="none")
        found["score"] = _mean(score, known, 1)
    if output.ownership is not None:
        owner = F.binary_cross_entropy_with_logits(output.ownership.float(), (target["owner"] + 1) / 2, reduction="none")
        found["ownership"] = _mean(owner.mean(1), known, 2)
    if output.reply is not None:
        found["reply"] = _cross_entropy(output.reply, target["reply"])
    return found


def _mean(losses: Tensor, known: Tensor | None, column: int) -> Tensor:
    """Mean of a loss [n] over the rows whose target is known (a column of known [n, 3]); 0 where there is none."""
    if known is None:
        return losses.mean()
    return (losses * known[:, column]).sum() / known[:, column].sum().clamp(min=1)


def _cross_entropy(logits: Tensor, target: Tensor) -> Tensor:
    """Mean over n of -Σ target log softmax; a row without a target (all zero) adds nothing."""
    return -(target * logits.float().log_softmax(1)).sum(1).mean()


@torch.inference_mode()
def measures(output: Output, batch: Batch) -> dict[str, float]:
    """What to watch beside the losses: top1 (rows whose best action is the target's), the policy's entropy in nats, the value's sign."""
    policy = output.policy.float()
    log = policy.log_softmax(1)
    decided = torch.from_numpy(batch.value) != 0
    right = (output.value.float().sign() == torch.from_numpy(batch.value).sign())[decided]
    return {
        "top1": float((policy.argmax(1) == torch.from_numpy(batch.policy).argmax(1)).float().mean()),
        "entropy": float(-(log.exp() * log).sum(1).mean()),
        "value_sign": float(right.float().mean()) if len(right) else 0.0,
    }


class Learner:
    """The network being trained, its average and its optimiser."""

    def __init__(self, config: NetConfig, settings: LearnerSettings, seed: int) -> None:
        self.config, self.settings = config, settings
        self.net = nets.build(config, seed)
        self.net.to(memory_format=torch.channels_last)  # type: ignore[call-overload]  # torch's stub lacks it
        self.ema = copy.deepcopy(self.net).eval().requires_grad_(False)
        self.optimiser = torch.optim.AdamW(_groups(self.net, settings.weight_decay), lr=settings.learning_rate)
        self.steps = 0
        self._weights = {name: getattr(settings, f"{name}_weight") for name in LOSSES}

    def train(self, batch: Batch, rate: float = 1.0) -> dict[str, Tensor]:
        """One step at `rate` times the learning rate (after its warm-up). Returns the losses and "total", as tensors: no waiting."""
        self.net.train()
        found = losses(self._forward(self.net, batch), batch)
        total = torch.stack([self._weights[name] * loss for name, loss in found.items()]).sum()
        self.optimiser.zero_grad(set_to_none=True)
        total.backward()
        nn.utils.clip_grad_norm_(self.net.parameters(), self.settings.clip)
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.learning_rate * rate * min(1.0, (self.steps + 1) / max(1, self.settings.warm_up))
        self.optimiser.step()
        self.steps += 1
        self._average()
        return {name: loss.detach() for name, loss in {**found, "total": total}.items()}

    @torch.inference_mode()
    def evaluate(self, batch: Batch) -> dict[str, float]:
        """Losses and measures of the EMA network on a batch, in evaluation mode; nothing changes."""
        output = self._forward(self.ema, batch)
        return {**{name: float(loss) for name, loss in losses(output, batch).items()}, **measures(output, batch)}

    def _forward(self, net: nn.Module, batch: Batch) -> Output:
        planes = torch.from_numpy(batch.planes).to(memory_format=torch.channels_last)
        with torch.autocast("cpu", torch.bfloat16, enabled=self.settings.precision == "bf16"):
            return net(planes, torch.from_numpy(batch.globals))

    @torch.no_grad()
    def _average(self) -> None:
        """Move the EMA, running statistics of the batch norms included; its warm-up keeps the untrained start out of it."""
        decay = min(self.settings.ema, (1 + self.steps) / (10 + self.steps))
        for average, current in zip(self.ema.state_dict().values(), self.net.state_dict().values(), strict=True):
            if average.is_floating_point():
                average.lerp_(current, 1 - decay)
            else:
                average.copy_(current)

    def state_dict(self) -> dict[str, Any]:
        """Everything a checkpoint needs."""
        return {"net": self.net.state_dict(), "ema": self.ema.state_dict(), "optimiser": self.optimiser.state_dict(), "steps": self.steps}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`. A state without the optimiser (weights/resume) starts that one anew."""
        self.net.load_state_dict(state["net"])
        self.ema.load_state_dict(state["ema"])
        if "optimiser" in state:
            self.optimiser.load_state_dict(state["optimiser"])
        self.steps = state["steps"]


def _groups(net: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Parameters that decay (weights of layers) and those that do not (biases, batch norms)."""
    parameters = list(net.parameters())
    return [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": weight_decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": 0.0},
    ]
