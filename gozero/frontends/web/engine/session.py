"""The game on a page: its moves with variations, whose turn it is, how it ended, and a snapshot to restore it from.

Nothing is searched here.
"""

from __future__ import annotations

import secrets
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

from gozero.frontends.web.catalogue import rule_sets
from gozero.frontends.web.engine.clock import SessionClock
from gozero.frontends.web.engine.game_tree import START, MoveTree
from gozero.frontends.web.setups import SIDES, Clocks, Setup
from gozero.games import coords
from gozero.games.colours import BLACK, COLOUR_NAMES, EMPTY, WHITE
from gozero.games.go.handicap import FEWEST_STONES, fixed_points, most_fixed
from gozero.games.position import IllegalMove
from gozero.games.refusals import landing, refusal
from gozero.play.current_game import CurrentGame, GoGame, TurnError
from gozero.play.player import make_game
from gozero.records.sgf import GAME_NUMBERS, GameRecord
from gozero.system.errors import ChoiceError

LISTS = ("moves", "black_stones", "white_stones", "comments")  # of a record, which are tuples


class RefusedError(ValueError):
    """A request cannot be done; the message is one sentence for the page."""


class Ended(NamedTuple):
    """A game that ended before the rules ended it."""

    node: int
    winner: int
    how: str  # "resignation" or "time"


