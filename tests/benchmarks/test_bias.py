"""The benchmark of values on recorded games: what it says of networks whose faults are known."""

import re
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from benchmarks import bias
from gozero.evaluators.base import Evaluation
from gozero.games.game import BLACK, TO_PLAY
from gozero.nets import model, weights
from tests.training.games import game_of, random_record
from training.records.library import Library
from training.records.records import Writer
from training.records.rows import is_held_out

GAMES = 30
SIZES = (5, 7)


class Guess:
    """An evaluator whose values are a function of the states."""

    def __init__(self, values: Callable[[np.ndarray], np.ndarray]) -> None:
        self.game, self.values = game_of(5), values

    def evaluate(self, states: np.ndarray) -> Evaluation:
        return Evaluation(np.zeros((len(states), 27), np.float32), self.values(states).astype(np.float32))


@pytest.fixture
def run(tmp_path: Path) -> Path:
    """A run folder with games of 5x5 and fewer of 7x7."""
    writer = Writer(tmp_path / "records" / "000001.gzr", {"game": "go", "rules": "chinese"})
    for seed in range(GAMES):
        writer.append(random_record(5, seed))
    for seed in range(4):
        writer.append(random_record(7, seed))
    return tmp_path


def test_a_network_that_believes_in_the_side_to_move_is_found_out(run: Path) -> None:
    entries = bias.newest(Library([str(run)]), "go", 300, held_out=False, sizes=SIZES)[5]
    row = bias.measure(Guess(lambda states: np.full(len(states), 0.2)), entries, pairs=3)
    assert row[:3] == (5, GAMES, 6 * GAMES)
    assert row.bias == pytest.approx(0.2)
    assert row.error == pytest.approx(0, abs=1e-6)
    assert row.sure == pytest.approx(0.2)
    won = sum(entry.record.score != 0 for entry in entries)
    assert row.winner == pytest.approx(0.5), f"one of each pair, half of each draw ({won} were won)"


def test_a_network_that_believes_in_black_has_no_bias(run: Path) -> None:
    entries = bias.newest(Library([str(run)]), "go", 300, held_out=False, sizes=SIZES)[5]
    black = np.mean([(1 + np.sign(entry.record.score)) / 2 for entry in entries])
    row = bias.measure(Guess(lambda states: np.where(states[:, TO_PLAY] == BLACK, 0.5, -0.5)), entries, pairs=3)
    assert row.bias == pytest.approx(0, abs=1e-6)
    assert row.winner == pytest.approx(black)


def test_the_newest_games_are_taken_or_those_that_are_held_out(run: Path) -> None:
    library = Library([str(run)])
    assert [entry.number for entry in bias.newest(library, "go", 10, held_out=False, sizes=SIZES)[5]] == list(
        range(21, 31)
    )
    held = bias.newest(library, "go", 300, held_out=True, sizes=SIZES)
    expected = [seed + 1 for seed in range(GAMES) if is_held_out(random_record(5, seed), bias.HELD_OUT)]
    assert [entry.number for entry in held[5]] == expected
    assert 0 < len(expected) < GAMES / 2


def test_games_that_taught_their_opening_alone_are_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "000001.gzr", {"game": "go", "rules": "chinese"})
    game = random_record(5, 1)
    writer.append(replace(game, targets=tuple(each for each in game.targets if each.ply < len(game.moves) / 4)))
    writer.append(game)
    found = bias.newest(Library([str(tmp_path / "000001.gzr")]), "go", 300, held_out=False, sizes=SIZES)
    assert [entry.number for entry in found[5]] == [2]


def test_a_game_without_a_pair_is_left_out(tmp_path: Path) -> None:
    writer = Writer(tmp_path / "000001.gzr", {"game": "go", "rules": "chinese"})
    game = random_record(5, 1)
    writer.append(replace(game, moves=game.moves[:1], targets=()))
    writer.append(game)
    found = bias.newest(Library([str(tmp_path / "000001.gzr")]), "go", 300, held_out=False, sizes=SIZES)
    assert [entry.number for entry in found[5]] == [2]


def test_the_command(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    config = model.config("b1c4", game_of(5))
    weights.save(tmp_path / "net.pt", model.build(config, seed=1), config, game="go")
    assert (
        bias.main(["--weights", str(tmp_path / "net.pt"), "--records", str(run), "--games", "2", "--pairs", "2"]) == 0
    )
    printed = capsys.readouterr().out
    for size in (5, 7):
        assert re.search(rf"^ +{size} +2 +8 +[+-]\d\.\d{{3}} ± \d\.\d{{3}} +\d+\.\d% +\d\.\d\d$", printed, re.M)


def test_a_network_of_one_board_is_measured_on_that(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    config = model.config("mlp1x8", game_of(7))
    weights.save(tmp_path / "net.pt", model.build(config, seed=1), config, game="go", size=7)
    command = ["--weights", str(tmp_path / "net.pt"), "--records", str(run), "--pairs", "2", "--games"]
    assert bias.main([*command, "1"]) == 0
    rows = capsys.readouterr().out.splitlines()[2:]
    assert [row.split()[:2] for row in rows] == [["7", "1"]]
    assert "nan" not in rows[0]
    shard = run / "records" / "000001.gzr"
    data = bytearray(shard.read_bytes())
    data[-40] ^= 1
    shard.write_bytes(bytes(data))
    assert bias.main([*command, "9"]) == 0
    out, err = capsys.readouterr()
    assert [row.split()[:2] for row in out.splitlines()[2:]] == [["7", "3"]]
    assert err == f"skipped 1 damaged record(s) in {shard}\n"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--records", "nowhere"], "no such folder or shard"),
        (["--weights", "nowhere.pt"], "no such file"),
        (["--weights", "connect4.pt"], "is a game of go, the weights play connect4; give other --records"),
    ],
)
def test_what_cannot_be_measured_is_one_line(
    run: Path, capsys: pytest.CaptureFixture[str], options: list[str], words: str
) -> None:
    assert bias.main(["--records", str(run), *options]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
