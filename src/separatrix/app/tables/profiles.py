"""What is seen in a column of levels."""

from __future__ import annotations

import re

import numpy as np

from .columns import Profile
from .numbers import DECIMAL_COMMA, TIME, number_of
from .table import Coded


def profile_of_levels(coded: Coded, decimal: str = ".") -> Profile:
    """How many values are missing, different, numbers, times, numbers with commas: each level is looked at once."""
    codes, levels = coded
    counts = np.bincount(codes + 1, minlength=len(levels) + 1).tolist()
    of_levels = list(zip(levels, counts[1:], strict=True))
    numbers = sum(count for level, count in of_levels if number_of(level, decimal) is not None)
    times = sum(count for level, count in of_levels if re.fullmatch(TIME, level))
    commas = sum(count for level, count in of_levels if re.fullmatch(DECIMAL_COMMA, level))
    return Profile("text", len(codes) - counts[0], counts[0], len(levels), numbers, times, commas)
