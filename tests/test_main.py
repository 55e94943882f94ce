"""`gozero`: what its commands print, and one line with exit code 2 for whatever is wrong."""

from pathlib import Path

import pytest

from gozero import games
from gozero.__main__ import main
from gozero.nets import model, weights
from gozero.system import options
from gtp.settings import GtpSettings
from tests.training.refusals import Refused

CONFIG = model.config("b2c8")


@pytest.mark.parametrize("name", ["Go", "GO", "TicTacToe"])
def test_a_game_may_be_named_in_any_case(name: str) -> None:
    assert main(["perft", name, "--depth", "1", "--size", "3"]) == 0
    assert options.check(options.entry(GtpSettings, "game"), name, "--game") == name.lower()


def test_perft_prints_the_counts_of_all_depths_on_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["perft", "go", "--size", "2", "--depth", "8", "--rules", "chinese"]) == 0
    assert capsys.readouterr().out == "5 21 68 156 316 604 1088 2184\n"


@pytest.mark.parametrize(
    ("arguments", "layer", "parameters"),
    [
        (["agz13"], "Conv2d(11, 256, ", "11,941,240"),
        (["vgg2c64", "--game", "Gomoku"], "BatchRenorm(64, ", None),
        (["mlp2x200", "--game", "tictactoe"], "Linear(in_features=200, out_features=200, ", None),
    ],
)
def test_net_prints_the_layers_of_a_network(
    arguments: list[str], layer: str, parameters: str | None, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["net", *arguments]) == 0
    lines = capsys.readouterr().out
    assert layer in lines
    if parameters is None:
        config = model.config(arguments[0], games.make(arguments[-1].lower()))
        parameters = f"{model.parameter_count(model.build(config)):,}"
    assert lines.endswith(f"\n{parameters} parameters\n")


def test_weights_describes_a_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    weights.save(tmp_path / "w.pt", model.build(CONFIG, seed=0), CONFIG)
    assert main(["weights", str(tmp_path / "w.pt")]) == 0
    assert capsys.readouterr().out == weights.describe(tmp_path / "w.pt") + "\n"


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["net", "b10"], "unknown network 'b10'"),
        (["net", "weights/best.pt"], "weights/best.pt is no name of a network; `gozero weights weights/best.pt` describes"),
        (["net", "b4c48", "--game", "chess"], "unknown game 'chess'"),
        (["net", "agz13", "--game", "nogo"], "network agz13 plays Go on 13x13 only, not nogo on 9x9"),
        (["perft", "chess"], "unknown game 'chess'"),
        (["perft", "go", "--size", "20"], "board size 20 is not supported"),
        (["perft", "go", "--rules", "house"], "unknown rules 'house'"),
        (["perft", "go", "--depth", "0"], "--depth 0: expected 1 to 1,000"),
        (["perft", "go", "--depth", "99999999999"], "--depth 99999999999: expected 1 to 1,000"),
        (["weights", "/nowhere/w.pt"], "cannot use weights /nowhere/w.pt: no such file"),
    ],
)
def test_bad_input_is_one_line(arguments: list[str], message: str, refused: Refused) -> None:
    assert refused(main, arguments).startswith(f"gozero {arguments[0]}: {message}")


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["plya"], "'plya'; did you mean 'play'?"),
        (["doctor"], "did you mean 'report'?"),
        (["perft", "go", "--dpeth", "3"], "unrecognized arguments: --dpeth 3; did you mean --depth? see"),
        (["perft", "go", "--depth", "many"], "--depth: invalid int value: 'many'; see gozero perft --help"),
        (["play", "go", "--colour", "red"], "'red'"),
        (["net"], "name; see gozero net --help"),
    ],
)
def test_a_wrong_command_line_is_one_line(arguments: list[str], words: str, refused: Refused) -> None:
    assert words in (said := refused(main, arguments)) and said.startswith("gozero")


def test_weights_prints_nested_settings_a_line_each(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    made_by = {"run": "r", "settings": {"game": "go", "learner": {"batch": 64}, "stage": [{"rows": 5}]}}
    weights.save(tmp_path / "w.pt", model.build(CONFIG, seed=0), CONFIG, provenance=made_by)
    assert main(["weights", str(tmp_path / "w.pt")]) == 0
    lines = capsys.readouterr().out.splitlines()[-4:]
    assert [line.split() for line in lines] == [
        ["run", "r"], ["settings.game", "go"], ["settings.learner.batch", "64"], ["settings.stage.1.rows", "5"],
    ]  # fmt: skip
    assert len({line.rindex(line.split()[1]) for line in lines}) == 1, "the values stand below each other"


def test_a_graph_that_cannot_be_written_is_one_line(
    small_weights: Path, monkeypatch: pytest.MonkeyPatch, refused: Refused
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", "net.pt")

    monkeypatch.setattr("gozero.nets.attachments.write", refuse)
    assert refused(main, ["graph", str(small_weights)]) == "gozero graph: cannot use net.pt: Permission denied\n"


def test_a_bug_shows_as_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object, **named: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(games, "make", broken)
    with pytest.raises(ValueError, match="broadcast"):
        main(["perft", "go", "--size", "2"])
