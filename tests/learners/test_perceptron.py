"""Perceptron, Averaged, Pocket: what is printed, on any kind of rows; verdicts; bounds; bad input."""

import pickle
import re
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from rarely import examples, some_of
from referees.perceptron import integers, many_classes, pocket, two_classes
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.utils.estimator_checks import check_estimator

from separatrix import (
    AveragedPerceptron,
    BudgetWarning,
    LinearRule,
    OnlinePerceptron,
    OnlineToBatch,
    Perceptron,
    Pocket,
    Verdict,
    VotedPerceptron,
    separability,
)
from separatrix.data import Sparse
from separatrix.fitting.scan.perceptron import PerceptronState, UpdateRule, scan
from separatrix.fitting.scan.perceptron import many_classes as many_kernel
from separatrix.fitting.scan.perceptron import two_classes as two_kernel
from separatrix.fitting.scan.run import Run

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")
seeds = st.integers(0, 2**32 - 1)
TIES = ("mistake", "positive", "negative")
every_tie = pytest.mark.parametrize("ties", TIES)


def in_all_forms(X):
    """The same rows in every form."""
    wide = csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    return [
        X,
        X.astype(np.float32),
        np.asfortranarray(X),
        X[:, ::-1][:, ::-1],
        csr_array(X),
        wide,
        csr_array(X).tocsc(),
    ]


def separable(seed, n=60, d=3):
    rng = np.random.default_rng(seed)
    X, w = rng.standard_normal((n, d)), rng.standard_normal(d)
    z = X @ w + 0.3
    keep = np.abs(z) > 0.1
    return X[keep], np.where(z[keep] > 0, 1, -1)


# ------------------------------------------------------------------------------------------------- as it is printed


@every_tie
@pytest.mark.parametrize("intercept", [True, False])
def test_two_classes_are_algorithm_5_to_the_bit(ties, intercept):
    rng = np.random.default_rng(3)
    X, y = integers(rng, 40, 3), rng.choice([-1, 1], 40)
    trace = two_classes(X, y, rate=0.5, passes=4.3, ties=ties, intercept=intercept)
    for rows in in_all_forms(X):
        model = Perceptron(learning_rate=0.5, max_passes=4.3, ties=ties, fit_intercept=intercept).fit(rows, y)
        np.testing.assert_array_equal(model.coef_[0], trace.weights[-1])
        assert model.intercept_[0] == trace.intercepts[-1]
        assert model.mistakes_.tolist() == trace.per_pass
        assert (model.n_steps_, model.n_passes_) == (172, 4.3)


@every_tie
@pytest.mark.parametrize("intercept", [True, False])
def test_many_classes_are_the_joint_rule_to_the_bit(ties, intercept):
    rng = np.random.default_rng(4)
    X, k = integers(rng, 50, 4), rng.integers(0, 4, 50)
    trace = many_classes(X, k, 4, rate=0.25, passes=3.5, ties=ties, intercept=intercept)
    for rows in in_all_forms(X):
        model = Perceptron(learning_rate=0.25, max_passes=3.5, ties=ties, fit_intercept=intercept).fit(rows, k)
        np.testing.assert_array_equal(model.coef_, trace.weights[-1])
        np.testing.assert_array_equal(model.intercept_, trace.intercepts[-1])
        assert model.mistakes_.tolist() == trace.per_pass


@every_tie
@given(seed=seeds)
def test_the_joint_rule_of_two_classes_is_the_binary_rule(ties, seed):
    rng = np.random.default_rng(seed)
    X, k, order = integers(rng, 30, 3), rng.integers(0, 2, 30), np.arange(30)
    one, log = scan(PerceptronState.zero(2, 3), X, k, order, UpdateRule(ties=ties), room=30)
    joint = PerceptronState(np.zeros((2, 3)), np.zeros(2))
    two, both = scan(joint, X, k, order, UpdateRule(ties=ties), room=30)
    np.testing.assert_array_equal(log.rows, both.rows)
    np.testing.assert_array_equal(log.rival, both.rival)
    np.testing.assert_array_equal(two.weights, np.vstack([-one.weights, one.weights]))
    np.testing.assert_array_equal(two.intercept, np.append(-one.intercept, one.intercept))


