"""Answers to the exercises on gradient descent, and the feedback that each receives."""

import math

import minigrad

ANSWERS = {
    "": [
        (1.76, "right"),
        (minigrad.tensor(1.76), "right"),
        (2.56, "with_reset"),
        (3.2, "one_step"),
        (2.4, "same_gradient"),
        (14.4, "gradient"),
        (0.0, "other"),
        ([1.76], "other"),
        ("1.76", "quotes"),
        (None, "number"),
        (len, "number"),
    ],
    "size": [
        (0.5, "size_right"),
        (minigrad.tensor([0.5]), "size_right"),
        (0.1, "too_small"),
        (1, "too_large"),
        (math.inf, "too_large"),
        (-0.5, "uphill"),
        (0, "uphill"),
        (math.nan, "no_size"),
        (True, "no_size"),
        ([0.5, 0.5], "no_size"),
        ([], "no_size"),
        ("0.5", "no_size"),
        (None, "no_size"),
    ],
}
