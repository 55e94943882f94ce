"""The tally of games with people: what counts, what does not, and that nothing is ever lost."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path

import pytest

from gozero.__main__ import main
from gozero.frontends.terminal import play, tally
from gozero.frontends.terminal.tally import Key
from gozero.games import GAMES
from gozero.system.errors import TallyError

KEY = Key("connect4", "7x6", "connect4.pt", "0123abcd", "400 visits")
OTHER = Key("connect4", "7x6", "connect4.pt", "0123abcd", "level 3")


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


def counts(data: Path) -> dict[str, dict[str, dict[str, int]]]:
    """{strength: {side: {result: games}}} of the file."""
    return {entry.key.strength: entry.counts for entry in tally.read(data / "tally.json")}


def test_a_resignation_is_a_loss(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sit(monkeypatch, "resign", "quit")
    assert "Your games against random playouts, 20 visits: won 0, drawn 0, lost 1." in capsys.readouterr().out
    sit(monkeypatch, "resign", options="tictactoe --visits 20 --colour white")
    (found,) = tally.read(data / "tally.json")
    assert found.key == Key("tictactoe", "3x3", "random playouts", "", "20 visits")
    assert found.counts == {side: {"won": 0, "drawn": 0, "lost": 1} for side in ("black", "white")}


@pytest.mark.parametrize("colour", ["black", "white"])
def test_a_finished_game_counts_as_what_is_printed(
    colour: str, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The person drops discs column by column, which beats few visits and loses to many."""
    expected = {f"{visits} visits": {"won": 0, "drawn": 0, "lost": 0} for visits in (2, 300)}
    for seed in range(3):
        for strength in expected:
            options = f"connect4 --visits {strength.split()[0]} --seed {seed} --colour {colour}"
            sit(monkeypatch, *"ABCDEFG" * 6, options=options)
            out = capsys.readouterr().out
            winner = next(name for name in ("Black", "White") if f"{name} wins by" in out)
            expected[strength]["won" if winner.lower() == colour else "lost"] += 1
    assert {strength: sides[colour] for strength, sides in counts(data).items()} == expected
    assert expected["300 visits"]["lost"]
    assert colour == "white" or expected["2 visits"]["won"]


