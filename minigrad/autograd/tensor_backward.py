"""The method `Tensor.backward`, which stands above the class `Tensor` because the engine's callers do."""

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
    """Run backward from this tensor and add the gradients of the leaves to their `.grad`.

    `gradient` (of this tensor's shape) may be left out for one element, where it is 1. See
    `autograd.backward`.
    """
    run.backward(self, gradient, retain_graph, create_graph, None, inputs)


backward.__qualname__ = "Tensor.backward"
