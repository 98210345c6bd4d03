"""A layer of an LSTM as one op, which is how PyTorch runs it in float32 on a CPU.

With z = W x + U h + b in four parts, each of the size of h, a step computes

    i = σ(z₁),  f = σ(z₂),  g = tanh(z₃),  o = σ(z₄)
    c ← f · c + i · g
    h ← o · tanh(c)

The code below runs on arrays and on tensors. Arrays take the gates that the forward pass kept. For second
derivatives the gates must depend on the inputs, so tensors compute them again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import RAW, F, calls, differentiable, jointly
from .kernels import linear_op, only_first


def order(count: int, reverse: bool) -> range:
    """Return the steps in the order in which they run."""
    return range(count - 1, -1, -1) if reverse else range(count)


def run_layer(
    input: Any, weight0: Any, weight1: Any, weight2: Any, weight3: Any, hx_: Any, cx_: Any, reverse: bool,
    has_biases: bool,
) -> tuple[Any, Any, Any, Any]:  # fmt: skip
    """Return h of all steps, the last h and c, and (i, f, -, o, g, c before) of all steps."""
    h, c, n, count = hx_, cx_, hx_.shape[1], len(input)
    x, u = input @ weight0.mT, weight1.mT
    if has_biases:
        x = x + (weight2 + weight3)
    states, gates, news, before = [h] * count, [h] * count, [h] * count, [c] * count
    for t in order(count, reverse):
        z, before[t] = x[t] + h @ u, c
        gates[t], news[t] = s, g = F.sigmoid(z), F.tanh(z[:, 2 * n : 3 * n])
        c = s[:, n : 2 * n] * c + s[:, :n] * g
        states[t] = h = s[:, 3 * n :] * F.tanh(c)
    return F.stack(states), h, c, F.cat([F.stack(gates), F.stack(news), F.stack(before)], 2)


def layer_vjp(
    grads, wanted, batch_first, batch_sizes, bidirectional, cx_, has_biases, hidden_size, hx_, input, mode,
    num_layers, result0, result1, result2, result3, reverse, train, weight0, weight1, weight2, weight3,
):  # fmt: skip
    """Return the gradients of input, W, U, both biases, h and c before the first step."""
    of_states, of_h, of_c = grads  # the workspace is no differentiable result
    states, gates, n = result0, result3, hidden_size
    if not isinstance(hx_, RAW):
        states, _, _, gates = run_layer(
            input, weight0, weight1, weight2, weight3, hx_, cx_, reverse, has_biases
        )
    i, f, _, o, g, before = (gates[:, :, k * n : (k + 1) * n] for k in range(6))
    bounded = F.tanh(f * before + i * g)
    c_by_z = g * i * (1 - i), before * f * (1 - f), i * (1 - g * g)
    h_by_z, h_by_c = bounded * o * (1 - o), o * (1 - bounded * bounded)
    of_h = F.zeros_like(hx_) if of_h is None else of_h
    of_c = F.zeros_like(cx_) if of_c is None else of_c
    of_z = [of_h] * len(input)
    for t in order(len(input), not reverse):
        of_h = of_h if of_states is None else of_h + of_states[t]
        of_c = of_c + of_h * h_by_c[t]
        of_z[t] = F.cat([*(of_c * by_z[t] for by_z in c_by_z), of_h * h_by_z[t]], 1)
        of_h, of_c = of_z[t] @ weight1, of_c * f[t]
    z = F.cat(of_z, 0)
    first = hx_.reshape(1, *hx_.shape)
    earlier = F.cat([states[1:], first] if reverse else [first, states[:-1]], 0)
    bias = z.sum(0) if has_biases else None
    return (
        (z @ weight0).reshape(input.shape), z.mT @ input.reshape(len(z), -1),
        z.mT @ earlier.reshape(len(z), n), bias, bias, of_h, of_c,
    )  # fmt: skip


@differentiable(
    **jointly(layer_vjp, "input", "weight0", "weight1", "weight2", "weight3", "hx_", "cx_"),
    several=("result0", "result1", "result2", "result3"),
    constants=("result3",),
)
def mkldnn_rnn_layer(
    input, weight0, weight1, weight2, weight3, hx_, cx_, reverse, batch_sizes, mode, hidden_size, num_layers,
    has_biases, bidirectional, batch_first, train,
):  # fmt: skip
    """Return h of all steps of an LSTM layer, the last h and c, and what the gradients need of each step.

    `input` is (steps, batch, features). `weight0` to `weight3` are W, U and the two parts of b. `hx_` and
    `cx_` are h and c before the first step; `reverse` starts at the last step. The other arguments describe
    the network for which PyTorch makes the layer; mode 2 is an LSTM.
    """
    return run_layer(input, weight0, weight1, weight2, weight3, hx_, cx_, reverse, has_biases)


def checked_lengths(lengths: Any, count: int) -> None:
    """RuntimeError with PyTorch's text unless there is a length for each of `count` sequences, none is 0 and
    the longest come first.
    """
    if len(lengths) != count:
        raise RuntimeError(
            f"Expected `len(lengths)` to be equal to batch_size, but got {len(lengths)} (batch_size={count})"
        )
    if np.any(lengths <= 0):
        raise RuntimeError(
            "Length of all samples has to be greater than 0, but found an element in 'lengths' that is <= 0"
        )
    if np.any(lengths[1:] > lengths[:-1]):
        raise RuntimeError(
            "`lengths` array must be sorted in decreasing order when `enforce_sorted` is True. You can pass "
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence."
        )


def packed_positions(shape: Any, batch_sizes: Any, batch_first: bool) -> Any:
    """Where the elements of a packed table are in the padded one, of the given shape: an index for its
    first two dimensions. Lengths greater than that of the padded one are not refused, as in PyTorch.
    """
    batch_sizes = batch_sizes[: shape[1 if batch_first else 0]]
    steps = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
    before = np.cumsum(batch_sizes) - batch_sizes
    rows = np.arange(len(steps)) - np.repeat(before, batch_sizes)
    return (rows, steps) if batch_first else (steps, rows)


@differentiable(
    input=calls("_pack_padded_sequence_backward", "input_sym_sizes", "result1", "batch_first"),
    **only_first("result0", "result1"),
)
def _pack_padded_sequence(input, lengths, batch_first):
    """Return the elements of sequences (T, B, *), or (B, T, *) if `batch_first`, step by step and without
    padding; and how many sequences have an element at each step.
    """
    checked_lengths(lengths, input.shape[0 if batch_first else 1])
    batch_sizes = np.add.reduce(np.arange(lengths[0])[:, None] < lengths, axis=1)
    return input[packed_positions(input.shape, batch_sizes, batch_first)], batch_sizes


@linear_op(grad=calls("_packed_elements", "batch_sizes", "batch_first"))
def _pack_padded_sequence_backward(grad, input_size, batch_sizes, batch_first):
    """Return a padded table with the elements of a packed one, 0 elsewhere."""
    out = np.zeros(input_size, grad.dtype)
    out[packed_positions(input_size, batch_sizes, batch_first)] = grad
    return out


@linear_op(grad=calls("_pack_padded_sequence_backward", "grad_sym_sizes", "batch_sizes", "batch_first"))
def _packed_elements(grad, batch_sizes, batch_first):
    """Return the elements of a padded table that the packed one has."""
    return grad[packed_positions(grad.shape, batch_sizes, batch_first)]
