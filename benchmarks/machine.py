"""Where and with what a run was made: enough to compare, nothing that names a place."""

from __future__ import annotations

import os
import platform
from contextlib import suppress
from importlib import metadata
from pathlib import Path
from typing import Any

from threadpoolctl import threadpool_info

PACKAGES = (
    "separatrix", "numpy", "scipy", "numba", "scikit-learn", "highspy", "glum", "tabmat", "statsmodels", "firthmodels",
    "river",
    "vowpalwabbit",
    "threadpoolctl", "matplotlib",
)  # fmt: skip


def _proc(path: str, key: str) -> str | None:
    file = Path(path)
    lines = file.read_text().splitlines() if file.exists() else []
    return next((line.split(":", 1)[1].strip() for line in lines if line.startswith(key)), None)


def machine() -> dict[str, Any]:
    memory = _proc("/proc/meminfo", "MemTotal")
    blas = sorted({f"{lib['internal_api']} {lib['version']} ({lib.get('architecture', '?')})"
                   for lib in threadpool_info() if lib["user_api"] == "blas"})  # fmt: skip
    return {
        "cpu": _proc("/proc/cpuinfo", "model name") or platform.processor() or platform.machine(),
        "cores": len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count(),
        "cache": _proc("/proc/cpuinfo", "cache size"),
        "memory_gib": round(int(memory.split()[0]) / 2**20) if memory else None,
        "system": f"{platform.system()} {platform.machine()}",
        "blas": blas,
        "threads_wished": os.environ.get("OMP_NUM_THREADS"),
    }


def load() -> float | None:
    """How many processes wanted a core over the last minute; a quiet machine is below 1 when we begin."""
    return round(os.getloadavg()[0], 2) if hasattr(os, "getloadavg") else None


def versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for name in PACKAGES:
        with suppress(metadata.PackageNotFoundError):
            found[name] = metadata.version(name)
    return found
