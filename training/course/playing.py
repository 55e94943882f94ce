"""Games between two movers, many at once, with the course's randomness, and the rows that networks learn from.

The randomness of one player in one game is a number: r in 0..1 makes each of its moves random with probability r;
r = -m makes its first m moves random. 1 is a random player, 0 one without chance.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from gozero.games.colours import COLOUR_WORDS, opponent
from gozero.games.game import BLACK, EMPTY, NOT_OVER, TO_PLAY, WHITE, Game, outcome_batch, step_batch
from gozero.system.console import progress_bar
from gozero.system.jit import OUTCOME, STEP, as_argument
from training.course.expansion import Expander
from training.course.movers import Mover
from training.course.networks import TIE
from training.elo import MatchScore

PARALLEL = 1000  # games at once
Rows = list[tuple[np.ndarray, np.ndarray]]  # for each network: boards uint8 [n, P], targets int64 [n]


@dataclass(frozen=True)
class Played:
    """B finished games, T the longest one's plies."""

    boards: np.ndarray  # uint8 [T + 1, B, P], the stones before each ply, and at the end
    actions: np.ndarray  # int64 [T, B], -1 after the end
    colours: np.ndarray  # uint8 [T, B], who moved; EMPTY after the end
    chosen: np.ndarray  # bool [T, B], moves that a mover chose and chance did not
    winners: np.ndarray  # uint8 [B]: TIE, BLACK or WHITE

    def value_rows(self, colour: int) -> tuple[np.ndarray, np.ndarray]:
        """(boards uint8 [n, P] after the moves of a colour, or of both for EMPTY, their games' winners int64 [n])."""
        moved = self.colours == colour if colour else self.colours > 0
        winners = np.broadcast_to(self.winners, moved.shape)
        return self.boards[1:][moved], winners[moved].astype(np.int64)

    def policy_rows(self, colour: int, *, chosen: bool = False) -> tuple[np.ndarray, np.ndarray]:
        """(boards uint8 [n, P] before the moves of a colour that won, or of either for EMPTY, their points int64 [n]).

        Passes are left out, and with ``chosen`` random moves too.
        """
        won = (self.colours == self.winners) & (self.winners != TIE) & (self.actions < self.boards.shape[2])
        won &= (self.colours == colour) if colour else (self.colours > 0)
        if chosen:
            won &= self.chosen
        return self.boards[:-1][won], self.actions[won]


