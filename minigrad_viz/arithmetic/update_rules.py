"""The arithmetic of an update: how a parameter came to its new value.

    w ← w − 0.02 · w.grad = 0.80764 − 0.02 · (−9.2106) = 0.99186
    v ← 0.9 · v + g = 0.9 · 0.4 + 0.6 = 0.96

A rule of an optimizer is computed again from the recorded numbers, all of them; it is shown only if it gives
the result of the run (see Note [The formula cannot drift] in `symbols`). A statement of the cell is shown as
written, with the values of its tensors in their places.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from string import Formatter
from typing import Any

import numpy as np

from ..number_text import one_line, written_out
from ..protocol import Value
from ..trace.graph import Change, Update
from ..trace.statements import parse_source
from .formula_tree import (
    ACCENT,
    BESIDE,
    LETTER,
    NUMBER,
    SPACE,
    Formula,
    operator,
    row,
    sign,
)
from .formula_tree import (
    plain_variant as written,
)
from .lines import EQUALS, Line, incoming_number, line, result
from .typeset import name_formula, text_part

PRINTED = 4  # numbers of a tensor that are written out
WIDE = 56  # columns for them where they are long
METHODS = {"add_": ast.Add(), "sub_": ast.Sub(), "mul_": ast.Mult(), "div_": ast.Div()}
# Names (w.grad, m̂), numbers, exponents, blanks, signs.
PIECES = re.compile(r"[^\W\d]\w*(?:\.\w+)*\u0302?|\d+\.?\d*(?:e[-+]?\d+)?|[⁰¹²³⁴-⁹⁻]+|\s|.")
PLACE = re.compile("\ue000(\\d+)\ue001")
SIGNS = {"-=": "−", "-": "−", "*": "·"}

Numbers = dict[str, Any]
# A rule: what it computes, how that is written (`{p}` is the parameter), and what it gives.
Rule = tuple[str, str, Callable[[Numbers], Any]]


def change_lines(update: Update, change: Change) -> list[Line]:
    """The formulas of one line of an update, with its numbers; none where they do not agree with the run."""
    if change.before is None or change.after is None or update.kind in ("zero", "clip"):
        return []
    if update.kind == "step":
        return list(of_optimizer(update.about, change))
    written = of_statement(update.title, change)
    return [] if written is None else [written]


# ── written by hand ─────────────────────────────────────────────────────────────────────────────────────────


def of_statement(source: str, change: Change) -> Line | None:
    """`w -= 0.02 * w.grad` with its numbers; None for a statement of another form."""
    found = assignment_parts(source)
    if found is None or not is_printable(change.before) or not is_printable(change.after):
        return None
    target, value = found
    values = {target: change.before, f"{target}.data": change.before}
    if change.gradient is not None and is_printable(change.gradient):
        values |= {f"{target}.grad": change.gradient, f"{target}.grad.data": change.gradient}
    itself = (target, f"{target}.data")
    names = {key: change.name if key in itself else f"{change.name}.grad" for key in values}
    named = substitute(value, {key: name_of(name) for key, name in names.items()})
    numbers = {key: number_of(known) if known is change.before else incoming_number(number_of(known))
               for key, known in values.items() if known is not None}  # fmt: skip
    settings = {key: f"{known:g}" if known >= 0 else f"({known:g})" for key, known in change.settings}
    numbers |= {key: pieces_of(text) for key, text in settings.items()}
    filled = substitute(value, numbers)
    return formula(change.name, named, filled, change.after)


def assignment_parts(source: str) -> tuple[str, ast.expr] | None:
    """What a statement writes to, without `.data`, and the expression of its new value."""
    tree = parse_source(source.strip())
    match tree and tree.body[0]:
        case ast.AugAssign(target=target, op=op, value=value):
            made: ast.expr = ast.BinOp(target, op, value)
        case ast.Assign(targets=[target], value=made):
            pass
        case ast.Expr(ast.Call(ast.Attribute(target, method), [value], keywords)) if method in METHODS:
            for keyword in keywords:
                if keyword.arg != "alpha":
                    return None
                value = ast.BinOp(keyword.value, ast.Mult(), value)
            made = ast.BinOp(target, METHODS[method], value)
        case _:
            return None
    return ast.unparse(target).removesuffix(".data"), made


def substitute(tree: ast.expr, values: Mapping[str, Formula]) -> Formula:
    """An expression with formulas in the places of some of its parts, in the signs of mathematics."""

    class Filled(ast.NodeTransformer):
        def visit(self, node: ast.AST) -> Any:
            value = values.get(ast.unparse(node)) if isinstance(node, ast.expr) else None
            if value is None:
                return super().generic_visit(node)
            places.append(value)
            return ast.Name(f"\ue000{len(places)}\ue001")

    places: list[Formula] = []
    text = ast.unparse(Filled().visit(ast.parse(ast.unparse(tree), mode="eval").body))
    text = re.sub(r" ([-*]) ", lambda found: f" {SIGNS[found[1]]} ", text)
    text = text.replace("+ -", "− ")
    parts = PLACE.split(text)  # texts, and between them the numbers of places
    return row(*(places[int(part) - 1] if i % 2 else pieces_of(part) for i, part in enumerate(parts)))


# ── optimizers ──────────────────────────────────────────────────────────────────────────────────────────────


def of_optimizer(kind: str, change: Change) -> Iterator[Line]:
    """The rules of an optimizer, each with its numbers; none if one does not give the result of the run."""
    if kind not in RULES or change.gradient is None:
        return
    numbers: Numbers = dict(change.settings)
    known = [("p", change.before), ("g", change.gradient), *((name, old) for name, old, _ in change.state)]
    after = {"p": change.after, **{name: new for name, _, new in change.state}}
    for name, value in known:
        if value is not None and array(value) is None:
            return
        numbers[name] = None if value is None else array(value)
    count = after.get("step")
    numbers["step"] = None if count is None else array(count)
    lines = []
    for name, rule, compute in RULES[kind](numbers):
        made = compute(numbers)
        expected = after.get(name) if name != "p" else None  # which several rules may change
        if expected is not None and not agrees(made, expected):
            return
        lines.append((name, rule, dict(numbers), made))
        numbers[name] = made
    if not agrees(numbers["p"], change.after):
        return
    for name, rule, before, made in lines:
        if np.size(made) <= PRINTED:
            symbols = {n: name_of(symbol) for n, symbol in (SYMBOLS | {"p": change.name}).items()}
            shown = {n: in_brackets(before.get(n)) for n in symbols}
            named = filled_rule(rule, {**before, **symbols})
            filled = filled_rule(rule, {**before, **shown, "g": incoming_number(shown["g"])})
            dtype = "float32" if change.after is None else change.after.dtype
            yield formula(symbols[name].plain, named, filled, value_of_numbers(made, dtype))


def sgd(s: Numbers) -> list[Rule]:
    """PyTorch's page `torch.optim.SGD`."""
    rules, step = decay(s), "momentum_buffer" if s["momentum"] and not s["nesterov"] else "g"
    if s["momentum"] and s.get("momentum_buffer") is None:
        rules.append(("momentum_buffer", "{g}", lambda s: s["g"]))
    elif s["momentum"]:
        added = "(1 − {dampening:g}) · {g}" if s["dampening"] else "{g}"
        rules.append((
            "momentum_buffer", "{momentum:g} · {momentum_buffer} + " + added,
            lambda s: s["momentum"] * s["momentum_buffer"] + (1 - s["dampening"]) * s["g"],
        ))  # fmt: skip
    if s["momentum"] and s["nesterov"]:
        rules.append(("g", "{g} + {momentum:g} · {momentum_buffer}",
                      lambda s: s["g"] + s["momentum"] * s["momentum_buffer"]))  # fmt: skip
    return [*rules, ("p", f"{{p}} − {{lr:g}} · {{{step}}}", lambda s: s["p"] - s["lr"] * s[step])]


