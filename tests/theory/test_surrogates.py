"""The table of surrogates: every bound holds, every number is a plain loop's, and what does not fit is named."""

import builtins
import json
import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.linear_model import LogisticRegression as Plain
from sklearn.naive_bayes import GaussianNB
from sklearn.svm import SVC

from separatrix import (
    LeastSquaresClassifier,
    LinearRule,
    LogisticRegression,
    Perceptron,
    Surrogates,
    surrogates,
)

TWO = ("0-1", "MSE", "LMSE", "NLL", "perceptron", "hinge", "squared hinge", "exponential")
MANY = ("0-1", "MSE", "LMSE", "NLL", "perceptron", "hinge")
CONSTANTS = {"MSE": 2, "LMSE": 2, "NLL": 1 / math.log(2), "hinge": 1}


def problem(seed, K, n=12, d=2, scale=1.0, whole=False):
    """A random rule of K classes (K = 1: one row of weights), rows, labels and weights; whole numbers make ties."""
    rng = np.random.default_rng(seed)
    draw = (lambda shape: rng.integers(-2, 3, shape).astype(float)) if whole else rng.standard_normal
    X, y, weight = draw((n, d)), rng.integers(0, max(K, 2), n), rng.uniform(0, 3, n)
    W, b = scale * draw((K, d)), scale * draw((K,))
    return (LinearRule(W[0], b[0]) if K == 1 else LinearRule(W, b)), X, y, weight


# ------------------------------------------------------------------------------------------------------- bounds


@given(st.integers(0, 10**6), st.integers(1, 5), st.sampled_from([1e-3, 1.0, 30.0, 1e6]), st.booleans())
def test_every_bound_holds_and_nothing_overflows(seed, K, scale, whole):
    table = surrogates(*problem(seed, K, scale=scale, whole=whole))
    assert [entry.name for entry in table] == list(TWO if K == 1 else MANY)
    for entry in table:
        assert np.isfinite(entry.value)
        assert entry.value >= 0
        if entry.bound is None:
            assert entry.name == "perceptron"
            assert (entry.limit, entry.holds, entry.at_zero) == (None, None, 0)
        else:
            assert entry.holds is True
            assert table.mistakes <= entry.limit * (1 + 1e-12)
            assert entry.at_zero == 1 / entry.bound


@pytest.mark.parametrize("K", [2, 3, 4, 5])
def test_no_smaller_constant_would_do_for_many_classes(K):
    """Random search for the least loss of a mistake: it comes near 1/k and never below."""
    rng = np.random.default_rng(K)
    S = rng.normal(size=(40_000, K)) * rng.choice([0.3, 1.0, 10.0], (40_000, 1))
    S[:20_000, 1:] = np.minimum(S[:20_000, 1:], S[:20_000, :1])
    S[:, 1] = np.maximum(S[:, 0], S[:, 1])  # class 1 is as high as class 0, the truth, or higher
    S[0], S[1] = [0.5, 0.5, *[0.0] * (K - 2)], [0.0, 0.0, *[-800.0] * (K - 2)]
    losses = {"MSE": [], "LMSE": [], "NLL": [], "hinge": []}
    for s in S[:2000]:
        table = surrogates(LinearRule(np.zeros((K, 1)), s[::-1]), [[0.0]], [K - 1])
        assert table.mistakes in (0.0, 1.0)
        for name, kept in losses.items():
            kept += [table[name].value] if table.mistakes else []
    for name, kept in losses.items():
        assert min(kept) >= 1 / CONSTANTS[name] * (1 - 1e-12)
        assert min(kept) <= 1 / CONSTANTS[name] * (1 + 1e-9), "the bound is not tight"


def test_a_tie_is_a_mistake_for_the_second_class_only():
    rule = LinearRule([0.0], classes=("no", "yes"))
    assert surrogates(rule, [[1.0]], ["yes"]).mistakes == 1
    assert surrogates(rule, [[1.0]], ["no"]).mistakes == 0
    for entry in surrogates(rule, [[1.0]], ["yes"]):
        assert entry.value == pytest.approx(entry.at_zero)
        assert entry.bound is None or entry.limit == pytest.approx(1)


# ------------------------------------------------------------------------------------------------ what they are


def plain_two(m, name):
    return {
        "MSE": (1 - m) ** 2,
        "LMSE": (1 - (2 / (1 + math.exp(-m)) - 1)) ** 2,
        "NLL": math.log(1 + math.exp(-m)),
        "perceptron": max(0, -m),
        "hinge": max(0, 1 - m),
        "squared hinge": max(0, 1 - m) ** 2,
        "exponential": math.exp(-m),
    }[name]


@pytest.mark.parametrize("seed", range(20))
def test_two_classes_as_a_plain_loop(seed):
    rule, X, y, weight = problem(seed, 1)
    table = surrogates(rule, X, y, weight)
    for name in TWO[1:]:
        total = 0.0
        for x, label, c in zip(X, y, weight, strict=True):
            m = (1 if label else -1) * (float(x @ rule.weights) + rule.intercept)
            total += c * plain_two(m, name)
        assert table[name].value == pytest.approx(total / weight.sum(), rel=1e-12)
    assert table.mistakes == pytest.approx(np.average(rule.classify(X) != y, weights=weight))


