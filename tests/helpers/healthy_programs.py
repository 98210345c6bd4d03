"""Training programs that are right, some of them in unusual ways: those of courses and of official examples,
written anew and small. An explanation of one is a false alarm."""

from __future__ import annotations

HEAD = """\
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
"""
DATA = HEAD + "X, Y = torch.randn(16, 3), torch.randn(16, 1)\n"
CLASSES = HEAD + "X, y = torch.randn(16, 3), torch.arange(16) % 4\n"
NET = "net = nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1))\n"
CLASSIFIER = "net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Linear(8, 4))\n"
SGD = "opt = torch.optim.SGD(net.parameters(), lr=0.05)\n"
LOOP = """\
for i in range(6):
    opt.zero_grad()
    loss = F.mse_loss(net(X), Y)
    loss.backward()
    opt.step()
"""

PROGRAMS = {
    "regression": DATA + NET + SGD + LOOP,
    "a loss that is logged": DATA + NET + SGD + "losses, total = [], 0.0\n" + LOOP
    + "    losses.append(loss.item())\n    total += loss.item()\n"
    + "    smooth = 0.9 * total + 0.1 * loss.detach()\n",
    "the best loss is kept": DATA + NET + SGD + "best = float('inf')\n" + LOOP
    + "    if loss < best:\n        best = loss.item()\n"
    + "        state = {k: v.clone() for k, v in net.state_dict().items()}\n",
    "reset at the end": DATA + NET + SGD + """\
for i in range(6):
    F.mse_loss(net(X), Y).backward()
    opt.step()
    opt.zero_grad()
""",
    "gradient accumulation": DATA + NET + SGD + """\
opt.zero_grad()
for i in range(8):
    part = slice(2 * i, 2 * i + 2)
    (F.mse_loss(net(X[part]), Y[part]) / 4).backward()
    if i % 4 == 3:
        opt.step()
        opt.zero_grad()
""",
    "clipping": DATA + NET + SGD + LOOP.replace(
        "    opt.step()\n", "    nn.utils.clip_grad_norm_(net.parameters(), 0.5)\n    opt.step()\n"
    ),
    "clipping of accumulated gradients": DATA + NET + SGD + """\
for i in range(6):
    F.mse_loss(net(X), Y).backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    if i % 2:
        opt.step()
        opt.zero_grad()
""",
    "warm-up from 0": DATA + NET + "opt = torch.optim.Adam(net.parameters(), lr=0.1)\n"
    + "rate = torch.optim.lr_scheduler.LambdaLR(opt, lambda step: min(1.0, step / 3))\n" + LOOP
    + "    rate.step()\n",
    "groups of weight decay": DATA + NET + """\
decay = [p for p in net.parameters() if p.dim() > 1]
others = [p for p in net.parameters() if p.dim() < 2]
groups = [{"params": decay, "weight_decay": 0.1}, {"params": others, "weight_decay": 0.0}]
opt = torch.optim.AdamW(groups, lr=0.01)
""" + LOOP,
    "two groups of rates": DATA + NET + """\
groups = [{"params": net[0].parameters(), "lr": 0.001}, {"params": net[2].parameters()}]
opt = torch.optim.SGD(groups, lr=0.05, momentum=0.9)
""" + LOOP,
    "a frozen body": DATA + NET + """\
for p in net[0].parameters():
    p.requires_grad = False
opt = torch.optim.SGD([p for p in net.parameters() if p.requires_grad], lr=0.05)
""" + LOOP,
    "a body that the optimizer does not hold, under no_grad": DATA + NET + """\
head = nn.Linear(1, 1)
opt = torch.optim.SGD(head.parameters(), lr=0.05)
for i in range(6):
    with torch.no_grad():
        features = net(X)
    loss = F.mse_loss(head(features), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "batch norms in evaluation mode, a new head": DATA + """\
net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Linear(8, 1))
net.eval()
net[:3].requires_grad_(False)
opt = torch.optim.SGD(net[3].parameters(), lr=0.05)
""" + LOOP,
    "a layer replaced before the optimizer": DATA + NET + "net[2] = nn.Linear(8, 1)\n" + SGD + LOOP,
    "a frozen model in evaluation mode": DATA + """\
