"""GoGui's menu: every entry answers what its type promises, on any board."""

import re

import pytest

from gtp.commands.gogui import short
from gtp.settings import WEIGHTS, GtpSettings
from tests.gtp.engine import Conversation, Engine
from tests.gtp.fuzzing import SIZES
from tests.gtp.test_analyze import SIZE, Painter

POINT = r"[A-H][1-9]"
GFX = {
    "INFLUENCE": rf"( {POINT} -?[01]\.\d{{3}})+",
    "LABEL": rf"( {POINT} \w{{1,4}})+",
    "COLOR": rf" green {POINT}",
    "VAR": rf"( [bw] ({POINT}|pass))+",
    "TEXT": " .+",
}
MENU_TYPES = {"string", "hstring", "plist", "none", "param", "dboard", "gfx"}


def check_drawing(text: str) -> None:
    for line in text.splitlines():
        command = line.split()[0]
        assert re.fullmatch(command + GFX[command], line), line


def board_of(text: str, cols: int, rows: int) -> list[str]:
    """The words of a board, checked for its shape."""
    lines = text.splitlines()
    assert [len(line.split()) for line in lines] == [cols] * rows, text
    return text.split()


def check(kind: str, answer: str, cols: int, rows: int) -> None:
    """Hold an answer against its type."""
    if kind == "dboard":
        assert all(-1 <= float(word) <= 1 for word in board_of(answer, cols, rows))
    elif kind == "gfx":
        check_drawing(answer)
    elif kind == "plist":
        assert all(re.fullmatch(f"{POINT}|pass", word) for word in answer.split())
    elif kind == "param":
        assert all(
            re.fullmatch(r"\[bool\] \w+ [01]|\[(string|list/[\w/]+)\] \w+ \S+", line) for line in answer.splitlines()
        )


@pytest.mark.parametrize("game", WEIGHTS)
@pytest.mark.parametrize("moves", [0, 3])
def test_every_entry_of_the_menu_answers_as_its_type_says(game: str, moves: int) -> None:
    engine = Engine(GtpSettings(game, visits=8, seed=1, size=SIZES[game]))
    cols, rows = engine.session.game.board
    engine.ask_all(*[f"genmove {'bw'[ply % 2]}" for ply in range(moves)])
    before, listed = engine.ask("showboard"), engine.ask("list_commands").split("\n")
    menu = engine.ask("gogui-analyze_commands").splitlines()
    for entry in menu:
        kind, label, line = entry.split("/")
        assert kind in MENU_TYPES and label
        assert line.split()[0] in listed
        if "ownership" in line:
            assert engine.refuse(line) == "these weights know no ownership"
        elif "final_score" not in line:
            to_play = "b" if before.startswith("X") else "w"
            check(kind, engine.ask(line.replace("%m", to_play).replace("%c", to_play)), cols, rows)
    assert engine.ask("showboard") == before


def test_ownership_is_black_above_zero_whoever_is_to_move() -> None:
    engine = Painter()
    for line in ("gogui-ownership", "play b C3", "gogui-ownership", "genmove w", "gogui-ownership"):
        answer = engine.ask(line)
        if line == "gogui-ownership":
            assert [float(word) for word in board_of(answer, SIZE, SIZE)] == [0.75] * 10 + [-0.5] * 15
            check("dboard", answer, SIZE, SIZE)


def test_value_and_policy_need_no_search_and_visits_make_one() -> None:
    engine = Painter()
    assert engine.ask("gogui-value").startswith("win rate 75.0 %, 1 visit, score +10.0: A5")
    assert engine.ask("gogui-value w").startswith("win rate 25.0 %, 1 visit, score -10.0: ")
    policy = engine.ask("gogui-policy").splitlines()
    assert policy[0].startswith("INFLUENCE A5 1.000 B5 0.9") and policy[1].startswith("LABEL A5 9 ")
    assert policy[2] == "TEXT pass 0.0 %"  # the board is open
    assert engine.ask("gogui-policy w").startswith("INFLUENCE A5 -1.000 ")
    drawing = engine.ask("gogui-visits b")
    check_drawing(drawing)
    assert "60 visits" in drawing
    assert engine.ask("gogui-value").startswith("win rate 75.0 %, 60 visits")
    labels = re.search("LABEL (.*)", drawing)
    assert labels and sum(map(int, labels[1].split()[1::2])) == 59
    line = engine.ask("gogui-principal_variation")
    check_drawing(line)
    assert line.startswith("VAR b A5 w ")
    tree = engine.ask("gogui-search_tree").splitlines()
    assert tree[0].startswith("root   visits 60 ") and tree[1].startswith("  A5 ")


