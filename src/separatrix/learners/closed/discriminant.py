"""Gaussian discriminants: linear with one covariance, quadratic with one for each class."""

from __future__ import annotations

import numbers
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import NotFittedError
from sklearn.utils.validation import check_is_fitted

from ...data.rows import in_threads
from ...errors import DataError, Refusal, SettingError
from ...fitting.closed.discriminant import (
    HigherMoments,
    Linear,
    Quadratic,
    SingularError,
    covariance,
    joined_moments,
    ledoit_wolf,
    linear,
    shrunk,
)
from ...numerics.arrays import EPS, Floats
from ...results.claims import EstimateClaim
from ...results.linear_rule import LinearRule
from ...results.proofs import Estimates
from ...results.verdict import Rank, Verdict, listed
from ...wording import setting
from ..base import IN_ONE_GO, Card, GenerativeClassifier
from ..checks.rows import checked_rows, not_finite, set_fitted
from ..checks.settings import checked_choice, checked_count, checked_numbers
from . import words
from .batches import Batch, OnePassFit, Statistics, next_batch, whole_batch

BLOCK_NUMBERS = 1 << 17
"""Numbers of X that are scored at once."""
ERROR = 1e-10
"""What the parameters may be off by, as a part of their size: far more than the rounding of the moments."""


