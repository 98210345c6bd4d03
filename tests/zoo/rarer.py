"""Typical mistakes with more indices, dimensions or lengths than there are."""

from __future__ import annotations

from .mistake import Mistake

CHOSEN = """\
x = torch.arange(12.0).reshape(4, 3)
one = x[1, 2]
turned = x.permute(1, 0)
rows = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
mean = rows.mean()
total = mean
wide = torch.ones(3).expand(4, 3)
"""
IMAGES = """\
torch.manual_seed(0)
conv = torch.nn.Conv2d(1, 2, 3)
image = torch.randn(1, 8, 8)
out = conv(image)
"""
SUMS = """\
a, b = torch.ones(2, 3), torch.ones(3, 4)
c = torch.einsum("ij,jk->ik", a, b)
"""
JOINED = """\
first = torch.ones(2)
second = torch.zeros(2)
both = torch.stack([first, second])
"""
FITTED = """\
A = torch.tensor([1.0, 2.0, 3.0]).unsqueeze(1)
b = torch.tensor([2.0, 4.0, 6.0]).unsqueeze(1)
found = torch.linalg.lstsq(A, b).solution
"""
ROUNDED = """\
w = torch.tensor([[1.26, 2.0], [3.0, 4.0]])
shown = [round(v, 1) for v in w.flatten().tolist()]
"""
NORMED = """\
torch.manual_seed(0)
model = torch.nn.Sequential(torch.nn.Linear(3, 4), torch.nn.BatchNorm1d(4))
out = model(torch.randn(5, 3))
"""
POOLED = """\
torch.manual_seed(0)
image = torch.randn(1, 1, 4, 4)
small = torch.nn.functional.max_pool2d(image, 2)
"""
TWO_MODELS = (
    "a, b = torch.nn.Linear(2, 3), torch.nn.Linear(3, 1)\n"
    "opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)\n"
    "b(a(torch.ones(4, 2))).sum().backward()\nopt.step()\n"
)
STEPPED = """\
w = torch.ones(2, requires_grad=True)
opt = torch.optim.SGD([w], lr=0.1)
loss = (w * w).sum()
loss.backward()
opt.step()
"""
PREDICTED = """\
model = torch.nn.Linear(2, 1)
x, t = torch.ones(3, 2), torch.ones(3, 1)
loss = torch.nn.functional.mse_loss(model(x), t)
loss.backward()
"""
SAVED = """\
nn = torch.nn
old = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
state = old.state_dict()
new = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))
new.load_state_dict(state)
"""
LOADED = "bool((new[0].weight == old[0].weight).all())"
PRODUCT = """\
import math
x = torch.tensor(2.0, requires_grad=True)
y = x * 3
z = y * torch.log(y)
z.backward()
"""
SLOPE = "abs(x.grad.item() - 8.375278) < 1e-4"  # 3 · (ln 6 + 1)
DECAY = """\
import math
x = torch.tensor([1.0, 2.0], requires_grad=True)
total = torch.exp(-x).sum()
total.backward()
"""
FALL = "abs(x.grad[0].item() + 0.367879) < 1e-4"
SCALED = """\
import math
c, x = torch.tensor(3.0), torch.tensor(2.0, requires_grad=True)
z = c * torch.exp(x)
z.backward()
"""
GROWTH = "abs(x.grad.item() - 22.167168) < 1e-3"

