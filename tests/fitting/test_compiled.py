"""The compiled pass is the interpreted one, and its cache on disk never lies."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass, make_dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from rarely import some_of

import separatrix
from separatrix.data import Rows
from separatrix.data.block import Dense
from separatrix.data.compiled.passes import own_fields, pass_kernel
from separatrix.data.compiled.readers import TILE
from separatrix.data.jets import compiled_jet, margin_jet
from separatrix.fitting.risk.margin import BLOCK, Ask, Frame, Jet
from separatrix.losses import (
    ALL,
    Exponential,
    Hinge,
    LogisticSquared,
    LogLikelihood,
    MarginLoss,
    Perceptron,
    Squared,
    SquaredHinge,
    ZeroOne,
)
from separatrix.numerics.functions import sigmoid, softplus

ALGEBRAIC = (ZeroOne(), Squared(), Perceptron(), Hinge(), SquaredHinge())
TRANSCENDENTAL = tuple(loss for loss in ALL if loss not in ALGEBRAIC)
KINDS = [("float64", "C"), ("float64", "F"), ("float64", "A"), ("float32", "C"), ("float32", "F"), ("float32", "A")]
ASKS = {"value and gradient": Ask(), "Hessian": Ask(hessian=True)}


@dataclass(frozen=True)
class Tempered(MarginLoss):
    """φ(m) = τ log(1 + e^((s − m)/τ)): a loss with parameters of its own."""

    temperature: float = 2.0
    shift: float = 0.5

    def value(self, m: Any) -> Any:
        return self.temperature * softplus((self.shift - m) / self.temperature)

    def slope(self, m: Any) -> Any:
        return -sigmoid((self.shift - m) / self.temperature)

    def curvature(self, m: Any) -> Any:
        z = (self.shift - m) / self.temperature
        return sigmoid(z) * sigmoid(-z) / self.temperature


def name(part: Any) -> str:
    if isinstance(part, MarginLoss):
        return type(part).__name__
    return "-".join(part) if isinstance(part, tuple) else str(part)


def kernels_of(loss: MarginLoss) -> list[Any]:
    """Every precision and layout for the log-likelihood; for the others two of them in turn, as kernels cost time.

    All losses and layouts are in the quick tests; the other pairs are slow.
    """
    chosen, quick = [KINDS[0], KINDS[1 + ALL.index(loss) % 5]], 1
    if loss == LogLikelihood():
        chosen, quick = KINDS, 4
    return [pytest.param(loss, kind, marks=[pytest.mark.slow] * (k >= quick)) for k, kind in enumerate(chosen)]


every_loss = pytest.mark.parametrize("loss", ALL, ids=name)
every_ask = pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS.keys())


def every_kernel_of(losses: tuple[MarginLoss, ...]) -> pytest.MarkDecorator:
    return pytest.mark.parametrize(("loss", "kind"), [pair for loss in losses for pair in kernels_of(loss)], ids=name)


def laid_out(X: np.ndarray, kind: tuple[str, str]) -> np.ndarray:
    """The same numbers, read-only, in the precision and layout asked for."""
    dtype, order = kind
    if order == "A":
        wide = np.full((2 * len(X), 3 * X.shape[1]), np.nan, dtype)
        wide[::2, ::3] = X
        found = wide[::2, ::3]
    else:
        found = np.array(X, dtype=dtype, order=order)
    found.flags.writeable = False
    assert (found.dtype.name, Dense(found).layout) == kind
    return found


def integer_problem(n: int, kind: tuple[str, str], *, costs: bool, lifted: bool = True) -> tuple[Rows, Frame, Any]:
    """Small integers, a frame of integers and powers of two: every sum is exact."""
    rng = np.random.default_rng(n)
    y = np.where(rng.random(n) < 0.5, -1, 1).astype(np.int8)
    cost = rng.integers(0, 4, n).astype(float) if costs else np.empty(0)
    frame = Frame(np.array([1.0, -2, 0, 3, 0]), np.array([1.0, 2, 4, 0.5, 1]), lifted)
    weights = np.array([1.0, -1, 2, 0, 1]) * frame.scale
    return Rows.of(laid_out(rng.integers(-6, 7, (n, 5)), kind), y, cost), frame, np.append(weights, [1.0] * lifted)


def real_problem(n: int, kind: tuple[str, str], *, costs: bool) -> tuple[Rows, Frame, Any]:
    rng = np.random.default_rng(n)
    rows, _, _ = integer_problem(n, kind, costs=costs)
    X = rng.standard_normal((n, 5)) * [1, 1e3, 1e-3, 1, 1] + [0, 1e6, 0, 5, -1]
    frame = Frame(np.array([0.1, 1e6, 0, 5, -1.2]), np.array([1.1, 900, 1e-3, 1, 0.7]), True)
    return Rows.of(laid_out(X, kind), rows.y, rows.cost), frame, rng.standard_normal(6)


def both_jets(loss: MarginLoss, frame: Frame, ask: Ask, v: Any, rows: Rows, lo: int = 0) -> tuple[Jet, Jet]:
    hi = len(rows)
    return compiled_jet(loss, frame, ask, v, rows, lo, hi), margin_jet(loss, frame, ask, v, rows, lo, hi)


def sizes(loss: MarginLoss, frame: Frame, v: Any, rows: Rows) -> tuple[Any, Any]:
    """The sums of the absolute terms of the gradient and of the Hessian: what their rounding is relative to."""
    Z = frame.coordinates(rows.dense())
    m = rows.y * (Z @ v)
    cost = rows.cost if rows.cost.size else np.ones(len(rows))
    A = np.abs(Z)
    return (cost * np.abs(loss.slope(m))) @ A, (A.T * (cost * np.abs(loss.curvature(m)))) @ A


def assert_close(found: Any, expected: Any, size: Any, rtol: float = 1e-13) -> None:
    assert (np.abs(found - expected) <= rtol * size).all()


@every_kernel_of(ALGEBRAIC)
@pytest.mark.parametrize("costs", [False, True], ids=["plain", "costs"])
@every_ask
def test_integers_give_the_same_bits(loss: MarginLoss, kind: tuple[str, str], costs: bool, ask: Ask) -> None:
    rows, frame, v = integer_problem(3 * TILE + 7, kind, costs=costs)
    compiled, interpreted = both_jets(loss, frame, ask, v, rows)
    assert compiled.value == interpreted.value
    np.testing.assert_array_equal(compiled.gradient, interpreted.gradient)
    assert compiled.margin == interpreted.margin
    if ask.hessian:  # it is made of square roots, which are not exact
        assert_close(compiled.hessian, interpreted.hessian, sizes(loss, frame, v, rows)[1])
    else:
        assert compiled.hessian is interpreted.hessian is None


@every_kernel_of(TRANSCENDENTAL)
@pytest.mark.parametrize("costs", [False, True], ids=["plain", "costs"])
@every_ask
def test_reals_agree_to_rounding(loss: MarginLoss, kind: tuple[str, str], costs: bool, ask: Ask) -> None:
    rows, frame, v = integer_problem(3 * TILE + 7, kind, costs=costs)
    v = v / 8
    compiled, interpreted = both_jets(loss, frame, ask, v, rows)
    gradient, hessian = sizes(loss, frame, v, rows)
    assert compiled.value == pytest.approx(interpreted.value, rel=1e-13)
    assert_close(compiled.gradient, interpreted.gradient, gradient)
    assert compiled.margin == interpreted.margin
    if ask.hessian:
        assert_close(compiled.hessian, interpreted.hessian, hessian)


@every_loss
def test_rows_far_from_zero_and_on_many_scales_agree(loss: MarginLoss) -> None:
    """Centred on the fly, a column at 1e6 ± 1e3 keeps its digits; only the margins' own rounding is left."""
    rows, frame, v = real_problem(3 * TILE + 7, ("float64", "C"), costs=True)
    compiled, interpreted = both_jets(loss, frame, Ask(hessian=True), v, rows)
    gradient, hessian = sizes(loss, frame, v, rows)
    assert compiled.value == pytest.approx(interpreted.value, rel=1e-12)
    assert_close(compiled.gradient, interpreted.gradient, gradient, 1e-12)
    assert_close(compiled.hessian, interpreted.hessian, hessian, 1e-12)
    assert compiled.margin == pytest.approx(interpreted.margin, rel=1e-12)


