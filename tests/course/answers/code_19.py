"""Answers to Code 19's exercise, and the feedback that each receives."""

import minigrad


def forgets_return(grad):
    minigrad.relu(grad)


def writes(grad):
    grad[1] = 0.0
    grad[3] = 0.0


def writes_and_returns(grad):
    writes(grad)
    return grad


ANSWERS = {
    "": [
        (minigrad.relu, "right"),
        (lambda grad: grad * (grad > 0), "right"),
        (lambda grad: minigrad.where(grad > 0, grad, minigrad.zeros_like(grad)), "right"),
        (lambda grad: minigrad.tensor([max(number, 0.0) for number in grad.tolist()]), "right"),
        (forgets_return, "unchanged"),
        (lambda grad: grad, "unchanged"),
        (lambda grad: None, "unchanged"),
        (writes, "in_place"),
        (writes_and_returns, "in_place"),
        (lambda grad: grad.abs(), "absolute"),
        (lambda grad: grad * (grad < 0), "opposite"),
        (lambda grad: grad * 0, "positive"),
        (lambda grad: grad > 0, "raised"),
        (lambda grad: grad + 1 - 1 * (grad > 0), "other"),
        (lambda grad: grad[:2], "raised"),
        (lambda grad: 1.0, "raised"),
        (lambda: None, "raised"),
        (minigrad.ones(4), "no_function"),
        (None, "no_function"),
        ("hook", "no_function"),
        ([1, 2], "no_function"),
    ]
}
