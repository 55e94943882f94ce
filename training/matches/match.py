"""Play a match between two players: paired colours, a referee at every move, one record per game.

Vocabulary
    match     a number of games between player 0 and player 1 on one board with one komi
    pair      games 2k and 2k+1: the same random opening and the same seed, colours swapped
    table     a game in progress; it keeps its slot (see `training.matches.interface`) until the game is over
    referee   our `Position`: every move passes through it before the other player hears of it
    claim     what a player says of the finished game when asked (GTP's final_score), `B+3.5`, `W+0.5`, `0`

A game ends by two passes (or what else ends it in its rules), by resignation, at the limit of moves, or by the fault of
a player: an illegal move, a crash, silence. A fault loses that game and no other.
This module opens no players and prints nothing; `training.arena` does.
"""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from gozero.errors import ChoiceError
from gozero.games.game import BLACK, WHITE, Game
from gozero.position import IllegalMove, Position
from training.matches.elo import Tally
from training.matches.interface import Fault, MatchPlayer, Turn
from training.matches.players import random_action
from training.records.scoring import result_text


@dataclass(frozen=True)
class MatchSettings:
    """The settings of a match. ChoiceError for numbers that make no match."""

    games: int = 20  # even, so that every pair is complete
    seed: int = 1  # fixes the openings and the seeds handed to the players
    opening_moves: int = 0  # uniformly random plies before the players begin, the same in both games of a pair
    max_moves: int = 700  # plies, opening included; then the board is counted as it stands
    parallel: int = 1  # games in progress at once

    def __post_init__(self) -> None:
        if self.games < 2 or self.games % 2:
            raise ChoiceError(f"games must be even and at least 2 (colours are swapped in pairs), not {self.games}")
        if self.parallel < 1 or self.max_moves < 1 or not 0 <= self.opening_moves < self.max_moves:
            numbers = f"not {self.parallel}, {self.max_moves} and {self.opening_moves}"
            raise ChoiceError(
                f"parallel and max_moves must be at least 1, opening_moves between 0 and max_moves - 1, {numbers}"
            )
        if self.seed < 0:
            raise ChoiceError(f"the seed must be at least 0, not {self.seed}")


@dataclass(frozen=True)
class MatchGame:
    """One finished game. Players are 0 and 1; scores are Black's, komi included."""

    number: int  # 0 ... games - 1
    black: int  # which player had Black
    winner: int | None  # which player won; None for a draw
    result: str  # by the referee: B+12.5, W+R, B+F (the other player's fault), B+ (won, in a game without points), 0
    moves: tuple[tuple[int, int], ...]  # (colour, action), opening included
    ended: str  # two passes | game end | resignation | move limit | illegal move | failure
    detail: str  # of a fault: who did what; otherwise empty
    claims: tuple[str | None, str | None]  # final scores named by player 0 and 1; None: not asked, or it has no say
    diagram: str  # the last position

    @property
    def agreed(self) -> bool:
        """Whether all who named a result name the referee's winner (true when neither was asked)."""
        return all(winner_named(claim) == winner_named(self.result) for claim in self.claims if claim is not None)


def winner_named(result: str) -> int | None:
    """BLACK, WHITE or 0 (draw) from `B+3.5`, `W+R`, `B+`, `0`; None if the text names no result."""
    text = result.strip().upper()
    if text in ("0", "DRAW", "JIGO"):
        return 0
    return {"B+": BLACK, "W+": WHITE}.get(text[:2])


def play_match(players: tuple[MatchPlayer, MatchPlayer], game: Game, settings: MatchSettings) -> Iterator[MatchGame]:
    """Play all games, `settings.parallel` at a time, and yield each record when its game ends (not always in order)."""
    waiting = deque(range(settings.games))
    free = list(range(min(settings.parallel, settings.games)))[::-1]
    tables: list[_Table] = []
    while waiting or tables:
        while waiting and free:
            tables.append(_Table.open(waiting.popleft(), free.pop(), players, game, settings))
        for mover, player in enumerate(players):
            turns = [table for table in tables if table.over is None and table.mover == mover]
            for table, answer in zip(
                turns, player.choose([table.turn for table in turns]) if turns else [], strict=True
            ):
                table.take(answer, settings.max_moves)
        for table in [table for table in tables if table.over is not None]:
            yield table.record(players)
            tables.remove(table)
            free.append(table.slot)


