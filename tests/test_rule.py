"""A linear rule: scores, sides, distances, thresholds and its equation as text."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from separatrix import LinearRule

LAW = settings(max_examples=100, deadline=None, derandomize=True)
moderate = st.floats(-10, 10).filter(lambda x: x == 0 or abs(x) > 1e-3)


@st.composite
def rules_and_rows(draw, probabilistic=True):
    d = draw(st.integers(1, 5))
    weights = draw(arrays(float, d, elements=moderate).filter(np.any))
    X = draw(arrays(float, (draw(st.integers(1, 6)), d), elements=moderate))
    return LinearRule(weights, draw(moderate), probabilistic=probabilistic), X


@pytest.fixture
def rule():
    """3x + 4y − 5 > 0: its boundary is at distance one from the origin."""
    return LinearRule(np.array([3.0, 4.0]), -5.0, ("no", "yes"), ("x", "y"), probabilistic=True)


# ------------------------------------------------------------------------------------------------ scores and sides


def test_score_is_the_inner_product_plus_the_intercept(rule):
    assert rule.score([[3, 4], [0, 0], [1, 0.5]]).tolist() == [20.0, -5.0, 0.0]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_score_takes_numbers_of_any_kind(rule, dtype):
    assert rule.score(np.array([[1, 1]], dtype=dtype)).tolist() == [2.0]


def test_side_is_plus_or_minus_one_and_minus_one_on_the_boundary(rule):
    assert rule.side([[3, 4], [0, 0], [1, 0.5]]).tolist() == [1, -1, -1]


def test_the_first_class_is_predicted_at_exactly_zero(rule):
    assert rule.score([[1, 0.5]]).tolist() == [0.0]
    assert rule.classify([[1, 0.5]]).tolist() == ["no"]
    assert rule.classify([[1, 0.5000001]]).tolist() == ["yes"]


def test_log_odds_are_the_score_of_a_rule_learnt_by_likelihood(rule):
    X = [[3, 4], [0, 0]]
    assert rule.log_odds(X).tolist() == rule.score(X).tolist()


@pytest.mark.parametrize("method", ["log_odds", "probability"])
def test_a_rule_without_a_likelihood_refuses_probabilities(rule, method):
    with pytest.raises(ValueError, match=r"no log-odds: use score\(X\)"):
        getattr(dataclasses.replace(rule, probabilistic=False), method)([[1, 2]])


def test_probability_of_the_second_class(rule):
    assert rule.probability([[1, 0.5], [3, 4]]).tolist() == pytest.approx([0.5, 1 / (1 + math.exp(-20))], rel=1e-15)


# ------------------------------------------------------------------------------------------------------- geometry


def test_distance_is_signed_and_measured_along_the_normal(rule):
    assert rule.distance([[3, 4], [0, 0], [1, 0.5]]).tolist() == [4.0, -1.0, 0.0]
    assert rule.norm == 5.0


@LAW
@given(rules_and_rows())
def test_probability_is_the_logistic_function_of_distance_times_norm(case):
    rule, X = case
    expected = 1 / (1 + np.exp(-rule.distance(X) * rule.norm))
    np.testing.assert_allclose(rule.probability(X), expected, rtol=1e-12)


@LAW
@given(rules_and_rows())
def test_projection_is_the_length_times_the_cosine_of_the_angle(case):
    rule, X = case
    lengths = np.linalg.norm(X, axis=1)
    units = X / np.where(lengths > 0, lengths, 1)[:, None]
    cosines = units @ (rule.weights / rule.norm)
    np.testing.assert_allclose(rule.projection(X), lengths * cosines, rtol=1e-12, atol=1e-13)


@LAW
@given(rules_and_rows())
def test_distance_is_projection_minus_the_thresholds_own(case):
    rule, X = case
    np.testing.assert_allclose(rule.distance(X), rule.projection(X) + rule.intercept / rule.norm, rtol=0, atol=1e-9)


@LAW
@given(rules_and_rows())
def test_the_foot_lies_on_the_boundary_straight_below_the_point(case):
    rule, X = case
    feet = rule.foot(X)
    size = np.abs(X) @ np.abs(rule.weights) + abs(rule.intercept)
    assert (np.abs(rule.score(feet)) <= 1e-14 * (1 + size)).all()
    normal = rule.weights / rule.norm
    np.testing.assert_allclose(X - feet, np.outer(rule.distance(X), normal), rtol=0, atol=1e-12)


def test_no_point_of_the_boundary_is_nearer_than_the_foot(rule):
    x, (foot,) = np.array([2.0, -7.0]), rule.foot([[2.0, -7.0]])
    along = np.array([-4.0, 3.0]) / 5
    for t in (-2.0, -1e-3, 1e-3, 0.5):
        assert rule.score([foot + t * along]) == pytest.approx(0, abs=1e-13)
        assert np.linalg.norm(x - foot) < np.linalg.norm(x - foot - t * along)


@pytest.mark.parametrize("method", ["distance", "projection", "foot"])
def test_without_weights_there_is_no_boundary(method):
    with pytest.raises(ValueError, match="All weights are zero: there is no boundary"):
        getattr(LinearRule(np.zeros(2), 1.0), method)([[1, 2]])


def test_without_weights_the_intercept_still_classifies():
    assert LinearRule(np.zeros(2), 1.0).classify([[1, 2]]).tolist() == [1]
    assert LinearRule(np.zeros(2), -1.0).classify([[1, 2]]).tolist() == [0]


# ----------------------------------------------------------------------------------------------------- thresholds


def test_classify_at_a_threshold_on_the_score(rule):
    X = [[3, 4], [0, 0], [2, 1]]
    assert rule.classify(X, threshold=4.9).tolist() == ["yes", "no", "yes"]
    assert rule.classify(X, threshold=5.0).tolist() == ["yes", "no", "no"]
    assert rule.classify(X, threshold=-6).tolist() == ["yes", "yes", "yes"]


@pytest.mark.parametrize("p", [0.01, 0.2, 0.5, 0.731, 0.99])
def test_classify_at_a_probability_is_what_the_probabilities_say(rule, p):
    X = np.random.default_rng(0).normal(loc=(1, 0.5), size=(200, 2))
    expected = np.where(rule.probability(X) > p, "yes", "no")
    assert set(expected) == {"yes", "no"}
    assert rule.classify(X, probability=p).tolist() == expected.tolist()


def test_probability_one_half_is_threshold_zero(rule):
    X = [[1, 0.5], [1, 0.6], [1, 0.4]]
    assert rule.classify(X, probability=0.5).tolist() == rule.classify(X).tolist() == ["no", "yes", "no"]


@pytest.mark.parametrize("p", [0, 1, -0.5, 1.5, math.nan])
def test_a_probability_outside_the_open_interval_is_refused(rule, p):
    with pytest.raises(ValueError, match="strictly between 0 and 1"):
        rule.classify([[1, 2]], probability=p)


def test_only_one_threshold_can_be_given(rule):
    with pytest.raises(ValueError, match="not both"):
        rule.classify([[1, 2]], threshold=0, probability=0.5)


def test_a_threshold_on_the_probability_needs_probabilities(rule):
    with pytest.raises(ValueError, match="no log-odds"):
        dataclasses.replace(rule, probabilistic=False).classify([[1, 2]], probability=0.5)


def test_from_threshold_predicts_one_above_it_only():
    rule = LinearRule.from_threshold([1, 1], 3, classes=("low", "high"), columns=("a", "b"))
    assert rule.intercept == -3
    assert rule.columns == ("a", "b")
    assert rule.classify([[1, 2], [1, 2.5], [1, 1]]).tolist() == ["low", "high", "low"]


@pytest.mark.parametrize("values", [(0, 1), (-1, 1)])
@pytest.mark.parametrize("d", [1, 2, 3, 5, 7])
def test_at_least_m_of_d_holds_at_every_corner(d, values):
    corners = np.array(list(itertools.product(values, repeat=d)), dtype=float)
    on = (corners == values[1]).sum(axis=1)
    for m in range(d + 2):
        rule = LinearRule.at_least(m, d, values=values)
        assert rule.classify(corners).tolist() == (on >= m).astype(int).tolist()
        assert (rule.score(corners) != 0).all()  # so that > 0 and ≥ 0 agree


def test_at_least_refuses_other_values():
    with pytest.raises(ValueError, match=r"\(0, 2\).*0/1 or −1/\+1"):
        LinearRule.at_least(1, 2, values=(0, 2))


# ------------------------------------------------------------------------------------------------ the equation


@pytest.mark.parametrize(
    ("weights", "intercept", "text"),
    [
        ([3, 4], -5, "3·x0 + 4·x1 − 5 = 0"),
        ([-3, 4], 5, "−3·x0 + 4·x1 + 5 = 0"),
        ([-3, -4], -5, "−3·x0 − 4·x1 − 5 = 0"),
        ([1, 0], 0, "1·x0 = 0"),
        ([0, -1], 0, "−1·x1 = 0"),
        ([0, 2], -0.5, "2·x1 − 0.5 = 0"),
        ([-0.0, 2], -0.0, "2·x1 = 0"),
        ([0, 0], 2, "2 = 0"),
        ([0, 0], -2, "−2 = 0"),
        ([0, 0], 0, "0 = 0"),
        ([1e-7, -1e20], 1 / 3, "1e-07·x0 − 1e+20·x1 + 0.333333 = 0"),
    ],
)
def test_equation_writes_signs_and_leaves_out_zeros(weights, intercept, text):
    assert LinearRule(np.array(weights, float), intercept).equation() == text


def test_equation_names_the_columns_and_rounds_to_the_digits_asked():
    rule = LinearRule(np.array([1 / 3, -2 / 3]), 0.125, columns=("age", "dose"))
    assert rule.equation(2) == "0.33·age − 0.67·dose + 0.12 = 0"
    assert rule.equation(4) == "0.3333·age − 0.6667·dose + 0.125 = 0"


def test_a_column_name_that_looks_like_an_equation_survives():
    rule = LinearRule(np.array([-1.0, 2.0]), 1.0, columns=("a − b = 0", " + c"))
    assert rule.equation() == "−1·a − b = 0 + 2· + c + 1 = 0"


def test_as_text_a_rule_says_which_class_lies_where(rule):
    assert str(rule) == "yes where 3·x + 4·y − 5 > 0, else no"


# --------------------------------------------------------------------------------------------------------- errors


@pytest.mark.parametrize("weights", [np.zeros((1, 2)), np.zeros(0), np.float64(3)])
def test_weights_must_be_one_row_of_numbers(weights):
    with pytest.raises(ValueError, match="weights have shape"):
        LinearRule(weights)


@pytest.mark.parametrize(("weights", "intercept"), [([1, np.nan], 0), ([np.inf], 0), ([1], np.nan), ([1], -np.inf)])
def test_weights_and_intercept_must_be_finite(weights, intercept):
    with pytest.raises(ValueError, match="must be finite"):
        LinearRule(np.array(weights, float), intercept)


def test_there_is_a_name_for_each_weight():
    with pytest.raises(ValueError, match="2 weights and 3 columns"):
        LinearRule(np.ones(2), columns=("a", "b", "c"))


@pytest.mark.parametrize("classes", [(), (0,), (0, 1, 2)])
def test_a_rule_has_two_classes(classes):
    with pytest.raises(ValueError, match="tells two of them apart"):
        LinearRule(np.ones(2), classes=classes)


@pytest.mark.parametrize("X", [[1, 2], [[1, 2, 3]], [[[1, 2]]]])
@pytest.mark.parametrize("method", ["score", "distance", "side", "classify", "foot", "projection"])
def test_rows_must_have_the_rules_columns(rule, method, X):
    with pytest.raises(ValueError, match="rows of 2 columns are needed"):
        getattr(rule, method)(X)


def test_a_rule_cannot_be_changed(rule):
    with pytest.raises(dataclasses.FrozenInstanceError):
        rule.intercept = 1.0
    with pytest.raises(ValueError, match="read-only"):
        rule.weights[0] = 1.0


def test_a_rule_keeps_its_own_copy_of_the_weights():
    weights = np.ones(2)
    rule = LinearRule(weights)
    weights[0] = 7
    assert rule.weights.tolist() == [1, 1]


def test_as_text_a_rule_leaves_column_names_alone():
    rule = LinearRule(np.ones(1), columns=("stage = 0",))
    assert str(rule) == "1 where 1·stage = 0 > 0, else 0"
