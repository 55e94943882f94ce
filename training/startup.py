"""`python -m training.loop`: its command line, from the settings to a run under way.

What is asked for is checked here, before anything starts; the cycle itself is `training.loop`.
"""

from __future__ import annotations

import argparse
import json
import signal
from collections.abc import Callable
from pathlib import Path

import torch

from gozero.threads import available_threads
from training import config, monitor
from training.checkpoint import CheckpointError
from training.config import ConfigError, LoopSettings
from training.loop import cycle
from training.run import Run
from training.storage import StorageError


def prepare(settings: LoopSettings, folder: Path) -> Run:
    """Make or reopen the run folder and keep the resolved settings in it.

    Raises:
        ConfigError: the folder holds a run of another network or game.
    """
    saved = folder / "settings.json"
    values = settings.to_dict()
    if saved.exists():
        before = json.loads(saved.read_text(encoding="utf-8"))
        for name in ("network", "game"):
            if before[name] != values[name]:
                raise ConfigError(f"{folder.absolute()} holds a run of {name} {before[name]!r}, not {values[name]!r}; give another --run")
    folder.mkdir(parents=True, exist_ok=True)
    saved.write_text(json.dumps(values, indent=1), encoding="utf-8")
    return Run(settings, folder)


def parser() -> argparse.ArgumentParser:
    """The command line."""
    options = argparse.ArgumentParser(
        prog="python -m training.loop", description="Self-play and learning in turns; goes on where the run folder stopped."
    )
    options.add_argument("--config", required=True, metavar="FILE.toml", help="settings, such as training/configs/go13.toml")
    options.add_argument("--run", metavar="FOLDER", help="run folder (default: runs/ and the configuration's name)")
    options.add_argument("--hours", type=float, help="stop after this many hours of work in all, over the configuration's")
    options.add_argument("--threads", type=int, help="CPU threads, over the configuration's")
    return options


def main(arguments: list[str] | None = None) -> int:
    """Run the loop; the exit code: 0, 1 if the disk failed under way, or 2 for settings or a folder that cannot be used."""
    options = parser().parse_args(arguments)
    try:
        values = config.load(options.config).to_dict()
        values |= {name: getattr(options, name) for name in ("hours", "threads") if getattr(options, name) is not None}
        settings = config.from_dict(LoopSettings, values, "command line")
        torch.set_num_threads(settings.threads or available_threads())
        run = prepare(settings, Path(options.run or Path("runs") / Path(options.config).stem))
    except (ConfigError, CheckpointError, ValueError) as error:
        monitor.say(f"training.loop: {error}")
        return 2
    except KeyboardInterrupt:  # nothing has begun
        return 130
    monitor.say(config.describe(settings))
    watch = monitor.Monitor(run.folder, run.settings)
    try:
        cycle(run, watch, stop_on_signals())
    except StorageError as error:
        monitor.say(f"training.loop: {error}")
        return 1
    finally:
        watch.close()
    monitor.say(f"weights: {(run.folder / 'weights.pt').absolute()}")
    return 0


def stop_on_signals() -> Callable[[], bool]:
    """A function that says whether SIGINT or SIGTERM has come; a second signal ends the process at once."""
    received: list[int] = []

    def note(number: int, frame: object) -> None:
        received.append(number)
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_DFL)
        monitor.say("stopping: finishing the step under way and saving; once more to leave at once")

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, note)
    return lambda: bool(received)
