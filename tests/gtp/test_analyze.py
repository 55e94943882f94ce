"""Analysis as its clients read it: the lines, the options, and when it ends."""

import io
import json
import re

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.base import Evaluation
from gozero.games.game import BLACK, TO_PLAY, Game
from gozero.play.engine import LCB
from gozero.play.player import PlayerSettings, make_player
from gozero.search.settings import SearchSettings
from gozero.search.tree import node_bytes
from gozero.system.streams import Log
from gtp.__main__ import make_protocol
from gtp.commands.analyze import _request
from gtp.protocol import Command, Signals
from gtp.session import Session
from gtp.settings import GtpSettings
from tests.gtp.engine import Conversation, Engine

SIZE = 5
PV = r"((?:[A-E]\d|pass)(?: (?:[A-E]\d|pass))*)"
LZ = re.compile(rf"info move (\S+) visits (\d+) winrate (\d+) prior (\d+) lcb (\d+) order (\d+) pv {PV}")
KATA = re.compile(
    r"info move (\S+) visits (\d+) utility (\S+) winrate (\S+) scoreMean (\S+) scoreLead (\S+) prior (\S+) lcb (\S+) utilityLcb (\S+) "
    rf"order (\d+) pv {PV}"
)


class Painted:
    """Thinks that Black leads by ten points and owns the upper rows, and likes the points in their order."""

    def __init__(self, game: Game) -> None:
        self.game = game

    def evaluate(self, states: np.ndarray) -> Evaluation:
        sign = np.where(states[:, TO_PLAY] == BLACK, 1.0, -1.0).astype(np.float32)
        owner = np.where(np.arange(self.game.points) < 2 * self.game.size, 0.75, -0.5)
        logits = np.tile(np.linspace(2, 0, self.game.actions), (len(states), 1)).astype(np.float32)
        return Evaluation(logits, 0.5 * sign, 10 * sign, (sign[:, None] * owner).astype(np.float32))


class Patient(Signals):
    """Of a client that lets an analysis come to its cap, and ends it then."""

    def is_wanted_elsewhere(self) -> bool:
        return False

    waits = 0

    def wait(self) -> None:
        self.waits += 1


class Painter(Engine):
    """An engine whose network has all outputs."""

    def __init__(self, memory: int = 2**30, log: Log | None = None, **chosen: int | None) -> None:
        super().__init__(GtpSettings(seed=1, size=SIZE, **{"visits": 60, "analysis_visits": 60, **chosen}))
        settings = PlayerSettings(
            seed=1, opening=0.0, search=SearchSettings(max_nodes=2000, lcb=LCB), max_memory=memory
        )
        self.session = Session(
            self.session.settings, lambda: make_player("go", [SIZE], Painted, settings, size=SIZE), Patient(), log=log
        )
        self.protocol = make_protocol(self.session, "go")

    def last_look(self, line: str) -> str:
        """The last line about the search in an answer."""
        return [text for text in self.ask(line).splitlines() if not text.startswith("play ")][-1]


def lone(line: str, pattern: re.Pattern[str]) -> list[tuple[str, ...]]:
    """Every match of a line that consists of nothing else."""
    found = pattern.findall(line)
    assert " ".join(match.group(0) for match in pattern.finditer(line)) == line
    return found


def test_leela_zero_gets_whole_numbers_for_the_side_that_is_asked_about() -> None:
    for colour, expected in (("b", 7500), ("w", 2500)):
        moves = lone(Painter().last_look(f"lz-genmove_analyze {colour} 10"), LZ)
        assert [int(order) for *_, order, _ in moves] == list(range(len(moves)))
        visits = [int(move[1]) for move in moves]
        assert visits == sorted(visits, reverse=True) and sum(visits) == 59
        assert all(
            abs(int(winrate) - expected) <= 1 and int(lcb) < int(winrate) for _, _, winrate, _, lcb, _, _ in moves
        )
        assert all(line.split()[0] == vertex for vertex, *_, line in moves)


