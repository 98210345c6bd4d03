"""Code 20: gradcheck agrees with a right derivative."""

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

q = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
x = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
print("gradcheck:", torch.autograd.gradcheck(myPow, (x, q)))
# > gradcheck: True
