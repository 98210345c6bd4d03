"""Typed answers and what both judges, in Python and on the page, make of them.

Each case is the kind of the question, its truth, what was typed, and "right", "wrong" or "unread".
"""

from __future__ import annotations

from typing import Any

from minigrad_viz.predicting.question import GRAD, LEAVES, RAISES, SHAPE

CASES: list[tuple[str, Any, str, str]] = [
    (LEAVES, ["w", "x"], "x와 w", "right"),
    (LEAVES, ["w", "x"], "w과 x", "right"),
    (LEAVES, ["w", "x"], "x 와 w", "right"),
    (LEAVES, ["w", "x"], "x and w", "right"),
    (LEAVES, ["w", "x"], "{'x', 'w'}", "right"),
    (LEAVES, ["w", "x"], "x", "wrong"),
    (LEAVES, ["x", "값과"], "값과, x", "right"),
    (GRAD, 1.6, "tensor(1.6)", "right"),
    (GRAD, 1.6, "tensor(1.6, requires_grad=True)", "right"),
    (GRAD, 1.6, "torch.tensor(1.6, dtype=torch.float64, requires_grad=True)", "right"),
    (GRAD, 1.6, "tensor(1.6, grad_fn=<AddBackward0>)", "right"),
    (GRAD, 1.6, "tensor(1.7, requires_grad=True)", "wrong"),
    (GRAD, 1.6, "tensor(requires_grad=True)", "unread"),
    (GRAD, 1.6, "tensor(1.6, requires_grad=", "unread"),
    (GRAD, [1.0, 2.0], "tensor([1., 2.], requires_grad=True)", "right"),
    (GRAD, [1.0, 2.0], "[1. 2.]", "right"),
    (GRAD, 2.0, "sqrt(4)", "right"),
    (GRAD, 1.0, "True", "unread"),
    (GRAD, None, "None", "right"),
    (GRAD, None, "0", "wrong"),
    (GRAD, 1.6, "x", "unread"),
    (SHAPE, [2, 3], "2x3", "right"),
    (SHAPE, [2, 3], "torch.Size([2, 3])", "right"),
    (SHAPE, [2, 3], "(3, 2)", "wrong"),
    (RAISES, True, "RuntimeError", "right"),
    (RAISES, True, "아니요", "wrong"),
    (RAISES, True, "perhaps", "unread"),
]
