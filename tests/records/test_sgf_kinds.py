"""Files as other programs write them: each kind that the standard forbids, and encodings."""

import re

import pytest

from gozero.games import coords
from gozero.games.colours import BLACK, WHITE
from gozero.records import sgf, sgf_nodes
from gozero.records.sgf import RecordError
from gozero.records.sgf_text import decoded
from tests import ROOT

KINDS = ROOT / "tests" / "data" / "kinds"


def described(record: sgf.GameRecord) -> str:
    """Stones set up, then moves."""
    sides = ((BLACK, record.black_stones), (WHITE, record.white_stones))
    stones = [f"{' BW'[side]}{coords.vertex(point, record.size)}" for side, points in sides for point in points]
    moves = [f"{' BW'[side]}:{coords.vertex(action, record.size)}" for side, action in record.moves]
    return " ".join([*stones, *moves])


@pytest.mark.parametrize(
    ("name", "komi", "moves", "remark"),
    [
        ("fox_komi", 7.5, "B:Q16 W:D4 B:Q4 W:D16", "375"),
        ("two_moves_one_node", 7, "B:C7 W:G3 B:C3 W:G7 B:E5", "B and W"),
        ("many_points_in_b", 7, "BC7 BC3 BG3 WE7 WE5 W:G7 B:G5", "several points"),
        ("sjis_without_ca", 7, "B:C7 W:G3", "cp932"),
        ("gbk_without_ca", 7, "B:C7 W:G3", "gb18030"),
        ("utf8_without_ca", 7, "B:C7 W:G3", ""),
        ("player_after_moves", 7, "B:C7 W:G3", ""),
        ("player_digit", 7, "BC7 WG3 W:C3", ""),
        ("blank_pass", 7, "B:C7 W:pass B:G3", ""),
        ("digit_in_name", 7, "B:C7 W:G3", ""),
        ("dashes", 7, "B:C7 W:G3", "line 2, column 1: '---'"),
        ("no_first_semicolon", 6.5, "B:Q16 W:D4 B:Q4", ""),
        ("handicap_without_stones", 0.5, "BG7 BC3 W:E5 B:E7", "HA"),
        ("two_games", None, "B:C7", "the first of 2 games"),
    ],
)
def test_a_kind_of_file(name: str, komi: float | None, moves: str, remark: str) -> None:
    record = sgf.first_game((KINDS / f"{name}.sgf").read_bytes()).record()
    assert (record.komi, described(record)) == (komi, moves)
    assert remark in " ".join(record.remarks)
    assert bool(remark) == bool(record.remarks)


@pytest.mark.parametrize(
    ("nodes", "moves"),
    [
        (";B[ aa ];W[ ]", "B:A9 W:pass"), (";B[AA];W[pass]", "B:A9 W:pass"),
        ("\r\n;\r\nB[aa]\r\nC[x]\r\n;W[bb]", "B:A9 W:B8"), (";Black[aa];White[bb]", "B:A9 W:B8"),
        (";b[aa];w[bb]", "B:A9 W:B8"), ("AB[aa:bb]AW[cc]", "BA9 BB9 BA8 BB8 WC7"), ("AB[bb:aa]", "BA9 BB9 BA8 BB8"),
        (";B[aa];W[bb]B[cc]", "B:A9 W:B8 B:C7"), (";W[aa]B[bb]", "B:B8 W:A9"), ("PL[W];W[aa]B[bb]", "W:A9 B:B8"),
        (";B[aa]W[bb]PL[W]", "W:B8 B:A9"), (";C[see [1] here];B[aa]", "B:A9"), (";C[(see [1]) and [2]];B[aa]", "B:A9"),
        (";C[code (;B[bb\\];W[cc\\])];B[aa]", "B:A9"), (";C[first]\n---\n;B[aa]", "B:A9"),
        (";B[aa] 12 ;W[bb] !", "B:A9 W:B8"), ("(;B[aa])(;B[bb]);B[cc]", "B:A9"), (";KGS_X2[a:b]B[aa];_", "B:A9"),
        ("AP[C:\\Go\\]PB[x];B[aa];W[bb]", "B:A9 W:B8"), ("AB[cc]KO[]B[aa]C[x];W[bb]", "BC7 B:A9 W:B8"),
        ("HA[2 stones];W[aa]", "BG7 BC3 W:A9"), (";B[aa])(;SZ[9", "B:A9"),
    ],
)  # fmt: skip
def test_what_the_standard_forbids(nodes: str, moves: str) -> None:
    assert described(sgf.first_game(f"(;SZ[9]{nodes})").record()) == moves


