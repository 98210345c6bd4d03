"""Recurrent networks and sequences of unequal lengths in both libraries: the same first numbers, results,
graphs, gradients and texts.
"""

import numpy as np
import pytest
from calls import assert_same_ends
from functions import numbers
from twins import dialect, graph, outcome_and_warnings

import minigrad

# The class, its arguments, whether a first state is given, how the input is shaped: (T, B, …), (B, T, …),
# without a batch, or packed.
NETWORKS = [
    ("RNN", {}, False, "steps"),
    ("RNN", {"nonlinearity": "relu", "num_layers": 2}, True, "steps"),
    ("RNN", {"bias": False, "bidirectional": True}, True, "batch"),
    ("RNN", {"num_layers": 2, "dropout": 0.4}, False, "packed"),
    ("LSTM", {}, True, "steps"),
    ("LSTM", {"num_layers": 2, "bidirectional": True}, False, "steps"),
    ("LSTM", {"num_layers": 2}, True, "batch"),
    ("LSTM", {"bias": False}, True, "single"),
    ("LSTM", {"bidirectional": True, "num_layers": 2}, True, "packed"),
    ("GRU", {}, True, "steps"),
    ("GRU", {"num_layers": 2, "dropout": 0.5, "bidirectional": True}, False, "steps"),
    ("GRU", {"batch_first": True}, True, "single"),
    ("GRU", {"bidirectional": True}, False, "packed"),
]
CELLS = [
    ("RNNCell", {}),
    ("RNNCell", {"nonlinearity": "relu", "bias": False}),
    ("LSTMCell", {}),
    ("GRUCell", {"bias": False}),
]


def flat(result):
    """The tensors in a result, one after another."""
    if isinstance(result, tuple):
        return [t for part in result if part is not None for t in flat(part)]
    return [result]


def first_state(L, net, kind):
    """A state for three sequences, or for one."""
    layers = net.num_layers * (2 if net.bidirectional else 1)
    batch = () if kind == "single" else (3,)
    h = numbers(L, layers, *batch, net.hidden_size)
    return (h, numbers(L, layers, *batch, net.hidden_size).cos()) if net.mode == "LSTM" else h


def input_of(L, x, kind):
    """The input of a network."""
    if kind == "packed":
        return L.nn.utils.rnn.pack_padded_sequence(x, [2, 4, 1], enforce_sorted=False)
    return {"steps": x, "batch": x.transpose(0, 1), "single": x[:, 0]}[kind]


def run(L, name, settings, with_state, kind, dtype="float64"):
    """A network, its input, and all that it gives."""
    L.manual_seed(3)
    settings = settings | ({"batch_first": True} if kind == "batch" else {})
    net = getattr(L.nn, name)(3, 2, **settings).to(getattr(L, dtype))
    x = numbers(L, 4, 3, 3).to(getattr(L, dtype))
    state = first_state(L, net, kind) if with_state else None
    if dtype == "float32" and state is not None:
        state = tuple(t.to(L.float32) for t in state)
    L.manual_seed(5)
    return net, x, [t for t in flat(net(input_of(L, x, kind), state)) if t.is_floating_point()]


@pytest.mark.quick(4)
@pytest.mark.parametrize(
    ("name", "settings", "with_state", "kind"), NETWORKS, ids=[f"{n[0]}-{i}" for i, n in enumerate(NETWORKS)]
)
def test_networks(L, note, name, settings, with_state, kind):
    net, x, results = run(L, name, settings, with_state, kind)
    note(repr(net), [(key, t) for key, t in net.state_dict().items()], graph(*results))
    note(net.all_weights[-1], *results)
    sum((t * t.detach().cos()).sum() for t in results).backward()
    note(x.grad, *(p.grad for p in net.parameters()))


