"""final_score, final_status_list, the engine's passing and kgs-genmove_cleanup agree, because they ask one settlement.

The boards are in `tests/settled_boards.py`. Where only a strong network could read one, an evaluator states what it
would have read.
"""

from pathlib import Path

import pytest

from gozero.games import coords
from gozero.games.game import Game
from gozero.play.searcher import Limits
from gtp.settings import GtpSettings
from tests import settled_boards as boards
from tests.gtp.engine import Engine

LETTERS = {1: "b", 2: "w"}


def engine_at(
    diagram: str,
    stated: str = "",
    *,
    komi: float = 0.5,
    rules: str = "chinese",
    friendly: bool = False,
    scored: bool = False,
) -> Engine:
    """An engine with this board, Black to move unless somebody passes, and with what is stated or without any network."""
    size = len(boards.board_of(diagram))
    settings = GtpSettings(visits=16, seed=1, size=size, komi=komi, rules=rules, friendly_pass=friendly, no_resign=True)
    engine = (
        Engine(settings, lambda game: boards.StatedEvaluator(game, stated, scored=scored))
        if stated
        else Engine(settings)
    )
    for colour, action in boards.moves_of(diagram):
        engine.ask(f"play {LETTERS[colour]} {coords.vertex(action, size)}")
    return engine


CASES = {
    # board, stated: score with komi 0.5, dead, seki, dame
    "a stone in pass-alive territory": (boards.CERTAIN, "", "B+5.5", "B1", "", "D4"),
    "lost stones": (boards.LOST_STONES, boards.LOST, "B+6.5", "C6 D6", "", ""),
    "an unfinished border": (boards.UNFINISHED, boards.BORDER_OPEN, "B+0.5", "", "", "D4 D3"),
    "a seki without eyes": (boards.SEKI_WITHOUT_EYES, "", "W+3.5", "", "C7 C6 C5\nE7 E6 D5 E5", "D7 D6"),
    "a seki with eyes": (boards.SEKI_WITH_EYES, "", "B+5.5", "", "B9 D9 B8 C8 D8 E8\nF9 H9 F8 G8 H8", "E9"),
    "a bent four": (boards.BENT_FOUR, boards.ALL_WHITE, "W+49.5", "D7 E7 C6 D6 A5 B5 C5 D5", "", ""),
    "a double ko": (boards.DOUBLE_KO, boards.ALIVE_BY_KO, "W+31.5", "", "", ""),
    "false eyes": (boards.FALSE_EYES, boards.ALL_WHITE, "W+49.5", "B7\nD7\nA6\nC6", "", ""),
}


@pytest.mark.parametrize("name", CASES)
def test_the_score_is_what_the_lists_add_up_to(name: str) -> None:
    diagram, stated, score, *lists = CASES[name]
    engine = engine_at(diagram, stated)
    assert engine.ask("final_score") == score
    assert [engine.ask(f"final_status_list {status}") for status in ("dead", "seki", "dame")] == lists
    stones = boards.board_of(diagram).reshape(-1)
    alive = f"{engine.ask('final_status_list alive')} {engine.ask('final_status_list seki')}".split()
    colours = [int(stones[coords.parse_vertex(vertex, len(boards.board_of(diagram)))]) for vertex in alive]
    black = colours.count(1) + len(engine.ask("final_status_list black_territory").split())
    white = colours.count(2) + len(engine.ask("final_status_list white_territory").split())
    lead = black - white - 0.5
    assert score == f"{'B' if lead > 0 else 'W'}+{abs(lead)}"


TERRITORY = {
    # board, stated: the points of both sides, prisoners and dead stones among them
    "a stone in pass-alive territory": (boards.CERTAIN, "", 5 + 1, 4),
    "lost stones": (boards.LOST_STONES, boards.LOST, 16 + 2, 5),
    "a seki with eyes": (boards.SEKI_WITH_EYES, "", 2, 2),
}


@pytest.mark.parametrize("name", TERRITORY)
def test_territory_and_prisoners(name: str) -> None:
    diagram, stated, black, white = TERRITORY[name]
    engine = engine_at(diagram, stated, rules="japanese")
    lead = black - white - 0.5
    assert engine.ask("final_score") == f"{'B' if lead > 0 else 'W'}+{abs(lead)}"
    territory = [engine.ask(f"final_status_list {colour}_territory").split() for colour in ("black", "white")]
    dead = engine.ask("final_status_list dead").split()
    assert len(territory[0]) - len(territory[1]) + len(dead) == black - white


