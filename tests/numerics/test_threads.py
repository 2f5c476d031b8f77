"""Our own threads: how many, in what order, and that neither forks nor neighbours disturb a fit."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import Parallel, delayed, parallel_config
from joblib.externals.loky import get_reusable_executor
from threadpoolctl import OpenBLASController, threadpool_info, threadpool_limits

from separatrix import LogisticRegression
from separatrix.data.rows import SMALL
from separatrix.learners.logistic.training import COMPILE_FROM
from separatrix.numerics.threads import one_blas_thread, ordered_map, thread_count

needs_fork = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")


@pytest.fixture
def three_cpus(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: {0, 2, 5}, raising=False)


@pytest.mark.usefixtures("three_cpus")
@pytest.mark.parametrize(("asked", "count"), [(1, 1), (7, 7), (0, 1), (-3, 1)])
def test_what_is_asked_for_comes_first(asked: int, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    assert thread_count(asked) == count


@pytest.mark.usefixtures("three_cpus")
@pytest.mark.parametrize(("setting", "count"), [("5", 5), ("1", 1), (" 4 ", 4), ("2,4", 2)])
def test_the_environment_comes_second(setting: str, count: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert thread_count() == count


@pytest.mark.usefixtures("three_cpus")
@pytest.mark.parametrize("setting", [None, "", "0", "many", "-2", "1.5"])
def test_the_cpus_of_the_process_come_last(setting: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if setting is not None:
        monkeypatch.setenv("OMP_NUM_THREADS", setting)
    assert thread_count() == 3


def test_where_affinity_is_not_known_all_cpus_count(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 6)
    assert thread_count() == 6


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_come_in_order_though_the_first_is_the_last_to_finish(threads: int) -> None:
    others = threading.Semaphore(0)

    def work(i: int) -> int:
        if i == 0 and threads > 1:
            assert others.acquire(timeout=30)
        others.release()
        return i * i

    with ordered_map(threads) as each:
        assert list(each(work, range(20))) == [i * i for i in range(20)]


def test_two_threads_work_at_once() -> None:
    meeting = threading.Barrier(2, timeout=30)
    with ordered_map(2) as each:
        found = list(each(lambda i: (meeting.wait() >= 0, threading.get_ident()), range(2)))
    assert all(met for met, _ in found)
    assert len({thread for _, thread in found}) == 2
    assert threading.get_ident() not in {thread for _, thread in found}


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_no_more_results_wait_than_threads_and_one(threads: int) -> None:
    drawn = 0

    def items() -> Iterator[int]:
        nonlocal drawn
        for i in range(40):
            drawn += 1
            yield i

    with ordered_map(threads) as each:
        for read, _ in enumerate(each(lambda i: i, items()), start=1):
            assert drawn - read <= threads + 1
    assert drawn == 40


@pytest.mark.parametrize("threads", [1, 3])
def test_an_exception_reaches_the_reader_and_ends_the_work(threads: int) -> None:
    begun = []

    def work(i: int) -> int:
        begun.append(i)
        if i == 3:
            raise LookupError("row 3")
        return i

    found: list[int] = []
    with ordered_map(threads) as each, pytest.raises(LookupError, match="row 3"):
        found.extend(each(work, range(1000)))
    assert found == [0, 1, 2]
    assert len(begun) <= 4 + threads + 1


def test_no_thread_outlives_the_block() -> None:
    with ordered_map(4) as each:
        assert sum(each(lambda i: i, range(100))) == 4950
        assert any(thread.name.startswith("separatrix") for thread in threading.enumerate())
    assert not any(thread.name.startswith("separatrix") for thread in threading.enumerate())


def test_a_reader_may_leave_early() -> None:
    with ordered_map(2) as each:
        assert next(each(lambda i: i, range(10**9))) == 0


def blas_threads() -> set[int]:
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}


def free_blas() -> None:
    """From its version 3.8 on, threadpoolctl obeys only the thread that was the first to set a limit."""
    release = getattr(OpenBLASController, "clear_controlling_thread", None)
    if release is not None:
        release(force=True)


@pytest.fixture
def two_blas_threads() -> Iterator[None]:
    with one_blas_thread():  # the libraries are loaded before their limits are set
        pass
    free_blas()
    limit = threadpool_limits(2, user_api="blas")
    free_blas()
    if blas_threads() != {2}:
        pytest.skip("this BLAS has one thread")
    yield
    free_blas()
    limit.restore_original_limits()
    free_blas()


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_has_one_thread_inside_and_what_it_had_after() -> None:
    with one_blas_thread():
        assert blas_threads() == {1}
        with one_blas_thread():
            assert blas_threads() == {1}
        assert blas_threads() == {1}
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_blas_gets_its_threads_back_after_an_error() -> None:
    with pytest.raises(ZeroDivisionError), one_blas_thread(), one_blas_thread():
        1 / 0
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_the_last_to_leave_restores_what_the_first_one_found() -> None:
    """Two threads whose blocks overlap, neither inside the other."""
    both_inside, first_left = threading.Event(), threading.Event()
    seen = []

    def second() -> None:
        with one_blas_thread():
            both_inside.set()
            assert first_left.wait(timeout=30)
            seen.append(blas_threads())

    thread = threading.Thread(target=second)
    with one_blas_thread():
        thread.start()
        assert both_inside.wait(timeout=30)
    first_left.set()
    thread.join(timeout=30)
    assert seen == [{1}]
    assert blas_threads() == {2}


@pytest.mark.usefixtures("two_blas_threads")
def test_threads_that_take_turns_have_one_blas_thread_each() -> None:
    all_alive, turn = threading.Barrier(3, timeout=30), threading.Lock()

    def work(i: int) -> tuple[set[int], set[int]]:
        all_alive.wait()
        with turn:
            with one_blas_thread():
                inside = blas_threads()
            after = blas_threads()
        all_alive.wait()
        return inside, after

    with ThreadPoolExecutor(3) as pool:
        assert list(pool.map(work, range(3))) == [({1}, {2})] * 3


def problem() -> tuple[np.ndarray, np.ndarray]:
    """Numbers enough for the compiled pass, for several runs and for a pool."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((max(SMALL, COMPILE_FROM) // 8 + 100, 8))
    return X, (X[:, 0] - X[:, 1] + 2 * rng.standard_normal(len(X)) > 0).astype(int)


