"""Linear regression with nn.Linear, MSELoss and SGD, loss curve kept for a plot."""

import torch
from torch import nn

torch.manual_seed(42)
X = torch.arange(0, 1, 0.1).unsqueeze(dim=1)
y = 0.7 * X + 0.3


class LinearRegressionModel(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear_layer = nn.Linear(in_features=1, out_features=1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.linear_layer(x)


model = LinearRegressionModel()
loss_fn = nn.L1Loss()
optimizer = torch.optim.SGD(params=model.parameters(), lr=0.1)
X_train, y_train, X_test, y_test = X[:8], y[:8], X[8:], y[8:]
epoch_count, test_losses = [], []
for epoch in range(5):
    model.train()
    y_pred = model(X_train)
    loss = loss_fn(y_pred, y_train)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    model.eval()
    with torch.inference_mode():
        test_pred = model(X_test)
        test_loss = loss_fn(test_pred, y_test)
    epoch_count.append(epoch)
    test_losses.append(test_loss.item())
print([round(t, 4) for t in test_losses])
print({k: [round(x, 4) for x in v.flatten().tolist()] for k, v in model.state_dict().items()})
