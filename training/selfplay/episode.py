"""One game of self-play: its decisions at each ply, and the record that it leaves.

A full search has many simulations, and its result becomes a row; the other moves are cheap and leave none (playout-cap
randomisation, Wu 2019, section 3.1). The first moves of most games are drawn from the raw policy, so that games differ;
some of them are searched all the same, to be recorded. Once one side would have resigned the game is conceded
(`training.selfplay.resign`): it is played to its end with few full searches, as if its rows had a small weight.

An episode asks for a search (`plan`) and takes its result (`move`); it runs none itself. Each has a random generator of
its own, so games do not depend on the order in which they advance.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from gozero.games.game import Game
from gozero.search.root import RootResult, SearchRequest
from gozero.search.search import draw
from training.records import scoring
from training.records.records import Record, Target, sparse_target
from training.selfplay import resign
from training.selfplay.simulators import Simulator, simulator
from training.settings.config import SelfPlaySettings, Stage

# the fields of an episode that a checkpoint holds as they are
PLAIN = ("komi", "openings", "number", "unresigned", "conceded", "full", "drawn", "guided")


@dataclass
class Episode:
    """A game in progress: its position, what has been played and recorded, and the kind of the search under way."""

    game: Game
    settings: SelfPlaySettings
    komi: float
    state: np.ndarray  # int32 [S]
    history: np.ndarray  # uint64 [plies + 1]
    generator: np.random.Generator
    openings: int  # moves to be drawn from the raw policy
    board: Simulator  # that it is played on
    number: int = 0  # games that were begun before it
    unresigned: bool = False  # played fully whatever the values
    moves: list[int] = field(default_factory=list)
    targets: list[Target] = field(default_factory=list)
    # of each ply's root, for the side that moved; -1 where no network searched
    values: list[float] = field(default_factory=list)
    peaks: list[float] = field(default_factory=lambda: [-1.0, -1.0])  # Black's and White's
    conceded: int | None = None  # since this ply
    full: bool = False  # the search under way is recorded
    drawn: bool = False  # whether `full` has been drawn: once for each move, however often its search starts again
    guided: bool = False  # its evaluator is a network
    decided: np.ndarray | None = None  # bool [P], points at which a move changes no score; None: none yet

    @classmethod
    def begin(
        cls, game: Game, settings: SelfPlaySettings, seed: tuple[int, ...], number: int = 0, on: str = "numba"
    ) -> Episode:
        """A new game on a simulator, the one after `number` others: komi and length of the opening are drawn."""
        generator = np.random.default_rng(seed)
        komi = scoring.usual_komi(game.name, game.size)
        if settings.varied_komi:
            komi = scoring.draw_komi(game.name, game.size, generator)
        state, history = scoring.begin(game, komi, game.max_plies)
        openings = 0
        if generator.random() < settings.opening_share:
            openings = int(generator.exponential(settings.opening_mean * game.points))
        unresigned = bool(generator.random() < settings.unresigned_share)
        board = simulator(on, game)
        return cls(game, settings, komi, state, history, generator, openings, board, number, unresigned)

    def state_dict(self) -> dict[str, Any]:
        """The game so far as plain values, for a checkpoint. The position is left out: the moves lead to it."""
        lists = {name: list(getattr(self, name)) for name in ("moves", "values", "peaks")}
        targets = [
            {**vars(target), "actions": target.actions.tolist(), "shares": target.shares.tolist()}
            for target in self.targets
        ]
        generator = json.dumps(self.generator.bit_generator.state)  # as text: its numbers have 128 bits
        return {**{name: getattr(self, name) for name in PLAIN}, **lists, "targets": targets, "generator": generator}

    @classmethod
    def from_state_dict(
        cls, game: Game, settings: SelfPlaySettings, saved: dict[str, Any], on: str = "numba"
    ) -> Episode:
        """The inverse of `state_dict`: the game continues exactly as the saved one would have."""
        (state, history), board = scoring.begin(game, saved["komi"], game.max_plies), simulator(on, game)
        for action in saved["moves"]:
            board.play(state, history, action)
        generator = np.random.default_rng()
        generator.bit_generator.state = json.loads(saved["generator"])
        lists: dict[str, Any] = {name: list(saved[name]) for name in ("moves", "values", "peaks")}
        targets = [
            replace(
                Target(**target),
                actions=np.array(target["actions"], np.int32),
                shares=np.array(target["shares"], np.float32),
            )
            for target in saved["targets"]
        ]
        plain, decided = {name: saved[name] for name in PLAIN}, scoring.decided_points(game, state)
        return cls(
            game, settings, state=state, history=history, generator=generator, board=board, targets=targets,
            decided=decided, **lists, **plain,
        )  # fmt: skip

    @property
    def in_opening(self) -> bool:
        return len(self.moves) < self.openings

    def plan(
        self, stage: Stage, generation: int, resign_at: float = resign.NEVER, *, keep: bool = False
    ) -> SearchRequest:
        """The search of the next move: full or cheap by a random draw; in the opening the root's evaluation alone.

        The game is conceded once a side's level has reached `resign_at`. A search that is asked for again stays full or
        cheap: full ones take longer, so they are interrupted more often, and a new draw would make them rarer. With
        `keep` it builds on the tree that `Search.advance` left: its visits come on top of those of the moves that it
        allows, and the root is not evaluated again.
        """
        if self.conceded is None and not self.unresigned and max(self.peaks) >= resign_at:
            self.conceded = len(self.moves)
        if not self.drawn:
            self.full, self.drawn = bool(self.generator.random() < self._full_share()), True
        self.guided = stage.evaluator == "network"
        visits = stage.full_visits if self.full else 0 if self.in_opening else stage.cheap_visits
        temperature = self._halving(self.settings.root_temperature, self.settings.root_temperature_end)
        return SearchRequest(
            self.state, self.history, max(visits, 1), noise=self.full, temperature=temperature,
            root_mask=self._mask(generation), keep=keep, on_top=visits > 0,
        )  # fmt: skip

    def _full_share(self) -> float:
        """The probability that the next move is searched fully."""
        until = self.settings.full_until.get(self.game.size)
        if until is not None and len(self.moves) >= until * self.game.points:
            return 0.0
        return self.settings.full_share * (1.0 if self.conceded is None else self.settings.conceded_share)

    def move(self, result: RootResult, root: str) -> int:
        """The move to play after this search with a `root` of that kind; a full search is recorded."""
        if self.full:
            surprise = divergence(result.policy, result.prior) if self.guided else None
            chance = self.generator.random()
            self.targets.append(sparse_target(len(self.moves), result.policy, result.value, surprise, chance))
        self.values.append(result.value if self.guided and not self.in_opening else -1.0)
        side = len(self.moves) % 2
        self.peaks[side] = max(self.peaks[side], resign.level(self.values))
        if self.in_opening:
            return draw(result.prior.astype(np.float64), self.settings.opening_temperature, self.generator)
        if root == "gumbel":  # has drawn its winner already
            return result.best
        return draw(result.policy, self._temperature(), self.generator)

    def play(self, action: int) -> str | None:
        """Play a move. Returns how the game has ended, or None if it has not."""
        self.board.play(self.state, self.history, action)
        self.moves.append(action)
        self.drawn = False
        self.decided = scoring.decided_points(self.game, self.state)
        return scoring.ending(self.game, self.state, self.decided)

    def record(self, generation: int, ending: str) -> Record:
        """The record of the finished game. Disagreement if its simulator counts otherwise."""
        moves, score = np.array(self.moves, np.int32), scoring.final_score(self.game, self.state)
        self.board.check_score(self.state, score)
        return Record(
            self.game.size, self.komi, generation, moves, tuple(self.targets), score, ending,
            min(self.openings, len(moves)),
            self.conceded, self.unresigned, (self.peaks[0], self.peaks[1]), self.number,
        )  # fmt: skip

    def _mask(self, generation: int) -> np.ndarray | None:
        """The legal moves without those at decided points, and without a pass where it is too early; None: all of them.

        A move at a decided point changes no score. Without such moves a game ends by passes once nothing is left to
        play for.
        """
        early = len(self.moves) < self.settings.no_pass_until * self.game.points
        no_pass = self.in_opening or (early and generation <= self.settings.no_pass_generations)
        if self.decided is None and not no_pass:
            return None
        mask = np.empty(self.game.actions, np.uint8)
        self.game.legal(self.state, self.history, mask)
        if self.decided is not None:
            mask[: self.game.points][self.decided] = 0
        if no_pass and mask[: self.game.points].any():
            mask[self.game.pass_action] = 0
        return mask

    def _temperature(self) -> float:
        """Temperature of the draw of a move: one for the first games or moves and another for later ones, or falling in
        each game.
        """
        first, last = self.settings.temperature, self.settings.temperature_end
        if self.settings.temperature_games:
            return first if self.number < self.settings.temperature_games else last
        if self.settings.temperature_plies:
            return first if len(self.moves) < self.settings.temperature_plies else last
        return self._halving(first, last)

    def _halving(self, first: float, last: float) -> float:
        """A value that moves from `first` to `last`; the difference halves every board width of moves."""
        return last + (first - last) * 0.5 ** (len(self.moves) / self.game.size)


def divergence(target: np.ndarray, prior: np.ndarray) -> float:
    """Kullback-Leibler divergence of a target from a prior, float [A] each, in nats."""
    tried = target > 0
    return float((target[tried] * np.log(target[tried] / np.maximum(prior[tried], 1e-9))).sum())
