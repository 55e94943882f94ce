"""Every kind of player answers legally, and a bad description or a failing engine is one clear line."""

from __future__ import annotations

import sys
import threading
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

from gozero import games
from gozero.games import coords
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.play.time_controls import TimeLeft
from gozero.system.errors import UserError
from tests import ROOT
from tests.training.matches.test_match import winner
from tests.training.matches.test_perfect import position_of
from tests.training.refusals import one_line
from training.matches import players
from training.matches.match import play_match
from training.matches.players import (
    Conditions,
    Fault,
    MatchPlayer,
    PlayerError,
    RandomPlayer,
    Turn,
    open_player,
    play_at_random,
    random_action,
)

SIZE = 5


def test_random_moves_are_uniform_over_all_but_own_eyes(go: Game) -> None:
    # Black has an eye in the corner A5; White nothing. Black to play.
    position = position_of(go, "A4", "C3", "B5", "D3", "B4", "pass")
    generator = np.array([7], np.uint64)
    counts = Counter(random_action(position, generator) for _ in range(6000))
    eye = coords.parse_vertex("A5", SIZE)
    expected = set(np.flatnonzero(position.legal())) - {eye, go.pass_action}
    assert set(counts) == expected
    mean = 6000 / len(expected)
    assert all(abs(count - mean) < 6 * mean**0.5 for count in counts.values())


def test_random_passes_only_when_nothing_else_is_left(go: Game) -> None:
    player = RandomPlayer()
    for record in play_match((player, RandomPlayer()), go, games=10, parallel=10):
        assert record.ended == "two passes"
        assert len(record.moves.split()) > 2 * SIZE * SIZE


def gtp_game(description: str, go: Game) -> tuple[MatchPlayer, list]:
    player = open_player(description, Conditions(go, 7.5, move_seconds=20.0))
    records: list = []
    with closing(player), suppress(PlayerError):  # who loses both games by illegal moves
        records.extend(play_match((player, RandomPlayer()), go, games=2))
    return player, records


def test_a_gtp_engine_hears_the_set_up_and_every_foreign_move_once(toy: str, go: Game) -> None:
    player, records = gtp_game(f"{toy} echoes", go)
    assert player.name == "Toy"
    assert {record.ended for record in records} == {"two passes"}
    record = records[0]
    claim, none = record.claims
    assert none is None
    assert claim is not None and claim.startswith(f"name,boardsize {SIZE},komi 7.5,clear_board,")
    heard = [word.split() for word in claim.split(",") if word.split()[0] in ("play", "genmove")]
    whole = [("play" if colour == "W" else "genmove", colour) for colour in record.moves.split()[::2]]
    assert len(heard) > 20  # the end of a long claim is cut off
    assert [(words[0], words[1].upper()) for words in heard[:-1]] == whole[: len(heard) - 1]


def test_outside_go_an_engine_may_refuse_to_be_told_a_pass(toy: str) -> None:
    game = games.make("othello", size=4)
    lines = (play_at_random(Position(game), 8, np.array([seed], np.uint64)) for seed in range(1000))
    passed = (line for line in lines if any(action == game.pass_action for _, action in line.moves))
    position = next(line for line in passed if not line.is_over)
    with closing(open_player(f"{toy} no-passes", Conditions(game, 0.0))) as player:
        player.begin(0, seed=1)
        assert player.choose([Turn(0, position)]) == [game.pass_action]


def test_a_gtp_engine_is_told_its_clock_and_plays_on_after_it_begins_again(toy: str, go: Game) -> None:
    with closing(open_player(f"{toy} echoes", Conditions(go, 7.5, clock=(60, 5.5, 3)))) as player:
        player.begin(0, seed=1)
        position = position_of(go, "C3")
        player.choose([Turn(0, position, left=TimeLeft(59.7), limit=20)])
        position.play(go.pass_action)
        player.begin(0, seed=1)  # its move was not played, another was: it hears the whole game
        player.choose([Turn(0, position, left=TimeLeft(0.4, 2))])
        log = player.final_score(Turn(0, position))
    assert log is not None
    begun = [f"boardsize {SIZE}", "komi 7.5", "clear_board", "time_settings 60 5 3"]
    first = ["play b C3", "time_left w 59 0", "genmove w"]
    second = ["play b C3", "play w pass", "time_left b 0.4 2", "genmove b"]
    assert log.split(",")[1 : len([*begun, *first, *begun, *second]) + 1] == [*begun, *first, *begun, *second]


