"""The public names stand once, in `separatrix/__init__.py`; the stub for type checkers is made of them.

python -m tests.house.test_public_names     writes src/separatrix/__init__.pyi anew
"""

from pathlib import Path

import pytest

import separatrix

STUB = Path(separatrix.__file__).with_suffix(".pyi")


def stub():
    """What type checkers are told."""
    lines = [f"from . import {name} as {name}" for name in separatrix._MODULES]
    homes = sorted(separatrix._PUBLIC.items(), key=lambda each: (each[1], each[0]))
    lines += [f"from {home} import {name} as {name}" for name, home in homes]
    return "\n".join(lines) + "\n\n__version__: str\n__all__: list[str]\n"


def test_the_stub_is_made_of_the_public_names():
    assert STUB.read_text(encoding="utf-8") == stub(), "make it anew: python -m tests.house.test_public_names"


def test_each_public_name_is_defined_where_it_is_said_to_be():
    for name, place in separatrix._PUBLIC.items():
        found = getattr(separatrix, name)
        assert (found.__module__, found.__name__) == ("separatrix" + place, name)


def test_all_names_are_found_by_dir_and_others_are_refused():
    assert set(separatrix.__all__) == {*separatrix._PUBLIC, *separatrix._MODULES}
    assert {*separatrix.__all__, "__version__"} == set(dir(separatrix))
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        separatrix.Nothing


if __name__ == "__main__":
    STUB.write_text(stub(), encoding="utf-8")
