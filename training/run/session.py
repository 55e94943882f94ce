"""A session of a run, from one start to its next stop: the folder is opened, the run goes on, and all is saved.

The command line is `training.commands.train`; a cluster's coordinator (`training.cluster`) has a session of its own.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from contextlib import ExitStack, suppress
from dataclasses import replace
from functools import partial
from operator import attrgetter
from pathlib import Path
from textwrap import fill
from typing import Any

from gozero.nets import growth, weights
from gozero.nets.weights import WeightsError
from gozero.system.console import say
from gozero.system.options import SettingsError, flat
from gozero.system.words import counted
from training.doctor.monitor import Monitor
from training.learner.learner import DivergedError, limit_note, network_config
from training.run import new_run
from training.run.backend import LOCAL, Backend
from training.run.modes import train_in_mode
from training.run.new_run import StartingPoint
from training.run.run import Run
from training.selfplay import simulators
from training.selfplay.processes import WorkerLostError
from training.selfplay.simulators import Disagreement
from training.settings import config
from training.settings.config import LoopSettings
from training.storage import mirror, storage
from training.storage.mirror import Mirror, Uploader
from training.storage.storage import FolderError, StorageError
from training.storage.store import Store, shown

FAILED = (StorageError, Disagreement, DivergedError, WorkerLostError)  # the run cannot continue: exit code 1
# settings that a run cannot change, but for more input features
FIXED = ("game", "rules", "network", "norm", "value_head", "features")
KEEPS = ("features", "norm", "value_head")  # that follow an existing run, whatever its preset says now
BY_SIZE = ("selfplay.size_games", "selfplay.full_until", "replay.size_weights")  # tables that name board sizes
LINE = 110  # characters of a line of settings
ON_A_LINE = 3  # settings that have changed: more have a line each


def prepare(settings: LoopSettings, folder: Path, start: StartingPoint | None = None, backend: Backend = LOCAL) -> Run:
    """Make or reopen the run folder and save the resolved settings in it. A new run begins from `start`, if given.

    Raises:
        SettingsError: the folder holds a run of another network, game or rules, or games without a run, or `start`
            does not fit.
        WeightsError, CheckpointError, StorageError: a file cannot be used or written.
    """
    new_run.settle(folder)
    under_way = compare(settings, folder)
    if start and under_way:
        say("this run has already begun and continues: --from and --records are for a new run")
    elif start:
        say(new_run.begin(settings, folder, start))
    folder.mkdir(parents=True, exist_ok=True)
    run = Run(settings, folder, backend)
    with storage.replacing(folder / "settings.json") as file:
        file.write(json.dumps(settings.to_dict(), indent=1).encode())
    return run


def open_remote(
    url: str | None, take_over: bool, folder: Path, settings: LoopSettings, stack: ExitStack
) -> Uploader | None:
    """The copy of the run at a URL, open until `stack` ends; None without one. The folder then has the newer of both.

    Raises:
        SettingsError: the store has a run of another game, rules or network.
        StoreError, StorageError: the store cannot be used, or the folder not be written.
    """
    if url is None:
        return None
    remote = mirror.open_remote(url, folder, take_over, partial(_accept, settings, shown(url)))
    stack.callback(remote.close)
    return remote


def describe_remote(url: str, take_over: bool, folder: Path, settings: LoopSettings) -> str:
    """What `open_remote` would find, in words; nothing is written. Raises as it does."""
    store = Store(url)
    found = Mirror(store, folder, take_over, partial(_accept, settings, store.shown)).state
    return f"{store.shown} {f'holds a run ({found})' if found.checkpoints else 'holds nothing yet'}"


def _accept(settings: LoopSettings, store: str, saved: bytes) -> None:
    """SettingsError if a store's settings.json is of another game, rules or network: its run could not continue."""
    try:
        before = dict(json.loads(saved))
    except (ValueError, TypeError):  # `compare` says what is wrong
        return
    for name in (each for each in FIXED if each not in KEEPS):  # those follow the run, see `as_begun`
        old, new = before.get(name, getattr(settings, name)), getattr(settings, name)
        if old != new:
            raise SettingsError(f"{store} holds a run of {name} {old!r}, not {new!r}; give another --storage")


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


