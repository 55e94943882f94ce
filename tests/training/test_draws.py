"""A game that ends even under a whole-number komi is a draw wherever training looks at it: value 0, half a win, never
NaN.
"""

from dataclasses import replace

import numpy as np
import torch

from gozero.nets.model import NetOutput
from tests.training.games import game_of, random_record
from training.learner import learner
from training.records import scoring
from training.records.records import Record, decode, encode
from training.records.rows import rows_of, unpack


def drawn() -> Record:
    """A game of random moves under the komi that makes it even."""
    record = random_record(7, 4)
    return replace(record, komi=record.komi + record.score, score=0.0)


def test_its_rows_have_no_winner() -> None:
    record, game = drawn(), game_of(7)
    assert record.komi % 1 == 0
    batch = unpack(rows_of(record, game), np.arange(record.rows), game)
    assert not batch.value.any()
    assert not batch.score.any()


def test_its_record_survives_the_shard() -> None:
    record = decode(encode(drawn()))
    assert (record.komi, record.score) == (drawn().komi, 0)
    assert scoring.counted_result(game_of(7), record.score) == "0"


def test_a_batch_of_draws_has_a_loss_and_measures() -> None:
    record, game = drawn(), game_of(7)
    batch = unpack(rows_of(record, game), np.arange(record.rows), game)
    rows = len(batch.value)
    wdl = torch.zeros(rows, 3)
    output = NetOutput(torch.zeros(rows, game.actions), torch.zeros(rows), wdl=wdl)
    loss = learner._value_loss(output, torch.from_numpy(batch.value.astype(np.int64)), None, 0.0)
    assert torch.isfinite(loss).all()
    assert all(np.isfinite(value) for value in learner.measures(output, batch).values())
