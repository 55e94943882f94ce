"""The settings of `gozero-gtp`, as a table of options (`gozero.system.options`). Nothing heavy is imported."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from gozero.games import GAMES, MOST_KOMI
from gozero.nets.locations import WEIGHTS
from gozero.play import engine
from gozero.play.engine import DEFAULT_GAME, EngineSettings
from gozero.play.levels import STRONGEST, WEAKEST, Level, level
from gozero.play.time_controls import LAG
from gozero.system import console
from gozero.system.console import MOST_SEED
from gozero.system.options import SettingsError, option

if TYPE_CHECKING:
    from gozero.play.player import PlayerSettings

PROGRAM = "gozero-gtp"
DESCRIPTION = "Plays Go and other games over the Go Text Protocol (GTP 2) on standard input and output."
HELP_EPILOG = """\
With neither --visits nor --time, and no clock from the controller, a move takes at most 400 visits or 5 seconds.

A weaker opponent: --level 1 (meant for beginners) to --level 20; docs/levels.md says how strong each is.

Sabaki:  Engines > Show Engines Sidebar > Attach Engine > Manage Engines > Add.  Path: the full path of gozero-gtp
         (`command -v gozero-gtp`; in this source tree .venv/bin/gozero-gtp).  Arguments: --visits 400
GoGui:   Program > New Program.  Command: /full/path/to/gozero-gtp --visits 400
         Other games: add --game NAME; the same command under Game > Rules tells GoGui the rules of the game.
CGOS:    use paths without blanks: CGOS splits the command line at blanks.  --log FILE keeps a record.
Lizzie:  add --gtp-version 0.17: Lizzie requires a version whose second number is 15 or more.
By hand: type `genmove b`, `showboard`, `list_commands`; docs/gtp.md describes every command.
"""

LEAVE_OUT = "leave one of them out"
HIGHEST_TEMPERATURE = 100.0
MOST_VISITS = 100_000_000
EXCLUDED_BY_LEVEL = ("visits", "temperature", "ponder")
"""Options that a level sets itself. Pondering would make a level stronger than it should be."""


@dataclass(frozen=True)
class GtpSettings(EngineSettings):
    """What the user may choose; None: the program chooses."""

    game: str | None = option(
        None, f"{', '.join(GAMES)} (default: the one that --weights plays, else {DEFAULT_GAME})",
        choices=tuple(GAMES), metavar="NAME",
    )  # fmt: skip
    weights: str | None = option(
        None,
        "weights file, searched in the working directory and among the shipped ones (default: "
        f"the game's, {', '.join(WEIGHTS.values())})",
        metavar="FILE",
    )
    visits: int | None = option(
        None, "visits of a move; 0: the network's best move, without a search", low=0, high=MOST_VISITS
    )
    level: int | None = option(
        None, f"strength, {WEAKEST} (meant for beginners) to {STRONGEST}; in place of --visits", low=WEAKEST,
        high=STRONGEST,
    )  # fmt: skip
    analysis_visits: int | None = option(
        None, "visits after which an analysis pauses until the controller ends it (default: no limit)", low=1,
        high=MOST_VISITS,
    )  # fmt: skip
    time: float | None = option(None, "seconds per move", low=0.01, high=1e6, metavar="SECONDS")
    lag: float = option(
        LAG, f"seconds reserved on a clock for the delay between the engine and the server (default {LAG:g})", low=0,
        high=60, metavar="SECONDS",
    )  # fmt: skip
    ponder: bool = option(False, "think during the opponent's turn too")
    seed: int | None = option(
        None, "whole number; with --visits the same seed plays the same game", low=0, high=MOST_SEED
    )
    size: int | None = option(
        None,
        "board size, in Go 5 to 19, until the controller sends another (default: that of the weights; the shipped "
        "ones of Go learned 7 to 13, and a little of 15 to 19)",
    )
    komi: float | None = option(
        None, "komi of Go until the controller sends one (default 7.5, by Japanese rules 6.5)", low=-MOST_KOMI,
        high=MOST_KOMI,
    )  # fmt: skip
    rules: str | None = option(
        None, "rule set, such as chinese, japanese or aga in Go, freestyle or exact in gomoku (default: the first)",
        metavar="NAME",
    )  # fmt: skip
    friendly_pass: bool = option(
        False,
        "in Go, pass after the opponent and rely on agreement about dead stones "
        "(default: first capture the dead stones that decide the game)",
    )
    no_resign: bool = option(False, "never resign")
    resign_threshold: float = option(
        -0.9,
        "resign when the expected result stays below this for several moves, -1 (certain loss) to 0 (default -0.9)",
        low=-1,
        high=0,
    )
    resign_moves: int = option(
        3, "how many of its moves in a row must be below the threshold (default 3)", low=1, high=1000
    )
    opening_temperature: float = option(
        0.4, "randomness of the first moves, so that games differ; 0: none (default 0.4)", low=0,
        high=HIGHEST_TEMPERATURE, metavar="T",
    )  # fmt: skip
    temperature: float = option(
        0.0, "randomness of all moves; 0: none (default 0)", low=0, high=HIGHEST_TEMPERATURE, metavar="T"
    )
    gogui_gfx: bool = option(False, "show the search on GoGui's board, through stderr, while the engine chooses a move")
    check: bool = option(False, "test this installation (weights, caches, speed, a move, memory) instead of playing")
    gtp_version: str | None = option(
        None, "the answer to the command version, for clients that check it (default: the engine's version)",
        metavar="TEXT",
    )  # fmt: skip
    log: str | None = option(None, "append all GTP input and output, and every search, to this file", metavar="FILE")

    @property
    def chosen_level(self) -> Level | None:
        return None if self.level is None else level(self.level)

    @property
    def is_policy(self) -> bool:
        """Whether the network chooses alone: no search before or during a move counts."""
        return self.visits == 0

    @property
    def move_visits(self) -> int | None:
        """Visits of the root per move, the level's if there is one; the network alone needs one, its evaluation."""
        if self.chosen_level is not None:
            return self.chosen_level.visits
        return 1 if self.is_policy else self.visits

    def changed(self, name: str, value: Any) -> GtpSettings:
        """These settings with another value. A level resets the options that it excludes, and these reset the level.

        SettingsError as `checked`.
        """
        usual = GtpSettings()
        excluded = {each: getattr(usual, each) for each in EXCLUDED_BY_LEVEL}
        reset: dict[str, Any] = {}
        if name == "level" and value is not None:
            reset = excluded
        elif excluded.get(name, value) != value:
            reset = {"level": None}
        return checked(replace(self, **{**reset, name: value}))