def test_an_engine_that_still_thinks_is_not_waited_for(tmp_path: Path, go: Game) -> None:
    """It thinks until nobody asks it any more; that is less than the minute that its answer may take."""
    program = tmp_path / "thinker.py"
    program.write_text(
        "import sys\n"
        "while not (line := sys.stdin.readline()).count('genmove'):\n"
        "    print('= 2\\n', flush=True)\n"
        f"open({str(tmp_path / 'asked')!r}, 'w').close()\n"
        "sys.stdin.read()\n"
    )
    player = open_player(f"gtp:{sys.executable} -S {program}", Conditions(go, 7.5, move_seconds=60))
    player.begin(0, seed=1)
    answers: list = []
    thinking = threading.Thread(target=lambda: answers.extend(player.choose([Turn(0, Position(go))])))
    thinking.start()
    while thinking.is_alive() and not (tmp_path / "asked").exists():
        thinking.join(0.01)
    player.close()
    thinking.join()
    assert isinstance(answers[0], Fault) and "ended without answering" in answers[0].text, "it was not waited for"


def test_fixed_always_gives_the_same_sensible_move(go: Game) -> None:
    player, position = open_player("fixed", Conditions(go, 7.5)), Position(go)
    assert player.choose([Turn(0, position)]) == player.choose([Turn(1, position)]) == [0]
    for record in play_match((player, RandomPlayer()), go, games=4, parallel=4):
        assert record.ended == "two passes" and record.detail == ""


@pytest.mark.parametrize(
    ("trouble", "ended", "detail"),
    [
        ("refuses", "refusal", "answered '? illegal move' to 'play"),
        ("Z9", "illegal move", "answered genmove with 'Z9'"),
        ("dies", "failure", "ended without answering (exit status 3), last command 'genmove"),
    ],
)
def test_a_troubled_engine_loses_its_games_with_a_reason(
    toy: str, go: Game, trouble: str, ended: str, detail: str
) -> None:
    _, records = gtp_game(f"{toy} {trouble}", go)
    assert [record.ended for record in records] == [ended] * 2
    assert [winner(record) for record in records] == [1, 1]
    assert all(detail in record.detail and "\n" not in record.detail for record in records)


def test_an_engine_that_reads_words_plays_its_games() -> None:
    game = games.make("nogo", size=9)
    engine = ROOT / "tests" / "gtp" / "word_engine.py"
    conditions = Conditions(game, 0.0, clock=(600, 0, 0))
    with closing(open_player(f"gtp:{sys.executable} -S '{engine}' 100", conditions)) as player:
        records = list(play_match((player, RandomPlayer()), game, games=4, opening_moves=2))
    assert player.name == "words"
    assert {record.ended for record in records} <= {"resignation", "game end"}
    assert all(record.agreed and len(record.moves.split()) > 2 * 10 for record in records)


SLOPPY = """
import sys
discs = {}
for line in sys.stdin:
    word, *rest = line.lstrip("0123456789").split()  # the ID and the colours mean nothing to it
    answer = ""
    if word == "play":
        discs[rest[1][0]] += 1
    elif word == "genmove":
        column = next(column for column in discs if discs[column] < 6)
        discs[column] += 1
        answer = column + str(discs[column])
    elif word == "clear_board":
        discs = dict.fromkeys("ABCDEFG", 0)
    elif word != "quit":
        answer = None
    sys.stdout.write("\\r\\n?what is that\\r\\n\\r\\n" if answer is None else f"={answer}\\r\\n\\r\\n")
    sys.stdout.flush()
    if word == "quit":
        break
"""


def test_a_sloppy_engine_plays_on(tmp_path: Path) -> None:
    program = tmp_path / "sloppy.py"
    program.write_text(SLOPPY)
    game = games.make("connect4")
    with closing(open_player(f"gtp:{sys.executable} -S {program}", Conditions(game, 0.0, parallel=2))) as player:
        records = list(play_match((player, RandomPlayer()), game, games=4, parallel=2, opening_moves=3))
    assert player.name.endswith("sloppy.py")  # it knows neither name nor boardsize nor final_score
    assert {record.ended for record in records} == {"game end"}
    assert {record.claims for record in records} == {(None, None)}


