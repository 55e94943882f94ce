"""Policy networks by REINFORCE against a pool of their past selves.

The learner begins as the supervised policies, the *start*. An update is a step of the optimiser after a batch of games
against one opponent, half with each colour: a policy drawn from the pool or, in a share of the updates, the value
network, which plays greedily. After each round of updates the learner plays against the start and the pool, and a copy
of it joins the pool.

The gradient is that of the log probability of the learner's moves, times the result less the baseline: what the value
network expected before the move (Williams 1992; AlphaGo 2016). Learner and pool draw their moves from their
probabilities, so games differ.
"""

from __future__ import annotations

import argparse
from dataclasses import asdict
from typing import Any

import numpy as np
import torch
from torch.nn.functional import log_softmax

from gozero import plots
from gozero.games.colours import opponent
from gozero.games.game import BLACK, WHITE
from gozero.system.console import progress_bar, say
from training.course.expansion import Expander
from training.course.folder import REINFORCED, SUPERVISED, CourseFolder, value_stage
from training.course.movers import NEVER, Mover, PolicyMover, ValueMover
from training.course.networks import TIE, Networks, expected_results, planes
from training.course.playing import play, score_of, scores
from training.elo import MatchScore

HEADING = "round  games played     vs start: win   lose    tie   rate      vs pool: win   lose    tie   rate"


class LearningMover(PolicyMover):
    """A policy that draws its moves and remembers what it chose from: `masks`, bool [A] rows in the order of asking."""

    def __init__(self, expander: Expander, networks: Networks, seed: int) -> None:
        super().__init__(expander, networks, seed)
        self.masks: list[np.ndarray] = []

    def logits(self, states: np.ndarray) -> np.ndarray:
        logits = super().logits(states)
        self.masks.append(logits > NEVER)
        return logits