def test_prisoners_are_counted_through_undo_and_a_saved_game(tmp_path: Path) -> None:
    engine = engine_at(boards.LOST_STONES, boards.LOST, rules="japanese")
    taking = ["play b E6", "play b A6", "play b C7", "play b D7"]  # costs four points
    engine.ask_all(*taking, "play w pass")
    assert engine.ask("final_score") == "B+8.5", "the stones were dead before"
    engine.ask_all(f"printsgf {tmp_path / 'game.sgf'}", *["undo"] * 5)
    assert engine.ask("final_score") == "B+12.5"
    other = engine_at(boards.CERTAIN, boards.LOST, rules="japanese")
    other.ask(f"loadsgf {tmp_path / 'game.sgf'}")
    assert (other.ask("final_score"), other.session.go_game.captured) == ("B+8.5", {1: 0, 2: 2})


def test_by_territory_it_plays_onto_open_points_and_passes_where_there_are_none() -> None:
    for komi in (0.5, 60.5):  # it wins, or not
        engine = engine_at(boards.LOST_STONES, boards.LOST, komi=komi, rules="japanese")
        assert engine.ask("genmove b") == "pass"
        engine.ask_all("play w pass")
        assert engine.ask("genmove b") == "pass"
    for last in ("play b pass", "play w pass"):
        engine = engine_at(boards.UNFINISHED, boards.BORDER_OPEN, rules="japanese")
        engine.ask(last)
        assert engine.ask("genmove b") in ("D4", "D3")


def test_one_judgement_serves_every_question() -> None:
    """Also after the passes that end the game: they change nothing on the board."""
    engine = engine_at(boards.LOST_STONES, boards.LOST)
    ending = engine.session.go_ending
    assert engine.ask("final_score") == "B+6.5"
    settlement = ending.settlement()
    engine.ask_all(
        "play b pass", "play w pass", "final_status_list dead", "final_score", "komi 10", "final_status_list alive"
    )
    assert engine.ask("final_score") == "W+3.0"
    assert ending.settlement() is settlement
    engine.ask("kata-set-rule ko SIMPLE")
    assert ending.settlement() is not settlement
    settlement = ending.settlement()
    engine.ask_all("undo", "undo", "play b A7")
    assert ending.settlement() is not settlement


@pytest.mark.parametrize("line", ["final_score", "final_status_list dead", "kgs-genmove_cleanup b", "genmove b"])
def test_an_interrupt_hurries_the_judgement_and_the_next_one_takes_its_time(line: str) -> None:
    engine = engine_at(boards.LOST_STONES, boards.LOST)
    evaluators: list[boards.StatedEvaluator] = []

    def open_evaluator(game: Game) -> boards.StatedEvaluator:
        evaluators.append(boards.StatedEvaluator(game, boards.LOST))
        return evaluators[-1]

    engine.session.player.searcher._open_evaluator = open_evaluator
    engine.ask("play w pass")
    engine.signals.interrupt()
    engine.ask(line)
    hurried = evaluators[-1].evaluated
    assert hurried <= 3, "a position for each search"
    engine.signals.line_taken()
    engine.ask("final_score")
    assert evaluators[-1].evaluated > hurried + 3


def test_where_all_is_certain_nobody_is_asked() -> None:
    engine = engine_at(boards.SEKI_WITHOUT_EYES, "x" * 49)
    assert engine.ask("final_score") == "W+3.5"
    assert engine.session.player.searcher._tree is None


def test_rules_without_agreement_about_dead_stones_leave_them_on_the_board() -> None:
    engine = engine_at(boards.LOST_STONES, boards.LOST, rules="tromp-taylor")
    assert engine.ask("final_score") == "W+11.5"
    assert engine.ask("final_status_list dead") == ""
    engine.ask("kata-set-rules chinese")
    assert engine.ask("final_score") == "B+6.5"
    engine.ask("kata-set-rule friendlyPassOk false")
    assert engine.ask("final_score") == "W+11.5"


@pytest.mark.parametrize("argument", ["", "Dead", "all", "alive dead"])
def test_a_status_that_nobody_knows(argument: str) -> None:
    known = "alive, dead, seki, black_territory, white_territory or dame"
    refused = engine_at(boards.CERTAIN).refuse(f"final_status_list {argument}")
    assert refused == f"invalid status {argument!r}: expected {known}"


# Passing


def test_by_default_dead_stones_that_decide_the_game_are_taken_off_before_passing() -> None:
    """As the board stands Black loses, and a server may count it so; the moves go where the dead stones are."""
    engine = engine_at(boards.LOST_STONES, boards.LOST)
    moves = []
    for _ in range(20):
        engine.ask("play w pass")
        moves.append(engine.ask("genmove b"))
        if moves[-1] == "pass":
            break
    assert moves[-1] == "pass"
    assert engine.session.game.position.score() > 0
    assert set(moves[:-1]) <= {f"{column}{row}" for column in "ABCDEFG" for row in (5, 6, 7)}


def test_a_friendly_engine_passes_as_soon_as_the_settlement_wins_and_the_opponent_has_passed() -> None:
    engine = engine_at(boards.LOST_STONES, boards.LOST, friendly=True)
    engine.ask("play w pass")
    assert engine.ask("genmove b") == "pass"
    assert engine.ask("final_score") == "B+6.5"


