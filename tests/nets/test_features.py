"""Features: tactics, and the layout of games other than Go. That those of Go fit their definition along whole games:
games/test_go_oracle.
"""

from __future__ import annotations

import random
from typing import Any

import numpy as np
import pytest

from gozero import games
from gozero.games import lines
from gozero.games.coords import parse_vertex, point
from gozero.games.game import BLACK, PLY, WHITE, Game
from gozero.games.go import go
from gozero.games.go.ladders import CATCHES, CAUGHT, ladders
from gozero.games.lines import THREATENS, line_threats
from gozero.nets import features
from gozero.nets.features import keys
from tests.naive.ladders import chain
from tests.naive.nogo import NaiveNoGo
from tests.rows import Row, board

COLOUR_PLANE = 10


def encode(row: Row) -> tuple[np.ndarray, np.ndarray]:
    planes, numbers = features.encode(row.game, row.state[None])
    return planes[0], numbers[0]


def stones(plane: np.ndarray) -> set[tuple[int, int]]:
    return {(int(row), int(col)) for row, col in np.argwhere(plane == 1)}


def points(*vertices: str) -> set[tuple[int, int]]:
    return {point(parse_vertex(vertex, 9), 9) for vertex in vertices}


def random_row(game: Game, seed: int, plies: int) -> Row:
    rng, row = random.Random(seed), Row(game)
    for _ in range(plies):
        if moves := sorted(row.legal()):
            row.play(rng.choice(moves))
    return row


def test_the_layout_of_version_1() -> None:
    assert (features.GO.version, features.PLANES, features.GLOBALS) == (1, 11, 7)
    planes, numbers = features.encode(go.make(13), go.make(13).new_states(3))
    assert (planes.shape, planes.dtype) == ((3, 11, 13, 13), np.float32)
    assert (numbers.shape, numbers.dtype) == ((3, 7), np.float32)


@pytest.mark.parametrize("name", games.GAMES)
def test_what_is_only_to_be_read_is_read(name: str) -> None:
    game = games.make(name)
    states, stones = game.new_states(2), game.board(game.initial.copy()).reshape(-1)
    expected = [features.encode(game, states, layout.version) for layout in features.layouts(name)], keys(game, states)
    states.flags.writeable = stones.flags.writeable = False
    assert keys(game, states) == expected[1]
    for layout, inputs in zip(features.layouts(name), expected[0], strict=True):
        for found, other in zip(features.encode(game, states, layout.version), inputs, strict=True):
            np.testing.assert_array_equal(found, other)
    assert game.set_up(stones, BLACK).shape == states[0].shape


def test_own_stones_come_first_and_the_newest_first() -> None:
    row = Row(go.make(9)).play("A1", "B1", "C1", "D1", "E1", "F1", "G1")
    planes, _ = encode(row)
    own = [("B1", "D1", "F1"), ("B1", "D1", "F1"), ("B1", "D1"), ("B1", "D1"), ("B1",)]
    others = [("A1", "C1", "E1", "G1"), ("A1", "C1", "E1"), ("A1", "C1", "E1"), ("A1", "C1"), ("A1", "C1")]
    assert [stones(plane) for plane in planes[:5]] == [points(*vertices) for vertices in own]
    assert [stones(plane) for plane in planes[5:10]] == [points(*vertices) for vertices in others]


@pytest.mark.parametrize("ply", [2**14 - 4, 2**14 - 1, 2**14])
def test_the_past_is_seen_in_the_longest_games(ply: int) -> None:
    """The state row keeps plies modulo 2**14."""
    moves = ("A1", "B1", "B2", "A2", "C1", "pass", "A1")  # captures and plays there again
    early, late = Row(go.make(9)), Row(go.make(9))
    late.state[PLY], late.history = ply, np.zeros(ply + 20, np.uint64)
    for move in moves:
        planes = [encode(row.play(move))[0] for row in (early, late)]
        assert (planes[0] == planes[1]).all(), str(late)


def test_behind_a_set_up_position_its_board_repeats() -> None:
    row = board(".X......./XO......./.X......./" + "/".join(["........."] * 6))
    planes, _ = encode(row)
    for age in range(5):
        assert (planes[age] == planes[0]).all() and (planes[5 + age] == planes[5]).all()


def test_every_element_is_written() -> None:
    states = np.stack([random_row(go.make(9), seed, 30).state for seed in range(3)])
    planes, numbers = np.full((3, 11, 9, 9), 9, np.float32), np.full((3, 7), 9, np.float32)
    features.encode_into(states, planes, numbers)
    expected_planes, expected_numbers = features.encode(go.make(9), states)
    assert (planes == expected_planes).all() and (numbers == expected_numbers).all()
    assert set(np.unique(planes)) == {0, 1}


