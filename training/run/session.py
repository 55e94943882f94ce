"""A session of a run, from one start to its next stop: the folder is opened, the run goes on, and all is saved.

The command line is `training.commands.train`.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from textwrap import fill, indent
from typing import Any

from gozero.system import files
from gozero.system.console import say
from gozero.system.options import SettingsError, flat
from gozero.system.words import counted
from training.doctor import monitor
from training.learner.learner import DivergedError
from training.run import new_run
from training.run.backend import LOCAL, LocalBackend
from training.run.modes import train_in_mode
from training.run.new_run import StartingPoint
from training.run.run import Run
from training.selfplay import simulators
from training.selfplay.remote import WorkerLostError
from training.selfplay.simulators import Disagreement
from training.settings import config
from training.settings.config import LoopSettings
from training.storage import storage
from training.storage.mirror import Mirror, Uploader
from training.storage.storage import FolderError, StorageError
from training.storage.store import Store

FAILED = (StorageError, Disagreement, DivergedError, WorkerLostError)  # the run cannot continue: exit code 1
FIXED = ("game", "rules", "network")  # settings that a run cannot change
KEEPS = ("features", "norm", "value_head")  # nor these, which follow an existing run, whatever its preset says now
LINE = 110  # characters of a line of settings
ON_A_LINE = 3  # settings that have changed: more have a line each


def prepare(
    settings: LoopSettings, folder: Path, start: StartingPoint | None = None, backend: LocalBackend = LOCAL
) -> Run:
    """Make or reopen the run folder and save the resolved settings in it. A new run begins from `start`, if given.
    SettingsError if the folder holds a run of another network, game or rules, or games without a run, or `start` does
    not fit; UserError if a file cannot be used or written.
    """
    under_way = compare(settings, folder)
    new_run.clean(folder)
    if start and under_way:
        say("this run has already begun and continues: --from and --records are for a new run")
    elif start:
        say(new_run.begin(settings, folder, start))
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(settings, folder, backend)
    with files.replacing(folder / "settings.json") as file:
        file.write(json.dumps(settings.to_dict(), indent=1).encode())
    return run


def look_at_remote(url: str, folder: Path, settings: LoopSettings) -> Mirror:
    """The copy of the run at a URL; nothing is written yet. StoreError if it cannot be used, SettingsError for a run of
    another game, rules or network.
    """
    mirror = Mirror(Store(url), folder)
    if saved := mirror.settings():
        with contextlib.suppress(ValueError, TypeError):  # `compare` says what is wrong with the file
            _refuse_changed(dict(files.from_json(saved)), settings, FIXED, mirror.store.shown, "give another --storage")
    return mirror


def _refuse_changed(
    before: Mapping[str, Any], settings: LoopSettings, names: Sequence[str], place: str, advice: str
) -> None:
    """SettingsError if one of these settings is not what it was in the run at a place."""
    for name in names:
        new = getattr(settings, name)
        if (old := before.get(name, new)) != new:
            raise SettingsError(f"{place} holds a run of {name} {old!r}, not {new!r}; {advice}")


def as_begun(settings: LoopSettings, folder: Path, chosen: frozenset[str] | None) -> LoopSettings:
    """The settings of a preset with the parts of the network (`KEEPS`) of the run in the folder, if there is one: a
    preset may have got others since.

    `chosen` are the settings that were asked for beside the preset, and stay; None: there is no preset, all stay.
    """
    if chosen is None or not storage.holds_run(folder):
        return settings
    try:
        before = config.saved(folder / "settings.json")
    except SettingsError:  # `compare` says what is wrong
        return settings
    begun: dict[str, Any] = {}
    for name in KEEPS:
        old, new = getattr(before, name), getattr(settings, name)
        if name not in chosen and old != new:
            begun[name] = old
            say(f"{folder.absolute()} continues with {name} = {old!r}, as it began; new runs have {new!r}")
    return replace(settings, **begun)


def introduce(settings: LoopSettings, folder: Path, source: str) -> None:
    """Say which of the run's settings are not the defaults, and where all are; `source` is where they come from."""
    about = f"{settings.network} for {settings.game}, in {folder.absolute()}"
    say(f"{source}: {about}; settings that are not the defaults:")
    changed = " ".join(config.changed(settings, LoopSettings()))
    say(indent(fill(changed, LINE - 2, break_long_words=False, break_on_hyphens=False), "  "))
    say(f"all settings: {folder.absolute() / 'settings.json'}; with their units: --list-settings")
    say(f"games are played on {simulators.DESCRIPTIONS[settings.simulator]}")
    say("Ctrl-C stops the run and saves; the same command continues")


def train(
    run: Run, watch: monitor.Monitor, program: str, stop: Callable[[], bool], remote: Uploader | None = None
) -> int:
    """Train until the run ends, fails or is stopped; `remote` gets a copy of each checkpoint. Returns the exit code."""
    if remote is not None:
        run.saved = remote.wake
        remote.wake()
    try:
        run.trainer.watch, run.watch = watch.step, watch.match
        if run.progress.hours:  # else it is new
            found = f"{counted(run.progress.games, 'game', ',')} and {counted(run.progress.rows, 'row', ',')}"
            say(f"continuing in generation {run.progress.generation}, with {found} so far")
        if run.progress.learning and (steps := run.trainer.steps_ready()):
            say(f"catching up: {counted(steps, 'training step', ',')} on the games so far")
        train_in_mode(run, watch, stop)
    except (*FAILED, FolderError) as error:
        say(f"{program}: {error}")
        return 1
    finally:
        watch.close(stop)
        run.selfplay.close()
    say(run.limits.ending())
    say(f"weights: {(run.folder / 'weights.pt').absolute()}")
    return 0


def compare(settings: LoopSettings, folder: Path) -> bool:
    """Whether the folder holds a run. Says which settings have changed since it last stopped; SettingsError for fixed
    ones, and for games without a run.
    """
    saved, under_way = folder / "settings.json", storage.holds_run(folder)
    if not under_way and any((folder / "records").glob("*.gzr")) and not new_run.is_cut(folder):
        raise SettingsError(
            f"{folder.absolute()} holds games (records/) but no checkpoint of a run; give another --run, and "
            f"--records {folder.absolute()} to begin with these games"
        )
    if not saved.exists():
        return under_way
    try:
        before = config.saved(saved)
    except SettingsError as error:
        raise SettingsError(
            f"{error}; move the file away to continue the run with the settings given now, or give another --run"
        ) from None
    if not under_way:  # an earlier start failed before the first checkpoint
        return False
    advice = "give another --run"
    if before.game == settings.game:  # what another game has learned is of no use
        run = folder.absolute()
        advice += f", and --from {run}/weights.pt or --records {run} to start from that run"
    _refuse_changed(vars(before), settings, (*FIXED, *KEEPS), str(folder.absolute()), advice)
    if changes := differences(before, settings):
        listed = " " + ", ".join(changes) if len(changes) <= ON_A_LINE else "\n  ".join(["", *changes])
        say(f"settings changed since the run last stopped in {folder.absolute()}:{listed}")
    return True


def differences(before: LoopSettings, after: LoopSettings) -> list[str]:
    """What each setting that is another was and is, those of tables by their entries."""
    old, new = ({name: repr(value) for name, value in flat(each.to_dict()).items()} for each in (before, after))
    named = ((name, old.get(name, "not set"), new.get(name, "not set")) for name in {**new, **old})
    return [f"{name} {was} is now {now}" for name, was, now in named if was != now]
