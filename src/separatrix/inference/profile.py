"""Profile likelihood: how far a coefficient can go before the likelihood, the others at their best, falls too low."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..linalg import Factor, steady_factor
from .constrained import constrained_maximum
from .likelihood import Likelihood

Floats = NDArray[np.float64]
ROUNDS, PACE = 25, 4.0
"""Steps of all ends together; by how much each must at least reduce what is left, or the end gets a curvature of its
own."""
CLOSE = 1e-9
"""What may be left of the fall of the likelihood, relative to it."""
DOUBLINGS, HALVINGS = 60, 100
NUMBERS = 1 << 25
"""Numbers of curvature matrices that are held at a time."""


@dataclass(frozen=True)
class Summit:
    """The maximum of a likelihood."""

    likelihood: Likelihood
    v: Floats
    value: float
    curvature: Factor
    """The information there."""


def summit_of(likelihood: Likelihood, v: Floats) -> Summit:
    """The maximum near v, where the fit has ended: a step or two of Newton's give the last digits."""
    for _ in range(8):
        at = likelihood.jets(v[None])
        curvature = steady_factor(likelihood.information(v))
        step = curvature.solve(at.gradients[0])
        if float(at.gradients[0] @ step) <= 1e-18 * max(1.0, abs(float(at.values[0]))):
            break
        ahead = likelihood.jets((v + step)[None])
        if not ahead.values[0] >= at.values[0]:
            break
        v = v + step
    at = likelihood.jets(v[None])
    return Summit(likelihood, v, float(at.values[0]), curvature)


def profile_ends(summit: Summit, functions: Floats, fall: float) -> Floats:
    """Lowest and highest aᵀv with max ℓ ≥ ℓ̂ − fall, for each row a of `functions`; ±∞ where it never falls so far.

    All ends are sought together by the steps of Venzon and Moolgavkar: δ = V⁻¹(g + λa), λ such that a parabola would
    fall just so far. What they do not settle is bracketed, one end at a time.
    """
    ends = np.empty((len(functions), 2))
    room = max(1, NUMBERS // summit.v.size**2)
    jobs = [(j, side) for j in range(len(functions)) for side in (-1.0, 1.0)]
    for lo in range(0, len(jobs), room):
        some = jobs[lo : lo + room]
        a = functions[[j for j, _ in some]]
        found = _together(summit, a, np.array([side for _, side in some]), fall)
        for (j, side), one, end in zip(some, a, found, strict=True):
            ends[j, int(side > 0)] = end if math.isfinite(end) else _bracketed(summit, one, side, fall)
    return ends


def _together(summit: Summit, a: Floats, sides: Floats, fall: float) -> Floats:
    """The ends that the steps settle; NaN for the others."""
    likelihood, goal = summit.likelihood, summit.value - fall
    ends, curvatures = np.full(len(a), np.nan), [summit.curvature] * len(a)
    tilted = summit.curvature.solve(a.T).T
    spread = np.einsum("ij,ij->i", a, tilted)
    points = summit.v + (sides * np.sqrt(2 * fall / spread))[:, None] * tilted
    open_, last = np.arange(len(a)), np.full(len(a), math.inf)
    for _ in range(ROUNDS):
        at = likelihood.jets(points[open_])
        going = []
        for i, value, gradient in zip(open_.tolist(), at.values, at.gradients, strict=True):
            step, left = _step(curvatures[i], a[i], sides[i], gradient, float(value) - goal, fall)
            if step is None or not np.isfinite(step).all():
                continue  # beyond the reach of a parabola
            if left <= CLOSE:
                ends[i] = float(a[i] @ (points[i] + step))
                continue
            if left > last[i] / PACE:
                curvatures[i] = steady_factor(likelihood.information(points[i]))
                step, left = _step(curvatures[i], a[i], sides[i], gradient, float(value) - goal, fall)
                if step is None:
                    continue
            last[i] = left
            points[i] += step
            going.append(i)
        open_ = np.array(going, np.intp)
        if not open_.size:
            break
    return ends


def _step(
    curvature: Factor, a: Floats, side: float, gradient: Floats, above: float, fall: float
) -> tuple[Floats | None, float]:
    """δ = V⁻¹(g + λa), λ = ±√(2(ℓ − goal + ½gᵀV⁻¹g)/aᵀV⁻¹a); and what is left to do, relative to the fall."""
    both = curvature.solve(np.column_stack([gradient, a]))
    plain, tilted = both.T
    spread, slack = float(a @ tilted), above + float(gradient @ plain) / 2
    if not (slack > 0 and spread > 0):
        return None, math.inf
    push = side * math.sqrt(2 * slack / spread)
    step = plain + push * tilted
    stray = float((gradient + push * a) @ step)
    return step, max(abs(above), abs(stray)) / fall


def _bracketed(summit: Summit, a: Floats, side: float, fall: float) -> float:
    """The same by doubling and halving: the likelihood is maximised anew for every value that is tried."""
    likelihood, here = summit.likelihood, float(a @ summit.v)
    reach = side * math.sqrt(2 * fall * float(a @ summit.curvature.solve(a)))
    near, far, v = 0.0, 1.0, summit.v
    fallen = {0.0: -fall}

    def at(t: float) -> float:
        nonlocal v
        found = constrained_maximum(likelihood, v, a[None], np.array([here + t * reach]))
        v = found.v
        return summit.value - fall - found.value

    for _ in range(DOUBLINGS):
        fallen[far] = at(far)
        if fallen[far] >= 0:
            break
        near, far = far, 2 * far
    else:
        return side * math.inf
    for turn in range(HALVINGS):
        low, high = fallen[near], fallen[far]
        if high - low <= CLOSE * fall or far - near <= 4e-16 * far:
            break
        t = near + (far - near) * (0.5 if turn % 3 == 2 else min(0.95, max(0.05, -low / (high - low))))
        fallen[t] = at(t)
        if abs(fallen[t]) <= CLOSE * fall:
            return here + t * reach
        near, far = (t, far) if fallen[t] < 0 else (near, t)
    return here + far * reach
