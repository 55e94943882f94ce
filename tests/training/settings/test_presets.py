"""Presets and what the command line lays over them."""

import argparse
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from gozero.nets import features, weights
from gozero.nets.course_nets import BODIES
from gozero.system.options import SettingsError
from tests.training.refusals import one_line
from training.commands import start, train
from training.learner.learner import network_config
from training.records import records
from training.settings import config, presets
from training.settings.config import LoopSettings, Stage

SEEDS = ("s0", "s2", "s3", "s4")


def completed(options: argparse.Namespace) -> tuple[LoopSettings, Path]:
    """The settings of a run and its folder, as `gozero train` makes them."""
    settings, folder = train.asked(options)
    return start.completed(settings), folder


def load(*overrides: str) -> LoopSettings:
    return presets.load(presets.path_of("tiny"), "preset tiny", overrides)


def test_the_table_lists_each_preset_with_what_it_is_for() -> None:
    lines = presets.table().splitlines()
    assert [line.split()[0] for line in lines] == presets.names()
    assert {"go13", "go7", "tiny", *SEEDS} <= set(presets.names())
    assert all(len(line.split()) > 4 and "#" not in line for line in lines)


def test_a_wrong_name_lists_the_presets() -> None:
    with pytest.raises(SettingsError, match=r"no preset is called 'go14'; there are .*go13, go7.*--config FILE\.toml"):
        presets.path_of("go14")


def test_overrides_reach_every_kind_of_setting() -> None:
    stages = ("stage.2.full_visits=9", "stage.1.sizes={7=1, 9=3}")
    settings = load("seed=7", "network=b6c64", "learner.batch=64", "selfplay.root=puct", *stages)
    assert (settings.network, settings.learner.batch, settings.seed, settings.selfplay.root) == ("b6c64", 64, 7, "puct")
    assert settings.stage[1].full_visits == 9
    assert settings.stage[0].sizes == {7: 0.25, 9: 0.75}


