"""`python -m training.supervised FOLDER --out weights.pt`: teach a network from game records in SGF instead of from
self-play.

    python -m training.supervised ~/games --network b6c64 --epochs 4 --out weights.pt

The networks, the losses and the learner are those of self-play; only where the rows come from differs
(`training.supervised.collection`). After each pass over the positions (*epoch*) the averaged network is measured on
games that it never saw, beside a constant predictor: the commonest move of the training positions, and the side to
move's commoner result. OUT plays at any moment (`gozero-gtp --weights OUT`); beside it OUT.state holds what `--resume`
needs. Ctrl-C saves both.

The weights that ship with gozero never come from this: they learned from self-play alone.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field
from errno import EISDIR
from pathlib import Path
from typing import Any

import numpy as np
import torch

from gozero import nets, weights
from gozero.errors import ChoiceError
from gozero.threads import available_threads
from training.console import progress_bar, say, stop_on_signals
from training.learner.learner import DivergedError, Learner
from training.matches.elo import Z95
from training.records.replay import Batch
from training.settings.config import ConfigError, LearnerSettings, from_dict
from training.storage import storage
from training.storage.storage import StorageError
from training.supervised import collection
from training.supervised.collection import Collection, CollectionError, Shelf, Wanted

CHUNK = 256  # positions measured at once
SAVED_EVERY = 1000  # steps: what a killed process loses at most


@dataclass(frozen=True)
class CorrectShare:
    """How many of some positions were right, and the half width of its 95 % interval: games, not positions, are
    independent.
    """

    share: float
    half: float  # not a number with fewer than two games
    count: int  # positions

    def __str__(self) -> str:
        return f"{self.share:.1%} ± {self.half:.1%} of {self.count:,}" if self.count else "nothing to measure"


def share_of(right: np.ndarray, game: np.ndarray) -> CorrectShare:
    """The share of right bool [n], clustered by game int [n] (Cochran 1977, eq. 2.46: the ratio estimator's variance)."""
    if not len(right):
        return CorrectShare(float("nan"), float("nan"), 0)
    _, number = np.unique(game, return_inverse=True)
    counts, hits = np.bincount(number), np.bincount(number, weights=right)
    share, games = float(hits.sum() / counts.sum()), len(counts)
    if games < 2:
        return CorrectShare(share, float("nan"), len(right))
    spread = float(((hits - share * counts) ** 2).sum()) * games / (games - 1)
    return CorrectShare(share, Z95 * spread**0.5 / float(counts.sum()), len(right))


@dataclass
class Answers:
    """For each held-out position: whether the predicted move, and the predicted winner where one is known, was right."""

    top1: list[np.ndarray] = field(default_factory=list)
    value: list[np.ndarray] = field(default_factory=list)
    game: list[np.ndarray] = field(default_factory=list)
    decided: list[np.ndarray] = field(default_factory=list)

    def add(self, shelf: Shelf, rows: slice, moves: np.ndarray, values: np.ndarray) -> None:
        """The predictions for some rows of a shelf: moves int [n] and values float [n] for the side to move."""
        self.top1.append(moves == shelf.rows.policy[rows].argmax(1))
        self.value.append(np.sign(values) == shelf.rows.value[rows])
        self.game.append(shelf.game[rows])
        self.decided.append(shelf.known[rows, 0] & (shelf.rows.value[rows] != 0))

    def shares(self) -> tuple[CorrectShare, CorrectShare]:
        """(top-1, value accuracy)."""
        if not self.top1:
            nothing = share_of(np.zeros(0), np.zeros(0))
            return nothing, nothing
        top1, value, game, decided = (np.concatenate(part) for part in (self.top1, self.value, self.game, self.decided))
        return share_of(top1, game), share_of(value[decided], game[decided])


@torch.inference_mode()
def measure(
    learner: Learner, held: dict[int, Shelf], stop: Callable[[], bool] = lambda: False
) -> tuple[CorrectShare, CorrectShare]:
    """The averaged network's (top-1, value accuracy) on the held-out positions."""
    answers = Answers()
    for _, shelf in sorted(held.items()):
        for start in range(0, len(shelf), CHUNK):
            if stop():
                break
            rows = slice(start, min(start + CHUNK, len(shelf)))
            batch = shelf.batch(np.arange(rows.start, rows.stop))
            output = learner.ema(*map(torch.from_numpy, batch.inputs))
            answers.add(shelf, rows, output.policy.argmax(1).numpy(), output.value.numpy())
    return answers.shares()


def constant(data: Collection) -> tuple[CorrectShare, CorrectShare]:
    """What a predictor that looks at nothing reaches on the held-out positions: (top-1, value accuracy)."""
    answers = Answers()
    for size, shelf in sorted(data.held.items()):
        taught = data.train.get(size)
        move = int(taught.rows.policy.sum(0, dtype=np.float32).argmax()) if taught else 0
        value = 1.0 if taught is None or taught.rows.value.mean() >= 0 else -1.0
        rows = slice(0, len(shelf))
        answers.add(shelf, rows, np.full(len(shelf), move), np.full(len(shelf), value))
    return answers.shares()


@dataclass(frozen=True)
class TeachingPlan:
    """Everything that a run depends on, so that `--resume` can tell whether it is the same run."""

    network: str
    learner: LearnerSettings
    wanted: Wanted
    epochs: int


class Teaching:
    """A run: the learner and how far it is. `epoch` and `step` count what is done."""

    def __init__(self, plan: TeachingPlan, data: Collection, out: Path) -> None:
        self.plan, self.data, self.out = plan, data, out
        self.learner = Learner(nets.config(plan.network, features=plan.wanted.features), plan.learner, plan.wanted.seed)
        self.epoch = self.step = 0
        self.saved = 0  # the learner's steps in the state that this run has read or written; 0: in none

    @property
    def state_path(self) -> Path:
        return self.out.with_name(self.out.name + ".state")

    def _facts(self) -> dict[str, Any]:
        """Plain values by which a state knows its run; more epochs may be asked for, so they are none of them."""
        facts = {"rows": self.data.rows(), "games": self.data.counts["games"], **asdict(self.plan)}
        facts.pop("epochs")
        facts["wanted"]["sizes"] = list(facts["wanted"]["sizes"])
        return facts

    def resume(self) -> None:
        """Go on from the state beside OUT. ConfigError where there is none, or it belongs to another run."""
        try:
            state = torch.load(self.state_path, map_location="cpu", weights_only=True)
            saved, rate, self.epoch, self.step = (
                _lasting(state["facts"]),
                _learning_rate(state["facts"]),
                state["epoch"],
                state["step"],
            )
        except (OSError, RuntimeError, EOFError, KeyError, TypeError, pickle.UnpicklingError) as error:
            why = error.strerror if isinstance(error, OSError) else "it is damaged, or no state of a run"
            raise ConfigError(
                f"cannot go on from {self.state_path.absolute()}: {why}; without --resume a new run begins"
            ) from None
        facts = self._facts()
        for name, value in _lasting(facts).items():
            if saved.get(name) != value:
                raise ConfigError(
                    f"{self.state_path.absolute()} is of another run: {name} was {saved.get(name)!r}, now {value!r}"
                )
        if rate != _learning_rate(facts):
            say(f"--learning-rate was {rate:g} and is {_learning_rate(facts):g} from here on")
        self.learner.load_state_dict(state["learner"])
        self.saved = self.learner.steps

    def save(self) -> None:
        """Write the weights that play, and the state."""
        provenance = {
            "how": "supervised, from SGF files",
            **self.data.counts,
            "positions": self.data.rows(),
            "steps": self.learner.steps,
        }
        settings = {
            "network": self.plan.network,
            "epochs": self.plan.epochs,
            **asdict(self.plan.wanted),
            **asdict(self.plan.learner),
        }
        size = max(self.data.train, key=lambda each: len(self.data.train[each]))
        with storage.writing(self.out):
            weights.save(
                self.out,
                self.learner.ema,
                self.learner.config,
                size=size,
                trained_sizes=self.data.train,
                provenance={**provenance, "settings": settings},
            )
            with storage.replacing(self.state_path) as file:
                torch.save(
                    {
                        "facts": self._facts(),
                        "epoch": self.epoch,
                        "step": self.step,
                        "learner": self.learner.state_dict(),
                    },
                    file,
                )
        self.saved = self.learner.steps

    def teach(self, stop: Callable[[], bool]) -> None:
        """Epoch after epoch, each measured, until all are done or told to stop; what is done by then is saved.

        Raises:
            DivergedError: a loss became no number; what was saved before stays.
        """
        steps = self.data.steps(self.plan.learner.batch)
        while self.epoch < self.plan.epochs and not stop():
            sums: list[dict[str, torch.Tensor]] = []
            with progress_bar(steps, f"epoch {self.epoch + 1}", " steps") as progress:
                progress.update(self.step)
                for batch in self._rest():
                    sums.append(self._learn(batch, self._rate(steps)))
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
            again = f" and --resume, which goes on from step {self.saved}" if self.saved else ""
            raise DivergedError(
                f"a loss or the gradient is no number at step {self.learner.steps + 1}: give the same command with a "
                "--learning-rate "
                f"below {self.plan.learner.learning_rate:g}{again}"
            ) from None

    def _rest(self) -> Iterator[Batch]:
        """The batches of this epoch that are still to come; the same ones whether or not it was interrupted."""
        generator = np.random.default_rng([self.plan.wanted.seed, self.epoch])
        for number, batch in enumerate(self.data.batches(self.plan.learner.batch, generator)):
            if number >= self.step:
                yield batch

    def _rate(self, steps: int) -> float:
        """Factor of the learning rate: 1, then falling linearly over the last `anneal` of all epochs."""
        settings = self.plan.learner
        left = 1 - (self.epoch * steps + self.step) / (self.plan.epochs * steps)
        if settings.anneal == 0 or left >= settings.anneal:
            return 1.0
        return settings.anneal_to + (1 - settings.anneal_to) * left / settings.anneal

    def _line(self, sums: list[dict[str, torch.Tensor]], stop: Callable[[], bool]) -> str:
        losses = ", ".join(
            f"{name} {np.mean([float(each[name]) for each in sums]):.3f}" for name in (sums[0] if sums else ())
        )
        top1, value = measure(self.learner, self.data.held, stop)
        return f"epoch {self.epoch} of {self.plan.epochs}: losses {losses}; held out: top-1 {top1}, value {value}"


def _learning_rate(facts: dict[str, Any]) -> float:
    """The learning rate among the facts of a run."""
    return float(facts["learner"]["learning_rate"])


def _lasting(facts: dict[str, Any]) -> dict[str, Any]:
    """The facts without the learning rate, which may change where a run goes on; a state that names no input features
    has version 1.
    """
    learner = {name: value for name, value in facts["learner"].items() if name != "learning_rate"}
    return {**facts, "learner": learner, "wanted": {"features": 1, **facts["wanted"]}}


def parser() -> argparse.ArgumentParser:
    """The command line."""
    wanted, learner = Wanted(), LearnerSettings()
    options = argparse.ArgumentParser(prog="python -m training.supervised", description=__doc__)
    options.formatter_class = argparse.RawDescriptionHelpFormatter
    options.add_argument("folder", type=Path, metavar="FOLDER", help="SGF files, there and in the folders below")
    options.add_argument("--out", type=Path, required=True, metavar="FILE", help="weights file to write")
    options.add_argument("--network", default="b6c64", help="b6c64, b10c64 ..., or agz13 (default %(default)s)")
    options.add_argument(
        "--features",
        type=int,
        choices=(1, 2),
        help="version of the input features (default: 2, chains by their liberties too; agz13: 1)",
    )
    options.add_argument("--epochs", type=int, default=5, help="passes over the positions (default %(default)s)")
    options.add_argument("--batch", type=int, default=learner.batch, help="positions of a step (default %(default)s)")
    options.add_argument("--learning-rate", type=float, default=1e-3, help="step size (default %(default)s)")
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
        "--require-result", action="store_true", help="skip games without a result (default: they teach moves only)"
    )
    options.add_argument(
        "--most",
        type=int,
        default=wanted.most,
        metavar="N",
        help="most positions in memory, 1.2 KB each at 13x13 (default %(default)s)",
    )
    options.add_argument("--threads", type=int, default=0, help="CPU threads (default: what the process may use)")
    options.add_argument(
        "--seed",
        type=int,
        default=wanted.seed,
        help="fixes the network's start, the held-out games and all order (default %(default)s)",
    )
    options.add_argument("--resume", action="store_true", help="go on from FILE.state")
    return options


