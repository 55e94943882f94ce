"""`--dry-run`: does every entrant start, how many games will there be, and how long will they take?

Each entrant is opened as a worker would open it, and moves in positions of two random games (an engine may know its
answer to the first one); the quicker move counts. A game is taken to be as long as random games are, so the hours are
a guess.
"""

from __future__ import annotations

import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import timedelta

import numpy as np

from gozero.games.game import Game
from gozero.games.position import Position
from gozero.system.words import counted
from training.matches.interface import Fault, PlayerError, Turn, said
from training.matches.match import MatchGame
from training.matches.players import open_player, play_at_random
from training.matches.tournament.field import SPRT, Field
from training.matches.tournament.journal import missing

RANDOM_GAMES = 8
EARLY = 0.2  # share of a random game after which a move is timed: beyond books of openings, far from the end


def rehearse(field: Field, games: Sequence[MatchGame]) -> Iterator[tuple[bool, str]]:
    """(whether that is fine, a line), one for each entrant that has a game to play, then the games that are not among
    `games`, and the time that they take.
    """
    game, seconds = field.make_game(), dict[str, float]()
    randoms = [_played(field, game, number, field.max_moves) for number in range(RANDOM_GAMES)]
    plies = sum(position.ply for position in randoms) / RANDOM_GAMES
    early = [_played(field, game, number, int(plies * EARLY)) for number in range(2)]
    playing = {name for pair in field.pairings for name in pair}
    for entrant in field.entrant:
        if entrant.name in playing:
            try:
                seconds[entrant.name] = _seconds_a_move(field, early, entrant.player)
            except Exception as error:  # noqa: BLE001 - whatever it raises, it is named
                yield False, f"{entrant.name}: does not play: {said(error)}"
            else:
                yield True, f"{entrant.name}: plays, {seconds[entrant.name]:.3f} s a move"
    counts = missing(field, games)
    left, workers = sum(counts.values()), min(field.workers, max(1, sum(counts.values())))
    work = sum(count * plies / 2 * (seconds.get(a, 0.0) + seconds.get(b, 0.0)) for (a, b), count in counts.items())
    most, pairings = "at most " if field.kind == SPRT else "", counted(len(counts), "pairing")
    yield len(seconds) == len(playing), (
        f"{most}{left:,} games left of {len(counts) * field.games:,} ({pairings} of {field.games}), about {plies:.0f} "
        f"plies each: about {timedelta(seconds=round(work / workers))} in {counted(workers, 'process')}, and the start "
        "of each"
    )


def _played(field: Field, game: Game, number: int, plies: int) -> Position:
    """A position of a random game."""
    return play_at_random(Position(game), plies, np.array([field.seed + number], np.uint64))


def _seconds_a_move(field: Field, positions: Sequence[Position], description: str) -> float:
    """Of an entrant that is asked for as many moves as in a worker. It raises what keeps it from playing."""
    taken = []
    with closing(open_player(description, field.conditions(positions[0].game))) as player:
        for position in positions:
            turns = [Turn(slot, position) for slot in range(field.together)]
            faults = [fault for turn in turns if (fault := player.begin(turn.slot, seed=field.seed)) is not None]
            start = time.perf_counter()
            answers = faults or player.choose(turns)
            if isinstance(answers[0], Fault):
                raise PlayerError(answers[0].text)
            taken.append((time.perf_counter() - start) / len(turns))
    return min(taken)
