"""Typical mistakes that end in nan or inf."""

from __future__ import annotations

from .mistake import Mistake

FINITE = "all(n == n and abs(n) < 1e30 for n in x.grad.reshape(-1).tolist())"
DISTANCE = """\
x = torch.tensor([0.0, 4.0], requires_grad=True)
d = torch.sqrt(x + 1e-12)
d.sum().backward()
"""
ENTROPY = """\
x = torch.tensor([0.0, 0.25, 0.75], requires_grad=True)
h = -(x * torch.log(x.clamp(min=1e-8))).sum()
h.backward()
"""
SOFTMAX = """\
x = torch.tensor([1.0, 100.0], requires_grad=True)
e = torch.exp(x - x.max())
p = e / e.sum()
p[0].backward()
"""
SCALED = """\
x = torch.zeros(4, requires_grad=True)
y = x / (x.abs().sum() + 1e-8)
y.sum().backward()
"""
LENGTH = """\
x = torch.zeros(3, requires_grad=True)
n = ((x ** 2).sum() + 1e-12) ** 0.5
n.backward()
"""
DATA = """\
d = torch.nan_to_num(torch.tensor([1.0, float("nan"), 2.0]))
x = torch.tensor(1.0, requires_grad=True)
loss = ((d * x) ** 2).sum()
loss.backward()
"""
MASKED = """\
x = torch.zeros(2, 2, requires_grad=True)
m = torch.tensor([[False, True], [False, False]])
a = torch.softmax(x.masked_fill(m, float("-inf")), dim=-1)
(a ** 2).sum().backward()
"""

MISTAKES = {
    "sqrt at 0": Mistake(
        DISTANCE, "x + 1e-12", "x", "first_nan", 2, "received 1. and passed inf",
        "`torch.sqrt(x.clamp(min=1e-12))`", ("sqrt(x)", "sqrt(x.clamp(min=1e-12))"), FINITE,
    ),
    "a length of 0": Mistake(
        LENGTH, "((x ** 2).sum() + 1e-12)", "(x ** 2).sum()", "first_nan", 2, "first appeared in backward",
        "`(x ** 2).sum().clamp(min=1e-12) ** 0.5`", (".sum()", ".sum().clamp(min=1e-12)"), FINITE,
    ),
    "log of 0": Mistake(
        ENTROPY, ".clamp(min=1e-8)", "", "first_nan", 2, "with x[0] = 0. the result is -inf",
        "`torch.log(x.clamp(min=1e-8))`", ("log(x)", "log(x.clamp(min=1e-8))"), FINITE,
    ),
    "exp of a large number": Mistake(
        SOFTMAX, " - x.max()", "", "first_nan", 2, "with x[1] = 100. the result is inf",
        "`torch.exp(x - x.max())`", ("exp(x)", "exp(x - x.max())"), FINITE,
    ),
    "a divisor of 0": Mistake(
        SCALED, "(x.abs().sum() + 1e-8)", "x.abs().sum()", "first_nan", 2, "x.abs().sum() = 0.",
        "`x / (x.abs().sum() + 1e-8)`", ("x.abs().sum()", "(x.abs().sum() + 1e-8)"), FINITE,
    ),
    "nan in the data": Mistake(
        DATA, 'torch.nan_to_num(torch.tensor([1.0, float("nan"), 2.0]))',
        'torch.tensor([1.0, float("nan"), 2.0])', "first_nan", 1, "d holds nan from the start",
        "torch.nan_to_num(d)", ("(d * x)", "(torch.nan_to_num(d) * x)"), FINITE,
    ),
    "a row that is masked whole": Mistake(
        MASKED, "[[False, True]", "[[True, True]", "first_nan", 3, "= -inf the result is nan",
        "Leave at least one element", ("[[True, True]", "[[False, True]"), FINITE,
    ),
}  # fmt: skip