def adam(s: Numbers) -> list[Rule]:
    """PyTorch's pages `torch.optim.Adam` and `torch.optim.AdamW`."""
    s |= {"rest1": 1 - s["betas1"], "rest2": 1 - s["betas2"]}
    rules: list[Rule] = []
    if s.get("decoupled_weight_decay"):
        if s["weight_decay"]:
            s["kept"] = 1 - s["lr"] * s["weight_decay"]
            rules.append(("p", "{kept:g} · {p}", lambda s: s["kept"] * s["p"]))
    else:
        rules = decay(s)
    for name in ("exp_avg", "exp_avg_sq"):
        if s.get(name) is None:
            s[name] = np.zeros_like(s["g"])
    return [
        *rules,
        ("exp_avg", "{betas1:g} · {exp_avg} + {rest1:g} · {g}",
         lambda s: s["betas1"] * s["exp_avg"] + s["rest1"] * s["g"]),
        ("exp_avg_sq", "{betas2:g} · {exp_avg_sq} + {rest2:g} · {g}²",
         lambda s: s["betas2"] * s["exp_avg_sq"] + s["rest2"] * s["g"] ** 2),
        ("m̂", "{exp_avg} / (1 − {betas1:g}^{step:g})",
         lambda s: s["exp_avg"] / (1 - s["betas1"] ** s["step"])),
        ("v̂", "{exp_avg_sq} / (1 − {betas2:g}^{step:g})",
         lambda s: s["exp_avg_sq"] / (1 - s["betas2"] ** s["step"])),
        ("p", "{p} − {lr:g} · {m̂} / (√{v̂} + {eps:g})",
         lambda s: s["p"] - s["lr"] * s["m̂"] / (np.sqrt(s["v̂"]) + s["eps"])),
    ]  # fmt: skip


