"""The tournament of levels: who plays whom, how many games, and what the results come to."""

from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmarks import harness, levels
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


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("--levels 0 99", "argument --levels: invalid choice: 99"),
        ("--levels -1 1", "argument --levels: invalid choice: -1"),
        ("--levels 3 3", "--levels 3: it takes two or more to play"),
        ("--games 5", "games must be even"),
    ],
)
def test_a_tournament_that_cannot_be_is_one_line(
    words: str, message: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(levels, "tournament", lambda *asked: pytest.fail("played first"))
    with pytest.raises(SystemExit) as ended:
        harness.finish(lambda: levels.main(words.split()))
    assert ended.value.code == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1


def test_a_match_is_in_the_list_as_soon_as_it_has_ended(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    scheduled = levels.play_schedule

    def interrupted(*asked: Any) -> Iterator[Any]:
        for number, played in enumerate(scheduled(*asked)):
            if number == 3:  # the last of the second match
                raise KeyboardInterrupt
            yield played

    monkeypatch.setattr(levels, "play_schedule", interrupted)
    monkeypatch.setattr(levels, "PARALLEL", 1)
    words = ["--levels", "0", "1", "2", "--size", "5", "--games", "2", "--csv", str(tmp_path / "levels.csv")]
    with pytest.raises(KeyboardInterrupt):
        levels.main(words)
    listed = (tmp_path / "levels.csv").read_text().splitlines()
    assert [line.rsplit(",", 3)[0] for line in listed] == ["stronger,weaker", "level 1,random"]


def test_a_small_tournament(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert levels.main(["--short", "--csv", str(tmp_path / "levels.csv"), "--plot", str(tmp_path / "levels.png")]) == 0
    assert "level  1 against random: " in capsys.readouterr().out
    assert (tmp_path / "levels.csv").read_text().startswith("stronger,weaker,wins,losses,draws\nlevel 1,random,")
    assert (tmp_path / "levels.png").stat().st_size > 1000
