"""The number type that is faster here."""

import pytest
import torch

from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.games import make
from gozero.nets import inference, model
from training.learner.learner import Learner
from training.settings.config import LearnerSettings

CPU = torch.device("cpu")


@pytest.mark.parametrize("chosen", ["bf16", "f32"])
def test_auto_is_what_is_faster(monkeypatch: pytest.MonkeyPatch, chosen: str) -> None:
    monkeypatch.setattr(inference, "float_precision", lambda: chosen)
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
