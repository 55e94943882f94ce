"""Networks made ready to compute: the number type that is fastest here, and *folding*, which merges each batch norm into
the convolution before it.
"""

from __future__ import annotations

import copy
import functools
import time

import torch
from torch import Tensor, nn
from torch.nn import functional as F
from torch.nn.utils.fusion import fuse_conv_bn_eval

from gozero.nets.blocks import ConvNorm, SplitConv
from gozero.nets.model import NetOutput

TRUNK = ("stem", "globals", "blocks")  # the networks' parts below the heads

CHANNELS, LAYERS = 64, 4  # of the trunk that is measured
ROUNDS = 3  # of which the fastest counts, for each number type
GAIN = 0.9  # of the time that f32 takes: bf16 is less exact, and must be worth it


def fold(net: nn.Module, trunk: torch.dtype = torch.float32) -> nn.Module:
    """A copy of `net` for inference: batch norms merged into their convolutions, stem and blocks in `trunk`."""
    folded = copy.deepcopy(net).eval()
    for name, module in folded.named_modules():
        if isinstance(module, ConvNorm) and isinstance(module.norm, nn.BatchNorm2d):
            module.conv, module.norm = fuse_conv_bn_eval(module.conv, module.norm), nn.Identity()
        if isinstance(module, ConvNorm) and name == "stem" and not isinstance(module.conv, SplitConv):
            module.conv = SplitConv(module.conv)
    for name, part in folded.named_children():
        if name in TRUNK:
            part.to(trunk)
    return folded.requires_grad_(False)


def folded_for(net: nn.Module, device: torch.device, precision: str) -> nn.Module:
    """`fold` on a device, with a trunk in "bf16" or "f32", in the channels-last layout that convolutions prefer."""
    folded = fold(net, torch.bfloat16 if precision == "bf16" else torch.float32)
    return folded.to(device).to(memory_format=torch.channels_last)  # type: ignore[call-overload]


class Traceable(nn.Module):
    """A folded network whose outputs are a tuple: policy, value and, if it has them, score and ownership."""

    def __init__(self, net: nn.Module) -> None:
        super().__init__()
        self.net = fold(net).cpu()

    def forward(self, planes: Tensor, globals: Tensor, tactics: Tensor | None = None) -> tuple[Tensor, ...]:
        output: NetOutput = self.net(*((planes, globals) if tactics is None else (planes, globals, tactics)))
        score, owners = output.score, output.owners
        both = () if score is None or owners is None else (score, owners)
        return output.policy, output.value, *both


def number_type(precision: str, device: torch.device) -> str:
    """The type "f32" or "bf16" as `precision` says, or the faster one for "auto". The first f32 on a GPU switches off
    TF32, which moves logits by a hundredth, for the whole process.
    """
    chosen = ("bf16" if has_fast_bf16(device) else "f32") if precision == "auto" else precision
    if chosen == "f32" and device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = False
    return chosen


@functools.cache
def has_fast_bf16(device: torch.device) -> bool:
    """Whether networks compute clearly faster in bf16, learning included; on a CPU, which may emulate it, measured."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # its processor time is then this thread's, whatever else runs
    try:
        seconds = {dtype: min(_seconds(dtype) for _ in range(ROUNDS)) for dtype in (torch.float32, torch.bfloat16)}
    finally:
        torch.set_num_threads(threads)
    return seconds[torch.bfloat16] < GAIN * seconds[torch.float32]


def _seconds(dtype: torch.dtype) -> float:
    """Processor seconds of a short trunk, 16 positions on 13x13, and of its gradients."""
    weight = torch.full((CHANNELS, CHANNELS, 3, 3), 1e-3, requires_grad=True)
    board = torch.ones(16, CHANNELS, 13, 13).to(memory_format=torch.channels_last)
    began = time.thread_time()
    with torch.enable_grad(), torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        for _ in range(LAYERS):
            board = F.conv2d(board, weight, padding=1).relu()
        board.mean().backward()
    return time.thread_time() - began
