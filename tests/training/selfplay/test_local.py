"""Tasks of self-play: what follows from a pool's state and a network, and which tasks an actor asks for."""

import errno
from collections import Counter
from collections.abc import Generator
from dataclasses import replace
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from gozero.nets import model
from tests.training import crashes
from tests.training.run.test_resume import same
from training.learner.learner import network_config
from training.records import records
from training.records.records import Record
from training.selfplay.actor import Actor, Backlog
from training.selfplay.local import Found, Key, LocalSelfPlay, SelfPlay, Task, TaskEnd
from training.selfplay.pool import Stop
from training.storage import storage
from training.storage.checkpoint import Progress

SETTINGS = crashes.settings(selfplay={"games": 4, "slots": 2})
NET = model.build(network_config(SETTINGS), 1)


def local(pools: dict[Key, dict[str, Any]] | None = None) -> LocalSelfPlay:
    """Self-play with an untrained network and these games in flight."""
    made = LocalSelfPlay(SETTINGS, NET, 1, "cpu")
    assert made.load_state_dict(pools or {}, None) == []
    return made


def task(slot: int) -> Task:
    return Task(5, slot, SETTINGS.stage[1], 2, 12.0, "rows")


def played(selfplay: SelfPlay, tasks: list[Task], stop: Stop = lambda: False) -> list[Record | TaskEnd]:
    """What comes of some tasks, in their order."""
    for each in tasks:
        selfplay.submit(each)

    found: list[Found] = []
    while selfplay.tasks:
        found += selfplay.take(stop)
    return found


def moves(found: list[Record | TaskEnd] | list[Record]) -> list[list[int]]:
    return [each.moves.tolist() for each in found if isinstance(each, Record)]


def test_what_is_played_follows_from_the_state_of_the_pool() -> None:
    first = local()
    played(first, [task(0), task(1)])
    before = first.state_dict()
    whole = moves(played(first, [task(0), task(1)]))
    assert set(before) == {(5, 0), (5, 1)}
    for slot, key in enumerate(before):
        other = local({key: before[key]})
        alone = moves(played(other, [task(slot)]))
        assert same(other.state_dict()[key], first.state_dict()[key]), "each slot by itself"
        assert alone == (whole[: len(alone)] if slot == 0 else whole[-len(alone) :])
    assert len({tuple(line) for line in whole}) == len(whole), "no slot plays another's games"


def test_a_pool_that_is_made_again_plays_other_games() -> None:
    """A slot may be given up and come back within a generation, when the settings change."""
    first = moves(played(local(), [task(0)]))
    assert moves(played(local(), [task(0)])) == first
    later = moves(played(local(), [replace(task(0), evaluations=1234)]))
    assert not {tuple(line) for line in later} & {tuple(line) for line in first}


def test_the_end_of_a_task_has_the_searches_that_were_cut() -> None:
    asked = count()
    first = local()
    *_, end = played(first, [task(0)], lambda: next(asked) > 4)  # a few waves
    assert isinstance(end, TaskEnd)
    assert end.cut > 0
    assert end.evaluations + end.cut == 2 * len(first.pools[5, 0].games), "two waves of each"


