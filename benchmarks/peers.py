"""The other libraries, each at its best: threads and memory order tried, at the loosest tolerance that serves."""

from __future__ import annotations

import math
import signal
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple

import numpy as np
from problems import Case
from threadpoolctl import ThreadpoolController

TOLERANCES = tuple(float(f"1e-{k}") for k in range(2, 15))
MANY = 1_000_000
MEMORY_CAP = 8 * 2**30


class Fitted(NamedTuple):
    weights: Any
    intercept: float
    iterations: int


@dataclass(frozen=True)
class Setting:
    """A solver of a library, with its threads and the memory order of the array it is given."""

    library: str
    solver: str
    blas: int
    openmp: int
    order: str = "C"

    @property
    def family(self) -> str:
        return f"{self.library} {self.solver}"

    @property
    def name(self) -> str:
        threads = f"{self.blas}" if self.blas == self.openmp else f"{self.openmp} OpenMP, {self.blas} BLAS"
        plural = "" if self.openmp == 1 else "s"
        return f"{self.family}, {threads} thread{plural}" + (", Fortran order" if self.order == "F" else "")

    def penalty(self, case: Case) -> float:
        """Statsmodels has no ridge for this model: it gets the problem without a penalty."""
        return 0.0 if self.library == "statsmodels" else case.problem.penalty


@dataclass(frozen=True)
class Found:
    """The loosest tolerance at which a setting reaches the gap, or how near it came."""

    setting: Setting
    reaches: bool
    tolerance: float | None
    gap: float | None
    seconds: float | None
    iterations: int | None
    note: str = ""

    def as_dict(self) -> dict[str, Any]:
        flat = asdict(self)
        return {"name": self.setting.name, "family": self.setting.family, **flat.pop("setting"), **flat}


SETTINGS = (
    *(Setting("scikit-learn", solver, k, k) for solver in ("newton-cholesky", "lbfgs") for k in (1, 2)),
    *(Setting("glum", "irls-ls", b, o, order) for b, o in ((1, 1), (1, 2), (2, 2)) for order in "CF"),
    *(Setting("statsmodels", "newton", k, k) for k in (1, 2)),
)
WIDE_SETTINGS = tuple(Setting("scikit-learn", solver, k, k) for solver in ("newton-cg", "lbfgs") for k in (1, 2))


def _scikit_learn(case: Case, setting: Setting, tol: float, most: int) -> Fitted:
    from sklearn.linear_model import LogisticRegression

    C = 1 / case.problem.penalty
    model = LogisticRegression(C=C, solver=setting.solver, tol=tol, max_iter=most).fit(case.X, case.y)
    return Fitted(model.coef_[0], model.intercept_[0], int(np.max(model.n_iter_)))


def _glum(case: Case, setting: Setting, tol: float, most: int) -> Fitted:
    from glum import GeneralizedLinearRegressor

    X, alpha = case.X if setting.order == "C" else case.fortran, case.problem.penalty / case.problem.rows
    model = GeneralizedLinearRegressor(
        family="binomial", alpha=alpha, l1_ratio=0, solver=setting.solver, gradient_tol=tol, max_iter=most
    ).fit(X, case.y_float)
    return Fitted(model.coef_, model.intercept_, int(model.n_iter_))


def _statsmodels(case: Case, setting: Setting, tol: float, most: int) -> Fitted:
    from statsmodels.api import Logit

    model = Logit(case.y_float, case.with_ones, check_rank=False, hasconst=True)
    quiet = {"disp": 0, "warn_convergence": False, "skip_hessian": True}
    fit = model.fit(method=setting.solver, tol=tol, maxiter=min(most, 1000), **quiet)
    return Fitted(fit.params[:-1], fit.params[-1], int(fit.mle_retvals["iterations"]))


FITTERS: dict[str, Callable[[Case, Setting, float, int], Fitted]] = {
    "scikit-learn": _scikit_learn,
    "glum": _glum,
    "statsmodels": _statsmodels,
}


