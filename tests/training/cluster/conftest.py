"""A Ray cluster of one node for a module's tests, and ways to look at its processes."""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

PATIENCE = 300.0  # seconds after which something that should happen counts as not happening


def here(title: str, parent: int) -> list[int]:
    """The processes of a raylet that call themselves so."""
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if path.joinpath("cmdline").read_bytes().startswith(title.encode()):
                lines = path.joinpath("status").read_text().splitlines()
                found += [int(path.name) for line in lines if line == f"PPid:\t{parent}"]
        except OSError:  # it has ended
            continue
    return found


class Cluster:
    """The cluster of a test, at `address`."""

    def __init__(self, cluster: Any) -> None:
        self.cluster, self.address = cluster, cluster.address

    @property
    def raylet(self) -> int:
        """The process id of the head's raylet."""
        return int(self.cluster.head_node.all_processes["raylet"][0].process.pid)

    def kill(self, title: str, when: Callable[[], bool]) -> threading.Thread:
        """Kill, with SIGKILL and in the background, one process of that title as soon as there is one and `when()`."""

        def watch() -> None:
            pause = threading.Event()
            for _ in range(int(PATIENCE / 0.01)):
                if when() and (found := here(title, self.raylet)):
                    os.kill(found[0], signal.SIGKILL)
                    return
                pause.wait(0.01)

        thread = threading.Thread(target=watch)
        thread.start()
        return thread


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    """A node with two CPUs, and room for two workers."""
    pytest.importorskip("ray", reason="Ray is not installed: pip install 'gozero[distributed]'")
    if not Path("/proc").is_dir():
        pytest.skip("finds processes to kill in /proc")
    from ray.cluster_utils import Cluster as RayCluster

    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("RAY_USAGE_STATS_ENABLED", "0")
        patch.setenv("PYTHONPATH", str(ROOT))
        head = {"num_cpus": 2, "include_dashboard": False, "object_store_memory": 100_000_000}
        head["resources"] = {"gozero_worker": 2}
        made = RayCluster(initialize_head=True, head_node_args=head)
        try:
            yield Cluster(made)
        finally:
            made.shutdown()
