"""A linear rule: scores, sides, distances, thresholds and its equation as text; then the same of K classes."""

import dataclasses
import itertools
import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from rarely import examples

from separatrix import LinearRule
from separatrix.data.block import NUMBERS
from separatrix.learners.base import LinearClassifier

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
    p = rule.probability(X)
    assert rule.log_odds(X).tolist() == rule.score(X).tolist()
    assert rule.log_odds(X).tolist() == pytest.approx(np.log(p / (1 - p)).tolist(), rel=1e-6)


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


def test_one_row_of_weights_has_one_intercept():
    with pytest.raises(ValueError, match=r"intercept is \[1.0, 2.0\]; one row of weights has one"):
        LinearRule(np.ones(2), [1.0, 2.0])


# ====================================================================================================== K classes


@st.composite
def many_and_rows(draw, least=2):
    """A matrix of weights, and a few rows."""
    K, d = draw(st.integers(least, 5)), draw(st.integers(1, 4))
    weights = draw(arrays(float, (K, d), elements=moderate))
    X = draw(arrays(float, (draw(st.integers(1, 6)), d), elements=moderate))
    return LinearRule(weights, draw(arrays(float, K, elements=moderate)), "abcde"[:K], probabilistic=True), X


@pytest.fixture
def three():
    """Two lines: high | middle at 3x + 4y = 5, middle | low at y = 0 where it is nearer than high."""
    return LinearRule(
        [[3, 4], [0, 0], [0, -8]], (-5, 0, 0), ("high", "middle", "low"), ("height", "width"), probabilistic=True
    )


def random_rule(seed, K=5, d=2):
    rng = np.random.default_rng(seed)
    return LinearRule(rng.normal(size=(K, d)), rng.normal(size=K), probabilistic=True), rng.normal(size=(40, d)) * 3


def lead(z):
    """By how much the largest score of each row exceeds the next."""
    top = np.sort(z, axis=1)
    return top[:, -1] - top[:, -2]


def gaps(rule, X):
    """(z_ŷ − zₖ)/‖w_ŷ − wₖ‖ of every class k, one at a time; infinite where the weights are equal."""
    rows = []
    for z in rule.score(X):
        y = int(np.argmax(z))
        lengths = [math.dist(rule.weights[y], w) for w in rule.weights]
        rows.append([(z[y] - zk) / n if n else math.inf for zk, n in zip(z, lengths, strict=True)])
    return np.array(rows)


# -------------------------------------------------------------------------------------------- scores and the winner


def test_k_classes_have_k_scores(three):
    assert three.score([[3, 4], [0, 0.5], [0, -2]]).tolist() == [[20, 0, -32], [-3, 0, -4], [-13, 0, 16]]


@pytest.mark.parametrize("dtype", [np.float32, np.float64, np.int32, bool])
def test_scores_of_k_classes_take_numbers_of_any_kind(three, dtype):
    z = three.score(np.array([[1, 1]], dtype=dtype))
    assert z.dtype == np.float64
    assert z.tolist() == [[2, 0, -8]]


def test_single_precision_rows_are_summed_in_double_precision_across_blocks():
    X = np.tile(np.array([[1e8, 1, -1e8]], dtype=np.float32), (NUMBERS + 3, 1))
    X[:, 1] = np.arange(len(X))
    rule = LinearRule([[1, 1, 1], [0, 0, 0], [-1, -1, -1]])
    expected = np.arange(len(X))[:, None] * [1.0, 0.0, -1.0]
    assert (rule.score(X) == expected).all()
    assert rule.classify(X[:2]).tolist() == [0, 0]
    assert rule.foot(X[1:2]).dtype == np.float64


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_no_rows_give_no_results(three, dtype):
    X = np.empty((0, 2), dtype=dtype)
    assert three.score(X).shape == three.log_odds(X).shape == three.probability(X).shape == (0, 3)
    assert three.classify(X).shape == three.distance(X).shape == (0,)
    assert three.foot(X).shape == (0, 2)


def test_the_class_with_the_largest_score_wins(three):
    assert three.classify([[3, 4], [0, 0.5], [0, -2]]).tolist() == ["high", "middle", "low"]


@pytest.mark.parametrize(
    ("z", "winner"),
    [((1, 1, 0), 0), ((0, 1, 1), 1), ((1, 0, 1), 0), ((2, 2, 2), 0), ((-1, -2, -1), 0), ((0.0, -0.0, -1), 0)],
)
def test_the_first_of_equal_scores_wins(z, winner):
    assert LinearRule(np.zeros((3, 1)), z).classify([[7.0]]).tolist() == [winner]


