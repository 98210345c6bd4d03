"""Computational graph: two backwards need a fresh graph, or one that is retained."""

import minigrad as torch

x = torch.tensor(2.0, requires_grad=True)
y = x**3
y.backward()
print("first", x.grad)
# > first tensor(12.)

x.grad = None
y = x**3
y.backward(retain_graph=True)
y.backward()
print("twice", x.grad)
# > twice tensor(24.)
