"""Games with variations and comments, both ways."""

from dataclasses import replace

import pytest

from gozero.games.colours import BLACK, WHITE
from gozero.records import sgf, sgf_nodes, sgf_tree
from gozero.records.sgf import RecordError
from gozero.records.sgf_tree import Branch, GameWithVariations

TEXT = b"(;GM[1]FF[4]CA[UTF-8]SZ[9]KM[5.5]C[start];B[ee]C[a \\] b](;W[cc];B[])(;W[gg]C[\xc3\xa9]))"


def read(data: bytes | str) -> GameWithVariations:
    return sgf_tree.read(sgf.games(data)[0])


def written_again(game: GameWithVariations) -> GameWithVariations:
    root = sgf.tree_of(game.record)
    branches = [replace(branch, sources=[]) for branch in game.branches]
    sgf_tree.write([root], [], [(-1, game.start), *enumerate(branches)], game.record.size)
    return read(sgf_nodes.write([root]))


def test_variations_and_comments_are_read() -> None:
    game = read(TEXT)
    assert (game.record.size, game.record.komi, game.record.moves) == (9, 5.5, ())
    assert game.start.comment == "start"
    assert list(game.branches) == [
        Branch(-1, BLACK, 40, "a ] b"), Branch(0, WHITE, 20), Branch(1, BLACK, 81), Branch(0, WHITE, 60, "é"),
    ]  # fmt: skip


def test_what_is_written_is_read_again() -> None:
    game = read(TEXT)
    again = written_again(game)
    assert (again.branches, again.start, again.record) == (game.branches, game.start, game.record)


def test_stones_that_are_set_up_in_a_variation_leave_it_out() -> None:
    game = read(b"(;SZ[9];B[ee](;W[cc])(;AB[aa];W[gg]))")
    assert [branch.action for branch in game.branches] == [40, 20]
    assert game.left_out == 1


def test_a_long_game_is_no_deep_recursion() -> None:
    moves = "".join(
        f";{'BW'[number % 2]}[{'abcdefghi'[number % 9]}{'abcdefghi'[number // 9 % 9]}]" for number in range(5000)
    )
    game = read(f"(;SZ[9]{moves})".encode())
    assert len(game.branches) == 5000
    assert len(written_again(game).branches) == 5000


@pytest.mark.parametrize("data", [b"", b"text", b"(;SZ[9];B[zz])", b"(;GM[2]SZ[8])"])
def test_data_that_are_no_game(data: bytes) -> None:
    with pytest.raises(RecordError):
        read(data)


def test_too_many_moves(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sgf_tree, "MOST_BRANCHES", 2)
    with pytest.raises(RecordError, match="more than 2 moves"):
        read(TEXT)
