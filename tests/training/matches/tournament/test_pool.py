"""Worker processes that die or hang, and what is left when a pool is told to stop."""

from __future__ import annotations

import os
import sys
from collections import Counter
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any

import pytest

from gozero.system.errors import UserError
from tests.training.matches.tournament.test_tournament import toy
from tests.training.refusals import one_line
from training.matches.match import MatchGame, fixture
from training.matches.tournament import pool
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.pool import WorkerPool
from training.matches.tournament.worker import NOBODY, Watch

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")


def field_of(*players: str) -> Field:
    entrants = tuple(Entrant(player, f"{number}") for number, player in enumerate(players))
    return Field(entrants, game="tictactoe", size=3, processes=2, opening_moves=0)


def played(field: Field, folder: Path, pairs: list[tuple[int, int]], stop: Any = lambda: False) -> list[MatchGame]:
    fixtures = iter([fixture((str(a), str(b)), index, 1) for a, b in pairs for index in (0, 1)])
    return list(WorkerPool(field, folder, lambda: next(fixtures, None)).play(stop))


def test_who_kills_the_process_of_a_game_loses_it_and_the_others_are_played(tmp_path: Path) -> None:
    field = field_of(toy("sound"), toy("assassin"), toy("loud"))
    games = played(field, tmp_path, [(0, 1), (2, 0)])
    assert Counter((*game.pair, game.index) for game in games) == Counter((*pair, index) for pair in ("01", "20") for index in (0, 1))
    for game in games:
        assert (game.faulty == "1") == ("1" in game.pair)
        if game.faulty:
            assert (game.winner, game.ended) == ("0", "failure")
            assert game.detail == "1: its process ended in the middle of a game"
            assert game.result == ("W+F" if game.black == "1" else "B+F")


def hang(connection: Connection, field: Field, shared: Any, folder: Path) -> None:
    """A worker whose second entrant never answers."""
    connection.recv()
    shared[1], shared[0] = 0.0, 1
    while True:
        connection.recv()


def falter(connection: Connection, field: Field, shared: Any, folder: Path) -> None:
    """A worker that dies with all its games under way, the first time; then one that reports draws."""
    if not (folder / "fell").exists():
        (folder / "fell").touch()
        connection.recv()
        shared[0] = 1
        os._exit(1)
    while (taken := connection.recv()) is not None:
        connection.send(MatchGame(taken.pair, taken.index, "", "0", "game end", "", ""))


def test_only_one_of_the_games_of_a_dead_process_is_lost(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "work", falter)
    field = replace(field_of("random", "random", "random"), processes=1)
    games = played(field, tmp_path, [(0, 2), (0, 1), (1, 2)])
    assert len({(game.pair, game.index) for game in games}) == len(games) == 6
    assert [(game.pair, game.winner) for game in games if game.detail] == [(("0", "1"), "0")]


def die(connection: Connection, field: Field, shared: Any, folder: Path) -> None:
    """A worker that ends while nobody thinks."""
    connection.recv()
    os._exit(1)


@pytest.mark.slow
def test_an_entrant_that_hangs_in_a_process_loses_and_the_process_is_replaced(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(pool, "work", hang)
    games = played(field_of("random", "random"), tmp_path, [(0, 1)])
    assert [game.winner for game in games] == ["0", "0"]
    assert games[0].detail == "1: gave no answer and was stopped"


@pytest.mark.slow
def test_a_machine_on_which_no_process_lives_is_one_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pool, "work", die)
    with one_line(UserError, "3 processes that play ended while no entrant was thinking"):
        played(field_of("random", "random"), tmp_path, [(0, 1)])


def test_a_stop_leaves_no_process(tmp_path: Path) -> None:
    fixtures, stop = iter([fixture(("0", "1"), index, 1) for index in range(400)]), []
    hired = WorkerPool(field_of("random", "random"), tmp_path, lambda: next(fixtures, None))
    games = hired.play(lambda: bool(stop))
    next(games)
    processes = [worker.process for worker in hired._workers]
    stop.append("now")
    assert len(list(games)) < 399 and processes
    assert not any(process.is_alive() for process in processes)


def test_the_watch() -> None:
    watch = Watch([NOBODY, 0.0])
    assert not watch.is_overdue
    watch.set(2, 1000)
    assert (watch.place, watch.is_overdue) == (2, False)
    watch.set(2, -1)
    assert watch.is_overdue
    watch.clear()
    assert not watch.is_overdue
