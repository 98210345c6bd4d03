"""Answers to Code 1's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (9, "right"),
        (9.0, "right"),
        (minigrad.tensor(9.0), "right"),
        (28, "followed"),
        (8, "only_y"),
        (27, "other"),
        ([9], "other"),
        ("9", "quotes"),
        ("x", "quotes"),
        (None, "number"),
        (True, "other"),
        (len, "number"),
    ]
}
