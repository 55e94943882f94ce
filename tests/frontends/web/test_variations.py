"""Variations and marks: their shape on the page, what a page may do to them, and what is saved of it."""

from datetime import date

import pytest

from gozero.frontends.web.engine import records, variations
from gozero.frontends.web.engine.game_tree import START, Estimate
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.setups import Setup, setup_of
from gozero.games.colours import BLACK, WHITE
from gozero.system.errors import InputError
from tests import ROOT
from tests.frontends.web.sessions import opened, restored

KINDS = ROOT / "tests" / "data" / "kinds"
TREE = """(;SZ[9]C[start]TR[aa];B[ee](;W[cc]LB[gg:1][gh:x];B[gc])(;C[about];W[gg];B[cg](;W[gc])(;W[cc]))
(;W[ge];AB[aa][bb];W[dd]))"""
UNPLAYABLE = ("(;SZ[9]AB[dd](;W[ee])(;W[dd];B[cc]))", "(;SZ[9];B[aa](;C[x])(;W[aa]))")


def content(session: GameSession) -> list[tuple[object, ...]]:
    """All that a file holds of a tree, in its order."""
    tree, report = session.tree, variations.shape(session)
    nodes = [tree[number] for number in report["nodes"]]
    return [
        (parent, node.colour, node.action, node.comment, node.marks)
        for parent, node in zip(report["parents"], nodes, strict=True)
    ]


def moves_of(session: GameSession, *vertices: str) -> GameSession:
    session.go_to(START)
    for vertex in vertices:
        session.play(session.action(vertex))
    return session


@pytest.mark.parametrize("text", [TREE, *UNPLAYABLE, *(path.read_bytes() for path in sorted(KINDS.glob("*.sgf")))])
def test_what_is_promoted_deleted_and_marked_is_saved_into_the_file(text: str | bytes) -> None:
    for is_deleted in (False, True):
        for number in variations.shape(opened(text)[0])["nodes"][1:]:
            found = opened(text)[0]
            variations.promote(found, number)
            found = restored(found)
            assert number in found.tree.line(START)
            variations.mark(found, number, 7, "CR")
            variations.mark(found, START, 0, "LB")
            if is_deleted:
                variations.delete(found, number)
            assert content(opened(records.save(found, "")[1])[0]) == content(restored(found)) == content(found)


def test_a_new_variation_is_the_main_line_of_its_file() -> None:
    found = moves_of(opened(TREE)[0], "E5", "J9")
    variations.promote(found, found.at)
    _, text, _ = records.save(found, "")
    assert content(opened(text)[0]) == content(found)
    assert "".join(text.split()).index(";W[ia]") < text.replace("\n", "").index(";W[cc]")
    variations.promote(found, 4)  # White G3, behind which stones are set up in the file
    assert opened(records.save(found, "")[1])[0].tree.moves(1) == [(BLACK, 40)]


def test_marks_that_are_not_touched_stay_as_they_are_written() -> None:
    text = "(;SZ[9]TR[aa:bb][zz]SQ[cc]LB[cc:a\\:b][dd:2]CR[ee]SL[ee])"
    found = opened(text)[0]
    assert found.tree[START].marks == {
        **dict.fromkeys((0, 1, 9, 10), "TR"), 20: "LB:a:b", 30: "LB:2", 40: "CR",
    }  # fmt: skip
    variations.mark(found, START, 40, "CR")  # off
    variations.mark(found, START, 40, "LB")
    variations.mark(found, START, 10, "MA")
    _, saved, _ = records.save(found, "")
    assert "TR[aa][ba][ab][zz]SQ[cc]LB[cc:a\\:b][dd:2][ee:A]MA[bb]SL[ee]" in "".join(sorted_root(saved))
    assert opened(saved)[0].tree[START].marks == found.tree[START].marks


def sorted_root(text: str) -> list[str]:
    """The marks of a file's first node, in the order of this test."""
    properties = records.RecordFile(text).games[0].root.properties
    return [name + "".join(f"[{value}]" for value in properties[name]) for name in ("TR", "SQ", "LB", "MA", "SL")]


