"""Certificates of small fits, and what makes them false: each number, and each datum, by the least amount that does."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from separatrix import LogisticRegression
from separatrix.results.verdict import Verdict

from .referee import Rows, Truth

BEYOND = 1e-5
"""By how much more than the truth allows a number is forged, relative: the check allows 10⁻⁶."""


class Case(NamedTuple):
    """A verdict, the data it is about, and what is true of it."""

    verdict: Verdict
    X: Any
    y: Any
    cost: Any
    rows: Rows
    truth: Truth

    def check(self) -> bool:
        return self.verdict.check(self.X, self.y, self.cost)


class Forgery(NamedTuple):
    """A verdict that is false of its data."""

    what: str
    verdict: Verdict
    X: Any
    y: Any
    cost: Any

    def check(self) -> bool:
        return self.verdict.check(self.X, self.y, self.cost)


# --------------------------------------------------------------------------------------------------- honest verdicts


KINDS = {
    "two": 0.25, "many": 0.22, "single": 0.08, "squared": 0.06, "aliased": 0.17, "sparse": 0.12, "few": 0.06,
    "sampled": 0.005, "wide": 0.015, "witness": 0.02,
}  # fmt: skip
"""What is fitted, and how often."""


def case_of(seed: int) -> Case | None:
    """A small fit of any kind; None where it proved no minimum, or the referee finds none."""
    rng = np.random.default_rng(seed)
    kind = rng.choice(list(KINDS), p=list(KINDS.values()))
    K = 2 if kind == "two" else int(rng.integers(3, 5)) if kind in ("many", "witness") else int(rng.integers(2, 4))
    n, d = int(rng.integers(30, 90)), int(rng.integers(1, 5))
    l2 = float(rng.choice([0.0, 0.0, 0.01, 0.3]))
    if kind == "sampled":
        n, K = 6000, min(K, 3)
    if kind == "few":  # fewer rows than columns
        n, d, l2 = int(rng.integers(8, 16)), 18, float(rng.choice([0.03, 0.3]))
    width = d
    if kind == "wide":  # so many columns that no matrix of them is made; all but a few are zero
        n, d, width, l2 = 110, 6, 40_000, 0.3
    if kind == "witness":
        n, d, width, K, l2 = 700, 6, 520, 4, 0.3
    squared = bool(kind == "squared")
    X = rng.normal(size=(n, d)) * 10.0 ** rng.uniform(-2, 2) + rng.normal(size=d) * float(rng.choice([0, 1, 30]))
    if kind == "single":
        X = X.astype(np.float32).astype(float)
    if kind in ("sparse", "wide"):
        X[rng.random(X.shape) < 0.5] = 0
    spread = X.std(axis=0)
    spread[spread == 0] = 1
    s = (X - X.mean(axis=0)) / spread @ rng.normal(size=(d, K)) / math.sqrt(d) + rng.normal(size=K) / 2
    soft = kind in ("two", "many", "squared") and rng.random() < 0.25
    if soft:
        t = np.exp(s + rng.normal(size=(n, K)))
        t /= t.sum(axis=1, keepdims=True)
        t[::4] = np.eye(K)[t[::4].argmax(axis=1)]
        y: Any = t[:, 1] if K == 2 and rng.random() < 0.5 else t
        t = np.column_stack([1 - y, y]) if y.ndim == 1 else t
    else:
        labels = (s + rng.gumbel(size=(n, K))).argmax(axis=1)
        labels[:K] = np.arange(K)
        y, t = labels, np.eye(K)[labels]
    if kind == "aliased":
        extra = [X @ rng.integers(-2, 3, size=d) + rng.integers(-1, 2), X[:, 0] * 2, np.full(n, 3.0)]
        picked = rng.permutation(3)[: rng.integers(1, 3)]
        X = np.column_stack([X, *(extra[j] for j in picked)])[:, rng.permutation(d + len(picked))]
    cost = None
    if rng.random() < 0.4:
        cost = np.where((rng.random(n) < 0.1) & (np.arange(n) >= K), 0.0, rng.random(n) + 0.3)
    weight = dict(enumerate(rng.uniform(0.6, 1.7, K).tolist())) if rng.random() < 0.25 and not soft else None
    lifted = bool(rng.random() < 0.8)
    # L-BFGS stops at its tolerance; a last step of Newton's leaves nothing to forge but rounding
    model = LogisticRegression(
        objective="squared" if squared else "likelihood", solver="lbfgs", l2=l2,
        fit_intercept=lifted,
        tol=float(10.0 ** rng.uniform(-10, -4)), class_weight=weight, n_threads=1,
    )  # fmt: skip
    places = np.sort(rng.choice(width, d, replace=False)) if width > d else None
    given = X.astype(np.float32) if kind == "single" else laid_out(X, places, width, kind in ("sparse", "wide"))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        verdict = model.fit(given, y, sample_weight=cost).verdict_
    if verdict.status not in ("optimal", "local"):
        return None
    split = (np.ones(n) if cost is None else cost)[:, None] * t * np.asarray(verdict.claim.class_weight)
    rows = Rows(X, split, l2, lifted, squared, places)
    truth = truth_of(rows, verdict)
    return None if truth.step is None else Case(verdict, given, y, cost, rows, truth)


def laid_out(X: Any, places: Any, width: int, csr: bool) -> Any:
    """X as it was given: among columns of zeros, CSR or not."""
    if places is None:
        return sparse.csr_array(X) if csr else X
    lean = sparse.csr_array(X)
    whole = sparse.csr_array((lean.data, places[lean.indices], lean.indptr), shape=(len(X), width))
    return whole if csr else whole.toarray()


def truth_of(rows: Rows, verdict: Verdict, **changes: Any) -> Truth:
    """What is true of the verdict, or of one with other weights."""
    aliased = [] if rows.l2 else [verdict.claim.columns.index(name) for name in verdict.rank.aliased]
    weights, intercept = (changes.get(name, getattr(verdict.claim, name)) for name in ("weights", "intercept"))
    return Truth(rows, weights if rows.places is None else weights[..., rows.places], intercept, aliased)


def with_claim(verdict: Verdict, **changes: Any) -> Verdict:
    return dataclasses.replace(verdict, claim=dataclasses.replace(verdict.claim, **changes))


def with_proof(verdict: Verdict, **changes: Any) -> Verdict:
    return dataclasses.replace(verdict, certificate=dataclasses.replace(verdict.certificate, **changes))


# -------------------------------------------------------------------------------------------------- numbers forged


def _smaller(case: Case, name: str, truth: float, slack: float = 0.0) -> Forgery | None:
    """The number just below the truth."""
    forged = truth * (1 - BEYOND) - slack
    changes = {name: forged}
    if name == "gap":
        changes["relative_gap"] = forged / case.verdict.claim.value
    return Forgery(name, with_proof(case.verdict, **changes), *case[1:4]) if forged > 0 else None


def _chosen(case: Case) -> Any:
    """The rows of the certificate's part of the Hessian, among those that count."""
    counts = case.rows.split.sum(axis=1) > 0
    inside = np.ones(len(counts), bool)
    sample = getattr(case.verdict.certificate, "sample", None)
    if sample is not None:
        inside[:] = False
        for lo, hi in sample:
            inside[lo:hi] = True
    if case.rows.squared:
        return inside[counts]
    return inside[counts] & case.truth.unsure()


