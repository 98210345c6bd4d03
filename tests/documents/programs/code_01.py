"""Code 1: z = ln x³ with plain tensors, which leave no graph."""

import minigrad as torch

x = torch.tensor(5.0)
y = x**3
z = torch.log(y)
print("x", x, "y", y, "z", z)
# > x tensor(5.) y tensor(125.) z tensor(4.8283)
