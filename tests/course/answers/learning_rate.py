"""Answers to the exercise of The learning rate, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([0.2, -0.5], "right"),
        (minigrad.tensor([0.2, -0.5]), "right"),
        ([0.4, -0.5], "half"),
        ([0.4, 0.25], "half"),
        ([0.1, -0.5], "best"),
        ([0.2, 2.5], "step"),
        ([0.2, 0.25], "step"),
        ([2, -0.5], "limit"),
        ([1, 2], "other"),
        (0.2, "two"),
        (None, "two"),
    ]
}
