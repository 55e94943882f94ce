"""Learns from game records in SGF; the command line is `training.commands.supervised`."""

from __future__ import annotations

import argparse
import tempfile
from errno import EISDIR
from pathlib import Path

import torch

from gozero.nets import model
from gozero.system.console import FAILED, SUCCESS, say, stop_on_signals
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.learner.learner import DivergedError
from training.settings.config import LearnerSettings, from_dict
from training.storage import storage
from training.storage.storage import StorageError
from training.supervised import collection
from training.supervised.collection import CollectionError, Wanted
from training.supervised.measure import constant, measure
from training.supervised.trainer import SupervisedTrainer, TrainerPlan, state_of


def _plan(options: argparse.Namespace) -> TrainerPlan:
    """The command line, checked. SettingsError or ValueError with one line."""
    version = options.features or (1 if options.network == "agz13" else 3)
    model.config(options.network, features=version)
    sizes = tuple(sorted(options.size))
    wanted = Wanted(
        sizes, options.variations, options.require_result, options.held_out, options.most, options.seed, version
    )
    values = {"batch": options.batch, "learning_rate": options.learning_rate}
    return TrainerPlan(options.network, from_dict(LearnerSettings, values, "command line"), wanted, options.epochs)


def _reserve(out: Path, resumes: bool) -> None:
    """Check that the weights can be written, and in place of no other training, before time is spent on them;
    SettingsError if not.
    """
    try:
        if out.is_dir():
            raise IsADirectoryError(EISDIR, "it is a folder")
        with tempfile.TemporaryFile(dir=storage.nearest(out.absolute().parent)):
            pass
    except OSError as error:
        raise SettingsError(f"cannot write --out {out.absolute()}: {error.strerror}; give another file") from None
    state = state_of(out)
    if state.exists() and not resumes:
        raise SettingsError(
            f"{state.absolute()} holds a training: give --resume to go on with it, or another --out, or remove it"
        )


def learn(options: argparse.Namespace) -> int:
    """Train. Returns the exit code: 1 if the disk failed or the losses diverged under way. UserError for what cannot be
    used.
    """
    plan = _plan(options)
    _reserve(options.out, options.resume)
    torch.set_num_threads(options.threads or available_threads())
    size = model.config(plan.network).size
    try:
        data = collection.read(options.folder, plan.wanted, say, size)
    except CollectionError as error:
        needs = f"; network {plan.network} plays {size}x{size} only" if size else ""
        raise CollectionError(f"{error}{needs}") from None
    say(collection.summary(data))
    if plan.wanted.held_out and not data.held:
        say(f"no game is held out to measure with: give more games, or a --held-out above {plan.wanted.held_out:g}")
    run = SupervisedTrainer(plan, data, options.out)
    if options.resume:
        run.resume()
    stop = stop_on_signals()
    try:
        run.train(stop)
    except (StorageError, DivergedError) as error:
        say(f"gozero supervised: {error}")
        return FAILED
    measured = measure(run.learner, data.held, stop)
    if not stop():  # beside the constant predictor's
        print(f"{'held-out games':<22}{'top-1':<28}value")
        for name, (top1, value) in {plan.network: measured, "constant predictor": constant(data)}.items():
            print(f"{name:<22}{top1!s:<28}{value}")
    print(f"weights: {run.out.absolute()}")
    return SUCCESS
