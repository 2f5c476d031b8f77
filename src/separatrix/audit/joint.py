"""The check of a verdict on joint features: data, feature map and θ in, yes or no out.

It shares no code with what found θ. Counts and separations are decided in fractions where rounding could matter; of a
minimum the slope is summed in long double, and `audit_joint_proofs` rebuilds the bound.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from threadpoolctl import threadpool_limits

from ..data.maps.joint import Blocks
from ..results.claims import JointClaim
from ..results.proofs import Limit, Locality, Optimality, Separation
from ..results.separability import Separability
from ..results.verdict import Verdict
from .exact import EPS
from .joint_space import CHUNK, JointTable, Space, space_of
from .minimum import TOO_SURE, TWIST, doubt_of, slow_fall, slow_way, without_the_far
from .separation import prove
from .shown import allows, distance, fall

# The proofs that the audit of joint features rebuilds: of a minimum of the likelihood, and of a local one of the
# squared error.
#
# The Hessian of the likelihood has a root by QR, so that no condition is squared.


def _ridge(l2: float, free: tuple[int, ...], p: int) -> Any:
    """√l2 for each feature, and nothing for those that are free."""
    roots = np.full(p, math.sqrt(l2))
    roots[list(free)] = 0.0
    return roots


def _slope(claim: JointClaim, theta: Any, table: JointTable, basis: Any) -> Any:
    """Bᵀ(Σᵢ (cᵢ/C) Eᵢᵀ ∂ℓ/∂s + l2 θ), in long double."""
    g = np.square(_ridge(claim.l2, claim.free, theta.size)).astype(np.longdouble) * theta
    for part, E in table.differences():
        slope = table.loss.slope(table.scores(theta, E, part), table.target[part].astype(np.longdouble))
        g = g + np.tensordot(slope * table.share[part][:, None], E.astype(np.longdouble), 2)
    return (basis.T.astype(np.longdouble) @ g).astype(float)


def likelihood_gap(claim: JointClaim, theta: Any, table: JointTable, basis: Any, enough: float) -> float:
    """[ρν + (1 − ρν) log(1 − ρν)]/ρ²; ρ² the largest ‖Φ(x, c) − Φ(x, c′)‖², ν² = gᵀM⁻¹g, both in the norm of M⁻¹.

    M is the Hessian of rows in doubt; along a ray their curvature, a variance of the scores' rates, changes by no more
    than the range of these rates times itself.
    """
    if not basis.shape[1]:
        return 0.0
    doubt = [doubt_of(table.scores(theta, E, part)) for part, E in table.differences()]
    sure, g = np.concatenate(doubt) < TOO_SURE, _slope(claim, theta, table, basis)

    def proof(chosen: Any) -> tuple[float, Any]:
        R = _root(claim, theta, table, basis, chosen)
        if R is None:
            return math.inf, np.zeros(len(table))
        reach = np.concatenate([_reach(R, E @ basis) for _, E in table.differences()])
        nu = float(np.linalg.norm(solve_triangular(R, g, trans="T")))
        return fall(nu, math.sqrt(reach[chosen].max(initial=0.0))), reach

    return without_the_far(proof, ~sure, sure, enough)


def weights_off(claim: JointClaim, table: JointTable, space: Space, proof: Optimality | Limit) -> Any:
    """How far each weight can be off: −log(1 − ρν)/ρ times √(M⁻¹)ⱼⱼ, for what changes scores; None if not proved, or if
    ν, ρ or the distance is more than the certificate says.
    """
    theta, basis = claim.weights, space.basis
    if not basis.shape[1]:
        return np.zeros(theta.size)
    doubt = [doubt_of(table.scores(theta, E, part)) for part, E in table.differences()]
    chosen = np.concatenate(doubt) >= TOO_SURE
    R = _root(claim, theta, table, basis, chosen)
    if R is None:
        return None
    reach = max(float(_reach(R, (E @ basis)[chosen[part]]).max(initial=0.0)) for part, E in table.differences())
    nu, rho = (
        float(np.linalg.norm(solve_triangular(R, _slope(claim, theta, table, basis), trans="T"))),
        math.sqrt(reach),
    )
    nu += 2 * space.leak * space.drift(claim.l2) * rho  # the scores of the minimum's part in H
    way = distance(nu, rho)
    if not (math.isfinite(way) and allows(proof, nu, rho, way)):
        return None
    return np.linalg.norm(solve_triangular(R, basis.T, trans="T"), axis=0) * way


def coefficients_hold(claim: JointClaim, bounds: Any, off: Any, space: Space) -> bool:
    """Whether no weight is off by more: `off` in what changes scores, and the minimum's and θ's parts in what does not.

    Where a penalty does not tell weights apart, the shortest are meant.
    """
    if off is None:
        return False
    beside, rounding = space.beside(claim.weights)
    drift = space.drift(claim.l2)
    needed = off + np.abs(beside) + (drift * np.linalg.norm(space.held, axis=1) if drift else 0.0)
    return bool((needed <= np.asarray(bounds) * (1 + 1e-6) + rounding).all())


def _root(claim: JointClaim, theta: Any, table: JointTable, basis: Any, chosen: Any) -> Any:
    """R with RᵀR = Σᵢ (cᵢ/C) Σ_c p_c(e_c − ē)(e_c − ē)ᵀ + ridge, e = EB, ē = Σ_c p_c e_c; None where it is singular."""
    r = basis.shape[1]
    R = np.diag(_ridge(claim.l2, claim.free, theta.size)) @ basis
    for part, E in table.differences():
        at, e = table.scores(theta, E, part), E @ basis
        p = at.p.astype(float)
        centred = e - (p[:, :, None] * e).sum(axis=1, keepdims=True)
        weight = np.sqrt(p * (table.share * chosen)[part][:, None])
        R = np.linalg.qr(np.vstack([R, (weight[:, :, None] * centred).reshape(-1, r)]), mode="r")
    length = np.linalg.norm(R, axis=0)
    steady = len(R) == r and bool((np.abs(np.diag(R)) > r * EPS * length).all())
    return R if steady else None


def _reach(R: Any, e: Any) -> Any:
    """max over pairs of classes of ‖R⁻ᵀ(e_c − e_c′)‖², of each row."""
    n, K, r = e.shape
    white = solve_triangular(R, e.reshape(-1, r).T, trans="T").T.reshape(n, K, r)
    pairs = [np.square(white[:, k] - white[:, j]).sum(axis=1) for k in range(K) for j in range(k)]
    return np.max(pairs, axis=0)


def squared_proof(claim: JointClaim, table: JointTable, basis: Any, proof: Any) -> tuple[float, Any]:
    """νt − t²/2 + qt³/6, t = (1 − √(1 − 2qν))/q, q = 1.1 ρλ; λ the largest uᵀGu/uᵀMu, G = 2 Σᵢ (cᵢ/C) Σ_c (e_c − ē)².

    Along a line |f‴| ≤ 1.1 range³ of the scores' rates, and range² is at most twice the sum of their squares less the
    mean. Beside it t·√(M⁻¹)ⱼⱼ: how far each weight can be off, None if nothing is proved, or ν, ρ or t is more than the
    certificate says. The coordinates are those of the Gram matrix's root, so that M's condition does not hang on the
    features'.
    """
    theta, r = claim.weights, basis.shape[1]
    if not r:
        return 0.0, np.zeros(theta.size)
    R = np.diag(_ridge(claim.l2, claim.free, theta.size)) @ basis
    for part, E in table.differences():
        e = np.sqrt(table.share[part])[:, None, None] * (E - E.mean(axis=1, keepdims=True)) @ basis
        R = np.linalg.qr(np.vstack([R, e.reshape(-1, r)]), mode="r")
    white = solve_triangular(R, np.eye(r))
    ridge = (np.diag(_ridge(claim.l2, claim.free, theta.size)) @ basis) @ white
    M, G = ridge.T @ ridge, np.zeros((r, r))
    for part, E in table.differences():
        e, share = E @ basis @ white, table.share[part]
        bend = table.loss.curvature(table.scores(theta, E, part), table.target[part].astype(float)).astype(float)
        M += np.einsum("ikr,ikj,ijs->rs", e * share[:, None, None], bend, e, optimize=True)
        flat = (np.sqrt(share)[:, None, None] * (e - e.mean(axis=1, keepdims=True))).reshape(-1, r)
        G += 2 * flat.T @ flat
    M = (M + M.T) / 2
    if not np.linalg.eigvalsh(M)[0] > 1e-12:
        return math.inf, None
    L = np.linalg.cholesky(M)
    half = solve_triangular(L, solve_triangular(L, G, lower=True).T, lower=True)
    rho = math.sqrt(max(float(_reach(L.T, E @ basis @ white).max(initial=0.0)) for _, E in table.differences()))
    nu = float(np.linalg.norm(solve_triangular(L, white.T @ _slope(claim, theta, table, basis), lower=True)))
    q = TWIST * rho * float(np.linalg.eigvalsh(half)[-1])
    t = slow_way(nu, q)
    if not (math.isfinite(t) and allows(proof, nu, rho, t)):
        return math.inf, None
    return slow_fall(nu, q), t * np.linalg.norm(solve_triangular(L, (basis @ white).T, lower=True), axis=0)


class Scores(NamedTuple):
    """The scores of some rows."""

    part: slice
    s: Any
    """Rows × classes."""
    size: Any
    """Σⱼ |θⱼΦⱼ| of each row, the largest of its classes: a score is off by so many roundings at the most."""
    terms: int
    """How many numbers enter a score."""
    exact: Callable[[int, int, int], bool]
    """Whether in row i class k is ahead of class j, in fractions."""


def scores_of(table: JointTable, theta: Any) -> Iterator[Scores]:
    """The scores of all rows, some rows at a time."""
    intercept = plain_intercept(table)
    return _joint(table, theta) if intercept is None else _plain(table, theta, intercept)


def plain_intercept(table: JointTable) -> bool | None:
    """Whether the map is (x, 1) ⊗ e_c, True, or x ⊗ e_c, False; None: neither."""
    claim, given = table.claim, table.claim.feature_map
    if type(given) is not Blocks or not table.claim.tabular or len(given.blocks) != len(claim.classes):
        return None
    d, intercept = table.X.shape[1], bool(given.blocks[0].intercept)
    every = tuple(range(d))
    for c, block in zip(claim.classes, given.blocks, strict=True):
        if block.members != (c,) or block.columns != every or bool(block.intercept) != intercept:
            return None
    whole = claim.weights.size == len(claim.classes) * (d + intercept) == len(given.names)
    return intercept if whole else None


def _plain(table: JointTable, theta: Any, intercept: bool) -> Iterator[Scores]:
    U = np.reshape(theta, (len(table.claim.classes), -1))
    W, b = (U[:, :-1], U[:, -1]) if intercept else (U, np.zeros(len(U)))
    step = max(1, CHUNK // max(U.shape))
    for lo in range(0, len(table), step):
        X = table.X[lo : lo + step].astype(float)
        if not np.isfinite(X.data if hasattr(X, "tocsr") else X).all():
            raise ValueError("X has NaN or infinity")

        def exact(i: int, k: int, j: int, X: Any = X) -> bool:
            x = X[[i]].toarray().ravel() if hasattr(X, "tocsr") else X[i]
            some = np.flatnonzero(x)
            terms = zip(x[some].tolist(), W[k, some].tolist(), W[j, some].tolist(), strict=True)
            total = sum((Fraction(a) * (Fraction(u) - Fraction(v)) for a, u, v in terms), Fraction(0))
            return total + Fraction(float(b[k])) - Fraction(float(b[j])) > 0

        size = (abs(X) @ np.abs(W).T + np.abs(b)).max(axis=1)
        yield Scores(slice(lo, lo + X.shape[0]), X @ W.T + b, size, U.shape[1], exact)


def _joint(table: JointTable, theta: Any) -> Iterator[Scores]:
    weights = [Fraction(w) for w in np.asarray(theta, dtype=float).tolist()]
    for part, F in table.features():

        def exact(i: int, k: int, j: int, F: Any = F) -> bool:
            pairs = zip(F[i, k].tolist(), F[i, j].tolist(), weights, strict=True)
            return sum(((Fraction(a) - Fraction(b)) * w for a, b, w in pairs), Fraction(0)) > 0

        yield Scores(part, F @ theta, (np.abs(F) @ np.abs(theta)).max(axis=1), theta.size, exact)


SLACK = 1e-6
"""Relative: what the certificate's own rounding may make of a bound that is recomputed."""
PROOFS = {"optimal": Optimality, "local": Locality, "separated": Separation, "quasi-separated": Limit}
COUNTED = ("separated", "budget", "interrupted")
UNSURE = 1e-6
"""Relative: more than this the rounding of scores may not matter to a loss."""
LONG = np.finfo(np.longdouble).eps


