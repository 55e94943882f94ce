"""Tic-tac-toe under the game contract, for the search's tests: small enough to know every answer.

State: TO_PLAY, PLY, then 9 points (0 empty, 1 X, 2 O). Actions 0-8; pass (9) and resign (10) are never legal.
"""

import numpy as np

from gozero.games.game import NOT_OVER, PLY, TO_PLAY, Game
from gozero.jit import LEGAL, OUTCOME, SAMPLE, STEP, STONES, kernel
from gozero.rng import below

LINES = np.array([[0, 1, 2], [3, 4, 5], [6, 7, 8], [0, 3, 6], [1, 4, 7], [2, 5, 8], [0, 4, 8], [2, 4, 6]])


@kernel(STEP.signature)
def step(state, history, action):
    state[2 + action] = state[TO_PLAY]
    state[TO_PLAY] = 3 - state[TO_PLAY]
    state[PLY] += 1


@kernel(LEGAL.signature)
def legal(state, history, out):
    count = 0
    for action in range(11):
        out[action] = action < 9 and state[2 + min(action, 8)] == 0
        count += out[action]
    return count


@kernel(OUTCOME.signature)
def outcome(state):
    other = 3 - state[TO_PLAY]
    for k in range(8):
        if state[2 + LINES[k, 0]] == other and state[2 + LINES[k, 1]] == other and state[2 + LINES[k, 2]] == other:
            return -1
    return 0 if state[PLY] == 9 else NOT_OVER


@kernel(SAMPLE.signature)
def sample(state, history, generator):
    wanted = below(generator, 9 - state[PLY])
    action = 0
    while state[2 + action] != 0 or wanted > 0:
        wanted -= state[2 + action] == 0
        action += 1
    return np.int64(action)


@kernel(STONES.signature)
def stones(state, out):
    for action in range(9):
        out[action] = state[2 + action]


def to_text(state: np.ndarray) -> str:
    stones = "".join(".XO"[colour] for colour in state[2:])
    return "\n".join(stones[k : k + 3] for k in (0, 3, 6))


def from_text(text: str) -> np.ndarray:
    return set_up(np.array([".XO".index(letter) for letter in text if letter in ".XO"]), 0)


def set_up(colours: np.ndarray, to_play: int) -> np.ndarray:
    """X moves first, so the side to move follows from the stones."""
    ply = np.count_nonzero(colours)
    return np.array([1 + ply % 2, ply, *colours], np.int32)


GAME = Game(
    name="tictactoe",
    rows=3,
    cols=3,
    actions=11,
    state_ints=11,
    has_pass=False,
    symmetries=tuple(range(8)),
    max_plies=9,
    initial=set_up(np.zeros(9, np.int32), 1),
    step=step,
    legal=legal,
    outcome=outcome,
    sample=sample,
    hash_of=lambda state: 0,
    stones=stones,
    set_up=set_up,
    to_text=to_text,
    from_text=from_text,
)
