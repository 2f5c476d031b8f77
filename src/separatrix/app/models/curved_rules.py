"""Rules that are not linear in the columns: naive Bayes, Gaussians of their own, kernels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ...data.kernels.tables import RBF, Linear, Polynomial, TableKernel
from ...errors import DataError
from ...fitting.closed.column_statistics import ColumnFamilies, InfiniteError
from ...fitting.closed.discriminant import Quadratic
from ...fitting.closed.naive_bayes import Parameters, Tables
from ...fitting.closed.naive_bayes_scores import Scorer
from ...losses.families import Bernoulli, Categorical, Gaussian
from ...numerics.arrays import Floats
from ...numerics.linalg import Factor
from ...results.expansion import Dual, Expansion, Record
from ...results.linear_rule import LinearRule
from ...results.mistake_log import MistakeLog
from .document import Part
from .rules import LONGEST_NAMES, Rule, softmax

BLOCK = 1 << 17
NONE = np.empty(0)


# --------------------------------------------------------------------------------------------------------- naive Bayes


@dataclass(frozen=True, eq=False)
class Sums(Rule):
    """sₖ(x) = log p(k) + Σⱼ (cₖⱼ + aₖⱼzⱼ + qₖⱼzⱼ²), z = x − m: naive Bayes; what is missing adds nothing."""

    scorer: Scorer
    classes: tuple[Any, ...]
    allowed: tuple[tuple[float | None, float | None, bool], ...]
    """Of each column: the lowest and the highest number that its family knows, and whether only whole ones."""
    kind = "naive bayes"
    takes_missing = True

    def scores(self, X: Any) -> Floats:
        self._check(X)
        try:
            return self.scorer.scores(X)
        except InfiniteError:
            return np.full(len(X), np.nan)  # who asks names the infinity

    def probabilities(self, X: Any, scores: Floats) -> Floats:
        return softmax(scores)

    def distances(self, X: Any, scores: Floats) -> Floats | None:
        rule = self.linear()
        return rule._distance(scores) if rule.weights.any() and not np.isnan(X).any() else None

    def linear(self) -> LinearRule:
        """Linear in (x, x², [x = level]), as far as these are needed."""
        return self.scorer.rule(self.classes)

    def features(self, X: Any) -> Any:
        """What that rule is linear in."""
        return self.scorer.features(X)

    def origins(self) -> NDArray[np.intp]:
        """The column that each of these was made from."""
        return self.scorer.origins()

    def _check(self, X: Floats) -> None:
        for j, (low, high, whole) in enumerate(self.allowed):
            if low is None and high is None and not whole:
                continue
            x = X[:, j]
            wrong = (x < (-np.inf if low is None else low)) | (x > (np.inf if high is None else high))
            wrong |= whole & np.isfinite(x) & (x != np.floor(x))
            if wrong.any():
                i = int(np.argmax(wrong))
                kind = "whole numbers" if whole else "numbers"
                ends = f"{'' if low is None else f' from {low:g}'}{'' if high is None else f' to {high:g}'}"
                raise DataError(
                    f"is {x[i]:g}; the model knows {kind}{ends} there: correct it, or fit again with another family.",
                    array="X", row=i, column=self.scorer.columns[j], value=float(x[i]),
                )  # fmt: skip

    def to_dict(self) -> dict[str, Any]:
        p, families = self.scorer.parameters, self.scorer.families
        return {
            "kind": self.kind,
            "log_prior": p.log_prior.tolist(), "linear": p.linear.tolist(), "square": p.square.tolist(),
            "constant": p.constant.tolist(), "centre": p.centre.tolist(),
            "threshold": families.threshold, "cut": families.columns(Bernoulli()).tolist(),
            "allowed": [list(each) for each in self.allowed],
            "levels": [
                {"column": int(j), "values": each.values.tolist(), "probability": each.probability.tolist(),
                 "unseen": None if each.unseen is None else each.unseen.tolist()}
                for j, each in sorted(p.tables.items())
            ],
        }  # fmt: skip

    @classmethod
    def read(cls, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Sums:
        """The rule of a document, checked."""
        part.fields("kind", "log_prior", "linear", "square", "constant", "centre", "threshold", "cut", "allowed",
                    "levels")  # fmt: skip
        K, d = len(classes), len(columns)
        tables = dict(_levels(each, K, d) for each in part["levels"].items())
        if sum(len(columns[j]) * len(each.values) for j, each in tables.items()) > LONGEST_NAMES:
            raise part["levels"].fail("the names of its levels would be longer than any memory should hold.")
        cut = set(part["cut"].integers(None, least=0, most=d - 1).tolist())
        families = tuple(
            Categorical() if j in tables else Bernoulli() if j in cut else Gaussian() for j in range(d)
        )  # of a family only this is needed
        parameters = Parameters(
            part["log_prior"].floats(K), NONE, NONE, part["linear"].floats(K, d), part["square"].floats(K, d),
            part["constant"].floats(K, d), part["centre"].floats(d), tables, (),
        )  # fmt: skip
        threshold = part["threshold"].number() if part.has("threshold") else None
        allowed = tuple(_allowed(each) for each in part["allowed"].items())
        if len(allowed) != d:
            raise part["allowed"].fail(f"it has {len(allowed)} entries; {d} are needed.")
        found = cls(Scorer(parameters, ColumnFamilies(families, threshold), columns), classes, allowed)
        with np.errstate(over="ignore", invalid="ignore"):
            found.linear()  # it says if its weights are not finite
        return found


def _allowed(part: Part) -> tuple[float | None, float | None, bool]:
    items = part.items()
    if len(items) != 3:
        raise part.fail("the lowest number, the highest, and whether only whole ones: three entries are needed.")
    low, high = (None if each.value is None else each.number() for each in items[:2])
    return low, high, items[2].flag()


def _levels(part: Part, K: int, d: int) -> tuple[int, Tables]:
    part.fields("column", "values", "probability", "unseen")
    values = part["values"].floats(None)
    if (np.diff(values) <= 0).any():
        raise part["values"].fail("levels ascend.")
    probability = part["probability"].floats(K, len(values))
    unseen = part["unseen"].floats(K) if part.has("unseen") else None
    for name, each in (("probability", probability), ("unseen", unseen)):
        if each is not None and not ((each > 0) & (each <= 1)).all():
            raise part[name].fail("probabilities are above 0 and at most 1.")
    return part["column"].whole(0, d - 1), Tables(values, probability, unseen)


# --------------------------------------------------------------------------------------------------- Gaussians, kernels


@dataclass(frozen=True, eq=False)
class Gaussians(Rule):
    """sₖ(x) = −½(x − μₖ)ᵀΣₖ⁻¹(x − μₖ) − ½ log|Σₖ| + log πₖ, Σₖ by its Cholesky factor."""

    quadratic: Quadratic
    kind = "quadratic"

    def scores(self, X: Any) -> Floats:
        K = len(self.quadratic.level)
        size, found = max(64, BLOCK // max(1, X.shape[1])), np.empty((len(X), K))
        for lo in range(0, len(X), size):
            found[lo : lo + size] = self.quadratic.scores(X[lo : lo + size])
        return found[:, 1] - found[:, 0] if K == 2 else found  # type: ignore[no-any-return]

    def probabilities(self, X: Any, scores: Floats) -> Floats:
        return softmax(scores)

    def to_dict(self) -> dict[str, Any]:
        q = self.quadratic
        return {
            "kind": self.kind, "mean": q.mean.tolist(), "rest": q.rest.tolist(), "level": q.level.tolist(),
            "factors": [np.triu(each.upper).tolist() for each in q.factors],
            "deviations": [each.diagonal.tolist() for each in q.factors],
        }  # fmt: skip

    @classmethod
    def read(cls, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Gaussians:
        """The rule of a document, checked."""
        part.fields("kind", "mean", "rest", "level", "factors", "deviations")
        K, d = len(classes), len(columns)
        upper, spread = part["factors"].floats(K, d, d), part["deviations"].floats(K, d)
        if not ((spread > 0).all() and (np.diagonal(upper, axis1=1, axis2=2) > 0).all()):
            raise part["factors"].fail("the diagonals of factors and the deviations are positive.")
        factors = tuple(Factor(np.asfortranarray(each), scale) for each, scale in zip(upper, spread, strict=True))
        mean, rest = part["mean"].floats(K, d), part["rest"].floats(K, d)
        return cls(Quadratic(mean, rest, factors, part["level"].floats(K)))


@dataclass(frozen=True, eq=False)
class Kernel(Rule):
    """s(x) = Σⱼ αⱼ k(xⱼ, x) + b; or the vote of all weights that a log of mistakes knows."""

    expansion: Expansion
    record: Record | None = None
    """Where all weights vote."""
    kind = "kernel"

    def scores(self, X: Any) -> Floats:
        try:
            return self.expansion.score(X) if self.record is None else self.record.votes(X)
        except OverflowError:
            return np.full(len(X), np.nan)

    def to_dict(self) -> dict[str, Any]:
        e, record = self.expansion, self.record
        return {
            "kind": self.kind, "kernel": _kernel_to_dict(e.kernel), "vectors": np.asarray(e.support).tolist(),
            "coefficients": e.coefficients.tolist(), "intercept": e.intercept.tolist(),
            "votes": None if record is None else {
                "apart": bool(record.apart), "lifted": bool(record.lifted), **_log_to_dict(record.dual),
            },
        }  # fmt: skip

    @classmethod
    def read(cls, part: Part, classes: tuple[Any, ...], columns: tuple[str, ...]) -> Kernel:
        """The rule of a document, checked."""
        part.fields("kind", "kernel", "vectors", "coefficients", "intercept", "votes")
        lines, d = (1 if len(classes) == 2 else len(classes)), len(columns)
        kernel, support = _kernel(part["kernel"], d), part["vectors"].floats(None, d)
        expansion = Expansion(
            kernel, support, part["coefficients"].floats(lines, len(support)), part["intercept"].floats(lines)
        )
        if not part.has("votes"):
            return cls(expansion)
        votes = part["votes"].fields("apart", "lifted", "vector", "step", "own", "rival", "seen")
        dual = Dual.of(_log(votes, len(support), len(classes)), lines)
        if len(dual.support) != len(support):
            raise votes["vector"].fail("every vector must have been mistaken once at the least.")
        return cls(expansion, Record(kernel, support, dual, votes["lifted"].flag(), votes["apart"].flag()))


def _kernel_to_dict(kernel: Any) -> dict[str, Any]:
    if isinstance(kernel, Polynomial):
        return {"kind": "polynomial", "degree": int(kernel.degree), "gamma": float(kernel.gamma),
                "constant": float(kernel.constant)}  # fmt: skip
    if isinstance(kernel, RBF):
        center = None if kernel.center is None else np.asarray(kernel.center, np.float64).tolist()
        return {"kind": "rbf", "gamma": float(kernel.gamma), "center": center}
    return {"kind": "linear"}


def _kernel(part: Part, d: int) -> TableKernel:
    kind = part.fields_kind("linear", "polynomial", "rbf")
    if kind == "linear":
        part.fields("kind")
        return Linear()
    if kind == "rbf":
        part.fields("kind", "gamma", "center")
        return RBF(part["gamma"].number(positive=True), part["center"].floats(d) if part.has("center") else None)
    part.fields("kind", "degree", "gamma", "constant")
    return Polynomial(part["degree"].whole(1, 1000), part["gamma"].number(), part["constant"].number())


def _log_to_dict(dual: Dual) -> dict[str, Any]:
    log = dual.log
    return {"vector": dual.place.tolist(), "step": log.steps.tolist(), "own": log.own.tolist(),
            "rival": log.rival.tolist(), "seen": int(log.seen)}  # fmt: skip


def _log(part: Part, vectors: int, classes: int) -> MistakeLog:
    rows = part["vector"].integers(None, least=0, most=vectors - 1)
    seen, steps = part["seen"].whole(), part["step"].integers(len(rows), least=0)
    if (np.diff(steps) < 0).any() or (len(steps) and steps[-1] >= seen):
        raise part["step"].fail("steps ascend, and are fewer than all that were seen.")
    own, rival = (part[name].integers(len(rows), least=-1, most=classes - 1) for name in ("own", "rival"))
    return MistakeLog(rows, steps, own, rival, seen)
