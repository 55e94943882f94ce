"""Games on disk: a server that is killed, files that cannot be read or written, deleted and old ones."""

import asyncio
import json
import math
import os
import signal
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, TypeVar

import pytest

pytest.importorskip("aiohttp")

from gozero.frontends.web.server import stored_games
from gozero.frontends.web.server.stored_games import FORMAT, SUFFIX, StoredGames
from tests.frontends.web.talk import served_by

T = TypeVar("T")
ONE, TWO = "1" * 16, "2" * 16
TITLE = {
    "played": 1.0, "game": "go", "cols": 9, "rows": 9, "person": "black", "level": 5, "engine": "", "record": "",
    "moves": 1, "goesOn": False, "result": "W+R",
}  # fmt: skip


def run(act: Callable[[], Awaitable[T]]) -> T:
    """Its result, from a loop of its own: Playwright may have one in this thread."""

    async def wait() -> T:
        return await act()

    with ThreadPoolExecutor(1) as pool:
        return pool.submit(lambda: asyncio.run(wait())).result()


def snapshot(identity: str, played: float = 1.0, **more: Any) -> dict[str, Any]:
    return {"setup": {}, "game": {"identity": identity}, "title": {**TITLE, "played": played, **more}}


def write(folder: Path | None, *snapshots: dict[str, Any]) -> tuple[list[dict[str, Any]], list[str]]:
    """Store the snapshots and end; the list as it is then, and what was said of faults."""
    faults: list[str] = []

    async def act() -> list[dict[str, Any]]:
        stored = StoredGames(folder, faults.append)
        for saved in snapshots:
            stored.put(saved)
        listed = await stored.titles()
        await stored.close()
        return listed

    return run(act), faults


def test_a_game_goes_on_after_its_server_and_its_engine_were_killed(tmp_path: Path) -> None:
    options = ("--game", "tictactoe", "--games", str(tmp_path))
    with served_by(*options) as first, served_by(*options) as second:
        with first.page() as page:
            view = page.until("view")
            page.send(do="play", vertex="b2")
            while (view := page.until("view"))["number"] < 2:
                pass
            game = view["identity"]
            page.send(do="list")
            assert [found["moves"] for found in page.until("list")["games"]] == [2]
            while not (found := list(tmp_path.glob(f"{game}*"))) or '"moves":2' not in found[0].read_text("utf-8"):
                page.send(do="view")
                page.until("view")
            for number in (first.process.pid, *first.engines()):
                os.kill(number, signal.SIGKILL)
            first.process.wait()
        with second.page(game) as page:
            assert not page.until("hello")["lost"]
            again = page.until("view")
            assert {again[name] == view[name] for name in ("identity", "stones", "turn", "line", "person")} == {True}
            page.send(do="play", vertex="A1" if again["stones"][6] == 0 else "A2")
            while page.until("view")["number"] < 4:
                pass
            page.send(do="delete-game", identity=game)
            assert "open in a window" in page.until("refused")["text"]
            assert [found["moves"] for found in page.until("list")["games"]] == [4]
        with second.page() as page:
            page.send(do="delete-game", identity=game)
            while page.until("list")["games"]:  # the window is still being closed
                page.send(do="delete-game", identity=game)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("identity", ["../../x", "", "1" * 7, "g" * 16])
def test_an_identity_is_no_path(identity: str, tmp_path: Path) -> None:
    folder = tmp_path / "data" / "games"
    assert write(folder, snapshot(identity)) == ([], [])
    assert list(tmp_path.iterdir()) == []
    write(folder, snapshot(ONE))
    path = (folder / f"{ONE}{SUFFIX}").rename(folder / f"{identity}{SUFFIX}")

    async def act() -> Any:
        stored = StoredGames(folder, pytest.fail)
        await stored.delete(identity)
        return await stored.get(identity)

    assert run(act) is None and path.exists()


def test_a_game_without_a_move_is_not_on_disk(tmp_path: Path) -> None:
    assert write(tmp_path / "games", {**snapshot(ONE), "title": None}) == ([], [])
    assert not (tmp_path / "games").exists()


