"""Programs that are healthy, some of them in unusual ways. A report of one must accuse nothing."""

from __future__ import annotations

from doctor.families import FAMILIES, HEAD
from doctor.faults import BACK, BATCH, BODY, FORWARD, LOOP, MAKE, ORDER, STEP, ZERO, Program, edited

ADAM = (MAKE, "optimizer = torch.optim.Adam(net.parameters(), lr=0.01 * ")
EVERY = "mlp cnn rnn gpt vae"
HEAD_ONLY = (MAKE, "optimizer = torch.optim.SGD(net.head.parameters(), lr=")
UNRECORDED = (BODY, "        with torch.no_grad():\n            h = self.body(x)\n")
PROBED = "    with torch.no_grad():\n        h = net.body(x)\n    out = net.head(h)\n"
TUNING = """\
tuner = torch.optim.SGD(net.parameters(), lr=0.05)
for round in range(10):
    i = torch.randint(0, len(X), (16,))
    out, y = net(X[i]), Y[i]
    loss = LOSS
    tuner.zero_grad()
    loss.backward()
    tuner.step()
"""


def trained_first(loss: str) -> tuple[str, str]:
    """The edit that trains the whole net before the optimizer of its head is created."""
    return MAKE, TUNING.replace("LOSS", loss) + HEAD_ONLY[1]


