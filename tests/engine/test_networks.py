"""What PyTorch's table does not show of activation functions, losses, normalization and dropout."""

from __future__ import annotations

import numpy as np
import pytest
from calls import assert_same_ends
from twins import assert_same_graph, assert_same_tensor, dialect

import minigrad

X = np.array([[-2.5, -1.0, -0.3], [0.0, 0.4, 3.5]])
ODD = np.array([float("nan"), float("inf"), float("-inf"), -0.0, 0.0, 1.0, -1.0, 3.0, -3.0, 6.0, 0.5, -0.5])
NAMES = "relu relu6 hardtanh elu selu leaky_relu silu mish"
PLAIN: dict[str, dict[str, float]] = {
    **{name: {} for name in NAMES.split()},
    "threshold": {"threshold": 0.1, "value": 20.0},
}


def both(torch, call):
    """What a function of a library gives in minigrad and in PyTorch, or its error."""
    found = []
    with dialect("2"):
        for library in (minigrad, torch):
            library.manual_seed(3)
            try:
                found.append(call(library, library.nn.functional))
            except Exception as error:
                found.append(error)
    return found


def leaf(L, data, dtype="float64"):
    return L.tensor(np.array(data, dtype), requires_grad=True)


# ---------------------------------------------------------------------------------------------- in place


@pytest.mark.quick
@pytest.mark.parametrize("name", PLAIN)
def test_in_place(torch, name):
    """The tensor itself is written to; its history is PyTorch's."""

    def run(L, N):
        x = leaf(L, X)
        y = x * 1
        z = getattr(N, name)(y, **PLAIN.get(name, {}), inplace=True)
        assert z is y and y._version == 1
        (z * z).sum().backward()
        return z, x.grad

    (ours, our_grad), (theirs, their_grad) = both(torch, run)
    assert_same_tensor(ours, theirs, name)
    assert_same_tensor(our_grad, their_grad, name)
    with dialect("2"):
        assert_same_graph((ours,), (theirs,), values=False)


@pytest.mark.parametrize("shape", [(4, 8), (2, 4, 8)], ids=str)
@pytest.mark.parametrize("name", ["dropout", "dropout1d"])
def test_dropout_in_place_gives_its_input(name, shape):
    x = minigrad.ones(*shape)
    assert getattr(minigrad.nn.functional, name)(x, inplace=True) is x
    assert x.shape == shape


@pytest.mark.parametrize("name", ["dropout", "dropout1d"])
def test_dropout_in_place(torch, name):
    def run(L, N):
        x = leaf(L, X)
        y = x * 1
        getattr(N, name)(y, 0.5, True, inplace=True)
        y.sum().backward()
        return y, x.grad

    for ours, theirs in zip(*both(torch, run), strict=True):
        assert_same_tensor(ours, theirs, name)


# --------------------------------------------------------------------------------------- unusual numbers


@pytest.mark.parametrize(
    "name",
    [*PLAIN, "softplus", "logsigmoid", "hardshrink", "softsign", "tanhshrink", "sigmoid", "tanh"],
)
def test_nan_infinity_and_corners(torch, name):
    """Values and gradients where a function bends, and of what is not a number."""
    given = PLAIN.get(name, {})

    def run(L, N):
        x = leaf(L, ODD, "float32")
        y = getattr(N, name)(x, **given)
        (grad,) = L.autograd.grad(y.sum(), x)
        return y, grad

    (ours, our_grad), (theirs, their_grad) = both(torch, run)
    assert_same_tensor(ours, theirs, name)
    finite = np.isfinite(ODD)
    assert_same_tensor(our_grad[finite], their_grad[finite], name)


def test_threshold_of_half_precision_is_not_rounded(torch):
    """0.3 in float16 is more than 0.3."""

    def run(L, N):
        x = leaf(L, [0.3, 0.2, 0.7, -0.3], "float16")
        y = N.threshold(x, 0.3, 7.0)
        return y, *L.autograd.grad(y.sum(), x)

    for ours, theirs in zip(*both(torch, run), strict=True):
        assert_same_tensor(ours, theirs, "threshold")


# -------------------------------------------------------------------------------------- running statistics


