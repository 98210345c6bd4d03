"""Typical mistakes with shapes: matrix products, broadcasting, views and joints."""

from __future__ import annotations

from .mistake import Mistake

LINEAR = """\
torch.manual_seed(0)
X = torch.randn(6, 3)
w = torch.zeros(3, 1, requires_grad=True)
b = torch.zeros(1, requires_grad=True)
Y = X.sum(dim=1, keepdim=True)
for i in range(20):
    loss = ((X @ w + b - Y) ** 2).mean()
    loss.backward()
    with torch.no_grad():
        w -= 0.2 * w.grad
        b -= 0.2 * b.grad
    w.grad = b.grad = None
"""
LESS = "loss.item() < 1"
HIDDEN = """\
torch.manual_seed(0)
X = torch.randn(6, 3)
w = torch.randn(3, 4, requires_grad=True)
b = torch.zeros(4, requires_grad=True)
h = torch.tanh(X @ w + b)
h.sum().backward()
"""
BATCHES = """\
torch.manual_seed(0)
q = torch.randn(2, 4, 8, requires_grad=True)
k = torch.randn(2, 5, 8, requires_grad=True)
v = torch.randn(2, 5, 3)
a = torch.softmax(torch.bmm(q, k.mT) / 8 ** 0.5, dim=-1)
out = torch.bmm(a, v)
out.sum().backward()
"""
ATTENDED = "tuple(out.shape) == (2, 4, 3) and q.grad is not None"
VECTORS = """\
a = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
b = torch.ones(3)
c = torch.dot(a, b)
c.backward()
"""
CENTERED = """\
torch.manual_seed(0)
x = torch.randn(4, 3, requires_grad=True)
z = x - x.mean(dim=1, keepdim=True)
loss = (z ** 2).sum()
loss.backward()
"""
SCALED = """\
torch.manual_seed(0)
x = torch.randn(4, 3)
scale = torch.ones(4, requires_grad=True)
y = x * scale.unsqueeze(1)
y.sum().backward()
"""
MEANS = """\
torch.manual_seed(0)
x = torch.randn(4, 3)
total = torch.zeros(3)
for row in x:
    total = total + row
"""
BLOCKS = """\
torch.manual_seed(0)
x = torch.randn(2, 12, requires_grad=True)
y = x.view(2, 3, 4)
y.sum().backward()
"""
TURNED = """\
torch.manual_seed(0)
x = torch.randn(4, 3, requires_grad=True)
y = x.t().reshape(12)
y.sum().backward()
"""
PARTS = """\
torch.manual_seed(0)
a = torch.randn(4, 3, requires_grad=True)
b = torch.randn(4, 2)
c = torch.cat([a, b], dim=1)
c.sum().backward()
"""
JOINED = "tuple(c.shape) == (4, 5) and a.grad is not None"
COLUMN = PARTS.replace("torch.randn(4, 2)", "torch.randn(4)").replace("[a, b]", "[a, b.unsqueeze(1)]")
PADDED = """\
torch.manual_seed(0)
rows = [torch.ones(3), torch.ones(2)]
x = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)
"""

