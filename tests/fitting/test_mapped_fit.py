"""Fits on features that are made block by block: the same as on the table of features, and checked from raw rows."""

import json
import pickle
import warnings
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import cross_val_score
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import check_estimator

from separatrix import BudgetWarning, CrossValidation, LogisticRegression
from separatrix.audit import features as audit_features
from separatrix.data import grams
from separatrix.data.block import block_of
from separatrix.data.mapped import MappedRows
from separatrix.features import GaussianBasis, Interactions, Lift, Polynomial, Standardise
from separatrix.learners.checks import features as mapping

RNG = np.random.default_rng(11)
N = 600
X = RNG.normal(size=(N, 6)) * [1, 2, 1, 1, 0.5, 1] + [0, 1, 0, 3, 0, 0]
SCORE = X[:, 0] * X[:, 1] - X[:, 2] ** 2 + 1 + 0.5 * X[:, 4]
TWO = np.array(["no", "yes"])[(SCORE + RNG.logistic(size=N) > 0).astype(int)]
THREE = (SCORE + RNG.logistic(size=N) > 0).astype(int) + (X[:, 5] + RNG.logistic(size=N) > 0)
COST = RNG.uniform(0.2, 3, N) * (RNG.random(N) > 0.2)
CHAIN = [Standardise(), Polynomial(2)]


@pytest.fixture
def by_blocks(monkeypatch):
    """No table of features, however small; one Hessian for all threads from 16 columns on."""
    monkeypatch.setattr(mapping, "WRITTEN_OUT", 0)
    monkeypatch.setattr(grams, "SHARED_FROM", 16)
    monkeypatch.setattr(audit_features, "SMALL", 0)


@pytest.fixture(params=[16, 10**9], ids=["one sum", "sums of runs"])
def either_way(request, monkeypatch, by_blocks):
    monkeypatch.setattr(grams, "SHARED_FROM", request.param)


def fitted(y=TWO, weight=None, rows=X, features=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return LogisticRegression(features=features or Polynomial(2), **settings).fit(rows, y, weight)


def on_the_table(y=TWO, weight=None, rows=X, features=None, **settings):
    table = mapping.learn_features(features or Polynomial(2), block_of(rows), [f"x{j}" for j in range(6)], False, None)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", BudgetWarning)
        return LogisticRegression(**settings).fit(table.transform(rows), y, weight)


def same(one, other, rtol=1e-8):
    assert one.verdict_.status == other.verdict_.status
    size = np.abs(other.coef_).max()
    np.testing.assert_allclose(one.coef_, other.coef_, rtol=rtol, atol=rtol * size)
    np.testing.assert_allclose(one.intercept_, other.intercept_, rtol=rtol, atol=rtol * size)


# ------------------------------------------------------------------------------------------- the same as on the table


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("weight", [None, COST], ids=["plain", "weighted"])
def test_the_same_weights_as_on_the_table_of_features(either_way, y, l2, weight):
    model = fitted(y, weight, l2=l2)
    same(model, on_the_table(y, weight, l2=l2))
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y, weight)
    assert model.coef_.shape[1] == 27
    assert model.n_features_in_ == 6


@pytest.mark.parametrize(
    "settings",
    [
        {"solver": "newton"},
        {"solver": "lbfgs"},
        {"solver": "gradient", "max_passes": 400, "tol": 1e-6},
        {"fit_intercept": False},
        {"objective": "squared", "l2": 1e-2, "starts": 2, "random_state": 0, "tol": 1e-13},
        {"objective": "squared", "l2": 1e-2, "starts": 1, "solver": "gauss-newton"},
        {"class_weight": "balanced"},
        {"init": "zero", "l2": 1e-2},
        {"l2": CrossValidation(grid=(0.1, 0.01), folds=3)},
    ],
    ids=str,
)
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_every_way_of_fitting(by_blocks, settings, y):
    model, table = fitted(y, **settings), on_the_table(y, **settings)
    same(model, table, 1e-4 if settings.get("solver") == "gradient" else 1e-6)
    assert model.l2_ == table.l2_
    assert model.verdict_.check(X, y)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_probabilities_as_targets(by_blocks, y):
    classes = np.unique(y)
    soft = 0.9 * (y[:, None] == classes) + 0.1 / len(classes)
    same(fitted(soft), on_the_table(soft))
    assert fitted(soft).verdict_.check(X, soft)


