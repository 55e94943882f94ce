"""A network made ready for inference: to *fold* it is to merge each batch norm into the convolution before it."""

from __future__ import annotations

import copy

import torch
from torch import nn
from torch.nn.utils.fusion import fuse_conv_bn_eval

from gozero.nets.blocks import ConvNorm, SplitConv

TRUNK = ("stem", "globals", "blocks")  # the networks' parts below the heads


def fold(net: nn.Module, trunk: torch.dtype = torch.float32) -> nn.Module:
    """A copy of `net` for inference: evaluation mode, no gradients, every batch norm merged into its convolution.

    `trunk` is the type in which stem and blocks compute, where nearly all of the work is; the heads stay in float32.
    """
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
