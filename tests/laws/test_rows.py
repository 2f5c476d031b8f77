"""What every pass over rows promises: sums that depend neither on the order of the rows nor on who adds them."""

from collections.abc import Callable
from dataclasses import replace
from functools import partial
from itertools import pairwise

import numpy as np
import pytest
from data.half_rows import HalfRows
from hypothesis import given, settings
from hypothesis import strategies as st

from separatrix import LogisticRegression
from separatrix.data import Rows
from separatrix.data.block import Dense
from separatrix.data.jets import compiled_jet, margin_jet
from separatrix.data.rows import LARGE, NEIGHBOURS, SMALL
from separatrix.fitting.risk.margin import Ask, Frame, Jet
from separatrix.losses import ALL, GaussNewton, LogisticSquared, LogLikelihood, MarginLoss
from separatrix.numerics.linalg import Root
from separatrix.numerics.threads import ordered_map

HESSIAN = Ask(hessian=True)
ASKS = {
    "value and gradient": Ask(),
    "Hessian": Ask(hessian=True),
    "steering Hessian": Ask(hessian=True, steering=True),
}
JetOf = Callable[..., Jet]

every_loss = pytest.mark.parametrize("loss", ALL, ids=lambda loss: type(loss).__name__)
every_jet = pytest.mark.parametrize("jet", [margin_jet, compiled_jet], ids=["interpreted", "compiled"])
seeds = st.integers(0, 2**32 - 1)


KINDS = {"an array": Dense, "in half precision": HalfRows.of}
kind_of_rows = {"made by": Dense}


@pytest.fixture(scope="module", autouse=True, params=KINDS.values(), ids=KINDS)
def rows_of_each_kind(request: pytest.FixtureRequest) -> None:
    """All laws, for rows of a kind that knows nothing but how it is written out too."""
    kind_of_rows["made by"] = request.param


def make_rows(n: int, d: int, seed: int = 0, *, costs: bool = True) -> Rows:
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * 3 + 1
    y = np.where(rng.random(n) < 0.5, -1, 1).astype(np.int8)
    block = kind_of_rows["made by"](X)
    return Rows.of(block, y, rng.integers(0, 4, n).astype(float) if costs else np.empty(0))


def make_frame(d: int, *, lifted: bool = True, seed: int = 0) -> Frame:
    rng = np.random.default_rng(seed)
    return Frame(rng.standard_normal(d), rng.uniform(0.5, 4, d), lifted)


def make_weights(frame: Frame, seed: int = 0) -> np.ndarray:
    return np.random.default_rng(seed).standard_normal(frame.width)


def whole(jet: JetOf, loss: MarginLoss, frame: Frame, rows: Rows, ask: Ask = HESSIAN) -> Jet:
    return jet(loss, frame, ask, make_weights(frame), rows, 0, len(rows))


def assert_same_sums(found: Jet, expected: Jet, *, rtol: float = 1e-11) -> None:
    """Equal but for the rounding of sums whose terms are of the size of the jet's largest number."""
    assert found.value == pytest.approx(expected.value, rel=rtol)
    for one, other in ((found.gradient, expected.gradient), (found.hessian, expected.hessian)):
        np.testing.assert_allclose(one, other, rtol=rtol, atol=rtol * (1 + np.abs(other).max()))
    assert found.margin == pytest.approx(expected.margin, rel=rtol)


def bits(jet: Jet) -> tuple[bytes, ...]:
    hessian = jet.hessian.R if isinstance(jet.hessian, Root) else jet.hessian
    parts = [jet.value, jet.gradient, jet.margin, *([] if hessian is None else [hessian])]
    return tuple(np.asarray(part).tobytes() for part in parts)


