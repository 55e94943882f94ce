"""How far a network is from perfect play, in a game whose values are known (`training.matches.perfect`).

The command `gozero truth` says what is measured; `strength` measures a run with it. A position is judged if at least
one of its moves does not keep its value.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from pathlib import Path

import numpy as np

from gozero import games
from gozero.evaluators.factory import open_evaluator
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.system.words import counted
from training.elo import MatchScore
from training.matches import perfect
from training.matches.interface import Conditions, Fault, MatchPlayer, PlayerError, Turn
from training.matches.match import play_match, total_of
from training.matches.players import PerfectPlayer, RandomPlayer, SearchPlayer, match_search, play_at_random
from training.matches.tables import aligned

PARALLEL = 32  # positions that a player is asked about at once
PLIES = (4, 30)  # first and last ply of judged positions
PER_GAME = 2  # positions; those of one game resemble each other, and the intervals take them as independent
OPENING = 4  # own play begins after 1 to (points / OPENING) random plies
BARREN_GAMES = 200  # games in a row without a new position, after which the search for more ends


@dataclass(frozen=True)
class Judged:
    position: Position
    values: dict[int, int]  # every legal action's, for the side to move
    own: bool  # from own play


def positions(
    game: Game, solver: perfect.Solver, count: int, seed: int, own: MatchPlayer | None = None
) -> list[Judged]:
    """`count` judged positions, half of them from own play of `own` where it is given; fewer where the game has no
    more.

    `own` must play PARALLEL games at once. The same seed gives the same positions, if `own` plays the same.
    """
    collector = _Collector(game, solver, seed)
    found = [] if own is None else collector.collect(own, count // 2, own=True)
    return found + collector.collect(RandomPlayer(), count - len(found), own=False)


def kept_values(judged: Sequence[Judged], actions: Sequence[int]) -> MatchScore:
    """How often the action chosen in each position kept the value (a win) and did not (a loss)."""
    chosen = zip(judged, actions, strict=True)
    kept = sum(case.values.get(action) == max(case.values.values()) for case, action in chosen)
    return MatchScore(kept, len(judged) - kept)


def player_choices(player: MatchPlayer, judged: Sequence[Judged]) -> list[int]:
    """A player's action in each position, PARALLEL at a time. PlayerError if it cannot answer."""
    actions: list[int] = []
    for start in range(0, len(judged), PARALLEL):
        turns = [Turn(slot, case.position) for slot, case in enumerate(judged[start : start + PARALLEL])]
        for turn in turns:
            player.begin(turn.slot, seed=1 + start + turn.slot)
        actions += _choices(player, turns)
    return actions


def _choices(player: MatchPlayer, turns: Sequence[Turn]) -> list[int]:
    actions: list[int] = []
    for answer in player.choose(turns):
        if isinstance(answer, Fault):
            raise PlayerError(answer.text)
        actions.append(answer)
    return actions


