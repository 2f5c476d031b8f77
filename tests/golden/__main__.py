"""python -m tests.golden record | compare [--tol 1e-12]: what the fits of `fits.py` give, and whether it is as before.

`record` writes the file that `compare` reads, out/golden.json. Bits are promised on one type of machine only, so the
file is made anew from the commit to compare with, on the machine that compares, and is not kept in the repository.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import pathlib
import sys
from typing import Any

import numpy as np

from .fits import Fit, fits

FILE = pathlib.Path("out/golden.json")


def bits(numbers: list[float]) -> str:
    """A hash of the bits."""
    return hashlib.sha256(np.array(numbers, dtype=np.float64).tobytes()).hexdigest()[:16]


def numbers_of(value: Any) -> list[float]:
    """Every number in it, in order."""
    if isinstance(value, dict):
        return [number for key in sorted(value) for number in numbers_of(value[key])]
    if isinstance(value, list | tuple):
        return [number for each in value for number in numbers_of(each)]
    if isinstance(value, np.ndarray):
        return [float(number) for number in value.ravel()]
    return [float(value)] if isinstance(value, int | float) else []


def learnt(fit: Fit) -> dict[str, Any]:
    """What a fit leaves: status, weights, predictions, the verdict's numbers, its sentences."""
    model = fit.make()
    given = {} if fit.weight is None else {"sample_weight": fit.weight}
    try:
        model.partial_fit(fit.X, fit.y) if not hasattr(model, "fit") else model.fit(fit.X, fit.y, **given)
    except (ValueError, TypeError) as error:
        return {"status": f"{type(error).__name__}", "numbers": [], "words": str(error)}
    found: list[float] = []
    for name in ("coef_", "intercept_"):
        with contextlib.suppress(AttributeError):
            found += numbers_of(np.asarray(getattr(model, name), dtype=float))
    for name in ("decision_function", "predict_proba"):
        if hasattr(model, name):
            found += numbers_of(np.asarray(getattr(model, name)(fit.X), dtype=float))
    found += numbers_of(np.asarray(model.predict(fit.X), dtype=float))
    verdict = getattr(model, "verdict_", None)
    said = verdict.to_dict() if verdict is not None else {}
    words = " ".join(str(said.get(name)) for name in ("cause", "remedy"))
    return {"status": said.get("status"), "numbers": found + numbers_of(said), "words": words}


def all_learnt() -> dict[str, Any]:
    """Of every fit, by its name; numbers as a hash, and as themselves."""
    found = {}
    for fit in fits():
        entry = learnt(fit)
        found[fit.name] = {**entry, "bits": bits(entry["numbers"])}
    return found


def apart(old: list[float], new: list[float]) -> float:
    """The largest difference, in units of the larger of one and the number."""
    if len(old) != len(new):
        return np.inf
    a, b = np.array(old), np.array(new)
    same = (a == b) | (np.isnan(a) & np.isnan(b))
    return float(np.max(np.where(same, 0, abs(a - b) / np.maximum(1, abs(a))), initial=0))


def compare(tol: float, words: bool) -> int:
    """What is not as before, a line each."""
    old, new = json.loads(FILE.read_text()), all_learnt()
    changed = 0
    for name in sorted(old.keys() | new.keys()):
        if name not in old or name not in new:
            print(f"{name}: only {'before' if name in old else 'now'}")
            changed += 1
            continue
        a, b = old[name], new[name]
        far = 0.0 if a["bits"] == b["bits"] else apart(a["numbers"], b["numbers"])
        if a["status"] != b["status"] or far > tol or (tol == 0 and a["bits"] != b["bits"]):
            print(f"{name}: {a['status']} to {b['status']}, apart by {far:.1e}")
            changed += 1
        if words and a["words"] != b["words"]:
            print(f"{name}:\n  - {a['words']}\n  + {b['words']}")
    print(f"{len(new)} fits, {changed} changed")
    return int(changed > 0)


def main() -> int:
    """Record, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=["record", "compare"])
    parser.add_argument("--tol", type=float, default=0.0)
    parser.add_argument("--words", action="store_true", help="show sentences that changed as well")
    chosen = parser.parse_args()
    if chosen.what == "compare":
        return compare(chosen.tol, chosen.words)
    FILE.parent.mkdir(exist_ok=True)
    FILE.write_text(json.dumps(all_learnt()))
    print(f"{len(json.loads(FILE.read_text()))} fits in {FILE}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
