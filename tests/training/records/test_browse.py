"""`gozero records`: what it lists, shows, checks and exports, and that damaged records are counted and left
alone.
"""

import errno
import io
import json
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from sgfmill.sgf import Sgf_game

from gozero import games
from gozero.games import coords, symmetry
from gozero.records import sgf
from tests.conftest import NODE_PACKAGES
from tests.training.games import MAX_LENGTH, game_of, random_record, write_shard
from tests.training.refusals import Refused
from training.commands import records as records_command
from training.records import library
from training.records.records import Record

SETTINGS: dict[str, object] = {
    "game": "go",
    "rules": "chinese",
    "network": "b2c16",
    "selfplay": {"max_length": MAX_LENGTH},
}
GAMES = {1: [random_record(5, 1), random_record(7, 2)], 2: [replace(random_record(5, 3), generation=2)]}


def write(folder: Path, games: dict[int, list[Record]], settings: dict[str, object] = SETTINGS) -> Path:
    for generation, records in games.items():
        write_shard(folder / "records" / f"{generation:06d}.gzr", records, settings)
    return folder


@pytest.fixture
def run(tmp_path: Path) -> Path:
    return write(tmp_path / "go5", GAMES)


def output(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str, str]:
    code = records_command.main([str(argument) for argument in arguments])
    out, err = capsys.readouterr()
    return code, out, err


def listed(capsys: pytest.CaptureFixture[str], *arguments: object) -> list[dict]:
    code, out, _ = output(capsys, "list", "--json", *arguments)
    assert code == 0
    found: list[dict] = json.loads(out)
    return found


