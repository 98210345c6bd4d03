"""Typical mistakes in a whole program: a model, a loss, an optimizer, a loop."""

from __future__ import annotations

from .mistake import Mistake

FIT = """\
torch.manual_seed(0)
X = torch.randn(16, 3)
Y = X @ torch.tensor([[1.0], [-2.0], [0.5]]) + 0.3
model = torch.nn.Sequential(torch.nn.Linear(3, 8), torch.nn.Tanh(), torch.nn.Linear(8, 1))
criterion = torch.nn.MSELoss()
opt = torch.optim.SGD(model.parameters(), lr=0.05)
for epoch in range(10):
    opt.zero_grad()
    loss = criterion(model(X), Y)
    loss.backward()
    opt.step()
"""
FITTED = "loss.item() < 2"
CLASSES = """\
torch.manual_seed(0)
X = torch.randn(16, 4)
t = (X[:, 0] > 0).long() + (X[:, 1] > 0).long()
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = torch.nn.ModuleList([torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)])
    def forward(self, x):
        for layer in self.layers:
            x = layer(torch.tanh(x))
        return x
net = Net()
criterion = torch.nn.CrossEntropyLoss()
opt = torch.optim.Adam(net.parameters(), lr=0.01)
for epoch in range(5):
    opt.zero_grad()
    out = net(X)
    loss = criterion(out, t)
    loss.backward()
    opt.step()
"""
TOLD = "loss.item() < 2 and out.shape == (16, 3)"
LAYERS = "torch.nn.ModuleList([torch.nn.Linear(4, 8), torch.nn.Linear(8, 3)])"
CARRIED = """\
torch.manual_seed(0)
rnn = torch.nn.RNN(3, 4)
head = torch.nn.Linear(4, 1)
opt = torch.optim.SGD([*rnn.parameters(), *head.parameters()], lr=0.01)
h = torch.zeros(1, 2, 4)
for i in range(3):
    x = torch.randn(5, 2, 3)
    h = h.detach()
    out, h = rnn(x, h)
    loss = head(out).pow(2).mean()
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
HALVED = FIT.replace("torch.nn.Tanh()", "Half()").replace(
    "model = ", "class Half(torch.nn.Module):\n    def forward(self, x):\n        return x / 2\nmodel = "
)
SEQUENCE = """\
class Both(torch.nn.Module):
    def forward(self, x):
        return x * 2
model = torch.nn.Sequential(Both(), torch.nn.Linear(3, 2))
y = model(torch.ones(4, 3))
"""
CHOSEN = """\
x = torch.arange(12.0).reshape(4, 3)
places = torch.tensor([0, 1, 2])
y = x.index_select(dim=1, index=places)
"""
DEFAULT = """\
def scaled(x, by=None):
    return x * by if by is not None else x
