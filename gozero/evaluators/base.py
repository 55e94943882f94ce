"""The evaluator interface: states in, what a network (or a rollout) thinks of them out; and the names of the backends.

A precision is the number type of the network's trunk: f32, bf16, or int8 in its 3x3 convolutions (OpenVINO;
`gozero.evaluators.quantise`); results are always float32. `gozero.evaluators.factory` opens weights files as
evaluators. Nothing heavy is imported here.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, NamedTuple, Protocol, cast, runtime_checkable

from gozero.system.errors import ChoiceError

if TYPE_CHECKING:
    import numpy as np

    from gozero.games.game import Game

BACKENDS = ("auto", "torch", "openvino")
PRECISIONS = ("auto", "f32", "bf16", "int8")
FLOATING = ("auto", "f32", "bf16")  # what backends other than OpenVINO compute in
GPU_BATCH = 64  # positions that a GPU evaluates in little more time than one; an estimate, not measured on a GPU


def check_choice(name: str, value: str, choices: tuple[str, ...]) -> None:
    """ValueError unless `value` is one of `choices`."""
    if value not in choices:
        raise ChoiceError(f"unknown {name} {value!r}; use one of: {', '.join(choices)}")


class Evaluation(NamedTuple):
    """An evaluator's outputs for n states, each from the view of its side to move; the arrays belong to the caller."""

    logits: np.ndarray  # float32 [n, A]: policy logits of all actions, also of illegal ones
    value: np.ndarray  # float32 [n]: expected result, -1..1
    score: np.ndarray | None = None  # float32 [n]: expected final lead in points, komi included
    ownership: np.ndarray | None = None  # float32 [n, P]: expected owner of each point, -1..1, + for the side to move
    known: np.ndarray | None = None  # bool [n]: whether a cache had it; None: there is none

    def of(self, positions: slice | list[int]) -> Evaluation:
        """The outputs for some of the n states."""
        return Evaluation._make(None if field is None else field[positions] for field in self)

    @staticmethod
    def joined(parts: Sequence[Evaluation]) -> Evaluation:
        """The outputs for the states of all parts, of which there is at least one."""
        import numpy as np

        columns = zip(*parts, strict=True)
        return Evaluation._make(None if column[0] is None else np.concatenate(column) for column in columns)


class Evaluator(Protocol):
    """Anything that can evaluate the states of one game. One thread at a time may call it."""

    @property
    def game(self) -> Game:
        """The game whose states it takes."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        """Evaluate states int32 [n, S], n ≥ 1, which are left unchanged."""


def preferred_batch(evaluator: object) -> int:
    """The positions of a batch up to which more of them cost an evaluator little more time; 1 if it does not say."""
    return cast(int, getattr(evaluator, "preferred_batch", 1))


class Pending(Protocol):
    """An evaluation under way."""

    def result(self) -> Evaluation:
        """Wait for it; to be called once."""


@runtime_checkable
class AsynchronousEvaluator(Evaluator, Protocol):
    """An evaluator that works in the background. Several threads may call it, and any number may be pending."""

    def submit(self, states: np.ndarray) -> Pending:
        """Begin to evaluate states int32 [n, S], n ≥ 1, which must stay as they are until the result has been taken."""


class Lazy(NamedTuple):
    """A `Pending` evaluation that is computed when its result is taken."""

    evaluator: Evaluator
    states: np.ndarray

    def result(self) -> Evaluation:
        """Compute it now."""
        return self.evaluator.evaluate(self.states)


def submitter(evaluator: Evaluator) -> Callable[[np.ndarray], Pending]:
    """`AsynchronousEvaluator.submit` of any evaluator."""
    return evaluator.submit if isinstance(evaluator, AsynchronousEvaluator) else partial(Lazy, evaluator)
