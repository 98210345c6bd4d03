"""What PyTorch has in `torch` of recurrent networks and of sequences, with the arguments taken there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from .functional import ctc_loss as functional_ctc_loss
from .functional.recurrent import Weights, one_step, recurrent
from .native import word


def a_cell(mode: str) -> Callable[..., Any]:
    """One step of a network whose state is one tensor."""

    def cell(input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None) -> Any:
        """The next hidden state (N, H) of inputs (N, size) and the state before, with weights of the gates
        (G·H, size) and (G·H, H).
        """
        return one_step(mode, input, (hx,), Weights(w_ih, w_hh, b_ih, b_hh))[0]

    cell.__name__ = cell.__qualname__ = f"{mode.lower()}_cell"
    return cell


rnn_tanh_cell, rnn_relu_cell, gru_cell = a_cell("RNN_TANH"), a_cell("RNN_RELU"), a_cell("GRU")


def lstm_cell(
    input: Any, hx: Any, w_ih: Any, w_hh: Any, b_ih: Any = None, b_hh: Any = None
) -> tuple[Any, ...]:
    """The next hidden state and the next cell state (N, H) of inputs (N, size) and both before, with weights
    of the gates (4H, size) and (4H, H).
    """
    return one_step("LSTM", input, tuple(hx), Weights(w_ih, w_hh, b_ih, b_hh))


def a_network(mode: str) -> Callable[..., tuple[Any, ...]]:
    """A network of any number of layers."""

    def network(
        input: Any, hx: Any, params: Any, has_biases: Any, num_layers: Any, dropout: Any, train: Any,
        bidirectional: Any, batch_first: Any,
    ) -> tuple[Any, ...]:  # fmt: skip
        """What the last layer gives at each step and the last states of all layers, for sequences
        (T, B, size) or (B, T, size), the first states `hx`, and the weights of each layer and direction.

        Or for packed sequences, with the arguments data, batch_sizes, hx, params, has_biases, num_layers,
        dropout, train, bidirectional.
        """
        sizes = None
        if isinstance(has_biases, (list, tuple)):
            sizes = hx.tolist()
            hx, params, has_biases, num_layers, dropout, train, bidirectional = (
                params, has_biases, num_layers, dropout, train, bidirectional, batch_first,
            )  # fmt: skip
            batch_first = False
        directions = 2 if bidirectional else 1
        each = weights_of(params, has_biases, num_layers * directions)
        state = tuple(hx) if isinstance(hx, (list, tuple)) else (hx,)
        share = dropout if train else 0.0
        output, last = recurrent(mode, input, state, each, directions, share, sizes, batch_first)
        return (output, *last)

    network.__name__ = network.__qualname__ = mode.lower()
    return network


def weights_of(params: Any, has_biases: bool, count: int) -> list[Weights]:
    """The weights of each layer and direction, one after another in `params`."""
    size = len(params) // count
    kinds = ["ih", "hh", *(["bias_ih", "bias_hh"] if has_biases else [])]
    kinds += ["hr"] if size > len(kinds) else []
    return [Weights(**dict(zip(kinds, params[i : i + size]))) for i in range(0, len(params), size)]


rnn_tanh, rnn_relu, gru, lstm = (a_network(mode) for mode in ("RNN_TANH", "RNN_RELU", "GRU", "LSTM"))


def ctc_loss(
    log_probs: Any, targets: Any, input_lengths: Any, target_lengths: Any, blank: int = 0,
    reduction: int = 1, zero_infinity: bool = False,
) -> Any:  # fmt: skip
    """`nn.functional.ctc_loss` with the number of a reduction: 0 for none, 1 for the mean, 2 for the sum."""
    lengths = input_lengths, target_lengths
    return functional_ctc_loss(log_probs, targets, *lengths, blank, word(reduction), zero_infinity)
