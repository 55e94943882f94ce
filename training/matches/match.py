"""Plays games between players: paired colours, a referee at every move, one record per game.

Games 2k and 2k+1 of a pairing are one pair: the same random opening and the same seeds, colours swapped. Every move
passes through the referee, our `Position`, before the other player gets it. A game ends by two passes (or what else
ends it in its rules), by resignation, at the limit of moves, or by the fault of a player: an illegal move, a crash,
silence. A fault loses that game and no other.

`play_schedule` is the loop behind every match, ladder, gate and tournament.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from gozero.games.colours import COLOUR_LETTERS, result_text
from gozero.games.game import BLACK, NOT_OVER, WHITE, Game
from gozero.games.position import IllegalMove, Position
from gozero.system.errors import ChoiceError
from training.matches.elo import MatchScore
from training.matches.interface import Fault, MatchPlayer, Stopped, Turn
from training.matches.players import play_at_random
from training.records.scoring import counted_result

ILLEGAL_MOVE = "illegal move"  # the kind of fault, and how the game ended
OPENINGS = 1_000  # lines drawn for an opening that does not end the game


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
    claims: tuple[str | None, str | None]  # final scores (as GTP's) of player 0 and 1; None: not asked, or it has none

    def moves_text(self, game: Game) -> str:
        """The moves as lists of games have them: `B D4 W pass`."""
        return " ".join(f"{COLOUR_LETTERS[colour]} {game.vertex(action)}" for colour, action in self.moves)


def winner_named(result: str) -> int | None:
    """BLACK, WHITE or 0 (draw) from `B+3.5`, `W+R`, `B+`, `0`; None if the text names no result."""
    text = result.strip().upper()
    return 0 if text in ("0", "DRAW", "JIGO") else {"B+": BLACK, "W+": WHITE}.get(text[:2])


def agree(claims: Iterable[str | None], result: str) -> bool:
    """Whether all players that were asked name the winner of the referee's result; True if none was asked (None)."""
    return all(winner_named(claim) == winner_named(result) for claim in claims if claim is not None)


@dataclass(frozen=True)
class Fixture:
    """A game to be played between two of the players of a schedule."""

    number: int  # becomes the record's
    pair: tuple[str, str]  # the players' names in the schedule; in the record they are 0 and 1
    index: int  # of the game in the pairing; the first of the pair has Black in the even ones
    seeds: tuple[int, int, int]  # of the opening, and of each of the pair

    @property
    def black(self) -> int:
        """Who of the pair has Black."""
        return self.index % 2


