"""Code 18: with create_graph=True the gradient has a graph; the second derivative."""

from describe import show

import minigrad as torch

x = torch.tensor(5.0, requires_grad=True)
y = x**3
z = torch.log(y)
show("before", x=x, y=y, z=z)
# > [before]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor(125., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None

z.backward(create_graph=True)
show("after backward", x=x, y=y, z=z)
# > [after backward]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 0.6000000238418579
# > y  tensor(125., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
show("the gradients", x_grad=x.grad, y_grad=y.grad, z_grad=z.grad)
# > [the gradients]
# > x_grad  tensor(0.6000, grad_fn=<CloneBackward>)  grad_fn <CloneBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > y_grad  None  grad_fn None
# >    requires_grad None, is_leaf None, retains_grad None, grad None
# > z_grad  None  grad_fn None
# >    requires_grad None, is_leaf None, retains_grad None, grad None

x_2nd_grad = torch.autograd.grad(x.grad, x)
print("x_2nd_grad", x_2nd_grad)
# > x_2nd_grad (tensor(-0.1200),)
