"""The match loop with scripted players, and the command line with its files."""

from __future__ import annotations

import csv
import errno
import itertools
import json
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NoReturn

import pytest
from sgfmill.sgf import Sgf_game

from gozero import games
from gozero.games import coords
from gozero.games.game import BLACK, WHITE, Game
from gozero.games.position import Position
from training.commands import match as command
from training.matches import arena
from training.matches.match import MatchGame, MatchSettings, distinct_games, play_match, winner_named
from training.matches.players import Fault, RandomPlayer, Turn

SIZE = 5
PASS, RESIGN = coords.pass_action(SIZE), coords.resign_action(SIZE)
Rule = Callable[[Position], int | Fault]


class Scripted:
    """A player that follows a rule and remembers what it was asked."""

    def __init__(self, rule: Rule, claim: str | None = None, name: str = "scripted") -> None:
        self.rule, self.claim, self.name = rule, claim, name
        self.begun: list[int] = []
        self.largest_batch = 0

    def begin(self, slot: int, *, seed: int) -> Fault | None:
        self.begun.append(seed)
        return None

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        assert len({turn.slot for turn in turns}) == len(turns)
        self.largest_batch = max(self.largest_batch, len(turns))
        return [self.rule(turn.position) for turn in turns]

    def final_score(self, turn: Turn) -> str | None:
        return self.claim

    def close(self) -> None:
        pass


def follow(*vertices: str) -> Rule:
    """At ply k play vertices[k]; pass after the last."""
    return lambda position: coords.parse_vertex(vertices[position.ply], SIZE) if position.ply < len(vertices) else PASS


def always(answer: int | Fault) -> Rule:
    return lambda position: answer


@pytest.fixture(scope="module")
def go() -> Game:
    return games.make("go", size=SIZE, komi=7.5)


def play(
    go: Game, a: Rule, b: Rule, claims: tuple[str | None, str | None] = (None, None), **settings: int
) -> list[MatchGame]:
    players = (Scripted(a, claims[0]), Scripted(b, claims[1]))
    return sorted(play_match(players, go, MatchSettings(**{"games": 2} | settings)), key=lambda record: record.number)


def test_two_passes_end_the_game_and_the_board_is_counted(go: Game) -> None:
    first, second = play(go, always(PASS), always(PASS))
    assert (first.result, first.ended, first.black, first.winner) == ("W+7.5", "two passes", 0, 1)
    assert (second.black, second.winner) == (1, 0)
    centre = play(go, follow("C3"), follow("C3"))[0]
    assert (centre.result, centre.winner, len(centre.moves)) == ("B+17.5", 0, 3)


def test_a_resignation_ends_the_game_without_a_count(go: Game) -> None:
    first, second = play(go, always(RESIGN), always(PASS), claims=("B+1.5", "B+1.5"))
    assert (first.result, first.winner, first.ended, first.claims) == ("W+R", 1, "resignation", (None, None))
    assert (second.result, second.winner) == ("B+R", 1)


def test_an_illegal_move_loses_its_game_and_is_explained(go: Game) -> None:
    first, second = play(go, follow("C3"), follow("C3", "C3"))
    assert (first.result, first.winner, first.ended) == ("B+F", 0, "illegal move")
    assert "C3" in first.detail
    assert second.ended == "two passes"


