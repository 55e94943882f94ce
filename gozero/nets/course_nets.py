"""The three networks of a course project's AlphaZero for tic-tac-toe and Connect-4: Petosa, Keezer and Chatterji,
"AlphaZero from Scratch" (2018).

They see the first player's stones, the second player's, and whether the second is to move; and answer with a logit for
each place to play, then the value before its tanh. The paper fixes the perceptron (7,610 parameters on tic-tac-toe)
and, by its count of 11,260,354, the SENet-18; of Mini-VGG it gives two layers, filters of 2x2 or 4x4 and about 40,000
parameters.
"""

from __future__ import annotations

from collections import OrderedDict

import torch
from torch import Tensor, nn
from torch.nn.functional import relu

from gozero.nets.blocks import ConvNorm, quiet

COLOURS = 3  # planes
OWN, OTHER, OWN_MOVES, BLACK_TO_MOVE = 0, 1, 2, 4  # planes of features.BOARD
UNPLAYABLE = -30.0  # the logit of what cannot be played: a chance of 1e-13, and no infinity in a loss
SQUEEZE = 16  # times fewer units than channels


def colours(planes: Tensor) -> Tensor:
    """Planes of features.BOARD [n, 5, H, W] → colours [n, 3, H, W]."""
    own, other, black = (planes[:, place, None] for place in (OWN, OTHER, BLACK_TO_MOVE))
    return torch.cat([black * own + (1 - black) * other, black * other + (1 - black) * own, 1 - black], dim=1)


def over_points(logits: Tensor, planes: Tensor, *, drops: bool) -> Tensor:
    """Logits of the points [n, P], or of columns [n, W] if pieces drop, as those of all actions [n, P + 2]."""
    if drops:
        playable = planes[:, OWN_MOVES].flatten(1)
        rows = planes.shape[2]
        logits = playable * logits.repeat(1, rows) + (1 - playable) * UNPLAYABLE
    return torch.cat([logits, torch.full_like(logits[:, :2], UNPLAYABLE)], dim=1)


class PreActivationBlock(nn.Module):
    """A residual block with its norms before its convolutions, whose channels are scaled by features of their means."""

    def __init__(self, inputs: int, outputs: int, stride: int) -> None:
        super().__init__()
        self.norm1, self.norm2 = nn.BatchNorm2d(inputs), nn.BatchNorm2d(outputs)
        self.conv1 = nn.Conv2d(inputs, outputs, 3, stride=stride, padding=1, bias=False)
        self.conv2 = nn.Conv2d(outputs, outputs, 3, padding=1, bias=False)
        same = stride == 1 and inputs == outputs
        self.shortcut = None if same else nn.Conv2d(inputs, outputs, 1, stride=stride, bias=False)
        self.squeeze, self.excite = nn.Linear(outputs, outputs // SQUEEZE), nn.Linear(outputs // SQUEEZE, outputs)

    def forward(self, x: Tensor) -> Tensor:
        before = relu(self.norm1(x))
        y = self.conv2(relu(self.norm2(self.conv1(before))))
        scale = self.excite(relu(self.squeeze(y.mean((2, 3))))).sigmoid()
        return y * scale[:, :, None, None] + (x if self.shortcut is None else self.shortcut(before))


# each: the colours of a board (rows, columns) → an answer for `moves`, and the value


def perceptron(board: tuple[int, int], moves: int, units: int, kernel: int) -> nn.Sequential:
    """One layer of `units`."""
    hidden, answer = nn.Linear(COLOURS * board[0] * board[1], units), quiet(nn.Linear(units, moves + 1))
    return _sequence(flat=nn.Flatten(), hidden=hidden, relu=nn.ReLU(), answer=answer)


def mini_vgg(board: tuple[int, int], moves: int, channels: int, kernel: int) -> nn.Sequential:
    """Two convolutions without a norm."""
    first, second = (ConvNorm(inputs, channels, kernel, norm="none") for inputs in (COLOURS, channels))
    answer = quiet(nn.Linear(channels * board[0] * board[1], moves + 1))
    return _sequence(first=first, relu=nn.ReLU(), second=second, relu2=nn.ReLU(), flat=nn.Flatten(), answer=answer)


def squeeze_net_18(board: tuple[int, int], moves: int, channels: int, kernel: int) -> nn.Sequential:
    """Four stages of two SE blocks, halving the board, and their mean (Hu et al. 2018, He et al. 2016)."""
    first = nn.Conv2d(COLOURS, channels, kernel, padding=kernel // 2, bias=False)
    norm, blocks, inputs = nn.BatchNorm2d(channels), list[nn.Module](), channels
    for stage in range(4):
        outputs = channels << stage
        blocks += [PreActivationBlock(inputs, outputs, 1 + (stage > 0)), PreActivationBlock(outputs, outputs, 1)]
        inputs = outputs
    stages, answer = nn.Sequential(*blocks), quiet(nn.Linear(inputs, moves + 1))
    mean = nn.Sequential(nn.AdaptiveAvgPool2d(1), nn.Flatten())
    return _sequence(first=first, norm=norm, relu=nn.ReLU(), stages=stages, mean=mean, answer=answer)


def _sequence(**layers: nn.Module) -> nn.Sequential:
    """The layers in a row. Weights files have their names: those in which something is learned stay as they are."""
    return nn.Sequential(OrderedDict(layers))


BODIES = {"s0mlp": perceptron, "s0vgg": mini_vgg, "s0senet": squeeze_net_18}
