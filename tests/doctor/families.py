"""Small training programs of six families, as courses write them. Faults and unusual but healthy ways to
train are edits of these texts: `faults.py`, `healthy.py`.

All programs have the same lines where they can, so one edit fits most families: `h = self.body(x)` and
`return self.head(h)`, the line of the optimizer, the line of the batch, and the four lines of a training step.
"""

from __future__ import annotations

HEAD = """\
import torch
from torch import nn
import torch.nn.functional as F

torch.manual_seed(0)
"""

STEP = """\
optimizer = torch.optim.SGD(net.parameters(), lr=LR)
for step in range(40):
    i = torch.randint(0, len(X), (16,))
    x, y = X[i], Y[i]
    out = net(x)
    loss = LOSS
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
"""


def program(data: str, model: str, lr: str, loss: str) -> str:
    """A program of its data, its model and its step."""
    step = STEP.replace("LR", lr).replace("LOSS", loss)
    return f"{HEAD}{data}\n\n{model}\n\nnet = Net()\n{step}"


MLP = program(
    """\
X = torch.randn(200, 8)
Y = X[:, :1] * 2 - X[:, 1:2] + 0.5""",
    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Dropout(0.1))
        self.head = nn.Linear(32, 1)

    def forward(self, x):
        h = self.body(x)
        return self.head(h)""",
    "0.05",
    "F.mse_loss(out, y)",
)

CNN = program(
    """\
X = torch.randn(160, 1, 8, 8)
Y = torch.arange(160) % 4
for k in range(4):
    X[Y == k, :, 2 * k : 2 * k + 2] += 1.5""",
    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(
            nn.Conv2d(1, 6, 3), nn.BatchNorm2d(6), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(6, 8, 2), nn.ReLU(), nn.Flatten()
        )
        self.head = nn.Linear(32, 4)

    def forward(self, x):
        h = self.body(x)
        return self.head(h)""",
    "0.1",
    "F.cross_entropy(out, y)",
)

RNN = program(
    """\
X = torch.randn(160, 6, 3)
Y = X[:, -1, :1] + 0.5 * X[:, -2, 1:2]""",
    """\
class Cells(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = nn.Linear(3, 16)
        self.outer = nn.Linear(16, 16)

    def forward(self, x):
        state = torch.zeros(len(x), 16)
        for t in range(x.shape[1]):
            state = torch.tanh(self.inner(x[:, t]) + self.outer(state))
        return state


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Cells()
        self.head = nn.Linear(16, 1)

    def forward(self, x):
        h = self.body(x)
        return self.head(h)""",
    "0.1",
    "F.mse_loss(out, y)",
)

GPT = program(
    """\
words = torch.randint(0, 11, (160, 1))
X = (words + torch.arange(8)) % 11
Y = (X + 1) % 11""",
    """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.norm1 = nn.LayerNorm(16)
        self.qkv = nn.Linear(16, 48)
        self.proj = nn.Linear(16, 16)
        self.norm2 = nn.LayerNorm(16)
        self.mlp = nn.Sequential(nn.Linear(16, 32), nn.GELU(), nn.Linear(32, 16), nn.Dropout(0.1))

    def forward(self, x):
        q, k, v = self.qkv(self.norm1(x)).split(16, dim=-1)
        att = (q @ k.transpose(-2, -1)) / 4
        att = att.masked_fill(torch.tril(torch.ones(x.shape[1], x.shape[1])) == 0, float("-inf"))
        x = x + self.proj(F.softmax(att, dim=-1) @ v)
        return x + self.mlp(self.norm2(x))


class Body(nn.Module):
    def __init__(self):
        super().__init__()
        self.token = nn.Embedding(11, 16)
        self.place = nn.Embedding(8, 16)
        self.blocks = nn.ModuleList([Block(), Block()])

    def forward(self, x):
        h = self.token(x) + self.place(torch.arange(x.shape[1]))
        for block in self.blocks:
            h = block(h)
        return h


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = Body()
        self.head = nn.Linear(16, 11)

    def forward(self, x):
        h = self.body(x)
        return self.head(h).flatten(0, 1)""",
    "0.2",
    "F.cross_entropy(out, y.flatten())",
)

VAE = program(
    """\
X = (torch.rand(160, 12) < torch.linspace(0.05, 0.95, 12)).float()
Y = X""",
    """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(12, 24), nn.ReLU(), nn.Linear(24, 24), nn.ReLU())
        self.head = nn.Linear(24, 8)
        self.decoder = nn.Sequential(nn.Linear(4, 24), nn.ReLU(), nn.Linear(24, 12))

    def forward(self, x):
        h = self.body(x)
        self.mean, self.logvar = self.head(h).chunk(2, dim=1)
        z = self.mean + torch.exp(self.logvar / 2) * torch.randn_like(self.mean)
        return self.decoder(z)


def divergence(net):
    return -0.5 * (1 + net.logvar - net.mean**2 - net.logvar.exp()).sum(1).mean() / 12""",
    "0.3",
    "F.binary_cross_entropy_with_logits(out, y) + 0.1 * divergence(net)",
)

GAN = f"""{HEAD}real = torch.randn(200, 2) * 0.5 + 2

G = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 2))
D = nn.Sequential(nn.Linear(2, 16), nn.LeakyReLU(0.2), nn.Linear(16, 1))
opt_G = torch.optim.Adam(G.parameters(), lr=2e-3)
opt_D = torch.optim.Adam(D.parameters(), lr=2e-3)
ones, zeros = torch.ones(16, 1), torch.zeros(16, 1)
for step in range(30):
    x = real[torch.randint(0, 200, (16,))]
    fake = G(torch.randn(16, 4))
    loss_D = F.binary_cross_entropy_with_logits(D(x), ones)
    loss_D = loss_D + F.binary_cross_entropy_with_logits(D(fake.detach()), zeros)
    opt_D.zero_grad()
    loss_D.backward()
    opt_D.step()
    loss_G = F.binary_cross_entropy_with_logits(D(fake), ones)
    opt_G.zero_grad()
    loss_G.backward()
    opt_G.step()
"""

FAMILIES = {"mlp": MLP, "cnn": CNN, "rnn": RNN, "gpt": GPT, "vae": VAE, "gan": GAN}