def rmsprop(s: Numbers) -> list[Rule]:
    """PyTorch's page `torch.optim.RMSprop`, without momentum."""
    s["rest"] = 1 - s["alpha"]
    if s.get("square_avg") is None:
        s["square_avg"] = np.zeros_like(s["g"])
    return [
        *decay(s),
        ("square_avg", "{alpha:g} · {square_avg} + {rest:g} · {g}²",
         lambda s: s["alpha"] * s["square_avg"] + s["rest"] * s["g"] ** 2),
        ("p", "{p} − {lr:g} · {g} / (√{square_avg} + {eps:g})",
         lambda s: s["p"] - s["lr"] * s["g"] / (np.sqrt(s["square_avg"]) + s["eps"])),
    ]  # fmt: skip


def adagrad(s: Numbers) -> list[Rule]:
    """PyTorch's page `torch.optim.Adagrad`, without a decay of the learning rate."""
    return [
        *decay(s),
        ("sum", "{sum} + {g}²", lambda s: s["sum"] + s["g"] ** 2),
        ("p", "{p} − {lr:g} · {g} / (√{sum} + {eps:g})",
         lambda s: s["p"] - s["lr"] * s["g"] / (np.sqrt(s["sum"]) + s["eps"])),
    ]  # fmt: skip


def decay(s: Numbers) -> list[Rule]:
    """The gradient with what weight decay adds to it."""
    if not s["weight_decay"]:
        return []
    return [("g", "{g} + {weight_decay:g} · {p}", lambda s: s["g"] + s["weight_decay"] * s["p"])]


RULES: dict[str, Callable[[Numbers], list[Rule]]] = {
    "SGD": sgd,
    "Adam": adam,
    "AdamW": adam,
    "RMSprop": rmsprop,
    "Adagrad": adagrad,
}
# How their names are written, as PyTorch's pages write them.
SYMBOLS = {
    "g": "g", "momentum_buffer": "v", "exp_avg": "m", "exp_avg_sq": "v", "m̂": "m̂", "v̂": "v̂",
    "square_avg": "v", "sum": "s",
}  # fmt: skip


