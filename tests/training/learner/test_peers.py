"""Several processes take the steps of one learner: gradients over gloo, on the CPU."""

import os
from multiprocessing import get_context
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
import pytest
import torch
from torch import distributed

from gozero.nets import model
from tests.training.games import game_of, random_record
from training.learner.learner import DivergedError, Learner
from training.learner.peers import ALONE, LONGEST_STEP, Peers, meet, meeting_place
from training.records.replay import Replay
from training.settings.config import LearnerSettings, ReplaySettings

pytestmark = pytest.mark.usefixtures("one_thread")
STEPS, ROWS = 3, 24
SETTINGS = LearnerSettings(precision="f32", warm_up=1, optimiser="sgd", learning_rate=1e-2)
NETWORKS = {name: model.config(name, game_of(5)) for name in ("mlp2x32", "b2c16")}  # the first looks at no batch


def replay() -> Replay:
    window = Replay(ReplaySettings(held_out=0), game_of)
    window.add([random_record(5, seed) for seed in range(4)])
    return window


def steps(name: str, peers: Peers) -> tuple[dict[str, torch.Tensor], list[float]]:
    """(the weights after `STEPS` steps of these processes, the total loss of each step)."""
    learner, window = Learner(NETWORKS[name], SETTINGS, seed=1, peers=peers), replay()
    totals = [
        float(learner.train(window.sample(ROWS, np.random.default_rng(step), peers.part))["total"])
        for step in range(STEPS)
    ]
    return dict(learner.net.named_parameters()), totals


def diverges(peers: Peers) -> str:
    """What is raised where the rows of the second process alone have a score that is no number."""
    learner = Learner(NETWORKS["b2c16"], SETTINGS, seed=1, peers=peers)
    batch = replay().sample(ROWS, np.random.default_rng(0), peers.part)
    try:
        learner.train(batch if peers.rank == 0 else batch._replace(score=np.full_like(batch.score, np.nan)))
    except DivergedError as error:
        return str(error)
    return ""


def second(place: str, answers: Connection) -> None:
    """The second process."""
    torch.set_num_threads(1)
    peers = Peers(1, 2)
    meet(peers, place, "cpu")
    for name in NETWORKS:
        weights, totals = steps(name, peers)
        answers.send(({key: tensor.detach().numpy() for key, tensor in weights.items()}, totals))
    answers.send(diverges(peers))
    distributed.destroy_process_group()
    os._exit(0)  # PyTorch's threads of backward passes may abort an interpreter that is being torn down


def test_two_processes_take_the_steps_of_one() -> None:
    place = meeting_place("127.0.0.1")
    mine, its = get_context("spawn").Pipe(duplex=False)
    process = get_context("spawn").Process(target=second, args=(place, its))
    process.start()
    try:
        peers = Peers(0, 2)
        meet(peers, place, "cpu")
        for name in NETWORKS:
            weights, totals = steps(name, peers)
            theirs, their_totals = receive(mine)
            assert their_totals == totals
            for key, tensor in weights.items():
                assert np.array_equal(tensor.detach().numpy(), theirs[key]), f"{name}: both have the same {key}"
            if name == "mlp2x32":
                alone, alone_totals = steps(name, ALONE)
                assert totals == pytest.approx(alone_totals, rel=1e-5)
                for key, tensor in weights.items():
                    assert torch.allclose(tensor, alone[key], atol=1e-6), f"{key} is that of one process"
        assert "score loss became nan" in diverges(peers)
        assert "score loss became nan" in receive(mine), "also in the process whose rows were sound"
    finally:
        if distributed.is_initialized():
            distributed.destroy_process_group()
        process.join(LONGEST_STEP.total_seconds())
    assert process.exitcode == 0


def receive(pipe: Connection) -> Any:
    """The next message of the other process."""
    assert pipe.poll(LONGEST_STEP.total_seconds()), "the other process says nothing"
    return pipe.recv()


def test_each_process_unpacks_its_part_of_a_batch() -> None:
    window = replay()
    whole = window.sample(7, np.random.default_rng(3))
    parts = [window.sample(7, np.random.default_rng(3), Peers(rank, 3).part) for rank in range(3)]
    assert [len(part.value) for part in parts] == [3, 2, 2]
    for rank, part in enumerate(parts):
        for name in ("planes", "globals", "policy", "reply", "value", "score", "owner", "root"):
            assert np.array_equal(getattr(part, name), getattr(whole, name)[rank::3], equal_nan=True), name
