"""Weights and settings that cannot be used: one line on stderr and exit code 2."""

import shutil
from pathlib import Path

import pytest
import torch

from gozero import games
from gozero.evaluators.graphs import embed
from gozero.nets import attachments, model, weights
from tests.gtp.process import run, start


@pytest.fixture(scope="module")
def nogo_weights(tmp_path_factory: pytest.TempPathFactory) -> Path:
    config = model.config("b1c8", games.make("nogo"))
    path = tmp_path_factory.mktemp("weights") / "nogo.pt"
    weights.save(path, model.build(config, seed=1), config, game="nogo", size=6)
    embed(path)
    return path


def test_missing_weights_name_every_place_that_was_tried(tmp_path: Path) -> None:
    done = run(["--weights", "no-such.pt"], "name\n", cwd=tmp_path)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert str(tmp_path / "no-such.pt") in done.stderr


def test_truncated_and_foreign_weights(small_weights: Path, tmp_path: Path) -> None:
    (tmp_path / "short.pt").write_bytes(small_weights.read_bytes()[:-3000])
    (tmp_path / "foreign.pt").write_bytes(b"not weights")
    for name in ("short.pt", "foreign.pt"):
        done = run(["--weights", name], "name\ngenmove b\nname\n", cwd=tmp_path)
        assert (done.returncode, done.stdout) == (2, "")
        assert len(done.stderr.splitlines()) == 1
        assert str(tmp_path / name) in done.stderr


@pytest.fixture
def damaged_weights(small_weights: Path, tmp_path: Path) -> Path:
    """A file whose header is whole, and whose graph is not."""
    path = Path(shutil.copy(small_weights, tmp_path / "damaged.pt"))
    content = attachments.read(path, attachments.GRAPH)
    assert content is not None
    attachments.write(path, {**content, attachments.GRAPH[1]: b"cut off"})
    return path


def test_damaged_weights_end_the_engine_when_they_are_needed(damaged_weights: Path) -> None:
    done = run(["--weights", str(damaged_weights)], "name\ngenmove b\nname\n")
    assert (done.returncode, done.stdout) == (2, "= gozero\n\n")
    assert str(damaged_weights) in done.stderr.splitlines()[-1]
    assert "Traceback" not in done.stderr


def test_a_controller_that_pauses_hears_of_damaged_weights_without_asking(damaged_weights: Path) -> None:
    engine = start(["--weights", str(damaged_weights)])
    assert engine.wait(60) == 2


def test_weights_for_one_size_refuse_others_at_boardsize(tmp_path: Path) -> None:
    config = model.NetConfig("tiny13", "agz", blocks=1, channels=8, size=13, value_hidden=8)
    weights.save(tmp_path / "only13.pt", model.build(config, seed=1), config)
    done = run(["--weights", "only13.pt"], "boardsize 9\nboardsize 13\nquery_boardsize\nquit\n", cwd=tmp_path)
    assert done.stdout == "? unacceptable size\n\n= \n\n= 13\n\n= \n\n"
    assert "13" in done.stderr.splitlines()[-1]
    done = run(["--weights", "only13.pt", "--size", "9"], "name\n", cwd=tmp_path)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)


def test_rules_that_go_does_not_have_are_refused_at_once(small_weights: Path) -> None:
    done = run(["--weights", str(small_weights), "--rules", "house"], "name\n")
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1)
    assert done.stderr.startswith("gozero-gtp: unknown rules 'house': expected one of chinese")


def test_weights_of_another_game_are_refused_in_one_line(nogo_weights: Path) -> None:
    for game in ("go", "othello"):
        done = run(["--game", game, "--weights", str(nogo_weights)], "name\n")
        assert (done.returncode, done.stdout) == (2, "")
        assert done.stderr == f"gozero-gtp: cannot use weights {nogo_weights}: it plays nogo, not {game}\n"


def test_weights_of_a_game_that_nobody_knows(small_weights: Path, tmp_path: Path) -> None:
    content = torch.load(small_weights)
    content["metadata"] = content["metadata"].replace('"game": "go"', '"game": "chess"')
    torch.save(content, tmp_path / "chess.pt")
    done = run(["--weights", str(tmp_path / "chess.pt")], "name\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "it plays chess, not one of " in done.stderr


def test_a_game_of_nogo(nogo_weights: Path) -> None:
    """The weights say which game it is, and on which board. It ends with one side unable to move."""
    lines = [
        "query_boardsize",
        "boardsize 3",
        *[f"genmove {'bw'[ply % 2]}" for ply in range(9)],
        "gogui-rules_legal_moves",
        "final_score",
    ]
    done = run(["--weights", str(nogo_weights), "--visits", "4", "--seed", "1"], "\n".join(lines))
    answers = [answer.removeprefix("= ") for answer in done.stdout.split("\n\n")]
    assert answers[:2] == ["6", ""]
    assert "resign" in answers
    assert answers[11:] in (["", "B+R", ""], ["", "W+R", ""])


def test_rules_that_the_game_does_not_have(nogo_weights: Path) -> None:
    done = run(["--weights", str(nogo_weights), "--rules", "chinese"], "showboard\n")
    assert (done.returncode, done.stdout) == (2, "")
    assert "nogo has no setting 'rules'" in done.stderr.splitlines()[-1]


def test_without_weights_the_game_has_its_own(tmp_path: Path) -> None:
    done = run(["--game", "othello", "--size", "5"], "name\nshowboard\n", cwd=tmp_path)
    assert done.returncode == 2
    assert "othello8.pt" in done.stderr.splitlines()[-1]


@pytest.mark.parametrize("arguments", [["--no-such-option"], ["--log", "/no/such/folder/log"]])
def test_wrong_settings(arguments: list[str]) -> None:
    done = run(arguments)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1
    assert done.stderr.startswith("gozero-gtp: ")
