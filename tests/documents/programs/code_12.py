"""Code 12: under no_grad nothing is recorded, and there is nothing to go back through."""

from describe import show

import minigrad as torch

with torch.no_grad():
    q = torch.tensor(3.0, requires_grad=True)
    x = torch.tensor(5.0, requires_grad=True)
    y = x**q
    z = torch.log(y)
show("computed under no_grad", q=q, x=x, y=y, z=z)
# > [computed under no_grad]
# > q  tensor(3., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor(125.)  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None
# > z  tensor(4.8283)  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None

z.backward()
# ! RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
