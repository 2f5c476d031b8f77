"""Folds, and cross-validation over them."""

import warnings
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import assume
from hypothesis import given as law
from hypothesis import strategies as st

from separatrix.app.evaluation.cross_validation import Answers, Task, baseline, cross, folds
from separatrix.app.evaluation.measures import measures
from separatrix.app.evaluation.paired import difference


@law(st.lists(st.integers(0, 3), min_size=4, max_size=80), st.integers(2, 7), st.integers(0, 5))
def test_every_class_and_every_fold_has_its_even_share(labels, k, seed):
    truth = np.array(labels)
    assume(k <= len(truth) and np.bincount(truth)[np.unique(truth)].min() >= 2)
    found = folds(truth, k, seed=seed)
    for rows in (slice(None), *(truth == c for c in np.unique(truth))):
        counts = np.bincount(found[rows], minlength=k)
        assert counts.max() - counts.min() <= 1
    np.testing.assert_array_equal(found, folds(truth, k, seed=seed))


@law(st.data(), st.integers(2, 6), st.integers(0, 3))
def test_groups_stay_together_and_no_fold_is_empty(data, k, seed):
    n = data.draw(st.integers(12, 60))
    groups = np.array(data.draw(st.lists(st.integers(0, 14), min_size=n, max_size=n)))
    truth = np.arange(n) % 2
    assume(len(np.unique(groups)) >= k)
    assume(all(len(np.unique(groups[truth == c])) >= 2 for c in (0, 1)))
    found = folds(truth, k, seed=seed, groups=groups)
    assert all(len(set(found[groups == g])) == 1 for g in np.unique(groups))
    assert set(found) == set(range(k))


def test_small_groups_are_spread_evenly_over_classes():
    random = np.random.default_rng(0)
    groups = np.repeat(np.arange(300), 3)
    truth = (random.random(900) < 0.2).astype(int)
    found = folds(truth, 5, groups=groups)
    shares = [truth[found == f].mean() for f in range(5)]
    assert np.ptp(shares) < 0.02  # of 180 rows one more or less is 0.006
    assert np.ptp(np.bincount(found)) <= 6


def test_another_seed_deals_other_rows():
    truth = np.arange(100) % 2
    assert (folds(truth, 5, seed=0) != folds(truth, 5, seed=1)).any()


@pytest.mark.parametrize(
    ("truth", "k", "groups", "sentence"),
    [
        ([0, 1, 0, 1], 1, None, "1 folds of 4 rows cannot be; give from 2 to 4"),
        ([0, 1, 0, 1], 5, None, "5 folds of 4 rows"),
        ([0, 1, 0, 1], 3, [0, 0, 1, 1], "3 folds of 2 groups"),
        ([0, 0, 0, 1], 2, None, "The class 'b' is in one of the rows only"),
        ([0, 1, 0, 1, 0], 2, [0, 1, 0, 1, 2], "The class 'b' is in one of the groups only"),
    ],
)
def test_folds_that_cannot_be_are_refused(truth, k, groups, sentence):
    with pytest.raises(ValueError, match=sentence):
        folds(np.array(truth), k, groups=None if groups is None else np.array(groups), classes=("a", "b"))


# ---------------------------------------------------------------------------------------------------------- crossing


def task(n=60, k=4, weights=None):
    truth = (np.arange(n) % 3 == 0).astype(np.intp)
    return Task(("a", "b"), truth, folds(truth, k), weights)


def test_every_row_is_answered_by_a_model_that_has_not_seen_it():
    given, seen = task(), []

    def learn(rows, held):
        assert not set(rows) & set(held)
        assert sorted([*rows, *held]) == list(range(60))
        return Answers(given.truth[held], held.astype(float))

    found = cross(given, learn, seen.append)
    assert seen == [0, 1, 2, 3]
    assert found.predictions.folds == 4
    np.testing.assert_array_equal(found.predictions.scores, np.arange(60.0))
    np.testing.assert_array_equal(found.predictions.chosen, given.truth)
    assert found.predictions.probabilities is None


