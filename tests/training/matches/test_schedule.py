"""Schedules of more than two players: games of all pairs share the batches, and are taken as there is room."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator

import pytest

from gozero import games
from gozero.games.game import Game
from tests.training.matches.test_match import PASS, Scripted, always, follow
from training.matches.match import Fixture, fixture, opening, play_schedule


def test_games_of_all_pairs_of_a_schedule_are_asked_about_together(go: Game) -> None:
    players = {name: Scripted(follow("C3", "B2")) for name in "abc"}
    pairs = [("a", "b"), ("c", "a"), ("b", "c")]
    fixtures = [fixture(pair, index, 1) for pair in pairs for index in range(4)]
    ended = list(play_schedule(players, iter(fixtures), go, opening_moves=0, max_moves=50, parallel=12))
    assert sorted((*game.pair, game.index) for game in ended) == sorted((*pair, index) for pair in pairs for index in range(4))
    assert all(game.winner == (game.white if game.result[0] == "W" else game.black) for game in ended)
    assert [player.largest_batch for player in players.values()] == [8, 8, 8]


@pytest.mark.parametrize("plies", [5, 6, 7, 8])
def test_no_game_begins_finished(plies: int) -> None:
    """Many random lines of so many plies end tic-tac-toe; none of them is an opening, and equal seeds have equal ones."""
    game = games.make("tictactoe")
    for seed in range(100):
        position = opening(game, plies, seed)
        assert position.ply == plies and not position.is_over
        assert opening(game, plies, seed).moves == position.moves


def test_a_fixture_is_taken_only_when_there_is_room(go: Game) -> None:
    taken: list[int] = []

    def fixtures() -> Iterator[Fixture]:
        for index in range(6):
            taken.append(index)
            yield fixture(("a", "b"), index, 1)

    players = {"a": Scripted(always(PASS)), "b": Scripted(always(PASS))}
    for count, _ in enumerate(play_schedule(players, fixtures(), go, 0, 50, parallel=2), 1):
        assert len(taken) <= count + 2


def test_pairings_share_openings_and_a_game_is_the_same_whatever_else_is_played() -> None:
    first, other = ([fixture(names, index, 1) for index in range(4)] for names in (("a", "b"), ("a", "c")))
    assert [each.seeds[0] for each in first] == [each.seeds[0] for each in other]
    assert first[0].seeds == first[1].seeds and len({each.seeds for each in (*first, *other)}) == 4


def test_matches_and_tournaments_start_without_pytorch() -> None:
    """It takes longer to import than all else, and a tournament starts many processes."""
    code = "import sys, training.matches.arena, training.matches.tournament.runner; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0
