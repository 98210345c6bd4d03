"""Convolution and pooling in both libraries, where the table of ops does not look."""

import numpy as np
import pytest
from calls import assert_same_ends
from functions import numbers

import minigrad


@pytest.mark.parametrize(
    ("row", "settings"),
    [
        ([1.0, 3.0, 3.0, 2.0], {"kernel_size": 4}),
        ([float("-inf")] * 4, {"kernel_size": 2, "padding": 1}),
        ([float("nan"), 1.0, float("nan"), 2.0], {"kernel_size": 4}),
        ([float("-inf")] * 4, {"kernel_size": 3, "dilation": 2, "padding": 1}),
    ],
)
def test_which_of_equal_elements_is_the_greatest(L, note, row, settings):
    note(*L.nn.functional.max_pool1d(L.tensor([[row]]), return_indices=True, **settings))


WAYS = [  # windows that the kernels look at in different ways
    ((2, 2, 8, 8), {"kernel_size": 2}),
    ((2, 2, 9, 9), {"kernel_size": 3, "stride": 2, "padding": 1}),
    ((2, 2, 9, 10), {"kernel_size": 3}),
    ((2, 2, 9, 9), {"kernel_size": (1, 3)}),
    ((2, 2, 20, 20), {"kernel_size": 10}),
    ((2, 2, 14, 14), {"kernel_size": 12, "stride": 1, "padding": 6}),
    ((2, 2, 9, 9), {"kernel_size": 1}),
    ((2, 2, 5, 6, 7), {"kernel_size": 3, "stride": 2}),
]


@pytest.mark.parametrize(("shape", "settings"), WAYS)
@pytest.mark.parametrize("low", [0.0, float("nan"), float("-inf")])
def test_the_greatest_in_every_way(L, note, shape, settings, low):
    array = np.random.default_rng(0).integers(0, 9, shape) * 1.0
    array[array < 3] = low
    array[0, 0] = low
    x = L.tensor(array.tolist(), dtype=L.float64, requires_grad=True)
    pool = getattr(L.nn.functional, f"max_pool{len(shape) - 2}d")
    values, indices = pool(x, return_indices=True, **settings)
    note(values, indices)
    (values * numbers(L, *values.shape).detach()).sum().backward()
    note(x.grad)


@pytest.mark.parametrize(("shape", "settings"), WAYS)
def test_the_mean_in_every_way(L, note, shape, settings):
    x = numbers(L, *shape).requires_grad_()
    out = getattr(L.nn.functional, f"avg_pool{len(shape) - 2}d")(x, **settings)
    note(out)
    (out * numbers(L, *out.shape).detach().cos()).sum().backward()
    note(x.grad, x.grad.is_contiguous())


@pytest.mark.quick(20)
@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
@pytest.mark.parametrize("size", [7, 20])
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"stride": 2, "padding": 1}, {"groups": 2}, {"dilation": 2, "groups": 2}, {"stride": 3}],
)
def test_convolutions_of_a_batch(L, note, name, size, kernel, settings):
    if kernel == 1 and settings.get("padding"):
        settings = {"stride": 2}
    groups = settings.get("groups", 1)
    x = numbers(L, 3, 4, size, size).requires_grad_()
    shape = (4, 4 // groups) if name == "conv2d" or groups == 2 else (4, 6)
    weight = numbers(L, *shape, kernel, kernel).requires_grad_()
    bias = numbers(L, weight.shape[1] * groups if name != "conv2d" else 4).requires_grad_()
    out = getattr(L.nn.functional, name)(x, weight, bias, **settings)
    note(out, out.is_contiguous())
    (out * numbers(L, *out.shape).detach().cos()).sum().backward()
    note(x.grad, weight.grad, bias.grad)


ERRORS = """
F.conv2d(o(4, 4), o(3, 2, 3, 3)) | F.conv2d(o(1, 3, 4, 4), o(3, 2, 3, 3))
F.conv2d(o(1, 2, 2, 2), o(3, 2, 3, 3)) | F.conv2d(o(1, 2, 4, 4), o(3, 2, 3, 3), o(2))
F.conv2d(o(1, 2, 4, 4), o(3, 2, 3, 3), stride=0) | F.conv2d(o(1, 2, 4, 4), o(3, 2, 3, 3), stride=(1, 2, 3))
F.conv2d(o(1, 2, 4, 4), o(3, 2, 3, 3), groups=2)
F.conv2d(o(1, 2, 4, 4), o(3, 2, 3, 3), padding='same', stride=2)
F.conv_transpose2d(o(1, 2, 4, 4), o(2, 2, 3, 3), output_padding=1) | F.max_pool2d(o(1, 2, 4, 4), 9)
F.max_pool2d(o(1, 2, 4, 4), 2, padding=2) | F.avg_pool2d(o(1, 2, 4, 4), 3, padding=2)
F.avg_pool1d(o(3), 2) | F.adaptive_avg_pool2d(o(1, 2, 4, 4), -1)
"""


def test_errors(torch):
    assert_same_ends(torch, ERRORS, lambda L: {"o": L.ones})


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d", "unfold"])
def test_sizes_of_windows_must_be_one_or_as_many_as_dimensions(name):
    with pytest.raises(
        RuntimeError, match="expected kernel_size to be a single integer value or a list of 2"
    ):
        getattr(minigrad.nn.functional, name)(minigrad.ones(1, 2, 4, 4), (1, 1, 1))
