"""Stretches of self-play in several processes of this machine, each with an interpreter of its own.

Of the threads of one process only one plays moves at a time (Python's interpreter lock), which a GPU waits for: see
docs/training.md, *On a GPU*. So the seats of a run are shared out among `selfplay.processes` of them.

Vocabulary.
  hand  a process of the crew. It is a `LocalCrew` for the seats whose number, modulo the number of hands, is its own,
        and does what it is asked for over a pipe, one thing after the other.
  halt  a byte of memory that all share: hands end their stretches. Nothing has to be locked to read or to set it, for
        a hand that is killed would never unlock it.

What a seat plays depends on nothing but its pool, the network and the stretch, so the records are the same with any
number of hands. They come in the order of the seats: those of later seats wait in memory until their turn. A hand ends
with this process, however that ends. If one dies the run ends with a line that says so, and continues from its last
checkpoint.
"""

from __future__ import annotations

import contextlib
import copy
import multiprocessing
import os
import pickle
import signal
import threading
import traceback
import weakref
from collections import deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from multiprocessing import resource_tracker
from multiprocessing.connection import Connection, wait
from typing import Any, NamedTuple

import torch
from torch import nn

from gozero.system.console import STOPPING
from training.records.records import Record
from training.selfplay.crew import Key, LocalCrew, RoundsAlone, Stop, Stretch, StretchOver, place
from training.selfplay.resign import Calibration
from training.settings.config import LoopSettings

SPAWN = multiprocessing.get_context("spawn")  # threads of PyTorch and numba do not survive a fork
PATIENCE = 0.1  # seconds between two looks at whether to stop
ENDING = 5.0  # seconds that a hand is given to end by itself
# hands do not hear them, for whoever leads the run decides when it ends; Windows has fewer
SIGNALS = [getattr(signal, name) for name in STOPPING if hasattr(signal, name)]


class HandLostError(Exception):
    """A hand has died; one line for the user."""


class _Gone(Exception):  # noqa: N818 - no error
    """The other end of the pipe is closed."""


class Done(NamedTuple):
    """A hand's last word on what it was asked for."""

    answer: Any


@dataclass
class _Hand:
    process: Any  # of multiprocessing
    connection: Connection

    def ask(self, what: str, *arguments: Any) -> None:
        """Have the method `what` of the hand's crew called; `hear` until it is `Done`."""
        try:
            self.connection.send((what, arguments))
        except OSError:
            raise self._lost() from None

    def hear(self) -> Any:
        """The next that it says. HandLostError if it has died."""
        try:
            said = self.connection.recv()
        except (EOFError, OSError):
            raise self._lost() from None
        if isinstance(said, BaseException):
            raise said
        return said

    def answer(self) -> Any:
        """What it says of a request that has one answer."""
        return self.hear().answer

    def _lost(self) -> HandLostError:
        self.process.join(ENDING)
        code = self.process.exitcode
        killer = signal.Signals(-code).name if code is not None and code < 0 else ""
        why = f"was killed by {killer}" if killer else f"ended with code {code}"
        if killer == "SIGKILL":
            why += ", perhaps because memory was full: fewer selfplay.processes or selfplay.games need less"
        return HandLostError(f"a process of self-play {why}")


def _end(hands: list[_Hand]) -> None:
    """Let hands end: all of them hear that nobody is left at the other end of their pipes."""
    for hand in hands:
        hand.connection.close()
    for hand in hands:
        hand.process.join(ENDING)
        hand.process.kill()
        hand.process.join()
    hands.clear()