@every_tie
@given(seed=seeds, classes=st.integers(2, 4), sparse=st.booleans(), room=st.integers(1, 40))
def test_compiled_is_interpreted(ties, seed, classes, sparse, room):
    rng = np.random.default_rng(seed)
    dense, k = integers(rng, 30, 5) * (rng.random((30, 5)) < 0.5), rng.integers(0, classes, 30)
    X, order = Sparse.of(csr_array(dense)) if sparse else dense, rng.permutation(30)
    start = PerceptronState.zero(classes, 5)
    plain = two_kernel if classes == 2 else many_kernel
    for patience, record in ((10**9, 10**9), (4, 10**9), (10**9, 1)):
        limits = {"room": room, "patience": patience, "record": record}
        fast, log = scan(start, X, k, order, UpdateRule(0.5, ties=ties), **limits)
        slow, book = scan(start, X, k, order, UpdateRule(0.5, ties=ties), **limits, kernel=plain)
        np.testing.assert_array_equal(fast.weights, slow.weights)
        np.testing.assert_array_equal(fast.intercept, slow.intercept)
        assert (fast.steps, fast.run, fast.mistakes) == (slow.steps, slow.run, slow.mistakes)
        for name in ("rows", "steps", "own", "rival"):
            np.testing.assert_array_equal(getattr(log, name), getattr(book, name))


@given(seed=seeds, room=st.integers(1, 20))
def test_any_division_into_scans_has_the_same_bits(seed, room):
    rng = np.random.default_rng(seed)
    X, k = rng.standard_normal((50, 4)), rng.integers(0, 3, 50)
    whole, log = scan(PerceptronState.zero(3, 4), X, k, np.arange(50), UpdateRule(0.3), room=50)
    state, order, rows = PerceptronState.zero(3, 4), np.arange(50), []
    while order.size:
        cut = order[: rng.integers(1, 12)]
        after, part = scan(state, X, k, cut, UpdateRule(0.3), room=room)
        order, state = order[after.steps - state.steps :], after
        rows += part.rows.tolist()
    assert state.weights.tobytes() == whole.weights.tobytes()
    assert rows == log.rows.tolist()


@pytest.mark.parametrize("patience", [1, 7, 25])
def test_patience_ends_when_the_weights_have_not_changed_for_so_many_steps(patience):
    rng = np.random.default_rng(5)
    X, y = integers(rng, 40, 3), rng.choice([-1, 1], 40)
    trace = two_classes(X, y, passes=50, patience=patience)
    model = Perceptron(max_passes=50, patience=patience).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], trace.weights[-1])
    assert model.n_steps_ == len(trace.weights) - 1


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("intercept", [True, False])
def test_averaged_is_the_mean_of_all_that_were_in_hand(classes, intercept):
    rng = np.random.default_rng(6)
    X = integers(rng, 30, 3)
    k = rng.integers(0, classes, 30)
    if classes == 2:
        trace = two_classes(X, 2 * k - 1, rate=0.5, passes=2.5, intercept=intercept)
    else:
        trace = many_classes(X, k, 3, rate=0.5, passes=2.5, intercept=intercept)
    for rows in in_all_forms(X):
        model = AveragedPerceptron(learning_rate=0.5, max_passes=2.5, fit_intercept=intercept).fit(rows, k)
        np.testing.assert_allclose(np.squeeze(model.coef_), np.mean(trace.weights, axis=0), rtol=1e-14, atol=1e-15)
        np.testing.assert_allclose(np.squeeze(model.intercept_), np.mean(trace.intercepts, axis=0), rtol=1e-14)


def test_averaged_counts_its_start():
    X, y = np.array([[1.0], [2.0]]), np.array([1, -1])
    model = AveragedPerceptron(max_passes=1, init=[3.0, 0.5]).fit(X, y)
    trace = two_classes(X, y, passes=1, w=[3.0], b=0.5)
    assert model.coef_[0, 0] == pytest.approx(np.mean(trace.weights), rel=1e-15)


# ----------------------------------------------------------------------------------------------------------- pocket


