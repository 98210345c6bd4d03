"""Answers to Code 5's exercise, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        ([60, 20, None], "right"),
        ((60.0, 20.0, None), "right"),
        ([minigrad.tensor(60.0), minigrad.tensor(20.0), None], "right"),
        ([60, 20, 5], "late"),
        ([60, None, None], "leaf_only"),
        ([3, 4, None], "local"),
        ([3, 12, None], "local"),
        ([60, 5, None], "numbers"),
        ([60, 20, 0], "kept"),
        ([3, 4, 5], "kept"),
        ([None, None, None], "kept"),
        (["x", "y", None], "numbers"),
        ([len, [1, 2], None], "numbers"),
        ([60, 20], "three"),
        (60, "three"),
        ("x60", "three"),
        (None, "three"),
        (len, "three"),
    ]
}
