"""The journal: what is read back, what a kill may leave, and which fields contradict it."""

from __future__ import annotations

import errno
import json
from dataclasses import asdict, replace
from itertools import combinations
from pathlib import Path
from typing import Any

import pytest

from gozero.system.options import SettingsError
from tests.training.matches.tournament.test_rating import played
from tests.training.refusals import one_line
from training.matches.tournament import field as fields
from training.matches.tournament.field import Entrant, Field
from training.matches.tournament.journal import GAMES as GAMES_FOLDER
from training.matches.tournament.journal import NAME, Journal, file_name, write_game


@pytest.fixture
def field(tmp_path: Path) -> Field:
    path = tmp_path / "field.toml"
    path.write_text('game = "tictactoe"\ngames = 4\n[[entrant]]\nplayer = "random"\n[[entrant]]\nplayer = "fixed"\n')
    return fields.load(path)


GAMES = [played("fixed", "random", index, "fixed", claims=(None, "B+")) for index in range(3)]


def fill(folder: Path, field: Field) -> None:
    with Journal(folder, field) as journal:
        for game in GAMES:
            journal.add(game)


@pytest.mark.parametrize("player", ["random", "gtp:a\udcff"])  # a folder whose name is no text
def test_games_are_read_back(player: str, tmp_path: Path, field: Field) -> None:
    field = replace(field, entrant=(Entrant(player, "random"), Entrant("fixed", "fixed")))
    fill(tmp_path, field)
    with Journal(tmp_path, field) as journal:
        assert journal.games == GAMES
    assert len((tmp_path / NAME).read_bytes().splitlines()) == 1 + len(GAMES)


def test_a_full_disk_is_one_line_that_says_what_to_do(
    tmp_path: Path, field: Field, monkeypatch: pytest.MonkeyPatch
) -> None:
    with Journal(tmp_path, field) as journal:
        journal.add(GAMES[0])
    with pytest.raises(SettingsError, match="No space left on device; the games before are safe: make room"):  # noqa: SIM117
        with Journal(tmp_path, field) as journal:
            monkeypatch.setattr(journal, "_file", Refusing(journal.path))
            journal.add(GAMES[1])
    monkeypatch.undo()
    with Journal(tmp_path, field) as journal:
        assert journal.games == GAMES[:1]


class Refusing:
    """A file on a full disk: what is written stays in the buffer, and closing it fails again."""

    def __init__(self, path: Path) -> None:
        self._file = path.open("ab")

    def write(self, line: bytes) -> int:
        return len(line)

    def flush(self) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    def close(self) -> None:
        self._file.close()
        self.flush()

    def fileno(self) -> int:
        return self._file.fileno()


def test_a_kill_at_any_byte_loses_no_whole_line(tmp_path: Path, field: Field) -> None:
    fill(tmp_path, field)
    path, whole = tmp_path / NAME, (tmp_path / NAME).read_bytes()
    for size in range(0, len(whole) + 1, 7):
        path.write_bytes(whole[:size])
        before = max(0, whole[:size].count(b"\n") - 1)
        with Journal(tmp_path, field) as journal:
            assert journal.games == GAMES[:before]
            journal.add(GAMES[-1])
        with Journal(tmp_path, field) as journal:
            assert journal.games[:before] == GAMES[:before] and journal.games[-1] == GAMES[-1]


def test_more_games_and_more_entrants_do_not_contradict(tmp_path: Path, field: Field) -> None:
    fill(tmp_path, field)
    more = replace(field, games=8, entrant=(Entrant("uct:3", "uct"), *field.entrant))
    with Journal(tmp_path, more) as journal:
        assert journal.games == GAMES
    with Journal(tmp_path, replace(more, processes=7)) as journal:
        assert journal.games == GAMES


@pytest.mark.parametrize(
    ("changes", "complaint"),
    [
        ({"seed": 2}, "played with seed = 1, now seed = 2"),
        ({"opening_moves": 4}, "played with opening_moves = 2, now opening_moves = 4"),
        ({"kind": "gauntlet"}, "kind = round-robin, now kind = gauntlet"),
        ({"games": 2}, "played with 3 games of a pairing, both colours counted, now games = 2"),
        ({"entrant": (Entrant("random", "random"), Entrant("uct:2", "fixed"))}, "'fixed' = fixed, now entrant 'fixed' = uct:2"),
        ({"entrant": (Entrant("random", "random"), Entrant("uct:2", "uct"))}, "'fixed' = fixed, now entrant 'fixed' = missing"),
    ],
)
def test_a_field_that_contradicts_is_refused(
    changes: dict[str, object], complaint: str, tmp_path: Path, field: Field
) -> None:
    fill(tmp_path, field)
    before = (tmp_path / NAME).read_bytes()
    with one_line(SettingsError, complaint):
        Journal(tmp_path, replace(field, **changes))  # type: ignore[arg-type]
    assert (tmp_path / NAME).read_bytes() == before


