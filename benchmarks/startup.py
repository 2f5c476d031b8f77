"""What it costs to begin: the import, and the kernels that a second process finds on disk."""

from __future__ import annotations

import json
import subprocess
import sys
from functools import partial
from typing import Any

from timing import clocked, in_turns

LIMIT_S = 0.15
MODULES = """
import json, sys, numpy, separatrix
print(json.dumps([name for name in ("sklearn", "numba", "scipy", "pandas") if name in sys.modules]))
"""
KERNELS = """
import json, time, numpy
from separatrix import LogisticRegression
random = numpy.random.default_rng(0)
X = random.standard_normal((20_000, 25))
y = random.random(len(X)) < 0.4
began = time.perf_counter()
for solver in ("newton", "lbfgs"):
    LogisticRegression(l2=1e-3, solver=solver).fit(X, y)
seconds = time.perf_counter() - began
from separatrix.data.compiled.passes import pass_kernel, root_kernel
from separatrix.losses import LogLikelihood, Squared
kernels = [pass_kernel(loss, "float64", "C") for loss in (LogLikelihood(), Squared())]
kernels += [root_kernel("float64", "C", out) for out in ("float32", "float64")]
counts = {f"cache_{what}": sum(sum(getattr(k.stats, f"cache_{what}").values()) for k in kernels)
          for what in ("hits", "misses")}
print(json.dumps({**counts, "first_fits_s": seconds}))
"""


def _run(code: str) -> str:
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"a fresh process failed:\n{ran.stderr}")
    return ran.stdout


def measure(repeats: int) -> dict[str, Any]:
    """The import beside numpy's, the modules it loads, and the second process's compilations."""
    _run("import separatrix")
    _run(KERNELS)
    imports = {"numpy": "import numpy", "with_separatrix": "import numpy, separatrix"}
    times = in_turns({name: (partial(clocked, partial(_run, code)), repeats) for name, code in imports.items()})
    return {
        "import_numpy_s": times["numpy"],
        "import_numpy_and_separatrix_s": times["with_separatrix"],
        "added_s": times["with_separatrix"]["median"] - times["numpy"]["median"],
        "limit_s": LIMIT_S,
        "modules_loaded": json.loads(_run(MODULES)),
        "second_process": json.loads(_run(KERNELS)),
    }