def test_single_precision_and_other_layouts(by_blocks):
    single = X.astype(np.float32)
    same(fitted(rows=single), on_the_table(rows=single))
    assert fitted(rows=single).verdict_.check(single, TWO)
    same(fitted(rows=np.asfortranarray(X)), fitted())
    same(fitted(rows=np.repeat(X, 2, axis=0)[::2]), fitted())


def test_sparse_rows(by_blocks):
    rows = np.where(RNG.random(X.shape) < 0.5, X, 0.0)
    model = fitted(rows=sparse.csr_array(rows))
    same(model, on_the_table(rows=rows))
    np.testing.assert_allclose(model.predict_proba(sparse.csr_array(rows)), model.predict_proba(rows), rtol=1e-9)
    assert model.verdict_.check(sparse.csr_array(rows), TWO)


@pytest.mark.parametrize(
    "features",
    [
        CHAIN,
        (Interactions([(0, 1)]), Standardise()),
        GaussianBasis(count=12, random_state=3),
        [Standardise(), GaussianBasis(count=12, random_state=3)],
        Lift("square"),
        [Polynomial(2), Standardise(), Lift("square")],
    ],
    ids=str,
)
def test_every_map_and_chains_of_them(by_blocks, features):
    model, table = fitted(features=features), on_the_table(features=features)
    same(model, table)
    assert model.verdict_.check(X, TWO)
    names = model.features_.names
    assert model.rule_.columns == names
    assert len(names) == model.coef_.shape[1]


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_compiled_passes_read_features_too(either_way, monkeypatch, y):
    monkeypatch.setattr("separatrix.learners.logistic.training.COMPILE_FROM", 0)
    for settings in ({"solver": "newton"}, {"solver": "lbfgs", "l2": 1e-3}):
        model = fitted(y, COST, **settings)
        same(model, on_the_table(y, COST, **settings))
        assert model.verdict_.check(X, y, COST)


@pytest.mark.parametrize("l2", [0.0, 1e-3])
def test_a_witness_for_many_weights(either_way, monkeypatch, l2):
    monkeypatch.setattr("separatrix.fitting.plans.softmax.DENSE", 10)
    model = fitted(THREE, COST, l2=l2)
    assert model.verdict_.certificate.witness is not None
    same(model, on_the_table(THREE, COST, l2=l2), 1e-5)
    assert model.verdict_.check(X, THREE, COST)


def test_a_wide_hessian_has_the_same_bits_for_any_number_of_threads(by_blocks, monkeypatch):
    monkeypatch.setattr("separatrix.learners.logistic.logistic.SMALL", 0)
    monkeypatch.setattr(grams, "PANEL", 8)
    monkeypatch.setattr(grams, "PART", 50)
    one, three = fitted(n_threads=1, l2=1e-3), fitted(n_threads=3, l2=1e-3)
    assert one.coef_.tolist() == three.coef_.tolist()
    assert one.verdict_.certificate.gap == three.verdict_.certificate.gap


def test_the_table_is_never_made(by_blocks, monkeypatch):
    largest = []
    dense = MappedRows.dense

    def watched(self):
        largest.append(self.shape[0])
        return dense(self)

    monkeypatch.setattr(MappedRows, "dense", watched)
    monkeypatch.setattr("separatrix.data.frame.BLOCK", 256)
    monkeypatch.setattr("separatrix.data.frame.block_rows", lambda width: 256)
    monkeypatch.setattr("separatrix.data.jets.block_rows", lambda width: 256)
    monkeypatch.setattr("separatrix.data.grams.block_rows", lambda width: 256)
    monkeypatch.setattr("separatrix.fitting.certificates.margin.block_rows", lambda width: 256)
    monkeypatch.setattr("separatrix.fitting.coordinates.BLOCK", 256)
    monkeypatch.setattr("separatrix.learners.logistic.rows_of_fit.NUMBERS", 4096)
    fitted(l2=1e-3)
    assert largest
    assert max(largest) <= 256


