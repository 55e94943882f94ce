"""Variants of the search: read, played against each other, judged by a deep search."""

import csv
from pathlib import Path

import pytest

from benchmarks import variants
from gozero.search.settings import SearchSettings
from gozero.system.errors import ChoiceError


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
    words = "lcb=2.5 lcb=0 --size 7 --visits 2 --games 2 --threads 1 --csv"
    assert variants.main([*words.split(), str(listed)]) == 0
    assert "lcb=2.5 against lcb=0: " in capsys.readouterr().out
    with listed.open(encoding="utf-8") as file:
        games = list(csv.DictReader(file))
    assert [game["black"] for game in games] == ["0", "1"] and all(game["result"] for game in games)


@pytest.mark.parametrize(
    "words, message",
    [
        ("-", "arguments"),
        ("- lcb=0 --visits 0", "argument --visits"),
        ("- lcb=0 --weights nowhere.pt", "nowhere.pt"),
    ],
)
def test_a_request_that_makes_no_sense_is_one_line(
    words: str, message: str, capsys: pytest.CaptureFixture[str]
) -> None:
    try:
        code = variants.main(words.split())
    except SystemExit as ended:  # by argparse
        code = ended.code  # type: ignore[assignment]
    told = capsys.readouterr().err
    assert code == 2
    assert message in told and told.count("\n") == 1
