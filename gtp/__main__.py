"""`gozero-gtp`: settings, the take-over of standard output, and the commands of all groups under one protocol.

Nothing heavy is imported before the first command that needs a board, so that `name` is answered at once.
"""

from __future__ import annotations

import os
import platform
import sys
import traceback
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from gozero import __version__ as VERSION
from gozero.games import GO_FAMILY
from gozero.play.engine import supported_sizes
from gozero.system import files
from gozero.system.console import BAD_INPUT, SUCCESS, exit_after, leave_when_unread
from gozero.system.input import arriving_lines
from gozero.system.output import Log, ProtocolOutput, unanswerable
from gozero.system.threads import available_threads
from gozero.system.words import counted
from gtp.commands.analyze import AnalysisCommands
from gtp.commands.clock import ClockCommands
from gtp.commands.gogui import GoguiCommands, GoguiGoCommands
from gtp.commands.gomill import GomillCommands
from gtp.commands.handicap import HandicapCommands
from gtp.commands.parameters import ParameterCommands
from gtp.commands.records import RecordCommands
from gtp.commands.referee import RefereeCommands
from gtp.commands.rules import RuleCommands
from gtp.commands.scoring import ScoringCommands
from gtp.commands.servers import ServerCommands
from gtp.commands.setup import SetupCommands
from gtp.protocol import Command, FatalError, LineReader, Protocol, Signals, serve
from gtp.session import DEFAULT_SECONDS, DEFAULT_VISITS, BoardCommands, PlayCommands, Session, say
from gtp.settings import GtpSettings, from_arguments

if TYPE_CHECKING:
    from gozero.nets.weights import Header

NAME = "gozero"
COMMANDS = (BoardCommands, SetupCommands, PlayCommands, GomillCommands, ParameterCommands)
GO_COMMANDS = (HandicapCommands, ScoringCommands, RuleCommands, RecordCommands, ServerCommands, GoguiGoCommands)
OTHER_GAMES_COMMANDS = (RefereeCommands, GoguiCommands)


def main(arguments: list[str] | None = None) -> None:
    """Serve GTP until ``quit`` or the end of the input; exit code 0, or 2 after one line on stderr that says what was
    wrong.
    """
    exit_after(lambda: from_arguments(sys.argv[1:] if arguments is None else arguments, VERSION), sit, say, FatalError)


def sit(settings: GtpSettings, log: Log | None) -> int:
    """Run what the settings ask for and return the exit code. FatalError where the weights cannot be used."""
    if settings.check:
        return test_installation(settings)
    run(settings, log)
    return SUCCESS


def test_installation(settings: GtpSettings) -> int:
    """Run `--check`, on standard output, and return the exit code."""
    from gtp.check import check

    try:
        able = check(settings)
        sys.stdout.flush()
    except OSError as error:
        raise unanswerable(error) from None
    return SUCCESS if able else BAD_INPUT


def run(settings: GtpSettings, log: Log | None) -> None:
    """Serve GTP. FatalError where the weights cannot be used."""
    from gtp.loading import Loader, check_rules, check_size, find_weights

    output = ProtocolOutput.take_over(log)
    path, header = find_weights(settings)
    if settings.size is not None:
        check_size(settings.size, supported_sizes(header), path)
    check_rules(settings.rules, header)
    say(greeting(settings, path, header))
    if log is not None:
        log.say(f"{description(settings, path, header)}\n{surroundings(settings)}")
    signals = Signals()
    reader = LineReader(arriving_lines(0), signals)
    loader = Loader(settings, path, header)
    describe = partial(description, path=path, header=header)
    session = Session(settings, loader.player, signals, describe, log, header.trained)
    if (size := settings.size or header.size) is not None:
        session.warn_of_size(size)
    protocol = make_protocol(session, header.game, partial(report_bug, log))
    leave_when_unread(output)
    serve(protocol, reader, output, when_idle=lambda: loader.load_in_background(reader.fail), ponder=session.ponder)


def report_bug(log: Log | None, command: Command, error: Exception) -> None:
    """Report a bug in a command to the user and the log."""
    text = f"internal error in {command.name!r}; please report this:\n{''.join(traceback.format_exception(error)).rstrip()}"
    say(text)
    if log is not None:
        log.say(text)


def make_protocol(session: Session, game: str, on_bug: Callable[[Command, Exception], None] | None = None) -> Protocol:
    """Every command that gozero-gtp has for a game; ``on_bug`` as in ``Protocol``."""
    protocol = Protocol(NAME, session.settings.gtp_version or VERSION, on_bug)
    for group in (*COMMANDS, *(GO_COMMANDS if game in GO_FAMILY else OTHER_GAMES_COMMANDS)):
        protocol.register(group(session).commands())
    protocol.register(ClockCommands(session.clock).commands())
    protocol.register_streams(AnalysisCommands(session).streams())
    return protocol


def greeting(settings: GtpSettings, path: Path, header: Header) -> str:
    """The line on stderr that names weights, network and limits."""
    size = settings.size or header.size
    about, *chosen, limits = [f"{NAME} {VERSION}", *facts(settings, path, header)]
    return ", ".join([about, *chosen, *([f"size {size}"] if size else []), limits])


def description(settings: GtpSettings, path: Path, header: Header) -> str:
    """The same for records, one fact a line."""
    return "\n".join([f"{NAME} {VERSION}", *facts(settings, path, header)])


def surroundings(settings: GtpSettings) -> str:
    """Process, threads and platform, for the log, one fact a line."""
    threads = settings.threads or available_threads()
    folder = files.working_folder() or "a folder that has been removed"
    return f"process {os.getpid()}, {counted(threads, 'thread')}, Python {platform.python_version()}, {platform.platform()}\nin {folder}"


def facts(settings: GtpSettings, path: Path, header: Header) -> list[str]:
    """What determines how it plays: weights, network, game, rules, and the limits of a move."""
    visits, seconds = settings.move_visits, settings.time
    limits = [counted(visits, "visit")] if visits else []
    limits += [f"{seconds:g} s"] if seconds else []
    move = " or ".join(limits) or f"{DEFAULT_VISITS} visits or {DEFAULT_SECONDS:g} s unless a clock is set"
    if settings.is_policy:
        move = "the network's best, without a search"
    chosen = [f"weights {path}", f"network {header.network}", header.game]
    chosen += [f"{settings.rules} rules"] if settings.rules else []
    chosen += [f"level {settings.level}"] if settings.level else []
    return [*chosen, f"a move: {move}"]


if __name__ == "__main__":
    main()
