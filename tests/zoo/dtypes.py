"""Typical mistakes with dtypes, indices, dimensions and Python values, and with what backward needs."""

from __future__ import annotations

from .mistake import Mistake

FIT = """\
torch.manual_seed(0)
X = torch.tensor([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
model = torch.nn.Linear(2, 1)
out = model(X)
out.sum().backward()
"""
FITTED = "model.weight.grad is not None"
PRODUCT = """\
x = torch.tensor([[1.0, 2.0], [3.0, 4.0]])
w = torch.ones(2, 2, requires_grad=True)
y = x @ w
y.sum().backward()
"""
ARRAYS = """\
import numpy as np
data = np.arange(6.0).reshape(3, 2)
model = torch.nn.Linear(2, 1)
out = model(torch.tensor(data, dtype=torch.float32))
out.sum().backward()
"""
MEAN = """\
counts = torch.tensor([1.0, 2.0, 6.0])
mean = counts.mean()
share = torch.softmax(counts, dim=0)
"""
SCALED = """\
n = torch.tensor([4.0, 6.0])
n /= 4
"""
WORDS = """\
torch.manual_seed(0)
ids = torch.tensor([0, 2, 3])
table = torch.nn.Embedding(4, 2)
rows = table(ids)
rows.sum().backward()
"""
PICKED = """\
torch.manual_seed(0)
p = torch.softmax(torch.randn(4, 3), dim=1)
y = torch.tensor([0, 2, 1, 1])
chosen = p[torch.arange(4), y]
"""
GATHERED = PICKED.replace("p[torch.arange(4), y]", "p.gather(1, y.unsqueeze(1))")
ROWS = """\
x = torch.arange(12.0).reshape(4, 3)
total = torch.zeros(3)
for i in range(4):
    total = total + x[i]
last = x[3]
norm = x.sum(dim=1)
half = x[:len(x) // 2]
"""
MASKED = """\
x = torch.arange(12.0).reshape(4, 3)
keep = torch.tensor([True, False, True])
kept = x[:, keep]
"""
HIGHEST = """\
x = torch.tensor([[1.0, 5.0], [7.0, 2.0]], requires_grad=True)
best = x.max(dim=1).values + 2
best.sum().backward()
"""
DISCOUNTED = """\
q = torch.tensor([[1.0, 5.0], [7.0, 2.0]], requires_grad=True)
best = q.max(1).values
target = 1 + 0.5 * best
target.sum().backward()
"""
STATES = """\
torch.manual_seed(0)
lstm = torch.nn.LSTM(3, 4)
fc = torch.nn.Linear(4, 1)
x = torch.randn(5, 1, 3)
out = lstm(x)
y = fc(out[0])
y.sum().backward()
"""
LISTS = """\
rows = [torch.ones(2), torch.zeros(2)]
x = torch.stack(rows)
y = x + torch.tensor([1.0, 2.0])
"""
DESCENT = """\
w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
loss = (w ** 2).sum()
loss.backward()
values = w.detach().numpy()
print(w.grad, values)
"""
LOSSES = """\
w = torch.tensor([1.0, 2.0], requires_grad=True)
loss = (w ** 2).sum()
loss.backward()
history = [loss.item()]
if (w.grad > 1).all():
    w.grad = None
"""

CHOSEN = """\
x = torch.arange(12.0).reshape(4, 3)
rows = torch.tensor([0, 1, 3])
y = x.index_select(0, rows)
"""
BIASED = """\
x = torch.tensor([1.0, 2.0], requires_grad=True)
bias = torch.zeros(2)
y = x + bias
y.sum().backward()
"""
DOUBLED = """\
def double(t):
    d = t * 2
    return d
x = torch.tensor([1.0, 2.0], requires_grad=True)
y = double(x) @ x
y.backward()
"""

PLOTTED = """\
import numpy as np
w = torch.tensor([1.0, 2.0], requires_grad=True)
losses = []
for i in range(3):
    loss = (w ** 2).sum()
    losses.append(loss.item())
curve = np.array(losses)
"""
HEADS = """\
class Head(torch.nn.Module):
    def __init__(self, size):
        super().__init__()
        self.key = torch.nn.Linear(4, size)
head = Head(8 // 2)
y = head.key(torch.ones(1, 4))
"""
CHECKED = """\
x = torch.ones(3, dtype=torch.float64, requires_grad=True)
ok = torch.autograd.gradcheck(torch.exp, x)
"""