@pytest.mark.parametrize("ratchet", [True, False])
@given(seed=seeds)
def test_pocket_is_algorithm_6_with_its_last_comparison(ratchet, seed):
    rng = np.random.default_rng(seed)
    X, y = integers(rng, 25, 2), rng.choice([-1, 1], 25)
    w, b, run = pocket(X, y, passes=6, ratchet=ratchet)
    model = Pocket(order="cyclic", max_passes=6, ratchet=ratchet).fit(X, y)
    np.testing.assert_array_equal(model.coef_[0], w)
    assert (model.intercept_[0], model.pocket_run_) == (b, run)


@examples(35, 100, seed=seeds)
def test_the_pocket_never_forgets_weights_that_separate(seed):
    X, y = separable(seed)
    if len(set(y)) < 2:
        return
    for ratchet in (True, False):
        model = Pocket(max_passes=3000, ratchet=ratchet, random_state=0).fit(X, y)
        assert model.verdict_.status == "separated"
        assert model.verdict_.check(X, y)


def test_with_the_ratchet_the_pocket_is_never_worse_than_the_last_weights():
    for seed in range(20):
        rng = np.random.default_rng(seed)
        X, y = rng.standard_normal((60, 2)), rng.choice(["a", "b"], 60)
        best = Pocket(max_passes=30, order="cyclic").fit(X, y).score(X, y)
        assert best >= Perceptron(max_passes=30).fit(X, y).score(X, y)


def test_the_pocket_of_many_classes():
    rng = np.random.default_rng(0)
    X, k = rng.standard_normal((150, 3)), rng.integers(0, 3, 150)
    k[:120] = (X[:120] @ rng.standard_normal((3, 3))).argmax(axis=1)
    model = Pocket(max_passes=50, random_state=1).fit(X, k)
    assert model.score(X, k) >= Perceptron(max_passes=50).fit(X, k).score(X, k)
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(X, k)
    assert model.verdict_.claim.value == pytest.approx(1 - model.score(X, k))


def test_the_patience_of_the_pocket_watches_the_pocket():
    rng = np.random.default_rng(1)
    X, y = rng.standard_normal((50, 2)), rng.choice([0, 1], 50)
    model = Pocket(max_passes=1000, patience=500, random_state=0).fit(X, y)
    assert model.n_passes_ < 1000
    assert "500 steps" in str(model.verdict_)


@pytest.mark.parametrize("alpha", [0.25, 0.5])
@pytest.mark.parametrize("intercept", [True, False])
def test_algorithm_4_1_is_the_perceptron_at_twice_the_rate(alpha, intercept):
    """θ ← θ + α(y − ŷ)x with ŷ = sign(x·θ), −1 at zero: a mistake moves θ by 2αyx, and its response by 2α‖x‖²."""
    rng = np.random.default_rng(11)
    X, y = integers(rng, 40, 3), rng.choice([-1, 1], 40)
    Z = np.column_stack([X, np.ones(40)]) if intercept else X
    theta = np.zeros(Z.shape[1])
    for x, label in zip(np.tile(Z, (3, 1)), np.tile(y, 3), strict=True):
        guess = 1 if x @ theta > 0 else -1
        before, theta = x @ theta, theta + alpha * (label - guess) * x
        assert x @ theta - before == (label != guess) * label * 2 * alpha * (x @ x)
    model = Perceptron(learning_rate=2 * alpha, ties="negative", max_passes=3, fit_intercept=intercept).fit(X, y)
    np.testing.assert_array_equal(np.append(model.coef_[0], model.intercept_[0] if intercept else []), theta)
    same = Perceptron(learning_rate=alpha, ties="negative", max_passes=3, fit_intercept=intercept).fit(X, y)
    np.testing.assert_array_equal(2 * same.coef_, model.coef_)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, Pocket, VotedPerceptron])
def test_of_rows_that_are_drawn_draws_are_told_and_not_passes(learner):
    """n draws with replacement miss rows: none of them is a pass, and the best of them says nothing about the rows."""
    X, y = np.random.default_rng(0).normal(size=(18, 2)), np.tile([0, 1], 9)
    drawn = learner(order="replacement", max_passes=40, random_state=1).fit(X, y)
    assert drawn.verdict_.status == "budget"
    assert f"720 draws with replacement from the 18 rows made {drawn.mistakes_.sum()} mistakes." in str(drawn.verdict_)
    assert not re.search("best so far|over the rows|whole", drawn.verdict_.cause)
    passed = learner(order="random", max_passes=40, random_state=1).fit(X, y)
    assert "40 passes over the rows made" in passed.verdict_.cause
    assert f"the best so far was pass {passed.mistakes_.argmin() + 1}, with {passed.mistakes_.min()}," in str(
        passed.verdict_
    )
    apart = learner(order="replacement", max_passes=40, random_state=1).fit(X[:, :1], X[:, 0] > 0)
    assert re.search(r"in 720 draws with replacement from the 18 rows\.$", apart.verdict_.cause)


