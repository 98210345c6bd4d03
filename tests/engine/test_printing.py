"""Printing: fixed expectations, then random tensors and options compared with PyTorch."""

import math
import re
from contextlib import nullcontext

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tiers import examples

import minigrad
from minigrad.tensor import printing
from minigrad.tensor.printing import (
    PrintOptions,
    format_tensor,
    get_printoptions,
    printoptions,
    set_printoptions,
)

DTYPES = ["bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
DTYPES += ["float16", "float32", "float64", "complex64", "complex128"]


@pytest.fixture(autouse=True)
def _options_restored():
    before = printing._options
    yield
    printing._options = before


def text(value, dtype=None, default_float="float32", options=None, **facts):
    """A tensor's text; Python floats become float32, as in PyTorch."""
    if dtype is None and not isinstance(value, np.ndarray | np.generic):
        kind = np.asarray(value).dtype.kind
        dtype = {"f": "float32", "c": "complex64"}.get(kind)
    with nullcontext() if options is None else printoptions(**options._asdict()):
        return format_tensor(np.asarray(value, dtype), np.dtype(default_float), **facts)


nan, inf = math.nan, math.inf

FIXED = [
    (5.0, "tensor(5.)"),
    (4.8283, "tensor(4.8283)"),
    (-0.0, "tensor(-0.)"),
    (7, "tensor(7)"),
    (True, "tensor(True)"),
    (1e-5, "tensor(1.0000e-05)"),
    (1e9, "tensor(1.0000e+09)"),
    (1e8, "tensor(100000000.)"),
    (np.float64(1e-4), "tensor(0.0001, dtype=torch.float64)"),
    (np.float64(9.9999e-5), "tensor(9.9999e-05, dtype=torch.float64)"),
    (1 + 2j, "tensor(1.+2.j)"),
    ([1.0, 2.0], "tensor([1., 2.])"),
    ([1.0, 10.0, -3.0], "tensor([ 1., 10., -3.])"),
    ([0.5, 10.0], "tensor([ 0.5000, 10.0000])"),
    ([1.0, nan, -inf], "tensor([1., nan, -inf])"),
    ([nan, 0.0], "tensor([nan, 0.])"),
    ([-0.0, 1.5], "tensor([-0.0000, 1.5000])"),
    ([0.0, 1.0, inf, nan, 1.5], "tensor([0.0000, 1.0000,    inf,    nan, 1.5000])"),
    ([1.5, 1502.0], "tensor([1.5000e+00, 1.5020e+03])"),
    ([2.0, 2000.0], "tensor([   2., 2000.])"),
    ([1.0, 1001.0], "tensor([1.0000e+00, 1.0010e+03])"),
    ([1, -200], "tensor([   1, -200])"),
    ([0.0] * 25, "tensor([" + "0., " * 23 + "0.,\n        0.])"),
    ([True, False], "tensor([ True, False])"),
    ([1.5 - 2j, 10 + 0j], "tensor([ 1.5000-2.j, 10.0000+0.j])"),
    ([complex(1, nan), complex(1, -0.0)], "tensor([1.+nanj, 1.-0.j])"),
    ([[1.0, 2.0], [3.0, 4.0]], "tensor([[1., 2.],\n        [3., 4.]])"),
    ([[[1]], [[2]]], "tensor([[[1]],\n\n        [[2]]])"),
    ([[[[1]]], [[[2]]]], "tensor([[[[1]]],\n\n\n        [[[2]]]])"),
    ([], "tensor([])"),
    (np.zeros((0, 3), "float32"), "tensor([], size=(0, 3))"),
    (np.zeros((2, 0), "int64"), "tensor([], size=(2, 0), dtype=torch.int64)"),
    (np.zeros(0, "bool"), "tensor([], dtype=torch.bool)"),
    (np.zeros(0, "complex64"), "tensor([], dtype=torch.complex64)"),
    (np.float64([[201.1797]]), "tensor([[201.1797]], dtype=torch.float64)"),
    (np.int32(3), "tensor(3, dtype=torch.int32)"),
    (np.float16([0.1]), "tensor([0.1000], dtype=torch.float16)"),
    (np.complex128(1j), "tensor(0.+1.j, dtype=torch.complex128)"),
    (np.arange(1001), "tensor([   0,    1,    2,  ...,  998,  999, 1000])"),
    (
        np.arange(1002).reshape(501, 2),
        "tensor([[   0,    1],\n        [   2,    3],\n        [   4,    5],\n        ...,\n"
        "        [ 996,  997],\n        [ 998,  999],\n        [1000, 1001]])",
    ),
]


@pytest.mark.quick
@pytest.mark.parametrize(("value", "expected"), FIXED)
def test_fixed(value, expected):
    assert text(value) == expected


@pytest.mark.quick
@pytest.mark.parametrize(("value", "expected"), FIXED)
def test_fixed_expectations_are_pytorchs(value, expected):
    torch = pytest.importorskip("torch")
    array = np.array(value) if isinstance(value, np.generic) else value
    tensor = torch.from_numpy(array) if isinstance(array, np.ndarray) else torch.tensor(array)
    assert repr(tensor) == expected


def test_suffixes():
    assert text([1.0, 2.0], requires_grad=True) == "tensor([1., 2.], requires_grad=True)"
    assert text(4.8283, grad_fn="LogBackward", requires_grad=True) == "tensor(4.8283, grad_fn=<LogBackward>)"
    assert (
        text(np.float64(1.5), grad_fn="LogBackward")
        == "tensor(1.5000, dtype=torch.float64, grad_fn=<LogBackward>)"
    )
    assert text(2.0, tangent="tensor(1.)") == "tensor(2., tangent=tensor(1.))"


def test_a_suffix_moves_to_its_own_line():
    row = np.full(9, 0.5, "float32")
    assert text(row[:5], grad_fn="ExpandBackward") == (
        "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000], grad_fn=<ExpandBackward>)"
    )
    assert text(row, grad_fn="ExpandBackward") == (
        "tensor([0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000, 0.5000],\n"
        "       grad_fn=<ExpandBackward>)"
    )


def test_default_float_decides_which_dtype_is_shown():
    assert text(np.float64(1), default_float="float64") == "tensor(1.)"
    assert text(np.float32(1), default_float="float64") == "tensor(1., dtype=torch.float32)"
    assert text(np.complex128(1), default_float="float64") == "tensor(1.+0.j)"
    assert text(np.complex64(1), default_float="float64") == "tensor(1.+0.j, dtype=torch.complex64)"
    assert text(np.complex64(1), default_float="float16") == "tensor(1.+0.j)"


def test_the_prefix_moves_every_further_line():
    matrix = np.eye(2, dtype="float32")
    assert text(matrix, prefix="Weights(") == "Weights([[1., 0.],\n         [0., 1.]])"


def test_a_subclass_prints_its_name():
    kind = type("Weights", (minigrad.Tensor,), {})
    assert repr(minigrad.eye(2).as_subclass(kind)) == "Weights([[1., 0.],\n         [0., 1.]])"
    assert repr(minigrad.nn.Parameter(minigrad.ones(1))).endswith("tensor([1.], requires_grad=True)")


def test_as_many_dimensions_as_numpy_has():
    matrix = np.arange(2000).reshape(2, 1000)
    with printoptions(linewidth=inf):
        flat, deep = text(matrix), text(matrix.reshape(1, *[1] * 61, 2, 1000))
    assert deep.startswith("tensor(" + "[" * 64 + "   0,    1,    2,  ...,  997,  998,  999],\n")
    assert re.sub(r"[\[\]\s]+", "", deep) == re.sub(r"[\[\]\s]+", "", flat)


def test_linewidth_may_be_infinite():
    assert "\n" not in text(np.arange(500), options=PrintOptions(linewidth=inf))


@pytest.mark.parametrize("shape", [(10**12,), (10**6, 10**6), (1, 10**12), (10**12, 1), (2, 10**9, 3, 10**3)])
def test_only_what_is_shown_is_formatted(shape):
    # Terabytes if it were materialised: passes only if the corners alone are read.
    shown = text(np.broadcast_to(np.float32(1.5), shape)).count("1.5000")
    assert shown == math.prod(min(n, 6) for n in shape)


def test_options_are_set_kept_and_read():
    defaults = {"precision": 4, "threshold": 1000, "edgeitems": 3, "linewidth": 80, "sci_mode": None}
    set_printoptions(profile="default")
    assert get_printoptions() == defaults
    set_printoptions(precision=2, sci_mode=True)
    assert get_printoptions() == defaults | {"precision": 2, "sci_mode": True}
    assert text(1.25) == "tensor(1.25e+00)"
    set_printoptions(edgeitems=1)  # sci_mode returns to None, as in PyTorch
    assert get_printoptions() == defaults | {"precision": 2, "edgeitems": 1}
    set_printoptions(profile="short", linewidth=40)
    assert get_printoptions() == defaults | {"precision": 2, "edgeitems": 2, "linewidth": 40}
    set_printoptions(profile="full")
    assert get_printoptions() == defaults | {"threshold": inf}
    assert "..." not in text(np.arange(2000))


def test_context_manager_restores_even_after_an_error():
    set_printoptions(precision=3, sci_mode=False)
    before = get_printoptions()
    with pytest.raises(ZeroDivisionError), printoptions(precision=1):
        assert text(0.25) == "tensor(0.2)"
        assert text(0.25, options=PrintOptions()) == "tensor(0.2500)"
        raise ZeroDivisionError
    assert get_printoptions() == before


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"profile": "ful"}, ValueError, "profile must be one of 'default', 'short', 'full', but got 'ful'"),
    ],
)
def test_unusable_options_change_nothing(options, error, message):
    before = get_printoptions()
    with pytest.raises(error, match=re.escape(message)):
        set_printoptions(**{"threshold": 7} | options)
    with pytest.raises(error, match=re.escape(message)), printoptions(**options):
        pass
    assert get_printoptions() == before


