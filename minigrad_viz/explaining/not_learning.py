"""Notes about training that changes nothing, or the wrong thing, although nothing fails: what the source says
of the optimizers, and what the trace says of the parameters."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import NamedTuple

from ..model.births import by_number, came_from, upstream
from ..model.grad_ledger import is_zero
from ..model.scene import Scenes
from ..numbers import short
from ..protocol import Value
from ..trace.events import Created, Deposited, GradSet, Mutated
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from ..trace.statements import blocks
from ..trace.where import Span
from ..words import Invented
from .case import Case, Values
from .edits import of_math, quoted
from .history import Cut, complete, lost_by, numbers_at
from .syntax import (
    assigned_in,
    assignments,
    expression,
    is_read,
    last_name,
    scope_of,
    span_at,
    written_as,
)

# The classes of `torch.optim`.
CLASSES = (
    "SGD", "ASGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop",
    "LBFGS",
)  # fmt: skip


class Optimizer(NamedTuple):
    """The variable `name` was assigned an optimizer by `call`; `given` are the variables in its first
    argument, which stands there as `parameters`."""

    name: str
    call: ast.Call
    given: frozenset[str]
    parameters: str


class Loop(NamedTuple):
    """Where the calls of a training step stand, each in the order of the source."""

    step: ast.Call
    backward: ast.Call | None
    reset: ast.Call | None


def optimizers_of(case: Case) -> list[Optimizer]:
    """The optimizers that the cell creates and that take steps."""
    found = []
    for name, part in assignments(case):
        if not isinstance(part.value, ast.Call) or not part.value.args:
            continue
        if last_name(part.value) not in CLASSES or len(assigned_in(case, name, scope_of(case, part))) != 1:
            continue
        first = part.value.args[0]
        given = frozenset(each.id for each in ast.walk(first) if isinstance(each, ast.Name))
        if loop_of(case, name) is not None:
            found.append(Optimizer(name, part.value, given, written_as(case, first)))
    return found


def loop_of(case: Case, name: str) -> Loop | None:
    """The training step of an optimizer: its only `step()`, with the only backward call and the only reset in
    the same block."""
    for block in (block for part in case.executed(ast.AST) for block in blocks(part)):
        calls = [call for call in map(call_in, filter(case.ran, block)) if call is not None]
        steps = [call for call in calls if ast.unparse(call.func) == f"{name}.step"]
        if len(steps) == 1:
            back = [call for call in calls if is_method(call, "backward")]
            reset = [call for call in calls if is_method(call, "zero_grad")]
            return Loop(steps[0], *(group[0] if len(group) == 1 else None for group in (back, reset)))
    return None


def call_in(statement: ast.stmt) -> ast.Call | None:
    """The call that a statement is."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return value if isinstance(value, ast.Call) else None


def is_method(call: ast.Call, name: str) -> bool:
    """Whether a call is one of a method."""
    return isinstance(call.func, ast.Attribute) and call.func.attr == name