def test_iris_by_perceptron_and_pocket():
    """Three classes, of which two cannot be told apart by weights of their own: a pocket is the better answer.

    [004 Example 4-7]
    """
    X, y = load_iris(return_X_y=True)
    assert separability(X, y).kind == "quasi-separated"
    last = Perceptron(max_passes=200).fit(X, y)
    best = Pocket(max_passes=200, random_state=0).fit(X, y)
    assert (last.verdict_.status, best.verdict_.status) == ("budget", "budget")
    assert last.coef_.shape == best.coef_.shape == (3, 4)
    assert best.score(X, y) > 0.98
    assert best.score(X, y) >= last.score(X, y)
    assert (best.predict(X[y == 0]) == 0).all()


# --------------------------------------------------------------------------------------------------------- verdicts


@examples(35, 100, seed=seeds, classes=st.integers(2, 4))
def test_a_run_that_ends_separates_and_its_weights_are_the_certificate(seed, classes):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((60, 3))
    s = X @ rng.standard_normal((3, classes))
    top = np.sort(s, axis=1)
    X, k = X[top[:, -1] - top[:, -2] > 0.3], s.argmax(axis=1)[top[:, -1] - top[:, -2] > 0.3]
    if len(set(k)) < 2:
        return
    model = Perceptron(max_passes=20_000, order="random", random_state=1).fit(X, k)
    assert (model.verdict_.status, model.verdict_.ok) == ("separated", True)
    assert model.score(X, k) == 1
    assert model.mistakes_[-1] == 0
    assert model.verdict_.check(X, k)
    assert model.verdict_.check(csr_array(X), k)
    wrong = k.copy()
    wrong[0] = (k[0] + 1) % classes
    assert not model.verdict_.check(X, wrong)


def test_a_budget_says_the_best_pass_and_what_to_do():
    rng = np.random.default_rng(2)
    X, y = rng.standard_normal((80, 2)), rng.choice([0, 1], 80)
    with pytest.warns(BudgetWarning):
        model = Perceptron(max_passes=12).fit(X, y)
    says, best = str(model.verdict_), int(model.mistakes_.argmin())
    assert model.verdict_.status == "budget"
    assert not model.verdict_.ok
    assert f"the best so far was pass {best + 1}, with {model.mistakes_[best]}" in says
    assert "separability(X, y)" in says
    assert "Pocket keeps" in says
    assert model.verdict_.check(X, y)
    assert isinstance(model.verdict_, Verdict)
    forged = pickle.loads(pickle.dumps(model.verdict_))
    object.__setattr__(forged.claim, "value", 0.0)
    assert not forged.check(X, y)


def test_the_rows_of_001_that_are_separable_by_its_rule_and_yet_never_end():
    X, y = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, -1.0]]), [1, -1, -1]
    assert Perceptron(fit_intercept=False, max_passes=50).fit(X, y).verdict_.status == "budget"
    model = Perceptron(fit_intercept=False, max_passes=50, ties="negative").fit(X, y)
    assert model.mistakes_[-1] == 0
    assert model.score(X, y) == 1  # predict says the first class at zero, as `negative` does
    assert "ties='negative'" in str(model.verdict_)
    assert model.verdict_.status == "budget"