def _by_bound(case: Case) -> bool:
    """Whether the certificate bounds the Hessian from below by something simpler."""
    return getattr(case.verdict.certificate, "witness", None) is not None


def nu(case: Case, rng: Any) -> Forgery | None:
    return _smaller(case, "nu", case.truth.nu_and_rho(None if _by_bound(case) else _chosen(case))[0])


def rho(case: Case, rng: Any) -> Forgery | None:
    return _smaller(case, "rho", case.truth.nu_and_rho(_chosen(case))[1])


def gap(case: Case, rng: Any) -> Forgery | None:
    return _smaller(case, "gap", case.truth.fall, 3e-15 * case.verdict.claim.value)


def relative_gap(case: Case, rng: Any) -> Forgery | None:
    factor = 1 - BEYOND if rng.random() < 0.5 else 1 + BEYOND
    forged = case.verdict.certificate.relative_gap * factor
    return Forgery("relative_gap", with_proof(case.verdict, relative_gap=forged), *case[1:4])


def distance(case: Case, rng: Any) -> Forgery | None:
    return _smaller(case, "distance", case.truth.distance(None if _by_bound(case) else _chosen(case)))


def coefficients(case: Case, rng: Any) -> Forgery | None:
    """One of them too small, or all together."""
    bounds, off = case.verdict.certificate.coefficients, np.abs(case.truth.errors())
    aliased = case.rows.l2 == 0 and case.verdict.rank.aliased
    if aliased or rng.random() < 0.3:
        some = bounds if case.rows.places is None else bounds[..., np.append(case.rows.places, -1)]
        forged = bounds * (case.truth.scale_of(some) * (1 - BEYOND))
    else:
        places = np.argwhere(off > 1e-12 * np.abs(case.truth.W).max())
        if not len(places):
            return None
        k, j = places[rng.integers(len(places))]
        forged = np.atleast_2d(bounds.copy())
        column = -1 if j == off.shape[1] - 1 else j if case.rows.places is None else case.rows.places[j]
        forged[k, column] = off[k, j] * (1 - BEYOND)
        forged = forged.reshape(bounds.shape)
    return Forgery("coefficients", with_proof(case.verdict, coefficients=forged), *case[1:4])