@np.errstate(all="ignore")  # what is not a number proves nothing
def joint_holds(verdict: Verdict, X: Any, y: Any, sample_weight: Any = None) -> bool:
    """Whether the claim about joint features holds on these rows."""
    claim, proof, kind = verdict.claim, verdict.certificate, PROOFS.get(verdict.status)
    if not _coherent(claim) or (kind and not isinstance(proof, kind)):
        return False
    table = JointTable(claim, X, y, sample_weight)
    if not table.known or table.rows != claim.rows or not len(table):
        return False
    try:
        with threadpool_limits(1, user_api="blas"):  # many small factors: threads that wait for each other cost more
            return _holds(verdict, table)
    except (TypeError, ValueError, AttributeError, LookupError, np.linalg.LinAlgError):
        return False  # a map that gives no table of numbers proves nothing


def _holds(verdict: Verdict, table: JointTable) -> bool:
    claim, proof = verdict.claim, verdict.certificate
    if isinstance(proof, Separation) and not np.array_equal(proof.weights, claim.weights):
        return False
    if claim.objective == "mistakes":
        if verdict.status not in COUNTED or not _mistakes_hold(claim, table):
            return False
        return verdict.status != "separated" or _separates(proof, table)
    if isinstance(proof, Separation) and not _separates(proof, table):
        return False
    penalised = np.delete(claim.weights, list(claim.free)).astype(np.longdouble)
    value = table.mean_loss(claim.weights) + claim.l2 / 2 * float(np.square(penalised).sum())
    slip = table.rounding(claim.weights)
    if not isinstance(proof, Separation):  # which is exact, however large the scores
        if slip * float(LONG / EPS) > UNSURE * abs(value) + 1e-12:
            return False  # the scores are so large that not even long double tells the loss
        slip = min(slip, UNSURE * abs(value))
    if not math.isclose(value, claim.value, rel_tol=1e-9, abs_tol=1e-12 + slip):
        return False
    if isinstance(proof, Optimality | Locality):  # of a budget too: the gap that was reached
        return _is_minimum(verdict, table)
    return not isinstance(proof, Limit) or _is_limit(verdict, proof, table)