@pytest.mark.parametrize("seed", range(20))
def test_many_classes_as_a_plain_loop(seed):
    rule, X, y, weight = problem(seed, 2 + seed % 4)
    totals = dict.fromkeys(MANY[1:], 0.0)
    for x, own, c in zip(X, y, weight, strict=True):
        s = (rule.weights @ x + rule.intercept).tolist()
        t = [float(k == own) for k in range(len(s))]
        p = [math.exp(a) / sum(map(math.exp, s)) for a in s]
        gap = max(a for k, a in enumerate(s) if k != own) - s[own]
        totals["MSE"] += c * sum((a - b) ** 2 for a, b in zip(t, s, strict=True))
        totals["LMSE"] += c * sum((a - b) ** 2 for a, b in zip(t, p, strict=True))
        totals["NLL"] += c * -math.log(p[own])
        totals["perceptron"] += c * max(0, gap)
        totals["hinge"] += c * max(0, 1 + gap)
    table = surrogates(rule, X, y, weight)
    for name, total in totals.items():
        assert table[name].value == pytest.approx(total / weight.sum(), rel=1e-12)
    assert table.mistakes == pytest.approx(np.average(rule.classify(X) != y, weights=weight))


@given(st.integers(0, 10**6))
def test_two_rows_of_weights_agree_with_one_up_to_the_factors(seed):
    rule, X, y, weight = problem(seed, 1)
    one, two = surrogates(rule, X, y, weight), surrogates(rule.to_reference(None), X, y, weight)
    assert two.mistakes == pytest.approx(one.mistakes)
    for name, factor in {"NLL": 1, "perceptron": 1, "hinge": 1, "LMSE": 0.5}.items():
        assert two[name].value == pytest.approx(factor * one[name].value, rel=1e-9)
    assert two["LMSE"].bound == 2 * one["LMSE"].bound
    W = np.stack([-rule.weights / 2, rule.weights / 2])  # (1 ∓ z)/2 add up to one
    halves = surrogates(LinearRule(W, [(1 - rule.intercept) / 2, (1 + rule.intercept) / 2]), X, y, weight)
    assert halves["MSE"].value == pytest.approx(one["MSE"].value / 2, rel=1e-9)


def test_a_weight_of_two_is_a_row_twice_and_of_zero_is_none():
    rule, X, y, _ = problem(3, 3)
    doubled = surrogates(rule, np.vstack([X[1:], X[1:2]]), np.append(y[1:], y[1]))
    weighted = surrogates(rule, X, y, [0, 2, *[1] * 10])
    assert weighted.rows == 11
    for a, b in zip(doubled, weighted, strict=True):
        assert a.value == pytest.approx(b.value)


def test_a_million_is_not_too_much_and_the_scale_of_the_weights_is_seen():
    X, y = [[-1.0], [1.0], [2.0]], [0, 0, 1]
    table = surrogates(LinearRule([1e6]), X, y)
    assert table["NLL"].value == pytest.approx(1e6 / 3)
    assert table["LMSE"].value == pytest.approx(4 / 3)
    assert table["exponential"].value < math.inf
    assert surrogates(LinearRule([1e200]), X, y)["MSE"].value == math.inf


# --------------------------------------------------------------------------------------------- whose scores they are


def overlapping(K=2):
    rng = np.random.default_rng(0)
    y = rng.integers(0, K, 80)
    return rng.standard_normal((80, 2)) + np.eye(4)[y][:, :2], np.array(["a", "b", "c", "d"])[y]


@pytest.mark.parametrize("K", [2, 3])
def test_fitted_learners_of_ours_and_of_others(K):
    X, y = overlapping(K)
    ours = LogisticRegression().fit(X, y)
    table = surrogates(ours, X, y)
    assert table.probabilistic
    assert table["NLL"].value == pytest.approx(
        -np.log(ours.predict_proba(X)[np.arange(80), np.searchsorted(ours.classes_, y)]).mean()
    )
    assert table.mistakes == pytest.approx(1 - ours.score(X, y))
    assert table.to_dict() == surrogates(ours.rule_, X, y).to_dict()
    theirs = surrogates(Plain(C=np.inf, tol=1e-10, max_iter=1000).fit(X, y), X, y)
    assert theirs.probabilistic
    assert theirs["NLL"].value == pytest.approx(table["NLL"].value, abs=1e-7)
    assert "raw score" not in str(table)


def test_scores_that_are_no_log_odds_are_said_to_be_none():
    X, y = overlapping()
    table = surrogates(LeastSquaresClassifier().fit(X, y), X, y)
    assert not table.probabilistic
    assert "raw score" in " ".join(str(table).split())
    assert "raw score" in table._repr_html_()
    assert table["NLL"].value == pytest.approx(
        np.mean(np.log1p(np.exp(-np.where(y == "b", 1, -1) * LeastSquaresClassifier().fit(X, y).decision_function(X))))
    )


