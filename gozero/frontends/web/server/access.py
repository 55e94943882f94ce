"""Who may talk to the server, and what a page may do: checks of every request, and the headers of every answer.

A browser lets any web site send requests to this machine. So each request must name this server as its host (a site
whose name is pointed at 127.0.0.1, *DNS rebinding*, names itself), and each connection that changes something must come
from a page of this server's own (`Origin`). Where other machines can reach the server, a *token* is needed as well.
"""

from __future__ import annotations

import hmac
import secrets
from urllib.parse import urlsplit

from aiohttp import web
from aiohttp.typedefs import Handler

from gozero.frontends.web.settings import LOOPBACK, WebSettings

POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self' {socket}; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
HEADERS = {
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class Access:
    """The checks of one server, which listens on ``port``."""

    def __init__(self, settings: WebSettings, port: int) -> None:
        self.port = port
        self.token = "" if settings.is_local else secrets.token_urlsafe(18)  # "": only this machine can ask
        self._cookie = f"gozero-token-{port}"  # browsers share cookies among the ports of a host

    @web.middleware
    async def check(self, request: web.Request, handler: Handler) -> web.StreamResponse:
        """Middleware that refuses what must not pass."""
        if not self.token and not _names_this_machine(request.host):
            raise web.HTTPMisdirectedRequest(text="This server answers only for this machine's own addresses.\n")
        if not _is_own(request):
            raise web.HTTPForbidden(text="This server answers only pages of its own.\n")
        if not self.token or self._knows_token(request.cookies.get(self._cookie, "")):
            return await handler(request)
        if request.path == "/" and self._knows_token(request.query.get("token", "")):
            game = request.query.get("game", "")
            answer = web.HTTPSeeOther(request.rel_url.with_query({"game": game} if game else None))
            answer.set_cookie(self._cookie, self.token, httponly=True, samesite="Strict", path="/")
            raise answer
        raise web.HTTPUnauthorized(text="Open the address that gozero web printed, with its token.\n")

    def _knows_token(self, text: str) -> bool:
        return hmac.compare_digest(text.encode(errors="surrogateescape"), self.token.encode())


async def add_headers(request: web.Request, answer: web.StreamResponse) -> None:
    """Add the headers that every answer has."""
    socket = f"ws://{request.host}" if request.host.isprintable() and " " not in request.host else ""
    answer.headers["Content-Security-Policy"] = POLICY.format(socket=socket.replace(";", ""))
    answer.headers.update(HEADERS)


def _names_this_machine(host: str) -> bool:
    try:
        return urlsplit(f"//{host}").hostname in LOOPBACK
    except ValueError:
        return False


def _is_own(request: web.Request) -> bool:
    """Whether a request comes from a page of this server, if it says where from; a connection must say so."""
    origin = request.headers.get("Origin")
    if origin is None:
        return request.headers.get("Upgrade", "").lower() != "websocket"
    return origin == f"http://{request.host}"
