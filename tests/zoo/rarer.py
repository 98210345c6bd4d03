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

MISTAKES: dict[str, Mistake] = {
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
    "a model instead of its prediction": Mistake(
        PREDICTED, "model(x)", "model", "not_called", 3,
        "model is the module Linear itself", "model(…)", ("mse_loss(model,", "mse_loss(model(x),"),
        "model.weight.grad is not None",
    ),
}  # fmt: skip