y = scaled(torch.ones(3))
"""
GIVEN = """\
rows = torch.tensor([[1.0, 2.0, 0.5], [3.0, 4.0, 0.5], [5.0, 6.0, 0.5]])[:, :2].T
model = torch.nn.Linear(3, 4)
out = model(rows)
"""

MISTAKES: dict[str, Mistake] = {
    "step without parentheses": Mistake(
        FIT, "opt.step()", "opt.step", "not_called", 11, "does not call it", "`opt.step()`", 11, FITTED,
    ),
    "backward without parentheses": Mistake(
        FIT, "loss.backward()", "loss.backward", "not_called", 10, "does not call it",
        "`loss.backward()`", 10, FITTED,
    ),
    "no backward": Mistake(
        FIT, "    loss.backward()\n", "", "no_backward", 10, "backward() never ran", "Call backward()",
        ("    opt.step()", "    loss.backward()\n    opt.step()"), FITTED,
    ),
    "no step": Mistake(
        FIT, "    loss.backward()\n    opt.step()\n", "    loss.backward()\n", "no_step", 10,
        "Nothing calls opt.step()", "`opt.step()` after loss.backward()",
        ("loss.backward()", "loss.backward()\n    opt.step()"), FITTED,
    ),
    "softmax before the loss": Mistake(
        CLASSES, "criterion(out, t)", "criterion(torch.softmax(out, dim=1), t)", "scores_twice", 18,
        "applies softmax itself", "`loss = criterion(out, t)`", ("torch.softmax(out, dim=1)", "out"), TOLD,
    ),
    "classes chosen before the loss": Mistake(
        CLASSES, "criterion(out, t)", "criterion(out.argmax(1), t)", "target_first", 18,
        "the classes that argmax() chose", "`loss = criterion(out, t)`", 18, TOLD,
    ),
    "optimizer of a model": Mistake(
        FIT, "model.parameters()", "model", "optimizer_parameters", 6, "model is the model itself",
        "SGD(model.parameters(), lr=0.05)", 6, FITTED,
    ),
    "optimizer of a method": Mistake(
        FIT, "model.parameters()", "model.parameters", "optimizer_parameters", 6, "it is not called",
        "SGD(model.parameters(), lr=0.05)", 6, FITTED,
    ),
    "class of a loss called": Mistake(
        FIT, "criterion(model(X), Y)", "torch.nn.MSELoss(model(X), Y)", "not_called", 9, "MSELoss is a class",
        "`torch.nn.MSELoss()(model(X), Y)`",
        ("torch.nn.MSELoss(model(X), Y)", "torch.nn.MSELoss()(model(X), Y)"), FITTED,
    ),
    "list of losses": Mistake(
        FIT, "    loss.backward()", "    losses = [loss]\n    losses.backward()", "no_tensor", 11,
        "losses is a Python list", "`sum(losses).backward()`", 11, FITTED,
    ),
    "no super": Mistake(
        CLASSES, "        super().__init__()\n", "", "module_definition", 6, "super().__init__()",
        "first line",
        ("    def __init__(self):\n", "    def __init__(self):\n        super().__init__()\n"), TOLD,
    ),
    "forward misspelt": Mistake(
        CLASSES, "def forward", "def foward", "module_definition", 17, "foward() (line 8)",
        "`def forward(self, x):`", 8, TOLD,
    ),
    "no self": Mistake(
        HALVED,
        "self, x", "x", "module_definition", 12, "no parameter self", "`def forward(self, x):`", 5, FITTED,
    ),
    "layers in a list": Mistake(
        CLASSES, LAYERS, LAYERS[20:-1], "module_definition", 7, "is a Python list", f"`{LAYERS}`",
        (LAYERS[20:-1], LAYERS), TOLD,
    ),
    "model not called": Mistake(
        CLASSES, "net(X)", "net", "not_called", 17, "out is the module Net itself", "net(…)",
        ("out = net\n", "out = net(X)\n"), TOLD,
    ),
    "class instead of an object": Mistake(
        CLASSES, "net = Net()", "net = Net", "not_called", 12, "net is the class Net", "`Net()`",
        ("net = Net\n", "net = Net()\n"), TOLD,
    ),
    "targets in a list": Mistake(
        CLASSES, "criterion(out, t)", "criterion(out, t.tolist())", "no_tensor", 18,
        "t.tolist() is of type list", "torch.tensor(t.tolist())", 18, TOLD,
    ),
    "all frozen": Mistake(
        FIT, "criterion = ", "for p in model.parameters():\n    p.requires_grad = False\ncriterion = ",
        "no_grad_fn", 6, "switched off requires_grad of model.0.weight", "Leave requires_grad on",
        ("p.requires_grad = False", "p.requires_grad = True"), FITTED,
    ),
    "state of an earlier sequence": Mistake(
        CARRIED, "    h = h.detach()\n", "", "second_backward", 11, "h comes from an earlier iteration",
        "h = h.detach()", ("    out, h", "    h = h.detach()\n    out, h"), "tuple(h.shape) == (1, 2, 4)",
    ),
    "two values of a layer": Mistake(
        SEQUENCE, "return x * 2", "return x * 2, x", "several_values", 5, "returns several values",
        "model[1:](model[0](torch.ones(4, 3))[0])", 5, "tuple(y.shape) == (4, 2)",
    ),
    "index_select along dim 1": Mistake(
        CHOSEN, "[0, 1, 2]", "[1, 2, 3]", "index_range", 3, "dimension 1 has the indices 0 to 2",
        "index=places - 1", 3, "tuple(y.shape) == (4, 3)",
    ),
    "parameter that is None": Mistake(
        DEFAULT, "x * by if by is not None else x", "x * by", "none_value", 2, "its default is None",
        "if by is not None", ("x * by", "x * by if by is not None else x"), "tuple(y.shape) == (3,)",
    ),
    "rows and columns of data": Mistake(
        GIVEN, "[:, :2].T", "[:, :2]", "layer_input", 3, "in_features is 3", "model(rows.T)", 3,
        "tuple(out.shape) == (2, 4)",
    ),
}  # fmt: skip
