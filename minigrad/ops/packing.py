"""Sequences of unequal lengths in one table, without the padding."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..core import F, differentiable


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
            "`enforce_sorted=False` to pack_padded_sequence and/or pack_sequence to sidestep this "
            "requirement if you do not need ONNX exportability."
        )


def places(shape: Any, batch_sizes: Any, batch_first: bool) -> Any:
    """Where the elements of a packed table stand in the padded one, of the given shape: an index for its
    first two dimensions. Lengths greater than that of the padded one are not refused, as in PyTorch.
    """
    batch_sizes = batch_sizes[: shape[1 if batch_first else 0]]
    steps = np.repeat(np.arange(len(batch_sizes)), batch_sizes)
    before = np.cumsum(batch_sizes) - batch_sizes
    rows = np.arange(len(steps)) - np.repeat(before, batch_sizes)
    return (rows, steps) if batch_first else (steps, rows)


def pack_vjp(grads: Any, input_sym_sizes: Any, result1: Any, batch_first: bool) -> Any:
    """Return the gradient of the padded table."""
    return F._pack_padded_sequence_backward(grads[0], input_sym_sizes, result1, batch_first)


@differentiable(
    input=pack_vjp,
    several=("result0", "result1"),
    constants=("result1",),
    node="PackPaddedSequenceBackward0",
)
def _pack_padded_sequence(input, lengths, batch_first):
    """Return the elements of sequences (T, B, *), or (B, T, *) if `batch_first`, step by step and without
    padding; and how many sequences have an element at each step.
    """
    checked_lengths(lengths, input.shape[0 if batch_first else 1])
    batch_sizes = np.add.reduce(np.arange(lengths[0])[:, None] < lengths, axis=1)
    return input[places(input.shape, batch_sizes, batch_first)], batch_sizes


@differentiable(
    grad=lambda g, batch_sizes, batch_first: F._packed_elements(g, batch_sizes, batch_first),
    node="PackPaddedSequenceBackwardBackward0",
    linear=True,
)
def _pack_padded_sequence_backward(grad, input_size, batch_sizes, batch_first):
    """Return a padded table with the elements of a packed one, 0 elsewhere."""
    out = np.zeros(input_size, grad.dtype)
    out[places(input_size, batch_sizes, batch_first)] = grad
    return out


@differentiable(
    grad=lambda g, grad_sym_sizes, batch_sizes, batch_first: F._pack_padded_sequence_backward(
        g, grad_sym_sizes, batch_sizes, batch_first
    ),
    linear=True,
)
def _packed_elements(grad, batch_sizes, batch_first):
    """Return the elements of a padded table that the packed one has."""
    return grad[places(grad.shape, batch_sizes, batch_first)]
