"""Recurrent networks over sequences, of any number of layers and in one direction or both."""

from __future__ import annotations

from typing import Any

from .cells import GRUCell, LSTMCell, RNNCell, RNNCellBase
from .rnn_base import RNNBase

__all__ = ["GRU", "GRUCell", "LSTM", "LSTMCell", "RNN", "RNNBase", "RNNCell", "RNNCellBase"]


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