def bits(model: LogisticRegression) -> bytes:
    assert model.verdict_.status == "optimal"
    return model.coef_.tobytes() + model.intercept_.tobytes()


SOLVERS = ["newton", "lbfgs"]


@pytest.fixture(scope="module")
def expected() -> dict[str, bytes]:
    """The bits that one thread alone gives, by solver."""
    X, y = problem()
    return {solver: bits(LogisticRegression(solver=solver, n_threads=1).fit(X, y)) for solver in SOLVERS}


@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("threads", [2, 8])
def test_a_fit_has_the_same_bits_for_any_number_of_threads(
    solver: str, threads: int, expected: dict[str, bytes]
) -> None:
    assert bits(LogisticRegression(solver=solver, n_threads=threads).fit(*problem())) == expected[solver]


def test_fits_in_several_threads_at_once_give_the_same_bits(expected: dict[str, bytes]) -> None:
    X, y = problem()
    solvers = SOLVERS * 3
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda solver: bits(LogisticRegression(solver=solver, n_threads=2).fit(X, y)), solvers))
    assert found == [expected[solver] for solver in solvers]


@pytest.mark.usefixtures("two_blas_threads")
def test_a_fit_in_a_thread_of_its_own_has_the_same_bits() -> None:
    """The products are wide enough that two BLAS threads would change their last bits."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((12_000, 120))
    y = (X[:, 0] + 2 * rng.standard_normal(len(X)) > 0).astype(int)
    here = bits(LogisticRegression(solver="newton").fit(X, y))
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: bits(LogisticRegression(solver="newton").fit(X, y))).result() == here


@pytest.fixture
def joblib_workers() -> Iterator[None]:
    with parallel_config(backend="loky", inner_max_num_threads=1):
        yield
    get_reusable_executor().shutdown(wait=True)


@pytest.mark.usefixtures("joblib_workers")
def test_fits_in_joblibs_workers_give_the_same_bits(expected: dict[str, bytes]) -> None:
    """Their rows are memory maps that cannot be written."""
    X, y = problem()
    models = Parallel(n_jobs=2)(delayed(LogisticRegression(solver=solver).fit)(X, y) for solver in SOLVERS)
    assert [bits(model) for model in models] == [expected[solver] for solver in SOLVERS]


def run(script: str, **environment: str) -> str:
    """What a Python of its own prints; a deadlock there ends in an error here."""
    ran = subprocess.run(
        [sys.executable, "-c", script],
        env=os.environ | environment, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert ran.returncode == 0, ran.stderr
    return ran.stdout


FORK_AFTER_A_FIT = """
import os, signal
import numpy as np
from separatrix import LogisticRegression

