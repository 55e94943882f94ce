"""`--dry-run`: does every entrant start, how many games will there be, and how long will they take?

Each entrant is opened as a worker would open it, and moves twice in a position of a random game; the quicker move
counts. A game is taken to be as long as random games are, so the hours are a guess.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing
from datetime import timedelta

import numpy as np

from gozero.games.position import Position
from gozero.system.words import counted
from training.matches.interface import Fault, MatchPlayer, PlayerError, Turn, said
from training.matches.match import MatchGame
from training.matches.players import open_player, play_at_random
from training.matches.tournament.field import Field
from training.matches.tournament.journal import missing

RANDOM_GAMES = 8
EARLY = 0.2  # share of a random game after which a move is timed: beyond books of openings, far from the end


def rehearse(field: Field, games: Sequence[MatchGame]) -> Iterator[tuple[bool, str]]:
    """(whether that is fine, a line), one for each entrant that has a game to play, then the games and the time that
    those which are not among `games` take.
    """
    game, seconds = field.make_game(), dict[str, float | None]()

    def after(number: int, plies: int) -> Position:
        return play_at_random(Position(game), plies, np.array([field.seed + number], np.uint64))

    plies = sum(after(number, field.max_moves).ply for number in range(RANDOM_GAMES)) / RANDOM_GAMES
    early = after(0, int(plies * EARLY))
    playing = {name for pair in field.pairings for name in pair}
    for name, entrant in zip(field.names, field.entrant, strict=True):
        if name in playing:
            seconds[name], line = _try(field, early, entrant.player)
            yield seconds[name] is not None, f"{name}: {line}"
    yield None not in seconds.values(), _summary(field, games, seconds, plies)


def _summary(field: Field, games: Sequence[MatchGame], seconds: Mapping[str, float | None], plies: float) -> str:
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
    time_left = timedelta(seconds=round(moves / workers))
    without = f", {short:,} of them of entrants that do not start or do not play" if short else ""
    return (
        f"{most}{left:,} games left of {total:,} ({pairings} of {field.games}){without}, about {plies:.0f} "
        f"plies each: about {time_left} in {counted(workers, 'process')}, and the start of each"
    )


def _try(field: Field, position: Position, description: str) -> tuple[float | None, str]:
    """(seconds a move, or None if it does not play; what to say)."""
    doing = "start"
    try:
        with closing(open_player(description, field.conditions(position.game))) as player:
            doing = "play"
            took = min(_timed(field, position, player) for _ in range(2))
    except Exception as error:  # noqa: BLE001 - whatever it raises, it is named
        return None, f"does not {doing}: {said(error)}"
    return took, f"starts, {took:.3f} s a move"


def _timed(field: Field, position: Position, player: MatchPlayer) -> float:
    """Seconds of a move, when the player is asked for as many as in a worker. PlayerError for a fault."""
    turns = [Turn(slot, position) for slot in range(field.together)]
    faults = [fault for turn in turns if (fault := player.begin(turn.slot, seed=field.seed)) is not None]
    start = time.perf_counter()
    answers = faults or player.choose(turns)
    if isinstance(answers[0], Fault):
        raise PlayerError(answers[0].text)
    return (time.perf_counter() - start) / len(turns)
