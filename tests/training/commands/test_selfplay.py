"""Self-play: the same seed plays the same games, full searches alone make rows, and games stay in flight."""

from itertools import islice
from pathlib import Path

import numpy as np
import pytest

from gozero import games
from gozero.evaluators.base import Evaluation
from gozero.evaluators.rollout import RolloutEvaluator
from gozero.games.game import BLACK, NOT_OVER, TO_PLAY
from gozero.games.go import go, header
from gozero.nets import model, weights
from tests.training.games import game_of, random_record
from tests.training.refusals import Refused
from training.commands import records as records_command
from training.commands import selfplay
from training.records import records, scoring
from training.records.records import Record, Writer
from training.selfplay.leaves import stage_search
from training.selfplay.pool import Pool
from training.settings.config import SelfPlaySettings, Stage
from training.storage.storage import alone

STAGE = Stage(rows=1, sizes={5: 1.0}, full_visits=32, cheap_visits=8, evaluator="rollouts")
SIX = SelfPlaySettings(games=6)


def play(games: int, seed: int = 1, *, settings: SelfPlaySettings = SIX, generation: int = 99) -> list[Record]:
    pool = Pool(game_of(5), settings, (seed,))
    pool.use(RolloutEvaluator(game_of(5), seed=seed), STAGE, generation)
    return list(islice(pool.play(float("inf")), games))


def texts(games: list[Record]) -> list[bytes]:
    return [records.encode(game) for game in games]


def test_every_game_is_legal_and_ends_as_it_says() -> None:
    game = game_of(5)
    for record in play(12):
        state, history = scoring.begin(game, record.komi, len(record.moves))
        legal = np.zeros(game.actions, np.uint8)
        for action in record.moves.tolist():
            assert game.outcome(state) == NOT_OVER
            assert scoring.ending(game, state) is None, "the game went on after its end"
            game.legal(state, history, legal)
            assert legal[action], game.to_text(state)
            game.step(state, history, action)
        assert scoring.ending(game, state) == record.ending
        assert scoring.final_score(game, state) == record.score


def test_full_searches_alone_make_rows() -> None:
    share = SelfPlaySettings(games=6, full_share=0.25)
    games = play(40, settings=share)
    moves = sum(len(game.moves) for game in games)
    rows = sum(game.rows for game in games)
    assert 0.15 < rows / moves < 0.35
    opening = [target.ply < game.openings for game in games for target in game.targets]
    assert any(opening) and not all(opening), (
        "opening moves are drawn from the raw policy, yet a share of them is searched and recorded"
    )
    assert not any(game.rows for game in play(6, settings=SelfPlaySettings(games=6, full_share=0.0)))
    for game in play(6, settings=SelfPlaySettings(games=6, full_share=1.0)):
        assert game.rows == len(game.moves)


def test_komi_is_mostly_the_usual_one_and_now_and_then_a_whole_number() -> None:
    generator = np.random.default_rng(1)
    komis = np.array([scoring.draw_komi("go", 13, generator) for _ in range(4000)])
    assert ((komis * 2) % 1 == 0).all()
    assert 0.2 < (komis % 1 == 0).mean() < 0.3
    near = (abs(komis - 7.5) <= 1.5).mean()
    assert 0.8 < near < 0.9  # 80 % drawn there, and some of the wide ones fall there
    assert komis.std() > 2
    assert np.median([scoring.draw_komi("go", 7, generator) for _ in range(500)]) == 9.5
    assert scoring.draw_komi("nogo", 9, generator) == 0


def test_komi_may_be_fixed() -> None:
    assert {record.komi for record in play(8, settings=SelfPlaySettings(games=6, varied_komi=False))} == {7.5}
    assert len({record.komi for record in play(8)}) > 1


def test_a_settled_board_ends_the_game() -> None:
    game = game_of(5)
    diagram_state = game.set_up(np.array([1, 1, 1, 1, 1] * 2 + [1, 0, 1, 0, 1] + [1, 1, 1, 1, 1] * 2, np.uint8), 2)
    diagram_state[1] = 24  # PLY
    assert scoring.ending(game, diagram_state) == "settled"
    assert scoring.final_score(game, diagram_state) == 25 - 7.5


