"""The resources of the machine that a run uses: device, CPU threads, memory."""

from __future__ import annotations

import contextlib
import ctypes
from itertools import count

import torch

from gozero.system.console import say
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.learner.pace import Pace
from training.settings.config import LoopSettings

MOST_TOLD = 3  # changes of the learner's threads: beside busy programs there may be one every ten minutes, for days


def return_memory() -> None:
    """Return freed memory to the system. glibc keeps free blocks between used ones, and a moving window leaves many."""
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library
        ctypes.CDLL(None).malloc_trim(0)


def device_of(wanted: str) -> str:
    """`cpu` or `cuda`, what `wanted` (cpu, cuda or auto) means here; SettingsError if cuda is wanted and is not there."""
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise SettingsError("device = 'cuda': PyTorch sees no NVIDIA GPU here; use device = 'cpu' or 'auto'")
    return "cuda" if available and wanted != "cpu" else "cpu"


def threads_of(settings: LoopSettings, device: str) -> int:
    """CPU threads of self-play, and of the learner: all, or half where both use the CPU at the same time."""
    threads = settings.threads or available_threads()
    return threads if settings.mode == "sequential" or device == "cuda" else max(1, threads // 2)


def pace_of(settings: LoopSettings, device: str) -> Pace:
    """The learner's CPU threads: as the settings say or, where it runs on the CPU, as many as are fastest."""
    most, changes = threads_of(settings, device), count(1)

    def tell(threads: int) -> None:
        change = next(changes)
        if change <= MOST_TOLD:
            last = "; more such changes are not told" if change == MOST_TOLD else ""
            say(f"the learner uses {threads} of {most} threads from now on, which is faster at the moment{last}")

    return Pace(most if settings.threads or device == "cuda" else 0, most, tell)
