"""Many classes from two: a coding matrix says which classes each of L classifiers has on which side.

M is K × L, of −1, 0 and +1: classifier l is taught +1 for the classes k with Mₖₗ = +1, −1 for those with Mₖₗ = −1, and
never sees the others. What the classifiers say of a row is then compared with the rows of M.  [003 slides 11, 12]
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import SettingError
from ..numerics.arrays import Floats
from ..wording import setting

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