@pytest.mark.quick
@pytest.mark.parametrize("momentum", [0.1, 1.0])
def test_running_statistics(torch, momentum):
    """They follow the batch's mean and its unbiased variance in training, and stay as they are out of it."""
    data = np.arange(24.0).reshape(2, 3, 4) ** 1.5

    def run(L, N):
        x, mean, var = leaf(L, data), L.zeros(3, dtype=L.float64), L.ones(3, dtype=L.float64)
        first = N.batch_norm(x, mean, var, training=True, momentum=momentum)
        kept = mean.clone(), var.clone()
        second = N.batch_norm(x, mean, var)
        assert mean.tolist() == kept[0].tolist() and not mean.requires_grad
        third = N.instance_norm(x, mean, var)
        return first, *kept, second, third, mean, var

    for ours, theirs in zip(*both(torch, run), strict=True):
        assert_same_tensor(ours, theirs)


@pytest.mark.quick
def test_normalising_a_batch_leaves_mean_0_and_variance_1():
    x = minigrad.tensor(np.arange(24.0).reshape(4, 3, 2) ** 2)
    y = minigrad.nn.functional.batch_norm(x, None, None, training=True, eps=1e-12).numpy()
    assert np.allclose(y.mean((0, 2)), 0) and np.allclose(y.var((0, 2)), 1)


# ------------------------------------------------------------------------------------------------- losses


@pytest.mark.quick
@pytest.mark.parametrize("name", ["mse_loss", "l1_loss", "huber_loss"])
def test_weights_of_elements_are_refused(name):
    x = minigrad.ones(2)
    with pytest.raises(NotImplementedError, match=rf"^minigrad's {name} has no weight .see docs/ops.md"):
        getattr(minigrad.nn.functional, name)(x, x, weight=x)


@pytest.mark.parametrize("classes", [[1, -100], [-100, -100], [2, 0]])
@pytest.mark.parametrize("how", [{}, {"label_smoothing": 0.2}, {"reduction": "none"}, {"reduction": "sum"}])
def test_classes_that_do_not_count(torch, classes, how):
    def run(L, N):
        x = leaf(L, X)
        loss = N.cross_entropy(x, L.tensor(classes), weight=L.tensor(np.array([0.5, 1.0, 2.0])), **how)
        loss.sum().backward()
        return loss, x.grad

    for ours, theirs in zip(*both(torch, run), strict=True):
        assert_same_tensor(ours, theirs)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(
    "old",
    [
        {"size_average": False},
        {"reduce": False},
        {"size_average": True},
        {"size_average": False, "reduce": True},
    ],
)
def test_old_names_of_reductions(torch, old):
    ours, theirs = both(torch, lambda L, N: N.mse_loss(L.tensor(X), L.tensor(X + 1), **old))
    assert_same_tensor(ours, theirs)


@pytest.mark.parametrize("name", ["mse_loss", "smooth_l1_loss"])
def test_mixed_dtypes(torch, name):
    """Gradients come in the dtypes of the inputs."""

    def run(L, N):
        x, y = leaf(L, X, "float32"), leaf(L, X + 1)
        loss = getattr(N, name)(x, y)
        loss.backward()
        return loss, x.grad, y.grad

    for ours, theirs in zip(*both(torch, run), strict=True):
        assert_same_tensor(ours, theirs)


@pytest.mark.parametrize("reduction", ["none", "mean", "sum"])
@pytest.mark.parametrize(
    ("name", "how"),
    [
        ("mse_loss", {}),
        ("smooth_l1_loss", {"beta": 0.5}),
        ("huber_loss", {"delta": 0.5}),
        *((name, {}) for name in ("elu", "hardshrink", "hardtanh", "softshrink")),
    ],
)
def test_the_graph_of_second_derivatives(torch, name, how, reduction):
    """The gradient of a gradient, and the graph from which third derivatives follow."""
    is_loss = name.endswith("loss")
    if not is_loss and reduction != "none":
        pytest.skip("an activation function has no reduction")

    def run(L, N):
        x, y = leaf(L, X), leaf(L, X[::-1].copy())
        with dialect("2"):
            value = getattr(N, name)(x, y, reduction=reduction, **how) if is_loss else getattr(N, name)(x)
            first = L.autograd.grad(value.sum(), (x, y)[: 1 + is_loss], create_graph=True)
            sizes = L.tensor(X + 3, requires_grad=True)
            return [L.autograd.grad(g, x, sizes, create_graph=True, allow_unused=True)[0] for g in first]

    for ours, theirs in zip(*both(torch, run), strict=True):
        assert_same_tensor(ours, theirs)
        with dialect("2"):
            assert_same_graph((ours,), (theirs,))


