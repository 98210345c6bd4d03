"""Convolution and pooling in both libraries, where the table of ops does not look."""

from __future__ import annotations

import numpy as np
import own_texts
import pytest
from twins import assert_same_diary

import minigrad

SIZES = {1: (2, 4, 6), 2: (1, 4, 6, 5), 3: (1, 4, 4, 5, 4)}

LAYERS = [
    *((f"Conv{n}d", {"in_channels": 4, "out_channels": 2, "kernel_size": 3}, n) for n in SIZES),
    *((f"ConvTranspose{n}d", {"in_channels": 4, "out_channels": 2, "kernel_size": 2}, n) for n in SIZES),
    ("Conv1d", {"in_channels": 4, "out_channels": 4, "kernel_size": 2, "padding": "same", "groups": 2}, 1),
    ("Conv2d", {"in_channels": 4, "out_channels": 2, "kernel_size": (2, 3), "stride": 2, "bias": False}, 2),
    ("Conv2d", {"in_channels": 4, "out_channels": 2, "kernel_size": 3, "padding": (2, 1), "dilation": 2}, 2),
    ("ConvTranspose2d", {"in_channels": 4, "out_channels": 2, "kernel_size": 3, "stride": 2,
                         "padding": 1, "output_padding": 1}, 2),
    *((f"{kind}Pool{n}d", {"kernel_size": 2}, n) for kind in ("Max", "Avg") for n in SIZES),
    *((f"AdaptiveAvgPool{n}d", {"output_size": size}, n) for n in SIZES for size in (1, 3)),
    ("MaxPool2d", {"kernel_size": 3, "stride": 1, "padding": 1, "ceil_mode": True}, 2),
    ("AvgPool2d", {"kernel_size": 2, "divisor_override": 3}, 2),
]  # fmt: skip


def numbers(L, shape):
    """Different numbers around 0."""
    return L.tensor(np.sin(np.arange(np.prod(shape)) * 1.7 + 0.4).reshape(shape)).double()


@pytest.mark.parametrize(
    ("name", "settings", "dims"), LAYERS, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(LAYERS)]
)
def test_layers(torch, name, settings, dims):
    def program(L, note):
        L.manual_seed(3)
        layer = getattr(L.nn, name)(**settings)
        note(repr(layer), [(key, t) for key, t in layer.state_dict().items()])
        x = numbers(L, SIZES[dims]).requires_grad_()
        out = layer.double()(x * 1)
        note(out)
        (out * numbers(L, tuple(out.shape)).cos()).sum().backward()
        note(x.grad, [p.grad for p in layer.parameters()])

    assert_same_diary(program, torch)


@pytest.mark.parametrize(
    ("row", "settings"),
    [
        ([1.0, 3.0, 3.0, 2.0], {"kernel_size": 4}),
        ([float("-inf")] * 4, {"kernel_size": 2, "padding": 1}),
        ([float("nan"), 1.0, float("nan"), 2.0], {"kernel_size": 4}),
        ([float("-inf")] * 4, {"kernel_size": 3, "dilation": 2, "padding": 1}),
    ],
)
def test_which_of_equal_elements_is_the_greatest(torch, row, settings):
    mine, theirs = (
        L.nn.functional.max_pool1d(L.tensor([[row]]), return_indices=True, **settings)
        for L in (minigrad, torch)
    )
    np.testing.assert_array_equal(mine[0].numpy(), theirs[0].numpy())
    assert mine[1].tolist() == theirs[1].tolist()


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
def test_the_greatest_in_every_way(torch, shape, settings, low):
    array = np.random.default_rng(0).integers(0, 9, shape) * 1.0
    array[array < 3] = low
    array[0, 0] = low

    def program(L, note):
        x = L.tensor(array.tolist(), dtype=L.float64, requires_grad=True)
        pool = getattr(L.nn.functional, f"max_pool{len(shape) - 2}d")
        values, indices = pool(x, return_indices=True, **settings)
        note(values, indices)
        (values * numbers(L, tuple(values.shape))).sum().backward()
        note(x.grad)

    assert_same_diary(program, torch)


