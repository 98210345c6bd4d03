"""Resampling, parts, grids and distances in both libraries, where the table of ops does not look."""

from __future__ import annotations

import warnings

import numpy as np
import own_texts
import pytest
from twins import assert_same_diary, dialect

import minigrad

SIZES = {1: (2, 4, 6), 2: (1, 4, 6, 5), 3: (1, 4, 4, 5, 4)}

LAYERS = [
    ("Upsample", {"size": 9}, 1),
    ("Upsample", {"scale_factor": (2, 1.5), "mode": "bilinear", "align_corners": True}, 2),
    ("Upsample", {"scale_factor": 0.5, "mode": "trilinear", "recompute_scale_factor": True}, 3),
    ("AdaptiveMaxPool2d", {"output_size": 3}, 2),
    ("AdaptiveMaxPool2d", {"output_size": (None, 2)}, 2),
    ("Unfold", {"kernel_size": 2, "padding": 1}, 2),
    ("LocalResponseNorm", {"size": 3, "alpha": 0.1}, 2),
    *((f"{kind}Pad{n}d", {"padding": 1}, n) for n in SIZES for kind in ("Zero", "Reflection", "Replication")),
    ("ConstantPad2d", {"padding": (1, 0, -1, 2), "value": 3.5}, 2),
    *(("Conv2d", {"in_channels": 4, "out_channels": 2, "kernel_size": (3, 2), "padding": padding,
                  "padding_mode": mode}, 2)
      for mode, padding in (("reflect", (1, 2)), ("replicate", "same"), ("reflect", "valid"))),
    ("Conv1d", {"in_channels": 4, "out_channels": 4, "kernel_size": 3, "padding": 2, "bias": False,
                "padding_mode": "replicate"}, 1),
]  # fmt: skip


def numbers(L, shape):
    """Different numbers around 0."""
    return L.tensor(np.sin(np.arange(np.prod(shape)) * 1.7 + 0.4).reshape(shape)).double()


def same_errors(torch, run, kinds=Exception):
    """The same error of both libraries: class and text."""
    found = []
    for L in (minigrad, torch):
        with pytest.raises(kinds) as error, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            run(L)
        found.append(error.value)
    assert own_texts.same_error(*found), found


# ── modules
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize(
    ("name", "settings", "dims"), LAYERS, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(LAYERS)]
)
def test_layers(torch, name, settings, dims):
    def program(L, note):
        L.manual_seed(3)
        layer = getattr(L.nn, name)(**settings).double()
        note(repr(layer), [(key, t) for key, t in layer.state_dict().items()])
        x = numbers(L, SIZES[dims]).requires_grad_()
        out = layer(x * 1)
        note(out)
        (out * numbers(L, tuple(out.shape)).cos()).sum().backward()
        note(x.grad, [p.grad for p in layer.parameters()])

    assert_same_diary(program, torch)


def test_fold(torch):
    def program(L, note):
        layer = L.nn.Fold((3, 4), (2, 2), stride=1)
        note(repr(layer), layer(numbers(L, (1, 8, 6))))

    assert_same_diary(program, torch)


def test_output_size_of_a_transposed_convolution_is_refused():
    layer = minigrad.nn.ConvTranspose2d(3, 2, 2, stride=2)
    with pytest.raises(NotImplementedError, match=r"^minigrad's ConvTranspose2d has no output_size .see"):
        layer(minigrad.ones(1, 3, 4, 4), output_size=(8, 9))


# ── values
# ─────────────────────────────────────────────────────────────────────────────────────────────────


@pytest.mark.parametrize("dtype", ["float32", "float64", "uint8"])
def test_which_element_is_the_nearest(torch, dtype):
    for n in range(1, 15):
        for count in (*range(1, 40, 3), 41, 46, 47):
            mine, theirs = (
                L.nn.functional.interpolate(L.arange(n).to(getattr(L, dtype))[None, None], count)
                for L in (minigrad, torch)
            )
            np.testing.assert_array_equal(mine.numpy(), theirs.numpy())


