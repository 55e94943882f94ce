"""Building blocks of the networks: convolutions and their norms, the blocks of a trunk, and the heads.

Blocks take features [n, C, H, W] and size float [n, 1], the scaled board size of each position (features.py), and give
features of the same shape.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor, nn
from torch.nn.functional import batch_norm, relu

SCORE_UNIT = 20.0  # points for each unit of the score head, so that its weights stay near one
# batches of different board sizes have different statistics: the running ones must average over many batches
NORM_MOMENTUM = 0.02
# batches of training: batch norm until the first number, within the full limits from the second on
PLAIN_BATCHES, OPENED_BATCHES = 500, 2500
MOST_SCALE, MOST_SHIFT = 3.0, 3.0  # the full limits; 3 and 5 in the paper
NORMS = ("renorm", "batch", "none")  # what follows a convolution: `BatchRenorm`, torch's batch norm, or nothing


class BatchRenorm(nn.BatchNorm2d):
    """Batch norm that normalises in training as in play, by the running statistics (batch renormalisation, Ioffe 2017).

    Board sizes, one a batch, differ in their statistics: with batch norm values came out shifted by 0.2 to 0.5 in play.
    Here only the gradient treats the batch's statistics as its own. Parameters and buffers are those of batch norm.
    """

    def forward(self, x: Tensor) -> Tensor:
        if not self.training:
            return super().forward(x)
        scale, shift = self._renormed(x)
        weight, bias = self.weight * scale, self.bias + self.weight * shift
        share = self.momentum
        if share is None:  # as in `BatchNorm2d`: the plain mean over all batches
            share = 1 / float(self.num_batches_tracked)  # type: ignore[arg-type]
        return batch_norm(
            x, self.running_mean, self.running_var, weight, bias, training=True, momentum=share, eps=self.eps
        )

    @torch.no_grad()
    def _renormed(self, x: Tensor) -> tuple[Tensor, Tensor]:
        """float [C] each: scale and shift, within the limits, from the batch's own statistics to the running ones."""
        assert self.running_mean is not None and self.running_var is not None and self.num_batches_tracked is not None
        opened = ((self.num_batches_tracked - PLAIN_BATCHES) / (OPENED_BATCHES - PLAIN_BATCHES)).clamp(0, 1)
        most_scale, most_shift = 1 + (MOST_SCALE - 1) * opened, MOST_SHIFT * opened
        self.num_batches_tracked += 1
        # the statistics that batch norm itself takes: eight times as fast as var_mean on a CPU where channels come last
        _, mean, inverse = torch.native_batch_norm(x, self.weight, self.bias, None, None, True, 0.0, self.eps)
        deviation = (self.running_var + self.eps).sqrt()
        scale = (1 / (inverse * deviation)).clamp(1 / most_scale, most_scale)
        return scale, ((mean - self.running_mean) / deviation).clamp(-most_shift, most_shift)


def fix_norms(net: nn.Module) -> None:
    """Let each `BatchRenorm` that has seen `OPENED_BATCHES` work as in play until the next `net.train()`: else the
    values of one board size could stay too high for good, as a batch's gradient lacks what its rows have in common.
    """
    for module in net.modules():
        if isinstance(module, BatchRenorm) and module.num_batches_tracked is not None:
            module.train(bool(module.num_batches_tracked < OPENED_BATCHES))


class ConvNorm(nn.Module):
    """A convolution that keeps the board's shape, and one of `NORMS`; without a norm it has a bias. A `gain` of 0 makes
    a residual block start as the identity (Goyal et al. 2017).
    """

    def __init__(self, inputs: int, outputs: int, kernel: int = 3, *, gain: float = 1.0, norm: str) -> None:
        super().__init__()
        before, after = (kernel - 1) // 2, kernel // 2
        self.border = None if before == after else nn.ZeroPad2d((before, after, before, after))
        self.conv = nn.Conv2d(inputs, outputs, kernel, padding=after if self.border is None else 0, bias=norm == "none")
        nn.init.kaiming_normal_(self.conv.weight, mode="fan_out", nonlinearity="relu")
        self.norm = _norm(norm, outputs)
        with torch.no_grad():
            if isinstance(self.norm, nn.BatchNorm2d):
                nn.init.constant_(self.norm.weight, gain)
            elif self.conv.bias is not None:
                self.conv.weight *= gain
                self.conv.bias.zero_()

    def forward(self, x: Tensor) -> Tensor:
        return self.norm(self.conv(x if self.border is None else self.border(x)))


