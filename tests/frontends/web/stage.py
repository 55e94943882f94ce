"""A page of Chromium with the test in the server's place: it shows what the test sends, and the test gets what it asks."""

import json
import re
from typing import Any

from playwright.sync_api import Page, WebSocketRoute, expect

from gozero.frontends.web.catalogue import shown_games
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.engine.views import view
from gozero.frontends.web.setups import setup_of
from gozero.games.colours import WHITE
from tests.frontends.web.site import FRAMES, Tab

Values = dict[str, Any]


def game(**setup: Any) -> GameSession:
    size = setup.pop("size", 9)
    return GameSession(setup_of(setup), size, [size])


def replied(game: GameSession) -> GameSession:
    """Black has played E5 and White C3."""
    game.play(game.action("E5"))
    game.reply(WHITE, game.action("C3"))
    return game


def looking_back(session: GameSession) -> GameSession:
    session.go_to(1)
    return session


class Stage(Tab):
    """A page that shows what the test sends, and keeps what it asks for."""

    def __init__(self, page: Page) -> None:
        super().__init__(page)
        self.asked: list[Values] = []
        page.add_init_script("globalThis.passed = 0; performance.now = () => passed")
        page.route_web_socket(re.compile("/socket"), self._connected)

    def _connected(self, socket: WebSocketRoute) -> None:
        self._route = socket
        socket.on_message(lambda text: self.asked.append(json.loads(text)))
        self.greet()
        self.send(view(game()))

    def greet(self) -> None:
        self.send({"is": "hello", "lost": False, "version": "", "games": shown_games({})})

    def send(self, report: Values) -> None:
        self._route.send(json.dumps(report))

    def show(self, session: GameSession, **changes: Any) -> Values:
        """Show a session; the changes go over its report."""
        report = view(session) | changes
        self.send(report)
        expect(
            self.page.locator(f'.page[data-game="{session.identity}"][data-move="{report["number"]}"]')
        ).to_be_visible()
        return report

    def request(self, what: str) -> Values:
        """The next request, which must be of this kind."""
        for _ in range(FRAMES):
            if self.asked:
                break
            self._shown()
        found = self.asked.pop(0)
        assert found.pop("do") == what, found
        return found

    def has(self, selector: str, *texts: str) -> None:
        """Until the elements of a selector have these texts."""
        expect(self.page.locator(selector)).to_have_text(list(texts), use_inner_text=True)
