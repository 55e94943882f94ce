"""A pool of games in flight: it plays as a plain loop would, comes back from a checkpoint, and its threads change no
game.
"""

import threading
from collections.abc import Iterator
from dataclasses import replace
from itertools import islice

import numpy as np
import pytest

from gozero import games
from gozero.evaluators import cuda_evaluator, openvino_evaluator, torch_evaluator
from gozero.evaluators.base import Evaluation
from gozero.evaluators.cuda_evaluator import CudaEvaluator
from gozero.evaluators.openvino_evaluator import OpenVINOEvaluator
from gozero.evaluators.rollout import RolloutEvaluator, RowEvaluator
from gozero.nets import model
from gozero.search.search import Search
from gozero.system.machine import available_threads
from gozero.system.options import SettingsError
from tests.training.games import game_of
from training.records import records
from training.selfplay.episode import Episode
from training.selfplay.leaves import Resources, leaf_evaluator, network_evaluator, stage_search
from training.selfplay.pool import Pool
from training.settings.config import SelfPlaySettings, Stage
from training.settings.presets import load, path_of

STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=32, cheap_visits=8, evaluator="rollouts")
SIX = SelfPlaySettings(games=6, groups=1)


def pool_of(settings: SelfPlaySettings = SIX) -> Pool:
    return Pool(game_of(5), settings, (1,))


def play(pool: Pool, rows: float, generation: int = 99) -> list[bytes]:
    """The records of a stretch of self-play that begins, as after a checkpoint, with new searches."""
    pool.use(RolloutEvaluator(game_of(5)), STAGE, generation)
    return [records.encode(record) for record in pool.play(rows)]


class Guess:
    """Evaluates by a hash of the position, whoever asks, in whatever batch; notes who asks and how many wait."""

    def __init__(self) -> None:
        self.game = game_of(5)
        self.waiting = self.most_waiting = 0
        self.threads: set[int] = set()

    def evaluate(self, states: np.ndarray) -> Evaluation:
        words = np.array([np.frombuffer(state.tobytes(), np.uint32).sum() for state in states], np.uint64)
        noise = np.sin(words[:, None] * np.arange(1, self.game.actions + 1)).astype(np.float32)
        return Evaluation(noise, noise[:, 0] / 4)

    def submit(self, states: np.ndarray) -> "Guessed":
        self.threads.add(threading.get_ident())
        self.waiting += 1
        self.most_waiting = max(self.waiting, self.most_waiting)
        return Guessed(self, states)


class Guessed:
    def __init__(self, guess: Guess, states: np.ndarray) -> None:
        self.guess, self.states, self.before = guess, states, states.copy()

    def result(self) -> Evaluation:
        assert np.array_equal(self.states, self.before), "a group's leaves were written while they were evaluated"
        self.guess.waiting -= 1
        return self.guess.evaluate(self.states)


NETWORK = replace(STAGE, evaluator="network")


def plain_loop(settings: SelfPlaySettings, seed: tuple[int, ...]) -> Iterator[bytes]:
    """What a pool of one group plays, as one loop over `Search.wave`."""
    game, started = game_of(5), settings.games

    def begin(tree: int, keep: bool) -> None:
        search.begin(tree, games[tree].plan(NETWORK, 99, keep=keep))

    games = [Episode.begin(game, settings, (*seed, 5, number), number) for number in range(started)]
    search_seed = int(np.random.default_rng([*seed, 5, 99, 0]).integers(2**63))
    search = Search(game, Guess(), stage_search(settings, NETWORK), started, search_seed)
    for tree in range(settings.games):
        begin(tree, keep=False)
    while True:
        for tree in search.wave():
            action = games[tree].move(search.result(tree), settings.root)
            ending = games[tree].play(action)
            if ending is None:
                begin(tree, search.advance(tree, action) and not games[tree].in_opening)
                continue
            finished, games[tree] = games[tree], Episode.begin(game, settings, (*seed, 5, started), started)
            started += 1
            begin(tree, keep=False)
            yield records.encode(finished.record(99, ending))


def test_one_group_plays_as_a_plain_loop_does() -> None:
    pool = pool_of()
    pool.use(Guess(), NETWORK, 99)
    found = [records.encode(record) for record in islice(pool.play(float("inf")), 12)]
    assert found == list(islice(plain_loop(SIX, (1,)), 12))


