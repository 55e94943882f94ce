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
HELD = """() => {
    const usual = setTimeout;
    globalThis.setTimeout = (act, wait) => (wait >= 500 ? (globalThis.attempt = act) : usual(act, wait));
}"""


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
        is_lost = "snapshot" in socket.url
        self.greet(is_lost)
        if not is_lost:
            self.send(view(game()))

    def greet(self, is_lost: bool = False) -> None:
        self.send({"is": "hello", "lost": is_lost, "version": "", "games": shown_games({})})

    def send(self, report: Values) -> None:
        self._route.send(json.dumps(report))

    def go_away(self) -> None:
        """The server ends; the page connects again when `attempt()` is evaluated, and not after a while."""
        self.page.evaluate(HELD)
        self._route.close()

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
            self.page.evaluate("new Promise(requestAnimationFrame)")
        found = self.asked.pop(0)
        assert found.pop("do") == what, found
        return found

    def has(self, selector: str, *texts: str | re.Pattern[str]) -> None:
        """Until the elements of a selector have these texts."""
        expect(self.page.locator(selector)).to_have_text(list(texts), use_inner_text=True)
