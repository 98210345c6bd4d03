"""Answers to the question of "Start here", and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (5, "right"),
        (minigrad.tensor(5.0), "right"),
        (3, "before"),
        (2, "other_leaf"),
        (14, "total"),
        (10.0, "total"),
        (1, "other"),
        ([5], "other"),
        ("5", "quotes"),
        (None, "number"),
        (len, "number"),
    ]
}
