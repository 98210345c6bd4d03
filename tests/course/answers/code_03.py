"""Answers to Code 3's exercise, and the feedback that each receives."""

ANSWERS = {
    "": [
        ("abc", "right"),
        ("c, b and a", "right"),
        (["a", "b", "c"], "right"),
        ({"a", "b", "c"}, "right"),
        (("A", "b", "C"), "right"),
        ("a", "asked"),
        ("ab", "made_by_hand"),
        ("de", "others"),
        ("bc", "no_gradient"),
        ("abcde", "other"),
        ("ad", "other"),
        ("", "form"),
        ("x", "form"),
        ("all", "form"),
        ([1, 2], "form"),
        ([], "form"),
        (3, "form"),
        (None, "form"),
        (len, "form"),
    ]
}
