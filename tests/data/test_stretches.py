"""A perceptron that is watched learns what one that is not learns, and can be stopped."""

import numpy as np
import pytest

import separatrix

RNG = np.random.default_rng(2)
X = RNG.normal(size=(200, 4))
Y = (X[:, 0] + RNG.normal(size=200) > 0).astype(int)
LEARNERS = [
    separatrix.Perceptron(max_passes=7),
    separatrix.AveragedPerceptron(max_passes=7),
    separatrix.VotedPerceptron(max_passes=7),
    separatrix.Pocket(max_passes=7, random_state=1),
]
pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_watching_changes_nothing(model):
    records = list(model.stretches(X, Y))
    assert records[-1] == model.history_[-1]
    assert [record.passes for record in records] == sorted(record.passes for record in records)
    weights, said = model.coef_.copy(), str(model.verdict_)
    model.fit(X, Y)
    assert (model.coef_ == weights).all()
    assert str(model.verdict_) == said


@pytest.mark.parametrize("model", LEARNERS, ids=lambda model: type(model).__name__)
def test_who_stops_keeps_what_was_learnt(model):
    run = model.stretches(X, Y)
    next(run)
    run.close()
    assert model.verdict_.status == "interrupted"
    assert model.coef_.any()
