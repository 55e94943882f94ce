"""How many threads this process may really use: the smallest of its CPU affinity and its control groups' quotas.

`os.cpu_count()` counts the machine's processors; in a container or under a batch system that is many more than the
process gets, and an evaluator with that many threads runs several times slower.
"""

import os
from contextlib import suppress
from pathlib import Path

GROUPS = Path("/proc/self/cgroup")
MOUNT = Path("/sys/fs/cgroup")


def available_threads(groups: Path = GROUPS, mount: Path = MOUNT) -> int:
    """Threads that can run at once, at least 1: CPU affinity (Linux), else processors, bounded by the cgroup quota, v1
    or v2, rounded up.

    `groups` lists the process's control groups and `mount` is the folder in which they appear; both are Linux's.
    """
    affinity = getattr(os, "sched_getaffinity", None)
    processors = len(affinity(0)) if affinity else os.cpu_count() or 1
    quotas = [quota for folder in control_groups("cpu", groups, mount) if (quota := _quota(folder)) is not None]
    return max(1, min([processors, *(int(-(-quota // 1)) for quota in quotas)]))


def control_groups(controller: str, groups: Path = GROUPS, mount: Path = MOUNT) -> list[Path]:
    """The folders that may hold a bound of a controller on this process: of version 2 its own group and all above it,
    of version 1 what a container sees.
    """
    folders = [mount, mount / controller]
    with suppress(OSError):
        for line in groups.read_text().splitlines():
            if line.startswith("0::"):
                inside = Path(line[3:].lstrip("/"))
                folders += [mount / part for part in (inside, *inside.parents)]
    return folders


def _quota(folder: Path) -> float | None:
    """The processors' worth of time that a control group grants; None if it sets no bound."""
    try:
        if (folder / "cpu.max").exists():
            quota, period = (folder / "cpu.max").read_text().split()
        else:
            quota = (folder / "cpu.cfs_quota_us").read_text().strip()
            period = (folder / "cpu.cfs_period_us").read_text().strip()
        return None if quota in ("max", "-1") else int(quota) / int(period)
    except (OSError, ValueError, ZeroDivisionError):
        return None