def test_an_actor_that_fails_leaves_no_game_under_way(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    ended = []

    class Noted(LocalSelfPlay):
        def take(self, stop: Stop) -> Generator[Found]:
            try:
                yield from super().take(stop)
            finally:
                ended.append(True)

    def full(writer: records.Writer, record: Record) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(records.Writer, "append", full)
    actor = Actor(SETTINGS, tmp_path, Noted(SETTINGS, NET, 1, "cpu"))
    (tmp_path / "records").mkdir()
    actor.open(1)
    with pytest.raises(storage.StorageError, match="No space left") as error:
        actor.play(SETTINGS.stage[1], Progress(), lambda: None, lambda: False)
    assert ended, f"although {error} still holds the frames in which it was raised"


def test_the_gate_s_match_is_the_same_in_parts_played_by_themselves() -> None:
    from training.run import gate
    from training.run.backend import LOCAL

    wanted = crashes.settings(
        selfplay={"games": 4, "slots": 3}, gate={"games": 8, "visits": 2, "opening_moves": 2, "share": 0.5}
    )
    one, other = (model.build(network_config(wanted), seed).eval() for seed in (1, 2))
    parts = gate.parts(5, wanted, 7)
    assert sorted(number for part in parts for number in part.numbers) == list(range(8))
    assert all(number ^ 1 in part.numbers for part in parts for number in part.numbers), "pairs stay together"
    whole = LOCAL.play_match(parts, one, other, lambda: False)
    alone = [game for part in parts[::-1] for game in LOCAL.play_match([part], one, other, lambda: False) or []]
    assert whole is not None
    assert sorted((game.index, game.moves) for game in whole) == sorted((game.index, game.moves) for game in alone)


class Streams(LocalSelfPlay):
    """Plays what is submitted one after the other."""

    streams = True


def test_a_task_is_as_long_as_the_games_of_its_size_ask_for(tmp_path: Path) -> None:
    selfplay = replace(SETTINGS.selfplay, games=64, slots=2, size_games={5: 3})
    settings = replace(SETTINGS, selfplay=selfplay, generation_rows=4)
    stage = replace(settings.stage[0], sizes={4: 0.5, 5: 0.5})
    streams = Streams(settings, NET, 1, "cpu")
    Actor(settings, tmp_path, streams)._keep_busy(Backlog({4: 2.0, 5: 2.0}), stage, Progress(generation=1))
    assert {each.size: each.wanted for each in streams.tasks} == {4: 4.0 * 64, 5: 4.0 * 3}


def test_a_task_may_end_in_a_stage_without_its_size(tmp_path: Path) -> None:
    """It began in the stage before, and goes on while the generation changes."""
    streams = Streams(SETTINGS, NET, 1, "cpu")
    actor, last = Actor(SETTINGS, tmp_path, streams), replace(SETTINGS.stage[1], sizes={5: 1.0})
    (tmp_path / "records").mkdir()
    streams.submit(Task(4, 0, SETTINGS.stage[1], 1, 8.0, "rows"))
    actor.play(last, Progress(generation=2), lambda: None, lambda: False)
    assert {record.size for record in actor.games} == {4, 5}
    assert sum(record.rows for record in actor.games if record.size == 5) >= SETTINGS.generation_rows


@pytest.mark.parametrize("shares", [(0.5, 0.5), (1 / 3, 1 / 3, 1 / 3), (0.4, 0.3, 0.3), (0.1,) * 10])
def test_a_generation_of_one_game_plays_it_however_the_sizes_share_it(shares: tuple[float, ...]) -> None:
    owed, played = dict.fromkeys(range(4, 4 + len(shares)), 0.0), []
    for _ in range(20):
        backlog = Backlog({size: left + share for (size, left), share in zip(owed.items(), shares, strict=True)}, True)
        count = 0
        while (size := backlog.next()) is not None:
            backlog.missing[size] -= 1
            count += 1
            played.append(size)
        owed = backlog.missing
        assert count == 1
    assert {size: pytest.approx(20 * share, abs=2) for size, share in zip(owed, shares, strict=True)} == Counter(played)


def test_what_comes_next_is_the_smallest_board_that_owes_a_whole_one() -> None:
    assert Backlog({5: 3.0, 4: 0.6, 6: -2.0}).next() == 4
    assert Backlog({5: 3.0, 4: 0.4, 6: -2.0}).next() == 5
    assert Backlog({5: 0.4, 4: 0.3}).next() == 5
    assert Backlog({5: 0.2, 4: 0.2}).next() is None
    assert Backlog({5: 0.9, 4: -1.0}).next() == 5, "rows of one size do not pay for another's"
    assert Backlog({5: 0.9, 4: -1.0}, of_games=True).next() is None