def test_single_precision_rows_are_summed_in_double() -> None:
    rows, frame, v = real_problem(3 * TILE + 7, ("float32", "C"), costs=True)
    double = Rows.of(rows.dense().astype(np.float64), rows.y, rows.cost)
    single, _ = both_jets(LogLikelihood(), frame, Ask(), v, rows)
    wide, _ = both_jets(LogLikelihood(), frame, Ask(), v, double)
    assert_close(single.gradient, wide.gradient, sizes(LogLikelihood(), frame, v, double)[0], 1e-14)
    assert single.value == pytest.approx(wide.value, rel=1e-14)


@pytest.mark.parametrize("n", [2, TILE - 1, TILE, TILE + 1, BLOCK, BLOCK + TILE + 3])
@pytest.mark.parametrize("kind", [("float64", "C"), ("float64", "F")], ids=name)
def test_every_row_of_incomplete_tiles_and_blocks_is_counted_once(n: int, kind: tuple[str, str]) -> None:
    rows, frame, v = integer_problem(n, kind, costs=True)
    compiled, interpreted = both_jets(Squared(), frame, Ask(hessian=True), v, rows)
    assert compiled.value == interpreted.value
    np.testing.assert_array_equal(compiled.gradient, interpreted.gradient)
    assert_close(compiled.hessian, interpreted.hessian, sizes(Squared(), frame, v, rows)[1])


