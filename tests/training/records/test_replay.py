"""The window: rows tell the truth about their game, turn as a whole, and leave in order."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from gozero import games
from gozero.games import symmetry
from gozero.games.game import Game
from gozero.nets import features
from tests.rows import Row
from tests.training.games import game_of, played_randomly, random_record
from training.learner.device_replay import DeviceReplay
from training.records import replay as window
from training.records import scoring
from training.records.records import Record
from training.records.replay import Replay, window_rows
from training.records.rows import (
    MOST_RARITY,
    ROW_FIELDS,
    Batch,
    CorruptRecordError,
    is_held_out,
    rarity,
    rows_of,
    transformed,
    unpack,
)
from training.settings.config import ReplaySettings

SIZES = (5, 7)


def batch_of(record: Record, version: int = 1):
    return unpack(rows_of(record, game_of(record.size), version=version), np.arange(record.rows), game_of(record.size))


@pytest.mark.parametrize("size", SIZES)
def test_rows_are_seen_by_the_side_to_move(size: int) -> None:
    record = random_record(size, 1)
    batch = batch_of(record)
    black = np.array([target.ply % 2 == 0 for target in record.targets])
    sign = np.where(black, 1, -1)
    np.testing.assert_array_equal(batch.planes[:, features.PLANES - 1].max((1, 2)), black)
    np.testing.assert_array_equal(batch.value, np.sign(record.score) * sign)
    np.testing.assert_allclose(batch.score, record.score * sign)
    np.testing.assert_allclose(batch.owner.sum(1) - record.komi * sign, batch.score)


def test_planes_survive_packing() -> None:
    record, game = random_record(7, 2), game_of(7)
    state, history = scoring.begin(game, record.komi, len(record.moves))
    batch = batch_of(record, version=2)
    assert batch.tactics.any()
    wanted = {target.ply: row for row, target in enumerate(record.targets)}
    for ply, action in enumerate(record.moves.tolist()):
        if ply in wanted:
            planes, numbers, tactics = features.encode(game, state[None], 2)
            np.testing.assert_array_equal(batch.planes[wanted[ply]], planes[0])
            np.testing.assert_array_equal(batch.globals[wanted[ply]], numbers[0])
            np.testing.assert_array_equal(batch.tactics[wanted[ply]], tactics[0])
        game.step(state, history, action)


def test_policy_and_reply_are_the_targets() -> None:
    record = replace(random_record(5, 3, every=2), openings=3)  # moves that were drawn for variety
    batch = batch_of(record)
    np.testing.assert_allclose(batch.policy.sum(1), 1, atol=5e-3)
    for row, target in enumerate(record.targets):
        np.testing.assert_allclose(batch.policy[row, target.actions], target.shares, atol=1e-3)
        following = target.ply + 1
        if 3 <= following < len(record.moves):
            assert batch.reply[row].argmax() == record.moves[following]  # no full search there: the move played
            assert batch.reply[row].sum() == 1
        else:
            assert not batch.reply[row].any()


def test_a_full_reply_is_a_distribution() -> None:
    record = replace(random_record(5, 3, every=1), openings=3)
    batch = batch_of(record)
    np.testing.assert_array_equal(batch.reply[:-1], batch.policy[1:])


@pytest.mark.parametrize("k", range(8))
def test_planes_policy_reply_and_ownership_turn_together(k: int) -> None:
    """A game with all its moves turned gives the turned rows."""
    record = random_record(5, 4)
    moves = np.array([symmetry.apply_action(action, 5, k) for action in record.moves.tolist()], np.int32)
    targets = tuple(
        replace(target, actions=np.array([symmetry.apply_action(int(action), 5, k) for action in target.actions]))
        for target in record.targets
    )
    expected = batch_of(replace(record, moves=moves, targets=targets), version=2)
    found = transformed(batch_of(record, version=2), np.full(record.rows, k))
    for name, one, other in zip(expected._fields, expected, found, strict=True):
        np.testing.assert_array_equal(one, other, err_msg=name)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda record: replace(record, score=record.score + 1), "lead to a score"),
        (lambda record: replace(record, komi=record.komi + 1), "lead to a score"),
        (
            lambda record: replace(record, moves=np.repeat(record.moves[:1], 3), targets=record.targets[:1]),
            "move 2, action",
        ),
        (lambda record: replace(record, moves=np.array([200], np.int32), targets=()), "illegal"),
        (lambda record: replace(record, targets=record.targets[:1] * 2), "searched plies"),
        (
            lambda record: replace(record, targets=(replace(record.targets[0], ply=len(record.moves)),)),
            "searched plies",
        ),
        (
            lambda record: replace(
                record, targets=(replace(record.targets[0], actions=np.array([game_of(5).actions])),)
            ),
            "policy target",
        ),
    ],
)
def test_records_that_are_no_game_are_skipped_and_counted(change, words: str) -> None:
    good, bad = random_record(5, 5), change(random_record(5, 6))
    with pytest.raises(CorruptRecordError, match=words):
        rows_of(bad, game_of(5))
    replay = Replay(ReplaySettings(held_out=0), game_of)
    if bad.rows:
        assert replay.add([bad, good]) == bad.rows + good.rows, "they were rows when they were played"
        assert (replay.total, replay.corrupt, replay.drawable) == (bad.rows + good.rows, 1, good.rows)


def test_several_processes_read_the_same_window(monkeypatch: pytest.MonkeyPatch) -> None:
    games = [random_record(size, seed) for seed in range(8) for size in SIZES]
    games[3] = replace(games[3], moves=games[3].moves[:-1])
    one, two = (Replay(ReplaySettings(), game_of, total=100) for _ in range(2))
    one.fill(games, processes=1)
    monkeypatch.setattr(window, "MANY_ROWS", 1)
    two.fill(games, processes=2)
    assert (one.total, one.corrupt, one.starts) == (two.total, two.corrupt, two.starts)
    assert one.corrupt == 1
    assert one.rows.keys() == two.rows.keys()
    for key, rows in one.rows.items():
        for name in ROW_FIELDS:
            np.testing.assert_array_equal(getattr(rows, name), getattr(two.rows[key], name))


@pytest.mark.parametrize(("kind", "version"), [("go", 1), ("go", 3), ("breakthrough", 1), ("hex", 1)])
def test_batches_put_together_by_torch_are_the_same(kind: str, version: int) -> None:
    """Also where pieces move, and where a symmetry exchanges the colours."""

    def made(size: int) -> Game:
        return game_of(size) if kind == "go" else games.make(kind, size=size)

    def record(size: int, seed: int) -> Record:
        if kind == "go":
            return random_record(size, seed)
        return played_randomly(made(size), np.random.default_rng([size, seed]))

    replay = Replay(ReplaySettings(held_out=0.0), made, version)
    device = DeviceReplay(replay, torch.device("cpu"))
    for seed in range(4):  # the window changes between batches
        replay.add(record(size, seed) for size in SIZES)
        assert not replay.corrupt
        expected, found = (each.sample(32, np.random.default_rng(seed)) for each in (replay, device))
        assert kind == "go" or np.array_equal(expected.known, [[True, False, False]] * 32)
        for name, array in expected._asdict().items():
            tensor = getattr(found, name)
            assert (array is None) == (tensor is None), name
            if array is not None:
                np.testing.assert_array_equal(tensor.numpy(), array, err_msg=name)
                assert tensor.numpy().dtype == array.dtype, name


def test_the_window_grows_as_published() -> None:
    settings = ReplaySettings(window=1000)
    assert window_rows(700, settings) == 700
    assert window_rows(1000, settings) == 1000
    assert window_rows(16_000, settings) == int(1000 * (1 + 0.4 * (8 - 1) / 0.75))
    fixed = ReplaySettings(window=1000, growing=False)
    assert [window_rows(rows, fixed) for rows in (700, 1000, 16_000)] == [700, 1000, 1000]


def test_old_rows_leave_and_memory_stays_bounded() -> None:
    settings = ReplaySettings(window=60, held_out=0)
    replay = Replay(settings, game_of)
    for seed in range(12):
        replay.add([random_record(SIZES[seed < 2], seed)])
        held = sum(replay.sizes().values())
        assert held == min(replay.total, window_rows(replay.total, settings))
        assert all(rows.planes.base is None for rows in replay.rows.values())
    assert replay.total == sum(random_record(SIZES[seed < 2], seed).rows for seed in range(12))
    assert list(replay.rows) == [(False, 5)], "of a size that is no longer played nothing is left to draw"


def test_held_out_games_are_never_sampled() -> None:
    games = [random_record(5, seed) for seed in range(40)]
    replay = Replay(ReplaySettings(held_out=0.3), game_of)
    replay.add(games)
    held = [game for game in games if is_held_out(game, 0.3)]
    assert 0 < len(held) < len(games)
    assert replay.sizes(held_out=True) == {5: sum(game.rows for game in held)}
    assert replay.sizes() == {5: sum(game.rows for game in games if not is_held_out(game, 0.3))}
    assert replay.draw(8, np.random.default_rng(1)).rows is replay.rows[False, 5]


def test_measured_rows_are_spread_over_all_games() -> None:
    games = [random_record(size, seed) for size in SIZES for seed in range(40)]
    replay = Replay(ReplaySettings(held_out=0.3), game_of)
    replay.add(games)
    for held_out in (True, False):
        chosen = [game for game in games if is_held_out(game, 0.3) == held_out]
        assert sorted(replay.games(held_out)) == sorted(game.rows for game in chosen)
        count = replay.sizes(held_out)[5]
        batch = replay.spread(5, 30, held_out)
        assert len(batch.value) == 30
        seen = set(np.abs(batch.score).tolist())
        long = [game for game in chosen if game.size == 5 and game.rows > count // 30 + 1]
        assert len(long) > 3 and {abs(game.score) for game in long} <= seen
        assert len(replay.spread(5, count + 1, held_out).value) == count


def test_games_are_counted_in_the_window_alone_and_their_rows_stay_as_they_are() -> None:
    replay = Replay(ReplaySettings(held_out=0, window=60, growing=False), game_of)
    for seed in range(12):
        replay.add([random_record(5, seed)])
    assert replay.games().sum() == 60 == sum(replay.sizes().values())
    whole = [random_record(5, seed).rows for seed in range(12)][::-1]
    assert replay.games()[::-1][:-1].tolist() == whole[: len(replay.games()) - 1]
    assert len(replay.starts) <= len(replay.games())
    assert replay.games(held_out=True).tolist() == []
    each = [rows_of(random_record(5, seed), game_of(5)) for seed in range(12)]
    for name in ROW_FIELDS[:-1]:  # all but the serial numbers
        wanted = np.concatenate([getattr(rows, name) for rows in each])[-60:]
        np.testing.assert_array_equal(getattr(replay.rows[False, 5], name), wanted, err_msg=name)


def test_batches_have_one_size_and_follow_the_seed() -> None:
    replay = Replay(ReplaySettings(), game_of)
    replay.add([random_record(size, seed) for size in SIZES for seed in range(6)])
    seen = set()
    for seed in range(12):
        batch = replay.sample(16, np.random.default_rng(seed))
        replay.rows = dict(reversed(replay.rows.items()))  # as where the window is read again
        again = replay.sample(16, np.random.default_rng(seed))
        for one, other in zip(batch, again, strict=True):
            np.testing.assert_array_equal(one, other)
        seen.add(batch.planes.shape[2:])
    assert seen == {(5, 5), (7, 7)}
    assert set(replay.draw(99, np.random.default_rng(1)).symmetries) == set(range(8))


def test_sizes_are_drawn_as_often_as_asked() -> None:
    def drawn(**weights: float) -> list[int]:
        found = Replay(
            ReplaySettings(held_out=0, size_weights={int(key[1:]): weights[key] for key in weights}), game_of
        )
        found.add(record for seed in range(6) for record in (random_record(5, seed), random_record(7, seed)))
        generator = np.random.default_rng(3)
        return [found.sample(1, generator).planes.shape[2] for _ in range(400)]

    plain, weighted = drawn().count(7) / 400, drawn(_7=3).count(7) / 400
    rows = [sum(random_record(size, seed).rows for seed in range(6)) for size in SIZES]
    assert plain == pytest.approx(rows[1] / sum(rows), abs=0.06)
    assert weighted == pytest.approx(3 * plain / (1 + 2 * plain), abs=0.06)  # three times the odds
    assert set(drawn(_7=0)) == {5}
    assert set(drawn(_5=0, _7=0)) == {5, 7}  # none at all: nothing would be learned


def test_an_empty_window_says_so() -> None:
    with pytest.raises(ValueError, match="no rows"):
        Replay(ReplaySettings(), game_of).sample(4, np.random.default_rng(0))


def by_surprise(share: float, **others: float) -> ReplaySettings:
    """Settings under which this share of a game's weight goes by surprise."""
    return ReplaySettings(surprise_share=share, **others)