def test_friendliness_ends_where_the_rules_leave_dead_stones_on_the_board() -> None:
    engine = engine_at(boards.LOST_STONES, boards.LOST, friendly=True, rules="tromp-taylor")
    engine.ask("play w pass")
    assert engine.ask("genmove b") != "pass"


@pytest.mark.parametrize(
    ("diagram", "stated"),
    [(boards.SEKI_WITHOUT_EYES, ""), (boards.SEKI_WITH_EYES, ""), (boards.DOUBLE_KO, boards.ALL_WHITE)],
)
@pytest.mark.parametrize("komi", [-60, 60])
def test_nobody_kills_a_group_of_its_own_where_nothing_is_left_to_gain(diagram: str, stated: str, komi: float) -> None:
    """The loser too passes rather than fill the liberties of a seki."""
    engine = engine_at(diagram, stated, komi=komi)
    before = engine.session.game.stones()
    for colour in "bwbw":
        assert engine.ask(f"genmove {colour}") == "pass"
    assert (engine.session.game.stones() == before).all()


@pytest.mark.parametrize("friendly", [False, True])
def test_the_loser_does_not_pass_while_something_is_open(friendly: bool) -> None:
    for komi, loser in ((20, "b"), (-20, "w")):
        engine = engine_at(boards.UNFINISHED, boards.BORDER_OPEN, komi=komi, friendly=friendly)
        engine.ask(f"play {'w' if loser == 'b' else 'b'} pass")
        assert engine.ask(f"genmove {loser}") != "pass"


def test_the_first_pass_is_not_made_by_a_side_that_the_settlement_lets_lose() -> None:
    """White is ahead as the board stands, by stones that would be taken off if Black passed as well."""
    engine = engine_at(boards.LOST_STONES, boards.LOST)
    assert engine.ask("genmove w") != "pass"
    engine.ask("undo")
    for colour, passes in ((1, True), (2, False)):  # also where the search would pass
        root = engine.session.game.root(colour)
        result, passing = engine.session.player.searcher.search(root, root.legal(), Limits(16)), root.game.pass_action
        assert (engine.session.go_ending.revised(root, passing, result, Limits()) == passing) is passes


def test_a_game_against_itself_ends_after_a_settled_board() -> None:
    engine = engine_at(boards.LOST_STONES, boards.LOST)
    passes = moves = 0
    while passes < 2:
        passes = passes + 1 if engine.ask(f"genmove {'bw'[moves % 2]}") == "pass" else 0
        moves += 1
        assert moves < 60
    assert engine.ask("final_score").startswith("B")


@pytest.mark.parametrize(("komi", "lead", "winrate"), [("-3", 0.0, 0.5), ("-7.5", 4.5, 1.0), ("0.5", -3.5, 0.0)])
def test_a_forced_pass_is_told_the_count_and_not_what_the_network_thinks(
    komi: str, lead: float, winrate: float
) -> None:
    """A draw is half a win."""
    engine = engine_at(boards.SEKI_WITHOUT_EYES, boards.ALL_WHITE, scored=True)
    engine.ask_all(f"komi {komi}", "play w pass")
    look, played = engine.ask("kata-genmove_analyze b").splitlines()
    assert played == "play pass"
    words = look.split()
    assert (float(words[words.index("scoreLead") + 1]), float(words[words.index("winrate") + 1])) == (lead, winrate)


# kgs-genmove_cleanup


@pytest.mark.parametrize(("diagram", "stated"), [(boards.CERTAIN, ""), (boards.LOST_STONES, boards.LOST)])
def test_clean_up_takes_dead_stones_off_and_then_passes(diagram: str, stated: str) -> None:
    engine = engine_at(diagram, stated)
    dead = engine.ask("final_status_list dead").split()
    for _ in range(20):
        if engine.ask("kgs-genmove_cleanup b") == "pass":
            break
        engine.ask("play w pass")
    assert not engine.ask("final_status_list dead")
    stones = engine.session.game.stones().reshape(-1)
    assert not any(stones[coords.parse_vertex(vertex, 7)] == 2 for vertex in dead)
    assert engine.ask("kgs-genmove_cleanup b") == "pass"


def test_clean_up_has_nothing_to_do_for_the_side_whose_stones_are_dead() -> None:
    assert engine_at(boards.LOST_STONES, boards.LOST).ask("kgs-genmove_cleanup w") == "pass"


def test_clean_up_never_resigns() -> None:
    engine = Engine(GtpSettings(visits=8, seed=1, size=7, komi=500, resign_threshold=0))
    engine.ask_all(
        *(f"play {LETTERS[colour]} {coords.vertex(action, 7)}" for colour, action in boards.moves_of(boards.CERTAIN))
    )
    for _ in range(6):
        assert engine.ask("kgs-genmove_cleanup b") != "resign"
