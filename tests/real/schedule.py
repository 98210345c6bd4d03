"""Learning rates that change: StepLR, then a cosine; gradients clipped by their norm."""

import torch
import torch.nn as nn
from torch.optim.lr_scheduler import CosineAnnealingLR, StepLR

torch.manual_seed(0)
model = nn.Linear(3, 1)
x, y = torch.randn(12, 3), torch.randn(12, 1)
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for scheduler in (StepLR(optimizer, step_size=2, gamma=0.5), CosineAnnealingLR(optimizer, T_max=4)):
    for epoch in range(4):
        optimizer.zero_grad()
        loss = nn.functional.mse_loss(model(x), y)
        loss.backward()
        norm = nn.utils.clip_grad_norm_(model.parameters(), max_norm=1.0)
        optimizer.step()
        scheduler.step()
        print(f"{loss.item():.4f} norm {norm.item():.3f} lr {optimizer.param_groups[0]['lr']:.4f}")
