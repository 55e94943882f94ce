"""The learner's processes on a cluster: what they ask of it, and how the loss of one is told from a bug."""

from dataclasses import replace

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'gozero[distributed]'")

from gozero.system.options import SettingsError
from tests.training import crashes
from training.cluster import learner
from training.cluster.learner import GPU_SHARE, LearnerActor, check_room
from training.cluster.messages import Initialize
from training.learner.peers import PeerLostError, Peers
from training.settings.config import LoopSettings


def settings(processes: int, device: str) -> LoopSettings:
    usual = crashes.settings(device=device)
    return replace(usual, learner=replace(usual.learner, processes=processes))


@pytest.mark.parametrize(
    "processes, device, gpus, why, share",
    [
        (1, "auto", 1.0, "", GPU_SHARE),
        (2, "auto", 2.0, "", 1),
        (1, "cuda", 0.0, "no machine of the cluster offers a GPU", GPU_SHARE),
        (4, "auto", 2.0, "learner.processes = 4: the cluster has 2 GPUs", 1),
        (4, "cpu", 2.0, "", None),
        (2, "auto", 0.0, "", None),
    ],
)
def test_what_the_cluster_lacks_is_said_at_first_and_waited_for_later(
    processes: int, device: str, gpus: float, why: str, share: float | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.cluster_resources", lambda: {"GPU": gpus})
    asked = settings(processes, device)
    if why:
        with pytest.raises(SettingsError, match=why):
            check_room(asked)
    else:
        check_room(asked)
    if share is not None or processes > 1:  # else its place is that of the coordinator
        assert learner._room(asked).get("num_gpus") == share


@pytest.mark.parametrize(
    "message, told", [("Connection closed by peer\nand more", "Connection closed by peer"), ("", "RuntimeError")]
)
def test_what_fails_because_another_process_is_gone_is_no_bug(
    message: str, told: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Failing:
        def __init__(self, *arguments: object) -> None:
            if not lives:
                self.train()

        def train(self, *arguments: object) -> None:
            raise RuntimeError(message)

    monkeypatch.setattr(learner, "Trainer", Failing)
    monkeypatch.setattr("ray.get_gpu_ids", list)
    for count, kind in ((1, RuntimeError), (2, PeerLostError)):
        actor = LearnerActor(Initialize(settings(count, "cpu"), 0), Peers(0, count))
        lives = False
        with pytest.raises(kind, match=told if count > 1 else None):
            actor.open()
        lives = True
        actor.open()
        with pytest.raises(kind):
            actor.call("train", 1, 1.0)
