"""The names of the backends and of the precisions, with the checks that evaluators make when they are opened.

A precision is the number type of the network's trunk: f32, bf16, or int8 in its 3x3 convolutions (OpenVINO;
`gozero.evaluators.quantise`); results are always float32. Nothing heavy is imported here.
"""

from __future__ import annotations

from gozero.system.errors import ChoiceError

BACKENDS = ("auto", "torch", "openvino")
PRECISIONS = ("auto", "f32", "bf16", "int8")
FLOATING = ("auto", "f32", "bf16")  # what backends other than OpenVINO compute in
GPU_BATCH = 64  # positions that a GPU evaluates in little more time than one; an estimate, not measured on a GPU


class PrecisionError(ChoiceError):
    """A precision that this backend or processor does not compute in; one line that says what to use instead."""


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ChoiceError(f"unknown {name} {value!r}; use one of: {', '.join(choices)}")
