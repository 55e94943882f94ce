"""A worker: plays tasks of self-play and parts of matches for one run. It is a Ray actor on any machine.

An order says all that is needed: what a worker keeps, its pools and networks, is a cache, and nothing is lost with it.
It reads and writes no file of the run.
"""

from __future__ import annotations

import os
import socket
import threading
from dataclasses import dataclass
from typing import Any

import ray
import torch
from torch import nn

from gozero import __version__
from gozero.nets import model
from training.cluster import GPU_WORKER, WORKER
from training.learner.learner import network_config
from training.matches.interface import Stopped
from training.matches.match import MatchGame
from training.run import gate
from training.run.backend import device_of
from training.run.gate import MatchPart
from training.selfplay.remote import NetworkVersion, PlayTask, TaskPlayer, TaskResult, Tensors
from training.settings.config import LoopSettings

NETWORKS = 2  # in memory: those of a match


@dataclass(frozen=True)
class PlayMatch:
    """Play a part of a match. The answer is its games, None if it was cut."""

    part: MatchPart
    candidate: NetworkVersion
    best: NetworkVersion


Order = PlayTask | PlayMatch


class Worker:
    """The actor. `work` runs in one thread, `cut` comes from another, and `wait_for_end` takes a third."""

    def __init__(self, settings: LoopSettings) -> None:
        self.settings, self.threads = settings, offered_threads()
        torch.set_num_threads(self.threads)
        self.device = device_of("auto" if ray.get_gpu_ids() and settings.device != "cpu" else "cpu")
        self._config = network_config(settings)
        self._player = TaskPlayer(settings, self._fresh(), self.threads, self.device)
        self._networks: dict[int, nn.Module] = {}  # of matches, by number
        self._cut: set[int] = set()  # numbers of orders that must end

    def about(self) -> tuple[str, int, str]:
        """Its host, process, and version of gozero; Ray compares its own and Python's when a machine joins."""
        return socket.gethostname(), os.getpid(), __version__

    def wait_for_end(self) -> None:
        """Never returns: the call fails when the worker is gone."""
        threading.Event().wait()

    def cut(self, number: int) -> None:
        """End the order of that number at the next wave; what it has done by then counts."""
        self._cut.add(number)

    def work(self, number: int, order: Order) -> TaskResult | list[MatchGame] | None:
        try:
            if isinstance(order, PlayTask):
                return self._player.play(order, tensors, lambda: number in self._cut)
            pair = self._network(order.candidate), self._network(order.best)
            return gate.play_part(order.part, *pair, self.threads, lambda: number in self._cut, self.device)
        except Stopped:
            return None
        finally:
            self._cut.discard(number)

    def _network(self, wanted: NetworkVersion) -> nn.Module:
        if wanted.number not in self._networks:
            net = self._fresh()
            net.load_state_dict(tensors(wanted.reference))
            self._networks[wanted.number] = net.eval().requires_grad_(False).to(self.device)
            while len(self._networks) > NETWORKS:
                self._networks.pop(next(iter(self._networks)))
        return self._networks[wanted.number]

    def _fresh(self) -> nn.Module:
        return model.build(self._config, self.settings.seed)


def offered_threads() -> int:
    """The CPUs of this machine's node for each of its workers."""
    here = ray.get_runtime_context().get_node_id()
    found: dict[str, float] = next((node["Resources"] for node in ray.nodes() if node["NodeID"] == here), {})
    return max(1, int(found.get("CPU", 1) // max(1, found.get(WORKER, 0) + found.get(GPU_WORKER, 0))))


def tensors(reference: Any) -> Tensors:
    """The tensors of a version, copied out of the object store."""
    state: dict[str, Any] = ray.get(reference)
    return {name: torch.tensor(array) for name, array in state.items()}
