"""Answers to the exercise of "From scratch", and the feedback on each. The engine is the notebook's."""

import math

import course

engine = {}
for cell in course.code("from_scratch"):
    if cell.id in ("value", "node", "leaf", "record", "ops", "backward"):
        exec(cell.source, engine)


def of(source):
    """A function that is written in the notebook."""
    exec(f"def tanh(a):\n    t = math.tanh(a.data)\n    {source}", engine)
    return engine["tanh"]


def recorded(rule, inputs="(a,)", name="t"):
    return of(f'return record("TanhBackward", {name}, {inputs}, lambda g, t: ({rule},), (t,))')


ANSWERS = {
    "": [
        (recorded("g * (1 - t * t)"), "right"),
        (recorded("(1 - t**2) * g"), "right"),
        (
            of("return (Value(2) * a, t) and mul(record('T', t, (a,), lambda g: (g * (1 - t * t),)), 1)"),
            "right",
        ),
        (math.tanh, "no_function"),
        (engine["Value"](0.4621), "no_function"),
        (0.4621, "no_function"),
        ("x", "no_function"),
        (None, "no_function"),
        ([1, 2], "no_function"),
        (of("return t"), "not_a_value"),
        (of("pass"), "not_a_value"),
        (recorded("g * (1 - t * t)", name="t + 1"), "value"),
        (of("return record('T', 'x', (a,), lambda g: (g,))"), "raised"),
        (of("b = Value(0); b.data = 'x'; return b"), "value"),
        (of("return Value(t)"), "no_node"),
        (recorded("g * (1 - t * t)", inputs="(Value(t),)"), "no_node"),
        (recorded("1 - t * t"), "not_multiplied"),
        (recorded("g * (1 - 0.5 * 0.5)"), "of_the_input"),
        (recorded("g * t"), "other"),
        (recorded("g / 0"), "raised"),
        (recorded("g * (1 - s)"), "raised"),
        (recorded("'x'"), "raised"),
        (of("x = 1 / 0"), "raised"),
        (lambda a: a, "no_function"),
    ]
}
