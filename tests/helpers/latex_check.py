"""Whether a formula is LaTeX that MathJax and KaTeX read: braces and \\left \\right in pairs, environments
closed, only commands that both know, nothing that means something to HTML or Markdown."""

from __future__ import annotations

import re

COMMANDS = {
    "frac", "partial", "cdot", "odot", "times", "bar", "dot", "overline", "mathrm", "text",
    "operatorname", "top", "left", "right", "sqrt", "ln", "sin", "cos", "tanh", "sigma", "lnot", "land",
    "lor",
    "infty", "quad", "to", "gets", "dots", "sum", "lt", "gt", "leq", "geq", "neq", "sim", "wedge",
    "backslash", "prime", "begin", "end", "gamma", "hat", "lfloor", "rfloor",
}  # fmt: skip
SIGNS = set("_%#&${}, \\|")  # what may follow a backslash beside the name of a command
TOKEN = re.compile(r"\\([A-Za-z]+|.)|([{}$&<>#%~])|(\^\s*\^|_\s*_)|.", re.S)


def check(formula: str) -> None:
    """AssertionError with the formula unless it is well formed."""
    depth, pairs, environments = [], 0, re.findall(r"\\(begin|end)\{(\w+)\}", formula)
    inside_matrix = "bmatrix" in formula
    for match in TOKEN.finditer(formula):
        command, sign, doubled = match.groups()
        if command is not None:
            known = command in COMMANDS if command.isalpha() else command in SIGNS
            assert known, f"\\{command} in {formula}"
            pairs += {"left": 1, "right": -1}.get(command, 0)
            assert pairs >= 0, formula
        elif sign == "{":
            depth.append(match.start())
        elif sign == "}":
            assert depth, f"too many closing braces: {formula}"
            depth.pop()
        else:
            assert sign is None or (sign == "&" and inside_matrix), f"{sign} in {formula}"
            assert doubled is None, f"{doubled} in {formula}"
    assert not depth and pairs == 0, f"left open: {formula}"
    opened: list[str] = []
    for word, name in environments:
        assert name == "bmatrix", formula
        assert word == "begin" or opened.pop() == name, formula
        if word == "begin":
            opened.append(name)
    assert not opened, formula
    for inner in re.findall(r"\\text\{([^{}]*)\}", formula):
        assert re.fullmatch(r"[^\\$_^&#%~<>]*", inner), formula
    assert all(c.isprintable() for c in formula), repr(formula)
