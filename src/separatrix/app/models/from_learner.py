"""From a fitted learner to a model that can be saved."""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ...data.block import block_of
from ...data.kernels.tables import TableKernel
from ...data.maps.maps import FeatureMap
from ...errors import DataError
from ...fitting.closed.column_statistics import ColumnFamilies
from ...fitting.closed.discriminant import Quadratic
from ...fitting.closed.naive_bayes_scores import Scorer
from ...learners.checks.rows import checked_costs, names_of
from ...learners.joint.base import JointModel
from ...learners.reductions.labels import MultiLabel
from ...learners.reductions.reduction import Reduction
from ...losses.families import Family
from ...results.committee import CopiedCommittee, LinearCommittee
from ...results.expansion import Expansion, Record
from ...results.linear_rule import LinearRule
from ...results.votes import Ballot
from ...theory.bayes import BayesClassifier
from ..tables.encoding import Encoding
from .curved_rules import Gaussians, Kernel, Sums
from .document import CannotSaveError
from .facts import FACTS, counted, facts_of, known_spread, plain, plain_fact, spread_of, versions
from .many_rules import CodeRule, Committee, Member, VoteRule
from .model import FITTED, INTERRUPTED, Model
from .rules import Linear, Rule


class MappedRule(NamedTuple):
    """A rule, and the features that it reads."""

    rule: Rule
    features: FeatureMap | None = None


def model_of(
    estimator: Any, *, encoding: Encoding | None = None, training: Mapping[str, Any] | None = None,
    interrupted: bool = False, X: Any = None, sample_weight: Any = None,
) -> Model:  # fmt: skip
    """The model of a fitted learner of ours.

    `encoding` says how a table becomes X; `training` adds to what is known of the training rows: fingerprint, seed,
    command, a `Summary` (its page and its numbers are kept), anything that JSON holds. With the X of the fit, means and
    deviations of the features are kept too, so that weights can be shown per standard deviation.
    """
    if isinstance(estimator, Model):
        return estimator
    mapped = _fitted_rule(estimator)
    classes = _labels(estimator.classes_, estimator)
    columns = _columns(estimator) if encoding is None else encoding.names
    if len(columns) != estimator.n_features_in_:
        raise DataError(
            f"The encoding makes {len(columns)} columns, and the learner was fitted to {estimator.n_features_in_}: "
            "give the encoding whose matrix it was fitted to."
        )
    verdict = getattr(estimator, "verdict_", None)
    said = None if verdict is None else counted(plain({**verdict.to_dict(), "text": str(verdict)}))
    stopped = interrupted or (said is not None and said["status"] == "interrupted")
    added = {key: plain_fact(each) for key, each in (training or {}).items()}
    spread = None if X is None else known_spread(estimator)
    known = {**facts_of(estimator), **(spread or spread_of(X, sample_weight, *mapped)), **added}
    if isinstance(added.get("versions"), dict):
        known["versions"] = {**versions(), **added["versions"]}  # who adds some takes none away
    ordered = [*(key for key in FACTS if key in known), *sorted(key for key in known if key not in FACTS)]
    return Model(
        type(estimator).__name__, plain(estimator.get_params(deep=False)), classes, columns, *mapped,
        encoding, said, {key: known[key] for key in ordered}, INTERRUPTED if stopped else FITTED,
    )  # fmt: skip


def _fitted_rule(estimator: Any) -> MappedRule:
    """What a fitted learner decides by, and the features that this reads."""
    if not hasattr(type(estimator), "deciding_rule"):
        return MappedRule(_saved(estimator, estimator))
    check_is_fitted(estimator)
    if len(estimator.classes_) < 2:
        raise CannotSaveError(_one_class(estimator))
    features = getattr(estimator, "features_", None)
    return MappedRule(_saved(estimator.deciding_rule, estimator), None if features is None else features.map)


@singledispatch
def _saved(rule: Any, estimator: Any) -> Rule:
    """The rule of a model file, by the type of what the learner decides by."""
    name = f"{type(estimator).__module__.split('.')[0]}'s {type(estimator).__name__}"
    raise CannotSaveError(f"{name} cannot be saved: only learners of Separatrix can. Fit one of them to the rows.")


# ------------------------------------------------------------------------------------------------ of each kind of rule


@_saved.register
def _linear(rule: LinearRule, estimator: Any) -> Rule:
    plain = LinearRule(rule.weights, rule.intercept, rule.classes, rule.columns, rule.probabilistic)
    if not hasattr(estimator, "predict_proba"):
        return Linear(plain)
    separated = estimator.verdict_.status == "separated"
    limit = estimator.limit_rule if estimator.verdict_.status == "quasi-separated" else None
    return Linear(plain, rule.probabilistic, separated, limit, getattr(estimator, "prior_", None))