@pytest.mark.parametrize("costs", [False, True])
def test_gradients_and_hessians_are_those_of_the_notes(costs: bool) -> None:
    """The formulas as printed (misprints corrected), matrix by matrix.  [000 §8.1.1, §8.1.2; 002 §1.1, §1.2]"""
    rows, frame = make_rows(80, 3, costs=costs), Frame(np.zeros(3), np.ones(3), lifted=True)
    X, y, w = np.column_stack([rows.dense(), np.ones(80)]), (rows.y + 1) / 2, make_weights(frame)
    C, one = np.diag(rows.cost if costs else np.ones(80)), np.eye(80)
    p = 1 / (1 + np.exp(-X @ w))
    P, e = np.diag(p), y - p
    E, J = np.diag(e), P @ (one - P) @ X
    likelihood = np.sum(np.diag(C) * (y * np.log(p) + (1 - y) * np.log(1 - p)))
    bent = 2 * J.T @ C @ J
    for loss, value, gradient, hessian in (
        (LogLikelihood(), -likelihood, -X.T @ C @ e, X.T @ C @ P @ (one - P) @ X),
        (LogisticSquared(), e @ C @ e, -2 * X.T @ C @ P @ (one - P) @ e, bent + 2 * J.T @ C @ E @ (2 * P - one) @ X),
        (GaussNewton(), e @ C @ e, -2 * J.T @ C @ e, bent),
    ):
        found = whole(margin_jet, loss, frame, rows)
        assert found.value == pytest.approx(value, rel=1e-12)
        np.testing.assert_allclose(found.gradient, gradient, rtol=1e-9, atol=1e-11)
        np.testing.assert_allclose(found.hessian, hessian, rtol=1e-9, atol=1e-11)
        least = np.linalg.eigvalsh(found.hessian)[0]
        assert (least > 0) == (not isinstance(loss, LogisticSquared)), "at these weights its squared error is a saddle"


@every_loss
@given(seed=seeds)
@settings(max_examples=10, deadline=None)
def test_any_order_of_the_rows_gives_the_same_jet(loss: MarginLoss, seed: int) -> None:
    rows, frame = make_rows(150, 3), make_frame(3)
    shuffled = rows.take(np.random.default_rng(seed).permutation(len(rows)))
    assert_same_sums(whole(margin_jet, loss, frame, shuffled), whole(margin_jet, loss, frame, rows))


def test_any_order_of_the_rows_gives_the_same_compiled_jet() -> None:
    rows, frame = make_rows(150, 3), make_frame(3)
    expected = whole(compiled_jet, LogLikelihood(), frame, rows)
    for seed in range(5):
        shuffled = rows.take(np.random.default_rng(seed).permutation(len(rows)))
        assert_same_sums(whole(compiled_jet, LogLikelihood(), frame, shuffled), expected)


def sum_over(cuts: list[int], jet: JetOf, loss: MarginLoss, frame: Frame, rows: Rows) -> Jet:
    ends = [0, *sorted(set(cuts)), len(rows)]
    first, *rest = (jet(loss, frame, HESSIAN, make_weights(frame), rows, lo, hi) for lo, hi in pairwise(ends))
    return sum(rest, start=first)


@every_loss
@given(cuts=st.lists(st.integers(1, 149), max_size=6))
@settings(max_examples=10, deadline=None)
def test_any_partition_of_the_rows_gives_the_same_jet(loss: MarginLoss, cuts: list[int]) -> None:
    rows, frame = make_rows(150, 3), make_frame(3)
    assert_same_sums(sum_over(cuts, margin_jet, loss, frame, rows), whole(margin_jet, loss, frame, rows))


@given(cuts=st.lists(st.integers(1, 149), max_size=6))
@settings(max_examples=25, deadline=None)
def test_any_partition_of_the_rows_gives_the_same_compiled_jet(cuts: list[int]) -> None:
    rows, frame, loss = make_rows(150, 3), make_frame(3), LogLikelihood()
    assert_same_sums(sum_over(cuts, compiled_jet, loss, frame, rows), whole(compiled_jet, loss, frame, rows))