class GaussianDiscriminant(OnePassFit, GenerativeClassifier):
    """P(k | x) = πₖ N(x; μₖ, Σₖ)/Σⱼ πⱼ N(x; μⱼ, Σⱼ): the class under whose Gaussian x is most probable.  [003 slide 8]

    With one covariance for all classes the log-odds are linear, wₖ = Σ⁻¹(μₖ − μ) (for two classes w = Σ⁻¹(μ₁ − μ₀),
    the direction of least squares), and there is a `rule_`. With one for each class they are quadratic, and there is
    none. One pass over X gives everything; the parameters are formulas, which `verdict_.check(X, y)` computes again.

    Parameters
    ----------
    covariance : "shared" or "own"
        Whether the classes share a covariance, or each has its own: linear or quadratic discriminant. Σ = Σₖ Sₖ/n and
        Σₖ = Sₖ/nₖ maximise the likelihood: the same for weights in any units, and as scikit-learn's solver="lsqr".
        Others divide by n − K and nₖ − 1: with equal priors (and counts) that moves posteriors, but no boundary.
    shrinkage : None, "ledoit-wolf" or float in [0, 1]
        How far a covariance is drawn towards that of a ball. It is (1 − s)Σ + s (tr Σ/d) I, in the units of X.
        "ledoit-wolf" chooses s (for each class, if "own") from the rows about their class means and needs a second
        pass; scikit-learn's "auto" does it class by class on standardised columns.
        There a row of weight 2 is two rows.
    priors : None, "equal" or array
        The probabilities of the classes, p(k). None: their shares in the rows; all equal ("most probable Gaussian"); or
        a number for each, in the order of `classes_`.
    n_threads : int or None
        How many threads. None: OMP_NUM_THREADS if set, else the CPUs of this process. The result has the same bits for
        any number.

    Directions in which a shared covariance has no spread (10⁻⁵ of the columns' own) are left out, as by scikit-learn's
    solver="svd": Σ⁻¹ is then the pseudo-inverse in units of the columns' spreads, and the verdict names the columns.
    Where the class means agree there nothing is lost. Where they differ, such a direction tells classes apart with
    certainty, which no Gaussian can say: the verdict says it, and what to do. A class's own covariance must have an
    inverse; else an error names class and columns. A class with one row is possible with "shared" only.

    Attributes
    ----------
    classes_, n_features_in_, feature_names_in_ : as in scikit-learn
    priors_, means_, covariance_ : the parameters, shrinkage applied; covariance_ is d × d, or K × d × d if "own"
    shrinkage_ : float, or an array with one for each class: what was used
    coef_, intercept_, rule_ : if "shared"
    verdict_ : Verdict
    n_passes_ : float
    history_ : list of (passes, rows, seconds), one for each call

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> model = GaussianDiscriminant(priors="equal").fit(X, y)
    >>> model.score(X, y), model.verdict_.check(X, y)
    (0.98, True)
    """

    card = Card("discriminant", no_path=IN_ONE_GO)

    _statistics: Statistics | None = None
    """Of all rows so far."""
    _quadratic: Quadratic | None = None
    """The scores, where each class has a covariance of its own."""
    _higher: HigherMoments | None = None
    """What Ledoit and Wolf's shrinkage needs of all rows so far."""
    _waiting: str = ""
    """What rows are still missing."""

    def __init__(
        self,
        *,
        covariance: str = "shared",
        shrinkage: Any = None,
        priors: Any = None,
        n_threads: int | None = None,
    ) -> None:
        self.covariance = covariance
        self.shrinkage = shrinkage
        self.priors = priors
        self.n_threads = n_threads

    def __getattr__(self, name: str) -> Any:
        if name in ("rule_", "coef_", "intercept_") and self._quadratic is not None:
            raise AttributeError(
                f"{setting('covariance', 'own')} makes quadratic log-odds, which no {name} can hold: use "
                f"decision_function or predict_proba, or {setting('covariance', 'shared')}."
            )
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @property
    def deciding_rule(self) -> Any:
        """A `LinearRule`, or where each class has a covariance of its own a `Quadratic`."""
        return self.rule_ if self._quadratic is None else self._quadratic

    def fit(self, X: Any, y: Any, sample_weight: Any = None) -> GaussianDiscriminant:
        """Estimate priors, means and covariances."""
        began = time.perf_counter()
        self._check()
        batch = whole_batch(self, X, y, sample_weight, self._kind())
        higher = self._higher_moments(batch)
        found = self._concluded(batch, higher)
        history = self._recorded(batch.total.rows, began, anew=True)
        set_fitted(self, batch.read, **found, history_=history, _statistics=batch.total, _higher=higher)
        return self

    def partial_fit(self, X: Any, y: Any, classes: Any = None, sample_weight: Any = None) -> GaussianDiscriminant:
        """Learn these rows too: as if all rows so far had been given to one `fit`. Classes may appear later.

        Until every class has rows enough for its parameters, the model is not fitted, and says what is missing.
        """
        began = time.perf_counter()
        self._check()
        before = self._statistics
        asked = self.shrinkage == "ledoit-wolf"
        if before is not None and (before.moments.kind != self._kind() or asked != (self._higher is not None)):
            names = f"{setting('covariance')} or {setting('shrinkage')}"
            raise Refusal(f"{names} was changed, and what is known of the rows so far does not tell: use fit.")
        batch = next_batch(self, X, y, classes, sample_weight, self._kind(), before)
        higher = self._higher_moments(batch)
        if before is not None and higher is not None:
            higher = _joined(before, self._higher, batch, higher)
        try:
            found = self._concluded(batch, higher)
        except (SingularError, ValueError) as error:  # the rows so far make no model, and no earlier model holds
            found = {"_quadratic": None, "_waiting": str(error)}
        history = self._recorded(batch.total.rows, began, anew=before is None)
        set_fitted(self, batch.read, **found, history_=history, _statistics=batch.total, _higher=higher)
        return self

    def predict(self, X: Any) -> NDArray[Any]:
        """The class of each row: classes_[1] iff the log-odds are > 0; of K classes the first of the most probable."""
        z = self._scores(X)
        best = (z > 0).astype(np.intp) if z.ndim == 1 else z.argmax(axis=1)
        return self.classes_[best]  # type: ignore[no-any-return]

    def _scores(self, X: Any) -> Floats:
        if self._waiting:
            raise NotFittedError(f"This {type(self).__name__} instance is not fitted yet: {self._waiting}")
        check_is_fitted(self, "means_")
        if self._quadratic is None:
            return super()._scores(X)
        rows = checked_rows(self, X, reset=False)
        found = np.empty((len(rows), len(self.classes_)))
        with np.errstate(invalid="ignore", over="ignore"):
            for part, block in rows.blocks(BLOCK_NUMBERS):
                found[part] = self._quadratic.scores(block)
        if not np.isfinite(found).all():
            raise not_finite(rows, self.verdict_.claim.columns, self)
        return found[:, 1] - found[:, 0] if len(self.classes_) == 2 else found

    def _check(self) -> None:
        checked_choice("covariance", self.covariance, ("shared", "own"))
        if self.n_threads is not None:
            checked_count("n_threads", self.n_threads)
        s = self.shrinkage
        number = isinstance(s, numbers.Real) and 0 <= float(s) <= 1
        if s is not None and not number and not (isinstance(s, str) and s == "ledoit-wolf"):
            raise SettingError("shrinkage", s, "it must be None, 'ledoit-wolf' or a number from 0 to 1.")
        if isinstance(self.priors, str) and self.priors != "equal":
            raise SettingError("priors", self.priors, "it must be None, 'equal' or a number for each class.")
        if self.priors is not None and not isinstance(self.priors, str):
            _checked_priors(self.priors)

    def _kind(self) -> str:
        return "own" if self.covariance == "own" or self.shrinkage == "ledoit-wolf" else "pooled"

    def _higher_moments(self, batch: Batch) -> HigherMoments | None:
        if self.shrinkage != "ledoit-wolf":
            return None
        with in_threads(batch.rows, self.n_threads) as rows:
            return HigherMoments.of(rows, batch.alone.moments)

    def _priors_of(self, found: Statistics) -> Floats:
        count = len(found.classes)
        if self.priors is None:
            share: Floats = found.moments.weight / found.moments.weight.sum()
            return share
        if isinstance(self.priors, str):
            return np.full(count, 1 / count)
        given = _checked_priors(self.priors)
        if given.shape != (count,):
            raise SettingError(
                "priors", self.priors,
                f"one number for each of the {count} classes {found.classes.tolist()} is needed, in this order.",
                f"{setting('priors')} have shape {given.shape};",
            )  # fmt: skip
        return given / given.sum()  # type: ignore[no-any-return]

    def _amount(self, sigma: Floats, found: Statistics, higher: HigherMoments | None) -> Any:
        if self.shrinkage is None or isinstance(self.shrinkage, numbers.Real):
            amount = float(self.shrinkage or 0.0)
            return amount if sigma.ndim == 2 else np.full(len(sigma), amount)
        assert higher is not None
        n = found.moments.weight
        if sigma.ndim == 2:
            return ledoit_wolf(sigma, float(higher.fourth.sum()), float(n.sum()))
        each = zip(sigma, higher.fourth, n, strict=True)
        return np.array([ledoit_wolf(S, float(fourth), float(count)) for S, fourth, count in each])

    def _concluded(self, batch: Batch, higher: HigherMoments | None) -> dict[str, Any]:
        """What the rows say, by the names of the attributes."""
        found, shared, d = batch.total, self.covariance == "shared", len(batch.columns)
        if len(found.classes) < 2:
            raise DataError(f"all rows so far are of one class, {found.classes.tolist()[0]!r}.")
        missing = found.moments.rows == 0
        if missing.any():
            raise DataError(f"class {found.classes.tolist()[int(np.argmax(missing))]!r} has no rows yet.")
        priors, plain = self._priors_of(found), covariance(found.moments, shared=shared)
        amount = self._amount(plain, found, higher)
        sigma = shrunk(plain, amount)
        try:
            if shared:
                most = d if np.any(amount) else int(found.moments.rows.sum()) - len(found.classes)
                scorer: Any = linear(found.moments, sigma, priors, max(most, 1))
            else:
                scorer = Quadratic.of(found.moments, sigma, priors)
        except SingularError as error:
            raise Refusal(_singular(error, batch, shrunken=self.shrinkage is not None)) from None
        return self._found(scorer, batch, priors, sigma, amount)

    def _found(
        self, scorer: Linear | Quadratic, batch: Batch, priors: Floats, sigma: Floats, amount: Any
    ) -> dict[str, Any]:
        found, d = batch.total, len(batch.columns)
        parameters = {"priors": priors, "means": found.moments.mean.copy(), "covariance": sigma, "shrinkage": amount}
        learnt: dict[str, Any] = {f"{name}_": value for name, value in parameters.items()}
        rank, certain, left_out = Rank(None if np.any(amount) else d, d, ()), (), ()
        if isinstance(scorer, Linear):
            many = len(found.classes) > 2
            weights, intercept = (
                (scorer.weights, scorer.intercept) if many else (scorer.weights[0], scorer.intercept[0])
            )
            rule = LinearRule(weights, intercept, tuple(found.classes), batch.columns, probabilistic=True)
            parameters |= {"weights": scorer.weights, "intercept": scorer.intercept}
            learnt |= {"coef_": scorer.weights, "intercept_": scorer.intercept, "rule_": rule}
            if not np.any(amount):
                aliased = tuple(batch.columns[j] for j in scorer.aliased)
                rank = Rank(d - len(aliased), d, aliased)
                certain = tuple(batch.columns[j] for j in scorer.certain)
                left_out = aliased
        settings = {"covariance": self.covariance, "shrinkage": self.shrinkage, "priors": self.priors}
        claim = EstimateClaim(
            "Gaussian discriminant", tuple(found.classes.tolist()), batch.columns, parameters, settings, found.rows
        )
        how = f", shrunk by {np.mean(amount):.3g}" if np.any(amount) else ""
        said = words.estimated(len(found.classes), d, self.covariance == "shared", how, certain, left_out)
        return {
            **learnt, "classes_": found.classes, "n_passes_": 2.0 if self.shrinkage == "ledoit-wolf" else 1.0,
            "verdict_": Verdict("optimal", rank, Estimates(max(ERROR, found.rows * EPS)), *said, claim),
            "_quadratic": scorer if isinstance(scorer, Quadratic) else None, "_waiting": "",
        }  # fmt: skip


