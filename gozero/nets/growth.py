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


class GrowthError(ValueError):
    """A network that cannot become another; one line that says why and what to do instead."""


Maps = tuple[list[int], list[int]]  # where a layer's old outputs and old inputs are in the grown layer


def check(old: NetConfig, new: NetConfig) -> None:
    """GrowthError unless a network `old` can become `new`."""
    if old.parts == new.parts and replace(old, size_limit=new.size_limit, norm=new.norm, value=new.value) == new:
        return
    before, after = (f"{config.name} with input features {config.features}" for config in (old, new))
    widths = ("blocks", "channels", "head_channels", "value_hidden", "tactics")
    narrower = [name.replace("_", " ") for name in widths if getattr(new, name) < getattr(old, name)]
    kept = [(config.kind, config.planes, config.globals, config.parts) for config in (old, new)]
    if old.kind != "resnet" or kept[0] != kept[1] or narrower:
        why = f", which has fewer {narrower[0]}" if narrower else ""
        raise GrowthError(
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
    maps = _maps(grown, old, new)
    with torch.no_grad():
        for name, fresh in grown.state_dict().items():
            layer = name.rpartition(".")[0]
            if layer in maps:
                _lay_in(fresh, tensors[name], *maps[layer])
    return grown


def _lay_in(fresh: Tensor, old: Tensor, outputs: list[int], inputs: list[int]) -> None:
    """Write an old tensor into the grown one's, in place: old outputs read old inputs as before, and nothing else."""
    if old.dim() == 0:  # a count of batches
        fresh.copy_(old)
    elif old.dim() == 1:  # a bias, or a batch norm's numbers
        fresh[outputs] = old
    else:
        fresh[outputs] = 0
        fresh[torch.tensor(outputs)[:, None], torch.tensor(inputs)[None, :]] = old


def _maps(grown: ConvNet, old: NetConfig, new: NetConfig) -> dict[str, Maps]:
    """The maps of every layer that both networks have, by the layer's name."""
    trunk, head = list(range(old.channels)), list(range(old.head_channels))
    hidden, heads = list(range(old.value_hidden)), _three(list(range(old.head_channels)), new.head_channels)
    maps: dict[str, Maps] = {"globals": (trunk, list(range(old.globals)))}
    maps |= _conv_norm("stem", trunk, list(range(old.planes + old.tactics)))
    for index, block in enumerate(list(grown.blocks)[: old.blocks]):
        maps |= _block(f"blocks.{index}", isinstance(block, PoolingBlock), old, new)
    for name in ("policy.local", "policy.pooled", "value.local"):
        maps |= _conv_norm(name, head, trunk)
    maps |= {"policy.bias": (head, heads), "policy.hidden": (head, heads), "value.hidden": (hidden, heads)}
    points = list(range(2 * old.directions))
    maps |= {"policy.points": (points, head), "policy.others": ([0, 1, 2, 3], head), "value.owner": ([0], head)}
    return maps | {"value.wdl": ([0, 1, 2], hidden), "value.scalar": ([0], hidden), "value.score": ([0], hidden)}


def _block(name: str, pools: bool, old: NetConfig, new: NetConfig) -> dict[str, Maps]:
    """The maps of a residual block; in one that pools, the pooled channels stand behind the local ones."""
    trunk = list(range(old.channels))
    if not pools:
        return _conv_norm(f"{name}.conv1", trunk, trunk) | _conv_norm(f"{name}.conv2", trunk, trunk)
    local, pooled = list(range(old.channels - old.pool_channels)), list(range(old.pool_channels))
    behind = [new.channels - new.pool_channels + channel for channel in pooled]
    maps: dict[str, Maps] = {f"{name}.bias": (local, _three(pooled, new.pool_channels))}
    return maps | _conv_norm(f"{name}.conv1", local + behind, trunk) | _conv_norm(f"{name}.conv2", trunk, local)


def _conv_norm(name: str, outputs: list[int], inputs: list[int]) -> dict[str, Maps]:
    return {f"{name}.conv": (outputs, inputs), f"{name}.norm": (outputs, inputs)}


def _three(channels: list[int], width: int) -> list[int]:
    """Where channels are after `blocks.pool`: mean, mean times size and maximum of all `width` channels."""
    return [part * width + channel for part in range(3) for channel in channels]
