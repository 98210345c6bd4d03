"""Typical mistakes of training: graphs, gradients, updates and optimizers. See `mistake` for what is said of
each."""

from __future__ import annotations

from .mistake import Mistake

DESCENT = """\
x = torch.tensor(3.0, requires_grad=True)
for i in range(15):
    loss = (x - 1) ** 2
    loss.backward()
    with torch.no_grad():
        x -= 0.1 * x.grad
    x.grad = None
"""
NEAR = "abs(x.item() - 1) < 0.2 and x.is_leaf"
FIT = """\
torch.manual_seed(0)
X = torch.linspace(-1, 1, 8).reshape(8, 1)
Y = 3 * X + 1
model = torch.nn.Linear(1, 1)
opt = torch.optim.SGD(model.parameters(), lr=0.4)
for i in range(15):
    opt.zero_grad()
    loss = ((model(X) - Y) ** 2).mean()
    loss.backward()
    opt.step()
"""
FITTED = "loss.item() < 0.1"
LAYERS = """\
torch.manual_seed(0)
X = torch.linspace(-1, 1, 8).reshape(8, 1)
Y = 3 * X + 1
a = torch.nn.Linear(1, 8)
b = torch.nn.Linear(8, 1)
opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)
for i in range(15):
    opt.zero_grad()
    h = torch.tanh(a(X))
    loss = ((b(h) - Y) ** 2).mean()
    loss.backward()
    opt.step()
"""
LEARNED = "a.weight.grad.abs().sum().item() > 0 and loss.item() < 2"
SECOND = """\
x = torch.tensor(3.0, requires_grad=True)
y = x ** 3
g, = torch.autograd.grad(y, x, create_graph=True)
h, = torch.autograd.grad(g, x)
"""
RECURRENT = """\
w = torch.tensor(0.5, requires_grad=True)
h = torch.tensor(1.0)
for t in range(4):
    h = h.detach()
    h = torch.tanh(w * h)
    loss = (h - 1) ** 2
    loss.backward()
"""
HEADS = """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = torch.exp(x)
first = y.sum()
second = (y * y).sum()
(first + second).backward()
"""
WEIGHTS = """\
torch.manual_seed(0)
w = (torch.randn(3, 1) * 0.1).requires_grad_()
X = torch.ones(4, 3)
loss = ((X @ w - 1) ** 2).mean()
loss.backward()
with torch.no_grad():
    w -= 0.1 * w.grad
"""
STEP = "    opt.step()\n"
LOSS = "loss = ((model(X) - Y) ** 2).mean()"

