"""Variants of the search: read, played against each other, judged by a deep search."""

import csv
from pathlib import Path

import pytest

from benchmarks import variants
from gozero.errors import ChoiceError
from gozero.search.settings import SearchSettings
from tests.benchmarks.labels import labelled


def test_a_variant_differs_by_what_it_names() -> None:
    usual = SearchSettings(leaves=4)
    assert variants.variant("-", usual) == usual
    assert variants.variant("lcb=1.5,leaves=2,root=gumbel", usual) == SearchSettings(lcb=1.5, leaves=2, root="gumbel")


@pytest.mark.parametrize(
    "text, message",
    [
        ("speed=2", "no search setting is named 'speed'"),
        ("leaves=two", "leaves = 'two': expected int"),
        ("lcb=-1", "lcb"),
    ],
)
def test_what_is_no_variant_is_named(text: str, message: str) -> None:
    with pytest.raises(ChoiceError, match=message):
        variants.variant(text, SearchSettings())


def test_a_match_is_printed_and_listed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    listed = tmp_path / "games.csv"
    words = "match lcb=2.5 lcb=0 --size 7 --visits 2 --games 2 --threads 1 --csv"
    assert variants.main([*words.split(), str(listed)]) == 0
    assert "lcb=2.5 against lcb=0: " in capsys.readouterr().out
    with listed.open(encoding="utf-8") as file:
        games = list(csv.DictReader(file))
    assert [game["black"] for game in games] == ["A", "B"] and all(game["result"] for game in games)


def test_regret_is_none_for_what_chose_the_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variants, "DEEP", 40)
    positions = labelled(tmp_path, ([], ["D4"], ["D4", "C3"], ["E5", "C3", "E3"]))
    labels = tmp_path / "labels.npz"
    words = f"regret lcb=0 leaves=1 --visits 40 --threads 1 --yardstick {positions} --labels {labels}"
    for _ in range(2):
        assert variants.main(words.split()) == 0
        told = capsys.readouterr().out
        assert "4 positions: regret " in told and "+0.0000 +- 0.0000" in told
    assert "searching" not in told, "the labels were kept"


def test_labels_of_anything_else_are_refused_and_kept(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variants, "DEEP", 8)
    positions, labels = labelled(tmp_path, ([], ["D4"], ["D4", "C3"])), tmp_path / "labels.npz"
    words = f"regret - --visits 8 --threads 1 --yardstick {positions} --labels {labels}".split()
    assert variants.main(words) == 0
    kept = labels.read_bytes()

    def refused(message: str, *more: str) -> None:
        capsys.readouterr()
        assert variants.main([*words, *more]) == 2
        assert capsys.readouterr().err == f"benchmarks.variants: --labels {labels} {message}, or give another name\n"

    refused("is of other positions: remove it", "--positions", "2")
    monkeypatch.setattr(variants, "DEEP", 9)
    refused("is of other visits: remove it")
    monkeypatch.setattr(variants, "DEEP", 8)
    with monkeypatch.context() as patched:
        patched.setattr(variants, "file_hash", lambda path: "another")
        refused("is of other weights: remove it")
    assert labels.read_bytes() == kept
    for damaged in (b"", kept[:200], b"no archive"):
        labels.write_bytes(damaged)
        refused("cannot be read: remove it")
        assert labels.read_bytes() == damaged


def test_labels_that_could_not_be_kept_are_told_before_the_search(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variants, "searched", lambda *asked: pytest.fail("searched first"))
    positions = labelled(tmp_path, ([],))
    for name, message in (("labels", "expected a name that ends in .npz"), ("none/labels.npz", "there is no folder")):
        words = f"regret - --threads 1 --yardstick {positions} --labels {tmp_path / name}"
        assert variants.main(words.split()) == 2
        assert message in capsys.readouterr().err


@pytest.mark.parametrize(
    "words, message",
    [
        ("match -", "between 2 variants"),
        ("regret -", "needs --yardstick"),
        ("regret - --yardstick nowhere.gz", "nowhere.gz"),
        ("match - lcb=0 --visits 0", "--visits 0: expected 1 or more"),
        ("regret - --positions 0 --yardstick nowhere.gz", "--positions 0: expected 1 or more"),
    ],
)
def test_a_request_that_makes_no_sense_is_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert variants.main(words.split()) == 2
    told = capsys.readouterr().err
    assert message in told and told.count("\n") == 1
