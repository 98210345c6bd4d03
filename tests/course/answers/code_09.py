"""Answers to Code 9's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (33, "right"),
        (minigrad.tensor(33.0), "right"),
        (24, "through_y"),
        (9.0, "through_w"),
        (216, "multiplied"),
        (7, "half_way"),
        (6, "half_way"),
        (36, "value"),
        (10, "other"),
        ([24, 9], "other"),
        ("33", "quotes"),
        (None, "number"),
        (lambda x: x, "number"),
    ]
}
