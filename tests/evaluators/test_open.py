"""Opening weights files as evaluators: the choice of backend, and the refusals."""

import shutil
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from gozero import games
from gozero.evaluators import cuda_evaluator, factory, torch_evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.nets import features, model, weights
from tests.trained import random_states, trained_like

CONFIG = model.config("b2c8")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    net = trained_like(CONFIG, random_states(games.make("go", size=7), 8))
    weights.save(tmp_path / "net.pt", net, CONFIG)
    return tmp_path / "net.pt"


@pytest.mark.parametrize("size", [5, 9, 19])
def test_a_graph_plays_every_board(file: Path, size: int) -> None:
    """It was traced on 13x13."""
    game = games.make("go", size=size)
    states = random_states(game, 3)
    with torch.inference_mode():
        expected = weights.load(file).network()(*map(torch.from_numpy, features.encode(game, states)))
    found = open_evaluator(file, game, backend="openvino", precision="f32", threads=1).evaluate(states)
    np.testing.assert_allclose(found.logits, expected.policy.numpy(), atol=1e-3)
    np.testing.assert_allclose(found.value, expected.value.numpy(), atol=1e-3)


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_what_does_not_fit_is_refused(tmp_path: Path, file: Path, backend: str) -> None:
    bound = model.NetConfig("agz-small", "agz", blocks=1, channels=4, size=13)
    weights.save(tmp_path / "agz.pt", model.build(bound), bound)
    weights.save(tmp_path / "nogo.pt", model.build(CONFIG), CONFIG, game="nogo")
    game = games.make("go", size=9)
    start = f"cannot use weights {tmp_path}"
    with pytest.raises(weights.WeightsError, match=rf"^{start}/agz.pt: network agz-small plays 13x13 only, not 9x9$"):
        open_evaluator(tmp_path / "agz.pt", game, backend=backend)
    with pytest.raises(weights.WeightsError, match=rf"^{start}/nogo.pt: it plays nogo, not go$"):
        open_evaluator(tmp_path / "nogo.pt", game, backend=backend)
    file.write_bytes(b"PK")
    with pytest.raises(weights.WeightsError, match="not a gozero weights file"):
        open_evaluator(file, game, backend=backend)
    with pytest.raises(weights.WeightsError, match="no such file"):
        open_evaluator(tmp_path / "none.pt", game, backend=backend)


def test_the_backend_is_chosen(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    game = games.make("go", size=7)
    assert isinstance(open_evaluator(file, game, backend="torch"), TorchEvaluator)
    assert isinstance(open_evaluator(file, game, backend="openvino"), OpenVINOEvaluator)
    if not torch.cuda.is_available():
        assert isinstance(open_evaluator(file, game), OpenVINOEvaluator)
    monkeypatch.setattr(factory, "find_spec", lambda name: None if name == "openvino" else name)
    assert isinstance(open_evaluator(file, game), TorchEvaluator)
    with pytest.raises(ValueError, match=r"^backend openvino is not installed; run: pip install openvino$"):
        open_evaluator(file, game, backend="openvino")
    monkeypatch.setattr(factory, "find_spec", lambda name: None if name == "torch" else name)
    monkeypatch.setattr(shutil, "which", lambda _: "/usr/bin/nvidia-smi")
    assert isinstance(open_evaluator(file, game), OpenVINOEvaluator), "a card is of no use without torch"
    with pytest.raises(ValueError, match=r"^backend torch is not installed; run: pip install 'gozero\[train\]', or"):
        open_evaluator(file, game, backend="torch")


@pytest.mark.parametrize(
    ("name", "kind"), [("go", "CudaEvaluator"), ("simple_go", "CudaEvaluator"), ("nogo", "TorchEvaluator")]
)
def test_a_gpu_plays_by_captured_graphs_where_they_serve_the_game(
    name: str, kind: str, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    load = weights.load
    monkeypatch.setattr(weights, "load", lambda path, game: load(path, None))  # the file is of Go
    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    for module, evaluator in ((cuda_evaluator, "CudaEvaluator"), (torch_evaluator, "TorchEvaluator")):
        opened = SimpleNamespace(kind=evaluator, preferred_batch=0)
        monkeypatch.setattr(module, evaluator, lambda *_, opened=opened, **options: opened)
    assert open_evaluator(file, games.make(name), backend="torch").kind == kind


def test_unknown_choices_are_named(file: Path) -> None:
    game = games.make("go", size=7)
    with pytest.raises(ValueError, match="unknown backend 'jax'; use one of: auto, torch, openvino"):
        open_evaluator(file, game, backend="jax")
