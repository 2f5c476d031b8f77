"""Exact sums of products, against fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from separatrix.numerics.exact import exact_dot

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@given(st.lists(st.tuples(NUMBERS, NUMBERS), max_size=20))
def test_a_sum_of_products_is_that_of_fractions(pairs: list[tuple[float, float]]) -> None:
    a, b = (np.array([pair[k] for pair in pairs], float) for k in (0, 1))
    assert exact_dot(a, b) == sum((Fraction(x) * Fraction(y) for x, y in pairs), Fraction(0))


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_no_number_has_no_exact_sum(bad: float) -> None:
    with pytest.raises((ValueError, OverflowError)):
        exact_dot(np.array([1.0, bad]), np.ones(2))
