"""Attention in several heads and transformers in both libraries: the same first numbers, results, graphs,
gradients and texts.
"""

from __future__ import annotations

import contextlib
import warnings

import numpy as np
import pytest
from twins import Programs, assert_same_diary, dialect, graph

import minigrad

# Arguments of MultiheadAttention, of its call, and how its inputs are shaped: one tensor for all, one for
# keys and values, or three; with a batch first, or without a batch.
ATTENTIONS = [
    ({}, {}, "self"),
    ({"bias": False, "batch_first": True}, {"need_weights": False}, "self"),
    ({}, {"average_attn_weights": False}, "pair"),
    ({"batch_first": True}, {"need_weights": False, "key_padding_mask": True}, "pair"),
    ({}, {"attn_mask": True}, "three"),
    ({"bias": False, "batch_first": True}, {"need_weights": False}, "three"),
    ({}, {"attn_mask": True, "key_padding_mask": True}, "self"),
    ({"dropout": 0.5}, {}, "pair"),
    ({}, {"attn_mask": True, "key_padding_mask": True, "need_weights": False}, "self"),
    ({}, {"attn_mask": True, "is_causal": True, "need_weights": False}, "self"),
    ({}, {"need_weights": False}, "single"),
    ({}, {"attn_mask": True}, "single"),
]

programs = Programs()


def numbers(L, *shape):
    """Different numbers around 0."""
    made = np.sin(np.arange(np.prod(shape)) * 1.7 + 0.4).reshape(shape)
    return L.tensor(made, requires_grad=True)


def settled(tensors):
    """Numbers without what rounding leaves of zeros: the gradient of a bias of keys is one."""
    return [t if t is None else (t.detach() * 1e9).round() / 1e9 for t in tensors]


def composed(L):
    """Within it PyTorch composes attention of smaller ops, as minigrad always does."""
    if L is minigrad:
        return contextlib.nullcontext()
    return L.nn.attention.sdpa_kernel(L.nn.attention.SDPBackend.MATH)


def inputs_of(L, layer, kind):
    """Queries, keys and values: five steps against four, a batch of two."""
    batch = () if kind == "single" else (2,)
    if kind in ("self", "single"):
        x = numbers(L, 4, *batch, 4)
        given = (x, x, x)
    elif kind == "pair":
        x, y = numbers(L, 5, *batch, 4), numbers(L, 4, *batch, 4).cos()
        given = (x, y, y)
    else:
        given = tuple(numbers(L, n, *batch, 4) for n in (5, 4, 4))
    if not layer.batch_first:
        return given
    turned = {id(t): t.transpose(0, 1) for t in given}
    return tuple(turned[id(t)] for t in given)


def masks(L, how, query, kind):
    """The arguments of the call, with True replaced by masks."""
    how = dict(how)
    if "attn_mask" in how:
        how["attn_mask"] = L.triu(L.ones(len(query), 4, dtype=L.bool), 1)
    if "key_padding_mask" in how:
        padding = L.tensor([[False, False, False, True], [False] * 4])
        how["key_padding_mask"] = padding[0] if kind == "single" else padding
    return how


def attend(L, settings, how, kind):
    """The layer, its inputs and what it gives."""
    L.manual_seed(3)
    layer = L.nn.MultiheadAttention(4, 2, **settings).double()
    given = inputs_of(L, layer, kind)
    L.manual_seed(5)
    with composed(L):
        return layer, given, layer(*given, **masks(L, how, given[0], kind))


@pytest.mark.parametrize(("settings", "how", "kind"), ATTENTIONS)
def test_attention(torch, settings, how, kind):
    def program(L, note):
        layer, given, (out, shares) = attend(L, settings, how, kind)
        note(repr(layer), [(key, t) for key, t in layer.state_dict().items()], out, shares)
        wanted = [*layer.parameters()] + [t for t in given if t.is_leaf]
        loss = (out * out).sum() + (0 if shares is None else (shares**3).sum())
        note(settled(L.autograd.grad(loss, wanted, allow_unused=True)))

    assert_same_diary(program, torch)
    with dialect("2"):
        ours, theirs = (attend(L, settings, how, kind)[2] for L in (minigrad, torch))
        assert graph(*(t for t in ours if t is not None)) == graph(*(t for t in theirs if t is not None))


def learn(L, note, model, *given, **how):
    """Note what a model gives and learns while training, and what it gives afterwards."""
    note(repr(model), [(key, t) for key, t in model.state_dict().items()])
    model.double()
    L.manual_seed(5)
    with composed(L):
        out = model(*given, **how)
        note(out)
        (out * out.detach().cos()).sum().backward()
        note(settled(p.grad for p in model.parameters()), settled(t.grad for t in given if t.is_leaf))
        note(model.eval()(*given, **how))
    return out


