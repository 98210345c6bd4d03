"""y = sin(x) by a polynomial of third order: tensors only, the gradients by hand."""

import math

import torch

torch.manual_seed(0)
x = torch.linspace(-math.pi, math.pi, 50, dtype=torch.float)
y = torch.sin(x)
a, b, c, d = (torch.randn((), dtype=torch.float) for _ in range(4))
learning_rate = 1e-5
for t in range(6):
    y_pred = a + b * x + c * x**2 + d * x**3
    loss = (y_pred - y).pow(2).sum().item()
    if t % 5 == 0:
        print(t, f"{loss:.1f}")
    grad_y_pred = 2.0 * (y_pred - y)
    grad_a = grad_y_pred.sum()
    grad_b = (grad_y_pred * x).sum()
    grad_c = (grad_y_pred * x**2).sum()
    grad_d = (grad_y_pred * x**3).sum()
    a -= learning_rate * grad_a
    b -= learning_rate * grad_b
    c -= learning_rate * grad_c
    d -= learning_rate * grad_d
print(f"y = {a.item():.4f} + {b.item():.4f} x + {c.item():.4f} x^2 + {d.item():.4f} x^3")
