"""What parts of the recipe are worth: the arms, and matches that are not played twice."""

import pytest

from benchmarks import ablation
from gozero.options import SettingsError

MANY = 10_000_000  # evaluations: generations as long as the base's


def test_an_arm_differs_from_the_recipe_in_its_changes_alone():
    recipe, arm = (ablation.settings_of(name, MANY, 1).to_dict() for name in (ablation.RECIPE, "puct"))
    assert recipe["selfplay"].pop("root") == "gumbel"
    assert arm["selfplay"].pop("root") == "puct"
    assert arm == recipe


@pytest.mark.parametrize("arm", ablation.ARMS)
def test_every_named_arm_has_settings(arm):
    settings = ablation.settings_of(arm, 1_200_000, 7)
    assert (settings.evaluations, settings.seed) == (1_200_000, 7)
    assert settings.generation_rows == 1_000  # twenty generations of sixty evaluations a row


def test_changes_can_be_given_instead_of_a_name():
    settings = ablation.settings_of("features=3,learner.rates={0=1e-3,900=5e-4},selfplay.c_scale=0.3", MANY, 1)
    assert settings.features == 3
    assert settings.learner.rates == {0: 1e-3, 900: 5e-4}
    assert settings.selfplay.c_scale == 0.3


@pytest.mark.parametrize(
    ("arm", "told"), [("nonsense", "no arm nonsense; there are recipe"), ("features=9", "arm features=9: features = 9")]
)
def test_a_wrong_arm_is_one_line_before_anything_is_trained(arm, told, tmp_path, capsys):
    with pytest.raises(SettingsError, match=told):
        ablation.settings_of(arm, MANY, 1)
    assert ablation.main(["--arms", arm, "--folder", str(tmp_path / "runs")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_a_match_whose_games_are_all_there_is_not_played_again(tmp_path, capsys):
    for seed, winners in ((1, "AAAB"), (2, "AABB")):
        games = "".join(f"A,{winner},B+1.5\n" for winner in winners)
        (tmp_path / f"recipe-puct-{seed}.csv").write_text(f"black,winner,result\n{games}", encoding="utf-8")
    options = ["--arms", "puct", "--seeds", "1", "2", "--matches", "only", "--games", "4", "--folder", str(tmp_path)]
    assert ablation.main(options) == 0
    printed = capsys.readouterr().out
    assert "recipe against puct, seed 1: 3 of 4" in printed
    assert "recipe against puct, all seeds: 5 of 8" in printed
    assert not list(tmp_path.glob("*/weights.pt"))
