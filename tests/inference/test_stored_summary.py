"""A summary that was kept as JSON is the same in all its forms."""

import json

import numpy as np
import pytest

import separatrix
from separatrix.inference.summary.summary import restored, stored

RNG = np.random.default_rng(1)
X = RNG.normal(size=(80, 3))
Y = np.array(["a", "b", "c"])[(X[:, 0] + RNG.normal(size=80) > 0).astype(int) + (X[:, 1] + RNG.normal(size=80) > 1)]
TWO = np.where(Y == "a", "no", "yes")
CASES = {
    "two": (X, TWO, {}),
    "three": (X, Y, {}),
    "penalised": (X, Y, {"l2": 0.1}),
    "separated": (X, np.where(X[:, 0] > 0, "u", "v"), {}),
    "quasi": (np.column_stack([X, X[:, 0] > 0.5]), np.where((X[:, 0] > 0.5) | (TWO == "yes"), "u", "v"), {}),
    "aliased": (np.column_stack([X, X[:, 0]]), TWO, {}),
    "whole-number classes": (X, (TWO == "yes").astype(int), {"fit_intercept": False}),
}


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize("force", [False, True])
def test_every_form_is_the_same(case, force):
    rows, y, parameters = CASES[case]
    model = separatrix.LogisticRegression(**parameters).fit(rows, y)
    summary = model.summary(rows, y, force=force)
    again = restored(json.loads(json.dumps(stored(summary), allow_nan=False)))
    assert str(again) == str(summary)
    assert again.to_html() == summary.to_html()
    assert again.to_latex() == summary.to_latex()
    assert again.to_json() == summary.to_json()
    assert stored(again) == stored(summary)
