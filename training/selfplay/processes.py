"""Stretches of self-play in several processes of this machine, each with an interpreter of its own.

Of the threads of one process only one plays moves at a time (Python's interpreter lock), which a GPU waits for: see
docs/training.md, *On a GPU*. So the seats of a run are shared out among `selfplay.processes` of them.

Each worker process is a `LocalCrew` for the seats whose number, modulo the number of workers, is its own. What a seat
plays depends on nothing but its pool, the network and the stretch, so the records are the same with any number of
workers. They come in the order of the seats. If a worker dies the run ends with one line, and continues from its last
checkpoint.
"""

from __future__ import annotations

import contextlib
import copy
import pickle
import signal
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import torch
from torch import nn

from gozero.system.console import STOPPING
from training.records.records import Record
from training.selfplay.crew import Key, LocalCrew, RoundsAlone, Stop, Stretch, StretchOver, place
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings
from training.workers import SPAWN, WorkerProcess, settle_in

LOOK = 0.1  # seconds between two looks at whether to stop
ENDING = 5.0  # seconds that a worker is given to end by itself
# workers ignore them: the process that leads the run decides when it ends; Windows has fewer
SIGNALS = [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]


class WorkerLostError(Exception):
    """A worker has died; one line for the user."""


class _Gone(Exception):  # noqa: N818 - no error
    """The other end of the pipe is closed."""


class Done(NamedTuple):
    """The answer to a request."""

    answer: Any


class _Worker(WorkerProcess):
    def request(self, method: str, *arguments: Any) -> None:
        """Have a method of the worker's crew called; `receive` until its answer is `Done`."""
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


def _end(workers: list[_Worker]) -> None:
    """Let workers end: their pipes are closed at this end."""
    for worker in workers:
        worker.connection.close()
    for worker in workers:
        worker.end(ENDING)
    workers.clear()


