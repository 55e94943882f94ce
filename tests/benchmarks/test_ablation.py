"""What parts of the recipe are worth: the arms, each alone in its folder, and their matches."""

import pytest

from benchmarks import ablation
from gozero.nets import model, weights
from gozero.system.console import BAD_INPUT
from gozero.system.options import SettingsError
from training.settings import presets

MANY = 10_000_000  # evaluations: generations as long as the base's


def settings_of(arm, evaluations, seed):
    return presets.load(ablation.BASE, f"arm {arm}", ablation.changes_of(arm, evaluations, seed))


def test_an_arm_differs_from_the_recipe_in_its_changes_alone():
    recipe, arm = (settings_of(name, MANY, 1).to_dict() for name in (ablation.RECIPE, "puct"))
    assert recipe["selfplay"].pop("root") == "gumbel"
    assert arm["selfplay"].pop("root") == "puct"
    assert arm == recipe


@pytest.mark.parametrize("arm", ablation.ARMS)
def test_every_named_arm_has_settings(arm):
    settings = settings_of(arm, 1_200_000, 7)
    assert (settings.evaluations, settings.seed) == (1_200_000, 7)
    assert settings.generation_rows == 1_000  # twenty generations of sixty evaluations a row


def test_changes_can_be_given_instead_of_a_name():
    settings = settings_of("features=3,learner.rates={0=1e-3,900=5e-4},selfplay.c_scale=0.3", MANY, 1)
    assert settings.features == 3
    assert settings.learner.rates == {0: 1e-3, 900: 5e-4}
    assert settings.selfplay.c_scale == 0.3


@pytest.mark.parametrize(
    ("arm", "told"), [("nonsense", "no arm nonsense; there are recipe"), ("features=9", "arm features=9: features = 9")]
)
def test_a_wrong_arm_is_one_line_before_anything_is_trained(arm, told, tmp_path, capsys):
    with pytest.raises(SettingsError, match=told):
        settings_of(arm, MANY, 1)
    assert ablation.main(["--arms", arm, "--folder", str(tmp_path / "runs")]) == 2
    assert told in capsys.readouterr().err
    assert not (tmp_path / "runs").exists()


def test_matches_that_cannot_be_are_one_line_before_anything_is_trained(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ablation, "train", lambda *asked: pytest.fail("it was trained"))
    assert ablation.main(["--games", "25", "--folder", str(tmp_path)]) == 2
    assert "games = 25: expected an even number" in capsys.readouterr().err


def test_a_run_that_is_refused_ends_it(tmp_path, monkeypatch):
    """As that of a folder in which another process works is."""
    begun = []
    monkeypatch.setattr(ablation, "train", lambda arm, *rest: (begun.append(arm), BAD_INPUT)[1])
    assert ablation.main(["--arms", "puct", "bf16", "--folder", str(tmp_path)]) == BAD_INPUT
    assert begun == ["puct"]


def test_a_match_needs_the_weights_of_both(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(ablation, "train", lambda *asked: 0)
    assert ablation.main(["--folder", str(tmp_path)]) == 2
    assert "recipe-1" in capsys.readouterr().err.splitlines()[-1]


def test_an_arm_is_trained_as_a_run_of_the_base(tmp_path, monkeypatch):
    commands = []
    monkeypatch.setattr(ablation.subprocess, "call", lambda command: (commands.append(command), 0)[1])
    assert ablation.main(["--arms", "puct", "--evaluations", "600000", "--no-matches", "--folder", str(tmp_path)]) == 0
    ((_, _, module, *words),) = commands
    assert (module, words[:5]) == ("gozero", f"train --config {ablation.BASE} --run {tmp_path / 'puct-1'}".split())
    settings = presets.load(ablation.BASE, "words", words[6::2])
    assert (settings.evaluations, settings.seed, settings.selfplay.root) == (600_000, 1, "puct")


def test_what_was_trained_plays(tmp_path, monkeypatch):
    config, played = model.config("b1c8"), []
    for arm in ("recipe", "features=2"):
        folder = ablation.folder_of(tmp_path, arm, 1)
        folder.mkdir()
        weights.save(folder / "weights.pt", model.build(config, seed=1), config, game="go")
    monkeypatch.setattr(ablation, "train", lambda *asked: 0)
    monkeypatch.setattr(ablation.runner, "play", lambda field, folder, stop: (played.append(field), 0)[1])
    options = "--arms recipe features=2 --games 2 --visits 3 --folder".split()
    assert ablation.main([*options, str(tmp_path)]) == 0
    (field,) = played
    assert [(pair.a, pair.b) for pair in field.pair] == [("recipe-1", "features=2-1")]
    assert [entrant.player for entrant in field.entrant] == [
        f"weights:{tmp_path / name / 'weights.pt'}:3" for name in ("recipe-1", "features=2-1")
    ]


def test_a_seed_that_is_given_twice_counts_once(tmp_path, monkeypatch):
    trained, played = [], []
    monkeypatch.setattr(ablation, "train", lambda arm, *rest: (trained.append((arm, rest[2])), 0)[1])
    monkeypatch.setattr(ablation, "matches", lambda pairs, options: played.extend(pairs))
    monkeypatch.setattr(ablation.runner, "play", lambda *asked: 0)
    options = ["--arms", "recipe", "puct", "--seeds", "1", "1", "2", "--folder", str(tmp_path)]
    assert ablation.main(options) == 0
    assert trained == [("recipe", 1), ("puct", 1), ("recipe", 2), ("puct", 2)]
    assert played == ablation.pairings(["recipe", "puct"], [1, 2])


def test_an_arm_that_diverges_leaves_the_others_their_matches(tmp_path, monkeypatch, capsys):
    played = []
    monkeypatch.setattr(ablation, "train", lambda arm, *rest: int(arm == "puct"))
    monkeypatch.setattr(ablation, "matches", lambda pairs, options: played.extend(pairs))
    monkeypatch.setattr(ablation.runner, "play", lambda *asked: 0)
    assert ablation.main(["--arms", "recipe", "puct", "bf16", "--folder", str(tmp_path)]) == 0
    assert capsys.readouterr().err.startswith("puct, seed 1: it failed")
    assert played == [(("recipe", 1), ("bf16", 1))]
