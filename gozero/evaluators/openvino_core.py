"""OpenVINO itself: imported, in this module alone, without its usage reports, with one Core for this process."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

# Importing openvino reports that event over the network and writes to the home folder. An engine at play does neither.
# None is Python's mark for "cannot be imported"
sys.modules.setdefault("openvino_telemetry", None)  # type: ignore[arg-type]

import openvino  # noqa: E402
from openvino import opset13  # noqa: E402

__all__ = ["compiled", "core", "openvino", "opset13"]


@cache
def core() -> Any:
    """The only Core: with several, freed by another thread, the next signal would end the process."""
    return openvino.Core()


def tactics(graph: Any) -> int:
    """Planes of the second input tensor (gozero.nets.features) of a network's graph, 0 where it has none."""
    return sum(node.partial_shape[1].get_length() for node in graph.inputs[2:])


def compiled(graph: Any, board: Sequence[int], threads: int, precision: str, batches: int = 1) -> Any:
    """A graph made ready for any batch on one board (rows, cols), in `precision` bf16 or f32 if it does not fix a
    layer's type. The threads share out among `batches` at once: two cores are 1.9 times as fast with two, 1.7 with one.
    """
    shapes = {node: node.partial_shape for node in graph.inputs}
    graph.reshape({node: [-1, shape[1].get_length(), *board][: len(shape)] for node, shape in shapes.items()})
    settings = {
        "INFERENCE_NUM_THREADS": threads,
        "INFERENCE_PRECISION_HINT": precision,
        "NUM_STREAMS": min(threads, batches),
        # pinned, every engine on the machine takes the same first cores: half the speed or less
        "ENABLE_CPU_PINNING": False,
    }
    return core().compile_model(graph, "CPU", settings)
