"""Answers to Code 8's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([1.2, 0], "right"),
        ((1.2, 0.0), "right"),
        ([minigrad.tensor(1.2), minigrad.tensor(0.0)], "right"),
        ([0.6, 0], "copy"),
        ([0, 0], "emptied"),
        ([1.8, 0], "summed"),
        ([1.2, None], "none"),
        ([1.2, 0.6], "last"),
        ([0.6, 0.6], "other"),
        ([5, 0], "other"),
        (1.2, "pair"),
        ([1.2, 0, 0], "pair"),
        ([None, 0], "lost"),
        ([[1.2], [0]], "pair"),
        ("x", "pair"),
        (None, "pair"),
        ({1.2: 0}, "pair"),
        (lambda x: x, "pair"),
    ]
}
