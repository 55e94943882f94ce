"""What a page may do while the engine chooses its move, and what ends that thought."""

import math
from collections.abc import Callable
from dataclasses import replace
from itertools import count
from typing import Any, cast

import pytest

pytest.importorskip("aiohttp")

from gozero.evaluators.rollout import RolloutEvaluator
from gozero.frontends.web.engine.batch import Host
from gozero.frontends.web.engine.game_tree import START, Ended
from gozero.frontends.web.engine.handler import NO_MEMORY, RequestHandler, RequestQueue
from gozero.frontends.web.engine.searches import Searches
from gozero.frontends.web.engine.session import GameSession
from gozero.frontends.web.settings import EngineProcessSettings
from gozero.frontends.web.setups import setup_of
from gozero.games.colours import BLACK, EMPTY, WHITE
from gozero.play.searcher import Limits, never
from gozero.system.errors import ChoiceError, InputError
from tests.frontends.web.talk import Wire

STRONG = {"game": "go", "size": 7, "level": 20}
KOMI = count(0.5)
"""Of each strong game another one: the engine keeps its evaluations, and has thought at once where it knows them."""


SPREAD = "dd ee cc ec ce bb ff db df be fb fd".split()
"""Points of a game on 7x7."""


def test_work_that_fails_is_not_tried_again_before_somebody_asks() -> None:
    class FailingSearches:
        analyses, batch = True, [3, 4]

        def next_work(self) -> Callable[[], bool]:
            return self.fail

        def fail(self) -> bool:
            raise ChoiceError("the network cannot be opened")

        def stop(self) -> None:
            self.analyses, self.batch = False, []

    requests = RequestQueue()
    handler = RequestHandler(EngineProcessSettings(), requests, lambda report: None, lambda: None)
    handler._current = cast(Any, searches := FailingSearches())
    with pytest.raises(ChoiceError):
        handler._do(searches.fail)
    assert handler._next_work() is None
    assert (searches.analyses, searches.batch) == (False, [])
    with pytest.raises(InputError):
        handler.do({"do": "what no page asks for"})
    assert handler._next_work() is not None