def base_of_name(name: str) -> str:
    """The variable in a name: `a` of `a.0.weight`."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def not_learning(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """What keeps the parameters of a cell from learning; nothing where a backward call failed."""
    calls = [started for started in scenes.index.started if started.kind == "backward"]
    if not calls or scenes.trace.error:
        return []
    last = calls[-1]
    case = Case(scenes, last.call, last.span, lang)
    found = [*root_is_leaf(case), *kept_gradients(case), *idle_optimizers(case)]
    return [*found, *(list(out_of_reach(case)) or through_math(case))]


def learners(case: Case) -> set[str]:
    """The leaves that got a gradient in the cell, without those that were roots themselves."""
    roots = {root for started in case.scene.index.started for root in started.roots}
    found = {event.tensor for event in case.trace.events if isinstance(event, Deposited)}
    return (found | {id for id, _ in case.trace.deposits}) - roots


def changed(case: Case) -> set[str]:
    """The tensors whose values were changed by a write."""
    now: dict[str, Value | None] = {}
    found = set()
    for event in case.trace.events:
        if isinstance(event, Created):
            now[event.tensor.id] = event.tensor.value
        elif isinstance(event, Mutated):
            if now.get(event.before) != event.tensor.value:
                found.add(event.before)
            now[event.before] = event.tensor.value
    return found


# ── a root that leads nowhere ───────────────────────────────────────────────────────────────────────────────


def root_is_leaf(case: Case) -> Iterator[Explanation]:
    """The root is itself a leaf that was made of numbers, and nothing else got a gradient."""
    assert case.started is not None
    roots = case.started.roots
    born = case.scene.index.births.get(roots[0]) if len(roots) == 1 else None
    others = {id for id in case.scene.at if case.scene.asks(id)} - {*roots}
    if not isinstance(born, Created) or born.span is None or not born.tensor.is_leaf:
        return
    if not others or learners(case):
        return
    values: Values = {"root": case.name(roots[0]), "made": born.span}
    yield case.note("root_leaf", cause=born.span, **values)


# ── gradients of earlier rounds ─────────────────────────────────────────────────────────────────────────────


def kept_gradients(case: Case) -> Iterator[Explanation]:
    """A gradient was added to that of an earlier round, although its tensor was updated in between and its
    gradient is never reset, and the sum updated the tensor."""
    reset = {event.tensor for event in case.trace.events if isinstance(event, GradSet)}
    updated: set[str] = set()
    added: dict[str, Deposited] = {}  # but not used yet
    found: dict[str, Deposited] = {}
    for event in case.trace.events:
        if isinstance(event, Mutated):
            updated.add(event.before)
            if event.before in added:
                found[event.before] = added.pop(event.before)
        elif isinstance(event, Deposited) and event.tensor not in reset:
            old = event.before
            if event.tensor in updated and old is not None and not is_zero(old) and not old.special:
                added[event.tensor] = event
            updated.discard(event.tensor)
    if not found:
        return
    id, last = next(iter(found.items()))
    started, name = case.scene.index.calls[last.call].started, case.plain(id)
    assert last.before is not None
    numbers = {"before": last.before, "added": last.added, "after": last.after}
    values: Values = {key: short(value, 24) for key, value in numbers.items()}
    trained = [opt for opt in optimizers_of(case) if base_of_name(name) in opt.given]
    by_hand = "" if isinstance(name, Invented) else f"{name}.grad = None"
    values["reset"] = f"{trained[0].name}.zero_grad()" if trained else by_hand
    span = None if started is None else started.span
    yield case.note("kept_gradient", cause=span, of_cell=True, name=name, call=span, **values)


# ── an optimizer that changes nothing ───────────────────────────────────────────────────────────────────────


def idle_optimizers(case: Case) -> Iterator[Explanation]:
    """The only optimizer of a cell takes steps, but no tensor that got a gradient was changed."""
    found, learning = optimizers_of(case), by_number(learners(case))
    if len(found) != 1 or not learning or set(learning) & changed(case):
        return
    (opt,) = found
    names = [case.plain(id) for id in learning]
    bases = {base_of_name(name) for name in names}
    if not opt.given & bases:
        yield other_parameters(case, opt, learning, names)
        return
    renewed, loop = made_anew(case, opt, bases), loop_of(case, opt.name)
    if renewed is not None:
        values: Values = {"opt": opt.name, "model": renewed.id, "line": renewed.lineno}
        yield case.note("stale_optimizer", cause=span_at(case, opt.call), of_cell=True, **values)
    elif loop is not None and loop.backward is not None:
        step, backward = span_at(case, loop.step), span_at(case, loop.backward)
        values = {"step": step, "backward": backward, "names": case.names(learning)}
        if loop.reset is not None and loop.backward.lineno < loop.reset.lineno < loop.step.lineno:
            reset = span_at(case, loop.reset)
            yield case.note("reset_too_early", cause=reset, of_cell=True, reset=reset, **values)
        elif step.line < backward.line:
            yield case.note("step_too_early", cause=step, of_cell=True, **values)


def other_parameters(case: Case, opt: Optimizer, learning: list[str], names: list[str]) -> Explanation:
    """The optimizer was given other parameters than those that get gradients."""
    span = span_at(case, opt.call)
    if not all(base_of_name(name) in usable(case, opt.call) for name in names):
        told: Values = {"opt": opt.name, "given": opt.parameters, "line": span.line}
        return case.note("other_parameters", "other_tensors", cause=span, of_cell=True, **told)
    bases = dict.fromkeys((base_of_name(name), base_of_name(name) != name) for name in names)
    whole = [f"{base}.parameters()" if module else base for base, module in bases]
    right = ", ".join(f"*{each}" if each.endswith(")") else each for each in whole)
    given = whole[0] if len(whole) == 1 and whole[0].endswith(")") else f"[{right}]"
    call = quoted(ast.unparse(opt.call).replace(ast.unparse(opt.call.args[0]), given, 1)) or given
    values: Values = {"opt": opt.name, "given": opt.parameters, "line": span.line}
    values["names"] = case.names(learning)
    return case.note("other_parameters", cause=span, of_cell=True, call=call, **values)


def usable(case: Case, call: ast.Call) -> set[str]:
    """The variables that can stand in a call: those of its function, and of the namespace."""
    scope = scope_of(case, call)
    own = (name for name in case.variables if assigned_in(case, name, scope))
    return {*own, *(base_of_name(name) for _, name in case.trace.names)}


def made_anew(case: Case, opt: Optimizer, bases: set[str]) -> ast.Name | None:
    """The variable of the model, if it was given another value after the optimizer was created."""
    scope = scope_of(case, opt.call)
    for part in case.executed(ast.Name):
        if part.id not in bases & opt.given or is_read(part) or scope_of(case, part) is not scope:
            continue
        if part.lineno > (opt.call.end_lineno or 0):
            return part
    return None


# ── parameters that no gradient reaches ─────────────────────────────────────────────────────────────────────


def out_of_reach(case: Case) -> Iterator[Explanation]:
    """Parameters that an optimizer of the cell was given, and that no gradient reaches because their path was
    cut."""
    given = {name for opt in optimizers_of(case) for name in opt.given}
    learning, cuts = learners(case), dict[Span | None, list[str]]()
    found = lost_by(case) if given and complete(case) else {}
    for id, lost in found.items():
        state = case.state(id)
        leaf = state is not None and state.is_leaf and state.requires_grad and id not in learning
        leaf = leaf and not came_from(case.scene.index.births[id])  # no view of one
        if leaf and lost.cut is not None and not lost.leaf and base_of_name(case.name(id)) in given:
            cuts.setdefault(lost.cut.span, []).append(id)
    for ids in cuts.values():
        cut = found[ids[0]].cut
        assert cut is not None
        told, marks = cut.told(case), cut.marks(case, card=False)
        values: Values = {"names": case.names(ids), **told}
        yield case.note("out_of_reach", "out_of_reach_why", told["repair"], marks, cut.span, **values)


def through_math(case: Case) -> Iterator[Explanation]:
    """Functions of Python's `math` that took numbers of tensors which require gradients, on the way to the
    root: a part of their gradients is lost there."""
    assert case.started is not None
    found = dict[Span | None, Cut]()
    for id, event in upstream(case.scene.index.births, case.started.roots):
        given = numbers_at(case, event)
        tree = expression(event.span) if given and event is not None else None
        if tree is not None and any(isinstance(p, ast.Call) and of_math(case, p) for p in ast.walk(tree)):
            cut = Cut("item", id, given[0], event.span)  # type: ignore[union-attr]
            found[cut.span] = cut
    for cut in found.values():
        told, marks = cut.told(case), case.card(cut.tensor, CAUSE, case.words("mark_cut"))
        yield case.note("out_of_reach", told["ended"], told["repair"], marks, cut.span)
