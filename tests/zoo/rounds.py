"""Typical mistakes of training loops that show in their rounds, and in no error. See `mistake` for what is
said of each."""

from __future__ import annotations

from .mistake import Mistake

HEAD = """\
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
X, Y, y = torch.randn(8, 2), torch.randn(8, 1), torch.arange(8) % 3
"""
FIT = (
    HEAD
    + """\
net = nn.Sequential(nn.Linear(2, 4), nn.Tanh(), nn.Linear(4, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.1)
total, losses = 0.0, []
for i in range(5):
    opt.zero_grad()
    loss = ((net(X) - Y) ** 2).mean()
    loss.backward()
    nn.utils.clip_grad_norm_(net.parameters(), 1.0)
    opt.step()
    total += loss.item()
    losses.append(loss.item())
"""
)
CLIP, STEP = "    nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n", "    opt.step()\n"
BACKWARD = "    loss.backward()\n"
FITTED = "not getattr(total, 'requires_grad', False) and losses[-1] < losses[0]"
CLASSES = (
    HEAD
    + """\
net = nn.Linear(2, 3)
opt = torch.optim.SGD(net.parameters(), lr=0.5)
for i in range(4):
    loss = F.nll_loss(F.log_softmax(net(X), dim=1), y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
STATE = (
    HEAD
    + """\
w = torch.tensor(0.5, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.01)
h = torch.tensor(1.0)
for i in range(6):
    h = h.detach() * 0.5 + w
    loss = (h - 3) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
)
GAN = (
    HEAD
    + """\
G, D = nn.Linear(2, 2), nn.Linear(2, 1)
opt_g, opt_d = torch.optim.SGD(G.parameters(), lr=0.1), torch.optim.SGD(D.parameters(), lr=0.1)
for i in range(3):
    fake = G(X)
    loss_d = D(fake.detach()).mean() - D(X + 2).mean()
    opt_d.zero_grad()
    loss_d.backward()
    opt_d.step()
    loss_g = -D(G(X)).mean()
    loss_g.backward()
    opt_g.step()
    opt_g.zero_grad()
"""
)
MODEL = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.a = nn.Linear(2, 4)
        self.b = nn.Linear(4, 1)
    def forward(self, x):
        return self.b(torch.tanh(self.a(x)))
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(4):
    opt.zero_grad()
    loss = ((net(X) - Y) ** 2).mean()
    loss.backward()
    opt.step()
"""
)
DROPOUT = (
    HEAD
    + """\
net = nn.Sequential(nn.Linear(2, 8), nn.Dropout(0.5), nn.Linear(8, 1))
opt = torch.optim.SGD(net.parameters(), lr=0.01)
net.eval()
with torch.no_grad():
    before = ((net(X) - Y) ** 2).mean().item()
net.train()
for i in range(4):
    opt.zero_grad()
    loss = ((net(X) - Y) ** 2).mean()
    loss.backward()
    opt.step()
"""
)

SLOPE = """\
w = torch.tensor(0.5, requires_grad=True)
x = torch.tensor([1.0, 2.0, 3.0])

y = torch.tensor([2.0, 4.0, 6.0])
for i in range(4):
    loss = ((w * x - y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.01 * w.grad
        w.grad = None
"""
TARGET = """\
nn, F = torch.nn, torch.nn.functional
torch.manual_seed(0)
X = torch.randn(8, 2)
Y = torch.randn(8, 1)
net, head = nn.Linear(2, 3), nn.Linear(3, 1)
opt = torch.optim.SGD([*net.parameters(), *head.parameters()], lr=0.1)
for i in range(4):
    h = net(X)
    loss = F.mse_loss(head(h), Y)
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
SQUARE = """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * 2 * x
x = torch.tensor(3.0, requires_grad=True)
y = Square.apply(x)
y.backward()
"""
STACK = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.first = nn.Linear(2, 4)
        self.rest = nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 1)])
    def forward(self, x):
        x = self.first(x)
        for layer in self.rest:
            x = layer(torch.tanh(x))
        return x
net = Net()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
before = net.rest[1].weight.detach().clone()
for i in range(3):
    opt.zero_grad()
    ((net(X) - Y) ** 2).mean().backward()
    opt.step()
"""
)
NORMED = (
    HEAD
    + """\
net = nn.Sequential(nn.Linear(2, 4), nn.BatchNorm1d(4), nn.Tanh(), nn.Linear(4, 1))
net.train()
opt = torch.optim.SGD(net.parameters(), lr=0.1)
for i in range(3):
    opt.zero_grad()
    ((net(X) - Y) ** 2).mean().backward()
    opt.step()
