"""Introduction, 3.3: the derivative of a composite function."""

import minigrad as torch

x = torch.tensor([4.0], requires_grad=True)
y = 2 * (x**2)
z = y**2
z.backward()
print(f"x.grad = {x.grad}, y.grad = {y.grad}")
# > x.grad = tensor([1024.]), y.grad = None
