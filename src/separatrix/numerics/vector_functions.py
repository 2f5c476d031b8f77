"""The primitives of `functions` as Numba compiles them: scalar code without branches, so that a loop over numbers
becomes vector instructions.

Importing this module teaches Numba; a kernel that uses a primitive names it among its sources.
"""

from __future__ import annotations

import math
import sys

import numpy as np
from numba.extending import overload, register_jitable

from . import functions
from .jit import EXACT

LOG2_E = 1 / math.log(2)
LN2_HIGH = float.fromhex("0x1.62e42feep-1")
"""33 bits of log 2: k · LN2_HIGH is exact for every exponent k."""
LN2_LOW = float.fromhex("0x1.a39ef35793c76p-33")
"""The bits of log 2 below LN2_HIGH."""


@register_jitable(**EXACT)
def exp(z):  # type: ignore[no-untyped-def]
    """eᶻ = 2ᵏ eʳ, |r| ≤ ½ log 2, for z ≤ 709; zero below −708."""
    z = -708.0 if z < -708.0 else z  # a NaN fails the comparison and stays
    k = np.floor(z * LOG2_E + 0.5)
    r = (z - k * LN2_HIGH) - k * LN2_LOW
    p = r * (1 / 6227020800) + 1 / 479001600
    p = p * r + 1 / 39916800
    p = p * r + 1 / 3628800
    p = p * r + 1 / 362880
    p = p * r + 1 / 40320
    p = p * r + 1 / 5040
    p = p * r + 1 / 720
    p = p * r + 1 / 120
    p = p * r + 1 / 24
    p = p * r + 1 / 6
    p = p * r + 1 / 2
    p = p * r + 1.0
    p = p * r + 1.0
    return p * np.int64((np.int64(1023) + np.int64(k)) << np.int64(52)).view(np.float64) if z > -708.0 else 0.0 * z


@overload(functions.sigmoid, jit_options=EXACT)
def _sigmoid(z):  # type: ignore[no-untyped-def]
    def scalar(z):  # type: ignore[no-untyped-def]
        e = exp(-abs(z))
        return (e if z < 0 else 1.0) / (1.0 + e)

    return scalar


@overload(functions.softplus, jit_options=EXACT, inline="always")
def _softplus(z):  # type: ignore[no-untyped-def]
    def scalar(z):  # type: ignore[no-untyped-def]
        e = exp(-abs(z))
        s = e / (2.0 + e)
        q = s * s
        p = q * (1 / 33) + 1 / 31
        p = p * q + 1 / 29
        p = p * q + 1 / 27
        p = p * q + 1 / 25
        p = p * q + 1 / 23
        p = p * q + 1 / 21
        p = p * q + 1 / 19
        p = p * q + 1 / 17
        p = p * q + 1 / 15
        p = p * q + 1 / 13
        p = p * q + 1 / 11
        p = p * q + 1 / 9
        p = p * q + 1 / 7
        p = p * q + 1 / 5
        p = p * q + 1 / 3
        p = p * q + 1.0
        return 0.5 * (z + abs(z)) + 2.0 * s * p  # log(1 + e) = 2 artanh(e / (2 + e))

    return scalar


@overload(functions.positive, jit_options=EXACT)
def _positive(z):  # type: ignore[no-untyped-def]
    return lambda z: 0.5 * (z + abs(z))


@overload(functions.step, jit_options=EXACT)
def _step(z):  # type: ignore[no-untyped-def]
    return lambda z: 1.0 if z > 0 else 0.0 * z


@overload(functions.exponential, jit_options=EXACT)
def _exponential(z):  # type: ignore[no-untyped-def]
    held = math.log(sys.float_info.max) - 1
    return lambda z: exp(held if z > held else z)
