"""A person against the engine in a terminal, at any game. Bad input costs one line, never the game.

The engine is a `gozero.play.player.Player`, as in every front end.
"""

from __future__ import annotations

import cmd
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.terminal.settings import PlaySettings
from gozero.games import FALLING_GAMES, coords
from gozero.games.colours import BLACK, COLOUR_NAMES, COLOURS, EMPTY, opponent, result_text
from gozero.games.descriptions import DESCRIPTIONS, won_by
from gozero.games.diagram import SYMBOLS
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.games.refusals import landing, refusal
from gozero.nets.locations import WEIGHTS, find
from gozero.nets.weights import Header, WeightsError
from gozero.play import engine
from gozero.play.current_game import check_board
from gozero.play.ending import Outcome
from gozero.play.levels import Level, level
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.play.searcher import Analysis, Limits, Observer
from gozero.records import move_list
from gozero.records.sgf import GAME_NUMBERS, serialise
from gozero.system import files
from gozero.system.console import say
from gozero.system.errors import ChoiceError, InputError
from gozero.system.words import counted

# simulations of a move if none are given: with a network, and with the much cheaper playouts
VISITS, PLAYOUTS = 400, 2000
HINTS = 5
HANDICAP_KOMI = 0.5

COMMANDS = """\
  hint       the engine's best moves for you: share of the search, visits, your chance of winning (a draw counts half)
  undo       takes back the engine's last move and yours
  save FILE  writes the game: SGF for go, simple_go, nogo, othello and gomoku, a list of moves for the others
  resign     gives the game up
  quit       leaves, as the end of the input does
  help       this text"""


def play(settings: PlaySettings) -> None:
    """One game on standard input and output. ChoiceError if the game does not have these settings, WeightsError if the
    weights that were asked for cannot be used.
    """
    name, weights = settings.game or "", choose_weights(settings)
    path, head = weights or (None, None)
    if settings.level is not None and path is None:
        raise ChoiceError(f"--level {settings.level} needs weights, and {name} has none here: give --visits")
    size = head.size if head and settings.size is None else settings.size
    usual, sizes = VISITS if path else PLAYOUTS, engine.supported_sizes(head or Header(name))
    if size is not None:
        check_board(size, sizes)
    game = games.make(name, size=size, rules=settings.rules, komi=settings.komi)
    chosen = Level(settings.visits or usual) if settings.level is None else level(settings.level)
    how = PlayerSettings(
        rules=settings.rules, seed=settings.seed, resign=False, search=engine.search_settings(chosen.visits, name)
    )
    how = how if settings.level is None else chosen.settings(how)
    opener: Callable[[Game], Evaluator] = engine.EngineSettings().evaluators(path).open if path else RolloutEvaluator
    komi = HANDICAP_KOMI if settings.handicap and settings.komi is None else settings.komi
    player = make_player(name, sizes, opener, how, size=game.size, komi=komi, handicap=settings.handicap or 0)
    if path:
        print(f"loading {path.name} ...", file=sys.stderr, flush=True)
    player.load()
    what = f"The engine plays with {path}" if path else "No weights for this game: PUCT with random playouts"
    visits, rank = chosen.visits, f"level {settings.level}"
    print(f"{what}, {counted(visits, 'visit') + ' a move' if settings.level is None else rank}.")
    if head and (warning := engine.beyond_training(head.trained, game.size)):
        print(warning, file=sys.stderr)
    Terminal(player, COLOURS[settings.colour], visits, visits if settings.level is None else usual).run()


def choose_weights(settings: PlaySettings) -> tuple[Path, Header] | None:
    """The file to play with; None if none is asked for and the game's own is not there, or not for this board.

    WeightsError if the file that is asked for is not there, or what was found is damaged or plays another game.
    """
    game = settings.game or ""
    if settings.weights is None:
        try:
            find(WEIGHTS[game])
        except (KeyError, WeightsError):
            return None
    path, found = engine.find_weights(settings.weights, game)
    fits = found.only is None or settings.size in (None, found.only)
    return (path, found) if fits or settings.weights is not None else None