def test_a_target_of_another_shape_warns():
    with pytest.warns(UserWarning, match="Using a target size"):
        minigrad.nn.functional.mse_loss(minigrad.zeros(2, 3), minigrad.zeros(3))


# -------------------------------------------------------------------------------------------------- errors

WRONG = """
F.nll_loss(x, L.tensor([0, 3])) | F.nll_loss(x, L.tensor([0.0, 1.0])) | F.nll_loss(x, L.tensor([0]))
F.nll_loss(x, L.tensor([0, 1]), L.zeros(2)) | F.nll_loss(x[0, 0], L.tensor(0))
F.nll_loss(L.zeros(2, 3, 4, 4), L.zeros(2, 4, 5).long())
F.nll_loss(L.zeros(2, 3, 4, 4), L.zeros(2, 4).long()) | F.nll_loss(L.zeros(2, 3, 4), L.zeros(2, 5).long())
F.cross_entropy(x, L.ones(2, 3).long()) | F.cross_entropy(x, x, L.zeros(2))
F.cross_entropy(x, L.tensor([0, 1]), label_smoothing=1.5) | F.mse_loss(x, x, reduction='some')
F.mse_loss(L.tensor([1]), L.tensor([1])) | F.smooth_l1_loss(x, x, beta=-1.0) | F.huber_loss(x, x, delta=0)
F.binary_cross_entropy(x, x) | F.kl_div(L.tensor([1]), L.tensor([1]), reduction='sum') | F.prelu(x, 0.5)
F.prelu(x, L.ones(1)) | F.prelu(x, x[0, :2]) | F.gelu(x, approximate='some') | F.elu(3.0)
F.elu(L.tensor([1])) | F.mish(L.tensor([1])) | F.relu6(L.tensor([True])) | F.hardtanh(x, 1.0, -1.0)
F.dropout(x, 2.0) | F.dropout1d(x[0]) | F.layer_norm(x, (2,)) | F.layer_norm(x, (3,), x[0, :2])
F.group_norm(L.zeros(2, 4), 3) | F.batch_norm(L.zeros(1, 3), None, None, training=True)
F.batch_norm(x, None, None) | F.batch_norm(x, L.zeros(2), L.ones(2)) | F.instance_norm(L.zeros(2, 3, 1))
F.local_response_norm(x, 2) | F.cosine_similarity(L.ones(2, 2).long(), L.ones(2, 2).long())
F.triplet_margin_loss(x, x, x, margin=-1)
"""


def test_errors(torch):
    assert_same_ends(torch, WRONG, lambda L: {"x": leaf(L, X)})


# ------------------------------------------------------------------------------------------------- dropout


@pytest.mark.parametrize("name", ["dropout"])
def test_nothing_happens_out_of_training(name):
    x = minigrad.tensor(X)
    function = getattr(minigrad.nn.functional, name)
    assert function(x, 0.5, False) is x and function(x, 0.0, True) is x


def test_all_is_dropped():
    x = leaf(minigrad, X)
    y = minigrad.nn.functional.dropout(x, 1.0)
    y.sum().backward()
    assert not y.detach().numpy().any() and not x.grad.numpy().any()


@pytest.mark.parametrize("name", ["dropout1d", "dropout2d"])
def test_whole_channels_are_dropped(name):
    x = minigrad.ones(4, 8, *[3] * int(name[-2]))
    y = getattr(minigrad.nn.functional, name)(x).numpy().reshape(32, -1)
    assert {tuple(set(row)) for row in y.tolist()} == {(0.0,), (2.0,)}
