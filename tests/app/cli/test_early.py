"""What is loaded while the table is read."""

import subprocess
import sys
import threading

import pytest

from separatrix.app.cli.early import early, modules_of_a_fit


def test_parts_are_done_in_order_in_another_thread():
    with early([threading.get_ident, lambda: "second"]) as work:
        thread, second = work.wait()
    assert thread != threading.get_ident()
    assert second == "second"


def test_an_error_of_the_other_thread_is_raised_where_it_is_waited_for():
    def fails():
        raise ImportError("no such library")

    with pytest.raises(ImportError, match="no such library"), early([fails]) as work:
        work.wait()


def test_whoever_fails_meanwhile_waits_for_no_further_part():
    begun, unwanted, done = threading.Event(), [], []

    def first():
        assert begun.wait(20)
        done.append(unwanted[0].wait(20))

    def fails():
        with early([first, lambda: done.append("second")]) as work:
            unwanted.append(work._unwanted)
            begun.set()
            raise ValueError("a bad cell")

    with pytest.raises(ValueError, match="a bad cell"):
        fails()
    assert done == [True]


def test_nothing_is_done_before_it_is_told_to_begin():
    done = []
    with early([lambda: done.append(1)], now=False) as work:
        assert not done
        work.begin()
        work.begin()
        assert work.wait() == [None]
    with early([lambda: done.append(2)], now=False):
        pass
    assert done == [1]


def test_the_compiled_passes_are_loaded_for_a_large_file_only(tmp_path):
    small, large = tmp_path / "small.csv", tmp_path / "large.csv"
    small.write_bytes(b"x\n")
    with large.open("wb") as stream:
        stream.truncate(1 << 24)
    few, many = (len(modules_of_a_fit("LogisticRegression", [str(path)])) for path in (small, large))
    assert few < many
    assert len(modules_of_a_fit("LogisticRegression", ["nowhere.csv", "-"])) == few


ALONE = """
import sys
from separatrix.app.cli import early
early.process_is_ours()
with early.early(early.modules_of_a_fit("LogisticRegression", [])) as work:
    work.wait()
left_out = [name for name in (*early.NOT_NOW, "pandas", "scipy.optimize") if name in sys.modules]
assert not left_out, left_out
assert "sklearn.base" in sys.modules
import numpy as np
from separatrix import LogisticRegression
from scipy.stats import norm
assert norm.cdf(0.0) == 0.5
from sklearn.utils.fixes import _mode
assert _mode(np.array([1, 1, 2])).mode == 1
np.testing.assert_allclose(1.0, 1.0)
import numpy.testing, numpy.f2py, narwhals.stable.v2, asyncio
assert np.f2py is numpy.f2py is sys.modules["numpy.f2py"]
from sklearn.utils._indexing import nw
assert nw.from_native is narwhals.stable.v2.from_native
assert asyncio.run(asyncio.sleep(0, "slept")) == "slept"
X = np.random.default_rng(0).normal(size=(200, 2))
print(LogisticRegression().fit(X, X[:, 0] + X[:, 1] ** 3 + 0.5 * X[::-1, 0] > 0).verdict_.status)
"""


def test_a_process_of_our_own_leaves_some_modules_out_and_all_but_pandas_work_later():
    found = subprocess.run([sys.executable, "-c", ALONE], capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert found.stdout.split() == ["optimal"]


def test_a_process_that_is_not_ours_loads_scikit_learn_as_it_is():
    code = "import sys, separatrix.app.cli.early as e; e.scikit_learn(); sys.exit('sklearn' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


KERNELS = """
import sys
import numpy as np
from separatrix.app.cli import early
early.process_is_ours()
with early.early(early.compiled_passes()) as work:
    kernel = work.wait()[-1]
compiler = "numba.np.arraymath" in sys.modules
numbers, places, sums = np.array([[1.0], [3.0]]), np.array([[0], [1]], np.int32), [np.zeros(s) for s in ((2, 2),) * 3]
kernel((numbers, places), 0, 2, np.zeros(1), np.ones(1), np.ones(2), *sums)
assert sums[0].tolist() == [[10.0, 4.0], [4.0, 2.0]], sums
import numba
assert numba.njit(lambda x: np.sort(x)[0])(np.array([2.0, 1.0])) == 1.0  # what was left out is there when it is needed
print("compiler" if compiler else "cache")
"""


def test_a_process_of_our_own_loads_kernels_from_the_cache_without_the_compiler():
    for way in (["cache", "compiler"], ["cache"]):  # the first may have to compile
        found = subprocess.run([sys.executable, "-c", KERNELS], capture_output=True, text=True, check=False)
        assert found.returncode == 0, found.stderr
        assert found.stdout.split()[0] in way
