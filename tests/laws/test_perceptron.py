"""Laws of the perceptron: its bound, its log, its one rule."""

import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rarely import examples
from scipy.sparse import csr_array

from separatrix import AveragedPerceptron, MaxMarginClassifier, OnlinePerceptron, Perceptron, Pocket, VotedPerceptron
from separatrix.data import Sparse
from separatrix.fitting.scan.online import LearningRate, OnlineState
from separatrix.fitting.scan.online import scan as stochastic_scan
from separatrix.fitting.scan.perceptron import PerceptronState, UpdateRule, scan, sum_of_mistakes
from separatrix.losses import LogLikelihood
from separatrix.losses import Perceptron as PerceptronLoss
from separatrix.theory import chain, cosine, criterion, delta_step, is_mistake

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
seeds = st.integers(0, 2**32 - 1)
ALL = [Perceptron, AveragedPerceptron, VotedPerceptron, Pocket]


def with_margin(seed: int, n: int = 50, d: int = 3, gap: float = 0.2):
    """Rows that a rule separates, and the rule."""
    rng = np.random.default_rng(seed)
    X, u = rng.standard_normal((n, d)), rng.standard_normal(d + 1)
    z = X @ u[:d] + u[d]
    keep = np.abs(z) > gap
    return X[keep], (z[keep] > 0).astype(int), u


def any_rows(seed: int, n: int = 40, d: int = 3, classes: int = 2):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.integers(0, classes, n)


@examples(35, 100, seed=seeds, order=st.sampled_from(["cyclic", "random"]), intercept=st.booleans())
def test_mistakes_stay_below_the_bound_on_rows_that_can_be_separated(seed, order, intercept):
    X, y, u = with_margin(seed)
    if not intercept:
        y = (X @ u[:-1] > 0).astype(int)
        X = X[np.abs(X @ u[:-1]) > 0.2]
        y = (X @ u[:-1] > 0).astype(int)
    if len(set(y)) < 2:
        return
    model = Perceptron(max_passes=5000, order=order, random_state=0, fit_intercept=intercept).fit(X, y)
    best, mine = model.bound(), model.bound(u if intercept else u[:-1])
    assert best.made == model.mistakes_.sum()
    assert best.made <= best.bound * (1 + 1e-9)
    assert mine.made <= mine.bound * (1 + 1e-9)
    assert (best.D, mine.D) == (0, 0)
    assert best.bound <= mine.bound * (1 + 1e-6), "no direction has a larger margin"
    lifted = np.column_stack([X, np.ones(len(X))]) if intercept else X
    assert pytest.approx(np.linalg.norm(lifted, axis=1).max()) == best.R
    margin = MaxMarginClassifier(fit_intercept=intercept, lifted=intercept).fit(X, y).margin_
    assert best.gamma == pytest.approx(margin, rel=1e-6)
    assert best.bound == pytest.approx((best.R / best.gamma) ** 2)


@examples(
    35, 100, seed=seeds, passes=st.sampled_from([0.5, 1, 2, 7]), classes=st.integers(2, 4), scale=st.floats(0.01, 100)
)
def test_mistakes_stay_below_the_bound_on_any_rows_for_any_direction_and_start(seed, passes, classes, scale):
    X, k = any_rows(seed, classes=classes)
    if len(set(k)) < classes:
        return
    rng = np.random.default_rng(seed)
    shape = (1 if classes == 2 else classes, 4)
    rate = float(rng.uniform(0.05, 1))
    start = scale * rng.standard_normal(shape) if seed % 2 else np.zeros(shape)
    model = Perceptron(max_passes=passes, learning_rate=rate, init=start).fit(X, k)
    for u in (None, rng.standard_normal(shape), np.column_stack([model.coef_, model.intercept_])):
        if u is not None and not np.any(u):
            continue
        found = model.bound(u)
        assert found.made <= found.bound * (1 + 1e-9)


def test_the_bound_counts_the_passes():
    X, k = any_rows(0, 60)
    one, ten = (Perceptron(max_passes=p).fit(X, k) for p in (1, 10))
    u = np.array([1.0, -0.5, 0.3, 0.1])
    assert ten.bound(u).bound > one.bound(u).bound
    assert ten.bound(u).made <= ten.bound(u).bound
    single = one.bound(u)
    assert single.bound == pytest.approx(((single.R + single.D) / single.gamma) ** 2)


