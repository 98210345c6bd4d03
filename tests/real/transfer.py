"""A trained body with frozen layers and a new head; only the head learns."""

import torch
import torch.nn as nn

torch.manual_seed(4)
body = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 6), nn.ReLU())
for param in body.parameters():
    param.requires_grad = False
head = nn.Linear(6, 2)
model = nn.Sequential(body, head)
optimizer = torch.optim.SGD(head.parameters(), lr=0.1)
x, y = torch.randn(10, 4), torch.randint(0, 2, (10,))
frozen = body[0].weight.clone()
for epoch in range(3):
    loss = nn.functional.cross_entropy(model(x), y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    print(f"{loss.item():.4f}")
print(
    torch.equal(frozen, body[0].weight),
    body[0].weight.grad,
    [n for n, p in model.named_parameters() if p.requires_grad],
)
