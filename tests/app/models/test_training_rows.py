"""What a model file remembers of the rows of a fit."""

import gc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

import separatrix
from separatrix import BudgetWarning, LogisticRegression, Perceptron
from separatrix.app.models.from_learner import model_of, rows_fingerprint
from separatrix.data.categorical import CategoricalRows

RNG = np.random.default_rng(0)
ROWS = RNG.normal(size=(200, 3)) * [1, 10, 0.1] + [0, 5, 0]
LABELS = np.where(ROWS[:, 0] + RNG.logistic(size=200) > 0, "yes", "no")


def saved(learner, folder, *rows):
    separatrix.save(learner, folder / "m.json", *rows)
    return separatrix.load(folder / "m.json")


def test_a_logistic_regression_finds_its_rows(tmp_path):
    X, y = ROWS.copy(), LABELS.copy()
    model = LogisticRegression().fit(X, y)
    found = saved(model, tmp_path)
    assert found.training["fingerprint"] == rows_fingerprint(X, y)
    np.testing.assert_allclose(found.training["deviations"], X.std(axis=0), rtol=1e-12)
    np.testing.assert_allclose(found.scaled_weights, model.coef_[0] * X.std(axis=0), rtol=1e-12)


@pytest.mark.parametrize("how", ["gone", "changed", "given"])
def test_rows_that_are_gone_or_changed_are_not_told_of_unless_given(how, tmp_path):
    X, y = ROWS.copy(), LABELS.copy()
    model = LogisticRegression().fit(X, y)
    if how == "changed":
        X[:, 0] += 1.0
    else:
        del X
        gc.collect()
    found = saved(model, tmp_path, *((ROWS, LABELS) if how == "given" else ()))
    assert ("fingerprint" in found.training) is (how == "given")
    assert (found.scaled_weights is not None) is (how == "given")


def test_any_learner_may_be_given_its_rows(tmp_path):
    with pytest.warns(BudgetWarning):
        model = Perceptron(max_passes=3).fit(ROWS, LABELS)
    assert "fingerprint" not in saved(model, tmp_path).training
    found = saved(model, tmp_path, ROWS, LABELS)
    assert len(found.training["fingerprint"]) == 64
    np.testing.assert_allclose(found.training["means"], ROWS.mean(axis=0), rtol=1e-12)


def test_the_hash_is_of_the_numbers_and_not_of_how_they_are_held():
    whole = np.where(RNG.random((70, 4)) < 0.5, 0.0, RNG.integers(-3, 4, (70, 4)))
    y = RNG.integers(0, 2, 70)
    known = rows_fingerprint(whole, y)
    same = (
        np.asfortranarray(whole),
        whole.astype(np.int32),
        sparse.csr_array(whole),
        0 - (0 - whole),
        whole.astype("f4"),
    )
    assert {rows_fingerprint(each, y) for each in same} == {known}
    assert rows_fingerprint(whole, y.tolist()) == known
    other = whole.copy()
    other[69, 3] = 9
    others = ((other, y), (whole[::-1], y), (whole, 1 - y), (whole, y, np.full(70, 2.0)), (whole.reshape(140, 2), y))
    assert known not in {rows_fingerprint(*each) for each in others}


def test_the_hash_of_many_rows_is_that_of_their_pieces(monkeypatch):
    known = rows_fingerprint(ROWS, np.array(["a"] * 200))
    assert known != rows_fingerprint(ROWS, np.array(["a"] * 199 + ["b"]))
    data = pd.DataFrame(ROWS, columns=list("abc"))
    assert rows_fingerprint(data.to_numpy(), ["a"] * 200) == known


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ((ROWS, None), "y is missing"), ((None, LABELS), "X is missing"), ((None, None, np.ones(200)), "without X"),
        ((ROWS[:50], LABELS[:50]), "fitted to 200"), ((ROWS[:, :2], LABELS), "3 columns"),
        ((ROWS.astype(str), LABELS), "numbers in"),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_those_of_the_fit(rows, said, tmp_path):
    model = LogisticRegression().fit(ROWS, LABELS)
    with pytest.raises(ValueError, match=said):
        separatrix.save(model, tmp_path / "m.json", *rows)
    assert not list(tmp_path.iterdir())


def test_a_model_has_its_facts(tmp_path):
    model = saved(LogisticRegression().fit(ROWS, LABELS), tmp_path)
    with pytest.raises(TypeError, match="a Model has its facts"):
        separatrix.save(model, tmp_path / "n.json", ROWS, LABELS)


def test_rows_of_a_table_without_zeros_have_a_spread_too():
    places = RNG.integers(0, 3, (200, 1)).astype(np.int32)
    thin = CategoricalRows.of(ROWS, places, [True, True, True, False, False], list("abcde"))
    model = LogisticRegression().fit(thin, LABELS)
    found = model_of(model, X=thin)  # as after a fit that was interrupted, before any summary
    np.testing.assert_allclose(found.training["deviations"], thin.dense().std(axis=0), rtol=1e-9)
