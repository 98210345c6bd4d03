"""Logistic regression on two clouds of points: sigmoid, binary cross-entropy, accuracy."""

import torch
import torch.nn as nn

torch.manual_seed(1)
X = torch.cat([torch.randn(10, 2) + 2, torch.randn(10, 2) - 2])
y = torch.cat([torch.ones(10), torch.zeros(10)])


class Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(2, 1)

    def forward(self, x):
        return torch.sigmoid(self.linear(x)).squeeze(1)


model = Model()
criterion = nn.BCELoss()
optimizer = torch.optim.SGD(model.parameters(), lr=0.5, momentum=0.9)
for epoch in range(4):
    y_pred = model(X)
    loss = criterion(y_pred, y)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
with torch.no_grad():
    predicted = model(X).round()
    accuracy = predicted.eq(y).sum() / float(y.shape[0])
    print(f"loss = {loss.item():.4f}, accuracy = {accuracy:.2f}")
