"""`gozero supervised FOLDER --out weights.pt`: train a network on game records in SGF instead of self-play.

    gozero supervised ~/games --network b6c64 --epochs 4 --out weights.pt

The networks, the losses and the learner are those of self-play; only where the rows come from differs
(`training.supervised.collection`). After each pass over the positions (*epoch*) the averaged network is measured on
games that it never saw, beside a constant predictor: the commonest move of the training positions, and the side to
move's commoner result. OUT plays at any moment (`gozero-gtp --weights OUT`); beside it OUT.state holds what `--resume`
needs. Ctrl-C saves both.

The weights that ship with gozero never come from this: they learned from self-play alone.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Sequence
from errno import EISDIR
from pathlib import Path

import torch

from gozero.nets import model
from gozero.system.console import INTERRUPTED, Parser, printing, say, stop_on_signals
from gozero.system.errors import ChoiceError
from gozero.system.options import SettingsError
from gozero.system.threads import available_threads
from training.learner.learner import DivergedError
from training.settings.config import LearnerSettings, from_dict
from training.storage import storage
from training.storage.storage import StorageError
from training.supervised import collection
from training.supervised.collection import CollectionError, Wanted
from training.supervised.measure import constant, measure
from training.supervised.trainer import Trainer, TrainerPlan, state_of


def parser() -> argparse.ArgumentParser:
    """The command line."""
    wanted, learner = Wanted(), LearnerSettings()
    options = Parser(prog="gozero supervised", description=__doc__)
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_argument("folder", type=Path, metavar="FOLDER", help="SGF files, there and in the folders below")
    options.add_argument("--out", type=Path, required=True, metavar="FILE", help="weights file to write")
    options.add_argument("--network", default="b6c64", help="b6c64, b10c64 ..., or agz13 (default %(default)s)")
    options.add_argument(
        "--features",
        type=int,
        choices=(1, 2, 3),
        help="version of the input features (default: 3, ladders and pass-alive points too; agz13: 1)",
    )
    options.add_argument("--epochs", type=int, default=5, help="passes over the positions (default %(default)s)")
    options.add_argument("--batch", type=int, default=learner.batch, help="positions of a step (default %(default)s)")
    options.add_argument("--learning-rate", type=float, default=1e-3, help="step size (default %(default)s)")
    _add_positions(options, wanted)
    options.add_argument("--threads", type=int, default=0, help="CPU threads (default: what the process may use)")
    options.add_argument(
        "--seed",
        type=int,
        default=wanted.seed,
        help="fixes the network's start, the held-out games and all order (default %(default)s)",
    )
    options.add_argument("--resume", action="store_true", help="continue from FILE.state")
    return options


def _add_positions(options: argparse.ArgumentParser, wanted: Wanted) -> None:
    """The options that say which positions are learned from."""
    options.add_argument(
        "--size",
        type=int,
        action="append",
        default=[],
        metavar="N",
        help="only this board size; may be given more than once",
    )
    options.add_argument(
        "--held-out",
        type=float,
        default=wanted.held_out,
        metavar="SHARE",
        help="share of games kept for measuring (default %(default)s)",
    )
    options.add_argument("--variations", action="store_true", help="learn from all variations (default: the main line)")
    options.add_argument(
        "--require-result",
        action="store_true",
        help="skip games without a result (default: only their moves are learned)",
    )
    options.add_argument(
        "--most",
        type=int,
        default=wanted.most,
        metavar="N",
        help="most positions in memory, 1.2 KB each at 13x13 (default %(default)s)",
    )


def _plan(options: argparse.Namespace) -> TrainerPlan:
    """The command line, checked. SettingsError or ValueError with one line."""
    for name, low, high in (
        ("epochs", 1, 10**6),
        ("most", 1, 10**9),
        ("threads", 0, 1024),
        ("seed", 0, 2**63 - 1),
        ("held_out", 0, 0.9),
    ):
        if not low <= getattr(options, name) <= high:
            raise SettingsError(f"--{name.replace('_', '-')} {getattr(options, name)} is out of range: {low} to {high}")
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


def main(arguments: Sequence[str] | None = None) -> int:
    """Train from the command line.

    Returns the exit code: 0; 1 if the disk failed or the losses diverged under way; 2 for a request or a folder that
    cannot be used.
    """
    options = parser().parse_args(arguments)
    return printing("gozero supervised", lambda: _learn(options))


def _learn(options: argparse.Namespace) -> int:
    """`main`, but for standard output."""
    try:
        plan = _plan(options)
        _reserve(options.out, options.resume)
        torch.set_num_threads(options.threads or available_threads())
        data = _read(options.folder, plan)
        say(collection.summary(data))
        if plan.wanted.held_out and not data.held:
            say(f"no game is held out to measure with: give more games, or a --held-out above {plan.wanted.held_out:g}")
        run = Trainer(plan, data, options.out)
        if options.resume:
            run.resume()
        stop = stop_on_signals()
        run.train(stop)
    except (StorageError, DivergedError) as error:
        say(f"gozero supervised: {error}")
        return 1
    except (CollectionError, SettingsError, ChoiceError) as error:
        say(f"gozero supervised: {error}")
        return 2
    except KeyboardInterrupt:  # while reading: nothing has begun
        return INTERRUPTED
    _report(run, stop)
    return 0


def _read(folder: Path, plan: TrainerPlan) -> collection.Collection:
    """The positions to learn from. CollectionError where there are none, which names a board that the network needs."""
    size = model.config(plan.network).size
    try:
        return collection.read(folder, plan.wanted, say, size)
    except CollectionError as error:
        needs = f"; network {plan.network} plays {size}x{size} only" if size else ""
        raise CollectionError(f"{error}{needs}") from None


def _report(run: Trainer, stop: Callable[[], bool]) -> None:
    """Print the network's results beside the constant predictor's, unless stopped."""
    measured = measure(run.learner, run.data.held, stop)
    if not stop():
        print(f"{'held-out games':<22}{'top-1':<28}value")
        for name, (top1, value) in {run.plan.network: measured, "constant predictor": constant(run.data)}.items():
            print(f"{name:<22}{top1!s:<28}{value}")
    print(f"weights: {run.out.absolute()}")
