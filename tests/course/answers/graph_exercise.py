"""Answers to the exercise on reading a graph, and the feedback that each receives."""

import minigrad

ANSWERS = {
    "": [
        (20, "right"),
        (minigrad.tensor(20.0), "right"),
        (25, "value"),
        (10, "no_two_x"),
        (2, "no_square"),
        (13, "added"),
        (12, "added"),
        (4, "at_x"),
        (28, "other"),
        (0, "other"),
        ([20], "other"),
        ("20", "quotes"),
        (None, "number"),
        (len, "number"),
    ],
    "kept": [
        (["x"], "kept_right"),
        ("x", "kept_right"),
        ({"x"}, "kept_right"),
        (("x", "x"), "kept_right"),
        (["x", "y", "z"], "intermediate"),
        (["x", "y", "z", "loss"], "intermediate"),
        (["x", "loss"], "root"),
        ([], "none"),
        (["w"], "names"),
        ([1, 2], "names"),
        ([["x"]], "names"),
        (None, "names"),
        (len, "names"),
    ],
}