def fixture(number: int, pair: tuple[str, str], index: int, seed: int) -> Fixture:
    """A game of a pairing. Openings are the same for all pairings of a seed; the players' own seeds are not: they
    follow from both names, so they are the same whatever else is played.
    """
    opening = np.random.SeedSequence([seed, index // 2]).generate_state(1, np.uint64)
    words = [seed, index // 2, *(zlib.crc32(name.encode()) for name in pair)]
    own = np.random.SeedSequence(words).generate_state(2, np.uint64)
    return Fixture(number, pair, index, (int(opening[0]), int(own[0]), int(own[1])))


def match_fixtures(games: int, seed: int, pair: tuple[str, str]) -> list[Fixture]:
    """The games of a match between two players of a schedule, numbered from 0."""
    return [fixture(number, pair, number, seed) for number in range(games)]


def play_match(
    players: tuple[MatchPlayer, MatchPlayer],
    game: Game,
    games: int = 20,
    seed: int = 1,
    opening_moves: int = 0,
    max_moves: int = 700,
    parallel: int = 1,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[MatchGame]:
    """Play a match of two players in this process, and yield each record when its game ends (not always in order);
    otherwise as `play_schedule`.
    """
    names = [f"{number} {player.name}" for number, player in enumerate(players)]
    fixtures, named = match_fixtures(games, seed, (names[0], names[1])), dict(zip(names, players, strict=True))
    for _, _, record in play_schedule(named, fixtures, game, opening_moves, max_moves, min(parallel, games), stop):
        yield record


def play_schedule(
    players: Mapping[str, MatchPlayer],
    fixtures: Iterable[Fixture],
    game: Game,
    opening_moves: int,
    max_moves: int,
    parallel: int,
    stop: Callable[[], bool] = lambda: False,
) -> Iterator[tuple[Fixture, int, MatchGame]]:
    """Play fixtures, `parallel` at a time, and yield each with its slot and its record when its game ends.

    A fixture is taken only when there is room for it. All games that wait for one player are put to it together; before
    that Stopped is raised once `stop()` is true.
    """
    waiting = iter(fixtures)
    free = list(range(parallel))[::-1]
    running: list[_Game] = []
    while True:
        while free and (taken := next(waiting, None)) is not None:
            pair = (players[taken.pair[0]], players[taken.pair[1]])
            running.append(_Game(taken, free.pop(), pair, opening(game, opening_moves, taken.seeds[0]), max_moves))
        if not running:
            return
        for name in sorted({each.mover for each in running if each.over is None}):
            turns = [each for each in running if each.over is None and each.mover == name]
            if stop():
                raise Stopped
            answers = players[name].choose([each.turn for each in turns]) if turns else []
            for each, answer in zip(turns, answers, strict=True):
                each.take(answer)
        for each in [each for each in running if each.over is not None]:
            yield each.fixture, each.slot, each.record()
            running.remove(each)
            free.append(each.slot)


def opening(game: Game, plies: int, seed: int, tries: int = OPENINGS) -> Position:
    """A position after so many random plies; a line that ends the game is drawn again, for it would be no game.

    Raises:
        ChoiceError: all of so many tries ended the game.
    """
    generator = np.array([seed], np.uint64)
    for _ in range(tries):
        position = play_at_random(Position(game), plies, generator)
        if not position.is_over:
            return position
    raise ChoiceError(f"{plies} random plies end nearly every game of {game.name}: take fewer opening moves")


@dataclass(frozen=True)
class _Ending:
    how: str
    loser: int | None = None  # None: the board is counted
    letter: str = ""  # R (resignation) or F (forfeit) in place of the points
    detail: str = ""


class _Game:
    """A game in progress in a slot of both players, from its opening on."""

    def __init__(
        self, fixture: Fixture, slot: int, players: tuple[MatchPlayer, MatchPlayer], position: Position, max_moves: int
    ) -> None:
        self.fixture, self.slot, self.position = fixture, slot, position
        self._players, self._max_moves = players, max_moves
        self.over: _Ending | None = None
        self._end_if_over()
        for index, player in enumerate(players):
            fault = player.begin(slot, seed=fixture.seeds[1 + index])
            if fault is not None and self.over is None:
                self.over = _forfeit(index, fault)

    @property
    def to_play(self) -> int:
        """Who of the pair is to move."""
        return self.fixture.black if self.position.to_play == BLACK else 1 - self.fixture.black

    @property
    def mover(self) -> str:
        """The name of the player to move."""
        return self.fixture.pair[self.to_play]

    @property
    def turn(self) -> Turn:
        return Turn(self.slot, self.position)

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
        black, (first, second) = self.fixture.black, self._players
        claims: tuple[str | None, str | None] = (None, None)
        if self.over.loser is None:
            claims = first.final_score(self.turn), second.final_score(self.turn)
            result = _counted(self.position)
        else:
            result = result_text(WHITE if self.over.loser == black else BLACK, self.over.letter)
        colour = winner_named(result)
        winner = None if not colour else black if colour == BLACK else 1 - black
        moves, end = tuple(self.position.moves), self.over
        return MatchGame(self.fixture.number, black, winner, result, moves, end.how, end.detail, claims)


def _forfeit(player: int, fault: Fault) -> _Ending:
    return _Ending(fault.kind, player, "F", fault.text)


def _counted(position: Position) -> str:
    """The result of a game that has ended, by the board as it stands; a draw where it was cut and there is nothing to
    count.
    """
    if position.game.score is not None:
        return counted_result(position.game, position.score())
    if position.outcome() == NOT_OVER:
        return counted_result(position.game, 0)
    return counted_result(position.game, position.outcome() * (1 if position.to_play == BLACK else -1))


def match_score(records: Sequence[MatchGame]) -> MatchScore:
    """Wins, losses and draws of player 0."""
    counts = Counter(record.winner for record in records)
    return MatchScore(counts[0], counts[1], counts[None])


def distinct_games(records: Sequence[MatchGame]) -> int:
    """The number of different games in the match: repeated games of deterministic players prove less."""
    return len({record.moves for record in records})
