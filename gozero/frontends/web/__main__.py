"""`gozero web`: settings, a port to listen on, the browser, and the server until Ctrl-C."""

from __future__ import annotations

import asyncio
from dataclasses import replace

from gozero.frontends.web.catalogue import offered_weights
from gozero.frontends.web.server.games import OpenGames
from gozero.frontends.web.settings import PROGRAM, WebSettings
from gozero.system.console import from_arguments, run_server
from gozero.system.options import SettingsError
from gozero.system.streams import Log

DESCRIPTION = "A board in the browser: play the engine at all games, see what it thinks, review games."
HELP_EPILOG = """\
Without options it listens on this machine alone and opens your browser. docs/web.md says what the page can do.
A run:     gozero web --weights runs/go13/weights.pt    games against its weights: New game > More > Engine
Elsewhere: gozero web --host 0.0.0.0                    other machines may use the address that it prints, with the token in it
"""
MISSING = "the server needs aiohttp; in gozero's source tree run make board (elsewhere pip install 'gozero[web]')"


def main(arguments: list[str] | None = None) -> None:
    """Serve until Ctrl-C or SIGTERM; exit code 130 or 0, and 2 after one line on stderr that says what is wrong."""
    run_server(PROGRAM, lambda: from_arguments(WebSettings, arguments, PROGRAM, DESCRIPTION, HELP_EPILOG), start)


def start(settings: WebSettings, log: Log | None) -> int:
    """Serve. Returns the exit code; WeightsError and SettingsError if something cannot be used."""
    for path in offered_weights(settings.weights).values():  # for the engine processes, which look elsewhere
        settings = replace(settings, weights=str(path))
    return asyncio.run(_serve(settings))


async def _serve(settings: WebSettings) -> int:
    games = OpenGames(settings)
    await asyncio.sleep(0)  # the engine's imports go on while the server's own are done
    try:
        from gozero.frontends.web.server.server import serve

        return await serve(settings, games)
    except ModuleNotFoundError as error:
        if error.name != "aiohttp":
            raise
        raise SettingsError(MISSING) from None
    finally:
        await games.close()


if __name__ == "__main__":
    main()
