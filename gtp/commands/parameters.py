"""Settings that can change while the engine runs: KataGo's kata-get-param, kata-set-param and similar, and GoGui's
gogui-param.

A parameter is an option of the command line under KataGo's name for it, or one in KataGo's style; `none` is the value
of an option that was not given. Options that need loading anew, such as threads and weights, are no parameters. Every
change holds from the next move on; a wrong value changes nothing.
"""

from __future__ import annotations

from typing import Any

from gozero.play.levels import STRONGEST, WEAKEST
from gozero.system import options
from gozero.system.options import SettingsError
from gtp.protocol import Command, GtpError
from gtp.session import Commands, Session
from gtp.settings import GtpSettings

NONE = "none"
PARAMETERS = {
    "level": "level",
    "maxVisits": "visits",
    "maxTime": "time",
    "analysisMaxVisits": "analysis_visits",
    "lagBuffer": "lag",
    "ponderingEnabled": "ponder",
    "chosenMoveTemperatureEarly": "opening_temperature",
    "chosenMoveTemperature": "temperature",
    "allowResignation": "no_resign",
    "resignThreshold": "resign_threshold",
    "resignConsecTurns": "resign_moves",
    "friendlyPass": "friendly_pass",
    "liveGraphics": "gogui_gfx",
}
"""The field of `GtpSettings` for each name."""
OPPOSITE = "no_resign"
"""The option whose parameter is its opposite."""


def set_parameter(session: Session, command: Command) -> None:
    """``kata-set-param NAME VALUE``."""
    name, _, text = command.text.partition(" ")
    option, text = option_of(name), text.strip()
    if not text:
        raise GtpError(f"syntax error: expected {name} and its value")
    entry = options.entry(GtpSettings, option)
    try:
        value = None if text.lower() == NONE and entry.default is None else options.parse(entry, text, name)
        session.change(session.settings.changed(option, not value if option == OPPOSITE else value))
    except SettingsError as error:
        raise GtpError(str(error)) from None


def gogui_param(session: Session, command: Command) -> str | None:
    """Without arguments the parameters as GoGui shows them, else as kata-set-param."""
    if not command.text:
        return "\n".join(gogui_line(name, _value(session, name)) for name in PARAMETERS)
    set_parameter(session, command)
    return None


def _value(session: Session, name: str) -> Any:
    option = option_of(name)
    value = getattr(session.settings, option)
    return not value if option == OPPOSITE else value


def option_of(name: str) -> str:
    """The option that a parameter changes; GtpError if there is no such parameter."""
    if name not in PARAMETERS:
        raise GtpError(f"unknown parameter {name!r}: expected one of {', '.join(PARAMETERS)}")
    return PARAMETERS[name]


def as_text(value: Any) -> str:
    """A value as it is written in an answer."""
    if value is None:
        return NONE
    return str(value).lower() if isinstance(value, bool) else f"{value:.10g}"


def gogui_line(name: str, value: Any) -> str:
    """``[type] name value``: GoGui draws a box to tick, a list to choose from, or a field for text."""
    if isinstance(value, bool):
        return f"[bool] {name} {int(value)}"
    kind = f"list/{'/'.join([NONE, *map(str, range(WEAKEST, STRONGEST + 1))])}" if name == "level" else "string"
    return f"[{kind}] {name} {as_text(value)}"


COMMANDS: Commands = {
    "kata-list-params": lambda session, command: " ".join(PARAMETERS),
    "kata-get-param": lambda session, command: as_text(_value(session, command.text)),
    "kata-set-param": set_parameter,
    "gogui-param": gogui_param,
}
