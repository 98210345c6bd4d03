"""Derivatives of functions of tensors: PyTorch's `torch.autograd.functional`.

Each of them runs the user's function on inputs of its own, so the caller's tensors and their `.grad` do not
change, and detaches the results unless `create_graph` asks for a graph.
"""

from __future__ import annotations

from .jacobians import hessian, jacobian
from .products import hvp, jvp, vhp, vjp

__all__ = ["hessian", "hvp", "jacobian", "jvp", "vhp", "vjp"]