def share(case: Case, rng: Any) -> Forgery | None:
    proof = case.verdict.certificate
    if not hasattr(proof, "share"):
        return None
    off = (1 if getattr(proof, "sample", None) is None else 1 + len(proof.sample)) / len(case.rows.X)
    forged = proof.share + (off if proof.share < 1 and rng.random() < 0.5 else -off)
    return Forgery("share", with_proof(case.verdict, share=forged), *case[1:4])


def sample(case: Case, rng: Any) -> Forgery | None:
    """Other rows than those that were used."""
    proof = case.verdict.certificate
    if getattr(proof, "sample", None) is None:
        return None
    less = proof.sample.copy()
    less[:, 1] -= (less[:, 1] - less[:, 0]) // 2
    part = (less[:, 1] - less[:, 0]).sum() / len(case.rows.X)
    return Forgery("sample", with_proof(case.verdict, sample=less, share=part), *case[1:4])


def rank(case: Case, rng: Any) -> Forgery | None:
    verdict, columns = case.verdict, case.verdict.claim.columns
    known, aliased = verdict.rank, verdict.rank.aliased
    if known.rank is None:
        return None
    way = rng.choice(["more", "less", "of", "named", "unnamed"])
    if way == "more":
        forged = known._replace(rank=known.rank + 1)
    elif way == "less":
        forged = known._replace(rank=known.rank - 1)
    elif way == "of":
        forged = known._replace(of=known.of + 1, rank=known.rank + 1)
    elif way == "named":
        free = [name for name in columns if name not in aliased]
        if not free or len(columns) < 2:
            return None
        named = (*aliased, free[rng.integers(len(free))])
        forged = known._replace(rank=known.rank - 1, aliased=named)
    elif aliased:
        forged = known._replace(rank=known.rank + 1, aliased=aliased[1:])
    else:
        return None
    return Forgery(f"rank, {way}", dataclasses.replace(verdict, rank=forged), *case[1:4])


def value(case: Case, rng: Any) -> Forgery | None:
    truth = float(case.truth.value())
    off = 2e-9 * truth + 1e-11 + 1e-14 * float(np.abs(case.truth.start).max())
    forged = truth + (off if rng.random() < 0.5 else -off)
    proof = {"relative_gap": case.verdict.certificate.gap / forged}
    return Forgery("value", with_claim(with_proof(case.verdict, **proof), value=forged), *case[1:4])


# ---------------------------------------------------------------------------------- what the numbers are about, changed


