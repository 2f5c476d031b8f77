"""Laws of every loss that can be trained: its traits, its minimum, its proof, whatever the rows are."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.sparse import csr_array, random_array
from sklearn.svm import LinearSVC

from separatrix import LogisticRegression, OneVsRest, load, save
from separatrix.data import Rows
from separatrix.errors import Refusal, SettingError
from separatrix.fitting.minimise import minimise
from separatrix.fitting.problem import METHODS, LeastSquares, Outcome, Problem
from separatrix.learners.logistic.training import OBJECTIVES
from separatrix.learners.warnings import BudgetWarning, SeparationWarning
from separatrix.losses import ALL, Hinge, LogLikelihood, MarginLoss, SquaredHinge
from separatrix.losses.penalty import ridge
from separatrix.numerics.functions import sigmoid

TRAINABLE = [each for each in ALL if each.convex and each.smooth]
BY_NAME = {type(loss): name for name, (loss, _) in reversed(OBJECTIVES.items())}
OBJECTIVES_OF_MARGIN = ["exponential", "squared-hinge"]
trainable = pytest.mark.parametrize("loss", TRAINABLE, ids=repr)
of_margin = pytest.mark.parametrize("objective", OBJECTIVES_OF_MARGIN)
seeds = st.integers(0, 2**32 - 1)
MARGINS = np.linspace(-6, 6, 4001)


@dataclass(frozen=True)
class Steep(MarginLoss):
    """A loss from elsewhere, φ(m) = e^−am + am/10: all that it says of itself is |φ‴| ≤ aφ″."""

    a: float = 1.5

    @property
    def twist(self) -> float:  # type: ignore[override]
        return self.a

    def value(self, m: Any) -> Any:
        return np.exp(-self.a * m) + self.a * m / 10

    def slope(self, m: Any) -> Any:
        return -self.a * np.exp(-self.a * m) + self.a / 10

    def curvature(self, m: Any) -> Any:
        return self.a**2 * np.exp(-self.a * m)

    def steepness(self, value: float) -> tuple[float, float]:
        return 100.0, 100.0


def table(seed: int = 0, n: int = 200, d: int = 4) -> tuple[Any, Any, Any]:
    """Rows of overlapping classes, and whole weights of which some are zero."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 3.0 ** np.arange(d) + np.arange(d)
    z = (X - np.arange(d)) / 3.0 ** np.arange(d) @ np.ones(d)
    return X, (z + 2 * rng.standard_normal(n) > 0).astype(int), rng.integers(0, 4, n).astype(float)


def fitted(loss: MarginLoss, X: Any, y: Any, cost: Any = np.empty(0), l2: float = 0.0, method: Any = None) -> Outcome:
    """By the batch fit itself."""
    rows = Rows.of(X, np.where(y > 0, 1, -1).astype(np.int8), np.asarray(cost, float))
    fit = minimise(Problem(rows, loss, ridge(l2), True, method, LeastSquares(), 1e-10, 200, 0))
    while True:
        try:
            next(fit)
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


def referee(loss: MarginLoss, X: Any, y: Any, cost: Any, l2: float) -> tuple[float, Any]:
    """The least mean loss and where it is, by SciPy in units of its own."""
    X = np.asarray(X, float)
    scale = X.std(axis=0)
    Z, s, c = np.column_stack([X / scale, np.ones(len(X))]), np.where(y > 0, 1.0, -1.0), cost / cost.sum()
    bend = np.append(l2 / scale**2, 0.0)

    def risk(v: Any) -> tuple[float, Any]:
        m = s * (Z @ v)
        return c @ loss.value(m) + v @ (bend * v) / 2, (c * s * loss.slope(m)) @ Z + bend * v

    found = minimize(risk, np.zeros(Z.shape[1]), jac=True, method="BFGS", options={"gtol": 1e-11, "maxiter": 5000})
    return found.fun, found.x / np.append(scale, 1)


# ------------------------------------------------------------------------------------------------------- the traits


@trainable
@given(reach=st.floats(0.0, 3.0))
def test_nearby_is_no_more_than_the_curvature_within_reach(loss: MarginLoss, reach: float) -> None:
    least = loss.nearby(MARGINS, reach)
    for shift in np.linspace(-reach, reach, 21):
        assert (least <= loss.curvature(MARGINS + shift) * (1 + 1e-12)).all()