def test_the_bound_of_rows_given_again():
    X, y, _ = with_margin(1)
    model = Perceptron(max_passes=1000).fit(X, y)
    assert model.bound() == model.bound(X=X, y=y)
    assert pytest.approx(model.bound().R) == model.bound(X=csr_array(X), y=y).R
    online = OnlinePerceptron().partial_fit(X[:20], y[:20]).partial_fit(X[20:], y[20:])
    with pytest.raises(ValueError, match="give them, bound"):
        online.bound()
    assert online.bound(X=X, y=y).made <= online.bound(X=X, y=y).bound


@pytest.mark.parametrize(
    ("given", "says"),
    [({"u": [1.0]}, "u has 1 numbers; 4 are needed"), ({"u": np.zeros(4)}, "points nowhere"), ({"X": [[1.0]]}, "both")],
)
def test_a_bound_of_nonsense_is_refused(given, says):
    X, y, _ = with_margin(1)
    with pytest.raises(ValueError, match=says):
        Perceptron(max_passes=1000).fit(X, y).bound(**given)


@given(seed=seeds, classes=st.integers(2, 4), rate=st.sampled_from([1.0, 0.5, 0.125]), sparse=st.booleans())
def test_the_start_and_the_mistakes_add_up_to_the_weights(seed, classes, rate, sparse):
    rng = np.random.default_rng(seed)
    X, k = rng.integers(-5, 6, (40, 3)).astype(float), rng.integers(0, classes, 40)
    rows = Sparse.of(csr_array(X)) if sparse else X
    shape = (1 if classes == 2 else classes, 3)
    start = PerceptronState(rng.integers(-3, 4, shape).astype(float), np.zeros(shape[0]))
    end, log = scan(start, rows, k, np.arange(40), UpdateRule(rate), room=40)
    W, b = start.weights.copy(), start.intercept.copy()
    sum_of_mistakes(rows, log, np.full(len(log), rate), W, b)
    np.testing.assert_array_equal(W, end.weights)
    np.testing.assert_array_equal(b, end.intercept)


@examples(35, 100, seed=seeds, rate=st.sampled_from([0.5, 0.25, 0.0625]), classes=st.integers(2, 4))
def test_from_zero_the_rate_changes_no_mistake(seed, rate, classes):
    X, k = any_rows(seed, classes=classes)
    if len(set(k)) < 2:
        return
    for learner in ALL:
        full, slow = (learner(learning_rate=r, max_passes=3, order="cyclic").fit(X, k) for r in (1.0, rate))
        np.testing.assert_array_equal(full.mistakes_, slow.mistakes_)
        np.testing.assert_allclose(slow.coef_, rate * full.coef_, rtol=1e-13, atol=1e-13)
        np.testing.assert_array_equal(full.predict(X), slow.predict(X))


@examples(35, 100, seed=seeds)
def test_the_chain_of_the_proof(seed):
    X, y, _ = with_margin(seed)
    if len(set(y)) < 2:
        return
    model = Perceptron(max_passes=3000)
    moves = np.array([(1 if u.label == 1 else -1) * np.append(X[u.row], 1) for u in model.steps(X, y)])
    found = model.bound()
    best = MaxMarginClassifier(lifted=True).fit(X, y)
    links = chain(np.append(best.coef_, best.intercept_), moves, found.gamma, found.R)
    near = 1e-6 * links.most
    assert (links.least <= links.progress + near).all()
    assert (links.progress <= links.length + near).all()
    sums = np.cumsum((moves**2).sum(axis=1))  # Σ‖x⁽ˡ⁾‖², between the two
    assert (links.length**2 <= sums * (1 + 1e-12)).all()
    assert (sums <= links.most**2 * (1 + 1e-12)).all()
    w = np.append(model.coef_, model.intercept_)
    direction = np.append(best.coef_, best.intercept_)
    assert cosine(direction, w) == pytest.approx(links.progress[-1] / links.length[-1])


# ---------------------------------------------------------------------------------------------------- the one rule


