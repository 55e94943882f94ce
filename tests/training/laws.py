"""Laws that every training row must obey: a batch that breaks one has wrong targets.

A law is an identity between inputs and targets; it needs neither a network nor a threshold. If any row breaks it the
encoding, the counting or the symmetries are wrong. They look at what the learner is given (`Replay.sample`), not at the
records.
"""

from __future__ import annotations

import numpy as np

from gozero.games import GO_FAMILY
from gozero.games.game import Game
from gozero.nets import features
from training.doctor.checkup import stones_of
from training.records.rows import TO_PLAY_PLANE, Batch, transformed

SHARE_ROUNDING = 2e-3  # policy targets are float16
LEAST_ROWS = 16  # of a colour, before its rows say anything about the view
CLEAR_AGREEMENT = 0.2  # (stones that end as their own side's - the others) / stones: about 0.6 in sound games
POINT_ROUNDING = 1e-2  # points; komi is float32 / 20 in the globals


def broken(batch: Batch, game: Game) -> dict[str, float]:
    """How far a batch is from the laws of its game; all 0 where it obeys them.

    Returns:
        law/komi: share of rows whose score is not what the owners of the points and the komi of the side to move add up
            to (Go).
        law/value: share of rows whose result is not the sign of the score.
        law/occupied: mean share of the policy target that lies on points with a stone (Go) or that may not be played.
        law/view: 1 where ownership goes with the stones for one colour to move and against them for the other, else 0.
    """
    stones = stones_of(batch, game)
    closed = stones != 0
    if game.name not in GO_FAMILY:
        closed = batch.planes[:, features.OWN_MOVES].reshape(stones.shape) == 0
    share = (_by_point(batch.policy, game) * closed).sum(1)
    found = {
        "law/value": float(np.mean(np.sign(batch.score) != np.sign(batch.value))),
        "law/occupied": float(np.mean(np.where(share > SHARE_ROUNDING, share, 0))),
        "law/view": _view(batch, stones),
    }
    if game.name in GO_FAMILY:
        komi = batch.globals[:, 0] * features.KOMI_SCALE
        found["law/komi"] = float(np.mean(np.abs(batch.score - batch.owner.sum(1) - komi) > POINT_ROUNDING))
    return found


def _view(batch: Batch, stones: np.ndarray) -> float:
    """Whether the owners agree with the stones [n, P] seen by one colour and disagree, as clearly, for the other."""
    black = batch.planes[:, TO_PLAY_PLANE, 0, 0] > 0.5
    if min(black.sum(), (~black).sum()) < LEAST_ROWS:
        return 0.0
    agreement, count = (batch.owner * stones).sum(1), np.abs(stones).sum(1)
    low, high = sorted(agreement[side].sum() / max(1.0, count[side].sum()) for side in (black, ~black))
    return float(low < -CLEAR_AGREEMENT and high > CLEAR_AGREEMENT)


def symmetry_gaps(batch: Batch, game: Game) -> dict[str, float]:
    """How far policy, reply and ownership differ from the planes, those of tactics among them, when rows are turned
    the way training turns them.

    The overlap of a target with each plane does not depend on how the board is held. Returns the largest change of an
    overlap, as a share of the target's sum: turn/policy, turn/reply, turn/owner; 0 up to rounding where they turn
    together.
    """
    gaps = {"policy": 0.0, "reply": 0.0, "owner": 0.0}
    for turn in game.symmetries:
        turned = transformed(batch, np.full(len(batch.value), turn), game.directions)
        for name in gaps:
            before, after = _by_point(getattr(batch, name), game), _by_point(getattr(turned, name), game)
            scale = np.maximum(np.abs(before).sum(1), 1)[:, None]
            change = np.abs(_overlap(before, _shown(batch)) - _overlap(after, _shown(turned))) / scale
            gaps[name] = max(gaps[name], float(change.max(initial=0)))
    return {f"turn/{name}": value for name, value in gaps.items()}


def _by_point(target: np.ndarray, game: Game) -> np.ndarray:
    """float [n, P] of a policy [n, A], the moves of a point together, or of values by point [n, P]."""
    moves = target[:, : game.pass_action].reshape(len(target), -1, game.points)
    found: np.ndarray = moves.sum(1)
    return found


def _shown(batch: Batch) -> np.ndarray:
    """float32 [n, C + K - 1, H, W]: every plane that a network is shown, but for the colour to move."""
    shown = batch.planes[:, :TO_PLAY_PLANE]
    return shown if batch.tactics is None else np.concatenate([shown, batch.tactics], axis=1)


def _overlap(target: np.ndarray, planes: np.ndarray) -> np.ndarray:
    """float [n, C]: the sum of a target [n, P] over the points where each plane is set."""
    return np.einsum("np,ncp->nc", target, planes.reshape(*planes.shape[:2], -1))