def test_an_infinite_element_stays_where_it_is(torch):
    def program(L, note):
        x = L.zeros(1, 1, 1, 8)
        x[..., 2] = float("inf")
        for mode in ("bilinear", "nearest"):
            note(L.nn.functional.interpolate(x, (1, 5), mode=mode).isfinite())
        note(L.nn.functional.grid_sample(x, L.zeros(1, 1, 1, 2), align_corners=False))

    assert_same_diary(program, torch)


def test_modes_that_were_left_out():
    F, image = minigrad.nn.functional, minigrad.ones(1, 1, 4, 4)
    for call, what in (
        (lambda: F.interpolate(image, 2, mode="bicubic"), "interpolate has no mode='bicubic'"),
        (lambda: F.interpolate(image, 2, mode="area"), "interpolate has no mode='area'"),
        (lambda: F.pad(image, (1,) * 4, "circular"), "pad has no circular"),
        (
            lambda: minigrad.nn.Conv2d(1, 1, 3, padding_mode="circular"),
            "Conv2d has no padding_mode='circular'",
        ),
        (
            lambda: F.interpolate(image, 2, mode="bilinear", antialias=True),
            "interpolate has no antialias=True",
        ),
        (
            lambda: F.grid_sample(image, minigrad.ones(1, 1, 1, 2), "bicubic"),
            "grid_sample has no mode='bicubic'",
        ),
        (
            lambda: F.grid_sample(image, minigrad.ones(1, 1, 1, 2), "nearest", "reflection"),
            "grid_sample has no padding_mode='reflection'",
        ),
    ):
        with pytest.raises(NotImplementedError, match=rf"minigrad's {what} \(see docs/ops\.md\)"):
            call()


@pytest.mark.parametrize(
    ("name", "settings"),
    [("max_pool1d", {"kernel_size": 2}), ("adaptive_max_pool2d", {"output_size": (1, 3)})],
)
def test_ties_and_nan_in_parts(torch, name, settings):
    nan = float("nan")
    for row in ([1.0, 1.0, 3.0, 3.0, 3.0, 1.0], [nan, 1.0, nan, nan, 2.0, 0.0], [float("-inf")] * 6):
        mine, theirs = (
            getattr(L.nn.functional, name)(
                L.tensor([[[row]]])[0 if "1d" in name else ...], return_indices=True, **settings
            )
            for L in (minigrad, torch)
        )
        np.testing.assert_array_equal(mine[0].numpy(), theirs[0].numpy())
        assert mine[1].tolist() == theirs[1].tolist()


@pytest.mark.parametrize("mode", ["bilinear", "nearest"])
@pytest.mark.parametrize("padding_mode", ["zeros", "border"])
def test_places_that_are_no_numbers(torch, mode, padding_mode):
    grid = [[[[np.nan, 0.0], [np.inf, 0.2], [-np.inf, -0.1], [5.0, -7.0]]]]
    how = {"mode": mode, "padding_mode": padding_mode, "align_corners": False}
    mine, theirs = (
        L.nn.functional.grid_sample(numbers(L, (1, 1, 3, 4)), L.tensor(grid).double(), **how)
        for L in (minigrad, torch)
    )
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), atol=1e-12)


@pytest.mark.parametrize("p", [0, 1, 2, 3, float("inf")])
def test_rows_without_elements_have_no_distance(p):
    assert minigrad.cdist(minigrad.zeros(2, 0), minigrad.zeros(1, 0), p).tolist() == [[0.0], [0.0]]


def test_many_rows_are_compared_by_a_product_of_matrices(torch):
    def program(L, note):
        a = numbers(L, (30, 3)).requires_grad_()
        b = numbers(L, (2, 4, 3)).requires_grad_()
        for second in (b, b[0]):
            out = L.cdist(a, second)
            note(out.grad_fn.next_functions[0][0].name())
            note(*L.autograd.grad(out.cos().sum(), [a, b]))
        note(L.cdist(a, a, compute_mode="donot_use_mm_for_euclid_dist").grad_fn.name())

    with dialect("2"):
        assert_same_diary(program, torch)


@pytest.mark.parametrize("p", [0.0, 0.7, 1.0, 1.5, 2.0, 3.0, float("inf")])
def test_distance_of_equal_rows(torch, p):
    def program(L, note):
        a = L.tensor([[1.0, 2.0, 0.5], [1.0, 2.0, 0.5], [1.0, 4.0, 0.0]]).double().requires_grad_()
        out = L.cdist(a, a[1:], p)
        note(out, *L.autograd.grad(out.sum(), a))

    assert_same_diary(program, torch)


