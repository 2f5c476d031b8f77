"""Many classes from two: a coding matrix says which classes each of L classifiers has on which side.

M is K × L, of −1, 0 and +1: classifier l is taught +1 for the classes k with Mₖₗ = +1, −1 for those with Mₖₗ = −1, and
never sees the others. What the classifiers say of a row is then compared with the rows of M.  [003 slides 11, 12]
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..numerics.arrays import Floats
from ..wording import setting
from .linear_rule import LinearRule

Signs = NDArray[np.int8]
MOST_EXHAUSTIVE = 12
"""Classes up to which every way of parting them is tried: 2047 classifiers."""
BLOCK = 1 << 19
"""Pairs of classes that are looked at together."""
TRIES = 64
"""Random codes of which the one is taken whose rows differ most."""


def one_against_rest(classes: int) -> Signs:
    """Mₖₗ = +1 if k = l, else −1: K classifiers; of two classes one, the second against the first."""
    if classes == 2:
        return np.array([[-1], [1]], np.int8)
    return (2 * np.eye(classes) - 1).astype(np.int8)


def all_but_the_last_against_rest(classes: int) -> Signs:
    """One against the rest but for the last class, which is what none of K − 1 classifiers claims.  [003 slide 11]"""
    return one_against_rest(classes)[:, : classes - 1] if classes > 2 else one_against_rest(2)


def one_against_one(classes: int) -> Signs:
    """A column for each pair a < b, −1 for a and +1 for b: K(K − 1)/2 classifiers.  [003 slide 11]"""
    pairs = [(a, b) for a in range(classes) for b in range(a + 1, classes)]
    M = np.zeros((classes, len(pairs)), np.int8)
    for place, (a, b) in enumerate(pairs):
        M[a, place], M[b, place] = -1, 1
    return M


def exhaustive(classes: int) -> Signs:
    """Every way of parting the classes in two, once: 2ᴷ⁻¹ − 1 columns, the first class always on the side of −1."""
    if classes > MOST_EXHAUSTIVE:
        raise SettingError(
            "code", "exhaustive",
            f"it is for {MOST_EXHAUSTIVE} classes at most: use {setting('code', 'dense')}, or give a matrix.",
            f"{setting('code', 'exhaustive')} for {classes} classes needs 2^{classes - 1} − 1 classifiers;",
        )  # fmt: skip
    ways = np.arange(1, 2 ** (classes - 1))
    bits = ways[None, :] >> np.arange(classes - 1)[:, None] & 1
    return np.vstack([np.full(ways.size, -1), 2 * bits - 1]).astype(np.int8)


def dense(classes: int, rng: np.random.Generator) -> Signs:
    """⌈10 log₂ K⌉ columns of ±1 by chance, no two of them alike: of many such codes the one whose rows differ most."""
    length = math.ceil(10 * math.log2(classes))
    if classes <= MOST_EXHAUSTIVE and 2 ** (classes - 1) - 1 <= length:
        return exhaustive(classes)
    return _best(lambda: _distinct(lambda: rng.choice(np.array([-1, 1], np.int8), classes), length), classes)


def sparse(classes: int, rng: np.random.Generator) -> Signs:
    """⌈15 log₂ K⌉ columns, each entry 0 with probability ½, else ±1; of many such codes the best, as with `dense`."""
    length = math.ceil(15 * math.log2(classes))
    if classes <= 3:  # there are too few ways
        return exhaustive(classes)
    choices = np.array([-1, 0, 0, 1], np.int8)
    return _best(lambda: _distinct(lambda: rng.choice(choices, classes), length), classes)


def _distinct(draw: Any, length: int) -> Signs:
    """Columns that have both signs, none equal to another or to its opposite, as many as chance finds."""
    found: dict[bytes, Signs] = {}
    for _ in range(50 * length):
        column = draw()
        first = column[np.flatnonzero(column)[0]] if column.any() else 0
        if first and (column == -first).any():
            found.setdefault((column * -first).tobytes(), (column * -first).astype(np.int8))
        if len(found) == length:
            break
    return np.column_stack(list(found.values())).astype(np.int8)


def _best(make: Any, classes: int) -> Signs:
    best: Signs | None = None
    most = -1.0
    for _ in range(TRIES):
        M: Signs = make()
        apart = float(opposed(M)[np.triu_indices(classes, 1)].min())
        if apart > most:
            best, most = M, apart
    assert best is not None
    return best


def opposed(M: Signs) -> NDArray[np.intp]:
    """In how many columns two classes are on opposite sides, K × K."""
    plus, minus = (M > 0).astype(np.intp), (M < 0).astype(np.intp)
    return plus @ minus.T + minus @ plus.T


def checked_code(code: Any, classes: list[Any]) -> Signs:
    """A K × L matrix of −1, 0 and +1 with both signs in every column, and every two classes opposed in one of them."""
    try:
        M = np.asarray(code, dtype=np.float64)
    except (TypeError, ValueError):
        raise SettingError("code", code, "it must be a matrix of −1, 0 and +1, or the name of a code.") from None
    if M.ndim != 2 or M.shape[0] != len(classes) or not M.shape[1]:
        raise SettingError(
            "code", code, f"a row for each of the {len(classes)} classes {_few(classes)} is needed, and a column for "
            "each classifier.", f"{setting('code')} has shape {M.shape};",
        )  # fmt: skip
    wrong = np.argwhere(~np.isin(M, (-1, 0, 1)))
    if wrong.size:
        k, at = (int(place) for place in wrong[0])
        raise SettingError("code", code, "a code holds −1, 0 and +1 only.", f"code[{k}, {at}] is {M[k, at]:g};")
    for at, column in enumerate(M.T):
        if not ((column > 0).any() and (column < 0).any()):
            raise SettingError(
                "code", code, "Leave it out.",
                f"Column {at} of code has one sign only: its classifier would see one class.",
            )  # fmt: skip
    same = _together(M.astype(np.int8))
    if same is not None:
        a, b = (classes[place] for place in same)
        raise SettingError(
            "code", code, "Add one with +1 in one of their rows and −1 in the other.",
            f"code cannot tell {a!r} and {b!r} apart: no column has them on opposite sides.",
        )  # fmt: skip
    return M.astype(np.int8)


def _together(M: Signs) -> tuple[int, int] | None:
    """The first two classes that no column opposes; some rows at a time, as K × K numbers may be too many."""
    step = max(1, BLOCK // len(M))
    for lo in range(0, len(M), step):
        rows = M[lo : lo + step].astype(np.float32)
        apart = np.abs(rows) @ np.abs(M).astype(np.float32).T - rows @ M.astype(np.float32).T  # twice the opposed
        same = np.argwhere(np.triu(apart == 0, 1 + lo))
        if same.size:
            return lo + int(same[0, 0]), int(same[0, 1])
    return None


def _few(classes: list[Any]) -> str:
    return str(classes) if len(classes) <= 6 else f"{str(classes[:6])[:-1]}, …]"


def agreements(M: Signs, scores: Floats) -> NDArray[np.intp]:
    """vₖ = #{l : Mₖₗ ≠ 0, sign sₗ = Mₖₗ}, sign 0 = −1: how many classifiers are of class k's mind, n × K."""
    yes = scores > 0
    return yes.astype(np.intp) @ (M > 0).T.astype(np.intp) + (~yes).astype(np.intp) @ (M < 0).T.astype(np.intp)