MISTAKES = {
    # matrix products
    "a weight the wrong way round": Mistake(
        LINEAR, "torch.zeros(3, 1, requires_grad=True)", "torch.zeros(1, 3, requires_grad=True)",
        "matrix_sizes", 7, "X is 6×3 and w is 1×3; the inner sizes 3 and 1 must be equal",
        "`loss = ((X @ w.T + b - Y) ** 2).mean()`", 7, LESS,
    ),
    "a weight of another size": Mistake(
        LINEAR, "torch.zeros(3, 1, requires_grad=True)", "torch.zeros(2, 1, requires_grad=True)",
        "matrix_sizes", 3, "X is 6×3 and w is 2×1; the inner sizes 3 and 2",
        "`w = torch.zeros(3, 1, requires_grad=True)`", 3, LESS,
    ),
    "the factors exchanged": Mistake(
        LINEAR, "X @ w", "w @ X", "matrix_sizes", 7, "w is 3×1 and X is 6×3", "`loss = ((X @ w", 7, LESS,
    ),
    "mm with a vector": Mistake(
        LINEAR.replace("X.sum(dim=1, keepdim=True)", "X.sum(dim=1)")
        .replace("zeros(3, 1", "zeros(3"),
        "X @ w", "torch.mm(X, w)", "matrix_dims", 7, "mm needs 2 dimensions here, but w is a vector",
        "`loss = ((X @ w + b - Y) ** 2).mean()`", 7, LESS,
    ),
    "keys that are not transposed": Mistake(
        BATCHES, "k.mT", "k", "matrix_sizes", 5, "q is 2×4×8 and k is 2×5×8; the inner sizes 8 and 5",
        "`a = torch.softmax(torch.bmm(q, k.mT) / 8 ** 0.5, dim=-1)`", 5, ATTENDED,
    ),
    "another number of matrices": Mistake(
        BATCHES, "v = torch.randn(2,", "v = torch.randn(3,", "matrix_sizes", 4, "holds 2 matrices, but v",
        "`v = torch.randn(2, 5, 3)`", 4, ATTENDED,
    ),
    "vectors of two lengths": Mistake(
        VECTORS, "torch.ones(3)", "torch.ones(4)", "matrix_sizes", 2, "both must have the same length",
        "`b = torch.ones(3)`", 2, "c.item() == 6",
    ),
    # broadcasting
    "keepdim is missing": Mistake(
        CENTERED, ", keepdim=True", "", "broadcast", 3, "x.mean(dim=1) is a vector of length 4",
        "`z = x - x.mean(dim=1, keepdim=True)`", 3, "z.sum(dim=1).abs().max().item() < 1e-5",
    ),
    "unsqueeze is missing": Mistake(
        SCALED, ".unsqueeze(1)", "", "broadcast", 4, "scale is a vector of length 4",
        "`y = x * scale.unsqueeze(1)`", 4, "tuple(y.shape) == (4, 3) and scale.grad is not None",
    ),
    "a bias of another size": Mistake(
        HIDDEN, "b = torch.zeros(4,", "b = torch.zeros(3,", "broadcast", 4,
        "X @ w is 6×4 and b is a vector of length 3", "`b = torch.zeros(4, requires_grad=True)`", 4,
        "tuple(h.shape) == (6, 4) and b.grad is not None",
    ),
    "a sum in place that is larger": Mistake(
        MEANS, "    total = total + row", "    total += x", "broadcast", 5,
        "total is a vector of length 3, but the result is 4×3", "`total = total + x`", 5,
        "tuple(total.shape) == (4, 3)",
    ),
    "a sum of another size": Mistake(
        MEANS, "torch.zeros(3)", "torch.zeros(4)", "broadcast", 3,
        "total is a vector of length 4 and row is a vector of length 3", "`total = torch.zeros(3)`", 3,
        "tuple(total.shape) == (3,)",
    ),
    # views and joints
    "a view of another size": Mistake(
        BLOCKS, "view(2, 3, 4)", "view(2, 3, 5)", "view_size", 3,
        "x is 2×12, which has 24 elements, but the shape (2, 3, 5) needs 30", "`y = x.view(2, 3, 4)`", 3,
        "tuple(y.shape) == (2, 3, 4)",
    ),
    "a view that does not divide": Mistake(
        BLOCKS, "view(2, 3, 4)", "view(-1, 5)", "view_size", 3, "24 is not divisible by 5",
        "`y = x.view(-1, ", 3, "x.grad is not None",
    ),
    "a view with two open sizes": Mistake(
        BLOCKS, "view(2, 3, 4)", "view(-1, -1)", "view_size", 3, "only one size can be -1",
        "`y = x.view(2, -1)`", 3, "tuple(y.shape) == (2, 12)",
    ),
    "a view after a transpose": Mistake(
        TURNED, "reshape(12)", "view(12)", "view_strides", 3, "the memory of x.t()",
        "`y = x.t().reshape(12)`", 3, "tuple(y.shape) == (12,)",
    ),
    "joined along the wrong dimension": Mistake(
        PARTS, ", dim=1", "", "joined_sizes", 4, "a is 4×3 and b is 4×2", "`c = torch.cat([a, b], dim=1)`", 4,
        JOINED,
    ),
    "stacked instead of joined": Mistake(
        PARTS, "torch.cat([a, b], dim=1)", "torch.stack([a, b])", "joined_sizes", 4, "tensors of equal shape",
        "`c = torch.cat([a, b], dim=1)`", 4, JOINED,
    ),
    "a column without a dimension": Mistake(
        COLUMN, "b.unsqueeze(1)", "b", "joined_sizes", 4, "b is a vector of length 4, which has 1",
        "`c = torch.cat([a, b.unsqueeze(1)], dim=1)`", 4, "tuple(c.shape) == (4, 4)",
    ),
    "cat without a list": Mistake(
        PARTS, "[a, b], dim=1", "a, b, dim=1", "joined_list", 4, "must be a list of tensors",
        "`c = torch.cat([a, b], dim=1)`", 4, JOINED,
    ),
    "rows of several lengths": Mistake(
        PADDED, "torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)", "torch.stack(rows)",
        "joined_sizes", 3, "rows[0] is a vector of length 3 and rows[1] is a vector of length 2",
        "`x = torch.nn.utils.rnn.pad_sequence(rows, batch_first=True)`", 3, "tuple(x.shape) == (2, 3)",
    ),
}  # fmt: skip