@trainable
@given(seed=seeds)
def test_the_mean_loss_bounds_the_means_of_slope_and_curvature(loss: MarginLoss, seed: int) -> None:
    rng = np.random.default_rng(seed)
    m, share = rng.normal(0, 3, 50) + rng.normal(0, 3), rng.dirichlet(np.ones(50))
    slope, curvature = loss.steepness(float(share @ loss.value(m)))
    assert share @ np.abs(loss.slope(m)) <= slope * (1 + 1e-12)
    assert share @ loss.curvature(m) <= curvature * (1 + 1e-12)


@pytest.mark.parametrize("loss", [each for each in ALL if math.isfinite(each.twist)], ids=repr)
def test_the_curvature_falls_no_faster_than_the_twist_says(loss: MarginLoss) -> None:
    curvature = loss.curvature(MARGINS)
    third = np.abs(np.gradient(curvature, MARGINS))[1:-1]
    assert (third <= loss.twist * curvature[1:-1] * (1 + 1e-4) + 1e-9).all()


@pytest.mark.parametrize("loss", ALL, ids=repr)
def test_a_loss_is_zero_from_the_margin_on_that_clears_it(loss: MarginLoss) -> None:
    if math.isfinite(loss.clear):
        assert (loss.value(MARGINS[loss.clear <= MARGINS]) == 0).all()
        assert (loss.value(MARGINS[loss.clear > MARGINS]) > 0).all()
    elif loss.convex:
        assert (loss.value(np.delete(MARGINS, np.abs(MARGINS - 1).argmin())) > 0).all()


@pytest.mark.parametrize("loss", [each for each in ALL if each.log_odds and each.convex], ids=repr)
@pytest.mark.parametrize("p", [0.03, 0.5, 0.8])
def test_scores_times_log_odds_are_log_odds_where_the_mean_loss_is_least(loss: MarginLoss, p: float) -> None:
    score = math.log(p / (1 - p)) / loss.log_odds  # type: ignore[operator]
    assert p * loss.slope(np.array(score)) == pytest.approx((1 - p) * loss.slope(np.array(-score)), rel=1e-12)


@pytest.mark.parametrize("loss", [each for each in ALL if each.convex and not each.smooth], ids=repr)
def test_a_loss_without_a_slope_is_refused(loss: MarginLoss) -> None:
    X, y, _ = table()
    with pytest.raises(TypeError, match="no continuous slope"):
        fitted(loss, X, y)


# ------------------------------------------------------------------------------------- the minimum and what is proved


@pytest.mark.parametrize("loss", [*TRAINABLE, Steep(), Steep(0.4)], ids=repr)
@pytest.mark.parametrize("method", [None, "newton", "lbfgs", "gradient"])
@pytest.mark.parametrize("l2", [0.0, 0.05])
def test_the_minimum_is_that_of_another_solver_and_its_proof_is_true(loss: Any, method: Any, l2: float) -> None:
    X, y, cost = table()
    outcome = fitted(loss, X, y, cost, l2, METHODS.get(method))
    least, v = referee(loss, X, y, cost, l2)
    assert outcome.status == "optimal"
    assert outcome.bounds is not None
    assert outcome.bounds.gap <= 1e-10 * outcome.value
    assert abs(outcome.value - least) <= outcome.bounds.gap + 1e-13 * least
    off = np.abs(np.append(outcome.weights, outcome.intercept) - v)
    assert (off <= outcome.bounds.spread * outcome.bounds.distance + 1e-6 * np.abs(v)).all()


@trainable
@pytest.mark.parametrize("n", [300, 40_000])
def test_the_kind_of_rows_changes_nothing(loss: MarginLoss, n: int) -> None:
    X, y, cost = table(1, n)
    X = (np.round(4 * X) / 4).astype(np.float32)
    X[np.abs(X) < 1] = 0
    plain = fitted(loss, X.astype(float), y, cost)
    for rows in (X, csr_array(X), csr_array(X.astype(float)), np.asfortranarray(X)):
        other = fitted(loss, rows, y, cost)
        assert other.status == "optimal"
        np.testing.assert_allclose(other.weights, plain.weights, rtol=1e-6, atol=1e-8)


@of_margin
def test_a_part_of_the_rows_can_prove_a_minimum(objective: str) -> None:
    X, y, _ = table(2, 60_000)
    model = LogisticRegression(objective=objective, solver="lbfgs").fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.certificate.share < 1
    assert model.verdict_.check(X, y)