def test_evaluations_are_those_that_the_evaluator_gave(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also where a kept root loses moves: their visits are not made again, elsewhere."""
    asked: list[int] = []

    class Counted(Guess):
        def evaluate(self, states: np.ndarray) -> Evaluation:
            asked.append(len(states))
            found = super().evaluate(states)
            found.logits[:, -1] = -9.0  # no passes, so that no line of a search ends with a finished game
            return found

    def two_thirds(episode: Episode, generation: int) -> np.ndarray:
        return np.arange(episode.game.actions) % 3 != len(episode.moves) % 3

    monkeypatch.setattr(Episode, "_mask", two_thirds)
    group = pool_of(SelfPlaySettings(games=1, opening_share=0.0)).groups[0]
    group.use(Counted(), stage_search(group.settings, NETWORK), NETWORK, 99, 1, float("inf"))
    moves = 0
    while moves < 10:
        group.start()
        group.finish()
        if len(group.games[0].moves) > moves:
            moves += 1
            assert group.evaluations == sum(asked) <= moves * (NETWORK.full_visits + 1)


def test_searches_that_begin_anew_get_new_noise() -> None:
    pool = pool_of()
    pool.use(Guess(), NETWORK, 99)
    seeds = {pool.groups[0]._search.seed}  # type: ignore[union-attr]
    for _ in range(3):
        list(pool.play(1))
        pool.use(Guess(), NETWORK, 99)
        seeds.add(pool.groups[0]._search.seed)  # type: ignore[union-attr]
    assert len(seeds) == 4


def test_searches_that_begin_anew_stay_full_or_cheap() -> None:
    pool = pool_of(SelfPlaySettings(games=16, full_share=0.5))
    pool.use(Guess(), NETWORK, 99)
    drawn = [episode.full for episode in pool.games]
    assert 0 < sum(drawn) < len(drawn)
    for generation in (99, 99, 100):
        pool.use(Guess(), NETWORK, generation)
        assert [episode.full for episode in pool.games] == drawn
    for _ in range(64):
        pool.groups[0].start()
        pool.groups[0].finish()
    assert [episode.full for episode in pool.games] != drawn, "each move has a draw of its own"


@pytest.mark.parametrize("evaluator", ["network", "rollouts"])
def test_threads_change_no_game(evaluator: str) -> None:
    """Compared as sets: which group is done first is chance."""
    stage = replace(STAGE, evaluator=evaluator)
    played = {}
    for threads in (1, 3):
        pool = pool_of(SelfPlaySettings(games=10, groups=4, threads=threads))
        played[threads] = []
        for generation, rows in ((1, 30), (2, 50)):
            guess = Guess()
            pool.use(guess if evaluator == "network" else RolloutEvaluator(game_of(5)), stage, generation)
            played[threads].append(sorted(records.encode(record) for record in pool.play(rows)))
        if evaluator == "network":
            assert (len(guess.threads) > 1) == (threads > 1)
            assert guess.most_waiting >= 2, "no group was searched while another's leaves were evaluated"
        assert pool.clock["search"] > 0
    assert played[1] == played[3]


def test_an_evaluator_for_one_thread_is_asked_by_one() -> None:
    asked = set()

    class Simple:
        game = game_of(5)

        def evaluate(self, states: np.ndarray) -> Evaluation:
            asked.add(threading.get_ident())
            return Guess().evaluate(states)

    pool = pool_of(SelfPlaySettings(games=6, groups=3, threads=3))
    pool.use(Simple(), NETWORK, 1)
    assert sum(record.rows for record in pool.play(20)) >= 20
    assert asked == {threading.get_ident()}


@pytest.mark.parametrize("threads", [1, 2])
def test_an_evaluator_that_fails_is_heard(threads: int) -> None:
    class Broken(Guess):
        def evaluate(self, states: np.ndarray) -> Evaluation:
            raise RuntimeError("the GPU is gone")

    pool = pool_of(SelfPlaySettings(games=4, groups=2, threads=threads))
    pool.use(Broken(), NETWORK, 1)
    with pytest.raises(RuntimeError, match="the GPU is gone"):
        list(pool.play(10))


def test_every_group_does_its_share() -> None:
    pool = pool_of(SelfPlaySettings(games=6, groups=3, full_share=1.0))
    play(pool, 90)
    longest = 2.2 * 25
    assert all(30 <= group.rows <= 30 + longest for group in pool.groups)
    level = (sum(group.rows for group in pool.groups) + 90) / 3
    play(pool, 90)
    assert all(level <= group.rows <= level + longest for group in pool.groups), (
        "one group's surplus counts the next time"
    )


def test_a_pool_of_another_size_is_refused() -> None:
    state = pool_of().state_dict()
    with pytest.raises(ValueError, match="6 games were saved"):
        pool_of(SelfPlaySettings(games=4, groups=1)).load_state_dict(state)
    with pytest.raises(ValueError, match="1 groups were saved"):
        pool_of(SelfPlaySettings(games=6, groups=2)).load_state_dict(state)
    state["games"][0]["moves"] = [0] * 5_000  # under settings that let games last longer
    with pytest.raises(ValueError, match="a game of 5000 moves was saved"):
        pool_of().load_state_dict(state)


def test_a_size_may_have_a_number_of_games_of_its_own() -> None:
    settings = SelfPlaySettings(games=16, groups=2, size_games={5: 3})
    assert [len(group.games) for group in pool_of(settings).groups] == [2, 1]
    assert len(Pool(game_of(7), settings, (1,)).games) == 16


def test_the_leaves_of_a_stage_go_to_the_evaluator_of_the_device() -> None:
    net = model.build(model.config("b1c8"), seed=1)
    assert isinstance(leaf_evaluator("rollouts", game_of(5), None, 1, Resources()), RowEvaluator)
    assert isinstance(leaf_evaluator("network", game_of(5), net, 1, Resources()), OpenVINOEvaluator)
    shared = network_evaluator(net, game_of(5), Resources(2, batches=2))
    assert shared._compiled.get_property("NUM_STREAMS") == min(2, available_threads())  # no more than there are
    graphs = CudaEvaluator(net, game_of(5), device="cpu")
    assert network_evaluator(net, game_of(5), Resources(device="cuda"), graphs) is graphs


@pytest.mark.parametrize("precision", ["f32", "bf16", "int8"])
def test_self_play_computes_in_the_precision_that_is_set(precision: str, monkeypatch: pytest.MonkeyPatch) -> None:
    net = model.build(model.config("b1c8"), seed=1)
    monkeypatch.setattr(openvino_evaluator, "float_precision", lambda: "bf16")
    made = network_evaluator(net, game_of(5), Resources(1, precision=precision))
    assert isinstance(made, OpenVINOEvaluator)
    assert made.precision == precision


def test_a_precision_that_is_not_to_be_had_is_a_wrong_setting(monkeypatch: pytest.MonkeyPatch) -> None:
    net = model.build(model.config("b1c8"), seed=1)
    monkeypatch.setattr(openvino_evaluator, "float_precision", lambda: "f32")
    with pytest.raises(SettingsError, match=r"^selfplay\.precision: precision bf16 needs a processor with AVX-512 bf16"):
        network_evaluator(net, game_of(5), Resources(precision="bf16"))
    with pytest.raises(
        SettingsError, match=r"^selfplay\.precision = 'int8': only OpenVINO on a CPU computes in it; use auto$"
    ):
        network_evaluator(net, game_of(5), Resources(device="cuda", precision="int8"))


@pytest.mark.parametrize(
    ("name", "kind"), [("go", "CudaEvaluator"), ("nogo", "TorchEvaluator"), ("tictactoe", "TorchEvaluator")]
)
def test_a_gpu_evaluates_packed_positions_of_go_alone(name: str, kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    for module, evaluator in ((cuda_evaluator, "CudaEvaluator"), (torch_evaluator, "TorchEvaluator")):
        monkeypatch.setattr(
            module,
            evaluator,
            type(evaluator, (), {"__init__": lambda self, net, game, device="cuda", precision="auto": None}),
        )
    game = games.make(name)
    chosen = network_evaluator(model.build(model.config("b1c8", game), seed=1), game, Resources(device="cuda"))
    assert type(chosen).__name__ == kind


def test_the_preset_for_a_gpu_keeps_two_groups_a_thread() -> None:
    settings = load(path_of("gpu13"), "gpu13").selfplay
    assert settings.slots == settings.processes
    assert settings.groups == 2 * settings.threads
