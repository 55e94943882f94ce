"""Records as texts, and what the page may choose from."""

import re
from datetime import date

import pytest

from gozero import __version__ as VERSION
from gozero.frontends.web import catalogue
from gozero.frontends.web.engine import records, variations
from gozero.frontends.web.engine.game_tree import START
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.setups import Setup, setup_of
from gozero.games.colours import BLACK, WHITE
from gozero.nets.locations import WEIGHTS
from gozero.records import sgf, sgf_nodes
from gozero.system.errors import InputError
from tests import ROOT
from tests.frontends.web.sessions import opened, played, restored

DOCS = ROOT / "docs"
CLIENT = ROOT / "gozero" / "frontends" / "web" / "client" / "src"
KINDS = ROOT / "tests" / "data" / "kinds"


def test_a_record_in_any_encoding_is_text_once_the_browser_has_read_it() -> None:
    for head in ("CA[GB2312]", "CA[Shift_JIS]", ""):
        found, remark = opened(f"(;GM[1]{head}SZ[9]C[围棋];B[ee])")
        assert remark == ""
        assert found.tree[START].comment == "围棋"
        _, text, _ = records.save(found, "")
        assert "C[围棋]" in text


def test_a_comment_may_speak_of_properties() -> None:
    found, _ = opened("(;GM[1]SZ[9]C[He lives in CA [US];B[ee];W[cc])")
    assert found.tree[START].comment == "He lives in CA [US"
    assert len(found.tree.moves(found.line[-1])) == 2


def test_a_variation_that_repeats_a_move_leaves_its_comment() -> None:
    for other, comments in (("", "main"), ("C[main]", "main"), ("C[another]", "main\n\nanother")):
        found, _ = opened(f"(;GM[1]SZ[9];B[cc](;W[gg]C[main];B[cg])(;W[gg]{other};B[gc]))")
        assert [found.tree[node].comment for node in found.tree.line(START)][2] == comments


def test_left_out_variations_are_told() -> None:
    assert opened("(;SZ[9];B[ee](;W[cc])(;AB[aa];W[gg]))")[1].startswith("1 variation was left out")


def test_moves_before_stones_of_the_main_line_are_told() -> None:
    text = "(;SZ[7];B[dd](;W[de];B[ce];AW[aa];W[cf])(;W[ed];B[ee]))"
    assert opened(text)[1] == "5 moves left out: the game begins where stones are set up after them."
    found, remark = opened("(;SZ[7]AB[aa];W[dd])")
    assert (remark, found.game.stones()[0, 0], found.game.stones().sum()) == ("", BLACK, BLACK)


@pytest.mark.parametrize(("size", "game"), [(5, "simple_go"), (9, "go")])
def test_a_go_file_is_opened_as_simplified_go_on_its_board_alone(size: int, game: str) -> None:
    assert records.RecordFile(f"(;GM[1]SZ[{size}];B[dd])").setup(Setup(game="simple_go")).game == game


def test_a_list_of_moves_is_saved_and_read() -> None:
    first = played("connect4", 7, "D1", "D2", "C1")
    _, text, _ = records.save(first, "")
    assert text == "# connect4 7x6\nblack D1\nwhite D2\nblack C1\n"
    again, remark = opened(text, game="tictactoe", engine="ttt.pt")  # the file names its game and board
    assert (again.game.name, again.game.size, again.setup.engine, again.at, remark) == ("connect4", 7, "", START, "")
    assert again.tree.moves(again.line[-1]) == first.tree.moves(first.at)


@pytest.mark.parametrize(
    ("game", "size", "vertices", "head"),
    [
        ("othello", 8, ("D3", "C3", "C4"), "GM[2]"),
        ("gomoku", 13, ("G7", "H8"), "GM[4]"),
        ("nogo", 7, ("D4", "E5"), "RU[NoGo]"),
    ],
)
def test_other_games_that_sgf_knows_are_saved_and_read(game: str, size: int, vertices: tuple[str], head: str) -> None:
    first = played(game, size, *vertices)
    first.tree[first.at].comment = "so far"
    name, text, _ = records.save(first, "")
    assert name.endswith(f"-{game}{size}.sgf")
    assert head in text
    again, remark = opened(text)
    assert (again.game.name, again.game.size, remark) == (game, size, "")
    end = again.line[-1]
    assert again.tree.moves(end) == first.tree.moves(first.at)
    assert again.tree[end].comment == "so far"
    assert restored(again).tree.saved() == again.tree.saved()