def totals(M: Signs, scores: Floats) -> Floats:
    """Tₖ = Σₗ Mₖₗ sₗ: K discriminants out of L scores, linear where these are.  [003 slide 12]"""
    return scores @ M.T.astype(np.float64)  # type: ignore[no-any-return]


def claims(M: Signs, scores: Floats) -> NDArray[np.intp]:
    """1[sₖ > 0] for the class of each classifier; a class without one has the vote that no other claims.

    For one class against the rest: a row of votes has none, one, or several.  [003 slide 11]
    """
    yes = (scores > 0).astype(np.intp)
    if M.shape[1] == len(M):
        return yes
    return np.column_stack([yes, 1 - yes.max(axis=1)] if len(M) > 2 else [1 - yes, yes])


def undecided(votes: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Whether the most votes are not those of one class alone."""
    return np.asarray((votes == votes.max(axis=1, keepdims=True)).sum(axis=1) > 1)


def elected(votes: NDArray[np.intp], scores: Floats) -> NDArray[np.intp]:
    """The class with the most votes; of several, the one with the largest score; of equals, the first."""
    contest = np.where(votes == votes.max(axis=1, keepdims=True), scores, -np.inf)
    return contest.argmax(axis=1)  # type: ignore[no-any-return]


# A rule of many classes made of linear rules of two, by vote.


@dataclass(frozen=True, eq=False)
class CodedRule:
    """ŷ = the class with the most votes of sign(xᵀwₗ + bₗ); of several, the one with the largest Σₗ Mₖₗ(xᵀwₗ + bₗ).

    The regions are cut out by L hyperplanes; where votes are equal they are *ambiguous*. A rule with one row of weights
    for each class has no such regions: see `discriminants`.  [003 slides 11, 12]

    >>> rule = CodedRule([[1.0], [1.0], [1.0]], [-1, -2, -3], [[-1, -1, 0], [1, 0, -1], [0, 1, 1]], ("a", "b", "c"))
    >>> rule.classify([[0.0], [1.5], [2.5], [4.0]]).tolist()
    ['a', 'b', 'b', 'c']
    >>> rule.votes([[1.5], [2.5]]).tolist(), rule.ambiguous([[1.5], [2.5]]).tolist()
    ([[1, 2, 0], [0, 2, 1]], [False, False])
    """

    weights: Floats
    """L × d, a row for each classifier."""
    intercept: Floats
    """L numbers, one for each classifier."""
    code: Signs
    """K × L of −1, 0 and +1."""
    classes: tuple[Any, ...]
    """What is predicted, in the order of the rows of the code."""
    columns: tuple[str, ...] = ()
    """The names of the columns; x0, x1, … where they have none."""

    def __post_init__(self) -> None:
        weights, intercept = np.array(self.weights, np.float64), np.array(self.intercept, np.float64)
        code = np.array(self.code, np.int8)
        if weights.ndim != 2 or intercept.shape != weights.shape[:1] or code.shape[1:] != weights.shape[:1]:
            raise SettingError(
                "weights", self.weights,
                "a row of weights, an intercept and a column of the code are needed for each classifier.",
                f"weights have shape {weights.shape}, intercept {intercept.shape} and code {code.shape}:",
            )  # fmt: skip
        if len(code) != len(self.classes):
            raise SettingError(
                "code", self.code, "give one for each.",
                f"code has {len(code)} rows and there are {len(self.classes)} classes:",
            )  # fmt: skip
        columns = tuple(map(str, self.columns)) or tuple(f"x{j}" for j in range(weights.shape[1]))
        for array in (weights, intercept, code):
            array.setflags(write=False)
        for name, value in (("weights", weights), ("intercept", intercept), ("code", code), ("columns", columns)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "classes", tuple(self.classes))

    def score(self, X: Any) -> Floats:
        """sₗ = xᵀwₗ + bₗ, n × L."""
        return self._scorer().score(X).reshape(-1, len(self.weights))

    def votes(self, X: Any) -> NDArray[np.intp]:
        """How many classifiers are of each class's mind, n × K."""
        return agreements(self.code, self.score(X))

    def ambiguous(self, X: Any) -> NDArray[np.bool_]:
        """Whether the most votes are not those of one class alone."""
        return undecided(self.votes(X))

    def classify(self, X: Any) -> NDArray[Any]:
        """The class of each row."""
        s = self.score(X)
        return np.asarray(self.classes)[elected(agreements(self.code, s), totals(self.code, s))]  # type: ignore[no-any-return]

    def member(self, place: int) -> LinearRule:
        """One of the rules of two: +1 where its score is positive."""
        return LinearRule(self.weights[place], float(self.intercept[place]), (-1, 1), self.columns)

    def discriminants(self) -> LinearRule:
        """argmaxₖ Σₗ Mₖₗ(xᵀwₗ + bₗ): one linear function for each class, no ambiguous region, every region convex."""
        M = self.code.astype(np.float64)
        return LinearRule(M @ self.weights, M @ self.intercept, self.classes, self.columns)

    def equation(self, digits: int = 6) -> str:
        """A line for each classifier: b or c against a: 3·height − 5 > 0."""
        rules = (self.member(place).equation(digits).removesuffix(" = 0") for place in range(len(self.weights)))
        return "\n".join(f"{said}: {text} > 0" for said, text in zip(self.duels(), rules, strict=True))

    def duels(self) -> list[str]:
        """Which classes each classifier has on its sides, as text."""
        return [duel(column, self.classes) for column in self.code.T]

    def __str__(self) -> str:
        return f"the class with the most votes of {'; '.join(self.equation().splitlines())}"

    def _scorer(self) -> LinearRule:
        """The scores of all classifiers as those of one rule; a single one as those of two classes."""
        if len(self.weights) == 1:
            return LinearRule(self.weights[0], float(self.intercept[0]), columns=self.columns)
        return LinearRule(self.weights, self.intercept, tuple(range(len(self.weights))), self.columns)


def duel(column: Any, classes: Any) -> str:
    """b against a; b or c against a; b against the rest."""
    plus = [str(label) for label, sign in zip(classes, column, strict=True) if sign > 0]
    minus = [str(label) for label, sign in zip(classes, column, strict=True) if sign < 0]
    whole = len(plus) + len(minus) == len(classes)
    against = "the rest" if whole and len(plus) == 1 < len(minus) else " or ".join(minus)
    return f"{' or '.join(plus)} against {against}"


# Probabilities of K classes from those of L classifiers.
#
# Classifier l says that, of the classes it was taught, those on its + side have the probability rₗ. `coupled` finds
# the
# probabilities of the classes that agree with all of them as well as possible; `shared` and `odds_of` normalise.

SURE = 1e-7
"""A classifier is never quite sure: rₗ is held in [SURE, 1 − SURE], so that two that contradict each other leave an
answer."""
COUPLED = 1 << 21
STEADY = 1e-13


def coupled(r: Floats, M: Signs) -> Floats:
    """argmin over p ≥ 0, Σₖpₖ = 1 of Σₗ (rₗ P₋ₗ − (1 − rₗ) P₊ₗ)², P±ₗ = Σ{pₖ : Mₖₗ = ±1}.

    Every term is zero where P₊ₗ/(P₊ₗ + P₋ₗ) = rₗ. With a classifier for every pair this is the second method of Wu, Lin
    and Weng (2004), whose answer is never negative; with one for every class it is the point of the simplex that is
    nearest to r.
    """
    K, L = M.shape
    r = np.clip(r, SURE, 1 - SURE)
    step = max(1, COUPLED // (K * max(K, L)))
    p = np.empty((len(r), K))
    for lo in range(0, len(r), step):
        p[lo : lo + step] = _coupled(r[lo : lo + step], M)
    return p


def _coupled(r: Floats, M: Signs) -> Floats:
    from scipy.optimize import nnls  # here: a model is loaded and used without SciPy

    A = np.where(M.T[None] < 0, r[:, :, None], 0.0) - np.where(M.T[None] > 0, 1 - r[:, :, None], 0.0)
    K = M.shape[0]
    system, right = np.zeros((len(r), K + 1, K + 1)), np.zeros((len(r), K + 1, 1))
    system[:, :K, :K] = A.transpose(0, 2, 1) @ A
    size = np.einsum("ikk->i", system[:, :K, :K]) / K
    system[:, np.arange(K), np.arange(K)] += STEADY * size[:, None]  # where a code leaves classes undetermined: equal
    system[:, K, :K], system[:, :K, K], right[:, K] = size[:, None], size[:, None], size[:, None]
    p = np.linalg.solve(system, right)[:, :K, 0]
    for i in np.flatnonzero(p.min(axis=1) < 0):
        p[i] = nnls(np.vstack([A[i], np.ones(K)]), np.append(np.zeros(len(A[i])), 1.0))[0]
    return p / p.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def shared(r: Floats, scores: Floats) -> Floats:
    """pₖ = rₖ/Σⱼrⱼ; where every classifier is sure of the rest, the classes with the largest score have equal parts."""
    total = r.sum(axis=1, keepdims=True)
    top = (scores == scores.max(axis=1, keepdims=True)).astype(np.float64)
    return np.where(total > 0, r, top) / np.where(total > 0, total, top.sum(axis=1, keepdims=True))  # type: ignore[no-any-return]


def odds_of(r: Floats) -> Floats:
    """pₖ ∝ rₖ/(1 − rₖ) for k < K and p_K ∝ 1: given that at most one of K − 1 independent claims is true.

    Claims that are sure share the whole.
    """
    sure = (r == 1).astype(np.float64)
    with np.errstate(divide="ignore", invalid="ignore"):
        odds = np.column_stack([np.where(sure > 0, 0.0, r / (1 - r)), np.ones(len(r))])
    some = sure.any(axis=1, keepdims=True)
    whole = np.where(some, np.column_stack([sure, np.zeros(len(r))]), odds)
    return whole / whole.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]


def averaged(r: Floats, M: Signs) -> Floats:
    """pₖ = 2/(K(K − 1)) Σ_{j≠k} rₖⱼ: the mean of what the duels of class k give it, of all pairs."""
    plus, minus = (M > 0).astype(np.float64), (M < 0).astype(np.float64)
    won = r @ plus.T + (1 - r) @ minus.T
    return won / won.sum(axis=1, keepdims=True)  # type: ignore[no-any-return]
