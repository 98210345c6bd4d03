"""Answers to Code 7's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (1.8, "right"),
        (minigrad.tensor(1.8), "right"),
        (0.6, "replaced"),
        (1.2, "two_calls"),
        (2.4, "other"),
        ([1.8], "other"),
        ("1.8", "quotes"),
        (None, "number"),
    ]
}
