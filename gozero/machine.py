"""What this machine is and has, as Linux's tables tell it; other systems tell little or nothing.

How many threads a process may use is `gozero.threads`' to say.
"""

from __future__ import annotations

import platform
from dataclasses import dataclass
from pathlib import Path

PROCESSORS = Path("/proc/cpuinfo")
INT8_UNITS = {"avx512_vnni", "avx_vnni", "amx_int8"}  # in Linux's names


@dataclass(frozen=True)
class Processor:
    """A processor by its name, which a virtual machine may hide, and by what tells more; empty where the system does not tell.

    Attributes:
        name: as its maker calls it.
        family, model: its maker's numbers.
        flags: what it can do, in Linux's names.
    """

    name: str
    family: str
    model: str
    flags: frozenset[str]


def processor(path: Path = PROCESSORS) -> Processor:
    """The processor of this machine."""
    fields = _fields(path)
    name = fields.get("model name") or platform.processor() or platform.machine()
    return Processor(name, fields.get("cpu family", ""), fields.get("model", ""), frozenset(fields.get("flags", "").split()))


def computes_int8(found: Processor | None = None) -> bool | None:
    """Whether a processor, this machine's if none is given, sums products of 8-bit numbers without overflow; None: it does not tell."""
    flags = (found or processor()).flags
    return bool(flags & INT8_UNITS) if flags else None


def megabytes(path: Path, key: str) -> float | None:
    """MB of a line of kB in the table of this path; None where there is none."""
    value = _fields(path).get(key)
    return None if value is None else int(value.split()[0]) / 1024


def _fields(path: Path) -> dict[str, str]:
    """The lines `key: value` of a table; nothing where it cannot be read."""
    try:
        rows = [line.partition(":") for line in path.read_text(encoding="utf-8").splitlines()]
    except OSError:
        return {}
    return {key.strip(): value.strip() for key, _, value in rows}
