"""Resampling, parts, grids and distances in both libraries, where the table of ops does not look."""

import numpy as np
import pytest
from calls import assert_same_ends
from functions import numbers

import minigrad

# ── modules


# ── values


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_which_element_is_the_nearest(L, note, dtype):
    for n in range(1, 15):
        for count in (*range(1, 40, 3), 41, 46, 47):
            x = L.arange(n).to(getattr(L, dtype))[None, None]
            note(L.nn.functional.interpolate(x, count).tolist())


def test_an_infinite_element_stays_where_it_is(L, note):
    x = L.zeros(1, 1, 1, 8)
    x[..., 2] = float("inf")
    for mode in ("bilinear", "nearest"):
        note(L.nn.functional.interpolate(x, (1, 5), mode=mode).isfinite())
    note(L.nn.functional.grid_sample(x, L.zeros(1, 1, 1, 2), align_corners=False))


LEFT_OUT = {
    "interpolate has no mode='bicubic'": "F.interpolate(image, 2, mode='bicubic')",
    "interpolate has no mode='area'": "F.interpolate(image, 2, mode='area')",
    "pad has no circular": "F.pad(image, (1,) * 4, 'circular')",
    "Conv2d has no padding_mode='circular'": "nn.Conv2d(1, 1, 3, padding_mode='circular')",
    "interpolate has no antialias=True": "F.interpolate(image, 2, mode='bilinear', antialias=True)",
    "grid_sample has no mode='bicubic'": "F.grid_sample(image, grid, 'bicubic')",
    "grid_sample has no padding_mode='reflection'": "F.grid_sample(image, grid, 'nearest', 'reflection')",
    "ConvTranspose2d has no output_size": "nn.ConvTranspose2d(1, 2, 2)(image, output_size=(8, 9))",
}


@pytest.mark.parametrize("what", LEFT_OUT)
def test_what_was_left_out_is_said(what):
    nn, names = minigrad.nn, {"image": minigrad.ones(1, 1, 4, 4), "grid": minigrad.ones(1, 1, 1, 2)}
    with pytest.raises(NotImplementedError, match=rf"^minigrad's {what} \(see docs/ops\.md\)"):
        eval(LEFT_OUT[what], {"nn": nn, "F": nn.functional, **names})


@pytest.mark.parametrize(
    ("name", "settings"),
    [("max_pool1d", {"kernel_size": 2}), ("adaptive_max_pool2d", {"output_size": (1, 3)})],
)
def test_ties_and_nan_in_parts(L, note, name, settings):
    nan = float("nan")
    for row in ([1.0, 1.0, 3.0, 3.0, 3.0, 1.0], [nan, 1.0, nan, nan, 2.0, 0.0], [float("-inf")] * 6):
        x = L.tensor([[[row]]])[0 if "1d" in name else ...]
        note(*getattr(L.nn.functional, name)(x, return_indices=True, **settings))


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border"])
def test_places_that_are_no_numbers(L, note, mode, padding_mode):
    grid = L.tensor([[[[np.nan, 0.0], [np.inf, 0.2], [-np.inf, -0.1], [5.0, -7.0]]]]).double()
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": False}
    note(L.nn.functional.grid_sample(numbers(L, 1, 1, 3, 4), grid, **how))


@pytest.mark.parametrize("p", [0, 1, 2, 3, float("inf")])
def test_rows_without_elements_have_no_distance(p):
    assert minigrad.cdist(minigrad.zeros(2, 0), minigrad.zeros(1, 0), p).tolist() == [[0.0], [0.0]]


def test_many_rows_are_compared_by_a_product_of_matrices(L, note):
    a = numbers(L, 30, 3).requires_grad_()
    b = numbers(L, 2, 4, 3).requires_grad_()
    for second in (b, b[0]):
        out = L.cdist(a, second)
        note(out.grad_fn.next_functions[0][0].name())
        note(*L.autograd.grad(out.cos().sum(), [a, b]))
    note(L.cdist(a, a, compute_mode="donot_use_mm_for_euclid_dist").grad_fn.name())


