"""The tournament of levels: who plays whom, how many games, and what the results come to."""

from argparse import Namespace
from pathlib import Path

import pytest

from benchmarks import levels
from gozero import games
from training.matches.elo import Tally


def test_neighbours_and_every_third_meet() -> None:
    assert levels.pairs([0, 1, 2, 5, 9]) == [(0, 1), (1, 2), (2, 5), (5, 9), (0, 5), (1, 9)]


def test_slow_levels_play_fewer_games() -> None:
    game, options = games.make("go", size=9), Namespace(games=48, evaluations=100_000)
    counts = [levels.affordable(number, number + 1, game, options) for number in range(20)]
    assert counts == sorted(counts, reverse=True)
    assert counts[0] == 48 and counts[-1] == levels.FEWEST_GAMES
    assert all(count % 2 == 0 for count in counts)


def test_ratings_begin_with_the_first_player() -> None:
    rated = levels.ratings([0, 1, 4], {(1, 0): Tally(30, 10), (4, 1): Tally(25, 15)})
    assert [(rating.number, rating.games) for rating in rated] == [(0, 40), (1, 80), (4, 40)]
    assert rated[0].elo == 0 < rated[1].elo < rated[2].elo
    assert levels.table(rated).splitlines()[2] == "| – | random moves | – | 0 ± 0 | 40 |"


def test_a_small_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert levels.main(["--short", "--csv", str(tmp_path / "levels.csv"), "--plot", str(tmp_path / "levels.png")]) == 0
    assert "level  1 against random: " in capsys.readouterr().out
    assert (tmp_path / "levels.csv").read_text().startswith("stronger,weaker,wins,losses,draws\nlevel 1,random,")
    assert (tmp_path / "levels.png").stat().st_size > 1000
