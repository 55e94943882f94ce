"""How many threads the process may use, read from imitated control groups."""

import os
from pathlib import Path

import pytest

from gozero.system.machine import available_threads


@pytest.fixture(autouse=True)
def eight_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text + "\n")


def threads(folder: Path) -> int:
    return available_threads(groups=folder / "cgroup", mount=folder / "mount")


def test_without_control_groups_the_affinity_counts(tmp_path: Path) -> None:
    assert threads(tmp_path) == 8


def test_without_affinity_the_processors_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 5)
    assert threads(tmp_path) == 5


@pytest.mark.parametrize(
    ("quota", "expected"),
    [("200000 100000", 2), ("150000 100000", 2), ("10000 100000", 1), ("max 100000", 8), ("?", 8)],
)
def test_version_2_quota_of_the_own_group(tmp_path: Path, quota: str, expected: int) -> None:
    write(tmp_path / "cgroup", "0::/user/box")
    write(tmp_path / "mount/user/box/cpu.max", quota)
    assert threads(tmp_path) == expected


def test_version_2_quota_of_a_group_above(tmp_path: Path) -> None:
    write(tmp_path / "cgroup", "0::/user/box")
    write(tmp_path / "mount/user/box/cpu.max", "max 100000")
    write(tmp_path / "mount/user/cpu.max", "300000 100000")
    assert threads(tmp_path) == 3


def test_version_2_seen_from_inside_a_container(tmp_path: Path) -> None:
    """The mount shows the container's own group as its root, while the process still knows the outer name."""
    write(tmp_path / "cgroup", "0::/docker/0123")
    write(tmp_path / "mount/cpu.max", "400000 100000")
    assert threads(tmp_path) == 4


@pytest.mark.parametrize(("quota", "expected"), [("250000", 3), ("-1", 8), ("1600000", 8)])
def test_version_1_quota_of_a_container(tmp_path: Path, quota: str, expected: int) -> None:
    write(tmp_path / "mount/cpu/cpu.cfs_quota_us", quota)
    write(tmp_path / "mount/cpu/cpu.cfs_period_us", "100000")
    assert threads(tmp_path) == expected
