"""A person against the engine in a terminal, at any game: `gozero play GAME`.

Vocabulary. What the person types is a *line*: a move, or one of the terminal's commands. The *chance* of a side is its
expected result as a percentage; a draw counts half.

Bad input costs one line, never the game. The game itself, and what the engine does in it, is `gozero.frontends.terminal.sitting`.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np

from gozero import games
from gozero.evaluators.base import Evaluator
from gozero.evaluators.factory import open_evaluator
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.terminal import tally
from gozero.frontends.terminal.play_settings import PlaySettings
from gozero.frontends.terminal.sitting import Opponent, Reply, Sitting, name_of
from gozero.frontends.terminal.tally import Key
from gozero.games import FALLING_GAMES, coords
from gozero.games.colours import COLOUR_NAMES
from gozero.games.descriptions import DESCRIPTIONS
from gozero.games.diagram import SYMBOLS
from gozero.games.game import BLACK, EMPTY, WHITE
from gozero.games.position import Position
from gozero.nets.locations import WEIGHTS, find
from gozero.nets.weights import WeightsError, file_hash, header
from gozero.play.engine import beyond_training, no_more_memory
from gozero.play.levels import Level, level
from gozero.play.report import ranked
from gozero.system import files
from gozero.system.errors import ChoiceError, InputError, TallyError
from gozero.system.words import counted

VISITS, PLAYOUTS = (
    400,
    2000,
)  # simulations of a move where none are given: with a network, and with the much cheaper playouts
HINTS = 5
COLOURS = {name.lower(): colour for colour, name in COLOUR_NAMES.items()}


COMMANDS = """\
  hint       the engine's best moves for you: share of the search, visits, your chance of winning (a draw counts half)
  undo       takes back the engine's last move and yours
  save FILE  writes the game: SGF for go and simple_go, a plain list of moves for the others
  resign     gives the game up
  quit       leaves, as the end of the input does
  help       this text"""


def play(settings: PlaySettings) -> None:
    """One sitting on standard input and output.

    Raises:
        ChoiceError: the game does not have these settings.
        WeightsError: the weights that were asked for cannot be used.
    """
    path = choose_weights(settings)
    size = header(path).size if path and settings.size is None else settings.size
    warning = beyond_training(header(path).trained, size) if path and size else ""
    game = games.make(settings.game, size=size, rules=settings.rules, komi=settings.komi)
    usual = VISITS if path else PLAYOUTS
    chosen = level(settings.level) if settings.level is not None else Level(settings.visits or usual, 0.0)
    if settings.level is not None and path is None:
        raise ChoiceError(f"--level {settings.level} needs weights, and {settings.game} has none here: give --visits")
    if path:
        print(f"loading {path.name} ...", file=sys.stderr, flush=True)
    evaluator: Evaluator = open_evaluator(path, game) if path else RolloutEvaluator(game)
    opponent = (
        f"The engine plays with {path}"
        if path
        else f"No weights for this game ({WEIGHTS[game.name]}): PUCT with random playouts"
    )
    strength = f"level {settings.level}" if settings.level is not None else counted(chosen.visits, "visit")
    simulations = f"{counted(chosen.visits, 'simulation')} a move"
    print(f"{opponent}, {simulations if settings.level is None else strength}.")
    if warning:
        print(warning, file=sys.stderr)
    hints = usual if settings.level is not None else None
    engine = Opponent(evaluator, chosen.visits, settings.seed, chosen.temperature, hints)
    name, digits = (path.name, file_hash(path)[:8]) if path else ("random playouts", "")
    key = Key(game.name, game.dimensions, name, digits, strength)
    Terminal(Sitting(game, engine, COLOURS[settings.colour]), settings, key if _counts(settings) else None).run()


def _counts(settings: PlaySettings) -> bool:
    """Whether this is a game for the tally: not with --no-tally, and not where a script types."""
    return settings.counted and sys.stdin.isatty()


def choose_weights(settings: PlaySettings) -> Path | None:
    """The file to play with; None where none is asked for and the game's own is not there, or not for this board.

    Raises:
        WeightsError: the file that is asked for is not there, or what was found is damaged or plays another game.
    """
    try:
        path = find(settings.weights or WEIGHTS[settings.game])
    except KeyError:
        raise ChoiceError(f"{settings.game} has no line in WEIGHTS of gozero/nets/locations.py") from None
    except WeightsError:
        if settings.weights is not None:
            raise
        return None
    found = header(path)
    if found.game != settings.game:
        raise WeightsError(path, f"it plays {found.game}, not {settings.game}")
    fits = found.only is None or settings.size in (None, found.only)
    return path if fits or settings.weights is not None else None


class Terminal:
    """A dialogue: reads the person's lines, plays the engine's moves, and prints the board after each.

    Args:
        sitting: before its first move.
        settings: komi and rules for the saved record.
        key: where the game is counted; None: nowhere.

    A game counts when it is over: by its rules, or because the person resigns. One with a hint or a move taken back does
    not, nor what is played on after the end.
    """

    def __init__(self, sitting: Sitting, settings: PlaySettings, key: Key | None = None) -> None:
        self._sitting = sitting
        self._position, self._game, self._person = sitting.position, sitting.position.game, sitting.person
        self._settings = settings
        self._key = key
        self._leaving = False
        self._has_warned = False  # of a search that its memory ended
        self._commands: dict[str, Callable[[], None]] = {
            "hint": self._hint,
            "undo": self._undo,
            "resign": self._resign,
            "quit": self._quit,
            "help": self._help,
        }

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
        """A command or a move. InputError where it is neither."""
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
        if not self._position.is_legal(action):
            raise InputError(self._refusal(action))
        self._position.play(action)
        self._go_on()

    def _action_of(self, text: str) -> int:
        """The action of a vertex, or of a letter where only one move in that column is legal."""
        game, letter = self._game, text.upper()
        if len(letter) == 1 and letter in coords.LETTERS[: game.cols]:
            points = np.flatnonzero(self._position.legal()[: game.points])
            in_column = [int(point) for point in points if point % game.cols == coords.LETTERS.index(letter)]
            if len(in_column) == 1:
                return in_column[0]
            raise InputError(f"{letter}: {'which row?' if in_column else 'there is no legal move in this column.'}")
        try:
            return coords.parse_vertex(text, game.cols, game.rows)
        except ValueError:
            last = coords.vertex(game.cols - 1, game.cols, game.rows)
            moves = f"a column from A to {last[0]}" if game.name in FALLING_GAMES else f"a move from A1 to {last}"
            raise InputError(f"{text!r} is not understood: type {moves}, or help.") from None

    def _refusal(self, action: int) -> str:
        """Why a move is not legal, as far as the board shows."""
        game = self._game
        if action == game.pass_action:
            return (
                "You may pass only when you have no other move."
                if game.has_pass
                else f"There is no passing in {game.name}."
            )
        if game.board(self._position.state).flat[action] != EMPTY:
            return f"{name_of(game, action)} is taken."
        advice = (
            "type the letter of a column that has room"
            if game.name in FALLING_GAMES
            else "try hint, or help for the rules"
        )
        return f"{name_of(game, action)} is illegal for {COLOUR_NAMES[self._person]}: {advice}."

    # Commands

    def _hint(self) -> None:
        self._check_not_over()
        self._not_counted("it has a hint")
        result = self._sitting.engine.look(self._position)
        best = [action for action in ranked(result)[:HINTS] if result.visits[action]]
        total = max(1, int(result.visits.sum()))
        print(f"Your chance is {_chance(result.value)}.")
        if not best:  # of a player that does not search
            print(f"The engine would play {name_of(self._game, result.best)}.")
            return
        print("move   share  visits  chance")
        for action in best:
            visits = int(result.visits[action])
            chance = _chance(float(result.q[action]))
            print(f"{name_of(self._game, action):<5} {100 * visits / total:4.0f} %  {visits:6d}  {chance:>6}")
        self._warn_if_full()

    def _undo(self) -> None:
        self._sitting.undo()
        self._not_counted("a move was taken back")
        self._print_board()

    def _save(self, name: str) -> None:
        """Write the game to a new file; an existing one is never overwritten."""
        if not name:
            raise InputError("save needs the name of a file, such as save game.sgf.")
        path, record = files.full(name), self._sitting.record(self._settings.komi, self._settings.rules)
        try:
            files.create(path, record)
        except FileExistsError:
            raise InputError(f"{path} exists already: choose another name.") from None
        except (OSError, ValueError) as error:  # ValueError: no file can have this name
            reason = error.strerror if isinstance(error, OSError) else error
            raise InputError(f"Cannot write {path}: {reason}.") from None
        print(f"Saved as {path}.")

    def _resign(self) -> None:
        self._check_not_over()
        self._sitting.resigned = True
        self._end()

    def _quit(self) -> None:
        self._leaving = True
        print("Good bye.")

    def _help(self) -> None:
        game = self._game
        corner = coords.vertex(game.cols - 1, game.cols, game.rows)
        letter = ", or just the column's letter" if game.name in FALLING_GAMES else ""
        print(f"{game.name}: {DESCRIPTIONS[game.name].aim} You are {self._side(self._person)}.")
        print(f"  A1-{corner:<7} a move: column and row{letter}")
        if game.has_pass:
            print("  pass       gives the turn away, where the rules allow it")
        print(COMMANDS)

    # What is written

    def _go_on(self) -> None:
        """Let the engine move if it is its turn, and print the result."""
        reply = self._sitting.reply()
        if reply is not None or self._sitting.is_over:
            self._print_board()
        if reply is not None:
            print(self._described(reply))
            self._warn_if_full()
        if self._sitting.is_over:
            self._end()

    def _warn_if_full(self) -> None:
        """Say, once, that a search ended before its visits were spent."""
        engine = self._sitting.engine
        if engine.is_full and not self._has_warned:
            self._has_warned = True
            print(f"gozero: {no_more_memory(engine.memory, 'fewer --visits fit')}", file=sys.stderr)

    def _end(self) -> None:
        """Print the result, and count it."""
        print(self._result())
        if self._key is None:
            return
        result = {self._person: "won", EMPTY: "drawn"}.get(self._sitting.winner, "lost")
        try:
            entry, moved = tally.add(tally.path(), self._key, COLOUR_NAMES[self._person].lower(), result)
        except TallyError as error:
            print(f"gozero: {error}; this game is not counted", file=sys.stderr)
        else:
            if moved:
                print(f"gozero: the tally was damaged; it is now {moved}, and a new one begins", file=sys.stderr)
            counts = ", ".join(f"{name} {entry.total(name)}" for name in tally.RESULTS)
            print(f"Your games against {self._key.weights}, {self._key.strength}: {counts}.")
        self._key = None

    def _not_counted(self, why: str) -> None:
        """From now on this game is not one for the tally."""
        if self._key is not None:
            print(f"This game is not counted in the tally: {why}.")
            self._key = None

    def _described(self, reply: Reply) -> str:
        """The engine's move, and who it thinks will win."""
        move = "passes" if reply.action == self._game.pass_action else name_of(self._game, reply.action)
        favourite = reply.colour if reply.value >= 0 else BLACK + WHITE - reply.colour
        return f"{COLOUR_NAMES[reply.colour]} {move}; {COLOUR_NAMES[favourite]} expects to win {_chance(abs(reply.value))}."

    def _check_not_over(self) -> None:
        if self._sitting.is_over:
            raise InputError("The game is over: type undo, save FILE or quit.")

    def _result(self) -> str:
        """Who won, and by what."""
        winner = self._sitting.winner
        if winner == EMPTY:
            return "The game is a draw."
        loser = COLOUR_NAMES[BLACK + WHITE - winner]
        if self._sitting.resigned:
            return f"{loser} resigns; {COLOUR_NAMES[winner]} wins."
        words = DESCRIPTIONS[self._game.name].won_by.format(margin=f"{abs(self._sitting.margin):g}", loser=loser)
        return f"The game is over: {COLOUR_NAMES[winner]} wins by {words.removesuffix('s') if words.startswith('1 ') else words}."

    def _print_board(self) -> None:
        print(f"\n{self._position}")

    def _prompt(self) -> str:
        """What can be typed now."""
        if self._sitting.is_over:
            return "The game is over. Type undo, save FILE, help or quit: "
        moves = _kinds_of_moves(self._position)
        return f"{self._side(self._person)}: type {moves}, hint, undo, save FILE, resign, help or quit: "

    def _side(self, colour: int) -> str:
        return f"{COLOUR_NAMES[colour]} ({SYMBOLS[colour]})"


def _chance(value: float) -> str:
    """An expected result, -1..1, as a percentage."""
    return f"{50 * (1 + value):.0f} %"


def _kinds_of_moves(position: Position) -> str:
    """Whether there are points to play on, with an example, and whether to pass is a move."""
    game, legal = position.game, position.legal()
    points = np.flatnonzero(legal[: game.points])
    kinds = []
    if len(points):
        example = name_of(game, int(points[len(points) // 2]))
        kinds.append(f"a column ({example[0]})" if game.name in FALLING_GAMES else f"a move ({example})")
    if legal[game.pass_action]:
        kinds.append("pass")
    return ", ".join(kinds)