@dataclass(frozen=True)
class _Ending:
    how: str
    loser: int | None = None  # None: the board is counted
    letter: str = ""  # R (resignation) or F (forfeit) in place of the points
    detail: str = ""


class _Table:
    """A game in progress in a slot of both players."""

    def __init__(self, number: int, slot: int, position: Position) -> None:
        self.number = number
        self.slot = slot
        self.position = position
        self.black = number % 2
        self.over: _Ending | None = None

    @classmethod
    def open(
        cls, number: int, slot: int, players: Sequence[MatchPlayer], game: Game, settings: MatchSettings
    ) -> _Table:
        """Set up the game with its pair's opening and let both players begin."""
        seeds = np.random.SeedSequence([settings.seed, number // 2]).generate_state(1 + len(players), np.uint64)
        position = Position(game)
        while position.ply < settings.opening_moves and not position.is_over:
            position.play(random_action(position, seeds[:1]))
        table = cls(number, slot, position)
        table.end_if_over(settings.max_moves)
        for index, player in enumerate(players):
            fault = player.begin(slot, seed=int(seeds[1 + index]))
            if fault is not None and table.over is None:
                table.over = _forfeit(index, fault)
        return table

    @property
    def mover(self) -> int:
        """Which player is to move."""
        return self.black if self.position.to_play == BLACK else 1 - self.black

    @property
    def turn(self) -> Turn:
        return Turn(self.slot, self.position)

    def take(self, answer: int | Fault, max_moves: int) -> None:
        """Referee the mover's answer and play it."""
        game, mover = self.position.game, self.mover
        if isinstance(answer, Fault):
            self.over = _forfeit(mover, answer)
            return
        if answer == game.resign_action:
            self.over = _Ending("resignation", mover, "R")
            return
        try:
            self.position.play(answer)
        except IllegalMove as error:
            self.over = _forfeit(mover, Fault("illegal move", str(error)))
            return
        self.end_if_over(max_moves)

    def end_if_over(self, max_moves: int) -> None:
        """Notice that the rules, or the limit of moves, have ended the game."""
        game = self.position.game
        if self.position.is_over:
            passes = game.has_pass and [action for _, action in self.position.moves[-2:]] == [game.pass_action] * 2
            self.over = _Ending("two passes" if passes else "game end")
        elif self.position.ply >= max_moves:
            self.over = _Ending("move limit")

    def record(self, players: Sequence[MatchPlayer]) -> MatchGame:
        """The finished game; both players are asked for its result if the board is to be counted."""
        assert self.over is not None
        claims: list[str | None] = [None, None]
        if self.over.loser is None:
            claims = [player.final_score(self.turn) for player in players]
            result = _counted(self.position)
        else:
            result = f"{'W' if self.over.loser == self.black else 'B'}+{self.over.letter}"
        colour = winner_named(result)
        winner = None if not colour else self.black if colour == BLACK else 1 - self.black
        moves = tuple(self.position.moves)
        ended, detail = self.over.how, self.over.detail
        return MatchGame(
            self.number, self.black, winner, result, moves, ended, detail, (claims[0], claims[1]), str(self.position)
        )


def _forfeit(player: int, fault: Fault) -> _Ending:
    return _Ending(fault.kind, player, "F", fault.text)


def _counted(position: Position) -> str:
    """The result of a finished game, by the board as it stands."""
    if position.game.score is not None:
        return result_text(position.game, position.score())
    return result_text(position.game, position.outcome() * (1 if position.to_play == BLACK else -1))


def tally(records: Sequence[MatchGame]) -> Tally:
    """Wins, losses and draws of player 0."""
    counts = Counter(record.winner for record in records)
    return Tally(counts[0], counts[1], counts[None])


def distinct_games(records: Sequence[MatchGame]) -> int:
    """The number of different games in the match: repeated games of deterministic players prove less."""
    return len(Counter(record.moves for record in records))