def test_areas_are_of_rows_of_the_same_fold():
    """Models of different folds may have different scales: that changes no area."""
    random, given = np.random.default_rng(0), task(200)
    z = given.truth + random.normal(size=200)
    scales = np.array([1.0, 100.0, 0.01, 5.0])
    plain = cross(given, lambda rows, held: Answers((z[held] > 0.5).astype(np.intp), z[held])).predictions
    scaled = cross(
        given, lambda rows, held: Answers((z[held] > 0.5).astype(np.intp), scales[given.fold[held]] * z[held] + held[0])
    ).predictions
    for name in ("auc", "average_precision"):
        assert measures(plain, [name]) == measures(scaled, [name])
        assert difference(plain, scaled, name).value == 0
    each = [measures(replace(plain.of(given.fold == k), fold=None), ["auc"])[0].value for k in range(4)]
    pairs = [np.prod(np.bincount(given.truth[given.fold == k])) for k in range(4)]
    assert measures(plain, ["auc"])[0].value == pytest.approx(np.average(each, weights=pairs))
    pooled = measures(replace(plain, fold=None), ["auc"])[0]
    (own,) = measures(plain, ["auc"])
    assert own.high - own.low == pytest.approx(pooled.high - pooled.low, rel=0.1)


def test_folds_of_one_row_rank_nothing():
    given = Task(("a", "b"), np.arange(6) % 2, np.arange(6))
    found = cross(given, lambda rows, held: Answers(np.zeros(1, np.intp), np.zeros(1))).predictions
    assert measures(found, ["auc"])[0].why == "no fold has rows of all classes to be ranked together"
    assert measures(found, ["average_precision"])[0].value is None
    assert measures(found, ["accuracy"])[0].value == 0.5


def test_many_classes_of_a_baseline_are_ranked_by_chance():
    truth = np.arange(60) % 3
    given = Task(("a", "b", "c"), truth, folds(truth, 4, seed=1))
    found = {one.name: one.value for one in measures(cross(given, baseline(given)).predictions)}
    assert (found["auc"], found["auc_hand_till"]) == pytest.approx((0.5, 0.5))


def test_a_learner_that_fails_says_so_and_has_no_predictions():
    def learn(rows, held):
        if 0 in held:
            raise ValueError("The columns are all constant.")
        return Answers(np.zeros(len(held), np.intp))

    found = cross(task(), learn)
    assert found.predictions is None
    assert [failure.sentence for failure in found.failures] == ["The columns are all constant."]
    assert cross(task(), lambda rows, held: [][1]).failures[0].sentence == "list index out of range"
    with pytest.raises(KeyboardInterrupt):
        cross(task(), lambda rows, held: (_ for _ in ()).throw(KeyboardInterrupt))


def test_what_is_warned_of_is_told_once():
    def learn(rows, held):
        warnings.warn("It has not settled.", stacklevel=1)
        if 0 in held:
            warnings.warn("Once only.", stacklevel=1)
        return Answers(np.zeros(len(held), np.intp))

    assert set(map(str, cross(task(), learn).remarks)) == {"It has not settled. (So in 4 folds.)", "Once only."}


def test_warnings_of_a_class_of_their_own_are_told_once_whatever_their_numbers():
    from separatrix import BudgetWarning

    def learn(rows, held):
        warnings.warn(f"{len(rows)} rows and {rows[0]}.", BudgetWarning, stacklevel=1)
        return Answers(np.zeros(len(held), np.intp))

    (remark,) = cross(task(), learn).remarks
    assert str(remark).endswith(" (So in 4 folds.)")


def test_the_baseline_knows_the_shares_and_nothing_else():
    given = task()
    found = cross(given, baseline(given)).predictions
    value = {one.name: one.value for one in measures(found)}
    assert value["accuracy"] == pytest.approx(2 / 3)
    share = 1 / 3
    assert value["log_loss"] == pytest.approx(-(share * np.log(share) + (1 - share) * np.log(1 - share)), abs=0.01)
    heavy = task(weights=np.where(np.arange(60) % 3 == 0, 10.0, 1.0))
    assert cross(heavy, baseline(heavy)).predictions.chosen.tolist() == [1] * 60