def _least(case: Case, changed: Callable[[float], Truth], first: float) -> float | None:
    """The least t with which the gap that is claimed is false."""
    needed = case.verdict.certificate.gap * (1 + BEYOND) + 3e-15 * case.verdict.claim.value
    return least(needed, lambda t: changed(t).fall, first)


def least(needed: float, fall: Callable[[float], float], first: float) -> float | None:
    """The least t with which the mean loss is so much above its minimum, to within a hundredth; None: there is none."""

    def false(t: float) -> bool:
        return math.isfinite(found := fall(t)) and found > needed

    low, high = 0.0, first
    for _ in range(60):
        if false(high):
            break
        low, high = high, high * 4
    else:
        return None
    low = max(low, high / 4 if low else high / 1e6)
    while high > 1.01 * low:
        middle = math.sqrt(low * high)
        low, high = (low, middle) if false(middle) else (middle, high)
    return high


def _revalued(case: Case, truth: Truth, **claim: Any) -> Verdict:
    """The verdict with a value that is true, so that nothing but its bounds is not."""
    found = float(truth.value())
    verdict = with_proof(case.verdict, relative_gap=case.verdict.certificate.gap / found)
    return with_claim(verdict, value=found, **claim)


def weights(case: Case, rng: Any) -> Forgery | None:
    claim = case.verdict.claim
    W, b = np.array(claim.weights, float), np.asarray(claim.intercept, float)
    off, level = rng.normal(size=W.shape), rng.normal(size=b.shape) * claim.fit_intercept
    if W.ndim == 2:
        if claim.l2:
            off, level = off - off.mean(axis=0), level - level.mean(axis=0)
        else:
            off[-1], level[-1] = 0, 0
    own = np.arange(W.shape[-1]) if case.rows.places is None else case.rows.places
    own = [rng.choice(own)] if rng.random() < 0.5 else own
    off = off * np.isin(np.arange(W.shape[-1]), own)
    level = level * (len(own) > 1)

    def moved(t: float) -> dict[str, Any]:
        return {"weights": W + t * off, "intercept": b + t * level if b.ndim else float(b + t * level)}

    t = _least(case, lambda t: truth_of(case.rows, case.verdict, **moved(t)), 1e-9)
    if t is None:
        return None
    changes = moved(t)
    truth = truth_of(case.rows, case.verdict, **changes)
    return Forgery("weights", _revalued(case, truth, **changes), *case[1:4])


def datum(case: Case, rng: Any) -> Forgery | None:
    """One number of X."""
    if case.verdict.rank.aliased and case.rows.places is None:
        return None  # columns are made of others: see `column`
    i, j = rng.choice(np.flatnonzero(case.rows.split.sum(axis=1) > 0)), rng.integers(case.rows.X.shape[1])
    if sparse.issparse(case.X) and case.rows.X[i, j] == 0:
        return None

    def moved(t: float) -> Any:
        X = case.rows.X.copy()
        X[i, j] += t
        return X

    size = max(1.0, float(np.abs(case.rows.X[:, j]).max()))
    t = _least(case, lambda t: truth_of(dataclasses.replace(case.rows, X=moved(t)), case.verdict), 1e-9 * size)
    if t is None or t > size:
        return None
    X = moved(t)
    truth = truth_of(dataclasses.replace(case.rows, X=X), case.verdict)
    given = laid_out(X, case.rows.places, case.X.shape[1], sparse.issparse(case.X))
    return Forgery("datum", _revalued(case, truth), given, case.y, case.cost)


def column(case: Case, rng: Any) -> Forgery | None:
    """One number of a column that is said to be a combination of others."""
    aliased = [case.verdict.claim.columns.index(name) for name in case.verdict.rank.aliased]
    if not aliased or case.rows.places is not None or len(case.rows.X) <= len(case.verdict.claim.columns):
        return None  # of so few rows any column is a combination of others
    i, j = rng.choice(np.flatnonzero(case.rows.split.sum(axis=1) > 0)), rng.choice(aliased)
    X = case.rows.X.copy()
    X[i, j] += max(1.0, float(np.abs(X).max())) * 1e-9
    truth = truth_of(dataclasses.replace(case.rows, X=X), case.verdict)
    given = laid_out(X, None, X.shape[1], sparse.issparse(case.X))
    return Forgery("column", _revalued(case, truth), given, case.y, case.cost)


