"""Plays games between players: paired colours, a referee at every move, one record per game.

Games 2k and 2k+1 of a pairing are one pair: the same random opening and the same seeds, colours swapped. Every move
passes through the referee, our `Position`, before the other player gets it. A game ends by two passes (or what else
ends it in its rules), by resignation, at the limit of moves, or by the fault of a player: an illegal move, a crash,
silence. A fault loses that game and no other.

`play_schedule` is the loop behind every match, ladder, gate and tournament.
"""

from __future__ import annotations

import time
import zlib
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gozero.games.colours import COLOUR_LETTERS, result_text
from gozero.games.game import BLACK, NOT_OVER, WHITE, Game
from gozero.games.position import IllegalMove, Position
from gozero.system.errors import ChoiceError
from training.elo import MatchScore
from training.matches.clocks import NO_CLOCK, GameClock, PlayerClock
from training.matches.interface import Fault, MatchPlayer, Turn
from training.matches.players import play_at_random
from training.records.scoring import counted_result

ILLEGAL_MOVE = "illegal move"  # the kind of fault, and how the game ended
OPENINGS = 1_000  # lines drawn for an opening that does not end the game
LONGEST_DETAIL = 500  # characters that are saved of what an engine answered


@dataclass(frozen=True)
class MatchGame:
    """A finished game, as a line of a journal has it. What comes in twos has the order of `pair`."""

    pair: tuple[str, str]  # names in the schedule
    index: int  # 0 ... games - 1 of the pairing, once each; the first of the pair has Black in the even ones
    winner: str  # name; empty for a draw
    result: str  # by the referee: B+12.5, W+R, B+F (the other player's fault), B+ (won, in a game without points), 0
    ended: str  # two passes | game end | resignation | move limit | illegal move | failure | time ...
    detail: str  # of a fault: who did what; otherwise empty
    moves: str  # `B D4 W pass ...`, opening included
    claims: tuple[str | None, str | None] = (None, None)  # final scores as GTP's; None: not asked, or it has none
    seconds: tuple[float, float] = (0.0, 0.0)  # that each took for its moves
    answers: tuple[int, int] = (0, 0)  # moves that each was asked for
    longest: tuple[float, float] = (0.0, 0.0)  # seconds of each one's slowest move
    replaced: tuple[int, int] = (0, 0)  # moves drawn at random for each, under the course's clock

    @property
    def black(self) -> str:
        return self.pair[self.index % 2]

    @property
    def white(self) -> str:
        return self.pair[1 - self.index % 2]

    @property
    def faulty(self) -> str:
        """Who lost it by a fault; empty: nobody."""
        return next(name for name in self.pair if name != self.winner) if self.detail else ""

    @property
    def agreed(self) -> bool:
        """Whether all players that were asked name the winner of the referee's result."""
        return all(winner_named(claim) == winner_named(self.result) for claim in self.claims if claim is not None)


def total_of(games: Iterable[MatchGame], name: str) -> MatchScore:
    """A player's total in those of the games that it played."""
    winners = Counter(game.winner for game in games if name in game.pair)
    return MatchScore(winners[name], winners.total() - winners[name] - winners[""], winners[""])


def winner_named(result: str) -> int | None:
    """BLACK, WHITE or 0 (draw) from `B+3.5`, `W+R`, `B+`, `0`; None if the text names no result."""
    text = result.strip().upper()
    return 0 if text in ("0", "DRAW", "JIGO") else {"B+": BLACK, "W+": WHITE}.get(text[:2])


@dataclass(frozen=True)
class Fixture:
    """A game to be played between two of the players of a schedule."""

    pair: tuple[str, str]
    index: int  # as a `MatchGame` has it
    seeds: tuple[int, int, int]  # of the opening, and of each of the pair


