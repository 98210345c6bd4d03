"""Linear regression with a Dataset of one's own, a DataLoader and an Adam optimizer."""

import torch
from torch.utils.data import DataLoader, Dataset


class Points(Dataset):
    def __init__(self, n):
        self.x = torch.linspace(-1, 1, n)
        self.y = 3 * self.x - 1

    def __len__(self):
        return len(self.x)

    def __getitem__(self, i):
        return self.x[i : i + 1], self.y[i : i + 1]


torch.manual_seed(3)
loader = DataLoader(Points(12), batch_size=4, shuffle=True)
model = torch.nn.Sequential(torch.nn.Linear(1, 1))
criterion = torch.nn.MSELoss(reduction="sum")
optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
for epoch in range(3):
    running = 0.0
    for i, (inputs, targets) in enumerate(loader):
        outputs = model(inputs)
        loss = criterion(outputs, targets)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"[{epoch + 1}] loss: {running / len(loader):.4f}")
