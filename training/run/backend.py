"""Where the work of a run is done: this machine's device and CPU threads, and the backend that plays and learns."""

from __future__ import annotations

import contextlib
import ctypes
from collections.abc import Sequence

import torch
from torch import nn

from gozero.system.machine import available_threads
from gozero.system.options import SettingsError
from training.learner.pace import Pace
from training.matches.interface import Stopped
from training.matches.match import MatchGame
from training.run.gate import MatchPart, play_part
from training.selfplay.local import LocalSelfPlay, SelfPlay
from training.selfplay.pool import Stop
from training.selfplay.processes import ProcessWorkers
from training.selfplay.remote import RemoteSelfPlay
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


class LocalBackend:
    """Who plays and learns for a run: this process, and others of this machine for self-play if the settings ask for
    them. The run decides and has the files; it is the same on a cluster (`training.cluster.pool.ClusterBackend`).
    """

    def selfplay(self, settings: LoopSettings, net: nn.Module) -> SelfPlay:
        """What plays with a copy of `net`."""
        device = device_of(settings.device)
        threads = threads_of(settings, device)
        if settings.selfplay.processes == 1:
            return LocalSelfPlay(settings, net, threads, device)
        return RemoteSelfPlay(settings, net, threads, ProcessWorkers(settings, net, threads, device))

    def play_match(
        self, parts: Sequence[MatchPart], candidate: nn.Module, best: nn.Module, stop: Stop
    ) -> list[MatchGame] | None:
        """Play parts of a match of the gate; None if stopped before the end."""
        device = device_of(parts[0].settings.device)
        threads = threads_of(parts[0].settings, device)
        try:
            return [game for part in parts for game in play_part(part, candidate, best, threads, stop, device)]
        except Stopped:
            return None


LOCAL = LocalBackend()
