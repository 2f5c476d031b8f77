"""Laws of every penalty."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.losses.penalty import NoPenalty, Penalty, Ridge, ridge

PENALTIES = [NoPenalty(), Ridge(0.7), Ridge(np.array([0.1, 2.0, 0.5]))]
penalties = pytest.mark.parametrize("penalty", PENALTIES, ids=["none", "ridge", "ridges"])
weights = st.lists(st.floats(-10, 10), min_size=3, max_size=3).map(np.array)


@penalties
@given(w=weights, u=weights)
def test_the_slope_and_the_curvature_are_derivatives(penalty: Penalty, w: Any, u: Any) -> None:
    h = 1e-4
    slope = (penalty.value(w + h * u) - penalty.value(w - h * u)) / (2 * h)
    assert penalty.gradient(w) @ u == pytest.approx(slope, abs=1e-6)
    bend = (penalty.gradient(w + h * u) - penalty.gradient(w - h * u)) / (2 * h)
    np.testing.assert_allclose(penalty.curvature(w) * u, bend, atol=1e-6)


@penalties
@given(w=weights, u=weights)
def test_no_penalty_bends_less_than_its_strength(penalty: Penalty, w: Any, u: Any) -> None:
    least = penalty.value(w) + penalty.gradient(w) @ u + penalty.strength / 2 * u @ u
    assert penalty.value(w + u) >= least - 1e-9 * (1 + least)
    assert (penalty.curvature(w) >= penalty.strength).all()
    assert penalty.idle == (penalty.strength == 0)


@penalties
@given(w=weights)
def test_other_units_and_a_level_change_nothing(penalty: Penalty, w: Any) -> None:
    scale = np.array([0.5, 3.0, 10.0])
    framed, v = penalty.framed(scale, 1), np.append(w * scale, 5.0)
    assert framed.value(v) == pytest.approx(penalty.value(w))
    np.testing.assert_allclose(framed.gradient(v), np.append(penalty.gradient(w) / scale, 0), atol=1e-12)
    np.testing.assert_allclose(framed.curvature(v), np.append(penalty.curvature(w) / scale**2, 0), atol=1e-12)


@penalties
@given(w=weights)
def test_more_of_it_and_a_ridge_beside_it_add_up(penalty: Penalty, w: Any) -> None:
    assert penalty.times(3.0).value(w) == pytest.approx(3 * penalty.value(w))
    assert penalty.plus(0.2).value(w) == pytest.approx(penalty.value(w) + 0.1 * w @ w)
    V = np.vstack([w, 2 * w])
    assert penalty.value(V) == pytest.approx(5 * penalty.value(w))


def test_l2_of_zero_is_no_penalty() -> None:
    assert isinstance(ridge(0.0), NoPenalty)
    assert ridge(0.5).strength == 0.5
