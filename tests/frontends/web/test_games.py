"""Games and their engine processes: which page gets what, what ends when a page is closed, what is kept."""

import base64
import os
import signal
from types import SimpleNamespace
from typing import Any, cast

import pytest

pytest.importorskip("aiohttp")

from gozero.frontends.web.server.games import OpenGame, OpenPage
from gozero.frontends.web.server.process import MOST_UNREAD, EngineProcess
from gozero.nets.locations import WEIGHTS
from tests.frontends.web.talk import Server, Wire, wait_for


def test_a_game_survives_a_killed_engine_a_new_game_that_is_refused_and_its_pages_end(server: Server) -> None:
    with server.page() as page:
        game = page.until("view")["identity"]
        page.send(do="play", vertex="B2")
        assert page.until("view")["thinking"]
        for number in server.engines():
            os.kill(number, signal.SIGKILL)
        assert "Your game is kept" in page.until("lost")["text"]
        page.send(do="new", setup={"game": "tictactoe", "level": 99})
        page.until("refused")
    with server.page(game) as page:
        assert not page.until("hello")["lost"]
        assert page.until("view")["stones"][4] == 1
        page.send(do="undo")
        while any(page.until("view")["stones"]):
            pass  # the engine's answer


def test_a_comment_is_told_to_every_page_and_to_later_ones(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as one:
        one.begin(game="tictactoe", person="both")
        one.send(do="play", vertex="b2")
        one.until("view")
        one.send(do="comment", text="at the start", node=0)
        one.send(do="comment", text="the middle")
        assert [one.until("view")["comment"] for _ in range(2)] == ["", "the middle"]
        one.send(do="comment", text="nowhere", node=99)
        assert one.until("refused")["text"].startswith("The move of this comment was taken back")
        with server.page(shared_game) as two:
            assert two.until("view")["comment"] == "the middle"
            two.send(do="goto", node=0)
            assert two.until("view")["comment"] == "at the start"


def snapshot_of(page: Wire) -> dict[str, Any]:
    """What a page keeps of a game with a comment and a clock, in which it is Black's turn."""
    page.begin(game="tictactoe", clock={"main": 300})
    page.send(do="play", vertex="b2")
    while page.until("view")["number"] < 2:
        pass
    page.send(do="comment", node=1, text="the middle")
    return cast(dict[str, Any], page.until("snapshot")["saved"])


def test_a_page_gives_its_game_to_a_server_that_does_not_know_it(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as page:
        saved = snapshot_of(page)
        page.send(do="view")
        before = page.until("view")
    with server.page("lost", has_snapshot=True) as page:
        assert page.until("hello")["lost"]
        page.send(do="restore", saved=saved)
        view = page.until("view")
        for name in ("identity", "stones", "line", "turn", "person"):
            assert view[name] == before[name]
        for number in server.engines():  # the server has it too
            os.kill(number, signal.SIGKILL)
        page.until("lost")
        page.send(do="goto", node=1)
        while (view := page.until("view"))["at"] != 1:
            pass
        assert view["comment"] == "the middle"


def test_new_and_unknown_games_and_more_boards_than_engines(server: Server) -> None:
    with server.page() as one, server.page("../../etc/passwd") as two:
        hello = one.until("hello")
        assert hello["games"][0]["name"] == "go"
        assert len(hello["games"]) == len(WEIGHTS)
        assert not hello["lost"]
        view = one.until("view")
        assert (view["game"], view["person"], view["legal"]) == ("tictactoe", "black", list(range(9)))
        assert two.until("hello")["lost"]
        assert "passwd" not in two.until("view")["identity"]
        with server.page() as three:
            assert "2 boards are open with an engine each" in three.until("refused")["text"]
        two.send(do="play", vertex="A1")
        assert two.until("view")["number"] == 1
        one.send(do="view")
        assert one.until("view")["number"] == 0


def test_a_closed_page_ends_its_analysis(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as page:
        page.begin(game="go", size=9, person="both")
        page.send(do="analyse", on=True)
        page.until("look")
    with server.page(shared_game) as page:
        page.send(do="view")
        while page.until("view")["analysing"]:
            page.send(do="view")


def test_a_page_that_comes_later_is_shown_the_time_that_is_left_now(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as first:
        view = first.begin(game="tictactoe", clock={"main": 300})
        with server.page(shared_game) as second:
            now = second.until("view")["clock"]
            assert now["running"] == "black"
            assert now["black"]["seconds"] < view["clock"]["black"]["seconds"]


def test_what_was_found_and_the_variation_that_is_shown_survive_the_page_and_the_engine(server: Server) -> None:
    with server.page() as page:
        page.until("view")
        page.load("(;SZ[9];B[ee](;W[cc];B[gg])(;W[gg]))")
        page.send(do="batch", visits=2)
        while page.until("progress")["share"] < 1:
            pass
        for node in (4, 1):
            page.send(do="goto", node=node)
            while (view := page.until("view"))["line"] != [0, 1, 4]:
                pass
        game = view["identity"]
        with server.page(game) as other:
            while not any(point for point in other.until("view")["graph"]):
                pass  # what had been found before it came
    with server.page(game) as page:
        page.send(do="view")
        while (view := page.until("view"))["batch"] or not any(view["graph"]):
            pass
        for number in server.engines():
            os.kill(number, signal.SIGKILL)
        page.until("lost")
        page.send(do="view")
        for _ in range(2):  # of the game that came back, and asked for
            view = page.until("view")
            assert (view["line"], any(view["graph"])) == ([0, 1, 4], True)


def test_a_file_that_is_opened_again_is_the_game_that_was_made_of_it(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as page:
        page.until("view")
        file = {"do": "load", "data": base64.b64encode(b"# tictactoe 3x3\nblack B2\nwhite A3\n").decode()}
        page.send(**file)
        while len((view := page.until("view"))["line"]) != 3:
            pass
        page.send(do="comment", text="mine")
        page.send(**file)
        assert page.until("known")["identity"] == view["identity"]
        page.send(do="list")
        assert [game["identity"] for game in page.until("list")["games"]].count(view["identity"]) == 1
        with server.page(view["identity"]) as other:
            assert other.until("view")["comment"] == "mine"
        page.send(**file, number=0)  # one of several in a file is a game of its own
        while (report := page.until("known", "view"))["identity"] == view["identity"]:
            assert report["is"] == "view"


def test_looks_go_to_every_page_of_a_game(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as one, server.page(shared_game) as two:
        one.begin(game="tictactoe")
        one.send(do="hint")
        assert two.until("look")["hint"]
        assert one.until("look")["moves"][0]["vertex"] in {"A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3"}


def test_a_move_for_a_position_that_is_no_longer_there_is_refused(page: Wire) -> None:
    view = page.begin(game="tictactoe", person="both")
    page.send(do="play", vertex="a1", at=view["at"])
    moved = page.until("view")
    page.send(do="play", vertex="b2", at=view["at"])
    assert "has changed since that click" in page.until("refused")["text"]
    page.send(do="play", vertex="b2", at=moved["at"])
    assert page.until("view")["number"] == 2


def test_stones_are_marked_in_the_position_that_was_clicked(page: Wire) -> None:
    page.until("view")
    page.load("(;SZ[5];B[cc];W[bb];B[];W[];B[])")
    page.until("view")
    page.send(do="dead", vertex="b4", at=99)
    assert "has changed since that click" in page.until("refused")["text"]


def test_what_one_page_asked_for_is_told_to_no_other(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as one:
        one.until("view")
        with server.page(shared_game) as two:
            two.until("view")
            one.send(do="save")
            assert one.until("record")["name"]
            one.send(do="play", vertex="Z9")
            assert one.until("refused")["text"]
            one.load("(;SZ[9];B[ee](;W[cc])(;AB[aa];W[gg]))")
            assert one.until("message")["text"].startswith("1 variation was left out")
            two.send(do="view")
            reports = [two.until("view", "refused", "message", "record") for _ in range(2)]
            assert [report["is"] for report in reports] == ["view", "view"]  # of the record, and asked for


def test_after_a_snapshot_a_game_is_restored_as_it_says() -> None:
    requests: list[dict[str, Any]] = []
    process = SimpleNamespace(send=requests.append, is_behind=False)
    stored = SimpleNamespace(put=lambda saved: None, fault="")
    games = SimpleNamespace(stored=stored, engine=lambda: process)

    async def act() -> None:
        game, page = OpenGame(cast(Any, games), {"game": {"identity": "1", "at": 0, "leaf": 0}}), OpenPage()
        game.add_page(page)
        process.on_report({"is": "view", "at": 2, "line": [0, 1, 2]})
        process.on_report({"is": "snapshot", "saved": {"game": {"identity": "1", "at": 1, "leaf": 1}}})  # 2 is deleted
        process.on_report({"is": "view", "at": 0, "line": [0, 1]})
        process.on_exit()
        game.request({"do": "view"}, page)
        game.remove_page(page)
        game.add_page(page)
        assert game._timer is not None and game._timer.cancelled(), "the engine would end under the page"

    wait_for(act())
    assert [request["do"] for request in requests] == ["restore", "restore", "view", "leave", "view"]
    assert requests[1]["saved"]["game"] == {"identity": "1", "at": 0, "leaf": 1}


def test_a_page_that_asks_too_fast_is_refused(server: Server, shared_game: str) -> None:
    with server.page(shared_game) as page:
        page.until("view")
        engines = server.engines()
        for number in engines:
            os.kill(number, signal.SIGSTOP)
        try:
            for _ in range(MOST_UNREAD // 2**20):
                page.load("x" * 2**20)
            page.send(do="view")
            assert "asks faster than the engine" in page.until("refused")["text"]
        finally:
            for number in engines:
                os.kill(number, signal.SIGCONT)


def test_an_engine_that_cannot_be_started_is_reported(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    exits = []

    async def start() -> None:
        process = EngineProcess([])
        process.on_exit = lambda: exits.append(1)
        await process.has_ended()

    wait_for(start())
    assert exits == [1]