# ── the spellings of the library itself
# ─────────────────────────────────────────────────────────────────────────────────────────────────

LIBRARY = [
    lambda L: L.conv2d(numbers(L, (1, 2, 4, 4)), numbers(L, (3, 2, 2, 2)), None, 2),
    lambda L: L.conv_transpose1d(numbers(L, (1, 2, 4)), numbers(L, (2, 3, 2)), stride=2),
    lambda L: L.avg_pool1d(numbers(L, (1, 2, 4)), 2),
    lambda L: L.adaptive_avg_pool1d(numbers(L, (1, 2, 4)), 3),
    lambda L: L.dropout(numbers(L, (2, 2)), 0.5, False),
    lambda L: L.relu_(numbers(L, (5,))),
    lambda L: L.nn.functional.elu_(numbers(L, (5,)), 2.0),
    lambda L: L.selu_(numbers(L, (5,))),
    lambda L: L.nn.functional.leaky_relu_(numbers(L, (5,)), 0.2),
    lambda L: L.nn.functional.hardtanh_(numbers(L, (5,)), -0.5, 0.2),
    lambda L: L.threshold_(numbers(L, (5,)), 0.2, 7.0),
]


@pytest.mark.parametrize("run", LIBRARY, ids=map(str, range(len(LIBRARY))))
def test_spellings_of_the_library(torch, run):
    mine, theirs = (run(L) for L in (minigrad, torch))
    assert tuple(mine.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(mine.numpy(), theirs.numpy(), rtol=1e-12, atol=1e-12)


# ── errors
# ─────────────────────────────────────────────────────────────────────────────────────────────────

ERRORS = {
    "interpolate": [
        lambda F, o: F.interpolate(o(1, 1, 4, 4), (0, 2)),
        lambda F, o: F.interpolate(o(1, 1, 0), 1),
        lambda F, o: F.interpolate(o(1, 1, 4).int(), 2, mode="linear"),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), 2, mode="nope"),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), 2, mode="trilinear"),
        lambda F, o: F.interpolate(o(4, 4), ()),
        lambda F, o: F.interpolate(o(1, 1, 4, 4)),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), 2, 2),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), (2, 2, 2)),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), (2, 2.5)),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), scale_factor=(2, 2, 2)),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), 2, align_corners=True),
        lambda F, o: F.interpolate(o(1, 1, 4, 4), 2, recompute_scale_factor=True),
    ],
    "parts": [
        lambda F, o: F.adaptive_max_pool2d(o(4, 4), 2),
        lambda F, o: F.adaptive_max_pool2d(o(1, 1, 0, 4), 2),
        lambda F, o: F.adaptive_max_pool2d(o(1, 3, 4), (None, -2)),
        lambda F, o: F.adaptive_max_pool2d(o(3, 4, 5).int(), 2),
        lambda F, o: F.adaptive_max_pool2d(o(1, 3, 4).requires_grad_(), (1, 0)).sum().backward(),
        lambda F, o: F.adaptive_avg_pool3d(o(1, 3, 4, 4).requires_grad_(), (1, 0, 2)).sum().backward(),
        lambda F, o: F.avg_pool3d(o(1, 3, 4, 2), 3, padding=1),
    ],
    "grids": [
        lambda F, o: F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3)),
        lambda F, o: F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3, 3)),
        lambda F, o: F.grid_sample(o(2, 1, 4, 4), o(1, 3, 3, 2)),
        lambda F, o: F.grid_sample(o(1, 1, 0, 4), o(1, 3, 3, 2)),
        lambda F, o: F.grid_sample(o(1, 1, 4, 4).double(), o(1, 3, 3, 2)),
        lambda F, o: F.grid_sample(o(1, 1, 4, 4).int(), o(1, 3, 3, 2).int()),
        lambda F, o: F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3, 2), "foo"),
        lambda F, o: F.grid_sample(o(1, 1, 4, 4), o(1, 3, 3, 2), padding_mode="foo"),
        lambda F, o: F.affine_grid(o(1, 2, 3), [1, 1, 2]),
        lambda F, o: F.affine_grid(o(1, 2, 2), [1, 1, 2, 2]),
        lambda F, o: F.affine_grid(o(1, 2, 3), [2, 1, 2, 2]),
        lambda F, o: F.affine_grid(o(1, 2, 3), [1, 1, 0, 2]),
    ],
}
CDIST = [
    lambda L: L.cdist(L.ones(3), L.ones(3, 2)),
    lambda L: L.cdist(L.ones(3, 2), L.ones(3, 4)),
    lambda L: L.cdist(L.ones(3, 2), L.ones(3, 2).double()),
    lambda L: L.cdist(L.ones(3, 2), L.ones(3, 2).int()),
    lambda L: L.cdist(L.ones(3, 2).half(), L.ones(3, 2).half()),
    lambda L: L.cdist(L.ones(3, 2), L.ones(3, 2), p=-1),
    lambda L: L.cdist(L.ones(3, 2), L.ones(3, 2), compute_mode="x"),
    lambda L: L.cdist(L.ones(2, 3, 2), L.ones(3, 3, 2)),
    lambda L: L.cdist(L.ones(3, 2), L.ones(3, 2), "a"),
    lambda L: L.cdist(L.ones(30, 2).double(), L.ones(30, 2)),
    lambda L: twice(L, lambda x: L.cdist(x, L.ones(2, 2))),
    lambda L: L.nn.Conv2d(1, 1, 1).forward(L.ones(2)),
    lambda L: L.dropout(L.ones(2), 2.0, True),
]


