"""A fit where classes are separated in part: what stays finite, the limit of the probabilities, and what proves it."""

import json
import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from places import SHARED
from referees.logistic import newton
from referees.separation import INTERCEPT, limit, separation, separation_by_highs, small_problem
from sklearn.datasets import load_iris

from separatrix import LogisticRegression, SeparationWarning

needs_shared_data = pytest.mark.skipif(not SHARED.is_dir(), reason="the folder of reference data is not here")

STATUS = {"separated": "separated", "quasi-separated": "quasi-separated", "overlap": "optimal"}
SOLVERS = ["auto", "newton", "lbfgs"]


def table(name):
    return pd.read_csv(SHARED / "separation" / f"{name}.csv")


def endometrial():
    rows = table("endometrial")
    return rows[["NV", "PI", "EH"]], rows["HG"]


def sigmoid(z):
    return 1 / (1 + np.exp(-z))


def fit(X, y, sample_weight=None, **settings):
    """A fit that must warn of separation, and of nothing else."""
    with pytest.warns(SeparationWarning):
        return LogisticRegression(**settings).fit(X, y, sample_weight)


def quietly(X, y, sample_weight=None, **settings):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", SeparationWarning)
        return LogisticRegression(**settings).fit(X, y, sample_weight)


# ---------------------------------------------------------------------------------------------------- endometrial


@needs_shared_data
@pytest.mark.parametrize("solver", SOLVERS)
class TestEndometrial:
    def test_it_is_called_what_it_is(self, solver):
        model = fit(*endometrial(), solver=solver)
        assert model.verdict_.status == "quasi-separated"
        assert not model.verdict_.ok

    def test_what_is_finite_is_reached(self, solver):
        model = fit(*endometrial(), solver=solver)
        np.testing.assert_allclose(model.coef_[0, 1:], [-0.0421834, -2.9026056], atol=1e-6)
        assert model.intercept_[0] == pytest.approx(4.3045178, abs=1e-6)

    def test_what_is_infinite_has_its_sign(self, solver):
        """However it is written: a number or infinity, but not NaN."""
        assert fit(*endometrial(), solver=solver).coef_[0, 0] > 0

    def test_the_deviance_is_that_of_the_limit(self, solver):
        X, y = endometrial()
        deviance = fit(X, y, solver=solver).verdict_.certificate.deviance
        assert deviance == pytest.approx(55.393, abs=5e-4)
        assert deviance == pytest.approx(limit(X, y, separation_by_highs(X, y)).deviance, rel=1e-8)

    def test_probabilities_are_their_limits(self, solver):
        X, y = endometrial()
        model = fit(X, y, solver=solver)
        p = model.predict_proba(X)
        with_nv = (X["NV"] == 1).to_numpy()
        assert p[with_nv].tolist() == [[0.0, 1.0]] * 13
        z = model.intercept_[0] + X.to_numpy()[~with_nv, 1:] @ model.coef_[0, 1:]
        np.testing.assert_allclose(p[~with_nv, 1], sigmoid(z), rtol=1e-12)
        np.testing.assert_allclose(p, limit(X, y, separation_by_highs(X, y)).probabilities, atol=1e-6)

    def test_logs_of_probabilities_agree_with_them(self, solver):
        X, y = endometrial()
        model = fit(X, y, solver=solver)
        with np.errstate(divide="ignore"):
            np.testing.assert_allclose(model.predict_log_proba(X), np.log(model.predict_proba(X)), rtol=1e-9)

    def test_labels_are_those_of_the_limit(self, solver):
        X, y = endometrial()
        model = fit(X, y, solver=solver)
        assert (model.predict(X) == (model.predict_proba(X)[:, 1] > 0.5)).all()

    def test_the_verdict_proves_itself(self, solver):
        X, y = endometrial()
        verdict = fit(X, y, solver=solver).verdict_
        assert verdict.check(X, y)
        assert not verdict.check(X, 1 - y)
        other = y.copy()
        other[21] = 1 - other[21]  # a row with NV
        assert not verdict.check(X, other)

    def test_the_words_name_what_is_infinite_and_what_stays_finite(self, solver):
        verdict = fit(*endometrial(), solver=solver).verdict_
        text = str(verdict)
        assert "uasi-separated" in text
        for words in ("NV", "PI", "EH", "finite"):
            assert words in text
        assert verdict.remedy

    def test_the_verdict_goes_through_json_and_pickle(self, solver):
        X, y = endometrial()
        model = fit(X, y, solver=solver)
        read = json.loads(json.dumps(model.verdict_.to_dict(), allow_nan=False))
        assert read["status"] == "quasi-separated"
        assert read["certificate"]["deviance"] == pytest.approx(55.393, abs=5e-4)
        again = pickle.loads(pickle.dumps(model))
        assert again.verdict_.check(X, y)
        assert (again.predict_proba(X) == model.predict_proba(X)).all()


