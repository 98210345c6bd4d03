"""Introduction, 3.2: partial derivatives."""

import minigrad as torch

x = torch.tensor([4.0], requires_grad=True)
y = torch.tensor([2.0], requires_grad=True)
z = x**2 + y**2
z.backward()
print(f"x.grad = {x.grad}, y.grad = {y.grad}")
# > x.grad = tensor([8.]), y.grad = tensor([4.])
