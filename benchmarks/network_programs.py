"""Programs with modules, losses and optimizers, in the form that `tensor_programs` describes."""

from __future__ import annotations

from typing import Any

from tensor_programs import Torch
from workload import Run

# ── optimizers and layers
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def line_fit(torch: Torch, optimizer: str, **options: Any) -> Run:
    """Linear regression with nn.Linear and an optimizer."""
    x = torch.linspace(0.0, 1.0, 50).reshape(-1, 1)
    y = 2 * x + 1

    def run() -> Any:
        torch.manual_seed(0)
        model, loss_of = torch.nn.Linear(1, 1), torch.nn.MSELoss()
        descent = getattr(torch.optim, optimizer)(model.parameters(), **options)
        for _ in range(20):
            loss = loss_of(model(x), y)
            descent.zero_grad()
            loss.backward()
            descent.step()
        return [*model.parameters(), loss.item()]

    return run


def line_sgd(torch: Torch) -> Run:
    """linear regression with nn.Linear and SGD"""
    return line_fit(torch, "SGD", lr=0.1)


def line_adam(torch: Torch) -> Run:
    """linear regression with nn.Linear and Adam"""
    return line_fit(torch, "Adam", lr=0.1)


def mlp(torch: Torch) -> Run:
    """nn.Sequential 20-64-3, CrossEntropyLoss, SGD with momentum"""
    nn = torch.nn
    torch.manual_seed(0)
    x, y = torch.randn(64, 20), torch.randint(0, 3, (64,))
    model, loss_of = nn.Sequential(nn.Linear(20, 64), nn.ReLU(), nn.Linear(64, 3)), nn.CrossEntropyLoss()
    descent = torch.optim.SGD(model.parameters(), lr=0.01, momentum=0.9)

    def run() -> Any:
        for _ in range(5):
            descent.zero_grad()
            scores = model(x)
            loss = loss_of(scores, y)
            loss.backward()
            descent.step()
        right = (scores.argmax(1) == y).float().mean()
        return [*(p.detach().clone() for p in model.parameters()), right.item()]

    return run


