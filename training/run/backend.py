"""Where the work of a run is done: this machine's device and CPU threads, and the backend that plays and learns."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Protocol

import torch
from torch import nn

from gozero.system.machine import available_threads
from gozero.system.options import SettingsError
from training.learner.pace import Pace
from training.learner.trainer import Trainer
from training.run import gate
from training.run.gate import PlayParts
from training.selfplay.local import LocalSelfPlay, SelfPlay
from training.selfplay.processes import ProcessSelfPlay
from training.settings.config import LoopSettings


def return_memory() -> None:
    """Return freed memory to the system. glibc keeps free blocks between used ones, and a moving window leaves many."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def device_of(wanted: str) -> str:
    """`cpu` or `cuda`, what `wanted` (cpu, cuda or auto) means here; SettingsError if cuda is wanted and not there."""
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise SettingsError("device = 'cuda': PyTorch sees no NVIDIA GPU here; use device = 'cpu' or 'auto'")
    return "cuda" if available and wanted != "cpu" else "cpu"


def threads_of(settings: LoopSettings, device: str) -> int:
    """CPU threads of self-play, and of the learner: all, or half where both use the CPU at the same time."""
    threads = settings.threads or available_threads()
    return threads if settings.mode == "sequential" or device == "cuda" else max(1, threads // 2)


def pace_of(settings: LoopSettings, device: str) -> Pace:
    """The learner's CPU threads: as the settings say or, if it runs on the CPU, as many as are fastest."""
    most = threads_of(settings, device)
    return Pace(most if settings.threads or device == "cuda" else 0, most)


class Backend(Protocol):
    """Who plays and learns for a run. The run decides and has the files; it is the same with any backend."""

    def device(self, settings: LoopSettings) -> str:
        """`cpu` or `cuda`: where this process measures the network."""

    def trainer(self, settings: LoopSettings) -> Trainer:
        """A new trainer, with fresh weights and an empty window."""

    def selfplay(self, settings: LoopSettings, net: nn.Module) -> SelfPlay:
        """What plays with a copy of `net`."""

    @property
    def matches(self) -> PlayParts:
        """What plays the parts of a match."""


class LocalBackend:
    """This process, and others of this machine for self-play if the settings ask for them."""

    def device(self, settings: LoopSettings) -> str:
        return device_of(settings.device)

    def trainer(self, settings: LoopSettings) -> Trainer:
        device = self.device(settings)
        return Trainer(settings, device, pace_of(settings, device))

    def selfplay(self, settings: LoopSettings, net: nn.Module) -> SelfPlay:
        device = self.device(settings)
        kind = LocalSelfPlay if settings.selfplay.processes == 1 else ProcessSelfPlay
        return kind(settings, net, threads_of(settings, device), device)

    @property
    def matches(self) -> PlayParts:
        return gate.play_here


LOCAL = LocalBackend()