def test_every_c_type_of_a_dtype_prints():
    assert text(np.zeros(1, "l")) == text(np.zeros(1, "q")) == "tensor([0])"


# Comparison with PyTorch ------------------------------------------------------------------------------------

SPECIAL = [0.0, -0.0, nan, inf, -inf, 1.0, -1.0, 0.5]
SPECIAL += [1e-4, 9.9999e-5, 1000.0, 1001.0, 1e8, 1.0000001e8, 5e-324, 1.7e308]


def fill(rng, shape, dtype, scale, style):
    """Random elements of one dtype: whole numbers, normal, widely spread, or with special values."""
    dtype = np.dtype(dtype)
    if dtype.kind == "b":
        return rng.random(shape) < 0.5
    if dtype.kind in "iu":
        if style == "spread":
            info = np.iinfo(dtype)
            return rng.integers(info.min, info.max, shape, dtype, endpoint=True)
        return rng.integers(0, 12, shape).astype(dtype)
    if dtype.kind == "c":
        parts = [fill(rng, shape, f"float{dtype.itemsize * 4}", scale, style) for _ in range(2)]
        result = np.empty(shape, dtype)
        result.real, result.imag = parts
        return result
    values = rng.standard_normal(shape)
    if style == "spread":
        values = values * 10.0 ** rng.uniform(-scale, scale, shape)
    elif style == "whole":
        values = np.round(values * 4)
    elif style == "special":
        values = np.where(rng.random(shape) < 0.5, values, rng.choice(SPECIAL, shape))
    if style != "special":
        values = values * 10.0 ** rng.integers(-scale, scale + 1)
    with np.errstate(over="ignore"):
        return np.asarray(values).astype(dtype)