MISTAKES = {
    # dtypes
    "whole numbers for a layer": Mistake(
        FIT, "[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]", "[[1, 2], [3, 4], [5, 6]]", "dtype_mismatch", 4,
        "its parameters are float32, but the input (X) is int64", "`out = model(X.float())`", 4, FITTED,
    ),
    "whole numbers in a product": Mistake(
        PRODUCT, "[[1.0, 2.0], [3.0, 4.0]]", "[[1, 2], [3, 4]]", "dtype_mismatch", 3,
        "x is int64 and w is float32; both must have the same dtype", "`y = x.float() @ w`", 3,
        "w.grad is not None",
    ),
    "double precision from NumPy": Mistake(
        ARRAYS, "torch.tensor(data, dtype=torch.float32)", "torch.tensor(data)", "dtype_mismatch", 4,
        "is float64", "`out = model(torch.tensor(data).float())`", 4, FITTED,
    ),
    "an array for a layer": Mistake(
        ARRAYS, "torch.tensor(data, dtype=torch.float32)", "data", "no_tensor", 4,
        "data is of type numpy.ndarray, but linear takes a tensor",
        "`out = model(torch.tensor(data, dtype=torch.float32))`", 4, FITTED,
    ),
    "the mean of whole numbers": Mistake(
        MEAN, "[1.0, 2.0, 6.0]", "[1, 2, 6]", "integer_input", 2, "counts is int64, but mean takes only",
        "`mean = counts.float().mean()`",
        ("[1, 2, 6])", "[1, 2, 6]).float()"), "mean.item() == 3",
    ),
    "fractions written into whole numbers": Mistake(
        SCALED, "[4.0, 6.0]", "[4, 6]", "integer_input", 2, "n is int64 and an in-place operation",
        "`n = n / 4`", 2, "n.tolist() == [1.0, 1.5]",
    ),
    "indices as fractions": Mistake(
        WORDS, "[0, 2, 3]", "[0.0, 2, 3]", "index_dtype", 4, "ids is float32, but indices are whole numbers",
        "`rows = table(ids.long())`", 4, "tuple(rows.shape) == (3, 2)",
    ),
    # indices and dimensions
    "a loop that counts too far": Mistake(
        ROWS, "range(4)", "range(5)", "index_range", 3,
        "x is 4×3, so dimension 0 has the indices 0 to 3, and 4 is out of range",
        "In line 3, write `range(4)`",
        ("range(5)", "range(4)"), "total.tolist() == [18.0, 22.0, 26.0]",
    ),
    "the last row by its number": Mistake(
        ROWS, "x[3]", "x[4]", "index_range", 5, "dimension 0 has the indices 0 to 3", "`last = x[3]`", 5,
        "last.tolist() == [9.0, 10.0, 11.0]",
    ),
    "a dimension too far": Mistake(
        ROWS, "dim=1", "dim=2", "dim_range", 6, "its dimensions are 0 to 1, and there is no dimension 2",
        "`norm = x.sum(dim=1)`", 6, "tuple(norm.shape) == (4,)",
    ),
    "half of a length": Mistake(
        ROWS, "len(x) // 2", "len(x) / 2", "fraction", 7, "`len(x) / 2` (line 7) gives a float",
        "`len(x) // 2`", ("len(x) / 2", "len(x) // 2"), "tuple(half.shape) == (2, 3)",
    ),
    "labels from 1": Mistake(
        PICKED, "[0, 2, 1, 1]", "[1, 3, 2, 2]", "index_range", 4,
        "dimension 1 has the indices 0 to 2, but y holds 3", "`chosen = p[torch.arange(4), y - 1]`", 4,
        "tuple(chosen.shape) == (4,)",
    ),
    "indices in pairs": Mistake(
        PICKED, "arange(4)", "arange(3)", "index_shapes", 4, "so they need equal lengths",
        "`chosen = p[torch.arange(4), y]`", 4, "tuple(chosen.shape) == (4,)",
    ),
    "gather with a vector": Mistake(
        GATHERED, "y.unsqueeze(1)", "y", "index_shapes", 4, "the indices y are a vector of length 4",
        "`chosen = p.gather(1, y.unsqueeze(1))`", 4, "tuple(chosen.shape) == (4, 1)",
    ),
    "a mask for the columns": Mistake(
        MASKED, "x[:, keep]", "x[keep]", "index_shapes", 3,
        "the mask keep is a vector of length 3, but x is 4×3",
        "`kept = x[:, keep]`", 3, "tuple(kept.shape) == (4, 2)",
    ),
    "index_select from 1": Mistake(
        CHOSEN, "[0, 1, 3]", "[1, 2, 4]", "index_range", 3,
        "x is 4×3, so dimension 0 has the indices 0 to 3, but rows holds 4",
        "`y = x.index_select(0, rows - 1)`", 3, "y.tolist() == [[0, 1, 2], [3, 4, 5], [9, 10, 11]]",
    ),
    # None
    "no bias": Mistake(
        BIASED, "torch.zeros(2)", "None", "none_value", 2, "bias is None since `bias = None` in line 2",
        "`y = x`", 3, "x.grad.tolist() == [1.0, 1.0]",
    ),
    "a function without return": Mistake(
        DOUBLED, "    return d\n", "", "none_value", 4, "double(x) is None, because double() has no return",
        "after line 2, add `return d`", ("    d = t * 2\n", "    d = t * 2\n    return d\n"),
        "x.grad.tolist() == [4.0, 8.0]",
    ),
    # things that are no tensors
    "max without values": Mistake(
        HIGHEST, ".values", "", "several_values", 2, "x.max(dim=1) returns several values as a tuple",
        "`best = x.max(dim=1).values + 2`", 2, "best.tolist() == [7.0, 9.0]",
    ),
    "a factor and a maximum with its index": Mistake(
        DISCOUNTED, "max(1).values", "max(1)", "several_values", 3,
        "best is a tuple, because `q.max(1)` (line 2) returns several values",
        "`target = 1 + 0.5 * best.values`", 3, "target.tolist() == [3.5, 4.5]",
    ),
    "the output of an LSTM": Mistake(
        STATES, "fc(out[0])", "fc(out)", "several_values", 6,
        "out is a tuple, because `lstm(x)` (line 5) returns several values", "`y = fc(out[0])`", 6,
        "tuple(y.shape) == (5, 1, 1)",
    ),
    "a method of several values": Mistake(
        STATES, "fc(out[0])", "out.mean() * fc(torch.ones(4))", "several_values", 6, "out is a tuple",
        "out[0].mean()", ("out.mean()", "out[0].mean()"), "y.requires_grad",
    ),
    "a tensor of tensors": Mistake(
        LISTS, "torch.stack(rows)", "torch.tensor(rows)", "one_number", 2, "rows holds tensors",
        "`x = torch.stack(rows)`", 2, "tuple(x.shape) == (2, 2)",
    ),
    "a list in a sum": Mistake(
        LISTS, "torch.tensor([1.0, 2.0])", "[1.0, 2.0]", "no_tensor", 3, "[1.0, 2.0] is of type list",
        "`y = x + torch.tensor([1.0, 2.0])`", 3, "tuple(y.shape) == (2, 2)",
    ),
    "the truth of a tensor": Mistake(
        LOSSES, "(w.grad > 1).all()", "w.grad > 1", "one_number", 5, "one truth value for each element",
        "`(w.grad > 1).all()`", ("w.grad > 1", "(w.grad > 1).all()"), "w.grad is None",
    ),
    "one number of many": Mistake(
        LOSSES, "[loss.item()]", "w.item()", "one_number", 4, "w is a vector of length 2 with 2 elements",
        "`history = w.tolist()`", 4, "history == [1.0, 2.0]",
    ),
    "a size that is divided": Mistake(
        HEADS, "8 // 2", "8 / 2", "fraction", 5, "`8 / 2` (line 5) gives a float", "`8 // 2`",
        ("8 / 2", "8 // 2"), "tuple(y.shape) == (1, 4)",
    ),
    # what backward and NumPy need
    "losses with their graphs": Mistake(
        PLOTTED, "loss.item()", "loss", "numpy_of_graph", 6, "losses holds tensors that require gradients",
        "In line 6, write `losses.append(loss.item())`", ("append(loss)", "append(loss.item())"),
        "curve.tolist() == [5.0, 5.0, 5.0]",
    ),
    "a check without gradients": Mistake(
        CHECKED, ", requires_grad=True", "", "check_no_input", 2, "no input requires gradients",
        "`x = torch.ones(3, dtype=torch.float64, requires_grad=True)`",
        ("dtype=torch.float64", "dtype=torch.float64, requires_grad=True"), "ok is True",
    ),
    "requires_grad is missing": Mistake(
        DESCENT, ", requires_grad=True", "", "no_grad_fn", 1, "none of which requires gradients",
        "`w = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)`", 1, "w.grad.tolist() == [2.0, 4.0, 6.0]",
    ),
    "whole numbers that require gradients": Mistake(
        DESCENT, "[1.0, 2.0, 3.0]", "[1, 2, 3]", "integer_requires_grad", 1, "would be an integer",
        "`w = torch.tensor([1, 2, 3], requires_grad=True, dtype=torch.float32)`",
        ("requires_grad=True", "requires_grad=True, dtype=torch.float32"),
        "w.grad.tolist() == [2.0, 4.0, 6.0]",
    ),
    "a loss of several elements": Mistake(
        DESCENT, "(w ** 2).sum()", "w ** 2", "implicit_gradient", 3, "loss has shape (3,)",
        "loss.sum().backward()", ("loss.backward()", "loss.sum().backward()"),
        "w.grad.tolist() == [2.0, 4.0, 6.0]",
    ),
    "NumPy of what requires gradients": Mistake(
        DESCENT, "w.detach().numpy()", "w.numpy()", "numpy_of_graph", 4, "w requires gradients",
        "w.detach().numpy()", ("w.numpy()", "w.detach().numpy()"), "values.tolist() == [1.0, 2.0, 3.0]",
    ),
}  # fmt: skip
