"""A network as an ONNX file, for programs of others: `gozero weights FILE --onnx OUT`. The engine itself reads none.

Inputs and outputs are float32, for any number n of positions, and of any board if the network plays every one. Those
in brackets, and globals, are there only if the network has them:

  inputs    planes [n, C, H, W], globals [n, G], (tactics [n, K, H, W])     gozero.nets.features
  outputs   policy [n, A], value [n], (score [n], ownership [n, P])         gozero.evaluators.base.Evaluation
"""

from __future__ import annotations

import io
import json
import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from gozero import games
from gozero.evaluators import quantise
from gozero.evaluators.graphs import ANY_BOARD, OUTPUTS
from gozero.nets import weights
from gozero.system import files
from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    from torch import nn

INPUTS = ("planes", "globals", "tactics")
BOARD = {2: "rows", 3: "columns"}
AXES = {"planes": BOARD, "tactics": BOARD, "policy": {1: "actions"}, "ownership": {1: "points"}}
"""Names of the axes that depend on the board."""

CHECKED = 100  # positions of random games
TOLERANCE = 1e-4  # of an output from -1 to 1; of a larger one its share


def write(path: Path, out: Path) -> str:
    """Write the network of a weights file and return a line that says what is in it. Nothing is written unless
    onnxruntime gives PyTorch's outputs on `CHECKED` positions.

    WeightsError for a file that cannot be used, ChoiceError if `out` is no .onnx, OSError if it cannot be written,
    ModuleNotFoundError if torch, onnx or onnxruntime is missing.
    """
    if out.suffix.lower() != ".onnx":
        raise ChoiceError(f"--onnx {out}: expected a name that ends with .onnx")
    import onnx
    import onnxruntime

    file, target = weights.load(path, game=None), files.full(out)
    model = onnx.load_model_from_string(exported(file.network()))
    facts = {"network": file.config.name, "board": json.dumps(file.config.board), "game": file.game}
    facts |= {"feature_version": str(file.feature_version), "sha256": file.sha256}
    onnx.helper.set_model_props(model, facts)
    content = model.SerializeToString()
    most = difference(file, onnxruntime.InferenceSession(content, providers=["CPUExecutionProvider"]))
    if not most <= TOLERANCE:
        raise weights.WeightsError(path, f"onnxruntime's outputs differ from PyTorch's by {most:.1e}; nothing is written")
    files.write(target, content)
    return f"{target}: {file.config.name} for {file.game}, within {most:.1e} of PyTorch on {CHECKED} positions"


def exported(net: nn.Module) -> bytes:
    """An ONNX model of a torch network, batch norms folded, open in batch and, where the network is, in board."""
    import torch

    from gozero.nets import inference, model

    assert isinstance(net, model.Network)
    traceable, content = inference.Traceable(net).eval(), io.BytesIO()
    example = net.example(2, net.config.board or ANY_BOARD)
    with torch.no_grad(), warnings.catch_warnings():
        # torch prefers torch.export here too, which needs one more package and several times as long
        warnings.simplefilter("ignore")
        inputs, outputs = INPUTS[: len(example)], OUTPUTS[: len(traceable(*example))]
        open_axes = AXES if net.config.board is None else {}
        dynamic = {name: {0: "positions"} | open_axes.get(name, {}) for name in (*inputs, *outputs)}
        torch.onnx.export(
            traceable,
            example,
            content,  # type: ignore[arg-type]  # without torch.export it may be an open file
            dynamo=False,
            input_names=inputs,
            output_names=outputs,
            dynamic_axes=dynamic,
        )
    return content.getvalue()


def difference(file: weights.Weights, session: Any) -> float:
    """The largest difference between the outputs of an onnxruntime session and of PyTorch in float32, on `CHECKED`
    positions of random games on up to four of the boards that the network was trained on.
    """
    import torch

    from gozero.nets import inference

    reference = inference.Traceable(file.network()).eval()
    sizes = file.trained_sizes or (file.size or games.usual(file.game, "size"),)
    sizes = sizes[:: -(-len(sizes) // 4)]
    most = 0.0
    for number, size in enumerate(sizes):
        inputs = [array[number : CHECKED : len(sizes)] for array in quantise.sample(file.game, size, file.feature_version)]
        with torch.inference_mode():
            expected = [tensor.numpy() for tensor in reference(*map(torch.from_numpy, inputs))]
        given = dict(zip(INPUTS, inputs, strict=False))
        found = session.run(None, {node.name: given[node.name] for node in session.get_inputs()})
        for ours, theirs in zip(expected, found, strict=True):
            most = max(most, float((np.abs(ours - theirs) / np.maximum(np.abs(ours), 1)).max()))
    return most