@pytest.fixture(scope="module")
def many_rows() -> Rows:
    """Rows enough for several runs."""
    rows = make_rows(SMALL // 8 + 77, 8)
    assert len(list(rows.runs())) > 8
    return rows


def folded(rows: Rows, jet: JetOf, ask: Ask, threads: int) -> Jet:
    frame = make_frame(rows.dense().shape[1])
    with ordered_map(threads) as each:
        f = partial(jet, LogLikelihood(), frame, ask, make_weights(frame))
        return replace(rows, map=each).fold(f, blas=True)


@every_jet
@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS.keys())
def test_a_fold_has_the_same_bits_for_any_number_of_threads(many_rows: Rows, jet: JetOf, ask: Ask) -> None:
    expected = bits(folded(many_rows, jet, ask, 1))
    assert [bits(folded(many_rows, jet, ask, threads)) for threads in (2, 8)] == [expected] * 2


def test_a_fold_of_roots_has_the_same_bits_for_any_number_of_threads(many_rows: Rows) -> None:
    one, two, eight = (folded(many_rows, margin_jet, Ask(hessian=True, root=True), k) for k in (1, 2, 8))
    assert isinstance(one.hessian, Root)
    assert bits(one) == bits(two) == bits(eight)


def test_a_root_is_a_root_of_the_hessian(many_rows: Rows) -> None:
    root = folded(many_rows, margin_jet, Ask(hessian=True, root=True), 2).hessian
    hessian = folded(many_rows, margin_jet, Ask(hessian=True), 2).hessian
    np.testing.assert_allclose(root.matrix(), hessian, rtol=1e-11, atol=1e-11 * np.abs(hessian).max())


@every_jet
@pytest.mark.parametrize("threads", [1, 3])
def test_a_fold_is_the_jet_of_all_rows(many_rows: Rows, jet: JetOf, threads: int) -> None:
    expected = whole(margin_jet, LogLikelihood(), make_frame(8), many_rows)
    assert_same_sums(folded(many_rows, jet, HESSIAN, threads), expected)


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_a_fold_and_each_keep_the_order_of_the_runs(many_rows: Rows, threads: int) -> None:
    with ordered_map(threads) as each:
        mapped = replace(many_rows, map=each)
        assert mapped.fold(lambda rows, lo, hi: [(lo, hi)]) == list(many_rows.runs())
        assert list(mapped.each(lambda rows, lo, hi: (lo, hi))) == list(many_rows.runs())


@pytest.mark.parametrize("ask", [Ask(hessian=True), Ask(hessian=True, root=True)], ids=["matrix", "root"])
def test_adding_jets_changes_neither(ask: Ask) -> None:
    rows, frame = make_rows(50, 3), make_frame(3)
    one, other = (margin_jet(LogLikelihood(), frame, ask, make_weights(frame), rows, *run) for run in ((0, 9), (9, 50)))
    before = bits(one), bits(other)
    both = one + other
    assert (bits(one), bits(other)) == before
    assert both.value == one.value + other.value
    np.testing.assert_array_equal(both.gradient, one.gradient + other.gradient)


@every_jet
@every_loss
def test_a_cost_of_two_is_the_row_twice(jet: JetOf, loss: MarginLoss) -> None:
    rows, frame = make_rows(100, 3, costs=False), make_frame(3)
    doubled = replace(rows, cost=np.where(np.arange(100) % 3 == 0, 2.0, 1.0))
    twice = rows.take(np.append(np.arange(100), np.arange(0, 100, 3)))
    assert_same_sums(whole(jet, loss, frame, doubled), whole(jet, loss, frame, twice))
    assert doubled.weight == twice.weight


@every_jet
@every_loss
def test_a_cost_of_zero_is_the_row_absent(jet: JetOf, loss: MarginLoss) -> None:
    rows, frame = make_rows(100, 3, costs=False), make_frame(3)
    counts = np.arange(100) % 3 != 0
    crossed_out, absent = replace(rows, cost=counts.astype(float)), rows.take(np.flatnonzero(counts))
    assert_same_sums(whole(jet, loss, frame, crossed_out), whole(jet, loss, frame, absent))
    assert crossed_out.weight == absent.weight


def far_row_that_does_not_count() -> tuple[Rows, Rows]:
    rows = make_rows(100, 3, costs=False)
    X, cost = rows.dense().copy(), np.ones(100)
    X[0], cost[0] = 1e3, 0
    return replace(rows, block=kind_of_rows["made by"](X), cost=cost), rows.take(np.arange(1, 100))


