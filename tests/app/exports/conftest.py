"""Tests that name ONNX need it: the extra `test` has it."""

from importlib.util import find_spec

import pytest

ALSO = ("test_what_", "test_many_")
"""Tests that export to ONNX among other things."""


@pytest.fixture(autouse=True)
def onnx_where_it_is_needed(request):
    name = request.node.name
    if ("onnx" in name or name.startswith(ALSO)) and not (find_spec("onnx") and find_spec("onnxruntime")):
        pytest.skip('onnx and onnxruntime are not installed: pip install "separatrix[test]"')
