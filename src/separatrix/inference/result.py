"""What can be said of the coefficients of a likelihood, or why nothing can."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import chdtrc, gammaincinv, ndtr, ndtri

from ..errors import Refusal, SettingError
from ..numerics.arrays import Floats
from ..numerics.threads import one_blas_thread
from ..results.verdict import listed, plain_value
from ..wording import call, has, setting
from .constrained import constrained_maximum
from .likelihood import Likelihood
from .profile import LostError, Summit, profile_ends, summit_of

METHODS = ("wald", "profile")
MARK = "†"
"""What marks numbers that were forced."""
TESTS = ("likelihood-ratio", "wald")


class InferenceRefused(Refusal):
    """The numbers would not mean what they seem; the message says why, and the way out."""


class TestResult(NamedTuple):
    """Whether some coefficients could all be zero."""

    statistic: float
    """χ²: twice the fall of the log-likelihood without them; or bᵀC⁻¹b, b the coefficients, C their covariance."""
    degrees: int
    p: float
    columns: tuple[str, ...]
    method: str

    def __str__(self) -> str:
        return _tested(self)


@dataclass(frozen=True)
class FittedLikelihood:
    """A likelihood at the weights of a fit."""

    likelihood: Likelihood
    v: Floats
    """The weights in the frame; of K classes those of all but the last, class by class."""
    covariance: Floats
    """Of v."""
    determined: bool
    """Whether every coefficient is: no column is a combination of others."""
    profiled: bool
    """Whether v is the maximum of the likelihood, which may then be maximised again under constraints."""

    @cached_property
    def summit(self) -> Summit:
        """The maximum, to its last digits."""
        return summit_of(self.likelihood, self.v)


@dataclass(frozen=True, eq=False)
class Inference:
    """β̂ ± z √Cⱼⱼ, and all that follows from the likelihood about the coefficients β.

    In two classes β are the weights of the log-odds of the second class, the intercept first; of K classes there is a
    row of them for every class but the reference, for the log-odds against it.

    `refused` is None, or says why there are no numbers; then reading one raises `InferenceRefused` with that reason.
    """

    names: tuple[str, ...]
    """Intercept first, if there is one, then the columns."""
    classes: tuple[Any, ...]
    """All of them, in order."""
    reference: Any
    """The class that the log-odds are against: of two classes the first."""
    kind: str
    """The covariance: "model", the inverse of the information; or "robust", the sandwich, which does not believe it."""
    reasons: tuple[str, ...]
    """Why the numbers would not mean what they seem; none: they do."""
    forced: bool
    """Whether the numbers are given all the same."""
    rows: float
    """How many rows there were, weights counted."""
    notes: tuple[str, ...] = ()
    """What else a reader should know, in sentences."""
    fitted: FittedLikelihood | None = field(default=None, repr=False)
    functions: Floats = field(default_factory=lambda: np.empty((0, 0)), repr=False)
    """β = functions · v, class by class."""
    values: Floats = field(default_factory=lambda: np.empty(0), repr=False)
    """β, as the model has them."""
    _kept: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @property
    def refused(self) -> str | None:
        """None, or why there are no numbers."""
        return " ".join(self.reasons) if self.reasons and not self.forced else None

    @property
    def equations(self) -> tuple[Any, ...]:
        """The classes that have coefficients: all but the reference."""
        return tuple(each for each in self.classes if each != self.reference)

    @property
    def coefficients(self) -> Floats:
        """β; one row for each of `equations` where there are several."""
        return self._shaped(self._given().values)

    @property
    def covariance(self) -> Floats:
        """Cov β = F Cov(v) Fᵀ; of K classes the coefficients follow each other class by class."""
        self._open()
        if "covariance" not in self._kept:
            with one_blas_thread():
                C = self.functions @ self._fit.covariance @ self.functions.T
            self._kept["covariance"] = (C + C.T) / 2
        return self._kept["covariance"]  # type: ignore[no-any-return]

    @property
    def standard_errors(self) -> Floats:
        """√Cⱼⱼ."""
        return self._shaped(np.sqrt(np.maximum(np.diag(self.covariance), 0)))

    @property
    def z(self) -> Floats:
        """β/√C: how many standard errors each coefficient is from zero."""
        with np.errstate(divide="ignore", invalid="ignore"):
            return self.coefficients / self.standard_errors

    @property
    def p(self) -> Floats:
        """2Φ(−|z|): the chance of a |z| as large as this if the coefficient were zero."""
        return 2 * ndtr(-np.abs(self.z))  # type: ignore[no-any-return]

    @property
    def odds_ratios(self) -> Floats:
        """e^β: by what one unit more of a column multiplies the odds."""
        with np.errstate(over="ignore"):
            return np.exp(self.coefficients)  # type: ignore[no-any-return]

    def interval(self, level: float = 0.95, method: str = "wald") -> Floats:
        """β ± z_(1+level)/2 √C; or by profile {β : 2(ℓ̂ − max ℓ | β) ≤ χ²₁,level}; two numbers for each coefficient."""
        _checked_level(level)
        _checked_choice("method", method, METHODS)
        if method == "wald":
            half = ndtri((1 + level) / 2) * self.standard_errors
            return np.stack([self.coefficients - half, self.coefficients + half], axis=-1)  # type: ignore[no-any-return]
        self._open()
        self._may_profile(setting("method", "profile"), setting("method", "wald"))
        key = f"profile {level!r}"
        if key not in self._kept:
            try:
                self._kept[key] = profile_ends(self._summit, self.functions, float(gammaincinv(0.5, level)))
            except LostError as where:
                raise InferenceRefused(
                    f"An end of a profile interval was not found ({where}): use {setting('method', 'wald')}."
                ) from None
        return self._kept[key].reshape(*np.shape(self.coefficients), 2)  # type: ignore[no-any-return]

    def test(self, columns: Any, method: str | None = None) -> TestResult:
        """2(ℓ̂ − max ℓ without these columns) ~ χ²: could their coefficients all be zero?

        `columns` is a name, or several; a place among `names` will do. With a robust covariance the test is Wald's, as
        it is with method="wald".
        """
        self._open()
        robust = self.kind == "robust"
        chosen = ("wald" if robust else "likelihood-ratio") if method is None else _checked_choice(
            "method", method, TESTS
        )  # fmt: skip
        places = self._places(columns)
        p, K = len(self.names), len(self.equations)
        at = np.concatenate([k * p + places for k in range(K)])
        names = tuple(self.names[j] for j in places)
        if chosen == "wald":
            self._must_be_determined("a test")
            b = self.values[at]
            statistic = float(b @ np.linalg.solve(self.covariance[np.ix_(at, at)], b))
        else:
            self._may_profile(setting("method", "likelihood-ratio"), setting("method", "wald"))
            top = self._summit
            with one_blas_thread():
                without = constrained_maximum(top.likelihood, top.v, self.functions[at], np.zeros(len(at)))
            statistic = max(0.0, 2 * (top.value - without.value))
        return TestResult(statistic, len(at), float(chdtrc(len(at), statistic)), names, chosen)

    def signed_roots(self) -> Floats:
        """r = sign(β) √(2(ℓ̂ − max ℓ | β = 0)): what z is where the likelihood is no parabola; p is 2Φ(−|r|).

        An interval by profile at some level holds zero where |r| is less than that level's quantile.
        """
        self._open()
        self._may_profile("signed_roots", "z")
        if "roots" not in self._kept:
            top = self._summit
            with one_blas_thread():
                fallen = [
                    top.value - constrained_maximum(top.likelihood, top.v, one[None], np.zeros(1)).value
                    for one in self.functions
                ]
            self._kept["roots"] = np.sign(self.values) * np.sqrt(2 * np.maximum(fallen, 0.0))
        return self._shaped(self._kept["roots"])

    def with_reference(self, label: Any) -> Inference:
        """The inference about weights against another class."""
        known = list(self.classes)
        if label not in known:
            raise SettingError("reference", label, f"the classes are {known}.")
        if label == self.reference:
            return self
        p, K = len(self.names), len(known)
        old = [k for k in range(K) if known[k] != self.reference]
        rows = np.zeros((K, K - 1))  # scores of all classes against the old reference
        rows[old, np.arange(K - 1)] = 1.0
        new = known.index(label)
        change = np.kron(np.delete(rows, new, 0) - rows[new], np.eye(p))
        return replace(
            self, reference=label, functions=change @ self.functions if self.functions.size else self.functions,
            values=change @ self.values if self.values.size else self.values, _kept={},
        )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, strings and lists, for JSON."""
        found: dict[str, Any] = {
            "names": list(self.names),
            "classes": plain_value(self.classes),
            "reference": plain_value(self.reference),
            "covariance": self.kind,
            "refused": self.refused,
            "reasons": list(self.reasons),
            "forced": self.forced,
            "notes": list(self.notes),
            "rows": self.rows,
        }
        if self.refused is None:
            for name in ("coefficients", "standard_errors", "z", "p", "odds_ratios"):
                found[name] = plain_value(getattr(self, name))
            found["interval"] = plain_value(self.interval())
        return found

    def __str__(self) -> str:
        return _table(self)

    # ------------------------------------------------------------------------------------------------- what it needs

    def _open(self) -> None:
        if self.refused is not None:
            forced = (
                f" {call('inference(..., force=True)')} gives the numbers all the same, marked." if has("force") else ""
            )
            raise InferenceRefused(f"{self.refused}{forced}")

    def _given(self) -> Inference:
        self._open()
        return self

    @property
    def _fit(self) -> FittedLikelihood:
        assert self.fitted is not None
        return self.fitted

    @property
    def _summit(self) -> Summit:
        with one_blas_thread():
            return self._fit.summit

    def _shaped(self, numbers: Floats) -> Floats:
        return numbers if len(self.classes) == 2 else numbers.reshape(len(self.equations), len(self.names))

    def _must_be_determined(self, what: str) -> None:
        if not self._fit.determined:
            raise InferenceRefused(
                f"Columns are combinations of others, so their coefficients are not determined and {what} has no "
                "answer: leave these columns out."
            )

    def _may_profile(self, asked: str, instead: str) -> None:
        if self._fit.profiled:
            self._must_be_determined(asked)
        if self.kind == "robust":
            raise SettingError(
                "covariance", self.kind, f"Use {instead}, or {setting('covariance', 'model')}.",
                f"{setting('covariance', 'robust')} and {asked} do not go together: a profile believes the likelihood.",
            )  # fmt: skip
        if not self._fit.profiled:
            raise InferenceRefused(
                f"{asked} needs the maximum of a likelihood, and this fit is none ({' '.join(self.reasons)}): "
                f"use {instead}."
            )

    def _places(self, columns: Any) -> NDArray[np.intp]:
        given = [columns] if isinstance(columns, str | int | np.integer) else columns
        if isinstance(columns, bool) or not isinstance(given, Iterable):
            raise SettingError("columns", columns, f"give names, or places from 0 to {len(self.names) - 1}.")
        given = list(given)
        if not given:
            raise SettingError("columns", columns, "", "columns is empty; name at least one to test.")
        found = [self._place(each) for each in given]
        if len(set(found)) < len(found):
            raise SettingError("columns", given, "", f"columns names one coefficient twice: {given}.")
        return np.array(found, np.intp)

    def _place(self, column: Any) -> int:
        if isinstance(column, str):
            if column not in self.names:
                raise SettingError(
                    "columns", column, "", f"There is no coefficient {column!r}; there are {_listed(self.names)}."
                )
            return self.names.index(column)
        if (
            isinstance(column, int | np.integer)
            and not isinstance(column, bool)
            and -len(self.names) <= column < len(self.names)
        ):
            return int(column) % len(self.names)
        raise SettingError(
            "columns", column, "", f"columns holds {column!r}; give names, or places from 0 to {len(self.names) - 1}."
        )