@given(seed=seeds)
def test_the_delta_rule_is_the_step_of_all_three(seed):
    rng = np.random.default_rng(seed)
    X, t, w = rng.integers(-3, 4, (1, 3)).astype(float), float(rng.integers(0, 2)), rng.integers(-2, 3, 3).astype(float)
    rate = 0.25
    state = OnlineState(w[None].copy(), np.zeros(1))
    target, order = np.array([t]), np.arange(1)
    logistic = stochastic_scan(
        state, X, target, np.empty(0), order, loss=LogLikelihood(), rate=LearningRate(rate), fit_intercept=False
    )
    np.testing.assert_allclose(logistic.weights[0], delta_step(w, X[0], t, rate, "logistic"), rtol=1e-14, atol=1e-15)

    start = PerceptronState(w[None].copy(), np.zeros(1))
    update = UpdateRule(rate, lifted=False, ties="negative")  # f is 1[z > 0]
    perceptron, _ = scan(start, X, np.array([int(t)]), order, update, room=1)
    np.testing.assert_array_equal(perceptron.weights[0], delta_step(w, X[0], t, rate, "step"))

    error = X[0] @ w - t  # half the slope of (xᵀw − t)², whose step least squares takes
    np.testing.assert_array_equal(delta_step(w, X[0], t, rate, "identity"), w - rate * error * X[0])


def test_a_step_mends_its_row_and_may_raise_the_criterion():
    rng = np.random.default_rng(0)
    rose = 0
    for _ in range(50):
        X, y, w = rng.standard_normal((20, 3)), rng.choice([-1.0, 1.0], 20), rng.standard_normal(3)
        wrong = [i for i in range(20) if is_mistake(y[i], X[i] @ w)]
        after = w + y[wrong[0]] * X[wrong[0]]
        own = slice(wrong[0], wrong[0] + 1)
        assert criterion(after, X[own], y[own]) < criterion(w, X[own], y[own])
        rose += criterion(after, X, y) > criterion(w, X, y)
        assert criterion(w, X, y) == pytest.approx(PerceptronLoss().value(y * (X @ w)).sum())
    assert 5 < rose < 45


def test_the_solution_depends_on_order_and_start():
    X, y, _ = with_margin(1)
    cyclic, random = (Perceptron(max_passes=1000, order=o, random_state=1).fit(X, y) for o in ("cyclic", "random"))
    begun = Perceptron(max_passes=1000, init=[5.0, -3.0, 1.0, 0.0]).fit(X, y)
    assert all(model.verdict_.status == "separated" for model in (cyclic, random, begun))
    assert not np.allclose(cyclic.coef_, random.coef_)
    assert not np.allclose(cyclic.coef_, begun.coef_)


@examples(35, 100, seed=seeds, column=st.integers(0, 2))
def test_an_intercept_is_a_column_of_ones(seed, column):
    X, k = any_rows(seed)
    lifted = np.insert(X, column, 1.0, axis=1)
    if len(set(k)) < 2:
        return
    free = Perceptron(max_passes=3).fit(X, k)
    flat = Perceptron(max_passes=3, fit_intercept=False).fit(lifted, k)
    np.testing.assert_array_equal(free.mistakes_, flat.mistakes_)
    np.testing.assert_allclose(flat.coef_[0, column], free.intercept_[0], rtol=1e-12, atol=1e-12)
    assert not math.isnan(free.bound().bound)


@examples(35, 100, seed=seeds, passes=st.sampled_from([0.5, 1, 3]))
def test_the_bound_counts_rows_that_are_drawn_again(seed, passes):
    X, k = any_rows(seed)
    if len(set(k)) < 2:
        return
    model = Perceptron(order="replacement", max_passes=passes, random_state=seed % 1000).fit(X, k)
    for u in (None, np.random.default_rng(seed).standard_normal(4)):
        found = model.bound(u)
        assert found.made <= found.bound * (1 + 1e-9)


def test_the_bound_of_few_rows_drawn_often():
    X, y = np.ones((100, 1)), np.ones(100, int)
    y[0] = 0
    for seed in range(30):
        model = Perceptron(order="replacement", max_passes=1, fit_intercept=False, random_state=seed).fit(X, y)
        assert model.bound(u=[1.0]).made <= model.bound(u=[1.0]).bound


def test_a_pickle_keeps_what_the_bound_needs_but_for_the_rows():
    X, y, _ = with_margin(1)
    model = Perceptron(max_passes=1000, init=[0.5, 0.0, 0.0, 0.0]).fit(X, y)
    again = pickle.loads(pickle.dumps(model))
    assert again.bound(X=X, y=y) == model.bound()