def test_each_setting_can_be_set_as_it_is_listed() -> None:
    settings, path, listed = load("selfplay.size_games={9=4}", "selfplay.varied_komi=false"), [], []
    for line in config.describe(settings).splitlines():
        text = line.lstrip()
        del path[(len(line) - len(text)) // 2 :]
        if text[0] == "[":
            path.append(".".join(text.replace("[", "").replace("]", "").split()))  # `[[stage]] 1` is stage.1
        else:
            listed.append(".".join([*path, text.partition("  #")[0].replace(" = ", "=")]))
    assert load(*listed) == settings


def test_the_command_lines_own_options_come_last() -> None:
    settings = presets.load(presets.path_of("tiny"), "tiny", ["threads=3"], {"threads": 2, "hours": None})
    assert settings.threads == 2


@pytest.mark.parametrize(
    ("preset", "game", "sizes"),
    [
        ("s2", "nogo", {9}), ("s2", "go", {9}), ("s2", "gomoku", {9}), ("s2", "othello", {8}), ("s2", "connect4", {7}),
        ("s2", "tictactoe", {3}), ("s2", "simple_go", {5}), ("s4", "othello", {8}), ("s4", "tictactoe", {3}),
        ("s4", "nogo", {7}), ("go13", "nogo", {7, 9, 11, 13}), ("go13", "simple_go", {5}),
    ],
)  # fmt: skip
def test_board_sizes_follow_the_game(preset: str, game: str, sizes: set[int]) -> None:
    arguments = ["--preset", preset, "--set", f"game={game}", "--simulator", "numba"]
    settings, _ = completed(train.parser().parse_args(arguments))
    assert settings.game == game
    assert {size for stage in settings.stage for size in stage.sizes} == sizes


def test_board_sizes_that_are_asked_for_stay() -> None:
    settings = presets.load(presets.path_of("s2"), "s2", ["game=go", "stage.1.sizes={13=1}"])
    assert settings.stage[0].sizes == {13: 1.0}
    with pytest.raises(SettingsError, match="stage 1: board size 9 is not supported"):
        completed(
            train.parser().parse_args(["--preset", "s2", "--set", "game=othello", "--set", "stage.1.sizes={9=1}"])
        )


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_presets_leave_out_what_their_authors_did_not_have(name: str) -> None:
    settings = presets.load(presets.path_of(name), name)
    learner = settings.learner
    assert (learner.ema, learner.clip, learner.warm_up, learner.anneal, learner.root_value_share) == (0, 0, 0, 0, 0)
    assert (learner.precision, settings.selfplay.precision, learner.decay_all) == ("f32", "f32", True)
    assert (settings.replay.held_out, settings.replay.surprise_share, settings.selfplay.forced_playouts) == (0, 0, 0)
    assert settings.replay.window_games > 0
    assert settings.selfplay.full_share == 1 and settings.selfplay.root == "puct"
    network = network_config(settings)
    assert network.kind in ("agz", *BODIES) or (network.norm, network.value) == ("batch", "scalar")


@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_presets_can_be_tried_first(name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    few = ("--set", "learner.batch=4", "--set", "selfplay.games=1", "--simulator", "auto", "--threads", "1")
    assert train.main(["--preset", name, "--run", str(tmp_path / name), "--dry-run", *few]) == 0
    assert "nothing was left behind" in capsys.readouterr().out
    assert not (tmp_path / name).exists()


@pytest.mark.slow
@pytest.mark.parametrize("name", SEEDS)
def test_the_seeds_presets_run_for_two_minutes(name: str, tmp_path: Path) -> None:
    """As they are, on their own boards; stopped after two minutes they leave a run that can be gone on with."""
    folder = tmp_path / name
    command = [sys.executable, "-m", "gozero", "train", "--preset", name, "--run", str(folder), "--simulator", "auto"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as run:
        try:
            _, said = run.communicate(timeout=120)
        except subprocess.TimeoutExpired:
            run.send_signal(signal.SIGINT)
            _, said = run.communicate(timeout=300)
    assert run.returncode == 0, said[-3000:]
    assert "stopped, all is saved" in said and "Traceback" not in said
    assert any((folder / "checkpoints").glob("*.pt"))


def test_what_is_wrong_is_blamed_on_the_file_or_on_the_command_line(tmp_path: Path) -> None:
    file = tmp_path / "mine.toml"
    for line, words in (("hours = 'x'", f"{file}: hours = 'x'"), ("features = 99", "the command line: keep = 'x'")):
        file.write_text(f"base = 'tiny'\n{line}\n")
        with one_line(SettingsError, words):
            presets.load(file, "", ["features=1", "keep=x"])


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("learner.batch", "expected KEY=VALUE"),
        ("learner.batch=x", "the command line: learner: batch = 'x': expected a whole number"),
        ("learner.batsh=3", "the command line: learner: unknown setting 'batsh'"),
        ("learner.batch.size=3", "learner.batch holds no settings"),
        ("learner.batch.size.x=3", "no 'size' there: it is a single value"),
        ("stage.3.rows=4", "no '3' there: there are 2 stages"),
        ("stage.rows=4", "stage holds no settings; stages are stage.1"),
        (f"learner.batch={'9' * 5000}", "expected a whole number"),
        (f"learner.batch={'[' * 5000}", "expected a whole number"),
        (f"generation_rows={10**400}", "expected at most 9223372036854775807"),
        (f"generation_rows={-(10**400)}", "is out of range: at least "),
        (f"stage.1.sizes.5={10**400}", "expected a share, a number from 0 to 1e9"),
    ],
)
def test_a_bad_override_is_one_clear_line(assignment: str, words: str) -> None:
    with one_line(SettingsError, words):
        load(assignment)


VISITS = "full_visits=4"
SHRUNK = (
    "generations=1", "generation_rows=24", "threads=1", "network=b1c8", "selfplay.games=4", "learner.batch=8",
    "gate.games=0", "monitor.report_every=0", "monitor.strength_every=0",
)  # fmt: skip


@pytest.mark.parametrize(("name", "size", "komi"), [("s0", 3, 0), ("s2", 5, 0), ("s3", 5, 7.5), ("s4", 7, 0)])
def test_the_seeds_presets_train(name: str, size: int, komi: float, tmp_path: Path) -> None:
    """A generation of each on a small board with a tiny network; everything else is as the preset has it."""
    stage = (
        f"stage.1.sizes={{{size}=1}}", "stage.1.full_visits=4", "stage.1.cheap_visits=4", "replay.window=100",
        "simulator=auto",
    )  # fmt: skip
    few = ("learner.generation_steps=20",) if name == "s0" else ()
    overrides = [part for assignment in (*SHRUNK, *stage, *few) for part in ("--set", assignment)]
    assert train.main(["--preset", name, "--run", str(tmp_path / name), *overrides]) == 0
    games = records.read(tmp_path / name / "records" / "000001.gzr").records
    assert all(game.rows == len(game.moves) for game in games), "every move is recorded"
    assert {game.komi for game in games} == {komi}


@pytest.mark.parametrize("name", ["connect4", "gomoku", "nogo", "othello", "simple_go", "ttt"])
def test_every_games_preset_trains(name: str, tmp_path: Path) -> None:
    """Two generations of each on its smallest board, the second with a tiny network's own games."""
    settings = presets.load(presets.path_of(name), name)
    size = min(size for stage in settings.stage for size in stage.sizes)
    overrides = [
        f"stage.{number + 1}.{key}"
        for number in range(len(settings.stage))
        for key in (f"sizes={{{size}=1}}", "rows=20", VISITS)
    ]
    small = [part for assignment in (*SHRUNK[1:], *overrides, "generations=2") for part in ("--set", assignment)]
    assert train.main(["--preset", name, "--run", str(tmp_path / name), *small]) == 0
    games = [game for shard in (tmp_path / name / "records").glob("*.gzr") for game in records.read(shard).records]
    assert {game.size for game in games} == {size}
    assert {game.ending for game in games} == {"finished"}
    found = weights.load(tmp_path / name / "weights.pt", settings.game)
    assert found.config.planes == len(features.layout(settings.game).planes)


def test_the_seeds_presets_say_what_their_authors_did() -> None:
    s0, s2, s3, s4 = (presets.load(presets.path_of(name), name) for name in SEEDS)
    assert (s3.network, s3.simulator, s3.learner.optimiser, s3.learner.batch, s3.learner.epochs) == (
        "agz13", "pachi", "sgd", 128, 10,
    )  # fmt: skip
    assert (s3.stage[0].full_visits, s3.selfplay.c_puct, int(s3.selfplay.max_length * 169)) == (100, 1.0, 400)
    assert (s3.selfplay.temperature, s3.selfplay.temperature_games, s3.selfplay.temperature_end) == (1.0, 10, 0.4)
    assert (s2.mode, s2.network, s2.stage[0].full_visits) == ("semi-asynchronous", "b5c64", 400)
    assert (s2.selfplay.games, s2.selfplay.groups) == (64, 1)
    assert (s2.selfplay.c_puct, s2.gate.share, s2.learner.reuse) == (1.5, 0.55, 2)
    assert (s2.selfplay.dirichlet_alpha, s2.replay.window_games, s2.games) == (0.135, 100_000, 2_000_000)
    assert (s4.mode, s4.stage[0].full_visits, s4.gate.share, s4.gate.drop_window) == ("asynchronous", 100, 0.60, True)
    assert s4.selfplay.dirichlet_alpha == 0.8
    assert (s4.selfplay.temperature, s4.selfplay.temperature_end, s4.selfplay.temperature_plies) == (1.0, 0.0, 10)
    assert (s3.generation_games, s3.games) == (1, 100_000)
    assert (s0.generation_games, s0.learner.batch, s0.learner.generation_steps) == (30, 64, 1000)
    assert (s0.stage[0].full_visits, s0.selfplay.c_puct) == (50, 3.0)
    assert (s0.learner.optimiser, s0.learner.learning_rate, s0.learner.weight_decay) == ("adam", 1e-3, 1e-4 / 64)


def test_a_network_is_told_sizes_up_to_the_board_of_its_run() -> None:
    limits = [network_config(presets.load(presets.path_of(name), name)).size_limit for name in ("go13", "nogo", "s3")]
    assert limits == [13, 9, None], "the seed's network has one board"


@pytest.mark.parametrize(
    ("sizes", "limit"),
    [("7=0.3, 9=0.5, 13=0.2", 13), ("9=0.4, 13=0.3, 19=0.3", 19), ("9=0.95, 19=0.05", 9), ("19=1.0", 19)],
)
def test_boards_of_a_tenth_of_the_rows_are_told_as_they_are(sizes: str, limit: int) -> None:
    few = ", ".join(f"{size}=0.0625" for size in range(4, 20))
    for text, expected in ((sizes, limit), (few, 19)):
        table = {int(size): float(share) for size, share in (part.split("=") for part in text.split(", "))}
        assert Stage(rows=1, sizes=table).learned_size == expected