def introduce(settings: LoopSettings, folder: Path, source: str = "a run") -> None:
    """Say which of the run's settings are not the defaults, where all are, and which have no effect; `source` is where
    they come from.
    """
    say(
        f"{source}: {settings.network} for {settings.game}, in {folder.absolute()}; settings that are not the defaults:"
    )
    changed = " ".join(config.changed(settings))
    say(
        fill(changed, LINE, initial_indent="  ", subsequent_indent="  ", break_long_words=False, break_on_hyphens=False)
    )
    say(f"all settings: {folder.absolute() / 'settings.json'}; with their units: --list-settings")
    played = {size for stage in settings.stage for size in stage.sizes}
    for name in BY_SIZE:
        if unplayed := sorted(attrgetter(name)(settings).keys() - played):
            say(f"no stage plays size {', '.join(map(str, unplayed))}, which {name} names")
    say(f"games are refereed by {simulators.DESCRIPTIONS[settings.simulator]}")


def train(run: Run, watch: Monitor, program: str, stop: Callable[[], bool], remote: Uploader | None = None) -> int:
    """Train until the run ends, fails or is stopped; `remote` gets a copy of each checkpoint. Returns the exit code."""
    if remote is not None:
        run.saved = remote.wake
        remote.wake()
    try:
        run.trainer.watch, run.watch = watch.step, watch.match
        if run.progress.learning and (owed := run.trainer.due()):
            say(f"catching up: {counted(owed, 'training step', ',')} on the games so far")
        train_in_mode(run, watch, stop)
    except WorkerLostError as error:
        say(f"{program}: {error}; the run continues from its last checkpoint with the same command")
        return 1
    except (*FAILED, FolderError) as error:
        say(f"{program}: {error}")
        return 1
    finally:
        watch.close(stop)
        run.selfplay.close()
    say(run.limits.ending())
    say(f"weights: {(run.folder / 'weights.pt').absolute()}")
    return 0


def finish(remote: Uploader | None, code: int) -> int:
    """The exit code, after the last copy to the store: 1 if that failed."""
    return code if remote is None or remote.close() else code or 1


def compare(settings: LoopSettings, folder: Path) -> bool:
    """Whether the folder holds a run.

    Says which settings have changed since it last stopped; SettingsError for fixed ones, and for games without a run.
    """
    saved, under_way = folder / "settings.json", storage.holds_run(folder)
    if not under_way and any((folder / "records").glob("*.gzr")):
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
    for name in FIXED:
        old, new = getattr(before, name), getattr(settings, name)
        # a run's network can be given newer input features; what it says stays the same at first
        sees_more = name == "features" and new > old and growth.takes_tactics(network_config(settings))
        if old != new and not sees_more:
            advice = "give another --run"
            if name != "game":  # what another game has learned is of no use
                run = folder.absolute()
                advice += f", and --from {run}/weights.pt or --records {run} to start from that run"
            raise SettingsError(f"{folder.absolute()} holds a run of {name} {old!r}, not {new!r}; {advice}")
    if changes := differences(before, settings):
        listed = " " + ", ".join(changes) if len(changes) <= ON_A_LINE else "\n  ".join(["", *changes])
        say(f"settings changed since the run last stopped in {folder.absolute()}:{listed}")
        with suppress(WeightsError):  # the run has saved none yet, or none that can be read
            found = weights.load(folder / "weights.pt", settings.game).config
            if note := limit_note(found, network_config(settings)):
                say(note)
    return True


def differences(before: LoopSettings, after: LoopSettings) -> list[str]:
    """What each setting that is another was and is, those of tables by their entries."""
    old, new = flat(before.to_dict()), flat(after.to_dict())
    named = ((name, old.get(name, "not set"), new.get(name, "not set")) for name in {**new, **old})
    return [f"{name} {_shown(was)} is now {_shown(now)}" for name, was, now in named if was != now]


def _shown(value: Any) -> str:
    return value if value == "not set" else repr(value)