class Reinforcement:
    """The learner, its pool and the optimiser; `advance` does a round. The folder has supervised policies and value
    networks; `settings` are the options that the games depend on.
    """

    def __init__(self, folder: CourseFolder, settings: dict[str, Any]) -> None:
        self._folder, self._settings, self._game = folder, settings, folder.game
        self._expander = Expander(folder.game)
        self._values = folder.load(value_stage(settings["generation"]))
        self._learner = folder.load(SUPERVISED)
        self._optimiser = torch.optim.Adam(
            [each for network in self._learner for each in network.parameters()], lr=settings["rate"]
        )
        self._games_of_a_colour = settings["games"] // 2  # in an update
        self._pool = [_copy(self._learner)]
        self.history: list[dict[str, Any]] = []  # of each round: games played so far, scores

    def restore(self) -> None:
        """Go on where the folder's file stopped. UserError where that cannot be read."""
        content = self._folder.content(REINFORCED)
        for network, state in zip(self._learner, content["networks"], strict=True):
            network.load_state_dict(state)
        self._pool, self.history = content["pool"], content["history"]
        self._optimiser.load_state_dict(content["optimiser"])

    def save(self) -> None:
        """Write everything. StorageError where that fails."""
        more = {"pool": self._pool, "history": self.history, "optimiser": self._optimiser.state_dict()}
        self._folder.save(REINFORCED, "policy", self._learner, self._settings, **more)

    def advance(self, test_games: int) -> None:
        """One round; the same round draws the same games whether or not the run was stopped before it."""
        settings = self._settings
        random = np.random.default_rng([settings["seed"], len(self.history)])
        with progress_bar(settings["updates"], f"round {len(self.history) + 1}", " updates") as bar:
            for _ in range(settings["updates"]):
                bar.set_postfix_str(f"won {self._update(self._opponent(random), random):.2f}", refresh=False)
                bar.update(1)
        games = (len(self.history) + 1) * settings["updates"] * 2 * self._games_of_a_colour
        seed = int(random.integers(2**31))
        found = {"start": self._score(1, test_games, seed), "pool": self._score(len(self._pool), test_games, seed + 7)}
        self.history.append({"games": games, **{name: asdict(score) for name, score in found.items()}})
        self._pool.append(_copy(self._learner))

    def _opponent(self, random: np.random.Generator) -> Mover:
        """The value network in its share of the updates, else a policy from the pool."""
        if random.random() < self._settings["value_share"]:
            return ValueMover(self._expander, self._values)
        return self._past(int(random.integers(len(self._pool))), int(random.integers(2**31)))

    def _past(self, number: int, seed: int) -> PolicyMover:
        """A policy of the pool."""
        return PolicyMover(self._expander, self._folder.restored("policy", self._pool[number]), seed)

    def _update(self, against: Mover, random: np.random.Generator) -> float:
        """Play a batch of games, half with each colour, and take one step. Returns the learner's win rate."""
        score, count, losses = MatchScore(), self._games_of_a_colour, []
        for colour in (BLACK, WHITE):
            learner = LearningMover(self._expander, self._learner, int(random.integers(2**31)))
            movers = (learner, against) if colour == BLACK else (against, learner)
            played = play(self._expander, movers, np.zeros((2, count)), int(random.integers(2**31)))
            score += score_of(played.winners, colour)
            moved = played.colours == colour
            results = np.where(played.winners == colour, 1.0, np.where(played.winners == TIE, 0.0, -1.0))
            boards, actions = played.boards[:-1][moved], played.actions[moved]
            # the baseline is what the value network expects before the move, so after the other colour's
            to_play = np.full(len(boards), opponent(colour))
            before = -expected_results(self._values, boards, to_play, self._game.shape)
            gains = np.broadcast_to(results, moved.shape)[moved] - before
            losses.append(self._loss(colour, boards, actions, np.concatenate(learner.masks), gains) / count)
        self._optimiser.zero_grad()
        sum(losses, torch.zeros(())).backward()
        self._optimiser.step()
        return score.score

    def _loss(
        self, colour: int, boards: np.ndarray, actions: np.ndarray, masks: np.ndarray, gains: np.ndarray
    ) -> torch.Tensor:
        """-sum of log probability times gain over a colour's n moves; a pass without a choice adds nothing."""
        free = actions < self._game.points
        boards, masks, points = boards[free], masks[free, : self._game.points], torch.from_numpy(actions[free])
        network = self._learner[(colour - BLACK) % len(self._learner)]
        logits = network(planes(boards, self._game.shape))
        logs = log_softmax(logits.masked_fill(torch.from_numpy(~masks), NEVER), dim=1)
        chosen = logs.gather(1, points[:, None])[:, 0]
        return -(chosen * torch.from_numpy(gains[free].astype(np.float32))).sum()

    def _score(self, opponents: int, games: int, seed: int) -> MatchScore:
        """The learner's score against the first policies of the pool, games shared out among at most ten of them."""
        learner, score = PolicyMover(self._expander, self._learner, seed), MatchScore()
        numbers = np.unique(np.linspace(0, opponents - 1, 10).astype(int))
        shares = np.diff(np.linspace(0, games // 2, len(numbers) + 1).astype(int))
        for number, share in zip(numbers, shares, strict=True):
            if share > 0:
                found = scores(self._expander, learner, self._past(int(number), seed + 1), int(share), seed)
                score += found["black"] + found["white"]
        return score


def _copy(networks: Networks) -> list[dict[str, torch.Tensor]]:
    """Weights that no longer change."""
    return [{name: each.detach().clone() for name, each in network.state_dict().items()} for network in networks]


def work(folder: CourseFolder, options: argparse.Namespace) -> None:
    asked = {name: getattr(options, name) for name in ("updates", "games", "value_share", "rate", "seed")}
    settings = {"generation": folder.newest(options.generation), **asked}
    run = Reinforcement(folder, settings)
    if folder.has_made(REINFORCED, settings):
        run.restore()
    print(HEADING, *(_row(number, row) for number, row in enumerate(run.history, 1)), sep="\n", flush=True)
    while len(run.history) < options.rounds:
        run.advance(options.test_games)
        run.save()
        print(_row(len(run.history), run.history[-1]), flush=True)
    _draw(folder, run.history)


def _row(number: int, row: dict[str, Any]) -> str:
    parts = []
    for name in ("start", "pool"):
        score = MatchScore(*row[name].values())
        parts.append(f"{score.wins:16} {score.losses:6} {score.draws:6}  {score.score:.3f}")
    return f"{number:5}  {row['games']:12,}  {parts[0]}  {parts[1]}"


def _draw(folder: CourseFolder, history: list[dict[str, Any]]) -> None:
    """Write the picture of the win rates."""
    games = [row["games"] for row in history]
    curves = [
        plots.Curve(f"against the {name}", games, [MatchScore(*row[name].values()).score for row in history])
        for name in ("start", "pool")
    ]
    half = plots.Curve("even", [games[0], games[-1]], [0.5, 0.5], guide=True)
    title = f"{folder.course.game}: win rate of REINFORCE"
    picture = plots.curves([plots.Panel(title, [*curves, half], across="games")])
    say(f"the win rates: {folder.save_picture(REINFORCED, picture)}")
