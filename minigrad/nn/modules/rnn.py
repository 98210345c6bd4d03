"""Recurrent layers and their cells."""

from __future__ import annotations

import math
import warnings
from collections.abc import Mapping
from typing import Any

from ...core import F
from ...core.devices import check_device
from ...left_out import refuse
from ...ops.joining import cat, stack
from ...tensor import Tensor
from .. import init
from ..functional.activations import dropout
from ..functional.recurrent import CELLS, Weights, is_run_at_once, lstm_layer, one_step, over_steps
from ..functional.recurrent import run_over_packed as over_packed
from ..utils.rnn import PackedSequence
from .linear import empty
from .module import Module

__all__ = ["RNNBase", "GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNCell", "RNNCellBase"]


# ─── The base class of recurrent networks


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
        check_device(device)
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
        state = self._checked(data, permute_states(state, order), sizes[0], 2)
        output, last = self._recur(data, state, sizes)
        return PackedSequence(output, batch_sizes, order, back), permute_states(last, back)

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


def permute_states(state: tuple[Any, ...] | None, order: Any) -> Any:
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


# ─── Recurrent networks over sequences, of any number of layers and in one direction or both


class RNN(RNNBase):
    """Network of Elman's recurrent layers: h′ = tanh(W_ih x + b_ih + W_hh h + b_hh) at each step.

    A call returns the outputs of the last layer at every step and the last hidden state of every layer. The
    derivative runs backward through the steps; one step multiplies by 1 − h′² and by W_hhᵀ. See `RNNBase` for
    the names of the parameters.

    Args:
        input_size: number of features of x.
        hidden_size: number of features of h.
        num_layers: number of layers; each one reads the outputs of the one before.
        nonlinearity: "tanh" or "relu".
        bias: False leaves out b_ih and b_hh.
        batch_first: True puts the batch dimension first in input and output.
        dropout: probability of dropout after each layer but the last.
        bidirectional: True adds a second direction, which reads the sequence from its end.
        proj_size: must be None.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        input (T, N, input_size) or (T, input_size), hx (D · num_layers, N, hidden_size) → output (T, N, D ·
        hidden_size), h_n (D · num_layers, N, hidden_size), where D is 2 if bidirectional and 1 otherwise. A
        PackedSequence gives a PackedSequence.

    Raises:
        ValueError: a size is not positive, or the nonlinearity is unknown.
        RuntimeError: the input or hx has another size.

    Example:
        >>> output, h_n = nn.RNN(2, 3)(torch.ones(5, 1, 2))
        >>> output.shape, h_n.shape
        (torch.Size([5, 1, 3]), torch.Size([1, 1, 3]))

    Source: PyTorch's page `torch.nn.RNN`; Elman, "Finding Structure in Time", 1990.
    """

    def __init__(
        self, input_size: int, hidden_size: int, num_layers: int = 1, nonlinearity: str = "tanh",
        bias: bool = True, batch_first: bool = False, dropout: float = 0.0, bidirectional: bool = False,
        proj_size: int | None = None, device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        if nonlinearity not in ("tanh", "relu"):
            raise ValueError(f"Unknown nonlinearity '{nonlinearity}'. Select from 'tanh' or 'relu'.")
        self.mode = f"RNN_{nonlinearity.upper()}"
        super().__init__(
            input_size, hidden_size, num_layers, bias, batch_first, dropout, bidirectional, proj_size, device,
            dtype,
        )  # fmt: skip
        self.nonlinearity = nonlinearity


class GRU(RNNBase):
    """Network of gated recurrent units.

    Each step computes h′ = (1 − z) · n + z · h; see `GRUCell` for the gates. A call returns the outputs of
    the last layer at every step and the last hidden state of every layer.

    Args:
        input_size: number of features of x.
        hidden_size: number of features of h.
        num_layers: number of layers; each one reads the outputs of the one before.
        bias: False leaves out b_ih and b_hh.
        batch_first: True puts the batch dimension first in input and output.
        dropout: probability of dropout after each layer but the last.
        bidirectional: True adds a second direction, which reads the sequence from its end.
        proj_size: must be None.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        As for `RNN`: output (T, N, D · hidden_size) and h_n (D · num_layers, N, hidden_size).

    Raises:
        ValueError: a size is not positive, or proj_size is given.
        RuntimeError: the input or hx has another size.

    Example:
        >>> output, h_n = nn.GRU(2, 3)(torch.ones(5, 1, 2))
        >>> output.shape, h_n.shape
        (torch.Size([5, 1, 3]), torch.Size([1, 1, 3]))

    Source: PyTorch's page `torch.nn.GRU`; Cho et al., 2014, arXiv:1406.1078.
    """

    mode = "GRU"


class LSTM(RNNBase):
    """Network of long short-term memory layers.

    Each step computes c′ = f · c + i · g and h′ = o · tanh(c′); see `LSTMCell` for the gates. A call returns
    the outputs of the last layer at every step and the pair of the last hidden states and the last cell
    states. In float32 the graph has one node for each layer and direction, MkldnnRnnLayerBackward0, as in
    PyTorch; otherwise it has a node for each op of each step.

    Args:
        input_size: number of features of x.
        hidden_size: number of features of h and of c.
        num_layers: number of layers; each one reads the outputs of the one before.
        bias: False leaves out b_ih and b_hh.
        batch_first: True puts the batch dimension first in input and output.
        dropout: probability of dropout after each layer but the last.
        bidirectional: True adds a second direction, which reads the sequence from its end.
        proj_size: must be None or 0.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        As for `RNN`: output (T, N, D · hidden_size), h_n and c_n (D · num_layers, N, hidden_size).

    Raises:
        ValueError: a size is not positive.
        NotImplementedError: proj_size is neither None nor 0.
        RuntimeError: the input or hx has another size.

    Example:
        >>> output, (h_n, c_n) = nn.LSTM(2, 3)(torch.ones(5, 1, 2))
        >>> output.shape, c_n.shape
        (torch.Size([5, 1, 3]), torch.Size([1, 1, 3]))

    Source: PyTorch's page `torch.nn.LSTM`; Hochreiter and Schmidhuber, 1997.
    """

    mode = "LSTM"


# ─── Cells: one step of a recurrent network


def draw(module: Module, hidden_size: int) -> None:
    """Draw all parameters uniformly from ±1/√hidden_size."""
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNCellBase(Module):
    """Base class of cells with weights for so many `gates`, drawn uniformly from ±1/√hidden_size."""

    mode, gates = "", 0
    _shown = "input_size hidden_size"
    _usual: Mapping[str, Any] = {"bias": True}

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        check_device(device)
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        rows = self.gates * hidden_size
        self.weight_ih = empty(rows, input_size, dtype=dtype)
        self.weight_hh = empty(rows, hidden_size, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty(rows, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Initialize all parameters again."""
        draw(self, self.hidden_size)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """Return the next hidden state, of an LSTM also the next cell state; without `hx` the previous ones
        are zero.
        """
        is_pair, name = self.mode == "LSTM", self._get_name()
        if is_pair and isinstance(hx, Tensor):
            raise TypeError("lstm_cell(): argument 'hx' (position 2) must be tuple of Tensors, not Tensor")
        state = hx if is_pair or hx is None else (hx,)
        if input.dim() not in (1, 2):
            raise ValueError(f"{name}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        for i, t in enumerate(state or ()):
            if t.ndim not in (1, 2):
                what = f"hx[{i}]" if is_pair else "hidden"
                raise ValueError(f"{name}: Expected {what} to be 1D or 2D, got {t.ndim}D instead")
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
        if state is None:
            state = (F.zeros_of(input, (len(input), self.hidden_size)),) * (1 + is_pair)
        elif not batched:
            state = tuple(t.unsqueeze(0) for t in state)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        result = one_step(self.mode, input, state, weights)
        result = result if batched else tuple(t.squeeze(0) for t in result)
        return result if is_pair else result[0]


class RNNCell(RNNCellBase):
    """One step of Elman's recurrent layer: h′ = tanh(W_ih x + b_ih + W_hh h + b_hh).

    The derivative of h′ with respect to the sum inside tanh is 1 − h′².

    Args:
        input_size: number of features of x.
        hidden_size: number of features of h.
        bias: False leaves out b_ih and b_hh.
        nonlinearity: "tanh" or "relu".
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        input (N, input_size) or (input_size,), hx (N, hidden_size) or (hidden_size,) → the shape of hx.

    Raises:
        ValueError: the input or hx has more than two dimensions.
        RuntimeError: the nonlinearity is unknown.

    Example:
        >>> nn.RNNCell(2, 3)(torch.ones(1, 2)).shape
        torch.Size([1, 3])

    Source: PyTorch's page `torch.nn.RNNCell`; Elman, "Finding Structure in Time", 1990.
    """

    gates = 1

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, device, dtype)
        self.nonlinearity = nonlinearity

    @property
    def mode(self) -> str:  # type: ignore[override]
        """Return which cell this is; raise RuntimeError if there is no such nonlinearity."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        return f"RNN_{self.nonlinearity.upper()}"

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        shown = super().extra_repr()
        return shown if self.nonlinearity == "tanh" else f"{shown}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """One step of long short-term memory: c′ = f · c + i · g and h′ = o · tanh(c′).

    i, f and o are sigmoids and g is a tanh of W_ih x + b_ih + W_hh h + b_hh, one quarter of its elements
    each. The derivative of c′ with respect to c is f.

    Args:
        input_size: number of features of x.
        hidden_size: number of features of h and c.
        bias: False leaves out b_ih and b_hh.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        input (N, input_size) or (input_size,), hx a pair (h, c) of (N, hidden_size) → a pair of that shape.

    Raises:
        ValueError: the input, h or c has more than two dimensions.

    Example:
        >>> h, c = nn.LSTMCell(2, 3)(torch.ones(1, 2))
        >>> h.shape, c.shape
        (torch.Size([1, 3]), torch.Size([1, 3]))

    Source: PyTorch's page `torch.nn.LSTMCell`; Hochreiter and Schmidhuber, 1997.
    """

    mode, gates = "LSTM", 4


class GRUCell(RNNCellBase):
    """One step of a gated recurrent unit: h′ = (1 − z) · n + z · h.

    r = sigmoid(W_ir x + b_ir + W_hr h + b_hr), z likewise, and n = tanh(W_in x + b_in + r · (W_hn h + b_hn)).
    The derivative of h′ with respect to n is 1 − z.

    Args:
        input_size: number of features of x.
        hidden_size: number of features of h.
        bias: False leaves out the biases.
        device: must be the CPU.
        dtype: dtype of the parameters; the default dtype if None.

    Shape:
        input (N, input_size) or (input_size,), hx (N, hidden_size) or (hidden_size,) → the shape of hx.

    Raises:
        ValueError: the input or hx has more than two dimensions.

    Example:
        >>> nn.GRUCell(2, 3)(torch.ones(1, 2)).shape
        torch.Size([1, 3])

    Source: PyTorch's page `torch.nn.GRUCell`; Cho et al., 2014, arXiv:1406.1078.
    """

    mode, gates = "GRU", 3
