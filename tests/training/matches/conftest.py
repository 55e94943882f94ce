"""What tests of matches share."""

import multiprocessing
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from gozero import games
from gozero.games.game import Game

ENGINE = """
import sys
trouble, log = (sys.argv[1:] or [""])[0], []
for line in sys.stdin:
    command = line.strip()
    word = command.split()[0]
    if word == "protocol_version":
        print("= 2\\n", flush=True)
        continue
    log.append(command)
    answer = {"name": "Toy", "genmove": "pass", "final_score": "W+7.5"}.get(word, "")
    status = "="
    if trouble == "refuses" and word == "play":
        status, answer = "?", "illegal move"
    elif trouble == "no-passes" and command.endswith("pass"):
        status, answer = "?", "syntax error"
    elif trouble in ("C3", "Z9", "resign") and word == "genmove":
        answer = trouble
    elif trouble == "dies" and word == "genmove":
        print("ran out of stones", file=sys.stderr)
        sys.exit(3)
    elif trouble == "echoes" and word == "final_score":
        answer = ",".join(log)
    print(status + " " + answer + "\\n", flush=True)
    if word == "quit":
        break
"""


@pytest.fixture
def toy(tmp_path: Path) -> str:
    """Description of a GTP engine that always passes; append ` refuses`, ` no-passes`, ` dies`, ` echoes` or its moves."""
    program = tmp_path / "toy engine.py"
    program.write_text(ENGINE)
    return f"gtp:{sys.executable} -S '{program}'"


@pytest.fixture(scope="module")
def go() -> Game:
    return games.make("go", size=5, komi=7.5)


@pytest.fixture(scope="module")
def forked_workers() -> Iterator[None]:
    """Workers of tournaments are forked from a process that has imported what each would import for a second."""
    if sys.platform == "win32":  # knows no fork
        yield
        return
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(["training.matches.tournament.worker", "gozero.games.tictactoe"])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("training.matches.tournament.pool.SPAWN", context)
        yield