def test_a_separation_by_a_hair_is_claimed_only_if_it_is_true():
    X, y = (
        np.array([[0.1, 0.2, -0.3], [0.0, 0.0, 1.0]]),
        [1, 0],
    )
    model = Perceptron(max_passes=1, init=[1.0, 1.0, 1.0], fit_intercept=False, ties="negative").fit(X[[0, 0]], [1, 0])
    assert model.verdict_.status == "budget"
    claim = Perceptron(max_passes=1, init=[1.0, 1.0, -1.0], fit_intercept=False).fit(X, y)
    assert claim.verdict_.status == "separated"
    assert claim.verdict_.check(X, y)
    wide = np.array([[1e16, 1.0, -1e16], [-1.0, -1.0, -1.0]])  # exactly 1, computed as 0 or 2, by the order of the sum
    found = Perceptron(max_passes=1, init=[1.0, 1.0, 1.0], fit_intercept=False).fit(wide, [1, 0])
    assert found.verdict_.status != "separated" or found.verdict_.check(wide, [1, 0])


@pytest.mark.parametrize("rate", some_of([0.1, 0.3, 1 / 3, 0.7], 2))
@given(seed=seeds, classes=st.integers(2, 3))
def test_no_rate_changes_a_mistake(rate, seed, classes):
    rng = np.random.default_rng(seed)
    X, k = integers(rng, 20, 2), rng.integers(0, classes, 20)
    if len(set(k)) < 2:
        return
    for learner in (Perceptron, Pocket, VotedPerceptron, AveragedPerceptron):
        whole, slow = (learner(learning_rate=r, max_passes=4, order="cyclic").fit(X, k) for r in (1.0, rate))
        np.testing.assert_array_equal(whole.mistakes_, slow.mistakes_)
        np.testing.assert_allclose(slow.coef_, rate * whole.coef_, rtol=1e-14)
    np.testing.assert_array_equal(
        VotedPerceptron(learning_rate=rate, max_passes=4).fit(X, k).decision_function(X),
        VotedPerceptron(max_passes=4).fit(X, k).decision_function(X),
    )


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, Pocket])
def test_random_orders_follow_the_seed(learner):
    rng = np.random.default_rng(7)
    X, y = rng.standard_normal((100, 3)), rng.choice([0, 1], 100)
    a, b, c = (learner(order="random", max_passes=3, random_state=seed).fit(X, y) for seed in (1, 1, 2))
    assert a.coef_.tobytes() == b.coef_.tobytes()
    assert a.coef_.tobytes() != c.coef_.tobytes()


def test_steps_are_the_updates_and_stopping_leaves_a_model():
    rng = np.random.default_rng(8)
    X, y = integers(rng, 40, 2), rng.choice(["a", "b"], 40)
    trace = two_classes(X, np.where(y == "b", 1, -1), passes=3)
    model = Perceptron(max_passes=3)
    updates = list(model.steps(X, y))
    assert [u.row for u in updates] == trace.rows
    assert [u.step for u in updates] == trace.steps
    for u in updates:
        np.testing.assert_array_equal(u.weights, trace.weights[u.step + 1])
        assert (u.label, u.rival) == (y[u.row], "a" if y[u.row] == "b" else "b")
    assert model.mistakes_.tolist() == trace.per_pass
    assert [u.mistakes for u in updates] == list(range(1, len(updates) + 1))

    stopped = Perceptron(max_passes=3)
    run = stopped.steps(X, y)
    third = [next(run) for _ in range(3)][-1]
    run.close()
    np.testing.assert_array_equal(stopped.coef_[0], third.weights)
    assert stopped.verdict_.status == "interrupted"
    assert stopped.predict(X).shape == (40,)


def test_control_c_leaves_a_model(monkeypatch):
    real = Run.__iter__

    def stopped(self):
        for number, _ in enumerate(real(self), 1):
            if number == 3:
                raise KeyboardInterrupt
            yield

    monkeypatch.setattr(Run, "__iter__", stopped)
    rng = np.random.default_rng(9)
    X, y = rng.standard_normal((50, 2)), rng.choice([0, 1], 50)
    model = Perceptron(max_passes=10)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.verdict_.status == "interrupted"
    assert model.n_steps_ == 150


def test_a_warm_start_goes_on():
    rng = np.random.default_rng(10)
    X, y = rng.standard_normal((60, 2)), rng.choice([0, 1], 60)
    whole = Perceptron(max_passes=4).fit(X, y)
    model = Perceptron(max_passes=2, warm_start=True).fit(X, y)
    model.fit(X, y)
    assert model.coef_.tobytes() == whole.coef_.tobytes()
    half = Perceptron(max_passes=2).fit(X, y)
    given = Perceptron(max_passes=2, init=np.append(half.coef_, half.intercept_)).fit(X, y)
    assert given.coef_.tobytes() == whole.coef_.tobytes()