MISTAKES: dict[str, Mistake] = {
    "a factor by math": Mistake(
        PRODUCT, "y * torch.log(y)", "y * math.log(y)", "out_of_reach", 4,
        "Python numbers taken from y, and numbers carry no gradient history", "y * torch.log(y)", 4, SLOPE,
    ),
    "a result by math": Mistake(
        PRODUCT, "z = y * torch.log(y)", "z = -math.log(y)", "python_number", 4,
        "z is a Python float, because `z = -math.log(y)`", "`z = -torch.log(y)`", 4,
        "abs(x.grad.item() + 0.5) < 1e-4",
    ),
    "math imported by name": Mistake(
        SCALED.replace("import math", "from math import exp"), "c * torch.exp(x)", "c * exp(x)",
        "no_grad_fn", 3, "Python numbers taken from x", "`z = c * torch.exp(x)`", 3, GROWTH,
    ),
    "the number of a factor": Mistake(
        SCALED, "c * torch.exp(x)", "c * torch.exp(x).item()", "no_grad_fn", 3,
        "Python numbers taken from", "`z = c * torch.exp(x)`", 3, GROWTH,
    ),
    "a tensor of what math computed": Mistake(
        SCALED, "c * torch.exp(x)", "torch.tensor(3 * math.exp(x))", "no_grad_fn", 3,
        "Python numbers taken from x", "`z = 3 * torch.exp(x)`", 3, GROWTH,
    ),
    "math of many numbers": Mistake(
        DECAY, "torch.exp(-x)", "math.exp(-x)", "one_number", 3, "a Python number holds only one",
        "`total = torch.exp(-x).sum()`", 3, FALL,
    ),
    "a state dict of other sizes": Mistake(
        SAVED, "new = nn.Sequential(nn.Linear(2, 3), nn.Linear(3, 1))",
        "new = nn.Sequential(nn.Linear(2, 4), nn.Linear(4, 1))", "state_dict", 4,
        "0.weight is 3×2 in the state dict, but 4×2 in the model; 0.bias, 1.weight differ too",
        "write `nn.Linear(2, 3)` instead of `nn.Linear(2, 4)`. In line 4, write `nn.Linear(3, 1)`",
        ("nn.Linear(2, 4), nn.Linear(4, 1)", "nn.Linear(2, 3), nn.Linear(3, 1)"), LOADED,
    ),
    "a state dict of a wrapped model": Mistake(
        SAVED, "old.state_dict()", '{"module." + name: value for name, value in old.state_dict().items()}',
        "state_dict", 5, "The state dict does not have 0.weight, 0.bias, 1.weight, 1.bias. The model",
        'name.removeprefix("module.")', 5, LOADED,
    ),
    "a state dict without the prefix of the model": Mistake(
        SAVED, "new.load_state_dict(state)", "nn.Sequential(new).load_state_dict(state)", "state_dict", 5,
        "The state dict does not have 0.0.weight", '"0." + name', 5, LOADED,
    ),
    "a checkpoint instead of a state dict": Mistake(
        SAVED, "old.state_dict()", '{"model": old.state_dict(), "epoch": 3}', "state_dict", 5,
        "The model does not have model, epoch", 'state["model"]', 5, LOADED,
    ),
    "a state dict that lacks a bias": Mistake(
        SAVED, "old = nn.Sequential(nn.Linear(2, 3)", "old = nn.Sequential(nn.Linear(2, 3, bias=False)",
        "state_dict", 5, "The state dict does not have 0.bias.", "strict=False", 5, LOADED,
    ),
    "a model instead of its state dict": Mistake(
        SAVED, "load_state_dict(state)", "load_state_dict(old)", "state_dict", 5, "old is a model",
        "old.state_dict()", 5, LOADED,
    ),
    "too many indices": Mistake(
        CHOSEN, "x[1, 2]", "x[1, 2, 0]", "index_count", 2,
        "x is 4×3, which has 2 dimensions", "at most 2 indices", ("x[1, 2, 0]", "x[1, 2]"),
        "one.item() == 5",
    ),
    "index of a scalar": Mistake(
        CHOSEN, "total = mean", "total = mean[0]", "index_count", 6,
        "mean is a scalar", "`total = mean`", 6, "total.item() == 2.5",
    ),
    "permute with too few dimensions": Mistake(
        CHOSEN, "x.permute(1, 0)", "x.permute(1)", "dim_range", 3,
        "permute() needs its 2 dimensions", "each dimension", ("x.permute(1)", "x.permute(1, 0)"),
        "tuple(turned.shape) == (3, 4)",
    ),
    "rows of two lengths": Mistake(
        CHOSEN, "[3.0, 4.0]]", "[3.0]]", "uneven_rows", 4,
        "the rows have different lengths", "the same length", ("[3.0]]", "[3.0, 4.0]]"),
        "mean.item() == 2.5",
    ),
    "expanded to another size": Mistake(
        CHOSEN, "torch.ones(3).expand", "torch.ones(4).expand", "broadcast", 7,
        "cannot be expanded to 4×3", "torch.ones(4).unsqueeze(1)", 7,
        "tuple(wide.shape) == (4, 3)",
    ),
    "image without channels": Mistake(
        IMAGES, "torch.randn(1, 8, 8)", "torch.randn(8, 8)", "layer_input", 4,
        "the layer takes 4 dimensions (or 3 without the batch)", "unsqueeze(0)", 4,
        "tuple(out.shape) == (2, 6, 6)",
    ),
    "letter of two sizes": Mistake(
        SUMS, '"ij,jk->ik"', '"ij,kj->ik"', "matrix_sizes", 2,
        "the letter j stands for two different sizes", "Use another letter",
        ('"ij,kj->ik"', '"ij,jk->ik"'), "tuple(c.shape) == (2, 4)",
    ),
    "None in a list": Mistake(
        JOINED, "second = torch.zeros(2)", "second = None", "none_value", 3,
        "second is None", "Use a tensor instead of None", ("second = None", "second = torch.zeros(2)"),
        "tuple(both.shape) == (2, 2)",
    ),
    "least squares of a vector": Mistake(
        FITTED, "3.0]).unsqueeze(1)", "3.0])", "matrix_dims", 3,
        "lstsq needs 2 dimensions here, but A is a vector of length 3", "A.unsqueeze(1)", 3,
        "abs(found.item() - 2) < 1e-4",
    ),
    "rounded rows": Mistake(
        ROUNDED, "w.flatten().tolist()", "w.tolist()", "one_number", 2,
        "v is a list", "[round(each, 1) for each in v]", 2, "shown[0][0] == 1.3",
    ),
    "one example in training": Mistake(
        NORMED, "randn(5, 3)", "randn(1, 3)", "layer_input", 3,
        "one value for each channel", "`model.eval()`", ("out = ", "model.eval()\nout = "),
        "tuple(out.shape) == (1, 4)",
    ),
    "pooling a small image": Mistake(
        POOLED, "(image, 2)", "(image, 8)", "layer_input", 3,
        "image is 1×1×4×4, too small for this pooling", "larger input", ("(image, 8)", "(image, 2)"),
        "tuple(small.shape) == (1, 1, 2, 2)",
    ),
    "an optimizer of one tensor": Mistake(
        STEPPED, "SGD([w]", "SGD(w", "optimizer_parameters", 2,
        "w is one tensor", "`opt = torch.optim.SGD([w], lr=0.1)`", 2, "w[0].item() < 1",
    ),
    "a list of parameters of models": Mistake(
        TWO_MODELS, "[*a.parameters(), *b.parameters()]", "[a.parameters(), b.parameters()]",
        "optimizer_parameters", 2, "an iterator over the parameters",
        "`opt = torch.optim.SGD([*a.parameters(), *b.parameters()], lr=0.1)`", 2,
        "len(opt.param_groups[0]['params']) == 4",
    ),
    "parameters of models in a list": Mistake(
        TWO_MODELS, "[*a.parameters(), *b.parameters()]", "[model.parameters() for model in (a, b)]",
        "optimizer_parameters", 2, "an iterator over the parameters",
        "`opt = torch.optim.SGD([p for model in (a, b) for p in model.parameters()], lr=0.1)`", 2,
        "len(opt.param_groups[0]['params']) == 4",
    ),
    "a model instead of its prediction": Mistake(
        PREDICTED, "model(x)", "model", "not_called", 3,
        "model is the module Linear itself", "model(…)", ("mse_loss(model,", "mse_loss(model(x),"),
        "model.weight.grad is not None",
    ),
}  # fmt: skip
