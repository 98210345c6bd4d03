"""Linear regression as a variable with w.data = w.data - lr * w.grad, and by the normal equations."""

import torch

x_data, y_data = [1.0, 2.0, 3.0], [2.0, 4.0, 6.0]
w = torch.tensor([1.0], requires_grad=True)


def forward(x):
    return x * w


def loss(y_pred, y_val):
    return (y_pred - y_val) ** 2


print("before training", 4, forward(4).item())
for epoch in range(3):
    for x_val, y_val in zip(x_data, y_data):
        y_pred = forward(x_val)
        l = loss(y_pred, y_val)
        l.backward()
        w.data = w.data - 0.01 * w.grad.item()
        w.grad.data.zero_()
    print(f"epoch {epoch}: {l.item():.5f}")
print(f"after training {forward(4).item():.4f}")
A = torch.tensor(x_data).unsqueeze(1)
solution = torch.linalg.lstsq(A, torch.tensor(y_data).unsqueeze(1)).solution
print(f"least squares {solution.item():.4f}")
