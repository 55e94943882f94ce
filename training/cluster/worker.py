"""A worker: plays stretches of self-play and parts of matches for one run. It is a Ray actor on any machine.

A worker keeps nothing that matters: its pools and networks are caches. It reads and writes no file of the run.
"""

from __future__ import annotations

import os
import platform
import socket
import threading
import time
from collections.abc import Iterator
from typing import Any

import ray
import torch
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError
from torch import nn

from gozero import __version__
from gozero.nets import model
from training.cluster import GPU_SLOT, SLOT
from training.cluster.messages import (
    About,
    Answer,
    Evaluate,
    Games,
    Initialize,
    MatchEnd,
    NetworkVersion,
    Order,
    PackedPool,
    SelfPlay,
    StretchEnd,
)
from training.learner.learner import network_config
from training.matches.interface import Stopped
from training.records.records import Record
from training.run import gate
from training.run.backend import device_of
from training.selfplay.crew import LocalCrew, StretchOver

# an actor is gone; the last: memory was full, and Ray chose it
LOST = (RayActorError, ObjectLostError, OutOfMemoryError)
GPU_SHARE = 0.5  # of a GPU that such a worker takes, and a learner that is alone: the two may share one
BATCH_SECONDS = 0.25  # between two answers with games
NETWORKS = 2  # in memory: those of a match


def versions() -> tuple[tuple[str, str], ...]:
    """Of gozero, python and ray, here: they must be the same everywhere."""
    return ("gozero", __version__), ("python", platform.python_version()), ("ray", ray.__version__)


class Worker:
    """The actor. `work` runs in one thread; `cut` comes from another."""

    def __init__(self, order: Initialize) -> None:
        self.settings, self.threads = order.settings, order.threads or offered_threads()
        torch.set_num_threads(self.threads)
        self.device = device_of("auto" if ray.get_gpu_ids() and order.settings.device != "cpu" else "cpu")
        config = network_config(order.settings)
        self._fresh = lambda: model.build(config, order.settings.seed)
        self._crew = LocalCrew(order.settings, self._fresh(), self.threads, self.device)
        self._plays = -1  # the number of its network
        self._networks: dict[int, nn.Module] = {}  # of matches, by number
        self._cut: set[int] = set()  # numbers of orders that must end
        self._lock = threading.Lock()

    def about(self) -> About:
        """Who this is."""
        return About(socket.gethostname(), os.getpid(), versions())

    def cut(self, number: int) -> None:
        """End the order of that number at the next wave; what it has done by then counts."""
        with self._lock:
            self._cut.add(number)

    def work(self, order: Order) -> Iterator[Answer]:
        """Carry out an order."""
        found = self._self_play(order) if isinstance(order, SelfPlay) else self._evaluate(order)
        try:
            yield from found
        finally:
            with self._lock:
                self._cut.discard(order.number)

    def _self_play(self, order: SelfPlay) -> Iterator[Answer]:
        began = sent = time.monotonic()
        if order.weights.number != self._plays:
            self._crew.take_over(tensors(order.weights))
            self._plays = order.weights.number
        complaint = self._crew.load_pool(order.stretch.key, order.pool.state())
        if complaint:
            raise RuntimeError(complaint)
        waiting: list[Record] = []
        evaluations = 0
        for found in self._crew.play([order.stretch], lambda: order.number in self._cut):
            if isinstance(found, StretchOver):
                evaluations = found.evaluations
                continue
            waiting.append(found)
            if time.monotonic() - sent >= BATCH_SECONDS:
                yield Games(tuple(waiting))
                waiting, sent = [], time.monotonic()
        if waiting:
            yield Games(tuple(waiting))
        pool = self._crew.pools[order.stretch.key]
        self._crew.pools = {order.stretch.key: pool}  # those of other seats would keep their trees
        yield StretchEnd(PackedPool.of(pool.state_dict()), evaluations, time.monotonic() - began)

    def _evaluate(self, order: Evaluate) -> Iterator[Answer]:
        candidate, best = self._network(order.candidate), self._network(order.best)
        try:
            games = gate.play_part(
                order.part, candidate, best, self.threads, lambda: order.number in self._cut, self.device
            )
        except Stopped:
            yield MatchEnd(None)
        else:
            yield MatchEnd(tuple(games))

    def _network(self, wanted: NetworkVersion) -> nn.Module:
        if wanted.number not in self._networks:
            net = self._fresh()
            net.load_state_dict(tensors(wanted))
            self._networks[wanted.number] = net.eval().requires_grad_(False).to(self.device)
            while len(self._networks) > NETWORKS:
                self._networks.pop(next(iter(self._networks)))
        return self._networks[wanted.number]


def offered_threads() -> int:
    """The CPUs of this machine's node for each of its workers."""
    here = ray.get_runtime_context().get_node_id()
    found: dict[str, float] = next((node["Resources"] for node in ray.nodes() if node["NodeID"] == here), {})
    return max(1, int(found.get("CPU", 1) // max(1, found.get(SLOT, 0) + found.get(GPU_SLOT, 0))))


def tensors(weights: NetworkVersion) -> dict[str, torch.Tensor]:
    """The tensors of a version, copied out of the object store."""
    state: dict[str, Any] = ray.get(weights.reference)
    return {name: torch.tensor(array) for name, array in state.items()}


def put(number: int, version: int, net: nn.Module) -> NetworkVersion:
    """Put a network's tensors into the object store."""
    return NetworkVersion(
        number, version, ray.put({name: tensor.cpu().numpy() for name, tensor in net.state_dict().items()})
    )