@pytest.mark.parametrize(
    ("settings", "with_state", "kind"), [n[1:] for n in NETWORKS if n[0] == "LSTM" and n[3] != "packed"]
)
def test_a_layer_of_an_lstm_is_one_op_in_float32(torch, settings, with_state, kind):
    """The same graph, and the same first and second derivatives but for rounding."""

    def derivatives(L):
        net, x, results = run(L, "LSTM", settings, with_state, kind, "float32")
        inputs = (x, *net.parameters())
        loss = sum((t * t.detach().cos()).sum() for t in results)
        first = L.autograd.grad(loss, inputs, create_graph=True)
        second = L.autograd.grad(sum((g * g).sum() for g in first), inputs)
        return results, [t.detach().numpy() for t in (*results, *first, *second)]

    with dialect("2"):
        (ours, mine), (theirs, expected) = derivatives(minigrad), derivatives(torch)
        assert graph(*ours) == graph(*theirs)
        assert "MkldnnRnnLayerBackward0" in str(graph(*ours))
    for a, b in zip(mine, expected, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_forward_mode_of_an_lstm_in_float32():
    net, x = minigrad.nn.LSTM(3, 2), numbers(minigrad, 4, 1, 3).detach()
    found, tangent = minigrad.func.jvp(lambda x: net(x.float())[0], (x,), (x.cos(),))
    expected = minigrad.func.jvp(lambda x: net.double()(x)[0], (x,), (x.cos(),))
    np.testing.assert_allclose(found.detach(), expected[0].detach(), atol=1e-6)
    np.testing.assert_allclose(tangent.detach(), expected[1].detach(), atol=1e-6)


@pytest.mark.parametrize(("name", "settings"), CELLS, ids=[f"{n}-{i}" for i, (n, _) in enumerate(CELLS)])
@pytest.mark.parametrize("batch", [(), (2,)], ids=["one", "batch"])
def test_cells(L, note, name, settings, batch):
    L.manual_seed(3)
    cell = getattr(L.nn, name)(3, 2, **settings).double()
    x, h = numbers(L, *batch, 3), numbers(L, *batch, 2)
    first = cell(x)
    later = cell(x, (h, h.cos()) if name == "LSTMCell" else h)
    results = flat(first) + flat(later)
    note(repr(cell), [(key, t) for key, t in cell.state_dict().items()], *results, graph(*results))
    sum(t.sum() for t in results).backward()
    note(x.grad, *(p.grad for p in cell.parameters()))


def test_in_float32(L, note):
    L.manual_seed(0)
    net = L.nn.LSTM(3, 4, 2)
    net.load_state_dict(net.state_dict())
    out, (h, c) = net(numbers(L, 5, 2, 3).float())
    note(net.weight_ih_l1, L.equal(out[-1], h[-1]), c.shape, [p.shape for p in net.parameters()])
    note([f"{n:.4f}" for n in out.detach().flatten().tolist()])
    net.flatten_parameters()


def test_padded(L, note):
    rnn = L.nn.utils.rnn
    parts = [numbers(L, n, 2) for n in (2, 4, 1)]
    for how in ({}, {"batch_first": True}, {"padding_value": -1.0, "padding_side": "left"}):
        out = rnn.pad_sequence(parts, **how)
        note(out, *L.autograd.grad((out * out).sum(), parts))
    note(rnn.unpad_sequence(rnn.pad_sequence(parts, batch_first=True), L.tensor([2, 4, 1]), batch_first=True))
    note.error(lambda: rnn.pad_sequence([]))
    note.error(lambda: rnn.pad_sequence(3))
    note.error(lambda: rnn.pad_sequence(parts, padding_side="up"))


def packs(L):
    rnn, x = L.nn.utils.rnn, numbers(L, 4, 3, 2)
    return {"rnn": rnn, "x": x, "p": rnn.pack_padded_sequence(x, [4, 2, 2])}


def test_packed(L, note):
    rnn = L.nn.utils.rnn
    x = numbers(L, 4, 3, 2)
    for lengths, how in (([4, 2, 2], {}), (L.tensor([1, 4, 2]), {"enforce_sorted": False})):
        p = rnn.pack_padded_sequence(x, lengths, **how)
        out, found = rnn.pad_packed_sequence(p, padding_value=0.5)
        note(type(p).__name__, *p, out, found, repr(p).count("tensor("))
        note(rnn.pad_packed_sequence(p, batch_first=True, total_length=5), rnn.unpack_sequence(p))
        (g,) = L.autograd.grad((p.data**3).sum() + (out**2).sum(), x, create_graph=True)
        note(g.detach(), L.autograd.grad((g * g).sum(), x))
        note(p.to(L.float32).data, p.to(L.float64) is p)


WRONG_PACKS = """
rnn.pack_padded_sequence(x, [2, 4, 1]) | rnn.pack_padded_sequence(x, [4, 2])
rnn.pack_padded_sequence(x, [4, 2, 0]) | rnn.pack_padded_sequence(x[0, 0], [1])
rnn.pad_packed_sequence(p, total_length=2) | tuple(rnn.pack_padded_sequence(x, [5, 2, 1]))
tuple(rnn.pack_sequence([x[:, 0], x[:2, 0]])) | rnn.invert_permutation(L.tensor([2, 0, 1]))
"""


def test_wrong_packs(torch):
    assert_same_ends(torch, WRONG_PACKS, packs)


REFUSED = """
nn.RNN(3, 2, nonlinearity='x') | nn.GRU(3, 2, proj_size=1) | nn.RNN(3, 2, proj_size=1) | nn.LSTM(3, 0)
nn.LSTM(0, 2) | nn.LSTM(3.0, 2) | nn.LSTM(3, 2, bias=1) | nn.LSTM(3, 2, num_layers=0)
nn.LSTM(3, 2, dropout=2) | nn.RNN(3, 2)(x[0, 0]) | nn.GRU(3, 2)(x[0, 0]) | nn.RNN(3, 2)(x[..., :2])
nn.RNN(3, 2)(x[:0]) | nn.GRU(3, 2)(x, h[0]) | nn.GRU(3, 2)(x[:, 0], h) | nn.GRU(3, 2)(x, h[:, :2])
nn.LSTM(3, 2)(x, (h, h[0])) | nn.LSTM(3, 2)(x, (h, h[..., :1])) | nn.LSTM(3, 2)(x[:, 0], (h, h))
nn.RNNCell(3, 2)(x) | nn.RNNCell(3, 2)(x[0], h) | nn.RNNCell(3, 2)(x[0, :, :2])
nn.RNNCell(3, 2)(x[0], h[0, :2]) | nn.RNNCell(3, 2, nonlinearity='x')(x[0])
nn.LSTMCell(3, 2)(x[0], (h[0], h)) | nn.LSTMCell(3, 2)(x[0], (h[0], h[0, :, :1])) | nn.GRUCell(3, 2)(x)
nn.RNN(3, 2)(x.double())
"""


def test_what_is_refused(torch):
    assert_same_ends(torch, REFUSED, lambda L: {"x": numbers(L, 4, 3, 3).float(), "h": L.ones(1, 3, 2)})


def test_projections_are_left_out():
    with pytest.raises(NotImplementedError, match=r"LSTM has no proj_size .see docs/ops.md"):
        minigrad.nn.LSTM(3, 2, proj_size=1)


def test_dropout_of_one_layer_warns(L, note):
    note(*outcome_and_warnings(lambda: repr(L.nn.LSTM(3, 2, dropout=0.5))))
