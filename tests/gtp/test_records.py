"""loadsgf and printsgf: paths as people and programs write them, and boards that an error leaves alone."""

from dataclasses import replace
from pathlib import Path

import pytest
from sgfmill.sgf import Sgf_game

from gozero import __version__
from gozero.games.go.rules import RULES, named_rules
from gozero.records import sgf
from gtp.commands.records import split_path
from tests import ROOT
from tests.gtp.engine import Engine
from tests.gtp.test_analyze import Painter

KINDS = ROOT / "tests" / "data" / "kinds"
GAME = b"(;GM[1]SZ[9]KM[5.5]PB[A \\] b];B[ee];W[cc](;B[gg];W[])(;B[aa]))"


@pytest.fixture
def game(tmp_path: Path) -> Path:
    path = tmp_path / "my game.sgf"
    path.write_bytes(GAME)
    return path


def test_a_whole_game(engine: Engine, game: Path) -> None:
    assert engine.ask(f"loadsgf {game}") == "black"
    assert engine.ask("move_history") == "white pass\nblack G3\nwhite C7\nblack E5"
    assert engine.ask("get_komi") == "5.5"


@pytest.mark.parametrize(
    ("number", "moves", "to_play"),
    [(0, 0, "black"), (1, 0, "black"), (2, 1, "white"), (4, 3, "white"), (5, 4, "black"), (99, 4, "black")],
)
def test_up_to_before_a_move(engine: Engine, game: Path, number: int, moves: int, to_play: str) -> None:
    for path in (str(game), f'"{game}"', f"'{game}'"):
        assert engine.ask(f"loadsgf {path} {number}") == to_play
        assert len(engine.ask("move_history").splitlines()) == moves


@pytest.mark.parametrize(
    ("text", "path", "number"),
    [
        ("a.sgf", "a.sgf", None),
        ("a.sgf 12", "a.sgf", 12),
        ("my game.sgf 12", "my game.sgf", 12),
        ('"my game.sgf"', "my game.sgf", None),
        ("'my game.sgf' 3", "my game.sgf", 3),
        ("game 12 final.sgf", "game 12 final.sgf", None),
        ("a.sgf 99999999999999999999", "a.sgf", 999999999),
        ("", "", None),
    ],
)
def test_split_path(text: str, path: str, number: int | None) -> None:
    assert split_path(text) == (path, number)


def test_a_file_whose_name_ends_in_a_number_is_a_file(engine: Engine, tmp_path: Path) -> None:
    (tmp_path / "game 3").write_bytes(GAME)
    engine.ask(f"loadsgf {tmp_path / 'game 3'}")
    assert len(engine.ask("move_history").splitlines()) == 4


def test_a_game_is_read_up_to_a_move_that_cannot_be_played(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "illegal.sgf"
    path.write_text("(;SZ[9]RE[W+R];B[ba];AB[cc]\n;W[aa];B[aa]\n;W[gg])")
    assert engine.ask(f"loadsgf {path}") == "black"
    assert engine.ask("move_history") == "white A9"
    assert "RE[" not in engine.ask("printsgf")
    assert f"{path}: line 2, column 7: move 2, black A9, cannot be played" in capsys.readouterr().err
    engine.ask(f"loadsgf {path} 2")
    assert "cannot be played" not in capsys.readouterr().err


def test_size_handicap_and_stones(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "handicap.sgf"
    path.write_bytes(b"(;SZ[13]HA[2]AB[jd][dj];W[gg])")
    assert engine.ask(f"loadsgf {path}") == "black"
    assert engine.ask("query_boardsize") == "13"
    assert engine.ask("get_komi") == "7.5"  # the file has none
    engine.ask_all("undo", "komi 0.5")
    assert engine.ask("final_score") == f"B+{169 - 0.5 - 2}"
    assert engine.refuse("undo") == "cannot undo"
    path.write_bytes(b"(;SZ[5]AB[aa]AW[bb][cc]PL[W])")
    assert engine.ask(f"loadsgf {path}") == "white"


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"no game",
        b"(;SZ[25])",
        b"(;SZ[4];B[aa])",
        b"(;SZ[9]KM[3]AB[bb];B[bb])",
        b"(;SZ[9]AB[aa]AW[ab][ba])",
        b"(;SZ[9];B[zz])",
        b"(;SZ[9:13])",
    ],
)
def test_an_error_leaves_the_board_as_it_was(engine: Engine, tmp_path: Path, data: bytes) -> None:
    engine.ask_all("play b D4", "komi 1.5")
    before = engine.ask("showboard")
    path = tmp_path / "broken.sgf"
    path.write_bytes(data)
    assert engine.refuse(f"loadsgf {path}") == "cannot load file"
    assert (engine.ask("showboard"), engine.ask("get_komi"), engine.ask("move_history")) == (before, "1.5", "black D4")


