"""The proof of a minimum of the likelihood in double precision, every rounding bounded: what decides most checks.

With M = Σᵢ∈S (cᵢ/C) zᵢzᵢᵀ⊗∂²ℓᵢ + ridge ⪯ H of the rows S that the certificate names, ν² = gᵀM⁻¹g and ρ² the largest
leverage. A row's curvature is a variance under p: if its scores are off by e, it is no less than e^−2e times what it
is there, and so is M. The rounding of a sum of m rows is at most γₘ Σᵢ cᵢvᵢ|zᵢⱼzᵢₖ| ≤ γₘ√(MⱼⱼMₖₖ), by Cauchy–Schwarz,
and that is what `Root` asks for. Of K classes the weights are those against the class that most rows have: so all terms
of an entry have one sign, p(1 − p) or −pₖpⱼ, and each keeps its digits.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..results.claims import Claim
from .columns import Columns
from .rounding import SLIGHT, TOTAL, Root, U, gamma, modest
from .rows import Table
from .shown import Shown
from .sums import (
    TOO_SURE,
    WIDEST,
    Lines,
    Place,
    Scores,
    Sums,
    frames_of,
    gathered,
    longest,
    relative_rounding,
    sums_of,
    sure_of,
)


class Classes(NamedTuple):
    """The weights of a proof, θₖ = wₖ − w_pivot of all other classes; of two classes those of the second."""

    free: Any
    """Which columns of scores they are of."""
    pairs: Any
    """Pairs of classes × free: what two scores of a row differ by."""
    penalty: Any
    """TᵀT, T the map from θ to the weights that the penalty is of."""
    told: Any
    """Classes × free: from θ to the coefficients that are told, relative to the last class or to all of them."""

    @classmethod
    def of(cls, claim: Claim, table: Table) -> Classes:
        """Of the claim's classes."""
        K = len(claim.classes)
        if K == 2:
            return cls(np.array([0]), np.ones((1, 1)), np.ones((1, 1)), np.ones((1, 1)))
        pivot = int((table.cost @ table.target).argmax())
        free = np.array([k for k in range(K) if k != pivot])
        unit = np.eye(K)[:, free]
        told = unit - 1 / K if claim.l2 > 0 else unit - unit[-1]
        pairs = np.array([unit[k] - unit[j] for k in range(K) for j in range(k)])
        return cls(free, pairs, np.eye(K - 1) - 1 / K, told)


class Curvature(NamedTuple):
    """M without its ridge, of the rows of a part that are not too sure; and these."""

    M: Any
    eta: float
    """How far an entry Mⱼₖ is off at the most, in units of √(MⱼⱼMₖₖ), at scores that are exact."""
    factor: float
    """How far all of M is off because they are not."""
    used: list[tuple[slice, Any]]
    """Some rows at a time, and which of them are used."""
    farthest: Any
    """maxᵢ|zᵢⱼ| of these."""


