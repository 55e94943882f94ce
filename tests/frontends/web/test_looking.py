"""Analysis, review and records in Chromium."""

import re
from collections.abc import Callable
from pathlib import Path

import pytest

pytest.importorskip("playwright")

from playwright.sync_api import expect

from tests.frontends.web.site import DESKTOP, Tab

pytestmark = pytest.mark.chromium

RECORD = (
    "(;GM[1]FF[4]CA[UTF-8]SZ[7]KM[9]C[A short game];B[dd]C[the middle];W[ee](;B[aa]C[é];W[de])(;B[ed];W[de];B[ga]))"
)

PRESS = """([key, count]) => {
    for (let left = count; left; left--) document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }));
}"""


def test_analysis_on_and_off(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7)
    switch = page.page.get_by_role("switch", name="Analysis")
    switch.check()
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    expect(page.page.locator(".shudan-heatlabel").first).to_be_visible()
    assert page.page.locator(".shudan-paint").count() > 0
    page.page.locator(".moves tbody tr").first.hover()
    expect(page.page.locator(".shudan-marker_label").first).to_be_visible()  # the expected line
    page.page.mouse.move(5, 5)
    page.page.get_by_role("checkbox", name="details").check()
    expect(page.page.locator(".moves thead")).to_contain_text("Visits")
    page.page.get_by_label("On the board").select_option("policy")
    page.page.mouse.move(5, 5)  # the list has grown, and a move under the pointer would show its line instead
    expect(page.page.locator(".shudan-heatlabel").first).to_have_text(re.compile(r"^\d+(\.\d)?$"))
    page.page.get_by_label("On the board").select_option("moves")
    page.page.get_by_label("whose area").uncheck()
    expect(page.page.locator(".shudan-paint")).to_have_count(0)
    with page.hears("view"):
        switch.click()
    assert page.view["analysing"] is False
    expect(page.page.locator(".moves")).to_have_count(0)
    expect(page.page.locator(".shudan-heatlabel")).to_have_count(0)