def test_gomoku_is_saved_and_read_with_its_rules() -> None:
    first = GameSession(Setup(game="gomoku", size=9, rules="exact", person="both"), 9, [9])
    for vertex in ("A5", "A1", "B5", "C1", "C5", "E1", "E5", "G1", "F5", "J1", "D5", "A3"):  # six in a row at D5
        first.play(first.action(vertex))
    _, text, _ = records.save(first, "")
    assert "RU[exact]" in text
    again, remark = opened(text)
    assert (again.rules, len(again.tree.moves(again.line[-1])), remark) == ("exact", 12, "")
    kind, remark = opened("(;GM[4]SZ[9]RU[renju];B[ee])")
    assert kind.rules == "freestyle"
    assert remark == "The file's rules, renju, are not played here: freestyle rules are."


def test_othello_from_other_stones_is_refused() -> None:
    opened("(;GM[2]SZ[8]AB[dd][ee]AW[ed][de];B[df])")  # the usual four
    with pytest.raises(InputError, match="other stones than usual"):
        opened("(;GM[2]SZ[8]AB[aa];B[dc])")


def test_othello_with_the_names_of_points() -> None:
    found, remark = opened("(;GM[2]SZ[8];B[d3];W[C3];B[c4])")
    assert [found.vertex(action) for _, action in found.tree.moves(found.line[-1])] == ["d3", "c3", "c4"]
    assert "such as d3" in remark
    with pytest.raises(sgf.RecordError, match="line 2, column 1: W: 'z9' is no point"):
        opened("(;GM[2]SZ[8];B[d3]\n;W[z9])")


@pytest.mark.parametrize("text", ["", "# nothing", "black", "green D3", "black Z9", "black D4", "black D3\nblack C3"])
def test_lists_that_cannot_be_played(text: str) -> None:
    with pytest.raises(InputError):
        opened(f"# othello 8x8\n{text}")


@pytest.mark.parametrize("text", ["this is not an sgf", "", "\0\1\2", "<html>", "# a remark\nand no move", "black D4"])
def test_a_file_that_is_neither_sgf_nor_moves_is_said_to_be_so(text: str) -> None:
    with pytest.raises(InputError, match="neither SGF nor a list of moves"):
        records.RecordFile(text.encode())


def test_a_list_in_which_a_side_moves_out_of_turn_is_refused() -> None:
    with pytest.raises(InputError, match="Move 2 of this file, 'black D2', cannot be played in connect4 on 7x6"):
        opened("# connect4 7x6\nblack D1\nblack D2\n")


def test_a_list_of_a_board_without_points_is_refused() -> None:
    with pytest.raises(InputError, match="The record names a board of 0: there is none"):
        records.RecordFile("# tictactoe 0x0\n").setup(Setup())


def test_a_record_is_read_up_to_a_move_that_cannot_be_played_and_saved_whole() -> None:
    text = "(;SZ[9];B[cc];W[dd](;B[cc];W[ee])(;B[cc])(;B[gg];W[gg]))"
    found, remark = opened(text)
    assert remark.startswith("Line 1, column 21: move 3, black C7, cannot be played in go on 9x9")
    assert "2 variations were left out or cut short" in remark
    assert [node.action for _, node in found.tree.in_order()] == [-1, 20, 30, 60]
    found = restored(found)
    saved = records.save(found, "")[1]
    assert properties(saved) == properties(text)
    assert opened(saved)[0].tree.saved() == found.tree.saved()
    with pytest.raises(InputError, match="move 1, white A9, cannot be played"):
        opened("(;SZ[9]AB[aa];W[aa])")


