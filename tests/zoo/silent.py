"""Mistakes of which no error tells, each as a notebook writes it: `# %%` stands between the cell with the
class, the one that prepares and the one that trains. See `mistake` for what is said of each."""

from __future__ import annotations

from .mistake import Mistake

HEAD = "nn, F = torch.nn, torch.nn.functional\ntorch.manual_seed(0)\n"
CLASS = """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.body = nn.Linear(3, 6)
        self.drop = nn.Dropout(0.1)
        self.head = nn.Linear(6, 1)
    def forward(self, x):
        return self.head(self.drop(torch.tanh(self.body(x))))
# %%
X = torch.randn(16, 3)
Y = X.sum(1, keepdim=True)
net, criterion = Net(), nn.MSELoss()
"""
SGD = "opt = torch.optim.SGD(net.parameters(), lr=0.05)\n"
LOOP = """\
for epoch in range(6):
    opt.zero_grad()
    loss = criterion(net(X), Y)
    loss.backward()
    opt.step()
"""
NET = HEAD + CLASS + SGD + "# %%\n" + LOOP
PARTS = (
    HEAD
    + CLASS.replace(
        "self.drop = nn.Dropout(0.1)", "self.drop = nn.ModuleDict({'a': nn.Linear(6, 6)})"
    ).replace("self.drop(", "self.drop['a'](")
    + SGD
    + "# %%\n"
    + LOOP
)
LISTS = NET.replace("for epoch", "mean = [p.detach().clone() for p in net.parameters()]\nfor epoch") + (
    "    mean = [0.9 * m + 0.1 * p.detach() for m, p in zip(mean, net.parameters())]\n"
)
CHECKED = NET.replace("    opt.zero_grad()\n", "    net.train()\n    opt.zero_grad()\n") + (
    "    net.eval()\n    with torch.no_grad():\n        error = criterion(net(X), Y).item()\n"
)
HELD = NET.replace(
    "# %%\nfor", "net.train()\nfor p in net.body.parameters():\n    p.requires_grad = False\n# %%\nfor"
)
FROZEN = NET.replace("# %%\nfor", "net.body.requires_grad_(False)\n# %%\nfor")
PREDICTED = NET.replace(SGD, SGD + "target = Net()\n").replace("(net(X), Y)", "(net(X), target(X).detach())")
CLASSES = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer, self.log = nn.Linear(3, 4), nn.LogSoftmax(dim=1)
    def forward(self, x):
        return self.log(self.layer(x))
# %%
X, y, rows = torch.randn(12, 3), torch.arange(12) % 4, torch.arange(12)
net, criterion = Net(), nn.NLLLoss()
opt = torch.optim.Adam(net.parameters(), lr=0.05)
# %%
for epoch in range(6):
    opt.zero_grad()
    loss = criterion(net(X), y)
    loss.backward()
    opt.step()
"""
)
BINARY = (
    HEAD
    + """\
class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(3, 1)
        nn.init.constant_(self.layer.bias, 0.5)
    def forward(self, x):
        return torch.sigmoid(self.layer(x))
# %%
X, y = 0.1 * torch.rand(12, 3), (torch.arange(12.0) % 2).reshape(12, 1)
net, criterion = Net(), nn.BCELoss()
opt = torch.optim.SGD(net.parameters(), lr=0.01)
# %%
for epoch in range(6):
    opt.zero_grad()
    loss = criterion(net(X), y)
    loss.backward()
    opt.step()
"""
)
CHOSEN = CLASSES.replace("criterion(net(X), y)", "-net(X)[rows, y].mean()")
DIVERGED = CLASSES.replace("nn.NLLLoss()", "nn.KLDivLoss(reduction='batchmean')").replace(
    "torch.arange(12) % 4", "F.softmax(torch.randn(12, 4), dim=1)"
)
BY_HAND = (
    HEAD
    + """\
w, b = torch.randn(3, 1, requires_grad=True), torch.zeros(1, requires_grad=True)
# %%
X = torch.randn(16, 3)
Y = X.sum(1, keepdim=True)
# %%
for i in range(6):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    for p in [w, b]:
        with torch.no_grad(): p -= 0.05 * p.grad
        p.grad = None
