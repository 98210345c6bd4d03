"""The base class of recurrent networks."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

from ...core import F
from ...left_out import refuse
from ...ops.joining import cat, stack
from ..functional.dropout import dropout
from ..functional.recurrent import CELLS, Weights, is_run_at_once, lstm_layer, over_packed, over_steps
from ..utils.rnn import PackedSequence
from .cells import draw
from .linear import empty
from .module import Module

__all__ = ["RNNBase"]


GATES = {"LSTM": 4, "GRU": 3, "RNN_TANH": 1, "RNN_RELU": 1}
STATES = {"LSTM": 2}  # the hidden state and the cell's; the others have the hidden state only


class RNNBase(Module):
    """Base class of RNN, LSTM and GRU; `mode` says which one it is.

    The parameters of the first layer are called `weight_ih_l0`, `weight_hh_l0`, `bias_ih_l0`, `bias_hh_l0`
    and so on; `_reverse` marks the second direction. They are drawn uniformly from ±1/√hidden_size.
    """

    mode = ""
    _shown = "input_size hidden_size"
    _usual: Mapping[str, Any] = {
        "num_layers": 1, "bias": True, "batch_first": False, "dropout": 0, "bidirectional": False
    }  # fmt: skip

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, bias: bool = True,
        batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        if proj_size is not None and self.mode != "LSTM":
            raise ValueError("proj_size argument is only supported for LSTM, not RNN or GRU")
        check_dropout(dropout, num_layers)
        sizes = {"input_size": input_size, "hidden_size": hidden_size, "num_layers": num_layers}
        for name, value in ({"bias": bias, "batch_first": batch_first} | sizes).items():
            kind = int if name in sizes else bool
            if not isinstance(value, kind):
                raise TypeError(f"{name} should be of type {kind.__name__}, got: {type(value).__name__}")
            if name in sizes and value <= 0:
                raise ValueError(f"{name} must be greater than zero")
        refuse(self.mode, proj_size=bool(proj_size))
        self.input_size, self.hidden_size, self.num_layers = input_size, hidden_size, num_layers
        self.bias, self.batch_first, self.dropout = bias, batch_first, float(dropout)
        self.bidirectional, self.proj_size = bidirectional, 0
        self._all_weights: list[list[str]] = []
        for layer in range(num_layers):
            for suffix in ("", "_reverse")[: self._directions]:
                self._add_layer(layer, suffix, dtype)
        self.reset_parameters()

    @property
    def _directions(self) -> int:
        return 2 if self.bidirectional else 1

    @property
    def all_weights(self) -> list[list[Any]]:
        """Return the parameters of each layer and direction."""
        return [[getattr(self, name) for name in names] for names in self._all_weights]

    def _add_layer(self, layer: int, suffix: str, dtype: Any) -> None:
        """Create the parameters of one layer in one direction."""
        gates = GATES[self.mode] * self.hidden_size
        inputs = self.hidden_size * self._directions if layer else self.input_size
        shapes: dict[str, Any] = {"weight_ih": (gates, inputs), "weight_hh": (gates, self.hidden_size)}
        if self.bias:
            shapes |= {"bias_ih": (gates,), "bias_hh": (gates,)}
        names = {kind: f"{kind}_l{layer}{suffix}" for kind in shapes}
        for kind, shape in shapes.items():
            setattr(self, names[kind], empty(*shape, dtype=dtype))
        self._all_weights.append(list(names.values()))

    def flatten_parameters(self) -> None:
        """Do nothing: minigrad has no faster order of parameters."""

    def reset_parameters(self) -> None:
        """Initialize all parameters again."""
        draw(self, self.hidden_size)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, Any]:
        """Return the outputs of the last layer at every step and the last hidden states of all layers.

        The first states are `hx`, or zeros; an LSTM takes and returns a pair of hidden and cell states. For
        the shapes see `RNN` and `LSTM`.
        """
        is_pair = self.mode == "LSTM"
        output, last = self._run(input, hx if is_pair or hx is None else (hx,))
        return output, last if is_pair else last[0]

    def _run(self, input: Any, state: tuple[Any, ...] | None) -> tuple[Any, tuple[Any, ...]]:
        """Return the output of the last layer at each step and the last states of all layers: see
        `forward`.
        """
        if isinstance(input, PackedSequence):
            return self._run_packed(input, state)
        if input.dim() not in (2, 3):
            raise ValueError(f"{self._get_name()}: Expected input to be 2D or 3D, got {input.ndim}D instead")
        batched, batch_dim = input.ndim == 3, 0 if self.batch_first else 1
        if state is not None:
            self._check_dimensions(state, batched)
        if not batched:
            input = input.unsqueeze(batch_dim)
            state = None if state is None else tuple(t.unsqueeze(1) for t in state)
        state = self._checked(input, state, input.shape[batch_dim], 3)
        output, last = self._recur(input, state)
        if batched:
            return output, last
        return output.squeeze(batch_dim), tuple(t.squeeze(1) for t in last)

    def _run_packed(self, input: Any, state: tuple[Any, ...] | None) -> tuple[Any, tuple[Any, ...]]:
        """Run on a PackedSequence; states keep the order of its sequences before sorting."""
        data, batch_sizes, order, back = input
        sizes = batch_sizes.tolist()
        state = self._checked(data, permuted(state, order), sizes[0], 2)
        output, last = self._recur(data, state, sizes)
        return PackedSequence(output, batch_sizes, order, back), permuted(last, back)

    def _recur(self, input: Any, state: Any, batch_sizes: list[int] | None = None) -> Any:
        """Return all layers over sequences, which are packed if there are `batch_sizes`: what the last layer
        gives, and the last states of all, stacked as the first ones are.
        """
        weights, directions = [Weights(*each) for each in self.all_weights], self._directions
        cell, count = CELLS[self.mode], len(weights)
        batch_first = self.batch_first and batch_sizes is None
        if batch_first:
            input = input.transpose(0, 1)
        at_once = self.mode == "LSTM" and batch_sizes is None and is_run_at_once(input, *state)
        if at_once:
            firsts = [tuple(kind.select(0, i) for kind in state) for i in range(count)]
        else:
            firsts = list(zip(*(kind.unbind(0) for kind in state)))
        how: Any = (self.num_layers, self.bias, self.bidirectional, batch_first, self.training)
        lasts = []
        for layer in range(0, count, directions):
            outputs = []
            for i in range(layer, layer + directions):
                run = (input, firsts[i], weights[i], i > layer)
                if at_once:
                    output, last = lstm_layer(*run, *how)
                elif batch_sizes is None:
                    output, last = over_steps(cell, *run)
                else:
                    output, last = over_packed(cell, *run, batch_sizes)
                outputs.append(output)
                lasts.append(last)
            input = outputs[0] if directions == 1 else cat(outputs, outputs[0].ndim - 1)
            if self.dropout and self.training and layer + directions < count:
                input = dropout(input, self.dropout)
        last = tuple(stack(list(kind), 0) for kind in zip(*lasts))
        if batch_first:  # in place but for an LSTM, as PyTorch's graphs show
            input = (input.transpose if self.mode == "LSTM" else input.transpose_)(0, 1)
        return input, last

    def _check_dimensions(self, state: tuple[Any, ...], batched: bool) -> None:
        """Raise PyTorch's RuntimeError unless the state has as many dimensions as the input."""
        n = 3 if batched else 2
        for name, t in zip(("hx", "cx"), state):
            if t.dim() != n:
                kind = f"{'' if batched else 'un'}batched {n}-D input"
                raise RuntimeError(f"For {kind}, {name} should also be {n}-D but got {t.ndim}-D tensor")

    def _checked(self, input: Any, state: Any, batch: int, ndim: int) -> tuple[Any, ...]:
        """Return the first state, zeros if not given; raise PyTorch's errors for sizes and dtypes that do not
        fit.
        """
        kind = getattr(self, self._all_weights[0][0]).dtype
        if input.dtype != kind:
            raise ValueError(
                f"RNN input dtype ({input.dtype}) does not match weight dtype ({kind}). Convert input: "
                f"input.to({kind}), or convert model: model.to({input.dtype})"
            )
        if input.shape[-1] != self.input_size:
            raise RuntimeError(
                f"input.size(-1) must be equal to input_size. Expected {self.input_size}, got "
                f"{input.shape[-1]}"
            )
        size, count = (self.num_layers * self._directions, batch, self.hidden_size), STATES.get(self.mode, 1)
        if state is None:
            return tuple(F.zeros_of(input, size) for _ in range(count))
        for i, t in enumerate(state):
            if t.shape != size:
                name = f"hidden[{i}]" if count > 1 else "hidden"
                raise RuntimeError(f"Expected {name} size {size}, got {list(t.shape)}")
        return tuple(state)


def permuted(state: tuple[Any, ...] | None, order: Any) -> Any:
    """Reorder the states of the sequences, if an order is given."""
    if state is None or order is None:
        return state
    return tuple(t.index_select(1, order) for t in state)


def check_dropout(dropout: Any, num_layers: int) -> None:
    """Raise ValueError unless `dropout` is a probability; warn if it has no effect."""
    if not isinstance(dropout, int | float) or not 0 <= dropout <= 1 or isinstance(dropout, bool):
        raise ValueError(
            "dropout should be a number in range [0, 1] representing the probability of an element being "
            "zeroed"
        )
    if dropout > 0 and num_layers == 1:
        warnings.warn(
            "dropout option adds dropout after all but last recurrent layer, so non-zero dropout expects "
            f"num_layers greater than 1, but got dropout={dropout} and num_layers={num_layers}",
            stacklevel=3,
        )