@of_margin
@pytest.mark.parametrize("l2", [0.0, 0.1])
@pytest.mark.parametrize("weights", ["none", "costs", "classes", "soft"])
def test_the_verdict_can_be_checked_and_only_as_it_stands(objective: str, l2: float, weights: str) -> None:
    X, y, cost = table(3)
    given_cost = cost if weights == "costs" else None
    y = sigmoid(X @ np.ones(4) / 20) if weights == "soft" else y
    factors = "balanced" if weights == "classes" else None
    model = LogisticRegression(objective=objective, l2=l2, class_weight=factors, solver="gradient", tol=1e-6)
    verdict = model.fit(X, y, given_cost).verdict_
    assert verdict.status == "optimal"
    assert verdict.check(X, y, given_cost)
    claim, proof = verdict.claim, verdict.certificate
    moved = claim.weights + np.array([0, 1e-3, 0, 0])
    for false in (
        replace(verdict, claim=replace(claim, weights=moved)),
        replace(verdict, claim=replace(claim, value=claim.value * (1 - 1e-6))),
        replace(verdict, claim=replace(claim, l2=claim.l2 + 1e-3)),
        replace(verdict, claim=replace(claim, objective="likelihood")),
        replace(verdict, certificate=replace(proof, gap=proof.gap / 100)),
        replace(verdict, certificate=replace(proof, gap=-1.0)),
        replace(verdict, certificate=replace(proof, nu=proof.nu / 2)),
        replace(verdict, certificate=replace(proof, rho=proof.rho / 1000)),
        replace(verdict, certificate=replace(proof, distance=proof.distance / 2)),
        replace(verdict, certificate=replace(proof, coefficients=proof.coefficients / 2)),
    ):
        assert not false.check(X, y, given_cost)
    other = X.copy()
    other[:50] *= 1.5
    assert not verdict.check(other, y, given_cost)


@of_margin
def test_a_cost_is_so_many_rows(objective: str) -> None:
    X, y, cost = table(4)
    many = np.repeat(np.arange(len(X)), cost.astype(int))
    one, other = (LogisticRegression(objective=objective) for _ in range(2))
    np.testing.assert_allclose(one.fit(X, y, cost).coef_, other.fit(X[many], y[many]).coef_, rtol=1e-9)


def test_the_squared_hinge_is_that_of_a_support_vector_machine() -> None:
    X, y, _ = table(5)
    X = X / X.std(axis=0)
    ours = LogisticRegression(objective="squared-hinge", l2=0.02, fit_intercept=False).fit(X, y)
    theirs = LinearSVC(loss="squared_hinge", C=1 / (0.02 * len(X)), fit_intercept=False, tol=1e-12, max_iter=100_000)
    # theirs is ½‖w‖² + C Σ[1 − m]₊², ours (l2/2)‖w‖² + mean: the same for C = 1/(l2 n)
    np.testing.assert_allclose(ours.coef_, theirs.fit(X, y).coef_, rtol=1e-6)


def test_columns_that_are_combinations_of_others_are_named() -> None:
    X, y, _ = table(6)
    for objective in OBJECTIVES_OF_MARGIN:
        verdict = LogisticRegression(objective=objective).fit(np.column_stack([X, X @ np.ones(4)]), y).verdict_
        assert verdict.status == "optimal"
        assert verdict.rank.aliased == ("x4",)


# ----------------------------------------------------------------------------------------- rows that can be separated


def separated() -> tuple[Any, Any]:
    X, _, _ = table(7, 80)
    return X, (X @ np.array([3.0, 1, 0.5, 0]) > 1).astype(int)


def test_the_exponential_loss_of_separated_rows_has_no_minimum() -> None:
    X, y = separated()
    with pytest.warns(SeparationWarning, match="the exponential loss has no minimum"):
        model = LogisticRegression(objective="exponential").fit(X, y)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, y)
    np.testing.assert_array_equal(model.predict_proba(X)[:, 1], y)


@pytest.mark.parametrize("solver", ["auto", "newton", "lbfgs", "gradient"])
def test_the_squared_hinge_of_separated_rows_is_zero(solver: str) -> None:
    X, y = separated()
    model = LogisticRegression(objective="squared-hinge", solver=solver).fit(X, y)
    margins = (2 * y - 1) * model.decision_function(X)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.claim.value == 0
    assert margins.min() >= 1
    assert model.verdict_.check(X, y)
    assert "other weights do as well" in str(model.verdict_)
    low = replace(model.verdict_.claim, weights=model.coef_[0] * 0.5, intercept=float(model.intercept_[0]) * 0.5)
    assert not replace(model.verdict_, claim=low).check(X, y)


def test_a_squared_hinge_that_determines_too_little_says_so() -> None:
    X, y = separated()
    X = np.column_stack([np.vstack([X, X[:1], X[:1]]), np.r_[np.zeros(len(X)), 1, 1]])
    with pytest.warns(BudgetWarning, match="margin below 1 are too few"):
        model = LogisticRegression(objective="squared-hinge").fit(X, np.append(y, [0, 1]))
    assert model.verdict_.check(X, np.append(y, [0, 1]))


