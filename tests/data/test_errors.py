"""What the rooms of data and losses refuse, as types with fields."""

import pickle

import numpy as np
import pytest
from scipy.sparse import csr_array

from separatrix import families, joint, kernels
from separatrix.data import Sparse
from separatrix.data.kernels.gram import KernelError, check_symmetric
from separatrix.data.maps.joint_rows import FeatureMapError, Features
from separatrix.data.maps.statistics import nearest_other, spread_of
from separatrix.data.named import CodedLabels
from separatrix.errors import DataError, SettingError, SettingTypeError


@pytest.mark.parametrize(("make", "setting", "value"), [
    (lambda: kernels.Spectrum(0), "length", 0),
    (lambda: kernels.WeisfeilerLehman(-1), "rounds", -1),
    (lambda: families.Gaussian("mine"), "variance", "mine"),
    (lambda: joint.rowwise(abs, names=["a"], free=["b"]), "free", "b"),
    (lambda: joint.Shared([]).bind(("a", "b"), ("x",)), "groups", []),
    (lambda: joint.Shared({"g": ["c"]}).bind(("a", "b"), ("x",)), "groups", "c"),
    (lambda: joint.Shared({}, own=["c"]).bind(("a", "b"), ("x",)), "own", "c"),
    (lambda: nearest_other(np.zeros((1, 2))), "widths", "spacing"),
])  # fmt: skip
def test_a_setting_is_named(make, setting, value):
    with pytest.raises(SettingError) as caught:
        make()
    assert (caught.value.setting, caught.value.value) == (setting, value)


def test_what_is_no_function_is_of_the_wrong_type():
    with pytest.raises(SettingTypeError, match="phi is 3; it must be a function") as caught:
        joint.rowwise(3)
    assert (caught.value.setting, caught.value.value) == ("phi", 3)


def test_a_kernel_names_the_rows():
    K = np.array([[1.0, 0.5], [0.25, 1.0]])
    with pytest.raises(KernelError, match="The kernel is not symmetric: of rows 7 and 9") as caught:
        check_symmetric(K, np.array([7, 9]))
    assert (caught.value.row, caught.value.value) == (7, 0.5)
    again = pickle.loads(pickle.dumps(caught.value))
    assert (type(again), again.row, str(again)) == (KernelError, 7, str(caught.value))


def test_a_feature_map_names_the_row_and_the_feature():
    X = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, np.nan]])
    with pytest.raises(FeatureMapError, match="gives NaN for row 2") as caught:
        Features.of(lambda X, c: X, ("a", "b"), X)[np.arange(3)]
    assert (caught.value.row, np.isnan(caught.value.value)) == (2, True)


def test_data_are_said_to_be_wrong():
    matrix = csr_array((np.ones(2), np.array([0, 1]), np.array([0, 1, 2])), shape=(2, 2))
    matrix.indices = np.array([0, 7])
    matrix.has_canonical_format = True
    with pytest.raises(DataError, match="X is no CSR matrix: it has 2 columns and names column 7") as caught:
        Sparse.of(matrix)
    assert (caught.value.array, caught.value.value) == ("X", 7)
    with pytest.raises(DataError, match="distinct and in order"):
        CodedLabels(np.array([0, 1]), ["b", "a"])
    with pytest.raises(DataError, match="overflow: use larger units") as caught:
        spread_of(np.array([[-1e200], [1e200]]), ["height"])
    assert (caught.value.column, caught.value.value) == ("height", 1e200)
