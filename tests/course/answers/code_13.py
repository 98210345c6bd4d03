"""Answers to Code 13's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (20, "right"),
        (minigrad.tensor(20.0), "right"),
        (74.0, "product"),
        ([4, 7, 9], "unsummed"),
        (minigrad.tensor([4.0, 7.0, 9.0]), "unsummed"),
        (3, "unweighted"),
        ([1, 1, 1], "unweighted"),
        ([20], "other"),
        (None, "number"),
        ("20", "quotes"),
        (print, "number"),
    ]
}