WAYS = [
    ("plain", EVERY + " gan", ()),
    ("adam", EVERY, (ADAM,)),
    ("momentum", "mlp cnn", ((MAKE, "optimizer = torch.optim.SGD(net.parameters(), momentum=0.9, lr=0.2 * "),)),
    ("accumulation", EVERY, ((ORDER, "    (loss / 4).backward()\n    if step % 4 == 3:\n        optimizer.step()\n        optimizer.zero_grad()\n"),)),
    ("reset_at_the_end", "mlp gpt", ((ORDER, BACK + STEP + ZERO),)),
    ("reset_of_the_model", "mlp cnn", ((ZERO, "    net.zero_grad()\n"),)),
    ("reset_by_hand", "mlp rnn", ((ZERO, "    for p in net.parameters():\n        p.grad = None\n"),)),
    ("reset_to_zeros", "mlp cnn", ((ZERO, "    optimizer.zero_grad(set_to_none=False)\n"),)),
    ("clipped_often", EVERY, ((STEP, "    nn.utils.clip_grad_norm_(net.parameters(), 0.3)\n" + STEP),)),
    ("warm_up", "mlp gpt", ((LOOP, "scheduler = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda s: min(1.0, s / 10))\n" + LOOP), (STEP, STEP + "    scheduler.step()\n"))),
    ("cosine", "mlp cnn", ((LOOP, "scheduler = torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, 40)\n" + LOOP), (STEP, STEP + "    scheduler.step()\n"))),
    ("frozen_body", EVERY, ((LOOP, "net.body.requires_grad_(False)\n" + LOOP),)),
    ("frozen_norm", "cnn", ((LOOP, "net.body[1].eval()\nnet.body[1].requires_grad_(False)\n" + LOOP),)),
    ("probe", "mlp cnn gpt", (UNRECORDED, HEAD_ONLY)),
    ("probe_in_the_loop", "mlp cnn", (HEAD_ONLY, (FORWARD, PROBED))),
    ("probe_detached", "mlp rnn gpt", (HEAD_ONLY, (BODY, BODY[:-1] + ".detach()\n"))),
    ("probe_frozen", "mlp cnn rnn", (HEAD_ONLY, (LOOP, "net.body.requires_grad_(False)\nnet.body.eval()\n" + LOOP))),
    ("probe_frozen_all_given", "mlp cnn", (UNRECORDED, (LOOP, "net.body.requires_grad_(False)\n" + LOOP))),
    ("probe_of_features", "mlp cnn", (HEAD_ONLY, (LOOP, "net.eval()\nwith torch.no_grad():\n    X = net.body(X)\n" + LOOP), (FORWARD, "    out = net.head(x)\n"))),
    ("probe_clipped", "mlp cnn", (HEAD_ONLY, UNRECORDED, (STEP, "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n" + STEP))),
    ("probe_after_training", "mlp", (trained_first("F.mse_loss(out, y)"), (FORWARD, PROBED))),
    ("probe_after_training", "cnn", (trained_first("F.cross_entropy(out, y)"), (FORWARD, PROBED))),
    ("two_optimizers", "mlp cnn", ((MAKE, "second = torch.optim.SGD(net.body.parameters(), lr=0.05)\noptimizer = torch.optim.SGD(net.head.parameters(), lr="), (ZERO, ZERO + "    second.zero_grad()\n"), (STEP, STEP + "    second.step()\n"))),
    ("mixed_precision", "mlp gpt", ((FORWARD, "    with torch.autocast('cpu', dtype=torch.bfloat16):\n        out = net(x)\n"), ("loss = F.", "out = out.float()\n    loss = F."))),
    ("logging", "mlp cnn vae", ((LOOP, "history, seen = [], []\n" + LOOP), (STEP, STEP + "    history.append(loss.item())\n    seen.append(out.detach().mean())\n"))),
    ("evaluation", "mlp cnn gpt", ((STEP, STEP + "    if step % 10 == 9:\n        net.eval()\n        with torch.no_grad():\n            error = F.mse_loss(net(X), torch.zeros_like(net(X)))\n        net.train()\n"),)),
    ("full_batch", "mlp rnn", ((BATCH, ""), ("x, y = X[i], Y[i]", "x, y = X, Y"))),
    ("by_hand", "mlp rnn", ((ORDER, BACK + "    with torch.no_grad():\n        for p in net.parameters():\n            p -= 0.05 * p.grad\n            p.grad = None\n"),)),
    ("closure", "mlp", ((MAKE, "optimizer = torch.optim.LBFGS(net.parameters(), max_iter=3, lr=1.0 * "), (ORDER, "    def closure():\n        optimizer.zero_grad()\n        loss = F.mse_loss(net(x), y)\n        loss.backward()\n        return loss\n    optimizer.step(closure)\n"))),
    ("average", "mlp cnn", ((LOOP, "import copy\naverage = copy.deepcopy(net)\n" + LOOP), (STEP, STEP + "    with torch.no_grad():\n        for a, b in zip(average.parameters(), net.parameters()):\n            a.lerp_(b, 0.1)\n"))),
    ("checkpointed", "mlp rnn", ((BODY, "        h = torch.utils.checkpoint.checkpoint(self.body, x, use_reentrant=False)\n"), ("import torch\n", "import torch\nimport torch.utils.checkpoint\n"))),
    ("stochastic_depth", "mlp gpt", (("        return self.head(h)", "        h = h if torch.rand(()) < 0.8 else h * 1.0\n        return self.head(h)"),)),
    ("log_softmax", "cnn", (("F.cross_entropy(out, y)", "F.nll_loss(F.log_softmax(out, dim=1), y)"),)),
    ("smoothing", "cnn gpt", (("F.cross_entropy(out, ", "F.cross_entropy(label_smoothing=0.1, input=out, target="),)),
    ("sum", "mlp", (("F.mse_loss(out, y)", "F.mse_loss(out, y, reduction='sum')"), (MAKE, "optimizer = torch.optim.SGD(net.parameters(), lr=0.05 * "))),
    ("tied", "gpt", (("        self.head = nn.Linear(16, 11)\n", "        self.head = nn.Linear(16, 11)\n        self.head.weight = self.body.token.weight\n"), ("lr=0.2", "lr=0.02"))),
    ("zero_last", "mlp gpt", ((LOOP, "nn.init.zeros_(net.head.weight)\nnn.init.zeros_(net.head.bias)\n" + LOOP),)),
    ("sparse_embedding", "gpt", (("nn.Embedding(11, 16)", "nn.Embedding(11, 16, sparse=True)"),)),
    ("loader", "mlp cnn", ((LOOP, "data = torch.utils.data.TensorDataset(X, Y)\nloader = torch.utils.data.DataLoader(data, batch_size=16, shuffle=True)\nfor step, (x, y) in enumerate(loader):\n"), (BATCH, ""), ("    x, y = X[i], Y[i]\n", ""))),
    ("high_dropout", "mlp", (("nn.Dropout(0.1)", "nn.Dropout(0.6)"),)),
    ("seeds_differ", "mlp rnn", ((LOOP, LOOP + "    torch.manual_seed(step)\n"),)),
]  # fmt: skip

