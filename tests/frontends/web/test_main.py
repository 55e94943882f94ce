"""The command line of gozero web: what it says of wrong options, and how it ends."""

import asyncio
import errno
import json
import logging
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests import ROOT

pytest.importorskip("aiohttp")

from aiohttp import WSCloseCode
from aiohttp.http_exceptions import BadStatusLine

from gozero.frontends.web.__main__ import start
from gozero.frontends.web.engine.handler import RequestHandler, RequestQueue
from gozero.frontends.web.server import server
from gozero.frontends.web.settings import PROGRAM, EngineProcessSettings, WebSettings
from gozero.system.console import from_arguments
from gozero.system.errors import UserError
from gozero.system.options import SettingsError
from tests.frontends.web.talk import served_by


def run(*options: str, code: str = "") -> tuple[int, str]:
    """Exit code and stderr of a command that ends by itself."""
    program = ["-c", code] if code else ["-m", "gozero.frontends.web", "--no-browser"]
    done = subprocess.run(
        [sys.executable, *program, *options], cwd=ROOT, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == ""
    return done.returncode, done.stderr


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ("--port 70000", "--port = 70000: expected 0 to 65,535"),
        ("--level 21", "--level = 21: expected 1 to 20"),
        ("--game chess", "--game = 'chess': expected one of breakthrough, "),
        ("--boards 0", "--boards = 0: expected 1 to 64"),
        ("--weights missing.pt", "cannot use weights "),
    ],
)
def test_wrong_options_name_the_value(options: str, text: str) -> None:
    with pytest.raises(UserError) as caught:
        start(from_arguments(WebSettings, options.split(), PROGRAM, ""), None)
    assert str(caught.value).startswith(text)
    assert "\n" not in str(caught.value)


def test_the_log_may_begin_with_a_dash() -> None:
    settings = from_arguments(WebSettings, ["--log=-x.log"], PROGRAM, "")
    assert from_arguments(EngineProcessSettings, settings.engine_arguments, PROGRAM, "").log == settings.log


def test_a_game_that_cannot_be_served_is_one_line() -> None:
    code, said = run("--game", "connect4", "--size", "9")
    assert (code, said) == (2, "gozero web: board size 9: this engine plays Connect-4 on 7\n")


def test_a_precision_that_cannot_be_had_is_a_fault_of_the_catalogue() -> None:
    settings = WebSettings(backend="torch", precision="int8")
    reports: list[dict[str, Any]] = []
    RequestHandler(settings, RequestQueue(), reports.append, lambda: None).do(
        {"do": "catalogue", "check": settings.first_setup}
    )
    assert settings.is_checked
    assert reports[0]["fault"].startswith("precision int8 needs the backend openvino")
    assert "\n" not in reports[0]["fault"]


