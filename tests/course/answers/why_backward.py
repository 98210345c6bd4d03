"""Answers to the exercise of Why backward?, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([50, 75], "right"),
        (minigrad.tensor([50, 75]), "right"),
        ([75, 50], "swapped"),
        ([25, 25], "one_pass"),
        ([30, 30], "whole"),
        ([50, 25], "backward"),
        ([50, 50], "backward"),
        ([25, 75], "forward"),
        ([6, 6], "other"),
        (50, "two"),
        (None, "two"),
    ]
}