MISTAKES = {
    "zero_grad is missing": Mistake(
        FIT, "    opt.zero_grad()\n", "", "kept_gradient", 8, "of an earlier iteration", "`opt.zero_grad()`",
        ("    loss.backward()", "    opt.zero_grad()\n    loss.backward()"), FITTED,
    ),
    "no reset by hand": Mistake(
        DESCENT, "    x.grad = None\n", "", "kept_gradient", 4, "although x was updated in between",
        "`x.grad = None`", ("    loss.backward()", "    x.grad = None\n    loss.backward()"), NEAR,
    ),
    "the loss is detached": Mistake(
        FIT, LOSS, LOSS + ".detach()", "no_grad_fn", 8, "cuts the link", "Remove the detach()",
        (".detach()", ""), FITTED,
    ),
    "the data of the loss": Mistake(
        FIT, LOSS, LOSS + ".data", "no_grad_fn", 8, "cuts the link", "Remove the .data",
        (".data", ""), FITTED,
    ),
    "requires_grad on the loss": Mistake(
        FIT, LOSS, LOSS + ".detach()\n    loss.requires_grad = True", "out_of_reach", 8, "became a new leaf",
        "Remove the detach()", (".detach()\n    loss.requires_grad = True", ""), FITTED,
    ),
    "item in the sum of losses": Mistake(
        FIT, LOSS, f"total = 0.0\n    total += {LOSS[7:]}.item()\n    loss = total", "python_number", 9,
        "Python number carries no gradient history", "Keep the tensor", (".item()", ""), FITTED,
    ),
    "a new tensor of the loss": Mistake(
        FIT, LOSS, f"value = {LOSS[7:]}.item()\n    loss = torch.tensor(value, requires_grad=True)",
        "out_of_reach", 9, "a new leaf", "without item(), float()",
        (f"value = {LOSS[7:]}.item()\n    loss = torch.tensor(value, requires_grad=True)", LOSS), FITTED,
    ),
    "a sum of numbers made a tensor": Mistake(
        FIT, LOSS,
        f"total = 0.0\n    total += {LOSS[7:]}.item()\n    total += 1.0\n"
        "    loss = torch.tensor(total, requires_grad=True)",
        "root_leaf", 11, "reaches nothing else", "without item()",
        (
            ".item()\n    total += 1.0\n    loss = torch.tensor(total, requires_grad=True)",
            "\n    total += 1.0\n    loss = total",
        ),
        "loss.item() < 1.1",
    ),
    "no_grad around the forward pass": Mistake(
        FIT, LOSS, f"with torch.no_grad():\n        {LOSS}", "no_grad_fn", 9, "under no_grad()",
        "outside no_grad()", ("with torch.no_grad():\n        ", ""), FITTED,
    ),
    "all parameters frozen": Mistake(
        FIT, "for i in", "for p in model.parameters():\n    p.requires_grad = False\nfor i in", "no_grad_fn",
        7, "switched off requires_grad", "Leave requires_grad on",
        ("p.requires_grad = False", "pass"), FITTED,
    ),
    "a learning rate that is too large": Mistake(
        FIT, "lr=0.4", "lr=400.0", "lr_large", None, "The updates diverge",
        "Use a smaller learning rate than 400.0", ("lr=400.0", "lr=0.4"), FITTED,
    ),
    "a step by hand that is too large": Mistake(
        DESCENT, "0.1", "9000.0", "first_nan", 3, "The updates diverge",
        "Use a smaller learning rate than 9000.0. The gradients of this cell suggest about 0.5.",
        ("9000.0", "0.5"), NEAR,
    ),
    "x = x - …": Mistake(
        DESCENT, "    with torch.no_grad():\n        x -= 0.1 * x.grad\n    x.grad = None\n",
        "    x = x - 0.1 * x.grad\n", "none_grad", 5, "The leaf is gone",
        "`with torch.no_grad(): x -= 0.1 * x.grad`",
        ("x = x - 0.1 * x.grad\n", "with torch.no_grad(): x -= 0.1 * x.grad\n    x.grad = None\n"), NEAR,
    ),
    "x = x - … under no_grad": Mistake(
        DESCENT, "x -= 0.1 * x.grad\n    x.grad = None\n", "x = x - 0.1 * x.grad\n", "no_grad_fn", 6,
        "The leaf x is gone", "`x -= 0.1 * x.grad`",
        ("x = x - 0.1 * x.grad\n", "x -= 0.1 * x.grad\n    x.grad = None\n"), NEAR,
    ),
    "x = x.data - …": Mistake(
        DESCENT, "    with torch.no_grad():\n        x -= 0.1 * x.grad\n    x.grad = None\n",
        "    x = x.data - 0.1 * x.grad\n", "no_grad_fn", 5, "The leaf x is gone",
        "`with torch.no_grad(): x -= 0.1 * x.grad`",
        ("x = x.data - 0.1 * x.grad\n", "with torch.no_grad(): x -= 0.1 * x.grad\n    x.grad = None\n"), NEAR,
    ),
    "x = (x - …).detach()": Mistake(
        DESCENT, "    with torch.no_grad():\n        x -= 0.1 * x.grad\n    x.grad = None\n",
        "    x = (x - 0.1 * x.grad).detach()\n", "no_grad_fn", 5, "The leaf x is gone",
        "`with torch.no_grad(): x -= 0.1 * x.grad`",
        (
            "x = (x - 0.1 * x.grad).detach()\n",
            "with torch.no_grad(): x -= 0.1 * x.grad\n    x.grad = None\n",
        ),
        NEAR,
    ),
    "x -= … without no_grad": Mistake(
        DESCENT, "    with torch.no_grad():\n        x -= 0.1 * x.grad\n", "    x -= 0.1 * x.grad\n",
        "leaf_in_place", 5, "modifies x in place", "`with torch.no_grad(): x -= 0.1 * x.grad`",
        ("    x -= 0.1 * x.grad", "    with torch.no_grad(): x -= 0.1 * x.grad"), NEAR,
    ),
    "a leaf set to zero": Mistake(
        WEIGHTS, "loss =", "with torch.no_grad():\n    pass\nw.zero_()\nloss =", "leaf_in_place", 6,
        "w.zero_() (line 6) modifies w in place", "`with torch.no_grad(): w.zero_()`",
        ("\nw.zero_()", "\nwith torch.no_grad(): w.zero_()"), "w.grad is not None",
    ),
    "an item of a leaf": Mistake(
        WEIGHTS, "loss =", "w[0] = 1.0\nloss =", "view_of_leaf_in_place", 4, "modifies w in place",
        "`with torch.no_grad(): w[0] = 1.0`", ("w[0] = 1.0", "with torch.no_grad(): w[0] = 1.0"),
        "w.grad is not None",
    ),
    "a leaf without a name": Mistake(
        WEIGHTS, "(torch.randn(3, 1) * 0.1).requires_grad_()", "torch.randn(3, 1, requires_grad=True) * 0.1",
        "none_grad", 2, "from a leaf that has no name", "`w = (torch.randn(3, 1) * 0.1).requires_grad_()`",
        ("w = torch.randn(3, 1, requires_grad=True) * 0.1", "w = (torch.randn(3, 1) * 0.1).requires_grad_()"),
        "w.grad is not None",
    ),
    "a parameter is assigned": Mistake(
        FIT, STEP, "    model.weight = model.weight - 0.4 * model.weight.grad\n", "assigned_parameter", 10,
        "cannot take its place", "`with torch.no_grad(): model.weight -= 0.4 * model.weight.grad`",
        (
            "model.weight = model.weight - 0.4 * model.weight.grad",
            "with torch.no_grad(): model.weight -= 0.4 * model.weight.grad",
        ),
        "loss.item() < 2",
    ),
    "detach between the layers": Mistake(
        LAYERS, "torch.tanh(a(X))", "torch.tanh(a(X)).detach()", "out_of_reach", 9, "no gradient reaches a.",
        "Remove the detach()", (".detach()", ""), LEARNED,
    ),
    "data between the layers": Mistake(
        LAYERS, "torch.tanh(a(X))", "torch.tanh(a(X)).data", "out_of_reach", 9, "no gradient reaches a.",
        "Remove the .data", (".data", ""), LEARNED,
    ),
    "numbers between the layers": Mistake(
        LAYERS, "torch.tanh(a(X))", "torch.tensor(torch.tanh(a(X)).tolist())", "out_of_reach", 9,
        "no gradient reaches a.", "Use tensors and torch functions",
        ("torch.tensor(torch.tanh(a(X)).tolist())", "torch.tanh(a(X))"), LEARNED,
    ),
    "no_grad between the layers": Mistake(
        LAYERS, "    h = torch.tanh(a(X))", "    with torch.no_grad():\n        h = torch.tanh(a(X))",
        "out_of_reach", 10, "no gradient reaches a.", "outside no_grad()",
        ("    with torch.no_grad():\n        h =", "    h ="), LEARNED,
    ),
    "round between the layers": Mistake(
        LAYERS, "torch.tanh(a(X))", "torch.round(torch.tanh(a(X)))", "dead_unit", 9,
        "the derivative of round is 0 everywhere", "Use round only for output",
        ("torch.round(torch.tanh(a(X)))", "torch.tanh(a(X))"), LEARNED,
    ),
    "dead units": Mistake(
        LAYERS, "torch.tanh(a(X))", "torch.relu(a(X) - 20)", "dead_unit", 9, "these units are dead",
        "torch.nn.functional.leaky_relu", ("torch.relu", "torch.nn.functional.leaky_relu"),
        "a.weight.grad.abs().sum().item() > 0",
    ),
    "other parameters": Mistake(
        FIT, "opt = torch.optim.SGD(model",
        "other = torch.nn.Linear(1, 1)\nopt = torch.optim.SGD(other", "other_parameters", 6,
        "opt was given other.parameters()", "`opt = torch.optim.SGD(model.parameters(), lr=0.4)`",
        ("other.parameters()", "model.parameters()"), FITTED,
    ),
    "the model was made again": Mistake(
        FIT, "for i in", "model = torch.nn.Linear(1, 1)\nfor i in", "stale_optimizer", 5,
        "still has the parameters that model had", "Create opt after model",
        (
            "opt = torch.optim.SGD(model.parameters(), lr=0.4)\nmodel = torch.nn.Linear(1, 1)\n",
            "model = torch.nn.Linear(1, 1)\nopt = torch.optim.SGD(model.parameters(), lr=0.4)\n",
        ),
        FITTED,
    ),
    "step before backward": Mistake(
        FIT, "    loss.backward()\n    opt.step()\n", "    opt.step()\n    loss.backward()\n",
        "step_too_early", 9, "it finds no gradient", "Move opt.step() (line 9) below loss.backward()",
        ("    opt.step()\n    loss.backward()\n", "    loss.backward()\n    opt.step()\n"), FITTED,
    ),
    "reset before the step": Mistake(
        FIT.replace("    opt.zero_grad()\n", "").replace(STEP, STEP + "    opt.zero_grad()\n"),
        "    opt.step()\n    opt.zero_grad()\n", "    opt.zero_grad()\n    opt.step()\n",
        "reset_too_early", 9, "the gradients are gone before the step", "above loss.backward()",
        ("    loss.backward()\n    opt.zero_grad()\n", "    opt.zero_grad()\n    loss.backward()\n"), FITTED,
    ),
    "a saved value is written to": Mistake(
        LAYERS, "    loss = ((b(h)", "    h += 1\n    loss = ((b(h)", "saved_modified", 10,
        "modified it in place", "`h = h + 1`", ("h += 1", "h = h + 1"), LEARNED,
    ),
    "a saved value is scaled": Mistake(
        LAYERS, "    loss = ((b(h)", "    h.mul_(2)\n    loss = ((b(h)", "saved_modified", 10,
        "modified it in place", "`h = h.mul(2)`", ("h.mul_(2)", "h = h.mul(2)"), LEARNED,
    ),
    "a part of a saved value": Mistake(
        LAYERS, "    loss = ((b(h)", "    h[0] = 0.0\n    loss = ((b(h)", "saved_modified", 10,
        "modified it in place", "`h = h.clone(); h[0] = 0.0`", ("h[0] = 0.0", "h = h.clone(); h[0] = 0.0"),
        LEARNED,
    ),
    "an update before backward": Mistake(
        LAYERS, "    loss.backward()\n",
        "    with torch.no_grad():\n        b.weight -= 0.1\n    loss.backward()\n", "saved_modified", 12,
        "b.weight -= 0.1 (line 12) modified b.weight", "Run loss.backward() (line 13) first",
        (
            "    with torch.no_grad():\n        b.weight -= 0.1\n    loss.backward()\n",
            "    loss.backward()\n    with torch.no_grad():\n        b.weight -= 0.1\n",
        ),
        "a.weight.grad is not None",
    ),
    "a graph that is used again": Mistake(
        FIT, f"for i in range(15):\n    opt.zero_grad()\n    {LOSS}\n",
        f"{LOSS}\nfor i in range(15):\n    opt.zero_grad()\n", "second_backward", 9,
        "was computed once", "In a loop, compute",
        (
            f"{LOSS}\nfor i in range(15):\n    opt.zero_grad()\n",
            f"for i in range(15):\n    opt.zero_grad()\n    {LOSS}\n",
        ),
        FITTED,
    ),
    "a state that is carried over": Mistake(
        RECURRENT, "    h = h.detach()\n", "", "second_backward", 6, "comes from an earlier iteration",
        "h = h.detach()", ("    h = torch.tanh", "    h = h.detach()\n    h = torch.tanh"),
        "w.grad is not None",
    ),
    "two losses, one graph": Mistake(
        HEADS, "(first + second).backward()", "first.backward()\nsecond.backward()", "second_backward", 5,
        "had saved", "(first + second).backward()",
        ("first.backward()\nsecond.backward()", "(first + second).backward()"), "x.grad is not None",
    ),
    "the gradient of a gradient": Mistake(
        SECOND, ", create_graph=True", "", "no_grad_fn", 3, "without create_graph=True",
        "autograd.grad(y, x, create_graph=True)", ("grad(y, x)", "grad(y, x, create_graph=True)"),
        "h.item() == 18",
    ),
    "the gradient of .grad": Mistake(
        SECOND.replace("g, = torch.autograd.grad(y, x, create_graph=True)", "y.backward(create_graph=True)")
        .replace("grad(g, x)", "grad(x.grad, x)"),
        "create_graph=True", "", "no_grad_fn", 3, "without create_graph=True",
        "y.backward(create_graph=True)", ("y.backward()", "y.backward(create_graph=True)"), "h.item() == 18",
    ),
    "a reset before the first backward": Mistake(
        DESCENT, "    loss.backward()\n", "    x.grad.zero_()\n    loss.backward()\n", "none_grad", 4,
        "no backward() has run yet", "`if x.grad is not None:`",
        ("    x.grad.zero_()", "    if x.grad is not None: x.grad.zero_()"), NEAR,
    ),
}  # fmt: skip
