"""A person against the engine at the terminal: what is typed, and all that is printed."""

import io
import os
import subprocess
import sys
from pathlib import Path

import pytest

from gozero.__main__ import main
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.terminal import play
from gozero.games import GAMES, coords
from gozero.games.colours import BLACK, WHITE
from gozero.games.descriptions import DESCRIPTIONS
from gozero.nets import model, weights
from gozero.play.engine import search_settings
from gozero.play.player import PlayerSettings, make_player
from gozero.play.searcher import Limits
from gozero.records import sgf
from gozero.search.settings import SearchSettings
from tests.settled_boards import LOST, LOST_STONES, StatedEvaluator
from tests.training.refusals import Refused

SMALL = {"go": 5, "nogo": 4, "gomoku": 5, "othello": 4, "hex": 4, "breakthrough": 5}
SAME = ("A3", "D3", "A1")
TO_THE_END = ("tictactoe", "connect4", "othello", "nogo", "gomoku")


@pytest.fixture(autouse=True)
def no_weights(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever weights are shipped, these games are played by random playouts."""
    monkeypatch.setattr(play, "WEIGHTS", dict.fromkeys(GAMES, "no-such-weights.pt"))


class Play:
    """Games at the terminal, one after the other."""

    def __init__(self, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
        self._capsys, self._monkeypatch = capsys, monkeypatch

    def __call__(self, game: str, *lines: str, options: str = "--visits 20") -> str:
        """What is printed while these lines are typed; the game ends well, by the end of the input if not before."""
        self._monkeypatch.setattr(sys, "stdin", io.StringIO("".join(f"{line}\n" for line in lines)))
        size = ["--size", str(SMALL[game])] if game in SMALL and not {"--weights", "--size"} & {*options.split()} else []
        assert main(["play", game, "--seed", "1", *size, *options.split()]) == 0
        out = self._capsys.readouterr().out
        assert out.endswith("Good bye.\n")
        return str(out)


@pytest.fixture
def play_game(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Play:
    return Play(capsys, monkeypatch)


@pytest.mark.parametrize("game", GAMES)
def test_every_game_can_be_played(game: str, play_game: Play) -> None:
    opening = {"connect4": "D", "othello": "B1", "breakthrough": "c2c3"}.get(game, "C3")
    out = play_game(game, "help", "hint", opening, "undo", "hint")
    assert out.startswith("No weights for this game: PUCT with random playouts, 20 visits a move.\n")
    assert DESCRIPTIONS[game].aim in out
    assert out.count("Your chance is ") == 2
    assert " expects to win " in out
    assert out.count("A B C") == 3  # the first board, that after two moves, and the first again


@pytest.mark.parametrize("game", TO_THE_END)
@pytest.mark.parametrize("colour", ["black", "white"])
def test_a_game_ends_in_plain_words(game: str, colour: str, play_game: Play) -> None:
    """The person tries every point again and again: what is illegal costs a line each."""
    columns, rows = {"connect4": (7, 1), "tictactoe": (3, 3)}.get(game) or (SMALL[game], SMALL[game])
    points = [f"{column}{row + 1 if rows > 1 else ''}" for row in range(rows) for column in "ABCDEFG"[:columns]]
    out = play_game(game, *(["pass", *points] * 12), options=f"--visits 5 --colour {colour}")
    ends = [line for line in out.splitlines() if "The game is over: " in line or "The game is a draw." in line]
    assert ends
    assert "The game is over. Type undo, save FILE, help or quit: " in out


def test_tictactoe_to_the_end(play_game: Play, tmp_path: Path) -> None:
    """Against many simulations, moves along the edges lose."""
    path = tmp_path / "game.txt"
    out = play_game("tictactoe", "A1", "A2", "A3", "B1", "C1", f"save {path}", options="--visits 2000")
    assert f"Saved as {path}, a list of moves." in out
    assert "White B2; " in out
    assert "White wins by three in a row" in out
    assert path.read_text().splitlines()[:3] == ["# tictactoe 3x3", "black A1", "white B2"]


def test_the_engine_says_that_it_swaps(play_game: Play) -> None:
    out = play_game("hex", "B2", options="--visits 200 --size 3")
    assert "White swaps: B2 becomes its stone" in out


def test_the_game_goes_on_after_its_end_is_undone(play_game: Play) -> None:
    out = play_game("tictactoe", "resign", "A1", "hint", "resign", "undo", "A1", "quit")
    assert out.count("Black resigns; White wins.") == 1
    assert out.count("The game is over: type undo, save FILE or quit.") == 3
    assert " expects to win " in out


def test_the_end_of_the_input_cannot_be_typed(play_game: Play) -> None:
    assert play_game("tictactoe", "EOF", "eof", "A1").count("is not understood") == 2


def test_the_engine_begins_when_the_person_is_white(play_game: Play) -> None:
    out = play_game("connect4", "undo", "D", options="--visits 20 --colour white")
    assert out.index("\nBlack ") < out.index("White (O): type a column (")
    assert "There is no move of yours to take back." in out


def test_hint_lists_the_best_moves_and_plays_none(play_game: Play) -> None:
    out = play_game("tictactoe", "B2", "hint", options="--visits 400")
    rows = out[out.index("move   share") :].splitlines()[1:6]
    visits = [int(row.split()[3]) for row in rows]
    assert visits[1:] == sorted(visits[1:], reverse=True), "behind the one that it would play"
    assert [row.split()[1] for row in rows] == [f"{100 * number / 399:.0f}" for number in visits]
    assert out.count("A B C") == 2


def test_a_search_that_memory_ends_is_told_once(play_game: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("gozero.play.engine.EngineSettings.tree_memory", 2**19)
    errors = io.StringIO()
    monkeypatch.setattr(sys, "stderr", errors)
    play_game("go", "hint", "hint", options="--visits 3000")
    assert errors.getvalue().splitlines() == [
        "gozero: a search ended early: its tree has used up its memory, 0 MB; fewer --visits fit"
    ]


def test_dead_stones_are_taken_off_when_the_game_is_counted() -> None:
    settings = PlayerSettings(search=SearchSettings(), resign=False)
    player = make_player("go", (7,), lambda game: StatedEvaluator(game, LOST), settings, size=7, komi=0.5)
    cells = LOST_STONES.split()
    player.game.set_up({point: " XO".index(cell) for point, cell in enumerate(cells) if cell != "."}, BLACK)
    one = play.Terminal(player, BLACK, visits=8)
    one.onecmd("pass")
    assert one.is_over
    assert one.outcome() == (BLACK, 6.5)
    assert sgf.first_game(one.record()).record().result == "B+6.5"


def test_the_terminal_plays_what_the_engine_plays(play_game: Play) -> None:
    """One seed, one game: the same moves as over GTP."""
    out = play_game("othello", *SAME, options="--visits 20 --colour white")
    player = make_player(
        "othello",
        (4,),
        RolloutEvaluator,
        PlayerSettings(seed=1, resign=False, search=search_settings(20, "othello")),
        size=4,
    )
    game = player.game
    for text in (*SAME, None):
        vertex = coords.vertex(player.genmove(BLACK, Limits(20)), *game.board)
        assert f"Black {vertex}; " in out
        if text is not None:
            game.play(WHITE, coords.parse_vertex(text, 4))


def test_undo_takes_back_two_moves(play_game: Play) -> None:
    out = play_game("go", "C3", "B2", "undo", "undo", "undo")
    drawn = [part.partition("   A B C")[0] for part in out.split("to play\n")[1:]]
    assert len(drawn) == 5
    assert drawn[3] == drawn[1]
    assert drawn[4] == drawn[0]
    assert "There is no move of yours to take back." in out


def test_undo_after_a_move_that_won_takes_back_that_move(play_game: Play) -> None:
    out = play_game("tictactoe", "B2", "C2", "A2", "undo", options="--visits 1")
    assert "random playouts, 1 visit a move.\n" in out
    assert "White A3; Black expects to win 100 %." in out and "Black wins by three in a row" in out
    drawn = [part.partition("   A B C")[0] for part in out.split("to play\n")[1:]]
    assert drawn[-1] == drawn[-3] != drawn[-2]


def test_a_draw_is_called_so(play_game: Play) -> None:
    moves = "A3 B2 B1 B3 A1 C2 C1 A2 C3".split()  # of which some are taken
    assert "The game is a draw." in play_game("tictactoe", *moves, options="--visits 1")


@pytest.mark.parametrize(("game", "komi"), [("go", 0.5), ("simple_go", 0.0)])
def test_a_game_of_go_is_saved_as_sgf(game: str, komi: float, play_game: Play, tmp_path: Path) -> None:
    path = tmp_path / "my game.sgf"
    out = play_game(
        game, "C3", f"save {path}", "resign", f"save {path}", options="--visits 5" + (" --komi 0.5" if komi else "")
    )
    assert f"Saved as {path}." in out
    assert f"{path} exists already: choose another name." in out
    record = sgf.first_game(path.read_bytes()).record()
    assert (record.size, record.komi, record.white_name, record.result) == (5, komi, "gozero", "")
    assert [colour for colour, _ in record.moves] == [1, 2]
    assert record.moves[0] == (1, 12)


@pytest.mark.parametrize(
    ("game", "move", "options", "rules"),
    [
        ("gomoku", "C4", " --rules exact", "exact"), ("gomoku", "C4", "", "freestyle"),
        ("othello", "A2", "", "standard"), ("nogo", "B4", "", "NoGo"),
    ],
)  # fmt: skip
def test_other_games_are_saved_as_sgf_with_their_rules(
    game: str, move: str, options: str, rules: str, play_game: Play, tmp_path: Path
) -> None:
    path = tmp_path / "game.sgf"
    assert f"Saved as {path}.\n" in play_game(game, move, f"save {path}", "resign", options="--visits 5" + options)
    (found,) = sgf.games(path.read_bytes())
    record = found.record()
    assert (found.kind, record.size, record.rules, record.white_name) == (game, SMALL[game], rules, "gozero")
    assert record.moves[0] == (BLACK, coords.parse_vertex(move, SMALL[game]))


def test_the_result_is_saved(play_game: Play, tmp_path: Path) -> None:
    play_game("go", "resign", f"save {tmp_path / 'w.sgf'}")
    assert sgf.first_game((tmp_path / "w.sgf").read_bytes()).record().result == "W+R"


@pytest.mark.parametrize(("option", "komi"), [("", 0.5), (" --komi 3.5", 3.5)])
def test_white_begins_a_handicap_game(option: str, komi: float, play_game: Play, tmp_path: Path) -> None:
    play_game("go", f"save {tmp_path / 'w.sgf'}", options=f"--visits 5 --size 7 --handicap 2{option}")
    record = sgf.first_game((tmp_path / "w.sgf").read_bytes()).record()
    assert (record.handicap, len(record.black_stones), record.komi) == (2, 2, komi)
    assert [colour for colour, _ in record.moves] == [WHITE]


def test_two_passes_end_a_game_of_go(play_game: Play, tmp_path: Path) -> None:
    out = play_game("go", "pass", "pass", "pass", "pass", f"save {tmp_path / 'w.sgf'}", options="--visits 40")
    assert "White passes; " in out
    assert "The game is over: White wins by " in out
    assert sgf.first_game((tmp_path / "w.sgf").read_bytes()).record().result.startswith("W+")


@pytest.mark.parametrize(
    ("game", "line", "answer"),
    [
        ("tictactoe", "", "Type a move, or help."),
        ("tictactoe", "D4", "'D4' is not understood: type a move from A1 to C3, or help."),
        ("tictactoe", "\x00\x1b[A \udcff", "is not understood"),
        ("tictactoe", "A", "'A' is not understood: type a move from A1 to C3, or help."),
        ("tictactoe", "pass", "There is no passing in tictactoe."),
        ("tictactoe", "save", "save needs the name of a file, such as save game.sgf."),
        ("tictactoe", "save /no/such/folder/x", "Cannot write /no/such/folder/x: No such file or directory."),
        ("tictactoe", "save a\x00b", "Cannot write "),
        ("othello", "pass", "You may pass only when you have no other move."),
        ("othello", "A1", "A1 doesn't flip any discs."),
        ("othello", "B2", "B2 is taken."),
        ("connect4", "H", "'H' is not understood: type a column from A to G, or help."),
    ],
)
def test_bad_input_costs_one_line(game: str, line: str, answer: str, play_game: Play) -> None:
    quiet, out = play_game(game), play_game(game, line)
    assert answer in out
    assert out.count("\n") == quiet.count("\n") + 1


def test_a_full_column_is_refused(play_game: Play) -> None:
    out = play_game("connect4", *["D"] * 7, options="--visits 2")
    assert out.partition("D1 is taken.")[0].count("A B C") >= 4, "three moves of the person's at least"
    assert "D1 is taken." in out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ("", "give the name of a game: breakthrough, connect4, "),
        ("chess", "unknown game 'chess'"),
        ("tictactoe --level 21", "--level = 21: expected 1 to 20"),
        ("tictactoe --level 3 --visits 9", "level and visits cannot be chosen together"),
        ("tictactoe --level 3", "--level 3 needs weights, and tictactoe has none here: give --visits"),
        ("go --size 30", "board size 30 is not supported: expected 5 to 19"),
        ("go --size 1", "board size 1 is not supported: expected 5 to 19"),
        ("go --size 4", "board size 4 is not supported: expected 5 to 19"),
        ("othello --komi 3", "othello has no setting 'komi'"),
        ("go --komi nan", "--komi = nan: expected -"),
        ("go --size 5 --handicap 2", "handicap 2: a board of 5x5 has at most 0"),
        ("othello --handicap 2", "othello has no handicap"),
        ("go --rules house", "unknown rules 'house'"),
        ("go --visits 0", "--visits = 0: expected 1 to "),
        ("go --seed -1", "--seed = -1: expected 0 to "),
        ("go --weights /nowhere/w.pt", "cannot use weights /nowhere/w.pt: no such file"),
    ],
)
def test_bad_options_are_one_line(arguments: str, message: str, refused: Refused) -> None:
    assert refused(main, ["play", *arguments.split()]).startswith(f"gozero play: {message}")


def test_a_bug_in_a_game_shows_as_one(play_game: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    def broken(*arguments: object) -> None:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(play.Terminal, "do_hint", broken)
    with pytest.raises(ValueError, match="broadcast"):
        play_game("tictactoe", "hint")


def test_loading_is_announced(
    small_weights: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "stdin", io.StringIO(""))
    assert main(["play", "go", "--size", "7", "--weights", str(small_weights), "--visits", "5"]) == 0
    assert capsys.readouterr().err.splitlines()[0] == f"loading {small_weights.name} ..."


def test_weights_are_played_with_on_their_board(play_game: Play, tmp_path: Path) -> None:
    path, config = tmp_path / "w.pt", model.config("b2c8")
    weights.save(path, model.build(config, seed=0), config, size=7)
    out = play_game("go", "C3", options=f"--visits 5 --weights {path}")
    assert out.startswith(f"The engine plays with {path}, 5 visits a move.\n")
    assert " 7 . . . . . . .\n" in out
    assert " expects to win " in out


def test_weights_of_another_game_are_refused(small_weights: Path, refused: Refused) -> None:
    assert refused(main, ["play", "othello", "--weights", str(small_weights)]).endswith("it plays go, not othello\n")


def test_ctrl_c_leaves_politely(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def interrupted(prompt: str) -> str:
        raise KeyboardInterrupt

    monkeypatch.setattr("builtins.input", interrupted)
    assert main(["play", "tictactoe"]) == 130
    assert capsys.readouterr().err.endswith("gozero play: interrupted\n")


def test_bytes_that_are_no_text_and_a_reader_that_leaves() -> None:
    command = [sys.executable, "-m", "gozero", "play", "tictactoe", "--visits", "5"]
    environment = {**os.environ, "PYTHONUTF8": "1"}
    done = subprocess.run(command, input=b"\xff\xfe\nB2\n", capture_output=True, env=environment, check=False)
    assert done.returncode == 0
    assert b"is not understood" in done.stdout
    assert b" expects to win " in done.stdout
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(command, input=b"B2\n", stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert done.returncode == 0
    assert b"Traceback" not in done.stderr
    assert b"Exception" not in done.stderr