@pytest.mark.parametrize("learner", [Perceptron(), AveragedPerceptron(), Pocket(max_passes=50, random_state=0)])
def test_scikit_learn_accepts_it(learner):
    results = check_estimator(clone(learner), on_skip=None, on_fail=None)
    assert [(each["check_name"], each["exception"]) for each in results if each["status"] == "failed"] == []
    assert sum(each["status"] == "passed" for each in results) > 40


# ------------------------------------------------------------------------------------------------------------- cube


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("d", [1, 2, 3, 5])
def test_at_least_m_of_d_is_linear_and_learnt(values, d):
    corners = np.array(np.meshgrid(*[values] * d)).reshape(d, -1).T.astype(float)
    on = (corners == 1).sum(axis=1)
    for m in range(d + 1):
        rule = LinearRule.at_least(m, d, values=values)
        np.testing.assert_array_equal(rule.classify(corners), (on >= m).astype(int))
        assert (np.abs(rule.score(corners)) >= 0.5).all(), "> 0 and ≥ 0 agree"
        if m == 0:
            continue  # one class only
        assert Perceptron(max_passes=2000).fit(corners, on >= m).verdict_.status == "separated"


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("d", [2, 3, 4])
def test_parity_is_out_of_reach_and_that_is_proved(values, d):
    corners = np.array(np.meshgrid(*[values] * d)).reshape(d, -1).T.astype(float)
    parity = (corners == 1).sum(axis=1) % 2
    found = separability(corners, parity)
    assert found.kind == "overlap"
    assert found.check(corners, parity)
    assert Perceptron(max_passes=100).fit(corners, parity).verdict_.status == "budget"
    best = Pocket(max_passes=300, random_state=0).fit(corners, parity)
    assert best.score(corners, parity) < 1


@pytest.mark.parametrize(("m", "d"), [(-1, 3), (1.5, 3), (1, 0), ("two", 3)])
def test_at_least_refuses_what_makes_no_sense(m, d):
    with pytest.raises(ValueError, match="at_least"):
        LinearRule.at_least(m, d)


# -------------------------------------------------------------------------------------------------------- bad input


@pytest.mark.parametrize(
    ("parameters", "says"),
    [
        ({"learning_rate": 0}, r"learning_rate is 0; it must lie in \(0, 1\]"),
        ({"learning_rate": 1.5}, "learning_rate is 1.5"),
        ({"learning_rate": -1}, "learning_rate is -1"),
        ({"learning_rate": float("nan")}, "learning_rate is nan"),
        ({"learning_rate": "fast"}, "learning_rate is 'fast'"),
        ({"max_passes": 0}, "max_passes is 0; it must be a finite number above 0"),
        ({"max_passes": float("inf")}, "max_passes is inf"),
        ({"order": "sorted"}, "order is 'sorted'; it must be one of 'cyclic', 'random', 'replacement'"),
        ({"patience": 0}, "patience is 0"),
        ({"patience": 2.5}, "patience is 2.5; it must be a whole number"),
        ({"ties": "both"}, "ties is 'both'"),
        ({"init": [1.0]}, "init has 1 numbers in shape .* 2 weights are needed"),
        ({"init": [np.nan, 1.0]}, "init"),
        ({"fit_intercept": "yes"}, "fit_intercept is 'yes'"),
        ({"warm_start": 1}, "warm_start is 1"),
        ({"order": "random", "random_state": "x"}, "random_state is 'x'"),
    ],
)
@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, Pocket])
def test_a_parameter_that_makes_no_sense_is_named(learner, parameters, says):
    X, y = np.array([[0.0, 1.0], [1.0, 0.0]]), [0, 1]
    with pytest.raises(ValueError, match=says):
        learner(**parameters).fit(X, y)


@pytest.mark.parametrize("learner", [Perceptron, AveragedPerceptron, Pocket])
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("sparse", [True, False])
def test_what_is_not_finite_is_named_by_row_and_column(learner, bad, sparse):
    rng = np.random.default_rng(11)
    X, y = rng.standard_normal((30, 3)), rng.choice([0, 1], 30)
    X[17, 2] = bad
    word = "NaN" if np.isnan(bad) else str(bad)
    with pytest.raises(ValueError, match=rf"X\[17, 'x2'\] is {word}"):
        learner().fit(csr_array(X) if sparse else X, y)


