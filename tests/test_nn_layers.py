"""Layers, activations and losses as modules, in both libraries: the same first numbers, results, gradients,
running statistics and texts.
"""

from __future__ import annotations

import numpy as np
import pytest
from twins import Programs, assert_same_diary, outcome

import minigrad

SIZES = {1: (3,), 2: (4, 3), 3: (2, 3, 4), 4: (2, 3, 2, 2), 5: (1, 3, 2, 2, 2)}

# The class, its arguments, how many dimensions the input has.
LAYERS = [
    ("Linear", {"in_features": 3, "out_features": 2}, 2),
    ("Linear", {"in_features": 3, "out_features": 2, "bias": False}, 1),
    ("Linear", {"in_features": 4, "out_features": 2}, 3),
    ("Identity", {}, 2),
    ("Flatten", {}, 4),
    ("Flatten", {"start_dim": 0, "end_dim": 1}, 3),
    ("Unflatten", {"dim": 0, "unflattened_size": (2, 2)}, 2),
    ("BatchNorm1d", {"num_features": 3}, 2),
    ("BatchNorm1d", {"num_features": 3, "momentum": None}, 3),
    ("BatchNorm2d", {"num_features": 3, "affine": False}, 4),
    ("BatchNorm3d", {"num_features": 3, "track_running_stats": False}, 5),
    ("InstanceNorm1d", {"num_features": 3}, 3),
    ("InstanceNorm1d", {"num_features": 3, "affine": True, "track_running_stats": True}, 3),
    ("InstanceNorm2d", {"num_features": 3, "affine": True}, 4),
    ("LayerNorm", {"normalized_shape": 3}, 2),
    ("LayerNorm", {"normalized_shape": [3, 4], "bias": False}, 3),
    ("LayerNorm", {"normalized_shape": 4, "elementwise_affine": False}, 3),
    ("RMSNorm", {"normalized_shape": 3}, 2),
    ("GroupNorm", {"num_groups": 3, "num_channels": 3}, 3),
    *((name, {}, 2) for name in (
        "ReLU", "ReLU6", "SiLU", "Mish", "SELU", "Sigmoid", "Tanh", "LogSigmoid",
        "Softsign", "Tanhshrink", "LeakyReLU", "ELU", "GELU", "Softplus", "Hardtanh", "Hardshrink",
        "Softshrink")),
    ("ReLU", {"inplace": True}, 2),
    ("LeakyReLU", {"negative_slope": 0.3}, 2),
    ("ELU", {"alpha": 0.5}, 1),
    ("GELU", {"approximate": "tanh"}, 2),
    ("Softplus", {"beta": 2.0, "threshold": 1.0}, 2),
    ("Hardtanh", {"min_val": -0.1, "max_val": 0.2}, 2),
    ("Softmax", {"dim": 1}, 2),
    ("Softmin", {"dim": 0}, 2),
    ("LogSoftmax", {"dim": -1}, 3),
    ("Dropout", {"p": 0.3}, 2),
]  # fmt: skip

LOSSES = [
    *((name, {"reduction": how}) for name in (
        "MSELoss", "L1Loss", "SmoothL1Loss", "HuberLoss", "KLDivLoss",
        "BCEWithLogitsLoss") for how in ("mean", "sum", "none")),
]  # fmt: skip

programs = Programs()


def numbers(L, shape, requires_grad=False):
    """Different numbers around 0."""
    made = np.sin(np.arange(np.prod(shape)) * 1.7 + 0.4).reshape(shape).astype(np.float32)
    return L.tensor(made, requires_grad=requires_grad)


@pytest.mark.parametrize(
    ("name", "settings", "ndim"), LAYERS, ids=[f"{n}-{i}" for i, (n, _, _) in enumerate(LAYERS)]
)
def test_layers(torch, name, settings, ndim):
    def program(L, note):
        L.manual_seed(3)
        layer = getattr(L.nn, name)(**settings)
        note(repr(layer), [(key, t) for key, t in layer.state_dict().items()])
        for training in (True, False):
            layer.train(training)
            x = numbers(L, SIZES[ndim]).double().requires_grad_()
            L.manual_seed(5)
            out = layer.double()(x * 1)
            note(out)
            (out * numbers(L, tuple(out.shape)).cos()).sum().backward()
            note(x.grad, *(p.grad for p in layer.parameters()))
        note([(key, t) for key, t in layer.state_dict().items()])

    assert_same_diary(program, torch)


@pytest.mark.parametrize(("name", "settings"), LOSSES, ids=[f"{n}-{s['reduction']}" for n, s in LOSSES])
def test_losses(torch, name, settings):
    def program(L, note):
        loss = getattr(L.nn, name)(**settings)
        x, target = numbers(L, (4, 3), requires_grad=True), numbers(L, (4, 3)).abs()
        out = loss(x, target)
        note(repr(loss), out)
        out.sum().backward()
        note(x.grad)

    assert_same_diary(program, torch)


@programs
def classes(L, note):
    x, y = numbers(L, (4, 3), requires_grad=True), L.tensor([0, 2, 1, -100])
    weight = L.tensor([1.0, 2.0, 0.5])
    for loss in (
        L.nn.CrossEntropyLoss(),
        L.nn.CrossEntropyLoss(weight=weight, label_smoothing=0.1),
        L.nn.CrossEntropyLoss(reduction="sum", ignore_index=2),
        L.nn.NLLLoss(weight=weight),
    ):
        target = y if loss.ignore_index == -100 else L.tensor([0, 2, 1, 1])
        out = loss(x, target)
        note(repr(loss), out, list(loss.state_dict()))
        x.grad = None
        out.backward()
        note(x.grad)
    note(L.nn.CrossEntropyLoss()(x, numbers(L, (4, 3)).softmax(1)))
    note(L.nn.BCELoss()(x.sigmoid(), numbers(L, (4, 3)).abs()))
    note(L.nn.BCEWithLogitsLoss(pos_weight=weight)(x, numbers(L, (4, 3)).abs()))