class GameSession:
    """One game. The page may show any of its positions, also while the engine chooses a move.

    Args:
        setup: what the page asked for.
        size: of the board.
        sizes: that the engine can play.
        trained: board sizes that the weights learned from, () if unknown.

    Attributes:
        identity: by which the page recognises a new game.
        at: the node that is shown; ``game`` has its position.
        leaf: a node on the line that is shown, at or after ``at``.
        live: the last position of the game that is being played, None in review, where every move is a variation.
        live_turn: the side to move there; EMPTY once that game is over.
        ended: how it ended, if not by the rules alone.
        agreed: for nodes where the dead stones were disputed, the strings that are dead.
        clocks: for nodes of the live game, both clocks as they stood when the turn there began.
    """

    def __init__(self, setup: Setup, size: int, sizes: Sequence[int], trained: Sequence[int] = ()) -> None:
        self.setup = setup
        self.trained = trained
        self.identity = secrets.token_hex(4)
        self.game = game_of(setup, size, sizes)
        self.start: GameRecord | None = _first_record(self.game, self.rules)
        self.tree, self.at = MoveTree(), START
        self.person = SIDES[setup.person]
        self.live: int | None = START if self.person != EMPTY else None
        self.live_turn = self.game.position.to_play
        self.leaf = START
        self.ended: Ended | None = None
        self.agreed: dict[int, list[list[int]]] = {}
        self.clock = SessionClock(setup.clock if self.person != EMPTY else Clocks())  # alone nobody loses on time
        self.clocks: dict[int, dict[str, Any]] = {}

    # Whose turn

    @property
    def ended_here(self) -> Ended | None:
        """How the game ended in the position that is shown, if the rules did not end it there."""
        return self.ended if self.ended and self.ended.node == self.at else None

    @property
    def is_over(self) -> bool:
        """Whether the game is over in the position that is shown."""
        return self.game.position.is_over or self.ended_here is not None

    @property
    def is_live(self) -> bool:
        """Whether the game that is being played stands on the board, and is not over."""
        return self.live == self.at and not self.is_over

    @property
    def end(self) -> int:
        """The node where the game ended, or stands; in review the last one of the main line."""
        if self.ended is not None:
            return self.ended.node
        return self.tree.line(START)[-1] if self.live is None else self.live

    @property
    def line(self) -> list[int]:
        """The nodes of the line that is shown: a variation stays while its moves are walked through."""
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

    def vertex(self, action: int) -> str:
        return coords.vertex(action, *self.game.board)

    def action(self, text: Any) -> int:
        """The action of a vertex. RefusedError if this board has no such vertex."""
        try:
            action = coords.parse_vertex(str(text)[:8], *self.game.board)
        except ValueError as error:
            raise RefusedError(str(error)) from None
        if action > self.game.kind.pass_action:
            raise RefusedError("Resign with its own button.")
        return action

    # Moves

    def play(self, action: int) -> None:
        """A move of the page's. RefusedError with the reason where it cannot be played."""
        position = self.game.position
        if self.is_going_on and not self.is_live:
            raise RefusedError("This is an earlier move: go to the last move to play on, or choose Review.")
        if self.is_engines_turn:
            raise RefusedError(f"It is {COLOUR_NAMES[position.to_play]}'s turn: the engine is thinking.")
        if position.is_over:
            raise RefusedError("The game is over.")
        action = landing(position, action)
        if why := refusal(position, action):
            raise RefusedError(why)
        self.game.play(position.to_play, action)
        self.follow()

    def follow(self) -> None:
        """Enter the move that was just played on ``game``."""
        move = self.game.position.moves[-1]
        is_live = self.is_going_on and self.live == self.at
        self.at = self.tree.add(self.at, move.colour, move.action)
        if is_live:
            self.live_here()

    def reply(self, colour: int, action: int) -> None:
        """Enter the engine's move at the end of the live game; a page that looks elsewhere goes on looking there."""
        shown = self.at
        is_seen = shown == self.live
        self.go_to(self.live)
        self.game.play(colour, action)
        self.follow()
        if not is_seen:
            self.go_to(shown)

    def live_here(self) -> None:
        """The node that is shown is the end of the live game."""
        self.live = self.at
        self.live_turn = EMPTY if self.is_over else self.game.position.to_play

    def resign(self, colour: int, how: str = "resignation") -> None:
        """This side gives the live game up, or has no time left."""
        if self.live is None:
            raise RefusedError("No game is being played.")
        self.go_to(self.live)
        if self.is_over:
            raise RefusedError("The game is over.")
        self.ended, self.live_turn = Ended(self.at, BLACK + WHITE - colour, how), EMPTY

    def undo(self) -> None:
        """Back to the person's last own decision, with the clocks as they stood then; one move if there is no opponent
        or the game is over elsewhere. RefusedError if there is none.
        """
        if self.live is None or not (self.is_going_on or self.at == self.live):
            self._undo_variation()
        elif self.ended is not None and self.ended.winner != self.person:
            for variation in list(self.tree[self.live].children):
                self._remove(variation)
            self._go_on()
        else:
            own = [number for number in self.tree.path(self.live) if self.tree[number].colour == self.person]
            if not own:
                raise RefusedError("There is no move of yours to take back.")
            self.go_to(self.tree[own[-1]].parent)
            self._go_on()
            self._remove(own[-1])

    def _undo_variation(self) -> None:
        """One move back; it is dropped where nothing follows it, unless the game ended with it."""
        if self.at == START:
            raise RefusedError("There is no move to take back.")
        last = self.at
        self.go_to(self.tree[last].parent)
        if not self.tree[last].children and last not in (self.live, self.ended and self.ended.node):
            self._remove(last)

    def _go_on(self) -> None:
        """The live game goes on in the position that is shown, with the time that was left there."""
        self.ended = None
        self.live_here()
        if self.at in self.clocks:
            self.clock.restore(self.clocks[self.at])

    def _remove(self, number: int) -> None:
        """Drop a node and all that follows it, with what was agreed there."""
        self.tree.remove(number)
        self.agreed = {node: chains for node, chains in self.agreed.items() if node in self.tree}
        self.clocks = {node: clock for node, clock in self.clocks.items() if node in self.tree}

    def run_clock(self, now: float) -> None:
        """Let the clock of the side to move run, and no other."""
        if not self.is_going_on:
            self.clock.stop(now)
        elif self.setup.clock.is_limited:
            assert self.live is not None
            self.clock.start(self.live_turn, now)
            self.clocks.setdefault(self.live, self.clock.saved(now))

    def go_to(self, number: Any) -> None:
        """Show another node. RefusedError where there is none, or a move that leads there is against the rules."""
        if type(number) is not int or number not in self.tree:
            raise RefusedError("There is no such move.")
        self._stand_after(self.tree.moves(number))
        if turn := self.tree[number].next_to_play:
            self.game.position.give_turn(turn)
        self.at = number

    def _stand_after(self, moves: list[tuple[int, int]]) -> None:
        before = self.game.position
        try:
            stand_after(self.game, self.start, moves)
        except (IllegalMove, TurnError) as error:
            self.game.position = before
            raise RefusedError(f"This variation cannot be shown: {error}.") from None

    def review(self) -> None:
        """End the play: from now on moves are variations."""
        self.live = None
        self.clock = SessionClock(replace(self.setup.clock, main=0.0, period=0.0, periods=0))

    # Records

    @property
    def rules(self) -> str:
        """The name of the rules that are played; "" where the game has one set only, which files need not name."""
        if isinstance(self.game, GoGame) and self.game.name != "nogo":
            return self.game.rules.name
        return self.setup.played_rules or next(iter(rule_sets(self.game.name)), "")

    def begin_from(self, record: GameRecord) -> None:
        """Begin anew from the start of a record of this game. ValueError if its stones or size cannot be played."""
        if not isinstance(self.game, GoGame):
            self._stand_after([])
        self.start = _begun(self.game, record, self.rules)
        self._forget()

    def begin_review(self) -> None:
        """An empty board without an opponent."""
        self._stand_after([])
        self._forget()

    def _forget(self) -> None:
        self.tree, self.at, self.ended, self.agreed = MoveTree(), START, None, {}
        self.review()

    def snapshot(self, now: float) -> dict[str, Any]:
        """Plain JSON values from which `restore` makes this game again; ``now`` is of time.monotonic."""
        return {
            "start": None if self.start is None else {**self.start.__dict__, "moves": (), "comments": ()},
            "tree": self.tree.to_values(),
            "at": self.at,
            "leaf": self.leaf,
            "live": self.live,
            "ended": self.ended,
            "agreed": list(self.agreed.items()),
            "clock": self.clock.saved(now) if self.setup.clock.is_limited else None,
            "clocks": list(self.clocks.items()),
        }

    def restore(self, values: dict[str, Any]) -> None:
        """Bring a new game to where an earlier one stood. ValueError, LookupError or TypeError for other values."""
        start = values["start"]
        if start is not None:
            self.begin_from(GameRecord(**{**start, **{name: tuple(start[name]) for name in LISTS}}))
        self.tree = _tree(values["tree"], self.game.kind.actions)
        self.ended = None if values["ended"] is None else Ended(*values["ended"])
        self.agreed, self.clocks = dict(values["agreed"]), dict(values["clocks"])
        if values["live"] is None:
            self.review()
        else:
            self.clock = SessionClock(self.setup.clock)
            if values["clock"] is not None:
                self.clock.restore(values["clock"])
            self.go_to(values["live"])
            self.live_here()
        self.leaf = values["leaf"]
        self.go_to(values["at"])