def test_katago_gets_fractions_points_and_what_it_asks_for() -> None:
    line = Painter().last_look("kata-genmove_analyze b 10 ownership true rootInfo true")
    moves, _, rest = line.partition(" rootInfo ")
    for _, _, utility, winrate, mean, lead, prior, *_ in lone(moves, KATA):
        assert (float(utility), float(winrate), float(mean), float(lead)) == (0.5, 0.75, 10.0, 10.0)
        assert 0 < float(prior) < 1
    root, _, owners = rest.partition(" ownership ")
    assert root == "visits 60 utility 0.500000 winrate 0.750000 scoreMean 10.000 scoreLead 10.000"
    assert [float(owner) for owner in owners.split()] == [0.75] * 10 + [-0.5] * 15


def test_ownership_and_lead_are_the_opponents_for_white() -> None:
    line = Painter().last_look("kata-genmove_analyze w ownership true maxmoves 1")
    assert "winrate 0.250000 scoreMean -10.000" in line
    assert [float(owner) for owner in line.partition(" ownership ")[2].split()] == [-0.75] * 10 + [0.5] * 15


def test_points_are_known_where_all_was_searched_before() -> None:
    """The analysis after a genmove may have nothing left to evaluate."""
    engine = Painter(analysis_visits=1)
    engine.ask("genmove b")
    line = engine.last_look("kata-analyze w ownership true maxmoves 1")
    assert "scoreLead -10.000" in line
    assert [float(owner) for owner in line.partition(" ownership ")[2].split()] == [-0.75] * 10 + [0.5] * 15


def test_visits_of_lines_and_owners_after_moves() -> None:
    line = Painter().last_look("kata-genmove_analyze b pvVisits true movesOwnership true maxmoves 2")
    parts = line.split("info move ")[1:]
    assert len(parts) == 2
    for part in parts:
        pv, _, rest = part.partition(" pv ")[2].partition(" pvVisits ")
        visits, _, owners = rest.partition(" movesOwnership ")
        assert len(visits.split()) == len(pv.split())
        assert [float(owner) for owner in owners.split()] == [0.75] * 10 + [-0.5] * 15


def test_without_points_no_points_are_made_up() -> None:
    answer = Engine(GtpSettings(visits=8, seed=1, size=SIZE)).ask("kata-genmove_analyze b ownership true rootInfo true")
    assert "winrate" in answer and "score" not in answer and "ownership" not in answer


@pytest.mark.parametrize("game", ["connect4", "gomoku", "tictactoe"])
def test_a_game_without_points_has_none_whatever_its_network_says(game: str) -> None:
    engine = Engine(GtpSettings(game, visits=8, seed=1), Painted)
    told = engine.ask("kata-analyze ownership true movesOwnership true rootInfo true")
    assert "info move" in told and "rootInfo" in told
    assert "score" not in told and "wnership" not in told
    assert "score" not in engine.ask("gogui-value")


def test_moves_left_out_and_moves_alone() -> None:
    engine = Painter()
    first = [move[0] for move in lone(engine.last_look("lz-analyze b 10"), LZ)]
    avoided = [move[0] for move in lone(engine.last_look(f"lz-analyze b 10 avoid b {first[0]},pass 9"), LZ)]
    assert first[0] not in avoided and len(avoided) > 1
    assert {move[0] for move in lone(engine.last_look("lz-analyze b allow b A1:B2,C3 1 minmoves 9"), LZ)} == {
        "A1",
        "A2",
        "B1",
        "B2",
        "C3",
    }
    assert [move[0] for move in lone(engine.last_look("lz-analyze b 10"), LZ)] == first
    assert [move[0] for move in lone(engine.last_look("lz-analyze b 10 avoid w A5,B5 3"), LZ)] == first


