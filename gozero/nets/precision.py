"""The number type that networks compute in here: bf16 if that is faster (a processor may emulate it), else f32."""

from __future__ import annotations

import functools
import time

import torch
from torch.nn import functional as F

CHANNELS, LAYERS = 64, 4  # of the trunk that is measured
ROUNDS = 3  # of which the fastest counts, for each number type
GAIN = 0.9  # of the time that f32 takes: bf16 is less exact, and must be worth it


def number_type(precision: str, device: torch.device) -> str:
    """What a network computes in on `device`: "f32" or "bf16", as `precision` says, or the faster one for "auto".

    The first f32 on a GPU switches off TF32, which moves logits by a hundredth, for the whole process.
    """
    chosen = ("bf16" if has_fast_bf16(device) else "f32") if precision == "auto" else precision
    if chosen == "f32" and device.type == "cuda":
        torch.backends.cudnn.allow_tf32 = False
    return chosen


@functools.cache
def has_fast_bf16(device: torch.device) -> bool:
    """Whether networks compute clearly faster in bf16 than in f32, learning included; on a CPU measured in 0.1 s."""
    if device.type == "cuda":
        return torch.cuda.get_device_capability(device) >= (8, 0)
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # its processor time is then this thread's, whatever else runs
    try:
        seconds = {dtype: min(_seconds(dtype) for _ in range(ROUNDS)) for dtype in (torch.float32, torch.bfloat16)}
    finally:
        torch.set_num_threads(threads)
    return seconds[torch.bfloat16] < GAIN * seconds[torch.float32]


def _seconds(dtype: torch.dtype) -> float:
    """Processor seconds of a short trunk, 16 positions on 13x13, and of its gradients."""
    weight = torch.full((CHANNELS, CHANNELS, 3, 3), 1e-3, requires_grad=True)
    board = torch.ones(16, CHANNELS, 13, 13).to(memory_format=torch.channels_last)
    began = time.thread_time()
    with torch.enable_grad(), torch.autocast("cpu", torch.bfloat16, enabled=dtype == torch.bfloat16):
        for _ in range(LAYERS):
            board = F.conv2d(board, weight, padding=1).relu()
        board.mean().backward()
    return time.thread_time() - began