@every_jet
def test_the_least_margin_is_that_of_a_row_that_counts(jet: JetOf) -> None:
    with_far, without, frame = *far_row_that_does_not_count(), make_frame(3)
    for sign in (-1, 1):
        y = with_far.y.copy()
        y[0] = sign
        found = whole(jet, LogLikelihood(), frame, replace(with_far, y=y))
        assert found.margin == pytest.approx(whole(jet, LogLikelihood(), frame, without).margin, rel=1e-13)


@every_jet
@every_loss
def test_an_intercept_is_a_column_of_ones(jet: JetOf, loss: MarginLoss) -> None:
    rows, frame = make_rows(100, 3), make_frame(3)
    wider = replace(rows, block=Dense(np.column_stack([rows.dense(), np.ones(len(rows))])))
    flat = Frame(np.append(frame.center, 0), np.append(frame.scale, 1), lifted=False)
    assert_same_sums(whole(jet, loss, frame, rows), whole(jet, loss, flat, wider))


@every_jet
@pytest.mark.parametrize("factor", [1e6, 1e-6])
@pytest.mark.parametrize("lifted", [True, False])
def test_a_column_in_other_units_is_the_same_to_its_frame(jet: JetOf, factor: float, lifted: bool) -> None:
    rows, frame = make_rows(100, 3), make_frame(3, lifted=lifted)
    factors = np.array([1, factor, 1])
    stretched = replace(rows, block=Dense(rows.dense() * factors))
    found = whole(jet, LogLikelihood(), Frame(frame.center * factors, frame.scale * factors, lifted), stretched)
    assert_same_sums(found, whole(jet, LogLikelihood(), frame, rows))


@pytest.mark.parametrize("factor", [1e6, 1e-6])
def test_a_column_in_other_units_changes_only_the_units_of_its_weight(factor: float) -> None:
    rows = make_rows(400, 3, costs=False)
    y = np.where(rows.dense()[:, 0] + 5 * np.random.default_rng(1).standard_normal(400) > 0, 1, 0)
    factors = np.array([1, factor, 1])
    model, stretched = LogisticRegression().fit(rows.dense(), y), LogisticRegression().fit(rows.dense() * factors, y)
    np.testing.assert_allclose(stretched.coef_ * factors, model.coef_, rtol=1e-4, atol=1e-6)
    np.testing.assert_allclose(
        stretched.predict_proba(rows.dense() * factors), model.predict_proba(rows.dense()), rtol=0, atol=1e-5
    )


frames = st.tuples(st.integers(1, 5), st.booleans(), seeds).map(
    lambda drawn: make_frame(drawn[0], lifted=drawn[1], seed=drawn[2])
)


@given(frames, seeds)
def test_a_frame_goes_to_the_users_units_and_back(frame: Frame, seed: int) -> None:
    v = make_weights(frame, seed)
    np.testing.assert_allclose(frame.from_user(*frame.to_user(v)), v, rtol=1e-12, atol=1e-12)


@given(frames, seeds)
def test_a_frame_comes_from_the_users_units_and_back(frame: Frame, seed: int) -> None:
    rng = np.random.default_rng(seed)
    weights, intercept = rng.standard_normal(frame.center.size), float(rng.standard_normal()) * frame.lifted
    again, level = frame.to_user(frame.from_user(weights, intercept))
    np.testing.assert_allclose(again, weights, rtol=1e-14)
    assert level == pytest.approx(intercept, abs=1e-13)


@given(frames, seeds)
def test_scores_do_not_depend_on_the_frame(frame: Frame, seed: int) -> None:
    v, X = make_weights(frame, seed), np.random.default_rng(seed).standard_normal((20, frame.center.size))
    weights, intercept = frame.to_user(v)
    expected = X @ weights + intercept if frame.lifted else (X - frame.center) @ weights
    np.testing.assert_allclose(frame.coordinates(X) @ v, expected, rtol=1e-12, atol=1e-12)


def numbered_rows(n: int) -> Rows:
    """Rows that carry their own number."""
    number = np.arange(n)
    return Rows.of(number[:, None].astype(float), np.where(number % 3 == 0, 1, -1).astype(np.int8), number + 0.5)


