"""Answers to Code 18's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (0.048, "right"),
        (6 / 125, "right"),
        (minigrad.tensor(0.048), "right"),
        ((minigrad.tensor(0.048),), "tuple"),
        (0.6, "first"),
        (-0.12, "second"),
        (-0.048, "sign"),
        (0.528, "added"),
        (0.48, "added"),
        (0.0, "other"),
        ("0.048", "quotes"),
        (None, "number"),
        ([1, [2, 3]], "number"),
        (print, "number"),
    ]
}
