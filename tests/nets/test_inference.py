"""The number type that is faster here."""

import os
import subprocess
import sys

import pytest
import torch

from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.games import make
from gozero.nets import inference, model
from training.learner.learner import Learner
from training.settings.config import LearnerSettings

CPU = torch.device("cpu")
ASK = """
import torch
from gozero.nets import inference
inference.ROUNDS = 1
print(inference.has_fast_bf16(torch.device('cpu')))
"""


@pytest.mark.parametrize(("bf16", "faster"), [(0.5, True), (0.95, False), (6.0, False)])
def test_bf16_must_be_worth_it(monkeypatch: pytest.MonkeyPatch, bf16: float, faster: bool) -> None:
    monkeypatch.setattr(inference, "_seconds", lambda dtype: bf16 if dtype == torch.bfloat16 else 1.0)
    threads = torch.get_num_threads()
    assert inference.has_fast_bf16.__wrapped__(CPU) is faster
    assert torch.get_num_threads() == threads


@pytest.mark.parametrize(("faster", "chosen"), [(True, "bf16"), (False, "f32")])
def test_auto_is_what_is_faster(monkeypatch: pytest.MonkeyPatch, faster: bool, chosen: str) -> None:
    monkeypatch.setattr(inference, "has_fast_bf16", lambda device: faster)
    config = model.config("b1c8")
    assert LearnerSettings().precision == "auto"
    assert Learner(config, LearnerSettings(), seed=1).precision == chosen
    assert Learner(config, LearnerSettings(precision="f32"), seed=1).precision == "f32"
    assert Learner(config, LearnerSettings(precision="bf16"), seed=1).precision == "bf16"
    assert TorchEvaluator(model.build(config, seed=1), make("go", size=5), device="cpu", threads=1).precision == chosen


def test_float32_on_a_gpu_is_float32(monkeypatch: pytest.MonkeyPatch) -> None:
    """And bf16, which does not need it, leaves the process as it was."""
    monkeypatch.setattr(torch.backends.cudnn, "allow_tf32", True)
    for asked, device, rounded in (("bf16", "cuda", True), ("f32", "cpu", True), ("f32", "cuda:1", False)):
        assert inference.number_type(asked, torch.device(device)) == asked
        assert torch.backends.cudnn.allow_tf32 is rounded


def test_a_processor_that_only_imitates_bf16_computes_in_f32() -> None:
    environment = {**os.environ, "ONEDNN_MAX_CPU_ISA": "AVX2"}
    done = subprocess.run(
        [sys.executable, "-c", ASK], env=environment, capture_output=True, text=True, timeout=300, check=True
    )
    assert done.stdout.strip() == "False"