def from_arguments(arguments: list[str] | None) -> GtpSettings:
    """The settings for a command line. SystemExit for --help and --version; SettingsError for anything wrong."""
    return checked(console.from_arguments(GtpSettings, arguments, PROGRAM, DESCRIPTION, HELP_EPILOG))


def checked(settings: GtpSettings) -> GtpSettings:
    """The settings, unchanged. SettingsError if they contradict each other."""
    usual = GtpSettings()
    for name in EXCLUDED_BY_LEVEL:
        if settings.level is not None and getattr(settings, name) != getattr(usual, name):
            raise SettingsError(f"level and {name} cannot be chosen together, since a level sets it; {LEAVE_OUT}")
    if settings.is_policy and settings.ponder:
        raise SettingsError(f"visits = 0 and ponder contradict each other, since nothing is searched; {LEAVE_OUT}")
    if settings.backend == "torch" and settings.precision == "int8":
        raise SettingsError(f"precision int8 needs the backend openvino, not torch; {LEAVE_OUT}")
    text = settings.gtp_version
    if text is not None and not (text.isprintable() and text.strip()):
        raise SettingsError(f"gtp-version = {text!r}: expected one line of text, such as 0.17")
    return settings


def player_settings(settings: GtpSettings, game: str) -> PlayerSettings:
    from gozero.play.player import PlayerSettings

    usual = PlayerSettings(
        rules=settings.rules,
        seed=settings.seed,
        friendly_pass=settings.friendly_pass,
        resign=not settings.no_resign,
        resign_threshold=settings.resign_threshold,
        resign_moves=settings.resign_moves,
        opening_temperature=0.0 if settings.is_policy else settings.opening_temperature,
        temperature=settings.temperature,
        keeps_search=not settings.is_policy,
        search=engine.search_settings(settings.move_visits, game),
        max_memory=settings.tree_memory,
    )
    return usual if settings.chosen_level is None else settings.chosen_level.settings(usual)
