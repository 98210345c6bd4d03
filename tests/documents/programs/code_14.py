"""Code 14: detach() cuts the graph."""

from describe import show

import minigrad as torch

x = torch.tensor(5.0, requires_grad=True)
y = x * torch.tensor([2.0, 3.0, 5.0])
w = y.detach()
z = w @ torch.tensor([4.0, 7.0, 9.0])
show("cut at w", x=x, y=y, w=w, z=z)
# > [cut at w]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor([10., 15., 25.], grad_fn=<MulBackward0>)  grad_fn <MulBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > w  tensor([10., 15., 25.])  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None
# > z  tensor(370.)  grad_fn None
# >    requires_grad False, is_leaf True, retains_grad None, grad None

z.backward()
# ! RuntimeError: element 0 of tensors does not require grad and does not have a grad_fn