class Terminal(cmd.Cmd):
    """A dialogue: reads the person's lines, plays the engine's moves, and prints the board after each."""

    def __init__(
        self, player: Player, person: int, visits: int, hint_visits: int | None = None,
        remark: Callable[[Position, float], str] | None = None,
    ) -> None:  # fmt: skip
        super().__init__(completekey="")
        self.resigned = False  # the person has
        self._player = player  # has the game, before its first move; it should not resign
        self._person = person  # BLACK or WHITE; the engine has the other colour
        self._game = player.game.position.game
        self._visits = visits  # of the engine's moves
        self._hint_visits = hint_visits or visits
        # what is printed below a move of the engine, from the position before it and the seconds that it took
        self._remark = remark
        player.searcher.on_full = lambda limit: say(f"gozero: {engine.no_more_memory(limit, 'fewer --visits fit')}")

    @property
    def _position(self) -> Position:
        return self._player.game.position

    @property
    def is_over(self) -> bool:
        return self.resigned or self._position.is_over

    def outcome(self) -> Outcome:
        """Of a game that is over."""
        return Outcome(opponent(self._person), None) if self.resigned else self._player.ending.outcome()

    def run(self) -> None:
        """Play until the person leaves, by ``quit`` or by the end of the input."""
        self._print_board()
        self._go_on()
        stopped = False
        while not stopped:
            try:
                line = input(self.prompt)
            except EOFError:  # `cmdloop` would take it for a typed "EOF"
                print()
                line = "quit"
            stopped = self.onecmd(line)

    # What is typed

    def parseline(self, line: str) -> tuple[str | None, str | None, str]:
        """A command may be in capitals."""
        name, rest, line = super().parseline(line)
        return name and name.lower(), rest, line

    def onecmd(self, line: str) -> bool:
        """A line that cannot be used costs a line."""
        name, rest, _ = self.parseline(line)
        try:
            if rest and name in ("hint", "undo", "resign", "quit"):
                raise InputError(f"{name} stands alone.")
            return bool(super().onecmd(line))
        except InputError as error:
            print(error)
            return False

    def emptyline(self) -> bool:
        raise InputError("Type a move, or help.")

    def default(self, line: str) -> None:
        """A move."""
        self._check_not_over()
        action = self._action_of(line)
        if why := refusal(self._position, action):
            raise InputError(why)
        self._player.game.play(self._person, action)
        self._go_on()

    def _action_of(self, text: str) -> int:
        """The action of a vertex; where pieces fall, the letter of a column is enough."""
        game = self._game
        falls = game.name in FALLING_GAMES
        try:
            action = game.action(f"{text}1" if falls and len(text) == 1 else text)
        except ValueError:
            last = coords.vertex(game.cols - 1, game.cols, game.rows)
            moves = f"a column from A to {last[0]}" if falls else f"a move from A1 to {last}"
            moves = f"from where to where, such as {_example(self._position)}" if game.moves_pieces else moves
            raise InputError(f"{text!r} is not understood: type {moves}, or help.") from None
        return landing(self._position, action)

    # Commands

    def do_hint(self, rest: str) -> None:
        self._check_not_over()
        analyses: list[Analysis] = []
        self._player.hint(Limits(self._hint_visits), Observer(analyses.append, most_moves=HINTS))
        analysis = analyses[-1]
        print(f"Your chance is {_chance(analysis.value)}.")
        print("move   share  visits  chance")
        for move in analysis.moves:
            share = 100 * move.visits / max(1, analysis.visits - 1)
            name, chance = self._game.vertex(move.action), _chance(move.value)
            print(f"{name:<5} {share:4.0f} %  {move.visits:6d}  {chance:>6}")

    def do_undo(self, rest: str) -> None:
        """Back to the person's last own decision; a resignation is one."""
        moves = self._position.moves
        own = [number for number, move in enumerate(moves) if move.colour == self._person]
        if self.resigned:
            self.resigned = False
        elif own:
            self._player.game.undo(len(moves) - own[-1])
        else:
            raise InputError("There is no move of yours to take back.")
        self._print_board()

    def do_save(self, name: str) -> None:
        """Write the game to a new file; an existing one is never overwritten."""
        if not name:
            raise InputError("save needs the name of a file, such as save game.sgf.")
        path, record = files.full(name), self.record()
        try:
            is_new = not path.exists()
            if is_new:
                files.write(path, record)
        except (OSError, ValueError) as error:  # ValueError: no file can have this name
            raise InputError(f"Cannot write {path}: {getattr(error, 'strerror', None) or error}.") from None
        if not is_new:
            raise InputError(f"{path} exists already: choose another name.")
        print(f"Saved as {path}{'' if self._game.name in GAME_NUMBERS else ', a list of moves'}.")

    def do_resign(self, rest: str) -> None:
        self._check_not_over()
        self.resigned = True
        print(self._result())

    def do_quit(self, rest: str) -> bool:
        print("Good bye.")
        return True

    def do_help(self, rest: str) -> None:
        game = self._game
        corner = coords.vertex(game.cols - 1, game.cols, game.rows)
        letter = ", or just the column's letter" if game.name in FALLING_GAMES else ""
        print(f"{game.name}: {DESCRIPTIONS[game.name].aim} You are {self._side(self._person)}.")
        if game.moves_pieces:
            print(f"  {_example(self._position):<10} a move: column and row where from and where to")
        else:
            print(f"  A1-{corner:<7} a move: column and row{letter}")
        if game.has_pass:
            print("  pass       gives the turn away, if the rules allow it")
        print(COMMANDS)

    def record(self) -> bytes:
        """The game so far as SGF, or as a list of moves if it is not written as SGF."""
        if (record := self._player.game.record()) is None:
            return move_list.written(self._game, self._position.moves).encode()
        result = ""
        if self.is_over:
            winner, lead = self.outcome()
            result = result_text(winner, "R" if lead is None else lead)
        black, white = ("", "gozero") if self._person == BLACK else ("gozero", "")
        return serialise(replace(record, result=result, black_name=black, white_name=white))

    # What is written

    def _go_on(self) -> None:
        """Let the engine move if it is its turn, and print the result."""
        colour, analyses = self._position.to_play, list[Analysis]()
        if not self.is_over and colour != self._person:
            before, start = self._position.copy(), time.perf_counter()
            action = self._player.genmove(colour, Limits(self._visits), Observer(analyses.append, most_moves=1))
            seconds = time.perf_counter() - start
            self._print_board()
            print(self._described(before, action, analyses[-1].value))
            if self._remark is not None:
                print(self._remark(before, seconds))
        elif self.is_over:
            self._print_board()
        if self.is_over:
            print(self._result())

    def _described(self, before: Position, action: int, value: float) -> str:
        """The engine's move, and who it thinks will win; value is the expected result of its colour, -1..1."""
        game, colour = self._game, before.to_play
        move = "passes" if action == game.pass_action else game.vertex(action)
        if game.name == "hex" and game.board(before.state).flat[action] != EMPTY:
            move = f"swaps: {move} becomes its stone, with row and column exchanged"
        favourite = colour if value >= 0 else opponent(colour)
        expected = f"{COLOUR_NAMES[favourite]} expects to win {_chance(abs(value))}"
        return f"{COLOUR_NAMES[colour]} {move}; {expected}."

    def _check_not_over(self) -> None:
        if self.is_over:
            raise InputError("The game is over: type undo, save FILE or quit.")

    def _result(self) -> str:
        """Who won, and by what."""
        winner, lead = self.outcome()
        if winner == EMPTY:
            return "The game is a draw."
        if self.resigned:
            return f"{COLOUR_NAMES[opponent(winner)]} resigns; {COLOUR_NAMES[winner]} wins."
        return f"The game is over: {COLOUR_NAMES[winner]} wins by {won_by(self._game.name, winner, lead)}."

    def _print_board(self) -> None:
        print(f"\n{self._position}")

    @property
    def prompt(self) -> str:  # type: ignore[override]
        """What can be typed now."""
        if self.is_over:
            return "The game is over. Type undo, save FILE, help or quit: "
        legal, passing, moves = self._position.legal(), self._game.pass_action, list[str]()
        if legal[:passing].any():
            example = _example(self._position)
            moves.append(f"a column ({example[0]})" if self._game.name in FALLING_GAMES else f"a move ({example})")
        if legal[passing]:
            moves.append("pass")
        return f"{self._side(self._person)}: type {', '.join(moves)}, hint, undo, save FILE, resign, help or quit: "

    def _side(self, colour: int) -> str:
        return f"{COLOUR_NAMES[colour]} ({SYMBOLS[colour]})"


def _chance(value: float) -> str:
    """An expected result, -1..1, as a percentage."""
    return f"{50 * (1 + value):.0f} %"


def _example(position: Position) -> str:
    """The vertex of a legal move; of any while there is none."""
    actions = np.flatnonzero(position.legal()[: position.game.pass_action])
    return position.game.vertex(int(actions[len(actions) // 2])) if len(actions) else "A2-A3"
