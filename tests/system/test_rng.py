"""The root's random variables have the distributions they are named after."""

import math

import numpy as np
import pytest
from numba import types

from gozero.system.jit import kernel
from gozero.system.rng import gamma, gumbel


@kernel(types.void(types.uint64[::1], types.float64, types.float64[::1]))
def draw(generator, shape, out):
    for k in range(len(out)):
        out[k] = gamma(generator, shape) if shape > 0 else gumbel(generator)


def drawn(shape: float) -> np.ndarray:
    out = np.empty(400_000)
    draw(np.array([7], np.uint64), shape, out)
    return out


def test_gumbel() -> None:
    """Mean is Euler's constant, variance pi²/6, and P(below x) = exp(-exp(-x))."""
    values = drawn(0.0)
    assert values.mean() == pytest.approx(0.5772, abs=0.03)
    assert values.var() == pytest.approx(math.pi**2 / 6, rel=0.05)
    assert (values < 1.0).mean() == pytest.approx(math.exp(-math.exp(-1.0)), abs=0.01)


@pytest.mark.parametrize("shape", [0.06, 0.5, 1.0, 4.0])
def test_gamma(shape: float) -> None:
    """Mean and variance are the shape; none is 0, however small the shape."""
    values = drawn(shape)
    assert values.min() > 0
    assert values.mean() == pytest.approx(shape, rel=0.03)
    assert values.var() == pytest.approx(shape, rel=0.06)