# -------------------------------------------------------------------------------------------------- separated classes


def ring(rows=X, classes=2):
    """Classes by the size of a quadratic form: separated in the squares, not in x."""
    size = np.square((rows - rows.mean(axis=0)) / rows.std(axis=0)).sum(axis=1)
    return np.digitize(size, np.quantile(size, np.arange(1, classes) / classes))


@pytest.mark.parametrize("classes", [2, 3])
def test_separated_in_the_features(by_blocks, classes):
    y = ring(classes=classes)
    model, table = fitted(y), on_the_table(y)
    assert model.verdict_.status == table.verdict_.status == "separated"
    assert model.verdict_.check(X, y)
    assert model.predict(X).tolist() == y.tolist()
    assert model.predict_proba(X).max(axis=1).tolist() == [1.0] * N
    assert model.verdict_.separability.check(model.features_.transform(X), y)


def test_separated_in_part(by_blocks):
    x = np.concatenate([RNG.integers(-3, 4, 300), [5, -5, 5, -5]]).astype(float)[:, None]
    y = np.where(np.abs(x[:, 0]) > 3, 1, RNG.integers(0, 2, 304))
    y[np.abs(x[:, 0]) < 3] = 0
    model, table = fitted(y, rows=x), LogisticRegression().fit(np.column_stack([x, x**2]), y)
    assert model.verdict_.status == table.verdict_.status == "quasi-separated"
    assert model.verdict_.check(x, y)
    made = np.column_stack([x, x**2])
    np.testing.assert_allclose(model.predict_proba(x), table.predict_proba(made), atol=1e-7)
    assert model.predict(x).tolist() == table.predict(made).tolist()


def test_features_that_are_combinations_of_others_are_named(by_blocks):
    binary = (X > [0, 1, 0, 3, 0, 0]).astype(float)
    model, table = fitted(rows=binary), on_the_table(rows=binary)
    assert model.verdict_.rank == table.verdict_.rank._replace(aliased=model.verdict_.rank.aliased)
    assert set(model.verdict_.rank.aliased) == {f"x{j}²" for j in range(6)}
    np.testing.assert_allclose(
        model.predict_proba(binary), table.predict_proba(model.features_.transform(binary)), rtol=1e-7
    )
    assert model.verdict_.check(binary, TWO)
    assert "The features have rank 22 of 28: x0²" in str(model.verdict_)
    lifted = LogisticRegression(features=Lift()).fit(X, TWO)
    assert lifted.verdict_.rank.aliased == ("1",)


def test_fewer_rows_than_features_are_written_out(by_blocks):
    few = slice(0, 20)
    model = fitted(TWO[few], rows=X[few], l2=0.1)
    same(model, on_the_table(TWO[few], rows=X[few], l2=0.1))
    weight = np.zeros(N)
    weight[few] = 1
    same(fitted(weight=weight, l2=0.1), model, 1e-6)


# --------------------------------------------------------------------------------------------------- the model it makes


def test_raw_rows_in_and_named_features(by_blocks):
    frame = pd.DataFrame(X, columns=list("abcdef"))
    model = LogisticRegression(features=Polynomial(2), l2=1e-3).fit(frame, TWO)
    assert model.feature_names_in_.tolist() == list("abcdef")
    assert model.rule_.columns[:8] == (*"abcdef", "a²", "a·b")
    assert "·a·b" in model.rule_.equation()
    assert model.rule_.features == "27 features of X, Polynomial()"
    made = model.features_.transform(frame)
    np.testing.assert_allclose(model.decision_function(frame), model.rule_.score(made), rtol=1e-12)
    np.testing.assert_allclose(model.predict_proba(frame)[:, 1], model.rule_.probability(made), rtol=1e-10)
    np.testing.assert_allclose(model.distance(frame), model.rule_.distance(made), rtol=1e-12)
    assert model.verdict_.check(frame, TWO)
    with pytest.raises(ValueError, match=r"linear in 27 features of X, Polynomial\(\): give it .*features_.transform"):
        model.rule_.score(X)
    with pytest.raises(ValueError, match="the column 'f' at place 0"):
        model.predict(frame[list("fedcba")])
    with pytest.raises(ValueError, match="the column 'f' at place 0"):
        model.features_.transform(frame[list("fedcba")])


