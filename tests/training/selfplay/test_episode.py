"""An episode: it comes back from a checkpoint, and decides what its settings say."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from gozero.games.game import PLY
from gozero.search.root import RootResult
from tests.training.games import game_of
from training.records import records, scoring
from training.selfplay.episode import Episode, divergence
from training.selfplay.resign import NEVER
from training.settings.config import SelfPlaySettings, Stage

SETTINGS = SelfPlaySettings(games=1, full_share=0.5)
STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=16, cheap_visits=4)


def after(plies: int, number: int = 0, **changes: Any) -> Episode:
    """An episode with so many moves behind it, as far as its schedules can see."""
    episode = Episode.begin(game_of(5), replace(SETTINGS, opening_share=0.0, **changes), (1,), number)
    episode.moves = [25] * plies
    return episode


def uniform_result(episode: Episode, value: float = 0.1) -> RootResult:
    """A search that found every legal move equally good."""
    actions = episode.game.actions
    legal = np.zeros(actions, np.uint8)
    episode.game.legal(episode.state, episode.history, legal)
    prior = (legal / legal.sum()).astype(np.float32)
    best = int(episode.generator.choice(np.flatnonzero(legal)))
    q = np.zeros(actions, np.float32)
    return RootResult(legal.astype(np.int32), q, q, prior, prior, best, value, 0.0, int(legal.sum()) + 1)


def play_on(episode: Episode, plies: int) -> str | None:
    """Play moves until the game is over or `plies` have been played."""
    ending = scoring.ending(episode.game, episode.state)
    for _ in range(plies):
        if ending is not None:
            break
        episode.plan(STAGE, 99)
        ending = episode.play(episode.move(uniform_result(episode), "puct"))
    return ending


def test_a_game_in_flight_comes_back_from_a_file_and_goes_on_identically(tmp_path: Path) -> None:
    game = game_of(5)
    whole = Episode.begin(game, SETTINGS, (1, 2))
    assert play_on(whole, 9) is None
    torch.save(whole.state_dict(), tmp_path / "game.pt")
    again = Episode.from_state_dict(game, SETTINGS, torch.load(tmp_path / "game.pt", weights_only=True))
    np.testing.assert_array_equal(again.state, whole.state)
    np.testing.assert_array_equal(again.history, whole.history)
    for episode in (whole, again):
        assert play_on(episode, 200) is not None
    assert records.encode(whole.record(1, "capped")) == records.encode(again.record(1, "capped"))


def test_temperatures_fall_by_half_each_board_width() -> None:
    found = [after(plies).plan(STAGE, 99).temperature for plies in (0, 5, 10, 200)]
    assert found == pytest.approx([1.25, 1.175, 1.1375, 1.1])
    assert [after(plies)._temperature() for plies in (0, 5, 200)] == pytest.approx([0.75, 0.45, 0.15], abs=1e-6)


def test_the_first_games_are_played_at_one_temperature_and_the_rest_at_another() -> None:
    found = [
        after(plies, number, temperature=1.0, temperature_end=0.4, temperature_games=10)._temperature()
        for plies in (0, 30)
        for number in (9, 10)
    ]
    assert found == [1.0, 0.4, 1.0, 0.4]


def test_moves_are_drawn_from_the_policy_not_from_forced_visits() -> None:
    episode = after(0, temperature=1.0)
    episode.full = True
    policy = np.zeros(27, np.float32)
    policy[7], visits = 1.0, np.full(27, 3, np.int32)
    result = RootResult(visits, policy, policy, policy, policy, 7, 0.0, 0.0, 81)
    assert {episode.move(result, "puct") for _ in range(30)} == {7}


def test_a_move_that_changes_no_score_is_not_searched() -> None:
    game = game_of(5)
    episode = after(0)
    episode.state = game.from_text("""
        5 . . X O .
        4 X X X O O
        3 . . X O .
        2 X X X . O
        1 . X . O O
          A B C D E
        X to play""")
    episode.moves, episode.state[PLY] = [0] * 16, 16
    episode.decided = scoring.decided_points(game, episode.state)
    mask = episode._mask(99)
    assert mask is not None
    assert set(np.flatnonzero(mask)) == {18, 22, game.pass_action}, "only D2, C1 and the pass are worth a thought"


def test_an_early_pass_is_allowed_after_the_first_generations() -> None:
    episode = after(0, no_pass_until=1.0, no_pass_generations=3)
    for generation in (1, 3):
        mask = episode.plan(STAGE, generation).root_mask
        assert mask is not None and not mask[episode.game.pass_action]
    assert episode.plan(STAGE, 4).root_mask is None


def concede(values: tuple[float, ...], *, unresigned: bool = False, resign_at: float = 0.9) -> Episode:
    """An episode whose searches found these values one after the other, Black's first."""
    episode = after(0, unresigned_share=float(unresigned), full_share=1.0)
    for value in values:
        episode.plan(STAGE, 99, resign_at)
        episode.play(episode.move(uniform_result(episode, value), "gumbel"))
    episode.plan(STAGE, 99, resign_at)
    return episode


