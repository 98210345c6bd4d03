"""Parameters as one vector."""

from __future__ import annotations

from collections.abc import Iterable

from ...ops.joining import cat
from ...tensor import Tensor


def parameters_to_vector(parameters: Iterable[Tensor]) -> Tensor:
    """All numbers of the parameters, one after the other."""
    return cat([parameter.view(-1) for parameter in parameters])


def vector_to_parameters(vec: Tensor, parameters: Iterable[Tensor]) -> None:
    """Give the parameters the numbers of a vector, whose memory they then share."""
    if not isinstance(vec, Tensor):
        raise TypeError(f"expected torch.Tensor, but got: {type(vec).__name__}")
    at = 0
    for parameter in parameters:
        count = parameter.numel()
        parameter.data = vec[at : at + count].view_as(parameter).data
        at += count
