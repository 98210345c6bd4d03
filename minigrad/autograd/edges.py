"""Edges of the graph to which the gradients of tensors flow."""

from __future__ import annotations

from typing import Any, NamedTuple

from ..core import node as graph
from ..core.tensor_state import edge


class GradientEdge(NamedTuple):
    """Edge of the graph to which the gradient of one tensor flows.

    `backward` and `grad` accept it instead of the tensor. It does not keep the tensor alive.

    Args:
        node: node that receives the gradient.
        output_nr: index of the tensor among the outputs of the node's op.
        ownership_token: always None; a node keeps its graph alive itself.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> edge = torch.autograd.graph.get_gradient_edge(x)
        >>> torch.autograd.grad(x * x, torch.autograd.graph.GradientEdge(edge.node, edge.output_nr))
        (tensor(6.),)

    Source: PyTorch's page `torch.autograd.graph.GradientEdge`.
    """

    node: graph.Node
    output_nr: int
    ownership_token: graph.Node | None = None


def get_gradient_edge(tensor: Any) -> GradientEdge:
    """Return the edge of the graph to which the gradient of a tensor flows.

    Args:
        tensor: tensor that requires a gradient.

    Returns:
        A GradientEdge.

    Raises:
        RuntimeError: the tensor requires no gradient.

    Example:
        >>> x = torch.tensor(3.0, requires_grad=True)
        >>> torch.autograd.grad(x * x, torch.autograd.graph.get_gradient_edge(x))
        (tensor(6.),)

    Source: PyTorch's page `torch.autograd.graph.get_gradient_edge`.
    """
    if not tensor.requires_grad:
        raise RuntimeError(
            "It is not possible to get the gradient edge for a Tensor that does not require gradients"
        )
    return GradientEdge(node_of(tensor), tensor.output_nr)


def node_of(tensor: Any) -> graph.Node:
    """The node where the gradient of a tensor (or of a GradientEdge) arrives."""
    if isinstance(tensor, GradientEdge):
        return tensor.node
    node = edge(tensor) if tensor.requires_grad else None
    if node is None:
        raise AssertionError("Expected gradient function to be set")
    return node