def test_moves_left_out_of_the_lines() -> None:
    """The network likes the points in their order, so that it would reply on the upper rows."""
    engine = Painter()

    def replies(options: str) -> set[str]:
        lines = [move[-1].split() for move in lone(engine.last_look(f"lz-analyze b 10 {options}"), LZ)]
        return {line[1] for line in lines if len(line) > 1}

    free = replies("")
    assert any(vertex[1] in "45" for vertex in free)
    assert not any(vertex[1] in "45" for vertex in replies("avoid w A5:E4 2"))
    few = replies("allow w A1,B2 2 allow w C3 1 avoid w C3 2")
    assert few and few <= {"A1", "B2"}
    assert replies("avoid w A5:E4 1") == free
    assert replies("") == free


def test_an_analysis_on_terms_of_its_own_leaves_the_games_tree_alone() -> None:
    """With an analysis of one visit, what is seen is what the tree holds."""
    engine = Painter(analysis_visits=1)
    engine.ask("genmove b")
    before = engine.last_look("lz-analyze w 10")
    assert lone(engine.last_look("lz-analyze w 10 avoid w A1 9"), LZ)[0][1] == "0"
    assert engine.last_look("lz-analyze w 10") == before and lone(before, LZ)[0][1] != "0"


def test_how_many_moves() -> None:
    engine = Painter(analysis_visits=1)
    assert len(lone(engine.last_look("lz-analyze"), LZ)) == 1
    some = lone(engine.last_look("lz-analyze b minmoves 7"), LZ)
    assert len(some) == 7 and all(move[1] == "0" and move[4] == "0" for move in some)
    assert len(lone(engine.last_look("lz-analyze b minmoves 7 maxmoves 3"), LZ)) == 3
    assert engine.session.signals.waits == 3, "each pauses until a line arrives"


@pytest.mark.parametrize("options", ["b 50", "50", "interval 50", "w maxmoves 1 interval 50"])
def test_the_interval_is_in_centiseconds(options: str) -> None:
    asked = _request(Painter().session, Command("", "lz-analyze", options), strict=True)
    assert asked.looks["interval"] == 0.5


def test_a_move_is_played_after_its_last_look() -> None:
    engine = Painter()
    *looks, played = engine.ask("lz-genmove_analyze b").splitlines()
    vertex = LZ.findall(looks[-1])[0][0]
    assert played == f"play {vertex}"
    assert engine.ask("move_history") == f"black {vertex}"


def test_a_move_without_a_choice_has_a_look_too() -> None:
    engine = Painter()
    engine.ask_all("komi -30", "play w pass")
    look, played = engine.ask("kata-genmove_analyze b").splitlines()
    assert look.startswith("info move pass") and played == "play pass"


def test_cgos_gets_json() -> None:
    look, played = Painter().ask("cgos-genmove_analyze b").splitlines()
    found = json.loads(look)
    assert found["winrate"] == 0.75 and found["score"] == 10.0 and found["visits"] == 60
    assert played == f"play {found['moves'][0]['move']}"
    assert all(set(move) == {"move", "winrate", "score", "prior", "visits", "pv"} for move in found["moves"])


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("lz-analyze red", "invalid color: 'red'; expected b, black, w or white"),
        ("lz-analyze b x", "unknown option 'x'; expected one of interval, minmoves"),
        ("kata-analyze b ownership", "syntax error: ownership without its value"),
        ("kata-analyze b ownership maybe", "syntax error: ownership 'maybe': expected true or false"),
        ("kata-analyze b avoid b Z9 3", "invalid color or coordinate: 'Z9'"),
        ("kata-analyze b avoid b A1:pass 3", "invalid coordinate: 'pass'"),
        ("lz-analyze b allow b pass 1 avoid b pass 1", "none of these moves is legal"),
        ("restricted_genmove b", "syntax error: expected a colour"),
    ],
)
def test_refused(line: str, reason: str) -> None:
    assert Painter().refuse(line).startswith(reason)


