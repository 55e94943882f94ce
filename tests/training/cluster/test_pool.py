"""The workers of a run: which may join, what is said where none can, and what is ordered again."""

import os
import threading
from collections.abc import Callable, Iterator
from queue import SimpleQueue
from typing import Any

import pytest

from gozero import __version__
from tests.training import crashes
from tests.training.cluster.conftest import PATIENCE, Cluster

pytest.importorskip("ray", reason="Ray is not installed: pip install 'gozero[distributed]'")

from training.cluster import GPU_WORKER, connection, pool
from training.cluster.pool import GPU_SHARE, ClusterPool
from training.cluster.worker import Order
from training.selfplay.local import Task
from training.selfplay.remote import NetworkVersion, PlayTask

SETTINGS = crashes.settings(selfplay={"games": 4})
ORDER = PlayTask(Task(5, 0, SETTINGS.stage[0], 1, 4.0, "rows"), b"", NetworkVersion(1, 0, None))


@pytest.fixture
def hired(cluster: Cluster) -> Iterator[Callable[..., ClusterPool]]:
    """Makes pools in this process."""
    import ray

    connection.connect(cluster.address)
    made: list[ClusterPool] = []

    def make(**changes: Any) -> ClusterPool:
        made.append(ClusterPool(SETTINGS, **changes))
        return made[-1]

    try:
        yield make
    finally:
        for each in made:
            each.close()
        ray.shutdown()


@pytest.mark.slow
def test_a_worker_of_another_version_does_not_join(
    hired: Callable[..., ClusterPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    said: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(pool, "say", said.put)
    monkeypatch.setattr(pool, "__version__", "9.9")
    made = hired()
    line = said.get(timeout=PATIENCE)
    while line.startswith("waiting for workers"):
        line = said.get(timeout=PATIENCE)
    assert "cannot help: it has gozero" in line and "here 9.9" in line
    assert made.report() == {"cluster/workers": 0.0, "cluster/waiting": 0.0}


class Willing:
    """A worker that has nothing to do with the order."""

    def about(self) -> tuple[str, int, str]:
        return "here", os.getpid(), __version__

    def work(self, number: int, order: Order) -> str:
        return "done"

    def wait_for_end(self) -> None:
        threading.Event().wait()


@pytest.fixture
def hiring(monkeypatch: pytest.MonkeyPatch) -> tuple[list[Any], Callable[[str], Any]]:
    """(handles of the workers hired, what hires them)."""
    import ray

    actor: Any = ray.remote(Willing)
    handles: list[Any] = []

    def hire(resource: str) -> Any:
        handles.append(actor.options(num_cpus=0, max_concurrency=3).remote())
        return handles[-1]

    monkeypatch.setattr(pool, "LOOK", 0.1)
    return handles, hire


def wait_for_workers(made: ClusterPool, number: int) -> None:
    pause = threading.Event()
    for _ in range(int(PATIENCE / 0.1)):
        if made.report()["cluster/workers"] == number:
            return
        pause.wait(0.1)
    raise AssertionError(f"there are not {number} workers: {made.report()}")


@pytest.mark.slow
def test_work_does_not_pass_through_all_workers_of_a_machine_that_is_gone(
    hired: Callable[..., ClusterPool], hiring: tuple[list[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    monkeypatch.setattr(pool, "TRIES", 2)
    handles, hire = hiring
    made = hired(start=hire)
    wait_for_workers(made, 2)
    for handle in handles[:2]:
        ray.kill(handle)
    assert made.submit(ORDER).result(PATIENCE) == "done"


@pytest.mark.slow
def test_a_worker_that_was_refused_and_is_started_anew_joins(
    hired: Callable[..., ClusterPool], hiring: tuple[list[Any], Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    said: SimpleQueue[str] = SimpleQueue()
    monkeypatch.setattr(pool, "say", said.put)
    handles, hire = hiring
    with monkeypatch.context() as patch:
        patch.setattr(pool, "__version__", "9.9")
        made = hired(start=hire)
        while "cannot help" not in said.get(timeout=PATIENCE):
            pass
    ray.kill(handles[0])
    wait_for_workers(made, 1)


@pytest.mark.slow
def test_a_worker_with_a_gpu_leaves_room_for_the_learner(
    hired: Callable[..., ClusterPool], cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Ray believes in the GPU; the worker, which does not see it, works on the CPU."""
    import ray

    monkeypatch.setattr(pool, "LOOK", 0.1)
    node = cluster.cluster.add_node(num_cpus=1, num_gpus=1, resources={GPU_WORKER: 1}, object_store_memory=80_000_000)
    try:
        made = hired()
        wait_for_workers(made, 3)
        assert ray.available_resources()["GPU"] == 1 - GPU_SHARE
        made.close()
    finally:
        cluster.cluster.remove_node(node)


@pytest.mark.slow
def test_workers_that_die_as_they_start_end_the_wait(
    hired: Callable[..., ClusterPool], monkeypatch: pytest.MonkeyPatch
) -> None:
    import ray

    class Broken:
        def __init__(self) -> None:
            raise ValueError("no such precision here")

        def about(self) -> None: ...

        def wait_for_end(self) -> None: ...

    actor: Any = ray.remote(Broken)
    monkeypatch.setattr(pool, "STARTS", 2)
    job = hired(start=lambda resource: actor.remote()).submit(ORDER)
    with pytest.raises(pool.WorkerLostError, match="no such precision here"):
        job.result(PATIENCE)
