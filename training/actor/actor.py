"""The self-play side of a run: its pools, the network that plays, and the shard that is being written.

Vocabulary.
  actor    plays the games of a run, one generation after the other. It does not know the learner.
  playing  the network that plays: a copy of the learner's average, taken when it was handed over.
  rest     a moment at which no pool is under way, so that the games can be saved. After each rest searches start again
           from their roots, whether or not the run was stopped there: so a resumed run is the same as one that was
           never stopped.

Pools are made when a board size is first needed and keep their games in flight from generation to generation.
"""

from __future__ import annotations

import copy
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import torch
from torch import nn

from gozero.evaluators.base import Evaluator
from gozero.evaluators.row import RowEvaluator
from gozero.games.game import Game
from training.actor.leaves import leaf_evaluator
from training.actor.pool import Pool
from training.actor.simulators import PachiReferee, referee
from training.console import progress_bar
from training.records import records, scoring
from training.records.records import Record
from training.settings.config import LoopSettings, Stage
from training.storage import storage
from training.storage.checkpoint import Progress


class Actor:
    """Plays the games of the run in `folder` and appends them to its shards; counts evaluations in `progress`."""

    def __init__(self, settings: LoopSettings, folder: Path, net: nn.Module, threads: int, device: str) -> None:
        """`net` is copied; `threads`: CPU threads of the evaluator; `device`: cpu or cuda."""
        self.settings, self.folder, self.threads, self.device = settings, folder, threads, device
        self.playing = copy.deepcopy(net).eval().requires_grad_(False)
        self.pools: dict[int, Pool] = {}
        self.games: list[Record] = []  # of the generation under way
        self._referees: dict[int, PachiReferee | None] = {}  # by size
        self._handed = threading.Lock()  # a network is taken whole, never half
        self._version = 0  # of `playing`
        # by size: the version of `playing` that it evaluates with, and the evaluator
        self._evaluators: dict[int, tuple[int, Evaluator | RowEvaluator]] = {}

    def hand_over(self, net: nn.Module) -> None:
        """Play with the present weights of `net` from the next wave on; may be called from another thread."""
        with self._handed:
            self.playing.load_state_dict(net.state_dict())
            self._version += 1

    def open(self, generation: int) -> None:
        """Begin a generation, or continue one whose shard already holds games."""
        path = storage.shard(self.folder, generation)
        self.games = records.read(path).records if path.exists() else []

    @property
    def unit(self) -> str:
        """What a generation is counted in: rows or games."""
        return "games" if self.settings.generation_games else "rows"

    def owed(self, stage: Stage, progress: Progress) -> dict[int, float]:
        """Rows, or games where these make a generation, that each board size still owes to it; negative: too many."""
        whole = self.settings.generation_games or self.settings.generation_rows
        before = progress.games_owed if self.unit == "games" else progress.rows_owed
        owed = {size: before.get(size, 0.0) + share * whole for size, share in stage.sizes.items()}
        for record in self.games:
            owed[record.size] = owed.get(record.size, before.get(record.size, 0.0)) - self._units(record)
        return owed

    def _wanted(self, owed: float, rows: float) -> float:
        """How much to play until the next rest: what is owed, or about so many rows by the generation's games so far."""
        if self.unit == "rows":
            return min(owed, rows)
        a_game = sum(record.rows for record in self.games) / len(self.games) if self.games else rows
        return min(owed, max(1.0, rows / max(1.0, a_game)))

    def _units(self, record: Record) -> int:
        return 1 if self.unit == "games" else record.rows

    def play(self, stage: Stage, progress: Progress, rest: Callable[[], None], stop: Callable[[], bool]) -> None:
        """Play until no size owes anything or `stop()` is true, with a `rest()` every `checkpoint_rows` rows.

        Each game is written to disk as it ends.
        """
        owed, every = self.owed(stage, progress), self.settings.checkpoint_rows or float("inf")
        path, done = storage.shard(self.folder, progress.generation), 0  # done: rows since the last rest
        with storage.writing(path):
            writer = records.Writer(path, self.settings.portable())
        with (
            closing(writer),
            progress_bar(round(sum(owed.values())), f"self-play {progress.generation}", f" {self.unit}") as bar,
        ):
            for size in sorted(owed):
                while round(owed[size]) > 0 and not stop():
                    wanted = self._wanted(round(owed[size]), every - done)
                    for record in self._stretch(size, stage, progress, wanted, stop):
                        self._keep(record, writer, path)
                        owed[size] -= self._units(record)
                        done += record.rows
                        bar.update(self._units(record))
                    if done >= every and not stop():
                        done = 0
                        rest()

    def state_dict(self) -> dict[int, dict[str, Any]]:
        """The pools' states by board size; to be taken at rest."""
        return {size: pool.state_dict() for size, pool in self.pools.items()}

    def load_state_dict(self, pools: dict[int, dict[str, Any]], playing: dict[str, torch.Tensor] | None) -> list[str]:
        """The inverse of `state_dict`. Returns a line for each pool whose games cannot be continued."""
        complaints = []
        if playing is not None:
            self.playing.load_state_dict(playing)
        for size, state in pools.items():
            pool = self._pool(size, generation=1)
            try:
                pool.load_state_dict(state)
            except (ValueError, KeyError) as error:
                complaints.append(f"the games in flight on {size}x{size} are given up and new ones begin: {error}")
                del self.pools[size]
        return complaints

    def game(self, size: int) -> Game:
        """The run's game at a board size, as self-play plays it."""
        return scoring.game_of(self.settings, size)

    def _stretch(
        self, size: int, stage: Stage, progress: Progress, wanted: float, stop: Callable[[], bool]
    ) -> Iterator[Record]:
        """Yield games from one pool with one network until they are, or hold, at least `wanted` games or rows; fewer if
        stopped or if another network was handed over.
        """
        pool = self._pool(size, progress.generation)
        version = self._use(pool, stage, progress.generation)
        before = pool.evaluations
        yield from pool.play(wanted, lambda: stop() or self._version != version, self.unit)
        progress.evaluations += pool.evaluations - before

    def _pool(self, size: int, generation: int) -> Pool:
        if size not in self.pools:
            self.pools[size] = Pool(self.game(size), self.settings.selfplay, (self.settings.seed, generation))
        return self.pools[size]

    def _use(self, pool: Pool, stage: Stage, generation: int) -> int:
        """Give the pool the network that is to play now. Returns the version of that network."""
        size = pool.game.size
        with self._handed:
            version = self._version if stage.evaluator == "network" else -1
            known, previous = self._evaluators.get(size, (None, None))
            if known != version:
                seed, precision = self.settings.seed + generation, self.settings.selfplay.precision
                made = leaf_evaluator(
                    stage.evaluator, pool.game, self.playing, self.threads, seed, self.device, previous, precision
                )
                self._evaluators[size] = version, made
            pool.use(self._evaluators[size][1], stage, generation)
            return self._version

    def _keep(self, record: Record, writer: records.Writer, path: Path) -> None:
        """Have a finished game refereed and write it to disk, before anything else happens."""
        if record.size not in self._referees:
            self._referees[record.size] = referee(self.settings.simulator, self.game(record.size))
        judge = self._referees[record.size]
        if judge is not None:
            judge.check(record)
        with storage.writing(path):
            writer.append(record)
        self.games.append(record)