def _coherent(claim: JointClaim) -> bool:
    """Whether the parts of the claim fit together, so that no number is left that nothing reads."""
    p, counted = np.size(claim.weights), claim.objective == "mistakes"
    return bool(
        len(claim.classes) >= 2
        and np.shape(claim.weights) == (p,)
        and p
        and np.isfinite(claim.weights).all()
        and callable(claim.feature_map)
        and claim.objective in ("likelihood", "squared", "mistakes")
        and claim.l2 >= 0
        and len(claim.class_weight) in (0, len(claim.classes))
        and all(weight > 0 for weight in claim.class_weight)
        and all(0 <= j < p for j in claim.free)
        and not (counted and (claim.l2 or claim.soft or any(weight != 1 for weight in claim.class_weight)))
    )


# ------------------------------------------------------------------------------------------- counts and separations


def _mistakes_hold(claim: JointClaim, table: JointTable) -> bool:
    """Whether n·value rows are wrong: ŷ is the first of the strongest. Where rounding decides, either will do."""
    surely, perhaps = 0, 0
    for part, s, size, terms, _ in scores_of(table, claim.weights):
        doubt = 4 * (terms + 4) * EPS * size
        own = table.own[part][:, None]
        rest = s.copy()
        np.put_along_axis(rest, own, -np.inf, 1)
        lead = np.take_along_axis(s, own, 1)[:, 0] - rest.max(axis=1)
        surely += int((lead < -doubt).sum())
        perhaps += int((np.abs(lead) <= doubt).sum())
    wrong = claim.value * table.rows
    return bool(np.isfinite(wrong) and surely - 1e-6 <= wrong <= surely + perhaps + 1e-6)


