"""Newton's method with second derivatives, and a gradient penalty."""

import torch

x = torch.tensor(3.0, requires_grad=True)
for step in range(4):
    f = x**4 - 3 * x**2 + x
    (g,) = torch.autograd.grad(f, x, create_graph=True)
    (h,) = torch.autograd.grad(g, x)
    with torch.no_grad():
        x -= g / h
    print(f"{step}: x = {x.item():.5f}, f = {f.item():.5f}")

w = torch.tensor([1.0, -2.0], requires_grad=True)
inputs = torch.tensor([[0.5, 1.0], [1.5, -1.0]], requires_grad=True)
score = torch.sin(inputs @ w).sum()
(grads,) = torch.autograd.grad(score, inputs, create_graph=True)
penalty = ((grads.norm(2, dim=1) - 1) ** 2).mean()
penalty.backward()
print(f"{penalty.item():.4f}", [round(v, 4) for v in w.grad.tolist()])
