"""Layers that find out from their first input how many numbers come in, in both libraries."""

import copy
import warnings

import pytest
from functions import numbers
from twins import outcome

# The class, its arguments, the shape of the first input.
LAYERS = [
    ("LazyLinear", (3,), {}, (2, 4)),
    ("LazyLinear", (3,), {"bias": False}, (4,)),
    ("LazyConv1d", (4, 2), {"groups": 2}, (2, 4, 5)),
    ("LazyConv2d", (4, 2), {"padding": 1, "stride": 2}, (2, 3, 5, 5)),
    ("LazyConv2d", (4, 2), {"bias": False}, (3, 5, 5)),
    ("LazyConv3d", (2, 2), {}, (1, 2, 3, 3, 3)),
    ("LazyBatchNorm1d", (), {}, (4, 3)),
    ("LazyBatchNorm2d", (), {"affine": False}, (4, 3, 2, 2)),
    ("LazyBatchNorm3d", (), {"track_running_stats": False}, (2, 3, 2, 2, 1)),
]


@pytest.mark.parametrize(
    ("name", "args", "settings", "shape"), LAYERS, ids=[f"{n[0]}-{i}" for i, n in enumerate(LAYERS)]
)
@pytest.mark.filterwarnings("ignore")
def test_layers(L, note, name, args, settings, shape):
    L.manual_seed(3)
    layer = getattr(L.nn, name)(*args, **settings).double()
    note(repr(layer), [repr(p) for p in layer.parameters()], list(layer.state_dict()))
    note(layer.has_uninitialized_params(), type(layer).__name__)
    parameters = list(layer.parameters())
    x = numbers(L, *shape)
    out = layer(x)
    note(repr(layer), type(layer).__name__, out, [(key, t) for key, t in layer.state_dict().items()])
    note([p is q for p, q in zip(parameters, layer.parameters())])
    (out * out.detach().cos()).sum().backward()
    note(x.grad, *(p.grad for p in layer.parameters()), layer(x))


def test_models(L, note):
    def made():
        conv, norm, linear = L.nn.LazyConv2d(3, 2), L.nn.LazyBatchNorm2d(), L.nn.LazyLinear(2)
        return L.nn.Sequential(conv, norm, L.nn.ReLU(), L.nn.Flatten(), copy.deepcopy(linear))

    L.manual_seed(0)
    net, other = made(), made().double()
    note(repr(net), net(numbers(L, 2, 1, 3, 3).float()), repr(net))
    note(
        repr(other), [repr(p) for p in other.parameters()], [p.dtype is L.float64 for p in other.parameters()]
    )
    other.load_state_dict(net.state_dict())
    note(repr(other), other(numbers(L, 2, 1, 3, 3).double()), repr(other))
    lazy = L.nn.LazyLinear(2)
    lazy.load_state_dict({"weight": L.ones(2, 3), "bias": L.zeros(2)})
    note(lazy(L.ones(1, 3)), repr(lazy))


def test_refusals(L, note):
    lazy = L.nn.LazyLinear(2)
    note.error(lambda: lazy.weight.shape)
    note.error(lambda: L.nn.LazyConv2d(2, 2)(L.ones(3, 3)))
    note.error(lambda: L.nn.LazyConv2d(2, 2, groups=2)(L.ones(1, 3, 3, 3)))
    kind, text = outcome(L.nn.init.normal_, lazy.weight)
    note(kind, text[:41], text[-70:])
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        parameter = L.nn.UninitializedParameter(dtype=L.float64)
        note(repr(parameter), parameter.requires_grad, parameter.dtype is L.float64)
        parameter.materialize((2, 1))
        note(type(parameter).__name__, parameter.shape, repr(L.nn.UninitializedBuffer()))