def _norm(norm: str, channels: int) -> nn.Module:
    """What follows a convolution, by its name in `NORMS`."""
    if norm == "none":
        return nn.Identity()
    return BatchRenorm(channels, momentum=NORM_MOMENTUM) if norm == "renorm" else nn.BatchNorm2d(channels)


class SplitConv(nn.Conv2d):
    """A first layer that survives bf16: each weight as the sum of two bf16 numbers, applied to the same input twice.
    The planes are 0 or 1, so nothing is rounded before the sum; the doubled input costs nothing measurable.
    """

    def __init__(self, conv: nn.Conv2d) -> None:
        width, padding = conv.kernel_size[0], conv.padding[0]
        assert isinstance(padding, int)
        super().__init__(2 * conv.in_channels, conv.out_channels, width, padding=padding)
        weight = conv.weight.detach()
        high = weight.bfloat16().to(weight.dtype)
        self.weight = nn.Parameter(torch.cat([high, weight - high], dim=1))
        self.bias = conv.bias

    def forward(self, x: Tensor) -> Tensor:
        return super().forward(torch.cat([x, x], dim=1))


def pool(x: Tensor, size: Tensor) -> Tensor:
    """[n, C, H, W] and the scaled size [n, 1] → [n, 3C]: mean, mean * size (for scores), maximum."""
    mean = x.mean((2, 3))
    return torch.cat([mean, mean * size, x.amax((2, 3))], dim=1)


class ResidualBlock(nn.Module):
    """relu(x + conv(relu(conv(x)))), each convolution with its batch norm (He et al. 2015)."""

    def __init__(self, channels: int, *, norm: str) -> None:
        super().__init__()
        self.conv1 = ConvNorm(channels, channels, norm=norm)
        self.conv2 = ConvNorm(channels, channels, gain=0.0, norm=norm)

    def forward(self, x: Tensor, size: Tensor) -> Tensor:
        return relu(x + self.conv2(relu(self.conv1(x))))


class PoolingBlock(nn.Module):
    """A residual block that pools channels of its first convolution over the board, as a bias of all points: so each
    knows of distant ko threats, ladders' ends and who leads (Wu 2019, section 3.3).
    """

    def __init__(self, channels: int, pooled: int, *, norm: str) -> None:
        super().__init__()
        self.widths = [channels - pooled, pooled]
        self.conv1 = ConvNorm(channels, channels, norm=norm)
        self.bias = nn.Linear(3 * pooled, channels - pooled)
        self.conv2 = ConvNorm(channels - pooled, channels, gain=0.0, norm=norm)

    def forward(self, x: Tensor, size: Tensor) -> Tensor:
        return relu(x + self.conv2(self.inner(x, size)))

    def inner(self, x: Tensor, size: Tensor) -> Tensor:
        """What the second convolution sees."""
        local, pooled = self.conv1(x).split(self.widths, dim=1)
        bias = self.bias(pool(relu(pooled), size))
        return relu(local + bias[:, :, None, None])


class SqueezeBlock(nn.Module):
    """A residual block with squeeze-and-excitation (Hu et al. 2018), and a shift as in Leela Chess."""

    def __init__(self, channels: int, squeezed: int, *, norm: str) -> None:
        super().__init__()
        self.conv1 = ConvNorm(channels, channels, norm=norm)
        self.conv2 = ConvNorm(channels, channels, gain=0.0, norm=norm)
        self.squeeze = nn.Linear(3 * channels, squeezed)
        self.excite = nn.Linear(squeezed, 2 * channels)

    def forward(self, x: Tensor, size: Tensor) -> Tensor:
        y = self.conv2(relu(self.conv1(x)))
        scale, shift = self.excite(relu(self.squeeze(pool(y, size))))[:, :, None, None].chunk(2, dim=1)
        return relu(x + y * scale.sigmoid() + shift)