def surprised(*nats: float | None) -> Record:
    """A real game whose searches surprised so much, in turn."""
    record = random_record(5, 4)
    targets = tuple(replace(target, surprise=nats[row % len(nats)]) for row, target in enumerate(record.targets))
    return replace(record, targets=targets)


def test_half_of_a_games_weight_goes_by_surprise() -> None:
    weights = rows_of(surprised(0.0, 1.0, 2.0, None), game_of(5), settings=by_surprise(0.5)).weight
    mean = np.mean([(0.0, 1.0, 2.0)[row % 4] for row in range(len(weights)) if row % 4 < 3])
    np.testing.assert_allclose(weights[:4], [0.5, 0.5 + 0.5 / mean, 0.5 + 1.0 / mean, 1.0], rtol=1e-5)
    assert weights.mean() == pytest.approx(1, rel=1e-5)
    for record, share in ((surprised(None), 0.5), (surprised(0.0), 0.5), (surprised(0.0, 2.0), 0.0)):
        assert (rows_of(record, game_of(5), settings=by_surprise(share)).weight == 1).all()
    assert (rows_of(surprised(0.0, 2.0), game_of(5), settings=by_surprise(1.0)).weight > 0).all()


def test_games_searched_fully_in_their_opening_alone_are_drawn_more_often() -> None:
    record = surprised(0.0, 2.0)
    opening = replace(record, targets=tuple(each for each in record.targets if each.ply < len(record.moves) / 4))
    assert len(opening.targets) >= 2
    settings = by_surprise(0.5, opening_weight=8.0)
    assert rows_of(opening, game_of(5), settings=settings).weight.mean() == pytest.approx(8, rel=1e-5)
    longer = replace(record, targets=tuple(each for each in record.targets if each.ply < len(record.moves) / 3))
    assert rows_of(longer, game_of(5), settings=settings).weight.mean() == pytest.approx(1, rel=1e-5)
    assert rows_of(opening, game_of(5), settings=by_surprise(0.5)).weight.mean() == pytest.approx(1, rel=1e-5)