# ------------------------------------------------------------------------------------------ what follows in a learner


def test_twice_a_score_of_the_exponential_loss_is_the_log_odds() -> None:
    X, _, _ = table(8)
    w = np.array([1.0, 0.2, -0.1, 0.02])
    model = LogisticRegression(objective="exponential").fit(X, sigmoid(X @ w - 0.5))
    np.testing.assert_allclose(model.coef_[0], w / 2, rtol=1e-5)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], sigmoid(X @ w - 0.5), rtol=1e-5)
    np.testing.assert_allclose(np.exp(model.predict_log_proba(X)), model.predict_proba(X), rtol=1e-12)


def test_a_squared_hinge_has_no_probabilities() -> None:
    X, y, _ = table(9)
    model = LogisticRegression(objective="squared-hinge").fit(X, y)
    for method in ("predict_proba", "predict_log_proba"):
        assert not hasattr(model, method)
        with pytest.raises(AttributeError) as error:
            getattr(model, method)
        assert "objective='squared-hinge' has no probabilities" in str(error.value.__cause__)
    with pytest.raises(SettingError, match="no probabilities"):
        LogisticRegression(objective="squared-hinge", prior="data").fit(X, y)


@of_margin
def test_there_is_no_inference_and_no_odds_ratio_without_a_likelihood(objective: str) -> None:
    X, y, _ = table(10)
    model = LogisticRegression(objective=objective).fit(X, y)
    with pytest.raises(Refusal, match=f"objective='{objective}' is no likelihood"):
        model.inference(X, y)
    assert not any(hasattr(model, method) for method in ("summary", "explain", "influence"))


@of_margin
def test_three_classes_are_refused_and_each_against_the_rest_is_not(objective: str) -> None:
    X, y, _ = table(11)
    three = y + (X[:, 0] > 1)
    with pytest.raises(SettingError, match="loss of the margin"):
        LogisticRegression(objective=objective).fit(X, three)
    whole = OneVsRest(LogisticRegression(objective=objective)).fit(X, three)
    assert whole.verdict_.status == "optimal"
    assert whole.verdict_.check(X, three)


@of_margin
def test_a_model_file_decides_as_the_learner_does(objective: str, tmp_path: Any) -> None:
    X, y, _ = table(12)
    model = LogisticRegression(objective=objective).fit(X, y)
    save(model, tmp_path / "model.json")
    kept = load(tmp_path / "model.json")
    np.testing.assert_array_equal(kept.labels(X), model.predict(X))
    np.testing.assert_allclose(np.ravel(kept.scores(X)), model.decision_function(X), rtol=1e-12)


@pytest.mark.filterwarnings("ignore::separatrix.learners.warnings.BudgetWarning")
@of_margin
def test_one_row_at_a_time_comes_near_the_minimum(objective: str) -> None:
    X, y, _ = table(13)
    X = X / X.std(axis=0)
    how = {"objective": objective, "l2": 0.1}
    best = LogisticRegression(**how).fit(X, y)
    near = LogisticRegression(**how, solver="stochastic", averaging=True, tol=1e-4, max_passes=300, random_state=0)
    proof = near.fit(X, y).verdict_.certificate
    off = np.abs(np.append(near.coef_ - best.coef_, near.intercept_ - best.intercept_))
    assert (off <= proof.coefficients).all()
    assert off.max() < 0.05
    assert near.verdict_.check(X, y)


@of_margin
def test_the_penalty_is_chosen_by_the_loss_that_is_fitted(objective: str) -> None:
    X, y, _ = table(14)
    model = LogisticRegression(objective=objective, l2="cv", random_state=0).fit(X, y)
    assert model.l2_ == model.l2_path_.best > 0
    assert model.verdict_.check(X, y)


@of_margin
def test_sparse_columns_beyond_a_matrix_are_refused(objective: str) -> None:
    X = random_array((4000, 3000), density=0.01, rng=np.random.default_rng(0)).tocsr()
    with pytest.raises(SettingError, match="needs a 3000 × 3000 matrix"):
        LogisticRegression(objective=objective, l2=0.1).fit(X, np.arange(4000) % 2)


def test_every_trainable_loss_but_plain_squares_has_a_name() -> None:
    assert {type(each).__name__ for each in TRAINABLE} - {kind.__name__ for kind in BY_NAME} == {"Squared"}
    assert LogLikelihood in BY_NAME
    assert SquaredHinge in BY_NAME
    assert Hinge not in BY_NAME