@dataclass(frozen=True)
class Prover:
    """A claim on its rows, in coordinates z: the columns that count, centred, and a one."""

    claim: Claim
    lines: Lines
    columns: Columns
    classes: Classes

    @property
    def keep(self) -> Any:
        """The columns that count."""
        return self.columns.keep

    def design(self, Y: Any) -> Any:
        """z of some rows."""
        Y = Y if len(self.keep) == Y.shape[1] else Y[:, self.keep]
        return np.column_stack([Y, np.ones(len(Y))]) if self.claim.fit_intercept else Y

    def curvature(self, chosen: Any, *, least: bool) -> Curvature | None:
        """Σᵢ (cᵢ/C) ∂²ℓᵢ ⊗ zᵢzᵢᵀ of the chosen rows that are not too sure; or minₖpᵢₖ zᵢzᵢᵀ of them, which is less."""
        claim, table, lines, free = self.claim, self.lines.table, self.lines, self.classes.free
        scores, inverse = Scores.of(claim.weights, claim.intercept, lines), 1 / np.square(lines.frame.size)
        w, F = len(self.keep) + claim.fit_intercept, 1 if least else len(free)
        total, parts = float(table.cost.sum()), lines.parts(None if least else chosen)

        def work(own: Iterable[slice]) -> Any:
            M, worst, used, far = np.zeros((F, w, F, w)), 0.0, [], np.zeros(w)
            for rows, Y in lines.read(own):
                length = np.sqrt((Y * Y) @ inverse)
                at, share = Place.of(scores.at(Y), table.target[rows]), table.cost[rows] / total
                if least:
                    bends, counts = at.p.min(axis=1)[:, None], chosen[rows]
                else:
                    top = at.bend[:, 0] if at.bend.shape[1] == 1 else sure_of(at)
                    bends, counts = at.bend[:, free], top >= TOO_SURE
                Z = self.design(Y)
                p, off = at.p, scores.off(Y, length)
                if not counts.all():
                    Z, bends, share, p, off = Z[counts], bends[counts], share[counts], p[counts], off[counts]
                used.append((rows, counts))
                if not len(Z):
                    continue
                worst, far = np.maximum(worst, off.max()), np.maximum(far, np.abs(Z).max(axis=0))
                for a in range(F):
                    rooted = Z * np.sqrt(share * bends[:, a])[:, None]
                    M[a, :, a] += rooted.T @ rooted
                    for b in range(a):
                        M[a, :, b] -= (Z * (share * p[:, free[a]] * p[:, free[b]])[:, None]).T @ Z
            return M, worst, used, far

        found = gathered(parts, sum(part.stop - part.start for part in parts) * lines.table.X.shape[1], work)
        M, worst = sum(each[0] for each in found), float(np.max([each[1] for each in found]))
        if not worst <= WIDEST:
            return None
        for a in range(F):
            for b in range(a):
                M[b, :, a] = M[a, :, b].T
        eta = gamma(longest(parts) + TOTAL) + 2 * relative_rounding(len(claim.classes))
        used = [pair for each in found for pair in each[2]]
        return Curvature(M, eta, 2.1 * worst, used, np.max([each[3] for each in found], axis=0))

    def ridged(self, M: Any, *, least: bool) -> Any:
        """M with the penalty's curvature, as a matrix."""
        F, w = M.shape[:2]
        ridge = np.zeros(w)
        ridge[: len(self.keep)] = self.claim.l2
        penalty = np.ones((1, 1)) if least else self.classes.penalty
        return (M + np.einsum("ab,jk->ajbk", penalty, np.diag(ridge))).reshape(F * w, F * w)

    def slope(self, sums: Sums, shift: Any, taken: Any = 0.0) -> tuple[Any, Any]:
        """The slope of all scores in this frame, its penalty less `taken`, and how far it is off."""
        pulls, keep = sums.pulls, self.keep
        moved = shift[keep]
        weights = pulls.weights[:, keep] - pulls.levels[:, None] * moved
        errors = pulls.loss[:, None] * (pulls.columns[keep] + np.abs(moved))
        size = (np.abs(np.atleast_2d(self.claim.weights)) + np.abs(taken)).max(axis=0)[keep]
        W = np.atleast_2d(self.claim.weights) - taken
        W = W - W.mean(axis=0) if len(W) > 1 else W
        penalty = self.claim.l2 * W[:, keep]
        errors = errors + (TOTAL + len(W)) * U * (
            np.abs(pulls.weights[:, keep]) + np.abs(pulls.levels[:, None] * moved) + self.claim.l2 * size
        )
        g = weights + penalty
        if self.claim.fit_intercept:
            g, errors = np.column_stack([g, pulls.levels]), np.column_stack([errors, pulls.loss])
        return g, errors

    def farthest(self, root: Root, form: Any, found: Curvature) -> tuple[float, float]:
        """The largest ‖Fzᵢ‖ in units of M⁻¹, at the least and at the most."""
        G, used = form.T @ form, found.used
        width = len(found.farthest)

        def work(own: Iterable[tuple[slice, Any]]) -> Any:
            most, counts = 0.0, {rows.start: picked for rows, picked in own}
            for rows, Y in self.lines.read([rows for rows, _ in own]):
                Z, picked = self.design(Y), counts[rows.start]
                Z = Z if picked.all() else Z[picked]
                most = np.maximum(most, ((Z @ G) * Z).sum(axis=1).max(initial=0))  # what is no number stays so
            return most

        most = float(np.max(gathered(used, sum(len(picked) for _, picked in used) * width, work)))
        off = gamma(2 * width + len(form) + 8) * float(np.square(np.abs(form) @ found.farthest).sum()) * SLIGHT
        least, largest = math.sqrt(max(most - off, 0)), math.sqrt(most + off)
        return float(root.between(least, 0.0)[0]), float(root.between(largest, 0.0)[1])

    def spread(self, root: Root, told: Any, way: Any) -> tuple[Any, Any]:
        """√(M⁻¹)ⱼⱼ of each coefficient that is told, at the least and at the most: the weights, then the intercept."""
        d, keep, lifted = self.lines.table.X.shape[1], self.keep, self.claim.fit_intercept
        w, F = len(keep) + lifted, told.shape[1]
        own, off = np.zeros((len(told), d + 1)), np.zeros((len(told), d + 1))
        level = np.append(-self.lines.frame.center[keep], 1.0)
        if way is not None and lifted:
            way = np.column_stack([way[:, :-1] + np.outer(way[:, -1], level[:-1]), way[:, -1]])
        for k, row in enumerate(told):
            if not row.any():
                continue
            R, size = (np.tensordot(A.reshape(-1, F, w), by, (1, 0)) for A, by in
                       ((root.R, row), (root.size, np.abs(row))))  # fmt: skip
            if way is not None:
                own[k], off[k] = np.linalg.norm(R @ way.T, axis=0), np.linalg.norm(size @ np.abs(way).T, axis=0)
                continue
            own[k, keep], off[k, keep] = (np.linalg.norm(A, axis=0)[: len(keep)] for A in (R, size))
            if lifted:
                own[k, d], off[k, d] = np.linalg.norm(R @ level), np.linalg.norm(size @ np.abs(level))
        return root.between(own, off * gamma(2 * (w + F) + 8))