def test_the_game_played_last_comes_first(tmp_path: Path) -> None:
    listed, _ = write(tmp_path, snapshot(ONE, 5.0), snapshot(TWO, 7.0), snapshot(ONE, 6.0, moves=3))
    assert [(game["identity"], game["played"], game["moves"]) for game in listed] == [
        (TWO, 7.0, 1),
        (ONE, 6.0, 3),
    ]


@pytest.mark.parametrize(
    "text",
    [
        json.dumps({"format": FORMAT + 1, "title": {"played": 1}}),
        *(json.dumps({"format": FORMAT, "title": TITLE | {name: 5.5}}) for name in TITLE if name != "played"),
        json.dumps({"format": FORMAT, "title": TITLE | {"played": math.nan}}),
        json.dumps({"format": FORMAT, "title": {**TITLE, "played": 5.5}}).replace("5.5", "1e999"),
        '{"format": 1, "title": {"pl',
        '{"format": 1, "title": {}}',
        "[]",
        "",
        "\udcff",
    ],
)
def test_a_file_that_cannot_be_read_is_left_out_and_named_once(
    text: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{ONE}{SUFFIX}"
    path.write_bytes(text.encode(errors="surrogateescape"))

    async def act() -> tuple[Any, Any, Any]:
        stored = StoredGames(tmp_path, pytest.fail)
        return await stored.titles(), await stored.get(ONE), await stored.titles()

    assert run(act) == ([], None, [])
    said = capsys.readouterr().err
    assert str(path) in said
    assert said.count("\n") == 1


def test_a_file_of_another_name_is_no_game(tmp_path: Path) -> None:
    write(tmp_path, snapshot(ONE))
    text = (tmp_path / f"{ONE}{SUFFIX}").read_text("utf-8")
    (tmp_path / f"{ONE} (copy){SUFFIX}").write_text(text, "utf-8")

    async def act() -> tuple[list[str], Any]:
        stored = StoredGames(tmp_path, pytest.fail)
        return [game["identity"] for game in await stored.titles()], await stored.get(ONE)

    assert run(act) == ([ONE], snapshot(ONE))


def test_a_file_is_the_game_of_its_name(tmp_path: Path) -> None:
    head = {"format": FORMAT, "title": {"played": 1}}
    (tmp_path / f"{ONE}{SUFFIX}").write_text(f'{json.dumps(head)}\n{{"setup": {{}}, "game": {{}}, "title": {{}}}}\n')

    async def act() -> Any:
        return await StoredGames(tmp_path, pytest.fail).get(ONE)

    assert run(act)["game"] == {"identity": ONE}


def test_a_game_that_cannot_be_written_stays_in_memory_and_is_written_later(tmp_path: Path) -> None:
    folder = tmp_path / "games"
    folder.write_text("a file in place of the folder")
    faults: list[str] = []

    async def act() -> tuple[dict[str, Any] | None, dict[str, Any] | None]:
        stored = StoredGames(folder, faults.append)
        for moves in (1, 2):  # which is said once
            stored.put(snapshot(ONE, moves=moves))
        in_memory = await stored.get(ONE)
        folder.unlink()
        stored.put(snapshot(TWO))
        await stored.close()
        return in_memory, await StoredGames(folder, faults.append).get(ONE)

    assert run(act) == (snapshot(ONE, moves=2), snapshot(ONE, moves=2))
    assert len(faults) == 1
    assert str(folder) in faults[0]


def test_the_oldest_games_are_deleted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_games, "MOST_FILES", 2)
    kept = ("other.txt", f"{ONE}{SUFFIX}.bak", f"copy{SUFFIX}")  # are not the server's
    for age, name in enumerate((f"{ONE}{SUFFIX}", f"{TWO}{SUFFIX}", *kept), start=1):
        write(tmp_path, snapshot(ONE)) if age == 1 else (tmp_path / name).write_text("x")
        os.utime(tmp_path / name, (4e9 + age, 4e9 + age))  # the clock was set back since
    write(tmp_path, snapshot("3" * 16))
    assert {path.name for path in tmp_path.iterdir()} == {*kept, f"{TWO}{SUFFIX}", f"{'3' * 16}{SUFFIX}"}


def test_without_a_folder_the_games_changed_last_are_in_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stored_games, "MOST_IN_MEMORY", 2)
    listed, faults = write(None, *(snapshot(str(number) * 16, number) for number in range(4)))
    assert ([game["played"] for game in listed], faults) == ([3, 2], [])
