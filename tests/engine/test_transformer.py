"""Attention in several heads and transformers in both libraries: the same first numbers, results, graphs,
gradients and texts.
"""

import contextlib

import pytest
from calls import assert_same_ends
from functions import numbers
from twins import graph, outcome_and_warnings

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


@pytest.mark.quick(2)
@pytest.mark.parametrize(("settings", "how", "kind"), ATTENTIONS)
def test_attention(L, note, settings, how, kind):
    layer, given, (out, shares) = attend(L, settings, how, kind)
    note(repr(layer), [(key, t) for key, t in layer.state_dict().items()], out, shares)
    note(graph(*(t for t in (out, shares) if t is not None)))
    wanted = [*layer.parameters()] + [t for t in given if t.is_leaf]
    loss = (out * out).sum() + (0 if shares is None else (shares**3).sum())
    note(settled(L.autograd.grad(loss, wanted, allow_unused=True)))


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
def test_layers(L, note, settings):
    mask = L.nn.Transformer.generate_square_subsequent_mask(3, dtype=L.float64)
    L.manual_seed(3)
    layer = L.nn.TransformerEncoderLayer(4, 2, 6, **settings)
    note(graph(learn(L, note, layer, numbers(L, 3, 3, 4), src_mask=mask)))
    L.manual_seed(3)
    layer = L.nn.TransformerDecoderLayer(4, 2, 6, **settings)
    note(graph(learn(L, note, layer, numbers(L, 3, 3, 4), numbers(L, 3, 3, 4).cos(), tgt_mask=mask)))


def test_whole(L, note):
    L.manual_seed(3)
    model = L.nn.Transformer(4, 2, 2, 1, 5, 0.2, activation=L.tanh, batch_first=True, norm_first=True)
    tgt_mask = model.generate_square_subsequent_mask(3, dtype=L.float64)
    note(L.nn.Transformer.generate_square_subsequent_mask(3))
    learn(L, note, model, numbers(L, 2, 4, 4), numbers(L, 2, 3, 4), tgt_mask=tgt_mask)


def test_stacks(L, note):
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


REFUSED = """
nn.MultiheadAttention(0, 2) | nn.MultiheadAttention(4, 3) | layer(x[0, 0], x, x) | layer(x, x[0], x)
layer(x[0], x, x) | layer(x, x, x, key_padding_mask=flags[0])
layer(x[:, 0], x[:, 0], x[:, 0], key_padding_mask=flags) | layer(x, x, x, attn_mask=flags[0])
layer(x, x, x, attn_mask=flags[:2]) | layer(x, x, x, attn_mask=L.zeros(2, 3, 3))
layer(x[:, 0], x[:, 0], x[:, 0], attn_mask=L.zeros(3, 3, 3))
layer(x, x, x, attn_mask=L.zeros(3, 3, dtype=L.int64)) | layer(x, x, x, key_padding_mask=flags)
layer(x, x, x, key_padding_mask=flags[:2, :2]) | layer(x, x, x, is_causal=True) | layer(x, x[:2], x)
layer(x[..., :2], x[..., :2], x[..., :2]) | nn.MultiheadAttention(4, 2, kdim=4, vdim=4)(x, x, x[:2])
nn.TransformerEncoderLayer(4, 2, activation='tanh') | nn.Transformer(4, 2, 1, 1, 4)(x, x[:, :1])
nn.Transformer(2, 2, 1, 1, 4)(x, x)
"""


def given_to_layers(L):
    x, layer = numbers(L, 3, 2, 4).float(), L.nn.MultiheadAttention(4, 2)
    return {"x": x, "layer": layer, "flags": L.zeros(3, 3, dtype=L.bool)}


def test_masks_of_two_kinds_warn(L, note):
    names = given_to_layers(L)
    x, layer, flags = (names[name] for name in ("x", "layer", "flags"))
    masks = {"key_padding_mask": flags[:2], "attn_mask": L.zeros(3, 3)}
    _, warned = outcome_and_warnings(lambda: layer(x, x, x, **masks) and None)
    note(sorted(set(warned)))


def test_what_is_refused(torch):
    assert_same_ends(torch, REFUSED, given_to_layers)


@pytest.mark.parametrize("option", ["add_bias_kv", "add_zero_attn", "kdim", "vdim"])
def test_an_option_that_is_left_out_says_so(option):
    with pytest.raises(NotImplementedError, match=rf"no {option} .see docs/ops.md"):
        minigrad.nn.MultiheadAttention(4, 2, **{option: 5})
