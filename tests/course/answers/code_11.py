"""Answers to Code 11's exercise, and the feedback that each receives."""

from functions import of_inputs

import minigrad as torch


def mul(backward, forward=lambda a, b: a * b):
    """A Function of two inputs whose gradients `backward` gives, from what came and the inputs."""
    return of_inputs(torch, forward, backward)


RIGHT = mul(lambda g, a, b: (g * b, g * a))

ANSWERS = {
    "": [
        (RIGHT, "right"),
        (RIGHT.apply, "right"),
        (mul(lambda g, a, b: (g * a, g * b)), "swapped"),
        (mul(lambda g, a, b: (b, a)), "not_multiplied"),
        (mul(lambda g, a, b: (g, g)), "passed_on"),
        (mul(lambda g, a, b: (g * b, None)), "none"),
        (mul(lambda g, a, b: (None, None)), "none"),
        (mul(lambda g, a, b: (a, b)), "other"),
        (mul(lambda g, a, b: (g * a * b, g * a * b)), "other"),
        (mul(lambda g, a, b: (g * b, g * a), lambda a, b: a + b), "forward"),
        (mul(lambda g, a, b: g * b), "raised"),
        (mul(lambda g, a, b: ...), "raised"),
        (mul(lambda g, a, b: 1 / 0), "raised"),
        (mul(lambda g, a, b: (g, g), lambda a, b: 14.0), "raised"),
        (mul(lambda g, a, b: (g, g), lambda a, b: None), "raised"),
        (lambda a, b: a * b, "no_class"),
        (torch.autograd.Function, "no_class"),
        (RIGHT.forward, "no_class"),
        (int, "no_class"),
        ("MyMul", "no_class"),
        ([1, 2], "no_class"),
        (14, "no_class"),
        (None, "no_class"),
    ]
}