def xor(torch: Torch) -> Run:
    """a module for XOR: sigmoid, BCELoss, Adam"""
    nn = torch.nn
    x, y = (
        torch.tensor([[0.0, 0.0], [0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]),
        torch.tensor([[0.0], [1], [1], [0]]),
    )

    class Net(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.fc1, self.fc2 = nn.Linear(2, 4), nn.Linear(4, 1)

        def forward(self, x: Any) -> Any:
            return torch.sigmoid(self.fc2(torch.tanh(self.fc1(x))))

    def run() -> Any:
        torch.manual_seed(0)
        model, loss_of = Net(), nn.BCELoss()
        descent = torch.optim.Adam(model.parameters(), lr=0.05)
        for _ in range(20):
            descent.zero_grad()
            loss = loss_of(model(x), y)
            loss.backward()
            descent.step()
        return list(model.parameters())

    return run


def normalized(torch: Torch) -> Run:
    """BatchNorm1d, Dropout, log_softmax, nll_loss, gradients clipped"""
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    x, y = torch.randn(32, 20), torch.randint(0, 5, (32,))

    def run() -> Any:
        torch.manual_seed(1)
        model = nn.Sequential(
            *(nn.Linear(20, 32), nn.BatchNorm1d(32), nn.ReLU(), nn.Dropout(0.2)),
            *(nn.Linear(32, 5), nn.LogSoftmax(dim=1)),
        )
        descent = torch.optim.SGD(model.parameters(), lr=0.1)
        for _ in range(10):
            descent.zero_grad()
            loss = functional.nll_loss(model(x), y)
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            descent.step()
        model.eval()
        with torch.no_grad():
            return model(x)

    return run


def convnet(torch: Torch) -> Run:
    """a small conv net, DataLoader, Adam, one epoch and its accuracy"""
    nn, functional, data = torch.nn, torch.nn.functional, torch.utils.data
    torch.manual_seed(0)
    images, labels = torch.randn(64, 1, 14, 14), torch.randint(0, 10, (64,))

    class Net(nn.Module):  # type: ignore[name-defined]
        def __init__(self) -> None:
            super().__init__()
            self.conv1, self.conv2 = nn.Conv2d(1, 6, 3), nn.Conv2d(6, 12, 3)
            self.fc = nn.Linear(12 * 2 * 2, 10)

        def forward(self, x: Any) -> Any:
            x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
            x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
            return self.fc(torch.flatten(x, 1))

    def run() -> Any:
        torch.manual_seed(1)
        model, right = Net(), 0
        descent = torch.optim.Adam(model.parameters(), lr=0.001)
        for x, y in data.DataLoader(data.TensorDataset(images, labels), batch_size=16, shuffle=True):
            descent.zero_grad()
            scores = model(x)
            functional.cross_entropy(scores, y).backward()
            descent.step()
            right += (scores.argmax(dim=1) == y).sum().item()
        return [*model.parameters(), float(right)]

    return run


# ── words and sequences
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def embedding(torch: Torch) -> Run:
    """C[X], tanh layer, cross_entropy, updates by p.data += …"""
    torch.manual_seed(0)
    x, y = torch.randint(0, 27, (32, 3)), torch.randint(0, 27, (32,))
    start = [torch.randn(27, 10), torch.randn(30, 100) * 0.2, torch.zeros(100), torch.randn(100, 27) * 0.1]
    start.append(torch.zeros(27))

    def run() -> Any:
        parameters = [p.clone().requires_grad_() for p in start]
        table, w1, b1, w2, b2 = parameters
        for _ in range(5):
            h = torch.tanh(table[x].view(-1, 30) @ w1 + b1)
            loss = torch.nn.functional.cross_entropy(h @ w2 + b2, y)
            for p in parameters:
                p.grad = None
            loss.backward()
            for p in parameters:
                p.data += -0.1 * p.grad
        return parameters

    return run


def softmax(torch: Torch) -> Run:
    """softmax and cross-entropy by hand, a linear model of 10 classes"""
    torch.manual_seed(0)
    x, y, start = torch.randn(64, 64), torch.randint(0, 10, (64,)), torch.randn(64, 10) * 0.1

    def run() -> Any:
        weight, bias = start.clone().requires_grad_(), torch.zeros(10, requires_grad=True)
        for _ in range(5):
            scores = x @ weight + bias
            powers = torch.exp(scores - scores.max(dim=1, keepdim=True).values)
            p = powers / powers.sum(dim=1, keepdim=True)
            loss = -torch.log(p[range(64), y]).mean()
            loss.backward()
            with torch.no_grad():
                weight -= 0.1 * weight.grad
                bias -= 0.1 * bias.grad
                weight.grad.zero_()
                bias.grad.zero_()
        return weight, bias

    return run


def rnn(torch: Torch) -> Run:
    """an RNN by hand over 12 steps, its loss summed"""
    torch.manual_seed(0)
    x, wx, wh = torch.randn(12, 4, 8), torch.randn(8, 16) * 0.3, torch.randn(16, 16) * 0.3
    targets, wo = torch.randn(12, 4, 1), torch.randn(16, 1) * 0.3

    def run() -> Any:
        leaves = [start.clone().requires_grad_() for start in (wx, wh, wo)]
        h, loss = torch.zeros(4, 16), torch.tensor(0.0)
        for t in range(12):
            h = torch.tanh(x[t] @ leaves[0] + h @ leaves[1])
            loss = loss + ((h @ leaves[2] - targets[t]) ** 2).mean()
        loss.backward()
        return [leaf.grad for leaf in leaves]

    return run


def lstm_cell(torch: Torch) -> Run:
    """nn.LSTMCell in a loop over 12 steps"""
    torch.manual_seed(0)
    cell, head, x = torch.nn.LSTMCell(8, 16), torch.nn.Linear(16, 1), torch.randn(12, 4, 8)

    def run() -> Any:
        h, c, outputs = torch.zeros(4, 16), torch.zeros(4, 16), []
        for t in range(12):
            h, c = cell(x[t], (h, c))
            outputs.append(head(h))
        cell.zero_grad()
        torch.stack(outputs).pow(2).mean().backward()
        return [p.grad for p in cell.parameters()]

    return run


def attention(torch: Torch) -> Run:
    """an attention head: batched products, masked_fill, softmax"""
    nn, functional = torch.nn, torch.nn.functional
    torch.manual_seed(0)
    x, keep = torch.randn(4, 8, 32), torch.tril(torch.ones(8, 8))
    key, query, value = (nn.Linear(32, 16, bias=False) for _ in range(3))

    def run() -> Any:
        k, q, v = key(x), query(x), value(x)
        weights = q @ k.transpose(-2, -1) * 16**-0.5
        weights = functional.softmax(weights.masked_fill(keep == 0, float("-inf")), dim=-1)
        for layer in (key, query, value):
            layer.zero_grad()
        (weights @ v).pow(2).mean().backward()
        return [layer.weight.grad for layer in (key, query, value)]

    return run


NETWORK_PROGRAMS = [
    *(line_sgd, line_adam, mlp, xor, normalized, convnet),
    *(embedding, softmax, rnn, lstm_cell, attention),
]
