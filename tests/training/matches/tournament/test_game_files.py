"""Files of games: no two games share one, and every file system takes their names."""

from __future__ import annotations

from itertools import combinations
from pathlib import Path

from tests.training.matches.tournament.test_rating import played
from training.matches.tournament import journal
from training.matches.tournament.field import Entrant, Field

NAMES = ["a", "b-c", "a-b", "c", "a~b", "a_vs_b", "ab" * 63, "ab" * 64]


def test_games_of_different_pairings_have_files_of_their_own(tmp_path: Path) -> None:
    field = Field(tuple(Entrant("random", name) for name in NAMES[:4] + NAMES[5:]), game="tictactoe", size=3)
    game, made = field.make_game(), 0
    for a, b in combinations(sorted(field.names), 2):
        for index in (0, 1):
            journal.write_game(played(a, b, index, a, moves="B A1"), field, game, tmp_path)
            made += 1
    files = list((tmp_path / journal.GAMES).iterdir())
    assert len(files) == made
    assert max(len(file.name.encode()) for file in files) < 140
    assert journal.file_name(played("a", "b-c", 0, "a"), field) == "a~b-c-0001.txt"


def test_the_file_of_another_game_of_that_name_goes(tmp_path: Path) -> None:
    """As where the journal was removed and the tournament began anew."""
    field = Field((Entrant("random", "a"), Entrant("fixed", "b")), game="tictactoe", size=3)
    for moves in ("B A1", "B B2 W C3"):
        game = played("a", "b", 0, "a", moves=moves)
        journal.write_game(game, field, field.make_game(), tmp_path)
    (file,) = (tmp_path / journal.GAMES).iterdir()
    assert file.read_text().endswith("moves: B B2 W C3\n")


def test_no_name_in_files_holds_what_stands_between_two() -> None:
    assert not any("~" in Entrant("random", name).file_name for name in NAMES)
