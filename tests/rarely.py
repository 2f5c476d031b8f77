"""Cases that repeat what others show, for `make test-slow`."""

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from hypothesis import given, settings

Law = Callable[..., None]


def some_of(cases: Sequence[Any], every: int) -> list[Any]:
    """One case in so many; the others only when the slow tests run. A tuple is a case of several parameters."""
    values = [case if isinstance(case, tuple) else (case,) for case in cases]
    return [pytest.param(*value, marks=[pytest.mark.slow] * (k % every > 0)) for k, value in enumerate(values)]


def examples(few: int, many: int, *strategies: Any, **named: Any) -> Callable[[Law], Law]:
    """A law, as `given` makes one of these strategies: on so few cases, and on so many when the slow tests run."""

    def decorate(law: Law) -> Law:
        short, long = (settings(max_examples=count)(given(*strategies, **named)(law)) for count in (few, many))

        @pytest.mark.parametrize(
            "holds", [pytest.param(short, id="few"), pytest.param(long, id="many", marks=pytest.mark.slow)]
        )
        def both(holds: Callable[[], None]) -> None:
            holds()

        both.__name__, both.__doc__, both.__module__ = law.__name__, law.__doc__, law.__module__
        return both

    return decorate