class PlainBlock(nn.Module):
    """relu(conv(x)) with its norm, and nothing else."""

    def __init__(self, channels: int, kernel: int, *, norm: str) -> None:
        super().__init__()
        self.conv = ConvNorm(channels, channels, kernel, norm=norm)

    def forward(self, x: Tensor, size: Tensor) -> Tensor:
        return relu(self.conv(x))


def quiet(layer: nn.Linear | nn.Conv2d) -> Any:
    """Shrink a last layer, so that an untrained network plays near-uniformly and calls every game open."""
    nn.init.normal_(layer.weight, std=0.01)
    if layer.bias is not None:
        nn.init.zeros_(layer.bias)
    return layer


class Result(NamedTuple):
    """What a network expects of the game's end, for n positions."""

    value: Tensor  # [n] expected result, -1..1
    wdl: Tensor | None  # [n, 3] logits of win, draw, loss; None if the value is a number of its own


def add_result(owner: nn.Module, width: int, *, scalar: bool) -> None:
    """Give a module the layer that `result` reads: `wdl` with three outputs or, for one number, `scalar` with one."""
    owner.add_module("scalar" if scalar else "wdl", quiet(nn.Linear(width, 1 if scalar else 3)))


def result(owner: nn.Module, hidden: Tensor) -> Result:
    """The result that a module's layer (`add_result`) makes of features [n, width]."""
    if hasattr(owner, "scalar"):
        return Result(owner.get_submodule("scalar")(hidden)[:, 0].tanh(), None)
    wdl = owner.get_submodule("wdl")(hidden)
    return Result(expected(wdl), wdl)


def expected(wdl: Tensor) -> Tensor:
    """Logits of win, draw, loss [n, 3] → expected result [n]."""
    share = wdl.softmax(1)
    return share[:, 0] - share[:, 2]


class PolicyHead(nn.Module):
    """Trunk → logits of the own move and the reply: points, in each direction in which pieces move, by a 1x1
    convolution, the others from pooled features.
    """

    def __init__(self, channels: int, width: int, directions: int, *, norm: str) -> None:
        super().__init__()
        self.local = ConvNorm(channels, width, 1, norm=norm)
        self.pooled = ConvNorm(channels, width, 1, norm=norm)
        self.bias = nn.Linear(3 * width, width)
        self.points = quiet(nn.Conv2d(width, 2 * directions, 1, bias=False))
        self.hidden = nn.Linear(3 * width, width)
        self.others = quiet(nn.Linear(width, 4))

    def forward(self, x: Tensor, size: Tensor) -> tuple[Tensor, Tensor]:
        pooled = pool(relu(self.pooled(x)), size)
        local = relu(self.local(x) + self.bias(pooled)[:, :, None, None])
        own, reply = self.points(local).chunk(2, dim=1)  # [n, D, H, W] each
        others = self.others(relu(self.hidden(pooled)))  # [n, 4]: pass and resign of the own move, then of the reply
        return torch.cat([own.flatten(1), others[:, :2]], 1), torch.cat([reply.flatten(1), others[:, 2:]], 1)


class ValueHead(nn.Module):
    """Trunk → result (see `Result`), score in points [n], ownership logits [n, P]."""

    def __init__(self, channels: int, width: int, hidden: int, *, scalar: bool, norm: str) -> None:
        super().__init__()
        self.local = ConvNorm(channels, width, 1, norm=norm)
        self.hidden = nn.Linear(3 * width, hidden)
        add_result(self, hidden, scalar=scalar)
        self.score = quiet(nn.Linear(hidden, 1))
        self.owner = quiet(nn.Conv2d(width, 1, 1))

    def forward(self, x: Tensor, size: Tensor) -> tuple[Result, Tensor, Tensor]:
        local = relu(self.local(x))
        hidden = relu(self.hidden(pool(local, size)))
        return result(self, hidden), SCORE_UNIT * self.score(hidden)[:, 0], self.owner(local).flatten(1)
