"""docs/new-game.md, done: its game joins from a file of the tests, and everything takes it without a line of the
packages changed.
"""

from __future__ import annotations

import inspect
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from gozero import games
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.terminal import play
from gozero.frontends.web import catalogue
from gozero.frontends.web.engine import lessons
from gozero.games.descriptions import DESCRIPTIONS, Description
from gozero.games.game import BLACK, EMPTY, WHITE, Game
from gozero.nets import features, locations, weights
from gozero.search.root import SearchRequest
from gozero.search.search import Search
from gozero.search.settings import SearchSettings
from tests import ROOT
from tests.contract import test_contract as contract
from tests.naive.go import neighbours
from tests.rows import Row
from training.commands import train
from training.matches import match, players
from training.matches.perfect import TreeSolver
from training.records import records

NAME, VARIANT = "snort", ("snort", {"size": 4})


class NaiveSnort:
    """Snort by definition: the contract's slow referee."""

    def __init__(self, size: int) -> None:
        self.beside = neighbours(size, size)
        self.board, self.to_play = [EMPTY] * size * size, BLACK

    def legal(self) -> set[int]:
        other = BLACK + WHITE - self.to_play
        empty = (point for point, colour in enumerate(self.board) if colour == EMPTY)
        return {point for point in empty if all(self.board[near] != other for near in self.beside[point])}

    def play(self, action: int) -> None:
        self.board[action] = self.to_play
        self.to_play = BLACK + WHITE - self.to_play

    def over(self) -> bool:
        return not self.legal()

    def result(self) -> int:
        return -1


@pytest.fixture(autouse=True)
def joined(monkeypatch: pytest.MonkeyPatch) -> None:
    """Snort is one of the games, and has its referee."""
    monkeypatch.setitem(games.GAMES, NAME, "tests.games.snort")
    monkeypatch.setitem(contract.ORACLES, NAME, NaiveSnort)


@pytest.fixture
def snort() -> Game:
    return games.make(NAME)


def laws() -> list[Callable[..., None]]:
    """The contract's tests of one game."""
    tests = (test for name, test in vars(contract).items() if name.startswith("test_"))
    return [test for test in tests if inspect.signature(test).parameters]


def example(language: str) -> str:
    """The documentation's only block of code in this language."""
    text = (ROOT / "docs" / "new-game.md").read_text(encoding="utf-8")
    (code,) = re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)
    return str(code)


def test_the_documentation_shows_this_file() -> None:
    assert example("python") == (ROOT / "tests" / "games" / "snort.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("law", laws(), ids=lambda law: law.__name__.removeprefix("test_"))
def test_it_keeps_the_laws_of_the_contract(law: Callable[..., None], snort: Game) -> None:
    known: dict[str, Any] = {"game": snort, "variant": VARIANT}
    law(**{name: known[name] for name in inspect.signature(law).parameters})


def test_a_board_that_cannot_be_is_refused() -> None:
    with pytest.raises(ValueError, match="board size 10 is not supported: Snort has 2 to 9"):
        games.make(NAME, size=10)
    with pytest.raises(ValueError, match="snort has no setting 'komi'"):
        games.make(NAME, komi=7.5)
    with pytest.raises(ValueError, match="side by side"):
        games.make(NAME, size=2).from_text("XO\n..")


def test_the_search_finds_what_wins() -> None:
    """On 3x3 Black wins with the centre or a corner and with nothing else."""
    game = games.make(NAME, size=3)
    assert max(TreeSolver(game).values(game.initial.copy()).values()) == 1
    search = Search(game, RolloutEvaluator(game), SearchSettings(max_nodes=2001))
    search.begin(0, SearchRequest(game.new_states(1)[0], game.new_histories(1)[0], 2000))
    search.run()
    assert search.result().best in (0, 2, 4, 6, 8)
    assert search.result().value > 0.8


def test_networks_see_stones_and_who_may_play_where(snort: Game) -> None:
    row = Row(snort).play("A4", "D1", "B3")
    (planes,), _ = features.encode(snort, row.state[None])
    seen = ["/".join("".join(".#"[int(point)] for point in line) for line in plane) for plane in planes]
    own, other = "..../..../..../...#", "#.../.#../..../...."
    own_moves, others_moves = "..##/...#/#.##/###.", ".###/#.##/###./##.."
    assert seen == [own, other, own_moves, others_moves, "..../..../..../...."], str(row)


def test_it_is_played_in_the_terminal(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    """With the documentation's lines in `DESCRIPTIONS` and `WEIGHTS`."""
    text = (ROOT / "docs" / "new-game.md").read_text(encoding="utf-8")
    (words,) = re.findall(r'"snort": Description\("(.*?)", "(.*?)", "(.*?)"\)', text)
    monkeypatch.setitem(DESCRIPTIONS, NAME, Description(*words))
    monkeypatch.setitem(locations.WEIGHTS, NAME, "snort4.pt")
    monkeypatch.setattr(sys, "stdin", io.StringIO("help\nA1\nB4\nresign\n"))
    play.play(play.PlaySettings(NAME, visits=50, seed=1))
    out = capsys.readouterr().out
    assert out.startswith("No weights for this game: PUCT with random playouts, 50 visits a move.\n")
    assert f"snort: {words[1]} You are Black (X).\n" in out
    assert " expects to win " in out


def test_the_browser_offers_it_without_weights_and_first_steps() -> None:
    (offered,) = catalogue.networks(NAME, {}).values()
    assert offered.path is None
    assert lessons.lessons(NAME) == []


def test_it_trains_and_plays(tmp_path: Path, snort: Game) -> None:
    """The documentation's preset through the command line, then a match of the network that it made."""
    config, run = tmp_path / "snort.toml", tmp_path / "run"
    config.write_text(example("toml"), encoding="utf-8")
    assert train.main(["--config", str(config), "--run", str(run), "--threads", "1"]) == 0
    played = [game for shard in (run / "records").glob("*.gzr") for game in records.read(shard).records]
    assert {game.generation for game in played} == {1, 2}
    assert weights.load(run / "weights.pt", NAME).config.planes == len(features.BOARD.planes)
    results = _match(snort, "random", f"weights:{run / 'weights.pt'}:4")
    assert all(record.ended == "game end" for record in results)


def test_playouts_beat_random_moves(snort: Game) -> None:
    results = _match(snort, "uct:100", "random")
    assert all(record.ended == "game end" for record in results)
    assert match.total_of(results, results[0].pair[0]).wins >= 6


def _match(game: Game, one: str, other: str) -> list[match.MatchGame]:
    """Eight games between two players."""
    conditions = players.Conditions(game, 0.0, parallel=4, threads=1)
    pair = (players.open_player(one, conditions), players.open_player(other, conditions))
    return list(match.play_match(pair, game, games=8, parallel=4))
