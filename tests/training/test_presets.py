"""Presets and what the command line lays over them."""

import pytest

from training import presets
from training.config import ConfigError, LoopSettings


def load(*overrides: str) -> LoopSettings:
    return presets.load(presets.path_of("tiny"), "preset tiny", overrides)


def test_the_table_lists_each_preset_with_what_it_is_for() -> None:
    lines = presets.table().splitlines()
    assert [line.split()[0] for line in lines] == presets.names()
    assert {"go13", "go7", "tiny", "s2", "s3", "s4"} <= set(presets.names())
    assert all(len(line.split()) > 4 and "#" not in line for line in lines)


def test_a_wrong_name_lists_the_presets() -> None:
    with pytest.raises(ConfigError, match=r"no preset is called 'go14'; there are .*go13, go7.*--config FILE\.toml"):
        presets.path_of("go14")


def test_overrides_reach_every_kind_of_setting() -> None:
    stages = ("stage.2.full_visits=9", "stage.1.sizes={7=1, 9=3}")
    settings = load("seed=7", "network=b6c64", "learner.batch=64", "selfplay.root=puct", *stages)
    assert (settings.network, settings.learner.batch, settings.seed, settings.selfplay.root) == ("b6c64", 64, 7, "puct")
    assert settings.stage[1].full_visits == 9
    assert settings.stage[0].sizes == {7: 0.25, 9: 0.75}


def test_the_command_lines_own_options_come_last() -> None:
    settings = presets.load(presets.path_of("tiny"), "tiny", ["threads=3"], {"threads": 2, "hours": None})
    assert settings.threads == 2


@pytest.mark.parametrize(
    ("assignment", "words"),
    [
        ("learner.batch", "expected KEY=VALUE"),
        ("learner.batch=x", "preset tiny: learner: batch = 'x': expected int, got str"),
        ("learner.batsh=3", "preset tiny: learner: unknown setting 'batsh'"),
        ("learner.batch.size=3", "learner.batch holds no settings"),
        ("learner.batch.size.x=3", "no 'size' there: it is a single value"),
        ("stage.3.rows=4", "no '3' there: there are 2 stages"),
        ("stage.rows=4", "stage holds no settings; stages are stage.1"),
    ],
)
def test_a_bad_override_is_one_clear_line(assignment: str, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        load(assignment)
    assert words in str(caught.value)
    assert "\n" not in str(caught.value)
