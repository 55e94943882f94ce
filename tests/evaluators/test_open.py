"""Opening weights files as evaluators: the choice of backend, the refusals, and OpenVINO's cache of converted networks."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from gozero import games
from gozero.evaluators import factory, graphs
from gozero.evaluators.cuda_evaluator import CudaEvaluator
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.evaluators.torch_evaluator import TorchEvaluator
from gozero.nets import features, model, weights
from gozero.system import caches, jit
from tests.trained import random_states, trained_like

KERNELS = jit.CACHE_FOLDER or Path("no/cache/folder")
CONFIG = model.config("b2c8")


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty cache folder of the test's own."""
    monkeypatch.setattr(caches, "user_cache", lambda: tmp_path / "cache")
    return tmp_path / "cache"


@pytest.fixture
def file(tmp_path: Path) -> Path:
    net = trained_like(CONFIG, random_states(games.make("go", size=7), 8))
    weights.save(tmp_path / "net.pt", net, CONFIG)
    return tmp_path / "net.pt"


def folders(cache: Path) -> list[Path]:
    """The converted networks in the cache, whole or not."""
    return list(cache.glob("openvino-*/*"))


@pytest.mark.parametrize("size", [5, 9, 19])
def test_the_cached_graph_plays_every_board(file: Path, cache: Path, size: int) -> None:
    """It was traced on 13x13, and stays in the cache in a form for all boards."""
    game = games.make("go", size=size)
    states = random_states(game, 3)
    with torch.inference_mode():
        expected = weights.load(file).network()(*map(torch.from_numpy, features.encode(game, states)))
    for _ in ("converted", "from the cache"):
        found = open_evaluator(file, game, backend="openvino", precision="f32", threads=1).evaluate(states)
        np.testing.assert_allclose(found.logits, expected.policy.numpy(), atol=1e-3)
        np.testing.assert_allclose(found.value, expected.value.numpy(), atol=1e-3)
    assert len(folders(cache)) == 1
    assert folders(cache)[0].name == weights.file_hash(file)


def test_the_second_start_needs_no_torch(file: Path, tmp_path: Path) -> None:
    program = (
        "import pathlib, sys\n"
        # jit first: it looks for the compiled kernels, which stay where they are
        "from gozero.system import caches, jit\nfrom gozero import games\n"
        "from gozero.evaluators.factory import open_evaluator\n"
        f"caches.user_cache = lambda: pathlib.Path({str(tmp_path)!r})\n"
        "game = games.make('go', size=7)\n"
        f"print(open_evaluator({str(file)!r}, game, backend='openvino', "
        "threads=1).evaluate(game.new_states(2)).value.shape)\n"
        "print('torch' in sys.modules, sys.modules.get('openvino_telemetry'))\n"
    )
    environment = {
        "XDG_CACHE_HOME": str(KERNELS.parents[1]),
        "HOME": str(tmp_path),
        "PATH": "",
    }  # the compiled kernels are kept
    for torch_used in (True, False):
        run = subprocess.run(
            [sys.executable, "-c", program],
            env=environment,
            cwd=Path.cwd(),
            capture_output=True,
            text=True,
            check=False,
        )
        assert run.stdout.splitlines() == ["(2,)", f"{torch_used} None"], run.stderr
        assert run.stderr == ""
    assert not (tmp_path / "intel").exists(), "OpenVINO's usage reports stay off"