def test_a_game_is_conceded_when_a_side_has_been_sure_for_five_moves_of_its_own() -> None:
    sure = (0.95, -0.5) * 4
    assert concede((*sure, 0.89)).conceded is None
    episode = concede((*sure, 0.95))
    assert (episode.conceded, episode.peaks) == (9, [0.95, -1.0])
    assert concede((*sure, 0.95), unresigned=True).conceded is None
    assert concede((*sure, 0.95), resign_at=NEVER).conceded is None
    assert concede((0.0, *sure, 0.95)).peaks[1] == 0.95, "White may be the sure one"


def test_after_that_the_searches_are_cheap_and_few_are_recorded() -> None:
    episode = concede((0.95, -0.5) * 4 + (0.95,))
    plans = []
    for _ in range(400):
        episode.drawn = False
        plans.append(episode.plan(STAGE, 99, 0.9))
    assert 0.05 < np.mean([plan.noise for plan in plans]) < 0.15
    assert {plan.visits for plan in plans} == {STAGE.cheap_visits, STAGE.full_visits}
    record = episode.record(1, "capped")
    assert (record.conceded, record.unresigned, record.peaks) == (9, False, (0.95, -1.0))


@pytest.mark.parametrize(("until", "last"), [({5: 0.2}, 4), ({5: 1.0}, 24), ({7: 0.2}, 30)])
def test_a_size_is_searched_fully_until_so_many_moves(until: dict[int, float], last: int) -> None:
    episode = after(0, full_share=1.0, full_until=until)
    full = []
    for plies in range(31):
        episode.moves, episode.drawn = [25] * plies, False
        full.append(episode.plan(STAGE, 99).visits == STAGE.full_visits)
    assert full == [plies <= last for plies in range(31)]


def test_playouts_and_opening_moves_believe_nothing() -> None:
    episode = after(0)
    for opening, evaluator in ((0, "rollouts"), (99, "network")):
        episode.openings = opening
        episode.plan(replace(STAGE, evaluator=evaluator), 99)
        episode.move(uniform_result(episode, 0.95), "puct")
    assert episode.values == [-1.0, -1.0]


def test_surprise_is_the_divergence_of_the_target_from_the_prior() -> None:
    target, prior = np.array([0.5, 0.5, 0.0]), np.array([0.25, 0.5, 0.25])
    assert divergence(target, prior) == pytest.approx(0.5 * np.log(2))
    assert divergence(prior, prior) == 0
    for evaluator, surprise in (("network", 0.0), ("rollouts", None)):
        episode = after(0, full_share=1.0)
        episode.plan(replace(STAGE, evaluator=evaluator), 99)
        episode.move(uniform_result(episode), "puct")
        assert episode.targets[0].surprise == surprise


@pytest.mark.parametrize(("temperature", "least", "most"), [(1.0, 190, 200), (100.0, 1, 30)])
def test_a_higher_opening_temperature_gives_unlikely_moves_a_chance(temperature: float, least: int, most: int) -> None:
    episode = after(0, opening_temperature=temperature)
    episode.openings = 1
    likely = 12
    prior = np.where(uniform_result(episode).prior > 0, np.float32(0.0004), np.float32(0))
    prior[likely] += 1 - prior.sum()
    result = replace(uniform_result(episode), prior=prior)
    drawn = [episode.move(result, "gumbel") for _ in range(200)]
    assert least <= drawn.count(likely) <= most


def test_the_temperature_drops_after_so_many_moves() -> None:
    dropping = {"temperature": 1.0, "temperature_end": 0.0, "temperature_plies": 7}
    assert [after(plies, **dropping)._temperature() for plies in (0, 6, 7, 30)] == [1.0, 1.0, 0.0, 0.0]
    assert 0 < after(7, **(dropping | {"temperature_plies": 0}))._temperature() < 1, "without it, it falls move by move"


def test_a_game_has_no_more_opening_moves_than_moves() -> None:
    episode = after(3)
    episode.openings = 9
    assert episode.record(1, "passes").openings == len(episode.moves) == 3
