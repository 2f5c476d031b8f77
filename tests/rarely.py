"""Cases that repeat what others show, for `make test-slow`."""

from collections.abc import Sequence
from typing import Any

import pytest


def some_of(cases: Sequence[Any], every: int) -> list[Any]:
    """One case in so many; the others only when the slow tests run. A tuple is a case of several parameters."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*value, marks=[pytest.mark.slow] * (k % every > 0)) for k, value in enumerate(values)]
