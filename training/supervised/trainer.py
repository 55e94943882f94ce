"""Supervised learning: epochs over the rows of SGF files, each measured, and saved so that it can be resumed."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gozero.evaluators.factory import carry_graph
from gozero.nets import model, weights
from gozero.system import files
from gozero.system.console import FAILED, SUCCESS, progress_bar, say, stop_on_signals
from gozero.system.machine import available_threads
from gozero.system.options import SettingsError, flat, from_values
from training.doctor.checkup import constants
from training.learner.learner import DivergedError, Learner
from training.settings.config import LearnerSettings
from training.storage import storage
from training.storage.checkpoint import UNREADABLE, loaded
from training.storage.storage import StorageError
from training.supervised import collection
from training.supervised.collection import Collection, Wanted

SAVED_EVERY = 1000  # steps: what a killed process loses at most
LOSSES = ("policy", "value")  # that are shown
MEASURED = 4096  # most held-out rows that are measured after an epoch


@dataclass(frozen=True)
class Plan:
    """Everything that a run depends on, by which `--resume` recognises its state."""

    network: str
    learner: LearnerSettings
    wanted: Wanted
    epochs: int


class SupervisedTrainer:
    """Supervised learning under way: the learner, and the epochs and steps that are done.

    Weights go to `out`, the state of the run to a file beside it.
    """

    def __init__(self, plan: Plan, data: Collection, out: Path) -> None:
        self.plan, self.data, self.out = plan, data, out
        config = model.config(plan.network, features=plan.wanted.features)
        self.learner = Learner(config, plan.learner, plan.wanted.seed)
        self.epoch = self.step = 0
        self.saved = 0  # the learner's steps in the state that this run has read or written; 0: in none

    def _facts(self) -> dict[str, Any]:
        """Plain values by which a state knows its run. More epochs and another learning rate may be asked for, so they
        are none of them.
        """
        facts = flat({"rows": len(self.data.held), **asdict(self.plan)})
        return {name: value for name, value in facts.items() if name not in ("epochs", "learner.learning_rate")}

    def resume(self) -> None:
        """Continue from the state beside OUT. SettingsError if there is none, or it belongs to another run."""
        path, facts = state_of(self.out).absolute(), self._facts()
        try:
            state = dict(loaded(path.read_bytes()))
            saved, self.epoch, self.step = dict(state["facts"]), state["epoch"], state["step"]
        except UNREADABLE as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged, or no state of a run: remove it"
            raise SettingsError(f"cannot continue from {path}: {why}; without --resume a new run begins") from None
        for name in saved | facts:
            if saved.get(name) != facts.get(name):
                what = f"{name.partition('.')[2] or name} was {saved.get(name)!r}, now {facts.get(name)!r}"
                raise SettingsError(f"{path} is of another run: {what}; give what it had, or another --out")
        self.learner.load_state_dict(state["learner"])
        self.saved = self.learner.steps

    def save(self) -> None:
        state = {"facts": self._facts(), "epoch": self.epoch, "step": self.step, "learner": self.learner.state_dict()}
        counts = {**self.data.counts, "positions": int((~self.data.held).sum()), "steps": self.learner.steps}
        how = {"how": "supervised, from SGF files", **counts, "settings": asdict(self.plan)}
        with storage.writing(self.out):
            weights.save(
                self.out,
                self.learner.ema,
                self.learner.config,
                size=self.plan.wanted.size,
                trained_sizes=[self.plan.wanted.size],
                provenance=how,
            )
            carry_graph(self.out)
            with files.replacing(state_of(self.out)) as file:
                torch.save(state, file)
        self.saved = self.learner.steps

    def train(self, stop: Callable[[], bool]) -> None:
        """Train epoch after epoch, each measured, until all are done or `stop()` is true; then save.

        The batches of an epoch are the same whether or not it was interrupted. DivergedError if a loss became infinite
        or not a number; what was saved before stays.
        """
        plan, steps = self.plan, self.data.steps(self.plan.learner.batch)
        while self.epoch < plan.epochs and not stop():
            losses: list[dict[str, torch.Tensor]] = []
            generator = np.random.default_rng([plan.wanted.seed, self.epoch])
            with progress_bar(steps, f"epoch {self.epoch + 1}", " steps") as progress:
                progress.update(self.step)
                for number, batch in enumerate(self.data.batches(plan.learner.batch, generator)):
                    if number < self.step:
                        continue
                    done = (self.epoch * steps + self.step) / (plan.epochs * steps)
                    losses.append(self.learner.train(batch, plan.learner.rate(done)))
                    self.step += 1
                    progress.update(1)
                    if stop():
                        break
                    if self.step % SAVED_EVERY == 0 and self.step < steps:  # the epoch's end is measured first
                        self.save()
            if self.step >= steps:
                self.epoch, self.step = self.epoch + 1, 0
                learned = {name: np.mean([float(each[name]) for each in losses]) for name in LOSSES}
                text = ", ".join(f"{name} {loss:.3f}" for name, loss in learned.items())
                say(f"epoch {self.epoch} of {plan.epochs}: {text}; held out: {self.measured(stop)}")
            self.save()

    def measured(self, stop: Callable[[], bool] = lambda: False) -> str:
        """What the averaged network predicts of held-out games, beside a guess that does not look at the board."""
        held = np.flatnonzero(self.data.held)
        if not len(held) or stop():
            return "nothing is measured"
        batch = self.data.batch(held[:: -(-len(held) // MEASURED)])
        found = self.learner.evaluate(batch)
        guess = constants(batch, self.data.game, self.learner.config.has_scalar_value)
        losses = (f"{name} {found[name]:.3f} (a guess: {guess[f'constant_{name}']:.3f})" for name in LOSSES)
        return f"{', '.join(losses)}, move right {found['top1']:.1%}, winner right {found['value_sign']:.1%}"


def state_of(out: Path) -> Path:
    """Where the state of a run is that writes its weights to `out`."""
    return out.with_name(out.name + ".state")


def _reserve(out: Path, resumes: bool) -> None:
    """Check that the weights can be written, and in place of no other training, before time is spent on them;
    SettingsError if not.
    """
    try:
        if out.exists() and not out.is_file():
            what = "it is a folder" if out.is_dir() else "it is a device or a pipe"
            raise SettingsError(f"cannot write --out {out.absolute()}: {what}; give another file")
        with tempfile.TemporaryFile(dir=storage.nearest(out.absolute().parent)):
            pass
    except OSError as error:
        raise SettingsError(f"cannot write --out {out.absolute()}: {error.strerror}; give another file") from None
    state = state_of(out)
    if state.exists() and not resumes:
        raise SettingsError(
            f"{state.absolute()} holds a training: give --resume to go on with it, or another --out, or remove it"
        )


def _plan(options: argparse.Namespace) -> Plan:
    """The plan that the options ask for. SettingsError if it cannot be had."""
    version = options.features or (1 if options.network.startswith("agz") else 3)
    only = model.config(options.network, features=version).size
    size = options.size or only or Wanted().size
    if only not in (None, size):
        raise SettingsError(f"--size {size}: network {options.network} plays {only}x{only} only")
    wanted = Wanted(size, options.held_out, options.most, options.seed, version)
    values = {"batch": options.batch, "learning_rate": options.learning_rate}
    return Plan(options.network, from_values(LearnerSettings, values, "command line"), wanted, options.epochs)


def learn(options: argparse.Namespace) -> int:
    """Train. Returns the exit code: 1 if the disk failed or the losses diverged under way. UserError for what cannot be
    used.
    """
    plan = _plan(options)
    _reserve(options.out, options.resume)
    torch.set_num_threads(options.threads or available_threads())
    with storage.alone(options.out.parent, file=options.out.name):
        data = collection.read(options.folder, plan.wanted, say)
        say(str(data))
        if plan.wanted.held_out and not data.held.any():
            say(f"no game is held out to measure with: give more games, or a --held-out above {plan.wanted.held_out:g}")
        run = SupervisedTrainer(plan, data, options.out)
        if options.resume:
            run.resume()
        return _train(run)


def _train(run: SupervisedTrainer) -> int:
    try:
        run.train(stop_on_signals())
    except StorageError as error:
        say(f"gozero supervised: {error}")
        return FAILED
    except DivergedError:
        again = f" and --resume, which continues from step {run.saved}" if run.saved else ""
        say(
            f"gozero supervised: a loss or the gradient is not a number at step {run.learner.steps + 1}: give the same "
            f"command with a --learning-rate below {run.plan.learner.learning_rate:g}{again}"
        )
        return FAILED
    print(f"weights: {run.out.absolute()}")
    return SUCCESS
