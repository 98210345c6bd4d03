"""Recurrent networks, step by step as PyTorch composes them.

The state of a network is a tuple: (h,), or (h, c) for an LSTM. A cell makes a new state from the input, the
state before and the layer's weights. Over many steps the input's share of the gates is computed for all of
them at once and replaces the input: it is `ready`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from ...core import F
from ...core.modes import is_forward
from ...ops.joining import cat, stack, unsafe_chunk
from ...ops.products import linear
from ...ops.recurrent import mkldnn_rnn_layer

State = tuple[Any, ...]


class Weights(NamedTuple):
    """Weights of one layer in one direction. Without `ih`, inputs are their part of the gates already."""

    ih: Any
    hh: Any
    bias_ih: Any = None
    bias_hh: Any = None

    def of_input(self, x: Any) -> Any:
        """Return the part of the gates that comes from the input."""
        return x if self.ih is None else linear(x, self.ih, self.bias_ih)

    def of_hidden(self, h: Any) -> Any:
        """Return the part of the gates that comes from the hidden state."""
        return linear(h, self.hh, self.bias_hh)


Cell = Callable[..., State]


def rnn_tanh_cell(x: Any, state: State, w: Weights) -> State:
    """Return the tanh of the sum of both parts."""
    return ((w.of_hidden(state[0]) + w.of_input(x)).tanh(),)


def rnn_relu_cell(x: Any, state: State, w: Weights) -> State:
    """Return the ReLU of the sum of both parts."""
    return ((w.of_hidden(state[0]) + w.of_input(x)).relu(),)


def lstm_cell(x: Any, state: State, w: Weights) -> State:
    """Return the next state from the input, forget, cell and output gates."""
    h, c = state
    gates = unsafe_chunk(w.of_hidden(h) + w.of_input(x), 4, 1)
    taken, kept, new, given = gates[0].sigmoid(), gates[1].sigmoid(), gates[2].tanh(), gates[3].sigmoid()
    c = kept * c + taken * new
    return given * c.tanh(), c


def gru_cell(x: Any, state: State, w: Weights) -> State:
    """Return the next state from the reset, update and new gates."""
    (h,) = state
    from_input = unsafe_chunk(w.of_input(x), 3, 1)
    from_hidden = unsafe_chunk(w.of_hidden(h), 3, 1)
    reset = (from_hidden[0] + from_input[0]).sigmoid()
    kept = (from_hidden[1] + from_input[1]).sigmoid()
    new = (from_input[2] + from_hidden[2] * reset).tanh()
    return ((h - new) * kept + new,)


CELLS: dict[str, Cell] = {
    "RNN_TANH": rnn_tanh_cell, "RNN_RELU": rnn_relu_cell, "LSTM": lstm_cell, "GRU": gru_cell
}  # fmt: skip


def one_step(mode: str, input: Any, state: State, w: Weights) -> State:
    """Return the next state of a batch; raise PyTorch's RuntimeError for sizes that do not fit."""
    size, hidden = w.ih.shape[1], w.hh.shape[1]
    if input.shape[1] != size:
        raise RuntimeError(f"input has inconsistent input_size: got {input.shape[1]} expected {size}")
    for i, t in enumerate(state):
        if len(input) != len(t):
            raise RuntimeError(f"Input batch size {len(input)} doesn't match hidden{i} batch size {len(t)}")
        if t.shape[1] != hidden:
            raise RuntimeError(f"hidden{i} has inconsistent hidden_size: got {t.shape[1]}, expected {hidden}")
    return CELLS[mode](input, state, w)


def slice_states(state: State, start: int, end: int) -> State:
    """Return the state of the sequences from `start` to `end`."""
    return tuple(t.narrow(0, start, end - start) for t in state)


def cat_states(states: list[State]) -> State:
    """Join the states of several groups of sequences."""
    return tuple(cat(list(kind), 0) for kind in zip(*states))


def over_steps(cell: Cell, input: Any, state: State, w: Weights, reverse: bool) -> tuple[Any, State]:
    """Run one layer over sequences (T, B, size); return its output at each step and its last state."""
    steps, w = w.of_input(input).unbind(0), w._replace(ih=None)
    outputs = []
    for x in reversed(steps) if reverse else steps:
        state = cell(x, state, w)
        outputs.append(state[0])
    if not outputs:
        raise RuntimeError("Expected sequence length to be larger than 0 in RNN")
    return stack(outputs[::-1] if reverse else outputs, 0), state


def run_over_packed(
    cell: Cell, data: Any, state: State, w: Weights, reverse: bool, sizes: list[int]
) -> tuple[Any, State]:
    """Run one layer over packed sequences; `sizes[t]` of them have an element at step t."""
    walk = backwards if reverse else forwards
    outputs, state = walk(cell, w.of_input(data), sizes, state, w._replace(ih=None))
    return cat(outputs, 0), state


def forwards(cell: Cell, x: Any, sizes: list[int], state: State, w: Weights) -> tuple[list[Any], State]:
    """Run from the first step to the last; sequences that end leave their state behind."""
    outputs, ended, at, before = [], [], 0, sizes[0]
    for size in sizes:
        step = x.narrow(0, at, size)
        if size < before:
            ended.append(slice_states(state, size, before))
            state = slice_states(state, 0, size)
        state = cell(step, state, w)
        outputs.append(state[0])
        at, before = at + size, size
    return outputs, cat_states([state, *reversed(ended)])


def backwards(cell: Cell, x: Any, sizes: list[int], first: State, w: Weights) -> tuple[list[Any], State]:
    """Run from the last step to the first; shorter sequences join with their first state."""
    outputs, at, before = [], sum(sizes), sizes[-1]
    state = slice_states(first, 0, before)
    for size in reversed(sizes):
        if size > before:
            state = cat_states([state, slice_states(first, before, size)])
        at -= size
        state = cell(x.narrow(0, at, size), state, w)
        outputs.append(state[0])
        before = size
    return outputs[::-1], state


def is_run_at_once(input: Any, *state: Any) -> bool:
    """Return whether a layer of an LSTM is one op: in float32, as in PyTorch, and not in forward mode."""
    is_single = all(t._data.dtype == np.float32 for t in (input, *state))
    return is_single and bool(input.numel()) and not is_forward()


def lstm_layer(
    input: Any, state: State, w: Weights, reverse: bool, num_layers: int, has_biases: bool,
    bidirectional: bool, batch_first: bool, training: bool,
) -> tuple[Any, State]:  # fmt: skip
    """Return the states of all steps of an LSTM layer and the last ones, from one op."""
    if not has_biases:
        w = Weights(w.ih, w.hh, F.zeros_like(w.ih), F.zeros_like(w.hh))  # as PyTorch's node saves them
    settings = (w.hh.shape[1], num_layers, has_biases, bidirectional, batch_first, training)
    output, h, c, _ = mkldnn_rnn_layer(input.contiguous(), *w, *state, reverse, (), 2, *settings)
    return output, (h, c)
