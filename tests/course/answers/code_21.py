"""Answers to Code 21's exercise, and the feedback that each receives."""

from functions import of_inputs

import minigrad as torch


def div(backward, forward=lambda a, b: a / b):
    """A Function of two inputs whose gradients `backward` gives, from what came and the inputs."""
    return of_inputs(torch, forward, backward)


RIGHT = div(lambda g, a, b: (g / b, -g * a / b**2))

ANSWERS = {
    "": [
        (RIGHT, "right"),
        (RIGHT.apply, "right"),
        (div(lambda g, a, b: (g / b, -g * a / (b * b))), "right"),
        (div(lambda g, a, b: (g / b, -g * a / b)), "unchanged"),
        (div(lambda g, a, b: (g / b, g * a / b**2)), "sign"),
        (div(lambda g, a, b: (g / b, g * -0.75)), "one_point"),
        (div(lambda g, a, b: (g / b, -g * a / 4)), "one_point"),
        (div(lambda g, a, b: (1 / b, -a / b**2)), "not_multiplied"),
        (div(lambda g, a, b: (-g / b, -g * a / b**2)), "first"),
        (div(lambda g, a, b: (None, -g * a / b**2)), "first"),
        (div(lambda g, a, b: (g / b, g * a)), "other"),
        (div(lambda g, a, b: (g / b, None)), "other"),
        (div(lambda g, a, b: (g / b, -g * a / b**2), lambda a, b: a * b), "forward"),
        (div(lambda g, a, b: (g / b, -g * a / b**2), lambda a, b: 1.5), "raised"),
        (div(lambda g, a, b: g / b), "raised"),
        (div(lambda g, a, b: 1 / 0), "raised"),
        (lambda a, b: a / b, "no_class"),
        (RIGHT.backward, "no_class"),
        (-0.75, "no_class"),
        ("x", "no_class"),
        ([1, 2], "no_class"),
        (None, "no_class"),
    ]
}