def _checked_priors(priors: Any) -> Floats:
    given = checked_numbers("priors", priors)
    if not (given > 0).all() or abs(given.sum() - 1) > 1e-6:
        raise SettingError(
            "priors", given.tolist(), "they must be positive and sum to one: leave out a class without a share."
        )
    return given


def _joined(before: Statistics, known: HigherMoments | None, batch: Batch, fresh: HigherMoments) -> HigherMoments:
    """The fourth moments of all rows so far."""
    assert known is not None
    classes, count = batch.total.classes, len(batch.total.classes)
    old, new = (np.searchsorted(classes, each.classes) for each in (before, batch.alone))
    return joined_moments(
        (known.grown(old, count), before.moments.grown(old, count)),
        (fresh.grown(new, count), batch.alone.moments.grown(new, count)),
        batch.total.moments,
    )


def _singular(error: SingularError, batch: Batch, *, shrunken: bool) -> str:
    """What has no inverse, and the way out."""
    names, classes = listed([batch.columns[j] for j in error.columns]), batch.total.classes.tolist()
    shrink = f"set {setting('shrinkage', 'ledoit-wolf')} or a number above 0"
    out = "leave them out" if shrunken else f"{shrink}, or leave them out"
    if error.kind is not None:
        rows = int(batch.total.moments.rows[error.kind])
        return (
            f"The covariance of class {classes[error.kind]!r}, which has {rows} sample{'s' * (rows != 1)}, has no "
            f"inverse: there {names} {_are(error)} of the other columns, or without spread. Either {out}, or use "
            f"{setting('covariance', 'shared')}."
        )
    return "No column has any spread within the classes, so there is no covariance to speak of: a Gaussian needs one."


def _are(error: SingularError) -> str:
    return "is a combination" if len(error.columns) == 1 else "are combinations"
