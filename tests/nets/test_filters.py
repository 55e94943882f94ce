"""The first layer of every kind of network as a picture: what is red, what is blue, and one line for what is wrong."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from matplotlib.image import imread

from gozero import games, plots
from gozero.__main__ import main
from gozero.nets import filters, locations, model, weights
from tests.training.refusals import Refused

KINDS = [  # network, game, features, filters of the first layer, their height and width, pairs, singles
    ("b2c16", "go", 1, (16, 3, 3), 5, 1),
    ("b2c16", "go", 2, (16, 3, 3), 5, 4),
    ("agz13", "go", 1, (256, 3, 3), 5, 1),
    ("se2c8", "othello", 1, (8, 3, 3), 2, 1),
    ("vgg2c8k4", "connect4", 1, (8, 4, 4), 2, 1),
    ("mlp2x20", "connect4", 1, (20, 6, 7), 2, 1),
    ("s0mlp", "connect4", 1, (109, 6, 7), 1, 1),
    ("s0vgg", "tictactoe", 1, (88, 2, 2), 1, 1),
    ("s0senet", "tictactoe", 1, (64, 3, 3), 1, 1),
]


def weights_file(path: Path, network: str, game: str, version: int = 1) -> Path:
    config = model.config(network, games.make(game), version)
    weights.save(path, model.build(config, seed=1), config, game=game)
    return path


@pytest.mark.parametrize(("network", "game", "version", "shape", "pairs", "singles"), KINDS)
def test_every_network_shows_its_first_layer(
    network: str, game: str, version: int, shape: tuple[int, int, int], pairs: int, singles: int, tmp_path: Path
) -> None:
    layer = filters.first_layer(weights.load(weights_file(tmp_path / "w.pt", network, game, version), game))
    count, planes, height, width = layer.weights.shape
    assert (count, height, width) == shape
    assert (len(layer.pairs), len(layer.singles)) == (pairs, singles)
    used = sorted([*(plane for _, pair in layer.pairs for plane in pair), *(plane for _, plane in layer.singles)])
    assert used == list(range(planes)), "each plane is shown once"


def test_pairs_are_the_same_thing_of_both_sides(tmp_path: Path) -> None:
    layer = filters.first_layer(weights.load(weights_file(tmp_path / "w.pt", "b2c16", "go")))
    assert layer.pairs == [("stones", (0, 5)), *((f"stones, {age} ago", (age, 5 + age)) for age in range(1, 5))]
    assert layer.singles == [("Black to move", 10)] and "red the side to move" in layer.title


def pixels(path: Path) -> np.ndarray:
    """RGB float [h, w, 3] of a PNG."""
    return np.asarray(imread(path))[:, :, :3]


def test_red_blue_and_purple_are_where_they_belong(tmp_path: Path) -> None:
    """Three filters of one point: the first side's stones, the other's, both; the fourth answers to neither."""
    layer = np.zeros((4, 3, 1, 1), np.float32)
    layer[0, 0] = layer[1, 1] = layer[2, :2] = layer[3, 2] = 0.5
    layer[0, 1], layer[3, 0] = -2.0, -1.0
    picture = tmp_path / "p.png"
    picture.write_bytes(plots.sides(plots.Filters("", layer, [("stones", (0, 1))])))
    image = pixels(picture)
    seen = {tuple(colour) for colour in np.round(image.reshape(-1, 3), 3).tolist()}
    assert {(1.0, 0.0, 0.0), (0.0, 0.0, 1.0), (1.0, 0.0, 1.0), (0.0, 0.0, 0.0)} <= seen
    first = {
        colour: np.argwhere((image == colour).all(axis=2))[:, 1].mean() for colour in ((1, 0, 0), (0, 0, 1), (1, 0, 1))
    }
    assert first[1, 0, 0] < first[0, 0, 1] < first[1, 0, 1], "the filters stand in their order"


def test_the_command_draws_a_png_and_says_what_is_on_it(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file, out = weights_file(tmp_path / "w.pt", "s0vgg", "tictactoe"), tmp_path / "p.png"
    out.write_bytes(b"an older picture")
    assert main(["weights", str(file), "--filters", str(out)]) == 0
    assert capsys.readouterr().out == f"{out}: 88 filters of 2x2, red the first player, blue the second player\n"
    assert out.read_bytes().startswith(b"\x89PNG")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["p.png", "w.pt"]


def test_a_picture_of_very_many_filters_has_an_end(tmp_path: Path) -> None:
    file = weights_file(tmp_path / "w.pt", "mlp2x400", "othello")
    assert ": the first 72 of 400 filters of 8x8" in filters.draw(file, tmp_path / "p.png")
    assert max(pixels(tmp_path / "p.png").shape) < 2**15


@pytest.mark.parametrize("content", [{"networks": []}, [1], None])
def test_other_files_are_one_line(content: object, tmp_path: Path, refused: Refused) -> None:
    if content is None:
        (tmp_path / "w.pt").write_text("a text")
    else:
        torch.save(content, tmp_path / "w.pt")
    asked = ["weights", str(tmp_path / "w.pt"), "--filters", str(tmp_path / "p.png")]
    assert "cannot use weights" in refused(main, asked)
    assert not (tmp_path / "p.png").exists()


def test_a_picture_takes_no_other_files_place(tmp_path: Path, refused: Refused) -> None:
    file = tmp_path / "mine.pt"
    file.write_bytes(locations.find("ttt.pt").read_bytes())
    assert "expected a name that ends with .png" in refused(main, ["weights", str(file), "--filters", str(file)])
    assert file.read_bytes() == locations.find("ttt.pt").read_bytes()


def test_a_place_that_cannot_be_written_is_one_line(tmp_path: Path, refused: Refused) -> None:
    file = str(weights_file(tmp_path / "w.pt", "s0vgg", "tictactoe"))
    nowhere = tmp_path / "nowhere" / "p.png"
    assert f"cannot use {nowhere}: No such file" in refused(main, ["weights", file, "--filters", str(nowhere)])
    folder = tmp_path / "folder.png"
    folder.mkdir()
    assert "Is a directory" in refused(main, ["weights", file, "--filters", str(folder)])
    assert sorted(path.name for path in tmp_path.iterdir()) == ["folder.png", "w.pt"]


def test_without_matplotlib_a_file_is_still_described(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], refused: Refused
) -> None:
    file = str(weights_file(tmp_path / "w.pt", "s0vgg", "tictactoe"))
    for name in ("matplotlib", "matplotlib.figure", "matplotlib.backends.backend_agg"):
        monkeypatch.setitem(sys.modules, name, None)
    said = refused(main, ["weights", file, "--filters", str(tmp_path / "p.png")])
    assert "pip install 'gozero[train]'" in said
    assert main(["weights", file]) == 0
    assert "s0vgg" in capsys.readouterr().out
