"""Computational graph: backward through the graph of a linear regression."""

import minigrad as torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)

z = w * x
y = z + b
loss = y**2
print("forward:", z.item(), y.item(), loss.item())
# > forward: 6.0 7.0 49.0

loss.backward()
print("x.grad", x.grad, "w.grad", w.grad, "b.grad", b.grad)
# > x.grad tensor(42.) w.grad tensor(28.) b.grad tensor(14.)
