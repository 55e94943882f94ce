"""Runs that are killed: a process that forks children, each of which goes on with a run until it kills itself with
SIGKILL. Not a test.

    python -m tests.training.crashes FOLDER MODE MOMENTS

Moments are counted in work done: before and after each game written, each learner's step and each part of writing a
checkpoint. FOLDER/whole is the run that nobody kills; in FOLDER/killed the last child is left to finish. Forking spares
each child the imports; this process itself computes nothing, so that its children inherit no threads.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
import torch._dynamo  # which making an optimiser imports, for longer than a run takes

from gozero.system import files
from training.learner import learner
from training.records import records
from training.run import modes, run, session
from training.settings import config

SETTINGS: dict[str, Any] = {
    "network": "b2c16",
    "generations": 3,
    "generation_rows": 60,
    "checkpoint_rows": 25,
    "threads": 1,
    "seed": 5,
    "selfplay": {"games": 4},
    "replay": {"window": 120, "held_out": 0.1},
    "learner": {"learning_rate": 3e-3, "batch": 16, "warm_up": 5, "reuse": 2.0},
    "stage": [
        {"rows": 50, "sizes": {"4": 0.5, "5": 0.5}, "evaluator": "rollouts", "full_visits": 32, "cheap_visits": 8},
        {"rows": 1, "sizes": {"4": 0.3, "5": 0.7}, "full_visits": 8, "cheap_visits": 4},
    ],
}


ONE_BOARD = {"stage": [SETTINGS["stage"][0], SETTINGS["stage"][1] | {"sizes": {"5": 1.0}}]}  # the network has one size
SMALL = ONE_BOARD | {"generations": 2, "selfplay": {"games": 4, "slots": 2}}


def settings(**changes: Any) -> config.LoopSettings:
    """The tiny run, with changes."""
    return config.from_values(config.LoopSettings, SETTINGS | changes, "test")


class Watch:
    """A monitor that only keeps the log, so that tests of the cycle are quick."""

    def __init__(self, folder: Path, settings: config.LoopSettings) -> None:
        self.log = folder / "log.jsonl"

    def generation(self, report: dict[str, float], _: run.Run, stop: Callable[[], bool]) -> None:
        with self.log.open("a") as file:
            file.write(json.dumps(report) + "\n")

    def match(self, found: dict[str, float]) -> None:
        with self.log.open("a") as file:
            file.write(json.dumps(found) + "\n")

    def step(self, number: int, losses: dict[str, torch.Tensor]) -> None:
        pass

    def close(self, stop: Callable[[], bool] | None = None) -> None:
        pass


def go_on(folder: Path, wanted: config.LoopSettings) -> None:
    """Open the run in `folder` and let it finish."""
    torch.set_num_threads(1)
    run = session.prepare(wanted, folder)
    modes.train_in_mode(run, Watch(folder, wanted), lambda: False)  # type: ignore[arg-type]


def kill_after(moments: int) -> None:
    """Let this process kill itself when so many moments have passed."""
    left, lock = moments, threading.Lock()

    def pass_by() -> None:
        nonlocal left
        with lock:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    def watched(function: Callable[..., Any]) -> Callable[..., Any]:
        def around(*arguments: Any, **named: Any) -> Any:
            pass_by()
            result = function(*arguments, **named)
            pass_by()
            return result

        return around

    for owner, name in ((records.Writer, "append"), (learner.Learner, "train"), (torch, "save"), (files, "sync")):
        setattr(owner, name, watched(getattr(owner, name)))


def main(folder: Path, mode: str, moments: list[int]) -> int:
    """One child for each number of moments, and one that finishes; 1 if a child ended otherwise than it should."""
    few = len(moments) < 10
    if few:  # inference graphs take longer to make than these generations
        run.carry_graph = lambda path: None
    sys.stderr = Path(os.devnull).open("w")  # noqa: SIM115 - what a run says is not this test's matter
    for name, moment in (("whole", 0), *(("killed", moment) for moment in moments), ("killed", 0)):
        child = os.fork()
        if child == 0:
            if moment:
                kill_after(moment)
            go_on(folder / name, settings(mode=mode, **(SMALL if few else {})))
            os._exit(0)
        _, status = os.waitpid(child, 0)
        if status != 0 and not (moment and os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL):
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), sys.argv[2], json.loads(sys.argv[3])))
