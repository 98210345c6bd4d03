"""A fit with a plot of data, prediction and loss in between, drawn by Matplotlib from tensors."""

import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import torch

torch.manual_seed(0)
x = torch.linspace(0, 3, 30)
y = 2 * x + 1 + 0.2 * torch.randn(30)
w = torch.zeros(2, requires_grad=True)
losses = []
fig, axes = plt.subplots(1, 2)
for step in range(5):
    pred = w[0] * x + w[1]
    loss = ((pred - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        w.grad.zero_()
    losses.append(loss.item())
    if step % 2 == 0:
        axes[0].plot(x, pred.detach(), label=str(step))
axes[0].scatter(x.numpy(), y.numpy())
axes[1].plot(losses)
print(len(axes[0].lines), [round(l, 3) for l in losses], w.detach().numpy().round(3))
plt.close(fig)
