"""The results of people's games: which are saved, and what is shown of them."""

from __future__ import annotations

import io
import sys
from collections import Counter
from pathlib import Path

import pytest

from gozero.__main__ import main
from gozero.frontends.terminal import play, results
from gozero.frontends.terminal.results import GameResult
from gozero.games import GAMES

ONE = ("connect4", "7x6", "connect4.pt (0123abcd)", "400 visits")
OTHER = ("connect4", "7x6", "connect4.pt (0123abcd)", "level 3")


@pytest.fixture(autouse=True)
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The user's data folder, and no weights."""
    monkeypatch.setattr(sys, "platform", "linux")
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.setattr(play, "WEIGHTS", dict.fromkeys(GAMES, "no-such-weights.pt"))
    return tmp_path / "data" / "gozero"


class Typed(io.StringIO):
    """What a person types at a terminal."""

    def isatty(self) -> bool:
        return True


def sit(
    monkeypatch: pytest.MonkeyPatch, *lines: str, options: str = "tictactoe --visits 20", person: bool = True
) -> None:
    text = "".join(f"{line}\n" for line in lines)
    monkeypatch.setattr(sys, "stdin", Typed(text) if person else io.StringIO(text))
    assert main(["play", "--seed", "1", *options.split()]) == 0


def saved(data: Path) -> Counter[tuple[str, str, str]]:
    """The games by (strength, colour, result)."""
    return Counter((each.strength, each.colour, each.result) for each in results.read(data / "results.csv"))


def test_a_resignation_is_a_loss(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sit(monkeypatch, "resign", "quit")
    assert "Your games against random playouts, 20 visits: won 0, drawn 0, lost 1." in capsys.readouterr().out
    sit(monkeypatch, "resign", options="tictactoe --visits 20 --colour white")
    who = ("tictactoe", "3x3", "random playouts", "20 visits")
    assert results.read(data / "results.csv") == [GameResult(*who, side, "lost") for side in ("black", "white")]


@pytest.mark.parametrize("colour", ["black", "white"])
def test_a_finished_game_counts_as_what_is_printed(
    colour: str, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The person drops discs column by column, which beats few visits and loses to many."""
    expected: Counter[tuple[str, str, str]] = Counter()
    for seed in range(3):
        for strength in ("2 visits", "300 visits"):
            options = f"connect4 --visits {strength.split()[0]} --seed {seed} --colour {colour}"
            sit(monkeypatch, *"ABCDEFG" * 6, options=options)
            out = capsys.readouterr().out
            winner = next(name for name in ("Black", "White") if f"{name} wins by" in out)
            expected[strength, colour, "won" if winner.lower() == colour else "lost"] += 1
    assert saved(data) == expected
    assert expected["300 visits", colour, "lost"]
    assert colour == "white" or expected["2 visits", colour, "won"]


def test_a_drawn_game_is_counted_as_drawn(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = "B2 A2 C1 B3 C2 C3 A3 B1 A1".split()  # which now and then holds
    for seed in range(8):
        sit(monkeypatch, *every, options=f"tictactoe --visits 400 --seed {seed}")
    draws = capsys.readouterr().out.count("The game is a draw.")
    assert draws > 0
    assert saved(data)["400 visits", "black", "drawn"] == draws


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("B2",), ""),
        (("B2", "quit"), ""),
        (("hint", "resign"), "will not be saved: it has a hint"),
        (("B2", "undo", "resign"), "will not be saved: a move was taken back"),
    ],
)
def test_unfinished_games_and_games_with_help_do_not_count(
    lines: tuple[str, ...], said: str, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sit(monkeypatch, *lines)
    assert said in capsys.readouterr().out
    assert not data.exists()


def test_a_game_counts_once_however_it_goes_on(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sit(monkeypatch, "resign", "undo", "B2", "resign", "undo", "resign")
    assert saved(data) == {("20 visits", "black", "lost"): 1}


@pytest.mark.parametrize("options", ["tictactoe --visits 20 --no-results", "tictactoe --visits 20"])
def test_neither_no_results_nor_a_script_counts(options: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sit(monkeypatch, "resign", options=options, person="--no-results" in options)
    assert not data.exists()


def test_there_is_a_line_for_each_opponent(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = data / "results.csv"
    for who, colour, result in (
        (ONE, "black", "won"),
        (ONE, "white", "lost"),
        (ONE, "white", "drawn"),
        (OTHER, "white", "won"),
    ):
        results.add(file, GameResult(*who, colour, result))
    assert main(["play", "--results"]) == 0
    out, err = capsys.readouterr()
    assert out.splitlines() == [
        "connect4, 7x6, connect4.pt (0123abcd), 400 visits: won 1, drawn 1, lost 1",
        "connect4, 7x6, connect4.pt (0123abcd), level 3: won 1, drawn 0, lost 0",
    ]
    assert str(file) in err
    assert main(["play", "go", "--results"]) == 0
    assert capsys.readouterr().out == "There are no results yet.\n"


@pytest.mark.parametrize("text", ["{", "go,9x9,w.pt,1 visit,black,won\nb", "\0", "go,9x9,w.pt,1 visit,black,left"])
def test_a_damaged_file_is_one_line_and_is_left_alone(
    text: str, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.mkdir(parents=True)
    (data / "results.csv").write_text(text + "\n")
    assert main(["play", "--results"]) == 2
    err = capsys.readouterr().err
    assert err.count("\n") == 1 and str(data / "results.csv") in err
    sit(monkeypatch, "resign")
    assert (data / "results.csv").read_text().startswith(text + "\n")
    assert "results.csv" in capsys.readouterr().err


def test_a_folder_that_cannot_be_written_costs_no_game(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.parent.write_text("a file in place of the folder")
    sit(monkeypatch, "resign", "undo", "B2")
    out, err = capsys.readouterr()
    assert err.count("your result is not saved") == 1
    assert " expects to win " in out


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "give the name of a game: breakthrough, connect4, "),
        ("chess --results", "unknown game 'chess'"),
        ("tictactoe --level 21", "--level = 21: expected 1 to 20"),
        ("tictactoe --level 3 --visits 9", "level and visits cannot be chosen together"),
        ("tictactoe --level 3", "--level 3 needs weights, and tictactoe has none here: give --visits"),
    ],
)
def test_bad_requests_are_one_line(arguments: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", *arguments.split()]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
