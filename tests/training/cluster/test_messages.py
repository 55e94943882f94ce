"""Messages that are kept: the games in flight, packed by the workers. Ray is not needed."""

from pathlib import Path

import pytest

from training.cluster.messages import PackedPool
from training.selfplay.pool import HANDED
from training.storage import checkpoint
from training.storage.checkpoint import Progress, Snapshot


def test_games_in_flight_that_came_packed_are_saved_so_and_come_back_whole(tmp_path: Path) -> None:
    state = {"seed": [1, 7], "games": [{"komi": 9.5}], "resign": [[0.5, -0.25]]}
    packed = PackedPool.of(state | {HANDED: [4, 2]})
    for pool, numbers in ((packed, [2, 4]), (packed.beyond([9]), [2, 4, 9]), (PackedPool.of(state), [])):
        whole = state | ({HANDED: numbers} if numbers else {})
        assert pool.state() == whole
        checkpoint.save(tmp_path, Snapshot(Progress(), {}, pools={7: pool.saved(), 9: state}), {}, keep=3)
        found, _ = checkpoint.latest(tmp_path) or pytest.fail("no checkpoint")
        assert found.pools == {7: whole, 9: state}
