"""Small tools to state facts with, for minigrad and PyTorch alike."""

from __future__ import annotations

import pytest

FREED = "backward through the graph a second time"
NO_GRAPH = "element 0 of tensors does not require grad and does not have a grad_fn"


def near(value):
    """`value` to one unit in the last place of float32."""
    return pytest.approx(value, rel=2**-23, abs=0)


def name(node):
    """A node's name without the digit that only some dialects print, or None."""
    return None if node is None else node.name().rsplit("::", 1)[-1].rstrip("0123456789")


def nodes(root):
    """The node of every edge below `root`, including it, each once."""
    found, stack = [], [root]
    while stack:
        node = stack.pop()
        if node is not None and node not in found:
            found.append(node)
            stack.extend(target for target, _ in reversed(node.next_functions))
    return found


def saved_arrays(root):
    """The tensors of one dimension or more that the nodes below `root` saved."""
    names = [(node, a) for node in nodes(root) for a in dir(node) if a.startswith("_saved_")]
    values = [getattr(node, a) for node, a in names]
    return [v for v in values if getattr(v, "ndim", 0) > 0]


def calls(node):
    """A list that gets one entry each time `node` runs."""
    runs = []
    node.register_hook(lambda grad_inputs, grad_outputs: runs.append(1))
    return runs


def code_4(lib):
    """x, y and z of Code 4, which other Codes begin with as well."""
    x = lib.tensor(5.0, requires_grad=True)
    y = x**3
    return x, y, lib.log(y)


def code_9(lib):
    """x, y, w and z of Code 9."""
    x = lib.tensor(5.0, requires_grad=True)
    y = x**3
    w = x**2
    return x, y, w, lib.log(y) + lib.sqrt(w)


class Seen:
    """A tensor hook that notes what it sees."""

    def __init__(self):
        self.gradients = []

    def __call__(self, gradient):
        self.gradients.append(gradient.tolist())