def test_a_perfect_player_loses_to_nobody_from_a_position_that_is_not_lost() -> None:
    game = games.make("tictactoe")
    player = open_player("perfect", Conditions(game, 0.0, parallel=8))
    records = list(play_match((player, RandomPlayer()), game, games=8, parallel=8))
    as_black = [winner(record) for record in records if record.index % 2 == 0]
    assert 1 not in as_black
    assert sum(winner(record) == 0 for record in records) >= 6
    itself = list(play_match((player, open_player("perfect", Conditions(game, 0.0))), game, games=2))
    assert [record.result for record in itself] == ["0"] * 2


@pytest.mark.gnugo
def test_gnu_go_and_the_referee_agree_on_legality_and_result() -> None:
    go = games.make("go", size=7, komi=7.5)
    gnugo = "gtp:gnugo --mode gtp --level 1 --seed 1 --chinese-rules --positional-superko --capture-all-dead"
    with closing(open_player(gnugo, Conditions(go, 7.5))) as player:
        records = list(play_match((player, RandomPlayer()), go, games=4))
    assert [record.ended for record in records] == ["two passes"] * 4
    assert all(record.agreed and record.claims[0] for record in records)
    assert [winner(record) for record in records] == [0] * 4


def test_uct_selects_by_ucb1_and_rollout_puct_by_puct(go: Game) -> None:
    uct, puct = (open_player(f"{kind}:60", Conditions(go, 7.5)) for kind in ("uct", "puct-rollout"))
    assert (uct.name, puct.name) == ("plain UCT, 60 rollouts", "rollout PUCT, 60 rollouts")
    assert isinstance(uct, players.SearchPlayer) and isinstance(puct, players.SearchPlayer)
    assert uct._search.settings.c_uct == 2.0
    assert (puct._search.settings.c_uct, puct._search.settings.c_puct) == (0.0, 5.0)


@pytest.mark.parametrize("kind", ["uct", "puct-rollout"])
def test_rollouts_beat_random_in_many_games_at_once(kind: str, go: Game) -> None:
    player = open_player(f"{kind}:60", Conditions(go, 7.5, parallel=10))
    records = list(play_match((player, RandomPlayer()), games.make("go", size=SIZE, komi=0.5), games=10, parallel=10))
    assert sum(winner(record) == 0 for record in records) >= 9
    assert {record.ended for record in records} == {"two passes"}


@pytest.mark.parametrize(
    ("description", "message"),
    [
        ("", "no player is called ''"),
        ("rand", "weights:FILE:N, weights:FILE:policy, gtp:COMMAND, course:FOLDER:STRATEGY, python:FILE:FUNCTION or perfect"),
        ("gtp:", "no player is called 'gtp:'"),
        ("uct:many", "'many' is not a number of visits"),
        ("uct:0", "'0' is not a number of visits"),
        ("uct:00", "'00' is not a number of visits"),
        ("uct:10000001", "10000001 visits a move are too many: expected at most 10,000,000"),
        (f"uct:{'9' * 20}", f"in 'uct:{'9' * 20}', {'9' * 20} visits a move are too many"),
        (f"uct:{'9' * 5000}", "visits a move are too many"),
        ("weights:a.pt:99999999999999999999", "visits a move are too many"),
        ("course:folder:val_and_pol:99999999999", "in 'course:folder:val_and_pol:99999999999', 99999999999 visits a move"),
        ("weights:100", "no player is called 'weights:100'"),
        ("weights:a.pt:-3", "'-3' is not a number of visits: expected a whole number above 0, or policy"),
        ("uct:policy", "'policy' is not a number of visits: expected a whole number above 0"),
        ("weights:a.pt:bf16", "'bf16' is not a number of visits"),
        ("weights:a.pt:64:int4", "'int4' is not a number of visits"),
        ("python:", "no player is called 'python:'"),
        ("python:no-such:choose", "there is no file no-such.py"),
        ("python:.:choose", "there is no file .py"),
        ("montecarlo:5", "no player is called"),
        ("perfect", "there is no perfect player of go"),
        ("gtp:no-such-engine --gtp", "cannot start the engine 'no-such-engine --gtp'"),
    ],
)
def test_a_bad_description_is_one_clear_line(description: str, message: str, go: Game) -> None:
    with one_line(UserError, message):
        open_player(description, Conditions(go, 7.5))


def test_more_visits_than_a_board_has_room_for_are_refused() -> None:
    with pytest.raises(PlayerError, match=r"a search of this board has room for 5,9[0-9,]+ visits; give no more"):
        open_player("uct:8000000", Conditions(games.make("go", size=19), 7.5))
