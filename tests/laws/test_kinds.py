"""A new kind of rows meets every learner: one that says how it is written out, and nothing more."""

import numpy as np
import pytest
from data.dull import DullSource
from data.half_rows import HalfRows
from rarely import some_of
from scipy.sparse import issparse

from laws.test_weights import LAWS, LEARNERS, Learner, X, decided_alike, how_it_lies
from separatrix import (
    GaussianNaiveBayes,
    KernelPerceptron,
    LogisticRegression,
    OnlinePerceptron,
    OnlineToBatch,
    Perceptron,
    Pocket,
    VotedPerceptron,
    ZeroOneClassifier,
)
from separatrix.data import Rows
from separatrix.data.block import Dense
from separatrix.features import Polynomial

OF_ARRAYS = {
    "surface": "looks at one column of an array",
    "surrogates": "is of a model and an array",
}
KNOWN = [name for name, learner in LEARNERS.items() if name not in OF_ARRAYS and not issparse(learner.X)]


def rounded(learner, kind):
    """The learner with rows of half precision, as an array or as they are kept."""
    halves = np.asarray(learner.X).astype(np.float16)
    return Learner(learner.make, kind(halves), learner.y, learner.but)


@pytest.mark.parametrize("name", KNOWN)
def test_every_learner_says_the_same_of_them_as_of_an_array(name):
    kept, array = rounded(LEARNERS[name], HalfRows), rounded(LEARNERS[name], lambda halves: halves.astype(np.float32))
    assert decided_alike(kept.answer(kept.X, kept.y), array.answer(array.X, array.y))


@pytest.mark.parametrize(("name", "law"), some_of([(name, law) for name in KNOWN for law in LAWS], 3))
def test_the_laws_of_weights_hold_of_them(name, law):
    learner = rounded(LEARNERS[name], HalfRows)
    assert decided_alike(*LAWS[law](learner)) == (law not in learner.but)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "model",
    [
        Perceptron(max_passes=5), Pocket(random_state=0, max_passes=5), VotedPerceptron(), OnlinePerceptron(),
        KernelPerceptron("rbf"), KernelPerceptron("linear"), OnlineToBatch(OnlinePerceptron()),
        OnlineToBatch(GaussianNaiveBayes()), ZeroOneClassifier(time_limit=0.3), GaussianNaiveBayes(),
        LogisticRegression(features=Polynomial(2), l2=0.1),
    ],
    ids=lambda model: repr(model)[:40],
)  # fmt: skip
def test_learners_without_weights_learn_from_them_too(model):
    from sklearn.base import clone

    kept = HalfRows.of(X)
    y = (X[:, 0] > 0.1).astype(int)
    one, other = clone(model).fit(kept, y), clone(model).fit(kept.dense(), y)
    np.testing.assert_allclose(one.decision_function(kept), other.decision_function(kept.dense()), rtol=1e-6, atol=1e-6)
    assert (one.predict(kept) == other.predict(kept.dense())).all()


def test_a_stream_of_them_and_one_row_of_them():
    kept, y = HalfRows.of(X), (X[:, 0] > 0).astype(int)
    for make in (OnlinePerceptron, GaussianNaiveBayes):
        one, other = make(), make()
        for part in (slice(0, 9), slice(9, 48)):
            one.partial_fit(kept[part], y[part])
            other.partial_fit(kept.dense()[part], y[part])
        np.testing.assert_allclose(one.decision_function(kept[:1]), other.decision_function(kept.dense()[:1]))


def test_what_is_no_number_is_named():
    halves = X.astype(np.float16)
    halves[7, 1] = np.nan
    with pytest.raises(ValueError, match="NaN") as error:
        LogisticRegression().fit(HalfRows(halves), (X[:, 0] > 0).astype(int))
    assert (error.value.row, error.value.column) == (7, "x1")


def test_other_columns_than_at_the_fit_are_refused():
    model = LogisticRegression(l2=0.1).fit(HalfRows.of(X), (X[:, 0] > 0).astype(int))
    with pytest.raises(ValueError, match="2 columns; at the fit it had 3"):
        model.predict(HalfRows.of(X[:, :2]))


def test_a_verdict_on_them_is_checked():
    kept, y = HalfRows.of(X), (X[:, 0] > np.linspace(-1, 1, len(X))).astype(int)
    model = LogisticRegression(l2=0.1).fit(kept, y)
    assert model.verdict_.check(kept, y)
    assert not model.verdict_.check(HalfRows.of(X[::-1]), y)


def test_the_question_of_separability_is_answered():
    kept = HalfRows.of(X)
    assert how_it_lies(kept, X[:, 0] > 0, None)[0] == how_it_lies(kept.dense(), X[:, 0] > 0, None)[0] == "separated"


VERBS = {
    "scores": lambda block, w, v: block @ w,
    "magnitudes": lambda block, w, v: block.magnitudes(np.abs(w)),
    "pull": lambda block, w, v: block.pull(v),
    "centred scores": lambda block, w, v: block.centred_scores(w, w),
    "squares": lambda block, w, v: block.squares(),
    "weighted squares": lambda block, w, v: block.weighted_squares(v),
    "scatter": lambda block, w, v: block.scatter(v, w),
    "root mean squares": lambda block, w, v: block.root_mean_squares(),
    "products": lambda block, w, v: block.products(block[3:9]),
    "products with an array": lambda block, w, v: block.products(Dense(np.eye(3))),
    "extremes": lambda block, w, v: np.array(block.extremes()),
    "sum": lambda block, w, v: block.sum(),
    "selected": lambda block, w, v: block.select(np.array([0, 2])).dense(),
    "squared": lambda block, w, v: block.squared().dense(),
    "changed": lambda block, w, v: block.changed(np.abs, np.array([1])).dense(),
    "first": lambda block, w, v: np.array(block.first(lambda numbers, columns: numbers > 1)),
    "occurring": lambda block, w, v: block.occurring(),
    "numbers of a row": lambda block, w, v: np.array(block.numbers_of(4)),
    "written": lambda block, w, v: block.written(np.array([5, 2]), np.array([0, 1])),
    "stretches": lambda block, w, v: np.concatenate([block[part].dense() for part in block.stretches(10)]),
}


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_is_what_it_is_of_an_array(verb):
    from scipy.sparse import csr_array

    from separatrix.data import Sparse

    kept, rng = HalfRows.of(X), np.random.default_rng(0)
    array, w, v = kept.dense().astype(float), rng.normal(size=3), rng.random(len(X))
    for block in (kept, Sparse.of(csr_array(array)), Dense(np.asfortranarray(array)), Dense(kept.dense())):
        np.testing.assert_allclose(VERBS[verb](block, w, v), VERBS[verb](Dense(array), w, v), rtol=1e-6, atol=1e-6)


def test_a_dull_place_of_them():
    rows = Rows.of(HalfRows.of(X), np.ones(len(X), np.int8), np.empty(0))
    dull = DullSource(rows, 5)
    assert dull.kind.dtype == np.float32
    np.testing.assert_allclose(
        dull.fold(lambda part, lo, hi: part.dense(lo, hi).sum(axis=0)), rows.dense().sum(axis=0), rtol=1e-5
    )
