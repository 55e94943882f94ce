"""`--dry-run`: does every entrant start, how many games will there be, and how long will they take?

Each entrant is opened as a worker would open it, and moves twice in a position of a random game; the second move is
timed. A game is taken to be as long as random games are. So the hours are a guess: entrants that think longer in a
fight, or play shorter games, differ from it.

A ladder is entrants that differ only in their simulations a move, weakest first. If the next step would take more than
`LONG` seconds to measure, its time is taken to be in proportion to that of the last step that was timed.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing

import numpy as np

from gozero.games.game import Game
from gozero.games.position import Position
from gozero.system.words import counted
from training.matches.interface import Fault, MatchPlayer, Turn, said
from training.matches.players import open_player, play_at_random
from training.matches.tournament.field import Field
from training.matches.tournament.journal import PlayedGame, missing

RANDOM_GAMES = 8
EARLY = 0.2  # share of a random game after which a move is timed: beyond books of openings, far from the end
MOVES = 2  # of which the quicker one counts
LONG = 20.0  # seconds for all moves of a step of a ladder
PIECE = 60.0  # most seconds of a timed move that are believed


def rehearse(
    field: Field, games: Sequence[PlayedGame], steps: Mapping[int, tuple[str, int]] | None = None
) -> Iterator[tuple[bool, str]]:
    """(whether that is fine, a line), one for each entrant that has a game to play, then the games and the time that
    those which are not among `games` take.

    Args:
        field: of the tournament.
        games: the finished ones.
        steps: (name of the ladder, simulations) of each entrant that stands on one, by its place; the steps of a ladder
            in ascending order.
    """
    game, seconds = field.make_game(), dict[int, float | None]()
    plies = mean_plies(game, field.seed, field.max_moves)
    early = after_random_moves(game, field.seed, int(plies * EARLY))
    # of each ladder the simulations and seconds of the last step that was timed
    below: dict[str, tuple[int, float]] = {}
    for place in sorted({place for pairing in field.pairings for place in pairing}):
        ladder, simulations = (steps or {}).get(place, ("", 0))
        scaled = _scaled(field, below.get(ladder), simulations)
        took, line = scaled or _try(field, early, field.entrant[place].player)
        yield took is not None, f"{field.entrant[place].name}: {line}"
        seconds[place] = took
        if ladder and took is not None and scaled is None:
            below[ladder] = simulations, took
    yield None not in seconds.values(), _summary(field, games, seconds, plies)


def _scaled(field: Field, below: tuple[int, float] | None, simulations: int) -> tuple[float, str] | None:
    """As `_try`, from the step below; None if there is none, or the step can be measured in time."""
    if below is None:
        return None
    took = below[1] * simulations / below[0]
    if took * field.together * MOVES <= LONG:
        return None
    return took, f"not measured: about {took:.3f} s a move, in proportion to {below[0]:,} simulations"


def _summary(field: Field, games: Sequence[PlayedGame], seconds: Mapping[int, float | None], plies: float) -> str:
    """The games and the time that are left; pairings whose seconds a move are not known take none."""
    counts = missing(field, games)
    left, total, moves, short = sum(counts.values()), len(counts) * field.games, 0.0, 0
    for (a, b), count in counts.items():
        if (first := seconds[a]) is not None and (second := seconds[b]) is not None:
            moves += count * plies / 2 * (first + second)
        else:
            short += count
    most, pairings = "at most " if field.kind == "sprt" else "", counted(len(counts), "pairing")
    workers = min(field.workers, max(1, left))
    without = f", {short:,} of them of entrants that do not start or do not play" if short else ""
    return (
        f"{most}{left:,} games left of {total:,} ({pairings} of {field.games}){without}, about {plies:.0f} "
        f"plies each: about {duration(moves / workers)} in {counted(workers, 'process')}, and the start of each"
    )


def _try(field: Field, position: Position, description: str) -> tuple[float | None, str]:
    """(seconds a move, or None if it does not start; what to say)."""
    try:
        opened = open_player(description, field.conditions(position.game))
    except Exception as error:  # noqa: BLE001 - whatever it raises, it is named
        return None, f"does not start: {said(error)}"
    with closing(opened) as player:
        try:
            return _timed(field, position, player)
        except Exception as error:  # noqa: BLE001 - whatever it raises, it is named
            return None, f"does not play: {said(error)}"


def _timed(field: Field, position: Position, player: MatchPlayer) -> tuple[float | None, str]:
    """As `_try`, of a player that has started."""
    turns = [Turn(slot, position) for slot in range(field.together)]
    for _ in range(MOVES):
        faults = [fault for turn in turns if (fault := player.begin(turn.slot, seed=field.seed)) is not None]
        start = time.perf_counter()
        answers = faults or player.choose(turns)
        took = (time.perf_counter() - start) / len(turns)
        if isinstance(answers[0], Fault):
            return None, f"does not play: {answers[0].text}"
    return min(took, PIECE), f"starts, {took:.3f} s a move"


def duration(seconds: float) -> str:
    """`40 s`, `12 min`, `3.5 h`."""
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 100 * 60 else f"{seconds / 3600:.1f} h"


def mean_plies(game: Game, seed: int, most: int) -> float:
    return sum(after_random_moves(game, seed + number, most).ply for number in range(RANDOM_GAMES)) / RANDOM_GAMES


def after_random_moves(game: Game, seed: int, plies: int) -> Position:
    """A position after so many random moves, or at the end of a shorter game."""
    return play_at_random(Position(game), plies, np.array([seed], np.uint64))