@pytest.mark.parametrize(
    ("named", "played", "remark"),
    [
        ("AGA", "aga", ""),
        ("New Zealand", "new-zealand", ""),
        ("", "chinese", ""),  # not those of the game on the page
        ("Japanese", "japanese", ""),
        ("Goe", "ing", ""),
        ("House", "chinese", "The file's rules, House, are not played here: chinese rules are."),
    ],
)
def test_a_record_is_read_by_its_own_rules_where_they_are_known(named: str, played: str, remark: str) -> None:
    found, said = opened(f"(;SZ[9]RU[{named}];B[ee])", rules="tromp-taylor")
    assert (found.rules, said) == (played, remark)


def test_a_game_that_is_kept_is_taken_up_again() -> None:
    first = GameSession(setup_of({"handicap": 2, "komi": 0.5, "person": "white", "clock": {"main": 60}}), 9, [9])
    first.play(first.action("E5"))
    again = restored(first)
    assert (again.at, again.live, again.person) == (first.at, first.live, first.person)
    assert (again.game.stones() == first.game.stones()).all()
    assert again.game.position.to_play == first.game.position.to_play


def test_a_saved_record_says_which_program_wrote_it_and_keeps_the_files_result() -> None:
    found, _ = opened("(;SZ[9]RE[B+R]PB[A]PW[B];B[ee])")
    text = records.save(found, "W+T")[1].replace("\n", "")
    assert f"AP[gozero:{VERSION}]" in text
    assert "RE[B+R]" in text


def properties(text: str) -> list[dict[str, list[str]]]:
    own = ("AP", "CA", "FF")
    roots = sgf_nodes.parse(text)[0]
    nodes = [node for root in roots for node in root.below()]
    return [{name: values for name, values in node.properties.items() if name not in own} for node in nodes]


def test_what_a_file_has_is_saved_again() -> None:
    text = (KINDS / "save_keeps.sgf").read_text()
    found, _ = opened(text)
    assert properties(records.save(found, "")[1]) == properties(text)


def test_changes_go_into_the_file() -> None:
    text = "(;SZ[9]KM[7]GN[x];B[aa]C[old]LB[cc:1](;W[bb]X2[y])(;TR[cc];W[cc];AB[dd];B[ee])(;W[gg]C[gone]))"
    found, _ = opened(text)
    found = restored(found)
    _, first, second, third, fourth = (number for number, _ in found.tree.in_order())
    found.tree[first].comment = "new"
    found.tree.remove(fourth)
    found.go_to(third)
    found.play(found.action("J9"))
    _, saved, _ = records.save(found, "")
    assert "".join(saved.split("CA[UTF-8]")[1].split()) == (
        ";B[aa]C[new]LB[cc:1](;W[bb]X2[y])(;TR[cc];W[cc](;AB[dd];B[ee])(;B[ia])))"
    )
    assert second in found.tree


@pytest.mark.parametrize("head", ["", "AW[cc]", ";B[cc];AE[cc]"])
def test_a_move_in_the_node_of_the_start_is_saved_behind_it(head: str) -> None:
    found, _ = opened(f"(;SZ[9]{head}B[aa]C[x];W[bb])")
    found.go_to(START)
    found.play(found.action("J1"))
    found.tree[START].comment = "start"
    _, saved, _ = records.save(found, "")
    again, _ = opened(saved)
    assert [(node.action, node.comment) for _, node in again.tree.in_order()][1:] == [(0, "x"), (10, ""), (80, "")]
    assert again.tree[START].comment == "start"


@pytest.mark.parametrize("rest", ["(;B[bb])(;AB[cc];W[dd])", ";B[aa](;W[bb])(;W[cc];AB[dd];B[ee])"])
def test_a_variation_with_stones_is_one_still_when_the_main_one_is_gone(rest: str) -> None:
    found, _ = opened(f"(;SZ[9]{rest})")
    variations.delete(found, found.tree.line(START)[-1])
    again, _ = opened(records.save(found, "")[1])
    assert again.start == found.start
    assert [node.action for _, node in again.tree.in_order()] == [node.action for _, node in found.tree.in_order()]


def test_games_behind_the_head_of_a_mail_are_offered() -> None:
    assert len(records.RecordFile("From: a\n\n(;SZ[9];B[aa])(;SZ[9];W[bb])").games) == 2


