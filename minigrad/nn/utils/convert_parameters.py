"""Converting parameters to one vector and back."""

from __future__ import annotations

from collections.abc import Iterable

from ...ops.joining import cat
from ...tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """Return all elements of the parameters as one vector."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Assign the elements of a vector to the parameters, which then share its memory."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[at : at + count].view_as(parameter).data
        at += count
