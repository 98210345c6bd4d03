"""Code 9: x reaches z on two paths, whose gradients add."""

from describe import show

import minigrad as torch

x = torch.tensor(5.0, requires_grad=True)
y = x**3
w = x**2
z = torch.log(y) + torch.sqrt(w)
show("before", x=x, y=y, w=w, z=z)
# > [before]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor(125., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > w  tensor(25., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(9.8283, grad_fn=<AddBackward0>)  grad_fn <AddBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None

z.backward()
show("after backward", x=x, y=y, w=w, z=z)
# > [after backward]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 1.600000023841858
# > y  tensor(125., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > w  tensor(25., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(9.8283, grad_fn=<AddBackward0>)  grad_fn <AddBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