rng = np.random.default_rng(0)
X = rng.standard_normal(({rows}, 8))
y = (X[:, 0] - X[:, 1] + 2 * rng.standard_normal(len(X)) > 0).astype(int)
fit = lambda: LogisticRegression(solver="lbfgs", n_threads=2).fit(X, y).coef_.tobytes()
before = fit()
child = os.fork()
if child == 0:
    signal.alarm(30)
    os._exit(0 if fit() == before else 1)
status = os.waitpid(child, 0)[1]
print(os.waitstatus_to_exitcode(status), fit() == before)
"""


@needs_fork
def test_a_forked_child_fits_what_its_parent_fitted() -> None:
    rows = max(SMALL, COMPILE_FROM) // 8 + 100
    assert run(FORK_AFTER_A_FIT.format(rows=rows)).split() == ["0", "True"]


FORK_BESIDE_A_BLOCK = """
import os, signal, threading
from threadpoolctl import threadpool_info, threadpool_limits
from separatrix.numerics.threads import one_blas_thread

def blas_threads():
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"}

def hold():
    with one_blas_thread():
        inside.set()
        leave.wait(30)

with one_blas_thread():
    pass
threadpool_limits(2, user_api="blas")
inside, leave = threading.Event(), threading.Event()
holder = threading.Thread(target=hold)
holder.start()
inside.wait(30)
child = os.fork()
if child == 0:
    signal.alarm(30)
    found = [blas_threads()]
    for _ in range(2):
        with one_blas_thread():
            found.append(blas_threads())
        found.append(blas_threads())
    os._exit(0 if found == [{2}, {1}, {2}, {1}, {2}] else 1)
status = os.waitpid(child, 0)[1]
leave.set()
holder.join(30)
print(os.waitstatus_to_exitcode(status), blas_threads() == {2})
"""


@needs_fork
@pytest.mark.usefixtures("two_blas_threads")
def test_a_child_forked_while_another_thread_is_inside_starts_outside() -> None:
    assert run(FORK_BESIDE_A_BLOCK).split() == ["0", "True"]


def test_workers_of_one_thread_fit_with_one_thread() -> None:
    """joblib says so by OMP_NUM_THREADS; a pool in every worker would crowd the machine."""
    script = (
        "import threading, numpy as np\n"
        "from separatrix import LogisticRegression\n"
        "X = np.random.default_rng(0).standard_normal((300_000, 4))\n"
        "y = np.random.default_rng(1).integers(0, 2, 300_000)\n"
        "names = set()\n"
        "for _ in LogisticRegression().steps(X, y):\n"
        "    names |= {thread.name.partition('_')[0] for thread in threading.enumerate()}\n"
        "print('separatrix' in names)\n"
    )
    assert [run(script, OMP_NUM_THREADS=count).strip() for count in ("1", "2")] == ["False", "True"]
