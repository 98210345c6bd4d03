"""Code 10: the exponent is a tensor too, so two leaves meet in one node."""

from describe import show

import minigrad as torch

q = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(5.0, requires_grad=True)
y = x**q
z = torch.log(y)
show("before", q=q, x=x, y=y, z=z)
# > [before]
# > q  tensor(3., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor(125., grad_fn=<PowBackward1>)  grad_fn <PowBackward1 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None

z.backward()
show("after backward", q=q, x=x, y=y, z=z)
# > [after backward]
# > q  tensor(3., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 1.6094379425048828
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 0.6000000238418579
# > y  tensor(125., grad_fn=<PowBackward1>)  grad_fn <PowBackward1 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
