"""Conducts a tournament in its folder: what is still to be played, who may play it, what is kept.

The journal is authoritative; everything else in the folder is made from it. An entrant that cannot be started forfeits
what is left to it in this sitting: these games are not in the journal, so that they are played once the entrant starts.
So does one that loses `ILLEGAL_GAMES` in a row by illegal moves, and those are not in the journal either.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

from training.matches.match import ILLEGAL_GAMES, ILLEGAL_MOVE, Fixture, fixture, illegal_play
from training.matches.tournament import sprt
from training.matches.tournament.field import SPRT, Field
from training.matches.tournament.journal import Journal, PlayedGame, missing, sorted_pair
from training.matches.tournament.pool import WorkerPool
from training.matches.tournament.sprt import Decision
from training.matches.tournament.worker import CANNOT_START, Report

LONGEST_DETAIL = 500  # characters that are kept of what an engine answered or said


class Conductor:
    """One sitting of a tournament.

    Attributes:
        withdrawn: why each entrant that plays no more does not, by name: what follows its name in a line.
    """

    def __init__(self, field: Field, journal: Journal, folder: Path) -> None:
        self.field, self.journal = field, journal
        self._folder = folder
        self._game = field.make_game()
        self._open = self._still_open()
        self.withdrawn: dict[str, str] = {}
        self._held: dict[str, list[PlayedGame]] = {}  # games in a row that each entrant lost by illegal moves

    @property
    def asked(self) -> int:
        """Games of the whole tournament."""
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
        first, pair = self.field.names[0], sorted_pair(self.field.names, (0, 1))
        points = {game.index: 0.5 if not game.winner else float(game.winner == first) for game in self.journal.games}
        assert all(game.pair == pair for game in self.journal.games)
        return sprt.judge((points.get(index) for index in range(self.field.games)), self.field.sprt)

    @property
    def forfeits(self) -> dict[str, int]:
        """The games that each withdrawn entrant did not play."""
        return {name: self._missing_of({name}) for name in self.withdrawn}

    def play(self, stop: Callable[[], bool]) -> Iterator[PlayedGame]:
        """Play what is left; each game is in the journal when it is yielded."""
        for report in WorkerPool(self.field, self._folder, self._take).play(lambda: stop() or self._is_decided()):
            game = self._played(report)
            if report.game.ended == CANNOT_START:
                self.withdrawn[game.faulty] = f"could not be started: {report.game.detail}"
                continue
            illegal = report.game.ended == ILLEGAL_MOVE
            for name in game.pair:
                if illegal and name == game.faulty:
                    self._hold(game)
                else:
                    yield from self._kept(self._held.pop(name, []))
            if not illegal:
                yield from self._kept([game])
        yield from self._kept([game for games in self._held.values() for game in games])

    def _kept(self, games: list[PlayedGame]) -> Iterator[PlayedGame]:
        for game in games:
            self.journal.add(game)
            yield game

    def _hold(self, game: PlayedGame) -> None:
        """Hold back a game that was lost by an illegal move, until its loser has played another one or is withdrawn."""
        name = game.faulty
        if name in self.withdrawn:  # the game was under way
            return
        held = self._held.setdefault(name, [])
        held.append(game)
        if len(held) == ILLEGAL_GAMES:
            self.withdrawn[name] = illegal_play(game.detail)
            del self._held[name]

    def _is_decided(self) -> bool:
        decision = self.decision
        return decision is not None and bool(decision.accepted)

    def _take(self) -> Fixture | None:
        """The next fixture of entrants that can start."""
        return next((each for each in self._open if not self.withdrawn.keys() & set(each.names)), None)

    def _still_open(self) -> Iterator[Fixture]:
        """All fixtures that are not in the journal, pair of games by pair of games, each pairing in turn."""
        done = {game.key for game in self.journal.games}
        number = 0
        for start in range(0, self.field.games, 2):
            for pairing in self.field.pairings:
                for index in (start, start + 1):
                    names = sorted_pair(self.field.names, pairing)
                    if (*names, index) not in done:
                        places = (self.field.names.index(names[0]), self.field.names.index(names[1]))
                        yield fixture(number, places, names, index, self.field.seed)
                    number += 1

    def _played(self, report: Report) -> PlayedGame:
        """The game as the journal holds it."""
        (a, b), index = report.fixture.names, report.fixture.index
        record, spent = report.game, report.spent
        return PlayedGame(
            (a, b),
            index,
            "" if record.winner is None else (a, b)[record.winner],
            record.result,
            record.ended,
            _clipped(record.detail),
            record.moves_text(self._game),
            (_claim(record.claims[0]), _claim(record.claims[1])),
            (round(spent[0].seconds, 4), round(spent[1].seconds, 4)),
            (spent[0].moves, spent[1].moves),
            (round(spent[0].longest, 4), round(spent[1].longest, 4)),
            (spent[0].replaced, spent[1].replaced),
        )

    def _missing_of(self, names: set[str] | dict[str, str]) -> int:
        """Games of these entrants that are not in the journal."""
        if not names:
            return 0
        counts = missing(self.field, self.journal.games)
        return sum(count for pairing, count in counts.items() if {self.field.names[i] for i in pairing} & set(names))


def _claim(text: str | None) -> str | None:
    return None if text is None else _clipped(text)


def _clipped(text: str) -> str:
    """One line that a person can read, whatever an engine wrote."""
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_DETAIL else f"{line[:LONGEST_DETAIL]} ..."