def test_one_game_of_a_collection_is_chosen_and_the_others_are_kept() -> None:
    file = records.RecordFile((KINDS / "two_games.sgf").read_bytes())
    assert [game.title.split(",")[0] for game in file.games] == ["one", "two"]
    found = GameSession(file.setup(Setup(), 1), 9, [9])
    assert file.load(found, 1, "games.sgf").startswith("Game 2 of 2.")
    found.go_to(found.line[-1])
    found.play(found.action("A1"))
    name, text, _ = records.save(found, "")
    first, second = sgf.games(text)
    assert (name, len(first.record().moves), len(second.record().moves)) == ("games.sgf", 1, 3)
    with pytest.raises(InputError, match="no game 3"):
        file.setup(Setup(), 2)


def test_a_game_played_here_says_who_played_when() -> None:
    played = GameSession(Setup(person="white", level=8), 9, [9])
    name, text, _ = records.save(played, "W+R", today=date(2026, 11, 27))
    record = sgf.first_game(text).record()
    assert name == "gozero-2026-11-27-go9-White-vs-level-8.sgf"
    assert (record.date, record.black_name, record.white_name) == ("2026-11-27", "gozero, level 8", "person")
    assert (record.rules, record.komi, record.result) == ("chinese", 7.5, "W+R")


def test_a_file_in_another_encoding_is_opened_from_its_bytes() -> None:
    found, remark = opened((KINDS / "gbk_without_ca.sgf").read_bytes())
    assert "gb18030" in remark
    assert "PB[王小明]PW[李一]C[好棋]" in records.save(found, "")[1]


def test_a_turn_that_a_file_gives_is_shown() -> None:
    found, _ = opened((KINDS / "player_after_moves.sgf").read_bytes())
    found.go_to(found.line[-1])
    assert found.game.position.to_play == WHITE


def test_moves_behind_a_turn_that_a_file_gives_are_shown() -> None:
    found, _ = opened("(;GM[4]SZ[15];B[hh]PL[B];B[ii];W[ee])", game="gomoku")
    found.go_to(found.line[-1])
    assert found.game.position.moves == [(BLACK, 112), (BLACK, 128), (WHITE, 64)]
    found, _ = opened("(;GM[4]SZ[15](;B[hh];W[jj])(;B[hh]PL[B];B[ii];W[ee]))", game="gomoku")  # one node for hh
    for leaf, colours in ((2, [BLACK, WHITE]), (4, [BLACK, BLACK, WHITE])):
        assert [colour for colour, _ in found.position_at(leaf).moves] == colours


def test_every_shipped_game_says_how_strong_it_is() -> None:
    known = catalogue.strengths()
    assert known.keys() == set(WEIGHTS.values())
    shown = catalogue.shown_games({})
    assert sorted(game["name"] for game in shown) == sorted(WEIGHTS)
    assert all(game["engines"][0]["strength"] and game["engines"][0]["sizes"] for game in shown)


def test_what_the_page_says_of_the_levels_is_what_was_measured() -> None:
    page, measured = (CLIENT / "panels.jsx").read_text(), (DOCS / "levels.md").read_text()
    claim = re.search(r"level (\d+) is about as strong as GNU Go at its level 1, and level (\d+) as .* level 10", page)
    rows = re.findall(r"^\|([\w ]+)\|.*\|(−?[\d,]+)(?: ±|\|)", measured, re.MULTILINE)
    elo = {name: int(number.replace(",", "").replace("−", "-")) for name, number in rows}
    assert claim is not None and len(elo) > 20
    for level, other in zip(claim.groups(), ("GNU Go 1", "GNU Go 10"), strict=True):
        nearest = min(range(1, 21), key=lambda number: abs(elo[str(number)] - elo[other]))
        assert abs(int(level) - nearest) <= 1


def test_weights_that_are_offered_play_their_own_game_alone() -> None:
    choices = catalogue.offered_weights("ttt.pt")
    assert list(catalogue.networks("tictactoe", choices)) == ["", "ttt.pt"]
    assert list(catalogue.networks("go", choices)) == [""]
    assert catalogue.offered_weights(None) == {}
