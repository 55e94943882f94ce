"""Whatever a controller sends: exactly one well-framed answer to each command, silence to blanks, comments and lone ids, and no exit.

Lines are drawn by grammar (two of three) or as noise. The engine is whole but for the network, with a few visits on small boards.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gozero.games import GO_FAMILY
from gtp.protocol import parse_line
from gtp.settings import WEIGHTS, Settings
from tests.gtp.engine import Engine, answer_to

LINES_A_SESSION = 40
SIZES = {"go": 5, "simple_go": 5, "nogo": 4, "gomoku": 5, "othello": 4, "connect4": 7, "tictactoe": 3}
"""The board on which each game begins: small, so that games end."""
ANSWER = re.compile(r"[=?]([0-9]*)(?: |\n(?!\n))([^\x00-\x09\x0b-\x1f\x7f]*\n\n)")

ids = st.sampled_from(["", "", "", "1 ", "7", "0012 ", "999999999999999999999999 "])
colours = st.sampled_from(["b", "w", "B", "W", "black", "White"])
vertices = st.builds("{}{}".format, st.sampled_from("ABCDEFGHJabcdefghj"), st.integers(1, 9)) | st.just("pass")
small = st.integers(-2, 12).map(str)
numbers = (
    small
    | st.floats().map(str)
    | st.integers().map(str)
    | st.sampled_from(["1e400", "-0", "٣", "0x10", "1_0", "99999999999999999999999999"])
)
paths = st.sampled_from(["game.sgf", '"game.sgf"', "my game.sgf", "broken.sgf", "no-such-file", "/", ".", "~nobody/x 3", "long" * 100])


def line(name: str, *arguments: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(st.just(name), *arguments).map(" ".join)


ANALYSES = "lz-analyze kata-analyze lz-genmove_analyze kata-genmove_analyze cgos-genmove_analyze".split()
flags = st.builds("{} {}".format, st.sampled_from("ownership movesOwnership rootInfo pvVisits".split()), st.sampled_from(["true", "false"]))
restrictions = st.builds("{} {} {} {}".format, st.sampled_from(["avoid", "allow"]), colours, vertices, small)
kinds_of_clocks = st.sampled_from(
    "none,absolute 60,byoyomi 9 0.5 3,byoyomi 0 5 1,canadian 9 30 5,fischer 9 1,fischer-capped 9 1 20 -1,absolute -3".split(",")
) | st.builds("{} {} {} {}".format, st.sampled_from(["byoyomi", "canadian"]), numbers, numbers, small)
words = (
    colours
    | numbers
    | flags
    | restrictions
    | st.sampled_from(["rules aga", "rules korean"])
    | st.builds("{} {}".format, st.sampled_from("interval minmoves maxmoves".split()), small)
)

stones = st.builds("{} {}".format, colours | st.just("e"), vertices)
sequences = st.lists(stones, max_size=6).map(" ".join)
MENU = "value policy move_values visits principal_variation search_tree".split()

COMMON = [
    line("play_sequence", sequences),
    line("gogui-play_sequence", sequences),
    line("set_position", sequences),
    line("gogui-setup", sequences),
    line("gogui-setup_player", colours),
    line("list_stones", colours),
    st.builds("gogui-{} {}".format, st.sampled_from(MENU), st.just("") | colours),
    st.sampled_from("stop clear_cache last_move gomill-explain_last_move gomill-describe_engine gogui-analyze_commands".split()),
    st.sampled_from(["gogui-interrupt", "gogui-version 1.6", "gogui-param", "gogui-param live_graphics 1", "gogui-param live_graphics 0"]),
    line("play", colours, vertices),
    line("play", colours, vertices),
    line("genmove", colours),
    st.just("undo"),
    st.sampled_from("protocol_version name version list_commands query_boardsize clear_board".split()),
    st.sampled_from("showboard final_score move_history gg-undo".split()),
    line("known_command", st.sampled_from(["play", "nothing", "quit"])),
    line("boardsize", st.sampled_from(["4", "5", "6", "7", "9"])),
    line("komi", numbers),
    line("reg_genmove", colours),
    line("restricted_genmove", colours, vertices, vertices),
    st.builds("{} {}".format, st.sampled_from(ANALYSES), st.lists(words, max_size=5).map(" ".join)),
    line("lz-analyze", colours, small),
    line("kata-genmove_analyze", colours, flags),
    line("gg-undo", small),
    line("is_legal", colours, vertices),
    line("all_legal", colours),
    line("time_settings", numbers, numbers, small),
    line("time_left", colours, numbers, small),
    st.builds("{} {}".format, st.sampled_from(["kgs-time_settings", "kata-time_settings"]), kinds_of_clocks),
    st.sampled_from(["kata-list_time_settings", "cputime", "gomill-cpu_time"]),
]
GO = [
    st.sampled_from("gogui-ownership gogui-liberties gogui-pass_alive get_handicap".split()),
    st.sampled_from(
        ["kgs-game_over", "cgos-opponent_name Ann", "cgos-opponent_rating", "cgos-opponent_rating 1850?", "cgos-gameover W+Time"]
    ),
    line("loadsgf", paths),
    line("loadsgf", paths, small),
    st.sampled_from(["get_komi", "printsgf"]),
    line("fixed_handicap", small),
    line("place_free_handicap", small),
    line("set_free_handicap", st.lists(vertices, max_size=5).map(" ".join)),
    line("final_status_list", st.sampled_from(["alive", "dead", "seki", "dame", "black_territory"])),
    st.sampled_from(["b", "w"]).map("kgs-genmove_cleanup {}".format),
    st.sampled_from(["kata-get-rules", "kgs-rules chinese", "kgs-rules new_zealand", "kgs-rules japanese", "kgs-rules 7"]),
    line("kata-set-rules", st.sampled_from(["chinese", "Tromp_Taylor", "korean", '{"ko":"SIMPLE"}', '{"ko":', '{"tax":[1]}', "{}"])),
    line("kata-set-rule", st.sampled_from(["ko", "suicide", "scoring", "komi"]), st.sampled_from(["true", "SIMPLE", "AREA", "7"])),
    line("printsgf", st.sampled_from(["-", "written.sgf", "/no/folder/x"])),
]
OTHERS = [
    st.sampled_from(["b", "w"]).map("genmove {}".format),
    st.sampled_from("game_id board board_size legal_moves side_to_move final_result".split()).map("gogui-rules_{}".format),
]
"""Commands by the grammar: of every game, of Go, and of games that are not Go."""


def names(game: str) -> list[str]:
    """The commands that the engine lists for a game."""
    return Engine(Settings(game)).ask("list_commands").split("\n")


def noise(game: str) -> st.SearchStrategy[str]:
    """Names of real commands with anything behind them, and plain noise."""
    commands = st.sampled_from(names(game))
    return st.one_of(
        st.tuples(commands, st.text(max_size=20)).map(" ".join),
        st.tuples(commands, st.lists(numbers | vertices | colours, max_size=4).map(" ".join)).map(" ".join),
        st.text(max_size=30),
        st.binary(max_size=30).map(lambda data: data.decode("utf-8", "surrogateescape")),
        st.sampled_from(["", " ", "\t", "#", "# comment", "12", "7 # x", "\x00\x01", "\r", "# interrupt", "quitx", "3 3 3"]),
    )


def lines_of(game: str) -> st.SearchStrategy[tuple[str, str]]:
    """Whether a line was drawn by the grammar or as noise, and the line."""
    texts = {"grammar": st.one_of(COMMON + (GO if game in GO_FAMILY else OTHERS)), "noise": noise(game)}
    kinds = st.sampled_from(["grammar", "grammar", "noise"])
    return kinds.flatmap(lambda kind: st.tuples(st.just(kind), ids, texts[kind])).map(
        lambda parts: (parts[0], "".join(parts[1:]).replace("\n", " "))
    )


def is_quit(text: str) -> bool:
    command = parse_line(text)
    return command is not None and command.name == "quit"


def check_session(game: str, lines: list[tuple[str, str]], seen: Counter[str]) -> None:
    """Send the lines to a new engine and hold each answer against the frame."""
    engine = Engine(Settings(game, visits=2, time=1.0, seed=1, size=SIZES[game]))
    known = engine.ask("list_commands").split("\n")
    for kind, text in lines:
        if is_quit(text):
            continue
        seen[kind] += 1
        command = parse_line(text)
        answer = answer_to(engine.protocol, text)
        assert not engine.protocol.finished
        if command is None:
            assert answer is None, f"{text!r} was answered {answer!r}"
            seen["silent"] += 1
            continue
        assert answer is not None, f"{text!r} was not answered"
        match = ANSWER.fullmatch(answer.encode("utf-8", "surrogateescape").decode("utf-8", "replace"))
        assert match is not None, f"{text!r} was answered {answer!r}"
        assert match[1] == command.id
        assert "\n\n" not in match[2][:-2]
        assert "internal error" not in answer
        seen[command.name if command.name in known else "unknown"] += 1
        seen[answer[0]] += 1


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The working directory of the engine: what it writes lands here."""
    (tmp_path / "game.sgf").write_bytes(b"(;SZ[7]KM[5.5];B[aa];W[bb];B[cc];W[];B[dd])")
    (tmp_path / "my game.sgf").write_bytes(b"(;SZ[5]HA[2]AB[aa][ee];W[cc];B[tt])")
    (tmp_path / "broken.sgf").write_bytes(b"(;SZ[9];B[aa];W[aa])")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def fuzz(game: str, sessions: int, derandomize: bool) -> Counter[str]:
    seen: Counter[str] = Counter()

    @settings(max_examples=sessions, deadline=None, derandomize=derandomize, database=None, suppress_health_check=list(HealthCheck))
    @given(st.lists(lines_of(game), min_size=LINES_A_SESSION, max_size=LINES_A_SESSION))
    def sessions_hold(lines: list[str]) -> None:
        check_session(game, lines, seen)

    sessions_hold()
    return seen


def check_coverage(game: str, seen: Counter[str], lines: int) -> None:
    """Enough lines, at least half of them by the grammar, and every command of the game among them."""
    assert seen["grammar"] + seen["noise"] >= lines
    assert seen["grammar"] >= lines / 2
    assert set(names(game)) - {"quit"} <= seen.keys()


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(("game", "sessions"), [("go", 180), ("othello", 120), ("connect4", 120)])
def test_some_thousand_lines(game: str, sessions: int) -> None:
    check_coverage(game, fuzz(game, sessions, derandomize=True), sessions * LINES_A_SESSION * 9 // 10)


@pytest.mark.slow
@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("game", WEIGHTS)
def test_a_hundred_thousand_lines(game: str) -> None:
    seen = fuzz(game, 2_600, derandomize=False)
    check_coverage(game, seen, 100_000)
    print(f"{seen['grammar'] + seen['noise']:,} lines: {dict(seen.most_common())}")
