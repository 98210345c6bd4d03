"""Functions with a backward of one's own: a ReLU and a straight-through step, in a small net."""

import torch


class MyReLU(torch.autograd.Function):
    @staticmethod
    def forward(ctx, input):
        ctx.save_for_backward(input)
        return input.clamp(min=0)

    @staticmethod
    def backward(ctx, grad_output):
        (input,) = ctx.saved_tensors
        grad_input = grad_output.clone()
        grad_input[input < 0] = 0
        return grad_input


class Step(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).to(x.dtype)

    @staticmethod
    def backward(ctx, g):
        return g


torch.manual_seed(2)
x, y = torch.randn(8, 4), torch.randn(8, 2)
w1, w2 = torch.randn(4, 5, requires_grad=True), torch.randn(5, 2, requires_grad=True)
for t in range(3):
    relu = MyReLU.apply
    y_pred = relu(x.mm(w1)).mm(w2)
    loss = (y_pred - y).pow(2).sum()
    print(t, round(loss.item(), 3))
    loss.backward()
    with torch.no_grad():
        w1 -= 1e-3 * w1.grad
        w2 -= 1e-3 * w2.grad
        w1.grad.zero_()
        w2.grad.zero_()
s = torch.tensor([-0.5, 0.5], requires_grad=True)
(Step.apply(s) * torch.tensor([3.0, 4.0])).sum().backward()
print(s.grad, torch.autograd.gradcheck(MyReLU.apply, torch.randn(3, dtype=torch.double, requires_grad=True)))
