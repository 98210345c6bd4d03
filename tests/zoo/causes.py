"""Errors and numbers that are not finite, whose cause is what happened and not the name of the operation."""

from __future__ import annotations

from .mistake import Mistake

FINITE = "all(n == n and abs(n) < 1e30 for n in x.grad.reshape(-1).tolist())"
ROOT = """\
x = torch.tensor([4.0, 9.0], requires_grad=True)
y = torch.sqrt(x)
y.sum().backward()
"""
BRANCH = """\
x = torch.tensor([0.0, 4.0], requires_grad=True)
r = torch.sqrt(torch.where(x > 0, x, 1.0))
y = torch.where(x > 0, r, torch.zeros_like(x))
y.sum().backward()
"""
SCORES = """\
x = torch.zeros(2, 2, requires_grad=True)
mask = torch.tensor([[0.0, float("-inf")], [0.0, 0.0]])
a = (x + mask).softmax(-1)
(a ** 2).sum().backward()
"""
DEVIATION = """\
x = torch.tensor([[1.0, 2.0], [3.0, 6.0]], requires_grad=True)
z = (x - x.mean(0)) / (x.std(0) + 1e-5)
(z ** 2).sum().backward()
"""
SINGLE = """\
x = torch.tensor([3.0, 4.0], requires_grad=True)
z = (x - x.mean()) / x.std()
z[0].backward()
"""
ENTROPY = """\
x = torch.tensor([0.0, 1.0], requires_grad=True)
h = -(x * torch.log(x.clamp(min=1e-8))).sum()
h.backward()
"""
ANGLE = """\
x = torch.tensor([0.6, 0.8], requires_grad=True)
c = (x * x).sum() * 0.9
t = torch.acos(c)
t.backward()
"""
POWER = """\
x = torch.tensor([2.0, 3.0], requires_grad=True)
e = torch.tensor([2.0, 2.0], requires_grad=True)
y = x ** e
y.sum().backward()
"""
EIGEN = """\
x = torch.tensor([[1.0, 0.0], [0.0, 2.0]], requires_grad=True)
values, vectors = torch.linalg.eigh(x)
vectors.abs().sum().backward()
"""
MISSED = """\
x = torch.tensor([1.0, 0.5], requires_grad=True)
y = -torch.log((1 - x).clamp(min=1e-8)).mean()
y.backward()
"""
ITSELF = """\
x = torch.tensor([0.0, 1.0], requires_grad=True)
y = x / (x + 1e-8)
y.sum().backward()
"""
LOOP = """\
x = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.01)
for i in range(60):
    loss = (x - 3) ** 4
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
BATCHES = """\
xs = torch.ones(60)
xs[10] = 0.5
x = torch.tensor(1.0, requires_grad=True)
opt = torch.optim.SGD([x], lr=0.01)
for i in range(60):
    loss = torch.log(xs[i] * x) ** 2
    opt.zero_grad()
    loss.backward()
    opt.step()
"""
NET = """\
nn = torch.nn
torch.manual_seed(0)
net = nn.Sequential(nn.Linear(2, 3), nn.Tanh(), nn.ReLU(), nn.Linear(3, 1))
loss = net(torch.ones(4, 2)).sum()
loss.backward()
"""
SQUARE = """\
class Square(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * x
    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 * x
x = torch.tensor(3.0, requires_grad=True)
g, = torch.autograd.grad(Square.apply(x), x, create_graph=True)
g.backward()
"""
VIEWS = """\
x = torch.ones(2, 4, requires_grad=True)
y = x.exp()
a = y[0]
b = a[1:]
c = b.view(3) * 2
y.sum().backward()
"""
OF_LEAF = """\
x = torch.zeros(2, 4, requires_grad=True)
a = x[0]
b = a[1:]
with torch.no_grad(): b.fill_(1.0)
"""
UNRECORDED = """\
x = torch.ones(2, 4, requires_grad=True) * 2
a = x[0]
b = a[1:]
b.mul_(3)
"""
MODE = """\
x = torch.ones(2, requires_grad=True)
training = True
with torch.set_grad_enabled(training):
    y = (x * 2).sum()
y.backward()
"""
CHECKPOINT = """\
checkpoint = torch.utils.checkpoint.checkpoint
torch.manual_seed(0)
net = torch.nn.Linear(2, 2)
out = checkpoint(net, torch.ones(1, 2), use_reentrant=False)
out.sum().backward()
"""
CHOSEN = """\
checkpoint = torch.utils.checkpoint.checkpoint
x = torch.ones(2, requires_grad=True)
y = checkpoint(torch.exp, x, use_reentrant=False)
g, = torch.autograd.grad(y.sum(), x)
"""
INNER = """\
x = torch.tensor(2.0, requires_grad=True)
g, = torch.autograd.grad((x - 1) ** 2, x)
fast = x - 0.1 * g
outer = (fast - 3) ** 2
outer.backward()
"""
ARRAY = """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
a = x * 2
z = a.sum()
z.backward()
"""
LAYER = """\
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 1), torch.nn.Identity())
loss = torch.nn.BCEWithLogitsLoss()(net(torch.ones(4, 2)), torch.ones(4, 1))
loss.backward()
"""
LEAF = """\
x = torch.ones(2)
x.requires_grad_()
with torch.no_grad(): x[0] = 2.0
"""
FEATURES = """\
x = torch.ones(2, requires_grad=True)
with torch.no_grad():
    f = torch.ones(2) * 3