def test_influence_is_that_of_the_table(by_blocks):
    model, table = fitted(l2=1e-3), on_the_table(l2=1e-3)
    ours, theirs = model.influence(X, TWO), table.influence(model.features_.transform(X), TWO)
    for one, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(one, other, rtol=1e-6, atol=1e-9)


def test_the_transformers_given_are_not_touched():
    steps = [Standardise(), Polynomial(2)]
    model = LogisticRegression(features=steps).fit(X, TWO)
    assert not any(hasattr(step, "map_") for step in steps)
    assert model.features is steps
    assert str(model.features_) == "27 features of X, Standardise(), then Polynomial()"
    first, second = model.features_.transformers
    assert second.transform(first.transform(X)).tolist() == model.features_.transform(X).tolist()
    assert second.get_feature_names_out().tolist() == list(model.features_.names)


def test_a_fit_without_features_forgets_those_of_an_earlier_one():
    model = LogisticRegression(features=Polynomial(2)).fit(X, TWO)
    model.set_params(features=None).fit(X, TWO)
    assert not hasattr(model, "features_")
    assert model.coef_.shape == (1, 6)
    assert model.verdict_.claim.features is None
    assert model.verdict_.check(X, TWO)


def test_clones_pickles_warm_starts_and_folds():
    model = LogisticRegression(features=Polynomial(2), l2=1e-2, warm_start=True).fit(X, TWO)
    again = pickle.loads(pickle.dumps(model))
    assert again.predict(X).tolist() == model.predict(X).tolist()
    assert again.verdict_.check(X, TWO)
    assert not hasattr(clone(model), "features_")
    assert clone(model).set_params(features__degree=1).fit(X, TWO).coef_.shape == (1, 6)
    before = model.coef_.copy()
    assert model.fit(X, TWO).coef_ == pytest.approx(before, rel=1e-5, abs=1e-6)
    assert cross_val_score(clone(model), X, TWO, cv=3).mean() > 0.7


def test_steps_can_be_watched_and_stopped():
    model = LogisticRegression(features=Polynomial(2))
    run = model.steps(X, TWO)
    assert next(run).weights.shape == (27,)
    run.close()
    assert model.verdict_.status == "interrupted"
    assert model.predict(X).shape == (N,)


def test_check_estimator():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        results = check_estimator(LogisticRegression(features=Lift("square"), l2=0.01), on_skip=None, on_fail=None)
    assert not [(r["check_name"], r["exception"]) for r in results if r["status"] == "failed"]


# ---------------------------------------------------------------------------------------------------------- the check


@pytest.fixture(params=[0, 10**9], ids=["block by block", "at once"])
def checked(request, monkeypatch):
    monkeypatch.setattr(audit_features, "SMALL", request.param)
    features = [Standardise(), Interactions(), Lift("square"), GaussianBasis(count=9, random_state=0)]
    return LogisticRegression(features=features, l2=1e-3).fit(X, TWO).verdict_


def tampered(verdict, step, **changes):
    spec = [dict(each) for each in verdict.claim.features]
    spec[step].update(changes)
    return replace(verdict, claim=replace(verdict.claim, features=tuple(spec)))


def moved(array, place, by):
    changed = np.array(array)
    changed[place] += by
    return changed


def test_a_tampered_map_is_found_out(checked):
    assert checked.check(X, TWO)
    standard, products, lift, gaussians = checked.claim.features
    lies = [
        tampered(checked, 0, mean=moved(standard["mean"], 2, 1e-3)),
        tampered(checked, 0, deviation=moved(standard["deviation"], 0, 1e-3)),
        tampered(checked, 1, terms=moved(products["terms"], (6, 1), 1)),
        tampered(checked, 2, square=not lift["square"]),
        tampered(checked, 3, centres=moved(gaussians["centres"], (4, 0), 1e-2)),
        tampered(checked, 3, widths=moved(gaussians["widths"], 1, 1e-2)),
    ]
    assert [lie.check(X, TWO) for lie in lies] == [False] * 6


