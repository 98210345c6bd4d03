"""y = sin(x) by a polynomial of third order: nn.Sequential on powers of x, updates by a loop."""

import math

import torch

torch.manual_seed(0)
x = torch.linspace(-math.pi, math.pi, 50)
y = torch.sin(x)
xx = x.unsqueeze(-1).pow(torch.tensor([1, 2, 3]))
model = torch.nn.Sequential(torch.nn.Linear(3, 1), torch.nn.Flatten(0, 1))
loss_fn = torch.nn.MSELoss(reduction="sum")
for t in range(5):
    y_pred = model(xx)
    loss = loss_fn(y_pred, y)
    model.zero_grad()
    loss.backward()
    with torch.no_grad():
        for param in model.parameters():
            param -= 1e-5 * param.grad
    print(t, f"{loss.item():.1f}")
linear_layer = model[0]
print(f"y = {linear_layer.bias.item():.4f} + {linear_layer.weight[:, 0].item():.4f} x")
