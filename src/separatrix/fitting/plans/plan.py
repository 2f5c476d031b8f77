"""What every fit needs before it can start: the Gram matrix, the rank, the way back to the user's units."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.frame import Frame, WeightMap
from ...data.jets import Written
from ...data.source import Source
from ...losses.margin import Squared
from ...losses.penalty import NoPenalty
from ...numerics.arrays import Floats
from ...numerics.linalg import Dependence, Factor, Root, factor
from ..certificates.proof import share_of_rows
from ..coordinates import CLEAR, dependence_of
from ..problem import Bounds, Method, NotFiniteError, Problem
from ..risk.margin import Ask, Jet, Risk
from ..solvers.descent import Direction, State
from ..solvers.newton import NEAR, Newton

SAMPLE = 8192
"""Rows of a sample, more or less."""
SAMPLE_NUMBERS = 4_000_000
"""Numbers of a sample, more or less."""
PLAIN = Ask()
"""A pass for value and gradient."""
FULL = Ask(hessian=True)
"""A pass for the Hessian too."""
STEER = Ask(hessian=True, steering=True)
"""A pass for a Hessian that only steers: single precision will do."""
ROOT = Ask(hessian=True, root=True)
"""A pass for a root of the Hessian."""
READY = 0.5
"""The part of the gap asked for that must be in sight before a proof is tried, unless something better is known."""
SINGLE = 1e-3
"""The part of its square that must be a column's own for single precision to do."""


def proof_cost(d: int) -> float:
    """How many passes a Hessian of all rows costs in double precision (measured)."""
    return 3 + d / 25


class Plan(ABC):
    """What a descent needs, and the watch that reads it: a risk, a start, a direction, a proof, the user's weights."""

    problem: Any
    """What is asked for: a loss, a penalty, tol, max_passes, rate."""
    risk: Any
    start: Floats
    direction: Direction
    method: Method
    weights: int
    """How many numbers are sought: what the cost of a Hessian and of a proof hang on."""
    passes = 0.0
    """What it took to find all this."""
    ranked = True
    """Whether the rank of the columns is settled on the way."""
    nearly_dependent = False

    @abstractmethod
    def to_user(self, v: Floats) -> tuple[Floats, Any]:
        """Weights and intercepts in the user's units."""

    @abstractmethod
    def separates(self, weights: Floats, intercept: Any) -> bool:
        """Whether they put every row that counts on its own side, by more than rounding could feign."""

    @abstractmethod
    def prove(self, state: State, share: float, goal: float) -> tuple[Bounds | None, float]:
        """The certificate from a part of the rows, None where it proves nothing; and the passes that it took."""

    @abstractmethod
    def growth(self, change: Floats) -> Floats:
        """How much each column's weight has grown, from the change of the weights' sizes."""

    def cleared(self, state: State) -> State | None:
        """Where the loss of every row is zero, on from weights that separate the rows; None where it never is."""
        return None

    def estimate(self, state: State) -> float:
        """About ν² = gᵀH⁻¹g: the decrement, where the direction is Newton's or nearly so."""
        return state.decrement

    def proof_share(self) -> float:
        """The part of the rows that a proof begins with."""
        return 1.0

    def caution(self, share: float) -> float:
        """The part of the gap asked for that must be in sight before a proof is tried."""
        return READY

    def provable(self) -> float:
        """The gap from which on a proof can succeed at all, where one can tell."""
        return math.inf

    def aliased(self, columns: int) -> NDArray[np.intp]:
        """The columns that are combinations of others and the intercept."""
        return np.empty(0, np.intp)


