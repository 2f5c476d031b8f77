"""A kernel is made by one thread, and its cache is stamped by all that it is made of."""

import ast
import threading
from pathlib import Path

import pytest

import separatrix
from separatrix.numerics.jit import made_once

PACKAGE = Path(separatrix.__file__).parent


def test_two_threads_that_ask_at_once_get_one_and_the_same():
    made, meet = [], threading.Barrier(2)

    @made_once
    def kernel(name):
        made.append(name)
        threading.Event().wait(0.05)
        return object()

    found = []

    def ask():
        meet.wait()
        found.append(kernel("pass"))

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert made == ["pass"]
    assert found[0] is found[1]
    assert kernel("root") is not found[0]
    assert kernel.__name__ == "kernel"


def test_one_may_be_made_of_another():
    @made_once
    def part():
        return 1

    @made_once
    def whole():
        return part() + 1

    assert whole() == 2


# Sources: what the texts of a file of kernels use of other files, its kernels must name.


def uses(file: Path) -> tuple[dict[str, Path], dict[str, Path]]:
    """What a file imports from the package: names to the modules they are, and names to the modules they are from."""
    modules, names = {}, {}
    for node in ast.parse(file.read_text(encoding="utf-8")).body:
        if isinstance(node, ast.ImportFrom) and node.level:
            home = file.parents[node.level - 1].joinpath(*(node.module or "").split("."))
            for name in node.names:
                if (home / f"{name.name}.py").exists():
                    modules[name.asname or name.name] = home / f"{name.name}.py"
                elif home.with_suffix(".py").exists():
                    names[name.asname or name.name] = home.with_suffix(".py")
    return modules, names


def is_text(node: ast.AST) -> bool:
    """A function without annotations is one that Numba compiles, or that makes one."""
    return isinstance(node, ast.FunctionDef) and not node.returns


def used_by_texts(file: Path) -> set[Path]:
    """The files whose names stand in the texts of this file, and in the texts of those."""
    names = uses(file)[1]
    texts = [node for node in ast.parse(file.read_text(encoding="utf-8")).body if is_text(node)]
    own = {names[node.id] for text in texts for body in text.body for node in ast.walk(body)
           if isinstance(node, ast.Name) and node.id in names}  # fmt: skip
    own -= {file, PACKAGE / "numerics" / "jit.py", PACKAGE / "numerics" / "plain_lanes.py"}
    return own.union(*map(used_by_texts, own))


def named_sources(file: Path) -> set[Path]:
    modules = uses(file)[0]
    return {modules[node.id] for call in ast.walk(ast.parse(file.read_text(encoding="utf-8")))
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and call.func.id == "kernel"
            for argument in call.args for node in ast.walk(argument)
            if isinstance(node, ast.Name) and node.id in modules}  # fmt: skip


KERNELS = sorted(
    file for file in PACKAGE.rglob("*.py") if "\n@kernel(" in file.read_text(encoding="utf-8") and file.stem != "jit"
)


@pytest.mark.parametrize("file", KERNELS, ids=lambda file: file.stem)
def test_kernels_name_the_sources_that_their_texts_use(file: Path) -> None:
    missing = used_by_texts(file) - named_sources(file)
    assert not missing


def test_there_are_kernels_to_look_at_and_one_that_uses_others() -> None:
    assert len(KERNELS) > 10
    scan = PACKAGE / "fitting" / "scan" / "perceptron.py"
    assert {file.stem for file in used_by_texts(scan)} >= {"lanes", "row_access"}
