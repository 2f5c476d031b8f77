"""Softmax regression on joint features: its laws, its verdicts, its limits."""

import warnings

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from referees.joint import mean_loss, minimum_in_digits, places, table
from scipy.optimize import approx_fprime, minimize

from separatrix import BudgetWarning, JointClassifier, LogisticRegression, SeparationWarning
from separatrix.data.maps import joint_rows as evaluator
from separatrix.data.maps.joint_rows import Features
from separatrix.fitting.risk import joint as risks
from separatrix.fitting.risk.joint import JointBasis, JointRisk, Sample
from separatrix.fitting.risk.margin import Ask
from separatrix.joint import Separate, Shared, rowwise
from separatrix.losses.softmax import SoftmaxLikelihood, SoftmaxSquared


def overlapping(seed=0, n=80, d=3, K=3):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d)) * [1, 10, 0.1][:d] + [0, 5, 0][:d]
    s = (X / [1, 10, 0.1][:d]) @ rng.normal(size=(d, K)) + rng.gumbel(size=(n, K)) * 1.5
    y = s.argmax(axis=1)
    y[:K] = range(K)
    return X, y


def random_features(seed=0, n=50, K=3, p=4):
    rng = np.random.default_rng(seed)
    F = rng.normal(size=(n, K, p))
    y = (F @ rng.normal(size=p) + rng.gumbel(size=(n, K))).argmax(axis=1)
    y[:K] = range(K)
    return F, y


# ------------------------------------------------------------------------------ softmax regression is a special case


@pytest.mark.parametrize("l2", [0.0, 0.01, 1.0])
@pytest.mark.parametrize("K", [2, 3, 4])
def test_softmax_regression_is_a_special_case(K, l2):
    X, y = overlapping(K, K=K)
    plain = LogisticRegression(l2=l2 / 2 if K == 2 else l2, tol=1e-15).fit(X, y)  # of two classes one vector, not two
    for feature_map in (None, Separate().bind(tuple(range(K)), ("a", "b", "c"))):
        model = JointClassifier(feature_map, l2=l2, tol=1e-15).fit(X, y)
        assert model.verdict_.status == "optimal"
        np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-8)
        assert model.verdict_.check(X, y)
        W = model.theta_.reshape(K, -1)
        np.testing.assert_allclose(W.sum(axis=0), 0, atol=1e-7 * np.abs(W).max())  # the symmetric form
        np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), atol=1e-12)


@pytest.mark.parametrize("K", [2, 3])
def test_the_squared_error_has_the_minimum_of_the_plain_model(K):
    X, y = overlapping(K + 20, n=200, K=K)
    plain = LogisticRegression(objective="squared", random_state=0, starts=3).fit(X, y)
    model = JointClassifier(loss="squared", random_state=0, starts=3).fit(X, y)
    twice = 2 if K == 2 else 1  # ‖y − p‖² of two classes is twice (y − p)²
    assert model.verdict_.status == "local"
    assert model.verdict_.claim.value == pytest.approx(twice * plain.verdict_.claim.value, rel=1e-8)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-5)
    assert model.verdict_.check(X, y)
    assert sum(minimum.starts for minimum in model.minima_) >= 1


def test_it_does_not_matter_how_the_columns_are_scaled_or_moved():
    X, y = overlapping(1)
    moved = X * [1e-6, 1e6, 1.0] + [1e-3, 0, 1e3]
    one, other = JointClassifier().fit(X, y), JointClassifier().fit(moved, y)
    assert other.verdict_.status == "optimal"
    np.testing.assert_allclose(other.predict_proba(moved), one.predict_proba(X), atol=1e-6)
    assert other.verdict_.check(moved, y)


# ------------------------------------------------------------------------------------------ the sums and the laws


