"""Makes a network wider or deeper without changing its outputs (Net2Net: Chen et al. 2016, with padding instead of
copies).

The larger network computes the smaller one's channels from the same ones; new channels are random features of these,
with zero weights into old channels, which the first gradient reaches. Blocks are added behind the last one and begin as
the identity. More tactics of features.py get zero weights too. `size_limit` is the new configuration's.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import torch
from torch import Tensor, nn

from gozero.nets import model
from gozero.nets.blocks import PoolingBlock
from gozero.nets.model import ConvNet, NetConfig
from gozero.system.errors import ChoiceError


def check(old: NetConfig, new: NetConfig) -> None:
    """ChoiceError, with what to do instead, unless a network `old` can become `new`."""
    if old.parts == new.parts and replace(old, size_limit=new.size_limit, norm=new.norm, value=new.value) == new:
        return
    before, after = (f"{config.name} with input features {config.features}" for config in (old, new))
    widths = ("blocks", "channels", "head_channels", "value_hidden", "tactics")
    narrower = [name.replace("_", " ") for name in widths if getattr(new, name) < getattr(old, name)]
    kept = [(config.kind, config.planes, config.globals, config.parts) for config in (old, new)]
    if old.kind != "resnet" or kept[0] != kept[1] or narrower:
        why = f", which has fewer {narrower[0]}" if narrower else ""
        raise ChoiceError(
            f"{before} cannot become {after}{why}: b<blocks>c<channels> alone grows, with the same inputs, norm and "
            "value_head; train a new network from its records instead"
        )


def grow(tensors: Mapping[str, Tensor], old: NetConfig, new: NetConfig, seed: int) -> nn.Module:
    """A network `new` with the outputs of `old`; new channels are random, by the seed. Errors as `check`."""
    check(old, new)
    grown = model.build(new, seed)
    if not isinstance(grown, ConvNet) or replace(old, size_limit=new.size_limit) == new:
        grown.load_state_dict(dict(tensors))
        return grown
    pooling = [name for name, module in grown.named_modules() if isinstance(module, PoolingBlock)]
    split = {f"{name}.conv1.{part}" for name in pooling for part in ("conv", "norm")}
    readers = {"policy.bias", "policy.hidden", "value.hidden", *(f"{name}.bias" for name in pooling)}  # of `blocks.pool`
    local, behind = (config.channels - config.pool_channels for config in (old, new))
    with torch.no_grad():
        for name, fresh in grown.state_dict().items():
            layer, tensor = name.rpartition(".")[0], tensors.get(name)
            if tensor is not None and tensor.dim() == 0:  # a count of batches
                fresh.copy_(tensor)
            elif tensor is not None:
                outputs = torch.arange(len(tensor))
                if layer in split:  # the pooled channels stand behind the local ones
                    outputs[local:] += behind - local
                _lay_in(fresh, tensor, outputs, parts=3 if layer in readers else 1)
    return grown


def _lay_in(fresh: Tensor, old: Tensor, outputs: Tensor, parts: int) -> None:
    """Write an old tensor into the grown one's, in place: its outputs, now at int64 [outputs], read old inputs as before
    and nothing else. Inputs are in `parts`, each of all channels.
    """
    if old.dim() == 1:  # a bias, or a batch norm's numbers
        fresh[outputs] = old
        return
    width, wider = old.shape[1] // parts, fresh.shape[1] // parts
    inputs = (wider * torch.arange(parts)[:, None] + torch.arange(width)).flatten()
    fresh[outputs] = 0
    fresh[outputs[:, None], inputs] = old