def test_a_lack_of_memory_is_no_bug_and_told_to_pages_that_are_opened_later(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    reports: list[dict[str, Any]] = []

    def full(*arguments: object) -> None:
        raise RuntimeError("[enforce fail at alloc_cpu.cpp:127] err == 0. DefaultCPUAllocator: can't allocate memory")

    monkeypatch.setattr(RequestHandler, "_open", full)
    handler = RequestHandler(EngineProcessSettings(), RequestQueue(), reports.append, lambda: None)
    for request in ({"do": "restore", "saved": {"setup": {}}}, {"do": "view"}):
        handler._answer_to(request)
    assert ([report["text"] for report in reports], capsys.readouterr().err) == ([NO_MEMORY, NO_MEMORY], "")


def thought(answer: Callable[[GameSession, Limits], int], **setup: Any) -> tuple[bool, Ended | None]:
    """Whether the engine's first thought, which ends with this answer, has changed the game, and how that ended then.
    Another opponent thinks afterwards, but after a loss on time.
    """
    session = GameSession(setup_of({"game": "tictactoe", "person": "white", **setup}), 3, [3])
    host = Host(EngineProcessSettings(), {}, never, never, lambda report: None)
    searches = Searches(session, RolloutEvaluator, 1, host)
    _, opponent = searches._ready_opponent()
    opponent.genmove = lambda colour, limits, observer: answer(session, limits)  # type: ignore[method-assign]
    work = searches.next_work()
    assert work is not None
    has_moved, ended = work(), session.ended
    session.play_on()
    assert (searches._ready_opponent()[1] is opponent) == (ended is not None and ended.how == "time")
    return has_moved, ended


def test_an_opponent_that_has_resigned_plays_on_as_a_new_one() -> None:
    found = thought(lambda session, limits: session.game.definition.resign_action)
    assert found == (True, Ended(START, WHITE, "resignation"))


def test_an_engine_that_answers_too_late_has_lost() -> None:
    def answer(session: GameSession, limits: Limits) -> int:
        assert limits.deadline < math.inf
        session.clock.restore((0.0, 60.0))
        session.clock.start(BLACK, 0.0)
        return 4

    assert thought(answer, clock={"main": 60}) == (True, Ended(START, WHITE, "time"))


def test_another_level_lets_the_thought_begin_again() -> None:
    def answer(session: GameSession, limits: Limits) -> int:
        session.setup = replace(session.setup, level=1)
        assert limits.should_stop()
        return 4

    assert thought(answer) == (False, None)


def test_a_check_that_a_request_cuts_short_warns_of_nothing_and_is_made_again() -> None:
    session = GameSession(setup_of({"game": "tictactoe"}), 3, [3])
    session.play(4)
    session.unchecked = session.live
    host = Host(EngineProcessSettings(), {}, lambda: True, never, lambda report: None)
    work = Searches(session, RolloutEvaluator, 1, host).next_work()
    assert work is not None and not work()
    assert session.is_check_due and session.tree[START].estimate is None


def handling(requests: RequestQueue, **setup: Any) -> RequestHandler:
    """A game of this setup, and what answers its requests."""
    handler = RequestHandler(EngineProcessSettings(), requests, lambda report: None, lambda: None)
    handler.do({"do": "new", "setup": setup})
    return handler


@pytest.mark.parametrize("what", ["new", "rematch", "undo", "resign", "load", "review", "restore", "play-on", None])
def test_what_changes_the_game_cuts_the_thought_short_and_other_requests_are_answered(what: str | None) -> None:
    requests = RequestQueue()
    handler = handling(requests)
    requests.put({"do": "comment", "text": "meanwhile"})
    requests.put(request := {"do": what} if what else None)  # None: the end of the input
    assert handler._is_cut()
    assert (requests.get_nowait(), handler._session.tree[START].comment) == (request, "meanwhile")


def test_a_new_game_is_played_as_it_was_asked_for() -> None:
    handler = handling(RequestQueue())
    handler.do({"do": "analyse", "on": True})
    handler.do({"do": "level", "level": 7})
    for swap, person in ((False, BLACK), (True, WHITE), (True, BLACK)):
        handler.do({"do": "rematch", "swap": swap})
        assert (handler._session.person, handler._session.setup.level) == (person, 7)
        assert not handler._searches.is_analysing
    for warn, vertex in ((False, "E5"), (True, "C3")):
        handler.do({"do": "rematch"})
        handler.do({"do": "play", "vertex": vertex, "warn": warn})
        assert handler._session.is_check_due is warn
    handler = handling(RequestQueue(), person="both")
    handler.do({"do": "rematch", "swap": True})
    assert handler._session.person == EMPTY


def thinking(page: Wire) -> dict[str, Any]:
    """Begin a game against a strong level and play: the view in which the engine thinks about its answer."""
    page.begin(**STRONG, komi=next(KOMI))
    page.send(do="play", vertex="d4")
    view = page.until("view")
    assert view["thinking"]
    assert view["turn"] == "white"
    return view


def test_earlier_moves_records_and_comments_do_not_wait_for_the_engine(page: Wire) -> None:
    live = thinking(page)["at"]
    page.send(do="goto", node=0)
    view = page.until("view")
    assert (view["at"], view["live"], view["thinking"], view["line"]) == (0, live, True, [0, live])
    page.send(do="comment", text="while it thinks")
    page.send(do="save")
    text = page.until("record")["text"].replace("\n", "")
    assert "C[while it thinks]" in text
    assert text.endswith(";B[dd])")
    page.send(do="play", vertex="a1")
    assert page.until("refused")["text"].startswith("This is an earlier move")
    page.send(do="hint")
    assert page.until("refused")["text"].startswith("The engine is choosing its move")
    page.send(do="view")
    assert page.until("view")["thinking"]
    view = page.until("view")  # it has moved, in the last position; the page still looks at the first one
    assert (view["at"], view["thinking"], view["turn"], len(view["line"])) == (0, False, "black", 3)
    assert view["live"] == view["line"][-1]
    page.send(do="goto", node=view["live"])
    view = page.until("view")
    assert sorted(view["stones"]) == [0] * 47 + [1, 2]
    page.send(do="undo")
    assert page.until("view")["number"] == 0


def test_analysis_shows_the_engines_own_search(page: Wire) -> None:
    live = thinking(page)["at"]
    page.send(do="analyse", on=True)
    view = page.until("view")
    assert view["thinking"]
    assert view["analysing"]
    look = page.until("look", "view")
    assert (look["is"], look["node"], look["toPlay"]) == ("look", live, "white")
    page.send(do="analyse", on=False)


def test_handicap_stones_stand_where_the_engine_thinks(page: Wire) -> None:
    assert page.begin(game="go", size=9, level=1, handicap=4)["thinking"]
    view = page.until("view")
    assert sorted(view["stones"]) == [0] * 76 + [1] * 4 + [2]


def test_a_clock_ends_the_game_while_an_analysis_runs_and_undo_gives_the_time_back(page: Wire) -> None:
    page.begin(game="go", size=7, level=1, clock={"main": 0.4})
    page.send(do="analyse", on=True)
    view = page.until("view")
    while not view["over"]:
        view = page.until("view")
    assert (view["ending"]["winner"], view["ending"]["how"]) == ("white", "time")
    page.send(do="undo")
    view = page.until("view")
    assert (view["over"], view["goingOn"], view["turn"]) == (False, True, "black")
    assert 0 < view["clock"]["black"]["seconds"] <= 0.4
    page.send(do="analyse", on=False)


def test_the_graph_grows_while_a_game_is_analysed(page: Wire) -> None:
    page.begin(game="tictactoe", person="both")
    for vertex in ("b2", "a1"):
        page.send(do="play", vertex=vertex)
        line = page.until("view")["line"]
    page.send(do="batch", visits=20)
    view, graph = analysed(page)
    assert (view["speed"] or page.until("speed")["speed"]) > 0
    assert len(line) == len(graph)
    assert graph == view["graph"]
    assert all(0 <= point["black"] <= 1 and point["visits"] >= 20 for point in view["graph"])


def analysed(page: Wire) -> tuple[dict[str, Any], list[dict[str, Any] | None]]:
    """The view after an analysis of all moves that was just begun, and the graph that came last before it."""
    graph: list[dict[str, Any] | None] = []
    while not (report := page.until("view"))["batch"]:
        pass
    while (report := page.until("progress", "view"))["is"] == "progress":
        graph = report["graph"]
        assert 0 <= report["share"] <= 1
    return report, graph


def test_requests_are_answered_during_the_analysis_of_all_moves_and_stop_ends_it(page: Wire) -> None:
    page.begin(game="go", size=7, person="both")
    page.load(f"(;GM[1]SZ[7]{''.join(f';{colour}[{point}]' for colour, point in zip('BW' * 6, SPREAD, strict=True))})")
    line = page.until("view")["line"]
    page.send(do="batch", visits=10_000)
    assert page.until("progress")["share"] < 1
    page.send(do="goto", node=line[5])
    view = page.until("view")
    assert (view["at"], view["batch"]) == (line[5], True)
    page.send(do="stop")
    view = page.until("view")
    assert not view["batch"]
    assert None in view["graph"]


def test_the_end_of_a_game_is_judged_by_its_count(page: Wire) -> None:
    """As the board stands White is ahead, with the dead stone removed Black."""
    walls = "".join(f";B[e{row}];W[f{row}];B[c{row}];W[h{row}]" for row in "abcdefghi")
    page.begin(game="go", size=9, person="both")
    page.load(f"(;GM[1]SZ[9]KM[7.5]{walls};B[];W[ae];B[ai];W[];B[])")
    line = page.until("view")["line"]
    page.send(do="goto", node=line[-1])
    view = page.until("view")
    assert (view["ending"]["winner"], view["ending"]["margin"]) == ("black", 1.5)
    page.send(do="batch", visits=1)
    graph = analysed(page)[0]["graph"]
    assert (len(graph), graph[-1]["black"], graph[-1]["score"]) == (len(line), 1.0, 1.5)


def test_a_game_that_is_not_counted_is_saved_as_won_without_points(page: Wire) -> None:
    page.begin(game="gomoku", size=9, person="both")
    for vertex in "a1 a9 b1 b9 c1 c9 d1 d9 e1".split():
        page.send(do="play", vertex=vertex)
        assert page.until("view")
    page.send(do="save")
    assert "RE[B+]" in page.until("record")["text"]


SETTLED = (
    "(;GM[1]SZ[9]KM[7.5];B[de];W[fe];B[ec];W[df];B[cf];W[ef];B[cg];W[fc];B[fb];W[gc];B[gb];W[ed];B[dc];W[dh];B[hc];W[hd]"
    ";B[gd];W[fd];B[he];W[ge];B[id];W[hb];B[gd];W[dd];B[cd];W[hd];B[dg];W[eg];B[gd];W[cc];B[cb];W[bc];B[bb];W[hd];B[fh]"
    ";W[eh];B[gd];W[hf];B[ha];W[hd];B[ib];W[ch];B[bh];W[bi];B[ah];W[ie];B[ic];W[ee];B[ce];W[ci];B[bg];W[ai];B[af];W[fg]"
    ";B[eb];W[])"
)
"""After 53 moves nothing is left but to pass, and both sides fill their own areas."""


@pytest.mark.parametrize(("number", "is_pass"), [(20, False), (53, True), (54, True), (55, True), (56, True)])
def test_a_hint_where_nothing_is_left_is_a_pass(page: Wire, number: int, is_pass: bool) -> None:
    page.begin(game="go", size=9, person="both")
    page.load(SETTLED)
    page.send(do="goto", node=number)
    page.send(do="hint")
    assert (page.until("look")["moves"][0]["vertex"] == "pass") == is_pass


def test_engine_and_clocks_wait_after_a_bad_move_and_a_hint_says_what_its_move_is_worth(page: Wire) -> None:
    page.begin(game="go", size=9, level=1, clock={"period": 60, "periods": 1})
    page.send(do="play", vertex="a1", warn=True)
    view = page.until("view")
    while not view["mistake"]:
        view = page.until("view")
    assert (view["number"], view["thinking"], view["clock"]["running"]) == (1, False, None)
    for request in ({"do": "play", "vertex": "pass"}, {"do": "hint"}):
        page.send(**request)
        assert page.until("refused")["text"].startswith("Choose first")
    page.send(do="undo")
    view = page.until("view")
    assert (view["number"], view["mistake"], view["clock"]["running"]) == (0, None, "black")
    page.send(do="hint")
    look = page.until("look")
    while not look.get("hint"):
        look = page.until("look")
    assert look["facts"]["gain"] > 0
    page.send(do="rematch", swap=True)
    view = page.until("view")
    assert (view["person"], view["size"], view["clock"]["periods"]) == ("white", 9, 1)
