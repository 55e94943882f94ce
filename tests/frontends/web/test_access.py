"""What the server refuses, asked for by plain HTTP: other hosts, other sites, paths, large texts, no token."""

import http.client
import re
import socket
from collections.abc import Iterator
from contextlib import suppress

import pytest

pytest.importorskip("aiohttp")

from tests.frontends.web.talk import Server, Wire, served_by


@pytest.fixture(scope="module")
def shared() -> Iterator[Server]:
    """A server that other machines may reach."""
    with served_by("--host", "0.0.0.0") as running:
        yield running


def get(server: Server, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of an answer."""
    link = http.client.HTTPConnection("127.0.0.1", server.port, timeout=60)
    try:
        link.putrequest("GET", path, skip_host="Host" in headers)
        for name, value in headers.items():
            link.putheader(name, value)
        link.endheaders()
        answer = link.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        link.close()


def socket_status(server: Server, **headers: str) -> int:
    """The status of the answer to a page that wants to connect."""
    wanted = {
        "Upgrade": "websocket", "Connection": "Upgrade", "Sec-WebSocket-Version": "13",
        "Sec-WebSocket-Key": "dGhlIHNhbXBsZSBub25jZQ==", **headers,
    }  # fmt: skip
    lines = [f"GET /socket HTTP/1.1\r\nHost: {headers.get('Host', server.host)}"]
    lines += [f"{name}: {value}" for name, value in wanted.items() if name != "Host"]
    with socket.create_connection(("127.0.0.1", server.port), timeout=60) as link:
        link.sendall(("\r\n".join(lines) + "\r\n\r\n").encode())
        return int(link.recv(12).split()[1])


def test_the_page_and_its_policy(server: Server) -> None:
    status, headers, body = get(server, "/")
    assert status == 200
    assert b"board.js" in body
    policy = headers["Content-Security-Policy"]
    assert policy.startswith("default-src 'none'; script-src 'self'; style-src 'self'; ")
    assert f"connect-src 'self' ws://127.0.0.1:{server.port};" in policy
    assert "unsafe" not in policy
    assert "http:" not in policy
    assert headers["X-Content-Type-Options"] == "nosniff"
    for name in re.findall(rb'(?:href|src)="([^"]*)"', body):
        assert not name.startswith((b"http", b"//")), name


@pytest.mark.parametrize(
    "host", ["gozero.example", "127.0.0.1.example", "evil:80", "localhost.example:8013", "a@[", ""]
)
def test_a_name_that_points_here_is_refused(server: Server, host: str) -> None:
    assert get(server, "/", Host=host)[0] in (400, 421)
    assert socket_status(server, Host=host or "x", Origin=f"http://{host}") in (400, 421)


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "https://127.0.0.1", "http://127.0.0.1:1"])
def test_other_sites_may_not_connect(server: Server, origin: str) -> None:
    assert socket_status(server, Origin=origin) == 403
    assert get(server, "/", Origin=origin)[0] == 403


def test_a_connection_must_say_where_it_comes_from(server: Server) -> None:
    assert socket_status(server) == socket_status(server, Origin=f"https://{server.host}") == 403
    assert socket_status(server, Origin=f"http://{server.host}") == 101


@pytest.mark.parametrize(
    "path",
    ["/../../setup.cfg", "/..%2f..%2fsetup.cfg", "/%2e%2e/__init__.py", "/static/board.js", "//etc/passwd", "/board.js%00"],
)  # fmt: skip
def test_no_path_opens_a_file(server: Server, path: str) -> None:
    status, headers, body = get(server, path)
    assert status in (400, 404)
    assert status == 400 or "default-src 'none'" in headers["Content-Security-Policy"]
    assert b"[metadata]" not in body


def test_a_token_is_needed_from_elsewhere(shared: Server) -> None:
    assert shared.token
    assert get(shared, "/", Host="board.example:80")[0] == 401
    assert get(shared, "/?token=wrong")[0] == 401
    assert get(shared, f"/board.js?token={shared.token}")[0] == 401  # only the page itself takes it
    assert socket_status(shared, Origin=f"http://{shared.host}") == 401
    status, headers, _ = get(shared, f"/?token={shared.token}")
    assert (status, headers["Location"]) == (303, "/")
    assert get(shared, f"/?game=a%2Fb&token={shared.token}")[1]["Location"] == "/?game=a/b"
    cookie = headers["Set-Cookie"]
    assert cookie.startswith(f"gozero-token-{shared.port}=")  # a server on another port has another one
    assert "HttpOnly" in cookie
    assert "SameSite=Strict" in cookie
    known = cookie.split(";")[0]
    assert get(shared, "/", Cookie=known)[0] == 200
    assert socket_status(shared, Origin=f"http://{shared.host}", Cookie=known) == 101
    assert socket_status(shared, Origin="http://evil.example", Cookie=known) == 403


@pytest.mark.parametrize(
    "text",
    ["no json", "[1]", "{}", '{"do": 1}', '{"do": "catalogue", "choices": {"a": "/etc/passwd"}}',
     "[" * 100_000],
)  # fmt: skip
def test_what_a_page_may_not_send(page: Wire, text: str) -> None:
    page.send_text(text)
    assert "does not understand" in page.until("refused")["text"]


def test_a_page_may_nest_as_deeply_as_it_likes(page: Wire) -> None:
    for depth in range(930, 1000):
        page.send_text('{"do": "stop", "a": ' + "[" * depth + "]" * depth + "}")
        page.send(do="goto", node=-1)
        while page.until("refused")["text"] != "This move was taken back or deleted.":
            pass


def test_weights_are_chosen_by_name_only(page: Wire) -> None:
    page.until("view")
    page.send(do="new", setup={"game": "go", "engine": "/etc/passwd"})
    assert page.until("refused")["text"] == "These weights are not offered for Go."
    page.send(do="restore", saved={"setup": {"game": "go", "engine": "/etc/passwd"}})
    assert page.until("refused")["text"].startswith("This game cannot be opened")
    page.send(do="new", setup={"game": "tictactoe", "weights": "/etc/passwd"})
    assert "unknown setting 'weights'" in page.until("refused")["text"]


@pytest.mark.parametrize(
    ("setup", "text"),
    [
        ({"game": "chess"}, "New game: game = 'chess': choose one of breakthrough, "),
        ({"size": 20}, "New game: size = 20 is out of range: from 2 to 19"),
        ({"game": "othello", "size": 7}, "Board size 7: this engine plays Othello on 4, 6, 8."),
        ({"game": "go", "size": 5, "handicap": 2}, "Handicap 2: a board of 5x5 has at most 0."),
        ({"game": "gomoku", "handicap": 2}, "Gomoku has no handicap."),
        ({"rules": "house"}, "Unknown rules 'house': expected one of chinese, "),
        ({"clock": {"main": -1}}, "New game: clock: main = -1"),
        ({"komi": "x"}, "New game: komi = 'x': expected a number"),
        ({"unknown": 1}, "New game: unknown setting 'unknown'"),
    ],
)
def test_a_game_that_cannot_be_had(page: Wire, setup: dict[str, object], text: str) -> None:
    page.until("view")
    page.send(do="new", setup=setup)
    assert page.until("refused")["text"].startswith(text)


def test_a_text_that_is_too_large_closes_the_page(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as page:
        page.until("view")
        with suppress(ConnectionError):  # closed while we still send
            page.load("x" * 5_000_000)
        assert page.is_closed()
    assert get(server, "/")[0] == 200


@pytest.mark.parametrize("data", ["é", "a"])
def test_what_is_no_file_is_refused(page: Wire, data: str) -> None:
    page.send(do="load", data=data)
    assert "sent no file" in page.until("refused")["text"]
