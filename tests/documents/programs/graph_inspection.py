"""Computational graph: leaves, and tensors that an op made."""

import minigrad as torch

x = torch.tensor(2.0, requires_grad=True)
w = torch.tensor(3.0, requires_grad=True)
b = torch.tensor(1.0, requires_grad=True)

z = w * x
y = z + b
loss = y**2

for leaf in (x, w):
    print("leaf?", leaf.is_leaf, "made by", leaf.grad_fn)
# > leaf? True made by None
# > leaf? True made by None
for result in (z, y, loss):
    print("leaf?", result.is_leaf, "made by", result.grad_fn)
# > leaf? False made by <MulBackward0 object>
# > leaf? False made by <AddBackward0 object>
# > leaf? False made by <PowBackward0 object>