# ── writing ─────────────────────────────────────────────────────────────────────────────────────────────────


def formula(name: str, named: Formula, filled: Formula, after: Value | None) -> Line:
    """`w ← w − 0.1 · g = 2 − 0.1 · 0.6 = 1.94`."""
    whole = pieces_of("…" if after is None else in_full(after))
    middle = () if filled.plain in (named.plain, whole.plain) else (EQUALS, filled)
    return line("update", name, row(name_of(name), " ← ", named, *middle, EQUALS, result(whole)))


def filled_rule(rule: str, values: Mapping[str, Any]) -> Formula:
    """A rule with formulas, or numbers, in its places."""
    parts = []
    for text, name, kind, _ in Formatter().parse(rule):
        parts.append(pieces_of(text))
        if name is not None:
            value = values[name]
            parts.append(value if isinstance(value, Formula) else pieces_of(format(value, kind or "")))
    return row(*parts)


def pieces_of(text: str) -> Formula:
    """A text of names, numbers and signs; the blanks inside an array are shown."""
    parts: list[Formula] = []
    deep = 0
    for piece in PIECES.findall(text):
        deep += {"[": 1, "]": -1}.get(piece, 0)
        parts.append(piece_of(piece, parts[-1] if parts else None, deep > 0))
    return row(*parts)


def piece_of(piece: str, before: Formula | None, deep: bool) -> Formula:
    """A name, a number, or a sign of a rule."""
    if piece.isspace():
        return Formula(SPACE if deep else BESIDE, piece)
    if piece[0].isdigit() and piece.isascii():
        return Formula(NUMBER, piece)
    if piece[0].isalpha():
        return name_of(piece)
    if piece in "-−" and (before is None or before.kind == BESIDE):
        return operator(piece) if before is not None else sign(piece)
    return text_part(piece, before)


def name_of(name: str) -> Formula:
    """A name in a rule: `w.grad`, `m̂`."""
    if name.endswith("\u0302"):
        return written(name, Formula(ACCENT, "hat", (Formula(LETTER, name[0]),)))
    return name_formula(name)


def is_printable(value: Value | None) -> bool:
    """Whether all numbers of a value can be written out."""
    return value is not None and value.items is not None and value.size <= PRINTED


def in_full(value: Value) -> str:
    """The numbers of a value that `is_printable` allows, also where they are long."""
    told = one_line(value)
    return told if written_out(value) else one_line(value, WIDE)


def number_of(value: Value) -> Formula:
    """A value in a formula: a negative number in brackets."""
    told = in_full(value)
    return pieces_of(f"({told})" if told.startswith("-") else told)


def in_brackets(number: Any) -> Formula:
    """The same for numbers that were computed again."""
    return pieces_of("…") if number is None else number_of(value_of_numbers(number))


def array(value: Value) -> Any:
    """The numbers of a value; None where they are not all known."""
    return None if value.items is None else np.array(value.items, np.float64).reshape(value.shape)


def value_of_numbers(numbers: Any, dtype: str = "float32") -> Value:
    """A value of some numbers."""
    made = np.asarray(numbers, np.float64)
    return Value(made.shape, dtype, tuple(made.ravel().tolist()))


def agrees(made: Any, expected: Value | None) -> bool:
    """Whether a rule gives the result of the run, as far as its dtype is exact."""
    known = None if expected is None else array(expected)
    if expected is None or known is None or np.shape(made) != known.shape:
        return False
    exact = 1e-9 if expected.dtype == "float64" else 2e-5
    largest = float(np.abs(known[np.isfinite(known)]).max(initial=0))
    return bool(np.allclose(made, known, rtol=exact, atol=exact * (largest + 1e-2)))