MODULES = {"scikit-learn": "sklearn.linear_model", "glum": "glum", "statsmodels": "statsmodels.api"}


def prepare(case: Case, setting: Setting) -> None:
    """Load the library and put the data in the form it wants: not on its clock."""
    import_module(MODULES[setting.library])
    forms = {"glum": ("y_float", "fortran")[: 1 + (setting.order == "F")], "statsmodels": ("y_float", "with_ones")}
    for form in forms.get(setting.library, ()):
        getattr(case, form)


class CapError(Exception):
    """A fit took longer than it may."""


@contextmanager
def _capped(seconds: float) -> Iterator[None]:
    """Interrupt what runs longer. The alarm repeats: a library may swallow one."""

    def ring(*_: Any) -> None:
        raise CapError

    if not hasattr(signal, "setitimer"):
        yield
        return
    before = signal.signal(signal.SIGALRM, ring)
    signal.setitimer(signal.ITIMER_REAL, seconds, 1.0)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)


def timed_fit(case: Case, setting: Setting, tol: float, cap: float, most: int = MANY) -> tuple[Fitted, float]:
    """A fit and its seconds; data, library and threads are set before the clock starts."""
    prepare(case, setting)
    threads = ThreadpoolController().limit(limits={"blas": setting.blas, "openmp": setting.openmp})
    with threads, warnings.catch_warnings(), np.errstate(all="ignore"), _capped(cap):
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        fitted = FITTERS[setting.library](case, setting, tol, most)
        return fitted, time.perf_counter() - began


def search(case: Case, setting: Setting, cap: float, first: int = 0, *, probe: bool = True) -> Found:
    """Try tolerances from loose to tight and stop at the first that serves, or when a fit takes longer than the cap.

    When the search itself has become long, only the tightest tolerance is still tried. With `probe`, one that never
    ends in time is asked how near it comes.
    """
    if setting.library == "statsmodels" and 5 * case.X.nbytes > MEMORY_CAP:
        return Found(setting, False, None, None, None, None, "skipped: may need more than 8 GB")
    near, spent, last = Found(setting, False, None, None, None, None), 0.0, len(TOLERANCES) - 1
    k = first
    while k <= last:
        try:
            fitted, seconds = timed_fit(case, setting, TOLERANCES[k], cap)
        except CapError:
            return _at_cap(case, near, cap, probe=probe)
        except Exception as error:  # whatever a library does, the run goes on
            return replace(near, note=f"fails at tolerance {TOLERANCES[k]:.0e}: {type(error).__name__}")
        gap = case.gap(fitted.weights, fitted.intercept, setting.penalty(case))
        here = Found(setting, gap <= case.problem.gap, TOLERANCES[k], gap, seconds, fitted.iterations)
        if here.reaches:
            return here
        near, spent = min(near, here, key=_distance), spent + seconds
        k = k + 1 if spent < 4 * cap or k == last else last
    return replace(near, note="does not reach at any tolerance")


def _distance(found: Found) -> float:
    return math.inf if found.gap is None or math.isnan(found.gap) else found.gap


def _at_cap(case: Case, near: Found, cap: float, *, probe: bool) -> Found:
    """How near a setting comes in the time of the cap, by as many iterations as fit in it."""
    note = f"does not reach: a fit takes longer than {cap:g} s"
    if near.gap is not None or not probe:
        return replace(near, note=note)
    with suppress(CapError):
        few = 20
        _, seconds = timed_fit(case, near.setting, TOLERANCES[-1], cap, few)
        fitted, seconds = timed_fit(case, near.setting, TOLERANCES[-1], 2 * cap, max(few, int(few * cap / seconds)))
        gap = case.gap(fitted.weights, fitted.intercept, near.setting.penalty(case))
        return Found(near.setting, False, TOLERANCES[-1], gap, seconds, fitted.iterations, note)
    return replace(near, note=note)