class Between(NamedTuple):
    """The bounds that the rows prove are these at the most; and at the least, where that is known."""

    most: Shown
    least: Shown | None


Proved = tuple[Sums, list[Between]]
"""The mean loss, and what is proved: more than once where the coefficients may be those of one minimum or another."""


def proved(claim: Claim, table: Table, witness: Any, columns: Columns, chosen: Any) -> Proved | None:
    """By the Hessian of the chosen rows, or a witness; None where not even the mean loss is known."""
    near, whole = frames_of(claim, table)
    by_witness = witness is not None and len(claim.classes) > 2
    shape = len(claim.classes), len(claim.columns) + 1
    sound = not by_witness or (np.shape(witness) == shape and np.isfinite(witness).all())
    if not (sound and np.isfinite(whole.center).all() and modest(near.size, whole.size, table.cost.sum())):
        return None
    sums = sums_of(claim, Lines.of(table, near), witness if by_witness else None)
    if sums is None:
        return None
    prover = Prover(claim, Lines.of(table, whole, written=True), columns, Classes.of(claim, table))
    shift = whole.center - near.center
    found = _by_witness(prover, sums, witness, shift) if by_witness else _exactly(prover, sums, chosen, shift)
    return sums, list(found)


def _exactly(prover: Prover, sums: Sums, chosen: Any, shift: Any) -> Iterator[Between]:
    """ν² = gᵀM⁻¹g, ρ² = maxᵢ of the leverages."""
    classes = prover.classes
    found = prover.curvature(chosen, least=False)
    root = None if found is None else Root.of(prover.ridged(found.M, least=False), found.eta, found.factor)
    if found is None or root is None:
        return
    g, errors = prover.slope(sums, shift)
    nus = root.lengths(*(each[classes.free].reshape(-1, 1) for each in (g, errors)))
    F, w = len(classes.free), len(found.farthest)
    forms = [np.tensordot(root.R.reshape(-1, F, w), pair, (1, 0)) for pair in classes.pairs]
    rhos = zip(*(prover.farthest(root, form, found) for form in forms), strict=True)
    ends = list(zip((float(nu[0]) for nu in nus), (float(np.max(each)) for each in rhos), strict=True))
    for way in prover.columns.ways:
        least, most = (Shown.by(*end, spread) for end, spread in
                       zip(ends, prover.spread(root, classes.told, way), strict=True))  # fmt: skip
        yield Between(most, least)


def _by_witness(prover: Prover, sums: Sums, witness: Any, shift: Any) -> Iterator[Between]:
    """ν ≤ √(uᵀHu) + ‖g − Hu‖_{(I⊗B)⁻¹}, ρ² ≤ 2 maxᵢ zᵢᵀB⁻¹zᵢ, H ⪰ I⊗B = I ⊗ (Σᵢ (cᵢ/C) minₖpᵢₖ zᵢzᵢᵀ + ridge).

    Of the rows that are not too sure.
    """
    claim = prover.claim
    found = prover.curvature(sums.unsure, least=True)
    root = None if found is None else Root.of(prover.ridged(found.M, least=True), found.eta, found.factor)
    if found is None or root is None:
        return
    u = witness[:, :-1]
    left, errors = prover.slope(sums, shift, taken=u)
    size, slip = float(np.linalg.norm(u - u.mean(axis=0))), len(u) * U * float(np.linalg.norm(u))
    K, rests = len(u), root.lengths(left.T, errors.T)
    told = np.full((K, 1), math.sqrt(1 - 1 / K))
    if claim.l2 == 0:  # relative to the last class
        told[:-1], told[-1] = math.sqrt(2), 0
    ends = []
    for along, penalty, rest, far, last in zip(
        sums.along, (size - slip, size + slip), rests, prover.farthest(root, root.R, found), (1 / SLIGHT, SLIGHT),
        strict=True,
    ):  # fmt: skip
        nu = math.hypot(along, math.sqrt(claim.l2) * max(penalty, 0)) + float(np.linalg.norm(rest))
        ends.append((nu * last, math.sqrt(2) * far * last, told * last))
    for way in prover.columns.ways:
        spreads = prover.spread(root, np.ones((1, 1)), way)
        least, most = (Shown.by(nu, rho, by * own) for (nu, rho, by), own in zip(ends, spreads, strict=True))
        yield Between(most, least)