def test_a_distribution_decides_for_its_largest_entry():
    """[.1 .2 .6 .1] → class 3: 000 §8.4."""
    p = [0.1, 0.2, 0.6, 0.1]
    rule = LinearRule(np.zeros((4, 1)), np.log(p), (1, 2, 3, 4), probabilistic=True)
    np.testing.assert_allclose(rule.probability([[0.0]]), [p], rtol=1e-15)
    assert rule.classify([[0.0]]).tolist() == [3]


@examples(35, 100, many_and_rows(), st.floats(0, 1))
def test_what_wins_at_two_points_wins_between_them(case, alpha):
    """003 slide 12, for each pair of classes; α in [0, 1], not merely positive."""
    rule, X = case
    A, B = X, X[::-1]
    zA, zB, z = (rule.score(at) for at in (A, B, alpha * A + (1 - alpha) * B))
    for k, j in itertools.permutations(range(len(rule.classes)), 2):
        ahead = (zA[:, k] > zA[:, j] + 1e-9) & (zB[:, k] > zB[:, j] + 1e-9)
        assert (z[ahead, k] > z[ahead, j]).all()


@pytest.mark.parametrize("seed", range(5))
def test_the_regions_are_convex(seed):
    rule, X = random_rule(seed)
    classes = rule.classify(X)
    assert len(set(classes.tolist())) > 2
    pairs = [(i, j) for i, j in itertools.combinations(range(len(X)), 2) if classes[i] == classes[j]]
    for alpha in (0.1, 0.5, 0.8):
        between = np.array([alpha * X[i] + (1 - alpha) * X[j] for i, j in pairs])
        assert rule.classify(between).tolist() == [classes[i] for i, _ in pairs]


def test_a_positive_alpha_beyond_one_may_leave_the_region():
    rule, alpha = LinearRule([[1.0], [0.0]]), 3.0
    assert rule.classify([[1.0], [2.0], [alpha * 1.0 + (1 - alpha) * 2.0]]).tolist() == [0, 0, 1]


# --------------------------------------------------------------------------------------------------- probabilities


@examples(35, 100, many_and_rows())
def test_probabilities_are_positive_and_sum_to_one(case):
    rule, X = case
    P = rule.probability(X)
    assert P.shape == (len(X), len(rule.classes))
    assert (P > 0).all()
    np.testing.assert_allclose(P.sum(axis=1), 1, rtol=1e-15)
    e = np.exp(rule.score(X))
    np.testing.assert_allclose(P, e / e.sum(axis=1, keepdims=True), rtol=1e-12)


@pytest.mark.parametrize("scale", [1e4, 1e8, 1e300])
def test_large_scores_do_not_overflow(scale):
    rule = LinearRule([[1.0], [0.5], [-1.0]], probabilistic=True)
    assert rule.probability([[scale], [-scale]]).tolist() == [[1, 0, 0], [0, 0, 1]]


def test_a_hopeless_last_class_does_not_blur_the_others():
    rule = LinearRule(np.zeros((3, 1)), [math.log(1), math.log(3), -1e17], probabilistic=True)
    np.testing.assert_allclose(rule.probability([[0.0]]), [[0.25, 0.75, 0]], rtol=1e-15)


@examples(35, 100, many_and_rows())
def test_log_odds_are_against_the_last_class(case):
    rule, X = case
    P = rule.probability(X)
    odds = rule.log_odds(X)
    assert (odds[:, -1] == 0).all()
    np.testing.assert_allclose(odds, np.log(P / P[:, -1:]), rtol=0, atol=1e-10)


@pytest.mark.parametrize("method", ["log_odds", "probability"])
def test_k_classes_without_a_likelihood_refuse_probabilities(three, method):
    with pytest.raises(ValueError, match=r"no log-odds: use score\(X\)"):
        getattr(dataclasses.replace(three, probabilistic=False), method)([[1, 2]])


# --------------------------------------------------------------------------------------------- geometry of regions


def test_distance_is_to_the_nearest_boundary_of_the_own_region(three):
    assert three.distance([[3, 4], [0, 0.5], [0, -2], [0, 0]]).tolist() == [4, 0.5, 2, 0]
    feet = three.foot([[3, 4], [0, 0.5], [0, -2], [0, 0]])
    np.testing.assert_allclose(feet, [[0.6, 0.8], [0, 0], [0, 0], [0, 0]], rtol=0, atol=1e-15)


