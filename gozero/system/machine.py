"""The processor and the memory of this machine, read from Linux's tables; other systems provide little or nothing.

`gozero.system.threads` says how many threads a process may use.
"""

from __future__ import annotations

import os
import platform
from dataclasses import dataclass
from pathlib import Path

from gozero.system.threads import GROUPS, MOUNT, control_groups

PROCESSORS = Path("/proc/cpuinfo")
UNKNOWN_MEMORY = 4 * 2**30  # bytes, where the system does not report it
X86 = {"x86_64", "amd64", "i386", "i686", "x86"}  # what systems call it
INT8_UNITS = {"avx512_vnni", "avx_vnni", "amx_int8"}  # in Linux's names


@dataclass(frozen=True)
class Processor:
    """A processor as the system reports it; unknown fields are empty."""

    name: str
    family: str  # its maker's numbers
    model: str
    flags: frozenset[str]  # instruction sets, in Linux's names


def processor(path: Path = PROCESSORS) -> Processor:
    """The processor of this machine."""
    fields = _fields(path)
    name = fields.get("model name") or platform.processor() or platform.machine()
    return Processor(
        name, fields.get("cpu family", ""), fields.get("model", ""), frozenset(fields.get("flags", "").split())
    )


def computes_int8(found: Processor | None = None) -> bool | None:
    """Whether a processor, this machine's if none is given, sums products of 8-bit numbers without overflow; None: it
    does not report it. One of x86 that does not counts as one that overflows: most do, without a sign of it.
    """
    flags = (found or processor()).flags
    if not flags and platform.machine().lower() not in X86:
        return None
    return bool(flags & INT8_UNITS)


def megabytes(path: Path, key: str) -> float | None:
    """MB of a line of kB in the table of this path; None if there is none."""
    value = _fields(path).get(key)
    return None if value is None else int(value.split()[0]) / 1024


def memory(groups: Path = GROUPS, mount: Path = MOUNT) -> int:
    """Bytes that this process could use if it were alone: the machine's memory, or less if a control group grants less.
    `groups` and `mount` as for `threads.available_threads`.
    """
    try:
        machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, OSError, ValueError):  # Windows has no sysconf, others not these
        machine = UNKNOWN_MEMORY
    folders = control_groups("memory", groups, mount)
    return min([machine, *(bound for folder in folders if (bound := _memory_bound(folder)) is not None)])


def _memory_bound(folder: Path) -> int | None:
    """Bytes that a control group grants; None if it sets no bound."""
    for name in ("memory.max", "memory.limit_in_bytes"):
        try:
            bound = int((folder / name).read_text())
        except (OSError, ValueError):  # ValueError: "max"
            continue
        if bound > 0:
            return bound
    return None


def _fields(path: Path) -> dict[str, str]:
    """The lines `key: value` of a table; nothing where it cannot be read."""
    try:
        rows = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in rows}
