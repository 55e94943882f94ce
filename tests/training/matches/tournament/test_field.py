"""Fields: what they say, and what they are told when they are wrong."""

from __future__ import annotations

import argparse
from pathlib import Path

import pytest

from gozero.system.options import SettingsError
from tests.training.refusals import one_line
from training.commands.tournament import FOLDER
from training.course.folder import REINFORCED, SUPERVISED, CourseFolder, value_stage
from training.course.networks import PolicyNetwork, ValueNetwork, new_networks
from training.matches.clocks import GameClock
from training.matches.options import add_game
from training.matches.tournament import field as fields
from training.matches.tournament.field import Field
from training.records import scoring

TWO = '[[entrant]]\nplayer = "random"\n[[entrant]]\nplayer = "fixed"\n'


def read(tmp_path: Path, text: str) -> Field:
    path = tmp_path / "field.toml"
    path.write_text(text)
    return fields.load(path)


def test_what_is_not_said_is_the_games_own(tmp_path: Path) -> None:
    go = read(tmp_path, TWO)
    assert (go.game, go.size, go.komi, go.rules, go.kind) == ("go", 13, 7.5, "chinese", "round-robin")
    assert go.names == ["random", "fixed"]
    assert read(tmp_path, f"size = 7\n{TWO}").komi == 9.5
    assert read(tmp_path, f'game = "connect4"\n{TWO}').size == 7


def test_the_help_has_the_usual_komi_of_every_board() -> None:
    add_game(parser := argparse.ArgumentParser())
    usual = {size: f"{scoring.usual_komi('go', size):g}" for size in range(2, 20)}
    others = [f"on {size}x{size} {komi}" for size, komi in usual.items() if komi != usual[13]]
    assert ", ".join([f"(default {usual[13]}", *others]) + ")" in " ".join(parser.format_help().split())


def test_who_meets_whom(tmp_path: Path) -> None:
    four = TWO + '[[entrant]]\nplayer = "uct:1"\n[[entrant]]\nplayer = "uct:2"\n'
    assert len(read(tmp_path, four).pairings) == 6
    assert read(tmp_path, f'kind = "gauntlet"\n{four}').pairings == [("fixed", "random"), ("random", "uct:1"), ("random", "uct:2")]
    two = read(tmp_path, f'kind = "gauntlet"\nchallengers = 2\n{four}')
    assert two.pairings == [("random", "uct:1"), ("random", "uct:2"), ("fixed", "uct:1"), ("fixed", "uct:2")]
    assert read(tmp_path, f'kind = "sprt"\n{TWO}').pairings == [("fixed", "random")]


PAIR = '[[pair]]\na = "{}"\nb = "{}"\n'


def test_pairs_meet_as_they_are_written(tmp_path: Path) -> None:
    four = TWO + '[[entrant]]\nplayer = "uct:1"\n[[entrant]]\nplayer = "uct:2"\n'
    pairs = PAIR.format("uct:2", "random") + PAIR.format("fixed", "uct:1")
    field = read(tmp_path, f'kind = "pairs"\n{four}{pairs}')
    assert field.pairings == [("random", "uct:2"), ("fixed", "uct:1")]
    assert field.facts["pairs"] == [["uct:2", "random"], ["fixed", "uct:1"]]


@pytest.mark.parametrize(
    ("text", "clock"),
    [
        ('"none"', GameClock()),
        ('"course"', GameClock(course=True)),
        ("5", GameClock(byoyomi=5)),
        ("0.5", GameClock(byoyomi=0.5)),
        ("{ main = 60, byoyomi = 5 }", GameClock(main=60, byoyomi=5)),
    ],
)
def test_clocks(text: str, clock: GameClock, tmp_path: Path) -> None:
    assert read(tmp_path, f"clock = {text}\n{TWO}").clock == clock


