"""Conducts a tournament in its folder: what is still to be played, who may play it, what goes into the journal.

The journal is authoritative; everything else in the folder is made from it. An entrant that cannot be started forfeits
what is left to it until the same command is given again: these games are not in the journal. So does one that loses
`ILLEGAL_GAMES` in a row by illegal moves, and those are not in the journal either.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator
from pathlib import Path

from training.matches.elo import Decision, judge
from training.matches.match import ILLEGAL_MOVE, Fixture, fixture
from training.matches.tournament.field import SPRT, Field
from training.matches.tournament.journal import Journal, PlayedGame, missing
from training.matches.tournament.pool import WorkerPool
from training.matches.tournament.worker import CANNOT_START

ILLEGAL_GAMES = 3  # in a row, after which an entrant plays no more: it probably uses other rules


class Conductor:
    """Plays a tournament once, as far as it goes; `withdrawn` has the names of entrants that play no more, each with
    the reason as the end of a sentence.
    """

    def __init__(self, field: Field, journal: Journal, folder: Path) -> None:
        self.field, self.journal = field, journal
        self._folder = folder
        self._open = self._still_open()
        self.withdrawn: dict[str, str] = {}
        self._illegal: dict[str, list[PlayedGame]] = {}  # games in a row that each entrant lost by illegal moves
        self.uncounted: list[PlayedGame] = []  # those of entrants that were withdrawn for them

    @property
    def asked(self) -> int:
        return len(self.field.pairings) * self.field.games

    @property
    def left(self) -> int:
        """Games that are neither played nor forfeited; none once an SPRT is decided."""
        if self._is_decided():
            return 0
        return sum(missing(self.field, self.journal.games).values()) - self._missing_of(self.withdrawn)

    @property
    def decision(self) -> Decision | None:
        """How far the SPRT has come; None: there is none."""
        if self.field.kind != SPRT:
            return None
        first = self.field.names[0]
        points = {game.index: 0.5 if not game.winner else float(game.winner == first) for game in self.journal.games}
        return judge((points.get(index) for index in range(self.field.games)), self.field.sprt)

    @property
    def forfeits(self) -> dict[str, int]:
        """The games that each withdrawn entrant did not play."""
        return {name: self._missing_of({name}) for name in self.withdrawn}

    def play(self, stop: Callable[[], bool]) -> Iterator[PlayedGame]:
        """Play what is left; each game is in the journal when it is yielded."""
        for game in WorkerPool(self.field, self._folder, self._take).play(lambda: stop() or self._is_decided()):
            if game.ended == CANNOT_START:
                self.withdrawn[game.faulty] = f"could not be started: {game.detail}"
                continue
            yield from self._added(self._that_count(game))
        yield from self._added([game for games in self._illegal.values() for game in games])

    def _added(self, games: list[PlayedGame]) -> Iterator[PlayedGame]:
        for game in games:
            self.journal.add(game)
            yield game

    def _that_count(self, game: PlayedGame) -> list[PlayedGame]:
        """The games that count now that this one has ended. One that was lost by an illegal move is postponed until its
        loser has played another one, or is withdrawn.
        """
        loser = game.faulty if game.ended == ILLEGAL_MOVE else ""
        found = [each for name in game.pair if name != loser for each in self._illegal.pop(name, [])]
        if not loser:
            return [*found, game]
        if loser not in self.withdrawn:  # else the game was under way
            games = self._illegal.setdefault(loser, [])
            games.append(game)
            if len(games) == min(ILLEGAL_GAMES, self.asked):
                why = f"lost {len(games)} games in a row by illegal moves, the last by this one: {game.detail}"
                self.withdrawn[loser] = why
                self.uncounted += self._illegal.pop(loser)
        return found

    def _is_decided(self) -> bool:
        decision = self.decision
        return decision is not None and bool(decision.accepted)

    def _take(self) -> Fixture | None:
        """The next fixture of entrants that can start."""
        return next((each for each in self._open if not self.withdrawn.keys() & set(each.pair)), None)

    def _still_open(self) -> Iterator[Fixture]:
        """All fixtures that are not in the journal, pair of games by pair of games, each pairing in turn."""
        done, number = {game.key for game in self.journal.games}, 0
        for start in range(0, self.field.games, 2):
            for pair in self.field.pairings:
                for index in (start, start + 1):
                    if (*pair, index) not in done:
                        yield fixture(number, pair, index, self.field.seed)
                    number += 1

    def _missing_of(self, names: Collection[str]) -> int:
        """Games of these entrants that are not in the journal."""
        counts = missing(self.field, self.journal.games) if names else {}
        return sum(count for pair, count in counts.items() if not set(names).isdisjoint(pair))
