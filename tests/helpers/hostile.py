"""A thousand texts that try to break out of where they are shown, and cells that carry them."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

PIECES = [
    # HTML, XML, SVG, CSS, JavaScript
    "<script>window.__hit=1</script>", '"><img src=x onerror="window.__hit=1">',
    "</script><script>window.__hit=1</script>", "'><svg onload=window.__hit=1>", "</style><b>", "</svg>",
    "</title><script>window.__hit=1</script>", "</textarea>",
    "<iframe srcdoc='<script>parent.__hit=1</script>'>", "<a href='javascript:window.__hit=1'>",
    "javascript:window.__hit=1", "<!--", "-->", "<!-- <script>", "]]>", "<![CDATA[", "<?xml?>",
    "<!DOCTYPE x>", "&", "&amp;", "&lt;script&gt;", "&#60;b&#62;", "&nbsp", "&nosuch;", "<", ">", "'", '"',
    "`", "${window.__hit=1}", "`${window.__hit=1}`", "';window.__hit=1;'", '");window.__hit=1;("',
    "\\u003cscript\\u003e", "url(javascript:window.__hit=1)", "}*{display:none}", "/* */", "//", "__proto__",
    "constructor", "toString",
    # DOT and HTML-like labels
    '"];evil [label="x', '"; a -> b; "', "{rec|ord}", "\\N", "\\G \\E \\T \\H", "\\l\\r", "<TABLE><TR><TD>",
    "digraph {", "a:b:c", "%3",
    # Python, formats, LaTeX, Markdown
    "back\\slash", "\\", "\\\\", '\\"', "{name}", "{0}", "{", "}", "{{}}", "%s", "%(x)s", "%", "#", "$", "$$",
    "_", "^", "~", "a_b^c", "\\frac{1}{", "\\end{array}", "\\input{/etc/passwd}", "\\text{", "\\$",
    "\\href{javascript:window.__hit=1}{x}", "*b* **c**", "[x](y)", "| a | b |", "# head", "```",
    "<https://example.org>", "it's",
    # Control characters, directions, surrogates, what is no character
    "\n", "two\nlines", "\r\n", "\t", "\x00", "a\x00b", "\x01", "\x08", "\x0b", "\x0c", "\x1b[31m", "\x7f",
    "\x85", "\x9b31m", "\u2028", "\u2029", "\u202eabc", "\u2066abc", "\u200fabc", "\u200b", "\u200d",
    "\ufeff", "\ufffe", "\uffff", "\U0001ffff", "\ud800", "\udfff", "a\udc80b", "\U000e0041",
    # Other scripts, shapes, lengths
    "한글", "\u1100\u1161\u11a8", "가나다라마바사아자차카타파하", "🙂", "👩\u200d👩\u200d👧", "e\u0301",
    "Z\u0351\u0352\u0353\u0354\u0355", "\ufdfa", "\u0645\u0631\u062d", "\u05e9\u05dc\u05d5",
    "ｆｕｌｌ", "∂z/∂x", "x̄", " ", "", "   ", "\u3000", "\xa0", "x" * 5000, "한" * 2000, "<" * 300,
    "a " * 500,
]  # fmt: skip
COUNT = 1000


def texts() -> list[str]:
    """The thousand: every piece by itself, then pieces put together, always the same."""
    choose = random.Random(1)
    found = list(dict.fromkeys(PIECES))
    short = [piece for piece in found if len(piece) < 100]
    while len(found) < COUNT:
        found.append("".join(choose.choice(short) for _ in range(choose.randint(2, 4))))
        found = list(dict.fromkeys(found))
    return found


TEXTS = texts()


def batches(size: int) -> list[list[str]]:
    """All texts, `size` at a time."""
    return [TEXTS[i : i + size] for i in range(0, COUNT, size)]


def tame(batch: list[str]) -> list[str]:
    """As many texts that mean no harm."""
    return [f"tame{i}" for i in range(len(batch))]


CELL = """\
class Base(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, text):
        ctx.save_for_backward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        x, = ctx.saved_tensors
        return g * 2 + x * 0, None

x = torch.tensor([3.0, 1.0], requires_grad=True)
held = {}
roots = []
"""


def literal(text: str) -> str:
    """A string literal for `text` with as few escapes as Python allows."""
    escapes = {"\\": "\\\\", '"': '\\"', "\n": "\\n", "\r": "\\r", "\x00": "\\x00"}
    chars = (escapes.get(c) or (f"\\u{ord(c):04x}" if "\ud800" <= c <= "\udfff" else c) for c in text)
    return '"' + "".join(chars) + '"'


class Told:
    """An object whose text is hostile."""

    def __init__(self, text: str) -> None:
        self.text = text

    def __repr__(self) -> str:
        return self.text


class Module:
    """What the viewer takes for a module: parameters by name."""

    def __init__(self, parameters: dict[str, Any]) -> None:
        self._parameters = parameters
        self._modules: dict[str, Any] = {}


class Cell(NamedTuple):
    """The source of a cell, and the variables it starts with."""

    source: str
    names: dict[str, Any]


def nameable(text: str) -> str:
    """`text`, or another where Python allows no class of that name (a NUL, a surrogate)."""
    try:
        type(text, (), {})
    except ValueError:
        return "unspeakable"
    return text


def cell_of(batch: list[str], library: Any, error: str | None = None, turn: int = 0) -> Cell:
    """A cell in which the texts of a batch stand where a user could bring them to.

    By turns, a text is the name of a custom Function, of an item and of a hook, a literal in the source and
    the repr of an argument; or the name of a variable and of a parameter. `error` is the text of the error
    that ends the cell.
    """
    lines, hooks = [CELL], {}
    for i, text in enumerate(batch, turn):
        word = literal(text)
        if i % 2:
            hook = hooks[text] = lambda g: g * 1
            hook.__name__ = text
            lines += [
                f"held[{word}] = type(nameable({word}), (Base,), {{}}).apply(x, Told({word}))\n",
                f"held[{word}].register_hook(hooks[{word}])\n",
                f"roots.append(held[{word}])\n",
            ]
        else:
            lines += [
                f"globals()[{word}] = module._parameters[{word}] * x\n",
                f"roots.append(globals()[{word}])\n",
            ]
    lines.append("torch.autograd.backward(roots, [torch.ones(2)] * len(roots))\n")
    if error is not None:
        lines.append(f"raise RuntimeError({literal(error)})\n")
    module = Module({text: library.ones(2, requires_grad=True) for text in batch})
    return Cell("".join(lines), {"nameable": nameable, "hooks": hooks, "Told": Told, "module": module})