def test_a_clock_or_a_program_of_its_own_means_one_game_at_once_in_a_process(tmp_path: Path) -> None:
    assert read(tmp_path, TWO).together == fields.TOGETHER
    assert read(tmp_path, f"clock = 5\n{TWO}").together == 1
    assert read(tmp_path, TWO + '[[entrant]]\nplayer = "gtp:gnugo --mode gtp"\n').together == 1


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("szie = 9\n" + TWO, "unknown setting 'szie'; known here: entrant, game, size"),
        ('game = "chess"\n' + TWO, "game = 'chess': choose one of breakthrough, connect4"),
        ('size = "9"\n' + TWO, "size = '9': expected a whole number"),
        ("size = 99\n" + TWO, "size = 99 is out of range: from 0 to 25"),
        (TWO + '[[entrant]]\nplayer = "weights:best.pt:5:speed=2"\n', "no search setting is named 'speed'"),
        (TWO + '[[entrant]]\nplayer = "weights:best.pt:5:leaves=two"\n', "leaves = 'two': expected int"),
        (TWO + '[[entrant]]\nplayer = "weights:best.pt:5:lcb=-1"\n', "search setting lcb is -1"),
        ('kind = "swiss"\n' + TWO, "kind = 'swiss': choose one of round-robin, gauntlet, sprt"),
        ("games = 3\n" + TWO, "games = 3: expected an even number"),
        ('rules = "martian"\n' + TWO, "martian"),
        ('game = "nogo"\nkomi = 3\n' + TWO, "komi = 3: nogo has no komi"),
        ('game = "gomoku"\nrules = "chinese"\n' + TWO, "chinese"),
        ('clock = "fast"\n' + TWO, "clock = 'fast': expected none, course, the seconds of a move"),
        ("clock = 0\n" + TWO, "clock = {'byoyomi': 0}: expected none"),
        ("clock = { byoyomi = -1 }\n" + TWO, "clock: byoyomi = -1.0 is out of range"),
        ("clock = { stones = 3 }\n" + TWO, "clock = {'stones': 3}: expected none"),
        ("clock = { main = 3, periods = 3 }\n" + TWO, "clock: unknown setting 'periods'"),
        ('kind = "sprt"\nsprt = { elo0 = 5, elo1 = 5 }\n' + TWO, "elo1 = 5: expected more than elo0 = 5"),
        ('kind = "sprt"\nsprt = { alpha = 2 }\n' + TWO, "sprt: alpha = 2.0 is out of range"),
        ('kind = "sprt"\n' + TWO + '[[entrant]]\nplayer = "uct:1"\n', "3 [[entrant]]: sprt needs exactly two"),
        ('kind = "gauntlet"\nchallengers = 2\n' + TWO, "challengers = 2: expected fewer than the 2 entrants"),
        ("games = 4\n", "setting 'entrant' is missing"),
        ('[[entrant]]\nplayer = "random"\n', "1 [[entrant]]: round-robin needs at least two"),
        (TWO + '[[entrant]]\nplayer = "ucb:9"\n', "entrant 3: player = 'ucb:9': no player is called 'ucb:9'"),
        (TWO + '[[entrant]]\nname = "x"\n', "entrant 3: player = '': no player is called ''"),
        (TWO + '[[entrant]]\nplayer = "weights:none.pt:policy"\n', "cannot use weights"),
        (TWO + '[[entrant]]\nplayer = "random"\n', "entrants 1 and 3 have the name 'random'"),
        ("games = \n" + TWO, "is not a TOML file"),
        (f"games = {'9' * 5000}", "is not a TOML file"),
        (f"games = {'[' * 5000}", "is not a TOML file"),
        (
            TWO + '[[entrant]]\nplayer = "uct:1"\nname = "a\\u001bb"\n',
            "name = 'a\\x1bb': expected printable characters",
        ),
        (TWO + '[[entrant]]\nplayer = "uct:1"\nname = "a\\nb"\n', "entrant 3: name = 'a\\nb': expected printable"),
        (TWO + '[[entrant]]\nplayer = "gtp:a\\u0000"\n', "entrant 3: name = 'gtp:a\\x00': expected printable"),
        (TWO + '[[entrant]]\nplayer = "uct:1"\nname = "a\\u2028b"\n', "expected printable characters"),
        ("opening_moves = 20\nmax_moves = 20\n" + TWO, "opening_moves = 20: expected fewer than max_moves = 20"),
        ('game = "tictactoe"\nopening_moves = 9\n' + TWO, "9 random plies end nearly every game of tictactoe"),
        (f'kind = "pairs"\n{TWO}', "kind = 'pairs': give at least one [[pair]]"),
        (TWO + PAIR.format("random", "fixed"), "leave out [[pair]], or write kind = 'pairs'"),
        (f'kind = "pairs"\n{TWO}{PAIR.format("random", "uct:3")}', "pair 1: no entrant has the name 'uct:3'"),
        (f'kind = "pairs"\n{TWO}{PAIR.format("fixed", "fixed")}', "pair 1: 'fixed': expected two entrants"),
        (
            f'kind = "pairs"\n{TWO}{PAIR.format("random", "fixed")}{PAIR.format("fixed", "random")}',
            ": expected two entrants, each pair once",
        ),
    ],
)
def test_a_bad_field_is_one_clear_line(text: str, complaint: str, tmp_path: Path) -> None:
    with one_line(SettingsError, complaint):
        read(tmp_path, text)


