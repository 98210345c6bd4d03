"""Answers to Code 2's exercise, and the feedback that each receives."""

ANSWERS = {
    "": [
        (lambda f, x, h: (f(x + h) - f(x - h)) / (2 * h), "right"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / ((x + h) - (x - h)), "right"),
        (lambda f, x, h: ((f(x + h) - f(x - h)) / (2 * h)).item(), "right"),
        (lambda f, x, h: (f(x + h) - f(x)) / h, "one_side"),
        (lambda f, x, h: (f(x) - f(x - h)) / h, "one_side"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / h, "twice"),
        (lambda f, x, h: f(x + h) - f(x - h), "difference"),
        (lambda f, x, h: (f(x + h) - f(x - h)) / 2 * h, "brackets"),
        (lambda f, x, h: f(x + h) - f(x - h) / (2 * h), "brackets"),
        (lambda f, x, h: (f(x - h) - f(x + h)) / (2 * h), "sign"),
        (lambda f, x, h: 3 * x**2, "exact"),
        (lambda f, x, h: None, "nothing"),
        (lambda f, x, h: f, "other"),
        (lambda f, x, h: "x", "other"),
        (lambda f, x, h: [f(x), h], "other"),
        (lambda x: x, "raised"),
        (lambda f, x, h: f(x + h) / 0, "other"),
        (lambda f, x, h: h / 0, "raised"),
        (len, "raised"),
        (0.6, "no_function"),
        ("x", "no_function"),
        ([1, 2], "no_function"),
        (None, "no_function"),
    ]
}
