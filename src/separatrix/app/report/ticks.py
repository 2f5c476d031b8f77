"""Round numbers along an axis."""

from __future__ import annotations

import math


def nice_ticks(low: float, high: float, about: int = 5) -> list[float]:
    """Multiples of 1, 2, 2.5 or 5 times a power of ten from `low` to `high` (which they may overshoot inwards only).

    >>> nice_ticks(0.0, 1.0), nice_ticks(17, 90, 4), nice_ticks(3.0, 3.0)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [20.0, 40.0, 60.0, 80.0], [3.0])
    """
    if not (math.isfinite(low) and math.isfinite(high)) or high <= low:
        return [low]
    rough = (high - low) / about
    if not rough > 0 or not math.isfinite(rough):
        return [low, high]
    power = 10.0 ** math.floor(math.log10(rough))
    step = min((power * each for each in (1, 2, 2.5, 5, 10)), key=lambda each: abs(each - rough))
    first, last = math.ceil(low / step - 1e-9), math.floor(high / step + 1e-9)
    if last - first > 4 * about:
        return [low, high]
    found = [float(f"{k * step:.12g}") + 0.0 for k in range(first, last + 1)]
    return found if len(found) > 1 else [low, high]