@pytest.mark.parametrize(
    ("X", "y", "says"),
    [
        (np.ones((3, 2)), [1, 1, 1], "one class only"),
        (np.ones((3, 2)), [0, 1], "3 rows and y 2 labels"),
        (np.ones((3, 2)), [0.1, 0.5, 0.9], "probabilities"),
        (np.ones((3, 2)), [0, 1, np.nan], "NaN"),
        (np.empty((0, 2)), [], "0 sample"),
        ([["a", "b"], ["c", "d"]], [0, 1], "not a number"),
    ],
)
def test_rows_that_cannot_be_learnt_from_are_refused(X, y, says):
    with pytest.raises(ValueError, match=says):
        Perceptron().fit(X, y)


def test_a_sum_that_overflows_is_said():
    X, y = np.array([[1e308], [-1e308], [1e308], [1e308]]), [0, 0, 1, 1]
    with pytest.raises(ValueError, match="overflow"):
        Perceptron(max_passes=100, fit_intercept=False).fit(X, y)


def test_other_columns_at_predict_are_refused():
    model = Perceptron().fit([[0.0, 1.0], [1.0, 0.0]], [0, 1])
    with pytest.raises(ValueError, match=re.escape("X has 3 features")):
        model.predict([[1.0, 2.0, 3.0]])


def test_a_pickle_does_not_carry_the_rows():
    X, y = separable(0, 5000)
    model = Perceptron(max_passes=2000).fit(X, y)
    assert len(pickle.dumps(model)) < X.nbytes / 4
    with pytest.raises(ValueError, match="give them, bound"):
        pickle.loads(pickle.dumps(model)).bound()


# ------------------------------------------------------------------------------------------- what once went wrong


def test_a_fit_that_fails_leaves_the_model_as_it_was():
    X, y = np.array([[0.0], [1.0], [3.0]]), [0, 0, 1]
    for learner in (Perceptron(), Pocket(max_passes=9), OnlinePerceptron(), OnlineToBatch(OnlinePerceptron())):
        model = learner.fit(X, y)
        before = model.predict(X).tolist()
        for bad, labels in ((np.ones((3, 2)), [1, 1, 1]), (np.array([[1.0, np.nan], [0, 1]]), [0, 1])):
            with pytest.raises(ValueError, match=r"one class only|NaN"):
                model.fit(bad, labels)
            assert model.predict(X).tolist() == before
            assert model.n_features_in_ == 1


@pytest.mark.parametrize("sparse", [True, False])
@pytest.mark.parametrize("width", [1, 5000])
def test_rows_of_another_width_after_a_failure_are_refused_not_read(sparse, width):
    model = OnlinePerceptron().fit(np.eye(3), [0, 1, 0])
    other = np.ones((4, width))
    other = csr_array(other) if sparse else other
    with pytest.raises(ValueError, match="one class only"):
        model.fit(other, [0, 0, 0, 0])
    with pytest.raises(ValueError, match="features"):
        model.partial_fit(other, [0, 1, 0, 1])


@pytest.mark.parametrize(
    "wrong",
    [
        {"X": np.ones((4, 3))},
        {"target": np.array([0, 1, 2, 0])},
        {"target": np.array([0, 1, -1, 0])},
        {"target": np.array([0, 1])},
        {"target": np.zeros(4)},
        {"order": np.array([0, 4])},
        {"order": np.array([-1])},
    ],
)
def test_a_scan_refuses_what_is_not_there(wrong):
    given = {"X": np.ones((4, 2)), "target": np.array([0, 1, 0, 1]), "order": np.arange(4), **wrong}
    with pytest.raises(ValueError, match=r"fit|classes|order"):
        scan(PerceptronState.zero(2, 2), given["X"], given["target"], given["order"], UpdateRule(), room=4)