def test_a_drawn_game_is_counted_as_drawn(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    every = "B2 A2 C1 B3 C2 C3 A3 B1 A1".split()  # which now and then holds
    for seed in range(8):
        sit(monkeypatch, *every, options=f"tictactoe --visits 400 --seed {seed}")
    draws = capsys.readouterr().out.count("The game is a draw.")
    assert draws > 0
    assert counts(data)["400 visits"]["black"]["drawn"] == draws


@pytest.mark.parametrize(
    ("lines", "said"),
    [
        (("B2",), ""),
        (("B2", "quit"), ""),
        (("hint", "resign"), "not counted in the tally: it has a hint"),
        (("B2", "undo", "resign"), "not counted in the tally: a move was taken back"),
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
    assert counts(data)["20 visits"]["black"] == {"won": 0, "drawn": 0, "lost": 1}


@pytest.mark.parametrize("options", ["tictactoe --visits 20 --no-tally", "tictactoe --visits 20"])
def test_neither_no_tally_nor_a_script_counts(options: str, data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    sit(monkeypatch, "resign", options=options, person="--no-tally" in options)
    assert not data.exists()


def test_the_table_has_a_line_for_each_key(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = data / "tally.json"
    for key, side, result in (
        (KEY, "black", "won"),
        (KEY, "white", "lost"),
        (KEY, "white", "drawn"),
        (OTHER, "white", "won"),
    ):
        tally.add(file, key, side, result)
    assert main(["play", "--tally"]) == 0
    out, err = capsys.readouterr()
    rows = [line.split() for line in out.splitlines()]
    assert rows[0][:5] == ["game", "board", "weights", "strength", "games"]
    assert rows[1][-12:] == "400 visits 3 1 1 1 50 % 100 % 25 %".split()
    assert rows[2][-11:] == "level 3 1 1 0 0 100 % - 100 %".split()
    assert str(file) in err
    assert main(["play", "go", "--tally"]) == 0
    assert capsys.readouterr().out == "No game is counted yet.\n"


def test_two_programs_at_once_lose_nothing(data: Path) -> None:
    """Each counts thirty games; none of the sixty is written over by the other's."""
    code = (
        "import sys; from pathlib import Path; from gozero.frontends.terminal import tally\n"
        "for _ in range(30): tally.add(Path(sys.argv[1]), tally.Key('go', '9x9', 'w.pt', '', '1 visits'), sys.argv[2], 'won')"
    )
    file = data / "tally.json"
    programs = [subprocess.Popen([sys.executable, "-c", code, str(file), side]) for side in ("black", "white")]
    assert [program.wait(120) for program in programs] == [0, 0]
    assert counts(data) == {"1 visits": {side: {"won": 30, "drawn": 0, "lost": 0} for side in ("black", "white")}}
    assert sorted(path.name for path in data.iterdir() if path.suffix != ".lock") == ["tally.json"]


DAMAGED = [
    "{",
    "[]",
    "null",
    '{"entries": [{}]}',
    '{"entries": [1]}',
    "\ufeff",
    '{"format": "gozero tally 1"}',
    "[" * 9999,
]


@pytest.mark.parametrize("text", DAMAGED)
def test_a_damaged_tally_is_one_line_and_is_kept(
    text: str, data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    file = data / "tally.json"
    data.mkdir(parents=True)
    file.write_text(text)
    assert main(["play", "--tally"]) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1 and "is damaged; rename or remove it to begin a new one" in said
    assert file.read_text() == text
    (data / "tally.damaged-1.json").write_text("an older one")
    sit(monkeypatch, "resign")
    assert f"the tally was damaged; it is now {data / 'tally.damaged-2.json'}" in capsys.readouterr().err
    assert (data / "tally.damaged-2.json").read_text() == text
    assert (data / "tally.damaged-1.json").read_text() == "an older one"
    assert counts(data)["20 visits"]["black"]["lost"] == 1


def test_a_count_that_is_no_number_is_damage(data: Path) -> None:
    file = data / "tally.json"
    tally.add(file, KEY, "black", "won")
    content = json.loads(file.read_text())
    for wrong in (-1, 1.5, True, "3"):
        content["entries"][0]["black"]["won"] = wrong
        file.write_text(json.dumps(content))
        with pytest.raises(TallyError, match="is damaged"):
            tally.read(file)


def test_another_versions_tally_is_left_alone(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.mkdir(parents=True)
    text = '{"format": "gozero tally 2", "players": []}'
    (data / "tally.json").write_text(text)
    sit(monkeypatch, "resign")
    said = capsys.readouterr().err
    assert "was written by another version of gozero ('gozero tally 2'); this game is not counted" in said
    assert (data / "tally.json").read_text() == text


def test_a_folder_that_cannot_be_written_costs_no_game(
    data: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data.parent.write_text("a file in place of the folder")
    sit(monkeypatch, "resign", "undo", "B2")
    out, err = capsys.readouterr()
    assert err.count("cannot write the tally") == 1 and "this game is not counted" in err
    assert " expects to win " in out


def test_a_full_disk_leaves_the_tally_as_it_was(data: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = data / "tally.json"
    tally.add(file, KEY, "black", "won")
    before = file.read_bytes()

    def full(descriptor: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.fsync", full)
    with pytest.raises(TallyError, match=r"cannot write the tally .*no space left on device"):
        tally.add(file, KEY, "black", "won")
    assert file.read_bytes() == before
    assert not list(data.glob("*.tmp"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ("", "play needs the name of a game: connect4, go, "),
        ("chess --tally", "unknown game 'chess'"),
        ("tictactoe --level 21", "level 21: expected 1 to 20"),
        ("tictactoe --level 3 --visits 9", "--level 3 and --visits 9: a level has its own visits, give one"),
        ("tictactoe --level 3", "--level 3 needs weights, and tictactoe has none here: give --visits"),
    ],
)
def test_bad_requests_are_one_line(arguments: str, words: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["play", *arguments.split()]) == 2
    said = capsys.readouterr().err
    assert words in said and said.count("\n") == 1