@pytest.mark.parametrize("loss", [SoftmaxLikelihood(), SoftmaxSquared()])
@pytest.mark.parametrize("soft", [False, True])
def test_gradient_and_hessian_are_those_of_the_mean_loss(loss, soft):
    F, y = random_features(2, n=12)
    rng = np.random.default_rng(1)
    target = rng.dirichlet(np.ones(3), 12) if soft else y
    T, cost = (target if soft else np.eye(3)[y]), rng.uniform(0.5, 2, 12)
    features = Features.of(table(F), (0, 1, 2), places(F))
    sample = Sample(features, target, cost / cost.sum())
    basis = JointBasis.of(sample, 0.3, (1,))
    risk = JointRisk.of(loss, sample, basis, 0.3, (1,))

    def value(v):
        return mean_loss(basis.theta(v), F, T, cost, l2=0.3, free=(1,), squared=not loss.convex)

    v = rng.normal(size=4)
    at = risk(v, Ask(hessian=True))
    assert at.value == pytest.approx(value(v), rel=1e-12)
    np.testing.assert_allclose(at.gradient, approx_fprime(v, value, 1e-7), atol=1e-5)
    slopes = np.array([approx_fprime(v, lambda u, j=j: risk(u).gradient[j], 1e-6) for j in range(4)])
    np.testing.assert_allclose(at.hessian, slopes, atol=1e-4)


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10_000), st.integers(2, 4), st.sampled_from([0.01, 0.1, 1.0]), st.booleans())
def test_no_other_weights_are_better(seed, K, l2, soft):
    rng = np.random.default_rng(seed)
    F, cost = rng.normal(size=(15, K, 3)), rng.integers(1, 4, 15).astype(float)
    y = np.append(np.arange(K), rng.integers(0, K, 15 - K))
    target = rng.dirichlet(np.ones(K), 15) if soft else y
    T = target if soft else np.eye(K)[y]
    model = JointClassifier(table(F), l2=l2).fit(places(F), target, sample_weight=cost)
    peer = minimize(lambda theta: mean_loss(theta, F, T, cost, l2=l2), np.zeros(3), tol=1e-10)
    assert model.verdict_.status == "optimal"
    claimed = model.verdict_.claim.value
    assert claimed == pytest.approx(mean_loss(model.theta_, F, T, cost, l2=l2), rel=1e-12)
    assert claimed - model.verdict_.certificate.gap <= peer.fun + 1e-15
    assert claimed <= peer.fun * (1 + 1e-10)
    np.testing.assert_allclose(model.theta_, peer.x, atol=1e-3)
    assert model.verdict_.check(places(F), target, cost)


def test_a_weight_of_two_is_a_row_twice_and_rows_have_no_order():
    F, y = random_features(3)
    X, w = places(F), np.random.default_rng(0).integers(0, 3, len(F)).astype(float)
    weighted = JointClassifier(table(F)).fit(X, y, sample_weight=w)
    again = np.repeat(np.arange(len(F)), w.astype(int))
    repeated = JointClassifier(table(F)).fit(X[again][::-1], y[again][::-1])
    np.testing.assert_allclose(weighted.theta_, repeated.theta_, atol=1e-8)
    assert weighted.verdict_.check(X, y, w)
    assert not weighted.verdict_.check(X, y)


def test_the_order_of_the_classes_changes_nothing():
    X, y = overlapping(4)
    names, other = np.array(["a", "b", "c"])[y], np.array(["z", "b", "a"])[y]
    shared = JointClassifier(Shared({"g": ["a", "b"]}), l2=0.1).fit(X, names)
    turned = JointClassifier(Shared({"g": ["z", "b"]}), l2=0.1).fit(X, other)
    np.testing.assert_allclose(shared.predict_proba(X)[:, [2, 1, 0]], turned.predict_proba(X), atol=1e-7)
    assert shared.weights_["g: x0"] == pytest.approx(turned.weights_["g: x0"], abs=1e-7)


def test_class_weights_are_costs():
    F, y = random_features(5)
    X, factors = places(F), {0: 2.0, 1: 0.5}
    model = JointClassifier(table(F), class_weight=factors).fit(X, y)
    same = JointClassifier(table(F)).fit(X, y, sample_weight=[factors.get(label, 1.0) for label in y])
    np.testing.assert_allclose(model.theta_, same.theta_, atol=1e-8)
    assert model.verdict_.check(X, y)
    balanced = JointClassifier(table(F), class_weight="balanced").fit(X, y)
    assert balanced.verdict_.check(X, y)


@pytest.mark.parametrize("class_weight", [None, {1: 3.0}])
def test_probabilities_are_rows_of_each_class(class_weight):
    F, _ = random_features(6, n=20)
    T = np.random.default_rng(6).dirichlet(np.ones(3), 20)
    soft = JointClassifier(table(F), class_weight=class_weight).fit(places(F), T)
    thrice, labels = np.repeat(np.arange(20), 3), np.tile([0, 1, 2], 20)
    hard = JointClassifier(table(F), class_weight=class_weight).fit(places(F)[thrice], labels, sample_weight=T.ravel())
    np.testing.assert_allclose(soft.theta_, hard.theta_, atol=1e-7)
    assert soft.verdict_.check(places(F), T)
    assert not soft.verdict_.check(places(F), T[::-1])


