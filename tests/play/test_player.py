"""The player: what it plays, keeps, resigns and refuses, with evaluators that say what a test wants to hear."""

import math
import time
from collections.abc import Callable

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import BLACK, EMPTY, TO_PLAY, WHITE
from gozero.play.player import Player, PlayerSettings, make_player
from gozero.play.searcher import Analysis, Limits, Observer
from gozero.scoring import life_and_death
from tests.fixed_player import SEARCH, SIZE, FixedEvaluator, at, generate, moves_until_resignation, player
from tests.settled_boards import StatedEvaluator, moves_of

WALLS = ". . X O . . .\n" * 7
OPEN_WALLS = ". . X O . . .\n" * 6 + ". . X . . . .\n"
WALLED = "xxxoooo\n" * 7


def test_it_plays_what_the_evaluator_likes() -> None:
    one, _ = player(liked="C5")
    assert generate(one, 1) == [at("C5")]


def test_the_evaluator_is_opened_at_the_first_move_and_once_for_each_size() -> None:
    one, opinion = player()
    one.game.play(BLACK, at("C3"))
    one.game.undo()
    with pytest.raises(IndexError):
        opinion()
    generate(one, 2)
    first = opinion()
    one.game.new_game()
    generate(one, 1)
    assert opinion() is first
    one.game.new_game(9)
    generate(one, 1)
    assert opinion().game.rows == 9


def test_visits_limit_the_search_and_a_kept_tree_counts() -> None:
    one, opinion = player(liked="C5")
    generate(one, 1, visits=50)
    first = opinion().asked
    assert 40 <= first <= 50  # one for each visit, but for those that end in a finished game
    generate(one, 1, visits=50)
    assert opinion().asked - first < 30


def test_nothing_is_kept_after_a_change_of_the_game() -> None:
    changes: list[Callable[[Player], None]] = [
        lambda one: one.game.set_komi(3.5),
        lambda one: one.game.play(BLACK, at("A1")),  # out of turn
        lambda one: (one.game.new_game(), one.game.play(BLACK, at("C4")))[0],
    ]
    for change in changes:
        one, opinion = player(liked="C5")
        generate(one, 1, visits=50)
        change(one)
        before = opinion().asked
        generate(one, 1, visits=50)
        assert opinion().asked - before >= 40


def test_an_undone_move_is_found_again_in_the_tree() -> None:
    one, opinion = player(liked="C5")
    generate(one, 1, visits=50)
    one.game.undo()
    before = opinion().asked
    assert generate(one, 1, visits=50) == [at("C5")]
    assert opinion().asked == before


def test_a_deadline_ends_the_search() -> None:
    one, opinion = player()
    started = time.monotonic()
    one.genmove(BLACK, Limits(None, started + 0.2))
    assert 0.1 < time.monotonic() - started < 5
    one.genmove(WHITE, Limits(None, 0.0))  # long past: a move all the same
    assert len(one.game.position.moves) == 2
    asked = opinion().asked
    one.genmove(BLACK, Limits(None, should_stop=lambda: True))
    assert opinion().asked - asked <= SEARCH.leaves


def test_suggest_plays_nothing_and_leaves_the_tree_of_the_game_alone() -> None:
    one, opinion = player(liked="C5")
    generate(one, 1, visits=50)
    assert one.suggest(WHITE, Limits(50)) == one.suggest(WHITE, Limits(50))
    assert len(one.game.position.moves) == 1
    before = opinion().asked
    generate(one, 1, visits=50)
    assert opinion().asked - before < 30


# What it thought


def test_a_note_tells_what_was_thought_of_the_move_and_goes_with_it() -> None:
    one, _ = player(0.5, liked="C5")
    one.game.play(BLACK, at("D4"))
    assert one.game.notes.by_move == {} and one.game.notes.last is None
    generate(one, 1, visits=30)
    note = one.game.notes.by_move[2]
    assert note is one.game.notes.last
    assert (note.colour, note.visits, note.value, note.score) == (WHITE, 30, pytest.approx(-0.5), None)
    (move,) = note.moves
    assert (move.action, move.line[0], move.value) == (at("C5"), at("C5"), pytest.approx(-0.5))
    one.game.set_komi(5.5)
    assert one.game.notes.by_move == {2: note}
    one.game.undo()
    assert one.game.notes.by_move == {}
    one.game.new_game()
    assert one.game.notes.last is None


def test_a_resignation_is_known_until_the_game_goes_on() -> None:
    one, _ = player(-0.95)
    moves_until_resignation(one, BLACK)
    assert one.game.resigned == BLACK
    assert one.game.notes.last is not None and len(one.game.position.moves) not in one.game.notes.by_move
    one.game.play(BLACK, at("pass"))
    assert one.game.resigned == EMPTY
    one.game.undo()
    assert one.game.resigned == EMPTY


def test_what_is_forgotten_must_be_searched_again_and_comes_out_the_same() -> None:
    one, opinion = player(liked="C5")
    one.forget()
    generate(one, 1, visits=50)
    first, asked = one.game.notes.last, opinion().asked
    one.game.undo()
    one.forget()
    generate(one, 1, visits=50)
    assert opinion().asked == 2 * asked
    assert one.game.notes.last == first


# Rules, and the end of a game


