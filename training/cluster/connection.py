"""Finds and joins a Ray cluster: what `--address` means, and one line where nothing answers; and `gozero worker`, which
joins it as a node that is started again whenever it was cut off.

The node offers room (`training.cluster.pool`); the command of a run starts a worker in it. It runs until Ctrl-C or
SIGTERM. Work that is lost with it is done by others.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import socket
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import ray

from gozero.system.console import say, stop_on_signals
from gozero.system.options import SettingsError

CONNECT_SECONDS = 5.0
PROGRAM = "gozero worker"
RETRY_SECONDS = 5.0  # between two attempts to join
JOIN_SECONDS = 20.0  # a node that ends sooner has not joined
LEAVE_SECONDS = 15.0  # that the node is given to end
STDERR = 2  # file descriptor
LOOK = 0.2  # seconds between two looks at whether to stop


def connect(address: str) -> None:
    """Join the cluster at `address`, auto or HOST:PORT, from this machine, which must be one of its nodes.
    SettingsError if there is none, or it cannot be used.
    """
    answering(address)
    try:
        with quiet():
            ray.init(address=address, namespace="gozero", log_to_driver=False, logging_level=logging.ERROR)
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
    """HOST:PORT of the cluster that `address` names; auto: RAY_ADDRESS, or the cluster that `ray start` noted here.

    SettingsError if nothing listens there.
    """
    if address == "auto":
        noted = Path(tempfile.gettempdir()) / "ray" / "ray_current_cluster"
        address = os.environ.get("RAY_ADDRESS") or (noted.read_text().strip() if noted.exists() else "")
        if not address.rpartition(":")[2].isdecimal():
            raise SettingsError(
                "--address auto: no cluster is known on this machine; start one with ray start --head, or give its "
                "HOST:PORT"
            )
    reach(address, ", or auto")
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


def serve(address: str, command: list[str]) -> int:
    """Keep a node going until stopped. Returns the exit code; SettingsError if none can join at first."""
    reach(address)
    stop, joined = stop_on_signals("letting the workers go"), False
    while not stop():
        try:
            reach(address)
            say(f"{PROGRAM}: joining {address}")
            began = time.monotonic()
            code = run_node(command, stop)
            joined = joined or time.monotonic() > began + JOIN_SECONDS
            if stop():
                break
            if not joined:
                raise SettingsError(f"--address {address}: no node can join from here; Ray's messages are above")
            say(f"{PROGRAM}: Ray's node has ended with code {code}")
        except SettingsError as error:
            if not joined:
                raise
            say(f"{PROGRAM}: {error}; trying again")
        again = time.monotonic() + RETRY_SECONDS
        while time.monotonic() < again and not stop():
            time.sleep(LOOK)
    return 0


def run_node(command: list[str], stop: Callable[[], bool]) -> int:
    """Run Ray's processes on this machine, which one of them starts and watches over, until they end or `stop()` is
    true. Their messages go to stderr. Returns the exit code.
    """
    process = subprocess.Popen(command, stdout=STDERR, start_new_session=True)
    while not stop():
        with contextlib.suppress(subprocess.TimeoutExpired):
            return process.wait(LOOK)
    process.terminate()
    with contextlib.suppress(subprocess.TimeoutExpired):
        return process.wait(LEAVE_SECONDS)
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
