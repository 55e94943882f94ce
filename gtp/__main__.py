"""`gozero-gtp`: settings, the take-over of standard output, and all commands under one protocol.

Nothing heavy is imported before the first command that needs a board, so that `name` is answered at once.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gozero import __version__ as VERSION
from gozero.games import GO_FAMILY
from gozero.play import engine
from gozero.system.console import BAD_INPUT, SUCCESS, printing, run_server
from gozero.system.machine import available_threads
from gozero.system.streams import Log, ProtocolOutput, arriving_lines, open_streams
from gozero.system.words import counted
from gtp.commands import analyze, board, clock, gogui, parameters, records, scoring
from gtp.protocol import Command, FatalError, LineReader, Protocol, Signals, report_bug, serve
from gtp.session import DEFAULT_SECONDS, DEFAULT_VISITS, Session, say
from gtp.settings import PROGRAM, GtpSettings, from_arguments

if TYPE_CHECKING:
    from gozero.nets.weights import Header
    from gozero.play.player import Player

NAME = "gozero"
COMMANDS = board.COMMANDS | records.COMMANDS | parameters.COMMANDS | clock.COMMANDS | gogui.COMMANDS
GO_COMMANDS = COMMANDS | board.HANDICAPS | scoring.GO | records.GO | gogui.GO
OTHER_GAMES_COMMANDS = COMMANDS | scoring.OTHER_GAMES


def main(arguments: list[str] | None = None) -> None:
    """Serve GTP until ``quit`` or the end of the input; exit code 0, or 2 after one line on stderr that says what was
    wrong.
    """
    run_server(PROGRAM, lambda: from_arguments(arguments), _start)


def _start(settings: GtpSettings, log: Log | None) -> int:
    if not settings.check:
        return _run(settings, log)
    from gtp.check import check

    return printing(PROGRAM, lambda: SUCCESS if check(settings) else BAD_INPUT)


def _run(settings: GtpSettings, log: Log | None) -> int:
    """Serve GTP. UserError if the weights cannot be used."""
    from gtp.loading import Loader

    output = ProtocolOutput.take_over(log)
    path, header = engine.find_weights(settings.weights, settings.game)
    loader = Loader(settings, path, header)
    size = settings.size or header.size
    say(description(settings, path, header, ", ") + (f", size {size}" if size else ""))
    if log is not None:
        threads = counted(settings.threads or available_threads(), "thread")
        log.say(f"{description(settings, path, header)}\nprocess {os.getpid()}, {threads}, {platform.platform()}")
    describe = partial(description, path=path, header=header)
    session = Session(settings, loader.player, Signals(), describe, log, header.trained)
    if size is not None:
        session.warn_of_size(size)
    _serve(session, header.game, output, loader.load_in_background)
    return SUCCESS


def _serve(
    session: Session,
    game: str,
    output: ProtocolOutput,
    load: Callable[[Callable[[FatalError], None]], None] = lambda on_failure: None,
) -> None:
    """Answer standard input; ``load`` is called when the controller pauses."""
    protocol = make_protocol(session, game, partial(report_bug, log=session.log))
    reader = LineReader(arriving_lines(0), session.signals)
    output.end_process_when_unread()
    serve(protocol, reader, output, lambda: load(reader.lines.put), session.ponder)


def serve_player(make_player: Callable[[], Player], game: str, visits: int, description: str) -> None:
    """Serve GTP for a player that another package made, with all commands that need no weights file: it is made at the
    first command that needs a board, and described for records.
    """
    open_streams()
    output = ProtocolOutput.take_over(None)
    settings = GtpSettings(game=game, visits=visits, no_resign=True, opening_temperature=0.0)
    _serve(Session(settings, make_player, Signals(), lambda settings: description), game, output)


def make_protocol(session: Session, game: str, on_bug: Callable[[Command, Exception], object] = report_bug) -> Protocol:
    """Every command that gozero-gtp has for a game; ``on_bug`` as in ``Protocol``."""
    protocol = Protocol(NAME, session.settings.gtp_version or VERSION, on_bug)
    commands = GO_COMMANDS if game in GO_FAMILY else OTHER_GAMES_COMMANDS
    streams = {name: partial(handle, session) for name, handle in analyze.STREAMS.items()}
    protocol.register({name: partial(handle, session) for name, handle in commands.items()}, streams)
    return protocol


def description(settings: GtpSettings, path: Path, header: Header, separator: str = "\n") -> str:
    """What determines how it plays: version, weights, network, game, rules, and the limits of a move."""
    visits, seconds = settings.move_visits, settings.time
    limits = [counted(visits, "visit")] if visits else []
    limits += [f"{seconds:g} s"] if seconds else []
    move = " or ".join(limits) or f"{DEFAULT_VISITS} visits or {DEFAULT_SECONDS:g} s unless a clock is set"
    if settings.is_policy:
        move = "the network's best, without a search"
    chosen = [f"{NAME} {VERSION}", f"weights {path}", f"network {header.network}", header.game]
    chosen += [f"{settings.rules} rules"] if settings.rules else []
    chosen += [f"level {settings.level}"] if settings.level else []
    return separator.join([*chosen, f"a move: {move}"])


if __name__ == "__main__":
    main()
