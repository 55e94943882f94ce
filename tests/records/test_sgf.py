"""Records to SGF and back, and the files that other programs write."""

import math
from dataclasses import replace

import pytest
from sgfmill.sgf import Sgf_game

from gozero.games import coords
from gozero.games.colours import BLACK, WHITE
from gozero.games.go.rules import RULES, named_rules
from gozero.records import sgf
from gozero.records.sgf import GameRecord, RecordError
from training.supervised.sgf_rows import labelled


def at(vertex: str, size: int = 9) -> int:
    return coords.parse_vertex(vertex, size)


def vertices(record: GameRecord) -> str:
    return " ".join(f"{' BW'[colour]}:{coords.vertex(action, record.size)}" for colour, action in record.moves)


RECORDS = [
    GameRecord(9),
    GameRecord(
        13, komi=7.5, moves=((BLACK, 0), (WHITE, 168), (BLACK, 169), (WHITE, 169)), result="W+0.5", rules="Chinese"
    ),
    GameRecord(
        9, komi=-3.25, moves=((BLACK, 3), (BLACK, 4), (WHITE, 5)), black_name="A [b] \\ c: é", white_name="围棋"
    ),
    GameRecord(9, komi=0.5, handicap=2, black_stones=(at("G7"), at("C3")), to_play=WHITE, moves=((WHITE, at("E5")),)),
    GameRecord(5, black_stones=(0, 1), white_stones=(7,), to_play=BLACK),
    GameRecord(19, to_play=WHITE),
]


@pytest.mark.parametrize("record", RECORDS)
def test_round_trip(record: GameRecord) -> None:
    data = sgf.serialise(record)
    assert b"\n\n" not in data
    again = sgf.first_game(data).record()
    assert again == GameRecord(**{**vars(record), "black_stones": tuple(sorted(record.black_stones))})


def test_comments_stand_beside_the_position_after_their_move() -> None:
    record = GameRecord(9, moves=((BLACK, 0), (WHITE, 80)), comments=((0, "start"), (2, "a ] \\ b\nsecond line")))
    data = sgf.serialise(record)
    game = Sgf_game.from_bytes(data)
    found = [node.get("C") if node.has_property("C") else None for node in game.get_main_sequence()]
    assert found == ["start", None, "a ] \\ b\nsecond line"]
    assert sgf.first_game(data).record().moves == record.moves


def test_a_very_deep_tree_is_no_recursion() -> None:
    data = b"(;SZ[9]" + b"(;B[aa];W[bb]" * 3000 + b")" * 3000 + b")"
    assert len(sgf.first_game(data).record().moves) == 6000


def test_the_games_of_a_collection() -> None:
    data = b"(;SZ[9]PB[first];B[aa]) noise (;SZ[13];B[bb](;W[cc])(;W[dd]))"
    first, second = sgf.games(data)
    assert (first.record().black_name, first.size, vertices(second.record())) == ("first", 9, "B:B12 W:C11")
    assert sgf.first_game(data).record().remarks == ("the first of 2 games was read",)


@pytest.mark.parametrize(
    ("code", "name"), [("GB18030", "聶衛平"), ("gb2312", "柯潔"), ("Big5", "許功蓋"), ("Shift_JIS", "表十能")]
)
def test_characters_whose_bytes_look_like_brackets(code: str, name: str) -> None:
    codec = {"gb2312": "gbk"}.get(code, code)
    data = f"(;FF[3]CA[{code}]GaMe[1]SiZe[9]PB[{name}]BlackRank[9d];Black[aa];W[tt])".encode(codec)
    record = sgf.first_game(data).record()
    assert (record.black_name, vertices(record)) == (name, "B:A9 W:pass")


@pytest.mark.parametrize(
    ("data", "moves"),
    [
        (b"(;GM[1]FF[4]SZ[9];B[ee];W[];B[tt])", "B:E5 W:pass B:pass"),
        (b"junk before\r\n( ;SZ[9];B[aa](;W[ab];B[ac])(;W[ii]))", "B:A9 W:A8 B:A7"),
        (b"\xef\xbb\xbf(;SZ[9]C[a \\] b];B[ia])", "B:J9"),
        (b"(;SZ[9]PB[\xe9];B[aa])", "B:A9"),
        (b"(;SZ[9]CA[no-such-code]PB[\xe9];B[aa])", "B:A9"),
        (b"(;SZ[9]CA[UTF-8]PB[\xff\xfe];B[aa])", "B:A9"),
        (b"(;SZ[9]CA[hex]PB[\xe9];B[aa])", "B:A9"),
        (b"(;SZ[9]CA[undefined]PB[\xe9];B[aa])", "B:A9"),
        (b"(;SZ[9];B[aa];C[no move];B[bb])", "B:A9 B:B8"),
    ],
)
def test_files_of_others(data: bytes, moves: str) -> None:
    assert vertices(sgf.first_game(data).record()) == moves