def _plan(options: argparse.Namespace) -> TeachingPlan:
    """The command line, checked. ConfigError or ValueError with one line."""
    for name, low, high in (
        ("epochs", 1, 10**6),
        ("most", 1, 10**9),
        ("threads", 0, 1024),
        ("seed", 0, 2**63 - 1),
        ("held_out", 0, 0.9),
    ):
        if not low <= getattr(options, name) <= high:
            raise ConfigError(f"--{name.replace('_', '-')} {getattr(options, name)} is out of range: {low} to {high}")
    version = options.features or (1 if options.network == "agz13" else 2)
    nets.config(options.network, features=version)
    sizes = tuple(sorted(options.size))
    wanted = Wanted(
        sizes, options.variations, options.require_result, options.held_out, options.most, options.seed, version
    )
    values = {"batch": options.batch, "learning_rate": options.learning_rate}
    return TeachingPlan(options.network, from_dict(LearnerSettings, values, "command line"), wanted, options.epochs)


def _reserve(out: Path) -> None:
    """That the weights can be written, before time is spent on them; ConfigError if not."""
    try:
        if out.is_dir():
            raise IsADirectoryError(EISDIR, "it is a folder")
        with tempfile.TemporaryFile(dir=storage.nearest(out.absolute().parent)):
            pass
    except OSError as error:
        raise ConfigError(f"cannot write --out {out.absolute()}: {error.strerror}; give another file") from None


