"""Backward: `inputs=` names the tensors whose gradients are accumulated."""

import minigrad as torch

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
Q = 3 * a**3 - b**2
Q.backward(gradient=torch.tensor([1.0, 1.0]), inputs=[a])
print("a.grad", a.grad)
# > a.grad tensor([36., 81.])
print("b.grad", b.grad)
# > b.grad None
