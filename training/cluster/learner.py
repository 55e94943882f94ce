"""The learner of a run on a cluster: a Ray actor or several (`learner.processes`), and what the coordinator has in
their place.

The actors have no files: the coordinator sends them the games of the window and the state of the newest checkpoint. If
one dies, the run is opened again from that checkpoint, as after a crash. Where there are several, all get the same
orders and have the same state; what is read is read from the first.
"""

from __future__ import annotations

import copy
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

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
from training.learner.learner import network_config
from training.learner.peers import PeerLostError, Peers, host_meeting, join_meeting, meet
from training.learner.trainer import LocalTrainer, Losses, RunTrainer, WindowState
from training.records.records import Record
from training.run.backend import device_of, pace_of
from training.settings.config import LoopSettings

if TYPE_CHECKING:
    from torch.distributed import TCPStore

Found = TypeVar("Found")
FIRST_CHUNK, MOST_CHUNK = 8, 1000  # steps of an order
CHUNK_SECONDS = 1.0  # that an order should take
LOOK = 0.2  # seconds between two looks whether the actor has come
PATIENCE = 30.0  # seconds without it after which this is said


class LearnerLostError(Exception):
    """The learner's process or its machine is gone."""


class Trained(NamedTuple):
    """Steps that were taken: the losses of each, the boards' widths, the steps of the learner so far and its threads."""

    losses: list[dict[str, float]]
    widths: set[int]
    steps: int
    threads: int


class LearnerActor:
    """The actor: carries out orders one after the other, `open` first."""

    def __init__(self, order: Initialize, peers: Peers) -> None:
        self._order, self._peers = order, peers
        self._store: TCPStore | None = None  # by which the processes meet

    def meeting_place(self) -> tuple[str, int]:
        """(host, port) for `open`, of the first process."""
        host: str = ray.util.get_node_ip_address()
        with self._together():
            self._store = host_meeting(host)
        return host, self._store.port

    def open(self, place: tuple[str, int] | None = None) -> None:
        """Begin with fresh weights and an empty window; several processes meet at a place first."""
        settings, device = self._order.settings, device_of("auto" if ray.get_gpu_ids() else "cpu")
        with self._together():
            if place is not None:
                self._store = self._store or join_meeting(*place)
                meet(self._peers, self._store, device)
            self._trainer = LocalTrainer(settings, device, pace_of(settings, device), self._peers)

    def fill(self, shards: Sequence[Sequence[Record]], before: int, after: int) -> WindowState:
        """See `RunTrainer.fill`. Returns the window after it, here and below."""
        self._trainer.fill(shards, before, after)
        return self._trainer.window

    def add(self, games: Sequence[Record]) -> tuple[int, WindowState]:
        """See `RunTrainer.add`."""
        return self._trainer.add(games), self._trainer.window

    def clear(self) -> WindowState:
        """See `RunTrainer.clear`."""
        self._trainer.clear()
        return self._trainer.window

    def train(self, count: int, rate: float) -> Trained:
        """See `RunTrainer.train`."""
        with self._together():
            losses, widths = self._trainer.train(count, rate)
        numbers = [{name: float(loss) for name, loss in each.items()} for each in losses]
        return Trained(numbers, widths, self._trainer.steps, self._trainer.threads)

    @contextmanager
    def _together(self) -> Iterator[None]:
        """PeerLostError where PyTorch fails in what several processes do together: another one is gone, mostly."""
        try:
            yield
        except RuntimeError as error:
            if self._peers.count == 1:
                raise
            raise PeerLostError((str(error).strip() or repr(error)).splitlines()[0]) from error

    def average(self) -> dict[str, torch.Tensor]:
        """The tensors of the average."""
        return {name: tensor.cpu() for name, tensor in self._trainer.average().state_dict().items()}

    def state_dict(self) -> dict[str, Any]:
        """The learner's part of a checkpoint."""
        return _on_cpu(self._trainer.state_dict())

    def load_state_dict(self, state: dict[str, Any]) -> int:
        """Take over a checkpoint's part. Returns the learner's steps."""
        self._trainer.load_state_dict(state)
        return self._trainer.steps

    def held_out(self) -> dict[str, float]:
        """The measures on held-out rows."""
        return self._trainer.held_out(nullcontext, lambda: False)  # one caller at a time: no turns

    def examine(self, function: Callable[..., Found], *arguments: Any) -> Found:
        """See `RunTrainer.examine`."""
        return self._trainer.examine(function, *arguments)


