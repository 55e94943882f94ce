"""Self-play in several processes of this machine, each with an interpreter of its own.

Of the threads of one process only one plays moves at a time (Python's interpreter lock), which a GPU waits for: see
docs/training.md, *On a GPU*. Each worker process plays the tasks of the slots whose number, modulo the number of
workers, is its own, so the records are the same with any number of them. If a worker dies the run ends with one line,
and continues from its last checkpoint.
"""

from __future__ import annotations

import contextlib
import pickle
import signal
import traceback
import weakref
from collections import deque
from collections.abc import Iterator
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import torch
from torch import nn

from gozero.system.console import STOPPING
from gozero.system.workers import SPAWN, WorkerProcess, settle_in
from training.selfplay.local import Found, Key, LocalSelfPlay, SelfPlay, Task, TaskEnd
from training.selfplay.pool import Stop
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings

LOOK = 0.1  # seconds between two looks at whether to stop
ENDING = 5.0  # seconds that a worker is given to end by itself
# workers ignore them: the process that leads the run decides when it ends; Windows has fewer
SIGNALS = [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]


class WorkerLostError(Exception):
    """A worker has died; one line for the user."""


class Done(NamedTuple):
    """The answer to a request."""

    answer: Any


class _Worker(WorkerProcess):
    def request(self, method: str, *arguments: Any) -> None:
        """Have a method of its `_WorkerSelfPlay` called; `receive` until its answer is `Done`."""
        try:
            self.connection.send((method, arguments))
        except OSError:
            raise self._lost() from None

    def receive(self) -> Any:
        """The next that it sends; an exception is raised. WorkerLostError if it has died."""
        try:
            received = self.connection.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        if isinstance(received, BaseException):
            raise received
        return received

    def answer(self) -> Any:
        """What it answers to a request that has one answer."""
        return self.receive().answer

    def _lost(self) -> WorkerLostError:
        how = self.killer(ENDING)
        why = f"ended with {how}" if how.startswith("code") else f"was killed by {how}"
        if how == "SIGKILL":
            why += ", perhaps because memory was full: fewer selfplay.processes or selfplay.games need less"
        return WorkerLostError(f"a process of self-play {why}")


def _end(workers: list[_Worker], halt: Any) -> None:
    """Let workers end: their pipes are closed at this end."""
    halt.value = 1
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.end(ENDING)
    workers.clear()


class ProcessSelfPlay(SelfPlay):
    """Plays tasks in `selfplay.processes` workers, all at once. After an error it can only be closed."""

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        super().__init__(settings, net, threads, device)
        self.playing.cpu()
        self._sent = 0  # version of the network that the workers have
        self._halt = SPAWN.RawValue("b", 0)  # without a lock: a worker that is killed would never unlock it
        self._due: dict[Connection, deque[Task]] = {}  # by worker
        self._resign: dict[Key, Calibration] = {}
        self._workers: list[_Worker] = []
        # should nobody close it, before multiprocessing's own end, which would wait for them
        weakref.finalize(self, _end, self._workers, self._halt)

    def submit(self, task: Task) -> None:
        worker = self._worker_of(task.slot)
        if not self.tasks:
            self._halt.value = 0
            self._send_network()
        super().submit(task)
        self._due[worker.connection].append(task)
        worker.request("play", task)

    def take(self, stop: Stop) -> Iterator[Found]:
        busy = {worker.connection: worker for worker in self._workers if self._due[worker.connection]}
        while not (ready := wait(list(busy), LOOK)):
            self._halt_if(stop)
        self._halt_if(stop)
        for connection in ready:
            assert isinstance(connection, Connection)
            task, each = self._due[connection][0], busy[connection].receive()
            if isinstance(each, Done):
                each, resign = each.answer
                if resign is not None:
                    self._resign[task.key] = resign
                self._due[connection].popleft()
                self.tasks.remove(task)
            yield task, each

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        return {key: state for answer in self._all("state_dict") for key, state in answer.items()}

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        if playing is not None:
            self.take_weights(playing)
        complaints = []
        for key, state in pools.items():
            worker = self._worker_of(key[1])
            worker.request("load_pool", key, state)
            if line := worker.answer():
                complaints.append(line)
            else:
                self._resign[key] = Calibration.of(self.settings.selfplay, state["resign"])
        return complaints

    def calibrations(self) -> list[Calibration]:
        return [self._resign[key] for key in sorted(self._resign)]

    def close(self) -> None:
        _end(self._workers, self._halt)

    def _halt_if(self, stop: Stop) -> None:
        if stop() or self._version != self._sent:
            self._halt.value = 1

    def _worker_of(self, slot: int) -> _Worker:
        """The worker that plays in a slot. All are started when the first is needed."""
        if not self._workers:
            with self._lock:
                self._sent = self._version
                net = pickle.dumps(self.playing)  # Connection.send would share its tensors' memory
            processes = self.settings.selfplay.processes
            arguments = (self._halt, self.settings, net, max(1, self.threads // processes), self.device)
            try:
                for _ in range(processes):
                    self._workers.append(_Worker.start(_serve, *arguments, name="self-play", ignored=SIGNALS))
            except BaseException:
                self.close()
                raise
            self._due = {worker.connection: deque() for worker in self._workers}
        return self._workers[slot % len(self._workers)]

    def _send_network(self) -> None:
        """Give the workers the network that is to play now."""
        with self._lock:
            if self._sent != self._version:
                self._all("take_arrays", {name: tensor.numpy() for name, tensor in self.playing.state_dict().items()})
                self._sent = self._version

    def _all(self, what: str, *arguments: Any) -> list[Any]:
        """The answers of all workers to one request."""
        for worker in self._workers:
            worker.request(what, *arguments)
        return [worker.answer() for worker in self._workers]


class _WorkerSelfPlay(LocalSelfPlay):
    """What a worker works with."""

    def __init__(self, connection: Connection, halt: Any, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connection, self._halt = connection, halt

    def take_arrays(self, arrays: dict[str, Any]) -> None:
        """Play with these weights from now on."""
        self.take_weights({name: torch.from_numpy(array) for name, array in arrays.items()})

    def play(self, task: Task) -> tuple[TaskEnd, Calibration | None]:
        """Play a task and send its games as they end. Returns its end, and the pool's threshold of resignation."""
        self.submit(task)
        for _, each in self.take(lambda: bool(self._halt.value)):
            if isinstance(each, TaskEnd):
                end = each
            else:
                self._connection.send(each)
        pool = self.pools.get(task.key)  # none if it was to stop before it began
        return end, pool.resign if pool else None


def _serve(connection: Connection, halt: Any, settings: LoopSettings, net: bytes, threads: int, device: str) -> None:
    """The whole life of a worker: do what is asked for, until this end of the pipe is the last one."""
    settle_in(SIGNALS)
    torch.set_num_threads(threads)
    selfplay = _WorkerSelfPlay(connection, halt, settings, pickle.loads(net), threads, device)
    with contextlib.suppress(EOFError, ConnectionError):
        while True:
            what, arguments = connection.recv()
            try:
                answer: Any = Done(getattr(selfplay, what)(*arguments))
            except ConnectionError:  # the other end of the pipe is closed
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where it was asked for
                traceback.print_exc()
                answer = _portable(error)
            connection.send(answer)


def _portable(error: Exception) -> Exception:
    """The error, or one that says the same where it would not survive the way through the pipe."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever its class does
        return RuntimeError("".join(traceback.format_exception_only(error)).strip())
    return error
