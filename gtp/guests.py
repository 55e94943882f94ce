"""Serves GTP for a player that another package made, such as the strategies of `training.course`.

All commands of `gozero-gtp` are there; what needs a weights file is not.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from gozero.system.console import leave_when_unread
from gozero.system.input import arriving_lines
from gozero.system.output import ProtocolOutput, secure_streams
from gtp.__main__ import make_protocol, report_bug
from gtp.protocol import LineReader, Signals, serve
from gtp.session import Session
from gtp.settings import GtpSettings

if TYPE_CHECKING:
    from gozero.play.player import Player


def serve_player(make_player: Callable[[], Player], game: str, visits: int, description: str) -> None:
    """Serve GTP on standard input and output until ``quit`` or the end of the input.

    Args:
        make_player: called once, at the first command that needs a board.
        game: its name in `gozero.games`.
        visits: simulations a move.
        description: of the player, for records.
    """
    secure_streams()
    output, signals = ProtocolOutput.take_over(None), Signals()
    reader = LineReader(arriving_lines(0), signals)
    settings = GtpSettings(game=game, visits=visits, no_resign=True, opening_temperature=0.0)
    session = Session(settings, make_player, signals, lambda settings: description)
    leave_when_unread(output)
    serve(make_protocol(session, game, partial(report_bug, None)), reader, output, ponder=session.ponder)