@programs
def pairs(L, note):
    a, b, c = numbers(L, (2, 3)), numbers(L, (2, 3)) * 2 + 0.1, numbers(L, (2, 3)).cos()
    y = L.tensor([1.0, -1.0])
    note(L.nn.CosineEmbeddingLoss(margin=0.2)(a, b, y), L.nn.TripletMarginLoss()(a, b, c))
    note(L.nn.MarginRankingLoss(margin=0.1)(a[:, 0], b[:, 0], y))


@programs
def embeddings(L, note):
    L.manual_seed(0)
    table = L.nn.Embedding(5, 3, padding_idx=1)
    note(repr(table), table.weight)
    out = table(L.tensor([[0, 1], [4, 0]]))
    note(out)
    out.sum().backward()
    note(table.weight.grad)


@programs
def first_numbers(L, note):
    L.manual_seed(1)
    init = L.nn.init
    for fill in (
        init.xavier_uniform_, init.xavier_normal_, init.kaiming_uniform_, init.kaiming_normal_, init.uniform_,
        init.normal_, init.ones_, init.zeros_, init.eye_, init.trunc_normal_,
    ):  # fmt: skip
        note(fill.__name__, fill(L.empty(4, 5)), fill(L.nn.Parameter(L.empty(3, 6))))
    for size in ((4, 3), (3, 2, 2), (3, 3)):
        note((init.orthogonal_(L.empty(size), gain=2.0) * 1000).round())
    note(
        init.constant_(L.empty(2), 3.0),
        init.kaiming_normal_(L.empty(2, 3, 2), mode="fan_out", nonlinearity="relu"),
    )
    note(
        [
            init.calculate_gain(n)
            for n in ("linear", "relu", "tanh", "sigmoid", "selu", "leaky_relu", "conv2d")
        ]
    )
    for bad in (
        lambda: init.calculate_gain("x"),
        lambda: init.eye_(L.empty(3)),
        lambda: init.xavier_uniform_(L.empty(3)),
        lambda: init.kaiming_uniform_(L.empty(3, 3), mode="x"),
        lambda: init.orthogonal_(L.empty(3)),
    ):
        with pytest.raises(ValueError) as raised:
            bad()
        note(str(raised.value))


@programs
def clipping(L, note):
    params = [
        L.nn.Parameter(L.tensor([3.0, 4.0])),
        L.nn.Parameter(L.tensor([[12.0]])),
        L.nn.Parameter(L.ones(1)),
    ]
    for norm in (2.0, 1, float("inf")):
        params[0].grad, params[1].grad = L.tensor([3.0, 4.0]), L.tensor([[12.0]])
        note(L.nn.utils.clip_grad_norm_(params, 1.0, norm_type=norm), params[0].grad, params[1].grad)
    L.nn.utils.clip_grad_value_(params, 0.05)
    note(params[0].grad, params[1].grad, L.nn.utils.clip_grad_norm_([], 1.0))
    vector = L.nn.utils.parameters_to_vector(params)
    note(vector)
    L.nn.utils.vector_to_parameters(vector * 2, params)
    note(*params)


@programs
def refusals(L, note):
    for bad in (
        lambda: L.nn.BatchNorm1d(3)(L.ones(3)),
        lambda: L.nn.BatchNorm2d(3)(L.ones(2, 3)),
        lambda: L.nn.Dropout(2),
        lambda: L.nn.GroupNorm(2, 3),
    ):
        with pytest.raises(ValueError) as raised:
            bad()
        note(str(raised.value))


@pytest.mark.parametrize("program", programs, ids=programs.titles)
@pytest.mark.filterwarnings("ignore")
def test_the_same_in_both_libraries(torch, program):
    assert_same_diary(program, torch)


def test_inputs_may_be_given_by_name():
    x, y = minigrad.tensor([[-1.0, 2.0]]), minigrad.tensor([[0.0, 1.0]])
    assert minigrad.nn.ReLU()(input=x).tolist() == [[0.0, 2.0]]
    assert minigrad.nn.MSELoss()(input=x, target=y).item() == 1.0
    assert minigrad.nn.TripletMarginLoss()(anchor=x, positive=x, negative=x + 9).item() == 0.0
    assert minigrad.nn.CosineSimilarity()(x1=x, x2=x).item() == pytest.approx(1.0)


@pytest.mark.parametrize("wrong", [(1,), None, 3.0, "a", [1.0]], ids=str)
@pytest.mark.parametrize(
    ("name", "args"),
    [
        ("AdaptiveMaxPool2d", (2,)), ("Dropout1d", ()), ("Dropout2d", ()),
        ("EmbeddingBag", (4, 2)), ("LocalResponseNorm", (2,)), ("LogSigmoid", ()), ("LogSoftmax", ()),
        ("RMSNorm", (2,)), ("SELU", ()), ("Softmax", ()), ("Softmin", ()), ("Tanh", ()),
    ],
)  # fmt: skip
def test_what_is_no_tensor_is_refused_as_in_pytorch(torch, name, args, wrong):
    ours, theirs = (outcome(getattr(L.nn, name)(*args), wrong) for L in (minigrad, torch))
    assert ours == theirs and "Error" in ours[0]