def test_rows_are_drawn_by_their_weight() -> None:
    rows = rows_of(surprised(0.0, 1.0, 3.0), game_of(5), settings=by_surprise(0.5))
    drawn = np.bincount(rows.draw(40_000, np.random.default_rng(1)), minlength=len(rows)) / 40_000
    np.testing.assert_allclose(drawn, rows.weight / rows.weight.sum(), atol=0.01)


def test_rarity_undoes_the_weight_of_rows() -> None:
    surprises = np.linspace(0.1, 3, 20)
    record = random_record(7, 4)
    targets = [replace(target, surprise=surprises[row % 20]) for row, target in enumerate(record.targets)]
    replay = Replay(ReplaySettings(held_out=0, surprise_share=0.5), game_of)
    replay.add([replace(record, targets=targets)])
    batch = replay.sample(20_000, np.random.default_rng(1))
    rows = replay.rows[False, 7]
    assert batch.rarity.max() <= 2 and batch.rarity.mean() == pytest.approx(1, abs=0.01)
    for name in ("value", "score"):  # the mean of rows drawn by surprise, by rarity, is that of all rows
        drawn, wanted = np.average(getattr(batch, name), weights=batch.rarity), getattr(rows, name)
        assert abs(drawn - wanted.mean()) < 0.05 * np.abs(wanted).mean()
    assert replay.spread(7, 10, held_out=False).rarity is None
    assert rarity(np.array([1e-3, 0.5, 2], np.float32)).tolist() == [MOST_RARITY, 2, 0.5]


