"""Answers to the exercise of "From scratch, part 2", and the feedback that each receives."""

ANSWERS = {
    "": [
        ("zbax", "right"),
        ("z, b, a, x", "right"),
        ("Z → B → A → X", "right"),
        (["z", "b", "a", "x"], "right"),
        ("xabz", "forward"),
        ("zabx", "impatient"),
        ("zaxb", "impatient"),
        ("zbxa", "leaf"),
        ("zxba", "leaf"),
        ("bzax", "other"),
        ("xbaz", "other"),
        ("zba", "form"),
        ("zbaxx", "form"),
        ("", "form"),
        ([1, 2], "form"),
        (None, "form"),
        (len, "form"),
    ]
}
