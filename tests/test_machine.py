"""What is read from Linux's tables, and what is left where there are none."""

import platform
from pathlib import Path

import pytest

from gozero.machine import Processor, megabytes, processor

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


def test_memory(tmp_path: Path) -> None:
    path = tmp_path / "status"
    path.write_text("Name:\tpython\nVmRSS:\t    2560 kB\n")
    assert megabytes(path, "VmRSS") == 2.5
    assert megabytes(path, "VmHWM") is None
