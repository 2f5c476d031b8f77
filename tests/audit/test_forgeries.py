"""Certificates that are true are believed, and none that was made false by the least amount that does."""

from collections import Counter

import numpy as np
import pytest

from . import forgeries, forgeries_elsewhere

ELSEWHERE = ("firth", "limit", "joint")
"""What is fitted in one of seven cases."""
FEW, ENOUGH, BLOCK, BLOCKS = 80, 500, 530, 20
"""Cases of the quick test; of each block of the long one, which makes ten thousand."""


def case_and_forgery(seed):
    """None where a fit proves nothing, or no number of it can be forged."""
    if seed % 7:
        case = forgeries.case_of(seed)
        return case and (case, forgeries.forgery_of(case, seed))
    rng = np.random.default_rng(seed)
    case = forgeries_elsewhere.case_of(str(rng.choice(ELSEWHERE)), rng)
    return case and (case, forgeries_elsewhere.forgery_of(case, rng))


def believed_and_refused(seeds):
    """How many true ones were believed and how many forged ones refused, by what was forged."""
    believed, refused = 0, Counter()
    for seed in seeds:
        case, forged = case_and_forgery(seed) or (None, None)
        if case is None:
            continue
        assert case.check(), seed
        believed += 1
        if forged is not None:
            assert not forged.check(), (seed, forged.what)
            refused[forged.what] += 1
    return believed, refused


@pytest.mark.parametrize("first", range(0, FEW, 20))
def test_what_is_true_is_believed_and_what_is_forged_is_not(first):
    believed, refused = believed_and_refused(range(first, first + 20))
    assert min(believed, refused.total()) >= 17


@pytest.mark.slow
@pytest.mark.parametrize("block", range(BLOCKS))
def test_ten_thousand_true_ones_are_believed_and_ten_thousand_forged_ones_refused(block):
    first = 1000 + block * BLOCK
    believed, refused = believed_and_refused(range(first, first + BLOCK))
    print(f"{believed} believed, {refused.total()} refused: {dict(sorted(refused.items()))}")
    assert min(believed, refused.total()) >= ENOUGH


@pytest.mark.parametrize("kind", ELSEWHERE)
def test_the_certificates_bound_what_is_true(kind):
    seen = 0
    for seed in range(12):
        case = forgeries_elsewhere.case_of(kind, np.random.default_rng(seed))
        if case is None:
            continue
        found, proof, seen = case.truth(case.cost, case.weights), case.verdict.certificate, seen + 1
        for name in ("nu", "rho", "distance"):
            assert getattr(found, name) <= getattr(proof, name) * (1 + 1e-6) + case.slip
        assert found.gap <= proof.gap * (1 + 1e-6) + 3e-15
        known = ~np.isnan(found.errors)
        assert (found.errors[known] <= proof.coefficients[known] * (1 + 1e-6) + case.slip).all()
    assert seen > 8
