"""Tensors from anything, against PyTorch."""

import numpy as np
import pytest
from calls import assert_same_ends
from twins import dtype_of, outcome

import minigrad

DATA = {
    "float": 1.5,
    "int": 3,
    "bool": True,
    "big int": 2**40,
    "inf": float("inf"),
    "overflow of float32": 1e300,
    "list": [1.0, 2.0],
    "ints": [1, 2],
    "bools": [True, False],
    "mixed": [1, 2.5, True],
    "nested": [[1, 2], [3, 4.5]],
    "tuple": ((1.0,), (2.0,)),
    "range": range(4),
    "empty": [],
    "empty rows": [[], []],
    "numpy float": np.float32(1.5),
    "numpy int": np.int64(3),
    "array": np.arange(6.0).reshape(2, 3),
    "int array": np.arange(3),
    "float16": np.arange(3, dtype="float16"),
    "0-d array": np.array(2.5),
    "list of arrays": [np.array([1.0, 2.0]), np.array([3.0, 4.0])],
    "list of numpy numbers": [np.float64(1.5), np.float32(2.5)],
    "transposed": np.arange(6.0).reshape(2, 3).T,
    "deep": [[[1]], [[2]]],
    "ragged": [[1.0, 2.0], [3.0]],
    "ragged deeper": [[1.0], 2.0],
    "ragged first": [1.0, [2.0]],
    "text": "a",
    "texts": ["a", "b"],
    "none": None,
    "list of none": [None],
    "object": object(),
    "dict": {1: 2},
    "set": {1},
}


pytestmark = pytest.mark.filterwarnings("ignore:To copy construct", "ignore:Creating a tensor from a list")


def facts(library, data, **options):
    made = outcome(lambda: library.tensor(data, **options))
    if isinstance(made, tuple):
        return made
    return dtype_of(made), list(made.shape), made.requires_grad, made.is_leaf, repr(made.tolist())


@pytest.mark.quick
@pytest.mark.parametrize("name", DATA)
def test_tensor(torch, name):
    assert facts(minigrad, DATA[name]) == facts(torch, DATA[name])


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64", "uint8", "bool"])
@pytest.mark.parametrize("name", ["float", "int", "bool", "mixed", "nested", "array", "0-d array", "empty"])
def test_tensor_with_a_dtype(torch, name, dtype):
    ours, theirs = (
        facts(library, DATA[name], dtype=getattr(library, dtype)) for library in (minigrad, torch)
    )
    assert ours == theirs


@pytest.mark.parametrize("name", ["float", "int", "bools", "list", "array"])
def test_tensor_that_requires_a_gradient(torch, name):
    assert facts(minigrad, DATA[name], requires_grad=True) == facts(torch, DATA[name], requires_grad=True)


def test_tensors_of_tensors(torch):
    for build in (
        lambda L: L.tensor(L.tensor([1.0, 2.0])),
        lambda L: L.tensor([L.tensor(1.0), L.tensor(2.0)]),
        lambda L: L.tensor([L.tensor(1), 2]),
        lambda L: L.tensor([[L.tensor(1.5)], [2]]),
    ):
        ours, theirs = (build(library) for library in (minigrad, torch))
        assert (dtype_of(ours), ours.tolist()) == (dtype_of(theirs), theirs.tolist())


CALLS = """
L.zeros(2, 3) | L.zeros((2, 3)) | L.zeros(()) | L.zeros(0, 3) | L.ones(3, dtype=L.int64)
L.ones(2, requires_grad=True) | L.full((2, 2), 7) | L.full((2,), 1.5) | L.full([2], True)
L.full((2,), 1, dtype=L.float64) | L.arange(5) | L.arange(1, 4) | L.arange(0.0, 1.0, 0.25)
L.arange(5, 0, -2) | L.arange(3.0, requires_grad=True) | L.arange(0) | L.linspace(0, 1, 5)
L.linspace(2, 3, 1) | L.linspace(-1, 1, 4, requires_grad=True, dtype=L.float64) | L.zeros_like(L.ones(2, 2))
L.FloatTensor([1, 2]) | L.FloatTensor([1, 2]).requires_grad_() | L.Tensor([1, 2]) | L.zeros(-1)
L.zeros(2, dtype=L.int64, requires_grad=True) | L.arange(0, 1, 0) | L.from_numpy([1])
L.tensor(float(L.is_tensor(L.ones(1))) + L.is_tensor(3))
L.tensor(L.numel(L.ones(2, 3)) + L.ones(2).numel())
L.tensor([*L.ones(2, 3).size(), L.ones(2, 3).size(1), L.ones(4, 5).shape[-1]])
"""


@pytest.mark.quick
def test_other_ways(torch):
    assert_same_ends(torch, CALLS)


def test_from_numpy_shares(L, note):
    for array in (np.arange(3.0), np.arange(6.0).reshape(2, 3).T, np.array(2.0)):
        t = L.from_numpy(array)
        array += 1
        t.mul_(2)
        note(t, array.tolist(), t._version)


@pytest.mark.quick
def test_a_copy_is_made():
    array = np.arange(3.0)
    t = minigrad.tensor(array)
    array += 1
    assert t.tolist() == [0.0, 1.0, 2.0]


def test_there_is_only_the_cpu():
    assert minigrad.tensor(1.0, device="cpu").device == minigrad.device("cpu")
    with pytest.raises(RuntimeError, match="CPU only"):
        minigrad.zeros(1, device="cuda")