class FramedPlan(Plan):
    """A plan for rows in a frame: the risk over the columns that have a weight, after their rank is settled."""

    problem: Problem
    gram: Factor

    def __init__(self, problem: Problem, frame: Frame) -> None:
        self.problem, self.frame, self.weights, self.count = problem, frame, frame.width, len(problem.rows)
        self.penalty = problem.penalty.framed(frame.scale, frame.lifted)
        self.ridge = self.penalty.curvature(np.zeros(frame.width))
        self.active = np.arange(frame.width)
        self.dependence: Dependence | None = None
        self.written = Written.of(problem.rows.gathered(), frame) if problem.rows.few else None

    @cached_property
    def weight_map(self) -> WeightMap:
        """The way to the user's units; with aliased columns to the shortest of all weights with the same scores,
        unless their units are so far apart that this would cost digits.
        """
        return WeightMap(self.frame, self.dependence if self.problem.penalty.idle and not self.literal else None)

    @property
    def literal(self) -> bool:
        """Whether the steps are the notes' own, in the user's units: then every column keeps its weight."""
        return self.problem.rate is not None

    def proof_share(self) -> float:
        if not self.problem.loss.convex:
            return 1.0
        return share_of_rows(self.count, self.weights - self.frame.lifted)

    def caution(self, share: float) -> float:
        """A part of the rows proves less than its share; and where a proof costs more than a pass, better be sure.

        Newton's last step costs a pass without a Hessian and brings all digits.
        """
        dear = proof_cost(self.weights) * share > 1
        care = max(share - self.weights / self.count, 0.03) * (0.25 if dear else 1.0)
        return care * NEAR if isinstance(self.direction, Newton) else care

    def aliased(self, columns: int) -> NDArray[np.intp]:
        found = self.dependence
        return super().aliased(columns) if found is None else found.aliased[found.aliased < columns]

    def at_zero(self) -> float:
        """The mean loss of a likelihood where every score is zero."""
        return math.log(self.problem.classes) if self.problem.loss.convex else math.inf

    def bend(self) -> float:
        """How many times as much the squares bend as the loss at zero: the logistic curve has a slope of ¼."""
        return 8.0

    def _sample_size(self) -> int:
        n, d = self.problem.rows.shape
        room = SAMPLE_NUMBERS // d + 10 * d  # so that the copy stays within 32 MB + 80 d² bytes
        return int(max(8 * d, min(max(SAMPLE - 2 * d, n // 10), 200 * d + SAMPLE, room, max(n // 8, 1024))))

    def _squares(self, rows: Source, sample: Source, ask: Ask) -> tuple[Jet, float]:
        """The jet at zero of the risk of (1 − m)², and the least part of a column's square that is its own.

        Its Hessian is 2XᵀX/n and the penalty; as a root if the columns are nearly dependent. The rank is settled on the
        way, before the penalty is added: beside a large one the digits of the products would be lost.
        """
        made = self.written
        if made is not None and rows is not self.problem.rows:  # rows of many classes, taken to be of one
            made = made._replace(y=rows.gathered().y)
        written = made if sample is rows else None
        squares = Risk(Squared(), sample, self.frame, NoPenalty(), np.arange(self.frame.width), written)
        at = squares(np.zeros(self.frame.width), ask)
        self.passes += len(sample) / len(rows)
        if not (math.isfinite(at.value) and np.isfinite(at.gradient).all()):
            raise NotFiniteError
        own = _own_part(at.hessian)
        if ask.steering and own < SINGLE:
            at = squares(np.zeros(self.frame.width), FULL)
            own = _own_part(at.hessian)
        if not np.isfinite(at.hessian).all():
            raise NotFiniteError
        if own < CLEAR:
            at = self._settle_rank(replace(squares, rows=rows, written=made))
        else:
            self._penalise(at.hessian)
        self.nearly_dependent = isinstance(at.hessian, Root)
        return at, own

    def _settle_rank(self, squares: Risk) -> Jet:
        """Find the columns that are combinations of others; without a penalty they get no weight of their own."""
        at = squares(np.zeros(self.frame.width), FULL)
        self.passes += 1
        if _own_part(at.hessian) > CLEAR:
            self._penalise(at.hessian)
            return at
        found = dependence_of(squares.rows, self.frame, at.hessian / 2)
        self.passes += 1
        if found.aliased.size:
            self.dependence = found
            if self.problem.penalty.idle and not self.literal:
                self.active = found.kept
                squares = replace(squares, active=found.kept)
                at = squares(np.zeros(found.kept.size), FULL)
                self.passes += 1
        self._penalise(at.hessian)
        if _own_part(at.hessian) > CLEAR or self.literal:
            return at
        self.passes += 1
        return replace(squares, penalty=self.penalty.times(self.bend()))(np.zeros(at.gradient.size), ROOT)

    def _penalise(self, hessian: Floats) -> None:
        """Add the penalty's curvature, as many times as the squares bend more than the loss."""
        hessian.flat[:: len(hessian) + 1] += self.bend() * self.ridge[self.active]

    def _random(self, shape: tuple[int, ...]) -> Floats:
        """Weights that give scores of about ±2, whatever the number of columns."""
        scale = 2 / math.sqrt(shape[-1])
        return scale * np.random.default_rng(self.problem.seed).standard_normal(shape)  # type: ignore[no-any-return]

    def _without_aliases(self, v: Floats) -> Floats:
        """Weights with these scores and none on a column that is a combination of others; columns come last in v."""
        if self.active.size == v.shape[-1] or self.dependence is None:
            return v
        found = self.dependence
        return v[..., found.kept] + v[..., found.aliased] @ found.combination.T  # type: ignore[no-any-return]


def _own_part(hessian: Floats) -> float:
    """The least part of a column's square that no columns before it explain; zero if H is singular."""
    made = factor(hessian)
    return 0.0 if made is None else made.weakest
