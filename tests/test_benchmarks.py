"""The benchmark runs, and writes what it promises."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[1]
KEYS = ["scaled", "long", "plain", "wide", "rare"]
FAMILIES = {"scikit-learn newton-cholesky", "scikit-learn lbfgs", "glum irls-ls", "statsmodels newton"}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("glum")
    pytest.importorskip("statsmodels")
    out = tmp_path_factory.mktemp("bench")
    command = [sys.executable, str(ROOT / "benchmarks" / "dense.py"), "--quick", "--out", str(out)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    return out


@pytest.fixture(scope="module")
def results(folder: Path) -> dict[str, Any]:
    return json.loads((folder / "dense.json").read_text(encoding="utf-8"))


@pytest.mark.slow
def test_files_are_whole_and_name_no_place(folder: Path) -> None:
    assert sorted(path.name for path in folder.iterdir()) == ["dense.json", "dense.md", "dense.png", "growth.png"]
    assert all(path.read_bytes()[:8] == b"\x89PNG\r\n\x1a\n" for path in folder.glob("*.png"))
    for name in ("dense.json", "dense.md"):
        text = (folder / name).read_text(encoding="utf-8")
        assert str(ROOT) not in text
        assert sys.prefix not in text
        assert str(folder) not in text


@pytest.mark.slow
def test_ours_is_optimal_on_every_problem(results: dict[str, Any]) -> None:
    assert [problem["key"] for problem in results["problems"]] == KEYS
    for problem in results["problems"]:
        ours = problem["ours"]
        assert ours["status"] == "optimal"
        assert 0 <= ours["gap"] <= 1e-10
        assert 0 <= ours["proved_gap"] <= 1e-10
        assert 0 < ours["seconds"]["min"] <= ours["seconds"]["median"] <= ours["seconds"]["max"]
        assert ours["passes"] > 0
        assert problem["times_sum"] > 0
        assert problem["memory"]["x_bytes"] == 8 * problem["rows"] * problem["columns"]
        assert problem["memory"]["limit_bytes"] == 64 * 2**20 + 120 * problem["columns"] ** 2
        assert problem["memory"]["beyond_x_bytes"] >= 0


@pytest.mark.slow
def test_a_peer_is_timed_only_where_it_reaches_the_gap(results: dict[str, Any]) -> None:
    for problem in results["problems"]:
        assert {peer["family"] for peer in problem["peers"]} == FAMILIES
        for peer in problem["peers"]:
            assert peer["reaches"] == (peer["gap"] is not None and peer["gap"] <= 1e-10)
            assert (peer["seconds"] is not None) == peer["reaches"]
            assert peer["reaches"] or peer["note"]
        reached = {peer["name"]: peer["seconds"]["median"] for peer in problem["peers"] if peer["reaches"]}
        assert reached, "no peer reaches the gap in the time of a quick run"
        assert problem["best_peer"] == min(reached, key=reached.__getitem__)
        assert problem["ratio"] == pytest.approx(min(reached.values()) / problem["ours"]["seconds"]["median"])


@pytest.mark.slow
def test_growth_start_and_machine_are_told(results: dict[str, Any]) -> None:
    for axis, points in (("rows", 7), ("columns", 6)):
        series = results["growth"][axis]
        assert len(series["sizes"]) == len(series["seconds"]) == points
        assert series["slope"] > 0
    assert not {"sklearn", "numba"} & set(results["startup"]["modules_loaded"])
    assert results["startup"]["second_process"]["cache_misses"] == 0
    assert results["startup"]["second_process"]["cache_hits"] > 0
    assert results["machine"]["cpu"]
    assert {"python", "separatrix", "scikit-learn", "glum", "statsmodels"} <= set(results["versions"])
    assert results["quick"]
    assert results["missed"] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", ["softmax", "online"])
def test_the_other_benchmarks_run_too(name: str, tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "benchmarks" / f"{name}.py"), "--quick", "--out", str(tmp_path)]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, timeout=1200)
    assert ran.returncode == 0, ran.stdout[-2000:] + ran.stderr[-4000:]
    assert sorted(path.name for path in tmp_path.iterdir()) == [f"{name}.json", f"{name}.md"]
    for file in tmp_path.iterdir():
        assert str(ROOT) not in file.read_text(encoding="utf-8")