def test_where_pieces_move_the_likely_moves_are_named() -> None:
    engine = Engine(GtpSettings("breakthrough", visits=4, seed=1))
    moves = engine.ask("gogui-policy").removeprefix("TEXT ").split(", ")
    assert len(moves) == 10 and all(re.fullmatch(r"[A-H]\d-[A-H]\d \d+ %", move) for move in moves)


def test_after_the_end_there_is_nothing_to_show() -> None:
    engine = Engine(GtpSettings("tictactoe", visits=4, seed=1))
    engine.ask("play_sequence b A1 w B1 b A2 w B2 b A3")
    for line in ("gogui-value", "gogui-policy", "gogui-visits", "gogui-search_tree"):
        assert engine.refuse(line) == "the game is over"


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("gogui-value x", "invalid color: 'x'; expected b, black, w or white"),
        ("gogui-visits b w", "syntax error: expected a colour or nothing"),
        ("gogui-param liveGraphics yes please", "liveGraphics = 'yes please': expected true or false"),
    ],
)
def test_wrong_arguments(line: str, reason: str) -> None:
    assert Engine().refuse(line) == reason


def test_live_graphics_come_on_stderr_only_and_are_cleared(capsys: pytest.CaptureFixture[str]) -> None:
    engine = Painter()
    engine.ask("genmove b")
    assert "gogui-gfx" not in capsys.readouterr().err
    engine.ask("gogui-param liveGraphics 1")
    assert "[bool] liveGraphics 1" in engine.ask("gogui-param").split("\n")
    engine.ask("genmove w")
    written = capsys.readouterr()
    assert written.out == ""
    *blocks, end = written.err.split("\n\n")
    assert end == "gogui-gfx: CLEAR\n"
    assert blocks
    for block in blocks:
        mark, _, drawing = block.partition("\n")
        assert mark == "gogui-gfx:"
        check_drawing(drawing)
    engine.ask_all("gogui-param liveGraphics 0", "genmove b")
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize(
    ("count", "text"), [(0, "0"), (9999, "9999"), (10_000, "10k"), (999_999, "999k"), (100_000_000, "100M")]
)
def test_numbers_that_fit_on_a_point(count: int, text: str) -> None:
    assert short(count) == text


def test_an_interrupt_ends_a_search_for_the_menu() -> None:
    """Without it, a hundred million visits would keep the reader waiting."""
    conversation = Conversation(Engine(GtpSettings(visits=100_000_000, seed=1, size=5)))
    conversation.send("gogui-visits\n")
    conversation.send("# interrupt\nquit\n")  # which holds for the lines before it, begun or not
    assert conversation.close().startswith("= COLOR green ")


@pytest.mark.parametrize(
    ("game", "size"), [("nogo", 4), ("othello", 4), ("gomoku", 5), ("connect4", 7), ("tictactoe", 3), ("go", 5)]
)
def test_a_match_as_gogui_twogtp_plays_it(game: str, size: int) -> None:
    """Two engines and a referee are told every move, passes after the end too; the match ends with two passes or a
    resignation.
    """
    engines = [Engine(GtpSettings(game=game, visits=4, seed=seed, size=size, no_resign=True)) for seed in (1, 2, 3)]
    passes = ply = 0
    while passes < 2:
        colour = "bw"[ply % 2]
        move = engines[ply % 2].ask(f"genmove {colour}")
        if move == "resign":
            break
        for other in (engines[1 - ply % 2], engines[2]):
            other.ask(f"play {colour} {move}")
        passes = passes + 1 if move.lower() == "pass" else 0
        ply += 1
    results = {engine.ask("final_score") for engine in engines}
    assert len(results) == 1
    if game == "othello":
        assert passes == 2, "a resignation would hide the margin"
        assert re.fullmatch(r"0|[BW]\+\d+\.0", results.pop())
    for engine, undo in zip(engines, ("gg-undo", "undo", "gg-undo"), strict=True):
        engine.ask(f"{undo} {ply}")
        assert engine.ask("move_history") == ""
