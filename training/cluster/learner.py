"""The learner of a run on a cluster: a Ray actor or several (`learner.processes`), and what the coordinator has in
their place.

The actors have no files: the coordinator sends them the games of the window and the state of the newest checkpoint. If
one dies, the run is opened again from that checkpoint, as after a crash. If there are several, all get the same orders
and have the same state; what is read is read from the first.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import Any, NamedTuple, TypeVar

import ray
import torch
from ray.exceptions import RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from torch import nn

from gozero.nets import model
from gozero.system.console import say
from gozero.system.options import SettingsError
from training.cluster.messages import Initialize
from training.cluster.worker import GPU_SHARE, LOST
from training.learner.peers import PeerLostError, Peers, meet, meeting_place
from training.learner.trainer import Losses, Trainer, WindowState
from training.records.records import Record
from training.run.backend import device_of, pace_of
from training.settings.config import LoopSettings

Found = TypeVar("Found")
FIRST_CHUNK, MOST_CHUNK = 8, 1000  # steps of an order
CHUNK_SECONDS = 1.0  # that an order should take
POLL = 0.2  # seconds between two looks whether the actor has come
LATE = 30.0  # seconds without it after which this is said


class LearnerLostError(Exception):
    """The learner's process or its machine is gone."""


class Answer(NamedTuple):
    """What a method of the actor's trainer returned, and the trainer's state after it."""

    found: Any
    steps: int
    window: WindowState
    threads: int


class LearnerActor:
    """The actor: carries out orders one after the other, `open` first."""

    def __init__(self, order: Initialize, peers: Peers) -> None:
        self._order, self._peers = order, peers

    def meeting_place(self) -> str:
        """Where several processes meet, of the first one."""
        return meeting_place(ray.util.get_node_ip_address())

    def open(self, place: str = "") -> None:
        """Begin with fresh weights and an empty window; several processes meet at a place first."""
        settings, device = self._order.settings, device_of("auto" if ray.get_gpu_ids() else "cpu")
        with self._together():
            if place:
                meet(self._peers, place, device)
            self._trainer = Trainer(settings, device, pace_of(settings, device), self._peers)

    def call(self, method: str, *arguments: Any) -> Answer:
        """Call a method of the trainer; what it returns comes back on the CPU."""
        with self._together() if method == "train" else nullcontext():
            found = _on_cpu(getattr(self._trainer, method)(*arguments))
        return Answer(found, self._trainer.steps, self._trainer.window, self._trainer.threads)

    def average(self) -> dict[str, torch.Tensor]:
        """The tensors of the average."""
        found: dict[str, torch.Tensor] = _on_cpu(dict(self._trainer.average().state_dict()))
        return found

    def held_out(self) -> dict[str, float]:
        """The measures on held-out rows."""
        return self._trainer.held_out(nullcontext, lambda: False)  # one caller at a time: no turns

    @contextmanager
    def _together(self) -> Iterator[None]:
        """PeerLostError where PyTorch fails in what several processes do together: another one is gone, mostly."""
        try:
            yield
        except RuntimeError as error:
            if self._peers.count == 1:
                raise
            raise PeerLostError((str(error).strip() or repr(error)).splitlines()[0]) from error


def _on_cpu(value: Any) -> Any:
    """Plain values as they are, tensors on the CPU: what is read may be on a machine without a GPU."""
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _on_cpu(each) for key, each in value.items()}
    return type(value)(map(_on_cpu, value)) if type(value) in (list, tuple) else value