class _Collector:
    """Finds judged positions in games, no position twice."""

    def __init__(self, game: Game, solver: perfect.Solver, seed: int) -> None:
        self._game, self._solver, self._rng = game, solver, np.random.default_rng(seed)
        self._seen: set[tuple[int, bytes]] = set()

    def collect(self, player: MatchPlayer, count: int, *, own: bool) -> list[Judged]:
        """Up to `count` positions from games of a player with itself; ends after BARREN_GAMES without a new one."""
        found: list[Judged] = []
        barren = 0
        for start, actions in self._games(player, random_plies=own):
            fresh = list(islice(self._judged(start, actions, own), min(PER_GAME, count - len(found))))
            barren = 0 if fresh else barren + 1
            found += fresh
            if len(found) == count or barren == BARREN_GAMES:
                break
        return found

    def _games(self, player: MatchPlayer, *, random_plies: bool) -> Iterator[tuple[int, list[int]]]:
        """Yield games without end, PARALLEL at a time: (plies before the player began, all actions)."""
        while True:
            games, starts = [Position(self._game) for _ in range(PARALLEL)], []
            for slot, position in enumerate(games):
                generator = self._rng.integers(2**63, size=1, dtype=np.uint64)
                player.begin(slot, seed=int(generator[0]))
                most = self._game.points // OPENING
                play_at_random(position, int(self._rng.integers(1, most + 1)) if random_plies else 0, generator)
                starts.append(position.ply)
            while turns := [Turn(slot, position) for slot, position in enumerate(games) if not position.is_over]:
                for turn, action in zip(turns, _choices(player, turns), strict=True):
                    turn.position.play(action)
            yield from zip(starts, ([action for _, action in position.moves] for position in games), strict=True)

    def _judged(self, start: int, actions: Sequence[int], own: bool) -> Iterator[Judged]:
        """New positions of a game, in random order."""
        first, last = PLIES
        for ply in self._rng.permutation(np.arange(max(first, start), min(last + 1, len(actions)))).tolist():
            position = Position(self._game)
            for action in actions[:ply]:
                position.play(action)
            if (key := (position.to_play, self._game.board(position.state).tobytes())) not in self._seen:
                self._seen.add(key)
                values = self._solver.values(position.state)
                if len(set(values.values())) > 1:
                    yield Judged(position, values, own)


def table(judged: Sequence[Judged], choices: Mapping[str, Sequence[int]]) -> list[str]:
    """A line for all positions, for those of own play and the random ones; a column for each way to choose."""
    lines: list[list[object]] = [["", "positions", *choices]]
    for name, kinds in (("all", (True, False)), ("own play", (True,)), ("random", (False,))):
        rows = [k for k, case in enumerate(judged) if case.own in kinds]
        if rows:
            chosen = [judged[k] for k in rows]
            kept = (kept_values(chosen, [actions[k] for k in rows]).report() for actions in choices.values())
            lines.append([name, len(rows), *("{score:.1%} ({low:.1%} - {high:.1%})".format(**each) for each in kept)])
    return aligned(lines, left=(0,))


def against_perfect(player: MatchPlayer, solver: perfect.Solver, game: Game, seed: int, count: int = 1) -> list[str]:
    """The results of `count` games with each colour against the perfect player.

    `player` must play PARALLEL games at once.
    """
    records = list(play_match((player, PerfectPlayer(solver)), game, 2 * count, seed, parallel=PARALLEL))
    lines = []
    for place, side in ((0, "first"), (1, "second")):
        played = [each for each in records if each.black == each.pair[place]]
        found = total_of(played, played[0].pair[0])
        different = f", {len({each.moves for each in played})} different" if count > 1 else ""
        outcome = f"{found.wins} won, {found.draws} drawn, {found.losses} lost"
        lines.append(f"as {side} player against perfect play: {counted(count, 'game')}{different}: {outcome}")
    return lines


def measure(options: argparse.Namespace) -> int:
    """Print what the options of `training.commands.truth` ask for; the exit code."""
    game = games.make(options.game, size=options.size)
    solver = perfect.solver(game)
    conditions = Conditions(game, 0.0, options.seed, PARALLEL, threads=options.threads)
    evaluator = open_evaluator(options.weights, game, threads=options.threads)
    name = f"{Path(options.weights).name}, {counted(options.visits, 'visit')}"
    player, policy = (
        SearchPlayer(name, evaluator, visits, match_search(visits, conditions), conditions)
        for visits in (options.visits, 1)
    )
    print(f"{game.name} {game.dimensions}; {name}; seed {options.seed}", flush=True)
    judged = positions(game, solver, options.positions, options.seed, player)
    if len(judged) < options.positions:
        print(
            f"{len(judged)} of {options.positions} positions were found: {BARREN_GAMES} games in a row had no new one"
        )
    if judged:
        choices = {"search": player_choices(player, judged), "policy alone": player_choices(policy, judged)}
        print("share of moves that keep the value, with 95 % intervals", *table(judged, choices), sep="\n", flush=True)
    print(*against_perfect(player, solver, game, options.seed, options.games), sep="\n")
    return 0
