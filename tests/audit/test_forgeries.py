"""Certificates that are true are believed, and none that was made false by the least amount that does."""

import pytest

from .forgeries import case_of, forgery_of

FEW, MANY, TOGETHER = 300, 10_100, 50


def blocks(first, last, size):
    return [range(lo, min(lo + size, last)) for lo in range(first, last, size)]


@pytest.mark.parametrize(
    "seeds",
    [*blocks(0, FEW, 10), *(pytest.param(seeds, marks=pytest.mark.slow) for seeds in blocks(FEW, MANY, TOGETHER))],
    ids=lambda seeds: f"{seeds.start}-{seeds.stop}",
)
def test_what_is_true_is_believed_and_what_is_forged_is_not(seeds):
    seen = 0
    for seed in seeds:
        case = case_of(seed)
        if case is None:
            continue
        assert case.check(), seed
        forged = forgery_of(case, seed)
        assert not forged.check(), (seed, forged.what)
        seen += 1
    assert seen >= 0.9 * len(seeds)
