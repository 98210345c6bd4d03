"""A generator against a critic, each with its optimizer, with clipped weights."""

import torch
import torch.nn as nn

torch.manual_seed(0)
G = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 1))
D = nn.Sequential(nn.Linear(1, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1))
opt_g = torch.optim.RMSprop(G.parameters(), lr=5e-3)
opt_d = torch.optim.RMSprop(D.parameters(), lr=5e-3)
real = torch.randn(16, 1) * 0.5 + 2
for step in range(3):
    for _ in range(2):
        z = torch.randn(16, 2)
        fake = G(z).detach()
        d_loss = -(D(real).mean() - D(fake).mean())
        opt_d.zero_grad()
        d_loss.backward()
        opt_d.step()
        for p in D.parameters():
            p.data.clamp_(-0.1, 0.1)
    z = torch.randn(16, 2)
    g_loss = -D(G(z)).mean()
    opt_g.zero_grad()
    g_loss.backward()
    opt_g.step()
    print(f"{step}: d {d_loss.item():.4f} g {g_loss.item():.4f}")
