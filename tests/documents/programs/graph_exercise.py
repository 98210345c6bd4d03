"""Computational graph: the exercise. By hand: d loss/dx = 2z · 1 · 2 = 2 · 5 · 2 = 20."""

import minigrad as torch

x = torch.tensor(1.0, requires_grad=True)
y = x * 2
z = y + 3
loss = z**2
loss.backward()
print("x.grad", x.grad)
# > x.grad tensor(20.)
print("y.grad", y.grad, "z.grad", z.grad)
# > y.grad None z.grad None