OTHERS = {
    "lora": HEAD
    + """\
base = nn.Linear(8, 8)
base.requires_grad_(False)
A, B = nn.Parameter(torch.randn(2, 8) * 0.3), nn.Parameter(torch.zeros(8, 2))
optimizer = torch.optim.Adam([A, B], lr=0.01)
X = torch.randn(200, 8)
for step in range(40):
    x = X[torch.randint(0, 200, (16,))]
    out = base(x) + x @ A.T @ B.T
    loss = F.mse_loss(out, x.flip(1))
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "contrastive": HEAD
    + """\
net = nn.Sequential(nn.Linear(8, 16), nn.ReLU(), nn.Linear(16, 4))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
X = torch.randn(200, 8)
for step in range(40):
    x = X[torch.randint(0, 200, (16,))]
    a = F.normalize(net(x + 0.1 * torch.randn_like(x)), dim=1)
    b = F.normalize(net(x + 0.1 * torch.randn_like(x)), dim=1)
    scores = a @ b.T / 0.2
    loss = (F.cross_entropy(scores, torch.arange(16)) + F.cross_entropy(scores.T, torch.arange(16))) / 2
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "q_learning": HEAD
    + """\
import copy
net = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 2))
target = copy.deepcopy(net)
optimizer = torch.optim.Adam(net.parameters(), lr=0.005)
S = torch.randn(300, 4)
for step in range(40):
    i = torch.randint(0, 300, (16,))
    s, r, a = S[i], S[i].sum(1), torch.randint(0, 2, (16, 1))
    with torch.no_grad():
        value = r + 0.9 * target(S[(i + 1) % 300]).max(1).values
    loss = F.smooth_l1_loss(net(s).gather(1, a)[:, 0], value)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
    if step % 10 == 9:
        target.load_state_dict(net.state_dict())
""",
    "reinforce": HEAD
    + """\
net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
optimizer = torch.optim.Adam(net.parameters(), lr=0.01)
S = torch.randn(200, 4)
for step in range(40):
    s = S[torch.randint(0, 200, (16,))]
    policy = torch.distributions.Categorical(logits=net(s))
    action = policy.sample()
    advantage = (action == s[:, :3].argmax(1)).float() - 0.3
    loss = -(policy.log_prob(action) * advantage).mean() - 0.01 * policy.entropy().mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "ppo": HEAD
    + """\
actor = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 3))
critic = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam([*actor.parameters(), *critic.parameters()], lr=0.005)
for rollout in range(8):
    s = torch.randn(32, 4)
    with torch.no_grad():
        old = torch.distributions.Categorical(logits=actor(s))
        action = old.sample()
        before, value = old.log_prob(action), critic(s)[:, 0]
    reward = (action == s[:, :3].argmax(1)).float()
    for epoch in range(4):
        now = torch.distributions.Categorical(logits=actor(s))
        ratio = (now.log_prob(action) - before).exp()
        gain = torch.minimum(ratio * (reward - value), ratio.clamp(0.8, 1.2) * (reward - value)).mean()
        loss = F.mse_loss(critic(s)[:, 0], reward) - gain
        optimizer.zero_grad()
        loss.backward()
        nn.utils.clip_grad_norm_(actor.parameters(), 0.5)
        optimizer.step()
""",
    "penalty": HEAD
    + """\
D = nn.Sequential(nn.Linear(2, 16), nn.Tanh(), nn.Linear(16, 1))
optimizer = torch.optim.Adam(D.parameters(), lr=0.005)
real = torch.randn(200, 2) + 2
for step in range(30):
    x, fake = real[torch.randint(0, 200, (16,))], torch.randn(16, 2)
    mixed = (0.5 * x + 0.5 * fake).requires_grad_()
    (slope,) = torch.autograd.grad(D(mixed).sum(), mixed, create_graph=True)
    loss = D(fake).mean() - D(x).mean() + 10 * ((slope.norm(dim=1) - 1) ** 2).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "truncated": HEAD
    + """\
cell, head = nn.GRUCell(3, 16), nn.Linear(16, 1)
optimizer = torch.optim.Adam([*cell.parameters(), *head.parameters()], lr=0.01)
X = torch.randn(400, 8, 3)
state = torch.zeros(8, 16)
for step in range(40):
    state = state.detach()
    losses = []
    for t in range(5):
        x = X[(5 * step + t) % 400]
        state = cell(x, state)
        losses.append(F.mse_loss(head(state), x[:, :1]))
    loss = torch.stack(losses).mean()
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
""",
    "functions": HEAD
    + """\
def make():
    return nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 32), nn.ReLU(), nn.Linear(32, 1))


def train(net, optimizer, X, Y, epochs):
    for epoch in range(epochs):
        total = 0.0
        for x, y in zip(X.split(20), Y.split(20)):
            loss = F.mse_loss(net(x), y)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
    return total


X = torch.randn(200, 8)
net = make()
train(net, torch.optim.Adam(net.parameters(), lr=0.005), X, X.sum(1, keepdim=True), 6)
""",
}


def programs() -> list[Program]:
    """All healthy programs, in order."""
    found = [
        edited(f"{way}-{family}", FAMILIES[family], edits)
        for way, families, edits in WAYS
        for family in families.split()
    ]
    return [*found, *(Program(name, source, 0) for name, source in OTHERS.items())]
