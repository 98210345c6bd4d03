"""Answers to the exercise of Finish a layer, and the feedback that each receives."""

import minigrad

X, W = minigrad.tensor([[1.0, 3.0]]), minigrad.zeros(2, 3, requires_grad=True)
b = minigrad.log(minigrad.tensor([1.0, 1.0, 2.0]))
minigrad.nn.functional.cross_entropy(X @ W + b, minigrad.tensor([2])).backward()

ANSWERS = {
    "": [
        (W.grad, "right"),
        ([[0.25, 0.25, -0.5], [0.75, 0.75, -1.5]], "right"),
        ([[0.25, 0.25, 0.5], [0.75, 0.75, 1.5]], "no_target"),
        ([[-0.25, -0.25, 0.5], [-0.75, -0.75, 1.5]], "sign"),
        ([[0.25, 0.25, -0.5], [0.25, 0.25, -0.5]], "no_input"),
        (W.grad.T, "shape"),
        ([0.25, 0.25, -0.5, 0.75, 0.75, -1.5], "shape"),
        ([[0.25, 0.25, -0.5], [0, 0, 0]], "first"),
        ([[0, 0, 0], [0, 0, 0]], "other"),
        ([0.25, 0.25, -0.5], "six"),
        (None, "six"),
    ]
}