@pytest.mark.parametrize(("games", "lost"), [(10, 3), (2, 2)])
def test_a_match_stops_after_three_illegal_games_in_a_row(
    games: int, lost: int, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program = tmp_path / "engine.py"
    program.write_text("import sys\nfor line in sys.stdin:\n    print('=' + line.split()[0] + ' A9\\n', flush=True)\n")
    engine = f"gtp:{sys.executable} -S '{program}'"
    code = command.main(["random", engine, "--size", "5", "--games", str(games), "--csv", str(tmp_path / "games.csv")])
    said = capsys.readouterr()
    assert code == 2
    assert "A scored" not in said.out and f"lost {lost} games in a row by illegal moves" in said.err
    assert len(list(csv.DictReader((tmp_path / "games.csv").open()))) == lost


def test_the_referee_knows_ko(go: Game) -> None:
    ko = ("C4", "D4", "B3", "E3", "C2", "D2", "A1", "C3", "D3", "C3")  # White takes back at once
    first, _ = play(go, follow(*ko), follow(*ko))
    assert (first.ended, len(first.moves), first.winner) == ("illegal move", 9, 0)


def test_a_failing_player_loses_its_games_but_not_the_match(go: Game) -> None:
    records = play(go, always(Fault("failure", "engine x: ended without answering")), always(PASS), games=4)
    assert [record.ended for record in records] == ["failure"] * 4
    assert [record.winner for record in records] == [1] * 4
    assert {record.detail for record in records} == {"engine x: ended without answering"}


def test_a_player_that_cannot_begin_loses_that_game(go: Game) -> None:
    class Unready(Scripted):
        def begin(self, slot: int, *, seed: int) -> Fault | None:
            super().begin(slot, seed=seed)
            return Fault("refusal", "unacceptable size") if len(self.begun) == 1 else None

    records = list(play_match((Unready(always(PASS)), Scripted(always(PASS))), go, MatchSettings(games=2)))
    assert [record.ended for record in records] == ["refusal", "two passes"]
    assert records[0].winner == 1


def test_the_move_limit_counts_the_board(go: Game) -> None:
    first, _ = play(go, follow("C3", "pass", "B2", "pass"), follow("C3", "pass", "B2", "pass"), max_moves=3)
    assert (first.ended, len(first.moves), first.result) == ("move limit", 3, "B+17.5")


@pytest.mark.parametrize("plies", [3, 4])
def test_a_game_without_points_that_is_cut_is_drawn(plies: int) -> None:
    moves = ("A5", "B5", "C5", "D5")  # of a board of SIZE: the first four points of this one
    first, _ = play(games.make("tictactoe"), follow(*moves), follow(*moves), max_moves=plies)
    assert (first.ended, first.result, first.winner) == ("move limit", "0", None)


def test_pairs_share_an_opening_and_swap_colours(go: Game) -> None:
    records = play(go, always(PASS), always(PASS), games=6, opening_moves=4)
    openings = [record.moves[:4] for record in records]
    assert [record.black for record in records] == [0, 1, 0, 1, 0, 1]
    assert openings[0] == openings[1] and openings[2] == openings[3]
    assert len(set(openings)) == 3
    assert distinct_games(records) == 3
    assert [colour for colour, _ in openings[0]] == [BLACK, WHITE, BLACK, WHITE]


def test_games_in_parallel_are_the_same_games(go: Game) -> None:
    def match(parallel: int) -> list[MatchGame]:
        settings = MatchSettings(games=8, parallel=parallel, seed=5)
        return sorted(play_match((RandomPlayer(), RandomPlayer()), go, settings), key=lambda record: record.number)

    serial = match(1)
    assert match(3) == serial
    assert match(8) == serial
    assert distinct_games(serial) == 8


def test_all_waiting_games_are_asked_about_together(go: Game) -> None:
    player = Scripted(follow("C3", "B2"))
    list(play_match((player, Scripted(always(PASS))), go, MatchSettings(games=8, parallel=8)))
    assert player.largest_batch == 8


@pytest.mark.parametrize(
    ("claims", "agreed"),
    [
        ((None, None), True),
        (("W+7.5", "W+3"), True),
        (("B+1.5", None), False),
        (("W+7.5", "cannot score"), False),
        ((None, "0"), False),
    ],
)
def test_players_must_name_the_referees_winner(go: Game, claims: tuple[str | None, str | None], agreed: bool) -> None:
    record = play(go, always(PASS), always(PASS), claims=claims)[0]
    assert (record.claims, record.agreed) == (claims, agreed)
    assert ("do not name the referee's winner" in arena.row(record)) is not agreed


@pytest.mark.parametrize(
    ("text", "winner"), [("B+3.5", BLACK), ("w+R", WHITE), ("0", 0), ("Draw", 0), ("?", None), ("cannot score", None)]
)
def test_winner_named(text: str, winner: int | None) -> None:
    assert winner_named(text) == winner


def test_the_command_line_lists_and_saves_every_game(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    sgfs, table, document = tmp_path / "games", tmp_path / "games.csv", tmp_path / "match.json"
    where = ["--sgf", str(sgfs), "--csv", str(table), "--json", str(document)]
    assert command.main(["random", "random", "--size", "5", "--games", "4", "--seed", "3", *where]) == 0
    output = capsys.readouterr().out
    assert "of 4 = " in output and "two passes 4" in output and "different games: 4 of 4" in output
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    saved = json.loads(document.read_text(encoding="utf-8"))
    assert [row["game"] for row in rows] == ["1", "2", "3", "4"]
    assert [game["moves"] for game in saved["games"]] == [row["moves"] for row in rows]
    assert saved["result"]["wins"] == sum(row["winner"] == "A" for row in rows)
    game = Sgf_game.from_bytes((sgfs / "game-002.sgf").read_bytes())
    assert (game.get_size(), game.get_komi(), game.get_root().get("RE")) == (5, 7.5, rows[1]["result"])
    assert len(game.get_main_sequence()) - 1 == len(rows[1]["moves"].split()) // 2


@pytest.mark.parametrize(
    ("name", "board"),
    [("tictactoe", "tictactoe 3x3"), ("connect4", "connect4 7x6"), ("othello", "othello 8x8, standard")],
)
def test_any_game_has_its_own_size_and_results(
    name: str, board: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    table = tmp_path / "games.csv"
    assert (
        command.main(["uct:4", "random", "--game", name, "--games", "4", "--opening-moves", "5", "--csv", str(table)])
        == 0
    )
    assert f"{board}; MatchSettings(games=4" in capsys.readouterr().out
    game = games.make(name)
    for row in csv.DictReader(table.open(encoding="utf-8")):
        position = Position(game)
        for vertex in row["moves"].split()[1::2]:
            position.play(coords.parse_vertex(vertex, game.cols, game.rows))
        assert position.is_over
        assert row["result"] in ("0", "B+", "W+") or name == "othello"
        assert (winner_named(row["result"]) or None) == (
            None if not row["winner"] else BLACK if row["winner"] == row["black"] else WHITE
        )


def test_openings_that_always_end_the_game_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main(["random", "random", "--game", "tictactoe", "--opening-moves", "9", "--games", "2"]) == 2
    said = capsys.readouterr().err
    assert said == ("gozero match: 9 random plies end nearly every game of tictactoe: take fewer opening moves\n")


def test_games_go_on_after_long_openings() -> None:
    """Of the lines of eight plies most end tic-tac-toe; here each game has a ninth, which the players make."""
    settings = MatchSettings(games=6, opening_moves=8)
    players = (RandomPlayer(), RandomPlayer())
    assert {len(record.moves) for record in play_match(players, games.make("tictactoe"), settings)} == {9}


def test_an_interruption_is_one_line(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def play_match(*_: object) -> NoReturn:
        raise KeyboardInterrupt

    monkeypatch.setattr(arena, "play_match", play_match)
    assert command.main(["random", "random", "--game", "tictactoe"]) == 130
    assert capsys.readouterr().err == "gozero match: interrupted; no game was finished\n"


def test_an_interrupted_match_keeps_its_finished_games(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    whole = arena.play_match

    def play_match(*match: Any) -> Iterator[MatchGame]:
        yield from itertools.islice(whole(*match), 3)
        raise KeyboardInterrupt

    monkeypatch.setattr(arena, "play_match", play_match)
    table, document = tmp_path / "games.csv", tmp_path / "match.json"
    match = ["random", "random", "--game", "tictactoe", "--games", "8", "--csv", str(table), "--json", str(document)]
    assert command.main(match) == 130
    assert len(table.read_text().splitlines()) == 1 + 3
    assert len(json.loads(document.read_text())["games"]) == 3
    kept = f"3 of 8 games were finished and are kept in {table} and {document}"
    assert capsys.readouterr().err == f"gozero match: interrupted; {kept}\n"
    assert command.main(match[:-4]) == 130
    assert capsys.readouterr().err == "gozero match: interrupted; 3 of 8 games were finished, listed above\n"


def test_a_game_is_in_the_list_as_soon_as_it_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A process that is killed leaves its finished games: nothing waits for the end of the match."""
    whole, table, lines = arena.play_match, tmp_path / "games.csv", []
    table.write_text("of an earlier match\n")

    def play_match(*match: Any) -> Iterator[MatchGame]:
        for record in whole(*match):
            yield record
            lines.append(table.read_text(encoding="utf-8").splitlines())

    monkeypatch.setattr(arena, "play_match", play_match)
    match = ["random", "random", "--game", "tictactoe", "--games", "6", "--parallel", "4", "--csv", str(table)]
    assert command.main(match) == 0
    assert [len(found) for found in lines] == [2, 3, 4, 5, 6, 7]
    assert all(found[0].startswith("black,winner") for found in lines)
    rows = list(csv.DictReader(table.open(encoding="utf-8")))
    assert [row["game"] for row in rows] == ["1", "2", "3", "4", "5", "6"], "in order at the end"


def test_a_bug_is_no_error_of_the_users(monkeypatch: pytest.MonkeyPatch) -> None:
    """A ValueError that no check of ours has raised leaves with its traceback, so that it can be reported."""

    def broken(*_: object) -> NoReturn:
        raise ValueError("operands could not be broadcast together")

    monkeypatch.setattr(arena, "play_match", broken)
    with pytest.raises(ValueError, match="broadcast"):
        command.main(["random", "random", "--game", "tictactoe"])


def test_a_disk_that_fails_is_one_line_and_what_was_finished_is_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    write, table, document = arena.write_csv, tmp_path / "games.csv", tmp_path / "match.json"

    def full(path: Path, *given: Any, **more: Any) -> None:
        if path.exists() and len(path.read_text().splitlines()) > 2:
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        write(path, *given, **more)

    monkeypatch.setattr(arena, "write_csv", full)
    match = ["random", "random", "--game", "tictactoe", "--games", "6", "--csv", str(table), "--json", str(document)]
    assert command.main(match) == 2
    why = "No space left on device; what it held before is kept"
    assert capsys.readouterr().err == f"gozero match: cannot write {table}: {why}\n"
    assert len(table.read_text().splitlines()) == 1 + 2
    assert len(json.loads(document.read_text())["games"]) == 3


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["random", "random", "--game", "chess", "--size", "8"], "unknown game 'chess'"),
        (["random", "random", "--game", "nogo", "--komi", "3"], "nogo has no setting 'komi'"),
        (["random", "random", "--game", "gomoku", "--sgf", "/tmp/never"], "--sgf saves games of Go only"),
        (["random", "strong"], "no player is called 'strong'"),
        (["random", "random", "--games", "3"], "games must be even"),
        (["random", "random", "--csv", "/nowhere/x.csv"], "cannot write /nowhere/x.csv: there is no folder /nowhere"),
        (["random", "random", "--json", "/"], "cannot write /: it is a folder"),
        (["random", "random", "--sgf", __file__], f"cannot write into {__file__}: File exists"),
        (["random", "random", "--komi", "1e9"], "--komi 1e+09: expected -1000 to 1000"),
        (["random", "random", "--seed", "-1"], "the seed must be from 0 to 9223372036854775807, not -1"),
        (["random", "random", "--size", "99"], "99"),
        (["random", "random", "--rules", "martian"], "martian"),
        (["random", "random", "--move-seconds", "1e10"], "expected a number above 0, at most 1,000,000"),
        (["random", "random", "--parallel", "0"], "parallel and max_moves must be at least 1"),
        (["random", "random", "--threads", "0"], "0 threads cannot evaluate: expected 1 or more"),
        (["random", "random", "--move-seconds", "0"], "a move cannot have 0 seconds"),
        (["random", "gtp:no-such-engine"], "cannot start the engine 'no-such-engine'"),
        (["random", "weights:/nowhere/x.pt:10"], "/nowhere/x.pt"),
    ],
)
def test_a_bad_request_is_one_clear_line(
    arguments: list[str], message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert command.main(["--size", "5", *arguments]) == 2
    complaint = capsys.readouterr().err
    assert message in complaint
    assert complaint.count("\n") == 1
