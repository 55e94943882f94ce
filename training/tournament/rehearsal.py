"""`--dry-run`: does every entrant start, how many games will there be, and how long will they take?

Each entrant is opened as a worker would open it, and moves twice in a position of a random game; the second move is
timed. A game is taken to be as long as random games are. So the hours are a guess: entrants that think longer in a
fight, or play shorter games, differ from it.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import closing

import numpy as np

from gozero.games.game import Game
from gozero.position import Position
from training.matches.interface import said
from training.matches.players import Fault, MatchPlayer, Turn, open_player, random_action
from training.tournament.field import Field
from training.tournament.progress import duration

RANDOM_GAMES = 8
EARLY = 0.2  # share of a random game after which a move is timed: beyond books of openings, far from the end
PIECE = 60.0  # most seconds of a timed move that are believed


def rehearse(field: Field, left: int) -> Iterator[tuple[bool, str]]:
    """(whether that is fine, a line), one for each entrant, then the games and the time that `left` of them take."""
    game, seconds = field.make_game(), []
    plies = mean_plies(game, field.seed, field.max_moves)
    early = after_random_moves(game, field.seed, int(plies * EARLY))
    for entrant in field.entrant:
        took, line = _try(field, early, entrant.player)
        yield took is not None, f"{entrant.name}: {line}"
        seconds.append(took)
    known = [took for took in seconds if took is not None]
    meetings = [
        (seconds[a] or 0.0) + (seconds[b] or 0.0) for a, b in field.pairings if None not in (seconds[a], seconds[b])
    ]
    a_game = plies / 2 * sum(meetings) / len(meetings) if meetings else 0.0
    total = len(field.pairings) * field.games
    most = "at most " if field.kind == "sprt" else ""
    workers = min(field.workers, max(1, left))
    yield (
        len(known) == len(seconds),
        (
            f"{most}{left:,} games left of {total:,} ({len(field.pairings)} pairings of {field.games}), about {plies:.0f} "
            f"plies each: about {duration(left * a_game / workers)} in {workers} processes"
        ),
    )


def _try(field: Field, position: Position, description: str) -> tuple[float | None, str]:
    """(seconds a move, or None where it does not start; what to say)."""
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
    for _ in range(2):
        faults = [fault for turn in turns if (fault := player.begin(turn.slot, seed=field.seed)) is not None]
        start = time.perf_counter()
        answers = faults or player.choose(turns)
        took = (time.perf_counter() - start) / len(turns)
        if isinstance(answers[0], Fault):
            return None, f"does not play: {answers[0].text}"
    return min(took, PIECE), f"starts, {took:.3f} s a move"


def mean_plies(game: Game, seed: int, most: int) -> float:
    """The length of random games."""
    return sum(after_random_moves(game, seed + number, most).ply for number in range(RANDOM_GAMES)) / RANDOM_GAMES


def after_random_moves(game: Game, seed: int, plies: int) -> Position:
    """A position after so many random moves, or at the end of a shorter game."""
    position, generator = Position(game), np.array([seed], np.uint64)
    while not position.is_over and position.ply < plies:
        position.play(random_action(position, generator))
    return position