def _checked_level(level: Any) -> None:
    if isinstance(level, bool) or not isinstance(level, int | float | np.floating) or not 0 < level < 1:
        raise SettingError("level", level, "it must be between 0 and 1, such as 0.95.")


def _checked_choice(name: str, given: Any, known: Sequence[str]) -> str:
    if not isinstance(given, str) or given not in known:
        raise SettingError(name, given, f"it must be one of {', '.join(map(repr, known))}.")
    return given


def _listed(names: tuple[str, ...]) -> str:
    return ", ".join(names[:8]) + (" and more" if len(names) > 8 else "")


def _p_value(p: float) -> str:
    """A p-value in four characters or so."""
    return "nan" if np.isnan(p) else "<0.001" if p < 0.001 else f"{p:.3f}"


def _tested(test: TestResult) -> str:
    """A test as a sentence."""
    how = "Likelihood-ratio test" if test.method == "likelihood-ratio" else "Wald test"
    which = f"{listed(test.columns)} {'has' if len(test.columns) == 1 else 'have'} no weight"
    p = _p_value(test.p)
    return f"{how} that {which}: χ² = {test.statistic:.4g} on {test.degrees}, p {p if p[0] == '<' else '= ' + p}."


def _table(inference: Inference) -> str:
    """The coefficients with standard errors, z, p and Wald's intervals; or the reason for which there are none."""
    if inference.refused is not None:
        return f"No inference. {inference.refused}"
    K = len(inference.classes)
    lines = [f"{MARK} Forced: {' '.join(inference.reasons)}"] if inference.reasons else []
    wide = max(9, *(len(name) for name in inference.names))
    lines.append(f"{'':{wide}}  {'weight':>11} {'std. error':>11} {'z':>8} {'p':>7}  95 % from … to")
    shape = (len(inference.equations), len(inference.names))
    numbers = [
        np.asarray(each).reshape(*shape, *each.shape[inference.coefficients.ndim :])
        for each in (inference.coefficients, inference.standard_errors, inference.z, inference.p, inference.interval())
    ]
    for k, label in enumerate(inference.equations):
        if K > 2:
            lines.append(f"{label} against {inference.reference}")
        for j, name in enumerate(inference.names):
            w, e, z, p, (low, high) = (each[k, j] for each in numbers)
            mark = MARK if inference.reasons else ""
            lines.append(f"{name:{wide}}  {w:11.5g} {e:11.5g} {z:8.3f} {_p_value(p):>7}  {low:.5g} … {high:.5g}{mark}")
    return "\n".join([*lines, *inference.notes])
