"""Bounds on rounding: what is true lies between them, and they are near enough to decide."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from scipy import sparse
from threadpoolctl import threadpool_info

from separatrix import LogisticRegression
from separatrix.audit.bounded import proved
from separatrix.audit.bounded_wide import penalised
from separatrix.audit.columns import Columns, columns_of
from separatrix.audit.exact import solve
from separatrix.audit.minimum import Point, likelihood_shown, penalised_shown
from separatrix.audit.objectives import Softmax, scores
from separatrix.audit.optimum import chosen_rows, mean_loss
from separatrix.audit.rounding import Root, gamma
from separatrix.audit.rows import Table
from separatrix.audit.shown import coherent, covers, distance, fall
from separatrix.audit.sums import FEW, Frame, Lines, OneThread, exact_in_double, frames_of, sums_of
from separatrix.results.claims import Claim

from .forgeries import case_of

U = 2.0**-53


def exact_form(M, b):
    """bᵀM⁻¹b in fractions; None where M is singular."""
    found = solve(M, [Fraction(x) for x in b])
    if found is None:
        return None
    numbers, divisor = found
    return sum(Fraction(x) * n for x, n in zip(b.tolist(), numbers, strict=True)) / divisor


# ------------------------------------------------------------------------------------------------------------- matrices


@pytest.mark.parametrize("condition", [1.0, 1e4, 1e8, 1e11])
def test_a_root_bounds_the_inverse_of_every_matrix_within_its_errors(condition):
    rng, seen = np.random.default_rng(int(np.log10(condition))), 0
    for n in (1, 2, 4, 6):
        for _ in range(8):
            Q = np.linalg.qr(rng.normal(size=(n, n)))[0] * 10.0 ** rng.uniform(-3, 3, n)
            M = Q.T @ (np.geomspace(1, 1 / condition, n)[:, None] * Q)
            M, b, eta = (M + M.T) / 2, rng.normal(size=n), 10.0 ** rng.uniform(-16, -11)
            size = np.sqrt(np.diag(M))
            other = M + eta * 0.99 * np.outer(size, size) * np.triu(rng.choice([-1, 1], (n, n)))
            other = np.triu(other) + np.triu(other, 1).T
            root = Root.of(M, eta)
            if root is None:
                continue
            seen += 1
            least, most = (float(each[0]) for each in root.lengths(b[:, None]))
            for matrix in (M, other):
                assert Fraction(least) ** 2 <= exact_form(matrix, b) <= Fraction(most) ** 2
    assert seen >= (20 if condition < 1e10 else 1)


def test_what_is_not_surely_positive_definite_has_no_root():
    flat = np.array([[1.0, 1.0], [1.0, 1.0]])
    for M in (flat, -np.eye(2), np.zeros((2, 2)), np.full((2, 2), np.nan), flat + np.diag([0, 1e-15])):
        assert Root.of(M, 1e-15) is None
    near = flat + np.diag([0, 1e-9])
    assert Root.of(near, 1e-12) is not None
    assert Root.of(near, 1e-8) is None  # within these errors it may be singular
    assert Root.of(near, 1e-12, 0.6) is None


def test_errors_of_a_vector_are_counted():
    rng = np.random.default_rng(0)
    Z = rng.normal(size=(50, 4))
    root, b, errors = Root.of(Z.T @ Z, 1e-13), rng.normal(size=4), np.array([1e-3, 0, 1e-2, 0])
    least, most = (each[0] for each in root.lengths(b[:, None], errors[:, None]))
    for signs in np.array(np.meshgrid(*[[-1, 1]] * 4)).reshape(4, -1).T:
        moved = b + signs * errors
        assert least <= np.sqrt(moved @ np.linalg.solve(Z.T @ Z, moved)) <= most


# --------------------------------------------------------------------------------------------------------------- sums


def made_up(classes, n, d, offset, scale, seed):
    rng = np.random.default_rng(seed)
    X = (rng.normal(size=(n, d)) + offset) * np.geomspace(1, scale, d)
    W = rng.normal(size=(classes if classes > 2 else 1, d)) / np.geomspace(1, scale, d)
    b = rng.normal(size=len(W)) - (W * np.geomspace(1, scale, d)).sum(axis=1) * offset
    y = rng.integers(classes, size=n)
    weights, intercept = (W[0], float(b[0])) if classes == 2 else (W, b)
    names = tuple(f"x{j}" for j in range(d))
    claim = Claim(tuple(range(classes)), names, weights, intercept, True, 0.0, (1.0,) * classes, 0.5, n)
    return claim, Table(claim, X, y, rng.random(n) + 0.1)


def slopes(claim, table, center):
    """Σᵢ (cᵢ/C)(p − t)(x − c), in long double."""
    X = table.X.astype(np.longdouble)
    at = Softmax(scores(claim.weights, claim.intercept, X))
    own = slice(1, 2) if len(claim.classes) == 2 else slice(None)
    pull = at.error(table.target.astype(np.longdouble))[:, own] * (table.cost / table.cost.sum())[:, None]
    return pull.T @ (X - center), pull.sum(axis=0)


@pytest.mark.parametrize(
    ("classes", "offset", "scale"), [(2, 0, 1), (2, 1e6, 1e3), (3, 0, 1e3), (4, 1e4, 1), (2, 3, 1)]
)
def test_sums_are_no_farther_off_than_they_say(classes, offset, scale):
    for n, d in ((7, 2), (900, 5), (30_000, 40)):
        claim, table = made_up(classes, n, d, offset, scale, n)
        for frame in (*frames_of(claim, table), Frame(np.zeros(d), np.ones(d))):
            sums = sums_of(claim, Lines.of(table, frame))
            assert abs(sums.value - mean_loss(claim, table)) <= sums.value_off
            weights, levels = slopes(claim, table, frame.center)
            assert (np.abs(sums.pulls.weights - weights) <= sums.pulls.loss[:, None] * sums.pulls.columns).all()
            assert (np.abs(sums.pulls.levels - levels) <= sums.pulls.loss).all()
            if not offset and frame.size[0] != 1:  # not where the sizes of the columns are unknown
                assert sums.value_off <= 1e-11 * sums.value
                assert (sums.pulls.loss <= 1e-12).all()


def test_csr_rows_are_added_up_as_they_are():
    claim, table = made_up(3, 6000, 30, 0, 1, 1)
    table.X[np.random.default_rng(2).random(table.X.shape) < 0.8] = 0
    sheet = Table(claim, sparse.csr_array(table.X), table.target.argmax(axis=1), table.cost)
    assert isinstance(sheet.X, np.ndarray)  # so few that they are written out
    wide = np.hstack([table.X, np.zeros((6000, 800))])
    claim = Claim(
        claim.classes, tuple(map(str, range(830))), np.hstack([claim.weights, np.zeros((3, 800))]), claim.intercept,
        True, 0.0, claim.class_weight, 0.5, 6000,
    )  # fmt: skip
    dense, csr = (Table(claim, X, table.target.argmax(axis=1), table.cost) for X in (wide, sparse.csr_array(wide)))
    frame = Frame(np.zeros(830), np.ones(830))
    lines = Lines.of(csr, frame)
    assert lines.sparse
    assert not Lines.of(csr, frame, written=True).sparse
    mine, its = sums_of(claim, lines), sums_of(claim, Lines.of(dense, frame))
    assert abs(mine.value - its.value) <= mine.value_off + its.value_off
    assert (np.abs(mine.pulls.weights - its.pulls.weights) <= 1e-12).all()


def test_a_score_that_nobody_knows_ends_it():
    claim, table = made_up(2, 50, 2, 0, 1, 0)
    table.X[3] = 1e17
    assert sums_of(claim, Lines.of(table, Frame(np.zeros(2), np.ones(2)))) is None
    table.X[3] = np.nan
    assert sums_of(claim, Lines.of(table, Frame(np.zeros(2), np.ones(2)))) is None


def test_numbers_that_double_precision_does_not_hold_go_the_long_way():
    _, table = made_up(2, 50, 2, 0, 1, 0)
    for X, holds in (
        (table.X.astype(np.float32), True), (table.X.astype(np.longdouble), False), (table.X > 0, True),
        (table.X.astype(np.int64), True), (np.full((50, 2), 2**53 + 1), False), (np.full((50, 2), -(2**60)), False),
        (np.full((50, 2), 2**63, np.uint64), False),
    ):  # fmt: skip
        table.X = X
        assert exact_in_double(table) is holds


# ------------------------------------------------------------------------------------------------------------- proofs


def both_ways(case):
    """What double precision proves, and long double."""
    claim, proof = case.verdict.claim, case.verdict.certificate
    table = Table(claim, case.X, case.y, case.cost)
    if case.rows.places is not None and len(claim.columns) > 2000:
        return penalised(claim, table, proof.witness), list(penalised_shown(claim, table, proof.witness))
    columns, chosen = columns_of(case.verdict, table), chosen_rows(proof, table)
    point = Point.of(case.verdict, table, columns.keep)
    return (
        proved(claim, table, proof.witness, columns, chosen),
        list(likelihood_shown(point, proof.witness, columns.ways, chosen)),
    )


def test_the_bounds_enclose_those_of_long_double_and_decide():
    decided = []
    for seed in range(90):
        case = case_of(seed)
        if case is None or case.rows.squared:
            continue
        (_, found), shown = both_ways(case)
        for each, its in zip(found, shown, strict=False):
            for name in its._fields:
                truth = np.asarray(getattr(its, name))
                most = np.asarray(getattr(each.most, name))
                assert (most >= truth * (1 - 1e-12)).all(), (seed, name)
                assert (most <= truth * 1.2 + 1e-12).all(), (seed, name)
                if each.least is not None:
                    assert (np.asarray(getattr(each.least, name)) <= truth * (1 + 1e-12)).all(), (seed, name)
        decided.append(any(covers(case.verdict.certificate, case.verdict.claim, each.most) for each in found))
    assert len(decided) > 60
    assert np.mean(decided) > 0.95


@pytest.mark.parametrize("rows", [1500, 60_000])
@pytest.mark.parametrize(
    "make", [np.asarray, np.asfortranarray, lambda X: X.astype(np.float32), lambda X: np.rint(9 * X).astype(np.int16)]
)
def test_layouts_and_precisions_need_not_go_the_long_way(rows, make):
    rng = np.random.default_rng(0)
    X = make(rng.normal(size=(rows, 20)) + np.linspace(0, 50, 20))
    assert (X.size > FEW) == (rows > 1500)
    y = rng.logistic(size=rows) < X[:, 0] / (9 if X.dtype.kind == "i" else 1)
    verdict = LogisticRegression().fit(X, y).verdict_
    table = Table(verdict.claim, X, y, None)
    sums, found = proved(
        verdict.claim, table, None, columns_of(verdict, table), chosen_rows(verdict.certificate, table)
    )
    assert sums.value == pytest.approx(verdict.claim.value, rel=1e-12)
    assert covers(verdict.certificate, verdict.claim, found[0].most)
    assert verdict.check(X, y)


def test_the_sample_that_a_certificate_names_must_be_rows_and_as_many_as_it_says():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(9000, 120))
    verdict = LogisticRegression().fit(X, rng.logistic(size=9000) < X[:, 0]).verdict_
    proof, claim = verdict.certificate, verdict.claim
    table = Table(claim, X, np.zeros(9000, bool), None)
    assert proof.share < 1
    assert len(proof.sample) > 1
    chosen = chosen_rows(proof, table)
    assert np.count_nonzero(chosen) == (proof.sample[:, 1] - proof.sample[:, 0]).sum()
    assert [bool(chosen[lo]) and bool(chosen[hi - 1]) for lo, hi in proof.sample] == [True] * len(proof.sample)

    def named(sample, share=proof.share):
        return chosen_rows(type(proof)(**{**vars(proof), "sample": sample, "share": share}), table)

    assert named(None) is None
    assert named(None, 1.0).all()
    for bad in (proof.sample[::-1], -proof.sample, proof.sample + 9000, proof.sample[:, :1], proof.sample / 1.0, []):
        assert named(np.asarray(bad) if len(bad) else np.empty((0, 2), int)) is None
    assert named(proof.sample, proof.share * 0.9) is None


def test_blas_has_its_threads_again_when_all_checks_are_over():
    def threads():
        return [each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"]

    before = threads()
    with OneThread(), ThreadPoolExecutor(2) as pool:
        for _ in range(20):
            pool.submit(OneThread().__enter__)
            pool.submit(lambda: OneThread().__exit__())
        pool.shutdown()
        assert set(threads()) == {1}
    assert threads() == before


def test_gamma_grows_as_sums_do():
    assert gamma(0) == 0
    assert 100 * U <= gamma(100) <= 100 * U * (1 + 1e-13)


# ------------------------------------------------------------------------------------------- what must not be believed


@pytest.mark.parametrize("by", [1e-4, 1e-6, 1e-8])
def test_weights_of_few_rows_may_not_leave_their_span_unseen(by):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(6, 18)), np.arange(6) % 2
    verdict = LogisticRegression(l2=0.3).fit(X, y).verdict_
    claim, proof = verdict.claim, verdict.certificate
    assert verdict.check(X, y)
    centred = X - X.mean(axis=0)
    P = np.linalg.pinv(centred) @ centred
    j = np.argmin(np.diag(P))
    off = by * (
        np.eye(18)[j] - P[j]
    )  # changes no score, and takes coefficient j farther than the norm of the rest says
    W, b = claim.weights + off, claim.intercept - off @ X.mean(axis=0)
    value = np.logaddexp(0, -np.where(y, 1, -1) * (X @ W + b)).mean() + 0.15 * W @ W
    nu, rho = np.sqrt(0.3) * np.linalg.norm(off) * 1.001 + proof.nu, proof.rho * 1.5
    gap, bounds = fall(nu, rho), np.full(19, 30 * by)
    for share, holds in ((0.9, False), (3.0, True)):
        bounds[j] = share * off[j]
        made = replace(
            verdict,
            claim=replace(claim, weights=W, intercept=b, value=value),
            certificate=replace(
                proof,
                nu=nu,
                rho=rho,
                gap=gap,
                relative_gap=gap / value,
                distance=distance(nu, rho),
                coefficients=bounds,
            ),
        )
        assert made.check(X, y) is holds


def test_numbers_that_underflow_or_overflow_go_the_long_way():
    claim, table = made_up(2, 60, 2, 0, 1, 0)
    assert proved(claim, table, None, Columns(np.arange(2), (None,)), np.ones(60, bool))[1]
    for part, by in (("X", 1e-120), ("X", 1e120), ("cost", 1e-310), ("cost", 1e200)):
        _, other = made_up(2, 60, 2, 0, 1, 0)
        setattr(other, part, getattr(other, part) * by)
        with np.errstate(all="ignore"):
            found = proved(claim, other, None, Columns(np.arange(2), (None,)), np.ones(60, bool))
        assert found is None or not list(found[1])


@pytest.mark.parametrize("x", [1e-12, 1e-6, 9.9e-5, 1.01e-4, 1e-3, 0.5])
def test_the_gap_is_what_the_series_says(x):
    exact = sum(Fraction(x) ** (k - 2) / (k * (k - 1)) for k in range(2, 60))
    assert fall(x, 1.0) / x**2 == pytest.approx(float(exact), rel=1e-9)


def test_what_is_no_number_is_no_bound():
    verdict = case_of(1).verdict
    claim, shape = verdict.claim, np.shape(verdict.certificate.coefficients)
    assert coherent(verdict.certificate, claim)
    for changes in (
        {"nu": np.nan}, {"rho": -1.0}, {"distance": np.inf}, {"coefficients": np.full(shape, np.nan)},
        {"coefficients": np.zeros(1)}, {"coefficients": np.full(shape, -1e-9)},
    ):  # fmt: skip
        assert not coherent(replace(verdict.certificate, **changes), claim)
