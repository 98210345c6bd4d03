"""A note at the op where nan or inf first appeared, with the values that made it and what avoids it."""

from __future__ import annotations

import ast
import math

from ..model.scene import Scenes
from ..numbers import number, short
from ..protocol import Value, op_of
from ..trace.events import BackwardStarted, Created, Forward, Mutated, NodeRan
from ..trace.explained import Explanation
from ..trace.graph import CAUSE, Mark
from ..trace.where import Span
from .case import Case, Said, Values
from .edits import quoted
from .first_nan import Origin, Symptom, divergence_of, first_symptom
from .syntax import called, expression

LOGS = ("log", "log2", "log10")
ROOTS = ("sqrt", "rsqrt", "pow", "powscalar")
QUOTIENTS = ("div", "reciprocal", "truedivide")


def not_finite(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note about the first nan or inf of a cell, if there is one."""
    found = first_symptom(scenes)
    if found is None:
        return []
    if scenes.trace.skipped and found.origin.time < first_call(scenes):
        return [unkept_start(scenes, found, lang)]
    origin = found.origin
    span = span_of(scenes, origin)
    case = Case(scenes, found.call, span, lang)
    if isinstance(origin.event, Created):
        return [in_the_data(case, found, span)]
    told = [made_backward(case, origin) if isinstance(origin.event, NodeRan) else made_forward(case, origin)]
    if not is_it(scenes, found):
        name = case.plain(found.tensor)
        told.append(case.words("first_nan_root", name=f"{name}.grad" if found.grad else name))
    fix, grown = avoided(case, origin, span), divergence_of(case, origin)
    if grown is not None:
        told.insert(0, case.words("first_nan_diverges", **grown._asdict()))
        fix = case.words("first_nan_fix_rate", rate=grown.rate or "", better=grown.better or "")
    why = Said(" ".join(told))
    return [case.note("first_nan", why, fix, marks_of(case, origin), span, of_cell=True)]


def in_the_data(case: Case, found: Symptom, span: Span | None) -> Explanation:
    """A tensor held it from the start."""
    event = found.origin.event
    assert isinstance(event, Created)
    values: Values = {"data": case.plain(event.tensor.id), "name": case.plain(found.tensor)}
    marks = () if case.trace.error else case.card(event.tensor.id, CAUSE, "nan")
    return case.note("first_nan", "first_nan_data", "", marks, span, of_cell=True, **values)


def first_call(scenes: Scenes) -> int:
    """When the first backward call that was kept began."""
    events = enumerate(scenes.trace.events)
    return next((time for time, event in events if isinstance(event, BackwardStarted)), 0)


def unkept_start(scenes: Scenes, found: Symptom, lang: str | None) -> Explanation:
    """It appeared in a round that is not kept: what is certain."""
    span = span_of(scenes, found.origin)
    case = Case(scenes, found.call, None, lang)
    values: Values = {
        "name": case.plain(found.tensor),
        "count": scenes.trace.skipped,
        "what": found.origin.what,
    }
    return case.note("first_nan", "first_nan_unkept", cause=span, of_cell=True, **values)


def span_of(scenes: Scenes, origin: Origin) -> Span | None:
    """Where in the source the op stands that made it, forward or backward."""
    if not isinstance(origin.event, NodeRan):
        return origin.event.span
    place = scenes.index.by_node.get(origin.event.node)
    return None if place is None else place.span


def is_it(scenes: Scenes, found: Symptom) -> bool:
    """Whether what is seen is what the op made."""
    event = found.origin.event
    return isinstance(event, Forward) and found.tensor in [state.id for state in event.outputs]


def marks_of(case: Case, origin: Origin) -> tuple[Mark, ...]:
    """The op in the picture."""
    event = origin.event
    if case.trace.error:
        return ()
    label = origin.what
    if isinstance(event, NodeRan):
        return case.deck(event.node, CAUSE, label)
    states = event.outputs if isinstance(event, Forward) else (event.tensor,)
    return case.card(states[0].id, CAUSE, label)


# ── the values that made it ─────────────────────────────────────────────────────────────────────────────────


def made_forward(case: Case, origin: Origin) -> str:
    """What an op, or a write, made of which numbers."""
    event = origin.event
    assert not isinstance(event, NodeRan)
    state = event.outputs[0] if isinstance(event, Forward) else event.tensor
    at = place_in(state.value, origin.what)
    named = [part(case, id, value, at, state.value) for id, value in origin.inputs]
    values: Values = {"what": origin.what, "place": event.span, "inputs": ", ".join(named[:3])}
    return case.words("first_nan_forward", **values)


def made_backward(case: Case, origin: Origin) -> str:
    """What a node made of which numbers."""
    event = origin.event
    assert isinstance(event, NodeRan)
    sent = next(value for value in event.sent if value is not None and value.special)
    at = place_in(sent, origin.what)
    named = [part(case, id, value, at, sent) for id, value in origin.inputs]
    took = next((value for value in event.received if value is not None), None)
    values: Values = {
        "what": origin.what,
        "node": case.titled(event.node),
        "inputs": ", ".join(named[:3]),
        "took": "" if took is None else element(took, at, sent),
        "made": span_of(case.scenes, origin),
    }
    return case.words("first_nan_backward", **values)


def place_in(value: Value | None, what: str) -> int | None:
    """The first number that is not finite, by its place."""
    items = () if value is None or value.items is None else value.items
    return next((i for i, n in enumerate(items) if isinstance(n, float) and not math.isfinite(n)), None)


def part(case: Case, id: str, value: Value, at: int | None, made: Value | None) -> str:
    """An input as it stood: the number at the same place if the shapes are the same, else all of it."""
    name = case.plain(id)
    fits = made is not None and value.shape == made.shape and at is not None and value.items is not None
    if fits and value.size > 1:
        index = []
        rest = at or 0
        for size in reversed(value.shape):
            index.append(str(rest % size))
            rest //= size
        name = f"{called(name)}[{', '.join(reversed(index))}]"
    return f"{name} = {element(value, at, made)}"


def element(value: Value, at: int | None, made: Value | None) -> str:
    """The number of a value at a place, if it has the same shape as what was made; else all of it, or its
    extremes."""
    if value.items is not None and made is not None and value.shape == made.shape and at is not None:
        return number(value.items[at], value.dtype)
    if value.items is None and value.low is not None and value.high is not None:
        return f"{number(value.low, value.dtype)} … {number(value.high, value.dtype)}"
    return short(value)


# ── what avoids it ──────────────────────────────────────────────────────────────────────────────────────────


def avoided(case: Case, origin: Origin, span: Span | None) -> str:
    """What keeps the numbers finite, as code."""
    op = op_at(case, origin)
    tree = expression(span)
    if op in LOGS:
        code = clamped(tree, op, "1e-8")
        return case.words("first_nan_fix_log", code=code) if code else case.words("first_nan_fix_argument")
    if op in ROOTS:
        code = clamped(tree, op, "1e-12")
        return case.words("first_nan_fix_root", code=code) if code else case.words("first_nan_fix_argument")
    if op in QUOTIENTS and isinstance(tree, ast.BinOp):
        code = quoted(f"{ast.unparse(tree.left)} / ({ast.unparse(tree.right)} + 1e-8)")
        return case.words("first_nan_fix_quotient", code=code or "a / (b + 1e-8)")
    if op == "exp" and isinstance(tree, ast.Call):
        given = argument(tree)
        code = None if given is None else quoted(f"torch.exp({ast.unparse(given)} - {inner(given)}.max())")
        return case.words("first_nan_fix_exp", code=code or "torch.exp(x - x.max())")
    return case.words("first_nan_fix_argument")


def op_at(case: Case, origin: Origin) -> str:
    """The op that made it, in plain letters."""
    event = origin.event
    if isinstance(event, NodeRan):
        return op_of(case.scene.nodes[event.node].name if event.node in case.scene.nodes else "")
    return event.op.replace("_", "") if isinstance(event, Forward | Mutated) else ""


def argument(call: ast.Call) -> ast.expr | None:
    """What a function, or a method, is applied to."""
    if isinstance(call.func, ast.Attribute) and ast.unparse(call.func.value) not in ("torch", "F", "math"):
        return call.func.value
    return call.args[0] if call.args else None


def inner(tree: ast.expr) -> str:
    """An expression before a dot."""
    return called(ast.unparse(tree))


def clamped(tree: ast.AST | None, op: str, least: str) -> str | None:
    """The call with an argument that is at least `least`."""
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.Pow):
        return quoted(f"{inner(tree.left)}.clamp(min={least}) ** {ast.unparse(tree.right)}")
    if not isinstance(tree, ast.Call) or argument(tree) is None:
        return None
    given = argument(tree)
    assert given is not None
    rest = tree.args[1:] if given in tree.args else tree.args
    more = "".join(f", {ast.unparse(each)}" for each in rest)
    return quoted(f"torch.{op.replace('powscalar', 'pow')}({inner(given)}.clamp(min={least}){more})")
