"""Cells: one step of a recurrent network."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from ...core import F
from ...tensor import Tensor
from .. import init
from ..functional.recurrent import Weights, one_step
from .linear import empty
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


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
