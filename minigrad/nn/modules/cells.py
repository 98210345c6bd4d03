"""One step of a recurrent network as a module."""

from __future__ import annotations

import math
from typing import Any

from ...core import F
from .. import init
from ..functional.recurrent import Weights, one_step
from .linear import empty
from .module import Module

__all__ = ["GRUCell", "LSTMCell", "RNNCell", "RNNCellBase"]


def draw(module: Module, hidden_size: int) -> None:
    """Draw all parameters anew, within ±1/√hidden_size."""
    bound = 1.0 / math.sqrt(hidden_size) if hidden_size > 0 else 0
    for weight in module.parameters():
        init.uniform_(weight, -bound, bound)


class RNNCellBase(Module):
    """A cell with weights for `num_chunks` gates, which begin uniform within ±1/√hidden_size."""

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool, num_chunks: int, device: Any = None,
        dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__()
        self.input_size, self.hidden_size, self.bias = input_size, hidden_size, bias
        gates = num_chunks * hidden_size
        self.weight_ih = empty(gates, input_size, dtype=dtype)
        self.weight_hh = empty(gates, hidden_size, dtype=dtype)
        for name in ("bias_ih", "bias_hh"):
            self.register_parameter(name, empty(gates, dtype=dtype) if bias else None)
        self.reset_parameters()

    def reset_parameters(self) -> None:
        """Draw all parameters anew."""
        draw(self, self.hidden_size)

    def extra_repr(self) -> str:
        """The sizes."""
        shown = f"{self.input_size}, {self.hidden_size}"
        return shown if self.bias is True else f"{shown}, bias={self.bias}"

    def _step(self, mode: str, input: Any, state: tuple[Any, ...] | None) -> tuple[Any, ...]:
        """The next state for a batch (N, input_size) or for one (input_size,)."""
        if input.ndim not in (1, 2):
            raise ValueError(f"{self._get_name()}: Expected input to be 1D or 2D, got {input.ndim}D instead")
        for i, t in enumerate(state or ()):
            if t.ndim not in (1, 2):
                name = f"hx[{i}]" if mode == "LSTM" else "hidden"
                raise ValueError(f"{self._get_name()}: Expected {name} to be 1D or 2D, got {t.ndim}D instead")
        batched = input.ndim == 2
        if not batched:
            input = input.unsqueeze(0)
        if state is None:
            state = (F.zeros_of(input, (len(input), self.hidden_size)),) * (2 if mode == "LSTM" else 1)
        elif not batched:
            state = tuple(t.unsqueeze(0) for t in state)
        weights = Weights(self.weight_ih, self.weight_hh, self.bias_ih, self.bias_hh)
        result = one_step(mode, input, state, weights)
        return result if batched else tuple(t.squeeze(0) for t in result)


class RNNCell(RNNCellBase):
    """h′ = tanh(W_ih x + b_ih + W_hh h + b_hh), of shape (N, hidden_size) or (hidden_size,); relu instead of
    tanh if `nonlinearity` says so.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, nonlinearity: str = "tanh",
        device: Any = None, dtype: Any = None,
    ) -> None:  # fmt: skip
        super().__init__(input_size, hidden_size, bias, 1, device, dtype)
        self.nonlinearity = nonlinearity

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next hidden state; without `hx` the one before is zero."""
        if self.nonlinearity not in ("tanh", "relu"):
            raise RuntimeError(f"Unknown nonlinearity: {self.nonlinearity}")
        mode = f"RNN_{self.nonlinearity.upper()}"
        return self._step(mode, input, None if hx is None else (hx,))[0]

    def extra_repr(self) -> str:
        """The sizes, and the nonlinearity unless it is tanh."""
        shown = super().extra_repr()
        return shown if self.nonlinearity == "tanh" else f"{shown}, nonlinearity={self.nonlinearity}"


class LSTMCell(RNNCellBase):
    """c′ = f·c + i·g and h′ = o·tanh(c′), with the gates i, f, o sigmoids and g a tanh of what a linear layer
    makes of x and h.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 4, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> tuple[Any, ...]:
        """The next hidden state and the next cell state; without `hx`, both before, they are zero."""
        return self._step("LSTM", input, hx)


class GRUCell(RNNCellBase):
    """h′ = (1 − z)·n + z·h, with the gates r, z sigmoids and n a tanh of what a linear layer makes of x and
    r·h.
    """

    def __init__(
        self, input_size: int, hidden_size: int, bias: bool = True, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__(input_size, hidden_size, bias, 3, device, dtype)

    def forward(self, input: Any, hx: Any = None) -> Any:
        """The next hidden state; without `hx` the one before is zero."""
        return self._step("GRU", input, None if hx is None else (hx,))[0]
