"""Code 11: the power with a derivative of our own."""

from describe import show

import minigrad as torch


class MyPow(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input_1, input_2):
        ctx.save_for_backward(input_1, input_2)
        return input_1**input_2

    @staticmethod
    def backward(ctx, grad_output):
        input_1, input_2 = ctx.saved_tensors
        grad_input_1 = grad_output * input_2 * input_1 ** (input_2 - 1)
        grad_input_2 = grad_output * input_1**input_2 * torch.log(input_1)
        return grad_input_1, grad_input_2


myPow = MyPow.apply

q = torch.tensor(3.0, requires_grad=True)
x = torch.tensor(5.0, requires_grad=True)
y = myPow(x, q)
z = torch.log(y)
show("before", q=q, x=x, y=y, z=z)
# > [before]
# > q  tensor(3., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > x  tensor(5., requires_grad=True)  grad_fn None
# >    requires_grad True, is_leaf True, retains_grad None, grad None
# > y  tensor(125., grad_fn=<MyPowBackward>)  grad_fn <torch.autograd.function.MyPowBackward object>
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
# > y  tensor(125., grad_fn=<MyPowBackward>)  grad_fn <torch.autograd.function.MyPowBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
# > z  tensor(4.8283, grad_fn=<LogBackward>)  grad_fn <LogBackward object>
# >    requires_grad True, is_leaf False, retains_grad None, grad None
