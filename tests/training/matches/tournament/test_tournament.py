"""Whole small tournaments: troubled entrants, kills, resumption, files."""

from __future__ import annotations

import csv
import errno
import json
import os
import re
import shlex
import signal
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from sgfmill.sgf import Sgf_game

from gozero.nets import locations
from tests import ROOT
from tests.training.matches.tournament.journals import journal, keys
from tests.training.refusals import Refused
from training.commands import tournament as command
from training.matches.options import OUT
from training.matches.tournament import runner
from training.matches.tournament.field import load
from training.storage.storage import StorageError, alone

pytestmark = pytest.mark.usefixtures("forked_workers")
ENGINE = Path(__file__).with_name("engine.py")


def toy(*words: object) -> str:
    return f"gtp:{sys.executable} -S {ENGINE} {' '.join(map(str, words))}"


def written(folder: Path, entrants: dict[str, str], **values: Any) -> Path:
    """A field in a file; tic-tac-toe unless it says otherwise."""
    settings = {"game": "tictactoe", "games": 4, "opening_moves": 1, "processes": 2} | values
    lines = [f"{key} = {json.dumps(value)}" for key, value in settings.items() if value is not None]
    for name, player in entrants.items():
        lines += ["[[entrant]]", f"name = {json.dumps(name)}", f"player = {json.dumps(player)}"]
    path = folder / "field.toml"
    path.write_text("\n".join(lines) + "\n")
    return path


def play(path: Path, *options: str) -> tuple[int, list[dict[str, Any]]]:
    """(exit code, the games of the journal)."""
    code = command.main([str(path), "--out", str(path.parent / "out"), *options])
    return code, journal(path.parent / "out")


def test_trouble_loses_its_games_and_stops_nothing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    troubles = ("crash", "silent", "babble", "illegal", "endless")
    entrants = {"sound": toy("sound"), "loud": toy("loud")} | {name: toy(name) for name in troubles}
    entrants |= {"absent": "gtp:no-such-program"}
    code, games = play(written(tmp_path, entrants, games=2, kind="gauntlet", answer_seconds=1.5))
    assert code == 1
    assert keys(games) == Counter((*sorted(("sound", name)), index) for name in (*troubles, "loud") for index in (0, 1))
    endings: dict[str, set[str]] = {}
    for game in games:
        other = next(name for name in game["pair"] if name != "sound")
        assert bool(game["detail"]) == (other in troubles) and len(game["detail"]) < 600
        assert game["winner"] == "sound" or other == "loud"
        endings.setdefault(other, set()).add(game["ended"])
    assert endings["loud"] == {"game end"}
    assert endings["illegal"] == endings["babble"] == {"illegal move"}
    assert all(endings[name] == {"failure"} for name in ("crash", "silent", "endless"))
    output = capsys.readouterr()
    assert "absent forfeits 2 games: it could not be started: cannot start the engine 'no-such-program'" in output.out
    assert "out of memory, or so" in output.out
    assert "Traceback" not in output.err + (tmp_path / "out" / "workers.log").read_text()
    table = {row["entrant"]: row for row in csv.DictReader((tmp_path / "out" / "results.csv").open())}
    assert (table["absent"]["forfeits"], table["absent"]["games"], table["absent"]["elo"]) == ("2", "0", "")
    assert (table["crash"]["faults"], table["crash"]["lost"], table["loud"]["faults"]) == ("2", "2", "0")


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_a_killed_tournament_goes_on_without_repeating_or_losing_a_game(tmp_path: Path) -> None:
    count = tmp_path / "count"
    entrants = {"killer": toy("killer", count, 12), "sound": toy("sound"), "random": "random"}
    path = written(tmp_path, entrants, games=6)
    command_line = [sys.executable, "-m", "gozero", "tournament", str(path), "--out", str(tmp_path / "out")]
    killed = subprocess.run(command_line, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False)
    assert killed.returncode == -signal.SIGKILL, killed.stderr
    before = journal(tmp_path / "out")
    assert 0 < len(before) < 18
    code, games = play(path)
    assert code == 0
    assert games[: len(before)] == before
    wanted = {(*sorted((a, b)), index) for a in entrants for b in entrants if a < b for index in range(6)}
    assert keys(games) == Counter(dict.fromkeys(wanted, 1))
    assert len(list((tmp_path / "out" / "games").glob("*.txt"))) == 18
    again = (tmp_path / "out" / "journal.jsonl").read_bytes()
    assert play(path)[0] == 0
    assert (tmp_path / "out" / "journal.jsonl").read_bytes() == again


