"""Settings: what is accepted, what is refused, and in which words."""

import json
from dataclasses import fields
from pathlib import Path

import pytest

from gozero.system.options import SettingsError
from tests.training.refusals import one_line
from training.settings import config, presets
from training.settings.config import LoopSettings, Stage


@pytest.mark.parametrize("name", presets.names())
def test_presets_load(name: str) -> None:
    settings = presets.load(presets.path_of(name))
    assert settings.stage
    assert config.from_values(LoopSettings, settings.to_dict(), "round trip") == settings


def test_a_preset_for_another_game_has_input_features_of_that_game() -> None:
    file = presets.path_of("connect4")
    assert presets.load(file, "here", ["game=othello"]).features == 1
    assert presets.load(file, "here", ["game=nogo"]).features == 2
    assert presets.load(file, "here", ["game=othello", "features=2"]).features == 2, "the start says what is wrong"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("base = '{own}'", "presets.toml: No such file"),
        ("base = 'tiny'\nnetwork = {{ a = 1 }}", "network = {'a': 1}: expected text"),
    ],
)
def test_a_base_that_does_not_fit_is_one_line(text: str, words: str, tmp_path: Path) -> None:
    (tmp_path / "presets.toml").write_text(text.format(own=tmp_path / "presets"))
    with pytest.raises(SettingsError) as caught:
        presets.load(tmp_path / "presets.toml")
    assert words.lower() in str(caught.value)


def test_every_setting_says_its_unit() -> None:
    defaults = LoopSettings()
    for part in (defaults, defaults.selfplay, defaults.replay, defaults.learner, defaults.stage[0]):
        for item in fields(part):
            value = getattr(part, item.name)
            if not hasattr(value, "__dataclass_fields__") and not isinstance(value, tuple):
                assert item.metadata["unit"], item.name


@pytest.mark.parametrize(
    ("values", "words"),
    [
        ({"thread": 2}, "unknown setting 'thread'"),
        ({"learner": {"learning_rat": 1}}, "learner: unknown setting 'learning_rat'"),
        ({"threads": -1}, "threads = -1 is out of range: from 0 to 1,024"),
        ({"hours": float("nan")}, "hours = nan is out of range"),
        ({"threads": 1.5}, "threads = 1.5: expected a whole number"),
        ({"threads": True}, "threads = True: expected a whole number"),
        ({"learner": {"batch": 0}}, "learner: batch = 0 is out of range"),
        ({"learner": 3}, "learner = 3: expected a table"),
        ({"learner": {"rates": {"x": 1e-3}}}, "learner: rates: step 'x' is out of range"),
        ({"learner": {"rates": {"-1": 1e-3}}}, "step '-1' is out of range"),
        ({"learner": {"rates": {"5": 2.0}}}, "2.0 for step 5: expected a step size from 1e-08 to 1"),
        ({"learner": {"rates": {"5": True}}}, "True for step 5: expected"),
        ({"learner": {"rates": 3}}, "learner: rates = 3: expected a table"),
        ({"norm": "layer"}, "norm = 'layer': choose one of"),
        ({"value_head": "number"}, "value_head = 'number': choose one"),
        ({"selfplay": {"root": "uct"}}, "choose one of gumbel, puct"),
        ({"selfplay": {"size_games": {"20": 8}}}, "size_games: board size '20' is out of range"),
        ({"selfplay": {"size_games": {"19": 0}}}, "size_games: 0 for board size 19: expected a whole number"),
        ({"selfplay": {"size_games": "{9: 4}"}}, "size_games = '{9: 4}': expected a table, such as {batch = 64} or {9 = 4}"),
        ({"selfplay": {"full_until": {"20": 0.2}}}, "full_until: board size '20' is out of range"),
        ({"selfplay": {"full_until": {"19": 0}}}, "full_until: 0 for board size 19: expected a share of the points"),
        ({"selfplay": {"full_until": {"19": "a"}}}, "full_until: 'a' for board size 19: expected a share of the points"),
        ({"stage": []}, "stage is empty"),
        ({"stage": {"rows": 5}}, "expected a list of tables"),
        ({"stage": [{"rows": 5}]}, "setting 'sizes' is missing"),
        ({"stage": [{"rows": 5, "sizes": {"20": 1}}]}, "board size '20' is out of range"),
        ({"stage": [{"rows": 5, "sizes": {"²": 1}}]}, "board size '²' is out of range"),
        ({"replay": {"size_weights": {"19": -1}}}, "-1 for board size 19: expected a weight from 0 to 1000"),
        ({"replay": {"size_weights": {"20": 1}}}, "board size '20' is out of range: 2 to 19"),
        ({"stage": [{"rows": 5, "sizes": {"9": -1}}]}, "-1 for board size 9: expected a share"),
        ({"stage": [{"rows": 5, "sizes": {"9": 0}}]}, "the shares sum to 0"),
    ],
)
def test_refusals_are_one_clear_line(values: dict, words: str) -> None:
    with one_line(SettingsError, words):
        config.from_values(LoopSettings, values, "file.toml")


def test_unreadable_files_name_their_full_path(tmp_path: Path) -> None:
    (tmp_path / "broken.toml").write_text("hours = = 2")
    for name in ("broken.toml", "missing.toml"):
        with pytest.raises(SettingsError, match=str(tmp_path / name)):
            presets.load(tmp_path / name)


def test_stages_follow_each_other_by_rows() -> None:
    first, second, last = (Stage(rows=rows, sizes={7: 1.0}) for rows in (10, 20, 5))
    settings = LoopSettings(stage=(first, second, last))
    assert [settings.stage_at(rows) for rows in (0, 9, 10, 29, 30, 1000)] == [first, first, second, second, last, last]


@pytest.mark.parametrize("given", [{"7": 0.02, "9": 0.11, "13": 0.87}, {"7": 2, "9": 11, "13": 87}])
def test_shares_are_parts_of_one(given: dict[str, float]) -> None:
    read = config.from_values(LoopSettings, {"stage": [{"rows": 5, "sizes": given}]}, "file.toml").stage[0].sizes
    assert read == {7: 0.02, 9: 0.11, 13: 0.87}  # as they were written: a run that continues compares them


def test_the_settings_of_older_runs_are_read(tmp_path: Path) -> None:
    values = LoopSettings().to_dict()
    values["selfplay"]["seats"] = values["selfplay"].pop("slots") + 2
    (tmp_path / "settings.json").write_text(json.dumps(values))
    assert config.saved(tmp_path / "settings.json").selfplay.slots == LoopSettings().selfplay.slots + 2