# -------------------------------------------------------------------------------------------------- as it is read


def test_the_table_as_text():
    rule = LinearRule([1.0], classes=("no", "yes"), probabilistic=True)
    text = str(surrogates(rule, [[-2.0], [-1.0], [1.0], [3.0]], ["no", "yes", "no", "yes"]))
    assert (
        text.splitlines()[0]
        == "4 rows; m is the score of a row of class yes, and minus the score of a row of class no."
    )
    assert text.splitlines()[2].split() == ["loss", "of", "a", "row", "J", "at", "m", "=", "0", "bound", "k·J", "holds"]
    starts = {line.index("J") for line in text.splitlines()[2:3]}
    assert all(line[next(iter(starts))] != " " for line in text.splitlines()[4:])
    assert "J₀₁ ≤ 1.4427·NLL" in text
    assert "NO" not in text


def test_the_table_as_data():
    rule, X, y, _ = problem(0, 3)
    table = surrogates(rule, X, y)
    assert isinstance(table, Surrogates)
    assert json.loads(json.dumps(table.to_dict()))["NLL"]["value"] == table["NLL"].value
    frame = table.to_frame()
    assert frame.loc["hinge", "value"] == table["hinge"].value
    assert len(table) == len(frame) == 6
    assert table._repr_html_().count("<tr>") == 7
    with pytest.raises(KeyError, match="'log' is no entry of this table; it has '0-1', 'MSE'"):
        table["log"]


def test_without_pandas_the_way_out_is_named(monkeypatch):
    real = builtins.__import__

    def absent(name, *args, **kwargs):
        if name == "pandas":
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(ImportError, match=r"install it, or take to_dict\(\)"):
        surrogates(LinearRule([1.0]), [[1.0]], [1]).to_frame()


# -------------------------------------------------------------------------------------------------------- bad input

RULE = LinearRule([1.0, 2.0])
GOOD = ([[0.0, 1.0], [1.0, 0.0]], [0, 1])


@pytest.mark.parametrize(
    ("rule", "X", "y", "weight", "says"),
    [
        (RULE, GOOD[0], [0, 2], None, r"y\[1\] is 2, none of the rule's classes \[0, 1\]"),
        (RULE, GOOD[0], [0], None, "a label for each of the 2 rows"),
        (RULE, [[0.0], [1.0]], [0, 1], None, "rows of 2 columns are needed"),
        (RULE, [[0.0, math.nan], [1.0, 0.0]], [0, 1], None, r"X\[0, 1\] is nan; finite numbers are needed"),
        (RULE, *GOOD, [0, 0], "zero for every row"),
        (RULE, *GOOD, [1, -1], r"sample_weight\[1\] is -1.0"),
        (RULE, *GOOD, [1], r"sample_weight has shape \(1,\)"),
        (RULE, *GOOD, ["a", "b"], "must hold numbers"),
        (RULE, np.empty((0, 2)), [], None, "no rows"),
        (LinearRule([1e308, 1e308]), [[1e9, 1.0]], [0], None, "score of row 0 is NaN or infinite"),
        (Perceptron(), *GOOD, None, "fit it first"),
    ],
)  # fmt: skip
def test_what_does_not_fit_is_named(rule, X, y, weight, says):
    with np.errstate(over="ignore"), pytest.raises(ValueError, match=says):
        surrogates(rule, X, y, weight)


@pytest.mark.parametrize(
    ("rule", "says"),
    [
        (3, "type int, which has no scores"),
        (GaussianNB(), "which has no scores"),
        (Perceptron, "the class Perceptron itself"),
    ],
)
def test_what_has_no_scores_is_refused(rule, says):
    with pytest.raises(TypeError, match=says):
        surrogates(rule, *GOOD)


def test_scores_of_pairs_are_refused():
    X, y = overlapping(4)
    model = SVC(kernel="linear", decision_function_shape="ovo").fit(X, y)
    with pytest.raises(ValueError, match=r"\(80, 6\) and there are 4 classes.*4 scores a row are needed"):
        surrogates(model, X, y)


def test_scores_of_pairs_are_not_taken_for_scores_of_classes():
    from sklearn.datasets import load_iris
    from sklearn.svm import SVC

    X, y = load_iris(return_X_y=True)
    with pytest.raises(
        ValueError, match=r"SVC predicts another class than that with the largest score in \d+% of the rows"
    ):
        surrogates(SVC(decision_function_shape="ovo").fit(X, y), X, y)
    table = surrogates(SVC().fit(X, y), X, y)
    assert table["0-1"].value < 0.05


def test_an_unknown_label_of_any_kind_is_named():
    X = np.arange(6.0)[:, None]
    rule = LinearRule([1.0], -2.5, ("n", "p"))
    for label in ("zz", None):
        y = np.array(["n", "n", "n", "p", "p", label], dtype=object)
        with pytest.raises(ValueError, match=rf"y\[5\] is {label!r}, none of the rule's classes"):
            surrogates(rule, X, y)
