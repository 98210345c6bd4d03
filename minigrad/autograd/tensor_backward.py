"""The method `Tensor.backward`. It is in this package because `run` imports the class `Tensor`."""

from __future__ import annotations

from typing import Any

from ..core.public import public
from . import run


@public("method")
def backward(
    self: Any,
    gradient: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    inputs: Any = None,
) -> None:
    """Add the gradient with respect to each leaf of the tensor's graph to the leaf's `.grad`.

    Args:
        gradient: the upstream gradient; it may be left out for a tensor of one element.
        retain_graph: whether the graph can be used again; by default the same as `create_graph`.
        create_graph: whether the gradients get a graph of their own, for higher derivatives.
        inputs: the tensors whose `.grad` is computed; None for all leaves.
    Shape: `gradient` has the shape of the tensor.
    Returns: None.
    Raises: RuntimeError if the tensor needs no gradient, if `gradient` is missing or does not fit, or if
        the graph was freed.
    Source: torch.Tensor.backward

    >>> x = torch.tensor([3.0], requires_grad=True)
    >>> (x ** 2).backward()
    >>> x.grad
    tensor([6.])
    """
    run.backward(self, gradient, retain_graph, create_graph, None, inputs)


backward.__qualname__ = "Tensor.backward"