def test_a_shared_parameter_is_recovered():
    rng = np.random.default_rng(0)
    F = rng.normal(size=(20_000, 3, 2))
    theta = np.array([1.5, -0.5])
    y = (F @ theta + rng.gumbel(size=(20_000, 3))).argmax(axis=1)
    model = JointClassifier(table(F)).fit(places(F), y)
    np.testing.assert_allclose(model.theta_, theta, atol=0.05)
    assert model.verdict_.rank.rank == 2


def test_only_differences_between_classes_matter():
    F, y = random_features(7)
    common = F + np.random.default_rng(1).normal(size=(len(F), 1, 4)) * 1000
    one, other = JointClassifier(table(F)).fit(places(F), y), JointClassifier(table(common)).fit(places(F), y)
    np.testing.assert_allclose(one.theta_, other.theta_, atol=1e-8)
    assert other.verdict_.check(places(F), y)


def test_of_equal_scores_the_shortest_weights_and_the_rank_is_told():
    F, y = random_features(8, p=2)
    twice = np.concatenate([F, F[..., :1], np.ones((*F.shape[:2], 1))], axis=2)  # a copy, and what no class has alone
    one, model = JointClassifier(table(F)).fit(places(F), y), JointClassifier(table(twice)).fit(places(F), y)
    np.testing.assert_allclose(model.theta_, [one.theta_[0] / 2, one.theta_[1], one.theta_[0] / 2, 0], atol=1e-7)
    rank = model.verdict_.rank
    assert (rank.rank, rank.of, rank.aliased) == (2, 4, ("f2", "f3"))
    assert "The features have rank 2 of 4: f2 and f3 are combinations" in str(model.verdict_)
    assert model.verdict_.check(places(F), y)


def test_the_shortest_weights_are_the_limit_of_the_penalised():
    X, y = overlapping(9)
    shared = Shared({"g": [0, 1]})
    none, little = JointClassifier(shared).fit(X, y), JointClassifier(shared, l2=1e-9).fit(X, y)
    np.testing.assert_allclose(none.theta_, little.theta_, atol=1e-4)


