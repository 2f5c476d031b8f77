"""The parameters of all learners as options: each learner takes its own, and says of the others whose they are."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING, Annotated, Literal

from cyclopts import Group, Parameter

from ..tasks.learners import LEARNERS, REDUCTIONS

LEARNING = Group("The learner's parameters", sort_key=0)
if TYPE_CHECKING:
    LearnerName = str
    ReductionName = str
else:
    LearnerName = Literal[tuple(LEARNERS)]
    ReductionName = Literal[tuple(REDUCTIONS)]
Text = Annotated[str | None, Parameter(group=LEARNING, show_default=False)]
Flag = Annotated[bool | None, Parameter(group=LEARNING, show_default=False)]


@Parameter(name="*")
@dataclass(frozen=True)
class LearnerOptions:
    """What is not given is the learner's own default; 'none' is nothing."""

    objective: Text = None
    """What logistic minimises: likelihood, squared, firth or flic."""
    l2: Text = None
    """The penalty (l2/2)‖w‖² beside the mean loss; of logistic also cv, chosen by cross-validation."""
    solver: Text = None
    """auto, newton, gauss-newton, lbfgs, gradient or stochastic; of least-squares closed or stochastic."""
    fit_intercept: Flag = None
    """Whether there is an intercept."""
    class_weight: Text = None
    """balanced, or a factor for each class: yes=2,no=1."""
    prior: Text = None
    """The shares of the classes that probabilities speak of: data, or yes=0.1,no=0.9."""
    priors: Text = None
    """Of discriminant and naive Bayes: equal, or a probability for each class in order: 0.3,0.7."""
    init: Text = None
    """Where the descent starts: least-squares, zero, random, or numbers: 0,0,1."""
    tol: Text = None
    """The relative gap to be proved."""
    max_passes: Text = None
    """How many times the rows may be read."""
    starts: Text = None
    """How many descents, where there may be several minima."""
    learning_rate: Text = None
    """The length of a step."""
    order: Text = None
    """How a pass takes the rows: permutation, replacement, random or cyclic."""
    averaging: Flag = None
    """Whether a stochastic descent ends with the mean of its weights."""
    patience: Text = None
    """End after so many steps without a change."""
    ties: Text = None
    """What a score of zero is: mistake, positive or negative."""
    ratchet: Flag = None
    """Of pocket: whether a rule must be better on all rows to be kept."""
    last_half: Flag = None
    """Of voted: whether only the second half of the rules vote."""
    averaged: Flag = None
    """Of joint-perceptron: whether the mean of the weights is taken."""
    loss: Text = None
    """Of joint: log or squared."""
    kernel: Text = None
    """Of kernel: linear, polynomial or rbf."""
    degree: Text = None
    """Of a polynomial kernel."""
    gamma: Text = None
    """Of a kernel: how fast it falls."""
    constant: Text = None
    """Of a polynomial kernel."""
    reading: Text = None
    """Of kernel: what predicts: last, voted or averaged."""
    budget: Text = None
    """Of kernel: how many rows may be kept."""
    overflow: Text = None
    """Of kernel: what happens to a row over the budget."""
    multiclass: Text = None
    """Of kernel: how more than two classes are learnt."""
    covariance: Text = None
    """Of discriminant: shared or own."""
    shrinkage: Text = None
    """Of discriminant: ledoit-wolf, or a number between 0 and 1."""
    families: Text = None
    """Of naive-bayes: gaussian, bernoulli, poisson …, or by column: age=gaussian,*=bernoulli."""
    variance: Text = None
    """Of Gaussian naive Bayes: own or shared."""
    smoothing: Text = None
    """Of naive Bayes: rows that are added."""
    threshold: Text = None
    """Of Bernoulli naive Bayes: what is above it is one."""
    lifted: Flag = None
    """Of margin: whether the intercept counts in the norm."""
    time_limit: Text = None
    """Of zero-one: seconds."""
    classifiers: Text = None
    """Of the reduction one-vs-rest: K or K-1."""
    decide: Text = None
    """Of the reductions one-vs-one and output-code: votes or scores."""
    probabilities: Text = None
    """Of the reductions one-vs-rest and one-vs-one: how probabilities are made."""
    code: Text = None
    """Of the reduction output-code: dense, sparse …"""
    n_threads: Text = None
    """How many threads; the answer has the same bits for any number."""

    def given(self) -> dict[str, str | bool]:
        """Those that were typed."""
        pairs = ((entry.name, getattr(self, entry.name)) for entry in fields(self))
        return {name: value for name, value in pairs if value is not None}
