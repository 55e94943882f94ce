"""The learner of a run on a cluster: a Ray actor, on a GPU if there is one, and what the coordinator has in its place.

The actor has no files: the coordinator sends it the games of the window and the state of the newest checkpoint. If it
dies, the run is opened again from that checkpoint, as after a crash.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Sequence
from contextlib import nullcontext
from typing import Any, NamedTuple, TypeVar

import ray
import torch
from ray.exceptions import RayTaskError
from ray.util.scheduling_strategies import NodeAffinitySchedulingStrategy
from torch import nn

from gozero.nets import model
from gozero.system.console import say
from gozero.system.options import SettingsError
from training.cluster.worker import GPU_SHARE, LOST
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

    value: Any
    steps: int
    window: WindowState
    threads: int


class LearnerActor:
    """The actor: calls the methods of a trainer with fresh weights and an empty window, one after the other."""

    def __init__(self, settings: LoopSettings) -> None:
        device = device_of("auto" if ray.get_gpu_ids() else "cpu")
        self._trainer = Trainer(settings, device, pace_of(settings, device))

    def call(self, method: str, *arguments: Any) -> Answer:
        """Call a method of the trainer; what it returns comes back on the CPU."""
        value = _on_cpu(getattr(self._trainer, method)(*arguments))
        return Answer(value, self._trainer.steps, self._trainer.window, self._trainer.threads)

    def average(self) -> dict[str, torch.Tensor]:
        """The tensors of the average."""
        return _on_cpu(dict(self._trainer.average().state_dict()))

    def held_out(self) -> dict[str, float]:
        """The measures on held-out rows."""
        return self._trainer.held_out(nullcontext, lambda: False)  # one caller at a time: no turns


def _on_cpu(value: Any) -> Any:
    """Plain values as they are, tensors on the CPU: what is read may be on a machine without a GPU."""
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _on_cpu(each) for key, each in value.items()}
    return type(value)(map(_on_cpu, value)) if type(value) in (list, tuple) else value


class ClusterTrainer(Trainer):
    """The trainer in the coordinator: every method goes to the actor. LearnerLostError when it is gone."""

    def __init__(self, settings: LoopSettings, stop: Callable[[], bool]) -> None:
        """Start the actor and wait for it, as long as `stop()` is false."""
        self.begin(settings)  # without the learner and the window of `Trainer`
        self.chunk = FIRST_CHUNK
        self._net = model.build(self.config, settings.seed).eval().requires_grad_(False)
        self._average_of = -1  # steps after which `_net` was fetched
        self._last = Answer(None, 0, WindowState({}, 0, 0), 1)
        actor: Any = ray.remote(LearnerActor)
        self._actor = actor.options(**_room(settings)).remote(settings)
        try:
            self._await(stop)
        except BaseException:
            self.close()
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
            self._call("fill", [games], before, before + rows)
            before += rows
        self._call("fill", [], after, after)

    def add(self, games: Sequence[Record]) -> int:
        return int(self._call("add", games))

    def clear(self) -> None:
        self._call("clear")

    def train(self, count: int, rate: float) -> tuple[list[Losses], set[int]]:
        began = time.monotonic()
        value: tuple[list[Losses], set[int]] = self._call("train", count, rate)
        a_step = (time.monotonic() - began) / count
        self.chunk = min(MOST_CHUNK, max(1, round(CHUNK_SECONDS / a_step)))
        return value

    def average(self) -> nn.Module:
        if self._average_of != self.steps:
            self._net.load_state_dict(_answer(self._actor.average.remote()))
            self._average_of = self.steps
        return self._net

    def state_dict(self) -> dict[str, Any]:
        return self._call("state_dict")

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self._call("load_state_dict", state)
        self._average_of = -1

    def held_out(self, locked: Callable[[], Any], stop: Callable[[], bool]) -> dict[str, float]:
        with locked():
            return {} if stop() else _answer(self._actor.held_out.remote())

    def examine(self, function: Callable[..., Found], *arguments: Any) -> Found:
        return copy.deepcopy(self._call("examine", function, *arguments))  # Ray's arrays cannot be written

    def close(self) -> None:
        """Let the actor go."""
        ray.kill(self._actor)

    def _await(self, stop: Callable[[], bool]) -> None:
        """Wait until there is room for the actor; say so once if that takes long."""
        began, said, there = time.monotonic(), False, [self._actor.__ray_ready__.remote()]
        while not ray.wait(there, timeout=POLL)[0]:
            if stop():
                raise LearnerLostError("there was no room for the learner")
            if not said and time.monotonic() > began + LATE:
                said = True
                say(
                    "waiting for a place for the learner, which goes on by itself: the cluster has "
                    f"{_gpus():g} GPUs, and others may have them (device = cpu does without)"
                )
        _answer(there[0])

    def _call(self, method: str, *arguments: Any) -> Any:
        """What a method of the actor's trainer returns."""
        self._last = _answer(self._actor.call.remote(method, *arguments))
        return self._last.value


def check_room(settings: LoopSettings) -> None:
    """SettingsError if the cluster has not the GPU that the settings ask for when a session begins. Later it may be
    away for a while.
    """
    if settings.device == "cuda" and _gpus() < 1:
        raise SettingsError("device = 'cuda': no machine of the cluster offers a GPU; use device = 'cpu' or 'auto'")


def _gpus() -> float:
    """The GPUs of the cluster now."""
    return float(ray.cluster_resources().get("GPU", 0))


def _room(settings: LoopSettings) -> dict[str, Any]:
    """Ray's options for where the actor is: on a GPU, or on this machine."""
    if settings.device == "cuda" or (settings.device != "cpu" and _gpus() >= 1):
        return {"num_cpus": 0, "num_gpus": GPU_SHARE}
    here = ray.get_runtime_context().get_node_id()
    return {"num_cpus": 0, "scheduling_strategy": NodeAffinitySchedulingStrategy(here, soft=True)}


def _answer(asked: Any) -> Any:
    """What comes back. LearnerLostError if the process is gone; what was raised there is raised here."""
    try:
        return ray.get(asked)
    except LOST:
        raise LearnerLostError("the learner is gone") from None
    except RayTaskError as error:
        raise error.cause from None
