"""Notes about mistakes although nothing fails: gradients that are all zero, a loss that compares a column
with a row, and what a training loop forgets or does twice.

Note [When a broadcast is a mistake]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
`x[:, None] - y` is often meant: pairs of points, a kernel. So a note is given only where n×1 meets n (or the
other way round), one of them requires gradients and the other is data, the difference is squared or its
absolute value is taken, and the root of a backward call comes from that. A loss function that takes
predictions and targets says itself what is meant.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..model.births import by_number, came_from, sources_of
from ..model.grad_ledger import is_zero
from ..model.scene import Scenes
from ..model.stage import written
from ..numbers import number
from ..protocol import Value, op_of
from ..trace.events import Deposited, Forward, Mutated, NodeRan, OptimizerStepped
from ..trace.explained import Explanation
from ..trace.graph import CAUSE
from .case import Case, Values
from .edits import rewritten
from .failed_call import FailedCall
from .not_learning import CLASSES, changed, learners
from .operands import Operand
from .syntax import assignments, called, is_read, last_name, node_at, span_at, taken

# ── gradients that are all zero ─────────────────────────────────────────────────────────────────────────────

FLAT = ("round", "floor", "ceil", "trunc", "sign", "heaviside", "step")  # whose derivative is 0 everywhere
SATURATED = ("sigmoid", "tanh", "hardtanh", "hardsigmoid")
CUT_OFF = ("relu", "threshold", "relu6")
MANY = 4  # elements; that fewer are all cut off is no wonder


def dead_units(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note, if all gradients of a leaf are zero in all calls that were kept, because an op passes nothing
    on."""
    deposits: dict[str, list[Value]] = {}
    for event in scenes.trace.events:
        if isinstance(event, Deposited):
            deposits.setdefault(event.tensor, []).append(event.added)
    zero = [id for id, values in deposits.items() if all(map(is_zero, values))]
    calls = [call for call in scenes.index.calls.values() if call.started and call.ended]
    if not zero or not calls or scenes.trace.error or calls[-1].started is None:
        return []
    started = calls[-1].started
    case = Case(scenes, started.call, started.span, lang)
    for ran in calls[-1].ran.values():
        op = op_of(scenes.index.nodes[ran.node].name) if ran.node in scenes.index.nodes else ""
        stopped = op in TOLD and stops(ran)
        if stopped and (len(zero) == len(deposits) or size_of(ran) >= MANY):
            return [of_zeros(case, ran, op, zero)]
    return []


def stops(ran: NodeRan) -> bool:
    """Whether a node received something and passed on only zeros."""
    came = [value for value in ran.received if value is not None]
    sent = [value for value in ran.sent if value is not None]
    return bool(sent) and not all(map(is_zero, came)) and all(map(is_zero, sent))


def size_of(ran: NodeRan) -> int:
    """How many elements a node received."""
    return max((value.size for value in ran.received if value is not None), default=0)


def of_zeros(case: Case, ran: NodeRan, op: str, zero: list[str]) -> Explanation:
    """The note at one op."""
    place = case.stage.place_of(ran.node)
    span = None if place is None else place.span
    given = [id for id in (place.inputs or () if place is not None else ()) if id is not None]
    state = case.state(given[0]) if given else None
    value = None if state is None else state.value
    low, high = ("?", "?") if value is None or value.low is None else map(number, (value.low, value.high))
    marks = case.deck(ran.node, CAUSE, case.words("mark_zero"))
    values: Values = {
        "node": case.titled(ran.node),
        "op": op,
        "names": case.names(zero),
        "low": low,
        "high": high,
    }
    values["input"] = case.name(given[0]) if given else op
    return case.note("dead_unit", TOLD[op], "", marks, span, **values)


TOLD = {
    **dict.fromkeys(FLAT, "dead_flat"),
    **dict.fromkeys(CUT_OFF, "dead_relu"),
    **dict.fromkeys(SATURATED, "dead_saturated"),
}


# ── a column minus a row ────────────────────────────────────────────────────────────────────────────────────

LOSSES = ("mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss")
MEASURES = ("pow", "pow_scalar", "square", "abs")