def test_a_mark_goes_where_it_is_put_a_second_time_and_letters_follow_each_other() -> None:
    found = GameSession(Setup(person="both"), 9, [9])
    for point in (3, 4, 5):
        variations.mark(found, START, point, "LB")
    variations.mark(found, START, 4, "LB")
    variations.mark(found, START, 3, "SQ")
    variations.mark(found, START, 8, "LB")
    assert found.tree[START].marks == {3: "SQ", 5: "LB:C", 8: "LB:A"}
    for number, point, name in ((9, 0, "TR"), (START, 81, "TR"), (START, "A1", "TR"), (START, 3, "XX")):
        with pytest.raises(InputError):
            variations.mark(found, number, point, name)
    for point in range(9, 9 + 50):
        variations.mark(found, START, point, "LB")
    with pytest.raises(InputError, match="letters"):
        variations.mark(found, START, 3, "LB")
    assert found.tree[START].marks[3] == "SQ"


def test_a_game_that_is_played_keeps_its_line_until_it_is_over() -> None:
    found = GameSession(setup_of({}), 9, [9])
    found.play(found.action("E5"))
    found.reply(WHITE, found.action("C3"))
    found.resign(BLACK)
    moves_of(found, "A1")
    other = found.at
    found.go_to(2)
    found.undo()
    assert found.is_going_on
    for refused, number in ((variations.delete, 1), (variations.promote, other), (variations.delete, START)):
        with pytest.raises(InputError):
            refused(found, number)
    assert found.tree.line(START) == [START, 1, 2]
    found.resign(BLACK)
    variations.promote(found, other)
    assert restored(found).tree.line(START) == [START, other]
    variations.delete(found, 2)
    assert (found.at, found.live, found.ended, found.is_over) == (1, None, None, False)
    found = restored(found)
    variations.delete(found, other)
    assert found.tree.line(START) == [START, 1]


def test_comments_marks_and_mistakes_are_signed() -> None:
    found = moves_of(GameSession(Setup(game="tictactoe", person="both"), 3, [3]), "B2", "A1", "C3")
    for number, chance in ((START, 0.5), (1, 0.5), (2, 0.7), (3, 0.65)):
        found.tree.learn(number, Estimate(10, chance, None, (8,)))
    found.tree[1].comment = "x"
    variations.mark(found, 2, 0, "TR")
    report = variations.shape(moves_of(found, "B2", "C1"))
    assert {name: report[name] for name in ("nodes", "parents", "colours", "signs")} == {
        "nodes": [0, 1, 2, 3, 4], "parents": [-1, 0, 1, 2, 1], "colours": "01212", "signs": "01300",
    }  # fmt: skip


def test_a_list_of_moves_says_what_it_leaves_out() -> None:
    found = moves_of(GameSession(Setup(game="hex", size=5, person="both"), 5, [5]), "A1", "B2")
    for _ in range(2):  # on and off
        assert bool(records.save(found, "")[2]) == bool(found.tree[START].marks)
        variations.mark(found, START, 3, "TR")
    moves_of(found, "C3")
    found.go_to(1)
    _, text, remark = records.save(found, "", date(2026, 1, 1))
    assert text.endswith("black A1\nwhite B2\n") and remark
    go = moves_of(GameSession(Setup(person="both"), 9, [9]), "E5")
    variations.mark(go, START, 3, "TR")
    _, text, remark = records.save(go, "")
    assert "TR[da]" in text and not remark


def test_another_end_does_not_keep_the_result_of_the_one_before() -> None:
    for act, number in ((variations.promote, 6), (variations.delete, 5)):
        found = moves_of(GameSession(Setup(game="tictactoe", person="both"), 3, [3]), "A1", "A2", "B1", "B2", "C1")
        found.results[found.end] = "B+"
        moves_of(found, "A1", "A2", "B1", "B2", "C3")
        found.go_to(START)
        variations.promote(found, 5)
        assert restored(found).results[found.end] == "B+"
        act(found, number)
        assert restored(found).results[found.end] == ""