@pytest.mark.parametrize(
    ("chosen", "rules", "played"),
    [
        ("", "Japanese", "japanese"),
        ("", "house", "chinese"),
        ("", "AGA", "aga"),
        ("", "koPOSITIONALscoreAREAtaxNONEsui1", "tromp-taylor"),
        ("", " chinese ", "chinese"),
        ("", "", "chinese"),
        ("tromp-taylor", "AGA", "tromp-taylor"),
        ("chinese-ogs", "New Zealand", "chinese"),
    ],
)
def test_rules_of_a_file_are_played_unless_others_were_chosen(
    engine: Engine, tmp_path: Path, chosen: str, rules: str, played: str, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.sgf"
    path.write_text(f"(;SZ[9]KM[6.5]RU[{rules}];B[ee])")
    if chosen:
        engine.ask(f"kata-set-rules {chosen}")
    assert engine.ask(f"loadsgf {path}") == "white"
    assert named_rules(sgf.first_game(engine.ask("printsgf")).record().rules) == RULES[played]
    said = f"the rules of {path}, {rules}, are not kept: moves and score are by {played} rules"
    assert (said in capsys.readouterr().err) == (named_rules(rules) != RULES[played] and bool(rules))


@pytest.mark.parametrize("chosen", ["", "kata-set-rules chinese-ogs"])
@pytest.mark.parametrize("later", ["clear_board", "boardsize 9", "loadsgf {path}"])
def test_rules_of_a_file_hold_for_its_game_alone(engine: Engine, tmp_path: Path, chosen: str, later: str) -> None:
    path = tmp_path / "later.sgf"
    path.write_text("(;SZ[9]RU[Chinese];B[ee])")
    engine.ask_all(*filter(None, [chosen]), f"loadsgf {KINDS / 'rules_nz.sgf'}", "komi 3.5")
    assert "RU[NZ]" in engine.ask("printsgf")
    engine.ask(later.format(path=path))
    assert "RU[chinese]" in engine.ask("printsgf")


def test_rules_of_a_file_are_told_in_its_own_words(
    engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "ing.sgf"
    path.write_text("(;SZ[9]RU[Ing];B[ee])")
    engine.ask(f"loadsgf {path}")
    assert f"{path}: moves and score are by its rules, Ing, until another game begins" in capsys.readouterr().err


def test_a_komi_that_cannot_be_read_is_told(engine: Engine, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "odd.sgf"
    path.write_text("(;SZ[9]KM[six];B[ee])")
    engine.ask_all("komi 5.5", f"loadsgf {path}")
    assert f"{path}: the komi, six, was left out" in capsys.readouterr().err
    assert engine.ask("get_komi") == "5.5"


@pytest.mark.parametrize("change", ['kata-set-rules {"ko":"SIMPLE","suicide":true}', "kata-set-rule ko SITUATIONAL"])
def test_a_file_of_gozeros_is_read_by_a_new_engine_by_the_same_rules(
    engine: Engine, tmp_path: Path, change: str
) -> None:
    path = tmp_path / "own.sgf"
    engine.ask_all(change, f"printsgf {path}")
    other = Engine()
    other.ask(f"loadsgf {path}")
    assert other.ask("kata-get-rules") == engine.ask("kata-get-rules")


def test_a_turn_that_a_file_gives_outlasts_komi_and_printsgf(engine: Engine, tmp_path: Path) -> None:
    engine.ask_all(f"loadsgf {KINDS / 'player_after_moves'}.sgf", "komi 3.5", f"printsgf {tmp_path / 'again.sgf'}")
    assert engine.ask(f"loadsgf {tmp_path / 'again.sgf'}") == "white"
    engine.ask("undo")
    assert len(engine.ask("move_history").splitlines()) == 1


@pytest.mark.parametrize("argument", ["/no/such/file.sgf", "/", "12"])
def test_what_is_no_file(engine: Engine, argument: str) -> None:
    assert engine.refuse(f"loadsgf {argument}") == "cannot load file"


@pytest.mark.parametrize("argument", ["", '""', "'' 3"])
def test_no_name_at_all(engine: Engine, argument: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert engine.refuse(f"loadsgf {argument}") == "syntax error: expected a file name"
    assert capsys.readouterr().err == ""


def test_printsgf_answers_with_the_game(engine: Engine, game: Path) -> None:
    engine.ask(f"loadsgf {game}")
    for command in ("printsgf", "printsgf -"):
        record = sgf.first_game(engine.ask(command).encode()).record()
        assert (record.size, record.komi, len(record.moves)) == (9, 5.5, 4)


def test_printsgf_into_a_file_and_back(engine: Engine, tmp_path: Path) -> None:
    path = tmp_path / "out file.sgf"
    engine.ask_all("boardsize 13", "komi 0.5", "fixed_handicap 4", "play w C3", "play b pass", f'printsgf "{path}"')
    before = engine.ask("showboard"), engine.ask("move_history"), engine.ask("final_score")
    engine.ask_all("boardsize 9", f"loadsgf {path}")
    assert (engine.ask("showboard"), engine.ask("move_history"), engine.ask("final_score")) == before
    assert engine.refuse(f"printsgf {tmp_path / 'no' / 'folder'}") == "cannot save file"


def test_a_number_at_the_end_of_printsgf_belongs_to_the_name(engine: Engine, tmp_path: Path) -> None:
    for name in ("game", "game 2"):
        engine.ask(f"printsgf {tmp_path / name}")
        assert (tmp_path / name).is_file()
    assert engine.ask(f"loadsgf {tmp_path / 'game 2'}") == "black"


# What printsgf knows of the engine's own games


def printed(engine: Engine) -> Sgf_game:
    return Sgf_game.from_bytes(engine.ask("printsgf").encode())


def comments(engine: Engine) -> list[str | None]:
    """The comment of each node."""
    return [node.get("C") if node.has_property("C") else None for node in printed(engine).get_main_sequence()]


def test_the_engines_moves_have_comments_and_others_none() -> None:
    engine = Painter()
    engine.ask_all("play b A1", "genmove w", "play b B1", "genmove w")
    assert [text is not None for text in comments(engine)] == [False, False, True, False, True]
    text = comments(engine)[4]
    assert text is not None
    assert text.startswith("win rate 25.0 %, 60 visits, score -10.0: ")
    assert text.split(": ")[1].split()[0] == engine.ask("last_move").split()[1]
    engine.ask_all("komi 3.5", "undo", "play w C1")
    assert [text is not None for text in comments(engine)] == [False, False, True, False, False]
    engine.ask("clear_board")
    assert comments(engine) == [None]


def test_a_genmove_that_analyses_has_a_comment_too() -> None:
    engine = Painter()
    engine.ask("kata-genmove_analyze b")
    assert comments(engine)[1] is not None


def test_players_are_named_where_they_are_known(game: Path) -> None:
    engine = Painter()
    engine.ask("cgos-opponent_name Ann]")
    assert not printed(engine).get_root().has_property("PB")
    engine.ask_all("play b A1", "genmove w")
    assert (printed(engine).get_player_name("b"), printed(engine).get_player_name("w")) == (
        "Ann]",
        f"gozero {__version__}",
    )
    engine.ask("genmove b")
    assert printed(engine).get_player_name("b") == f"gozero {__version__}"
    engine = Engine()
    engine.ask_all(f"loadsgf {game}", "genmove b")
    assert printed(engine).get_player_name("b") == "A ] b"


def test_the_result_stands_there_once_there_is_one(engine: Engine) -> None:
    def result() -> str:
        root = printed(engine).get_root()
        return str(root.get("RE")) if root.has_property("RE") else ""

    engine.ask_all("komi 7.5", "play b D4", "play w pass")
    assert result() == ""
    engine.ask("play b pass")
    assert result() == f"B+{81 - 7.5}" == engine.ask("final_score")
    engine.ask("undo")
    assert result() == ""


@pytest.mark.parametrize("given", ["W+R", "W+Resign", "B+3.5"])
@pytest.mark.parametrize("end", ["", ";B[];W[]"])
def test_the_result_of_a_file_stays_where_its_game_ended(
    engine: Engine, tmp_path: Path, given: str, end: str
) -> None:
    path = tmp_path / "over.sgf"
    path.write_text(f"(;SZ[9]KM[7.5]RE[{given}];B[ee]{end})")
    engine.ask_all(f"loadsgf {path}", "komi 7.5")
    assert f"RE[{given}]" in engine.ask("printsgf")
    engine.ask("play w pass")
    assert given not in engine.ask("printsgf")
    engine.ask("undo")
    assert f"RE[{given}]" in engine.ask("printsgf")
    for command in ("komi 0.5", f"loadsgf {path} 1"):
        engine.ask(command)
        assert given not in engine.ask("printsgf")


def test_a_resignation_is_a_result_until_the_game_goes_on() -> None:
    engine = Painter()
    settings = engine.session.player._settings
    engine.session.player._settings = replace(settings, resign_threshold=-0.4, resign_moves=1, resign_not_before=0.0)
    engine.ask("play b A1")
    assert engine.ask("genmove w") == "resign"
    assert printed(engine).get_root().get("RE") == "B+R"
    assert engine.ask("gomill-explain_last_move").startswith("win rate 25.0 %")
    engine.ask_all("komi 0.5", "kata-set-rules aga")
    assert printed(engine).get_root().get("RE") == "B+R"
    engine.ask("play w pass")
    assert not printed(engine).get_root().has_property("RE")
