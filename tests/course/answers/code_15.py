"""Answers to Code 15's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (10, "right"),
        (minigrad.tensor(10.0), "right"),
        (84.0, "joined"),
        (74, "through_w"),
        ([4, 7, 9], "of_w"),
        (minigrad.ones(3), "of_w"),
        (None, "none"),
        (0.0, "none"),
        (370, "other"),
        ("10", "quotes"),
        ([10], "other"),
        (minigrad.tensor, "number"),
    ]
}