@_saved.register
def _gaussians(rule: Quadratic, estimator: Any) -> Rule:
    return Gaussians(rule)


@_saved.register
def _sums(rule: Scorer, estimator: Any) -> Rule:
    return Sums(rule, _labels(estimator.classes_, estimator), tuple(_allowed(rule.families)))


def _allowed(families: ColumnFamilies) -> list[tuple[float | None, float | None, bool]]:
    def end(number: float) -> float | None:
        return float(number) if math.isfinite(number) else None

    cut = families.threshold is not None
    return [
        (end(each.lowest), end(each.highest), bool(each.whole))
        if isinstance(each, Family) and not (cut and each.name == "Bernoulli") else (None, None, False)
        for each in families.by_column
    ]  # fmt: skip


@_saved.register
def _kernel(rule: Expansion, estimator: Any) -> Kernel:
    if not isinstance(rule.kernel, TableKernel):
        raise CannotSaveError(
            f"{type(estimator).__name__} with the kernel {_named(estimator.kernel)} cannot be saved: a file holds "
            "numbers, no functions and no table of all rows. With 'linear', 'polynomial' or 'rbf' it can."
        )
    return Kernel(Expansion(rule.kernel, _dense(rule.support), rule.coefficients, rule.intercept))


@_saved.register
def _kernel_votes(rule: Record, estimator: Any) -> Rule:
    last = _kernel(rule.expansion("last"), estimator).expansion
    return Kernel(last, Record(rule.kernel, _dense(rule.support), rule.dual, rule.lifted, rule.apart))


def _dense(rows: Any) -> Any:
    return block_of(rows).dense().astype(np.float64, copy=False)


@_saved.register
def _voted(rule: Ballot, estimator: Any) -> Rule:
    return VoteRule(type(rule)(
        rule.start, rule.start_intercept, _dense(rule.rows), rule.place, rule.own, rule.rival, rule.rate, rule.lifted,
        rule.votes, rule.classes,
    ))  # fmt: skip


@_saved.register
def _committee(rule: LinearCommittee, estimator: Any) -> Rule:
    return Committee(rule)


@_saved.register
def _copies(rule: CopiedCommittee, estimator: Any) -> Rule:
    raise CannotSaveError(
        f"{type(estimator).__name__} of {type(estimator.learner).__name__} cannot be saved here: its {len(rule.votes)} "
        "classifiers are whole copies of the learner, not weights. Of OnlinePerceptron and two classes, or of "
        "LogisticRegression(solver='stochastic', learning_rate=0.1), it can."
    )


# ---------------------------------------------------- of learners that are made of others, or that no file can hold


@_saved.register
def _reduction(whole: Reduction, estimator: Any) -> Rule:
    check_is_fitted(whole)
    members = []
    for each in whole.estimators_:
        mapped = _fitted_rule(each)
        if isinstance(mapped.rule, CodeRule):
            raise CannotSaveError(f"{type(whole).__name__} of {type(each).__name__} cannot be saved.")
        members.append(Member(mapped.rule, mapped.features))
    per_class, one = not whole.summed, len(whole.code_.T) == 1
    coupling = None
    if all(hasattr(each, "predict_proba") for each in whole.estimators_):
        own = "shared" if per_class and whole.code_.shape[1] == len(whole.classes_) else "odds"
        simple = own if per_class else "averaged"
        coupling = "coupled" if whole._coupled and not one else simple
    return CodeRule(
        whole.code_, tuple(members), _labels(whole.classes_, whole), _columns(whole), per_class, whole._by_votes,
        coupling,
    )  # fmt: skip


@_saved.register
def _joint(whole: JointModel, estimator: Any) -> Rule:
    raise CannotSaveError(
        f"{type(whole).__name__} with the feature map {_named(whole._map)} cannot be saved: a file holds numbers, no "
        "functions. With feature_map=None, weights of its own for each class, it can."
    )


@_saved.register
def _many_labels(whole: MultiLabel, estimator: Any) -> Rule:
    raise CannotSaveError(
        f"{type(whole).__name__} cannot be saved: a file holds one class a row. Save each of its estimators_ that is "
        "fitted, on its own."
    )


@_saved.register
def _population(whole: BayesClassifier, estimator: Any) -> Rule:
    raise CannotSaveError(
        f"{type(whole).__name__} cannot be saved: it holds a population, which is code. Write that down, and make it "
        "anew."
    )


# -------------------------------------------------------------------------------------------------------- what is known


def _one_class(estimator: Any) -> str:
    return (
        f"{type(estimator).__name__} has seen rows of one class only, {estimator.classes_.tolist()[0]!r}, and has no "
        "rule yet: teach it rows of another first."
    )