def mixed(game: Game, count: int, random: np.random.Generator) -> np.ndarray:
    """The randomness float64 [count] of self-play: half of the players get a probability drawn uniformly from 0..1, the
    other half a number of first moves drawn uniformly from 1 to half the area of the board.
    """
    first_moves = -random.integers(1, game.points // 2 + 1, count).astype(np.float64)
    return np.where(random.random(count) < 0.5, random.random(count), first_moves)


def play(
    expander: Expander, movers: tuple[Mover | None, Mover | None], randomness: np.ndarray, seed: int
) -> Played:
    """Play B games to their ends, all at once.

    `movers` are Black's and White's, None for random moves; `randomness` float64 [2, B] is theirs in each game; `seed`
    is that of chance, the movers have their own.
    """
    game, count = expander.game, randomness.shape[1]
    random, generator = np.random.default_rng(seed), np.array([seed], np.uint64)
    states, histories = game.new_states(count), game.new_histories(count)
    own_moves, outcomes = np.zeros((2, count), np.int64), np.full(count, NOT_OVER, np.int8)
    boards, plies = [expander.boards(states)], []
    while (going_on := outcomes == NOT_OVER).any():
        actions, chosen = np.full(count, -1, np.int64), np.zeros(count, np.bool_)
        colours = np.where(going_on, states[:, TO_PLAY], 0).astype(np.uint8)
        draws = random.random(count)
        for side, colour in enumerate((BLACK, WHITE)):
            own, r = colours == colour, randomness[side]
            mover, by_chance = movers[side], own & np.where(r >= 0, draws < r, own_moves[side] < -r)
            if mover is None:
                by_chance = own
            else:
                chosen |= own & ~by_chance
                if (own & ~by_chance).any():
                    actions[own & ~by_chance] = mover.choose(states[own & ~by_chance])
            if by_chance.any():
                actions[by_chance] = expander.random_actions(states[by_chance], generator)
            own_moves[side] += own
        step_batch(as_argument(game.step, STEP), states, histories, actions)
        outcome_batch(as_argument(game.outcome, OUTCOME), states, outcomes)
        boards.append(expander.boards(states))
        plies.append((actions, colours, chosen))
    won = np.where(outcomes > 0, states[:, TO_PLAY], opponent(states[:, TO_PLAY]))
    winners = np.where(outcomes == 0, TIE, won).astype(np.uint8)
    actions, colours, chosen = (np.stack(part) for part in zip(*plies, strict=True))
    return Played(np.stack(boards), actions, colours, chosen, winners)


def batches(games: int, seed: int) -> Iterator[tuple[int, int]]:
    """(number of games, seed of its own) of each batch that together are so many games."""
    seeds = np.random.SeedSequence(seed).generate_state(-(-games // PARALLEL), np.uint32)
    for number, own in enumerate(seeds):
        yield min(PARALLEL, games - number * PARALLEL), int(own)


def score_of(winners: np.ndarray, colour: int) -> MatchScore:
    """How games won by winners uint8 [n] ended for the player of this colour."""
    wins, ties = (int((winners == each).sum()) for each in (colour, TIE))
    return MatchScore(wins, len(winners) - wins - ties, ties)


def shares(score: MatchScore) -> str:
    """The shares of games that were won, lost and tied, as the course prints them."""
    found = (round(count / score.games, 5) for count in (score.wins, score.losses, score.draws))
    return "win= {:<8} lose= {:<8} tie= {:<8}".format(*found).rstrip()


def scores(
    expander: Expander, mover: Mover, other: Mover | None, games: int, seed: int, openings: int = 0
) -> dict[str, MatchScore]:
    """A mover's scores, by the name of its colour, in so many games with each; an `other` of None moves at random.

    The first 0 to `openings` moves of each player are random, as many as are drawn for the game.
    """
    found = {}
    with progress_bar(2 * games, "measuring", " games") as bar:
        for colour, movers in ((BLACK, (mover, other)), (WHITE, (other, mover))):
            score = MatchScore()
            for count, own in batches(games, seed + colour):
                first_moves = np.random.default_rng(own).integers(0, openings + 1, count).astype(np.float64)
                score += score_of(play(expander, movers, -np.stack([first_moves, first_moves]), own).winners, colour)
                bar.update(count)
            found[COLOUR_WORDS[colour]] = score
    return found


def played(expander: Expander, mover: Mover | None, games: int, seed: int) -> Iterator[Played]:
    """Games of a mover with itself, in batches, with mixed randomness; None: random games."""
    random = np.random.default_rng(seed)
    with progress_bar(games, "playing", " games") as bar:
        for count, own in batches(games, seed):
            randomness = np.zeros((2, count))
            if mover is not None:
                randomness = np.stack([mixed(expander.game, count, random) for _ in "bw"])
            yield play(expander, (mover, mover), randomness, own)
            bar.update(count)


def gathered(
    games: Iterator[Played], networks: int, rows_of: Callable[[Played, int], tuple[np.ndarray, np.ndarray]]
) -> Rows:
    """What each of 1 or 2 networks learns from: the `rows_of` its colour, or of both colours, in all the games."""
    colours = (EMPTY,) if networks == 1 else (BLACK, WHITE)
    batches = [[rows_of(batch, colour) for colour in colours] for batch in games]
    return [
        (np.concatenate([boards for boards, _ in own]), np.concatenate([targets for _, targets in own]))
        for own in zip(*batches, strict=True)
    ]
