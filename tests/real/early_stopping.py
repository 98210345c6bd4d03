"""Training until the loss on held-out data stops falling; the best weights are put back."""

import copy

import torch
import torch.nn as nn

torch.manual_seed(8)
x = torch.linspace(-1, 1, 20).unsqueeze(1)
y = x**2 + 0.1 * torch.randn(20, 1)
order = torch.randperm(20)
train, held = order[:12], order[12:]
model = nn.Sequential(nn.Linear(1, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(model.parameters(), lr=0.05)
best, patience, waited, state = float("inf"), 3, 0, None
for epoch in range(30):
    model.train()
    optimizer.zero_grad()
    loss = nn.functional.mse_loss(model(x[train]), y[train])
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.no_grad():
        val = nn.functional.mse_loss(model(x[held]), y[held]).item()
    if val < best - 1e-4:
        best, waited, state = val, 0, copy.deepcopy(model.state_dict())
    else:
        waited += 1
        if waited == patience:
            break
model.load_state_dict(state)
print(f"stopped after {epoch + 1} epochs, best {best:.3f}")