@examples(35, 100, many_and_rows())
def test_distance_is_the_least_of_the_gaps(case):
    rule, X = case
    assume(np.ptp(rule.weights, axis=0).any())
    expected = gaps(rule, X)
    expected[np.arange(len(X)), rule.score(X).argmax(axis=1)] = math.inf
    np.testing.assert_allclose(rule.distance(X), expected.min(axis=1), rtol=1e-12)


@examples(35, 100, many_and_rows())
def test_at_the_foot_two_classes_share_the_largest_score(case):
    rule, X = case
    assume(np.ptp(rule.weights, axis=0).any())
    feet = rule.foot(X)
    z = rule.score(feet)
    size = 1 + np.abs(X).sum(axis=1) * np.abs(rule.weights).max() + np.abs(rule.intercept).max()
    shortest = min(n for v, w in itertools.combinations(rule.weights, 2) if (n := math.dist(v, w)))
    tolerance = 1e-13 * size * (1 + np.abs(rule.weights).max() / shortest)
    own = rule.score(X).argmax(axis=1)
    same = (rule.weights[own][:, None] == rule.weights).all(axis=2)  # no boundary with those: they do not count
    rivals = np.where(same, -np.inf, z).max(axis=1)
    mine = z[np.arange(len(X)), own]
    assert (np.abs(mine - rivals) <= tolerance).all()
    np.testing.assert_allclose(np.linalg.norm(X - feet, axis=1), rule.distance(X), rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("seed", range(8))
def test_no_way_out_of_the_region_is_shorter_than_the_distance(seed):
    """In the plane: bisect along rays in all directions, asking for nothing but the class."""
    rule, X = random_rule(seed, K=2 + seed % 5)
    angles = np.linspace(0, 2 * np.pi, 2000, endpoint=False)
    rays = np.column_stack([np.cos(angles), np.sin(angles)])
    for x, d, own in zip(X[:10], rule.distance(X), rule.classify(X), strict=False):
        low, high = np.zeros(len(rays)), np.full(len(rays), 2 * d + 1)
        for _ in range(60):
            middle = (low + high) / 2
            inside = rule.classify(x + middle[:, None] * rays) == own
            low, high = np.where(inside, middle, low), np.where(inside, high, middle)
        assert d * (1 - 1e-9) <= high.min() <= d * (1 + 1e-5)


@pytest.mark.parametrize("seed", range(4))
def test_a_step_beyond_the_foot_changes_the_class_and_one_short_of_it_does_not(seed):
    rule, X = random_rule(seed, K=6, d=4)
    way = rule.foot(X) - X
    assert (rule.classify(X + way * (1 + 1e-9)) != rule.classify(X)).all()
    assert (rule.classify(X + way * (1 - 1e-9)) == rule.classify(X)).all()


@pytest.mark.parametrize("seed", range(4))
def test_the_ball_around_a_row_lies_in_its_region(seed):
    rule, X = random_rule(seed, K=6, d=5)
    rng = np.random.default_rng(seed)
    for x, d, own in zip(X, rule.distance(X), rule.classify(X), strict=True):
        steps = rng.normal(size=(500, 5))
        steps *= d * (1 - 1e-9) / np.linalg.norm(steps, axis=1, keepdims=True)
        assert (rule.classify(x + steps) == own).all()


def test_classes_of_equal_weights_have_no_boundary_between_them():
    rule = LinearRule([[1.0], [1.0], [-1.0]], [0, 5, 0])
    assert rule.classify([[3.0], [-9.0]]).tolist() == [1, 2]
    assert rule.distance([[3.0], [-9.0]]).tolist() == [5.5, 6.5]
    assert rule.foot([[3.0], [-9.0]]).tolist() == [[-2.5], [-2.5]]


def test_twin_classes_tie_everywhere_and_the_first_is_as_far_as_if_it_were_alone():
    twins = LinearRule([[1.0], [1.0], [-1.0]])
    assert twins.classify([[3.0]]).tolist() == [0]
    assert twins.distance([[3.0]]).tolist() == [3]


@pytest.mark.parametrize("method", ["distance", "foot"])
def test_classes_that_all_have_the_same_weights_have_no_boundary(method):
    rule = LinearRule(np.ones((3, 2)), [0, 1, 2])
    with pytest.raises(ValueError, match="All classes have the same weights: there is no boundary"):
        getattr(rule, method)([[1, 2]])
    assert rule.classify([[1, 2]]).tolist() == [2]


def test_norm_of_a_matrix_is_the_root_of_the_sum_of_squares():
    assert LinearRule([[1, 2], [4, 10]]).norm == 11.0


# -------------------------------------------------------------------------------------- two classes of K, and forms


def test_between_is_the_difference_of_two_classes(three):
    pair = three.between("low", "high")
    assert (pair.weights.tolist(), pair.intercept, pair.classes) == ([3, 12], -5, ("low", "high"))
    assert isinstance(pair.intercept, float)
    assert pair.probabilistic
    assert pair.columns == three.columns


@examples(35, 100, many_and_rows())
def test_between_two_classes_the_others_do_not_count(case):
    rule, X = case
    P = rule.probability(X)
    for (i, a), (j, b) in itertools.permutations(enumerate(rule.classes), 2):
        np.testing.assert_allclose(rule.between(a, b).probability(X), P[:, j] / (P[:, i] + P[:, j]), rtol=1e-10)


@examples(35, 100, many_and_rows())
def test_the_winner_beats_every_other_class_between_the_two(case):
    rule, X = case
    clear = lead(rule.score(X)) > 1e-9
    for x, own in zip(X[clear], rule.classify(X)[clear], strict=True):
        others = [label for label in rule.classes if label != own]
        assert all(rule.between(other, own).classify([x]) == own for other in others)
        assert all(rule.between(own, other).classify([x]) == own for other in others)


def test_between_the_two_classes_of_a_vector_rule_is_itself_or_its_negative(rule):
    assert rule.between("no", "yes") is rule
    back = rule.between("yes", "no")
    assert (back.weights.tolist(), back.intercept, back.classes) == ([-3, -4], 5, ("yes", "no"))
    assert back.probabilistic
    X = [[3, 4], [0, 0]]
    np.testing.assert_allclose(back.probability(X), 1 - rule.probability(X), rtol=0, atol=1e-15)


def test_forms_of_one_row_of_weights(rule):
    forms = {cls: rule.to_reference(cls) for cls in ("no", "yes", None)}
    assert {cls: form.weights.tolist() for cls, form in forms.items()} == {
        "no": [[0, 0], [3, 4]],
        "yes": [[-3, -4], [0, 0]],
        None: [[-1.5, -2], [1.5, 2]],
    }
    assert {cls: form.intercept.tolist() for cls, form in forms.items()} == {
        "no": [0, -5],
        "yes": [5, 0],
        None: [2.5, -2.5],
    }


@examples(35, 100, rules_and_rows(), st.sampled_from([0, 1, None]))
def test_two_rows_of_weights_agree_with_one(case, reference):
    rule, X = case
    two = rule.to_reference(reference)
    z = rule.score(X)
    np.testing.assert_allclose(np.diff(two.score(X))[:, 0], z, rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(two.probability(X)[:, 1], rule.probability(X), rtol=1e-10)
    np.testing.assert_allclose(two.log_odds(X)[:, 0], -rule.log_odds(X), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(two.distance(X), np.abs(rule.distance(X)), rtol=1e-12, atol=1e-12)
    np.testing.assert_allclose(two.foot(X), rule.foot(X), rtol=1e-12, atol=1e-12)
    clear = np.abs(z) > 1e-9
    assert two.classify(X)[clear].tolist() == rule.classify(X)[clear].tolist()


@LAW
@given(rules_and_rows(), st.sampled_from([0, 1, None]))
def test_between_leads_back_from_two_rows_of_weights_to_one(case, reference):
    rule, _ = case
    back = rule.to_reference(reference).between(0, 1)
    assert back.weights.tolist() == rule.weights.tolist()
    assert back.intercept == rule.intercept
    assert back.classes == rule.classes


@pytest.mark.parametrize("reference", ["no", "yes", None])
def test_on_the_boundary_every_form_says_the_first_class(rule, reference):
    two = rule.to_reference(reference)
    assert two.classify([[1, 0.5]]).tolist() == rule.classify([[1, 0.5]]).tolist() == ["no"]


@examples(35, 100, many_and_rows(), st.data())
def test_a_reference_changes_neither_probabilities_nor_decisions_nor_distances(case, data):
    rule, X = case
    other = rule.to_reference(data.draw(st.sampled_from([*rule.classes, None])))
    np.testing.assert_allclose(other.probability(X), rule.probability(X), rtol=1e-10)
    np.testing.assert_allclose(other.log_odds(X), rule.log_odds(X), rtol=1e-11, atol=1e-11)
    clear = lead(rule.score(X)) > 1e-9
    assert other.classify(X)[clear].tolist() == rule.classify(X)[clear].tolist()
    assert (other.classes, other.columns, other.probabilistic) == (rule.classes, rule.columns, True)


@examples(35, 100, many_and_rows())
def test_the_reference_has_no_weights_and_the_symmetric_form_sums_to_zero(case):
    rule, _ = case
    for k, cls in enumerate(rule.classes):
        form = rule.to_reference(cls)
        assert not form.weights[k].any()
        assert form.intercept[k] == 0
    form = rule.to_reference(None)
    np.testing.assert_allclose(form.weights.sum(axis=0), 0, atol=1e-13)
    np.testing.assert_allclose(form.intercept.sum(), 0, atol=1e-13)


@pytest.mark.parametrize("seed", range(4))
def test_a_reference_leaves_the_geometry_alone(seed):
    rule, X = random_rule(seed)
    for cls in (*rule.classes, None):
        np.testing.assert_allclose(rule.to_reference(cls).distance(X), rule.distance(X), rtol=1e-9)
        np.testing.assert_allclose(rule.to_reference(cls).foot(X), rule.foot(X), rtol=1e-9, atol=1e-9)


@examples(35, 100, many_and_rows(least=3))
def test_the_pivot_has_what_the_others_leave(case):
    """p_K = 1/(1 + Σ exp zⱼ) with w_K = 0: 000 §8.4, where σ(zⱼ) for each class is a misprint."""
    rule, X = case
    pivoted = rule.to_reference(rule.classes[-1])
    others = np.exp(pivoted.score(X)[:, :-1])
    np.testing.assert_allclose(pivoted.probability(X)[:, -1], 1 / (1 + others.sum(axis=1)), rtol=1e-10)


@LAW
@given(rules_and_rows())
def test_the_softmax_of_a_score_and_zero_is_the_logistic_function(case):
    """W = [w, 0] ⇒ p₁ = σ(xᵀw): 000 §8.4, whose positive class is the first."""
    rule, X = case
    two = LinearRule(np.stack([rule.weights, 0 * rule.weights]), (rule.intercept, 0), probabilistic=True)
    np.testing.assert_allclose(two.probability(X)[:, 0], rule.probability(X), rtol=1e-12)


# ------------------------------------------------------------------------------------------------ K classes as text


def test_the_equation_of_k_classes_has_a_line_for_each(three):
    assert three.equation() == "high: 3·height + 4·width − 5\nmiddle: 0\nlow: −8·width"
    assert LinearRule([[1 / 3], [-2 / 3]], [0.125, 0]).equation(2) == "0: 0.33·x0 + 0.12\n1: −0.67·x0"


def test_as_text_k_classes_are_compared(three):
    assert str(three) == "the class with the largest of high: 3·height + 4·width − 5; middle: 0; low: −8·width"


# --------------------------------------------------------------------------------------------- fields of K classes


@pytest.mark.parametrize("K", [2, 3, 4])
def test_classes_left_out_are_the_first_numbers(K):
    assert LinearRule(np.eye(K)).classes == tuple(range(K))


def test_intercepts_left_out_are_zero():
    assert LinearRule(np.eye(3)).intercept.tolist() == [0, 0, 0]


@pytest.mark.parametrize("intercept", [(1, 2, 3), [1, 2, 3], np.array([1, 2, 3], np.float32), range(1, 4)])
def test_intercepts_may_be_any_sequence(intercept):
    rule = LinearRule(np.eye(3), intercept)
    assert rule.intercept.tolist() == [1, 2, 3]
    assert rule.intercept.dtype == np.float64


def test_classes_may_be_an_array_as_an_estimator_has_them():
    rule = LinearRule(np.eye(4), classes=np.array(["A", "B", "AB", "O"]))
    assert rule.classify(np.eye(4)).tolist() == ["A", "B", "AB", "O"]
    assert rule.between("A", "O").classes == ("A", "O")


def test_the_fields_of_k_classes_are_copies_that_cannot_be_changed():
    weights, intercept = np.eye(3), np.ones(3)
    rule = LinearRule(weights, intercept)
    weights[0, 0] = intercept[0] = 7
    assert (rule.weights[0, 0], rule.intercept[0]) == (1, 1)
    for field in (rule.weights, rule.intercept):
        with pytest.raises(ValueError, match="read-only"):
            field[0] = 1.0


@pytest.mark.parametrize("weights", [np.zeros((1, 2)), np.zeros((3, 0)), np.zeros((0, 3)), np.zeros((2, 2, 2))])
def test_a_matrix_of_weights_has_a_row_for_each_of_two_or_more_classes(weights):
    with pytest.raises(ValueError, match="a row of them for each of K ≥ 2 classes"):
        LinearRule(weights)


@pytest.mark.parametrize("intercept", [2.0, None, (1, 2), (1, 2, 3, 4), [[1, 2, 3]]])
def test_there_is_an_intercept_for_each_row_of_weights(intercept):
    with pytest.raises(ValueError, match="give 3 numbers, one for each row of weights"):
        LinearRule(np.eye(3), intercept)


@pytest.mark.parametrize("classes", [(), (0, 1), (1, 0), "abcd"])
def test_there_is_a_class_for_each_row_of_weights(classes):
    with pytest.raises(ValueError, match="give 3 of them, one for each row of weights"):
        LinearRule(np.eye(3), classes=classes)


def test_each_row_of_weights_has_a_class_of_its_own():
    with pytest.raises(ValueError, match="one is there twice"):
        LinearRule(np.eye(3), classes=("a", "b", "a"))


def test_there_is_a_name_for_each_column_of_a_matrix():
    with pytest.raises(ValueError, match="3 weights and 2 columns"):
        LinearRule(np.ones((2, 3)), columns=("a", "b"))


@pytest.mark.parametrize(("weights", "intercept"), [([[1], [np.nan]], (0, 0)), ([[1], [2]], (0, np.inf))])
def test_weights_and_intercepts_of_k_classes_must_be_finite(weights, intercept):
    with pytest.raises(ValueError, match="must be finite"):
        LinearRule(weights, intercept)


@pytest.mark.parametrize("X", [[1, 2], [[1, 2, 3]], [[[1, 2]]]])
@pytest.mark.parametrize("method", ["score", "distance", "classify", "foot", "probability", "log_odds"])
def test_rows_must_have_the_columns_of_the_matrix(three, method, X):
    with pytest.raises(ValueError, match="rows of 2 columns are needed"):
        getattr(three, method)(X)


@pytest.mark.parametrize("method", ["side", "projection"])
def test_k_classes_have_neither_side_nor_projection(three, method):
    with pytest.raises(ValueError, match=rf"no {method}: .*between\(a, b\)\.{method}\(X\).*'high', 'middle', 'low'"):
        getattr(three, method)([[1, 2]])


@pytest.mark.parametrize("cut", [{"threshold": 0.0}, {"probability": 0.5}])
def test_k_classes_have_no_threshold(three, cut):
    with pytest.raises(ValueError, match=r"no threshold: .*between\(a, b\)\.classify\(X, …\).*probability\(X\)"):
        three.classify([[1, 2]], **cut)
    assert three.between("low", "high").classify([[1, 2]], **cut).tolist() == ["high"]


@pytest.mark.parametrize("ask", [lambda r: r.between("high", "top"), lambda r: r.to_reference("top")])
def test_an_unknown_class_is_answered_with_the_known_ones(three, ask):
    with pytest.raises(ValueError, match=r"'top' is no class of this rule; give one of \['high', 'middle', 'low'\]"):
        ask(three)


def test_between_needs_two_classes(three):
    with pytest.raises(ValueError, match="names one class twice"):
        three.between("low", "low")


# ------------------------------------------------------------------------------------------- a learner of K classes


class Told(LinearClassifier):
    """A learner that is told what to have learnt."""

    def fit(self, rule):
        self.rule_, self.classes_, self.n_features_in_ = rule, np.array(rule.classes), rule.weights.shape[-1]
        return self


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(3))
def test_a_learner_says_what_its_rule_says(seed, dtype):
    rule, X = random_rule(seed)
    model, X = Told().fit(rule), X.astype(dtype)
    assert model.decision_function(X).tolist() == rule.score(X).tolist()
    assert model.predict(X).tolist() == rule.classify(X).tolist()
    assert model.distance(X).tolist() == rule.distance(X).tolist()


@pytest.mark.parametrize("method", ["decision_function", "predict", "distance"])
def test_a_learner_of_k_classes_finds_a_missing_value(three, method):
    with pytest.raises(ValueError, match=r"X\[1, 'width'\] is NaN"):
        getattr(Told().fit(three), method)([[1, 2], [3, np.nan]])


def test_a_learner_of_k_classes_without_boundary_has_no_distance():
    with pytest.raises(ValueError, match="there is no boundary, hence no distance"):
        Told().fit(LinearRule(np.ones((3, 2)))).distance([[1, 2]])