def _on_cpu(value: Any) -> Any:
    """Plain values as they are, tensors on the CPU: what is read may be on a machine without a GPU."""
    if isinstance(value, torch.Tensor):
        return value.cpu()
    if isinstance(value, dict):
        return {key: _on_cpu(each) for key, each in value.items()}
    return [_on_cpu(each) for each in value] if isinstance(value, list) else value


class ClusterTrainer(RunTrainer):
    """The coordinator's side. Raises LearnerLostError where the actor is gone."""

    steps = 0
    threads = 0
    window = WindowState({}, 0, 0)

    def __init__(self, settings: LoopSettings, stop: Callable[[], bool]) -> None:
        """Start the actors: on GPUs if the cluster has any and the settings allow it; else one on this machine, or
        several wherever there is room.

        They are waited for until `stop()`: LearnerLostError.
        """
        super().__init__(settings)
        self.config, self.chunk = network_config(settings), FIRST_CHUNK
        count = settings.learner.processes
        self._net = model.build(self.config, settings.seed).eval().requires_grad_(False)
        self._average_of = -1  # steps after which `_net` was fetched
        actor: Any = ray.remote(LearnerActor)
        hire = actor.options(**_room(settings))
        self.actors: list[Any] = [hire.remote(Initialize(settings, 0), Peers(rank, count)) for rank in range(count)]
        try:
            self._await(stop)
            self._ask_all("open", *([self._ask("meeting_place")] if count > 1 else []))
        except BaseException:
            self.close()  # those that are there would wait for the others
            raise

    def fill(self, shards: Iterable[Sequence[Record]], before: int, after: int) -> None:
        shards = list(shards)
        for place, games in enumerate(shards):  # a shard a message
            rows = sum(record.rows for record in games)
            last = place == len(shards) - 1
            self.window = self._ask_all("fill", [games], before, after if last else before + rows)
            before += rows
        if not shards:
            self.window = self._ask_all("fill", [], before, after)

    def add(self, games: Sequence[Record]) -> int:
        rows, self.window = self._ask_all("add", games)
        return int(rows)

    def clear(self) -> None:
        self.window = self._ask_all("clear")

    def train(self, count: int, rate: float) -> tuple[list[Losses], set[int]]:
        began = time.monotonic()
        found: Trained = self._ask_all("train", count, rate)
        a_step = (time.monotonic() - began) / count
        self.chunk = min(MOST_CHUNK, max(1, round(CHUNK_SECONDS / a_step)))
        self.steps, self.threads = found.steps, found.threads
        losses = [{name: torch.tensor(number) for name, number in each.items()} for each in found.losses]
        return list(losses), found.widths

    def average(self) -> nn.Module:
        if self._average_of != self.steps:
            self._net.load_state_dict(self._ask("average"))
            self._average_of = self.steps
        return self._net

    def state_dict(self) -> dict[str, Any]:
        found: dict[str, Any] = self._ask("state_dict")
        return found

    def load_state_dict(self, state: dict[str, Any]) -> None:
        self.steps = self._ask_all("load_state_dict", state)
        self._average_of = -1

    def held_out(self, turn: Callable[[], Any], stop: Callable[[], bool]) -> dict[str, float]:
        with turn():
            found: dict[str, float] = {} if stop() else self._ask("held_out")
        return found

    def examine(self, function: Callable[..., Found], *arguments: Any) -> Found:
        found: Found = copy.deepcopy(self._ask("examine", function, *arguments))  # Ray's arrays cannot be written
        return found

    def close(self) -> None:
        """Let the actors go."""
        for actor in self.actors:
            ray.kill(actor)

    def _await(self, stop: Callable[[], bool]) -> None:
        """Wait until there is room for the actors; say so once if that takes long."""
        began, said, there = time.monotonic(), False, [actor.__ray_ready__.remote() for actor in self.actors]
        while len(ray.wait(there, num_returns=len(there), timeout=LOOK)[0]) < len(there):
            if stop():
                raise LearnerLostError("there was no room for the learner")
            if not said and time.monotonic() > began + PATIENCE:
                said = True
                say(
                    "waiting for room for the learner: the cluster has "
                    f"{_gpus():g} GPUs, and others may have them (device = cpu does without)"
                )

    def _ask(self, name: str, *arguments: Any) -> Any:
        """What the first of them answers."""
        return _answers([getattr(self.actors[0], name).remote(*arguments)])[0]

    def _ask_all(self, name: str, *arguments: Any) -> Any:
        """The same, of an order to all of them."""
        if len(self.actors) > 1:
            arguments = tuple(ray.put(argument) for argument in arguments)
        return _answers([getattr(actor, name).remote(*arguments) for actor in self.actors])[0]


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
