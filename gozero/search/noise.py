"""Random numbers for the root: Gumbel variables, and gamma variables whose shares are a Dirichlet sample.

All draw from a generator uint64 [1] (gozero.system.rng), so that each tree's noise depends on nothing but its own seed.
"""

from __future__ import annotations

import math

import numpy as np

from gozero.system.jit import kernel
from gozero.system.rng import uniform


@kernel()
def gumbel(generator):
    """A standard Gumbel variable."""
    return -math.log(-math.log(uniform(generator) + 1e-300))


@kernel()
def _normal(generator):
    """A standard normal variable (Box and Muller 1958)."""
    radius = math.sqrt(-2.0 * math.log(1.0 - uniform(generator)))
    return radius * math.cos(2.0 * math.pi * uniform(generator))


@kernel()
def gamma(generator, shape):
    """A gamma variable of that shape > 0 and scale 1, at least 1e-30 (Marsaglia and Tsang 2000, section 6 for shapes
    below 1).
    """
    boost = 1.0
    if shape < 1.0:
        boost = (1.0 - uniform(generator)) ** (1.0 / shape)
        shape += 1.0
    d = shape - 1.0 / 3.0
    c = 1.0 / math.sqrt(9.0 * d)
    while True:
        x = _normal(generator)
        v = (1.0 + c * x) ** 3
        if v > 0 and math.log(1.0 - uniform(generator)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return max(np.float64(d * v * boost), 1e-30)