class ProcessCrew(RoundsAlone):
    """Plays stretches in `selfplay.processes` hands, all at once; see `training.selfplay.crew.SelfPlayCrew`.

    Errors of a hand are raised here, after all others have come to rest.
    """

    def __init__(self, settings: LoopSettings, net: nn.Module, threads: int, device: str) -> None:
        """`net` is copied; `threads`: CPU threads of this process, which the hands share out; `device`: cpu or cuda."""
        self.settings, self.threads, self.device = settings, threads, device
        self.playing = copy.deepcopy(net).cpu().eval().requires_grad_(False)
        self._handed = threading.Lock()  # a network is taken whole, never half
        self._version = self._sent = 0  # of `playing`, and of the hands' networks
        self._halt = SPAWN.RawValue("b", 0)
        self._found: deque[Record] = deque()  # games that `play` has not yielded yet
        self._resign: dict[Key, Calibration] = {}
        self._hands: list[_Hand] = []
        # should nobody close it, before multiprocessing's own end, which would wait for them
        weakref.finalize(self, _end, self._hands)

    def hand_over(self, net: nn.Module) -> None:
        with self._handed:
            self.playing.load_state_dict(net.state_dict())
            self._version += 1

    def play(self, stretches: Sequence[Stretch], stop: Stop) -> Iterator[Record | StretchOver]:
        while self._found:
            yield self._found.popleft()
        if stop():
            return
        self._open()
        version = self._send_network()
        due: list[list[int]] = [[] for _ in self._hands]  # by hand: numbers of its stretches, in their order
        for number, stretch in enumerate(stretches):
            due[stretch.seat % len(due)].append(number)
        said: list[deque[Record | StretchOver]] = [deque() for _ in stretches]
        self._halt.value = 0
        busy = {hand.connection: (hand, deque(numbers)) for hand, numbers in zip(self._hands, due, strict=True)}
        for hand, numbers in busy.values():
            hand.ask("tell", [stretches[number] for number in numbers])
        try:
            for heard in said:
                over = False
                while not over and (heard or busy):
                    if stop() or self._version != version:
                        self._halt.value = 1
                    if not heard:
                        self._listen(busy, said)
                    while heard:
                        each = heard.popleft()
                        over = isinstance(each, StretchOver)
                        yield each
        finally:  # the caller went away, or something failed: no stretch may be left halfway
            self._halt.value = 1
            first: BaseException | None = None
            while busy and self._hands:  # none are left once the crew has been closed
                try:
                    self._listen(busy, said)
                except Exception as error:  # noqa: BLE001 - raised below
                    first = first or error
            self._found.extend(each for heard in said for each in heard if isinstance(each, Record))
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
            hand = self._open()[place(key)[1] % len(self._hands)]
            hand.ask("load_pool", key, state)
            if line := hand.answer():
                complaints.append(line)
            else:
                self._resign[key] = Calibration.of(self.settings.selfplay, state["resign"])
        return complaints

    def calibrations(self) -> list[Calibration]:
        return [self._resign[key] for key in sorted(self._resign, key=place)]

    def close(self) -> None:
        """End the hands."""
        _end(self._hands)

    def _open(self) -> list[_Hand]:
        """The hands, started when they are first needed."""
        if not self._hands:
            with self._handed:
                self._sent = self._version
                net = pickle.dumps(self.playing)  # Connection.send would share its tensors' memory
            with _signals_held_back():  # from multiprocessing's own helper first, whose start lets two of them through
                resource_tracker.ensure_running()
            try:
                for _ in range(self.settings.selfplay.processes):
                    self._hands.append(self._started(net))
            except BaseException:
                self.close()
                raise
        return self._hands

    def _started(self, net: bytes) -> _Hand:
        """A new hand that plays with a network, a pickled module."""
        threads = max(1, self.threads // self.settings.selfplay.processes)
        ours, theirs = SPAWN.Pipe()
        arguments = (theirs, self._halt, self.settings, net, threads, self.device)
        process = SPAWN.Process(target=_serve, args=arguments, name="self-play", daemon=True)
        with _signals_held_back():
            process.start()
        theirs.close()
        return _Hand(process, ours)

    def _send_network(self) -> int:
        """Give the hands the network that is to play now. Returns its version."""
        with self._handed:
            if self._sent != self._version:
                arrays = {name: tensor.numpy() for name, tensor in self.playing.state_dict().items()}
                self._all("take_arrays", arrays)
                self._sent = self._version
            return self._version

    def _all(self, what: str, *arguments: Any) -> list[Any]:
        """The answers of all hands to one request; the first error is raised when all have answered."""
        for hand in self._hands:
            hand.ask(what, *arguments)
        answers, errors = [], []
        for hand in self._hands:
            try:
                answers.append(hand.answer())
            except Exception as error:  # noqa: BLE001 - raised below
                errors.append(error)
        if errors:
            raise errors[0]
        return answers

    def _listen(
        self, busy: dict[Connection, tuple[_Hand, deque[int]]], said: list[deque[Record | StretchOver]]
    ) -> None:
        """Hear all that hands have to say just now, for a moment at most; those that are done are busy no more."""
        for connection in wait(list(busy), PATIENCE):
            assert isinstance(connection, Connection)
            hand, numbers = busy[connection]
            try:
                heard = hand.hear()
            except BaseException:
                del busy[connection]
                raise
            if isinstance(heard, Done):
                del busy[connection]
                self._resign.update(heard.answer)
            else:
                said[numbers[0]].append(heard)
                if isinstance(heard, StretchOver):
                    numbers.popleft()


class _HandsCrew(LocalCrew):
    """What a hand works with."""

    def __init__(self, connection: Connection, halt: Any, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._connection, self._halt = connection, halt

    def take_arrays(self, arrays: dict[str, Any]) -> None:
        """Play with these weights from now on."""
        self.take_over({name: torch.from_numpy(array) for name, array in arrays.items()})

    def tell(self, stretches: Sequence[Stretch]) -> dict[Key, Calibration]:
        """Play stretches and tell their games as they end. Returns the pools' thresholds of resignation."""
        for each in super().play(stretches, lambda: bool(self._halt.value)):
            _send(self._connection, each)
        return {key: pool.resign for key, pool in self.pools.items()}


def _serve(connection: Connection, halt: Any, settings: LoopSettings, net: bytes, threads: int, device: str) -> None:
    """The whole life of a hand: do what is asked for, until this end of the pipe is the last one."""
    for number in SIGNALS:
        signal.signal(number, signal.SIG_IGN)
    threading.Thread(target=_leave_with_parent, daemon=True).start()
    torch.set_num_threads(threads)
    crew = _HandsCrew(connection, halt, settings, pickle.loads(net), threads, device)
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


@contextlib.contextmanager
def _signals_held_back() -> Iterator[None]:
    """A process that is started here gets none of `SIGNALS` before it can ignore them: its imports take seconds."""
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, SIGNALS)
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _leave_with_parent() -> None:
    parent = multiprocessing.parent_process()
    assert parent is not None
    wait([parent.sentinel])
    os._exit(0)
