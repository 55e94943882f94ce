"""Networks made ready to compute: the number type that is fastest here, and *folding*, which merges each batch norm
into the convolution before it.
"""

from __future__ import annotations

import copy

import torch
from torch import Tensor, nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from gozero.nets.blocks import ConvNorm, SplitConv
from gozero.nets.model import NetOutput
from gozero.system.machine import float_precision

TRUNK = ("stem", "globals", "blocks")  # the networks' parts below the heads


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
    """The type "f32" or "bf16" as `precision` says, or the faster one for "auto", learning included. The first f32 on a
    GPU switches off TF32, which moves logits by a hundredth, for the whole process.
    """
    if precision == "auto" and device.type == "cuda":
        precision = "bf16" if torch.cuda.get_device_capability(device) >= (8, 0) else "f32"
    chosen = float_precision() if precision == "auto" else precision
    if chosen == "f32" and device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = False
    return chosen