def _separates(proof: Any, table: JointTable) -> bool:
    """Whether θ·(Φ(x, y) − Φ(x, c)) > 0 exactly for all rows and c ≠ y, and the least of it over ‖θ‖ is the margin."""
    theta = np.asarray(proof.weights, dtype=float)
    if theta.shape != table.claim.weights.shape or not np.isfinite(theta).all() or np.any(proof.intercept):
        return False
    if (np.count_nonzero(table.target, axis=1) > 1).any():
        return False  # a row of two classes is on both sides
    least = np.inf
    for part, s, size, terms, exact in scores_of(table, theta):
        own = table.own[part][:, None]
        lead = np.take_along_axis(s, own, 1) - s
        np.put_along_axis(lead, own, np.inf, 1)
        unsure = np.argwhere(~(lead > 2 * (terms + 4) * EPS * size[:, None]))
        if not all(exact(int(i), int(own[i, 0]), int(k)) for i, k in unsure):
            return False
        least = min(least, float(lead.min()))
    return math.isclose(least / float(np.linalg.norm(theta)), proof.margin, rel_tol=1e-6)


# ------------------------------------------------------------------------------------------------- minima and limits


def _is_minimum(verdict: Verdict, table: JointTable) -> bool:
    """Whether the rows prove the gap that was claimed."""
    claim, proof = verdict.claim, verdict.certificate
    assert isinstance(proof, Optimality | Locality)
    local = claim.objective == "squared"
    if local != isinstance(proof, Locality) or np.shape(proof.coefficients) != claim.weights.shape:
        return False
    if not math.isclose(proof.relative_gap * claim.value, proof.gap, rel_tol=SLACK, abs_tol=1e-300):
        return False
    space = space_of(table)
    if verdict.rank.rank is not None and (verdict.rank.rank != space.basis.shape[1] or claim.l2):
        return False
    enough = proof.gap * (1 + SLACK) + 1e-15 * abs(claim.value)
    if local:
        found, off = squared_proof(claim, table, space.basis, proof)
    else:
        found, off = likelihood_gap(claim, claim.weights, table, space.basis, enough), None
    if not (math.isfinite(found) and found + space.lower(claim.weights, claim.l2) <= enough):
        return False
    if isinstance(proof, Optimality):
        off = weights_off(claim, table, space, proof)
    return coefficients_hold(claim, proof.coefficients, off, space)


