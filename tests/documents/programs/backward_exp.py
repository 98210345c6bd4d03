"""Backward: a Function that saves its output, because exp is its own derivative."""

import minigrad as torch


class Exp(torch.autograd.Function):
    @staticmethod
    def forward(ctx, i):
        result = i.exp()
        ctx.save_for_backward(result)
        return result

    @staticmethod
    def backward(ctx, grad_output):
        (result,) = ctx.saved_tensors
        return grad_output * result


i = torch.tensor([0.0, 1.0, 2.0], requires_grad=True)
output = Exp.apply(i)
print("output", output)
# > output tensor([1.0000, 2.7183, 7.3891], grad_fn=<ExpBackward>)
print("it is saved:", output.grad_fn.saved_tensors)
# > it is saved: (tensor([1.0000, 2.7183, 7.3891], grad_fn=<ExpBackward>),)
output.sum().backward()
print("i.grad", i.grad)
# > i.grad tensor([1.0000, 2.7183, 7.3891])
