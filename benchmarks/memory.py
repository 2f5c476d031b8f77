"""Peak memory of one fit beyond its data, in this process: `python memory.py KEY DIVISOR` prints it as JSON."""

from __future__ import annotations

import ctypes
import gc
import json
import resource
import subprocess
import sys
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from problems import PROBLEMS, Problem, generate

KILO = 1 if sys.platform == "darwin" else 1024
STATUS = Path("/proc/self/status")


def _status(name: str) -> int | None:
    with suppress(OSError, IndexError):
        return 1024 * int(STATUS.read_text().split(f"{name}:")[1].split()[0])
    return None


def _peak() -> int:
    """The high-water mark. On Linux that of this image: ru_maxrss starts at what the parent held when it forked."""
    return _status("VmHWM") or KILO * resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def _hand_back() -> None:
    """Give freed memory back to the system: a fit that took it up again would look as if it needed none."""
    gc.collect()
    with suppress(OSError, AttributeError):
        ctypes.CDLL(None).malloc_trim(0)


def _warm() -> None:
    """Load the kernels and BLAS's buffers on a little data, so that they are not counted."""
    from separatrix import LogisticRegression

    random = np.random.default_rng(0)
    X = random.standard_normal((20_000, 25))
    y = random.random(len(X)) < 0.4
    for solver in ("newton", "lbfgs"):
        LogisticRegression(l2=1e-3, solver=solver).fit(X, y)


def measure(problem: Problem) -> dict[str, Any]:
    """Bytes held at most during a fit beyond what was held before it, X and y included there."""
    from separatrix import LogisticRegression

    _warm()
    X, y = generate(problem)
    _hand_back()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the mark starts again from what is held now
    before = _status("VmRSS") or _peak()
    LogisticRegression(l2=problem.penalty / problem.rows).fit(X, y)
    beyond = max(0, _peak() - before)
    return {"beyond_x_bytes": beyond, "x_bytes": X.nbytes, "limit_bytes": problem.memory_limit}


def in_fresh_process(problem: Problem, divisor: int) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).resolve()), problem.key, str(divisor)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"the memory of {problem.title} could not be measured:\n{ran.stderr}")
    return json.loads(ran.stdout)


if __name__ == "__main__":
    chosen = next(problem for problem in PROBLEMS if problem.key == sys.argv[1])
    print(json.dumps(measure(chosen.smaller(int(sys.argv[2])))))
