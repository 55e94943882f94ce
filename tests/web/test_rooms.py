"""Rooms and their engine processes: who hears what, what ends when a page is closed, what is kept."""

import os
import signal
from collections.abc import Iterator

import pytest

pytest.importorskip("aiohttp")

from tests.web.talk import Server, served_by


@pytest.fixture(scope="module")
def two_boards() -> Iterator[Server]:
    with served_by("--boards", "2", "--game", "tictactoe") as running:
        yield running


def test_the_first_page_is_told_everything(two_boards: Server) -> None:
    with two_boards.page() as page:
        hello = page.until("hello")
        assert [game["name"] for game in hello["games"]][:2] == ["connect4", "go"]
        assert len(hello["games"]) == 7
        assert (hello["lost"], hello["run"]) == (False, None)
        view = page.until("view")
        assert (view["game"], view["person"], view["legal"]) == ("tictactoe", "black", list(range(9)))


def test_a_game_is_kept_without_pages_and_without_an_engine(two_boards: Server) -> None:
    with two_boards.page() as page:
        room = page.until("hello")["room"]
        page.until("view")
        page.send(do="play", vertex="B2")
        assert page.until("view")["thinking"]
        played = page.until("view")["stones"]
        for number in two_boards.engines():
            os.kill(number, signal.SIGKILL)
        assert "Your game is kept" in page.until("lost")["text"]
    with two_boards.page(room) as page:
        assert not page.until("hello")["lost"]
        assert page.until("view")["stones"] == played
        page.send(do="undo")
        assert page.until("view")["stones"] == played  # taken up again
        assert page.until("view")["stones"] == [0] * 9


def test_an_unknown_game_is_a_new_one(two_boards: Server) -> None:
    with two_boards.page("../../etc/passwd") as page:
        hello = page.until("hello")
        assert hello["lost"]
        assert "passwd" not in hello["room"]


def test_more_boards_than_engines(two_boards: Server) -> None:
    with two_boards.page() as one, two_boards.page() as two:
        one.until("view")
        two.until("view")
        with two_boards.page() as three:
            assert "2 boards are open with an engine each" in three.until("refused")["text"]
        two.send(do="play", vertex="A1")
        assert two.until("view")["number"] == 1


def test_a_closed_page_ends_its_analysis(two_boards: Server) -> None:
    with two_boards.page() as page:
        room = page.until("hello")["room"]
        page.until("view")
        page.send(do="new", setup={"game": "go", "size": 9, "person": "both"})
        page.send(do="analyse", on=True)
        page.until("look")
    with two_boards.page(room) as page:
        page.send(do="view")
        while page.until("view")["analysing"]:
            page.send(do="view")


def test_looks_go_to_every_page_of_a_game(two_boards: Server) -> None:
    with two_boards.page() as one:
        room = one.until("hello")["room"]
        with two_boards.page(room) as two:
            one.send(do="hint")
            assert two.until("look")["hint"]
            assert one.until("look")["moves"][0]["vertex"] in {"A1", "A2", "A3", "B1", "B2", "B3", "C1", "C2", "C3"}


def test_a_move_for_a_position_that_is_no_longer_there_is_refused(two_boards: Server) -> None:
    with two_boards.page() as page:
        view = page.until("view")
        page.send(do="new", setup={"game": "tictactoe", "person": "both"})
        view = page.until("view")
        page.send(do="play", vertex="a1", at=view["at"])
        moved = page.until("view")
        page.send(do="play", vertex="b2", at=view["at"])
        assert "has changed since that click" in page.until("refused")["text"]
        page.send(do="play", vertex="b2", at=moved["at"])
        assert page.until("view")["number"] == 2


def test_a_game_survives_a_new_one_that_is_refused_after_its_engine_has_ended(two_boards: Server) -> None:
    with two_boards.page() as page:
        page.until("view")
        page.send(do="new", setup={"game": "tictactoe", "person": "both"})
        page.until("view")
        page.send(do="play", vertex="a1")
        page.until("view")
        for engine in two_boards.engines():
            os.kill(engine, signal.SIGKILL)
        page.until("lost")
        page.send(do="new", setup={"game": "tictactoe", "level": 99})
        page.until("refused")
        page.send(do="play", vertex="b2")
        while (report := page.until("view", "refused"))["is"] == "view" and report["number"] < 2:
            pass  # the views of the game that came back
        assert report["is"] == "view"
