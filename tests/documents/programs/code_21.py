"""Code 21: gradcheck finds a wrong derivative (the logarithm is taken of the wrong number)."""

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
        grad_input_2 = grad_output * input_1**input_2 * torch.log(input_1 + 1)
        return grad_input_1, grad_input_2


myPow = MyPow.apply

q = torch.tensor(3.0, dtype=torch.float64, requires_grad=True)
x = torch.tensor(5.0, dtype=torch.float64, requires_grad=True)
print("gradcheck:", torch.autograd.gradcheck(myPow, (x, q)))
# ! RuntimeError: Jacobian mismatch for output 0 with respect to input 1,
# ! numerical:tensor([[201.1797]], dtype=torch.float64)
# ! analytical:tensor([[223.9699]], dtype=torch.float64)
