"""The game on a page: its moves with variations, whose turn it is, how it ended, and a snapshot to restore it from.

Nothing is searched here.
"""

from __future__ import annotations

import secrets
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, replace
from typing import Any

import numpy as np

from gozero.frontends.web.catalogue import rule_sets
from gozero.frontends.web.engine.clock import SessionClock
from gozero.frontends.web.engine.game_tree import START, Ended, Mistake, MoveTree, Node
from gozero.frontends.web.engine.snapshots import SavedSession, check, reader
from gozero.frontends.web.setups import SIDES, Clocks, Setup
from gozero.games import descriptions
from gozero.games.colours import BLACK, COLOUR_NAMES, COLOUR_WORDS, EMPTY, WHITE, opponent
from gozero.games.position import Position
from gozero.games.refusals import landing, refusal
from gozero.play.current_game import GoGame
from gozero.play.ending import Ending
from gozero.play.player import make_game
from gozero.records.sgf import GameRecord
from gozero.system.errors import InputError

# to a click that names no move, where pieces move
STEPS = "Choose one of your pieces, then where it goes: one step ahead, straight or slantwise."


class GameSession:
    """One game. The page may show any of its positions, also while the engine chooses a move."""

    def __init__(self, setup: Setup, size: int, sizes: Sequence[int], trained: Sequence[int] = ()) -> None:
        self.setup = setup  # what the page asked for
        self.trained = trained  # board sizes that the weights learned from, () if unknown
        self.identity = secrets.token_hex(8)  # by which the page recognises a new game
        # at the position that is shown; `sizes` are those that can be played
        self.game = make_game(
            setup.game, sizes, size=size, rules=setup.rules, komi=setup.komi, handicap=setup.handicap
        )
        self.ending = Ending(self.game)  # judges how the shown position ends
        self._first = self.game.position.copy()
        self.start = self.game.record()  # how the game begins; None for a game that is not written as SGF
        self.tree = MoveTree()
        self.at = self.leaf = START  # the node that is shown; one on the line that is shown, at or after it
        # the last position of the game that is being played; None in review, in which every move is a variation
        self.live: int | None = START if self.person != EMPTY else None
        self.live_turn = self.game.position.to_play  # the side to move there; EMPTY once that game is over
        self.ended: Ended | None = None  # how it ended, if not by the rules alone
        self.unchecked: int | None = None  # the node of a move that is to be checked before the engine answers
        self.mistake: Mistake | None = None  # what that check has found
        self.played = time.time()  # when the last move was, in seconds since 1970
        self.results = dict[int, str]()  # as SGF has them, "" for none, by the `end` at which they were asked
        self.clock = SessionClock(setup.clock if self.person != EMPTY else Clocks())  # alone nobody loses on time

    # Whose turn

    @property
    def person(self) -> int:
        """The side that the person plays; EMPTY: both, and the engine plays no move."""
        return SIDES[self.setup.person]

    @property
    def ended_here(self) -> Ended | None:
        """How the game ended in the position that is shown, if the rules did not end it there."""
        return self.ended if self.ended and self.ended.node == self.at else None

    @property
    def is_over(self) -> bool:
        """Whether the game is over in the position that is shown."""
        return self.game.position.is_over or self.ended_here is not None

    @property
    def end(self) -> int:
        """The node where the game ended, or stands; in review the last one of the main line."""
        if self.ended is not None:
            return self.ended.node
        return self.tree.line(START)[-1] if self.live is None else self.live

    @property
    def line(self) -> list[int]:
        """The nodes of the line that is shown: a variation stays while its moves are walked through, and a game that is
        being played ends with its last move.
        """
        if self.is_going_on and self.live is not None and self.at in (path := self.tree.path(self.live)):
            return path
        if self.leaf not in self.tree or self.at not in self.tree.path(self.leaf):
            self.leaf = self.at
        return self.tree.line(self.leaf)

    @property
    def is_going_on(self) -> bool:
        """Whether a game is being played and is not over, wherever the page looks."""
        return self.live is not None and self.live_turn != EMPTY

    @property
    def is_engines_turn(self) -> bool:
        """Whether the engine is to move in the live game, wherever the page looks."""
        return self.is_going_on and self.live_turn != self.person

    @property
    def is_check_due(self) -> bool:
        """Whether the last move of the live game is to be checked before the engine answers."""
        return self.is_engines_turn and self.unchecked == self.live

    @property
    def pending_mistake(self) -> Mistake | None:
        """The move for which the engine waits until the person has chosen; None if there is none."""
        found = self.mistake
        return found if found and self.is_engines_turn and found.node == self.live else None

    def vertex(self, action: int) -> str:
        """An action as the page shows it."""
        return descriptions.vertex(self.game.definition, action)

    def ends(self, action: int) -> tuple[int, int]:
        """The points from which and to which an action goes, the same if a stone is put; of a pass, beyond the board."""
        kind = self.game.definition
        return kind.ends(action) if action < kind.pass_action else (kind.points, kind.points)

    def action(self, text: Any) -> int:
        """The action of a vertex of GTP. InputError if this board has no such vertex."""
        try:
            action = self.game.definition.action(str(text)[:8])
        except ValueError as error:
            raise InputError(STEPS if self.game.definition.moves_pieces else str(error)) from None
        if action > self.game.definition.pass_action:
            raise InputError("Resign with its own button.")
        return action

    # Looking around

    def go_to(self, number: Any) -> None:
        """Show another node. InputError if there is none of this number."""
        self.node(number)
        self.game.position = self.position_at(number)
        self.at = number

    def node(self, number: Any) -> Node:
        """The node of a number that a page sends. InputError if there is none, or no longer."""
        if number not in self.tree:
            raise InputError("This move was taken back or deleted.")
        return self.tree[number]

    def position_at(self, number: int) -> Position:
        """The position of a node, as a new object."""
        shown = self.game.position
        try:
            self.game.position = self._first.copy()
            for colour, action in self.tree.moves(number):
                self.game.position.give_turn(colour)  # a file may have, here or in a branch with the same moves
                self.game.play(colour, action)
            if turn := self.tree[number].next_to_play:
                self.game.position.give_turn(turn)
            return self.game.position
        finally:
            self.game.position = shown

    @contextmanager
    def looking_at(self, number: int) -> Iterator[None]:
        """Show another node for a while."""
        shown = self.at
        self.go_to(number)
        try:
            yield
        finally:
            self.go_to(shown)

    # Moves

    def play(self, action: int) -> None:
        """A move of the page's. InputError with the reason if it cannot be played."""
        position = self.game.position
        if self.is_going_on and self.live != self.at:
            raise InputError("This is an earlier move: go to the last move to play on, or choose Review.")
        if self.is_engines_turn:
            raise InputError(f"It is {COLOUR_NAMES[position.to_play]}'s turn: the engine is thinking.")
        action = landing(position, action)
        if why := refusal(position, action, descriptions.vertex):
            raise InputError(why)
        self.enter(position.to_play, action)

    def enter(self, colour: int, action: int) -> None:
        """Play a move in the position that is shown. ValueError if it cannot be played."""
        self.game.play(colour, action)
        self.played, is_live = time.time(), self.is_going_on and self.live == self.at
        self.at = self.tree.add(self.at, colour, action)
        if is_live:
            self.tree.promote(self.at)
            self._live_here()

    def reply(self, colour: int, action: int) -> None:
        """Enter the engine's move at the end of the live game; a page that looks elsewhere goes on looking there."""
        if self.at == self.live:
            self.enter(colour, action)
        elif self.live is not None:
            with self.looking_at(self.live):
                self.enter(colour, action)

    def _live_here(self) -> None:
        """The node that is shown is the end of the live game."""
        self.live = self.at
        self.live_turn = EMPTY if self.is_over else self.game.position.to_play

    def play_on(self) -> None:
        """Play against the engine from the position that is shown; what followed it stays as a variation. A person who
        had no side gets the one to move. InputError if the rules have ended the game here.
        """
        if self.game.position.is_over:
            raise InputError("The game is over here: go to an earlier move.")
        if self.person == EMPTY:
            self.setup = replace(self.setup, person=COLOUR_WORDS[self.game.position.to_play])
        self.ended, self.clock = None, SessionClock(self.setup.clock)
        self.tree.promote(self.at)
        self._continue_here()

    def _continue_here(self) -> None:
        """Let the live game go on in the position that is shown, with the clocks as they stood then."""
        self._live_here()
        self.unchecked = self.mistake = None
        if (clock := self.tree[self.at].clock) is not None:
            self.clock.restore(clock)

    def resign(self, colour: int, how: str = "resignation") -> None:
        """This side gives the live game up, or has no time left."""
        if not self.is_going_on:
            raise InputError("No game is being played." if self.live is None else "The game is over.")
        self.go_to(self.live)
        self.played = time.time()
        self.ended, self.live_turn = Ended(self.at, opponent(colour), how), EMPTY

    def undo(self) -> None:
        """Back to the person's last own decision, with the clocks as they stood then. If there is no opponent, or the
        game is over elsewhere, one move back, which stays in the tree. InputError if there is none.
        """
        if self.live is None or not (self.is_going_on or self.at == self.live):
            self._step_back()
            return
        last = back = self.live
        if self.ended is None or self.ended.winner == self.person:  # otherwise giving up was the decision
            own = [number for number in self.tree.path(last) if self.tree[number].colour == self.person]
            if not own:
                raise InputError("There is no move of yours to take back.")
            back = self.tree[own[-1]].parent
        self.go_to(back)
        while last != back and not (self.tree[last].children or self.tree[last].sources):  # a file keeps its moves
            last = self.tree.remove(last)
        self.ended = None
        self._continue_here()

    def _step_back(self) -> None:
        """One move back; it is dropped if a person plays both sides and nothing follows it."""
        if self.at == START:
            raise InputError("There is no move to take back.")
        last = self.at
        self.go_to(self.tree[last].parent)
        if self.person == EMPTY and self.tree.origin is None and not self.tree[last].children:
            self.tree.remove(last)

    def run_clock(self, now: float) -> None:
        """Let the clock of the side to move run, and no other; none before the person has answered a warning."""
        if not self.is_going_on or self.is_check_due or self.pending_mistake:
            self.clock.stop(now)
        elif self.live is not None and self.setup.clock.is_limited:
            self.clock.start(self.live_turn, now)
            self.tree[self.live].clock = self.tree[self.live].clock or self.clock.saved(now)

    def review(self) -> None:
        """End the play: from now on moves are variations."""
        self.live = None
        self.clock = SessionClock(Clocks())

    # Records and snapshots

    def set_up(self, stones: Mapping[int, int], to_play: int) -> None:
        """Begin with these stones, a colour for each action. ValueError if they cannot stand."""
        self.game.set_up(stones, to_play)
        self._first = self.game.position.copy()

    @property
    def rules(self) -> str:
        """The name of the rules that are played; "" if the game has one set only, which files need not name."""
        if isinstance(self.game, GoGame):
            return self.game.rules.name
        return self.setup.rules or next(iter(rule_sets(self.game.name)), "")

    def begin_from(self, record: GameRecord) -> None:
        """Begin a new session as a record of its game does, with its result. ValueError if its stones or size cannot be
        played.
        """
        game, rules = self.game, self.rules
        if isinstance(game, GoGame):
            game.load_record(replace(record, moves=()))
            self.start = game.record()
        else:
            game.new_game()
            first = game.stones().reshape(-1)
            given = dict.fromkeys(record.black_stones, BLACK) | dict.fromkeys(record.white_stones, WHITE)
            if given and given != {point: int(first[point]) for point in np.flatnonzero(first).tolist()}:
                raise ValueError("other stones than usual are set up at its start")
            self.start = replace(
                record, size=game.size, moves=(), black_stones=(), white_stones=(), rules=rules or record.rules
            )
        self._first = game.position.copy()

    def snapshot(self, now: float) -> dict[str, Any]:
        """A `SavedSession` as plain JSON, from which `restore` makes this game again; ``now`` is of time.monotonic."""
        saved = {
            "start": self.start and asdict(replace(self.start, comments=())),
            "nodes": self.tree.saved(),
            "next": self.tree.next,
            "origin": self.tree.origin and asdict(self.tree.origin),
            "clock": self.clock.saved(now),
            "result": self.results.get(self.end, ""),
        }
        return {name: saved[name] if name in saved else getattr(self, name) for name in SavedSession.__annotations__}

    def restore(self, values: Mapping[str, Any]) -> None:
        """Bring a new game to where an earlier one stood. ValueError, LookupError or TypeError for other values."""
        saved: SavedSession = reader(SavedSession)(values)
        self.identity = saved.identity
        if saved.start is not None:
            self.begin_from(saved.start)
        self.tree = MoveTree.of(saved.nodes, saved.next)
        self.tree.origin = saved.origin
        check(self.tree, self.game)
        self.go_to(START)
        self.ended, self.unchecked, self.mistake = saved.ended, saved.unchecked, saved.mistake
        if saved.ended is not None and saved.ended.winner not in (BLACK, WHITE):
            raise ValueError("nobody has won the game")
        if saved.live is None or self.person == EMPTY:
            self.review()
        else:
            self.clock.restore(saved.clock)
            self.go_to(saved.live)
            self._live_here()
        self.leaf, self.played = saved.leaf, max(0.0, min(time.time(), saved.played))
        self.go_to(saved.at)
        self.results[self.end] = saved.result
