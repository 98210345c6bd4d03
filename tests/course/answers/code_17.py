"""Answers to Code 17's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (0.6, "right"),
        (minigrad.tensor(0.6), "right"),
        (0, "tracked"),
        (3.0, "value"),
        (-0.12, "second"),
        (None, "nothing"),
        (0.48, "other"),
        ("0.6", "quotes"),
        ([0.6], "other"),
        (print, "number"),
    ]
}
