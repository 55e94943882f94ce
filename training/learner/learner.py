"""The learner: an optimiser on the losses of the recipe, with an exponential moving average (EMA) of the weights that
plays and is released (Polyak averaging; KataGo uses SWA).

`LOSSES` lists the losses; a network without a head (agz13 has two) skips its loss. A loss that is not a number is
an error before anything is changed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterable
from dataclasses import replace
from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils import clip_grad_norm_, get_total_norm

from gozero.nets import model
from gozero.nets.blocks import SCORE_UNIT, fix_norms
from gozero.nets.inference import number_type
from gozero.nets.model import NetConfig, NetOutput
from gozero.system.options import SettingsError
from training.records import scoring
from training.records.rows import Batch
from training.settings.config import LearnerSettings, LoopSettings
from training.settings.learning import LOSSES

EVALUATED = 128  # rows of a forward pass without a backward one
LEAST_SHARE = 1e-6  # of a whole batch: below it no row counts
BINS = 10  # of the predicted value, -1..1, in which calibration is measured


class DivergedError(ArithmeticError):
    """A loss or a gradient is not finite; one line for the user. The weights are those before the step."""


def losses(output: NetOutput, batch: Batch, root_share: float = 0.0) -> dict[str, Tensor]:
    """The unweighted losses of a network's output for a batch, by name of `LOSSES`; scalars on the output's device.

    `root_share` is the share of the root's value in the value's target, where it is known; the rest is the game's
    result. Value, score and ownership are means over the rows by their rarity (see rows.py), where the batch has one.
    """
    device = output.policy.device
    target = {name: _tensor(getattr(batch, name), device) for name in ("policy", "reply", "value", "score", "owner")}
    shares = _shares(batch, device)
    root = None if batch.root is None or root_share == 0 else _tensor(batch.root, device)
    terms = {
        "policy": F.cross_entropy(output.policy.float(), target["policy"]),
        "value": _mean(_value_loss(output, target["value"], root, root_share), shares, 0),
    }
    if output.score is not None:
        score = F.huber_loss(output.score.float() / SCORE_UNIT, target["score"] / SCORE_UNIT, reduction="none")
        terms["score"] = _mean(score, shares, 1)
    if output.ownership is not None:
        owner = F.binary_cross_entropy_with_logits(
            output.ownership.float(), (target["owner"] + 1) / 2, reduction="none"
        )
        terms["ownership"] = _mean(owner.mean(1), shares, 2)
    if output.reply is not None:
        terms["reply"] = F.cross_entropy(output.reply.float(), target["reply"])  # a row without one adds nothing
    return terms


def _part(array: np.ndarray, start: int) -> np.ndarray:
    """The `EVALUATED` rows from `start` on, zeros where there are fewer: oneDNN keeps the code it makes for every new
    shape, so a growing number of held-out rows would cost some MB a generation.
    """
    rows = array[start : start + EVALUATED]
    return np.pad(rows, ((0, EVALUATED - len(rows)), *((0, 0) for _ in array.shape[1:])))


def _tensor(array: np.ndarray | Tensor, device: torch.device) -> Tensor:
    """The array, or what is a tensor there already, on the device; to a GPU without waiting for the copy."""
    if isinstance(array, Tensor):
        return array
    tensor = torch.from_numpy(array)
    return tensor.pin_memory().to(device, non_blocking=True) if device.type == "cuda" else tensor


def _value_loss(output: NetOutput, result: Tensor, root: Tensor | None, share: float) -> Tensor:
    """Loss of each row [n]: cross-entropy of win, draw and loss, or the squared error of a network with a scalar value.

    result int64 [n] is +1, 0 or -1. root float32 [n], NaN where unknown, makes up `share` of the target. There a value
    v means a win with probability (1 + v) / 2 and a loss otherwise; in a drawn game, a win (v > 0) or a loss with
    probability |v| and a draw otherwise.
    """
    share_of = torch.zeros(len(result), device=result.device) if root is None else share * root.isfinite().float()
    value = torch.zeros_like(share_of) if root is None else root.nan_to_num()
    if output.wdl is None:
        return F.mse_loss(output.value.float(), result + share_of * (value - result), reduction="none")
    drawn = (result == 0).float()
    draw = drawn * (1 - value.abs())
    searched = torch.stack([(1 - draw + value) / 2, draw, (1 - draw - value) / 2], 1)
    target = torch.lerp(F.one_hot(1 - result, 3).float(), searched, share_of[:, None])
    return F.cross_entropy(output.wdl.float(), target, reduction="none")


def _shares(batch: Batch, device: torch.device) -> Tensor | None:
    """float32 [n, 3]: what each row counts in the mean losses of value, score and ownership; None: all alike."""
    known = None if batch.known is None else _tensor(batch.known, device).float()
    if batch.rarity is None:
        return known
    rarity = _tensor(batch.rarity, device)[:, None].expand(-1, 3)
    return rarity if known is None else known * rarity


def _mean(losses: Tensor, shares: Tensor | None, column: int) -> Tensor:
    """Mean of a loss [n] over the rows by their shares (a column of shares [n, 3]); 0 where all have none."""
    if shares is None:
        return losses.mean()
    return (losses * shares[:, column]).sum() / shares[:, column].sum().clamp(min=LEAST_SHARE)


@torch.inference_mode()
def measures(output: NetOutput, batch: Batch) -> dict[str, float]:
    """The measures beside the losses.

    Returns:
        top1: share of rows whose best action is the target's.
        entropy: of the policy, nats.
        value_sign: share of decided rows whose value has the result's sign.
        bias: mean predicted value less mean result, -2..2; over whole games each side is to move equally often, so the
            mean result is near 0.
        calibration: mean distance of the predicted value from the mean result of the rows with such a value (`BINS`
        bins), 0..2.
        value_spread: standard deviation of the value's loss over the rows.
    """
    policy, value = output.policy.float().cpu(), output.value.float().cpu().numpy()
    log = policy.log_softmax(1)
    right = (np.sign(value) == np.sign(batch.value))[batch.value != 0]
    results = _tensor(batch.value, output.value.device)
    return {
        "top1": float((policy.argmax(1).numpy() == batch.policy.argmax(1)).mean()),
        "entropy": float(-(log.exp() * log).sum(1).mean()),
        "value_sign": float(right.mean()) if len(right) else 0.0,
        "bias": float((value - batch.value).mean()),
        "calibration": _calibration(value, batch.value),
        "value_spread": float(_value_loss(output, results, None, 0.0).std(correction=0)),
    }


def _calibration(predicted: np.ndarray, results: np.ndarray) -> float:
    """Expected calibration error (Guo et al. 2017) of values float [n] against results int [n]."""
    place = np.clip(((predicted + 1) / 2 * BINS).astype(int), 0, BINS - 1)
    gaps = np.bincount(place, weights=predicted - results, minlength=BINS)
    return float(np.abs(gaps).sum() / len(predicted))


def network_config(settings: LoopSettings) -> NetConfig:
    """The configuration of a run's network. ChoiceError if there is none of that name, or it cannot play the game.

    Its size limit is the largest board of which it is to see many games: of larger ones it sees few, or none.
    """
    game, parts = scoring.last_game(settings), {"norm": settings.norm, "value": settings.value_head}
    config = model.config(settings.network, game, settings.features, **parts)
    return config if config.size else replace(config, size_limit=settings.stage[-1].learned_size)


def resolved(settings: LoopSettings) -> LoopSettings:
    """The settings with the norm and the value head that the run's network is built with, whatever was asked for."""
    norm, value = network_config(settings).parts
    return replace(settings, norm=norm, value_head=value)


