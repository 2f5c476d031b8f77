"""Profile likelihood: how far a coefficient can go before the likelihood, the others at their best, falls too low."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..fitting.solvers.descent import Point, State, minimum
from ..fitting.solvers.newton import Newton
from ..numerics.arrays import Floats
from ..numerics.linalg import Factor, steady_factor
from ..numerics.threads import one_blas_thread
from .constrained import REACH, Plane, climbed, moved
from .likelihood import Likelihood

ROUNDS = 25
"""Steps of all ends together."""
PACE = 4.0
"""By how much each must at least reduce what is left, or the end gets a curvature of its own."""
CLOSE = 1e-9
"""What may be left of the fall of the likelihood, relative to it."""
PATH = 200
"""Moves along the path of one end."""
LONG = 400
"""Steps to another path where one ends."""
BRANCHES = 4
"""How often a higher maximum beyond an end is gone after."""
HIGHER = 1e-5
"""By what part of the fall it must be higher."""
NUMBERS = 1 << 25
"""Numbers of curvature matrices that are held at a time."""


class LostError(ArithmeticError):
    """No way was found to an end of an interval."""


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

    def loss(v: Floats, _: Any) -> Point:
        at = likelihood.jets(v[None])
        return Point(-float(at.values[0]), -at.gradients[0], likelihood.information(v))

    def settled(state: State) -> bool:
        return bool(state.decrement <= 1e-18 * max(1.0, abs(state.at.value)))

    found = minimum(loss, v, Newton(), settled, 8).state
    return Summit(likelihood, found.v, -found.at.value, steady_factor(found.at.hessian))


def profile_ends(summit: Summit, functions: Floats, fall: float) -> Floats:
    """Lowest and highest aᵀv with max ℓ ≥ ℓ̂ − fall, for each row a of `functions`.

    All ends are sought together by the steps of Venzon and Moolgavkar: δ = V⁻¹(g + λa), λ such that a parabola would
    fall just so far. What they do not settle is sought along its path, one end at a time.
    """
    ends = np.empty((len(functions), 2))
    room = max(1, NUMBERS // summit.v.size**2)
    jobs = [(j, side) for j in range(len(functions)) for side in (-1.0, 1.0)]
    with one_blas_thread(), np.errstate(over="ignore", invalid="ignore"):
        for lo in range(0, len(jobs), room):
            some = jobs[lo : lo + room]
            a = functions[[j for j, _ in some]]
            found = _together(summit, a, np.array([side for _, side in some]), fall)
            for (j, side), one, end in zip(some, a, found, strict=True):
                first = end if math.isfinite(end) else _followed(summit, one, side, fall, summit.v)
                ends[j, int(side > 0)] = first if summit.likelihood.concave else _farthest(
                    summit, one, side, fall, first
                )  # fmt: skip
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
                end = float(a[i] @ (points[i] + step))
                ends[i] = end if sides[i] * (end - float(a[i] @ summit.v)) > 0 else np.nan
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


def _farthest(summit: Summit, a: Floats, side: float, fall: float, end: float) -> float:
    """The end, or one beyond it: under a constraint a likelihood that is not concave may have higher maxima elsewhere.

    They are sought from the line of Wald's interval, from the origin and from half-way to it.
    """
    tilted, plane = summit.curvature.solve(a), Plane.of(a[None])
    for _ in range(BRANCHES):
        if not math.isfinite(end):
            return end
        line = summit.v + (end - float(a @ summit.v)) / float(a @ tilted) * tilted
        origin = end / float(a @ a) * a
        found = [climbed(summit.likelihood, start, plane) for start in (line, origin, (line + origin) / 2)]
        best = max(found, key=lambda each: each.value if math.isfinite(each.value) else -math.inf)
        if not summit.value - best.value < (1 - HIGHER) * fall:
            return end
        end = _followed(summit, a, side, fall, best.v)
    return end


def _followed(summit: Summit, a: Floats, side: float, fall: float, v: Floats) -> float:
    """An end of an interval, along the path of constrained maxima from v, never off it by more than a step can mend.

    With t the tangent of the path for a change of θ = aᵀv by one, the fall has the slope −gᵀt, and the curvature tᵀHt.
    """
    likelihood, reach, plane = summit.likelihood, REACH, Plane.of(a[None])
    wald = math.sqrt(2 * fall * float(a @ summit.curvature.solve(a)))
    near, far = float(a @ v), side * math.inf
    for _ in range(PATH):
        here = float(a @ v)
        at = likelihood.jets(v[None])
        fallen, gradient = summit.value - float(at.values[0]), at.gradients[0]
        if abs(fallen - fall) <= CLOSE * fall or abs(far - near) <= 4e-15 * abs(here):
            return here
        near, far = (here, far) if fallen < fall else (near, here)
        tangent, H = plane.tangent(likelihood, v, np.ones(1))
        ahead = _root(-side * float(gradient @ tangent), float(tangent @ H @ tangent), fall - fallen)
        if not min(near, far) < here + side * ahead < max(near, far):
            open_ = math.isinf(far)
            ahead = side * ((near + far) / 2 - here) if not open_ else wald + abs(here - float(a @ summit.v))
        step = side * ahead * tangent
        found, _, reach = moved(likelihood, v, plane, step, reach)
        if not found.settled:  # here this path ends: on to the one that the next maximum lies on
            found, reach = climbed(likelihood, v + step, plane, LONG), REACH
        if not found.settled:
            break
        v = found.v
    raise LostError(f"after a fall of {fallen:.4g} of {fall:.4g}, at {here:.6g}")


def _root(slope: float, curvature: float, left: float) -> float:
    """t with slope·t + curvature·t²/2 = left, the one that a step ahead finds first; Newton's where there is none."""
    inside = slope * slope + 2 * curvature * left
    if inside < 0 or slope + math.sqrt(inside) <= 0:
        return left / slope if slope > 0 else -math.inf
    return 2 * left / (slope + math.sqrt(inside))
