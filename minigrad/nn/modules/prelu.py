"""PReLU: an activation with learned slopes."""

from __future__ import annotations

from typing import Any

from ...creation import full
from .. import functional
from ..init import constant_
from ..parameter import Parameter, kept
from .attention import MultiheadAttention as MultiheadAttention
from .module import Module

__all__ = ["PReLU"]


class PReLU(Module):
    """Layer that returns x where x > 0 and a · x elsewhere, with a learned slope a.

    The derivative with respect to x is 1 where x > 0 and a elsewhere; with respect to a it is min(0, x).

    Args:
        num_parameters: number of slopes: 1, or one for each channel (dimension 1).
        init: first value of the slopes.
        device: must be the CPU.
        dtype: dtype of the slopes; the default dtype if None.

    Shape:
        (*) → (*), or (N, C, *) → (N, C, *) with C slopes.

    Raises:
        RuntimeError: the number of slopes is neither 1 nor the number of channels.

    Example:
        >>> nn.PReLU(init=0.25)(torch.tensor([-4.0, 4.0])).tolist()
        [-1.0, 4.0]

    Source: PyTorch's page `torch.nn.PReLU`; He et al., 2015, arXiv:1502.01852.
    """

    def __init__(
        self, num_parameters: int = 1, init: float = 0.25, device: Any = None, dtype: Any = None
    ) -> None:
        super().__init__()
        self.num_parameters, self.init = num_parameters, init
        self.weight = Parameter(kept(full, (num_parameters,), init, dtype=dtype))

    def reset_parameters(self) -> None:
        """Initialize the parameters again."""
        constant_(self.weight, self.init)

    def forward(self, input: Any) -> Any:
        """Apply the activation."""
        return functional.prelu(input, self.weight)

    def extra_repr(self) -> str:
        """Return the settings that the repr shows."""
        return f"num_parameters={self.num_parameters}"
