"""Inference graphs inside weights files: a player without torch, damage, and what stays as it was."""

import json
import shutil
import subprocess
import sys
import warnings
import zipfile
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gozero import games
from gozero.evaluators import graphs, quantise
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.openvino_core import compiled
from gozero.nets import attachments, locations, model, weights
from gozero.nets.features import encode
from gozero.system import jit
from tests.trained import random_states, trained_like

WITHOUT_TORCH = """
import pathlib, sys
sys.modules["torch"] = None
from gozero import games
from gozero.evaluators.factory import open_evaluator
from gozero.nets.weights import WeightsError
game = games.make("go", size=7)
print(open_evaluator(sys.argv[1], game, threads=1, precision="f32").evaluate(game.new_states(1)).value[0])
print(sys.modules.get("openvino_telemetry"), *map(str, pathlib.Path.home().iterdir()))
try:
    open_evaluator(sys.argv[2], game)
except WeightsError as error:
    print(error)
"""


def saved(path: Path, network: str = "b2c8", features: int = 1) -> Path:
    config = model.config(network, games.make("go", size=7), features)
    net = trained_like(config, random_states(games.make("go", size=7), 8))
    weights.save(path, net, config, size=7, trained_sizes=(5, 7))
    return path


@pytest.fixture(scope="module")
def with_graph(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = saved(tmp_path_factory.mktemp("weights") / "net.pt")
    graphs.embed(file)
    return file


@pytest.fixture
def file(with_graph: Path, tmp_path: Path) -> Path:
    """Weights that carry their graph, to be changed."""
    return Path(shutil.copy(with_graph, tmp_path))


def test_a_player_without_torch_gets_the_same_values_and_refuses_a_file_without_a_graph(tmp_path: Path) -> None:
    game, file, bare = games.make("go", size=7), saved(tmp_path / "net.pt", features=2), saved(tmp_path / "bare.pt")
    before = open_evaluator(file, game, threads=1, precision="f32").evaluate(game.new_states(1))
    graphs.embed(file)
    assert jit.CACHE_FOLDER is not None
    (home := tmp_path / "home").mkdir()
    environment = {"XDG_CACHE_HOME": str(jit.CACHE_FOLDER.parents[1]), "HOME": str(home), "PATH": ""}
    arguments = [sys.executable, "-c", WITHOUT_TORCH, str(file), str(bare)]
    done = subprocess.run(arguments, env=environment, capture_output=True, text=True, check=True)
    value, others, refusal = done.stdout.splitlines()
    assert float(value) == pytest.approx(before.value[0], abs=1e-6)
    assert others == "None", "OpenVINO's usage reports stay off, and nothing is written into the home folder"
    assert refusal.startswith(f"cannot use weights {bare}: it carries no inference graph, and PyTorch")
    assert refusal.endswith(f"run: pip install 'gozero[train]', then: gozero graph {bare}")


def test_networks_that_are_told_other_sizes_have_graphs_of_their_own() -> None:
    game = games.make("go", size=9)
    config = model.config("b2c8", game)
    tensors = trained_like(config, random_states(game, 8)).state_dict()
    state = game.new_states(1)
    for limit in (None, 5, 7):
        net = model.build(replace(config, size_limit=limit)).eval()
        net.load_state_dict(tensors)
        inputs = encode(game, state)
        with torch.inference_mode():
            expected = net(*map(torch.from_numpy, inputs)).value
        graph = compiled(graphs.convert(net), game.shape, threads=1, precision="f32")
        found = graph(list(inputs))["value"]
        assert found == pytest.approx(expected.numpy(), abs=1e-5), limit


def test_what_a_later_torch_says_of_tracing_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    trace = torch.jit.trace

    def warns(*values: Any, **named: Any) -> Any:
        warnings.warn("`torch.jit.trace` is deprecated", FutureWarning, stacklevel=2)
        return trace(*values, **named)

    monkeypatch.setattr(torch.jit, "trace", warns)
    monkeypatch.setattr(graphs, "_TRACES", {})
    with warnings.catch_warnings(record=True) as shown:
        warnings.simplefilter("always")
        graphs.convert(model.build(model.config("b1c8", games.make("go", size=5), 1)))
    assert not [str(found.message) for found in shown if found.category is FutureWarning]


def test_tensors_and_metadata_stay_as_they_are(tmp_path: Path) -> None:
    file = saved(tmp_path / "net.pt")
    before, head = weights.load(file), weights.header(file)
    sizes = []
    for _ in ("once", "again"):
        graphs.embed(file)
        after = weights.load(file)
        assert (after.sha256, after.provenance, weights.header(file)) == (before.sha256, before.provenance, head)
        assert all(np.array_equal(after.state_dict[name], tensor) for name, tensor in before.state_dict.items())
        sizes.append(file.stat().st_size)
    assert sizes[1] <= sizes[0] + 500, "graphs do not pile up; names in a graph's text vary in length"
    assert list(tmp_path.iterdir()) == [file]


def test_a_full_disk_of_temporary_files_is_an_error_of_the_system(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = file.read_bytes()
    (tmp_path / "graph.bin").symlink_to("/dev/full")
    monkeypatch.setattr(graphs.tempfile, "TemporaryDirectory", lambda: nullcontext(str(tmp_path)))
    with pytest.raises(OSError, match="does not fit") as caught:
        graphs.embed(file)
    assert (caught.value.filename, file.read_bytes()) == (str(tmp_path), before)


def test_ranges_come_with_the_graph(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = saved(tmp_path / "net.pt", "b2c32")
    graphs.embed(file)
    stored = graphs.load(file, "go")
    assert stored.embedded_ranges.keys() == {"5x5", "7x7"}
    expected = quantise.ranges(stored.graph, games.make("go", size=7), 1)
    monkeypatch.setattr(quantise, "ranges", lambda *_: pytest.fail("these are known"))
    assert stored.ranges(games.make("go", size=7), 1) == pytest.approx(expected, rel=0.02)
    monkeypatch.setattr(quantise, "ranges", lambda *_: expected)
    assert stored.ranges(games.make("go", size=9), 1) == expected, "of another board they are found out"
    assert graphs.load(saved(tmp_path / "small.pt", "b2c8"), "go").embedded_ranges == {}


@pytest.mark.parametrize("part", attachments.GRAPH)
def test_a_damaged_graph_is_named(file: Path, part: str) -> None:
    content = attachments.read(file, attachments.GRAPH)
    assert content is not None
    attachments.write(file, {**content, part: content[part][:-40]})
    with pytest.raises(weights.WeightsError, match="its inference graph is damaged"):
        graphs.load(file, "go")


def flipped(file: Path, member: str, offset: int) -> None:
    """Change one byte of a compressed entry, `offset` bytes after the name in its local header."""
    content = bytearray(file.read_bytes())
    with zipfile.ZipFile(file) as archive:
        entry = next(entry for entry in archive.infolist() if entry.filename.endswith(member))
    content[entry.header_offset + 30 + len(entry.filename) + offset] ^= 0xFF
    file.write_bytes(bytes(content))


@pytest.mark.parametrize("part", attachments.GRAPH)
@pytest.mark.parametrize("offset", [0, 1, 12])
def test_damage_on_the_disk_is_named(file: Path, part: str, offset: int) -> None:
    flipped(file, part, offset)
    with pytest.raises(weights.WeightsError, match="its inference graph is damaged"):
        graphs.load(file, "go")
    assert "graph       " in weights.describe(file)


def test_a_file_with_damage_that_torch_does_not_see_gets_no_graph(file: Path) -> None:
    flipped(file, "data/1", -1)  # in the name
    with pytest.raises(weights.WeightsError, match="damaged"):
        graphs.embed(file)


@pytest.mark.parametrize("ranges", [[], None, {"7x7": 5}, {"7x7": {"blocks.0.conv1": "wide"}}])
def test_ranges_of_a_wrong_kind_are_damage(file: Path, ranges: object) -> None:
    content = attachments.read(file, attachments.GRAPH)
    assert content is not None
    description = json.loads(content["graph.json"]) | {"ranges": ranges}
    attachments.write(file, {**content, "graph.json": json.dumps(description).encode()})
    with pytest.raises(weights.WeightsError, match="its inference graph is damaged"):
        graphs.load(file, "go")


def test_a_link_stays_a_link_and_permissions_stay(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    file, link = saved(tmp_path / "folder" / "bare"), tmp_path / "link.pt"
    file.chmod(0o600)
    link.symlink_to(file)
    for _ in ("once", "again"):
        graphs.embed(link)
        assert link.is_symlink()
        assert file.stat().st_mode & 0o777 == 0o600
        assert attachments.read(file, attachments.GRAPH) is not None


def test_another_game_is_refused(file: Path) -> None:
    """Also by the graph alone: nothing is loaded that would say so."""
    with pytest.raises(weights.WeightsError, match="it plays go, not othello"):
        open_evaluator(file, games.make("othello"), backend="openvino")


@pytest.mark.parametrize("name", sorted(path.name for path in locations.SHIPPED_FOLDER.glob("*.pt")))
def test_what_ships_needs_no_torch(name: str) -> None:
    file = locations.SHIPPED_FOLDER / name
    stored = graphs.load(file, weights.header(file).game)
    assert attachments.read(file, attachments.GRAPH) is not None
    assert "graph       carried: plays without PyTorch" in weights.describe(file)
    if quantise.width(stored.graph) >= quantise.LEAST_CHANNELS:
        assert stored.embedded_ranges