def test_the_search_counts_as_the_record_does() -> None:
    """White's stone is dead in pass-alive territory: as the board stands it makes three points neutral, which decides
    the game.
    """
    game, history = game_of(5), np.zeros(60, np.uint64)
    rows = [[1, 1, 1, 1, 1], [1, 0, 1, 0, 1], [1, 1, 1, 1, 1], [1, 0, 2, 0, 1], [1, 1, 1, 1, 1]]
    state = game.set_up(np.array(rows, np.uint8).reshape(-1), BLACK)
    header.set_komi(state, 22.5)
    for _ in range(2):
        assert game.outcome(state) == NOT_OVER
        game.step(state, history, game.pass_action)
    assert scoring.final_score(game, state) == 2.5
    assert (game.outcome(state), go.outcome(state)) == (1, -1)


@pytest.mark.parametrize("size", [5, 7])
def test_the_settled_outcome_is_the_sign_of_the_settled_score(size: int) -> None:
    game = game_of(size)
    for seed in range(20):
        record = random_record(size, seed)
        state, history = scoring.begin(game, record.komi, len(record.moves))
        for action in record.moves.tolist():
            game.step(state, history, action)
            over = state.copy()
            over[go.PASSES] = 2
            assert game.outcome(over) == np.sign(go.settled_score(over))


def test_the_root_follows_the_stage() -> None:
    network = Stage(rows=1, sizes={5: 1.0}, full_visits=32)
    assert stage_search(SelfPlaySettings(), network).root == "gumbel"
    assert stage_search(SelfPlaySettings(), STAGE).root == "puct"
    puct = SelfPlaySettings(root="puct", dirichlet_total=21.9, score_weight=0.3)
    for stage, weight, forced, points in ((network, 0.25, 2.0, 0.3), (STAGE, 0.0, 0.0, 0.0)):
        found = stage_search(puct, stage)
        assert (found.dirichlet_weight, found.dirichlet_total, found.forced_playouts) == (weight, 21.9, forced)
        assert found.score_weight == points


class BlackWins:
    """An evaluator that is sure of Black's victory, and prefers no move."""

    def evaluate(self, states: np.ndarray) -> Evaluation:
        values = np.where(states[:, TO_PLAY] == BLACK, 0.99, -0.99).astype(np.float32)
        return Evaluation(
            np.zeros((len(states), game_of(5).actions), np.float32), values, np.zeros(len(states), np.float32)
        )


def test_games_are_conceded_once_unresigned_ones_have_shown_that_it_is_safe() -> None:
    settings = SelfPlaySettings(games=6, unresigned_share=0.5, full_share=1.0, resign_generations=0)
    pool, stage = Pool(game_of(5), settings, (3,)), Stage(rows=1, sizes={5: 1.0}, full_visits=8, cheap_visits=1)
    pool.use(BlackWins(), stage, 1)
    games = list(pool.play(60, unit="games"))
    assert not any(game.conceded for game in games), "too little is known"
    unresigned = [game for game in games if game.unresigned]
    assert 15 < len(unresigned) < 45
    assert sorted(pool.resign.peaks) == sorted(
        game.peaks if game.score > 0 else game.peaks[::-1] for game in unresigned
    )
    pool.resign.peaks.extend([(0.99, -1.0)] * 200)
    again = Pool(game_of(5), settings, (3,))
    again.load_state_dict(pool.state_dict())
    for each in (pool, again):
        each.use(BlackWins(), stage, 1)
    found = [list(each.play(25, unit="games")) for each in (pool, again)]
    assert texts(found[0]) == texts(found[1]) and pool.resign == again.resign
    begun_since = [game for game in found[0][6:] if not game.unresigned and len(game.moves) > 12]
    assert begun_since and all(game.conceded is not None for game in begun_since)
    for game in begun_since:
        late = [target for target in game.targets if target.ply >= (game.conceded or 0)]
        assert len(late) <= 0.5 * (len(game.moves) - (game.conceded or 0)) + 2, "a conceded game is played cheaply"


def test_command_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    arguments = [
        "--weights", "none", "--games", "3", "--size", "5", "--full-visits", "16", "--cheap-visits", "4", "--out",
        str(tmp_path),
    ]  # fmt: skip
    assert selfplay.main(arguments) == 0
    shard = records.read(tmp_path / "000001.gzr")
    assert (len(shard.records), shard.corrupt, shard.settings["size"]) == (3, 0, 5)
    assert shard.settings["simulator"] in ("pachi", "numba")
    captured = capsys.readouterr()
    assert captured.out == ""
    assert "3 games" in captured.err
    assert selfplay.main(arguments) == 0
    assert texts(records.read(tmp_path / "000001.gzr").records) == texts(shard.records)
    both = shard.records + records.read(tmp_path / "000002.gzr").records
    assert len({record.moves.tobytes() for record in both}) == 6, "what is added is new, with the same seed too"