@pytest.mark.parametrize(
    ("options", "shows_ownership"),
    [
        ("somethingNew 3 ownership false", False),
        ("somethingNew ownership true", True),
        ("ownership true somethingNew", True),
        ("somethingNew 3 another", False),
    ],
)
def test_a_move_is_not_refused_for_an_option_that_nobody_knows(options: str, shows_ownership: bool) -> None:
    answer = Painter().ask(f"kata-genmove_analyze b 10 {options}")
    assert "play " in answer
    assert ("ownership" in answer) == shows_ownership


def test_restricted_genmove_chooses_among_the_moves_and_plays_none() -> None:
    engine = Painter()
    assert engine.ask("restricted_genmove b A1 C3") in ("A1", "C3")
    assert engine.ask("move_history") == ""


def test_games_that_are_over_or_the_other_sides() -> None:
    engine = Engine(GtpSettings("tictactoe", visits=8, seed=1))
    assert engine.refuse("lz-analyze w") == "it is Black's turn"
    engine.ask_all(
        *[f"play {colour} {vertex}" for colour, vertex in zip("bwbwb", ("A1", "A2", "B1", "B2", "C1"), strict=True)]
    )
    assert engine.refuse("lz-analyze b") == "the game is over"
    assert engine.ask("lz-genmove_analyze w") == "play resign"


@pytest.mark.parametrize("stop", ["\n", "3 name\n", "# interrupt\n"])
@pytest.mark.parametrize("cap", [None, 5])
def test_any_line_ends_an_analysis_that_searches_or_rests(stop: str, cap: int | None) -> None:
    conversation = Conversation(Painter(analysis_visits=cap))
    conversation.send("7 lz-analyze b 1\n")
    assert conversation.line() == "=7\n"
    assert LZ.match(conversation.line())
    conversation.send(stop)
    while (line := conversation.line()) != "\n":
        assert LZ.match(line)
    conversation.send("4 version\n")
    if "name" in stop:
        assert [conversation.line(), conversation.line()] == ["=3 gozero\n", "\n"]
    assert conversation.line().startswith("=4 ")
    conversation.close()


def test_the_end_of_the_input_ends_an_analysis() -> None:
    conversation = Conversation(Painter(analysis_visits=None))
    conversation.send("lz-analyze b 1\n")
    assert conversation.line() == "=\n"
    conversation.close()


def test_an_analysis_that_waits_in_a_script_gives_one_look() -> None:
    conversation = Conversation(Painter(analysis_visits=None))
    conversation.send("1 lz-analyze b 1\n2 name\n")
    assert conversation.line() == "=1\n"
    assert LZ.match(conversation.line())
    assert [conversation.line(), conversation.line()] == ["\n", "=2 gozero\n"]
    conversation.close()


def test_an_analysis_whose_tree_is_full_rests_and_says_so_once(capsys: pytest.CaptureFixture[str]) -> None:
    written = io.StringIO()
    conversation = Conversation(
        Painter(memory=640 * node_bytes(games.make("go", size=SIZE)), log=Log(written), analysis_visits=None)
    )
    for _ in range(2):
        conversation.send("kata-analyze b 1 rootInfo true\n")
        assert conversation.line() == "=\n"
        while "rootInfo visits 600 " not in (line := conversation.line()):
            assert line.startswith("info move ")
        assert sum(int(number) for number in re.findall(r"move \S+ visits (\d+)", line)) == 599, (
            "a visit without a node of its own"
        )
        conversation.send("name\n")
        while (line := conversation.line()) != "\n":
            assert "rootInfo visits 600 " in line
        assert conversation.line() == "= gozero\n"
        assert conversation.line() == "\n"
    conversation.send("genmove b\n")
    assert re.fullmatch("= [A-Z][0-9]+\n", conversation.line())
    conversation.line()
    conversation.close()
    for told in (capsys.readouterr().err, written.getvalue()):
        assert told.count("a search ended early: its tree has used up its memory") == 1