@given(st.integers(NEIGHBOURS, 3000), st.integers(1, 3000), st.integers(0, 99))
def test_a_sample_has_distinct_rows_that_keep_their_signs_and_costs(n: int, size: int, seed: int) -> None:
    sample = numbered_rows(n).sample(size, seed)
    number = sample.dense()[:, 0].astype(int)
    assert np.unique(number).size == number.size == len(sample)
    np.testing.assert_array_equal(sample.y, np.where(number % 3 == 0, 1, -1))
    np.testing.assert_array_equal(sample.cost, number + 0.5)
    assert min(size, n) - NEIGHBOURS < len(sample) <= max(min(size, n), NEIGHBOURS)


@given(st.integers(1, 200), st.integers(0, 99))
def test_a_sample_of_all_rows_is_the_rows(n: int, more: int) -> None:
    rows = numbered_rows(n)
    np.testing.assert_array_equal(rows.sample(n + more, 0).dense(), rows.dense())


@pytest.mark.parametrize("n", [2, NEIGHBOURS - 1])
def test_a_sample_of_few_rows_is_not_empty(n: int) -> None:
    assert len(numbered_rows(n).sample(n - 1, 0)) > 0


def test_a_sample_is_the_same_for_the_same_seed_only() -> None:
    rows = numbered_rows(5000)
    first, again, other = (rows.sample(800, seed).dense().ravel() for seed in (3, 3, 4))
    np.testing.assert_array_equal(first, again)
    assert set(first) != set(other)


def test_a_larger_sample_of_the_same_seed_holds_the_smaller() -> None:
    rows = numbered_rows(5000)
    small, large = (rows.sample(size, 7).dense().ravel() for size in (400, 1600))
    np.testing.assert_array_equal(large[: small.size], small)


def test_a_sample_reaches_all_parts_of_the_rows() -> None:
    rows = numbered_rows(16_000)
    parts, _ = np.histogram(rows.sample(1600, 0).dense(), bins=8, range=(0, 16_000))
    assert (parts > 80).all()


@pytest.mark.parametrize("order", ["C", "F"])
def test_taken_rows_are_contiguous_and_of_the_same_precision(order: str) -> None:
    rows = numbered_rows(100)
    rows = replace(rows, block=Dense(np.asarray(np.tile(rows.dense(), 3), dtype=np.float32, order=order)))
    taken = rows.take(np.array([5, 3, 98]))
    assert taken.dense().flags.c_contiguous
    assert taken.dense().dtype == np.float32
    np.testing.assert_array_equal(taken.dense(), np.array([[5] * 3, [3] * 3, [98] * 3]))
    assert np.shares_memory(rows.take(slice(2, 9)).dense(), rows.dense())


def shape_only(n: int, d: int) -> Rows:
    """Rows of any size that take no memory."""
    return Rows.of(np.broadcast_to(0.0, (n, d)), np.broadcast_to(np.int8(1), n), np.empty(0))


@given(st.integers(1, 10**7), st.integers(1, 2000))
def test_runs_part_the_rows_exactly(n: int, d: int) -> None:
    runs = list(shape_only(n, d).runs())
    ends = [0, *(hi for _, hi in runs)]
    assert runs == list(pairwise(ends))
    assert ends[-1] == n
    assert all(lo < hi for lo, hi in runs)
    longest, shortest = max(hi - lo for lo, hi in runs), min(hi - lo for lo, hi in runs)
    assert longest - shortest <= 1


def test_more_rows_are_parted_into_more_runs() -> None:
    sizes = (1, SMALL - 1, SMALL, LARGE)
    counts = [len(list(shape_only(n, 1).runs())) for n in sizes]
    assert counts[0] == counts[1] == 1
    assert 1 < counts[2] < counts[3]


def test_weight_is_the_sum_of_the_costs() -> None:
    assert make_rows(50, 2, costs=False).weight == 50
    assert replace(make_rows(3, 2), cost=np.array([0.5, 0.0, 2.0])).weight == 2.5