@pytest.mark.parametrize(
    ("game", "size", "suffix"),
    [
        ("nogo", 5, "sgf"), ("othello", 4, "sgf"), ("gomoku", 5, "sgf"), ("connect4", 7, "txt"),
        ("tictactoe", 3, "txt"), ("simple_go", 5, "sgf"),
    ],
)  # fmt: skip
def test_games_alone_and_their_export_for_every_game(
    game: str, size: int, suffix: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    visits = ["--full-visits", "8", "--cheap-visits", "4"]
    options = ["--weights", "none", "--game", game, "--size", str(size), "--games", "2", *visits]
    assert selfplay.main([*options, "--out", str(tmp_path)]) == 0
    shard = records.read(tmp_path / "000001.gzr")
    assert (shard.settings["game"], {record.size for record in shard.records}) == (game, {size})
    assert records_command.main(["check", str(tmp_path)]) == 0
    assert records_command.main(["export", str(tmp_path), "--sgf", str(tmp_path / "out")]) == 0
    assert [path.suffix for path in (tmp_path / "out").iterdir()] == [f".{suffix}"] * 2
    capsys.readouterr()


def test_games_alone_are_those_of_the_weights(tmp_path: Path) -> None:
    """Without --game and --size: the game and the board that the file was made for."""
    config = model.config("b1c8", games.make("nogo"))
    net, origin = model.build(config, seed=1), {"generation": 42}
    weights.save(tmp_path / "net.pt", net, config, game="nogo", size=4, provenance=origin)
    arguments = [
        "--weights", str(tmp_path / "net.pt"), "--games", "2", "--full-visits", "8", "--cheap-visits", "4", "--out",
        str(tmp_path),
    ]  # fmt: skip
    assert selfplay.main(arguments) == 0
    shard = records.read(tmp_path / "000001.gzr")
    assert (shard.settings["game"], shard.settings["size"], len(shard.records)) == ("nogo", 4, 2)
    assert {record.generation for record in shard.records} == {42}


def test_games_alone_are_those_begun_first_not_the_shortest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[Record] = []
    monkeypatch.setattr(Writer, "append", lambda writer, record: kept.append(record))
    options = "--weights none --game breakthrough --size 5 --games 8 --full-visits 4 --cheap-visits 2 --out"
    assert selfplay.main([*options.split(), str(tmp_path)]) == 0
    assert sorted(record.number for record in kept) == list(range(8))


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (["--game", "chess"], "unknown game 'chess'"),
        (["--game", "othello", "--size", "7"], "board size 7"),
        (["--weights", "best.pt", "--game", "nogo"], "it plays go, not nogo"),
        (["--weights", "nowhere.pt"], "nowhere.pt"),
        (["--size", "40"], "40"),
        (["--games", "0"], "--games: '0' is not a whole number from 1"),
        (["--full-visits", "0"], "full_visits = 0"),
        (["--seed", "-1"], "--seed: '-1' is not a whole number"),
        (["--threads", "-1"], "--threads: '-1' is not a whole number"),
        (["--threads", "1025"], "--threads: '1025' is not a whole number from 0 to 1,024"),
        (["--hours", "1"], "unrecognized arguments: --hours 1"),
    ],
)
def test_bad_requests_are_one_line(change: list[str], words: str, tmp_path: Path, refused: Refused) -> None:
    assert words in refused(selfplay.main, ["--weights", "none", "--out", str(tmp_path), *change])


def test_ctrl_c_is_one_line_that_says_where_the_games_are(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    def pressed(*_: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(Writer, "append", pressed)
    game = ["--game", "tictactoe", "--games", "2", "--full-visits", "4", "--out", str(tmp_path)]
    assert selfplay.main(["--weights", "none", *game]) == 130
    kept = f"finished games are in {tmp_path}"
    assert capsys.readouterr().err == f"gozero selfplay: interrupted; {kept}\n"


def test_a_folder_that_cannot_be_used_is_one_line(tmp_path: Path, refused: Refused) -> None:
    options = ["--weights", "none", "--games", "1", "--size", "3", "--out"]
    assert f"folder {__file__}: File exists; " in refused(selfplay.main, [*options, __file__])
    with alone(tmp_path):  # of two at once both would write the same games into the same shard
        assert f"{tmp_path} is in use by another gozero command" in refused(selfplay.main, [*options, str(tmp_path)])
