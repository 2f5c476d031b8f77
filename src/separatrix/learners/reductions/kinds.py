"""One against the rest, one against one, and any other code."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from ...numerics.arrays import Floats, Indices
from ...results.coding import (
    CodedRule,
    Signs,
    all_but_the_last_against_rest,
    averaged,
    checked_code,
    claims,
    coupled,
    dense,
    exhaustive,
    odds_of,
    one_against_one,
    one_against_rest,
    shared,
    sparse,
)
from ...results.linear_rule import LinearRule
from ..base import SEVERAL_PATHS, Card
from ..checks.settings import checked_choice
from .reduction import Reduction


class OneVsRest(Reduction):
    """ŷ = argmaxₖ sₖ(x), sₖ the score of a classifier that parts class k from the rest.  [003 slides 11, 12; 004 §4.5]

    Where exactly one classifier claims a row, that is the class. Where none does, or several do, the row is *ambiguous*
    and the largest score decides; `votes` and `ambiguous` tell. With linear classifiers these are K linear
    discriminants: every region is convex, and `rule_` is that one rule.

    Parameters
    ----------
    estimator : learner
        Any learner of two classes with decision_function or predict_proba: ours, or scikit-learn's.
    classifiers : "K" or "K-1"
        How many classifiers K classes have. One for each (of two classes one is enough); or, as the texts count them,
        for each but the last, which is what none of the others claims: its score is zero, and of equal scores it is
        taken.
    probabilities : "normalise" or "coupling"
        How probabilities are made of those of the classifiers. rₖ/Σⱼrⱼ; of K − 1 classifiers in proportion to the odds
        rₖ/(1 − rₖ), and 1 for the last class. Or the probabilities that are nearest to agreeing with every classifier
        (see `OneVsOne`).
    n_jobs : int or None
        Classifiers that are taught at the same time, in threads. The result has the same bits for any number.
        Logistic regressions are fitted together; None then means all CPUs of this process.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    estimators_ : list
        The classifiers, of the classes 0 and 1 each.
    code_ : array, K × L of −1, 0 and +1
        Which classes a classifier has on which side.
    rule_ : LinearRule
        Where the classifiers are linear. Of K − 1 classifiers its first class is the last of `classes_`, the one
        without weights.
    verdict_ : Verdict
        How the classifiers ended: `check(X, y)` checks each on its own rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from separatrix import LogisticRegression, OneVsRest
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = OneVsRest(LogisticRegression(l2=0.01)).fit(X, y)
    >>> model.verdict_.status, model.verdict_.check(X, y), model.rule_.weights.shape
    ('optimal', True, (3, 13))
    >>> int(model.ambiguous(X).sum()), model.votes(X)[model.ambiguous(X)].tolist()[:2]
    (3, [[0, 0, 0], [0, 0, 0]])
    """

    card = Card("one-vs-rest", no_path=SEVERAL_PATHS, reduces=True)

    summed = False

    def __init__(
        self, estimator: Any, *, classifiers: str = "K", probabilities: str = "normalise", n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.classifiers = classifiers
        self.probabilities = probabilities
        self.n_jobs = n_jobs

    def _code(self, classes: list[Any]) -> Signs:
        checked_choice("probabilities", self.probabilities, ("normalise", "coupling"))
        if checked_choice("classifiers", self.classifiers, ("K", "K-1")) == "K":
            return one_against_rest(len(classes))
        return all_but_the_last_against_rest(len(classes))

    def _votes(self, scores: Floats) -> Indices:
        return claims(self.code_, scores)

    def _discriminants(self, scores: Floats) -> Floats:
        return scores if scores.shape[1] == len(self.classes_) else np.column_stack([scores, np.zeros(len(scores))])

    def _chosen(self, scores: Floats) -> Indices:
        """The largest score: that of the class that alone claims a row. The class that has no classifier goes first."""
        best: Indices = scores.argmax(axis=1)
        if scores.shape[1] < len(self.classes_):
            best[scores.max(axis=1) <= 0] = scores.shape[1]
        return best

    def _made(self, coded: CodedRule) -> tuple[Floats, Floats]:
        missing = len(coded.classes) - len(coded.weights)
        weights = np.vstack([coded.weights, np.zeros((missing, coded.weights.shape[1]))])
        return weights, np.append(coded.intercept, np.zeros(missing))

    def _outside(self, coded: CodedRule) -> LinearRule:
        if len(coded.classes) == 2 or len(coded.classes) == len(coded.weights):
            return super()._outside(coded)
        weights, intercept = self._made(coded)  # the last class first, so that of equal scores it is taken
        turned = np.roll(np.arange(len(weights)), 1)
        classes = tuple(coded.classes[k] for k in turned)
        return LinearRule(weights[turned], intercept[turned], classes, coded.columns)

    def _probabilities(self, r: Floats, scores: Floats) -> Floats:
        if self._coupled:
            return coupled(r, self.code_)
        return shared(r, scores) if r.shape[1] == len(self.classes_) else odds_of(r)


class OneVsOne(Reduction):
    """ŷ = the class that wins most duels, K(K − 1)/2 classifiers of two classes each.  [003 slide 11]

    Where several classes win equally many the row is *ambiguous*, and the one with the largest summed score
    Tₖ = Σₗ Mₖₗsₗ is predicted. With decide="scores" that sum decides alone: with linear classifiers these are K linear
    discriminants with convex regions, and `rule_` is a `LinearRule`; with votes it is a `CodedRule`.

    Parameters
    ----------
    estimator : learner
        Any learner of two classes with decision_function or predict_proba: ours, or scikit-learn's.
    decide : "votes" or "scores"
        Whether votes or scores decide. The duels won come first, or the scores alone count.
    probabilities : "coupling" or "normalise"
        How probabilities are made of those of the classifiers. Of all p on the simplex the one that agrees best with
        those of the duels, with the least Σ (rⱼₖpₖ − rₖⱼpⱼ)² (Wu, Lin and Weng). Or the mean of what its duels give a
        class.
    n_jobs : int or None
        Classifiers that are taught at the same time, in threads. The result has the same bits for any number.

    Attributes
    ----------
    As `OneVsRest` has; the columns of `code_` are the pairs (a, b), a < b, in order: −1 for a, +1 for b.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from separatrix import LogisticRegression, OneVsOne
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = OneVsOne(LogisticRegression(l2=0.01)).fit(X, y)
    >>> model.verdict_.status, model.votes(X)[0].tolist(), model.predict_proba(X)[0].round(2).tolist()
    ('optimal', [2, 1, 0], [1.0, 0.0, 0.0])
    """

    card = Card("one-vs-one", no_path=SEVERAL_PATHS, reduces=True)

    def __init__(
        self, estimator: Any, *, decide: str = "votes", probabilities: str = "coupling", n_jobs: int | None = None
    ) -> None:
        self.estimator = estimator
        self.decide = decide
        self.probabilities = probabilities
        self.n_jobs = n_jobs

    def _code(self, classes: list[Any]) -> Signs:
        checked_choice("decide", self.decide, ("votes", "scores"))
        checked_choice("probabilities", self.probabilities, ("coupling", "normalise"))
        return one_against_one(len(classes))

    def _probabilities(self, r: Floats, scores: Floats) -> Floats:
        return (coupled if self._coupled else averaged)(r, self.code_)


class OutputCode(Reduction):
    """ŷ = argmaxₖ Σₗ Mₖₗ sₗ(x): the class whose row of the code agrees best with the classifiers.

    A code whose rows differ in many columns forgives some classifiers that err.

    Parameters
    ----------
    estimator : learner
        Any learner of two classes with decision_function or predict_proba: ours, or scikit-learn's.
    code : "dense", "sparse", "exhaustive" or matrix
        Which classes each classifier tells apart. ⌈10 log₂ K⌉ columns of ±1 by chance; ⌈15 log₂ K⌉ of −1, 0 and +1;
        every way of parting the classes in two; or a K × L matrix of −1, 0 and +1, its rows in the order of `classes_`.
    decide : "scores" or "votes"
        Whether votes or scores decide. The scores are summed; or the signs counted first (Hamming distance), the sums
        deciding between equals.
    random_state : int, RandomState or None
        The seed of a code made by chance.
    n_jobs : int or None
        Classifiers that are taught at the same time, in threads. The result has the same bits for any number.

    Attributes
    ----------
    As `OneVsRest` has; `rule_` is a `LinearRule` if scores decide, a `CodedRule` if votes do. Probabilities are coupled
    as those of `OneVsOne` are.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from separatrix import LogisticRegression, OutputCode
    >>> X, y = load_wine(return_X_y=True, as_frame=True)
    >>> model = OutputCode(LogisticRegression(l2=0.01)).fit(X, y)
    >>> model.code_.tolist(), model.score(X, y)
    ([[-1, -1, -1], [1, -1, 1], [-1, 1, 1]], 0.9831460674157303)
    """

    card = Card("output-code", no_path=SEVERAL_PATHS, reduces=True)

    def __init__(
        self,
        estimator: Any,
        *,
        code: Any = "dense",
        decide: str = "scores",
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.code = code
        self.decide = decide
        self.random_state = random_state
        self.n_jobs = n_jobs

    def _code(self, classes: list[Any]) -> Signs:
        checked_choice("decide", self.decide, ("scores", "votes"))
        if not isinstance(self.code, str):
            return checked_code(self.code, classes)
        if checked_choice("code", self.code, ("dense", "sparse", "exhaustive")) == "exhaustive":
            return exhaustive(len(classes))
        rng = np.random.default_rng(check_random_state(self.random_state).randint(2**31))
        return checked_code({"dense": dense, "sparse": sparse}[self.code](len(classes), rng), classes)

    def _probabilities(self, r: Floats, scores: Floats) -> Floats:
        return coupled(r, self.code_)