@pytest.mark.parametrize("learner", [AveragedPerceptron, VotedPerceptron])
def test_control_c_in_the_middle_of_a_reading_spoils_nothing(monkeypatch, learner):
    import separatrix.fitting.scan.perceptron_scan as module

    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((60, 3)), rng.choice([0, 1], 60)
    two = learner(max_passes=2).fit(X, y)
    calls = []
    name = {AveragedPerceptron: "sum_of_mistakes", VotedPerceptron: "MistakeLog"}[learner]
    real = getattr(module, name)

    def interrupted(*given):
        calls.append(given)
        found = real(*given)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return found

    if learner is VotedPerceptron:
        kept = module.Votes.take

        def take(self, log, state):
            calls.append(log)
            if len(calls) == 3:
                self._logs.append(log)
                raise KeyboardInterrupt
            kept(self, log, state)

        monkeypatch.setattr(module.Votes, "take", take)
    else:
        monkeypatch.setattr(module, name, interrupted)
    model = learner(max_passes=10)
    with pytest.raises(KeyboardInterrupt):
        model.fit(X, y)
    assert model.n_steps_ == 120
    np.testing.assert_array_equal(model.coef_, two.coef_)
    np.testing.assert_array_equal(model.decision_function(X), two.decision_function(X))


@pytest.mark.parametrize("learner", [Perceptron, Pocket, AveragedPerceptron, VotedPerceptron])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_what_is_not_finite_is_found_in_rows_that_no_step_reached(learner, bad):
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((20, 2)), rng.choice([0, 1], 20)
    X[19, 1] = bad
    with pytest.raises(ValueError, match=r"X\[19, 'x1'\]"):
        learner(max_passes=0.5, order="cyclic").fit(X, y)


@pytest.mark.parametrize("size", [1e160, 1e200])
def test_scores_that_overflow_are_said(size):
    X = size * np.array([[1.0, 1.0], [2.0, 1.0], [-1.0, -1.0]])
    for learner in (Perceptron(fit_intercept=False, max_passes=5), OnlinePerceptron(fit_intercept=False)):
        with pytest.raises(ValueError, match="overflow"):
            learner.fit(X, [1, 1, 0])


def test_what_is_forged_is_refused():
    X, y = separable(1)
    verdict = Perceptron(max_passes=2000).fit(X, y).verdict_
    assert verdict.check(X, y)
    claim, proof = verdict.claim, verdict.certificate
    for forged in (
        replace(verdict, status="not-separable", certificate=None),
        replace(verdict, status="optimal"),
        replace(verdict, certificate=replace(proof, margin=1e9)),
        replace(verdict, certificate=None),
        replace(verdict, claim=replace(claim, l2=3.0)),
        replace(verdict, claim=replace(claim, class_weight=(2.0, 1.0))),
        replace(verdict, claim=replace(claim, value=0.1)),
    ):
        assert not forged.check(X, y)


def test_the_best_pass_is_a_whole_one():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.choice([0, 1], 40)
    model = Perceptron(max_passes=2.03).fit(X, y)
    best = int(model.mistakes_[:2].argmin())
    assert f"the best so far was pass {best + 1}, with {model.mistakes_[best]}" in str(model.verdict_)


def test_the_ratchet_never_takes_worse_weights_at_the_end():
    X, y = np.array([[0.0], [-2.0], [-1.0]]), [1, 0, 1]
    model = Pocket(order="cyclic", ties="positive", init=[1.0, 2.0], max_passes=10).fit(X, y)
    start = LinearRule([1.0], 2.0)
    assert model.score(X, y) >= (start.classify(X) == y).mean()


def test_a_warning_points_at_the_call():
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((40, 2)), rng.choice([0, 1], 40)
    with pytest.warns(BudgetWarning) as caught:
        Perceptron(max_passes=2).fit(X, y)
    assert caught[0].filename == __file__


def test_an_init_of_the_wrong_shape_is_refused():
    X, k = integers(np.random.default_rng(0), 30, 2), np.arange(30) % 3
    Perceptron(init=np.ones((3, 2)), max_passes=1).fit(X, k)
    with pytest.raises(ValueError, match=r"shape \(2, 3\)"):
        Perceptron(init=np.ones((2, 3)), max_passes=1, fit_intercept=False).fit(X, k)


def test_a_huge_patience_is_no_end():
    X, y = separable(1)
    assert Perceptron(patience=10**30, max_passes=2000).fit(X, y).verdict_.status == "separated"