def test_bytes_of_a_name_that_were_no_utf8_are_written_as_question_marks() -> None:
    record = GameRecord(9, black_name="Jos\udce9", comments=((0, "\udce9"),))
    data = sgf.serialise(record)
    assert sgf.first_game(data).record().black_name == "Jos?"
    assert b"C[?]" in data


def test_stones_set_up_with_white_to_play_are_no_handicap_after_a_round_trip() -> None:
    record = GameRecord(9, black_stones=(at("C3"), at("G7")), to_play=WHITE)
    assert sgf.first_game(sgf.serialise(record)).record().handicap == 0
    assert sgf.first_game(sgf.serialise(replace(record, handicap=2))).record().handicap == 2


def test_before_move_leaves_the_rest_out() -> None:
    data = b"(;SZ[9];B[aa];W[bb];B[cc])"
    assert [len(sgf.first_game(data).record(number).moves) for number in (0, 1, 2, 3, 4, 99)] == [0, 0, 1, 2, 3, 3]


def test_set_up_before_the_first_move_and_player() -> None:
    record = sgf.first_game(b"(;SZ[9]AB[aa:ab]AW[ii]PL[W];AE[aa])").record()
    assert (record.black_stones, record.white_stones, record.to_play) == ((at("A8"),), (at("J1"),), WHITE)


def test_set_up_in_mid_game_becomes_the_beginning() -> None:
    data = b"(;SZ[9];B[ab];W[aa];B[ba];W[ee];AW[cc]AE[ee];B[dd])"
    record = sgf.first_game(data).record()
    assert record.black_stones == (at("B9"), at("A8"))  # the stone on A9 was captured
    assert record.white_stones == (at("C7"),)
    assert vertices(record) == "B:D6"
    assert vertices(sgf.first_game(data).record(4)) == "B:A8 W:A9 B:B9"


@pytest.mark.parametrize(
    ("nodes", "to_play"),
    [
        (b";B[aa];W[bb];AB[cc]AW[dd]C[x];W[ee];B[ff]", WHITE), (b";B[aa];W[bb];AB[cc]AW[dd];B[ff]", BLACK),
        (b";B[aa];AB[cc]AW[dd]", WHITE), (b"PL[W];W[bb];AB[cc]AW[dd];B[ee]", BLACK),
        (b";B[aa];AB[cc]AW[dd]PL[B];PL[W];W[ee]", WHITE), (b";B[aa];PL[W];B[bb]", BLACK),
        (b"PL[White]AB[cc];W[ee]", WHITE), (b"PL[white];AB[cc]", WHITE), (b"PL[]AB[cc];B[ee]", BLACK),
    ],
)  # fmt: skip
def test_who_moves_first_once_the_stones_are_set_up(nodes: bytes, to_play: int) -> None:
    data = b"(;SZ[7]" + nodes + b")"
    record = sgf.first_game(data).record()
    assert record.to_play == to_play
    assert sgf.first_game(data).record(len(nodes)).to_play == to_play
    assert sgf.first_game(sgf.serialise(record)).record().to_play == to_play


@pytest.mark.parametrize(
    ("header", "handicap", "to_play"),
    [
        (b"HA[2]AB[cc][gg]", 2, WHITE),
        (b"AB[cc][gg][cg]", 3, WHITE),
        (b"AB[cc][gg]PL[B]", 0, BLACK),
        (b"AB[cc][gg]AW[dd]", 0, BLACK),
        (b"HA[0]", 0, BLACK),
        (b"HA[two]", 0, BLACK),
        (b"HA[2]AB[cc][gg][cg]", 2, WHITE),
        (b"HA[3];B[cc];B[gg];B[cg];W[gc]", 3, BLACK),
        (b"HA[3];B[cc];B[gg];W[gc]", 2, BLACK),
        (b"HA[1]AB[aa];B[bb]", 0, BLACK),  # one stone is a first move
        (b"AB[cc][gg];AE[cc];W[aa]", 0, WHITE),
        (b"HA[2]", 2, WHITE),
        (b"HA[2];W[ee]", 2, WHITE),
        (b"HA[2];B[ee];W[cc]", 0, BLACK),  # a number of stones that never stood there is none
        (b"HA[2];W[cg]", 0, WHITE),  # White stands on one of the fixed points
        (b"HA[81]AB[aa:ih]", 72, WHITE),
        (b"HA[82]AB[cc][gg]", 2, WHITE),
        (b"HA[99999999999]AB[cc][gg]", 2, WHITE),
        (b"", 0, BLACK),
    ],
)
def test_handicap(header: bytes, handicap: int, to_play: int) -> None:
    record = sgf.first_game(b"(;SZ[9]" + header + b")").record()
    assert (record.handicap, record.to_play) == (handicap, to_play)