def test_a_map_that_makes_no_sense_proves_nothing(checked):
    standard, products, _, gaussians = checked.claim.features
    nonsense = [
        tampered(checked, 0, kind="magic"),
        tampered(checked, 0, deviation=0 * standard["deviation"]),
        tampered(checked, 0, mean=standard["mean"] * np.nan),
        tampered(checked, 1, columns=5),
        tampered(checked, 1, terms=products["terms"] + 50),
        tampered(checked, 1, terms=products["terms"][:-1]),
        tampered(checked, 1, terms=products["terms"].astype(float)),
        tampered(checked, 2, square="yes"),
        tampered(checked, 3, widths=-gaussians["widths"]),
        tampered(checked, 3, centres=gaussians["centres"][:, 1:]),
        replace(checked, claim=replace(checked.claim, features=())),
        replace(checked, claim=replace(checked.claim, features=7)),
        replace(checked, claim=replace(checked.claim, features=checked.claim.features[:-1])),
    ]
    assert [each.check(X, TWO) for each in nonsense] == [False] * 13


def test_other_rows_and_other_columns(checked):
    assert not checked.check(X[::-1], TWO)
    spoilt = X.copy()
    spoilt[3, 2] = np.nan
    assert not checked.check(spoilt, TWO)
    with pytest.raises(ValueError, match="features of 6 columns"):
        checked.check(X[:, :5], TWO)


def test_the_verdict_is_plain_data(checked):
    said = json.loads(json.dumps(checked.to_dict()))
    assert [step["kind"] for step in said["claim"]["features"]] == ["standard", "products", "lift", "gaussians"]
    assert np.shape(said["claim"]["features"][3]["centres"]) == (9, 22)


# ----------------------------------------------------------------------------------------------------- what is refused


def with_cell(value):
    rows = X.copy()
    rows[5, 1] = value
    return rows


@pytest.mark.parametrize(
    ("call", "kind", "words"),
    [
        (lambda: fitted(rows=with_cell(np.nan)), ValueError, "X[5, 'x1'] is NaN"),
        (lambda: fitted().predict(with_cell(np.inf)), ValueError, "X[5, 'x1'] is inf"),
        (lambda: fitted(rows=with_cell(1e200)), ValueError, "X[5] makes the feature 'x1²' overflow"),
        (lambda: fitted(rows=with_cell(1e100)), ValueError, "reaches 1e+200"),
        (
            lambda: LogisticRegression(features=[]).fit(X, TWO),
            ValueError,
            "features is empty",
        ),
        (lambda: fitted(features=StandardScaler()), TypeError, "make_pipeline(transformer, LogisticRegression())"),
        (lambda: fitted(features=Polynomial), TypeError, "features has the class Polynomial"),
        (lambda: fitted(features=GaussianBasis([[1.0]])), ValueError, "centres has shape (1, 1); X has 6 columns"),
        (lambda: fitted(features=[Lift(), Lift()]), ValueError, "2 features of the name '1'"),
        (lambda: fitted(solver="stochastic"), ValueError, "solver='stochastic' and features do not go together"),
        (
            lambda: LogisticRegression(features=Lift(), solver="stochastic", learning_rate=0.1).partial_fit(X, TWO),
            ValueError,
            "make_pipeline(Polynomial(2), LogisticRegression(solver='stochastic'))",
        ),
    ],
)
@pytest.mark.parametrize("limit", [0, 10**9])
def test_refused(monkeypatch, limit, call, kind, words):
    monkeypatch.setattr(mapping, "WRITTEN_OUT", limit)
    with pytest.raises(kind) as caught:
        call()
    assert words in str(caught.value)


def test_too_many_features_for_a_fit(by_blocks, monkeypatch):
    monkeypatch.setattr(mapping, "MOST", 20)
    with pytest.raises(ValueError, match="There are 27 features, and a fit needs a matrix of them"):
        fitted()
