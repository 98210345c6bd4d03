"""Answers to Code 14's exercise, and the feedback that each receives."""

import minigrad as torch


def cut(x):
    return (x**2).detach() * x


def cut_before(x):
    return x.detach() ** 2 * x


def under_no_grad(x):
    with torch.no_grad():
        square = x * x
    return square * x


def number(x):
    return x.item() ** 2 * x


def uncut(x):
    return x**2 * x


def all_cut(x):
    return (x**3).detach()


def new_leaf(x):
    return (x**3).detach().requires_grad_()


def other_factor(x):
    return x**2 * x.detach()


def mixed(x):
    return x**2 * x.detach() * 0.75 + (x**3).detach() * 0.25


def square(x):
    return x.detach() * x


def failing(x):
    return x.no_such_method()


ANSWERS = {
    "": [
        (cut, "right"),
        (cut_before, "right"),
        (under_no_grad, "right"),
        (number, "right"),
        (uncut, "uncut"),
        (all_cut, "all_cut"),
        (new_leaf, "all_cut"),
        (other_factor, "other_factor"),
        (mixed, "other"),
        (square, "value"),
        (lambda x: torch.tensor([125.0]), "value"),
        (lambda x: 125.0, "no_tensor"),
        (lambda x: None, "no_tensor"),
        (torch.tensor, "value"),
        (failing, "raised"),
        (lambda: 1, "raised"),
        (25.0, "no_function"),
        ("x", "no_function"),
        (None, "no_function"),
        ([1, 2], "no_function"),
        (int, "no_function"),
    ]
}
