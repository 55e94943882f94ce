"""What of this machine a run uses: the device, the CPU threads, the memory that it gives back."""

from __future__ import annotations

import contextlib
import ctypes

import torch

from gozero.threads import available_threads
from training.console import say
from training.learner.pace import Pace
from training.settings.config import ConfigError, LoopSettings


def return_memory() -> None:
    """Give the system back what was freed. glibc keeps what lies between living blocks; a window that is renewed leaves
    much of that.
    """
    with contextlib.suppress(OSError, AttributeError, TypeError):  # another C library needs it less
        ctypes.CDLL(None).malloc_trim(0)


def device_of(wanted: str) -> str:
    """`cpu` or `cuda`, what `wanted` (cpu, cuda or auto) means here; ConfigError if cuda is wanted and is not there."""
    available = torch.cuda.is_available()
    if wanted == "cuda" and not available:
        raise ConfigError("device = 'cuda': PyTorch sees no NVIDIA GPU here; use device = 'cpu' or 'auto'")
    return "cuda" if available and wanted != "cpu" else "cpu"


def threads_of(settings: LoopSettings, device: str) -> int:
    """CPU threads of self-play and of the learner each: all, or half where both work on the CPU at once."""
    threads = settings.threads or available_threads()
    return threads if settings.mode == "sequential" or device == "cuda" else max(1, threads // 2)


def pace_of(settings: LoopSettings, device: str) -> Pace:
    """How many CPU threads the learner works with: as many as the settings say, or as many as help where it works on
    the CPU.
    """
    most = threads_of(settings, device)

    def tell(threads: int) -> None:
        say(f"the learner works with {threads} of {most} threads from now on: that is faster just now")

    return Pace(most if settings.threads or device == "cuda" else 0, most, tell)
