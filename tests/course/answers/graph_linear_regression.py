"""Answers to the exercise on linear regression, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([-12, -6], "right"),
        ([minigrad.tensor(-12.0), minigrad.tensor(-6.0)], "right"),
        (minigrad.tensor([-12.0, -6.0]), "right"),
        ([12, 6], "sign"),
        ([28, 14], "no_target"),
        ([-6, -6], "no_x"),
        ([-6, -3], "no_two"),
        ([-6, -12], "swapped"),
        ([0, 0], "other"),
        (-12, "not_two"),
        ([-12, -6, 0], "not_two"),
        ("x", "not_two"),
        (None, "not_two"),
        (len, "not_two"),
    ]
}
