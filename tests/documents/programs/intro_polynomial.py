"""Introduction, 3.1: the derivative of a polynomial."""

import minigrad as torch

x = torch.tensor([4.0], requires_grad=True)
print(f"x.grad = {x.grad}")
# > x.grad = None

y = x**2
y.backward()
print(f"x.grad = {x.grad}")
# > x.grad = tensor([8.])
