"""Backward: what autograd.grad returns can be differentiated again."""

import minigrad as torch

x = torch.tensor(2.0, requires_grad=True)
out = x**3

(grad_x,) = torch.autograd.grad(out, x, create_graph=True)
print("first derivative", grad_x.item(), "requires_grad", grad_x.requires_grad)
# > first derivative 12.0 requires_grad True

(grad_grad_x,) = torch.autograd.grad(grad_x, x)
print("second derivative", grad_grad_x.item(), "requires_grad", grad_grad_x.requires_grad)
# > second derivative 12.0 requires_grad False
print("x.grad", x.grad)
# > x.grad None