"""
)
MISTAKES = {
    "layers in a list beside one that is found": Mistake(
        STACK, "nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 1)])", "[nn.Linear(4, 4), nn.Linear(4, 1)]",
        "other_parameters", 15, "`self.rest` (line 8) is a Python list", "nn.ModuleList(",
        ("[nn.Linear(4, 4), nn.Linear(4, 1)]", "nn.ModuleList([nn.Linear(4, 4), nn.Linear(4, 1)])"),
        "bool((net.rest[1].weight != before).any())",
    ),
    "a layer replaced after the optimizer": Mistake(
        STACK, "before =", "net.first = nn.Linear(2, 4)\nbefore =", "stale_optimizer", 16,
        "still has the parameters of the layer that net.first was before line 16", "Create opt after line 16",
        ("opt = torch.optim.SGD(net.parameters(), lr=0.1)\nnet.first = nn.Linear(2, 4)\n",
         "net.first = nn.Linear(2, 4)\nopt = torch.optim.SGD(net.parameters(), lr=0.1)\n"),
        "net.first.weight.grad is not None",
    ),
    "batch norms in evaluation mode": Mistake(
        NORMED, "net.train()", "net.eval()", "eval_left_on", 5, "net.1 used its stored statistics",
        "`net.train()`", ("net.eval()", "net.train()"), "bool(net[1].running_mean.any())",
    ),
    "probabilities in kl_div": Mistake(
        HEAD + "net = nn.Linear(2, 3)\nwanted = F.softmax(torch.randn(8, 3), dim=1)\n"
        "loss = F.kl_div(F.log_softmax(net(X), dim=1), wanted, reduction='batchmean')\nloss.backward()\n",
        "F.log_softmax(net(X)", "F.softmax(net(X)", "scores_twice", 6, "the logarithm is missing",
        "torch.log_softmax", ("F.softmax(net(X)", "F.log_softmax(net(X)"), "loss.item() > 0",
    ),
    "clipping after the step": Mistake(
        FIT, CLIP + STEP, STEP + CLIP, "clip_late", 12, "after opt.step() (line 11) has used them",
        "between backward() and step()", (STEP + CLIP, CLIP + STEP), FITTED,
    ),
    "clipping before backward": Mistake(
        FIT, BACKWARD + CLIP, CLIP + BACKWARD, "clip_early", 10, "it clips nothing",
        "between backward() and step()", (CLIP + BACKWARD, BACKWARD + CLIP), FITTED,
    ),
    "a sum of losses with their graphs": Mistake(
        FIT, "total += loss.item()", "total += loss", "graph_kept", 13, "computed from results of 5 rounds",
        ".item()", ("total += loss", "total += loss.item()"), FITTED,
    ),
    "a list of losses with their graphs": Mistake(
        FIT, "losses.append(loss.item())", "losses.append(loss)", "graph_kept", 14, "in losses",
        "losses.append(loss.item())", 14, FITTED,
    ),
    "the negative of the loss": Mistake(
        FIT, "loss = ((net", "loss = -((net", "ascent", 9, "makes the loss larger", "the loss itself",
        ("loss = -((net", "loss = ((net"), FITTED,
    ),
    "a softmax over the batch": Mistake(
        CLASSES, "dim=1", "dim=0", "softmax_batch", 7, "the 8 samples, not along the 3 classes",
        "`loss = F.nll_loss(", 7, "loss.item() < 1.1",
    ),
    "scores in nll_loss": Mistake(
        CLASSES, "F.log_softmax(net(X), dim=1)", "net(X)", "scores_twice", 7, "no lower bound",
        "cross_entropy", ("F.nll_loss", "F.cross_entropy"), "0 < loss.item() < 1.1",
    ),
    "a graph that grows": Mistake(
        STATE, "h.detach() * 0.5 + w\n    loss = (h - 3) ** 2\n    opt.zero_grad()\n    loss.backward()",
        "h * 0.5 + w\n    loss = (h - 3) ** 2\n    opt.zero_grad()\n    loss.backward(retain_graph=True)",
        "graph_growth", 11, "all earlier rounds again, 6", ".detach()",
        ("h * 0.5 + w\n    loss = (h - 3) ** 2\n    opt.zero_grad()\n    loss.backward(retain_graph=True)",
         "h.detach() * 0.5 + w\n    loss = (h - 3) ** 2\n    opt.zero_grad()\n    loss.backward()"),
        "h.item() > 1",
    ),
    "a GAN without detach": Mistake(
        GAN, "fake.detach()", "fake", "mixed_losses", 10, "also added gradients to G.",
        "detach()", ("D(fake)", "D(fake.detach())"), "loss_g.item() < 1",
    ),
    "a layer made in forward": Mistake(
        MODEL, "self.b(torch", "nn.Linear(4, 1)(torch", "layer_made_anew", 10,
        "a Linear of its own in each of 4", "in __init__",
        ("nn.Linear(4, 1)(torch", "self.b(torch"), "net.b.weight.grad is not None",
    ),
    "weights that begin with 0": Mistake(
        MODEL, "net = Net()\n", "net = Net()\nfor p in net.parameters():\n    nn.init.zeros_(p)\n",
        "equal_units", None, "began with 0", "random weights",
        ("nn.init.zeros_(p)", "nn.init.normal_(p)"), "True",
    ),
    "weights that begin alike": Mistake(
        MODEL, "net = Net()\n", "net = Net()\nfor p in net.parameters():\n    nn.init.constant_(p, 0.5)\n",
        "equal_units", None, "began with equal weights", "random weights",
        ("nn.init.constant_(p, 0.5)", "nn.init.normal_(p)"), "True",
    ),
    "training in evaluation mode": Mistake(
        DROPOUT, "net.train()\n", "", "eval_left_on", 6, "net.1 drops nothing", "`net.train()`",
        ("for i", "net.train()\nfor i"), "net.training",
    ),
    "the gradient is added": Mistake(
        SLOPE, "w -= ", "w += ", "ascent", 9, "grew from 10.5", "`w -= 0.01 * w.grad`", 9,
        "loss.item() < 10",
    ),
    "the gradient is added to data": Mistake(
        SLOPE, "        w -= 0.01 * w.grad\n", "        w.data += 0.01 * w.grad\n", "ascent", 9,
        "points to where the loss grows", "`w.data -= 0.01 * w.grad`", 9, "loss.item() < 10",
    ),
    "a target that requires gradients": Mistake(
        SLOPE, "[2.0, 4.0, 6.0]", "[2.0, 4.0, 6.0], requires_grad=True", "learning_target", 4,
        "y is the target of (w * x - y) ** 2", "`y = torch.tensor([2.0, 4.0, 6.0])`", 4, "y.grad is None",
    ),
    "a target of a loss function that requires gradients": Mistake(
        TARGET, "randn(8, 1)", "randn(8, 1, requires_grad=True)", "learning_target", 4,
        "Y is the target of", "without requires_grad=True",
        ("randn(8, 1, requires_grad=True)", "randn(8, 1)"), "Y.grad is None",
    ),
    "features by NumPy": Mistake(
        TARGET, "h = net(X)", "h = torch.tensor(net(X).detach().numpy())", "out_of_reach", 8,
        "no gradient reaches net", "`h = net(X)`", 8, "net.weight.grad is not None",
    ),
    "a factor by NumPy": Mistake(
        SLOPE + "a = torch.tensor(3.0, requires_grad=True)\nb = (a * 2).exp()\n(w * b).backward()\n",
        "b = (a * 2).exp()", "b = torch.from_numpy((a * 2).exp().detach().numpy())", "out_of_reach", 12,
        "no gradient reaches a", "`b = (a * 2).exp()`", 12, "a.grad is not None",
    ),
    "a misspelled flag of a layer": Mistake(
        TARGET, "for i",
        "for p in net.parameters():\n    p.require_grad = False\nfor i",
        "misspelled_flag", 8, "which nothing reads", "`p.requires_grad = False`", 8,
        "net.weight.grad is None",
    ),
    "a backward without the factor 2": Mistake(
        SQUARE, "g * 2 * x", "g * x", "wrong_gradient", 9, "numerically it is 6", "derivative of what",

        ("g * x", "g * 2 * x"), "x.grad.item() == 6",
    ),
    "a backward without a gradient": Mistake(
        SQUARE, "return g * 2 * x", "return None", "wrong_gradient", 9, "returned None", "saved tensors",
        ("return None", "return g * 2 * x"), "x.grad.item() == 6",
    ),
    "a backward with the wrong input": Mistake(
        SQUARE.replace("x * x", "x * x * x").replace("g * 2 * x", "g * 3 * x * x"),
        "g * 3 * x * x", "g * 3 * x", "wrong_gradient", 9, "returned 9", "derivative of what",

        ("g * 3 * x", "g * 3 * x * x"), "x.grad.item() == 27",
    ),
}  # fmt: skip