small = st.integers(0, 9)
shapes = st.one_of(
    st.just(()),
    st.tuples(small),
    st.lists(st.integers(0, 4), min_size=2, max_size=4).map(tuple),
    st.sampled_from(
        [(1000,), (1001,), (2000, 1), (1, 1500), (6, 200), (7, 7, 30), (2, 3, 7, 40), (9, 8, 9, 2)]
    ),
)
print_options = st.builds(
    PrintOptions,
    precision=st.sampled_from([4, 4, 0, 1, 2, 8]),
    threshold=st.sampled_from([1000, 1000, 0, 5, inf]),
    edgeitems=st.sampled_from([3, 3, 0, 1, 2, 5]),
    linewidth=st.sampled_from([80, 80, 0, 20, 33, 60, 200]),
    sci_mode=st.sampled_from([None, None, True, False]),
)


@pytest.mark.filterwarnings("ignore:.torch.jit.script. is deprecated:DeprecationWarning")  # by make_dual
@settings(max_examples=examples(500), deadline=None)
@given(
    shape=shapes,
    dtype=st.sampled_from(DTYPES),
    style=st.sampled_from(["whole", "normal", "spread", "special"]),
    scale=st.sampled_from([0, 1, 3, 4, 8, 40]),
    seed=st.integers(0, 2**32 - 1),
    options=st.one_of(st.just(PrintOptions()), print_options),
    default_float=st.sampled_from(["float32", "float32", "float64", "float16"]),
    graph=st.sampled_from(["none", "leaf", "node", "tangent"]),
    prefix=st.sampled_from(["tensor", "W", "AVeryLongNameForASubclassOfTensor"]),
)
def test_same_text_as_pytorch(shape, dtype, style, scale, seed, options, default_float, graph, prefix):
    torch = pytest.importorskip("torch")
    data = fill(np.random.default_rng(seed), shape, dtype, scale, style)
    tensor = torch.from_numpy(np.array(data))
    facts = {}
    if data.dtype.kind in "fc" and graph in ("leaf", "node"):
        tensor.requires_grad_()
        facts["requires_grad"] = True
        if graph == "node":
            tensor = tensor.clone()
            facts["grad_fn"] = type(tensor.grad_fn).__name__
    if prefix != "tensor":
        tensor = tensor.detach().as_subclass(type(prefix, (torch.Tensor,), {}))
        facts = {}

    before = torch.get_default_dtype()
    torch.set_default_dtype(getattr(torch, default_float))
    try:
        with torch._tensor_str.printoptions(**options._asdict()):
            if data.dtype.kind in "fc" and graph == "tangent" and prefix == "tensor":
                with torch.autograd.forward_ad.dual_level():
                    tangent = torch.ones_like(tensor)
                    facts["tangent"] = f"{tangent}"
                    expected = repr(torch.autograd.forward_ad.make_dual(tensor, tangent))
            else:
                expected = repr(tensor)
    finally:
        torch.set_default_dtype(before)

    for array in (data, np.array(data, order="F"), data[..., ::-1][..., ::-1] if shape else data[()]):
        with printoptions(**options._asdict()):
            printed = format_tensor(array, np.dtype(default_float), prefix=prefix + "(", **facts)
        assert printed == expected


@pytest.mark.parametrize("shape", [(3,), (2, 2), (0, 3)])
def test_lines_break_where_pytorchs_do(shape):
    torch = pytest.importorskip("torch")
    tensor = torch.ones(shape, dtype=torch.float64, requires_grad=True) / 3
    data = tensor.detach().numpy()
    for linewidth in range(120):
        options = PrintOptions(linewidth=linewidth)
        with torch._tensor_str.printoptions(linewidth=linewidth):
            expected = repr(tensor)
        assert text(data, grad_fn="DivBackward0", options=options) == expected


def test_profiles_and_get_are_pytorchs():
    torch = pytest.importorskip("torch")
    calls = [
        {"precision": 2, "sci_mode": True}, {"profile": "short"}, {"edgeitems": 7}, {"profile": "full"},
        {"sci_mode": False}, {"profile": "default", "linewidth": 99},
    ]  # fmt: skip
    with torch._tensor_str.printoptions():
        for call in calls:
            torch.set_printoptions(**call)
            set_printoptions(**call)
            assert get_printoptions() == torch._tensor_str.get_printoptions()