def test_the_first_of_several_values_counts() -> None:
    record = sgf.first_game(b"(;SZ[9]PB[Lee][Park]RU[AGA][Chinese]KM[6.5][7.5]GM[1][2]PL[b][w];W[cc])").record()
    assert (record.black_name, record.rules, record.komi) == ("Lee", "AGA", 6.5)


def test_size_is_19_where_the_file_says_nothing() -> None:
    assert sgf.first_game(b"(;GM[1])").record().size == 19


@pytest.mark.parametrize(
    "data",
    [
        b"", b"no game", b"(;SZ[9", b"(;SZ[9:13])", b"(;SZ[x])", b"(;SZ[99])", b"(;GM[3]SZ[9])", b"(;SZ[9];B[zz])",
        b"(;SZ[9]AB[aa]AW[aa])", b"(;SZ[9]AB[aa]AW[ab][ba])",
    ],
)  # fmt: skip
def test_what_cannot_be_read_is_a_value_error(data: bytes) -> None:
    with pytest.raises(ValueError, match=r".") as caught:
        sgf.first_game(data).record()
    assert "\n" not in str(caught.value)


NUMBERS = [
    "0", "-1", "82", "99999999999", "9223372036854775808", "1e9", "1e308", "1e400", "nan", "inf", "-inf", "9" * 5000,
    "²", "1/2", "",
]  # fmt: skip
PROPERTIES = [
    "KM", "HA", "SZ", "GM", "FF", "ST", "MN", "PM", "TM", "BL", "OB", "V", "BM", "RE", "PL", "B", "W", "AB", "AE", "LB",
    "DT",
]  # fmt: skip


@pytest.mark.parametrize("name", PROPERTIES)
def test_a_number_that_means_nothing_is_passed_over_or_refused(name: str) -> None:
    """Whatever stands in a property, a record can be played by what plays records, or the error is one that readers
    expect.
    """
    size = "" if name == "SZ" else "SZ[9]"
    for number in NUMBERS:
        for value in (number, f"{number}:{number}", f"B+{number}"):
            for data in (
                f"(;{size}RU[aga]{name}[{value}];B[cc];W[dd])",
                f"(;{size}RU[aga]AB[aa][bb];{name}[{value}];W[cc])",
            ):
                try:
                    record = sgf.first_game(data.encode()).record()
                    labelled(sgf.games(data)[0])
                except ValueError:
                    continue
                assert 0 <= record.handicap <= record.size**2
                assert record.komi is None or math.isfinite(record.komi)


@pytest.mark.parametrize(("game", "number"), [("nogo", b"1"), ("othello", b"2"), ("gomoku", b"4")])
def test_other_games_are_written_under_their_number_and_not_read_as_go(game: str, number: bytes) -> None:
    data = sgf.serialise(sgf.GameRecord(8, ((1, 0), (2, 63), (1, 64)), game=game, result="B+"))
    root, *moves = Sgf_game.from_bytes(data).get_main_sequence()
    assert root.get_raw("GM") == number
    assert [node.get_move() for node in moves] == [("b", (7, 0)), ("w", (0, 7)), ("b", None)]
    assert root.has_property("RU") == (game == "nogo")
    with pytest.raises(ValueError, match=r"is not Go$"):
        sgf.first_game(data).record()


def test_rules_are_known_again_as_they_are_written() -> None:
    for name, rules in RULES.items():
        assert named_rules(sgf.first_game(sgf.serialise(GameRecord(9, rules=name))).record().rules) is rules


def test_boards_that_cannot_be_are_one_line() -> None:
    with pytest.raises(RecordError, match=r"SZ\[19:13\]: expected one number, the points a side"):
        sgf.first_game(b"(;SZ[19:13];B[aa])").record()
    with pytest.raises(RecordError, match="board size 1: expected 2 to"):
        sgf.first_game(b"(;GM[1]SZ[1];B[aa])").record()
