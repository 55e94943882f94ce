"""Random numbers inside kernels: a generator is one uint64 [1] array, so that its owner can save and restore it.

SplitMix64 (Steele, Lea, Flood: "Fast splittable pseudorandom number generators", OOPSLA 2014). Statistically good
enough for playouts and noise; not for secrets.
"""

from __future__ import annotations

import math
import warnings

import numpy as np

from gozero.system.jit import kernel

# products wrap around, about which numpy would complain where kernels run as Python
warnings.filterwarnings("ignore", "overflow encountered in scalar", RuntimeWarning, __name__, append=True)

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)
_MIX_1 = np.uint64(0xBF58476D1CE4E5B9)
_FACTOR = np.uint64(6364136223846793005)
_SUMMAND = np.uint64(1442695040888963407)
_MIX_2 = np.uint64(0x94D049BB133111EB)


@kernel()
def mix(value):
    """A uint64 whose every bit depends on every bit of `value` uint64: turns counters into seeds."""
    value = (value ^ (value >> np.uint64(30))) * _MIX_1
    value = (value ^ (value >> np.uint64(27))) * _MIX_2
    return value ^ (value >> np.uint64(31))


@kernel()
def next_random(generator):
    """The next uint64 of generator uint64 [1], which moves on by one."""
    generator[0] += _GOLDEN
    return mix(generator[0])


@kernel()
def scaled(word, bound):
    """The int64 in 0 … bound-1, bound < 2**31, that a random uint64 chooses (bias under bound / 2**32)."""
    return np.int64(((word >> np.uint64(32)) * np.uint64(bound)) >> np.uint64(32))


@kernel()
def following(word):
    """A uint64 after a random one, by Knuth's MMIX generator: cheap, and the upper half, which `scaled` takes, is
    random enough for further draws.
    """
    return word * _FACTOR + _SUMMAND


@kernel()
def below(generator, bound):
    """A uniform int64 in 0 … bound-1, bound < 2**31 (bias under bound / 2**32)."""
    return scaled(next_random(generator), bound)


@kernel()
def uniform(generator):
    """A uniform float64 in [0, 1)."""
    return np.float64(next_random(generator) >> np.uint64(11)) * (1.0 / 9007199254740992.0)


@kernel()
def gumbel(generator):
    """A standard Gumbel variable."""
    return -math.log(-math.log(uniform(generator) + 1e-300))


@kernel()
def normal(generator):
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
        x = normal(generator)
        v = (1.0 + c * x) ** 3
        if v > 0 and math.log(1.0 - uniform(generator)) < 0.5 * x * x + d - d * v + d * math.log(v):
            return max(np.float64(d * v * boost), 1e-30)
