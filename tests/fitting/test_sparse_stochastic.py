"""One row at a time over CSR rows: the learner takes the same steps as over dense ones, and never needs them dense."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix import LogisticRegression

pytestmark = pytest.mark.filterwarnings("ignore::separatrix.BudgetWarning")


def rows(seed=0, n=200, d=15, classes=2):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.3)
    y = (X @ rng.standard_normal((d, classes)) + rng.gumbel(size=(n, classes))).argmax(axis=1)
    return X, y


@pytest.mark.parametrize("classes", [2, 3])
@pytest.mark.parametrize("averaging", [True, False])
@pytest.mark.parametrize("l2", [0.0, 0.01])
@pytest.mark.parametrize("objective", ["likelihood", "squared"])
def test_a_stochastic_fit_takes_the_same_steps(classes, averaging, l2, objective):
    X, y = rows(classes=classes)
    how = {"solver": "stochastic", "averaging": averaging, "l2": l2, "objective": objective, "max_passes": 4,
           "learning_rate": 0.05, "random_state": 3}  # fmt: skip
    dense, sparse = (LogisticRegression(**how).fit(table, y) for table in (X, csr_array(X)))
    np.testing.assert_allclose(sparse.coef_, dense.coef_, atol=1e-10)
    assert sparse.verdict_.status == dense.verdict_.status
    assert sparse.verdict_.check(csr_array(X), y)
    np.testing.assert_allclose(sparse.predict_proba(csr_array(X)), dense.predict_proba(X), atol=1e-10)


def test_partial_fit_in_any_pieces_of_either_kind():
    X, y = rows(classes=3)
    how = {"solver": "stochastic", "averaging": True, "l2": 0.02, "learning_rate": 0.05}
    whole = LogisticRegression(**how).partial_fit(csr_array(X), y)
    pieces, mixed = LogisticRegression(**how), LogisticRegression(**how)
    for k, part in enumerate(np.array_split(np.arange(len(X)), 6)):
        pieces.partial_fit(csr_array(X)[part], y[part], classes=[0, 1, 2])
        mixed.partial_fit(csr_array(X)[part] if k % 2 else X[part], y[part], classes=[0, 1, 2])
    assert pieces.coef_.tobytes() == whole.coef_.tobytes()
    np.testing.assert_allclose(mixed.coef_, whole.coef_, atol=1e-12)


WIDE = """
import warnings
import numpy as np
from scipy.sparse import csr_array
from separatrix import AveragedPerceptron, LogisticRegression, OnlinePerceptron, Perceptron, Pocket, VotedPerceptron
warnings.simplefilter("ignore")
rng, n, d = np.random.default_rng(0), 4000, 40_000
X = csr_array((rng.standard_normal(n * 20), rng.integers(0, d, n * 20), np.arange(0, n * 20 + 1, 20)), shape=(n, d))
y = (X @ rng.standard_normal(d) + 3 * rng.standard_normal(n) > 0).astype(int)
for model in (
    LogisticRegression(solver="stochastic", max_passes=2, random_state=0), Perceptron(max_passes=5),
    AveragedPerceptron(max_passes=2), VotedPerceptron(max_passes=2), Pocket(max_passes=5), OnlinePerceptron(),
    LogisticRegression(solver="stochastic", learning_rate=0.1, l2=1e-3, averaging=True, max_passes=2, random_state=0),
):
    model.fit(X, y).predict(X)
print(next(line for line in open("/proc/self/status") if line.startswith("VmHWM")).split()[1])
"""


@pytest.mark.slow
def test_nothing_is_ever_written_out():
    if not Path("/proc/self/status").exists():
        pytest.skip("this system does not tell how much memory a process had at its peak")
    ran = subprocess.run([sys.executable, "-c", WIDE], capture_output=True, text=True, check=False)
    assert ran.returncode == 0, ran.stderr[-3000:]
    assert int(ran.stdout) < 700_000, "kilobytes; the rows with their zeros would be 1 280 000"
