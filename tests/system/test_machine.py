"""What is read from Linux's tables, and what is left where there are none."""

import os
import platform
from pathlib import Path

import pytest

from gozero.system.machine import UNKNOWN_MEMORY, Processor, float_precision, megabytes, memory, processor

CPUINFO = """\
processor\t: 0
cpu family\t: 26
model\t\t: 2
model name\t: A Processor: 9000
flags\t\t: fpu avx2

processor\t: 1
cpu family\t: 26
model\t\t: 2
model name\t: A Processor: 9000
flags\t\t: fpu avx2
power management:
"""


def test_a_processor(tmp_path: Path) -> None:
    path = tmp_path / "cpuinfo"
    path.write_text(CPUINFO)
    assert processor(path) == Processor("A Processor: 9000", "26", "2", frozenset({"fpu", "avx2"}))


def test_a_system_without_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert processor(tmp_path / "none") == Processor("arm64", "", "", frozenset())
    assert megabytes(tmp_path / "none", "MemAvailable") is None


def test_bf16_where_the_processor_has_it_and_nothing_forbids_it(monkeypatch: pytest.MonkeyPatch) -> None:
    old, new = (Processor("", "", "", frozenset({"avx2", flag})) for flag in ("avx512f", "avx512_bf16"))
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.delenv("DNNL_MAX_CPU_ISA", raising=False)
    assert (float_precision(old), float_precision(new)) == ("f32", "bf16")
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "avx2")
    assert float_precision(new) == "f32"


def test_memory(tmp_path: Path) -> None:
    path = tmp_path / "status"
    path.write_text("Name:\tpython\nVmRSS:\t    2560 kB\n")
    assert megabytes(path, "VmRSS") == 2.5
    assert megabytes(path, "VmHWM") is None


GB = 2**30


def memory_of(folder: Path) -> float:
    return memory(groups=folder / "cgroup", mount=folder / "mount") / GB


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f"{text}\n")


@pytest.fixture
def machine_of_64_gb(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sysconf", {"SC_PHYS_PAGES": 2**24, "SC_PAGE_SIZE": 4096}.__getitem__, raising=False)


@pytest.mark.usefixtures("machine_of_64_gb")
@pytest.mark.parametrize(
    ("file", "bound", "expected"),
    [
        ("user/box/memory.max", 8 * GB, 8),
        ("user/memory.max", 8 * GB, 8),
        ("memory.max", 8 * GB, 8),
        ("user/box/memory.max", "max", 64),
        ("user/box/memory.max", 100 * GB, 64),
        ("memory/memory.limit_in_bytes", 4 * GB, 4),
        ("memory/memory.limit_in_bytes", 9223372036854771712, 64),
    ],
)
def test_the_memory_that_a_container_grants(tmp_path: Path, file: str, bound: int | str, expected: float) -> None:
    write(tmp_path / "cgroup", "4:memory:/other\n0::/user/box")
    write(tmp_path / "mount" / file, str(bound))
    assert memory_of(tmp_path) == expected


@pytest.mark.usefixtures("machine_of_64_gb")
def test_memory_without_a_container(tmp_path: Path) -> None:
    assert memory_of(tmp_path) == 64


def test_memory_where_the_system_does_not_tell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert memory_of(tmp_path) == UNKNOWN_MEMORY / GB
