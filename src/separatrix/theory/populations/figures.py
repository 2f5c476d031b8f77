"""The pictures of the notes, as data sets and as populations. Where a text gives no numbers they are ours."""

from __future__ import annotations

from collections.abc import Callable
from itertools import product
from typing import NamedTuple

import numpy as np

from ...numerics.arrays import Floats, Indices
from ...results.linear_rule import LinearRule
from .. import scenes
from .population import Discrete, GaussianMixture


class Figure(NamedTuple):
    """Rows and their classes 0, 1, …: what a learner is shown."""

    X: Floats
    y: Indices

    def population(self) -> Discrete:
        """The population that consists of these rows."""
        return Discrete.of_rows(self.X, self.y, int(self.y.max()) + 1)


def _figure(x: list[tuple[float, float]], y: str) -> Figure:
    return Figure(np.asarray(x, dtype=np.float64), np.array([sign == "+" for sign in y], dtype=np.intp))


def _scene(rows: scenes.Rows) -> Figure:
    return Figure(rows.X, (rows.y > 0).astype(np.intp))


def nine_and_nine() -> Figure:
    """Nine positive and nine negative points, which no line separates.  [000 figure 8.1]"""
    positive = [
        (1.0, 4.5),
        (1.8, 5.2),
        (2.5, 4.0),
        (3.0, 5.5),
        (3.6, 4.6),
        (4.4, 5.6),
        (2.2, 3.1),
        (4.8, 4.2),
        (3.4, 2.0),
    ]
    negative = [
        (2.0, 1.0),
        (2.9, 0.6),
        (3.8, 1.3),
        (4.5, 2.2),
        (5.2, 1.1),
        (5.6, 2.8),
        (4.0, 0.4),
        (5.9, 1.9),
        (3.2, 4.3),
    ]
    return _figure(positive + negative, "+++++++++---------")


def nine_and_nine_line() -> LinearRule:
    """The line of that picture: one point of either class is on the wrong side.  [000 figure 8.1]"""
    return LinearRule(np.array([-0.8, 1.0]), 0.2)


def one_column() -> Figure:
    """Nine numbers: least squares makes two mistakes, the best threshold one.  [004 figure 4.1, example 4-3]"""
    return _scene(scenes.figure_4_1())


def one_column_far() -> Figure:
    """Twelve numbers, three far out on their own side: least squares makes four mistakes.  [004 figure 4.3]"""
    return _scene(scenes.far_and_right().after)


def two_minima() -> Figure:
    """Nine numbers: at weight 3 the squared error of σ has two minima in b, the likelihood one.  [004 example 4-5]"""
    return _scene(scenes.example_4_5())


def far_but_right(far: bool = True) -> Figure:
    """Two clusters and five far points, all on their own side: they move least squares only.  [003 slide 16]"""
    return _clusters([(4.0 + step, -14.0 - step) for step in (0.0, 1.0, 2.0, 3.0, 4.0)] if far else [])


def far_and_wrong(far: bool = True) -> Figure:
    """Two clusters and one far point of the wrong class: it moves the likelihood, not the squared error.  [004 §4.3]"""
    return _clusters([(-12.0, 2.0)] if far else [])


def outliers() -> GaussianMixture:
    """Two Gaussians, and a tenth of class 1 far out on its own side.  [003 slide 16]"""
    return GaussianMixture([[-1.5, 1.0], [1.5, -1.0], [7.0, -9.0]], [1.0, 1.0, 0.5], [0.5, 0.45, 0.05], [0, 1, 1])


def three_in_a_row(variance: float = 0.5) -> GaussianMixture:
    """Three Gaussians side by side, the middle one masked from least squares.  [003 slide 17]"""
    return GaussianMixture([[-3.0, -3.0], [0.0, 0.0], [3.0, 3.0]], variance)


def two_gaussians(distance: float = 2.0, d: int = 2) -> GaussianMixture:
    """N(−μ, I) and N(+μ, I), 2‖μ‖ = distance: Bayes' rule is linear, its error Φ(−‖μ‖).  [003 slide 8]"""
    mean = np.zeros(d)
    mean[0] = distance / 2
    return GaussianMixture([-mean, mean])


def xor(noise: float = 0.0) -> Discrete:
    """The corners of the unit square, 1 iff they differ, turned over with probability `noise`.  [004 example 4-1]"""
    return _on_cube(2, lambda corner: corner.sum() == 1, noise)


def parity(d: int, noise: float = 0.0) -> Discrete:
    """{0, 1}ᵈ, 1 iff an odd number is on: XOR in d columns.  [000 §8.2.2]"""
    return _on_cube(d, lambda corner: corner.sum() % 2 == 1, noise)


def at_least(m: int, d: int, noise: float = 0.0) -> Discrete:
    """{0, 1}ᵈ, 1 iff at least m of d are on: `LinearRule.at_least` is Bayes' rule.  [000 §8.2.2]"""
    return _on_cube(d, lambda corner: corner.sum() >= m, noise)


def gaussian_xor(variance: float = 0.25) -> GaussianMixture:
    """Four Gaussians at (±1, ±1), opposite corners of one class.  [004 example 4-1]"""
    return GaussianMixture([[-1, -1], [1, 1], [-1, 1], [1, -1]], variance, None, [0, 0, 1, 1])


def _on_cube(d: int, positive: Callable[[Floats], bool], noise: float) -> Discrete:
    corners = np.array(list(product((0.0, 1.0), repeat=d)))
    truth = np.array([bool(positive(corner)) for corner in corners])
    return Discrete(corners, None, np.where(truth, 1 - noise, noise))


def _clusters(beyond: list[tuple[float, float]]) -> Figure:
    """A three by three grid of either class, one point of each among the other's, and what lies beyond, of class 1."""
    grid = [(0.8 * i, 0.8 * j) for i, j in product((-1, 0, 1), repeat=2)]
    left = [(x - 1.6, y) for x, y in grid] + [(1.2, 0.4)]
    right = [(x + 1.6, y) for x, y in grid] + [(-1.2, -0.4)]
    return _figure([*left, *right, *beyond], "-" * len(left) + "+" * (len(right) + len(beyond)))