def _is_limit(verdict: Verdict, proof: Limit, table: JointTable) -> bool:
    """Whether u separates some z = Φ(x, y) − Φ(x, c) and no more can be, and v is near the maximum of what is left."""
    claim, result = verdict.claim, verdict.separability
    if not isinstance(result, Separability) or result.kind != "quasi-separated" or claim.l2:
        return False
    if claim.objective != "likelihood" or np.shape(proof.weights) != claim.weights.shape:
        return False
    Z, row, other = signed_rows(table)
    turned = np.arange(len(Z)) % 2 == 1
    Z[turned] *= -1
    if result.fit_intercept or result.classes != (0, 1) or not prove(result, Z, (~turned).astype(int)):
        return False
    table.among[row[result.rows], other[result.rows]] = False
    v, u = np.asarray(proof.weights, dtype=float), np.asarray(result.certificate.weights, dtype=float)
    if not np.isfinite(v).all() or not _on_the_ray(claim.weights, v, u):
        return False
    value = table.mean_loss(v)
    slip = min(table.rounding(v), UNSURE * value)
    close = math.isclose(proof.value, value, rel_tol=1e-9, abs_tol=1e-12 + slip) and math.isclose(
        proof.deviance, 2 * value * float(table.cost.sum()), rel_tol=1e-9, abs_tol=1e-12 + 2 * slip * len(table)
    )
    if not close or not math.isclose(proof.relative_gap * proof.value, proof.gap, rel_tol=SLACK, abs_tol=1e-300):
        return False
    enough = proof.gap * (1 + SLACK) + 1e-15 * value + slip * slip
    space, there = space_of(table), replace(claim, weights=v)
    if np.shape(proof.coefficients) != v.shape or not likelihood_gap(claim, v, table, space.basis, enough) <= enough:
        return False
    return coefficients_hold(there, proof.coefficients, weights_off(there, table, space, proof), space)


def signed_rows(table: JointTable) -> tuple[Any, Any, Any]:
    """z = Φ(x, y) − Φ(x, c), its row and its c: row by row for all c ≠ y; then −z of every c that a row may be too."""
    forth: list[Any] = []
    back: list[Any] = []
    for part, E in table.differences():
        own, target = table.own[part], table.target[part]
        for i in range(len(E)):
            for k in range(E.shape[1]):
                if k != own[i]:
                    forth.append((-E[i, k], i + part.start, k))
                    back += [(E[i, k], i + part.start, k)] * bool(target[i, k] > 0)
    z, row, other = zip(*forth, *back, strict=True)
    return np.array(z), np.array(row), np.array(other)


def _on_the_ray(theta: Any, v: Any, u: Any) -> bool:
    """θ = v + τu, τ ≥ 0, up to rounding."""
    step = theta - v
    tau = float(step @ u) / float(u @ u)
    return bool(tau >= 0 and (np.abs(step - tau * u) <= SLACK * tau * np.abs(u) + 8 * EPS * np.abs(theta).max()).all())
