"""Code 22: the graph itself, followed from z to x over both paths."""

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

print("z was made by", z.grad_fn)
# > z was made by <AddBackward0 object>
print("from", z.grad_fn.next_functions)
# > from ((<LogBackward object>, 0), (<SqrtBackward object>, 0))
for path in (0, 1):
    log_or_sqrt = z.grad_fn.next_functions[path][0]
    power = log_or_sqrt.next_functions[0][0]
    accumulate = power.next_functions[0][0]
    print(f"path {path}:", log_or_sqrt.next_functions, "then", power.next_functions)
    print("ends at x:", accumulate.variable is x)
# > path 0: ((<PowBackward0 object>, 0),) then ((<AccumulateGrad object>, 0),)
# > ends at x: True
# > path 1: ((<PowBackward0 object>, 0),) then ((<AccumulateGrad object>, 0),)
# > ends at x: True