@needs_shared_data
def test_the_warning_names_the_column():
    with pytest.warns(SeparationWarning, match="NV"):
        LogisticRegression().fit(*endometrial())


@needs_shared_data
@pytest.mark.parametrize("scale", [[1e6, 1, 1], [1e-6, 1e6, 1e-6], [-1, 1, 1]])
def test_scales_do_not_matter(scale):
    X, y = endometrial()
    model = fit(X * scale, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X * scale, y)
    assert model.coef_[0, 0] * scale[0] > 0
    np.testing.assert_allclose(model.coef_[0, 1:] * scale[1:], [-0.0421834, -2.9026056], atol=1e-6)
    assert model.verdict_.certificate.deviance == pytest.approx(55.393, abs=5e-4)


@needs_shared_data
def test_offsets_move_only_the_intercept():
    X, y = endometrial()
    moved = X.assign(PI=X["PI"] + 1000, EH=X["EH"] - 500)
    model = fit(moved, y)
    np.testing.assert_allclose(model.coef_[0, 1:], [-0.0421834, -2.9026056], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(moved), fit(X, y).predict_proba(X), atol=1e-7)


@needs_shared_data
def test_a_copy_of_a_column_is_named_and_changes_no_probability():
    X, y = endometrial()
    more = X.assign(copy=X["PI"])
    model = fit(more, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(more, y)
    assert "copy" in str(model.verdict_)
    np.testing.assert_allclose(model.predict_proba(more), fit(X, y).predict_proba(X), atol=1e-7)


@needs_shared_data
def test_a_penalty_makes_it_an_ordinary_fit():
    X, y = endometrial()
    model = LogisticRegression(l2=0.01).fit(X, y)
    assert model.verdict_.status == "optimal"
    assert np.isfinite(model.coef_).all()


@needs_shared_data
def test_weights_are_numbers_of_copies():
    X, y = endometrial()
    count = np.arange(len(y)) % 3
    weighted, copied = fit(X, y, count), fit(X.loc[X.index.repeat(count)], y.repeat(count))
    assert weighted.verdict_.status == copied.verdict_.status == "quasi-separated"
    assert weighted.verdict_.check(X, y, count)
    assert weighted.verdict_.certificate.deviance == pytest.approx(copied.verdict_.certificate.deviance, rel=1e-9)
    np.testing.assert_allclose(weighted.coef_[0, 1:], copied.coef_[0, 1:], rtol=1e-6)


# ------------------------------------------------------------------------------------------------ other tables


@needs_shared_data
def test_sex2():
    rows = table("sex2")
    X, y = rows.drop(columns="case"), rows["case"]
    model = fit(X, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, y)
    assert "dia" in str(model.verdict_)
    known = limit(X, y, separation_by_highs(X, y))
    assert known.deviance == pytest.approx(275.9493977, abs=1e-6)
    assert model.verdict_.certificate.deviance == pytest.approx(known.deviance, rel=1e-8)
    np.testing.assert_allclose(np.append(model.intercept_, model.coef_[0, :5]), known.coefficients[0, :6], atol=1e-6)
    np.testing.assert_allclose(model.predict_proba(X), known.probabilities, atol=1e-6)


@needs_shared_data
def test_silvapulle():
    """Only the two rows with 2 points are left, one of each class: the deviance is 4 log 2."""
    rows = table("silvapulle1981")
    X, y = rows[["ghqs"]], rows["y"]
    model = fit(X, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, y)
    assert model.verdict_.certificate.deviance == pytest.approx(4 * np.log(2), rel=1e-9)
    p = model.predict_proba(X)[:, 1]
    np.testing.assert_allclose(p[[0, 34]], 0.5, atol=1e-7)
    assert p[1:34].tolist() == y[1:34].tolist()


@needs_shared_data
def test_a_third_of_the_alligators():
    """brglm2: deviance 161.913, of Reptile all but the size is infinite, of Bird lake Oklawaha."""
    rows = table("alligators")
    lakes = ("Hancock", "Oklawaha", "Trafford")
    X = pd.DataFrame({"small": rows["size"] == "<=2.3"} | {f"lake{k}": rows["lake"] == k for k in lakes}).astype(float)
    food = ["Invertebrate", "Reptile", "Bird", "Other", "Fish"]
    y, weight = rows["foodchoice"].map({name: k for k, name in enumerate(food)}), np.round(rows["freq"] / 3)
    model = fit(X, y, weight)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, y, weight)
    assert model.verdict_.certificate.deviance == pytest.approx(161.913, abs=5e-4)
    answer = separation_by_highs(X, y, weight=weight, classes=5)
    known = limit(X, y, answer, weight=weight, classes=5)
    relative = np.column_stack([model.intercept_, model.coef_])
    relative = (relative - relative[4])[:4]
    for k, name in enumerate(food[:4]):
        finite = np.array([status == "finite" for status in answer.coefficients[k].values()])
        np.testing.assert_allclose(relative[k, finite], known.coefficients[k, finite], atol=1e-5, err_msg=name)
    counts = (weight > 0).to_numpy()
    p = model.predict_proba(X)[counts]
    np.testing.assert_allclose(p, known.probabilities[counts], atol=1e-6)
    assert ((p == 0) == (known.probabilities[counts] == 0)).all()
    full = LogisticRegression().fit(X, y, rows["freq"])
    assert full.verdict_.status == "optimal"