@pytest.mark.parametrize("rules", ["chinese", "chinese-simple", "tromp-taylor", "aga", "new-zealand"])
def test_every_move_it_makes_is_legal_and_games_against_random_play_end(rules: str) -> None:
    """The other side plays anything legal, its own eyes included, and passes once a few moves are left."""
    random = np.random.default_rng(1)
    one = make_player(
        "go", [5], RolloutEvaluator, PlayerSettings(rules=rules, seed=1, resign=False, search=SEARCH), size=5, komi=0.5
    )
    for engine_colour in (BLACK, WHITE):
        one.game.new_game()
        passes = 0
        while passes < 2:
            colour = one.game.position.to_play
            legal = one.game.legal(colour)
            if colour == engine_colour:
                action = one.genmove(colour, Limits(16))
                assert legal[action]
            else:
                action = int(random.choice(np.flatnonzero(legal)))
                one.game.play(colour, action)
            passes = passes + 1 if action == one.game.definition.pass_action else 0
            assert one.game.position.ply < 600, str(one.game.position)


class Filler(StatedEvaluator):
    """Would like to play on one point above all."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        result = super().evaluate(states)
        result.logits[:, at("F6")] = 20
        return result


@pytest.mark.parametrize("komi", [-20.5, 20.5])
@pytest.mark.parametrize(("diagram", "passes"), [(WALLS, True), (OPEN_WALLS, False)], ids=["closed", "open"])
def test_a_game_that_is_over_but_for_passing_is_passed_out(diagram: str, passes: bool, komi: float) -> None:
    """Whoever wins, and though the search likes a point of White's area that is large and not pass-alive."""
    settings = PlayerSettings(resign=False, search=SEARCH)
    one = make_player("go", [SIZE], lambda game: Filler(game, WALLED), settings, size=SIZE, komi=komi)
    one.game.set_up({action: colour for colour, action in moves_of(diagram)}, WHITE)
    looks: list[Analysis] = []
    one.hint(Limits(20), Observer(looks.append))
    assert (looks[-1].moves[0].action == at("pass")) is passes
    assert (one.genmove(WHITE, Limits(20)) == at("pass")) is passes


def test_without_time_a_move_is_played_rather_than_the_end_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    settings, asked = PlayerSettings(resign=False, search=SEARCH), []
    one = make_player("go", [SIZE], lambda game: Filler(game, WALLED), settings, size=SIZE, komi=20.5)
    one.game.set_up({action: colour for colour, action in moves_of(WALLS)}, WHITE)
    monkeypatch.setattr(life_and_death, "agree", lambda *arguments: asked.append(arguments) or [])
    assert one.genmove(WHITE, Limits(20, time.monotonic() - 1)) == at("F6")
    assert not asked


def test_one_slow_settlement_does_not_stop_passing_for_ever() -> None:
    settings, moves = PlayerSettings(resign=False, search=SEARCH), []
    one = make_player("go", [SIZE], lambda game: Filler(game, WALLED), settings, size=SIZE, komi=20.5)
    one.ending._cost = 3000.0  # type: ignore[attr-defined]
    for _ in range(9):
        one.game.set_up({action: colour for colour, action in moves_of(WALLS)}, WHITE)
        moves.append(one.genmove(WHITE, Limits(20, time.monotonic() + 2000)))
    assert moves[0] == at("F6")
    assert moves[-1] == at("pass")


def test_the_opening_is_varied_by_the_seed_and_only_by_it() -> None:
    games = [generate(player(opening=1.0, seed=seed)[0], 8) for seed in (1, 1, 2)]
    assert games[0] == games[1] != games[2]
    assert generate(player(seed=1)[0], 8) == generate(player(seed=2)[0], 8)


# What is thought of one position is not told of another


class Onlooker(FixedEvaluator):
    """Expects every point to stay as it stands."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        boards = np.stack([self.game.board(state).reshape(-1) for state in states])
        own, other = boards == states[:, [TO_PLAY]], boards == BLACK + WHITE - states[:, [TO_PLAY]]
        return super().evaluate(states)._replace(ownership=(own * 1.0 - other).astype(np.float32))


def test_a_position_that_is_set_up_has_owners_of_its_own() -> None:
    """Two such positions have the same moves, none, and this one allows fewer than the one before."""
    one = make_player("go", [SIZE], Onlooker, PlayerSettings(seed=1, search=SEARCH), size=SIZE)
    looks: list[Analysis] = []
    for stones in ({}, {at("B2"): WHITE}, {at("B2"): WHITE, at("D4"): BLACK}):
        one.game.set_up(stones, BLACK)
        one.analyse(BLACK, Limits(1), Observer(looks.append, ownership=True))
        owners = looks[-1].ownership
        assert owners is not None
        assert {point: 1 if owner > 0 else 2 for point, owner in enumerate(owners) if owner} == stones
        assert set(np.abs(owners)) <= {0, 1}


def test_a_hurried_judgement_of_the_end_is_not_what_the_game_is_counted_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """Readings that time cut short leave strings in doubt; who asks without a limit gets an answer that took its time."""
    one, asked = make_player("go", [5], RolloutEvaluator, PlayerSettings(seed=1, search=SEARCH), size=5), []
    one.game.play(BLACK, 12)
    one.game.play(WHITE, 6)
    monkeypatch.setattr(
        life_and_death, "agree", lambda game, board, searched, deadline, stop: asked.append(deadline) or []
    )
    hurried = Limits(visits=1, deadline=time.monotonic() - 1)
    assert one.ending.settlement(hurried) is one.ending.settlement(hurried)
    one.ending.settled_score()
    one.ending.settled_score()
    assert [deadline == math.inf for deadline in asked] == [False, True]
