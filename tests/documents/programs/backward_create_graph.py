"""Backward: create_graph=True records the gradient's own graph, False (the default) does not."""

import minigrad as torch

for create_graph in (False, True):
    x = torch.tensor(2.0, requires_grad=True)
    y = x**3
    y.backward(create_graph=create_graph)
    print("create_graph", create_graph, "x.grad", x.grad.item(), "requires_grad", x.grad.requires_grad)
# > create_graph False x.grad 12.0 requires_grad False
# > create_graph True x.grad 12.0 requires_grad True

x.grad.backward()
print("x.grad after a backward of itself", x.grad.item())
# > x.grad after a backward of itself 24.0
