"""Debian's Quarry, a board of 2006 with its own ideas of GTP, plays a game of gozero-gtp against itself under Xvfb.

It reads its engines and the terms of a new game from a file in the home directory; its dialogs need a key each.
"""

import os
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

pytestmark = pytest.mark.quarry

TIMEOUT = 120.0
DIALOG_TIMEOUT = 20.0  # now and then a display of Xvfb passes no keys on: then another one
ATTEMPTS = 6
CONFIGURATION = """\
[GTP Engine "gozero "]
Screen name format = "%n %v"
Name = "gozero"
Site configuration name = "GRhino Reversi"
Command line = "{command}"
Supported games = "Go"

[New Game Parameters]
Game = "Go"
White is computer = true
White computer player = "gozero "
Black is computer = true
Black computer player = "gozero "

[New Go Game Parameters]
Board size = 9
Komi = 6.5
"""


def wait_until(is_so: Callable[[], object], timeout: float = TIMEOUT) -> None:
    deadline = time.monotonic() + timeout
    while not is_so():
        if time.monotonic() > deadline:
            raise TimeoutError
        time.sleep(0.5)


@contextmanager
def screen(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A display of our own, and a home directory."""
    reading, writing = os.pipe()
    with subprocess.Popen(
        ["Xvfb", "-displayfd", str(writing), "-screen", "0", "1024x768x24"], pass_fds=[writing]
    ) as server:
        try:
            monkeypatch.setenv("DISPLAY", ":" + os.read(reading, 20).decode().strip())
            monkeypatch.setenv(
                "XDG_CACHE_HOME", os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
            )  # compiled kernels
            monkeypatch.setenv("HOME", str(tmp_path))
            yield
        finally:
            server.terminate()


def window(title: str) -> str:
    """The number of the window with that title, or nothing while there is none."""
    return subprocess.run(
        ["xdotool", "search", "--onlyvisible", "--name", title], capture_output=True, text=True, check=False
    ).stdout.strip()


def press(title: str, *keys: str) -> None:
    """Press keys in the window of that title, if it is there."""
    if number := window(title):
        subprocess.run(
            ["xdotool", "windowfocus", number, "sleep", "0.3", "key", "--delay", "300", *keys],
            timeout=TIMEOUT,
            check=False,
        )


def play(log: Path) -> None:
    """A game from Quarry's dialogs to the engines' last word; TimeoutError when the dialogs do not answer."""
    with subprocess.Popen(["quarry"]) as quarry:
        try:
            wait_until(lambda: press("Quarry Control Center", "alt+n") or window("New Game"), DIALOG_TIMEOUT)
            wait_until(  # forward, and play
                lambda: press("New Game", "alt+f", "Return") or not window("New Game"), DIALOG_TIMEOUT
            )
            wait_until(
                lambda: re.search(r"final_status_list dead\n(?s:.*)final_status_list dead\n.*= ", log.read_text())
            )  # of either
        finally:
            quarry.terminate()


def test_a_game(small_weights: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    log = tmp_path / "log"
    options = ["--weights", str(small_weights), "--visits", "1", "--seed", "1", "--log", str(log)]
    engine = [sys.executable, "-m", "gtp", *options]
    (tmp_path / ".quarry").write_text(CONFIGURATION.format(command=shlex.join(engine)))
    for attempt in range(1, ATTEMPTS + 1):
        try:
            with screen(tmp_path, monkeypatch):
                play(log)
            break
        except TimeoutError:
            if attempt == ATTEMPTS:
                raise
            log.unlink(missing_ok=True)
    traffic = log.read_text()
    assert not re.search(r"^(.*> )?\?", traffic, re.MULTILINE)
    assert traffic.count("genmove black\n") > 10
    assert traffic.count("= pass\n") >= 2