f.add_(1)
y = (x * f).sum()
y.backward()
"""
ASKED = """\
with torch.no_grad():
    f = torch.ones(2) * 3
f.requires_grad_()
"""
EVALUATION = """\
torch.manual_seed(0)
net = torch.nn.Sequential(torch.nn.Linear(2, 4), torch.nn.ReLU(), torch.nn.Linear(4, 3))
criterion = torch.nn.CrossEntropyLoss()
X, y = torch.ones(4, 2), torch.tensor([0, 1, 2, 0])
net.eval()
with torch.no_grad():
    for i in range(2):
        loss = criterion(net(X), y)
"""
MODEL = """\
class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.a = torch.nn.Linear(2, 4)
        self.b = torch.nn.Linear(4, 1)
    def forward(self, x):
        h = torch.relu(self.a(x))
        return self.b(h)
with torch.no_grad():
    right = (Net()(torch.ones(3, 2)) > 0).float().mean()
"""

INSIDE = (("acos(c)", "acos(c.clamp(-1 + 1e-6, 1 - 1e-6))"),)

MISTAKES: dict[str, Mistake] = {
    "the root of a negative number": Mistake(
        ROOT, "[4.0, 9.0]", "[-4.0, 9.0]", "first_nan", 2,
        "sqrt is not defined below 0, and here its argument is -4.", "`torch.sqrt(x.clamp(min=1e-12))`",
        ("sqrt(x)", "sqrt(x.clamp(min=1e-12))"), FINITE,
    ),
    "a branch that is not taken": Mistake(
        BRANCH, "torch.where(x > 0, x, 1.0)", "x", "first_nan", 2,
        "where(x > 0, r, zeros_like(x)) (line 3) does not take this branch there",
        "`torch.sqrt(torch.where(x > 0, x, 1.0))`", ("sqrt(x)", "sqrt(torch.where(x > 0, x, 1.0))"), FINITE,
    ),
    "a row that a sum masks": Mistake(
        SCORES, '[[0.0, float("-inf")]', '[[float("-inf"), float("-inf")]', "first_nan", 3,
        "Every element of row 0 of x + mask is -inf, so that row is masked completely", "unmasked",
        ('[[float("-inf"), float("-inf")]', '[[0.0, float("-inf")]'), FINITE,
    ),
    "a deviation along a batch of one": Mistake(
        DEVIATION, "[[1.0, 2.0], [3.0, 6.0]]", "[[1.0, 2.0]]", "first_nan", 2,
        "std along a dimension of size 1 divides by n − 1 = 0: x is 1×2", "correction=0",
        ("x.std(0)", "x.std(0, correction=0)"), FINITE,
    ),
    "the deviation of one value": Mistake(
        SINGLE, "[3.0, 4.0]", "[3.0]", "first_nan", 2,
        "std of a single element divides by n − 1 = 0, since x has only one element", "at least two values",
        ("[3.0]", "[3.0, 4.0]"), FINITE,
    ),
    "0 times log of 0": Mistake(
        ENTROPY, ".clamp(min=1e-8)", "", "first_nan", 2,
        "log of 0 is -inf. x * log(x) (line 2) made nan of it: 0 · inf is nan.",
        "`torch.log(x.clamp(min=1e-8))`", ("log(x)", "log(x.clamp(min=1e-8))"), FINITE,
    ),
    "acos a little above 1": Mistake(
        ANGLE, "* 0.9", "/ 0.99999", "first_nan", 3, "and here its argument is 1.00001",
        "`torch.acos(c.clamp(-1 + 1e-6, 1 - 1e-6))`", *INSIDE, FINITE,
    ),
    "acos at 1": Mistake(
        ANGLE, "* 0.9", "* 0 + 1", "first_nan", 3, "The derivative of acos is infinite at 1.",
        "`torch.acos(c.clamp(-1 + 1e-6, 1 - 1e-6))`", *INSIDE, FINITE,
    ),
    "asin at -1": Mistake(
        ANGLE.replace("acos", "asin"), "* 0.9", "* 0 - 1", "first_nan", 3,
        "The derivative of asin is infinite at -1.", "`torch.asin(c.clamp(-1 + 1e-6, 1 - 1e-6))`",
        ("asin(c)", "asin(c.clamp(-1 + 1e-6, 1 - 1e-6))"), FINITE,
    ),
    "a whole exponent that is learned": Mistake(
        POWER, "tensor([2.0, 3.0]", "tensor([-2.0, 3.0]", "first_nan", 3,
        "The derivative with respect to the exponent is the power times the logarithm of the base",
        "`x ** e.detach()`", ("x ** e", "x ** e.detach()"), "y.tolist() == [4.0, 9.0] and x.grad[0] == -4",
    ),
    "a negative base": Mistake(
        POWER.replace("[2.0, 2.0]", "[0.5, 2.0]"), "tensor([2.0, 3.0]", "tensor([-2.0, 3.0]", "first_nan", 3,
        "A power of a negative number (here -2) is not defined", "`x.clamp(min=1e-12) ** e`",
        ("x ** e", "x.clamp(min=1e-12) ** e"), FINITE,
    ),
    "equal eigenvalues": Mistake(
        EIGEN, "[0.0, 2.0]]", "[0.0, 1.0]]", "first_nan", 2,
        "divides by differences of eigenvalues or singular values, and two of them are equal",
        "a small diagonal matrix", ("[0.0, 1.0]]", "[0.0, 1.001]]"), FINITE,
    ),
    "log of 1 - 1": Mistake(
        MISSED, "(1 - x).clamp(min=1e-8)", "1 - x", "first_nan", 2, "the result is -inf. log of 0 is -inf.",
        "`torch.log((1 - x).clamp(min=1e-8))`", ("log(1 - x)", "log((1 - x).clamp(min=1e-8))"), FINITE,
    ),
    "0 by itself": Mistake(
        ITSELF, "(x + 1e-8)", "x", "first_nan", 2, "the result is nan. The divisor is 0.", "`x / (x + 1e-8)`",
        ("x / x", "x / (x + 1e-8)"), FINITE,
    ),
    "a loop that runs on after it diverged": Mistake(
        LOOP, "lr=0.01", "lr=3.0", "first_nan", 4,
        "by opt.step() (line 7) the largest absolute value in x grew from 1. to 1.19e+22. inf first",
        "smaller learning rate than 3.0", ("lr=3.0", "lr=0.01"), FINITE,
    ),
    "a loop that runs on after a number of the data": Mistake(
        BATCHES, "xs[10] = 0.5", "xs[10] = 0.0", "first_nan", 6,
        "log of 0 is -inf. From there it reached loss. It was in step 11.", "Keep the argument above 0",
        ("xs[10] = 0.0", "xs[10] = 0.5"), FINITE,
    ),
    "a layer in place behind another layer": Mistake(
        NET, "nn.ReLU()", "nn.ReLU(inplace=True)", "saved_modified", 4, "net.2 (ReLU) modified it in place",
        "write `nn.ReLU(inplace=False)`", ("inplace=True", "inplace=False"), "net[0].weight.grad is not None",
    ),
    "a Function that kept what it computed": Mistake(
        SQUARE, "ctx.save_for_backward(x)", "ctx.save_for_backward(2 * x)",
        "no_grad_fn", 11, "What forward computed and kept has no graph", "compute the rest again in backward",
        ("save_for_backward(2 * x)", "save_for_backward(x)"), "x.grad.item() == 2",
    ),
    "a Function that can be differentiated once": Mistake(
        SQUARE, "    @staticmethod\n    def backward",
        "    @staticmethod\n    @torch.autograd.function.once_differentiable\n    def backward",
        "no_grad_fn", 12, "Square.backward is marked with @once", "Remove @once_differentiable",
        ("    @torch.autograd.function.once_differentiable\n", ""), "x.grad.item() == 2",
    ),
    "a write through a view of a view": Mistake(
        VIEWS, "b.view(3) * 2", "b.view(3).mul_(2)", "saved_modified", 5,
        "b.view(3).mul_(2) (line 5) modified", "`y = y.clone()`", ("a = y[0]", "y = y.clone()\na = y[0]"),
        "x.grad is not None",
    ),
    "a write through a view of a view of a leaf": Mistake(
        OF_LEAF, "with torch.no_grad(): b", "b", "view_of_leaf_in_place", 4,
        "b is a view of x, a leaf that requires gradients", "`with torch.no_grad(): b.fill_(1.0)`", 4,
        "x.tolist()[0] == [0.0, 1.0, 1.0, 1.0]",
    ),
    "a view of a view without a history": Mistake(
        UNRECORDED, "a = x[0]", "with torch.no_grad(): a = x[0]", "view_of_no_grad", 2,
        "b is a view of a, which was created under no_grad() at x[0] (line 2)", "otherwise do both outside",
        ("with torch.no_grad(): a", "a"), "b.tolist() == [6.0, 6.0, 6.0]",
    ),
    "a mode that a variable switches": Mistake(
        MODE, "training = True", "training = False", "no_grad_fn", 4,
        "x * 2 (line 4) ran under set_grad_enabled(training) (line 3)", "outside set_grad_enabled(training)",
        ("training = False", "training = True"), "x.grad.tolist() == [2.0, 2.0]",
    ),
    "a reentrant checkpoint of data": Mistake(
        CHECKPOINT, "use_reentrant=False", "use_reentrant=True", "no_grad_fn", 4,
        "Such a checkpoint records a graph only if one of its inputs requires gradients",
        "use_reentrant=False)`", ("use_reentrant=True", "use_reentrant=False"), "net.weight.grad is not None",
    ),
    "a reentrant checkpoint in autograd.grad": Mistake(
        CHOSEN, "use_reentrant=False", "use_reentrant=True", "reentrant_grad", 3,
        "and not inside autograd.grad()", "use_reentrant=False)`",
        ("use_reentrant=True", "use_reentrant=False"), "abs(g[0].item() - 2.71828) < 1e-4",
    ),
    "an inner step from a detached weight": Mistake(
        INNER, "fast = x -", "fast = x.detach() -", "no_grad_fn", 3,
        "x.detach() (line 3) keeps the value and the memory of x but cuts the link", "Remove the detach()",
        ("x.detach() -", "x -"), "abs(x.grad.item() + 2.4) < 1e-4",
    ),
    "an inner step that is detached": Mistake(
        INNER, "x - 0.1 * g", "(x - 0.1 * g).detach()", "no_grad_fn", 3,
        "(x - 0.1 * g).detach() (line 3) keeps the value", "Remove the detach()",
        ("(x - 0.1 * g).detach()", "x - 0.1 * g"), "abs(x.grad.item() + 2.4) < 1e-4",
    ),
    "a round trip through an array": Mistake(
        ARRAY, "a = x * 2\nz = a.sum()", "a = (x * 2).detach().numpy()\nz = torch.tensor(a).sum()",
        "no_grad_fn", 3, "NumPy records no graph", "Use tensors and torch functions from x * 2 on",
        ("(x * 2).detach().numpy()\nz = torch.tensor(a)", "x * 2\nz = a"), "x.grad.tolist() == [2.0, 2.0]",
    ),
    "a Sigmoid layer before its loss": Mistake(
        LAYER, "torch.nn.Identity()", "torch.nn.Sigmoid()", "scores_twice", 2,
        "it was given the result of the layer net.1 (Sigmoid)", "Leave out the layer net.1 (Sigmoid)",
        ("torch.nn.Sigmoid()", "torch.nn.Identity()"), "net[0].weight.grad is not None",
    ),
    "a leaf that is asked later": Mistake(
        LEAF, "with torch.no_grad(): x", "x", "view_of_leaf_in_place", 3,
        "x[0] (line 3) modifies x in place, a leaf", "`with torch.no_grad(): x[0] = 2.0`", 3,
        "x.tolist() == [2.0, 1.0]",
    ),
    "a write to a tensor of inference mode": Mistake(
        FEATURES, "no_grad", "inference_mode", "inference_tensor", 4,
        "f was created under inference_mode() at ones(2) * 3 (line 3). Outside of it", "f.clone()",
        ("f.add_(1)", "f = f.clone().add_(1)"), "x.grad.tolist() == [4.0, 4.0]",
    ),
    "gradients of a tensor of inference mode": Mistake(
        ASKED, "no_grad", "inference_mode", "inference_tensor", 3,
        "can neither be modified in place nor require gradients", "f.clone()",
        ("f.requires_grad_()", "f = f.clone().requires_grad_()"), "f.requires_grad",
    ),
    "float targets in an evaluation": Mistake(
        EVALUATION, "tensor([0, 1, 2, 0])", "tensor([0.0, 1.0, 2.0, 0.0])", "target_dtype", 8,
        "y is float32, but CrossEntropyLoss takes the index", "`loss = criterion(net(X), y.long())`",
        ("criterion(net(X), y)", "criterion(net(X), y.long())"), "not loss.requires_grad",
    ),
    "sizes of layers in an evaluation": Mistake(
        MODEL, "Linear(4, 1)", "Linear(5, 1)", "layer_input", 8, "in_features is 5, but the input (h) is 3×4",
        "write `torch.nn.Linear(4, 1)`", ("Linear(5, 1)", "Linear(4, 1)"), "not right.requires_grad",
    ),
    "no return in an evaluation": Mistake(
        MODEL, "return self.b(h)", "self.b(h)", "none_value", 10, "because forward() has no return statement",
        "write `return self.b(h)`", ("        self.b(h)", "        return self.b(h)"),
        "not right.requires_grad",
    ),
}  # fmt: skip
