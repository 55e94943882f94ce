"""Records to SGF and back, and the files that other programs write."""

import pytest

from gozero import coords, sgf
from gozero.sgf import BLACK, WHITE, GameRecord


def at(vertex: str, size: int = 9) -> int:
    return coords.parse_vertex(vertex, size)


def vertices(record: GameRecord) -> str:
    return " ".join(f"{' BW'[colour]}:{coords.vertex(action, record.size)}" for colour, action in record.moves)


RECORDS = [
    GameRecord(9),
    GameRecord(13, komi=7.5, moves=((BLACK, 0), (WHITE, 168), (BLACK, 169), (WHITE, 169)), result="W+0.5", rules="Chinese"),
    GameRecord(9, komi=-3.25, moves=((BLACK, 3), (BLACK, 4), (WHITE, 5)), black_name="A [b] \\ c: é", white_name="围棋"),
    GameRecord(9, komi=0.5, handicap=2, black_stones=(at("G7"), at("C3")), to_play=WHITE, moves=((WHITE, at("E5")),)),
    GameRecord(5, black_stones=(0, 1), white_stones=(7,), to_play=BLACK),
    GameRecord(19, to_play=WHITE),
]


@pytest.mark.parametrize("record", RECORDS)
def test_round_trip(record: GameRecord) -> None:
    data = sgf.serialise(record)
    assert b"\n\n" not in data
    again = sgf.parse(data)
    assert again == GameRecord(**{**vars(record), "black_stones": tuple(sorted(record.black_stones))})


@pytest.mark.parametrize(
    ("data", "moves"),
    [
        (b"(;GM[1]FF[4]SZ[9];B[ee];W[];B[tt])", "B:E5 W:pass B:pass"),
        (b"junk before\r\n( ;SZ[9];B[aa](;W[ab];B[ac])(;W[ii]))", "B:A9 W:A8 B:A7"),
        (b"\xef\xbb\xbf(;SZ[9]C[a \\] b];B[ia])", "B:J9"),
        (b"(;SZ[9]PB[\xe9];B[aa])", "B:A9"),
        (b"(;SZ[9]CA[no-such-code]PB[\xe9];B[aa])", "B:A9"),
        (b"(;SZ[9]CA[UTF-8]PB[\xff\xfe];B[aa])", "B:A9"),
        (b"(;SZ[9];B[aa];C[no move];B[bb])", "B:A9 B:B8"),
    ],
)
def test_files_of_others(data: bytes, moves: str) -> None:
    assert vertices(sgf.parse(data)) == moves


def test_before_move_leaves_the_rest_out() -> None:
    data = b"(;SZ[9];B[aa];W[bb];B[cc])"
    assert [len(sgf.parse(data, number).moves) for number in (0, 1, 2, 3, 4, 99)] == [0, 0, 1, 2, 3, 3]


def test_set_up_before_the_first_move_and_player() -> None:
    record = sgf.parse(b"(;SZ[9]AB[aa:ab]AW[ii]PL[W];AE[aa])")
    assert (record.black_stones, record.white_stones, record.to_play) == ((at("A8"),), (at("J1"),), WHITE)


def test_set_up_in_mid_game_becomes_the_beginning() -> None:
    data = b"(;SZ[9];B[ab];W[aa];B[ba];W[ee];AW[cc]AE[ee];B[dd])"
    record = sgf.parse(data)
    assert record.black_stones == (at("B9"), at("A8"))  # the stone on A9 was captured
    assert record.white_stones == (at("C7"),)
    assert vertices(record) == "B:D6"
    assert vertices(sgf.parse(data, 4)) == "B:A8 W:A9 B:B9"


@pytest.mark.parametrize(
    ("header", "handicap", "to_play"),
    [
        (b"HA[2]AB[cc][gg]", 2, WHITE),
        (b"AB[cc][gg][cg]", 3, WHITE),
        (b"AB[cc][gg]PL[B]", 0, BLACK),
        (b"AB[cc][gg]AW[dd]", 0, BLACK),
        (b"HA[0]", 0, BLACK),
        (b"HA[two]", 0, BLACK),
        (b"", 0, BLACK),
    ],
)
def test_handicap(header: bytes, handicap: int, to_play: int) -> None:
    record = sgf.parse(b"(;SZ[9]" + header + b")")
    assert (record.handicap, record.to_play) == (handicap, to_play)


@pytest.mark.parametrize(("header", "komi"), [(b"KM[6.5]", 6.5), (b"KM[-1]", -1.0), (b"KM[x]", None), (b"", None), (b"KM[]", None)])
def test_komi(header: bytes, komi: float | None) -> None:
    assert sgf.parse(b"(;SZ[9]" + header + b")").komi == komi


def test_size_is_19_where_the_file_says_nothing() -> None:
    assert sgf.parse(b"(;GM[1])").size == 19


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no game",
        b"(;SZ[9",
        b"(;SZ[9:13])",
        b"(;SZ[x])",
        b"(;SZ[99])",
        b"(;GM[3]SZ[9])",
        b"(;SZ[9];B[zz])",
        b"(;SZ[9]AB[aa]AW[aa])",
        b"(;SZ[9]AB[aa]AW[ab][ba])",
        b"(;SZ[9]PL[?])",
    ],
)
def test_what_cannot_be_read_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        sgf.parse(data)
    assert "\n" not in str(caught.value)