def test_every_game_is_listed_with_its_facts(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = listed(capsys, run)
    games = [*GAMES[1], *GAMES[2]]
    assert [row["game"] for row in rows] == [f"{run}/000001:1", f"{run}/000001:2", f"{run}/000002:1"]
    for row, game in zip(rows, games, strict=True):
        side, _, points = row["result"].partition("+")
        assert (row["size"], row["komi"], row["moves"], row["rows"]) == (
            game.size, game.komi, len(game.moves), game.rows,
        )  # fmt: skip
        assert (side, float(points)) == ("BW"[game.score < 0], abs(game.score))
    _, table, _ = output(capsys, "list", run)
    assert len({len(line.rstrip()) for line in table.splitlines()}) == 1, "the columns do not line up"


@pytest.mark.parametrize("path", ["go5", "go5/records", "go5/records/000002.gzr", "go5/records/000002", "go5/000002"])
def test_a_name_that_was_listed_is_shown(run: Path, path: str, capsys: pytest.CaptureFixture[str]) -> None:
    name = listed(capsys, run.parent / path)[-1]["game"]
    code, out, _ = output(capsys, "show", name, "--ply", 1)
    assert code == 0
    assert "generation 2, network b2c16" in out.splitlines()[0]


def test_filters_and_order(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def numbers(*arguments: object) -> list[str]:
        return [row["game"].removeprefix(f"{run}/") for row in listed(capsys, run, *arguments)]

    longest = max(len(game.moves) for games in GAMES.values() for game in games)
    assert numbers("--size", 7) == ["000001:2"]
    assert numbers("--size", 5, "--size", 7, "--generation", "2-9") == ["000002:1"]
    assert numbers("--generation", 1, "--limit", 1) == ["000001:1"]
    assert numbers("--min-length", longest) == ["000001:2"]
    assert numbers("--max-length", longest - 1) == ["000001:1", "000002:1"]
    assert sorted(numbers("--result", "B") + numbers("--result", "W")) == numbers()
    assert [bool(output(capsys, "list", run, "--result", side)[2]) for side in ("B", "draw")] == [False, True]
    moves = [row["moves"] for row in listed(capsys, run, "--sort", "moves", "--reverse")]
    assert moves == sorted(moves, reverse=True)
    assert [len(numbers("--ending", name)) for name in ("settled", "passes")] == [3, 0]
    assert numbers("--reverse") == numbers()[::-1]
    write(run, {3: [replace(GAMES[1][0], score=0.0, generation=3)]})
    assert numbers("--result", "draw") == ["000003:1"]
    scores = dict(zip(numbers(), [*(game.score for game in (*GAMES[1], *GAMES[2])), 0.0], strict=True))
    assert numbers("--sort", "result") == sorted(scores, key=lambda name: scores[name])


def test_surprise_is_the_mean_of_the_searches_that_know_theirs(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = GAMES[1][0]
    targets = [replace(target, surprise=surprise) for target, surprise in zip(record.targets, (0.5, 1.5), strict=False)]
    write(run, {6: [replace(record, targets=(*targets, *record.targets[2:]))]})
    assert [row["surprise"] for row in listed(capsys, run)] == [None, None, None, 1.0]
    assert listed(capsys, run, "--sort", "surprise", "--reverse")[0]["game"] == f"{run}/000006:1"
    assert "surprise    1.50 nats" in output(capsys, "show", f"{run}/000006:1", "--ply", record.targets[1].ply)[1]


def test_show_puts_what_the_search_saw_beside_the_board(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = GAMES[1][0]
    _, out, _ = output(capsys, "show", f"{run}/000001:1", "--every", 3, "--top", 2)
    assert out.count("to play") == -(-len(record.moves) // 3) + 1
    target = record.targets[1]
    best = target.actions[target.shares.argmax()]
    board = out.split("\n\n")[2]
    assert "after 3 of" in board
    assert f"{target.value:+.2f} for White (wins {(1 + target.value) / 2:.0%})" in board
    assert f"{coords.vertex(int(best), 5):<5} {target.shares.max():6.1%}" in board
    assert board.count("%") == 3  # the value and two moves
    assert "result" in out.split("\n\n")[-1]


def test_a_folder_that_may_not_be_read_is_not_called_empty(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(folder: Path) -> None:
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(folder))

    monkeypatch.setattr(os, "scandir", refuse)
    code, _, error = output(capsys, "list", tmp_path)
    assert code == 2 and f"{tmp_path}: Permission denied" in error


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["list", "nowhere"], "nowhere: no such folder or shard"),
        (["list", "{run}/.."], "holds no shards (*.gzr)"),
        (["list", "."], "holds no shards (*.gzr), and neither does its folder records"),
        (["list", ""], "holds no shards (*.gzr), and neither does its folder records"),
        (["list", "/"], "/: holds no shards (*.gzr), and neither does its folder records"),
        (["show", "{run}"], "names no game: expected SHARD:NUMBER"),
        (["show", "{run}:1"], "holds 2 shards: name one of them, such as {run}/000001:1"),
        (["show", "{run}/000001:3"], "has no game 3: it holds 2"),
        (["show", "{run}/000001:" + "9" * 5000], "has no game 9"),
        (["list", "{run}", "--min-length", "5", "--max-length", "3"], "--max-length 3 is below --min-length 5"),
        (["show", "{run}/000001:1", "--ply", "999"], "--ply 999 is not in this game"),
        (["export", "{run}", "--sgf", "{run}/records/000001.gzr"], "cannot write {run}/records/000001.gzr"),
        (["list", "{run}", "--generation", "5-3"], "neither a generation nor a range such as 10-20"),
        (["list", "{run}", "--generation", "²"], "neither a generation nor a range such as 10-20"),
        (["list", "{run}", "--limit", "²"], "'²' is not a whole number"),
    ],
)
def test_a_bad_request_is_one_clear_line(run: Path, arguments: list[str], message: str, refused: Refused) -> None:
    said = refused(records_command.main, [argument.format(run=run) for argument in arguments])
    assert message.format(run=run) in said


def test_openings_that_differ_by_a_symmetry_are_one() -> None:
    record = random_record(7, 5)
    texts = set()
    for k in range(symmetry.SYMMETRIES):
        moves = [symmetry.apply_action(action, 7, k) for action in record.moves.tolist()]
        texts.add(library.opening(replace(record, moves=np.array(moves, np.int32)), game_of(7), 4))
    assert len(texts) == 1


def test_an_opening_with_the_colours_exchanged_is_another() -> None:
    """In Hex the sides join other edges: Black at a3 is not Black at c1."""
    record, game = random_record(5, 5), games.make("hex", size=5)
    first = [replace(record, moves=np.array([move], np.int32)) for move in (2, 10)]
    assert len({library.opening(each, game, 1) for each in first}) == 2


def test_check_plays_every_game_again(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    code, out, err = output(capsys, "check", run)
    assert (code, err) == (0, "")
    assert "2 shards, 3 games" in out
    assert "all is well" in out
    size = sum(path.stat().st_size for path in (run / "records").iterdir())
    assert json.loads(output(capsys, "check", "--json", run)[1])["bytes"] == size
    sound = GAMES[1][0]
    forged = [
        replace(sound, score=sound.score + 1),
        replace(sound, moves=sound.moves[[0, 0, *range(2, len(sound.moves))]], targets=()),
    ]
    write(run, {4: [replace(sound, targets=()), *forged]})
    code, out, _ = output(capsys, "check", run)
    assert code == 1
    assert f"{run}/000004:2: the moves lead to a score of" in out
    assert f"{run}/000004:3: move 2, action {sound.moves[0]}, is illegal" in out
    assert "2 impossible games: none of them is trained on" in out


class Full(io.StringIO):
    """A stream whose disk is full."""

    def write(self, text: str) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")


def test_a_damaged_record_is_counted_and_never_comes_out(
    run: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    shard = run / "records" / "000001.gzr"
    data = bytearray(shard.read_bytes())
    data[-40] ^= 1
    shard.write_bytes(bytes(data))
    code, out, err = output(capsys, "check", run)
    assert code == 1
    assert "2 games" in out
    assert "1 damaged records, 0 impossible games" in out
    assert err == f"skipped 1 damaged record(s) in {shard}\n"
    assert [row["game"] for row in listed(capsys, run)] == [f"{run}/000001:1", f"{run}/000002:1"]
    assert output(capsys, "check", "--json", run)[0] == 1
    monkeypatch.setattr(sys, "stderr", Full())
    assert records_command.main(["check", str(run)]) == 1, "also where the complaint cannot be written"
    monkeypatch.undo()
    _, _, err = output(capsys, "export", run, "--sgf", run / "sgf")
    assert len(list((run / "sgf").glob("*.sgf"))) == 2
    assert "skipped 1 damaged record" in err


def test_exported_files_hold_the_game_and_what_was_seen(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code, out, _ = output(capsys, "export", run, "--sgf", tmp_path / "out", "--top", 3)
    assert code == 0
    assert "3 games written" in out
    names = ["go5-000001-0001.sgf", "go5-000001-0002.sgf", "go5-000002-0001.sgf"]
    assert sorted(path.name for path in (tmp_path / "out").iterdir()) == names
    for name, record in zip(names, [*GAMES[1], *GAMES[2]], strict=True):
        data = (tmp_path / "out" / name).read_bytes()
        found = sgf.first_game(data).record()
        assert [action for _, action in found.moves] == record.moves.tolist()
        assert (found.size, found.komi, found.rules) == (record.size, record.komi, "chinese")
        assert found.result == f"{'B' if record.score > 0 else 'W'}+{abs(record.score):g}"
        nodes = Sgf_game.from_bytes(data).get_main_sequence()
        commented = [index for index, node in enumerate(nodes) if node.has_property("C")]
        assert commented == [0, *(target.ply + 1 for target in record.targets)]
        assert nodes[commented[1]].get("C").count("%") == 4  # the value and three moves


READ_BY_SABAKI = """
const {parseFile, parseVertex} = require('@sabaki/sgf')
const nodes = []
for (let node = parseFile(process.argv[1])[0]; node; node = node.children[0]) {
  const {B, W} = node.data
  nodes.push({data: node.data, move: B ? ['B', ...parseVertex(B[0])] : W ? ['W', ...parseVertex(W[0])] : null})
}
console.log(JSON.stringify(nodes))
"""


@pytest.mark.node
def test_sabaki_reads_an_exported_file_as_the_game_that_was_played(
    run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """By @sabaki/sgf, which Sabaki opens files with; a vertex is (column, row) from the top left, a pass (-1, -1)."""
    assert output(capsys, "export", run, "--sgf", tmp_path)[0] == 0
    record = GAMES[1][1]
    done = subprocess.run(
        ["node", "-e", READ_BY_SABAKI, tmp_path / "go5-000001-0002.sgf"],
        env={**os.environ, "NODE_PATH": str(NODE_PACKAGES)},
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    first, *others = json.loads(done.stdout)
    root, size = first["data"], record.size
    assert (root["GM"], root["FF"], root["CA"], root["SZ"]) == (["1"], ["4"], ["UTF-8"], [str(size)])
    assert (float(root["KM"][0]), root["RE"]) == (
        record.komi,
        [f"{'B' if record.score > 0 else 'W'}+{abs(record.score):g}"],
    )
    points = [(action % size, action // size) if action < size**2 else (-1, -1) for action in record.moves.tolist()]
    assert [node["move"] for node in others] == [["BW"[ply % 2], *point] for ply, point in enumerate(points)]
    target = record.targets[1]
    comment = others[target.ply]["data"]["C"][0]
    assert f"value       {target.value:+.2f}" in comment
    assert coords.vertex(int(target.actions[target.shares.argmax()]), size) in comment


def test_a_game_without_komi_rules_and_points_is_told_without_them(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = Record(3, 0.0, 1, np.array([0, 3, 1, 4, 2], np.int32), (), 1.0, "finished")
    write(tmp_path, {1: [game]}, {"game": "tictactoe"})
    _, out, _ = output(capsys, "show", f"{tmp_path}/000001:1")
    assert "000001:1: 3x3, generation 1; 5 moves" in out
    assert "B+ (finished)" in out


def test_a_game_whose_settings_are_wrong_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(tmp_path, {1: [GAMES[1][0]]})
    write(tmp_path, {2: [GAMES[1][0]]}, {"game": "chess"})
    code, _, err = output(capsys, "show", f"{tmp_path}/000002:1")
    assert (code, "chess" in err, err.count("\n")) == (2, True, 1)


def test_an_impossible_game_is_not_exported(run: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(run, {5: [replace(GAMES[1][0], score=99.5)]})
    _, out, err = output(capsys, "export", run, "--generation", "1", "--size", 5, "--sgf", run / "sgf")
    assert "1 game written" in out
    assert f"{run}/000005:1 is left out: the moves lead to" in err


def test_a_run_in_a_folder_whose_name_is_no_text_is_exported(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    game = Record(3, 0.0, 1, np.array([0, 3, 1, 4, 2]), (), 1.0, "finished")
    odd = write(tmp_path / "a\udcff" / "run", {1: [game]}, {"game": "tictactoe"})
    assert "1 game written" in output(capsys, "export", odd, "--sgf", tmp_path / "out")[1]


def test_games_of_two_runs_of_one_name_are_all_exported(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    runs = [write(tmp_path / place / "run", {1: [random_record(5, seed)]}) for seed, place in enumerate("ab", 1)]
    for _ in range(2):  # a second call replaces the files of the first
        assert "2 games written" in output(capsys, "export", *runs, "--sgf", tmp_path / "out")[1]
        names = sorted(path.name for path in (tmp_path / "out").iterdir())
        assert names == ["run-000001-0001-2.sgf", "run-000001-0001.sgf"]
    assert len({path.read_text() for path in (tmp_path / "out").iterdir()}) == 2


def test_a_reader_that_leaves_early_is_no_error(run: Path) -> None:
    read, written = os.pipe()
    os.close(read)
    command = [sys.executable, "-m", "gozero", "records", "list", str(run)]
    done = subprocess.run(command, stdout=written, stderr=subprocess.PIPE, text=True, timeout=120)
    os.close(written)
    assert (done.returncode, done.stderr) == (0, "")
