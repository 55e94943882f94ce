"""The progress of a tournament in a line."""

from __future__ import annotations

import io

import pytest

from training.matches.tournament.progress import ProgressLine, duration


class Terminal(io.StringIO):
    """A stream that is a terminal."""

    def isatty(self) -> bool:
        return True


def test_a_terminal_has_one_line_that_is_rewritten() -> None:
    seconds, stream = [0.0], Terminal()
    line = ProgressLine(100, 104, stream, now=lambda: seconds[0])
    for left in (3, 2, 1):
        seconds[0] += 30
        line.add(left)
    line.say("trouble")
    line.close()
    text = stream.getvalue()
    assert text.replace("\r\x1b[K", "|") == (
        "|101 of 104 games, 90 s left|102 of 104 games, 60 s left|103 of 104 games, 30 s left|trouble\n|"
    )


def test_a_file_has_a_line_a_minute() -> None:
    seconds, stream = [0.0], io.StringIO()
    line = ProgressLine(0, 1000, stream, now=lambda: seconds[0])
    for game in range(200):
        seconds[0] += 1
        line.add(999 - game)
    assert stream.getvalue().splitlines() == [
        "60 of 1,000 games, 16 min left",
        "120 of 1,000 games, 15 min left",
        "180 of 1,000 games, 14 min left",
    ]


class Unread(io.StringIO):
    """A stream whose reader has gone."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


def test_nobody_reads_it_and_the_games_go_on() -> None:
    seconds = [0.0]
    line = ProgressLine(0, 1000, Unread(), now=lambda: seconds[0])
    seconds[0] += 100
    line.add(999)
    line.say("trouble")
    line.close()


@pytest.mark.parametrize(
    ("seconds", "text"), [(0, "0 s"), (99, "99 s"), (600, "10 min"), (5999, "100 min"), (36000, "10.0 h")]
)
def test_durations(seconds: float, text: str) -> None:
    assert duration(seconds) == text