def test_the_roots_value_is_known_where_a_network_searched() -> None:
    record = surprised(0.5, None)
    root = batch_of(record).root
    assert root is not None
    for row, target in enumerate(record.targets):
        assert root[row] == np.float32(target.value) if target.surprise is not None else np.isnan(root[row])


@pytest.mark.parametrize(("name", "size"), [("breakthrough", 5), ("hex", 4), ("connect4", None)])
def test_a_turned_row_is_the_row_of_the_turned_position(name: str, size: int | None) -> None:
    """Also if the symmetry exchanges the colours, and with the moves of pieces."""
    game = games.make(name, size=size)
    rows = Row(game)
    for ply in range(3):
        rows.play(sorted(rows.legal())[5 * ply % len(rows.legal())])
    planes, numbers = features.encode(game, rows.state[None])
    policy = np.zeros((1, game.actions), np.float32)
    policy[0, sorted(rows.legal())] = 1
    owner, nothing = np.zeros((1, game.points), np.float32), np.zeros(1)
    batch = Batch(planes, numbers, policy, policy, nothing, nothing, owner)
    for number in game.symmetries:
        turned = transformed(batch, np.array([number]), game.directions)
        colours = symmetry.apply_points(game.board(rows.state).reshape(-1), game.shape, number)
        to_play = rows.to_play
        if number & symmetry.COLOURS_EXCHANGED:
            colours, to_play = np.array([0, 2, 1], np.uint8)[colours], 3 - to_play
        other = Row(game, game.set_up(colours, to_play))
        np.testing.assert_array_equal(turned.planes, features.encode(game, other.state[None])[0])
        assert set(np.flatnonzero(turned.policy[0])) == other.legal()
