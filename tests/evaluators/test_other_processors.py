"""A network on a processor with fewer units than this one: oneDNN is held to an older instruction set in a process of its
own.
"""

import os
import subprocess
import sys

import pytest

from gozero import games
from gozero.evaluators.factory import open_evaluator
from gozero.system.machine import is_fast_in_int8

ASK = """
from gozero import games
from gozero.evaluators.factory import open_evaluator

game = games.make("go", size=7)
evaluator = open_evaluator("best.pt", game, backend="openvino", threads=1)
print(*evaluator.evaluate(game.new_states(3)).value)
"""


@pytest.mark.skipif(not is_fast_in_int8(), reason="these are instruction sets of x86")
@pytest.mark.parametrize("instructions", ["AVX2_VNNI_2", "AVX2"])
def test_auto_computes_what_the_processor_can(instructions: str) -> None:
    game = games.make("go", size=7)
    exact = open_evaluator("best.pt", game, backend="openvino", threads=1, precision="f32")
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": instructions}
    command = [sys.executable, "-c", ASK]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True, timeout=120)
    found = [float(value) for value in done.stdout.split()]
    assert found == pytest.approx(exact.evaluate(game.new_states(3)).value, abs=0.05)