@pytest.mark.parametrize("scale", [1.0, 1e6])
@pytest.mark.parametrize("l2", [1e-100, 1e-20, 1e-10, 1e-6])
@pytest.mark.parametrize("feature_map", [None, Shared({"g": [0, 1]})])
def test_a_small_penalty_alone_decides_what_scores_do_not(feature_map, l2, scale):
    """The minimum has no part in directions that change no score: the classes' weights add up to zero."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(60, 2))
    y = (X[:, 0] + 0.7 * rng.normal(size=60) > 0).astype(int) + (X[:, 1] + 0.7 * rng.normal(size=60) > 0)
    model = JointClassifier(feature_map, l2=l2).fit(X * scale, y)
    verdict = model.verdict_
    assert verdict.status == "optimal"
    assert verdict.check(X * scale, y)
    theta, off = model.theta_, verdict.certificate.coefficients
    if feature_map is None:
        loose = np.kron(np.ones((1, 3)), np.eye(3))[:2]
    else:  # the group's weights against those of its two classes; all classes together
        group, classes = np.eye(2), np.kron(np.eye(3), np.eye(3)[:2])
        loose = np.vstack([
            np.hstack([group, -classes[0:2] - classes[2:4]]),
            np.hstack([0 * group, classes[0:2] + classes[2:4] + classes[4:6]]),
        ])  # fmt: skip
    assert (np.abs(loose @ theta) <= np.abs(loose) @ off).all()
    assert np.abs(loose @ theta).max() <= 1e-12 * np.abs(loose * theta).max()
    none = JointClassifier(feature_map).fit(X * scale, y)
    np.testing.assert_allclose(
        model.predict_proba(X * scale), none.predict_proba(X * scale), atol=1e-3 if l2 > 1e-8 else 1e-8
    )


@pytest.mark.parametrize("offset", [1e4, 2e5, 1e6, 1e7])
@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("feature_map", [None, Shared({"g": [0, 1]})])
def test_columns_far_from_zero_are_shifted_by_what_intercepts_have_of_them(feature_map, l2, offset):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(100, 2))
    y = np.column_stack([X + rng.gumbel(size=(100, 2)), np.zeros(100)]).argmax(axis=1)
    near, far = (JointClassifier(feature_map, l2=l2).fit(A, y) for A in (X, X + offset))
    assert far.verdict_.status == "optimal"
    assert far.verdict_.check(X + offset, y)
    assert far.verdict_.claim.value == pytest.approx(near.verdict_.claim.value, rel=1e-9 * max(1, offset / 1e6))
    np.testing.assert_allclose(far.predict_proba(X + offset), near.predict_proba(X), atol=1e-13 * offset + 1e-6)
    theta = dict(near.weights_), dict(far.weights_)
    slopes = [name for name in theta[0] if "intercept" not in name]
    np.testing.assert_allclose(
        *([each[name] for name in slopes] for each in theta), rtol=1e-4, atol=1e-5 + 1e-12 * offset
    )  # fmt: skip


@pytest.mark.parametrize("l2", [0.0, 1e-3])
@pytest.mark.parametrize("units", [[1.0, 1.0], [1e3, 1e-2], [1e-3, 1e3]])
def test_true_bounds_pass_whatever_the_units(units, l2):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-1, 2, (40, 2)), np.append(range(3), rng.integers(0, 3, 37))
    X = np.column_stack([X, X.sum(axis=1), 2 * X[:, 0]]) * [*units, 1.0, 1e-3]
    for feature_map in (None, Shared({"g": [0, 1]})):
        model = JointClassifier(feature_map, l2=l2).fit(X, y)
        assert model.verdict_.status == "optimal"
        assert model.verdict_.check(X, y)


@pytest.mark.parametrize("units", [[1e-12, 1e-12], [1e7, 1e-6]])
def test_units_far_apart_do_not_drown_dependent_features(units):
    rng = np.random.default_rng(3)
    X, y = rng.integers(-1, 2, (40, 2)), np.append(range(3), rng.integers(0, 3, 37))
    X = np.column_stack([X, X.sum(axis=1), 2 * X[:, 0]]) * [*units, 1.0, 1e-3]
    model = JointClassifier(l2=1e-3).fit(X, y)
    bound = Separate().bind((0, 1, 2), ("a", "b", "c", "d"))
    exact = minimum_in_digits(np.stack([bound(X, c) for c in range(3)], 1), y, 1e-3, bound.free, model.theta_)
    assert (np.abs(exact - model.theta_) <= model.verdict_.certificate.coefficients).all()


def test_classes_that_barely_overlap_have_a_minimum_however_small_the_penalty():
    X = np.random.default_rng(0).normal(size=(60, 2))
    y = (X[:, 0] > 0).astype(int) + (X[:, 1] > 0)
    for l2 in (1e-20, 1e-100, 1e-300):
        model = JointClassifier(l2=l2).fit(X, y)
        assert model.verdict_.status == "optimal"
        assert model.verdict_.check(X, y)
        assert model.verdict_.claim.value == pytest.approx(0.3755482421, rel=1e-9)
        assert np.abs(model.theta_).max() < 4


@pytest.mark.parametrize("seed", range(4))
def test_bounds_on_weights_hold_where_features_are_combinations_but_for_rounding(seed):
    """Held to Newton's method in sixty digits."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(14, 2)) * 10.0 ** rng.integers(-3, 4)
    X, y = np.column_stack([X, 0.3 * X[:, 0] - 0.7 * X[:, 1]]), np.append(range(3), rng.integers(0, 3, 11))
    l2 = [1e-3, 1e-9][seed % 2]
    shared = Shared({"g": [0, 1]}).bind((0, 1, 2), ("a", "b", "c"))
    model = JointClassifier(shared, l2=l2).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)
    exact = minimum_in_digits(np.stack([shared(X, c) for c in range(3)], 1), y, l2, shared.free, model.theta_)
    assert (np.abs(exact - model.theta_) <= model.verdict_.certificate.coefficients).all()


def test_features_that_are_free_are_not_penalised():
    F, y = random_features(10)
    phi = table(F)
    phi.free = (2,)
    model = JointClassifier(phi, l2=100.0).fit(places(F), y)
    assert np.abs(model.theta_[[0, 1, 3]]).max() < 0.02 < np.abs(model.theta_[2])
    assert model.verdict_.check(places(F), y)


