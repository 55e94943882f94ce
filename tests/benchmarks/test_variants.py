"""Variants of the search: read, played against each other, judged by a deep search."""

import csv
import gzip
import json
from collections.abc import Sequence
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
    words = "match lcb=2.5 lcb=0 --size 7 --visits 2 --games 2 --threads 1 --csv"
    assert variants.main([*words.split(), str(listed)]) == 0
    assert "lcb=2.5 against lcb=0: " in capsys.readouterr().out
    with listed.open(encoding="utf-8") as file:
        games = list(csv.DictReader(file))
    assert [game["black"] for game in games] == ["0", "1"] and all(game["result"] for game in games)


def labelled(folder: Path, games: Sequence[Sequence[str]]) -> Path:
    """A yardstick in the folder: the positions after these moves on 7x7, each even and with the centre best, or the
    point above it if that is taken.
    """
    path = folder / "positions.jsonl.gz"
    row = {"winrate": 0.5, "score": 0.0, "ownership": [0.0] * 49}
    with gzip.open(path, "wt") as file:
        for moves in games:
            best = "D5" if "D4" in moves else "D4"
            file.write(json.dumps({"moves": moves, "best": best, "shares": {best: 1.0}, **row}) + "\n")
    return path


def test_regret_is_none_for_what_judges(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(variants, "DEEP", 40)
    path = labelled(tmp_path, ([], ["D4"], ["D4", "C3"], ["E5", "C3", "E3"]))
    words = f"regret lcb=0 leaves=1 --visits 40 --threads 1 --yardstick {path}"
    assert variants.main(words.split()) == 0
    assert "4 positions: regret 0.0000, +0.0000 +- 0.0000" in capsys.readouterr().out


@pytest.mark.parametrize(
    "words, message",
    [
        ("match -", "between 2 variants"),
        ("regret -", "needs --yardstick"),
        ("regret - --yardstick nowhere.gz", "nowhere.gz"),
        ("match - lcb=0 --visits 0", "argument --visits"),
        ("regret - --positions 0 --yardstick nowhere.gz", "argument --positions"),
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
