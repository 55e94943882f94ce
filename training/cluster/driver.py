"""Starts a run on a cluster, or finds it again, and prints its coordinator's output until it ends.

Ctrl-C and SIGTERM save the run and end it; if this process dies otherwise the run goes on, and the same command finds
it again. The exit codes are those of a run on one machine.
"""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import ray
from ray.exceptions import OutOfMemoryError, RayActorError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy

from gozero.system.console import say, stop_on_signals
from gozero.system.options import SettingsError
from training.cluster.coordinator import Coordinator
from training.cluster.messages import Assignment, Output

NAMESPACE = "gozero"
CONNECT_SECONDS = 5.0
LOOK = 0.3  # seconds between two looks at what the coordinator has printed
DISMISS_SECONDS = 10.0
GRACE = 0.5  # seconds in which other commands that follow the same run see its end
LOST_SECONDS = 300.0  # that a coordinator may be unanswered of before its driver gives up


def run(asked: Assignment, address: str) -> int:
    """Do what the driver is for. Returns the exit code; SettingsError where there is no cluster to use."""
    connect(address)
    stop = stop_on_signals()
    try:
        coordinator = find(asked)
        name = name_of(asked.folder)
        code = follow(coordinator, stop, name)
        time.sleep(GRACE)
        dismiss(coordinator, name)
        return code
    finally:
        ray.shutdown()


def connect(address: str) -> None:
    """Join the cluster at `address`, auto or HOST:PORT, from this machine, which must be one of its nodes.

    Raises:
        SettingsError: there is none, or it cannot be used.
    """
    answering(address)
    try:
        with quiet():
            ray.init(address=address, namespace=NAMESPACE, log_to_driver=False, logging_level=logging.ERROR)
    except (ConnectionError, RuntimeError, ValueError) as error:
        why = " ".join(str(error).split())
        raise SettingsError(
            f"--address {address}: no cluster can be used from here ({why[:200]}); start a node on this machine with "
            "ray start --head or gozero worker, and set the cluster's token if it has one (docs/cluster.md)"
        ) from None


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Drop what is written to stderr, also by Ray's libraries, which repeat themselves while they try to connect."""
    with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device
        stderr = os.dup(2)
        os.dup2(nowhere.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(stderr, 2)
            os.close(stderr)


def answering(address: str) -> str:
    """HOST:PORT of the cluster that `address`, auto or HOST:PORT, names. SettingsError if nothing listens there."""
    found = known() if address == "auto" else address
    reach(found, ", or auto")
    return found


def known() -> str:
    """What auto stands for: RAY_ADDRESS, or the cluster that `ray start` noted here. SettingsError where there is none."""
    noted = Path(tempfile.gettempdir()) / "ray" / "ray_current_cluster"
    address = os.environ.get("RAY_ADDRESS") or (noted.read_text().strip() if noted.exists() else "")
    if not address.rpartition(":")[2].isdecimal():
        raise SettingsError(
            "--address auto: no cluster is known on this machine; start one with ray start --head, or give its HOST:PORT"
        )
    return address


def reach(address: str, besides: str = "") -> None:
    """SettingsError if nothing listens at HOST:PORT; `besides`: what else could have been given."""
    host, _, port = address.rpartition(":")
    if not host or not port.isdecimal() or not 0 < int(port) < 65536:
        raise SettingsError(f"--address {address}: expected HOST:PORT, such as 10.0.0.5:6379{besides}")
    try:
        socket.create_connection((host, int(port)), CONNECT_SECONDS).close()
    except OSError as error:
        why = error.strerror or str(error)
        raise SettingsError(
            f"--address {address}: no cluster answers there ({why}); is its head running, and is the port right?"
        ) from None


def name_of(folder: Path) -> str:
    """The name of a run's coordinator in the cluster."""
    return f"coordinator of {folder}"


def find(asked: Assignment) -> Any:
    """The handle of the run's coordinator, started if there is none."""
    name = name_of(asked.folder)
    try:
        coordinator: Any = ray.get_actor(name)
        found: Output = ray.get(coordinator.output.remote(0))
    except (ValueError, RayActorError):
        return start(asked, name)
    if found.code is None:
        before: Assignment = ray.get(coordinator.asked.remote())
        options = "settings", "storage", "workers"
        same = all(getattr(before, option) == getattr(asked, option) for option in options)
        other = "" if same else ", with the settings, --storage and --workers that it was started with"
        say(f"this run is under way on the cluster{other}")
        return coordinator
    for line in found.lines:  # that session has ended meanwhile
        say(line)
    dismiss(coordinator, name)
    return start(asked, name)


def dismiss(coordinator: Any, name: str) -> None:
    """Let a coordinator go, and wait until its name is free."""
    ray.kill(coordinator)
    until = time.monotonic() + DISMISS_SECONDS
    while time.monotonic() < until and is_there(name):
        time.sleep(LOOK)


def is_there(name: str) -> bool:
    """Whether a coordinator has that name, be it one that is started again just now."""
    try:
        ray.get_actor(name)
    except ValueError:
        return False
    return True


def start(asked: Assignment, name: str) -> Any:
    """Start the coordinator on this machine, where the run folder is."""
    here = NodeAffinitySchedulingStrategy(ray.get_runtime_context().get_node_id(), soft=True)
    actor: Any = ray.remote(Coordinator)
    return actor.options(
        name=name,
        lifetime="detached",
        max_restarts=-1,
        max_concurrency=8,
        num_cpus=0,
        scheduling_strategy=here,
        get_if_exists=True,
    ).remote(asked)


def follow(coordinator: Any, stop: Callable[[], bool], name: str) -> int:
    """Print the coordinator's output until the session ends. Returns its exit code."""
    seen, stopping, answered = 0, False, time.monotonic()
    while True:
        try:
            if stop() and not stopping:
                ray.get(coordinator.stop.remote())
                stopping = True
            found: Output = ray.get(coordinator.output.remote(seen))
        except (RayActorError, OutOfMemoryError) as error:
            if not is_there(name):
                say("another command has ended this run; run the same command to see its state")
                return 1
            if time.monotonic() > answered + LOST_SECONDS:
                say(f"the coordinator is lost: {error}")
                return 1
            stopping = False  # the next one has not answered of it
            time.sleep(LOOK)
            continue
        answered = time.monotonic()
        for line in found.lines:
            say(line)
        seen = found.seen
        if found.code is not None:
            return found.code
        time.sleep(LOOK)
