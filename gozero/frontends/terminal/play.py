"""A person against the engine in a terminal, at any game. Bad input costs one line, never the game.

The engine is a `gozero.play.player.Player`, as in every front end.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.terminal import results
from gozero.frontends.terminal.results import GameResult, Opponent
from gozero.frontends.terminal.settings import PlaySettings
from gozero.games import FALLING_GAMES, coords
from gozero.games.colours import BLACK, COLOUR_NAMES, COLOUR_WORDS, COLOURS, EMPTY, opponent, result_text
from gozero.games.descriptions import DESCRIPTIONS, won_by
from gozero.games.diagram import SYMBOLS
from gozero.games.game import Game
from gozero.games.position import Position
from gozero.games.refusals import landing, refusal
from gozero.nets.locations import WEIGHTS, find
from gozero.nets.weights import WeightsError, file_hash, header
from gozero.play.current_game import GoGame
from gozero.play.ending import Outcome
from gozero.play.engine import EngineSettings, beyond_training, no_more_memory, search_settings
from gozero.play.levels import Level, level
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.play.report import Analysis, Observer
from gozero.play.searcher import Limits
from gozero.records import move_list
from gozero.records.sgf import serialise
from gozero.system import files
from gozero.system.errors import ChoiceError, InputError, ResultsError
from gozero.system.words import counted

# simulations of a move if none are given: with a network, and with the much cheaper playouts
VISITS, PLAYOUTS = 400, 2000
HINTS = 5

COMMANDS = """\
  hint       the engine's best moves for you: share of the search, visits, your chance of winning (a draw counts half)
  undo       takes back the engine's last move and yours
  save FILE  writes the game: SGF for go and simple_go, a plain list of moves for the others
  resign     gives the game up
  quit       leaves, as the end of the input does
  help       this text"""


def play(settings: PlaySettings) -> None:
    """One game on standard input and output. ChoiceError if the game does not have these settings, WeightsError if the
    weights that were asked for cannot be used.
    """
    name = settings.game or ""
    path = choose_weights(settings)
    head = header(path) if path else None
    size = head.size if head and settings.size is None else settings.size
    game = games.make(name, size=size, rules=settings.rules, komi=settings.komi)
    usual = VISITS if path else PLAYOUTS
    chosen = level(settings.level) if settings.level is not None else Level(settings.visits or usual)
    if settings.level is not None and path is None:
        raise ChoiceError(f"--level {settings.level} needs weights, and {name} has none here: give --visits")
    search = search_settings(chosen.visits, name)
    how = PlayerSettings(rules=settings.rules, seed=settings.seed, resign=False, search=search)
    how = how if settings.level is None else chosen.settings(how)
    opener: Callable[[Game], Evaluator] = EngineSettings().evaluators(path).open if path else RolloutEvaluator
    player = make_player(name, (game.size,), opener, how, size=game.size, komi=settings.komi)
    if path:
        print(f"loading {path.name} ...", file=sys.stderr, flush=True)
    player.load()
    strength = f"level {settings.level}" if settings.level is not None else counted(chosen.visits, "visit")
    engine = f"No weights for this game ({WEIGHTS[name]}): PUCT with random playouts"
    engine = f"The engine plays with {path}" if path else engine
    simulations = f"{counted(chosen.visits, 'simulation')} a move"
    print(f"{engine}, {simulations if settings.level is None else strength}.")
    if head and (warning := beyond_training(head.trained, game.size)):
        print(warning, file=sys.stderr)
    weights = f"{path.name} ({file_hash(path)[:8]})" if path else "random playouts"
    saves = not settings.no_results and sys.stdin.isatty()  # not what a script types
    opponent = Opponent(name, game.dimensions, weights, strength) if saves else None
    hints = usual if settings.level is not None else None
    Terminal(player, COLOURS[settings.colour], chosen.visits, hints, opponent).run()


def choose_weights(settings: PlaySettings) -> Path | None:
    """The file to play with; None if none is asked for and the game's own is not there, or not for this board.

    WeightsError if the file that is asked for is not there, or what was found is damaged or plays another game.
    """
    game = settings.game or ""
    if settings.weights is None and game not in WEIGHTS:
        raise ChoiceError(f"no weights come with {game}; give --weights FILE")
    try:
        path = find(settings.weights or WEIGHTS[game])
    except WeightsError:
        if settings.weights is not None:
            raise
        return None
    found = header(path)
    if found.game != game:
        raise WeightsError(path, f"it plays {found.game}, not {game}")
    fits = found.only is None or settings.size in (None, found.only)
    return path if fits or settings.weights is not None else None


class Terminal:
    """A dialogue: reads the person's lines, plays the engine's moves, and prints the board after each.

    Args:
        player: has the game, before its first move; it should not resign.
        person: BLACK or WHITE; the engine has the other colour.
        visits: simulations of the engine's moves.
        hint_visits: simulations of a hint; None: as many as of a move.
        opponent: of the result, which is saved when the game is over by its rules or the person resigns, unless there
            was a hint or a move taken back. None: the result is not saved.
        remark: what is printed below a move of the engine, from the position before it and the seconds that it took;
            None: nothing.
    """

    def __init__(
        self, player: Player, person: int, visits: int, hint_visits: int | None = None,
        opponent: Opponent | None = None, remark: Callable[[Position, float], str] | None = None,
    ) -> None:  # fmt: skip
        self.resigned = False  # the person has
        self._player, self._person = player, person
        self._game = player.game.position.game
        self._visits, self._hint_visits = visits, hint_visits or visits
        self._opponent, self._remark = opponent, remark
        self._leaving = False
        self._has_warned = False  # of a search that its memory ended
        player.searcher.on_full = self._warn_of_memory
        self._commands = {
            "hint": self._hint, "undo": self._undo, "resign": self._resign, "quit": self._quit, "help": self._help
        }  # fmt: skip

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
        while not self._leaving:
            try:
                line = input(self._prompt())
            except EOFError:
                print()
                self._quit()
                break
            try:
                self._obey(line.strip())
            except InputError as error:
                print(error)

    # What is typed

    def _obey(self, line: str) -> None:
        """A command or a move. InputError if it is neither."""
        word, _, rest = line.partition(" ")
        name = word.lower()
        if name == "save":
            self._save(rest.strip())
        elif name in self._commands:
            if rest:
                raise InputError(f"{name} stands alone: {rest.strip()!r} is not understood.")
            self._commands[name]()
        elif not line:
            raise InputError("Type a move, or help.")
        else:
            self._play(line)

    def _play(self, text: str) -> None:
        self._check_not_over()
        action = self._action_of(text)
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

    def _hint(self) -> None:
        self._check_not_over()
        self._do_not_save("it has a hint")
        analyses: list[Analysis] = []
        self._player.hint(Limits(self._hint_visits), Observer(analyses.append, most_moves=HINTS))
        analysis = analyses[-1]
        print(f"Your chance is {_chance(analysis.value)}.")
        if analysis.visits == 1:  # of a player that does not search
            print(f"The engine would play {self._name_of(analysis.moves[0].action)}.")
            return
        print("move   share  visits  chance")
        for move in analysis.moves:
            share = 100 * move.visits / (analysis.visits - 1)
            name, chance = self._name_of(move.action), _chance(move.value)
            print(f"{name:<5} {share:4.0f} %  {move.visits:6d}  {chance:>6}")

    def _undo(self) -> None:
        """Back to the person's last own decision; a resignation is one."""
        moves = self._position.moves
        own = [number for number, move in enumerate(moves) if move.colour == self._person]
        if self.resigned:
            self.resigned = False
        elif own:
            self._player.game.undo(len(moves) - own[-1])
        else:
            raise InputError("There is no move of yours to take back.")
        self._do_not_save("a move was taken back")
        self._print_board()

    def _save(self, name: str) -> None:
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
        print(f"Saved as {path}.")

    def _resign(self) -> None:
        self._check_not_over()
        self.resigned = True
        self._end()

    def _quit(self) -> None:
        self._leaving = True
        print("Good bye.")

    def _help(self) -> None:
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
        """The game so far as SGF, or as a list of moves."""
        game = self._player.game
        if not isinstance(game, GoGame):
            return move_list.written(game.definition, game.position.moves).encode()
        result = ""
        if self.is_over:
            winner, lead = self.outcome()
            result = result_text(winner, "R" if lead is None else lead)
        black, white = ("", "gozero") if self._person == BLACK else ("gozero", "")
        return serialise(replace(game.record(), result=result, black_name=black, white_name=white))

    # What is written

    def _go_on(self) -> None:
        """Let the engine move if it is its turn, and print the result."""
        colour, analyses = self._position.to_play, list[Analysis]()
        if not self.is_over and colour != self._person:
            before, start = self._position.copy(), time.perf_counter()
            action = self._player.genmove(colour, Limits(self._visits), Observer(analyses.append, most_moves=1))
            seconds = time.perf_counter() - start
            self._print_board()
            print(self._described(colour, action, analyses[-1].value))
            if self._remark is not None:
                print(self._remark(before, seconds))
        elif self.is_over:
            self._print_board()
        if self.is_over:
            self._end()

    def _warn_of_memory(self, limit: int) -> None:
        """Say, once, that a search ended before its visits were spent."""
        if not self._has_warned:
            self._has_warned = True
            print(f"gozero: {no_more_memory(limit, 'fewer --visits fit')}", file=sys.stderr)

    def _end(self) -> None:
        """Print the result, and write it down."""
        print(self._result())
        if self._opponent is None:
            return
        winner, person = self.outcome().winner, self._person
        how = {person: "won", EMPTY: "drawn"}.get(winner, "lost")
        try:
            file = results.path()
            results.add(file, GameResult(self._opponent, COLOUR_WORDS[person], how))
            counts = Counter(each.result for each in results.read(file) if each.opponent == self._opponent)
        except (OSError, ResultsError) as error:
            print(f"gozero: your result is not saved: {error}", file=sys.stderr)
        else:
            words = ", ".join(f"{name} {counts[name]}" for name in results.RESULTS)
            print(f"Your games against {self._opponent.weights}, {self._opponent.strength}: {words}.")
        self._opponent = None

    def _do_not_save(self, why: str) -> None:
        """From now on the result of this game is not written down."""
        if self._opponent is not None:
            print(f"The result of this game will not be saved: {why}.")
            self._opponent = None

    def _described(self, colour: int, action: int, value: float) -> str:
        """The engine's move, and who it thinks will win; value is the expected result of its colour, -1..1."""
        move = "passes" if action == self._game.pass_action else self._name_of(action)
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

    def _prompt(self) -> str:
        """What can be typed now."""
        if self.is_over:
            return "The game is over. Type undo, save FILE, help or quit: "
        moves = _kinds_of_moves(self._position)
        return f"{self._side(self._person)}: type {moves}, hint, undo, save FILE, resign, help or quit: "

    def _side(self, colour: int) -> str:
        return f"{COLOUR_NAMES[colour]} ({SYMBOLS[colour]})"

    def _name_of(self, action: int) -> str:
        """The vertex, or pass."""
        return self._game.vertex(action)


def _chance(value: float) -> str:
    """An expected result, -1..1, as a percentage."""
    return f"{50 * (1 + value):.0f} %"


def _kinds_of_moves(position: Position) -> str:
    """Whether there are points to play on, with an example, and whether to pass is a move."""
    game, legal = position.game, position.legal()
    kinds = []
    if legal[: game.pass_action].any():
        example = _example(position)
        kinds.append(f"a column ({example[0]})" if game.name in FALLING_GAMES else f"a move ({example})")
    if legal[game.pass_action]:
        kinds.append("pass")
    return ", ".join(kinds)


def _example(position: Position) -> str:
    """The vertex of a legal move; of any while there is none."""
    actions = np.flatnonzero(position.legal()[: position.game.pass_action])
    return position.game.vertex(int(actions[len(actions) // 2])) if len(actions) else "A2-A3"
