"""Values as scikit-learn's metrics have them; intervals around them; reasons where there is nothing."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest
from sklearn import metrics

from separatrix.app.evaluation.confusion import matrix
from separatrix.app.evaluation.intervals import Measure, quantile
from separatrix.app.evaluation.measures import by_class, measures, names_for
from separatrix.app.evaluation.predictions import Predictions, predictions
from separatrix.app.evaluation.probability import Costs

from .made import many, two


def values(given, **settings):
    return {one.name: one.value for one in measures(given, **settings)}


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ties", [False, True])
def test_two_classes_as_scikit_learn(weighted, ties):
    given = two(weighted=weighted, ties=ties)
    y, p, w, c = given.truth, given.probabilities, given.weights, given.chosen
    expected = {
        "accuracy": metrics.accuracy_score(y, c, sample_weight=w),
        "error_rate": metrics.zero_one_loss(y, c, sample_weight=w),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, c, sample_weight=w),
        "sensitivity": metrics.recall_score(y, c, sample_weight=w),
        "specificity": metrics.recall_score(y, c, pos_label=0, sample_weight=w),
        "precision": metrics.precision_score(y, c, sample_weight=w),
        "f1": metrics.f1_score(y, c, sample_weight=w),
        "mcc": metrics.matthews_corrcoef(y, c, sample_weight=w),
        "auc": metrics.roc_auc_score(y, p[:, 1], sample_weight=w),
        "average_precision": metrics.average_precision_score(y, p[:, 1], sample_weight=w),
        "log_loss": metrics.log_loss(y, p, sample_weight=w),
        "brier": metrics.brier_score_loss(y, p[:, 1], sample_weight=w),
    }
    found = values(given)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name
    np.testing.assert_allclose(matrix(given), metrics.confusion_matrix(y, c, sample_weight=w))


@pytest.mark.parametrize("weighted", [False, True])
def test_many_classes_as_scikit_learn(weighted):
    given = many(weighted=weighted)
    y, p, w, c = given.truth, given.probabilities, given.weights, given.chosen
    expected = {
        "accuracy": metrics.accuracy_score(y, c, sample_weight=w),
        "balanced_accuracy": metrics.balanced_accuracy_score(y, c, sample_weight=w),
        "precision": metrics.precision_score(y, c, sample_weight=w, average="macro"),
        "f1": metrics.f1_score(y, c, sample_weight=w, average="macro"),
        "mcc": metrics.matthews_corrcoef(y, c, sample_weight=w),
        "auc": metrics.roc_auc_score(y, p, sample_weight=w, multi_class="ovr", average="macro"),
        "average_precision": metrics.average_precision_score(np.eye(4)[y], p, sample_weight=w, average="macro"),
        "log_loss": metrics.log_loss(y, p, sample_weight=w),
        "brier": metrics.brier_score_loss(y, p, sample_weight=w),
    }
    found = values(given)
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, abs=1e-12), name
    if not weighted:  # scikit-learn has no weights here
        assert found["auc_hand_till"] == pytest.approx(metrics.roc_auc_score(y, p, multi_class="ovo"), abs=1e-12)
    recalls = metrics.recall_score(y, c, sample_weight=w, average=None)
    own = [one.value for one in by_class(given) if one.name == "sensitivity"]
    np.testing.assert_allclose(own, recalls)


@pytest.mark.parametrize("made", [two, many])
@pytest.mark.parametrize("settings", [{}, {"weighted": True}, {"clusters": 40}, {"weighted": True, "clusters": 40}])
def test_every_measure_has_an_interval_that_holds_its_value_and_a_method(made, settings):
    found = measures(made(**settings))
    assert tuple(one.name for one in found) == names_for(len(made().classes))
    for one in found:
        assert one.low < one.value < one.high, one
        assert one.method, one


@pytest.mark.parametrize("made", [two, many])
def test_whole_weights_are_rows_written_so_often(made):
    given = made(n=60)
    times = np.random.default_rng(1).integers(0, 4, 60)
    rows = np.repeat(np.arange(60), times)
    weighted, repeated = replace(given, weights=times.astype(float)), given.of(rows)
    for a, b in zip(measures(weighted), measures(repeated), strict=True):
        assert a.value == pytest.approx(b.value, rel=1e-9), a.name


def test_equal_weights_change_no_interval_that_has_a_formula():
    given = two()
    for a, b in zip(measures(given), measures(replace(given, weights=np.full(200, 2.5))), strict=True):
        if "bootstrap" not in a.method:
            assert (a.low, a.high) == pytest.approx((b.low, b.high), rel=1e-9), a.name


@pytest.mark.parametrize("made", [two, many])
def test_clusters_of_one_row_each_say_nearly_what_rows_say(made):
    given = made(n=300)
    for a, b in zip(measures(given), measures(replace(given, clusters=np.arange(300))), strict=True):
        width = a.high - a.low
        assert b.low == pytest.approx(a.low, abs=0.15 * width), a.name
        assert b.high == pytest.approx(a.high, abs=0.15 * width), a.name


@pytest.mark.parametrize("name", ["accuracy", "auc", "log_loss", "brier", "f1", "calibration_slope"])
def test_rows_written_four_times_as_clusters_give_no_more_certainty(name):
    given = two()
    rows = np.repeat(np.arange(200), 4)
    four = replace(given.of(rows), clusters=rows)
    (once,), (copied,) = measures(given, [name]), measures(four, [name])
    assert copied.high - copied.low == pytest.approx(once.high - once.low, rel=0.03)
    (fooled,) = measures(given.of(rows), [name])
    assert fooled.high - fooled.low == pytest.approx((once.high - once.low) / 2, rel=0.05)


def test_the_other_class_may_be_the_positive_one():
    given = two(positive=0)
    found, turned = values(given), values(two())
    assert found["sensitivity"] == turned["specificity"]
    assert found["auc"] == pytest.approx(turned["auc"])
    assert found["log_loss"] == pytest.approx(turned["log_loss"])
    assert found["calibration_slope"] == pytest.approx(turned["calibration_slope"])
    assert found["calibration_intercept"] == pytest.approx(-turned["calibration_intercept"])


def degenerate():
    given = two(n=40)
    empty = given.of(np.zeros(40, bool))
    flat = np.full((40, 2), 0.5)
    perfect = given.truth.astype(float)
    return {
        "no rows": empty,
        "one row": given.of([0]),
        "one row of each": given.of([int(np.argmax(given.truth == 0)), int(np.argmax(given.truth == 1))]),
        "one class": given.of(given.truth == 1),
        "the class that is never seen": replace(given, chosen=np.zeros(40, np.intp)),
        "constant": replace(given, scores=np.zeros(40), probabilities=flat, chosen=np.ones(40, np.intp)),
        "no errors": replace(
            given, chosen=given.truth, scores=perfect, probabilities=np.column_stack([1 - perfect, perfect])
        ),
        "all errors": replace(
            given, chosen=1 - given.truth, scores=-perfect, probabilities=np.column_stack([perfect, 1 - perfect])
        ),
        "labels only": replace(given, scores=None, probabilities=None),
        "one cluster": replace(given, clusters=np.zeros(40, np.intp)),
        "two clusters": replace(given, clusters=given.truth),
        "weight on one row": replace(given, weights=np.eye(40)[3]),
        "extreme scores": replace(given, scores=1e300 * given.scores, probabilities=None),
        "many, one absent": many(60).of(many(60).truth != 2),
        "many, labels only": replace(many(60), scores=None, probabilities=None),
        "many, one row": many(60).of([5]),
        "many, constant": replace(many(60), scores=None, probabilities=np.full((60, 4), 0.25)),
    }


@pytest.mark.parametrize("case", degenerate())
def test_degenerate_rows_give_reasons_not_warnings(case):
    given = degenerate()[case]
    for one in (*measures(given, costs=Costs(1, 5)), *by_class(given)):
        numbers = [x for x in (one.value, one.low, one.high) if x is not None]
        assert all(math.isfinite(x) for x in numbers), one
        assert (one.low is None) == (one.high is None)
        assert (one.value is not None and one.low is not None) or one.why, one
        assert one.low is None or one.low <= one.value <= one.high, one
        json.dumps(one.to_dict(), allow_nan=False)


def test_reasons():
    cases = degenerate()
    why = {case: {one.name: one.why for one in measures(given)} for case, given in cases.items()}
    assert why["one class"]["auc"] == "every row is of class 'yes'"
    assert why["labels only"]["log_loss"] == "there are no probabilities"
    assert "infinite" in why["all errors"]["log_loss"]
    assert (
        "separate" in why["constant"]["calibration_slope"] or "same probability" in why["constant"]["calibration_slope"]
    )
    assert values(cases["no errors"])["auc"] == 1
    assert values(cases["constant"])["auc"] == 0.5


def test_no_errors_do_not_mean_certainty():
    found = {one.name: one for one in measures(degenerate()["no errors"])}
    z2 = quantile(0.95) ** 2
    assert found["accuracy"].high == 1
    assert found["accuracy"].low == pytest.approx(40 / (40 + z2))
    assert found["error_rate"].low == 0
    assert 0.5 < found["auc"].low < 1 == found["auc"].high
    assert found["f1"].low < 1


def test_log_loss_knows_scores_where_probabilities_round_to_zero():
    scores = np.array([800.0, -800.0, 1.0, -1.0])
    p = 1 / (1 + np.exp(np.clip(-scores, -700, 700)))
    p = np.where(np.abs(scores) > 700, (scores > 0).astype(float), p)
    given = predictions([0, 0, 1, 0], [1, 0, 1, 0], scores=scores, probabilities=np.column_stack([1 - p, p]))
    assert values(given)["log_loss"] == pytest.approx((800 + 0 + 2 * math.log1p(math.exp(-1))) / 4)


def test_cost_is_the_mean_over_rows():
    given = two(weighted=True)
    (*_, cost) = measures(given, costs=Costs(2, 7))
    table = matrix(given)
    assert cost.value == pytest.approx((2 * table[0, 1] + 7 * table[1, 0]) / given.w.sum())
    assert (cost.name, cost.better) == ("cost", "lower")


def test_out_of_fold_predictions_are_noted():
    assert all("out-of-fold predictions of 5 folds" in one.method for one in measures(replace(two(), folds=5)))


def test_the_same_seed_gives_the_same_and_another_another():
    found = [measures(two(), ["mcc"], seed=s) for s in (1, 1, 2)]
    assert found[0] == found[1]
    assert all(a.low != b.low for a, b in zip(found[0], found[2], strict=True))


@pytest.mark.parametrize(
    ("given", "meant"), [("acuracy", "accuracy"), ("recal", "sensitivity"), ("log-los", "log_loss")]
)
def test_an_unknown_measure_is_answered_with_what_may_be_meant(given, meant):
    with pytest.raises(ValueError, match=f"There is no measure '{given}'. Did you mean '{meant}'"):
        measures(two(), [given])
    with pytest.raises(ValueError, match="is not a measure of 4 classes"):
        measures(many(), ["specificity"])


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"classes": ("yes",)}, "one class only"),
        ({"chosen": np.zeros(3, np.intp)}, r"chosen has shape \(3,\); of 200 rows and 2 classes give \(200,\)"),
        ({"scores": np.full(200, np.nan)}, "scores of row 0 is not finite"),
        ({"weights": -np.ones(200)}, "numbers ≥ 0"),
        ({"weights": np.zeros(200)}, "not all zero"),
        ({"probabilities": np.full((200, 2), 0.6)}, "add up to 1; those of row 0 to 1.2"),
        ({"truth": np.full(200, 2)}, "whole numbers from 0 to 1"),
    ],
)
def test_wrong_predictions_are_refused(changes, sentence):
    with pytest.raises(ValueError, match=sentence):
        replace(two(), **changes)


def test_labels_become_places():
    given = predictions(["b", "a", "b"], ["a", "a", "b"], clusters=["u", "v", "u"])
    assert given.classes == ("a", "b")
    assert given.truth.tolist() == [1, 0, 1]
    assert given.clusters.tolist() == [0, 1, 0]
    with pytest.raises(ValueError, match="The label 'b' is none of the classes"):
        predictions(["b"], ["a"], ["a", "c"])
    with pytest.raises(ValueError, match="positive is 'z'"):
        predictions(["b", "a"], ["a", "a"], positive="z")


def test_a_level_is_between_0_and_1():
    with pytest.raises(ValueError, match="level is 95"):
        measures(two(), level=95)


def test_a_measure_reads_well():
    assert str(Measure("auc", 0.81234, 0.75, 0.86)) == "auc 0.8123 (0.75 … 0.86)"
    assert str(Measure("f1", None, of="a", why="no row")) == "f1[a]: no row"
    assert isinstance(two(), Predictions)
