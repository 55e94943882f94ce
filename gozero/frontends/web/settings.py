"""The settings of `gozero web`, as tables of options (`gozero.system.options`)."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

from gozero.games import GAMES
from gozero.play.engine import EngineSettings
from gozero.play.levels import STRONGEST, WEAKEST
from gozero.system.options import option

PROGRAM = "gozero web"
LOOPBACK = ("127.0.0.1", "::1", "localhost")


@dataclass(frozen=True, kw_only=True)
class EngineProcessSettings(EngineSettings):
    """The settings of an engine process; None: the program chooses."""

    analysis_visits: int = option(
        20_000, "visits after which the analysis of a position pauses (default 20,000)", low=1, high=100_000_000
    )
    weights: str | None = option(
        None,
        "weights file that the page offers beside the shipped ones, searched in the working directory and among the "
        "shipped ones",
        metavar="FILE",
    )
    log: str | None = option(None, "append what passes between server and engines to this file", metavar="FILE")


@dataclass(frozen=True, kw_only=True)
class WebSettings(EngineProcessSettings):
    """What the user may choose; None: the program chooses."""

    game: str = option(
        "go", f"of the first board: {', '.join(GAMES)} (default go)", choices=tuple(GAMES), metavar="NAME"
    )
    size: int | None = option(None, "of the first board (default: in Go 9)", low=2, high=19)
    level: int = option(
        5, f"strength of the first game, {WEAKEST} to {STRONGEST} (default 5)", low=WEAKEST, high=STRONGEST
    )
    host: str = option("127.0.0.1", "address to listen on (default 127.0.0.1, this machine alone)", metavar="ADDRESS")
    port: int | None = option(None, "port to listen on (default 8013, or another if that is taken)", low=0, high=65_535)
    no_browser: bool = option(False, "only print the address, do not open a browser")
    games: str | None = option(
        None,
        "folder in which games are stored (default: games in gozero's folder of the user's data)",
        metavar="FOLDER",
    )
    no_games: bool = option(False, "store no games on disk")
    boards: int = option(4, "games whose engines run at once (default 4)", low=1, high=64)

    @property
    def is_local(self) -> bool:
        """Whether only this machine can reach the server."""
        return self.host in LOOPBACK

    @property
    def first_setup(self) -> dict[str, Any]:
        """The game that a new page begins with."""
        return {"game": self.game, "size": self.size, "level": self.level}

    @property
    def is_checked(self) -> bool:
        """Whether the user chose what the engine may refuse, so that it is asked at the start."""
        return self.size is not None or self.backend != "auto" or self.precision != "auto"

    @property
    def engine_arguments(self) -> list[str]:
        """The command line of an engine process, which gets its part of the memory."""
        values = {entry.name: getattr(self, entry.name) for entry in fields(EngineProcessSettings)}
        values["max_memory"] = max(64, self.most_memory // 2**20 // self.boards)
        # each is one word, since the name of a file may begin with a dash
        return [f"--{name.replace('_', '-')}={value}" for name, value in values.items() if value is not None]