body, head = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5)), nn.Linear(8, 1)
body.requires_grad_(False)
body.eval()
opt = torch.optim.SGD(head.parameters(), lr=0.05)
for i in range(6):
    loss = F.mse_loss(head(body(X)), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "evaluation between epochs": DATA
    + "net = nn.Sequential(nn.Linear(3, 8), nn.ReLU(), nn.Dropout(0.5), nn.Linear(8, 1))\n"
    + SGD + """\
for epoch in range(3):
    net.train()
    loss = F.mse_loss(net(X), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        error = F.mse_loss(net(X), Y).item()
""",
    "updates by hand": DATA + """\
w, b = torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for i in range(6):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.1 * w.grad
        b -= 0.1 * b.grad
        w.grad.zero_()
        b.grad.zero_()
""",
    "updates of data": DATA + NET + """\
for i in range(6):
    net.zero_grad()
    F.mse_loss(net(X), Y).backward()
    for p in net.parameters():
        p.data = p.data - 0.05 * p.grad
""",
    "linear regression that begins with zeros": DATA + """\
w, b = torch.zeros(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
for i in range(6):
    loss = (X @ w + b - Y).pow(2).mean()
    loss.backward()
    with torch.no_grad():
        for p in (w, b):
            p -= 0.1 * p.grad
            p.grad = None
""",
    "softmax regression that begins with zeros": CLASSES + """\
W = torch.zeros(3, 4, requires_grad=True)
opt = torch.optim.SGD([W], lr=0.1)
for i in range(6):
    loss = F.cross_entropy(X @ W, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a head that begins with zeros": CLASSES + CLASSIFIER
    + "nn.init.zeros_(net[2].weight)\nnn.init.zeros_(net[2].bias)\n"
    + SGD + LOOP.replace("F.mse_loss(net(X), Y)", "F.cross_entropy(net(X), y)"),
    "log-softmax and NLLLoss": CLASSES + "net = nn.Sequential(nn.Linear(3, 4), nn.LogSoftmax(dim=1))\n" + SGD
    + LOOP.replace("F.mse_loss(net(X), Y)", "nn.NLLLoss()(net(X), y)"),
    "probabilities for a metric": CLASSES + CLASSIFIER + SGD
    + LOOP.replace("F.mse_loss(net(X), Y)", "F.cross_entropy(net(X), y)")
    + "    right = (torch.softmax(net(X), dim=1).argmax(1) == y).float().mean().item()\n",
    "distillation": CLASSES + CLASSIFIER + """\
teacher = nn.Linear(3, 4)
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(6):
    with torch.no_grad():
        soft = F.softmax(teacher(X) / 2, dim=1)
    out = net(X)
    loss = F.kl_div(F.log_softmax(out / 2, dim=1), soft, reduction="batchmean") + F.cross_entropy(out, y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "attention over the sequence": DATA + """\
q = nn.Linear(3, 3)
opt = torch.optim.SGD(q.parameters(), lr=0.1)
for i in range(6):
    weights = torch.softmax(q(X) @ X.T / 3 ** 0.5, dim=0)
    loss = F.mse_loss(weights.T @ X, X)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "VQ-VAE, straight through": HEAD + """\
X = torch.randn(16, 3)
enc, dec, book = nn.Linear(3, 2), nn.Linear(2, 3), nn.Embedding(5, 2)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters(), *book.parameters()], lr=0.01)
for i in range(6):
    z = enc(X)
    q = book(((z[:, None] - book.weight[None]) ** 2).sum(2).argmin(1))
    loss = F.mse_loss(q, z.detach()) + 0.25 * F.mse_loss(z, q.detach())
    loss = loss + F.mse_loss(dec(z + (q - z).detach()), X)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "an autoencoder with noise": HEAD + """\
X = torch.randn(16, 6)
enc, dec = nn.Linear(6, 4), nn.Linear(2, 6)
opt = torch.optim.Adam([*enc.parameters(), *dec.parameters()], lr=0.01)
for i in range(6):
    mean, scale = enc(X).chunk(2, dim=1)
    z = mean + torch.exp(0.5 * scale) * torch.randn_like(scale)
    loss = F.mse_loss(dec(z), X) - 0.05 * (1 + scale - mean ** 2 - scale.exp()).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "DQN with a target network": HEAD + """\
