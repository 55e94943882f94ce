"""Finds and joins a Ray cluster: what `--address` means, and one line where nothing answers."""

from __future__ import annotations

import contextlib
import logging
import os
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path

import ray

from gozero.system.options import SettingsError

CONNECT_SECONDS = 5.0


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