@pytest.mark.parametrize(
    "data", [";SZ[9];B[aa]", "(;SZ[9];B[aa]", "(;SZ[9:9];B[aa];W[b", "(SZ[9];B[aa])", "\ufeff(;SZ[9 x 9];B[aa])"]
)
def test_brackets_that_are_missing(data: str) -> None:
    assert described(sgf.first_game(data).record()) == "B:A9"


@pytest.mark.parametrize(
    ("data", "where"),
    [
        ("no game", "line 1, column 1: 'no'"),
        ("for (;;) { a[i] = 0; }", "line 1, column 1: 'for'"),
        ("(;SZ[9]\n;B[aa]\n;W[zz])", "line 3, column 1: W: 'zz'"),
        ("(;SZ[9]\nAB[aa]AW[aa])", "line 1, column 2: a point is set up twice"),
        ("(;SZ[9", "line 1, column 1: '(;SZ[9'"),
    ],
)
def test_an_error_names_the_place(data: str, where: str) -> None:
    with pytest.raises(RecordError, match=re.escape(where)):
        sgf.first_game(data).record()


@pytest.mark.parametrize(
    ("header", "komi"),
    [
        ("KM[375]", 7.5), ("KM[325]", 6.5), ("KM[650]", 6.5), ("KM[3.75]", 7.5), ("KM[-375]", -7.5), ("KM[3,75]", 7.5),
        ("KM[50]AP[GNU Go:3.8]AP[foxwq]", 0.5), ("KM[6.5 points]", 6.5), ("KM[3.75子]", 7.5), ("KM[6½]", 6.5),
        ("KM[6-1/2]", 6.5), ("KM[½]", 0.5), ("KM[贴6.5目]", 6.5), ("KM[6目半]", 6.5), ("KM[黑贴3又3/4子]", 7.5),
        ("KM[61/2]", None), ("KO[5.5]", 5.5), ("KO[5.5]KM[6]", 6.0), ("KM[10000]", None),
        ("AP[fox]KM[3000]", None), ("KM[3.75]AP[gozero:1]", 3.75), ("KM[250]AP[gozero:1]", 250),
        ("KM[6.5.]", 6.5), ("KM[6-]", 6), ("KM[99999]", None), ("KM[six]", None), ("KM[6.5]", 6.5), ("KM[-1]", -1.0),
        ("KM[0,5]", 0.5), ("KM[6_5]", None), ("KM[nan]", None), ("KM[1e400]", None), ("", None), ("KM[]", None),
    ],
)  # fmt: skip
def test_komi_as_servers_write_it(header: str, komi: float | None) -> None:
    assert sgf.first_game(f"(;SZ[19]{header};B[aa])").record().komi == komi


TEXTS = {
    "gb18030": ["王小明 李一", "聂卫平", "应氏杯", "柯洁 古力", "好棋", "辜梓豪", "丁浩"],
    "big5": ["許功蓋", "周俊勳", "林君諺"], "cp949": ["이세돌 박정환", "신진서", "좋은 수입니다"],
    "euc_jp": ["白中押し勝ち", "ヒカルの碁"],
    "cp932": ["本因坊", "井山裕太", "小林ソ", "表", "挨拶"],
    "cp1251": ["Иванов Петров", "Шикшин"], "koi8-r": ["Иванов Петров"],
    "iso2022_jp": ["宮本", "井山裕太"], "cp1252": ["Jürgen", "François"],
    "utf-8": ["Jürgen 李一"], "utf-16": ["李一"], "utf-8-sig": ["李一"],
}  # fmt: skip


@pytest.mark.parametrize(("codec", "name"), [(codec, name) for codec, names in TEXTS.items() for name in names])
@pytest.mark.parametrize("label", ["", "CA[UTF-8]", "CA[no-such-code]", "CA[hex]"])
def test_an_encoding_that_is_not_named_or_wrongly(codec: str, name: str, label: str) -> None:
    record = sgf.first_game(f"(;{label}SZ[9]PB[{name}];B[cc];W[gg])".encode(codec)).record()
    assert (record.black_name, described(record)) == (name, "B:C7 W:G3")


