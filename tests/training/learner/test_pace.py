"""The number of threads follows what is faster, on a machine whose times are made up."""

from collections.abc import Callable

import pytest

from training.learner.pace import SHARE, SHORTEST, Pace

ALONE = {1: 0.4, 2: 0.22, 4: 0.15}
CROWDED = {1: 0.4, 2: 7.9, 4: 16.0}


class Machine:
    """Pieces of work on a clock of its own; `seconds` says how long one takes with so many threads."""

    def __init__(self, wanted: int = 0, most: int = 2) -> None:
        self.now = 0.0
        self.pace = Pace(wanted, most, lambda: self.now)

    def work(self, seconds: Callable[[int], float], pieces: int, kind: int = 13) -> list[int]:
        """The threads of each piece."""
        used = []
        for _ in range(pieces):
            with self.pace.piece(kind) as threads:
                self.now += seconds(threads)
            used.append(threads)
        return used


@pytest.mark.parametrize(
    ("seconds", "most", "best"), [(ALONE, 2, 2), (CROWDED, 2, 1), (ALONE, 4, 4), (CROWDED, 4, 1), (ALONE, 1, 1)]
)
def test_the_fastest_is_found_at_the_start(seconds: dict[int, float], most: int, best: int) -> None:
    machine = Machine(most=most)
    machine.work(seconds.__getitem__, 8)
    assert machine.pace.threads == best
    assert machine.pace.is_settled
    assert set(machine.work(seconds.__getitem__, 20)) == {best}


def test_other_work_and_its_end_are_noticed() -> None:
    machine = Machine()
    machine.work(ALONE.__getitem__, 10)
    machine.work(CROWDED.__getitem__, 20)
    assert machine.pace.threads == 1
    machine.work(ALONE.__getitem__, 2000)
    assert machine.pace.threads == 2


def test_trials_take_a_small_share_of_the_time() -> None:
    machine = Machine()
    used = machine.work(CROWDED.__getitem__, 5000)
    assert used.count(2) > 5, "the end of the other work would be noticed"
    assert machine.now - 0.4 * len(used) < 1.1 * SHARE * machine.now
    assert machine.now > 10 * SHORTEST


def test_pieces_of_one_kind_are_compared() -> None:
    machine = Machine()
    for _ in range(4):  # small boards with one thread, large ones with two, would make one thread look faster
        machine.work(lambda threads: 10 * ALONE[threads], 1, kind=19)
        machine.work(ALONE.__getitem__, 1, kind=7)
    assert machine.pace.threads == 2
    assert machine.pace.is_settled


def test_a_rare_kind_does_not_keep_the_others_waiting() -> None:
    machine = Machine()
    machine.work(lambda threads: 10 * CROWDED[threads], 1, kind=19)
    assert machine.work(CROWDED.__getitem__, 5, kind=7) == [1, 1, 2, 1, 1]


def test_a_number_that_is_asked_for_stays() -> None:
    machine = Machine(wanted=2)
    assert set(machine.work(CROWDED.__getitem__, 100)) == {2}


def test_a_piece_that_fails_is_not_counted() -> None:
    machine = Machine()
    with pytest.raises(ArithmeticError), machine.pace.piece(13):
        raise ArithmeticError
    machine.work(ALONE.__getitem__, 4)
    assert machine.pace.threads == 2
