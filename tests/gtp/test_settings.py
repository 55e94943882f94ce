"""Command line and configuration file: what is accepted, and the one line for what is not."""

from pathlib import Path

import pytest

from gozero.games import GAMES
from gozero.system.options import SettingsError
from gtp.settings import WEIGHTS, GtpSettings, from_arguments, player_settings
from tests.training.refusals import Refused, one_line


def test_every_game_has_its_weights() -> None:
    assert WEIGHTS.keys() == GAMES.keys()


def test_every_option() -> None:
    line = (
        "--game go --weights w.pt --visits 100 --analysis-visits 50 --time 2.5 --lag 2 --ponder --max-memory 500 "
        "--threads 2 --seed 0 --size 9 --komi -3 --rules aga --friendly-pass --no-resign --resign-threshold -0.8 "
        "--resign-moves 2 --opening-temperature 0 --temperature 0.5 --backend torch "
        "--precision f32 --gogui-gfx --check --gtp-version 0.17 --log game.log"
    )
    assert from_arguments(line.split()) == GtpSettings(
        game="go", weights="w.pt", visits=100, analysis_visits=50, time=2.5, lag=2.0, ponder=True, max_memory=500,
        threads=2, seed=0, size=9, komi=-3.0, rules="aga", friendly_pass=True, no_resign=True,
        resign_threshold=-0.8, resign_moves=2, opening_temperature=0.0, temperature=0.5, backend="torch",
        precision="f32", gogui_gfx=True, check=True, gtp_version="0.17", log="game.log",
    )  # fmt: skip
    assert from_arguments(["--level", "7"]) == GtpSettings(level=7)


def test_no_visits_are_the_network_alone() -> None:
    settings = from_arguments(["--visits", "0", "--opening-temperature", "0.4"])
    player = player_settings(settings, "nogo")
    assert (settings.move_visits, player.opening_temperature, player.keeps_search) == (1, 0.0, False)
    assert player_settings(from_arguments(["--visits", "0", "--temperature", "0.7"]), "nogo").temperature == 0.7
    with pytest.raises(SettingsError, match="visits = 0 and ponder contradict each other"):
        from_arguments(["--visits", "0", "--ponder"])


def test_the_command_line_wins_over_the_file(tmp_path: Path) -> None:
    path = tmp_path / "gozero.toml"
    text = 'visits = 100\nkomi = 6\nno-resign = true\nresign_threshold = -0.5\nrules = "aga"\n'
    path.write_text(text, encoding="utf-8-sig")  # with the mark that some editors of Windows write
    settings = from_arguments(["--config", str(path), "--visits", "7"])
    assert settings == GtpSettings(visits=7, komi=6.0, no_resign=True, resign_threshold=-0.5, rules="aga")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("--visits -1", "--visits = -1: expected 0 to 100,000,000"),
        ("--visits many", "--visits = 'many': expected a whole number"),
        ("--visits 1.5", "--visits = '1.5': expected a whole number"),
        ("--max-memory 63", "--max-memory = 63: expected 64 to 10,000,000"),
        ("--time nan", "--time = nan: expected 0.01 to"),
        ("--komi inf", "--komi = inf: expected"),
        ("--game chess", "--game = 'chess': expected one of "),
        ("--resign-threshold 0.5", "--resign-threshold = 0.5: expected -1 to 0"),
        ("--level 0", "--level = 0: expected 1 to 20"),
        (
            "--level 5 --visits 100",
            "level and visits cannot be chosen together, since a level sets it; leave one of them out",
        ),
        ("--level 5 --temperature 1", "level and temperature cannot be chosen together"),
        ("--level 5 --ponder", "level and ponder cannot be chosen together"),
        ("--opening-temperature -1", "--opening-temperature = -1.0: expected 0 to 100"),
        ("--gtp-version=", "gtp-version = '': expected one line of text, such as 0.17"),
        ("--backend tpu", "expected one of auto, torch, openvino"),
        ("--precision int4", "expected one of auto, f32, bf16, int8"),
        ("--config /no/such/file", "cannot read /no/such/file: no such file"),
    ],
)
def test_wrong_arguments(arguments: str, message: str) -> None:
    with one_line(SettingsError, message):
        from_arguments(arguments.split())


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("vists = 3", "unknown setting 'vists'; known here: game, weights, visits"),
        ("visits = -1", "visits = -1: expected 0 to"),
        ("visits = '3'", "visits = '3': expected a whole number"),
        ("visits = true", "visits = True: expected a whole number"),
        ("no_resign = 1", "no_resign = 1: expected true or false"),
        ("komi = nan", "komi = nan: expected"),
        ("[visits]", "visits = {}: expected a whole number"),
        ("visits = ", "is not a TOML file"),
    ],
)
def test_wrong_files(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "gozero.toml"
    path.write_text(text)
    for words in (message, str(path)):
        with one_line(SettingsError, words):
            from_arguments(["--config", str(path)])


def test_the_answer_to_version_is_one_line_of_text(tmp_path: Path) -> None:
    path = tmp_path / "gozero.toml"
    path.write_text('gtp-version = "0.17\\n0.18"\n')
    with pytest.raises(SettingsError, match=r"^gtp-version = .*: expected one line of text"):
        from_arguments(["--config", str(path)])


@pytest.mark.parametrize("arguments", [["--vists", "3"], ["--visits"], ["stray"]])
def test_wrong_options_leave_with_one_line(arguments: list[str], refused: Refused) -> None:
    assert refused(from_arguments, arguments).startswith("gozero-gtp: ")


@pytest.mark.parametrize("argument", ["--help", "--version"])
def test_help_and_version_leave_with_success(argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as caught:
        from_arguments([argument])
    assert caught.value.code == 0
    out = capsys.readouterr().out
    assert "gozero-gtp" in out
    assert argument == "--version" or all(
        word in out for word in ("Sabaki", "GoGui", "--weights", "--config", "5 to 19")
    )