def cost(case: Case, rng: Any) -> Forgery | None:
    """One sample weight."""
    i = rng.choice(np.flatnonzero(case.rows.split.sum(axis=1) > 0))

    def moved(t: float) -> Any:
        c = np.ones(len(case.rows.X)) if case.cost is None else case.cost.copy()
        c[i] *= 1 + t
        return c

    def rows(t: float) -> Rows:
        split = case.rows.split.copy()
        split[i] *= 1 + t
        return dataclasses.replace(case.rows, split=split)

    t = _least(case, lambda t: truth_of(rows(t), case.verdict), 1e-9)
    if t is None:
        return None
    return Forgery("sample_weight", _revalued(case, truth_of(rows(t), case.verdict)), case.X, case.y, moved(t))


def label(case: Case, rng: Any) -> Forgery | None:
    """The label of the row that changes the mean loss least; or a probability, by the least that matters."""
    counts = np.flatnonzero(case.rows.split.sum(axis=1) > 0)
    claim = case.verdict.claim
    if claim.soft:
        i, K = rng.choice(counts), len(claim.classes)
        t = case.y if np.ndim(case.y) == 2 else np.column_stack([1 - case.y, case.y])
        up, down = t[i].argmin(), t[i].argmax()

        def targets(size: float) -> Any:
            moved = t.copy()
            moved[i, up] += size
            moved[i, down] -= size
            return moved

        def rows(size: float) -> Rows:
            cost = np.ones(len(t)) if case.cost is None else case.cost
            return dataclasses.replace(case.rows, split=cost[:, None] * targets(size) * np.asarray(claim.class_weight))

        size = _least(case, lambda size: truth_of(rows(size), case.verdict), 1e-9)
        if size is None or size >= t[i, down] or K < 2:
            return None
        y = targets(size)
        y = y if np.ndim(case.y) == 2 else y[:, 1]
        return Forgery("target", _revalued(case, truth_of(rows(size), case.verdict)), case.X, y, case.cost)
    s, own = case.truth.start.astype(float), case.y[counts]
    change = np.abs(s - np.take_along_axis(s, own[:, None], 1))
    np.put_along_axis(change, own[:, None], np.inf, 1)
    place, k = np.unravel_index(change.argmin(), change.shape)
    i = counts[place]
    y = case.y.copy()
    y[i] = k
    c = np.ones(len(y)) if case.cost is None else case.cost
    split = c[:, None] * np.eye(len(claim.classes))[y] * np.asarray(claim.class_weight)
    truth = truth_of(dataclasses.replace(case.rows, split=split), case.verdict)
    if not truth.fall > case.verdict.certificate.gap * (1 + BEYOND) + 3e-15 * claim.value:
        return None
    return Forgery("label", _revalued(case, truth), case.X, y, case.cost)


def penalty(case: Case, rng: Any) -> Forgery | None:
    """l2."""
    if not case.rows.l2:
        return None

    def rows(t: float) -> Rows:
        return dataclasses.replace(case.rows, l2=case.rows.l2 * (1 + t))

    t = _least(case, lambda t: truth_of(rows(t), case.verdict), 1e-9)
    if t is None:
        return None
    return Forgery("l2", _revalued(case, truth_of(rows(t), case.verdict), l2=rows(t).l2), *case[1:4])


FORGED = [
    nu, rho, gap, relative_gap, distance, coefficients, share, sample, rank, value, weights, datum, column, cost, label,
    penalty,
]  # fmt: skip


def forgery_of(case: Case, seed: int) -> Forgery:
    """One way or another to make the verdict false."""
    rng = np.random.default_rng([seed, 1])
    for k in rng.permutation(len(FORGED)):
        found = FORGED[k](case, rng)
        if found is not None:
            return found
    raise AssertionError("a weight can always be moved")