def _columns(estimator: Any) -> tuple[str, ...]:
    return tuple(map(str, names_of(estimator, int(estimator.n_features_in_))))


def _labels(classes: Any, estimator: Any) -> tuple[Any, ...]:
    """The classes as JSON keeps them: texts, whole numbers, numbers, true and false."""
    labels = tuple(np.asarray(classes).tolist())
    kinds = {type(label) for label in labels}
    if len(kinds) != 1 or not kinds <= {str, int, float, bool}:
        strange = next((label for label in labels if type(label) not in (str, int, float, bool)), labels[0])
        raise CannotSaveError(
            f"{type(estimator).__name__} has the class {strange!r}, of type {type(strange).__name__}: a file holds "
            "classes that are all texts, all whole numbers, all numbers, or True and False. Turn them into texts."
        )
    return labels


def _named(value: Any) -> str:
    return repr(value) if isinstance(value, str) else str(getattr(value, "__name__", type(value).__name__))


# The rows of a fit, given or still in memory, as a model file remembers them: their spread, and a hash of them.

BLOCK = 1 << 16
"""Rows that are hashed together."""


def model_with_rows(estimator: Any, X: Any = None, y: Any = None, sample_weight: Any = None) -> Model:
    """The model of a fitted learner, with what its rows tell; where none are given, those that are still in memory."""
    if (X is None) != (y is None):
        raise DataError("is missing: give both X and y of the fit, or neither.", array="X" if X is None else "y")
    if X is None and sample_weight is not None:
        raise DataError("is given without X and y: give all three, or none.", array="sample_weight")
    if X is None:
        X, y, sample_weight = _still_here(estimator)
    if X is None:
        return model_of(estimator)
    rows = _numbers(X, estimator)
    mark = rows_fingerprint(rows, y, sample_weight)
    return model_of(estimator, X=rows, sample_weight=sample_weight, training={"fingerprint": mark})


def _still_here(estimator: Any) -> tuple[Any, Any, Any]:
    """The rows that a logistic regression learnt from, if nobody has let go of them or changed them."""
    claim = getattr(getattr(estimator, "verdict_", None), "claim", None)
    kept = getattr(estimator, "_kept_rows", None)
    if kept is None or claim is None or claim.objective in ("firth", "flic"):
        return None, None, None
    if estimator.verdict_.status in ("separated", "quasi-separated"):  # to tell whether they changed would take long
        return None, None, None
    from ...learners.logistic.rows_of_fit import rows_of_fit

    given, _ = rows_of_fit(estimator, (None, None, None))
    return (None, None, None) if given is None else (given.X, given.y, given.sample_weight)


def _numbers(X: Any, estimator: Any) -> Any:
    """The rows as an array or CSR, as many columns as the learner knows."""
    rows: Any = X.tocsr() if hasattr(X, "tocsr") else np.asarray(X)
    if rows.ndim != 2 or rows.shape[1] != estimator.n_features_in_ or rows.dtype.kind not in "buif":
        raise DataError(
            f"has shape {rows.shape} and holds {rows.dtype}; it must be the rows of the fit, numbers in "
            f"{estimator.n_features_in_} columns.",
            array="X",
        )
    claimed = getattr(getattr(getattr(estimator, "verdict_", None), "claim", None), "rows", None)
    if isinstance(claimed, int | np.integer) and rows.shape[0] != claimed:
        raise DataError(
            f"has {rows.shape[0]} rows; the learner was fitted to {claimed}: give it the same rows.", array="X"
        )
    return rows


def rows_fingerprint(rows: Any, y: Any, sample_weight: Any = None) -> str:
    """SHA-256 of the rows as doubles, in their order, then of the labels as text, then of the weights.

    Zeros that are left out count as zeros: CSR rows have the hash of their matrix.
    """
    found = hashlib.sha256(repr(rows.shape).encode())
    for lo in range(0, rows.shape[0], BLOCK):
        block = rows[lo : lo + BLOCK]
        dense = block.toarray() if hasattr(block, "toarray") else block
        found.update((np.ascontiguousarray(dense, np.float64) + 0.0).data)  # so that −0 is 0
    labels = np.asarray(y)
    found.update(repr(labels.shape).encode())
    for lo in range(0, len(labels), BLOCK):
        found.update("\0".join(map(str, labels[lo : lo + BLOCK].ravel().tolist())).encode("utf-8", "surrogatepass"))
        found.update(b"\0")
    if sample_weight is not None:
        found.update(np.ascontiguousarray(checked_costs(sample_weight, rows.shape[0]), np.float64).data)
    return found.hexdigest()