class ClusterTrainer(Trainer):
    """The trainer in the coordinator: every method goes to the actors. LearnerLostError when one of them is gone."""

    def __init__(self, settings: LoopSettings, stop: Callable[[], bool]) -> None:
        """Start the actors and wait for them, as long as `stop()` is false."""
        self.begin(settings)  # without the learner and the window of `Trainer`
        self.chunk = FIRST_CHUNK
        count = settings.learner.processes
        self._net = model.build(self.config, settings.seed).eval().requires_grad_(False)
        self._average_of = -1  # steps after which `_net` was fetched
        self._last = Answer(None, 0, WindowState({}, 0, 0), 1)
        actor: Any = ray.remote(LearnerActor).options(**_room(settings))
        self.actors: list[Any] = [actor.remote(Initialize(settings, 0), Peers(rank, count)) for rank in range(count)]
        try:
            self._await(stop)
            place = _answers([self.actors[0].meeting_place.remote()]) if count > 1 else []
            _answers([each.open.remote(*place) for each in self.actors])
        except BaseException:
            self.close()  # those that are there would wait for the others
            raise

    @property
    def steps(self) -> int:
        return self._last.steps

    @property
    def window(self) -> WindowState:
        return self._last.window

    @property
    def threads(self) -> int:
        return self._last.threads

    def fill(self, shards: Iterable[Sequence[Record]], before: int, after: int) -> None:
        for games in shards:  # a shard a message
            rows = sum(record.rows for record in games)
            self._all("fill", [games], before, before + rows)
            before += rows
        self._all("fill", [], after, after)

    def add(self, games: Sequence[Record]) -> int:
        return int(self._all("add", games))

    def clear(self) -> None:
        self._all("clear")

    def train(self, count: int, rate: float) -> tuple[list[Losses], set[int]]:
        began = time.monotonic()
        found: tuple[list[Losses], set[int]] = self._all("train", count, rate)
        a_step = (time.monotonic() - began) / count
        self.chunk = min(MOST_CHUNK, max(1, round(CHUNK_SECONDS / a_step)))
        return found

    def average(self) -> nn.Module:
        if self._average_of != self.steps:
            self._net.load_state_dict(_answers([self.actors[0].average.remote()])[0])
            self._average_of = self.steps
        return self._net

    def state_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = self._first("state_dict")
        return found

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._all("load_state_dict", state)
        self._average_of = -1

    def held_out(self, turn: Callable[[], Any], stop: Callable[[], bool]) -> dict[str, float]:
        with turn():
            found: dict[str, float] = {} if stop() else _answers([self.actors[0].held_out.remote()])[0]
        return found

    def examine(self, function: Callable[..., Found], *arguments: Any) -> Found:
        found: Found = copy.deepcopy(self._first("examine", function, *arguments))  # Ray's arrays cannot be written
        return found

    def close(self) -> None:
        """Let the actors go."""
        for actor in self.actors:
            ray.kill(actor)

    def _await(self, stop: Callable[[], bool]) -> None:
        """Wait until there is room for the actors; say so once if that takes long."""
        began, said, there = time.monotonic(), False, [actor.__ray_ready__.remote() for actor in self.actors]
        while len(ray.wait(there, num_returns=len(there), timeout=POLL)[0]) < len(there):
            if stop():
                raise LearnerLostError("there was no room for the learner")
            if not said and time.monotonic() > began + LATE:
                said = True
                say(
                    "waiting for room for the learner: the cluster has "
                    f"{_gpus():g} GPUs, and others may have them (device = cpu does without)"
                )

    def _first(self, method: str, *arguments: Any) -> Any:
        """What the first actor's trainer returns."""
        return _answers([self.actors[0].call.remote(method, *arguments)])[0].found

    def _all(self, method: str, *arguments: Any) -> Any:
        """The same, of an order to all of them."""
        if len(self.actors) > 1:
            arguments = tuple(ray.put(argument) for argument in arguments)
        self._last = _answers([actor.call.remote(method, *arguments) for actor in self.actors])[0]
        return self._last.found


def check_room(settings: LoopSettings) -> None:
    """SettingsError where the cluster has not the GPUs that the settings ask for: for the beginning of a session. Later
    they may be away for a while.
    """
    gpus, processes = _gpus(), settings.learner.processes
    if settings.device == "cuda" and gpus < 1:
        raise SettingsError("device = 'cuda': no machine of the cluster offers a GPU; use device = 'cpu' or 'auto'")
    if settings.device != "cpu" and 1 <= gpus < processes:
        raise SettingsError(
            f"learner.processes = {processes}: the cluster has {gpus:g} GPUs; lower it, or use device = 'cpu'"
        )


def _gpus() -> float:
    """The GPUs of the cluster now."""
    return float(ray.cluster_resources().get("GPU", 0))


def _room(settings: LoopSettings) -> dict[str, Any]:
    """Ray's options for where an actor is."""
    if settings.device == "cuda" or (settings.device != "cpu" and _gpus() >= 1):
        return {"num_cpus": 0, "num_gpus": GPU_SHARE if settings.learner.processes == 1 else 1}
    if settings.learner.processes > 1:
        return {"num_cpus": 0, "scheduling_strategy": "SPREAD"}
    here = ray.get_runtime_context().get_node_id()
    return {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=True)}


def _answers(asked: list[Any]) -> list[Any]:
    """What comes back. LearnerLostError if a process is gone; what was raised there is raised here."""
    try:
        found: list[Any] = ray.get(asked)
    except LOST:
        raise LearnerLostError("the learner is gone") from None
    except RayTaskError as error:
        if isinstance(error.cause, PeerLostError):
            raise LearnerLostError(f"a process of the learner is gone ({error.cause})") from None
        raise error.cause from None
    return found