def test_a_map_that_tells_no_class_apart_learns_nothing_and_says_so():
    F = np.ones((4, 3, 2))
    model = JointClassifier(table(F)).fit(places(F), [0, 1, 2, 0])
    assert (model.theta_ == 0).all()
    assert model.verdict_.status == "optimal"
    assert model.verdict_.rank.rank == 0
    assert model.verdict_.check(places(F), [0, 1, 2, 0])
    np.testing.assert_allclose(model.predict_proba(places(F)), 1 / 3)


@pytest.mark.parametrize("loss", ["log", "squared"])
def test_features_that_do_not_fit_into_memory_are_asked_for_again(monkeypatch, loss):
    F, y = random_features(11)
    kept = JointClassifier(table(F), loss=loss, l2=0.01, starts=2).fit(places(F), y)
    for module in (evaluator, risks):
        monkeypatch.setattr(module, "HELD", 10)
    monkeypatch.setattr(evaluator, "BLOCK", 7 * 12)
    again = JointClassifier(table(F), loss=loss, l2=0.01, starts=2).fit(places(F), y)
    np.testing.assert_allclose(again.theta_, kept.theta_, atol=1e-8)
    assert again.verdict_.status == kept.verdict_.status


# ----------------------------------------------------------------------------------------- where there is no maximum


def test_separated_classes_are_proved_so():
    F = np.random.default_rng(12).normal(size=(30, 3, 2))
    y = (F @ [2.0, 1.0]).argmax(axis=1)
    with pytest.warns(SeparationWarning, match="Separated: on all 30 rows the own class is the strongest"):
        model = JointClassifier(table(F)).fit(places(F), y)
    assert model.verdict_.status == "separated"
    assert not model.verdict_.ok
    assert model.verdict_.check(places(F), y)
    assert model.verdict_.separability.kind == "separated"
    p = model.predict_proba(places(F))
    assert set(np.unique(p)) == {0, 1}
    assert (p.argmax(axis=1) == y).all()
    assert (model.predict(places(F)) == y).all()
    assert (np.exp(model.predict_log_proba(places(F))) == p).all()


def test_the_squared_error_of_separated_classes_has_no_minimum():
    F = np.random.default_rng(12).normal(size=(30, 3, 2))
    y = (F @ [2.0, 1.0]).argmax(axis=1)
    with pytest.warns(SeparationWarning, match="the squared error has no minimum"):
        model = JointClassifier(table(F), loss="squared").fit(places(F), y)
    assert model.verdict_.check(places(F), y)


def test_rows_at_a_tie_share_the_probability_in_the_limit():
    phi = rowwise(lambda x, c: [x[0] * (c == "b")])
    model = JointClassifier(phi).fit([[-1.0], [1.0]], ["a", "b"])
    assert model.predict_proba([[0.0], [3.0]]).tolist() == [[0.5, 0.5], [0, 1]]


@pytest.mark.parametrize("soft", [False, True])
def test_quasi_separated_classes_have_a_limit(soft):
    rng = np.random.default_rng(13)
    x = rng.normal(size=40)
    y = np.where(x + rng.logistic(size=40) > 0, "b", "a")
    X = np.column_stack([x, np.zeros(40)])
    X, y = np.vstack([X, [[0.3, 1.0], [-0.2, 2.0]]]), np.append(y, ["c", "c"])  # the second column gives c away
    target = (y[:, None] == np.array(["a", "b", "c"])).astype(float)
    with pytest.warns(SeparationWarning, match="Quasi-separated: some weights put the own class ahead in"):
        model = JointClassifier().fit(X, target if soft else y)
    plain = LogisticRegression().fit(X, y)
    assert model.verdict_.status == plain.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, target if soft else y)
    assert model.verdict_.certificate.deviance == pytest.approx(plain.verdict_.certificate.deviance, rel=1e-9)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X), atol=1e-6)
    assert (model.predict(X) == (model.classes_[plain.predict_proba(X).argmax(axis=1)])).all()
    assert (model.predict_proba(X)[-2:] == [[0, 0, 1]] * 2).all()


