"""The learner on a cluster: what it asks of it."""

import pytest

pytest.importorskip("ray", reason="Ray is not installed: pip install 'gozero[distributed]'")

from gozero.system.options import SettingsError
from tests.training import crashes
from training.cluster import learner
from training.cluster.learner import GPU_SHARE, check_room


@pytest.mark.parametrize("device, gpus", [("auto", 1.0), ("cuda", 0.0)])
def test_a_gpu_that_the_cluster_lacks_is_said_at_first_and_waited_for_later(
    device: str, gpus: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ray.cluster_resources", lambda: {"GPU": gpus})
    asked = crashes.settings(device=device)
    if gpus:
        check_room(asked)
    else:
        with pytest.raises(SettingsError):
            check_room(asked)
    assert learner._room(asked).get("num_gpus") == GPU_SHARE
