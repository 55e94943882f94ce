"""What is read from Linux's tables and control groups, and what is left where there are none."""

import os
import platform
from pathlib import Path

import pytest

from gozero.system import machine
from gozero.system.machine import (
    UNKNOWN_MEMORY,
    Processor,
    available_threads,
    float_precision,
    is_fast_in_int8,
    megabytes,
    memory,
    processor,
)  # fmt: skip

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


@pytest.fixture(autouse=True)
def tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """The tables of a Linux machine are those that a test writes."""
    for name, place in (("PROCESSORS", "cpuinfo"), ("GROUPS", "cgroup"), ("MOUNT", "mount")):
        monkeypatch.setattr(machine, name, tmp_path / place)


def test_a_processor(tmp_path: Path) -> None:
    (tmp_path / "cpuinfo").write_text(CPUINFO)
    assert processor() == Processor("A Processor: 9000", "26", "2", frozenset({"fpu", "avx2"}))


def test_a_system_without_tables(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(platform, "processor", lambda: "")
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    assert processor() == Processor("arm64", "", "", frozenset())
    assert megabytes(tmp_path / "none", "MemAvailable") is None


def test_bf16_where_the_processor_has_it_and_nothing_forbids_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("ONEDNN_MAX_CPU_ISA", raising=False)
    monkeypatch.delenv("DNNL_MAX_CPU_ISA", raising=False)
    for flag, expected in (("avx512f", "f32"), ("avx512_bf16", "bf16")):
        (tmp_path / "cpuinfo").write_text(f"flags : avx2 {flag}\n")
        assert float_precision() == expected
    monkeypatch.setenv("ONEDNN_MAX_CPU_ISA", "avx2")
    assert float_precision() == "f32"


@pytest.mark.parametrize(("kind", "expected"), [("x86_64", True), ("AMD64", True), ("arm64", False)])
def test_x86_is_fast_in_int8(monkeypatch: pytest.MonkeyPatch, kind: str, expected: bool) -> None:
    monkeypatch.setattr(platform, "machine", lambda: kind)
    assert is_fast_in_int8() is expected


def test_memory(tmp_path: Path) -> None:
    path = tmp_path / "status"
    path.write_text("Name:\tpython\nVmRSS:\t    2560 kB\n")
    assert megabytes(path, "VmRSS") == 2.5
    assert megabytes(path, "VmHWM") is None


GB = 2**30


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
        ("user/box/memory.max", 8 * GB, 8), ("user/memory.max", 8 * GB, 8), ("memory.max", 8 * GB, 8),
        ("user/box/memory.max", "max", 64), ("user/box/memory.max", 100 * GB, 64),
        ("memory/memory.limit_in_bytes", 4 * GB, 4), ("memory/memory.limit_in_bytes", 9223372036854771712, 64),
    ],
)  # fmt: skip
def test_the_memory_that_a_container_grants(tmp_path: Path, file: str, bound: int | str, expected: float) -> None:
    write(tmp_path / "cgroup", "4:memory:/other\n0::/user/box")
    write(tmp_path / "mount" / file, str(bound))
    assert memory() / GB == expected


@pytest.mark.usefixtures("machine_of_64_gb")
def test_memory_without_a_container() -> None:
    assert memory() / GB == 64


def test_memory_where_the_system_does_not_tell(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sysconf")
    assert memory() == UNKNOWN_MEMORY


@pytest.fixture(autouse=True)
def eight_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


def test_without_control_groups_the_affinity_counts() -> None:
    assert available_threads() == 8


def test_without_affinity_the_processors_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert available_threads() == 5


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("200000 100000", 2), ("150000 100000", 2), ("10000 100000", 1), ("max 100000", 8), ("?", 8)],
)
def test_version_2_quota_of_the_own_group(tmp_path: Path, quota: str, expected: int) -> None:
    write(tmp_path / "cgroup", "0::/user/box")
    write(tmp_path / "mount/user/box/cpu.max", quota)
    assert available_threads() == expected


def test_version_2_quota_of_a_group_above(tmp_path: Path) -> None:
    write(tmp_path / "cgroup", "0::/user/box")
    write(tmp_path / "mount/user/box/cpu.max", "max 100000")
    write(tmp_path / "mount/user/cpu.max", "300000 100000")
    assert available_threads() == 3


def test_version_2_seen_from_inside_a_container(tmp_path: Path) -> None:
    """The mount shows the container's own group as its root, while the process still knows the outer name."""
    write(tmp_path / "cgroup", "0::/docker/0123")
    write(tmp_path / "mount/cpu.max", "400000 100000")
    assert available_threads() == 4


@pytest.mark.parametrize(("quota", "expected"), [("250000", 3), ("-1", 8), ("1600000", 8)])
def test_version_1_quota_of_a_container(tmp_path: Path, quota: str, expected: int) -> None:
    write(tmp_path / "mount/cpu/cpu.cfs_quota_us", quota)
    write(tmp_path / "mount/cpu/cpu.cfs_period_us", "100000")
    assert available_threads() == expected
