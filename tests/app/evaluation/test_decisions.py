"""Thresholds, costs, groups and requirements."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given as law
from hypothesis import strategies as st

from separatrix.app.evaluation.intervals import Measure
from separatrix.app.evaluation.measures import (
    between,
    by_class,
    by_group,
    cheapest,
    checked,
    measures,
    parsed,
    threshold_table,
)
from separatrix.app.evaluation.probability import Costs

from .made import many, two


@law(
    st.integers(0, 30), st.booleans(), st.booleans(),
    st.sampled_from([(1, 1), (1, 5), (7, 2), (0, 1), (1, 0)]), st.integers(0, 1),
)  # fmt: skip
def test_no_threshold_is_cheaper_than_the_cheapest(seed, weighted, ties, costs, positive):
    given, costs = two(40, seed=seed, weighted=weighted, ties=ties, positive=positive), Costs(*costs)
    found = cheapest(given, costs)

    def cost(threshold):
        return given.w @ costs.of(given.at(threshold)) / given.w.sum()

    own = np.inf if found.threshold is None else found.threshold
    assert cost(own) == pytest.approx(found.cost, abs=1e-12)
    tried = [-1.0, 2.0, *np.unique(given.probabilities), *(np.unique(given.probabilities) + 1e-9)]
    assert found.cost <= min(map(cost, tried)) + 1e-12
    assert found.if_true == pytest.approx(costs.false_positive / costs.total)


def test_the_cheapest_threshold_of_true_probabilities_is_near_fp_over_fp_and_fn():
    random = np.random.default_rng(0)
    given = two(20000)
    p = random.random(20000)
    truth = (random.random(20000) < p).astype(np.intp)
    given = replace(given, truth=truth, probabilities=np.column_stack([1 - p, p]), scores=None)
    assert cheapest(given, Costs(1, 3)).threshold == pytest.approx(0.25, abs=0.04)


def test_a_table_of_thresholds():
    given = two()
    table = threshold_table(given, costs=Costs(1, 2))
    assert [one.threshold for one in table] == pytest.approx(np.arange(1, 10) / 10)
    flagged = [one.flagged for one in table]
    assert flagged == sorted(flagged, reverse=True)
    for one in table:
        names = [m.name for m in one.measures]
        assert names == ["sensitivity", "specificity", "precision", "f1", "accuracy", "cost"]
        assert one.flagged == pytest.approx(np.mean(given.probabilities[:, 1] >= one.threshold))
    scores = replace(given, probabilities=None)
    assert len(threshold_table(scores)) == 9
    assert cheapest(scores, Costs()).if_true is None


def test_thresholds_need_two_classes_and_something_to_compare_with():
    with pytest.raises(ValueError, match="A threshold is of two classes"):
        threshold_table(many())
    with pytest.raises(ValueError, match="neither probabilities nor scores"):
        cheapest(replace(two(), scores=None, probabilities=None), Costs())
    with pytest.raises(ValueError, match="not both 0"):
        Costs(0, 0)
    with pytest.raises(ValueError, match="fp=-1"):
        Costs(-1, 1)


# ------------------------------------------------------------------------------------------------------------ groups


def test_a_group_that_differs_is_flagged_and_one_that_does_not_is_not():
    given = two(600, strength=2)
    codes = np.arange(600) % 3
    worse = np.where(codes == 2, 1 - given.truth, given.chosen)
    parts = by_group(replace(given, chosen=worse), codes, ("a", "b", "c"), ["accuracy", "sensitivity"])
    assert [part.rows for part in parts] == [200, 200, 200]
    assert [bool(part.flagged) for part in parts] == [True, True, True]
    parts = by_group(given, codes, ("a", "b", "c"), ["accuracy", "auc"])
    assert not any(part.flagged for part in parts)
    for part, code in zip(parts, range(3), strict=True):
        own = measures(given.of(codes == code), ["accuracy", "auc"])
        assert part.measures == own
        assert part.differences[0].value == pytest.approx(own[0].value - given.hit[codes != code].mean())


def test_rows_without_a_group_are_among_the_others_and_groups_without_rows_are_not_shown():
    given = two(60)
    codes = np.where(np.arange(60) < 20, 1, -1)
    (part,) = by_group(given, codes, ("none", "some"), ["accuracy"])
    assert (part.group, part.rows, sum(part.counts)) == ("some", 20, 20)
    assert part.differences[0].value is not None
    (whole,) = by_group(given, np.zeros(60, int), ("all",), ["accuracy"])
    assert whole.differences == ()


def test_a_group_of_one_class_has_a_reason_and_no_difference():
    given = two(60)
    parts = by_group(given, given.truth, ("no", "yes"), ["auc", "accuracy"])
    assert parts[0].differences[0].why == "every row is of class 'no'"
    assert parts[0].differences[1].value is not None
    weights = np.where(given.truth == 0, 0.0, 1.0)
    (empty, _) = by_group(replace(given, weights=weights), given.truth, ("no", "yes"), ["accuracy"])
    assert empty.measures[0].why == "there are no rows"


def test_between_says_whose_value_is_missing():
    known, none = Measure("auc", 0.8, 0.7, 0.9), Measure("auc", None, why="no rows")
    assert between(known, none).why == "of the other rows: no rows"
    assert between(none, known).why == "no rows"


# ------------------------------------------------------------------------------------------------------ requirements


@pytest.mark.parametrize(
    ("text", "read"),
    [
        ("auc>=0.8", ("auc", "", "value", ">=", 0.8)),
        (" AUC.low > .75 ", ("auc", "", "low", ">", 0.75)),
        ("log-loss.high<=5e-1", ("log_loss", "", "high", "<=", 0.5)),
        ("recall≥0.9", ("sensitivity", "", "value", ">=", 0.9)),
        ("balanced accuracy >= 0.5", ("balanced_accuracy", "", "value", ">=", 0.5)),
        ("precision[yes].low>=0.1", ("precision", "yes", "low", ">=", 0.1)),
        ("calibration_intercept>-1", ("calibration_intercept", "", "value", ">", -1.0)),
        ("cost<2", ("cost", "", "value", "<", 2.0)),
    ],
)
def test_requirements_are_read(text, read):
    found = parsed(text, ("no", "yes"), ("cost",))
    assert (found.name, found.of, found.end, found.sign, found.bound) == read


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("auc", "is not a requirement"),
        ("auc=0.8", "For equality there is no sign"),
        ("auc=>0.8", "is not a requirement"),
        (">=0.8", "is not a requirement"),
        ("acu>=0.8", "Did you mean 'auc'"),
        ("auc>=x", "'x', which is not a number"),
        ("auc>=nan", "give a finite number"),
        ("auc.mean>=0.8", "names .mean; a measure has"),
        ("sensitivity[maybe]>=0.8", "one of no, yes"),
        ("auc[yes]>=0.8", "'yes' of auc, which is not known"),
        ("__import__('os')>=1", "is not a requirement"),
        ("", "is not a requirement"),
    ],
)
def test_what_is_no_requirement_is_refused(text, sentence):
    with pytest.raises(ValueError, match=sentence):
        parsed(text, ("no", "yes"))


@law(st.text(max_size=30))
def test_any_text_is_read_or_refused_with_a_sentence(text):
    said = "."
    try:
        parsed(text, ("no", "yes"))
    except ValueError as error:
        said = str(error)
    assert said.endswith(".")


def test_requirements_are_checked():
    found = (*measures(two()), *by_class(two()))
    auc = next(one for one in found if one.name == "auc")
    classes = ("no", "yes")
    met = checked(parsed(f"auc>={auc.value - 0.1}", classes), found)
    assert met.met
    assert "with 0.1 to spare" in met.sentence
    missed = checked(parsed(f"auc.low>={auc.low + 0.05}", classes), found)
    assert not missed.met
    assert "0.05 too low" in missed.sentence
    assert missed.to_dict()["by"] == pytest.approx(0.05)
    assert "too high" in checked(parsed("log_loss<0.01", classes), found).sentence
    assert checked(parsed(f"auc>={auc.value!r}", classes), found).met
    assert "not beyond the bound" in checked(parsed(f"auc>{auc.value!r}", classes), found).sentence
    of = checked(parsed("sensitivity[no]>=0", classes), found)
    assert of.value == next(one.value for one in found if one.name == "specificity" and not one.of)


def test_a_requirement_on_what_is_not_known_is_not_met():
    found = measures(replace(two(), scores=None, probabilities=None))
    check = checked(parsed("auc>=0", ("no", "yes")), found)
    assert not check.met
    assert check.sentence.endswith("auc has no value: there are neither scores nor probabilities to rank rows by.")
