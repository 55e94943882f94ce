"""Settings that can change while the engine runs: KataGo's kata-get-param, kata-set-param and similar, and GoGui's
gogui-param.

Vocabulary. A *parameter* is an option of the command line under the name that KataGo gives to what means the same;
where KataGo has none, the name is made in its style. `none` is the value of an option that was not given. What cannot
change without loading anew, such as threads and weights, is no parameter. Every change holds from the next move on; a
wrong value changes nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from gozero.play.levels import STRONGEST, WEAKEST
from gozero.system import options
from gozero.system.options import SettingsError
from gtp.protocol import Command, GtpError, Handler
from gtp.session import Session
from gtp.settings import GtpSettings

NONE = "none"


@dataclass(frozen=True)
class Parameter:
    """One option, and the name under which it can be changed."""

    name: str
    option: str  # field of `GtpSettings`
    opposite: bool = False  # true where the option is false

    def value(self, settings: GtpSettings) -> Any:
        found = getattr(settings, self.option)
        return not found if self.opposite else found

    def read(self, text: str) -> Any:
        """The option's value from a text. SettingsError for a wrong one."""
        if self._may_be_none and text.lower() == NONE:
            return None
        return self._as_option(options.parse(self._entry, text, self.name))

    def check(self, value: Any) -> Any:
        """The option's value from a JSON value. SettingsError for a wrong one."""
        if self._may_be_none and value is None:
            return None
        return self._as_option(options.check(self._entry, value, self.name))

    def _as_option(self, value: Any) -> Any:
        return not value if self.opposite else value

    @property
    def _entry(self) -> Any:
        return options.entry(GtpSettings, self.option)

    @property
    def _may_be_none(self) -> bool:
        return self._entry.default is None


PARAMETERS = {
    parameter.name: parameter
    for parameter in (
        Parameter("level", "level"),
        Parameter("maxVisits", "visits"),
        Parameter("maxTime", "time"),
        Parameter("analysisMaxVisits", "analysis_visits"),
        Parameter("lagBuffer", "lag"),
        Parameter("ponderingEnabled", "ponder"),
        Parameter("chosenMoveTemperatureEarly", "opening_temperature"),
        Parameter("chosenMoveTemperature", "temperature"),
        Parameter("allowResignation", "no_resign", opposite=True),
        Parameter("resignThreshold", "resign_threshold"),
        Parameter("resignConsecTurns", "resign_moves"),
        Parameter("friendlyPass", "friendly_pass"),
        Parameter("liveGraphics", "gogui_gfx"),
    )
}


class ParameterCommands:
    """KataGo's commands and GoGui's."""

    def __init__(self, session: Session) -> None:
        self._session = session

    def commands(self) -> Mapping[str, Handler]:
        return {
            "kata-list-params": lambda command: " ".join(PARAMETERS),
            "kata-get-param": self.get,
            "kata-get-params": self.get_all,
            "kata-set-param": self.set,
            "kata-set-params": self.set_all,
            "gogui-param": self.gogui_param,
        }

    def get(self, command: Command) -> str:
        """``kata-get-param NAME``."""
        return as_text(parameter_of(command.text).value(self._session.settings))

    def get_all(self, command: Command) -> str:
        """All names and values as a JSON object."""
        return json.dumps({name: parameter.value(self._session.settings) for name, parameter in PARAMETERS.items()})

    def set(self, command: Command) -> str:
        """``kata-set-param NAME VALUE``."""
        name, _, text = command.text.partition(" ")
        parameter = parameter_of(name)
        if not text:
            raise GtpError(f"syntax error: expected {name} and its value")
        with refusing():
            self._session.change(self._session.settings.changed({parameter.option: parameter.read(text.strip())}))
        return ""

    def set_all(self, command: Command) -> str:
        """``kata-set-params OBJECT``: all of these or, where one is wrong, none."""
        try:
            given = json.loads(command.text)
        except (ValueError, RecursionError) as error:
            raise GtpError(f"syntax error: {command.text!r} is not JSON: {error}") from None
        if not isinstance(given, dict):
            raise GtpError(f"syntax error: {command.text!r}: expected a JSON object of names and values")
        found = [(parameter_of(name), value) for name, value in given.items()]
        with refusing():
            self._session.change(
                self._session.settings.changed({parameter.option: parameter.check(value) for parameter, value in found})
            )
        return ""

    def gogui_param(self, command: Command) -> str:
        """Without arguments the parameters as GoGui shows them, else as kata-set-param."""
        if command.text:
            return self.set(command)
        return "\n".join(
            gogui_line(parameter, parameter.value(self._session.settings)) for parameter in PARAMETERS.values()
        )


@contextmanager
def refusing() -> Iterator[None]:
    """Turn a SettingsError into the answer."""
    try:
        yield
    except SettingsError as error:
        raise GtpError(str(error)) from None


def parameter_of(name: str) -> Parameter:
    """The parameter of that name; GtpError where there is none."""
    if name not in PARAMETERS:
        raise GtpError(f"unknown parameter {name!r}: expected one of {', '.join(PARAMETERS)}")
    return PARAMETERS[name]


def as_text(value: Any) -> str:
    """A value as it is written in an answer."""
    if value is None:
        return NONE
    return str(value).lower() if isinstance(value, bool) else f"{value:.10g}"


def gogui_line(parameter: Parameter, value: Any) -> str:
    """``[type] name value``: GoGui draws a box to tick, a list to choose from, or a field for text."""
    if isinstance(value, bool):
        return f"[bool] {parameter.name} {int(value)}"
    if parameter.option == "level":
        levels = "/".join([NONE, *map(str, range(WEAKEST, STRONGEST + 1))])
        return f"[list/{levels}] {parameter.name} {as_text(value)}"
    return f"[string] {parameter.name} {as_text(value)}"