def test_analysis_goes_on_while_playing(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Tic-tac-toe")
    page.page.get_by_role("switch", name="Analysis").check()
    page.click(4)
    page.wait("person", 2)
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    assert next(report for report in reversed(page.reports) if report["is"] == "look")["node"] == page.view["at"]
    page.page.get_by_role("switch", name="Analysis").uncheck()


CONTRASTS = """(marks) => {
    const parts = (colour) => colour.match(/[\\d.]+/g).slice(0, 3).map(Number);
    const light = (colour) => colour.map((part) => ((part / 255 + 0.055) / 1.055) ** 2.4)
        .reduce((sum, part, index) => sum + part * [0.2126, 0.7152, 0.0722][index], 0);
    const wood = parts(getComputedStyle(document.querySelector(".shudan-goban-image")).backgroundColor);
    return marks.map((mark) => {
        const { borderTopColor, opacity } = getComputedStyle(mark);
        const edge = parts(borderTopColor).map((part, index) => opacity * part + (1 - opacity) * wood[index]);
        return (light(wood) + 0.05) / (light(edge) + 0.05);
    });
}"""


def test_the_marks_of_whites_area_are_seen_on_wood(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 7, person="both")
    page.click(24)
    page.wait("person", 1)
    page.click(10)
    page.wait("person", 2)
    page.page.get_by_role("switch", name="Analysis").check()
    marks = page.page.locator(".shudan-sign_0.shudan-paint_-1 .shudan-paint .shudan-inner")
    expect(marks.first).to_be_visible()
    assert min(marks.evaluate_all(CONTRASTS)) > 3, "the least for parts of a picture (WCAG 1.4.11)"
    page.page.get_by_role("switch", name="Analysis").uncheck()


def test_the_moves_that_are_listed_are_in_the_order_of_their_numbers(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 9, person="both")
    page.click(24)
    page.wait("person", 1)
    page.page.get_by_role("switch", name="Analysis").check()
    while page.reports[-1].get("visits", 0) < 300:
        with page.hears("look"):
            pass
    # in one piece of JavaScript, so of one look, although others follow it: a locator asks twice
    found = "selector => [...document.querySelectorAll(selector)].map(one => [one.tagName, one.innerText.split(' ')[0]])"
    texts = page.page.evaluate(found, ".moves tbody tr > :nth-child(2), .shudan-heatlabel")
    numbers = [(tag, float(text)) for tag, text in texts]
    chances, labels = ([number for tag, number in numbers if (tag == "TD") == is_cell] for is_cell in (True, False))
    assert len(chances) >= 2
    assert chances == sorted(chances, reverse=True)
    assert sorted(labels, reverse=True) == chances[: len(labels)]
    assert len(labels) == min(5, len(chances))
    page.page.get_by_role("checkbox", name="details").check()
    expect(page.page.locator(".moves thead")).to_contain_text("Visits")
    cells = page.page.evaluate(found, ".moves tbody tr > :nth-child(4)")
    visits = [float(cell.replace("K", "e3")) for _, cell in cells]
    assert visits == sorted(visits, reverse=True)
    page.page.get_by_role("checkbox", name="details").uncheck()
    page.page.get_by_role("switch", name="Analysis").uncheck()


def test_a_record_is_walked_through_and_reviewed(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Go", 7).load(tmp_path, RECORD)
    page.shows("0 / 4").shows("No opponent: every move is yours")
    comment = page.page.get_by_label("Comment on this position")
    expect(comment).to_have_value("A short game")
    page.press("Forward one move").shows("1 / 4")
    expect(comment).to_have_value("the middle")
    page.press("Forward one move").shows("2 / 4")
    expect(page.page.locator(".shudan-ghost_faint")).to_have_count(2)  # the moves that follow
    page.press("Forward one move").shows("3 / 4")
    page.page.locator(".tree").press("ArrowDown")
    page.shows("3 / 5").press("First position").shows("0 / 5")
    page.page.get_by_label("How thoroughly").select_option("25")
    page.press("Analyse all moves").shows("All positions are analysed this well.").shows("Moves that lost most")
    expect(page.page.locator(".graph .chance")).to_have_count(1)
    assert all(point is not None for point in page.view["graph"])
    worst = page.page.locator(".worst li")
    assert worst.first.evaluate("item => getComputedStyle(item).listStyleType") == "none", "moves have numbers already"
    page.page.locator(".worst .link").first.click()
    expect(page.page.locator(".shudan-marker_label").first).to_be_visible()
    page.picture("review")


def test_mistakes_are_shown_by_side_and_stepped_through(tab: Callable[..., Tab], tmp_path: Path) -> None:
    """White fills the corners: mistakes, all of them White's."""
    page = tab().begin("Go", 7).load(tmp_path, "(;GM[1]SZ[7]KM[9];B[dd];W[aa];B[ec];W[ag];B[ce])").shows("0 / 5")
    page.page.get_by_label("How thoroughly").select_option("25")
    page.shows(re.compile("^6 positions take about .* on this machine")).press("Analyse all moves")
    page.press("Next mistake").shows("1 / 5").shows(re.compile(r"White played A7: −\d+ % win chance, −[\d.]+ points"))
    expect(page.page.locator(".shudan-vertex[data-x='0'][data-y='0'] .shudan-heatlabel")).to_have_text(re.compile("^−"))
    expect(page.page.locator(".shudan-marker_label").first).to_be_visible()
    page.page.keyboard.press("n")
    page.shows("3 / 5").shows(re.compile("White played A1"))
    page.page.keyboard.press("Shift+N")
    page.shows("1 / 5").press("Forward one move").shows("2 / 5").shows(re.compile("^White A7: −"))
    expect(page.page.locator("[class*=shudan-heat_dot]")).to_have_count(2)
    assert page.page.locator(".graph .graded").count() >= 2
    expect(page.page.locator(".grades thead th")).to_have_count(2)
    page.page.get_by_label("Moves of").select_option("black")
    expect(page.page.locator(".grades thead th")).to_have_count(1)
    expect(page.page.locator(".worst li")).to_have_count(0)
    expect(page.page.get_by_role("button", name="Next mistake")).to_be_disabled()


def test_names_event_and_comments_of_a_record_are_shown(tab: Callable[..., Tab], tmp_path: Path) -> None:
    text = "(;GM[1]SZ[7]PB[Ann]BR[3k]PW[Bo]WR[2d]EV[Club final]RE[B+3.5]C[A start];B[dd])"
    page = tab().begin("Go", 7).load(tmp_path, text)
    expect(page.page.locator(".players")).to_have_text(re.compile("Black: Ann 3k.*White: Bo 2d"))
    page.shows("Club final").shows("B+3.5")
    expect(page.page.locator(".said")).to_have_text("A start")
    _, saved = page.saved()
    for kept in ("PB[Ann]", "BR[3k]", "WR[2d]", "EV[Club final]", "RE[B+3.5]"):
        assert kept in saved


def test_a_comment_typed_while_the_engine_thinks_stays_with_its_move(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Go", 19, level="20")
    page.click(72)
    page.wait("engine", 1)
    box = page.page.locator(".comment textarea")
    box.press_sequentially("while it")
    page.wait("person", 2)
    box.press_sequentially(" thinks")
    expect(page.page.get_by_label("Comment on an earlier position")).to_have_value("while it thinks")
    box.blur()
    expect(page.page.get_by_label("Comment on this position")).to_have_value("")
    page.page.keyboard.press("ArrowLeft")
    page.wait("person", 1)
    expect(box).to_have_value("while it thinks")
    page.page.reload()
    expect(box).to_have_value("while it thinks")


def test_a_record_of_another_game(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Connect-4", person="both")
    page.click(3)
    page.wait("person", 1)
    _, text = page.saved()
    assert text == "# connect4 7x6\nblack D1\n"
    page.load(tmp_path, text + "white D2\n", "moves.txt").shows("0 / 2").press("Forward one move").shows("1 / 2")
    page.press("New game").press("Start").shows("0 / 0")
    page.page.get_by_label("A record to open").set_input_files(tmp_path / "moves.txt")
    page.shows("1 / 2")  # as it was left
    page.load(tmp_path, text + "white D1\n", "moves.txt")
    page.shows("Move 2 of this file, 'white D1', cannot be played in connect4 on 7x6.")
    page.shows("1 / 2")


def test_files_that_are_no_records(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Go", 7)
    page.load(tmp_path, "no record").shows(re.compile("^This file is neither SGF nor a list of moves"))
    page.load(tmp_path, "(;GM[1]SZ[7]" + " " * 1_000_001 + ")").shows(re.compile(r"a record has at most 1,000,000\.$"))
    page.load(tmp_path, "(;GM[1]SZ[7]AB[aa];W[aa])").shows(
        "Line 1, column 19: move 1, white A7, cannot be played in go on 7x7."
    )
    page.load(tmp_path, "\0" * 900_000).shows(re.compile("^This file is neither SGF nor"))
    page.click(24)
    page.wait("person", 2)


def test_a_record_of_long_words_in_utf_16_stays_on_the_page(tab: Callable[..., Tab], tmp_path: Path) -> None:
    text = f"(;SZ[7]PB[Müller]EV[{'e' * 400}];B[dd])"
    page = tab().begin("Go", 7).load(tmp_path, text, encoding="utf-16").shows("Black: Müller")
    width = page.page.evaluate("document.documentElement.scrollWidth")
    assert width <= DESKTOP["width"]


def test_a_game_of_a_collection_is_chosen(tab: Callable[..., Tab], tmp_path: Path) -> None:
    games = "(;GM[1]SZ[7]PB[Ann]PW[Bo];B[aa])(;GM[1]SZ[7]PB[Cy]PW[Di]XX[kept];B[dd];W[ee])"
    page = tab().begin("Go", 7).load(tmp_path, games, "two games.sgf").shows("This file has 2 games")
    page.page.get_by_label("Game", exact=True).select_option("1")
    page.picture("collection")
    page.press("Open").shows("0 / 2").shows("Game 2 of 2.").shows("Black: Cy")
    page.press("Forward one move").shows("1 / 2")
    page.click(0)
    page.wait("person", 2)
    name, saved = page.saved()
    assert name == "two games.sgf"
    for kept in ("PB[Ann]", "XX[kept]", "W[ee]", "W[aa]"):
        assert kept in saved
    page.load(tmp_path, games).shows("This file has 2 games").press("Cancel").shows("2 / 2")


def test_keys_walk_through_the_game_after_the_analysis_was_switched(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Go", 7).load(tmp_path, RECORD).shows("0 / 4")
    page.page.get_by_role("switch", name="Analysis").check()
    page.page.keyboard.press("ArrowRight")
    page.shows("1 / 4")
    page.page.keyboard.press("a")
    expect(page.page.get_by_role("switch", name="Analysis")).not_to_be_checked()


def test_no_key_is_lost_however_fast_it_repeats(tab: Callable[..., Tab], tmp_path: Path) -> None:
    moves = "".join(f";{'BW'[number % 2]}[{'abcdefg'[number % 7]}{'bdf'[number // 7]}]" for number in range(20))
    page = tab().begin("Go", 7).load(tmp_path, f"(;GM[1]SZ[7]{moves})").shows("0 / 20")
    page.page.evaluate(PRESS, ["ArrowRight", 17])
    page.shows("17 / 20")
    page.page.evaluate(PRESS, ["ArrowLeft", 12])
    page.shows("5 / 20")
    page.page.get_by_role("button", name="Forward one move").click(click_count=3)
    page.shows("8 / 20")


def test_a_running_game_is_in_the_list_after_a_record_and_goes_on_from_there(
    tab: Callable[..., Tab], tmp_path: Path
) -> None:
    page = tab().begin("Go", 7)
    page.click(24)
    page.wait("person", 2)
    stones, running = page.view["stones"], page.view["identity"]
    page.load(tmp_path, RECORD).shows("0 / 4").shows("You can continue your previous game from My games.")
    page.press("My games")
    row = page.page.get_by_role("listitem").filter(has=page.page.locator(f'[href="?game={running}"]'))
    expect(row).to_contain_text("in progress")
    expect(row).to_contain_text("against level 1 · 2 moves")
    page.picture("my games")
    row.get_by_role("link").click()
    page.wait("person", 2)
    assert (page.view["identity"], page.view["stones"]) == (running, stones)
    page.click(next(point for point in page.view["legal"] if point not in (0, 6)))
    page.wait("person", 4)


def test_a_game_that_only_the_browser_has_is_restored_and_another_deleted(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Tic-tac-toe", person="both")
    page.click(4)
    page.wait("person", 1)
    gone, other = page.view["identity"], "0123456789abcdef"
    page.page.evaluate(
        "names => { const text = localStorage[`gozero game ${names[0]}`];"
        " localStorage[`gozero game ${names[1]}`] = text.replaceAll(...names); }",
        [gone, other],
    )
    page.press("My games").page.locator(f'[href="?game={other}"]').click()
    page.shows("Your browser restored it.").wait("person", 1)
    assert page.view["identity"] == other
    page.press("My games")
    row = page.page.get_by_role("listitem").filter(has=page.page.locator(f'[href="?game={gone}"]'))
    row.get_by_role("button", name="Delete Tic-tac-toe on 3×3").click()
    row.get_by_role("button", name="Really delete").click()
    expect(row).to_have_count(0)
    page.open(page.page.url.replace(other, gone)).shows("was not found").wait("person", 0)


def test_the_position_of_a_resignation_is_analysed_and_played_on_from(tab: Callable[..., Tab]) -> None:
    page = tab().begin("Tic-tac-toe")
    page.press("Resign").press("Resign the game").wait("over", 0)
    page.page.get_by_role("switch", name="Analysis").check()
    expect(page.page.locator(".moves tbody tr").first).to_be_visible()
    page.click(4)
    page.wait("person", 1).shows("White to move")
    expect(page.page.get_by_text("your turn")).to_have_count(0)
    page.press("Undo").wait("over", 0).press("Play from here").wait("person", 0)
    page.click(0)
    page.wait("person", 2).shows("Your turn: Black")
    page.page.get_by_role("switch", name="Analysis").uncheck()


def test_the_graph_can_be_clicked(tab: Callable[..., Tab], tmp_path: Path) -> None:
    page = tab().begin("Go", 7).load(tmp_path, RECORD).shows("0 / 4")
    box = page.page.locator(".graph svg").bounding_box()
    assert box is not None
    page.page.mouse.click(box["x"] + box["width"] - 6, box["y"] + 20)
    page.shows("4 / 4")