@pytest.mark.parametrize(
    "settings",
    [{}, {"norm_first": True, "activation": "gelu"}, {"bias": False, "batch_first": True, "dropout": 0.3}],
)
def test_layers(torch, settings):
    def encoder(L, note):
        L.manual_seed(3)
        layer = L.nn.TransformerEncoderLayer(4, 2, 6, **settings)
        out = learn(L, note, layer, numbers(L, 3, 3, 4), src_mask=mask(L, 3))
        roots.append(out)

    def decoder(L, note):
        L.manual_seed(3)
        layer = L.nn.TransformerDecoderLayer(4, 2, 6, **settings)
        out = learn(L, note, layer, numbers(L, 3, 3, 4), numbers(L, 3, 3, 4).cos(), tgt_mask=mask(L, 3))
        roots.append(out)

    def mask(L, n):
        return L.nn.Transformer.generate_square_subsequent_mask(n, dtype=L.float64)

    for program in (encoder, decoder):
        roots = []
        assert_same_diary(program, torch)
        with dialect("2"):
            assert graph(roots[0]) == graph(roots[1])


@programs
def whole(L, note):
    L.manual_seed(3)
    model = L.nn.Transformer(4, 2, 2, 1, 5, 0.2, activation=L.tanh, batch_first=True, norm_first=True)
    tgt_mask = model.generate_square_subsequent_mask(3, dtype=L.float64)
    note(L.nn.Transformer.generate_square_subsequent_mask(3))
    learn(L, note, model, numbers(L, 2, 4, 4), numbers(L, 2, 3, 4), tgt_mask=tgt_mask)


@programs
def stacks(L, note):
    for settings in ({}, {"batch_first": True}):
        L.manual_seed(3)
        layer = L.nn.TransformerEncoderLayer(4, 1, 5, 0.0, **settings)
        encoder = L.nn.TransformerEncoder(layer, 2, L.nn.LayerNorm(4), enable_nested_tensor=False)
        note(repr(encoder), L.equal(encoder.layers[0].linear1.weight, encoder.layers[1].linear1.weight))
        padding = L.tensor([[False, False, True], [False, False, False], [False, True, True]])
        x = numbers(L, 3, 3, 4)
        note(encoder.double()(x, src_key_padding_mask=padding))
        for causal in (L.ones(3, 3, dtype=L.bool).triu(1), L.ones(3, 3).tril().log().double()):
            note(encoder(x, mask=causal), encoder(x, mask=causal.clone(), is_causal=False))
        layer = L.nn.TransformerDecoderLayer(4, 2, 5, 0.0, L.nn.functional.silu, **settings)
        decoder = L.nn.TransformerDecoder(layer, 2).double()
        note(decoder(x, x.cos(), memory_key_padding_mask=padding))
        note(decoder(x[0], x[1].cos()), len(list(decoder.parameters())))


@programs
def refusals(L, note):
    nn, x = L.nn, numbers(L, 3, 2, 4).float()
    layer, flags = nn.MultiheadAttention(4, 2), L.zeros(3, 3, dtype=L.bool)
    for f in (
        lambda: nn.MultiheadAttention(0, 2),
        lambda: nn.MultiheadAttention(4, 3),
        lambda: layer(x[0, 0], x, x),
        lambda: layer(x, x[0], x),
        lambda: layer(x[0], x, x),
        lambda: layer(x, x, x, key_padding_mask=flags[0]),
        lambda: layer(x[:, 0], x[:, 0], x[:, 0], key_padding_mask=flags),
        lambda: layer(x, x, x, attn_mask=flags[0]),
        lambda: layer(x, x, x, attn_mask=flags[:2]),
        lambda: layer(x, x, x, attn_mask=L.zeros(2, 3, 3)),
        lambda: layer(x[:, 0], x[:, 0], x[:, 0], attn_mask=L.zeros(3, 3, 3)),
        lambda: layer(x, x, x, attn_mask=L.zeros(3, 3, dtype=L.int64)),
        lambda: layer(x, x, x, key_padding_mask=flags),
        lambda: layer(x, x, x, key_padding_mask=flags[:2, :2]),
        lambda: layer(x, x, x, is_causal=True),
        lambda: layer(x, x[:2], x),
        lambda: layer(x[..., :2], x[..., :2], x[..., :2]),
        lambda: nn.MultiheadAttention(4, 2, kdim=4, vdim=4)(x, x, x[:2]),
        lambda: nn.TransformerEncoderLayer(4, 2, activation="tanh"),
        lambda: nn.Transformer(4, 2, 1, 1, 4)(x, x[:, :1]),
        lambda: nn.Transformer(2, 2, 1, 1, 4)(x, x),
    ):
        note.error(f)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        layer(x, x, x, key_padding_mask=flags[:2], attn_mask=L.zeros(3, 3))
    note({str(w.message) for w in caught})


@pytest.mark.parametrize("program", programs, ids=programs.titles)
@pytest.mark.filterwarnings("ignore")
def test_the_same_in_both_libraries(torch, program):
    assert_same_diary(program, torch)


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn", "kdim", "vdim"])
def test_an_option_that_is_left_out_says_so(option):
    with pytest.raises(NotImplementedError, match=rf"no {option} .see docs/ops.md"):
        minigrad.nn.MultiheadAttention(4, 2, **{option: 5})