def test_a_player_that_no_field_names_contradicts(tmp_path: Path, field: Field) -> None:
    fill(tmp_path, field)
    with (tmp_path / NAME).open("ab") as file:
        file.write(with_values({"pair": ("fixed", "nobody")}) + b"\n")
    with one_line(SettingsError, "played with entrant 'nobody' = unknown, now entrant 'nobody' = missing"):
        Journal(tmp_path, field)


def test_games_of_a_larger_board_contradict_and_are_not_called_damaged(tmp_path: Path, field: Field) -> None:
    with Journal(tmp_path, replace(field, game="go", size=9, komi=7.5)) as journal:
        journal.add(replace(GAMES[0], moves="B J7"))
    with one_line(SettingsError, "played with size = 9, now size = 5"):
        Journal(tmp_path, replace(field, game="go", size=5, komi=9.5))  # as a file without komi may have it


def test_nothing_contradicts_a_journal_without_games(tmp_path: Path, field: Field) -> None:
    Journal(tmp_path, field).__exit__()
    with Journal(tmp_path, replace(field, seed=5)) as journal:
        assert journal.games == []


def with_values(values: dict[str, Any]) -> bytes:
    """The line of a game with other values."""
    return json.dumps({"game": asdict(GAMES[0]) | values}).encode()


@pytest.mark.parametrize(
    "line",
    [
        b"nonsense", b'{"game": {"pair": 3}}', b"[]", b'{"field": 3}x', b"\xff\xfe", b'{"game": []}', b'{"game": null}',
        b'{"game": "a"}', b'{"field": []}', b'{"field": {}}', b'{"field": {"entrants": []}}', b'"field"',
        b"[" * 9000,
        *map(with_values, [{"pair": ("a",)}, {"pair": (1, 2)}, {"index": "0"}, {"moves": None}, {"claims": None}]),
        *(with_values({"index": 3, "moves": each}) for each in ("B Z9", "B A4", "B A1 W", "X A1", "B A1 W A1A", "A1 B")),
        *map(with_values, [{"winner": 3}, {"answers": ("1", 2)}, {"longest": (0.5, None)}, {"claims": (None, [])}]),
        with_values({"detail": 3}),
        *(with_values({name: (1,)}) for name in ("seconds", "answers", "longest", "replaced")),
    ],
)  # fmt: skip
def test_a_line_that_is_none_is_named(line: bytes, tmp_path: Path, field: Field) -> None:
    fill(tmp_path, field)
    with (tmp_path / NAME).open("ab") as file:
        file.write(line + b"\n")
    before = (tmp_path / NAME).read_bytes()
    with one_line(SettingsError, f"{NAME}, line 5 is no line of a journal"):
        Journal(tmp_path, field)
    assert (tmp_path / NAME).read_bytes() == before


def test_a_sequential_test_keeps_the_order_of_its_entrants(tmp_path: Path, field: Field) -> None:
    one = replace(field, kind="sprt")
    fill(tmp_path, one)
    with Journal(tmp_path, one) as journal:
        assert journal.games == GAMES
    with pytest.raises(SettingsError, match=r"'of': 'random'.* now .*'of': 'fixed'"):
        Journal(tmp_path, replace(one, entrant=one.entrant[::-1]))


def test_a_folder_that_cannot_be_written_is_one_line(tmp_path: Path, field: Field) -> None:
    (tmp_path / NAME).mkdir()
    with pytest.raises(SettingsError, match="Is a directory"):
        Journal(tmp_path, field)


NAMES = ["a", "b-c", "a-b", "c", "a~b", "a_vs_b", "ab" * 63, "ab" * 64, "A", "weights:/a.pt:1", "weights:a.pt:1"]


def test_games_of_different_pairings_have_files_of_their_own(tmp_path: Path) -> None:
    field = Field(tuple(Entrant("random", name) for name in NAMES), game="tictactoe", size=3)
    game, made = field.make_game(), 0
    for a, b in combinations(sorted(field.names), 2):
        for index in (0, 1):
            write_game(played(a, b, index, a, moves="B A1"), field, game, tmp_path)
            made += 1
    files = list((tmp_path / GAMES_FOLDER).iterdir())
    assert len({file.name.lower() for file in files}) == made
    assert max(len(file.name.encode()) for file in files) < 140
    assert file_name(played("b-c", "c", 0, "c"), field) == "b-c~c-0001.txt"


def test_the_file_of_another_game_of_that_name_goes(tmp_path: Path) -> None:
    """As where the journal was removed and the tournament began anew."""
    field = Field((Entrant("random", "a"), Entrant("fixed", "b")), game="tictactoe", size=3)
    for moves in ("B A1", "B B2 W C3"):
        game = played("a", "b", 0, "a", moves=moves)
        write_game(game, field, field.make_game(), tmp_path)
    (file,) = (tmp_path / GAMES_FOLDER).iterdir()
    assert file.read_text().endswith("black B2\nwhite C3\n")


def test_no_name_in_files_holds_what_stands_between_two() -> None:
    assert not any("~" in fields.file_name(name) for name in NAMES)
