"""The file of --log, the version that is told, and sizes that are refused before anything is promised."""

import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.gtp.process import SMALL, ask, run, start

STAMP = r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} "


def marked(log: Path) -> list[str]:
    """The lines of a log without their times, which each of them has."""
    lines = log.read_text(encoding="utf-8", errors="surrogateescape").splitlines()
    assert all(re.match(STAMP + "[-<>] ", line) for line in lines)
    return [line[len("2026-01-01 00:00:00.000 ") :] for line in lines]


def test_the_log_holds_both_sides_and_every_search(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    arguments = ["--weights", str(small_weights), *SMALL, "--log", str(log)]
    run(arguments, "1 name\n\nshow\x00board\ngenmove b\nlist_stones b\n2 quit\n")
    facts, talk = marked(log)[:7], marked(log)[7:]
    assert facts[:2] == ["- gozero 0.1.0", f"- weights {small_weights}"]
    assert facts[5].startswith("- process ") and facts[6] == f"- in {Path.cwd()}"
    *said, search, move, question, stones, farewell, end = talk
    assert said[:4] == ["< 1 name", "> =1 gozero", "< show\N{REPLACEMENT CHARACTER}board", "> ="]
    assert re.fullmatch(
        r"- black: 4 visits, \d+/s, \d+\.\d\d s, win rate \d+\.\d %, score [-+]\d+\.\d; ([A-E][1-5] \d+ %(, )?)+; ([A-E][1-5] ?)+",
        search,
    )
    assert said[-1] == "< genmove b"
    assert [question, stones, farewell, end] == ["< list_stones b", move, "< 2 quit", "> =2"]


def test_the_log_says_what_other_searches_are_for(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    commands = "genmove b\nlz-analyze w 1000 maxmoves 1\nfinal_status_list dead\nquit\n"
    run(["--weights", str(small_weights), *SMALL, "--analysis-visits", "8", "--log", str(log)], commands)
    searches = [line.split(":")[0] for line in marked(log) if re.match("- (black|white)", line)]
    assert searches == ["- black", "- white, analysis", "- black, ownership", "- white, ownership"]


def test_a_log_is_continued_and_tells_why_the_engine_ended(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    run(["--weights", str(small_weights), *SMALL, "--log", str(log)], "name\n")
    before = log.read_text()
    run(["--weights", str(tmp_path / "none.pt"), "--log", str(log)], "name\n")
    assert log.read_text().startswith(before)
    assert "none.pt" in marked(log)[-1] and marked(log)[-1].startswith("- ")


def test_the_log_is_whole_after_a_crash(small_weights: Path, tmp_path: Path) -> None:
    log = tmp_path / "game.log"
    with start(["--weights", str(small_weights), *SMALL, "--log", str(log)]) as engine:
        answer = ask(engine, "genmove b")
        engine.kill()
    assert marked(log)[-1] == f"> {answer.strip()}"


def test_a_disk_that_fails_ends_the_log_and_not_the_game(small_weights: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = run(["--weights", str(small_weights), *SMALL, "--log", "/dev/full"], "1 name\n2 genmove b\n")
    assert (done.returncode, done.stdout[:9], done.stdout.count("\n\n")) == (0, "=1 gozero", 2)
    assert done.stderr.count("the log ends here: no space left on device") == 1


def test_the_version_can_be_what_a_client_wants(small_weights: Path) -> None:
    assert run(["--weights", str(small_weights), "--gtp-version", "0.17"], "version\n").stdout == "= 0.17\n\n"


@pytest.mark.parametrize("size", [1, 4, 21])
def test_a_size_that_go_does_not_have_is_refused_before_anything_is_promised(size: int) -> None:
    found = subprocess.run(
        [sys.executable, "-m", "gtp", "--size", str(size)], input="name\n", capture_output=True, text=True, timeout=120
    )
    assert (found.returncode, found.stdout) == (2, "")
    assert re.fullmatch(rf"gozero-gtp: board size {size} is not supported; \S+best\.pt plays 5 to 19\n", found.stderr)