"""
)
BY_DATA = (
    HEAD
    + CLASS
    + """\
# %%
for i in range(6):
    net.zero_grad()
    loss = criterion(net(X), Y)
    loss.backward()
    for p in net.parameters():
        p.data.sub_(0.01 * p.grad)
"""
)
TWO = (
    HEAD
    + """\
X, net = torch.randn(6, 3), nn.Linear(3, 1)
# %%
t, u = torch.randn(6, 1), torch.randn(6, 1)
# %%
out = net(X)
a = F.mse_loss(out, t)
b = F.l1_loss(out, u)
(a + b).backward()
"""
)
LEAF = (
    HEAD
    + """\
w = torch.tensor([0.5, 1.0])
w.requires_grad = True
# %%
X = torch.randn(4, 2)
# %%
loss = (X @ w).pow(2).mean()
loss.backward()
"""
)
NUMPY = "import numpy as np\n" + NET
DROPPED = "self.drop(torch.tanh(self.body(x)))"
TRAINED = "loss.item() < 20"
MOVED = "net.body.weight.grad is not None"


def silent(
    program: str, right: str, wrong: str, key: str, line: int | None, why: str, fix: str, check: str = "True"
) -> Mistake:
    """A mistake that the code of its fix cures or, where that is words, what was right."""
    return Mistake(program, right, wrong, key, line, why, fix, (wrong, right), check)


MISTAKES = {
    "layers in a dictionary": silent(
        PARTS, "nn.ModuleDict({'a': nn.Linear(6, 6)})", "{'a': nn.Linear(6, 6)}", "unregistered", 7,
        "is a Python dictionary", "write `nn.ModuleDict({'a': nn.Linear(6, 6)})`", TRAINED,
    ),
    "half of a model": silent(
        NET, "SGD(net.parameters()", "SGD(net.head.parameters()", "other_parameters", 15,
        "net.body.weight", "all of the model: `opt = torch.optim.SGD(net.parameters(), lr=0.05)`", TRAINED,
    ),
    "a layer assigned in forward": silent(
        NET, "        return self", "        self.head = nn.Linear(6, 1)\n        return self",
        "layer_made_anew", 10, "nn.Linear(6, 1) (line 10) creates a Linear", "in __init__", TRAINED,
    ),
    "no reset of several parameters": silent(
        BY_DATA, "    net.zero_grad()\n    loss", "    loss", "kept_gradient", 18, "was updated in between",
        "`net.zero_grad()`", TRAINED,
    )._replace(cure=("):\n    loss =", "):\n    net.zero_grad()\n    loss =")),
    "scores between 0 and 1 in BCELoss": silent(
        BINARY, "torch.sigmoid(self.layer(x))", "self.layer(x)", "scores_twice", 17,
        "nothing keeps the result of self.layer(x) (line 9) between 0 and 1", "BCEWithLogitsLoss",
        "loss.item() > 0",
    ),
    "scores in KLDivLoss": silent(
        DIVERGED, "self.log(self.layer(x))", "self.layer(x)", "scores_twice", 16, "no lower bound",
        "Apply torch.log_softmax", "loss.item() > 0",
    ),
    "a layer of log-softmax over the batch": silent(
        CLASSES, "nn.LogSoftmax(dim=1)", "nn.LogSoftmax(dim=0)", "softmax_batch", 8, "the 12 samples",
        "nn.LogSoftmax(dim=1)`", TRAINED,
    ),
    "classes chosen of a softmax over the batch": silent(
        CHOSEN, "nn.LogSoftmax(dim=1)", "nn.LogSoftmax(dim=0)", "softmax_batch", 8, "the 12 samples",
        "nn.LogSoftmax(dim=1)`", TRAINED,
    ),
    "an average in a list, with graphs": silent(
        LISTS, "0.1 * p.detach()", "0.1 * p", "graph_kept", 23, "mean was computed from results of 6 rounds",
        "no_grad()", TRAINED,
    ),
    "a misspelled flag of a leaf": silent(
        LEAF, "w.requires_grad = True", "w.require_grad = True", "misspelled_flag", 4, "which nothing reads",
        "`w.requires_grad = True`", "w.grad is not None",
    ),
    "a misspelled flag in a loop": silent(
        HELD, "    p.requires_grad = False", "    p.require_grad = False", "misspelled_flag", 18,
        "which nothing reads", "`p.requires_grad = False`", "net.body.weight.grad is None",
    ),
    "the flag of a module": silent(
        FROZEN, "net.body.requires_grad_(False)", "net.body.requires_grad = False", "misspelled_flag", 16,
        "only tensors have requires_grad", "write `net.body.requires_grad_(False)`",
        "net.body.weight.grad is None",
    ),
    "updates of a loop's variable": silent(
        BY_HAND, "with torch.no_grad(): p -= 0.05 * p.grad", "p = p - 0.05 * p.grad", "loop_update", 10,
        "The parameters in [w, b] stay as they are", "`with torch.no_grad(): p -= 0.05 * p.grad`", TRAINED,
    ),
    "0 - loss": silent(
        NET, "loss = criterion(", "loss = 0 - criterion(", "ascent", 19, "is the negative of a loss",
        "the loss itself", TRAINED,
    ),
    "-1 * loss": silent(
        NET, "loss = criterion(", "loss = -1 * criterion(", "ascent", 19, "is the negative of a loss",
        "the loss itself", TRAINED,
    ),
    "a log-likelihood that is made smaller": silent(
        CHOSEN, "loss = -net(X)", "loss = net(X)", "ascent", 16, "the logarithms of the right classes",
        "its negative", "loss.item() > 0",
    ),
    "evaluation mode, set beside the model": silent(
        NET, SGD, SGD + "net.eval()\n", "eval_left_on", 16, "net.drop drops nothing", "`net.train()` before",
        "net.training",
    ),
    "train(False)": silent(
        NET, SGD, SGD + "net.train(False)\n", "eval_left_on", 16, "net.train(False) (line 16)",
        "`net.train()` before", "net.training",
    ),
    "evaluation mode from the second round on": silent(
        CHECKED, "    net.train()\n", "", "eval_left_on", 22, "net.eval() (line 22)",
        "at the beginning of each round",
    )._replace(cure=("    opt.zero_grad()\n", "    net.train()\n    opt.zero_grad()\n")),
    "two losses that broadcast": silent(
        TWO, "torch.randn(6, 1), torch.randn(6, 1)", "torch.randn(6, 1), torch.randn(6)", "broadcast_loss", 9,
        "out is 6×1 and u is a vector", "`b = F.l1_loss(out, u.unsqueeze(1))`", "loss is None",
    )._replace(check="net.weight.grad is not None"),
    "the target of another model": silent(
        PREDICTED, "target(X).detach()", "target(X)", "learning_target", 20, "it was computed with a graph",
        "detach() it", "target.body.weight.grad is None",
    ),
    "an array of NumPy in the model": silent(
        NUMPY, DROPPED, "torch.from_numpy(np.tanh(self.body(x).detach().numpy()))", "out_of_reach", 11,
        "NumPy records no graph", "`return self.head(torch.tanh(self.body(x)))`", MOVED,
    ),
    "the loss by NumPy": silent(
        NUMPY, "loss = criterion(net(X), Y)",
        "loss = torch.tensor(np.mean((net(X).detach().numpy() - Y.numpy()) ** 2), requires_grad=True)",
        "out_of_reach", 20, "a new leaf", "`loss = torch.mean((net(X) - Y) ** 2)`", MOVED,
    ),
    "numbers of a list in the model": silent(
        NET, DROPPED, "torch.tensor([[v * 2 for v in row] for row in self.body(x).tolist()])", "out_of_reach",
        10, "Python numbers taken from self.body(x)", "without item()", MOVED,
    ),
    "a layer replaced in the cell of the loop": silent(
        NET, "# %%\nfor epoch", "# %%\nnet.head = nn.Linear(6, 1)\nfor epoch", "stale_optimizer", 17,
        "the layer that net.head was before", "Create opt after", TRAINED,
    ),
}  # fmt: skip