@pytest.mark.parametrize("trouble", [OSError("there is no home folder"), RuntimeError("basic_ios::clear")])
def test_an_engine_needs_no_cache(trouble: Exception, file: Path, cache: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(*_: object, **__: object) -> None:
        raise trouble

    game = games.make("go", size=7)
    expected = open_evaluator(file, game, backend="openvino", precision="f32").evaluate(game.new_states(1))
    shutil.rmtree(cache)
    if isinstance(trouble, OSError):
        monkeypatch.setattr(caches, "user_cache", fail)
    else:
        monkeypatch.setattr(graphs.openvino, "save_model", fail)  # as on a full disk
    found = open_evaluator(file, game, backend="openvino", precision="f32").evaluate(game.new_states(1))
    np.testing.assert_array_equal(found.value, expected.value)
    assert folders(cache) == []


@pytest.mark.parametrize("victim", ["graph.xml", "graph.bin", "manifest.json"])
@pytest.mark.parametrize("damage", ["absent", "cut"])
def test_a_damaged_cache_is_made_again(file: Path, cache: Path, victim: str, damage: str) -> None:
    game = games.make("go", size=7)
    expected = open_evaluator(file, game, backend="openvino").evaluate(game.new_states(1))
    broken = folders(cache)[0] / victim
    if damage == "absent":
        broken.unlink()
    else:
        broken.write_bytes(broken.read_bytes()[:20])
    found = open_evaluator(file, game, backend="openvino").evaluate(game.new_states(1))
    assert np.array_equal(found.logits, expected.logits)
    assert broken.stat().st_size > 20


def test_a_cache_that_cannot_be_written_is_no_error(file: Path, cache: Path) -> None:
    cache.write_text("a file where the folder should be")
    game = games.make("go", size=7)
    assert open_evaluator(file, game, backend="openvino").evaluate(game.new_states(2)).value.shape == (2,)


def test_other_weights_under_the_same_name_are_noticed(file: Path, cache: Path) -> None:
    game = games.make("go", size=7)
    before = open_evaluator(file, game, backend="openvino").evaluate(game.new_states(1))
    weights.save(file, trained_like(CONFIG, random_states(game, 8), seed=2), CONFIG)
    after = open_evaluator(file, game, backend="openvino").evaluate(game.new_states(1))
    assert not np.allclose(before.logits, after.logits, atol=0.1)
    assert len(folders(cache)) == 2


def test_the_cache_forgets_what_was_not_used_for_long(cache: Path, file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(graphs, "KEPT_GRAPHS", 2)
    game = games.make("go", size=7)
    for seed in range(3):
        weights.save(file, model.build(CONFIG, seed), CONFIG)
        open_evaluator(file, game, backend="openvino")
    assert len(folders(cache)) == 2
    assert weights.file_hash(file) in {folder.name for folder in folders(cache)}


@pytest.mark.parametrize("backend", ["torch", "openvino"])
def test_what_does_not_fit_is_refused(tmp_path: Path, file: Path, cache: Path, backend: str) -> None:
    bound = model.NetConfig("agz-small", "agz", blocks=1, channels=4, size=13)
    weights.save(tmp_path / "agz.pt", model.build(bound), bound)
    weights.save(tmp_path / "nogo.pt", model.build(CONFIG), CONFIG, game="nogo")
    game = games.make("go", size=9)
    start = f"cannot use weights {tmp_path}"
    for _ in ("converted", "from the cache"):
        with pytest.raises(
            weights.WeightsError, match=rf"^{start}/agz.pt: network agz-small plays 13x13 only, not 9x9$"
        ):
            open_evaluator(tmp_path / "agz.pt", game, backend=backend)
        with pytest.raises(weights.WeightsError, match=rf"^{start}/nogo.pt: it plays nogo, not go$"):
            open_evaluator(tmp_path / "nogo.pt", game, backend=backend)
    file.write_bytes(b"PK")
    with pytest.raises(weights.WeightsError, match="not a gozero weights file"):
        open_evaluator(file, game, backend=backend)
    with pytest.raises(weights.WeightsError, match="no such file"):
        open_evaluator(tmp_path / "none.pt", game, backend=backend)


def test_a_cached_graph_for_other_features_is_refused(file: Path, cache: Path) -> None:
    game = games.make("go", size=7)
    open_evaluator(file, game, backend="openvino")
    manifest = folders(cache)[0] / "manifest.json"
    manifest.write_text(json.dumps(json.loads(manifest.read_text()) | {"feature_version": 99}))
    with pytest.raises(weights.WeightsError, match="made for input features 99, this gozero has 1"):
        open_evaluator(file, game, backend="openvino")


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
    for evaluator in (CudaEvaluator, TorchEvaluator):
        monkeypatch.setattr(evaluator, "open", lambda *opened, evaluator=evaluator, **options: evaluator.__name__)
    assert open_evaluator(file, games.make(name), backend="torch") == kind


def test_unknown_choices_are_named(file: Path) -> None:
    game = games.make("go", size=7)
    with pytest.raises(ValueError, match="unknown backend 'jax'; use one of: auto, torch, openvino"):
        open_evaluator(file, game, backend="jax")
    with pytest.raises(ValueError, match="unknown precision 'f64'; use one of: auto, f32, bf16"):
        open_evaluator(file, game, precision="f64")
