"""The processor of this machine, and the threads and the memory that this process may use, read from Linux's tables;
other systems provide little or nothing.

`os.cpu_count()` counts the machine's processors; in a container or under a batch system that is many more than the
process gets, and an evaluator with that many threads runs several times slower.
"""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

PROCESSORS = Path("/proc/cpuinfo")
GROUPS = Path("/proc/self/cgroup")  # the process's control groups
MOUNT = Path("/sys/fs/cgroup")  # where they appear
MOST_THREADS = 1024  # that can be asked for
UNKNOWN_MEMORY = 4 * 2**30  # bytes, where the system does not report it
X86 = {"x86_64", "amd64", "i386", "i686", "x86"}  # what systems call it
BF16_UNITS = {"avx512_bf16", "amx_bf16"}  # in Linux's names
# oneDNN's names of instruction sets that do not compute in bf16, and the variables that limit it to one of them, the
# first before the second
WITHOUT_BF16 = {"SSE41", "AVX", "AVX2", "AVX2_VNNI", "AVX2_VNNI_2", "AVX512_CORE", "AVX512_CORE_VNNI"}
LIMITS = ("ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA")


@dataclass(frozen=True)
class Processor:
    """A processor as the system reports it; unknown fields are empty."""

    name: str
    family: str  # its maker's numbers
    model: str
    flags: frozenset[str]  # instruction sets, in Linux's names


def processor() -> Processor:
    fields = _fields(PROCESSORS)
    name = fields.get("model name") or platform.processor() or platform.machine()
    flags = frozenset(fields.get("flags", "").split())
    return Processor(name, fields.get("cpu family", ""), fields.get("model", ""), flags)


def is_fast_in_int8() -> bool:
    """Whether networks compute fastest in 8-bit numbers: with OpenVINO on every x86 processor; others are unknown."""
    return platform.machine().lower() in X86


def float_precision() -> str:
    """The number type, bf16 or f32, in which networks compute fastest on the processor. If oneDNN is limited to
    instruction sets without bf16, it is slow in it or gives no results.
    """
    limit = next((value for name in LIMITS if (value := os.environ.get(name))), "")  # an empty one counts for nothing
    return "bf16" if processor().flags & BF16_UNITS and limit.upper() not in WITHOUT_BF16 else "f32"


def megabytes(path: Path, key: str) -> float | None:
    """MB of a line of kB in the table of this path; None if there is none."""
    value = _fields(path).get(key)
    return None if value is None else int(value.split()[0]) / 1024


def available_threads() -> int:
    """Threads that can run at once, at least 1: CPU affinity (Linux), else processors, bounded by the control groups'
    quotas, rounded up.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    quotas = [quota for folder in _control_groups("cpu") if (quota := _quota(folder)) is not None]
    return max(1, min([processors, *(int(-(-quota // 1)) for quota in quotas)]))


def memory() -> int:
    """Bytes that this process could use if it were alone: the machine's memory, or what a control group grants."""
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf, others not these
        machine = UNKNOWN_MEMORY
    bounds = [machine]
    for folder in _control_groups("memory"):
        for name in ("memory.max", "memory.limit_in_bytes"):
            with suppress(OSError, ValueError):  # ValueError: "max"
                bounds.append(int((folder / name).read_text()))
    return min(bound for bound in bounds if bound > 0)


def _control_groups(controller: str) -> list[Path]:
    """The folders that may hold a bound of a controller on this process: of version 2 its own group and all above it,
    of version 1 what a container sees.
    """
    folders = [MOUNT, MOUNT / controller]
    with suppress(OSError):
        for line in GROUPS.read_text().splitlines():
            if line.startswith("0::"):
                inside = Path(line[3:].lstrip("/"))
                folders += [MOUNT / part for part in (inside, *inside.parents)]
    return folders


def _quota(folder: Path) -> float | None:
    """The processors' worth of time that a control group grants; None if it sets no bound."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota, period = ((folder / f"cpu.cfs_{name}_us").read_text().strip() for name in ("quota", "period"))
        return None if quota in ("max", "-1") else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None


def _fields(path: Path) -> dict[str, str]:
    """The lines `key: value` of a table; nothing where it cannot be read."""
    try:
        rows = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in rows}
