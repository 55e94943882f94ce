"""A worker: plays tasks of self-play and parts of matches for one run. It is a Ray actor on any machine.

A worker keeps nothing that matters: its pools and networks are caches. It reads and writes no file of the run.
"""

from __future__ import annotations

import os
import socket
import time
from typing import Any

import ray
import torch
from ray.exceptions import ObjectLostError, OutOfMemoryError, RayActorError
from torch import nn

from gozero import __version__
from gozero.nets import model
from training.cluster import GPU_WORKER, WORKER
from training.cluster.messages import (
    About,
    Initialize,
    NetworkVersion,
    Order,
    PackedPool,
    PlayMatch,
    PlayTask,
    TaskResult,
)
from training.learner.learner import network_config
from training.matches.interface import Stopped
from training.matches.match import MatchGame
from training.records.records import Record
from training.run import gate
from training.run.backend import device_of
from training.selfplay.local import LocalSelfPlay, TaskEnd
from training.selfplay.pool import Pool
from training.storage import checkpoint

# an actor is gone; the last: memory was full, and Ray chose it
LOST = (RayActorError, ObjectLostError, OutOfMemoryError)
GPU_SHARE = 0.5  # of a GPU that such a worker takes, and a learner that is alone: the two may share one
NETWORKS = 2  # in memory: those of a match


class Worker:
    """The actor. `work` runs in one thread; `cut` comes from another."""

    def __init__(self, order: Initialize) -> None:
        self.settings, self.threads = order.settings, order.threads or offered_threads()
        torch.set_num_threads(self.threads)
        self.device = device_of("auto" if ray.get_gpu_ids() and order.settings.device != "cpu" else "cpu")
        config = network_config(order.settings)
        self._fresh = lambda: model.build(config, order.settings.seed)
        self._selfplay = LocalSelfPlay(order.settings, self._fresh(), self.threads, self.device)
        self._plays = -1  # the number of its network
        self._networks: dict[int, nn.Module] = {}  # of matches, by number
        self._cut: set[int] = set()  # numbers of orders that must end

    def about(self) -> About:
        """Who this is."""
        return About(socket.gethostname(), os.getpid(), __version__)

    def cut(self, number: int) -> None:
        """End the order of that number at the next wave; what it has done by then counts."""
        self._cut.add(number)

    def work(self, order: Order) -> TaskResult | list[MatchGame] | None:
        """Carry out an order."""
        try:
            return self._play(order) if isinstance(order, PlayTask) else self._play_match(order)
        finally:
            self._cut.discard(order.number)

    def _play(self, order: PlayTask) -> TaskResult:
        began, key = time.monotonic(), order.task.key
        if order.weights.number != self._plays:
            self._selfplay.take_weights(tensors(order.weights))
            self._plays = order.weights.number
        if complaint := self._selfplay.load_pool(key, checkpoint.decompress(order.pool.content)):
            raise RuntimeError(complaint)
        self._selfplay.tasks = [order.task]
        *records, end = (each for _, each in self._selfplay.take(lambda: order.number in self._cut))
        pool = self._selfplay.pools[key]
        self._selfplay.pools = {key: pool}  # those of other slots would keep their trees
        assert isinstance(end, TaskEnd)
        games = [each for each in records if isinstance(each, Record)]
        return TaskResult(games, end, packed(pool), time.monotonic() - began)

    def _play_match(self, order: PlayMatch) -> list[MatchGame] | None:
        pair = self._network(order.candidate), self._network(order.best)
        try:
            return gate.play_part(order.part, *pair, self.threads, lambda: order.number in self._cut, self.device)
        except Stopped:
            return None

    def _network(self, wanted: NetworkVersion) -> nn.Module:
        if wanted.number not in self._networks:
            net = self._fresh()
            net.load_state_dict(tensors(wanted))
            self._networks[wanted.number] = net.eval().requires_grad_(False).to(self.device)
            while len(self._networks) > NETWORKS:
                self._networks.pop(next(iter(self._networks)))
        return self._networks[wanted.number]


def packed(pool: Pool) -> PackedPool:
    """A pool's state, compressed."""
    return PackedPool(checkpoint.compress(pool.state_dict()), tuple(pool.resign.peaks))


def offered_threads() -> int:
    """The CPUs of this machine's node for each of its workers."""
    here = ray.get_runtime_context().get_node_id()
    found: dict[str, float] = next((node["Resources"] for node in ray.nodes() if node["NodeID"] == here), {})
    return max(1, int(found.get("CPU", 1) // max(1, found.get(WORKER, 0) + found.get(GPU_WORKER, 0))))


def tensors(weights: NetworkVersion) -> dict[str, torch.Tensor]:
    """The tensors of a version, copied out of the object store."""
    state: dict[str, Any] = ray.get(weights.reference)
    return {name: torch.tensor(array) for name, array in state.items()}


def put(number: int, version: int, net: nn.Module) -> NetworkVersion:
    """Put a network's tensors into the object store."""
    arrays = {name: tensor.cpu().numpy() for name, tensor in net.state_dict().items()}
    return NetworkVersion(number, version, ray.put(arrays))
