"""The distance to perfect play: which positions are judged, what counts as keeping their value, and the command."""

from __future__ import annotations

import re
import sys
from collections.abc import Sequence

import numpy as np
import pytest

from gozero import games
from gozero.games.game import Game
from tests import ROOT
from tests.fixed_player import FixedEvaluator
from tests.training.refusals import Refused
from training.commands import truth as command
from training.elo import MatchScore
from training.matches import perfect, truth
from training.matches.interface import Conditions
from training.matches.players import Fault, PerfectPlayer, PlayerError, RandomPlayer, SearchPlayer, Turn, match_search

TTT = ["--weights", str(ROOT / "weights" / "ttt.pt")]


@pytest.fixture(scope="module")
def game() -> Game:
    return games.make("tictactoe")


@pytest.fixture(scope="module")
def solver(game: Game) -> perfect.Solver:
    return perfect.solver(game)


class Blunderer(RandomPlayer):
    """Plays the worst move there is."""

    def __init__(self, solver: perfect.Solver) -> None:
        super().__init__()
        self._solver = solver

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        worst = []
        for turn in turns:
            values = self._solver.values(turn.position.state)
            worst.append(min(values, key=values.__getitem__))
        return worst


class Mute(RandomPlayer):
    """Has no answer."""

    def choose(self, turns: Sequence[Turn]) -> list[int | Fault]:
        return [Fault("failure", "it says nothing") for _ in turns]


def test_positions_are_distinct_and_their_moves_differ(game: Game, solver: perfect.Solver) -> None:
    judged = truth.positions(game, solver, 60, 1, PerfectPlayer(solver))
    assert [case.own for case in judged] == [True] * 30 + [False] * 30
    assert len({str(case.position) for case in judged}) == 60
    for case in judged:
        assert 4 <= case.position.ply <= 30
        assert case.values.keys() == set(np.flatnonzero(case.position.legal()).tolist())
        assert min(case.values.values()) < max(case.values.values()), str(case.position)


def test_the_same_seed_finds_the_same_positions(game: Game, solver: perfect.Solver) -> None:
    first, again, other = (
        [case.position.moves for case in truth.positions(game, solver, 40, seed, PerfectPlayer(solver))]
        for seed in (1, 1, 2)
    )
    assert first == again != other


def test_a_small_game_gives_what_it_has() -> None:
    game = games.make("nogo", size=3)
    found = len(truth.positions(game, perfect.solver(game), 10_000, 1))
    assert 300 < found < 10_000
    tiny = games.make("nogo", size=2)  # over before ply 4
    assert truth.positions(tiny, perfect.solver(tiny), 10, 1) == []


def test_perfect_play_keeps_all_and_a_blunderer_nothing(game: Game, solver: perfect.Solver) -> None:
    judged = truth.positions(game, solver, 70, 1)
    shares = {
        player.name: truth.kept_values(judged, truth.player_choices(player, judged))
        for player in (PerfectPlayer(solver), Blunderer(solver))
    }
    assert shares == {"perfect": MatchScore(70, 0), "random": MatchScore(0, 70)}
    report = shares["random"].report()
    assert (report["score"], report["low"]) == (0, 0)
    assert report["high"] == pytest.approx(0.052, abs=5e-4)


def test_the_policy_chooses_among_legal_moves(game: Game, solver: perfect.Solver) -> None:
    judged = truth.positions(game, solver, 40, 1)
    for sign, end in ((-1, min), (1, max)):
        conditions = Conditions(game, 0.0, parallel=truth.PARALLEL)
        evaluator = FixedEvaluator(game, logits=sign * np.arange(game.actions, dtype=np.float32))
        policy = SearchPlayer("policy", evaluator, 1, match_search(1, conditions), conditions)
        assert truth.player_choices(policy, judged) == [end(case.values) for case in judged]


def test_games_against_perfect_play_are_counted_by_colour(game: Game, solver: perfect.Solver) -> None:
    """One game with each colour would have called this player whatever its one game came to."""
    first, second = truth.against_perfect(PerfectPlayer(solver), solver, game, 1)
    assert first == "as first player against perfect play: 1 game: 0 won, 1 drawn, 0 lost"
    assert second == "as second player against perfect play: 1 game: 0 won, 1 drawn, 0 lost"
    first, second = truth.against_perfect(RandomPlayer(), solver, game, 1, 20)
    assert first == "as first player against perfect play: 20 games, 20 different: 0 won, 6 drawn, 14 lost"
    assert re.fullmatch("as second player against perfect play: 20 games, 20 different: 0 won, [01] drawn, (19|20) lost", second)


def test_a_player_without_an_answer_is_an_error(game: Game, solver: perfect.Solver) -> None:
    with pytest.raises(PlayerError, match="it says nothing"):
        truth.player_choices(Mute(), truth.positions(game, solver, 3, 1))


def test_the_command_measures_the_shipped_weights(capsys: pytest.CaptureFixture[str]) -> None:
    assert command.main([*TTT, "--visits", "50", "--positions", "80", "--games", "3"]) == 0
    title, words, _, *rows, first, second = capsys.readouterr().out.splitlines()
    assert (title, words[:33]) == ("tictactoe 3x3; ttt.pt, 50 visits; seed 1", "share of moves that keep the valu")
    assert [row.split("%")[0].split()[:-2] for row in rows] == [["all"], ["own", "play"], ["random"]]
    assert [int(row.split("%")[0].split()[-2]) for row in rows] == [80, 40, 40]
    searched, policy = (float(share.rstrip("%")) for share in rows[0].split()[2::4])
    assert searched >= 95
    assert searched >= policy >= 60
    assert re.fullmatch(
        r"as first player against perfect play: 3 games, [123] different: 0 won, 3 drawn, 0 lost", first
    )
    assert re.fullmatch(
        r"as second player against perfect play: 3 games, [123] different: 0 won, 3 drawn, 0 lost", second
    )


def test_the_command_says_how_many_positions_there_were(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(truth, "PLIES", (9, 30))  # no move is left there
    monkeypatch.setattr(truth, "BARREN_GAMES", 3)
    assert command.main([*TTT, "--visits", "2"]) == 0
    assert "0 of 1000 positions were found: 3 games in a row had no new one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--game", "nogo", "--size", "4"], "it plays tictactoe, not nogo"),
        (["--game", "nogo", "--size", "5"], "there is no perfect player of nogo 5x5"),
        (["--size", "4"], "board size 4"),
        (["--weights", "/nowhere/x.pt"], "/nowhere/x.pt"),
        (["--visits", "100000000"], "visits a move are too many"),
        (["--game", "connect4"], "needs bitbully; run: pip install bitbully"),
    ],
)
def test_a_bad_request_is_one_clear_line(
    arguments: list[str], message: str, refused: Refused, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "bitbully", None)
    assert message in refused(command.main, [*TTT, *arguments])
