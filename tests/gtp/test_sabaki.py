"""Sabaki's own controller, the npm package @sabaki/gtp, attaches gozero-gtp, brings it to positions, analyses, plays
and lets it go.
"""

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import NODE_PACKAGES

pytestmark = pytest.mark.node

LINE = re.compile(r"(?:pass|[A-Za-z]\d+)(?:\s+(?:pass|[A-Za-z]\d+))*\s*$")
"""What Sabaki takes for the variation at the end of each part of an analysis."""


@pytest.fixture(scope="module")
def seen(small_weights: Path) -> dict[str, Any]:
    """What came of each step of sabaki/session.js."""
    engine = [sys.executable, "-m", "gtp", "--weights", str(small_weights), "--visits", "50", "--seed", "1"]
    done = subprocess.run(
        ["node", Path(__file__).parent / "sabaki" / "session.js", *engine],
        env={**os.environ, "NODE_PATH": str(NODE_PACKAGES)},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return dict(json.loads(done.stdout))


def test_attaching(seen: dict[str, Any]) -> None:
    name, version, protocol, commands = seen["attached"]
    assert (name["content"], protocol["content"]) == ("gozero", "2")
    assert re.match(r"\d+\.\d+", version["content"])
    assert {"undo", "kata-analyze", "lz-analyze", "kata-genmove_analyze"} <= set(commands["content"].split("\n"))
    assert not any(answer["error"] for answer in seen["attached"])


@pytest.mark.parametrize(
    ("step", "sent"),
    [
        ("replay", ["komi 6.5", "boardsize 9", "clear_board", "play B E5", "play W C3", "play B G7", "play W C7"]),
        ("same", []),
        ("back", ["undo", "play W G3"]),
        ("other", ["clear_board", "play B D5", "play W C3"]),
        ("setUp", ["clear_board", "play B A1", "play B A2", "play W B1", "play B C3", "play W C4", "play W J9"]),
        ("handicap", ["komi 0.5", "clear_board", "set_free_handicap C3 G7", "play W E5"]),
        ("clock", ["time_settings 0 5 1"]),
        ("undone", ["undo", "undo"]),
    ],
)
def test_every_position_can_be_synced(seen: dict[str, Any], step: str, sent: list[str]) -> None:
    assert seen[step] == sent


def test_what_the_user_reads_where_it_cannot(seen: dict[str, Any]) -> None:
    assert seen["illegal"] == "History cannot be replayed on engine"
    assert seen["tooBig"] == "Board size is not supported by engine"


@pytest.mark.parametrize("dialect", ["kata", "lz"])
def test_analysis_goes_on_until_it_is_aborted(seen: dict[str, Any], dialect: str) -> None:
    analysis = seen[dialect]
    assert len(analysis["lines"]) >= 3
    assert analysis["version"] == "2"
    assert analysis["milliseconds"] < 500
    for line in analysis["lines"]:
        for part in re.split(r"\s*info\s+", line)[1:]:
            assert LINE.search(part)
            assert re.match(r"move \S+ visits \d+ .*winrate [\d.]+ ", part)


def test_playing(seen: dict[str, Any]) -> None:
    """Sabaki takes the move from the last line, and keeps its own history by it."""
    head, *looks, move, end = seen["played"]["lines"]
    assert (head, end) == ("=", "")
    assert looks
    assert all(look.startswith("info move ") for look in looks)
    assert move.startswith("play ")
    assert seen["played"]["history"] == ["B:E5", "W:C3", "B:G7", "W:C7", f"B:{move.split()[1].upper()}"]
    assert re.fullmatch(r"[A-HJ][1-9]|pass", seen["answer"])


def test_leaving(seen: dict[str, Any]) -> None:
    """`quit` is answered and the process gone long before Sabaki would kill it."""
    assert seen["stopped"]["code"] == 0
    assert seen["stopped"]["milliseconds"] < 1000
