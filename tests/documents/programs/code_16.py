"""Code 16: two halves of a graph joined by hand, with backward(gradient=...)."""

from describe import show

import minigrad as torch

x = torch.tensor(5.0, requires_grad=True)
y = x * torch.tensor([2.0, 3.0, 5.0])
w = y.detach()
w.requires_grad_()
z = w @ torch.tensor([4.0, 7.0, 9.0])
show("before", x=x, y=y, w=w, z=z)
# > [before]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor([10., 15., 25.], grad_fn=<MulBackward0>)  grad_fn <MulBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > w  tensor([10., 15., 25.], requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > z  tensor(370., grad_fn=<DotBackward>)  grad_fn <DotBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None

z.backward()
y.backward(gradient=w.grad)
show("after both backwards", x=x, y=y, w=w, z=z)
# > [after both backwards]
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad 74.0
# > y  tensor([10., 15., 25.], grad_fn=<MulBackward0>)  grad_fn <MulBackward0 object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > w  tensor([10., 15., 25.], requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad tensor([4., 7., 9.])
# > z  tensor(370., grad_fn=<DotBackward>)  grad_fn <DotBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
