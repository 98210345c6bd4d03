"""Answers to Code 12's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (16, "right"),
        (minigrad.tensor(16.0), "right"),
        (48.0, "recorded"),
        (8, "through_b"),
        (32.0, "through_b"),
        (64, "value"),
        (None, "leaf"),
        (0, "leaf"),
        (4, "other"),
        (True, "other"),
        ("16", "quotes"),
        ([1, 2], "other"),
        ([[1], [1, 2]], "number"),
        (lambda x: x, "number"),
    ]
}