class Learner:
    """The network being trained, its average and its optimiser."""

    def __init__(self, config: NetConfig, settings: LearnerSettings, seed: int, device: str = "cpu") -> None:
        """`device`: cpu or cuda. SettingsError for batches of which a batch norm has no statistics."""
        if settings.batch == 1 and config.parts[0] == "batch":
            raise SettingsError(f"learner.batch = 1: the batch norms of {config.name} need 2 rows or more")
        self.config, self.settings, self.device = config, settings, torch.device(device)
        self.precision = number_type(settings.precision, self.device)  # f32 or bf16; with "auto" what is faster here
        self.net = model.build(config, seed)
        self.net.to(self.device, memory_format=torch.channels_last)  # type: ignore[call-overload]
        self.ema = copy.deepcopy(self.net).eval().requires_grad_(False)
        self.optimiser = _optimiser(self.net, settings)
        self.steps = 0
        self._began = 0  # steps when the optimiser was new
        self._weights = {name: getattr(settings, f"{name}_weight") for name in LOSSES}

    @classmethod
    def of(cls, settings: LoopSettings, device: str = "cpu") -> Learner:
        """The learner of a run at its beginning."""
        return cls(network_config(settings), settings.learner, settings.seed, device)

    def train(self, batch: Batch, rate: float = 1.0) -> dict[str, Tensor]:
        """One step at `rate` times the learning rate (after its warm-up) on a batch.

        Returns:
            The losses by name, and "total" as it is minimised; "gradient", its norm before clipping; "update", how far
            the weights went as a share of their length. Scalars on the device.

        Raises:
            DivergedError: a loss or the gradient is not finite. The learner is as it was.
        """
        self.net.train()
        if self.settings.fixed_norms and self.settings.has_fallen(self.steps, rate):
            fix_norms(self.net)
        # the statistics of batch norms, which a forward pass changes
        statistics = [buffer.clone() for buffer in self.net.buffers()]
        try:
            terms = self._backward(batch)
        except DivergedError:
            for buffer, before in zip(self.net.buffers(), statistics, strict=True):
                buffer.copy_(before)
            raise
        terms["update"] = self._update(rate)
        self._average()
        return terms

    def _backward(self, batch: Batch) -> dict[str, Tensor]:
        """Put the clipped gradients into the parameters. Returns the losses, their "total" and the norm "gradient"."""
        terms = losses(self._forward(self.net, batch.inputs), batch, self.settings.root_value_share)
        terms["total"] = torch.stack([self._weights[name] * loss for name, loss in terms.items()]).sum()
        self.optimiser.zero_grad(set_to_none=True)
        terms["total"].backward()
        terms["gradient"] = clip_grad_norm_(self.net.parameters(), self.settings.clip or float("inf"))
        numbers = torch.stack([number.detach() for number in terms.values()])
        self._check(list(terms), numbers)
        return dict(zip(terms, numbers, strict=True))

    def _check(self, names: list[str], numbers: Tensor) -> None:
        """DivergedError for the first number that is not finite. A GPU is waited for here, nowhere else in a step."""
        for name, number in zip(names, numbers.tolist(), strict=True):
            if not np.isfinite(number):
                what = "gradient's norm" if name == "gradient" else f"{name} loss"
                raise DivergedError(
                    f"the {what} became {number} at step {self.steps + 1}; no file was overwritten: continue from the "
                    f"last checkpoint with a smaller learning_rate (it is {self.settings.step_size(self.steps):g}) or "
                    'precision = "f32"'
                )

    @torch.no_grad()
    def _update(self, rate: float) -> Tensor:
        """Move the weights along their gradients. Returns how far, as a share of their length."""
        warmth = min(1.0, (self.steps - self._began + 1) / max(1, self.settings.warm_up))
        for group in self.optimiser.param_groups:
            group["lr"] = self.settings.step_size(self.steps) * rate * warmth
        weights: list[Tensor] = list(self.net.parameters())
        before = [weight.clone() for weight in weights]
        self.optimiser.step()
        self.steps += 1
        return get_total_norm(torch._foreach_sub(weights, before)) / get_total_norm(before)

    @torch.inference_mode()
    def evaluate(self, batch: Batch) -> dict[str, float]:
        """Losses and measures of the EMA network on a batch, in evaluation mode; the value's target is the result
        alone.
        """
        rows = len(batch.value)
        chunks = ([_part(array, start) for array in batch.inputs] for start in range(0, rows, EVALUATED))
        parts = [self._forward(self.ema, chunk) for chunk in chunks]
        output = NetOutput._make(
            None if column[0] is None else torch.cat(column)[:rows] for column in zip(*parts, strict=True)
        )
        return {**{name: float(loss) for name, loss in losses(output, batch).items()}, **measures(output, batch)}

    def _forward(self, net: nn.Module, arrays: Iterable[np.ndarray]) -> NetOutput:
        inputs = (_tensor(array, self.device) for array in arrays)
        laid = [tensor.to(memory_format=torch.channels_last) if tensor.dim() == 4 else tensor for tensor in inputs]
        with torch.autocast(self.device.type, torch.bfloat16, enabled=self.precision == "bf16"):
            return net(*laid)

    @torch.no_grad()
    def _average(self) -> None:
        """Move the EMA, with the running statistics of the batch norms. Its warm-up keeps the untrained weights out."""
        decay = min(self.settings.ema, (1 + self.steps) / (10 + self.steps))
        pairs = list(zip(self.ema.state_dict().values(), self.net.state_dict().values(), strict=True))
        averages, current = zip(*(pair for pair in pairs if pair[0].is_floating_point()), strict=True)
        torch._foreach_lerp_(averages, current, 1 - decay)
        for average, counter in pairs:
            if not average.is_floating_point():
                average.copy_(counter)

    def state_dict(self) -> dict[str, Any]:
        """The learner's part of a checkpoint."""
        return {
            "net": self.net.state_dict(),
            "ema": self.ema.state_dict(),
            "optimiser": self.optimiser.state_dict(),
            "kind": self.settings.optimiser,
            "began": self._began,
            "steps": self.steps,
        }

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """The inverse of `state_dict`.

        Where it holds no optimiser of this kind (as weights/resume), a new one warms up.
        """
        self.net.load_state_dict(state["net"])
        self.ema.load_state_dict(state["ema"])
        self._began = self.steps = state["steps"]
        if "optimiser" in state and state.get("kind", "adamw") == self.settings.optimiser:
            saved, own = state["optimiser"], self.optimiser.param_groups
            # a run may continue with other settings, and on another device, where Adam counts its steps elsewhere
            pairs = zip(saved["param_groups"], own, strict=True)
            groups = [{**group, **settings, "params": group["params"]} for group, settings in pairs]
            self.optimiser.load_state_dict({**saved, "param_groups": groups})
            self._began = state.get("began", 0)


def _optimiser(net: nn.Module, settings: LearnerSettings) -> torch.optim.Optimizer:
    """The optimiser of the network; weights of layers decay, and biases and batch norms where the settings say so."""
    parameters, decay = list(net.parameters()), settings.weight_decay
    groups = [
        {"params": [p for p in parameters if p.dim() > 1], "weight_decay": decay},
        {"params": [p for p in parameters if p.dim() <= 1], "weight_decay": decay if settings.decay_all else 0.0},
    ]
    if settings.optimiser == "sgd":
        return torch.optim.SGD(groups, lr=settings.learning_rate, momentum=settings.momentum)
    kind = torch.optim.Adam if settings.optimiser == "adam" else torch.optim.AdamW
    return kind(groups, lr=settings.learning_rate, fused=parameters[0].is_cuda)