def game_of(setup: Setup, size: int, sizes: Sequence[int]) -> CurrentGame:
    """The game before its first move. ChoiceError where it does not have these rules or this handicap."""
    game = make_game(setup.game, sizes, size=size, rules=setup.played_rules, komi=setup.komi)
    if setup.handicap < FEWEST_STONES:
        return game
    if setup.game != "go" or not isinstance(game, GoGame):
        raise ChoiceError(f"{setup.game} has no handicap")
    if setup.handicap > most_fixed(size):
        raise ChoiceError(f"handicap {setup.handicap}: a board of {size}x{size} has at most {most_fixed(size)}")
    game.place_handicap(fixed_points(setup.handicap, size))
    return game


def _first_record(game: CurrentGame, rules: str) -> GameRecord | None:
    """How the game begins, None for a game that SGF does not know."""
    if isinstance(game, GoGame):
        return game.record()
    return GameRecord(game.size, game=game.name, rules=rules) if game.name in GAME_NUMBERS else None


def _begun(game: CurrentGame, record: GameRecord, rules: str) -> GameRecord:
    """Let a game begin as a record does (before its first move if it is not Go): how it begins now, with the record's
    result. ValueError if its stones or size cannot be played.
    """
    if isinstance(game, GoGame):
        game.load_record(replace(record, moves=()))
        return game.record()
    first = game.stones().reshape(-1)
    given = dict.fromkeys(record.black_stones, BLACK) | dict.fromkeys(record.white_stones, WHITE)
    if given and given != {point: int(first[point]) for point in np.flatnonzero(first).tolist()}:
        raise ValueError("other stones than usual are set up at its start")
    return replace(record, moves=(), black_stones=(), white_stones=(), rules=rules or record.rules)


def stand_after(game: CurrentGame, start: GameRecord | None, moves: list[tuple[int, int]]) -> None:
    """Let a game stand after these moves, (colour, action), from its start on: a record in games of Go's family.
    IllegalMove or TurnError where one cannot be played.
    """
    known = [tuple(move) for move in game.position.moves]
    if moves[: len(known)] == known:
        game.play_all(moves[len(known) :])
    elif isinstance(game, GoGame):
        assert start is not None
        game.load_record(replace(start, moves=tuple(moves)))
    else:
        game.new_game()
        game.play_all(moves)


def _tree(values: dict[str, Any], actions: int) -> MoveTree:
    """The tree of a snapshot's values, checked: a page may send anything."""
    numbers = {number for number, _ in values["nodes"]}
    for number, node in values["nodes"]:
        is_known = number == START or (node["parent"] in numbers and node["parent"] < number)
        goes_on = all(child in numbers and child > number for child in node["children"])
        if not (is_known and goes_on and -1 <= node["action"] < actions and START in numbers):
            raise ValueError(f"node {number} is none of a tree")
    return MoveTree.from_values(values)