@pytest.mark.parametrize("solver", SOLVERS)
def test_iris(solver):
    """setosa stands apart; of the other two the limit is the fit of these alone."""
    X, y = load_iris(return_X_y=True, as_frame=True)
    model = fit(X, y, solver=solver)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, y)
    p = model.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1, rtol=1e-14)
    assert p[:50].tolist() == [[1, 0, 0]] * 50
    assert not p[50:, 0].any()
    two = newton(X[50:], y[50:] == 1)
    z = X[50:].to_numpy() @ two.weights.astype(float) + float(two.intercept)
    np.testing.assert_allclose(p[50:, 1], sigmoid(z), atol=1e-6)
    assert model.verdict_.certificate.deviance == pytest.approx(200 * float(two.value), rel=1e-7)
    np.testing.assert_allclose(model.coef_[1] - model.coef_[2], two.weights.astype(float), rtol=1e-4)
    assert not model.verdict_.check(X, (y + 1) % 3)


# ----------------------------------------------------------------------------------------------- small problems


@pytest.mark.parametrize("seeds", [range(start, start + 25) for start in range(5000, 5150, 25)], ids=str)
def test_small_problems_end_as_the_referee_says(seeds):
    """The status, the check, the deviance of the limit, its probabilities, and the coefficients that stay finite."""
    wrong = {seed: found for seed in seeds if (found := faults(seed))}
    assert not wrong


def faults(seed):
    problem = small_problem(seed)
    answer = problem.answer
    settings = {"weight": problem.weight, "fit_intercept": problem.fit_intercept, "classes": problem.classes}
    if len(answer.aliased) == problem.X.shape[1]:
        return []  # nothing to fit
    model = quietly(problem.X, problem.y, problem.weight, fit_intercept=problem.fit_intercept)
    verdict, found = model.verdict_, []
    if verdict.status != STATUS[answer.kind]:
        return [f"{verdict.status}, not {STATUS[answer.kind]}"]
    if not verdict.check(problem.X, problem.y, problem.weight):
        found.append("check is False")
    if answer.kind != "quasi-separated":
        return found
    known = limit(problem.X, problem.y, answer, **settings)
    counts = np.ones(len(problem.y), bool) if problem.weight is None else problem.weight > 0
    p, q = model.predict_proba(problem.X)[counts], known.probabilities[counts]
    if not np.allclose(p, q, atol=1e-5) or ((p == 0) != (q == 0)).any():
        found.append(f"probabilities {p.tolist()}, not {q.tolist()}")
    if verdict.certificate.deviance != pytest.approx(known.deviance, rel=1e-7, abs=1e-9):
        found.append(f"deviance {verdict.certificate.deviance}, not {known.deviance}")
    if problem.classes == 2 and not answer.aliased:
        one = int(problem.fit_intercept)
        for name, status in answer.coefficients.items():
            ours = model.intercept_[0] if name == INTERCEPT else model.coef_[0, name]
            limiting = known.coefficients[0, 0 if name == INTERCEPT else name + one]
            if status == "finite" and ours != pytest.approx(limiting, abs=1e-4):
                found.append(f"{name}: {ours}, not {limiting}")
            if (status == "+inf" and not ours > 0) or (status == "-inf" and not ours < 0):
                found.append(f"{name}: {ours}, where the limit is {status}")
    return found


# ------------------------------------------------------------------------------------------- the other verdicts


