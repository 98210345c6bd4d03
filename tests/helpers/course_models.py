"""Models of courses, each as the program of one training step. All have few numbers."""

from __future__ import annotations

HEAD = "nn, F = torch.nn, torch.nn.functional\ntorch.manual_seed(0)\n"
STEP = "loss.backward()\nopt.step()\n"

MODELS = {
    "mlp": """
net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(16, 2)
loss = F.mse_loss(net(x), torch.ones(16, 1))
""",
    "deep": """
net = nn.Sequential(*[m for _ in range(12) for m in (nn.Linear(6, 6), nn.Sigmoid())], nn.Linear(6, 4))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(8, 6)
loss = F.cross_entropy(net(x), torch.arange(8) % 4)
""",
    "cnn": """
net = nn.Sequential(
    nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2), nn.Conv2d(4, 4, 3, padding=1), nn.ReLU(),
    nn.MaxPool2d(2), nn.Flatten(), nn.Linear(16, 3),
)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(4, 1, 8, 8)
loss = F.cross_entropy(net(x), torch.arange(4) % 3)
""",
    "lenet": """
class LeNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2 = nn.Conv2d(1, 6, 5, padding=2), nn.Conv2d(6, 16, 5)
        self.fc1, self.fc2, self.fc3 = nn.Linear(64, 32), nn.Linear(32, 16), nn.Linear(16, 10)
    def forward(self, x):
        x = F.max_pool2d(torch.relu(self.conv1(x)), 2)
        x = F.max_pool2d(torch.relu(self.conv2(x)), 2).flatten(1)
        return self.fc3(torch.relu(self.fc2(torch.relu(self.fc1(x)))))
net = LeNet()
opt = torch.optim.Adam(net.parameters())
x = torch.randn(2, 1, 16, 16)
loss = F.cross_entropy(net(x), torch.tensor([1, 2]))
""",
    "resnet": """
class Basic(nn.Module):
    def __init__(self, i, o, s=1):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(i, o, 3, s, 1, bias=False), nn.BatchNorm2d(o)
        self.conv2, self.bn2 = nn.Conv2d(o, o, 3, 1, 1, bias=False), nn.BatchNorm2d(o)
        self.down = nn.Conv2d(i, o, 1, s, bias=False) if s != 1 else None
    def forward(self, x):
        out = self.bn2(self.conv2(F.relu(self.bn1(self.conv1(x)))))
        return F.relu(out + (x if self.down is None else self.down(x)))
class ResNet(nn.Module):
    def __init__(self, w):
        super().__init__()
        self.conv1, self.bn1 = nn.Conv2d(3, w, 3, 1, 1, bias=False), nn.BatchNorm2d(w)
        self.layer1 = nn.Sequential(Basic(w, w), Basic(w, w))
        self.layer2 = nn.Sequential(Basic(w, 2 * w, 2), Basic(2 * w, 2 * w))
        self.layer3 = nn.Sequential(Basic(2 * w, 4 * w, 2), Basic(4 * w, 4 * w))
        self.layer4 = nn.Sequential(Basic(4 * w, 8 * w, 2), Basic(8 * w, 8 * w))
        self.fc = nn.Linear(8 * w, 10)
    def forward(self, x):
        x = F.relu(self.bn1(self.conv1(x)))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(x.mean((2, 3)))
net = ResNet(4)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
x = torch.randn(2, 3, 16, 16)
loss = F.cross_entropy(net(x), torch.tensor([1, 2]))
""",
    "unet": """
def block(i, o):
    return nn.Sequential(nn.Conv2d(i, o, 3, padding=1), nn.SiLU(), nn.Conv2d(o, o, 3, padding=1), nn.SiLU())
class UNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc1, self.enc2, self.mid = block(1, 2), block(2, 4), block(4, 8)
        self.up2, self.dec2 = nn.ConvTranspose2d(8, 4, 2, 2), block(8, 4)
        self.up1, self.dec1 = nn.ConvTranspose2d(4, 2, 2, 2), block(4, 2)
        self.out = nn.Conv2d(2, 1, 1)
    def forward(self, x):
        a = self.enc1(x)
        b = self.enc2(F.max_pool2d(a, 2))
        m = self.mid(F.max_pool2d(b, 2))
        d = self.dec2(torch.cat([self.up2(m), b], 1))
        return self.out(self.dec1(torch.cat([self.up1(d), a], 1)))
torch.manual_seed(3)
net = UNet()
opt = torch.optim.Adam(net.parameters())
x = torch.randn(2, 1, 8, 8)
loss = F.binary_cross_entropy_with_logits(net(x), torch.ones(2, 1, 8, 8))
""",
    "rnn by hand": """
Wx, Wh = torch.randn(1, 4), torch.randn(4, 4)
Wx.requires_grad_(), Wh.requires_grad_()
x, h = torch.randn(6, 1, 1), torch.zeros(1, 4)
opt = torch.optim.SGD([Wx, Wh], lr=0.1)
for t in range(6):
    h = torch.tanh(x[t] @ Wx + h @ Wh)
loss = ((h - 1) ** 2).mean()
""",
    "lstm": """
class Tagger(nn.Module):
    def __init__(self):
        super().__init__()
        self.emb, self.lstm, self.out = nn.Embedding(9, 4), nn.LSTM(4, 6, batch_first=True), nn.Linear(6, 3)
    def forward(self, x):
        return self.out(self.lstm(self.emb(x))[0])
net = Tagger()
opt = torch.optim.Adam(net.parameters())
x = torch.randint(0, 9, (2, 5))
loss = F.cross_entropy(net(x).flatten(0, 1), torch.arange(10) % 3)
""",
    "seq2seq": """
class Attend(nn.Module):
    def __init__(self, d):
        super().__init__()
        self.key = nn.Linear(d, d)
    def forward(self, query, memory):
        return (query @ self.key(memory).transpose(1, 2)).softmax(-1) @ memory
class Seq2Seq(nn.Module):
    def __init__(self, d=6):
        super().__init__()
        self.src, self.tgt = nn.Embedding(9, d), nn.Embedding(9, d)
        self.encoder, self.decoder = nn.GRU(d, d, batch_first=True), nn.GRU(d, d, batch_first=True)
        self.attend, self.out = Attend(d), nn.Linear(2 * d, 9)
    def forward(self, a, b):
        memory, h = self.encoder(self.src(a))
        out, _ = self.decoder(self.tgt(b), h)
        return self.out(torch.cat([out, self.attend(out, memory)], -1))
net = Seq2Seq()
opt = torch.optim.Adam(net.parameters())
a, b = torch.randint(0, 9, (2, 5)), torch.randint(0, 9, (2, 4))
loss = F.cross_entropy(net(a, b).flatten(0, 1), b.flatten())
""",
    "gpt 4": "",
    "gpt 12": "",
    "vit": """
class ViT(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.patch, self.pos = nn.Conv2d(1, d, 4, 4), nn.Parameter(torch.zeros(1, 4, d))
        self.blocks = nn.Sequential(*[Block(d, 2) for _ in range(3)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, 3)
    def forward(self, x):
        x = self.patch(x).flatten(2).transpose(1, 2) + self.pos
        return self.head(self.ln(self.blocks(x)).mean(1))
net = ViT()
opt = torch.optim.AdamW(net.parameters())
x = torch.randn(2, 1, 8, 8)
loss = F.cross_entropy(net(x), torch.tensor([0, 2]))
""",
    "bert": """
class Encoder(nn.Module):
    def __init__(self, d=8):
        super().__init__()
        self.word, self.place, self.norm = nn.Embedding(11, d), nn.Embedding(6, d), nn.LayerNorm(d)
        self.layers = nn.ModuleList([Block(d, 2) for _ in range(4)])
        self.pooler, self.cls = nn.Linear(d, d), nn.Linear(d, 2)
    def forward(self, ids):
        x = self.norm(self.word(ids) + self.place(torch.arange(ids.shape[1])))
        for layer in self.layers:
            x = layer(x)
        return self.cls(torch.tanh(self.pooler(x[:, 0])))
net = Encoder()
opt = torch.optim.AdamW(net.parameters())
ids = torch.randint(0, 11, (2, 6))
loss = F.cross_entropy(net(ids), torch.tensor([0, 1]))
""",
    "vae": """
class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.enc = nn.Sequential(nn.Linear(6, 5), nn.ReLU())
        self.mu, self.logvar = nn.Linear(5, 2), nn.Linear(5, 2)
        self.dec = nn.Sequential(nn.Linear(2, 5), nn.ReLU(), nn.Linear(5, 6))
    def forward(self, x):
        h = self.enc(x)
        mu, lv = self.mu(h), self.logvar(h)
        z = mu + torch.randn(8, 2) * (0.5 * lv).exp()
        return self.dec(z), mu, lv
net = VAE()
opt = torch.optim.Adam(net.parameters())
x = torch.rand(8, 6)
out, mu, lv = net(x)
loss = F.mse_loss(out, x, reduction="sum") - 0.5 * (1 + lv - mu ** 2 - lv.exp()).sum()
""",
    "gan": """
G = nn.Sequential(nn.Linear(4, 6), nn.ReLU(), nn.Linear(6, 2))
D = nn.Sequential(nn.Linear(2, 6), nn.LeakyReLU(0.2), nn.Linear(6, 1))
opt = torch.optim.Adam(G.parameters())
z = torch.randn(8, 4)
loss = F.binary_cross_entropy_with_logits(D(G(z)), torch.ones(8, 1))
""",
    "dqn": """
q = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
old = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
opt = torch.optim.Adam(q.parameters())
s, s2, a, r = torch.randn(8, 4), torch.randn(8, 4), torch.randint(0, 2, (8, 1)), torch.randn(8)
with torch.no_grad():
    target = r + 0.9 * old(s2).max(1).values
loss = F.smooth_l1_loss(q(s).gather(1, a).squeeze(1), target)
""",
    "gnn by hand": """
class Conv(nn.Module):
    def __init__(self, i, o):
        super().__init__()
        self.lin = nn.Linear(i, o)
    def forward(self, A, x):
        return A @ self.lin(x)
class GNN(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1, self.conv2, self.out = Conv(3, 8), Conv(8, 8), nn.Linear(8, 2)
    def forward(self, A, x):
        return self.out(torch.relu(self.conv2(A, torch.relu(self.conv1(A, x)))))
net = GNN()
opt = torch.optim.Adam(net.parameters())
A, x = torch.eye(5), torch.randn(5, 3)
loss = F.cross_entropy(net(A, x), torch.arange(5) % 2)
""",
    "experts": """
class Experts(nn.Module):
    def __init__(self, d=4):
        super().__init__()
        self.gate = nn.Linear(d, 3)
        expert = lambda: nn.Sequential(nn.Linear(d, 6), nn.ReLU(), nn.Linear(6, d))
        self.experts = nn.ModuleList([expert() for _ in range(3)])
    def forward(self, x):
        w = self.gate(x).softmax(-1)
        return sum(w[:, i : i + 1] * e(x) for i, e in enumerate(self.experts))
net = nn.Sequential(Experts(), nn.Linear(4, 2))
opt = torch.optim.Adam(net.parameters())
x = torch.randn(8, 4)
loss = F.cross_entropy(net(x), torch.arange(8) % 2)
""",
    "wavenet": """
class Layer(nn.Module):
    def __init__(self, c, d):
        super().__init__()
        self.f, self.g, self.d = nn.Conv1d(c, c, 2, dilation=d), nn.Conv1d(c, c, 2, dilation=d), d
    def forward(self, x):
        p = F.pad(x, (self.d, 0))
        return x + torch.tanh(self.f(p)) * torch.sigmoid(self.g(p))
net = nn.Sequential(nn.Conv1d(1, 4, 1), *[Layer(4, 2**i) for i in range(4)], nn.Conv1d(4, 3, 1))
opt = torch.optim.Adam(net.parameters())
x = torch.randn(2, 1, 16)
loss = F.cross_entropy(net(x), torch.randint(0, 3, (2, 16)))
""",
    "siamese": """
net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3))
opt = torch.optim.Adam(net.parameters())
a, b = torch.randn(6, 4), torch.randn(6, 4)
loss = (F.relu(1 - ((net(a) - net(b)) ** 2).sum(1)) ** 2).mean()
""",
    "autoencoder": """
class Auto(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(nn.Linear(8, 6), nn.ReLU(), nn.Linear(6, 2))
        self.decoder = nn.Sequential(nn.Linear(2, 6), nn.ReLU(), nn.Linear(6, 8), nn.Sigmoid())
    def forward(self, x):
        return self.decoder(self.encoder(x))
net = Auto()
opt = torch.optim.Adam(net.parameters())
x = torch.rand(10, 8)
loss = F.mse_loss(net(x), x)
""",
}
BLOCK = """
class Attention(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.h, self.qkv, self.proj = h, nn.Linear(d, 3 * d), nn.Linear(d, d)
    def forward(self, x):
        B, T, D = x.shape
        q, k, v = self.qkv(x).split(D, dim=2)
        q, k, v = (t.view(B, T, self.h, D // self.h).transpose(1, 2) for t in (q, k, v))
        att = (q @ k.transpose(-2, -1) / (D // self.h) ** 0.5).softmax(-1)
        return self.proj((att @ v).transpose(1, 2).reshape(B, T, D))
class Block(nn.Module):
    def __init__(self, d, h):
        super().__init__()
        self.ln1, self.attn, self.ln2 = nn.LayerNorm(d), Attention(d, h), nn.LayerNorm(d)
        self.mlp = nn.Sequential(nn.Linear(d, 4 * d), nn.GELU(), nn.Linear(4 * d, d))
    def forward(self, x):
        x = x + self.attn(self.ln1(x))
        return x + self.mlp(self.ln2(x))
"""
GPT = """
class GPT(nn.Module):
    def __init__(self, n, d=8):
        super().__init__()
        self.tok, self.pos = nn.Embedding(13, d), nn.Embedding(7, d)
        self.blocks = nn.Sequential(*[Block(d, 2) for _ in range(n)])
        self.ln, self.head = nn.LayerNorm(d), nn.Linear(d, 13)
    def forward(self, idx):
        return self.head(self.ln(self.blocks(self.tok(idx) + self.pos(torch.arange(idx.shape[1])))))
gpt = GPT({n})
opt = torch.optim.AdamW(gpt.parameters())
x = torch.randint(0, 13, (1, 7))
loss = F.cross_entropy(gpt(x).view(-1, 13), x.view(-1))
"""
MODELS |= {f"gpt {n}": GPT.replace("{n}", str(n)) for n in (4, 12)}


def program(name: str) -> str:
    """The program of a model, which expects `torch`."""
    block = BLOCK if "Block(" in MODELS[name] else ""
    return HEAD + block + MODELS[name] + STEP
