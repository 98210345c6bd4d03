"""Backward: a root that is not a scalar needs `gradient=`."""

import minigrad as torch

a = torch.tensor([2.0, 3.0], requires_grad=True)
b = torch.tensor([6.0, 4.0], requires_grad=True)
Q = 3 * a**3 - b**2
print("Q", Q)
# > Q tensor([-12.,  65.], grad_fn=<SubBackward0>)

external_grad = torch.tensor([1.0, 1.0])
Q.backward(gradient=external_grad)
print("a.grad", a.grad)
# > a.grad tensor([36., 81.])
print("b.grad", b.grad)
# > b.grad tensor([-12.,  -8.])
