r"""LaTeX → MathML, which browsers show without a script: the part of LaTeX that lessons are written in.

    formula = {atom [_ atom] [^ atom] [']}          atom = letter, number, sign, {formula}, \command …

A command that is not known here is shown as written, so nothing is lost.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable

TOKEN = re.compile(r"\\[A-Za-z]+|\\.|\d+(?:\.\d+)?|\s+|.", re.DOTALL)
SYMBOLS = {
    "partial": "∂", "nabla": "∇", "infty": "∞", "ldots": "…", "dots": "…", "cdots": "⋯", "varnothing": "∅",
    "alpha": "α", "beta": "β", "gamma": "γ", "delta": "δ", "epsilon": "ϵ", "varepsilon": "ε", "eta": "η",
    "theta": "θ", "lambda": "λ", "mu": "μ", "pi": "π", "rho": "ρ", "sigma": "σ", "tau": "τ", "phi": "ϕ",
    "omega": "ω", "Delta": "Δ", "Sigma": "Σ", "top": "⊤",
}  # fmt: skip
SIGNS = {
    "cdot": "⋅", "times": "×", "odot": "⊙", "pm": "±", "approx": "≈", "le": "≤", "leq": "≤", "ge": "≥",
    "geq": "≥", "ne": "≠", "neq": "≠", "to": "→", "leftarrow": "←", "gets": "←", "rightarrow": "→",
    "in": "∈", "lvert": "|", "rvert": "|", "lfloor": "⌊", "rfloor": "⌋", "sim": "∼", "lt": "<", "gt": ">",
    "mapsto": "↦", "circ": "∘", "prime": "′",
}  # fmt: skip
LARGE = {"sum": "∑", "prod": "∏", "int": "∫"}
FUNCTIONS = {"ln", "log", "exp", "sin", "cos", "tan", "tanh", "max", "min", "lim"}
LIMITS = {*LARGE, "lim", "max", "min"} - {"int"}  # what takes its limits below and above
SPACES = {"quad": 1.0, "qquad": 2.0, ",": 0.167, ":": 0.222, ";": 0.278, "!": -0.167, " ": 0.25}
FONTS = {"mathbb": "double-struck", "mathsf": "sans-serif", "mathrm": "normal", "mathbf": "bold"}
BARS = {"bar": "‾", "overline": "‾", "hat": "^", "dot": "˙", "tilde": "~", "vec": "→"}
FENCES = {"pmatrix": "()", "bmatrix": "[]", "vmatrix": "||", "cases": "{", "matrix": ""}
TABLES = {
    "aligned": {"class": "aligned", "displaystyle": "true"},
    "gathered": {"displaystyle": "true"},
    "cases": {"class": "cases"},
}
BRACKETS = {"(": "prefix", "[": "prefix", ")": "postfix", "]": "postfix"}
BEFORE = {*"({[=,<>&^_", *SIGNS, "qquad", "quad"}  # after these a minus is that of a number
DOUBLE = {"R": "ℝ", "N": "ℕ", "Z": "ℤ", "C": "ℂ", "E": "𝔼"}


def mathml(latex: str, block: bool = False) -> str:
    """A formula as a `<math>` element, which has its LaTeX as the alternative for screen readers."""
    reader = Reader(latex)
    body = reader.row(lambda token: not token)
    shown = ' display="block"' if block else ""
    return f'<math{shown} aria-label="{html.escape(latex.strip())}">{body}</math>'


def tag(name: str, content: str, **attributes: str) -> str:
    """An element."""
    known = "".join(f' {key}="{value}"' for key, value in attributes.items() if value)
    return f"<{name}{known}>{content}</{name}>"


def sign(text: str, **attributes: str) -> str:
    """An operator."""
    return tag("mo", html.escape(text), **attributes)


class Reader:
    """Reads the tokens of a formula once, from left to right."""

    def __init__(self, latex: str) -> None:
        self.tokens = [token for token in TOKEN.findall(latex) if not token.isspace()]
        self.pieces = TOKEN.findall(latex)
        self.at = 0

    @property
    def next(self) -> str:
        """The token that comes; "" at the end."""
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def take(self) -> str:
        """Read a token."""
        self.at += 1
        return self.tokens[self.at - 1] if self.at <= len(self.tokens) else ""

    def row(self, ends: Callable[[str], bool]) -> str:
        """Atoms up to a token that ends them, which is left."""
        parts = []
        while self.next and not ends(self.next):
            parts.append(self.scripted())
        return tag("mrow", "".join(parts))

    def scripted(self) -> str:
        """An atom with what is below and above it."""
        start, name = self.at, self.next.removeprefix("\\")
        base, below, above = self.atom(), "", ""
        while self.next in ("_", "^", "'"):
            match self.take():
                case "_":
                    below = self.atom()
                case "^":
                    above = self.atom()
                case _:
                    above += sign("′")
        above = above and tag("mrow", above)
        space = tag("mspace", "", width="0.15em") if name in FUNCTIONS else ""
        before = space if start and self.tokens[start - 1].isalnum() else ""
        after = space if self.next != "(" else ""
        under, over, both = (
            ("munder", "mover", "munderover")
            if name in {*LIMITS, "underbrace"}
            else ("msub", "msup", "msubsup")
        )
        if below and above:
            base = tag(both, base + below + above)
        elif below or above:
            base = tag(under if below else over, base + (below or above))
        return before + base + after

    def atom(self) -> str:
        """One letter, number or sign, or what a command takes."""
        token = self.take()
        if token == "{":
            found = self.row(lambda token: token == "}")
            self.take()
            return found
        if token.startswith("\\") and len(token) > 1:
            return self.command(token[1:])
        if token[:1].isdigit():
            return tag("mn", token)
        if token.isalpha():
            return tag("mi", html.escape(token))
        if token in BRACKETS:
            return sign(token, form=BRACKETS[token], stretchy="false")
        return self.infix({"-": "−", "*": "∗"}.get(token, token)) if token else tag("mrow", "")

    def infix(self, text: str) -> str:
        """A sign between two parts, or before one: the minus of a negative number."""
        before = self.tokens[self.at - 2] if self.at > 1 else "("
        alone = text in "+−±" and (before in BEFORE or before.removeprefix("\\") in BEFORE)
        return sign(text, form="prefix" if alone else "")

    def command(self, name: str) -> str:
        """What a command stands for."""
        if name in SYMBOLS:
            return tag("mi", SYMBOLS[name])
        if name in SIGNS:
            return sign(SIGNS[name])
        if name in LARGE:
            return sign(LARGE[name])
        if name in FUNCTIONS:
            return tag("mi", name)
        if name in SPACES:
            return tag("mspace", "", width=f"{SPACES[name]}em")
        if name in FONTS:
            return self.styled(FONTS[name])
        if name in BARS:
            return tag("mover", self.atom() + sign(BARS[name]), accent="true")
        if name in ("frac", "tfrac", "dfrac"):
            fraction = tag("mfrac", self.atom() + self.atom())
            display = {"tfrac": "false", "dfrac": "true"}.get(name)
            return tag("mstyle", fraction, displaystyle=display) if display else fraction
        if name in ("text", "textbf", "operatorname"):
            return tag("mtext", html.escape(self.words()).replace(" ", "\u00a0"))
        if name == "texttt":
            return tag("mtext", html.escape(self.words()), style="font-family:monospace")
        if name == "sqrt":
            return tag("msqrt", self.atom())
        if name == "underbrace":
            return tag("munder", self.atom() + sign("⏟", stretchy="true"))
        if name == "xrightarrow":
            return tag("mover", sign("→", stretchy="true") + self.atom())
        if name in ("left", "right", "Big", "big", "Bigl", "Bigr"):
            return self.delimiter(name)
        if name == "begin":
            return self.environment(self.words())
        return sign(name) if len(name) == 1 else tag("mtext", html.escape(f"\\{name}"))

    def styled(self, font: str) -> str:
        """A letter or word in another font."""
        letters = self.words()
        if font == "double-struck":
            return tag("mi", "".join(DOUBLE.get(letter, letter) for letter in letters))
        style = {"sans-serif": "font-family:sans-serif", "bold": "font-weight:bold"}.get(font, "")
        return tag("mi", html.escape(letters), mathvariant="normal", style=style)

    def words(self) -> str:
        """What is in braces, as it is written, or the token that comes."""
        before = self.pieces_before(self.at)
        if self.next != "{":
            return self.take()
        depth, found = 0, []
        for piece in self.pieces[before:]:
            depth += (piece == "{") - (piece == "}")
            self.at += not piece.isspace()
            if not depth:
                break
            found.append(piece)
        return "".join(found[1:]).replace("\\", "")

    def pieces_before(self, tokens: int) -> int:
        """How many pieces, blanks included, come before so many tokens."""
        seen = 0
        for i, piece in enumerate(self.pieces):
            if seen == tokens and not piece.isspace():
                return i
            seen += not piece.isspace()
        return len(self.pieces)

    def delimiter(self, name: str) -> str:
        """A bracket as high as what it holds; with `\\left` up to its `\\right`."""
        token = self.take().removeprefix("\\")
        bracket = "" if token == "." else sign(SIGNS.get(token, token), stretchy="true")
        if name != "left":
            return bracket if name == "right" else tag("mstyle", bracket, scriptlevel="-1")
        inner = self.row(lambda token: token == "\\right")
        self.take()
        return tag("mrow", bracket + inner + self.delimiter("right"))

    def environment(self, name: str) -> str:
        """The rows and columns of a matrix, of cases or of aligned formulas."""
        rows: list[list[str]] = [[]]
        ends = ("&", "\\\\", "\\end")
        while self.next:
            rows[-1].append(tag("mtd", self.row(lambda token: token in ends)))
            end = self.take()
            if end == "\\\\":
                rows.append([])
            elif end == "\\end":
                self.words()
                break
        cells = [tag("mtr", "".join(row)) for row in rows if row != [tag("mtd", tag("mrow", ""))]]
        table = tag("mtable", "".join(cells), **TABLES.get(name, {}))
        fence = FENCES.get(name, "")
        left, right = fence[:1], fence[1:]
        return tag(
            "mrow", (left and sign(left, stretchy="true")) + table + (right and sign(right, stretchy="true"))
        )
