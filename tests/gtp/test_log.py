"""The file of --log, and the version that is told."""

from pathlib import Path

import pytest

from tests.gtp.process import SMALL, ask, marked, run, start


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
        answer = ask(engine, "version")
        engine.kill()
    assert marked(log)[-1] == f"> {answer.strip()}"


def test_a_disk_that_fails_ends_the_log_and_not_the_game(small_weights: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("no /dev/full here")
    done = run(["--weights", str(small_weights), *SMALL, "--log", "/dev/full"], "1 name\n2 version\n")
    assert (done.returncode, done.stdout[:9], done.stdout.count("\n\n")) == (0, "=1 gozero", 2)
    assert done.stderr.count("the log ends here: no space left on device") == 1


def test_the_version_can_be_what_a_client_wants(small_weights: Path) -> None:
    assert run(["--weights", str(small_weights), "--gtp-version", "0.17"], "version\n").stdout == "= 0.17\n\n"