def test_a_row_that_may_be_of_two_classes_is_separated_from_the_third_at_most():
    X, T = [[1.0], [2.0], [-1.0]], np.array([[0.0, 0.5, 0.5], [0, 0.2, 0.8], [1, 0, 0]])
    with pytest.warns(SeparationWarning):
        model = JointClassifier(rowwise(lambda x, c: [x[0] * (c == 0), c == 1])).fit(X, T)
    assert model.verdict_.check(X, T)
    assert model.verdict_.status == "quasi-separated"
    p = model.predict_proba([[1.0], [-1.0]])
    np.testing.assert_allclose(p, [[0, 0.35, 0.65], [1, 0, 0]], atol=1e-7)


def test_a_penalty_always_has_a_minimum():
    F = np.random.default_rng(12).normal(size=(30, 3, 2))
    y = (F @ [2.0, 1.0]).argmax(axis=1)
    model = JointClassifier(table(F), l2=0.01).fit(places(F), y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.rank.rank is None
    assert model.verdict_.check(places(F), y)


def test_what_is_not_finished_says_so():
    F, y = random_features(14)
    with pytest.warns(BudgetWarning, match="Raise max_passes above 1|raise max_passes above 1"):
        model = JointClassifier(table(F), max_passes=1).fit(places(F), y)
    assert model.verdict_.status == "budget"
    assert model.verdict_.check(places(F), y)


# -------------------------------------------------------------------------------------------------------------- manners


def test_steps_can_be_watched_and_stopped():
    F, y = random_features(15)
    model = JointClassifier(table(F))
    seen = list(model.steps(places(F), y))
    assert [s.value for s in seen] == sorted((s.value for s in seen), reverse=True)
    assert len(model.history_) == len(seen)
    assert model.history_[-1].value == seen[-1].value
    steps = model.steps(places(F), y)
    next(steps)
    second = next(steps)
    steps.close()
    assert model.verdict_.status == "interrupted"
    assert (model.theta_ == second.theta).all()
    assert model.verdict_.check(places(F), y)


def test_a_warm_start_is_at_the_end_already():
    F, y = random_features(16)
    model = JointClassifier(table(F), warm_start=True).fit(places(F), y)
    before = model.n_passes_
    assert model.fit(places(F), y).n_passes_ < before
    assert JointClassifier(table(F), init=model.theta_).fit(places(F), y).n_passes_ < before


def test_a_far_start_comes_back():
    F, y = random_features(17)
    one = JointClassifier(table(F)).fit(places(F), y)
    far = JointClassifier(table(F), init=np.array([300.0, -200, 100, 500])).fit(places(F), y)
    np.testing.assert_allclose(far.theta_, one.theta_, atol=1e-6)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"loss": "hinge"}, "loss is 'hinge'; it must be one of 'log', 'squared'"),
        ({"l2": -1}, "l2 is -1"),
        ({"tol": 0}, "tol is 0"),
        ({"max_passes": 0}, "max_passes is 0"),
        ({"starts": 1.5}, "starts is 1.5"),
        ({"warm_start": "yes"}, "warm_start is 'yes'"),
        ({"init": [0.0]}, "init has 1 numbers; there are 4 features"),
        ({"class_weight": {7: 1}}, "class_weight names 7"),
        ({"random_state": "x"}, "random_state is 'x'"),
    ],
)
def test_bad_parameters_are_refused(wrong, sentence):
    with pytest.raises(ValueError, match=sentence):
        JointClassifier(**wrong).fit([[0.0], [1.0]], [0, 1])


def test_too_many_features_are_refused_before_they_are_made():
    X = np.zeros((4, 3000))
    with pytest.raises(ValueError, match=r"There are 6002 features; .* takes 4000 at the most.* LogisticRegression"):
        JointClassifier().fit(X, [0, 1, 0, 1])


def test_a_model_of_objects_takes_objects_only():
    phi = rowwise(lambda w, c: [len(w) * (c == "b")])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = JointClassifier(phi, l2=0.1).fit(["a", "bbb", "cc"], ["a", "b", "a"])
    assert model.predict(["dddd"]).tolist() in (["a"], ["b"])
    with pytest.raises(ValueError, match="failed for class 'a', with TypeError"):
        model.predict([1.0])


def test_features_whose_squares_overflow_are_refused():
    X = np.array([[0.0], [1.0], [2.0], [1e308], [-1e308]])
    with pytest.raises(ValueError, match="sums over the features overflow"):
        JointClassifier().fit(X, ["a", "b", "a", "b", "a"])