def twice(L, function):
    """A second derivative, by what has none."""
    x = L.tensor([[1.0, 2.0], [3.0, 5.0]], requires_grad=True)
    (g,) = L.autograd.grad(function(x).sum(), x, create_graph=True)
    g.sum().backward()


EVERY = [(family, i) for family, runs in ERRORS.items() for i in range(len(runs))]


@pytest.mark.parametrize(("family", "i"), EVERY)
def test_errors(torch, family, i):
    same_errors(torch, lambda L: ERRORS[family][i](L.nn.functional, L.ones))


@pytest.mark.parametrize("run", CDIST, ids=map(str, range(len(CDIST))))
def test_more_errors(torch, run):
    same_errors(torch, run)


def test_padding_mode_that_there_is_not():
    with pytest.raises(ValueError, match="but got padding_mode='mirror'"):
        minigrad.nn.Conv2d(1, 1, 3, padding_mode="mirror")


def test_warnings(torch):
    with pytest.warns(UserWarning, match="align_corners=False since 1.3.0"):
        minigrad.nn.functional.grid_sample(minigrad.ones(1, 1, 2, 2), minigrad.ones(1, 1, 1, 2))


def test_gumbel_softmax(torch):
    def program(L, note):
        for hard in (False, True):
            L.manual_seed(4)
            logits = numbers(L, (3, 4)).requires_grad_()
            out = L.nn.functional.gumbel_softmax(logits, 0.7, hard)
            note(out, *L.autograd.grad((out * numbers(L, (3, 4))).sum(), logits))

    assert_same_diary(program, torch)


def test_infinite_gradients_stay_where_they_are(torch):
    def program(L, note):
        x = numbers(L, (1, 1, 3, 4)).requires_grad_()
        out = L.nn.functional.interpolate(x, (4, 6), mode="bilinear")
        start = L.zeros(1, 1, 4, 6).double()
        start[0, 0, 1, 2] = float("inf")
        (g,) = L.autograd.grad(out, x, start)
        note(g.isfinite(), g.isnan())

    assert_same_diary(program, torch)


def test_group_norm_without_weights(torch):
    def program(L, note):
        x = numbers(L, (2, 4, 3)).requires_grad_()
        for layer in (L.nn.GroupNorm(2, 4, affine=False), L.nn.GroupNorm(2, 4, bias=False)):
            (g,) = L.autograd.grad((layer.double()(x) ** 3).sum(), x, create_graph=True)
            note(g, *L.autograd.grad((g * g).sum(), x))

    assert_same_diary(program, torch)