@pytest.mark.parametrize("p", [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distance_of_equal_rows(L, note, p):
    a = L.tensor([[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [1.0, 4.0, 0.0]]).double().requires_grad_()
    out = L.cdist(a, a[1:], p)
    note(out, *L.autograd.grad(out.sum(), a))


# ── the spellings of the library itself

LIBRARY = """
L.conv2d(numbers(L, 1, 2, 4, 4), numbers(L, 3, 2, 2, 2), None, 2)
L.conv_transpose1d(numbers(L, 1, 2, 4), numbers(L, 2, 3, 2), stride=2)
L.avg_pool1d(numbers(L, 1, 2, 4), 2) | L.adaptive_avg_pool1d(numbers(L, 1, 2, 4), 3)
L.dropout(numbers(L, 2, 2), 0.5, False) | L.relu_(numbers(L, 5))
L.nn.functional.elu_(numbers(L, 5), 2.0) | L.selu_(numbers(L, 5))
L.nn.functional.leaky_relu_(numbers(L, 5), 0.2) | L.nn.functional.hardtanh_(numbers(L, 5), -0.5, 0.2)
L.threshold_(numbers(L, 5), 0.2, 7.0)
"""


def test_spellings_of_the_library(torch):
    assert_same_ends(torch, LIBRARY, lambda L: {"numbers": lambda L, *shape: numbers(L, *shape).detach()})


# ── errors

ERRORS = """
F.interpolate(o(1, 1, 4, 4), (0, 2)) | F.interpolate(o(1, 1, 0), 1)
F.interpolate(o(1, 1, 4).int(), 2, mode='linear') | F.interpolate(o(1, 1, 4, 4), 2, mode='nope')
F.interpolate(o(1, 1, 4, 4), 2, mode='trilinear') | F.interpolate(o(4, 4), ())
F.interpolate(o(1, 1, 4, 4)) | F.interpolate(o(1, 1, 4, 4), 2, 2) | F.interpolate(o(1, 1, 4, 4), (2, 2, 2))
F.interpolate(o(1, 1, 4, 4), (2, 2.5)) | F.interpolate(o(1, 1, 4, 4), scale_factor=(2, 2, 2))
F.interpolate(o(1, 1, 4, 4), 2, align_corners=True)
F.interpolate(o(1, 1, 4, 4), 2, recompute_scale_factor=True) | F.adaptive_max_pool2d(o(4, 4), 2)
F.adaptive_max_pool2d(o(1, 1, 0, 4), 2) | F.adaptive_max_pool2d(o(1, 3, 4), (None, -2))
F.adaptive_max_pool2d(o(3, 4, 5).int(), 2)
F.adaptive_max_pool2d(o(1, 3, 4).requires_grad_(), (1, 0)).sum().backward()
F.adaptive_avg_pool3d(o(1, 3, 4, 4).requires_grad_(), (1, 0, 2)).sum().backward()
F.avg_pool3d(o(1, 3, 4, 2), 3, padding=1) | F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3))
F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3, 3)) | F.grid_sample(o(2, 1, 4, 4), o(1, 3, 3, 2))
F.grid_sample(o(1, 1, 0, 4), o(1, 3, 3, 2)) | F.grid_sample(o(1, 1, 4, 4).double(), o(1, 3, 3, 2))
F.grid_sample(o(1, 1, 4, 4).int(), o(1, 3, 3, 2).int()) | F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3, 2), 'foo')
F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3, 2), padding_mode='foo') | F.affine_grid(o(1, 2, 3), [1, 1, 2])
F.affine_grid(o(1, 2, 2), [1, 1, 2, 2]) | F.affine_grid(o(1, 2, 3), [2, 1, 2, 2])
F.affine_grid(o(1, 2, 3), [1, 1, 0, 2])
"""
CDIST = """
L.cdist(L.ones(3), L.ones(3, 2)) | L.cdist(L.ones(3, 2), L.ones(3, 4))
L.cdist(L.ones(3, 2), L.ones(3, 2).double()) | L.cdist(L.ones(3, 2), L.ones(3, 2).int())
L.cdist(L.ones(3, 2).half(), L.ones(3, 2).half()) | L.cdist(L.ones(3, 2), L.ones(3, 2), p=-1)
L.cdist(L.ones(3, 2), L.ones(3, 2), compute_mode='x') | L.cdist(L.ones(2, 3, 2), L.ones(3, 3, 2))
L.cdist(L.ones(3, 2), L.ones(3, 2), 'a') | L.cdist(L.ones(30, 2).double(), L.ones(30, 2))
twice(L, lambda x: L.cdist(x, L.ones(2, 2))) | L.nn.Conv2d(1, 1, 1).forward(L.ones(2))
L.dropout(L.ones(2), 2.0, True)
"""


def twice(L, function):
    """A second derivative, by what has none."""
    x = L.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    (g,) = L.autograd.grad(function(x).sum(), x, create_graph=True)
    g.sum().backward()


def test_errors(torch):
    assert_same_ends(torch, ERRORS + CDIST, lambda L: {"o": L.ones, "twice": twice})


def test_padding_mode_that_there_is_not():
    with pytest.raises(ValueError, match="but got padding_mode='mirror'"):
        minigrad.nn.Conv2d(1, 1, 3, padding_mode="mirror")


def test_warnings(torch):
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        minigrad.nn.functional.grid_sample(minigrad.ones(1, 1, 2, 2), minigrad.ones(1, 1, 1, 2))


def test_gumbel_softmax(L, note):
    for hard in (False, True):
        L.manual_seed(4)
        logits = numbers(L, 3, 4).requires_grad_()
        out = L.nn.functional.gumbel_softmax(logits, 0.7, hard)
        note(out, *L.autograd.grad((out * numbers(L, 3, 4)).sum(), logits))


def test_infinite_gradients_stay_where_they_are(L, note):
    x = numbers(L, 1, 1, 3, 4).requires_grad_()
    out = L.nn.functional.interpolate(x, (4, 6), mode="bilinear")
    start = L.zeros(1, 1, 4, 6).double()
    start[0, 0, 1, 2] = float("inf")
    (g,) = L.autograd.grad(out, x, start)
    note(g.isfinite(), g.isnan())


def test_group_norm_without_weights(L, note):
    x = numbers(L, 2, 4, 3).requires_grad_()
    for layer in (L.nn.GroupNorm(2, 4, affine=False), L.nn.GroupNorm(2, 4, bias=False)):
        (g,) = L.autograd.grad((layer.double()(x) ** 3).sum(), x, create_graph=True)
        note(g, *L.autograd.grad((g * g).sum(), x))