def fixture(pair: tuple[str, str], index: int, seed: int) -> Fixture:
    """A game of a pairing. Openings are the same for all pairings of a seed; the players' own seeds are not: they
    follow from both names, so they are the same whatever else is played.
    """
    opening = np.random.SeedSequence([seed, index // 2]).generate_state(1, np.uint64)
    words = [seed, index // 2, *(zlib.crc32(name.encode()) for name in pair)]
    own = np.random.SeedSequence(words).generate_state(2, np.uint64)
    return Fixture(pair, index, (int(opening[0]), int(own[0]), int(own[1])))


def play_match(
    players: tuple[MatchPlayer, MatchPlayer],
    game: Game,
    games: int = 20,
    seed: int = 1,
    opening_moves: int = 0,
    max_moves: int = 700,
    parallel: int = 1,
) -> Iterator[MatchGame]:
    """Play a match of two players in this process, and yield each game when it ends (not always in order); otherwise as
    `play_schedule`. In the games' pairs each name has a 0 or a 1 before it.
    """
    first, second = (f"{number} {player.name}" for number, player in enumerate(players))
    fixtures = [fixture((first, second), index, seed) for index in range(games)]
    named = {first: players[0], second: players[1]}
    return play_schedule(named, fixtures, game, opening_moves, max_moves, min(parallel, games))


def play_schedule(
    players: Mapping[str, MatchPlayer],
    fixtures: Iterable[Fixture],
    game: Game,
    opening_moves: int,
    max_moves: int,
    parallel: int,
    clock: GameClock = NO_CLOCK,
) -> Iterator[MatchGame]:
    """Play fixtures, `parallel` at a time, and yield each game when it ends.

    A fixture is taken only when there is room for it. All games that wait for one player are put to it together, or one
    after the other if a clock runs. Whatever a player raises, such as Stopped, ends them all.
    """
    waiting = iter(fixtures)
    free = list(range(parallel))[::-1]
    running: list[_Game] = []
    while True:
        while free and (taken := next(waiting, None)) is not None:
            pair = (players[taken.pair[0]], players[taken.pair[1]])
            position = opening(game, opening_moves, taken.seeds[0])
            running.append(_Game(taken, free.pop(), pair, position, max_moves, clock))
        if not running:
            return
        for name in sorted({each.mover for each in running if each.over is None}):
            asked = [each for each in running if each.over is None and each.mover == name]
            for each, answer in zip(asked, _answers(players[name], asked, clock), strict=True):
                each.take(answer)
        for each in [each for each in running if each.over is not None]:
            yield each.record()
            running.remove(each)
            free.append(each.slot)


def _answers(player: MatchPlayer, asked: Sequence[_Game], clock: GameClock) -> Sequence[int | Fault]:
    """The player's answer in each of these games, in which it is to move."""
    if clock.runs:
        return [each.clocks[each.to_play].ask(player, each.turn) for each in asked]
    start = time.perf_counter()
    answers = player.choose([each.turn for each in asked])
    share = (time.perf_counter() - start) / len(asked)
    for each in asked:
        each.clocks[each.to_play].add(share)
    return answers


def opening(game: Game, plies: int, seed: int) -> Position:
    """A position after so many random plies; a line that ends the game is drawn again, for it would be no game.
    ChoiceError if all of `OPENINGS` lines ended it.
    """
    generator = np.array([seed], np.uint64)
    for _ in range(OPENINGS):
        position = play_at_random(Position(game), plies, generator)
        if not position.is_over:
            return position
    raise ChoiceError(f"{plies} random plies end nearly every game of {game.name}: take fewer opening moves")


@dataclass(frozen=True)
class _Ending:
    how: str
    loser: int | None = None  # its place; None: the board is counted
    letter: str = ""  # R (resignation) or F (forfeit) in place of the points
    detail: str = ""


class _Game:
    """A game in progress in a slot of both players, from its opening on. Of its pair it knows the places, 0 and 1."""

    def __init__(
        self,
        fixture: Fixture,
        slot: int,
        players: tuple[MatchPlayer, MatchPlayer],
        position: Position,
        max_moves: int,
        clock: GameClock,
    ) -> None:
        self.fixture, self.slot, self.position, self.turn = fixture, slot, position, Turn(slot, position)
        self._players, self._max_moves = players, max_moves
        self.clocks = [PlayerClock(clock, seed) for seed in fixture.seeds[1:]]
        self.over: _Ending | None = None
        self._end_if_over()
        for place, player in enumerate(players):
            fault = player.begin(slot, seed=fixture.seeds[1 + place])
            if fault is not None and self.over is None:
                self.over = _forfeit(place, fault)

    @property
    def to_play(self) -> int:
        """The place of the player to move."""
        return (self.fixture.index + (self.position.to_play == WHITE)) % 2

    @property
    def mover(self) -> str:
        """The name of the player to move."""
        return self.fixture.pair[self.to_play]

    def take(self, answer: int | Fault) -> None:
        """Referee the mover's answer and play it."""
        if isinstance(answer, Fault):
            self.over = _forfeit(self.to_play, answer)
        elif answer == self.position.game.resign_action:
            self.over = _Ending("resignation", self.to_play, "R")
        else:
            try:
                self.position.play(answer)
            except IllegalMove as error:
                self.over = _forfeit(self.to_play, Fault(ILLEGAL_MOVE, str(error)))
            else:
                self._end_if_over()

    def _end_if_over(self) -> None:
        """Notice that the rules, or the limit of moves, have ended the game."""
        game = self.position.game
        if self.position.is_over:
            passes = game.has_pass and [action for _, action in self.position.moves[-2:]] == [game.pass_action] * 2
            self.over = _Ending("two passes" if passes else "game end")
        elif self.position.ply >= self._max_moves:
            self.over = _Ending("move limit")

    def record(self) -> MatchGame:
        """The finished game; both players are asked for its result if the board is to be counted."""
        assert self.over is not None
        pair, index, (first, second) = self.fixture.pair, self.fixture.index, self._players
        claims: tuple[str | None, str | None] = (None, None)
        if self.over.loser is None:
            claims = _clipped(first.final_score(self.turn)), _clipped(second.final_score(self.turn))
            result = _counted(self.position)
        else:
            result = result_text(WHITE if self.over.loser == index % 2 else BLACK, self.over.letter)
        colour, game, (a, b) = winner_named(result), self.position.game, self.clocks
        return MatchGame(
            pair,
            index,
            winner=pair[(index + (colour == WHITE)) % 2] if colour else "",
            result=result,
            ended=self.over.how,
            detail=_clipped(self.over.detail) or "",
            moves=" ".join(f"{COLOUR_LETTERS[mover]} {game.vertex(action)}" for mover, action in self.position.moves),
            claims=claims,
            seconds=(round(a.seconds, 4), round(b.seconds, 4)),
            answers=(a.answers, b.answers),
            longest=(round(a.longest, 4), round(b.longest, 4)),
            replaced=(a.replaced, b.replaced),
        )


def _clipped(text: str | None) -> str | None:
    """One line that a person can read, whatever an engine wrote."""
    line = " ".join((text or "").split())
    return None if text is None else line if len(line) <= LONGEST_DETAIL else f"{line[:LONGEST_DETAIL]} ..."


def _forfeit(place: int, fault: Fault) -> _Ending:
    return _Ending(fault.kind, place, "F", fault.text)


def _counted(position: Position) -> str:
    """The result of a game that has ended, by the board as it stands; a draw where it was cut and there is nothing to
    count.
    """
    if position.game.score is not None:
        return counted_result(position.game, position.score())
    if position.outcome() == NOT_OVER:
        return counted_result(position.game, 0)
    return counted_result(position.game, position.outcome() * (1 if position.to_play == BLACK else -1))