@pytest.mark.parametrize("kind", [("float64", "C"), ("float64", "F")], ids=name)
def test_a_run_is_only_its_own_rows(kind: tuple[str, str]) -> None:
    rows, frame, v = integer_problem(2 * TILE, kind, costs=True)
    compiled, interpreted = both_jets(Squared(), frame, Ask(hessian=True), v, rows, lo=TILE // 2 + 1)
    assert compiled.value == interpreted.value
    np.testing.assert_array_equal(compiled.gradient, interpreted.gradient)
    np.testing.assert_allclose(compiled.hessian, interpreted.hessian, rtol=1e-12, atol=1e-10)


def test_without_an_intercept_there_is_one_weight_less() -> None:
    rows, frame, v = integer_problem(TILE + 1, ("float64", "C"), costs=True, lifted=False)
    compiled, interpreted = both_jets(Squared(), frame, Ask(hessian=True), v, rows)
    assert compiled.gradient.shape == (5,)
    np.testing.assert_array_equal(compiled.gradient, interpreted.gradient)
    assert compiled.hessian.shape == (5, 5)


@pytest.mark.parametrize("loss", [LogLikelihood(), LogisticSquared()], ids=name)
def test_a_steering_hessian_is_right_to_single_precision(loss: MarginLoss) -> None:
    rows, frame, v = integer_problem(BLOCK + 100, ("float64", "C"), costs=True)
    steering, _ = both_jets(loss, frame, Ask(hessian=True, steering=True), v / 8, rows)
    exact, _ = both_jets(loss, frame, Ask(hessian=True), v / 8, rows)
    assert_close(steering.hessian, exact.hessian, sizes(loss, frame, v / 8, rows)[1], 1e-5)
    assert steering.value == exact.value
    np.testing.assert_array_equal(steering.gradient, exact.gradient)


@every_loss
def test_margins_up_to_a_million_agree(loss: MarginLoss) -> None:
    """Row by row; below e^−708 the compiled exponential is zero."""
    ends = [0, 1e-300, 1e-9, 0.5, 1, 2, 36, 37, 100, 350, 707.9, 708, 708.5, 709, 745, 1e3, 1e6]
    X = np.array([*ends, *np.negative(ends)])[:, None]
    rows = Rows.of(X, np.ones(len(X), np.int8), np.empty(0))
    frame, v = Frame(np.zeros(1), np.ones(1), False), np.ones(1)
    for i in range(len(X)):
        compiled, interpreted = (jet(loss, frame, Ask(), v, rows, i, i + 1) for jet in (compiled_jet, margin_jet))
        assert np.isfinite(compiled.value)
        for part in ("value", "gradient", "margin"):
            np.testing.assert_allclose(getattr(compiled, part), getattr(interpreted, part), rtol=1e-13, atol=1e-300)


@every_loss
def test_curvatures_at_margins_up_to_a_million_agree(loss: MarginLoss) -> None:
    powers = 10.0 ** np.arange(-2, 7)
    X = np.concatenate([-powers, [0], powers])[:, None]
    rows = Rows.of(X, np.ones(len(X), np.int8), np.empty(0))
    frame, v = Frame(np.zeros(1), np.ones(1), False), np.ones(1)
    for i in range(len(X)):
        with np.errstate(over="ignore"):  # the exponential's curvature times x²
            found, expected = (
                jet(loss, frame, Ask(hessian=True), v, rows, i, i + 1).hessian for jet in (compiled_jet, margin_jet)
            )
        np.testing.assert_allclose(found, expected, rtol=1e-12, atol=1e-280)


def test_an_overflow_is_left_to_who_asked() -> None:
    rows = Rows.of(np.full((2, 1), 1e200), np.ones(2, np.int8), np.empty(0))
    frame = Frame(np.zeros(1), np.ones(1), False)
    for jet in both_jets(Squared(), frame, Ask(hessian=True), np.zeros(1), rows):
        assert np.isinf(jet.hessian).all()


@every_loss
@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
@pytest.mark.parametrize("row", [0, TILE, 2 * TILE + 2])
def test_what_is_not_finite_shows(loss: MarginLoss, bad: float, row: int) -> None:
    rows, frame, v = integer_problem(2 * TILE + 3, ("float64", "C"), costs=False)
    X = rows.dense().copy()
    X[row, 1] = bad
    for jet in both_jets(loss, frame, Ask(), v, Rows.of(X, rows.y, rows.cost)):
        assert not (np.isfinite(jet.value) and np.isfinite(jet.gradient).all())


def test_a_loss_with_parameters_compiles_once_for_each_of_them() -> None:
    rows, frame, v = integer_problem(TILE + 9, ("float64", "C"), costs=True)
    for loss in (Tempered(), Tempered(0.25, -1.0)):
        compiled, interpreted = both_jets(loss, frame, Ask(hessian=True), v, rows)
        gradient, hessian = sizes(loss, frame, v, rows)
        assert compiled.value == pytest.approx(interpreted.value, rel=1e-13), loss
        assert_close(compiled.gradient, interpreted.gradient, gradient)
        assert_close(compiled.hessian, interpreted.hessian, hessian)
    assert pass_kernel(Tempered(), "float64", "C") is pass_kernel(Tempered(), "float64", "C")
    assert pass_kernel(Tempered(), "float64", "C") is not pass_kernel(Tempered(0.25, -1.0), "float64", "C")


def clipped_from_below() -> type:
    @dataclass(frozen=True)
    class Clipped(Squared):
        low: float
        high: float

    return Clipped


def clipped_from_above() -> type:
    @dataclass(frozen=True)
    class Clipped(Squared):
        high: float
        low: float

    return Clipped


def assertown_fields(*kinds: type) -> None:
    found = [own_fields(kind(low=1.0, high=4.0)) for kind in kinds]
    assert [(own.low, own.high) for own in found] == [(1.0, 4.0)] * len(kinds)


def test_two_losses_of_one_name_keep_theirown_fields() -> None:
    assertown_fields(clipped_from_below(), clipped_from_above())


def test_a_loss_that_is_defined_anew_keeps_itsown_fields() -> None:
    """As a cell of a notebook that was edited is run again."""
    before, after = (
        make_dataclass("Anew", [(name, float) for name in names], bases=(Squared,), frozen=True)
        for names in (("low", "high"), ("high", "low"))
    )
    assertown_fields(before, after)


def test_a_kernel_is_made_once() -> None:
    assert pass_kernel(Exponential(), "float64", "C") is pass_kernel(Exponential(), "float64", "C")


# The cache on disk, seen from processes of its own.

PROBE = """
import importlib, json, sys
import numpy as np
from separatrix.data.compiled.passes import pass_kernel
from separatrix.data import Rows
from separatrix.data.jets import compiled_jet
from separatrix.fitting.risk.margin import Ask, Frame
import separatrix

module, loss = sys.argv[1:]
loss = getattr(importlib.import_module(module), loss)()
rows = Rows.of(np.array([[0.0]]), np.ones(1, np.int8), np.empty(0))
jet = compiled_jet(loss, Frame(np.zeros(1), np.ones(1), False), Ask(), np.ones(1), rows, 0, 1)
stats = pass_kernel(loss, "float64", "C").stats
print(json.dumps({
    "value": jet.value,
    "hits": sum(stats.cache_hits.values()),
    "misses": sum(stats.cache_misses.values()),
    "package": separatrix.__file__,
}))
"""


def run_python(script: str, *arguments: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-W", "error", "-c", script, *arguments],
        env=os.environ | environment, capture_output=True, text=True, timeout=120, check=False,
    )  # fmt: skip


def probe(module: str, loss: str, cache: Path, *paths: Path, **environment: str) -> dict[str, Any]:
    """φ(0) of a loss from a compiled pass in a new process, and what the cache had to do with it."""
    settings = {"NUMBA_CACHE_DIR": str(cache), "PYTHONPATH": os.pathsep.join(map(str, paths)), **environment}
    ran = run_python(PROBE, module, loss, **settings)
    assert ran.returncode == 0, ran.stderr
    return json.loads(ran.stdout)


def edit(file: Path, old: str, new: str) -> None:
    text = file.read_text(encoding="utf-8")
    assert text.count(old) == 1
    file.write_text(text.replace(old, new), encoding="utf-8")


@pytest.fixture
def package(tmp_path: Path) -> Path:
    """A copy of the package that a test may edit; the folder to import it from."""
    source = Path(separatrix.__file__).parent
    shutil.copytree(source, tmp_path / "home" / "separatrix", ignore=shutil.ignore_patterns("__pycache__"))
    return tmp_path / "home"


EDITS = [
    ("numerics/vector_functions.py", "return lambda z: 0.5 * (z + abs(z))", "return lambda z: z + abs(z)", 4.0),
    ("losses/margin.py", "return positive(1 - m) * positive", "return positive(5 - m) * positive", 5.0),
]
"""What is edited, and φ(0) afterwards, which was one."""


@pytest.mark.parametrize(("file", "old", "new", "value"), some_of(EDITS, 2))
def test_a_second_process_compiles_nothing_and_an_edited_source_is_not_stale(
    tmp_path: Path, package: Path, file: str, old: str, new: str, value: float
) -> None:
    cache = tmp_path / "cache"
    first = probe("separatrix.losses", "SquaredHinge", cache, package)
    assert Path(first["package"]).is_relative_to(package)
    assert (first["value"], first["hits"], first["misses"]) == (1.0, 0, 1)
    assert list(cache.rglob("*.nbc"))
    second = probe("separatrix.losses", "SquaredHinge", cache, package)
    assert (second["value"], second["hits"], second["misses"]) == (1.0, 1, 0)
    edit(package / "separatrix" / file, old, new)
    edited = probe("separatrix.losses", "SquaredHinge", cache, package)
    assert (edited["value"], edited["hits"], edited["misses"]) == (value, 0, 1)


OWN = """
from dataclasses import dataclass

from separatrix.losses import MarginLoss

LEVEL = 3.0


@dataclass(frozen=True)
class Own(MarginLoss):
    step: float = 2.0

    def value(self, m):
        return LEVEL + self.step * m + 10.0

    def slope(self, m):
        return self.step + 0 * m

    def curvature(self, m):
        return 0 * m
"""


def test_a_loss_of_the_users_own_is_never_stale(tmp_path: Path) -> None:
    """Whatever it is made of: it is compiled anew in each process, and no trace of it is kept."""
    (tmp_path / "own_losses.py").write_text(OWN.replace("LEVEL = 3.0", "from level import LEVEL"), encoding="utf-8")
    (tmp_path / "level.py").write_text("LEVEL = 3.0\n", encoding="utf-8")
    for level, value in (("3.0", 13.0), ("4.5", 14.5)):
        (tmp_path / "level.py").write_text(f"LEVEL = {level}\n", encoding="utf-8")
        found = probe("own_losses", "Own", tmp_path / "cache", tmp_path, PYTHONDONTWRITEBYTECODE="1")
        assert (found["value"], found["hits"]) == (value, 0)


def test_a_loss_that_was_typed_at_a_prompt_compiles(tmp_path: Path) -> None:
    typed = PROBE.replace("importlib.import_module(module)", "sys.modules['__main__']")
    ran = run_python(OWN + typed, "__main__", "Own", NUMBA_CACHE_DIR=str(tmp_path))
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["value"] == 13.0


def test_without_a_place_for_the_cache_kernels_are_compiled_all_the_same(tmp_path: Path, package: Path) -> None:
    """Every folder that a cache could be in lies below a plain file: not even the superuser can make it."""
    file = tmp_path / "file"
    file.touch()
    (package / "separatrix" / "__pycache__").touch()
    homes = dict.fromkeys(("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA", "IPYTHONDIR"), str(file / "below"))
    found = probe("separatrix.losses", "Squared", file / "below", package, PYTHONDONTWRITEBYTECODE="1", **homes)
    assert Path(found["package"]).is_relative_to(package)
    assert (found["value"], found["hits"]) == (1.0, 0)
    assert file.read_bytes() == b""