def broadcast_losses(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note, if the root of the last backward call comes from such a difference."""
    calls = scenes.index.started
    if not calls or scenes.trace.error or calls[-1].span is None:
        return []
    case = Case(scenes, calls[-1].call, calls[-1].span, lang)
    for event in compared(case, calls[-1].roots):
        pair = column_and_row(case, event)
        if pair is not None:
            return [of_pair(case, event, *pair)]
    return []


def compared(case: Case, roots: tuple[str, ...]) -> Iterator[Forward]:
    """The losses and the measured differences that the roots were computed from."""
    born = case.scene.index.births
    behind = [born[id] for root in roots for id in sources_of(born, root) if id in born]
    for event in behind:
        if not isinstance(event, Forward) or event.span is None or event.span.origin:
            continue
        if event.op in LOSSES:
            yield event
        elif event.op in MEASURES or (event.op == "mul" and len(set(came_from(event))) == 1):
            source = born.get(came_from(event)[0])
            if isinstance(source, Forward) and source.op == "sub" and source.span is not None:
                yield source


def column_and_row(case: Case, event: Forward) -> tuple[Operand, Operand] | None:
    """The two inputs of a comparison, if one is n×1, the other has n elements, and only one of them requires
    gradients."""
    given = [unexpanded(case, id) for id in event.inputs[:2] if id is not None]
    states = [state for id in given if (state := case.state(id) or case.made(id)) is not None and state.value]
    both = [Operand(case.name(s.id), s.value.shape, s.value.dtype, s) for s in states if s.value is not None]
    if len(both) != 2:
        return None
    short, long = sorted((each.shape for each in both), key=len)
    fits = len(short) == 1 and short[0] > 1 and long == (short[0], 1)
    return (both[0], both[1]) if fits and case.scene.asks(both[0].id) != case.scene.asks(both[1].id) else None


def unexpanded(case: Case, tensor: str) -> str:
    """What a tensor was before the loss expanded it."""
    event = case.scene.index.births.get(tensor)
    expanded = isinstance(event, Forward) and event.op == "expand" and came_from(event)
    return came_from(event)[0] if expanded and event is not None else tensor


def of_pair(case: Case, event: Forward, a: Operand, b: Operand) -> Explanation:
    """The note about one comparison."""
    span, failed = event.span, FailedCall(case)
    assert span is not None
    data = 1 if case.scene.asks(a.id) else 0
    code = turned(case, event, data, len((a, b)[data].shape))
    values: Values = {"size": max(a.shape), "source": written(span), "line": span.line, "code": code}
    why = failed.words("broadcast_loss_why", a=a, b=b, **values)
    marks = failed.mark_shapes(a, b, kind=CAUSE)
    return case.note("broadcast_loss", why, "broadcast_loss_fix", marks, span, **values)


def turned(case: Case, event: Forward, place: int, dims: int) -> str | None:
    """The statement with the data in the shape of the predictions."""
    node = node_at(case, event.span)
    trees = node.args if isinstance(node, ast.Call) else list(taken(node))
    if node is None or len(trees) < 2:
        return None
    method = ".unsqueeze(1)" if dims == 1 else ".squeeze(1)"
    return rewritten(case, node, {trees[place]: called(ast.unparse(trees[place])) + method})


# ── a training loop ─────────────────────────────────────────────────────────────────────────────────────────

METHODS = ("backward", "step", "zero_grad")
TWICE = {"softmax": ("log_softmax", "cross_entropy"), "sigmoid": ("binary_cross_entropy_with_logits",)}


def forgotten(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """The notes about a cell that did not fail."""
    started = scenes.index.started
    case = Case(scenes, started[-1].call if started else 0, None, lang)
    if not case.trace.error:
        found = list(not_called(case))
        yield from found or [*no_backward(case), *no_step(case)]
        yield from scores_twice(case)


def not_called(case: Case) -> Iterator[Explanation]:
    """A statement that is only the name of a method: `opt.step`."""
    for part in case.executed(ast.Expr):
        if isinstance(part.value, ast.Attribute) and part.value.attr in METHODS:
            place = span_at(case, part)
            values: Values = {"place": place, "code": f"{place.text}()"}
            yield case.note("not_called", cause=place, of_cell=True, **values)


def no_backward(case: Case) -> Iterator[Explanation]:
    """Optimizers took steps, but no gradient was ever computed."""
    steps = [event for event in case.trace.events if isinstance(event, OptimizerStepped)]
    moved = any(isinstance(event, Mutated) and event.op == "step" for event in case.trace.events)
    if steps and steps[0].span is not None and not moved and not case.scene.index.started:
        yield case.note("no_backward", cause=steps[0].span, of_cell=True, step=steps[0].span)


def no_step(case: Case) -> Iterator[Explanation]:
    """An optimizer resets gradients that are computed again and again, and nothing takes a step."""
    learning = by_number(learners(case))
    if len(case.scene.index.started) < 2 or not learning or set(learning) & changed(case):
        return
    for name, part in assignments(case):
        if not isinstance(part.value, ast.Call) or last_name(part.value) not in CLASSES:
            continue
        names = [each for each in case.syntax() if isinstance(each, ast.Name)]
        used = [each for each in names if each.id == name and is_read(each)]
        resets = [each for each in case.executed(ast.Attribute) if each.attr == "zero_grad"]
        if used and {id(each.value) for each in resets} == {*map(id, used)}:
            span = case.scene.index.started[-1].span
            values: Values = {"opt": name, "names": case.names(learning), "backward": span}
            yield case.note("no_step", cause=span, of_cell=True, **values)


def scores_twice(case: Case) -> Iterator[Explanation]:
    """A loss that applies softmax or sigmoid itself was given the result of one."""
    born, found = case.scene.index.births, dict[object, Explanation]()
    for event in case.trace.events:
        given = came_from(event)[:1] if isinstance(event, Forward) else []
        source = born.get(given[0]) if given else None
        if not isinstance(event, Forward) or not isinstance(source, Forward) or event.span == source.span:
            continue
        if event.op in TWICE.get(source.op, ()):
            values: Values = {"call": event.span, "function": source.op, "source": source.span}
            found[event.span] = case.note("scores_twice", cause=source.span, of_cell=True, **values)
    yield from found.values()
