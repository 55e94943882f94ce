"""Networks on processors with fewer units than this one: oneDNN is held to older instruction sets in a process of its
own.
"""

import os
import subprocess
import sys

import pytest

from gozero import games
from gozero.evaluators.factory import open_evaluator
from gozero.system.machine import float_precision

ASK = """
from gozero import games
from gozero.evaluators.factory import open_evaluator
from gozero.system.machine import float_precision

game = games.make("go", size=7)
evaluator = open_evaluator("best.pt", game, backend="openvino", threads=1, precision="{precision}")
found = evaluator.evaluate(game.new_states(3))
print(evaluator.precision, found.logits.shape, *(f"{{value:.2f}}" for value in found.value))
"""
OLD = "AVX2"

pytestmark = pytest.mark.skipif(float_precision() != "bf16", reason="needs a processor that computes in bf16")


def said(precision: str, limit: dict[str, str]) -> subprocess.CompletedProcess[str]:
    """What three empty boards are worth on a processor of which these variables allow a part."""
    command = [sys.executable, "-c", ASK.format(precision=precision)]
    return subprocess.run(command, env={**os.environ, **limit}, capture_output=True, text=True, check=False, timeout=120)


@pytest.mark.parametrize(
    "limit",
    [
        {"ONEDNN_MAX_CPU_ISA": "AVX2_VNNI_2"},
        # an empty variable does not hide the other
        {"ONEDNN_MAX_CPU_ISA": "", "DNNL_MAX_CPU_ISA": OLD},
    ],
)
def test_auto_computes_what_the_processor_can(limit: dict[str, str]) -> None:
    game = games.make("go", size=7)
    exact = open_evaluator("best.pt", game, backend="openvino", threads=1, precision="f32")
    found = said("auto", limit).stdout.split()[-3:]
    assert [float(value) for value in found] == pytest.approx(exact.evaluate(game.new_states(3)).value, abs=0.05)


def test_a_type_that_the_processor_has_not_is_refused() -> None:
    failed = said("bf16", {"ONEDNN_MAX_CPU_ISA": OLD})
    assert failed.stdout == ""
    assert failed.stderr.splitlines()[-1].endswith("bf16 or AMX; use auto or f32")
