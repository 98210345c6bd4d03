"""Code 7: retain_graph=True allows a second backward, which adds to the gradient."""

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

z.backward(retain_graph=True)
show("after backward", x=x, y=y, z=z)
# > [after backward]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 0.6000000238418579
# > y  tensor(125., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None

z.backward()
show("after the second backward", x=x, y=y, z=z)
# > [after the second backward]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 1.2000000476837158
# > y  tensor(125., grad_fn=<PowBackward0>)  grad_fn <PowBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
