"""The measures against hand-made labels, and the file format's border."""

from __future__ import annotations

import gzip
import json
import math
from pathlib import Path

import numpy as np
import pytest

from gozero.evaluators.base import Evaluation
from gozero.games import coords
from gozero.system.errors import UserError
from tests.training.refusals import one_line
from training.matches import yardstick

SIZE = 5
LABELS = [
    {
        "moves": [], "best": "C3", "shares": {"C3": 0.75, "B2": 0.25}, "winrate": 0.25, "score": -4.0,
        "ownership": [-0.5] * 25,
    },
    {
        "moves": ["C3", "pass"], "best": "pass", "shares": {"pass": 1.0}, "winrate": 1.0, "score": 17.5,
        "ownership": [1.0] * 25,
    },
]  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "labels.jsonl.gz"
    path.write_bytes(gzip.compress("".join(json.dumps(label) + "\n" for label in LABELS).encode()))
    return path


def test_positions_and_labels_are_read(file: Path) -> None:
    labelled = yardstick.read(file)
    assert (labelled.game.rows, labelled.states.shape[0], labelled.ownership.shape) == (SIZE, 2, (2, 25))
    assert labelled.legal.sum(axis=1).tolist() == [26, 25]
    assert labelled.best.tolist() == [coords.parse_vertex("C3", SIZE), coords.pass_action(SIZE)]
    assert labelled.shares[0, coords.parse_vertex("B2", SIZE)] == 0.25
    assert "X" in labelled.game.to_text(labelled.states[1])


def test_the_constant_guess_has_the_errors_of_arithmetic(file: Path) -> None:
    labelled = yardstick.read(file)
    found = yardstick.agreement(labelled, yardstick.constant_guess(labelled))
    assert found["top1"] == pytest.approx((1 / 26 + 1 / 25) / 2)
    assert found["log_share"] == pytest.approx(-(math.log(26) + math.log(25)) / 2)
    assert found["winrate_error"] == pytest.approx((0.25 + 0.5) / 2)
    assert found["score_error"] == pytest.approx((4.0 + 17.5) / 2)
    assert found["ownership_error"] == pytest.approx(0.75)


def test_the_labels_themselves_agree_fully(file: Path) -> None:
    labelled = yardstick.read(file)
    logits = np.log(np.maximum(labelled.shares, 1e-9)).astype(np.float32)
    found = yardstick.agreement(
        labelled, Evaluation(logits, labelled.winrate * 2 - 1, labelled.score, labelled.ownership)
    )
    entropy = 0.75 * math.log(0.75) + 0.25 * math.log(0.25)
    assert found["top1"] == 1
    assert found["log_share"] == pytest.approx(entropy / 2, abs=1e-5)
    assert (found["winrate_error"], found["score_error"], found["ownership_error"]) == (0, 0, 0)


def test_illegal_moves_and_missing_heads_do_not_count(file: Path) -> None:
    labelled = yardstick.read(file)
    logits = np.where(labelled.legal, 0, 50).astype(np.float32)  # a network in love with illegal moves
    found = yardstick.agreement(labelled, Evaluation(logits, np.zeros(2, np.float32), None, None))
    assert found["log_share"] == pytest.approx(-(math.log(26) + math.log(25)) / 2)
    assert found.keys() == {"top1", "log_share", "winrate_error"}
    guess = yardstick.agreement(labelled, yardstick.constant_guess(labelled))
    assert " -" in yardstick.table({"network": found, "guess": guess})


def test_moves_that_are_first_together_count_as_a_part_each(file: Path) -> None:
    labelled = yardstick.read(file)
    logits = np.zeros(labelled.legal.shape, np.float32)
    logits[:, [coords.parse_vertex(vertex, SIZE) for vertex in ("C3", "B2")]] = 1  # C3 is taken in the second position
    found = yardstick.agreement(labelled, Evaluation(logits, np.zeros(2, np.float32), None, None))
    assert found["top1"] == (1 / 2 + 0) / 2


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no positions"),
        ("{", "line 1"),
        ('{"moves": []}', "line 1 is no labelled position: 'ownership' is missing"),
        (json.dumps(LABELS[0] | {"shares": []}), "line 1"),
        (json.dumps(LABELS[0] | {"moves": ["C3", "C3"]}), "line 1"),
        (json.dumps(LABELS[0] | {"winrate": [0.5]}), "line 1"),
        (json.dumps(LABELS[0] | {"winrate": None}), "line 1"),
        (json.dumps(LABELS[0] | {"score": float("nan")}), "score: expected numbers"),
        (json.dumps(LABELS[0] | {"score": 10**400}), "line 1"),
        (json.dumps(LABELS[0] | {"ownership": [float("inf")] * len(LABELS[0]["ownership"])}), "line 1"),
        ("[" * 100_000, "line 1"),
        (json.dumps(LABELS[0] | {"winrate": 7}), "winrate: expected numbers from 0 to 1"),
        (json.dumps(LABELS[0] | {"shares": {"pass": -0.5}}), "shares: expected numbers from 0 to 1"),
        (json.dumps(LABELS[0] | {"shares": {"resign": 1}}), "resign is no legal move there"),
        (json.dumps(LABELS[0] | {"best": "resign"}), "resign is no legal move there"),
        (json.dumps(LABELS[0]) + "\n" + json.dumps(LABELS[0] | {"best": "Z9"}), "line 2 is no labelled position: invalid vertex 'Z9'"),
        (json.dumps(LABELS[0]) + "\n" + json.dumps(LABELS[0] | {"ownership": [0.0] * 9}), "line 2"),
    ],
)
def test_a_file_of_another_form_is_one_clear_line(tmp_path: Path, content: str, message: str) -> None:
    path = tmp_path / "bad.jsonl"
    path.write_text(content)
    with one_line(UserError, message):
        yardstick.read(path)


def test_a_damaged_archive_is_one_line(tmp_path: Path) -> None:
    content = bytearray(gzip.compress(("\n".join(map(json.dumps, LABELS)) + "\n").encode()))
    content[10] = 0xFF  # no block of deflate begins so
    path = tmp_path / "damaged.jsonl.gz"
    path.write_bytes(content)
    with one_line(UserError, "cannot read the yardstick"):
        yardstick.read(path)