def test_a_batch_equals_one_at_a_time() -> None:
    rows = [random_row(go.make(9), seed, 10 * seed) for seed in range(5)]
    planes, numbers = features.encode(go.make(9), np.stack([row.state for row in rows]))
    for n, row in enumerate(rows):
        assert (planes[n] == encode(row)[0]).all() and (numbers[n] == encode(row)[1]).all(), str(row)
        assert (planes[n, COLOUR_PLANE, 0, 0] == 1) == (row.to_play == BLACK), str(row)


# ---- tactics: the second tensor, of games with chains and of games won by a line


@pytest.mark.parametrize(
    ("name", "size", "plies"), [("go", 2, 6), ("go", 9, 60), ("go", 19, 250), ("simple_go", 5, 12), ("nogo", 9, 50)]
)
def test_tactics_show_chains_by_their_liberties(name: str, size: int, plies: int) -> None:
    game, seen = games.make(name, size=size), set()
    for seed in range(6):
        row = random_row(game, seed, plies * (seed + 1) // 6)
        stones = tuple(game.board(row.state).reshape(-1).tolist())
        *_, tactics = features.encode(game, row.state[None], 2)
        for index, colour in enumerate(stones):
            count = len(chain(stones, index, size)[1]) if colour else 0
            seen.add(count)
            found = tactics[0].reshape(3, -1)[:, index]
            assert found.tolist() == [count == 1, count == 2, count == 3], f"point {index}\n{row}"
    assert {1, 2} <= seen


def lines_with(colours: np.ndarray, least: int, most: int, points: set[tuple[int, int]]) -> bool:
    """Whether a run of `least` to `most` stones of one colour holds all these points, within `least` points."""
    (y, x), *_ = points
    for down, right in ((0, 1), (1, -1), (1, 0), (1, 1)):
        run = [(y, x)]
        for way in (1, -1):
            row, col = y + way * down, x + way * right
            while 0 <= row < colours.shape[0] and 0 <= col < colours.shape[1] and colours[row, col] == colours[y, x]:
                run.append((row, col))
                row, col = row + way * down, col + way * right
        places = [max(abs(row - y), abs(col - x)) for row, col in points]
        if points <= set(run) and least <= len(run) <= most and max(places) < least:
            return True
    return False


def test_where_two_in_a_row_win_an_empty_board_threatens_both_sides() -> None:
    game, threats = lines.free_game("two", 3, least=2, most=3), np.zeros(9, np.uint8)
    line_threats(game.new_states(1)[0], threats)
    assert (threats == THREATENS * BLACK + THREATENS * WHITE).all()


@pytest.mark.parametrize(
    ("name", "options", "least", "most", "plies"),
    [
        ("connect4", {}, 4, 7, 16),
        ("gomoku", {"size": 6, "rules": "freestyle"}, 5, 15, 20),
        ("gomoku", {"size": 7, "rules": "exact"}, 5, 5, 28),
        ("tictactoe", {}, 3, 3, 4),
    ],
)
def test_tactics_show_what_a_stone_would_do_in_a_game_of_lines(
    name: str, options: dict[str, Any], least: int, most: int, plies: int
) -> None:
    game, found = games.make(name, **options), np.zeros(4, np.int64)
    for seed in range(12):
        row = random_row(game, seed, plies)
        colours = game.board(row.state)
        *_, tactics = features.encode(game, row.state[None], 2)
        empty = [(int(y), int(x)) for y, x in np.argwhere(colours == 0)]
        expected = np.zeros((4, *game.shape), bool)
        for here in empty:
            for k, colour in enumerate((row.to_play, BLACK + WHITE - row.to_play)):
                after = colours.copy()
                after[here] = colour
                expected[k][here] = lines_with(after, least, most, {here})
                for other in set(empty) - {here}:
                    after[other] = colour
                    expected[2 + k][here] |= lines_with(after, least, most, {here, other})
                    after[other] = 0
        assert (tactics[0] == expected).all(), f"\n{row}"
        found += expected.sum((1, 2)).astype(np.int64)
    assert (found > 0).all()


@pytest.mark.parametrize(("size", "plies"), [(2, 6), (9, 110), (13, 200)])
def test_version_3_shows_ladders_and_what_is_pass_alive_too(size: int, plies: int) -> None:
    game, read, seen = games.make("go", size=size), np.zeros(size**2, np.uint8), np.zeros(8, bool)
    for seed in range(6):
        row = random_row(game, seed, plies * (seed + 1) // 6)
        ladders(row.state, read)
        owners = np.array(row.points(go.pass_alive))
        own, other = row.to_play, BLACK + WHITE - row.to_play
        expected = np.zeros((8, game.points), bool)
        expected[:3] = features.encode(game, row.state[None], 2)[2][0].reshape(3, -1)
        for plane, bit in enumerate((CAUGHT, CATCHES * own, CATCHES * other), 3):
            expected[plane] = read & bit
        expected[6], expected[7] = owners == 1, owners == -1
        *_, tactics = features.encode(game, row.state[None], 3)
        assert (tactics[0].reshape(8, -1) == expected).all(), str(row)
        seen |= expected.any(1)
    assert size == 2 or seen[:6].all()


@pytest.mark.parametrize(
    ("name", "size", "count"), [("go", 9, 3), ("nogo", 9, 3), ("gomoku", 9, 4), ("connect4", 7, 4)]
)
def test_version_2_leaves_the_first_tensors_as_they_are(name: str, size: int, count: int) -> None:
    game = games.make(name, size=size)
    states = np.stack([random_row(game, seed, 12).state for seed in range(4)])
    planes, numbers = features.encode(game, states)
    more, same, tactics = features.encode(game, states, 2)
    assert (more == planes).all() and (same == numbers).all()
    assert (tactics.shape, tactics.dtype) == ((4, count, *game.shape), np.float32)


@pytest.mark.parametrize(("name", "version"), [("othello", 2), ("nogo", 3), ("go", 4), ("go", 0), ("go", "2")])
def test_a_version_that_a_game_does_not_have(name: str, version: Any) -> None:
    with pytest.raises(ValueError, match=f"{name} has no input features of version {version}; it has 1"):
        features.layout(name, version)


# ---- the layout of every game that is not Go


def shown(row: Row) -> list[str]:
    """The planes of a position, their rows divided by slashes, # for 1."""
    return ["/".join("".join(".#"[int(number)] for number in line) for line in plane) for plane in encode(row)[0]]


def test_the_layout_of_other_games() -> None:
    assert (features.BOARD.version, len(features.BOARD.planes), len(features.BOARD.globals)) == (1, 5, 2)
    planes, numbers = features.encode(games.make("connect4"), games.make("connect4").new_states(3))
    assert (planes.shape, planes.dtype) == ((3, 5, 6, 7), np.float32)
    assert (numbers.shape, numbers.dtype) == ((3, 2), np.float32)


def test_in_tictactoe_both_sides_may_play_every_empty_point() -> None:
    row = Row(games.make("tictactoe")).play("B2", "A1")
    empty = "###/#.#/.##"
    assert shown(row) == [".../.#./...", ".../.../#..", empty, empty, "###/###/###"]
    assert encode(row)[1].tolist() == pytest.approx([2 / 9, -10 / 6])


def test_nobody_may_play_after_a_line() -> None:
    row = Row(games.make("tictactoe")).play("A3", "A2", "B3", "B2", "C3")
    nothing = ".../.../..."
    assert shown(row) == [".../##./...", "###/.../...", nothing, nothing, nothing]


def test_in_connect4_both_sides_may_drop_onto_the_landing_points() -> None:
    row = Row(games.make("connect4")).play("D1", "D2", "G1")
    high = "......./......./......./"
    landing = high + "...#.../......#/###.##."
    assert shown(row)[:4] == [high + "......./...#.../.......", high + "......./......./...#..#", landing, landing]
    assert encode(row)[1].tolist() == pytest.approx([3 / 42, (6.5 - 13) / 6])


def test_in_othello_a_forced_pass_shows_as_no_points() -> None:
    game = games.make("othello", size=4)
    row = Row(game, game.from_text("O to play\n.OOX\n.OOX\nOOOX\nXX.X"))
    assert row.legal() == {game.pass_action}, str(row)
    own, other = ".##./.##./###./....", "...#/...#/...#/##.#"
    nothing, others_moves = "..../..../..../....", "#.../#.../..../...."
    assert shown(row) == [own, other, nothing, others_moves, nothing]
    assert shown(row.play("pass")) == [other, own, others_moves, nothing, "####/####/####/####"]


@pytest.mark.parametrize("seed", range(3))
def test_in_nogo_the_sides_differ_in_what_they_may_play(seed: int) -> None:
    rng, row, naive = random.Random(seed), Row(games.make("nogo", size=5)), NaiveNoGo(5)
    while not naive.over():
        planes, _ = encode(row)
        for plane, colour in ((2, row.to_play), (3, BLACK + WHITE - row.to_play)):
            assert set(np.flatnonzero(planes[plane]).tolist()) == naive.playable(colour), f"plane {plane}\n{row}"
        action = rng.choice(sorted(naive.legal()))
        naive.play(action)
        row.play(action)