@pytest.mark.parametrize(
    ("label", "codec", "name"),
    [
        ("windows-949", "cp949", "조훈현"), ("x-gbk", "gbk", "丁浩"), ("GB2312", "gbk", "柯洁"), ("x-sjis", "cp932", "表"),
        ("GBK", "gbk", "芈昱廷"),
        ("MS949", "cp949", "뷁"), ("koi8-r", "koi8-r", "Иванов"), ("ISO-8859-1", "utf-8", "é"), ("latin-1", "latin-1", "é"),
    ],
)  # fmt: skip
def test_an_encoding_that_is_named(label: str, codec: str, name: str) -> None:
    text, remark = decoded(f"(;CA[{label}]PB[{name}])".encode(codec))
    assert (f"PB[{name}]" in text, remark) == (True, "")


@pytest.mark.parametrize("label", ["GB2312", "Shift_JIS", "ISO-8859-1", "windows-1251"])
def test_an_encoding_that_is_named_and_does_not_fit(label: str) -> None:
    record = sgf.first_game(f"(;CA[{label}]SZ[9]PB[許功蓋];B[cc];W[gg])".encode("big5")).record()
    assert (record.black_name, described(record)) == ("許功蓋", "B:C7 W:G3")
    western = f"(;CA[{label}]SZ[9]PB[Müller José];B[cc];W[gg])".encode("cp1252")
    assert described(sgf.first_game(western).record()) == "B:C7 W:G3"


@pytest.mark.parametrize(
    "junk", ["x" * 200_000, "ab " * 70_000, "C[" + "x] y" * 50_000, "C[" + "])" * 50_000, "(;B[aa]" * 5000]
)
def test_long_junk_takes_no_long_time(junk: str) -> None:
    assert sgf.games(f"(;SZ[9];B[aa]{junk}")[0].size == 9


@pytest.mark.parametrize("text", ["(;C[a\\]b\\\\];B[aa](;W[bb]X_1[y])(;W[]))\n", "(;A[1];B[aa])\n(;AB[aa][bb])\n"])
def test_what_is_read_is_written_as_it_was(text: str) -> None:
    assert sgf_nodes.write(sgf_nodes.parse(text)[0]) == text


@pytest.mark.parametrize(
    ("data", "remark"),
    [
        ("(;SZ[9];B[aa]);W[bb])", "line 1, column 15: what stands behind the end"),
        ("(;SZ[9]HA[two];B[aa])", "HA[two] was left out"),
        ("(;SZ[49]HA[2];W[aa])", "HA[2] without its stones"),
        ("(;SZ[9]HA[5]AB[cc][gg];W[aa])", "HA[5] without its stones: it was read as 2"),
        ("(;SZ[9];B[aa])(;SZ[9", "the file ends before the game does"),
        ("(;SZ[9]SZ[13];B[aa])", "SZ stands there 2 times: the first, 9, was read"),
        ("(;SZ[9]RU[a\nb]RU[c];B[aa])", "RU stands there 2 times: the first, a b, was read"),
        ("(;FF[4];SZ[9]KM[5];B[aa])", "SZ[9] was left out: it is not in the first node KM[5] was left out"),
        ("(;SZ[9]PB[Jo\nPW[Ann];B[aa])", "line 2, column 1: PB holds PW[, for want of a ] before it"),
    ],
)
def test_what_is_left_out_is_remarked(data: str, remark: str) -> None:
    assert remark in " ".join(sgf.first_game(data).record().remarks)


def test_a_move_that_is_torn_leaves_no_node_behind() -> None:
    assert sgf_nodes.write(sgf_nodes.parse("(;SZ[9];B[aa];W[b")[0]) == "(;SZ[9];B[aa])\n"


@pytest.mark.parametrize(
    ("head", "saved"),
    [("HA[two];", ""), ("HA[99];", ""), ("HA[10];B[aa]", ""), ("HA[5]AB[cc][gg];", "2"), ("HA[0];", "0")],
)
def test_a_handicap_that_is_none_is_not_saved(head: str, saved: str) -> None:
    assert sgf.games(f"(;SZ[9]{head})")[0].root.line("HA") == saved


def test_a_turn_after_the_moves_goes_with_the_record() -> None:
    record = sgf.first_game((KINDS / "player_after_moves.sgf").read_bytes()).record()
    assert record.next_to_play == WHITE
    assert sgf.first_game(sgf.serialise(record)).record() == record


def test_points_of_a_large_board_have_no_names() -> None:
    assert sgf.games("(;GM[2]SZ[52];B[aZ])")[0].record().moves == ((1, 51 * 52),)
