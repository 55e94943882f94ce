"""ONNX files of every kind of network: the same outputs as PyTorch's for any batch and board, and one line for errors."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from gozero import games
from gozero.__main__ import main
from gozero.evaluators import onnx_file
from gozero.nets import features, inference, model, weights
from tests.nets.test_filters import weights_file
from tests.trained import random_states, trained_like
from tests.training.refusals import Refused

onnx = pytest.importorskip("onnx")
onnxruntime = pytest.importorskip("onnxruntime")


@pytest.mark.parametrize(
    ("network", "game", "version", "inputs"),
    [
        ("b2c8", "go", 3, ["planes", "globals", "tactics"]),
        ("se2c8", "othello", 1, ["planes", "globals"]),
        ("mlp2x20", "connect4", 2, ["planes", "globals", "tactics"]),
        ("s0vgg", "tictactoe", 1, ["planes", "globals"]),
    ],
)
def test_each_kind_of_network_is_written_and_checked(
    network: str, game: str, version: int, inputs: list[str], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file, out = weights_file(tmp_path / "w.pt", network, game, version), tmp_path / "w.onnx"
    assert main(["weights", str(file), "--onnx", str(out)]) == 0
    line = capsys.readouterr().out
    assert line.count("\n") == 1 and str(out) in line and network in line
    found = onnx.load(out)
    assert {node.name for node in found.graph.input} <= set(inputs)
    facts = {prop.key: prop.value for prop in found.metadata_props}
    assert (facts["network"], facts["game"], facts["feature_version"]) == (network, game, str(version))


def test_any_batch_and_any_board_give_pytorchs_outputs() -> None:
    config = model.config("b3c8", games.make("go", size=7), 3)
    net = trained_like(config, random_states(games.make("go", size=7), 16))
    session = onnxruntime.InferenceSession(onnx_file.exported(net), providers=["CPUExecutionProvider"])
    reference = inference.Traceable(net).eval()
    for size, count in ((5, 1), (7, 3), (9, 5)):
        game = games.make("go", size=size)
        inputs = features.encode(game, random_states(game, count), 3)
        found = session.run(None, dict(zip(onnx_file.INPUTS, inputs, strict=True)))
        with torch.inference_mode():
            expected = reference(*map(torch.from_numpy, inputs))
        assert [output.shape for output in found] == [(count, size**2 + 2), (count,), (count,), (count, size**2)]
        for ours, theirs in zip(expected, found, strict=True):
            np.testing.assert_allclose(theirs, ours.numpy(), rtol=1e-4, atol=1e-4)


def test_a_file_that_computes_something_else_is_not_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file, other = (weights_file(tmp_path / f"{name}.pt", name, "tictactoe") for name in ("b1c8", "b2c8"))
    content = onnx_file.exported(weights.load(other, None).network())
    monkeypatch.setattr(onnx_file, "exported", lambda net: content)
    with pytest.raises(weights.WeightsError):
        onnx_file.write(file, tmp_path / "w.onnx")
    assert not (tmp_path / "w.onnx").exists()


def test_what_cannot_be_done_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused) -> None:
    def said(file: Path, out: Path) -> str:
        return refused(main, ["weights", str(file), "--onnx", str(out)])

    file = weights_file(tmp_path / "w.pt", "s0vgg", "tictactoe")
    assert ".onnx" in said(file, file)
    assert "No such file" in said(file, tmp_path / "nowhere" / "w.onnx")
    assert "cannot use weights" in said(Path(__file__), tmp_path / "w.onnx")
    for package in ("onnxruntime", "onnx"):
        monkeypatch.setitem(sys.modules, package, None)
        missing = f"{package}, which is not installed; run: pip install 'gozero[onnx]'"
        assert missing in said(file, tmp_path / "w.onnx")
    assert [path.name for path in tmp_path.iterdir()] == ["w.pt"]