@pytest.mark.parametrize(("shape", "settings"), WAYS)
def test_the_mean_in_every_way(torch, shape, settings):
    def program(L, note):
        x = numbers(L, shape).requires_grad_()
        out = getattr(L.nn.functional, f"avg_pool{len(shape) - 2}d")(x, **settings)
        note(out)
        (out * numbers(L, tuple(out.shape)).cos()).sum().backward()
        note(x.grad, x.grad.is_contiguous())

    assert_same_diary(program, torch)


@pytest.mark.parametrize("name", ["conv2d", "conv_transpose2d"])
@pytest.mark.parametrize("size", [7, 20])
@pytest.mark.parametrize("kernel", [1, 2, 3])
@pytest.mark.parametrize(
    "settings",
    [{}, {"stride": 2, "padding": 1}, {"groups": 2}, {"dilation": 2, "groups": 2}, {"stride": 3}],
)
def test_convolutions_of_a_batch(torch, name, size, kernel, settings):
    if kernel == 1 and settings.get("padding"):
        settings = {"stride": 2}

    def program(L, note):
        groups = settings.get("groups", 1)
        x = numbers(L, (3, 4, size, size)).requires_grad_()
        shape = (4, 4 // groups) if name == "conv2d" or groups == 2 else (4, 6)
        weight = numbers(L, (*shape, kernel, kernel)).requires_grad_()
        bias = numbers(L, (weight.shape[1] * groups if name != "conv2d" else 4,)).requires_grad_()
        out = getattr(L.nn.functional, name)(x, weight, bias, **settings)
        note(out, out.is_contiguous())
        (out * numbers(L, tuple(out.shape)).cos()).sum().backward()
        note(x.grad, weight.grad, bias.grad)

    assert_same_diary(program, torch)


@pytest.mark.parametrize(
    ("name", "shapes", "settings"),
    [
        ("conv2d", ((4, 4), (3, 2, 3, 3)), {}),
        ("conv2d", ((1, 3, 4, 4), (3, 2, 3, 3)), {}),
        ("conv2d", ((1, 2, 2, 2), (3, 2, 3, 3)), {}),
        ("conv2d", ((1, 2, 4, 4), (3, 2, 3, 3), (2,)), {}),
        ("conv2d", ((1, 2, 4, 4), (3, 2, 3, 3)), {"stride": 0}),
        ("conv2d", ((1, 2, 4, 4), (3, 2, 3, 3)), {"stride": (1, 2, 3)}),
        ("conv2d", ((1, 2, 4, 4), (3, 2, 3, 3)), {"groups": 2}),
        ("conv2d", ((1, 2, 4, 4), (3, 2, 3, 3)), {"padding": "same", "stride": 2}),
        ("conv_transpose2d", ((1, 2, 4, 4), (2, 2, 3, 3)), {"output_padding": 1}),
        ("max_pool2d", ((1, 2, 4, 4),), {"kernel_size": 9}),
        ("max_pool2d", ((1, 2, 4, 4),), {"kernel_size": 2, "padding": 2}),
        ("avg_pool2d", ((1, 2, 4, 4),), {"kernel_size": 3, "padding": 2}),
        ("avg_pool1d", ((3,),), {"kernel_size": 2}),
        ("adaptive_avg_pool2d", ((1, 2, 4, 4),), {"output_size": -1}),
    ],
)
def test_errors(torch, name, shapes, settings):
    texts = []
    for L in (minigrad, torch):
        with pytest.raises(RuntimeError) as error:
            getattr(L.nn.functional, name)(*(L.ones(s) for s in shapes), **settings)
        texts.append(str(error.value))
    assert own_texts.alike(*texts)


@pytest.mark.parametrize("name", ["max_pool2d", "avg_pool2d", "unfold"])
def test_sizes_of_windows_must_be_one_or_as_many_as_dimensions(name):
    with pytest.raises(
        RuntimeError, match="expected kernel_size to be a single integer value or a list of 2"
    ):
        getattr(minigrad.nn.functional, name)(minigrad.ones(1, 2, 4, 4), (1, 1, 1))
