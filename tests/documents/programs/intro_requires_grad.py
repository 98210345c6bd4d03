"""Introduction, 2: three ways to set requires_grad."""

import minigrad as torch

t = torch.tensor([[1, 2], [3, 4]], dtype=torch.float, requires_grad=True)
print(t)
# > tensor([[1., 2.],
# >         [3., 4.]], requires_grad=True)

t = torch.FloatTensor([1.0, 2.0])
t.requires_grad = True
print(t)
# > tensor([1., 2.], requires_grad=True)

t = torch.FloatTensor([1.0, 2.0])
t.requires_grad_()
print(t)
# > tensor([1., 2.], requires_grad=True)
