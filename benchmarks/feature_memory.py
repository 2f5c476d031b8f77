"""Peak memory of a fit on polynomial features, beside the table of features that is never made.

`python feature_memory.py [--rows N] [--columns D] [--degree G] [--out FILE]` fits in a fresh process and prints what
was held beyond the state before the fit, X and y included there.
"""

from __future__ import annotations

import argparse
import json
import math
import subprocess
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from memory import _hand_back, _peak, _status, _warm

ROWS, COLUMNS, DEGREE, L2 = 200_000, 100, 2, 1e-4
PART = 1 / 5
"""The most of the table of features that a fit may hold."""


def generate(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Normal columns; labels by a quadratic rule of some of them, with logistic noise."""
    random = np.random.default_rng(7)
    X = random.standard_normal((rows, columns))
    weights = random.normal(size=columns) / math.sqrt(columns)
    first, second = X[:, : columns // 2], X[:, columns // 2 : 2 * (columns // 2)]
    score = X @ weights + 2 * (first * second).sum(axis=1) / math.sqrt(columns // 2)
    return X, (score + random.logistic(size=rows) > 0).astype(int)


def measure(rows: int, columns: int, degree: int) -> dict[str, Any]:
    """Bytes held at most during the fit beyond those before it, in this process."""
    from separatrix import LogisticRegression
    from separatrix.features import Polynomial

    _warm()
    X, y = generate(rows, columns)
    features = math.comb(columns + degree, degree) - 1
    _hand_back()
    with suppress(OSError):
        Path("/proc/self/clear_refs").write_text("5")  # the mark starts again from what is held now
    before, began = _status("VmRSS") or _peak(), time.perf_counter()
    model = LogisticRegression(features=Polynomial(degree), l2=L2).fit(X, y)
    seconds, beyond = time.perf_counter() - began, max(0, _peak() - before)
    return {
        "rows": rows, "columns": columns, "degree": degree, "features": features,
        "beyond_x_bytes": beyond, "x_bytes": X.nbytes, "features_bytes": 8 * rows * features,
        "part": beyond / (8 * rows * features), "seconds": seconds, "passes": model.n_passes_,
        "status": model.verdict_.status, "accuracy": float(model.score(X[:10_000], y[:10_000])),
    }  # fmt: skip


def in_fresh_process(rows: int = ROWS, columns: int = COLUMNS, degree: int = DEGREE) -> dict[str, Any]:
    command = [sys.executable, str(Path(__file__).resolve()), "--here"]
    command += ["--rows", str(rows), "--columns", str(columns), "--degree", str(degree)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False)
    if ran.returncode:
        raise RuntimeError(f"the memory of a fit on features could not be measured:\n{ran.stderr}")
    return json.loads(ran.stdout)


def sentence(found: dict[str, Any]) -> str:
    gigabytes = {key: found[key] / 1e9 for key in ("features_bytes", "beyond_x_bytes")}
    return (
        f"{found['rows']:,} rows of {found['columns']} columns, degree {found['degree']}: {found['features']:,} "
        f"features, {gigabytes['features_bytes']:.2f} GB if they were all made. "
        f"The fit held {gigabytes['beyond_x_bytes']:.2f} GB beyond X ({found['part']:.3f} of that) and took "
        f"{found['seconds']:.0f} s, {found['passes']:.1f} passes; it ended {found['status']}."
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    for name, value in (("rows", ROWS), ("columns", COLUMNS), ("degree", DEGREE)):
        parser.add_argument(f"--{name}", type=int, default=value)
    parser.add_argument("--here", action="store_true", help="in this process, as JSON")
    parser.add_argument("--out", type=Path, help="where to write the numbers as JSON")
    given = parser.parse_args()
    if given.here:
        print(json.dumps(measure(given.rows, given.columns, given.degree)))
    else:
        found = in_fresh_process(given.rows, given.columns, given.degree)
        print(sentence(found))
        if given.out:
            given.out.write_text(json.dumps(found, indent=1) + "\n")