class ProcessCrew(RoundsAlone):
    """Plays stretches in `selfplay.processes` workers, all at once; see `training.selfplay.crew.SelfPlayCrew`.

    Errors of a worker are raised here, after all others have come to rest.
    """

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        """`net` is copied; `threads`: CPU threads of this process, which the workers share out; `device`: cpu or cuda."""
        self.settings, self.threads, self.device = settings, threads, device
        self.playing = copy.deepcopy(net).cpu().eval().requires_grad_(False)
        self._network_lock = threading.Lock()  # a network is taken whole, never half
        self._version = self._sent = 0  # of `playing`, and of the workers' networks
        self._halt = SPAWN.RawValue("b", 0)
        self._found: deque[Record] = deque()  # games that `play` has not yielded yet
        self._resign: dict[Key, Calibration] = {}
        self._workers: list[_Worker] = []
        # should nobody close it, before multiprocessing's own end, which would wait for them
        weakref.finalize(self, _end, self._workers)

    def hand_over(self, net: nn.Module) -> None:
        with self._network_lock:
            self.playing.load_state_dict(net.state_dict())
            self._version += 1

    def play(self, stretches: Sequence[Stretch], stop: Stop) -> Iterator[Record | StretchOver]:
        while self._found:
            yield self._found.popleft()
        if stop():
            return
        self._open()
        version = self._send_network()
        due: list[list[int]] = [[] for _ in self._workers]  # by worker: numbers of its stretches, in their order
        for number, stretch in enumerate(stretches):
            due[stretch.seat % len(due)].append(number)
        queues: list[deque[Record | StretchOver]] = [deque() for _ in stretches]
        self._halt.value = 0
        busy = {worker.connection: (worker, deque(numbers)) for worker, numbers in zip(self._workers, due, strict=True)}
        for worker, numbers in busy.values():
            worker.request("play_and_send", [stretches[number] for number in numbers])
        try:
            for queue in queues:
                over = False
                while not over and (queue or busy):
                    if stop() or self._version != version:
                        self._halt.value = 1
                    if not queue:
                        self._receive_all(busy, queues)
                    while queue:
                        each = queue.popleft()
                        over = isinstance(each, StretchOver)
                        yield each
        finally:  # the caller went away, or something failed: no stretch may be left halfway
            self._halt.value = 1
            first: BaseException | None = None
            while busy and self._workers:  # none are left once the crew has been closed
                try:
                    self._receive_all(busy, queues)
                except Exception as error:  # noqa: BLE001 - raised below
                    first = first or error
            self._found.extend(each for queue in queues for each in queue if isinstance(each, Record))
            if first is not None:
                raise first

    def state_dict(self) -> dict[Key, dict[str, Any]]:
        return {key: state for answer in self._all("state_dict") for key, state in answer.items()}

    def load_state_dict(self, pools: dict[Key, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        if playing is not None:
            self.playing.load_state_dict(playing)
            self._version += 1
        complaints = []
        for key, state in pools.items():
            worker = self._open()[place(key)[1] % len(self._workers)]
            worker.request("load_pool", key, state)
            if line := worker.answer():
                complaints.append(line)
            else:
                self._resign[key] = Calibration.of(self.settings.selfplay, state["resign"])
        return complaints

    def calibrations(self) -> list[Calibration]:
        return [self._resign[key] for key in sorted(self._resign, key=place)]

    def close(self) -> None:
        """End the workers."""
        _end(self._workers)

    def _open(self) -> list[_Worker]:
        """The workers, started when they are first needed."""
        if not self._workers:
            with self._network_lock:
                self._sent = self._version
                net = pickle.dumps(self.playing)  # Connection.send would share its tensors' memory
            try:
                for _ in range(self.settings.selfplay.processes):
                    self._workers.append(self._started(net))
            except BaseException:
                self.close()
                raise
        return self._workers

    def _started(self, net: bytes) -> _Worker:
        """A new worker that plays with a network, a pickled module."""
        threads = max(1, self.threads // self.settings.selfplay.processes)
        arguments = (self._halt, self.settings, net, threads, self.device)
        return _Worker.start(_serve, *arguments, name="self-play", ignored=SIGNALS)

    def _send_network(self) -> int:
        """Give the workers the network that is to play now. Returns its version."""
        with self._network_lock:
            if self._sent != self._version:
                arrays = {name: tensor.numpy() for name, tensor in self.playing.state_dict().items()}
                self._all("take_arrays", arrays)
                self._sent = self._version
            return self._version

    def _all(self, what: str, *arguments: Any) -> list[Any]:
        """The answers of all workers to one request; the first error is raised when all have answered."""
        for worker in self._workers:
            worker.request(what, *arguments)
        answers, errors = [], []
        for worker in self._workers:
            try:
                answers.append(worker.answer())
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]
        return answers

    def _receive_all(
        self, busy: dict[Connection, tuple[_Worker, deque[int]]], queues: list[deque[Record | StretchOver]]
    ) -> None:
        """Receive what workers have sent by now, waiting a moment at most; those that are done are busy no more."""
        for connection in wait(list(busy), LOOK):
            assert isinstance(connection, Connection)
            worker, numbers = busy[connection]
            try:
                message = worker.receive()
            except BaseException:
                del busy[connection]
                raise
            if isinstance(message, Done):
                del busy[connection]
                self._resign.update(message.answer)
            else:
                queues[numbers[0]].append(message)
                if isinstance(message, StretchOver):
                    numbers.popleft()


class _WorkerCrew(LocalCrew):
    """What a worker works with."""

    def __init__(self, connection: Connection, halt: Any, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connection, self._halt = connection, halt

    def take_arrays(self, arrays: dict[str, Any]) -> None:
        """Play with these weights from now on."""
        self.take_over({name: torch.from_numpy(array) for name, array in arrays.items()})

    def play_and_send(self, stretches: Sequence[Stretch]) -> dict[Key, Calibration]:
        """Play stretches and send their games as they end. Returns the pools' thresholds of resignation."""
        for each in super().play(stretches, lambda: bool(self._halt.value)):
            _send(self._connection, each)
        return {key: pool.resign for key, pool in self.pools.items()}


def _serve(connection: Connection, halt: Any, settings: LoopSettings, net: bytes, threads: int, device: str) -> None:
    """The whole life of a worker: do what is asked for, until this end of the pipe is the last one."""
    settle_in(SIGNALS)
    torch.set_num_threads(threads)
    crew = _WorkerCrew(connection, halt, settings, pickle.loads(net), threads, device)
    with contextlib.suppress(_Gone):
        while True:
            what, arguments = _received(connection)
            try:
                answer: Any = Done(getattr(crew, what)(*arguments))
            except _Gone:
                raise
            except Exception as error:  # noqa: BLE001 - whatever it is, it is raised where it was asked for
                traceback.print_exc()
                answer = _portable(error)
            _send(connection, answer)


def _received(connection: Connection) -> Any:
    try:
        return connection.recv()
    except (EOFError, OSError):
        raise _Gone from None


def _send(connection: Connection, what: Any) -> None:
    try:
        connection.send(what)
    except OSError:
        raise _Gone from None


def _portable(error: Exception) -> Exception:
    """The error, or one that says the same where it would not survive the way through the pipe."""
    try:
        pickle.loads(pickle.dumps(error))
    except Exception:  # noqa: BLE001 - whatever its class does
        return RuntimeError("".join(traceback.format_exception_only(error)).strip())
    return error