def test_the_same_seed_plays_the_same_games_in_any_number_of_processes(tmp_path: Path) -> None:
    found = []
    for processes in (1, 2):
        folder = tmp_path / str(processes)
        folder.mkdir()
        entrants = {"fixed": "fixed", "random": "random", "uct": "uct:5"}
        _, games = play(written(folder, entrants, games=10, processes=processes))
        found.append({(*game["pair"], game["index"]): game["moves"] for game in games})
    assert len(found[0]) == 30
    assert found[0] == found[1]
    assert len(set(found[0].values())) > 25


def test_more_games_and_entrants_go_on_where_it_was(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = play(written(tmp_path, {"b": "random", "c": "fixed"}, games=4, processes=1))[1]
    files = {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()}
    path = written(tmp_path, {"a": "random", "b": "random", "c": "fixed"}, games=6, processes=1)
    assert command.main([str(path), "--out", str(tmp_path / "out"), "--dry-run"]) == 0
    assert "14 games left of 18 (3 pairings of 6)" in capsys.readouterr().out
    assert {path: path.read_bytes() for path in (tmp_path / "out").rglob("*") if path.is_file()} == files
    _, games = play(path)
    assert games[:4] == before
    assert keys(games) == Counter((*pair, index) for pair in ("ab", "ac", "bc") for index in range(6))


@pytest.mark.slow
def test_an_entrant_that_starts_later_plays_what_it_had_forfeited(tmp_path: Path) -> None:
    late = tmp_path / "late.py"
    path = written(tmp_path, {"late": f"gtp:{sys.executable} -S {late} sound", "r": "random"}, processes=1)
    code, games = play(path)
    assert (code, games) == (1, [])
    late.write_text(ENGINE.read_text())
    code, games = play(path)
    assert (code, len(games)) == (0, 4)
    late.unlink()
    assert play(path, "--games", "6") == (1, games), "what it cannot start for is lost by nobody"
    late.write_text(ENGINE.read_text())
    code, games = play(path, "--games", "6")
    assert (code, len(games)) == (0, 6)


def test_other_weights_under_the_same_name_are_not_played(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    net = tmp_path / "net.pt"
    net.write_bytes(locations.find("ttt.pt").read_bytes())
    field = load(written(tmp_path, {"net": f"weights:{net}:1", "r": "random"}, processes=1))
    assert "(sha256 " in field.facts["entrants"]["net"]
    net.write_bytes(locations.find("ttt-mlp.pt").read_bytes())
    assert runner.play(field, tmp_path / "out", lambda: False, runner.View()) == 1
    assert journal(tmp_path / "out") == []
    assert "is not the one with which the tournament began" in capsys.readouterr().out


def test_a_sequential_test_ends_when_it_is_decided(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, {"strong": "uct:200", "weak": "random"}, kind="sprt", games=400, processes=1)
    path.write_text(path.read_text().replace("[[entrant]]", "sprt = { elo0 = 0, elo1 = 200 }\n[[entrant]]", 1))
    code, games = play(path)
    assert code == 0 and len(games) < 200
    assert "H1 accepted: strong is at least 200 Elo stronger than weak" in capsys.readouterr().out
    result = json.loads((tmp_path / "out" / "results.json").read_text())
    assert result["sprt"]["accepted"] == "H1" and result["left"] == 0
    assert len(play(path)[1]) == len(games), "a decided test plays no more"


def test_go_is_saved_as_sgf_and_a_lost_file_is_written_again(tmp_path: Path) -> None:
    entrants = {"first": "random", "other one": "fixed"}
    path = written(tmp_path, entrants, game="go", size=5, komi=3.5, games=2, processes=1, opening_moves=2)
    play(path)
    (tmp_path / "out" / "games" / "first~other-one-0002.sgf").unlink()
    _, games = play(path)
    for game in games:
        saved = tmp_path / "out" / "games" / f"first~other-one-{game['index'] + 1:04}.sgf"
        read = Sgf_game.from_bytes(saved.read_bytes())
        assert (read.get_size(), read.get_komi(), read.get_root().get("RE")) == (5, 3.5, game["result"])
        assert read.get_player_name("b") == game["pair"][game["index"] % 2]
        assert len(read.get_main_sequence()) - 1 == len(game["moves"].split()) // 2


@pytest.mark.slow
def test_the_clock_of_the_course_plays_at_random_for_the_slow(tmp_path: Path) -> None:
    entrants = {"slow": toy("slow", 1.4), "quick": toy("sound")}
    code, games = play(written(tmp_path, entrants, games=2, clock="course", opening_moves=0))
    assert code == 0 and len(games) == 2
    for game in games:
        slow = game["pair"].index("slow")
        assert game["answers"][slow] >= 3
        assert game["replaced"][slow] == max(0, game["answers"][slow] - 3)
        assert game["replaced"][1 - slow] == 0


def test_a_dry_run_names_who_does_not_start(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, {"good": toy("sound"), "bad": "gtp:no-such-program", "r": "random"})
    assert command.main([str(path), "--out", str(tmp_path / "out"), "--dry-run"]) == 1
    printed = capsys.readouterr()
    lines = printed.out.splitlines()
    assert "good: a few moves are timed" in printed.err
    assert re.fullmatch(r"good: plays, \d\.\d{3} s a move", lines[1])
    assert lines[2] == "bad: does not play: cannot start the engine 'no-such-program': No such file or directory"
    assert lines[4].startswith("12 games left of 12 (3 pairings of 4), about ")
    assert not (tmp_path / "out").exists()


def test_two_at_once_in_a_folder_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = written(tmp_path, {"a": "random", "b": "random"})
    with alone(tmp_path / "out"):
        assert command.main([str(path), "--out", str(tmp_path / "out")]) == 2
    assert "in use by another gozero command" in capsys.readouterr().err


@pytest.mark.parametrize("arguments", [["nothing.toml"], ["no-preset"], [], ["s3", "--games", "3"]])
def test_a_bad_request_is_one_line(arguments: list[str], refused: Refused) -> None:
    assert refused(command.main, arguments).startswith("gozero tournament: ")


def test_a_full_disk_is_one_line_and_the_games_before_are_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def full(*_: object) -> None:
        raise StorageError(tmp_path / "out" / "games", os.strerror(errno.ENOSPC))

    path = written(tmp_path, {"a": "random", "b": "fixed"}, games=2, processes=1)
    monkeypatch.setattr(runner.journal, "write_game", full)
    code, games = play(path)
    assert (code, len(games)) == (2, 1)
    said = capsys.readouterr().err.splitlines()[-1]
    assert said.startswith(f"gozero tournament: cannot write {tmp_path / 'out' / 'games'}: No space left on device")
    assert said.endswith("then give the same command again")
    monkeypatch.undo()
    assert [game["pair"] for game in play(path)[1]] == [["a", "b"]] * 2


@pytest.mark.skipif(sys.platform == "win32", reason="a shell that closes a stream")
def test_a_closed_stream_and_a_full_one_stop_nothing(tmp_path: Path) -> None:
    path = written(tmp_path, {"a": "random", "b": "fixed"}, games=2, processes=1)
    line = shlex.join([sys.executable, "-m", "gozero", "tournament", str(path), "--out", str(tmp_path / "out")])
    ended = subprocess.run(
        f"{line} >&- 2> /dev/full <&-", shell=True, cwd=ROOT, capture_output=True, text=True, timeout=300, check=False
    )
    assert ended.returncode == 0
    assert len(journal(tmp_path / "out")) == 2
    assert "Traceback" not in (tmp_path / "out" / "workers.log").read_text()


def test_presets_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["--list-presets"]) == 0
    lines = dict(line.split(maxsplit=1) for line in capsys.readouterr().out.splitlines())
    assert lines.keys() >= {"s1", "s3", "release"} and len(lines["release"].split(", ")) >= 7


def test_each_field_of_a_preset_has_a_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("a", "b"):
        written(tmp_path, {"x": "random", "y": "random"}).rename(tmp_path / f"release-{name}.toml")
    folders, codes = list[Path](), iter([1, 0, 130])
    monkeypatch.setattr(command, "FOLDER", tmp_path)
    monkeypatch.setattr(runner, "play_once", lambda _, options, *more: folders.append(options.out) or next(codes))
    assert command.main(["release"]) == 1
    assert command.main(["release", "--out", str(tmp_path)]) == 130
    assert folders == [OUT / "release" / "release-a", OUT / "release" / "release-b", tmp_path / "release-a"]