def test_where_the_usual_port_is_taken_there_is_another(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        monkeypatch.setattr(server, "USUAL_PORT", other.getsockname()[1])
        with server.listen(WebSettings()) as found:
            assert found.getsockname()[1] not in (0, other.getsockname()[1])


@pytest.mark.skipif(not socket.has_dualstack_ipv6(), reason="IPv6 is switched off here")
def test_all_addresses_are_those_of_ipv4_too() -> None:
    with server.listen(WebSettings(host="::", port=0)) as found:
        for host in ("::1", "127.0.0.1"):
            socket.create_connection((host, found.getsockname()[1])).close()


def test_where_it_cannot_listen_another_port_is_named_if_one_would_help() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        line = rf"^cannot listen on 127.0.0.1, port {port}: .*; choose another --port$"
        with pytest.raises(SettingsError, match=line):
            server.listen(WebSettings(port=port))
    with pytest.raises(SettingsError, match=r"^cannot listen on 256.1.1.1, port 8013: [^;]*$"):
        server.listen(WebSettings(host="256.1.1.1"))


def test_without_aiohttp_the_line_says_what_to_install() -> None:
    code, said = run(
        code="import sys; sys.modules['aiohttp'] = None; from gozero.frontends.web.__main__ import main; main([])"
    )
    assert code == 2
    assert "pip install 'gozero[web]'" in said
    assert said.count("\n") == 1


def test_an_engine_that_cannot_start_ends_the_server() -> None:
    code, said = run(
        code="import sys; sys.executable = '/bin/false'; "
        "from gozero.frontends.web.__main__ import main; "
        "main(['--no-browser', '--port', '0'])"
    )
    assert code == 2
    assert said.endswith(
        "gozero web: the engine did not start; run it by hand to see why: python -m gozero.frontends.web.engine\n"
    )


def test_a_first_game_that_the_engine_refuses_ends_the_server(tmp_path: Path) -> None:
    """As for lack of memory, or by a bug."""
    engine = tmp_path / "engine"
    engine.write_text("""#!/bin/sh\necho '{"is": "refused", "text": "No room."}'\nexec cat\n""")
    engine.chmod(0o755)
    code, said = run(
        code=f"import sys; sys.executable = '{engine}'; "
        "from gozero.frontends.web.__main__ import main; "
        "main(['--no-browser', '--port', '0', '--backend', 'torch'])"
    )
    assert (code, said) == (2, "gozero web: No room.\n")


def test_an_engine_ends_with_its_server_also_in_the_middle_of_a_request() -> None:
    command = [sys.executable, "-m", "gozero.frontends.web.engine"]
    done = subprocess.run(command, cwd=ROOT, input='{"do": "com', capture_output=True, text=True, timeout=120)
    assert (done.returncode, done.stderr) == (0, "")
    assert all(json.loads(line)["is"] == "loading" for line in done.stdout.splitlines())


def test_a_server_ends_while_its_engine_starts() -> None:
    with served_by() as server:
        for number in server.engines():
            os.kill(number, signal.SIGSTOP)
        with server.page():  # waits for the catalogue
            server.process.terminate()
            server.process.wait(60)


def test_a_browser_that_does_not_return_leaves_ctrl_c_to_the_server(tmp_path: Path) -> None:
    browser = tmp_path / "browser"
    browser.write_text(f"#!/bin/sh\ntty > {tmp_path}/terminal\necho $$ > {tmp_path}/id\nexec cat {tmp_path}/pipe\n")
    browser.chmod(0o755)
    os.mkfifo(tmp_path / "id")
    os.mkfifo(tmp_path / "pipe")
    command = [sys.executable, "-m", "gozero.frontends.web", "--port", "0", "--threads", "1"]
    environment = {**os.environ, "BROWSER": f"{browser} %s"}
    process = subprocess.Popen(command, cwd=ROOT, stderr=subprocess.PIPE, text=True, env=environment)
    assert process.stderr is not None
    process.stderr.readline()
    number = int((tmp_path / "id").read_text())  # it runs in the foreground, for ever
    try:
        assert (tmp_path / "terminal").read_text() == "not a tty\n"
        process.send_signal(signal.SIGINT)
        assert process.stderr.read() == ""
        assert process.wait(60) == 130
    finally:
        os.kill(number, signal.SIGKILL)


def test_what_is_no_http_and_the_end_of_the_server(tmp_path: Path) -> None:
    log = tmp_path / "log"
    with served_by("--game", "tictactoe", "--log", str(log)) as server:  # which must have said nothing
        with socket.create_connection(("127.0.0.1", server.port)) as client:
            client.sendall(b"GET / HTTP/1.1\r\nHost\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.0 400")
        with server.page() as page:
            page.until("view")
            page.send(do="play", vertex="b2")
            page.until("view")
            server.process.send_signal(signal.SIGTERM)
            assert page.closing_code() == WSCloseCode.GOING_AWAY
            server.process.wait(60)  # a second signal would find a process without handlers
    marks = {line.split()[2] for line in log.read_text(encoding="utf-8").splitlines()}
    assert {"<", ">"} <= marks, "both sides are in the log"


def test_faults_of_the_server_itself_are_told() -> None:
    def record(error: Exception) -> logging.LogRecord:
        return logging.LogRecord("aiohttp.server", logging.ERROR, "", 0, "", (), (type(error), error, None))

    assert server._is_ours(record(RuntimeError("a fault")))
    assert not server._is_ours(record(BadStatusLine("no HTTP")))
    assert not server._is_ours(record(ConnectionResetError("a page that has gone")))


def test_too_many_connections_are_one_line(capsys: pytest.CaptureFixture[str]) -> None:
    server._say_full.cache_clear()
    loop = asyncio.new_event_loop()
    for _ in range(3):
        server._on_error(loop, {"message": "accept", "exception": OSError(errno.EMFILE, "Too many open files")})
    loop.close()
    assert capsys.readouterr().err.count("\n") == 1
