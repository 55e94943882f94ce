"""The layers of a network as a table: what `gozero net` prints."""

from __future__ import annotations

import torch

from gozero.nets import model
from gozero.nets.model import NetConfig


def layer_rows(config: NetConfig, board: tuple[int, int]) -> list[tuple[str, str, tuple[int, ...], int]]:
    """(name, layer, output shape, parameters) of each layer, in order, for a position on `board` (rows, columns)."""
    rows: list[tuple[str, str, tuple[int, ...], int]] = []
    with torch.device("meta"):  # shapes alone: nothing is allocated or computed
        net = model.build(config).eval()
        position = net.example(1, config.board or board)
    for name, module in net.named_modules():
        if not any(module.children()):
            module.register_forward_hook(
                lambda layer, _, out, name=name: rows.append(
                    (name, type(layer).__name__, tuple(out.shape[1:]), model.parameter_count(layer))
                )
            )
    net(*position)
    return rows


def layer_table(config: NetConfig, board: tuple[int, int]) -> str:
    """The layers as an aligned text table with the sum of all parameters in its last line."""
    layers = layer_rows(config, board)
    rows = [(name, layer, "x".join(map(str, shape)), f"{count:,}") for name, layer, shape, count in layers]
    total = sum(count for _, _, _, count in layers)
    rows = [("name", "layer", "output", "parameters"), *rows, ("total", "", "", f"{total:,}")]
    widths = [max(len(row[column]) for row in rows) for column in range(4)]
    columns = [f"{{:{width}}}" for width in widths[:3]] + [f"{{:>{widths[3]}}}"]
    return "\n".join("  ".join(columns).format(*row) for row in rows)
