"""Supervised learning: epochs over a collection of rows, each measured, and saved so that it can be resumed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gozero.evaluators.factory import carry_graph
from gozero.nets import model, weights
from gozero.system.console import progress_bar, say
from gozero.system.options import SettingsError
from training.learner.learner import DivergedError, Learner
from training.records.replay import Batch
from training.settings.config import LearnerSettings
from training.storage import storage
from training.storage.checkpoint import UNREADABLE
from training.supervised.collection import Collection, Wanted
from training.supervised.measure import measure

SAVED_EVERY = 1000  # steps: what a killed process loses at most


@dataclass(frozen=True)
class TrainerPlan:
    """Everything that a run depends on, by which `--resume` recognises its state."""

    network: str
    learner: LearnerSettings
    wanted: Wanted
    epochs: int


def state_of(out: Path) -> Path:
    """Where the state of a run is that writes its weights to `out`."""
    return out.with_name(out.name + ".state")


class SupervisedTrainer:
    """Supervised learning under way: the learner, and the epochs and steps that are done."""

    def __init__(self, plan: TrainerPlan, data: Collection, out: Path) -> None:
        self.plan, self.data, self.out = plan, data, out
        self.learner = Learner(
            model.config(plan.network, features=plan.wanted.features), plan.learner, plan.wanted.seed
        )
        self.epoch = self.step = 0
        self.saved = 0  # the learner's steps in the state that this run has read or written; 0: in none

    @property
    def state_path(self) -> Path:
        return state_of(self.out)

    def _facts(self) -> dict[str, Any]:
        """Plain values by which a state knows its run; more epochs may be asked for, so they are none of them."""
        facts = {"rows": self.data.rows(), "games": self.data.counts["games"], **asdict(self.plan)}
        facts.pop("epochs")
        facts["wanted"]["sizes"] = list(facts["wanted"]["sizes"])
        return facts

    def resume(self) -> None:
        """Continue from the state beside OUT. SettingsError where there is none, or it belongs to another run."""
        try:
            state = dict(torch.load(self.state_path, map_location="cpu", weights_only=True))
            saved, self.epoch, self.step = state["facts"], state["epoch"], state["step"]
            rate = saved["learner"].pop("learning_rate")
        except UNREADABLE as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged, or no state of a run"
            advice = (
                "without --resume" if isinstance(error, FileNotFoundError) else "without --resume, and with it removed,"
            )
            raise SettingsError(
                f"cannot continue from {self.state_path.absolute()}: {why}; {advice} a new run begins"
            ) from None
        facts = self._facts()
        now = facts["learner"].pop("learning_rate")  # it may change
        if other := ", ".join(_differences(saved, facts)):
            raise SettingsError(
                f"{self.state_path.absolute()} is of another run: {other}; give what it had, or another --out"
            )
        if rate != now:
            say(f"--learning-rate was {rate:g} and is {now:g} from here on")
        self.learner.load_state_dict(state["learner"])
        self.saved = self.learner.steps

    def save(self) -> None:
        """Write the weights that play, and the state."""
        size = max(self.data.train, key=lambda each: len(self.data.train[each]))
        state = {"facts": self._facts(), "epoch": self.epoch, "step": self.step, "learner": self.learner.state_dict()}
        with storage.writing(self.out):
            weights.save(
                self.out,
                self.learner.ema,
                self.learner.config,
                size=size,
                trained_sizes=self.data.train,
                provenance=self._provenance(),
            )
            carry_graph(self.out)
            with storage.replacing(self.state_path) as file:
                torch.save(state, file)
        self.saved = self.learner.steps

    def _provenance(self) -> dict[str, Any]:
        """The provenance that the weights file stores."""
        plan = self.plan
        settings = {"network": plan.network, "epochs": plan.epochs, **asdict(plan.wanted), **asdict(plan.learner)}
        counts = {**self.data.counts, "positions": self.data.rows(), "steps": self.learner.steps}
        return {"how": "supervised, from SGF files", **counts, "settings": settings}

    def train(self, stop: Callable[[], bool]) -> None:
        """Train epoch after epoch, each measured, until all are done or `stop()` is true; then save.

        Raises:
            DivergedError: a loss became infinite or not a number; what was saved before stays.
        """
        steps = self.data.steps(self.plan.learner.batch)
        while self.epoch < self.plan.epochs and not stop():
            sums: list[dict[str, torch.Tensor]] = []
            with progress_bar(steps, f"epoch {self.epoch + 1}", " steps") as progress:
                progress.update(self.step)
                for batch in self._rest():
                    done = (self.epoch * steps + self.step) / (self.plan.epochs * steps)
                    sums.append(self._learn(batch, self.plan.learner.rate(done)))
                    self.step += 1
                    progress.update(1)
                    if stop():
                        break
                    if self.step % SAVED_EVERY == 0:
                        self.save()
            if self.step >= steps:
                self.epoch, self.step = self.epoch + 1, 0
                say(self._line(sums, stop))
            self.save()

    def _learn(self, batch: Batch, rate: float) -> dict[str, torch.Tensor]:
        """`Learner.train`; its DivergedError says what to do here."""
        try:
            return self.learner.train(batch, rate)
        except DivergedError:
            again = f" and --resume, which continues from step {self.saved}" if self.saved else ""
            raise DivergedError(
                f"a loss or the gradient is not a number at step {self.learner.steps + 1}: give the same command "
                f"with a --learning-rate below {self.plan.learner.learning_rate:g}{again}"
            ) from None

    def _rest(self) -> Iterator[Batch]:
        """The batches of this epoch that are still to come; the same ones whether or not it was interrupted."""
        generator = np.random.default_rng([self.plan.wanted.seed, self.epoch])
        for number, batch in enumerate(self.data.batches(self.plan.learner.batch, generator)):
            if number >= self.step:
                yield batch

    def _line(self, sums: list[dict[str, torch.Tensor]], stop: Callable[[], bool]) -> str:
        losses = ", ".join(
            f"{name} {np.mean([float(each[name]) for each in sums]):.3f}" for name in (sums[0] if sums else ())
        )
        top1, value = measure(self.learner, self.data.held, stop)
        return f"epoch {self.epoch} of {self.plan.epochs}: losses {losses}; held out: top-1 {top1}, value {value}"


def _differences(saved: dict[str, Any], now: dict[str, Any]) -> Iterator[str]:
    """What facts of a run differ, those of tables by their own names."""
    for name, value in now.items():
        before = saved.get(name)
        if isinstance(before, dict) and isinstance(value, dict):
            yield from _differences(before, value)
        elif before != value:
            yield f"{name} was {before!r}, now {value!r}"
