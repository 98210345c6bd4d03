"""Code 3: the autograd attributes of tensors that need no gradient."""

from describe import show

import minigrad as torch

x = torch.tensor(5.0)
y = x**3
z = torch.log(y)
show("no graph", x=x, y=y, z=z)
# > [no graph]
# > x  tensor(5.)  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None
# > y  tensor(125.)  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None
# > z  tensor(4.8283)  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None