def test_separated_data_are_still_called_so_and_the_column_is_named():
    X = pd.DataFrame({"dose": np.arange(1.0, 7), "age": [3.0, 1, 4, 1, 5, 9]})
    y = np.array([0, 0, 0, 1, 1, 1])
    model = fit(X, y)
    assert model.verdict_.status == "separated"
    assert model.verdict_.check(X, y)
    assert "dose" in str(model.verdict_)
    assert model.predict_proba(X)[:, 1].tolist() == y.tolist()


def test_an_overlap_is_still_optimal_and_gives_no_warning():
    X, y = np.array([[1.0], [2], [4], [3], [5], [6]]), np.array([0, 0, 0, 1, 1, 1])
    model = LogisticRegression().fit(X, y)
    assert model.verdict_.status == "optimal"
    assert model.verdict_.check(X, y)


@pytest.mark.parametrize("exponent", [-6, 0, 6])
def test_the_least_example_at_any_scale(exponent):
    X, y = np.array([[-1.0], [0], [0], [1]]) * 10.0**exponent, [0, 0, 1, 1]
    model = fit(X, y)
    assert model.verdict_.status == "quasi-separated"
    assert model.intercept_[0] == pytest.approx(0, abs=1e-7)
    assert model.coef_[0, 0] > 0
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], [0, 0.5, 0.5, 1], atol=1e-8)
    assert model.predict_proba(X)[[0, 3], 1].tolist() == [0, 1]
    assert model.verdict_.certificate.deviance == pytest.approx(4 * np.log(2), rel=1e-9)


def test_rows_that_were_not_there_at_fit_have_limits_too():
    """Beyond the tie at zero a row is certain, however near it is."""
    model = fit([[-1.0], [0], [0], [1]], [0, 0, 1, 1])
    assert model.predict_proba([[-1e-3], [1e-3], [50]])[:, 1].tolist() == [0, 1, 1]


# ------------------------------------------------------------------------------------------- probabilities as y


def test_a_probability_counts_as_both_labels():
    """At 0 rows of probability 0.3 and 0.6, and certain rows to both sides: the limit there is 0.45."""
    X, t = np.array([[-1.0], [0], [0], [1]]), np.array([0, 0.3, 0.6, 1])
    model = fit(X, t)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, t)
    assert model.intercept_[0] == pytest.approx(np.log(0.45 / 0.55), abs=1e-6)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], [0, 0.45, 0.45, 1], atol=1e-7)
    entropy = -(0.9 * np.log(0.45) + 1.1 * np.log(0.55))
    assert model.verdict_.certificate.deviance == pytest.approx(2 * entropy, rel=1e-8)


def test_probabilities_everywhere_leave_nothing_separated():
    X, t = np.array([[-1.0], [0], [0], [1]]), np.array([0.01, 0.3, 0.6, 0.99])
    assert LogisticRegression().fit(X, t).verdict_.status == "optimal"


def test_soft_rows_end_as_the_same_rows_split_into_labels():
    rng = np.random.default_rng(0)
    for _ in range(20):
        X = rng.integers(-2, 3, size=(9, 2)).astype(float)
        t = np.where(X[:, 0] > 0, 1.0, np.where(X[:, 0] < 0, 0.0, rng.choice([0.25, 0.5, 0.75], size=9)))
        if not ((t > 0) & (t < 1)).any() or len(set(X[:, 1])) < 2 or len({*t} & {0.0, 1.0}) < 2:
            continue
        weight = np.column_stack([1 - t, t]).ravel()
        rows, labels = np.repeat(X, 2, axis=0), np.tile([0, 1], 9)
        answer = separation(rows, labels, weight=weight)
        model = quietly(X, t)
        assert model.verdict_.status == STATUS[answer.kind]
        assert model.verdict_.check(X, t)
        known = limit(rows, labels, answer, weight=weight)
        if answer.kind == "quasi-separated":
            assert model.verdict_.certificate.deviance == pytest.approx(known.deviance, rel=1e-7)


def test_rows_of_probabilities_of_three_classes():
    """Class 0 stands apart; at 5 the other two share every row."""
    X = np.array([[0.0], [1], [4], [5], [6]])
    T = np.array([[1, 0, 0], [1, 0, 0], [0, 0.5, 0.5], [0, 0.25, 0.75], [0, 0.5, 0.5]])
    model = fit(X, T)
    assert model.verdict_.status == "quasi-separated"
    assert model.verdict_.check(X, T)
    p = model.predict_proba(X)
    assert p[:2].tolist() == [[1, 0, 0]] * 2
    assert not p[2:, 0].any()
    np.testing.assert_allclose(p[2:, 1], 1.25 / 3, atol=1e-6)
