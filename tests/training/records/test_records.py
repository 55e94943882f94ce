"""Game records: a round trip, the size promised, and what happens to damaged files."""

import contextlib
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from tests.training.games import write_shard
from training.records import records
from training.records.records import Record, sparse_target


def random_record(seed: int, size: int = 13, plies: int = 120, every: int = 4) -> Record:
    """Random moves, of which every `every`-th is recorded, as spread as those of self-play: 8 actions of 64 visits, 12
    at most.
    """
    generator = np.random.default_rng(seed)
    moves = generator.integers(size * size + 1, size=plies).astype(np.int32)
    targets = []
    for ply in range(0, plies, every):
        policy = np.zeros(size * size + 2, np.float32)
        policy[generator.choice(size * size, 12, replace=False)] = generator.dirichlet(np.full(12, 0.3))
        surprise = None if ply % 8 else generator.exponential(0.5)
        targets.append(sparse_target(ply, policy, generator.uniform(-1, 1), surprise))
    conceded, peaks = (None, 0, 90)[seed % 3], (100 / 127, seed % 100 / -127)
    score = float(generator.integers(-30, 30)) + 0.5
    return Record(size, 7.5, 3, moves, tuple(targets), score, "passes", 2, conceded, seed % 3 == 0, peaks)


def assert_same(first: Record, second: Record) -> None:
    for name in "size komi generation score ending openings rows conceded unresigned peaks".split():
        assert getattr(first, name) == getattr(second, name), name
    np.testing.assert_array_equal(first.moves, second.moves)
    for one, other in zip(first.targets, second.targets, strict=True):
        assert (one.ply, one.value, one.surprise) == (other.ply, other.value, other.surprise)
        np.testing.assert_array_equal(one.actions, other.actions)
        np.testing.assert_array_equal(one.shares, other.shares)


def write(path: Path, games: list[Record]) -> None:
    write_shard(path, games, {"network": "b2c16"})


@pytest.mark.parametrize("size", [5, 13, 15, 16, 19])
def test_round_trip(size: int) -> None:
    record = random_record(size, size)
    assert_same(records.decode(records.encode(record)), record)


def test_a_target_is_rounded_once() -> None:
    policy = np.array([0.0, 0.7, 0.2995, 0.0005], np.float32)
    target = sparse_target(4, policy, 0.25)
    assert target.actions.tolist() == [1, 2]
    np.testing.assert_allclose(target.shares, [0.7, 0.3], atol=1 / 64)
    assert abs(target.value - 0.25) < 1 / 127


def test_targets_are_right_in_the_mean() -> None:
    generator = np.random.default_rng(1)
    policy, mean = generator.dirichlet(np.full(171, 0.05)), np.zeros(171)
    for _ in range(2000):
        target = sparse_target(0, policy, 0.0, None, generator.random())
        assert (np.abs(target.shares - policy[target.actions]) < 1 / 64).all() and target.shares.sum() == 1
        mean[target.actions] += target.shares / 2000
    np.testing.assert_allclose(mean, policy, atol=1e-3)


@pytest.mark.parametrize(("every", "most"), [(4, 1024), (1, 2560)])
def test_a_13x13_game_takes_a_kilobyte_with_a_quarter_of_its_moves_recorded_and_two_and_a_half_with_all(
    every: int, most: int
) -> None:
    """170 moves, as the games of `weights/resume` have: 0.8 KB and 2.4 KB there, 0.8 and 2.3 here."""
    sizes = [len(records.encode(random_record(seed, plies=170, every=every))) for seed in range(20)]
    assert 0.7 * most <= np.mean(sizes) <= most


def test_a_shard_is_appended_to_and_keeps_its_settings(tmp_path: Path) -> None:
    games = [random_record(seed) for seed in range(4)]
    write(tmp_path / "a.gzr", games[:2])
    write(tmp_path / "a.gzr", games[2:])
    shard = records.read(tmp_path / "a.gzr")
    assert shard.settings == {"network": "b2c16"}
    assert shard.corrupt == 0
    for found, game in zip(shard.records, games, strict=True):
        assert_same(found, game)


def test_a_torn_last_record_is_skipped_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.gzr"
    write(path, [random_record(seed) for seed in range(2)])
    before = path.stat().st_size
    write(path, [random_record(2)])
    whole = path.read_bytes()
    for torn in (whole[:-7], whole[: before + 5]):
        path.write_bytes(torn)
        shard = records.read(path)
        assert (len(shard.records), shard.corrupt) == (2, 1)
        write(path, [random_record(9)])  # going on after the crash
        shard = records.read(path)
        assert (len(shard.records), shard.corrupt) == (3, 1)
        assert_same(shard.records[-1], random_record(9))


def test_settings_that_are_none_are_counted_as_damage(tmp_path: Path) -> None:
    for number, foreign in enumerate(([], None, 5)):
        path = tmp_path / f"{number}.gzr"
        with contextlib.closing(records.Writer(path, foreign)) as writer:  # type: ignore[arg-type]
            writer.append(random_record(number))
        shard = records.read(path)
        assert (len(shard.records), shard.settings, shard.corrupt) == (1, {}, 1)


def test_a_flipped_bit_anywhere_loses_at_most_one_record(tmp_path: Path) -> None:
    path = tmp_path / "a.gzr"
    games = [random_record(seed, plies=20) for seed in range(3)]
    write(path, games)
    whole = path.read_bytes()
    for place in range(0, len(whole), 11):
        path.write_bytes(whole[:place] + bytes([whole[place] ^ 16]) + whole[place + 1 :])
        shard = records.read(path)
        assert len(shard.records) + bool(shard.settings) == 3, "of three games and the settings one is lost"
        assert shard.corrupt >= 1
        kept = {tuple(record.moves) for record in shard.records}
        assert kept <= {tuple(game.moves) for game in games}, "a damaged record was accepted"


def test_bytes_that_are_no_record_are_refused() -> None:
    with pytest.raises(ValueError, match="not a game record"):
        records.decode(b"nothing")


def test_surprise_is_kept_to_a_thirty_second_of_a_nat() -> None:
    policy = np.array([0.5, 0.5])
    assert sparse_target(0, policy, 0.0).surprise is None
    assert [sparse_target(0, policy, 0.0, nats).surprise for nats in (0.0, 0.5, 0.51, 100.0)] == [
        0.0, 0.5, 0.5, 254 / 32,
    ]  # fmt: skip


def test_actions_above_a_byte_survive_on_a_small_board() -> None:
    """Breakthrough has 386 actions on 8x8; a record of a game of points takes one byte for each, as ever."""
    record = random_record(1, size=8)
    wide = replace(record, moves=np.append(record.moves, 383).astype(np.int32))
    last = replace(record.targets[-1], actions=record.targets[-1].actions + 300)
    for one in (record, wide, replace(record, targets=(*record.targets[:-1], last))):
        assert_same(records.decode(records.encode(one)), one)