S, A, R, S2 = torch.randn(16, 3), torch.arange(16) % 2, torch.randn(16), torch.randn(16, 3)
net, target = nn.Linear(3, 2), nn.Linear(3, 2)
target.load_state_dict(net.state_dict())
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for i in range(6):
    value = net(S).gather(1, A[:, None]).squeeze(1)
    with torch.no_grad():
        goal = R + 0.9 * target(S2).max(1).values
    loss = F.smooth_l1_loss(value, goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    for a, b in zip(target.parameters(), net.parameters()):
        a.data.copy_(0.9 * a.data + 0.1 * b.data)
""",
    "policy gradient": HEAD + """\
S = torch.randn(16, 3)
policy = nn.Linear(3, 2)
opt = torch.optim.Adam(policy.parameters(), lr=0.01)
for episode in range(6):
    saved = []
    for s in S[:4]:
        chances = F.log_softmax(policy(s), dim=0)
        saved.append(chances[int(torch.multinomial(chances.exp(), 1))])
    loss = -(torch.stack(saved) * torch.tensor([1.0, 0.5, -0.2, 0.3])).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "actor and critic": HEAD + """\
S, R = torch.randn(16, 3), torch.randn(16, 1)
actor, critic = nn.Linear(3, 2), nn.Linear(3, 1)
opt_a, opt_c = torch.optim.Adam(actor.parameters(), lr=0.01), torch.optim.Adam(critic.parameters(), lr=0.01)
for i in range(6):
    value = critic(S)
    loss_c = F.mse_loss(value, R)
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    loss_a = -(F.log_softmax(actor(S), dim=1)[:, :1] * (R - value.detach())).mean()
    opt_a.zero_grad()
    loss_a.backward()
    opt_a.step()
""",
    "DDPG: the actor through the critic": HEAD + """\
S, R = torch.randn(16, 3), torch.randn(16, 1)
actor, critic = nn.Linear(3, 1), nn.Linear(4, 1)
opt_a, opt_c = torch.optim.Adam(actor.parameters(), lr=0.01), torch.optim.Adam(critic.parameters(), lr=0.01)
for i in range(6):
    with torch.no_grad():
        action = actor(S) + 0.1 * torch.randn(16, 1)
    loss_c = F.mse_loss(critic(torch.cat([S, action], 1)), R)
    opt_c.zero_grad()
    loss_c.backward()
    opt_c.step()
    loss_a = -critic(torch.cat([S, actor(S)], 1)).mean()
    opt_a.zero_grad()
    loss_a.backward()
    opt_a.step()
""",
    "a GAN": HEAD + """\
G, D = nn.Linear(2, 2), nn.Sequential(nn.Linear(2, 4), nn.LeakyReLU(0.2), nn.Linear(4, 1))
opt_g, opt_d = torch.optim.Adam(G.parameters(), lr=0.01), torch.optim.Adam(D.parameters(), lr=0.01)
ones, zeros = torch.ones(8, 1), torch.zeros(8, 1)
for i in range(6):
    real, fake = torch.randn(8, 2) + 2, G(torch.randn(8, 2))
    opt_d.zero_grad()
    F.binary_cross_entropy_with_logits(D(real), ones).backward()
    F.binary_cross_entropy_with_logits(D(fake.detach()), zeros).backward()
    opt_d.step()
    opt_g.zero_grad()
    F.binary_cross_entropy_with_logits(D(fake), ones).backward()
    opt_g.step()
""",
    "a GAN with one graph for both losses, reset in between": HEAD + """\
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(6):
    fake = G(torch.randn(8, 2))
    loss_d = D(fake).mean() - D(torch.randn(8, 2) + 2).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    opt_g.zero_grad()
    loss_g = -D(G(torch.randn(8, 2))).mean()
    loss_g.backward()
    opt_g.step()
""",
    "a gradient penalty": HEAD + """\
D = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.Adam(D.parameters(), lr=0.01)
for i in range(6):
    real, fake = torch.randn(8, 2) + 1, torch.randn(8, 2)
    mix = (0.3 * real + 0.7 * fake).requires_grad_()
    g, = torch.autograd.grad(D(mix).sum(), mix, create_graph=True)
    loss = D(fake).mean() - D(real).mean() + 10 * ((g.norm(dim=1) - 1) ** 2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "an average of the weights": DATA + NET + SGD
    + "average = [p.detach().clone() for p in net.parameters()]\n" + LOOP + """\
    with torch.no_grad():
        for a, p in zip(average, net.parameters()):
            a.mul_(0.9).add_(p, alpha=0.1)
""",
    "BYOL: two views and an average": DATA + """\
net, mean, predict = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(4, 4)
opt = torch.optim.SGD([*net.parameters(), *predict.parameters()], lr=0.05)
for i in range(6):
    a, b = X + 0.1 * torch.randn_like(X), X + 0.1 * torch.randn_like(X)
    with torch.no_grad():
        goal = mean(b)
    loss = F.mse_loss(predict(net(a)), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
    with torch.no_grad():
        for m, p in zip(mean.parameters(), net.parameters()):
            m.copy_(0.9 * m + 0.1 * p)
""",
    "tied weights": HEAD + """\
tokens = torch.arange(20) % 5
embed, head = nn.Embedding(5, 4), nn.Linear(4, 5, bias=False)
head.weight = embed.weight
opt = torch.optim.Adam(embed.parameters(), lr=0.01)
for i in range(6):
    loss = F.cross_entropy(head(embed(tokens[:-1])), tokens[1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "an RNN with a detached state": HEAD + """\
rnn, out = nn.RNN(1, 4, batch_first=True), nn.Linear(4, 1)
opt = torch.optim.Adam([*rnn.parameters(), *out.parameters()], lr=0.01)
x, h = torch.sin(torch.linspace(0, 6, 25)), None
for i in range(4):
    part = x[6 * i : 6 * i + 7]
    r, h = rnn(part[:-1].view(1, 6, 1), h)
    h = h.detach()
    loss = F.mse_loss(out(r).view(-1), part[1:])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a sum of losses over time": HEAD + """\
cell, out = nn.RNNCell(1, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=0.01)
x = torch.sin(torch.linspace(0, 6, 12)).view(12, 1, 1)
for i in range(3):
    h, loss = torch.zeros(1, 4), 0.0
    for t in range(11):
        h = cell(x[t], h)
        loss = loss + F.mse_loss(out(h), x[t + 1])
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "two heads on one body, two backward calls": DATA + """\
body, a, b = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *a.parameters(), *b.parameters()], lr=0.05)
for i in range(6):
    h = torch.tanh(body(X))
    opt.zero_grad()
    F.mse_loss(a(h), Y).backward(retain_graph=True)
    F.mse_loss(b(h), -Y).backward()
    opt.step()
""",
    "two optimizers, two losses, one body": DATA + """\
body, a, b = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
first = torch.optim.SGD([*body.parameters(), *a.parameters()], lr=0.05)
second = torch.optim.SGD(b.parameters(), lr=0.05)
for i in range(6):
    first.zero_grad()
    second.zero_grad()
    h = torch.tanh(body(X))
    F.mse_loss(a(h), Y).backward()
    F.mse_loss(b(h.detach()), Y).backward()
    first.step()
    second.step()
""",
    "a checkpointed block": DATA + "checkpoint = torch.utils.checkpoint.checkpoint\n" + NET + SGD
    + LOOP.replace("net(X)", "net[2](checkpoint(lambda x: net[1](net[0](x)), X, use_reentrant=False))"),
    "residual blocks with batch norm": HEAD + """\
class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2d(2, 2, 3, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(2)
    def forward(self, x):
        return F.relu(self.norm(self.conv(x)) + x)
X, y = torch.randn(4, 2, 5, 5), torch.arange(4) % 2
net = nn.Sequential(Block(), Block(), nn.Flatten(), nn.Linear(50, 2))
""" + SGD + LOOP.replace("F.mse_loss(net(X), Y)", "F.cross_entropy(net(X), y)"),
    "layers in a ModuleList": DATA + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.ModuleList([nn.Linear(3, 3) for _ in range(2)])
        self.out = nn.Linear(3, 1)
    def forward(self, x):
        for layer in self.layers:
            x = torch.tanh(layer(x))
        return self.out(x)
net = Net()
""" + SGD + LOOP,
    "a new model for each seed": DATA + """\
errors = []
for seed in range(3):
    net = nn.Linear(3, 1)
    opt = torch.optim.SGD(net.parameters(), lr=0.05)
    for i in range(2):
        loss = F.mse_loss(net(X), Y)
        opt.zero_grad()
        loss.backward()
        opt.step()
    errors.append(loss.item())
""",
    "an attack by the sign of the gradient": CLASSES + CLASSIFIER + """\
net.requires_grad_(False)
delta = torch.zeros_like(X, requires_grad=True)
opt = torch.optim.SGD([delta], lr=0.5)
for i in range(6):
    loss = -F.cross_entropy(net(X + delta), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    delta.data.clamp_(-0.1, 0.1)
""",
    "an attack, the model's gradients unused": CLASSES + CLASSIFIER + """\
x = X.clone().requires_grad_()
for i in range(3):
    loss = F.cross_entropy(net(x), y)
    g, = torch.autograd.grad(loss, x)
    x = (x + 0.1 * g.sign()).detach().requires_grad_()
""",
    "an image is optimized, not the model": HEAD + """\
net = nn.Sequential(nn.Conv2d(1, 2, 3), nn.ReLU(), nn.Flatten())
net.requires_grad_(False)
goal = net(torch.rand(1, 1, 5, 5))
image = torch.rand(1, 1, 5, 5, requires_grad=True)
opt = torch.optim.Adam([image], lr=0.1)
for i in range(6):
    loss = F.mse_loss(net(image), goal)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "MAML": DATA + """\
net = nn.Linear(3, 1)
opt = torch.optim.SGD(net.parameters(), lr=0.05)
for i in range(6):
    opt.zero_grad()
    w, b = net.weight, net.bias
    for step in range(2):
        inner = F.mse_loss(F.linear(X[:8], w, b), Y[:8])
        gw, gb = torch.autograd.grad(inner, (w, b), create_graph=True)
        w, b = w - 0.1 * gw, b - 0.1 * gb
    F.mse_loss(F.linear(X[8:], w, b), Y[8:]).backward()
    opt.step()
""",
    "LBFGS with a closure": DATA + """\
net = nn.Linear(3, 1)
opt = torch.optim.LBFGS(net.parameters(), max_iter=3)
def closure():
    opt.zero_grad()
    loss = F.mse_loss(net(X), Y)
    loss.backward()
    return loss
for i in range(2):
    opt.step(closure)
""",
    "low rank beside a frozen layer": DATA + """\
base = nn.Linear(3, 3)
base.requires_grad_(False)
A, B = nn.Parameter(torch.randn(2, 3) * 0.1), nn.Parameter(torch.zeros(3, 2))
opt = torch.optim.Adam([A, B], lr=0.01)
for i in range(6):
    loss = F.mse_loss(base(X) + X @ A.T @ B.T, X * 2)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "contrastive loss in both directions": DATA + """\
a, b, scale = nn.Linear(3, 4), nn.Linear(3, 4), nn.Parameter(torch.tensor(1.0))
opt = torch.optim.Adam([*a.parameters(), *b.parameters(), scale], lr=0.01)
for i in range(6):
    scores = scale.exp() * F.normalize(a(X), dim=1) @ F.normalize(b(X + 1), dim=1).T
    goal = torch.arange(16)
    loss = (F.cross_entropy(scores, goal) + F.cross_entropy(scores.T, goal)) / 2
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a physics-informed network": HEAD + """\
net = nn.Sequential(nn.Linear(1, 8), nn.Tanh(), nn.Linear(8, 1))
opt = torch.optim.Adam(net.parameters(), lr=0.01)
t = torch.linspace(0, 1, 8).view(8, 1).requires_grad_()
for i in range(6):
    u = net(t)
    slope, = torch.autograd.grad(u.sum(), t, create_graph=True)
    loss = ((slope + u) ** 2).mean() + (net(torch.zeros(1, 1)) - 1).pow(2).sum()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a straight-through Function": DATA + """\
class Sign(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.sign()
    @staticmethod
    def backward(ctx, g):
        return g.clamp(-1, 1)
net = nn.Linear(3, 4)
out = nn.Linear(4, 1)
opt = torch.optim.SGD([*net.parameters(), *out.parameters()], lr=0.05)
for i in range(6):
    loss = F.mse_loss(out(Sign.apply(net(X))), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a reversed gradient": DATA + """\
class Reverse(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.view_as(x)
    @staticmethod
    def backward(ctx, g):
        return -0.3 * g
body, task, domain = nn.Linear(3, 4), nn.Linear(4, 1), nn.Linear(4, 1)
opt = torch.optim.SGD([*body.parameters(), *task.parameters(), *domain.parameters()], lr=0.05)
for i in range(6):
    h = body(X)
    d = domain(Reverse.apply(h))
    loss = F.mse_loss(task(h), Y) + F.binary_cross_entropy_with_logits(d, (X[:, :1] > 0).float())
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "Functions whose backward is right": DATA + """\
class Softplus(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, beta):
        ctx.save_for_backward(x)
        ctx.beta = beta
        return (1 + (beta * x).exp()).log() / beta
    @staticmethod
    def backward(ctx, g):
        return g * torch.sigmoid(ctx.beta * ctx.saved_tensors[0]), None
class Rectify(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, g):
        return g * (ctx.saved_tensors[0] > 0)
class Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        return x @ w
    @staticmethod
    def backward(ctx, g):
        x, w = ctx.saved_tensors
        return g @ w.T, x.T @ g
net, w = nn.Linear(3, 4), nn.Parameter(torch.randn(4, 1))
opt = torch.optim.SGD([*net.parameters(), w], lr=0.05)
for i in range(6):
    loss = F.mse_loss(Product.apply(Rectify.apply(Softplus.apply(net(X), 2.0)), w), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "Functions whose backward is another on purpose": DATA + """\
class Binary(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return (x > 0).float()
    @staticmethod
    def backward(ctx, g):
        return g
class Guided(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x.clamp(min=0)
    @staticmethod
    def backward(ctx, g):
        return g.clamp(min=0) * (ctx.saved_tensors[0] > 0)
class Noise(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2 + torch.randn_like(x)
    @staticmethod
    def backward(ctx, g):
        return g
class Limited(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x.clone()
    @staticmethod
    def backward(ctx, g):
        return g.clamp(-0.01, 0.01)
net, head = nn.Linear(3, 4), nn.Linear(4, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.05)
for i in range(6):
    h = Limited.apply(Guided.apply(Noise.apply(net(X)))) + Binary.apply(net(X))
    loss = F.mse_loss(head(h), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "gradients of the targets are used": DATA + NET + SGD + """\
Y = torch.randn(16, 1, requires_grad=True)
for i in range(6):
    loss = F.mse_loss(net(X), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    influence = Y.grad.abs().sum()
    Y.grad = None
""",
    "ascent on a reward": HEAD + """\
mean = torch.tensor(0.0, requires_grad=True)
for i in range(6):
    reward = -((mean - 3) ** 2).mean()
    reward.backward()
    with torch.no_grad():
        mean += 0.1 * mean.grad
        mean.grad = None
""",
    "an option that is called require_grad": DATA + NET + SGD + """\
class Options:
    pass
options = Options()
options.require_grad = False
""" + LOOP,
    "a metric by NumPy": DATA + NET + SGD + LOOP + """\
    error = torch.tensor(net(X).detach().numpy() - Y.numpy())
    print(error.abs().mean())
""",
    "dropout and batch norm, evaluated after each epoch": DATA + """\
net = nn.Sequential(nn.Linear(3, 8), nn.BatchNorm1d(8), nn.ReLU(), nn.Dropout(0.3), nn.Linear(8, 1))
""" + SGD + """\
errors = []
for epoch in range(6):
    net.train()
    opt.zero_grad()
    loss = F.mse_loss(net(X), Y)
    loss.backward()
    opt.step()
    net.eval()
    with torch.no_grad():
        errors.append(F.mse_loss(net(X), Y).item())
""",
    "averages of losses and weights in lists": DATA + NET + SGD + """\
average, mean = [p.detach().clone() for p in net.parameters()], 0.0
for i in range(6):
    loss = F.mse_loss(net(X), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
    mean = 0.9 * mean + 0.1 * loss.item()
    with torch.no_grad():
        average = [0.9 * a + 0.1 * p for a, p in zip(average, net.parameters())]
""",
    "states of a sequence in a list": HEAD + """\
cell, out = nn.GRUCell(2, 4), nn.Linear(4, 1)
opt = torch.optim.Adam([*cell.parameters(), *out.parameters()], lr=0.01)
x, y = torch.randn(5, 3, 2), torch.randn(3, 1)
for i in range(6):
    states = [torch.zeros(3, 4)]
    for t in range(5):
        states.append(cell(x[t], states[-1]))
    loss = F.mse_loss(out(states[-1]), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a log-likelihood that is made larger": CLASSES + CLASSIFIER + """\
opt = torch.optim.SGD(net.parameters(), lr=0.1, maximize=True)
for i in range(6):
    loss = F.log_softmax(net(X), dim=1)[torch.arange(len(y)), y].mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "the negative log-likelihood by hand": CLASSES + CLASSIFIER + """\
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    loss = -F.log_softmax(net(X), dim=1).gather(1, y.view(-1, 1)).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "two networks that learn from each other": DATA + """\
a, b = nn.Linear(3, 2), nn.Linear(3, 2)
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.05)
for i in range(6):
    loss = F.mse_loss(a(X), b(X + 1)) + F.mse_loss(a(X).sum(1, keepdim=True), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "a divergence of two distributions": CLASSES + CLASSIFIER + """\
goal = torch.softmax(torch.randn(len(X), 4), dim=1)
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(6):
    loss = F.kl_div(F.log_softmax(net(X), dim=1), goal, reduction="batchmean")
    opt.zero_grad()
    loss.backward()
    opt.step()
""",
    "layers that a dictionary names, too": DATA + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 4), nn.Linear(4, 1)
        self.parts = {"first": self.a, "last": self.b}
    def forward(self, x):
        return self.parts["last"](torch.tanh(self.parts["first"](x)))
net = Net()
""" + SGD + LOOP,
    "data that come from NumPy": """\
import numpy as np
""" + DATA + """\
X = torch.from_numpy(np.linspace(-1, 1, 48, dtype=np.float32).reshape(16, 3))
""" + NET + SGD + LOOP,
}  # fmt: skip