def make_course(folder: Path) -> None:
    """The files that the stages of the course leave, with networks that have learned nothing."""
    folder.mkdir(parents=True)
    course = CourseFolder.of(folder, "course_go")
    for stage in (value_stage(0), value_stage(1)):
        course.save(stage, "value", new_networks(ValueNetwork, course.game, course.course, 1), {})
    for stage in (SUPERVISED, REINFORCED):
        course.save(stage, "policy", new_networks(PolicyNetwork, course.game, course.course, 1), {})


def test_the_course_preset_says_which_stage_is_missing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(
        SettingsError,
        match=r"no value networks of generation 0 in runs.course-course_go: first run gozero course generations --game course_go ",
    ):
        fields.load(FOLDER / "s1.toml")


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.toml")))
def test_presets_are_sound(path: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    if path.stem == "s1":
        make_course(tmp_path / "runs" / "course-course_go")
        monkeypatch.chdir(tmp_path)
    if path.stem == "release-connect4":
        pytest.importorskip("bitbully")
    assert path.read_text().startswith("# ")
    assert fields.load(path).pairings


def test_a_default_name_is_one_line_whatever_the_command_looks_like(tmp_path: Path) -> None:
    text = TWO + '[[entrant]]\nplayer = """gtp:gnugo\\t--mode gtp\n"""\n'
    assert read(tmp_path, text).names[-1] == "gtp:gnugo --mode gtp"


def test_long_names_are_short_in_files_and_still_differ() -> None:
    names = [fields.file_name(start * 126 + end) for start in "aß本" for end in "xy"]
    assert len(set(names)) == len(names)
    assert all(len(name.encode()) <= fields.LONGEST_NAME for name in names)
    assert fields.file_name("a" * fields.LONGEST_NAME) == "a" * fields.LONGEST_NAME


def test_the_last_opening_that_leaves_a_move_is_allowed(tmp_path: Path) -> None:
    assert read(tmp_path, f'game = "tictactoe"\nopening_moves = 8\n{TWO}').opening_moves == 8
    assert read(tmp_path, f"opening_moves = 19\nmax_moves = 20\n{TWO}").max_moves == 20


def test_another_file_of_weights_under_the_same_name_is_another_fact(small_weights: Path, tmp_path: Path) -> None:
    copy = tmp_path / "net.pt"
    copy.write_bytes(small_weights.read_bytes())
    text = TWO + f'[[entrant]]\nname = "net"\nplayer = "weights:{copy}:4"\n'
    before = read(tmp_path, text).facts
    copy.write_bytes(small_weights.read_bytes() + b"\n")
    assert before["entrants"]["net"] != read(tmp_path, text).facts["entrants"]["net"]
