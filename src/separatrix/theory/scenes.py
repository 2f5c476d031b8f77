"""Small sets of rows on which losses part ways: those of the figures, and what a few far rows do.  [004 §4.2, §4.3]

The texts show these data and do not print them. The numbers here were chosen so that what the texts say of them holds.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..numerics.arrays import Floats


class Rows(NamedTuple):
    """Rows of one column and their labels, −1 or +1."""

    X: Floats
    y: NDArray[np.intp]


class Scene(NamedTuple):
    """Rows, and the same rows with a few more at the end."""

    before: Rows
    after: Rows
    what: str
    """What was added, and what it should do."""


def _rows(x: list[float], signs: str) -> Rows:
    return Rows(np.array(x)[:, None], np.array([1 if sign == "+" else -1 for sign in signs]))


def figure_4_1() -> Rows:
    """− − − − + + + − +: the best threshold makes one mistake of nine.  [004 Figure 4.1, Examples 4-2, 4-4]"""
    return _rows([-3, -2.75, -2, -1.75, -1, -0.5, -0.25, 0.25, 1.75], "----+++-+")


def example_4_5() -> Rows:
    """− + + + − − + − −: at θ₁ = 3 LMSE has two minima in θ₀ and NLL has one.  [004 Example 4-5]"""
    return _rows([-4, -2.5, -2, -1.5, -0.5, 1, 2, 2.5, 3.5], "-+++--+--")


def far_and_right() -> Scene:
    """Three positive rows near x = 6: least squares makes 4 mistakes, not 2.  [004 Example 4-3; 003 slide 16]"""
    before = figure_4_1()
    after = Rows(np.vstack([before.X, [[5.75], [6.0], [6.25]]]), np.append(before.y, [1, 1, 1]))
    return Scene(
        before, after, "Three rows far on the right side of every good threshold: they move least squares only."
    )


def far_and_wrong() -> Scene:
    """One positive row at x = −10 among the negative ones: NLL's threshold moves, LMSE's stays.  [004 §4.3]"""
    before = _rows([-3, -2.5, -2, -1.5, -1, 0.5, -0.5, 1, 1.5, 2, 2.5, 3], "------++++++")
    after = Rows(np.vstack([before.X, [[-10.0]]]), np.append(before.y, 1))
    return Scene(
        before,
        after,
        "One row far on the wrong side: its likelihood pulls as hard as it is far, its squared error not.",
    )


SCENES = {"far and right": far_and_right, "far and wrong": far_and_wrong}
"""The scenes by name."""


def robustness(scene: str) -> Scene:
    """One of the two scenes by its name: "far and right" or "far and wrong".

    >>> robustness("far and wrong").after.X[-1].tolist(), int(robustness("far and wrong").after.y[-1])
    ([-10.0], 1)
    """
    if not isinstance(scene, str) or scene not in SCENES:
        raise SettingError("scene", scene, f"it must be one of {', '.join(map(repr, SCENES))}.")
    return SCENES[scene]()
