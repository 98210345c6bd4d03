"""Answers to the exercise of Through time, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([8, 9], "right"),
        (minigrad.tensor([8.0, 9.0]), "right"),
        ([9, 8], "swapped"),
        ([5, 9], "last"),
        ([5, 3], "last"),
        ([6, 9], "unscaled"),
        ([16, 9], "value"),
        ([8, 3], "steps"),
        ([8, 27], "steps"),
        ([12, 9], "x_right"),
        ([12, 27], "other"),
        (8, "two"),
        (None, "two"),
    ]
}