def main(arguments: Sequence[str] | None = None) -> int:
    """Teach; the exit code: 0, 1 if the disk failed or the losses diverged under way, 2 for a request or a folder that
    cannot be used.
    """
    options = parser().parse_args(arguments)
    try:
        plan = _plan(options)
        _reserve(options.out)
        torch.set_num_threads(options.threads or available_threads())
        data = collection.read(options.folder, plan.wanted, say, nets.config(plan.network).size)
        say(collection.summary(data))
        run = Teaching(plan, data, options.out)
        if options.resume:
            run.resume()
        stop = stop_on_signals()
        run.teach(stop)
    except (StorageError, DivergedError) as error:
        say(f"training.supervised: {error}")
        return 1
    except (CollectionError, ConfigError, ChoiceError) as error:
        say(f"training.supervised: {error}")
        return 2
    except KeyboardInterrupt:  # while reading: nothing has begun
        return 130
    _report(run, stop)
    return 0


def _report(run: Teaching, stop: Callable[[], bool]) -> None:
    """The last word: the network beside the constant predictor, unless told to stop."""
    measured = measure(run.learner, run.data.held, stop)
    if not stop():
        print(f"{'held-out games':<22}{'top-1':<28}value")
        for name, (top1, value) in {run.plan.network: measured, "constant predictor": constant(run.data)}.items():
            print(f"{name:<22}{top1!s:<28}{value}")
    print(f"weights: {run.out.absolute()}")
