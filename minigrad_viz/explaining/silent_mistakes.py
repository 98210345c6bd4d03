"""Notes about mistakes that raise no error: training that changes nothing or the wrong thing, gradients
that are all zero, broadcast losses.

Note [When a broadcast is a mistake]
~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~~
`x[:, None] - y` is often meant: pairs of points, a kernel. So a note is given only where n×1 meets n (or the
other way round), one of them requires gradients and the other is data, the difference is squared or its
absolute value is taken, and the root of a backward call comes from that. A loss function that takes
predictions and targets says itself what is meant.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Collection, Iterator
from typing import NamedTuple

from ..model.grad_ledger import is_zero
from ..model.provenance import by_number, op_behind, sources_of, upstream
from ..model.scene import Scenes
from ..model.views import quoted_span
from ..number_text import number, one_line
from ..protocol import Value, op_of
from ..trace.events import (
    Event,
    Forward,
    GradAccumulated,
    GradSet,
    InPlaceWrite,
    NodeRan,
    NumbersReturned,
    OptimizerStepped,
    TensorCreated,
    of_kinds,
)
from ..trace.graph import CAUSE, Explanation
from ..trace.source_positions import Span
from ..trace.statements import blocks
from ..words import InventedName
from .case import Case, Values
from .edits import of_math, quote, rewritten
from .failed_call import FailedCall, Operand
from .loss_inputs import scores_twice
from .lost_paths import PathCut, is_complete, lost_by, numbers_at
from .missed_updates import base_of_name, loop_updates, misspelled_flag_note, unheld, usable, writes
from .syntax import (
    assigned_in,
    assignments,
    before_dot_source,
    expression_of_span,
    is_read,
    last_name,
    node_at,
    operands_in,
    scope_of,
    span_at,
    written_as,
)

# ─── Notes about training that changes nothing, or the wrong thing, although nothing fails


# The classes of `torch.optim`.
CLASSES = (
    "SGD", "ASGD", "Adam", "AdamW", "Adamax", "NAdam", "RAdam", "Adagrad", "Adadelta", "RMSprop", "Rprop",
    "LBFGS",
)  # fmt: skip


class Optimizer(NamedTuple):
    """The variable `name` was assigned an optimizer by `call`; `given` are the variables in its first
    argument, which is written as `parameters`, and `paths` what of them it was given: `net.head`."""

    name: str
    call: ast.Call
    given: frozenset[str]
    parameters: str
    paths: frozenset[str]

    def holds(self, name: str) -> bool:
        """Whether a parameter of that name is among those that the optimizer was given."""
        dotted = with_dots(name)
        return any(dotted == path or dotted.startswith(f"{path}.") for path in self.paths)


class Loop(NamedTuple):
    """Where the calls of a training step are, each in the order of the source."""

    step: ast.Call
    backward: ast.Call | None
    reset: ast.Call | None


def optimizers_of(case: Case, indirect: bool = False) -> list[Optimizer]:
    """The optimizers that the cell creates and that take steps; also those that a function of the cell's
    returns, if these (`indirect`) count."""
    found = []
    for name, part in assignments(case):
        if not isinstance(part.value, ast.Call) or not part.value.args:
            continue
        kind = last_name(part.value)
        direct = kind in CLASSES or (indirect and returns_optimizer(case, kind))
        if not direct or len(assigned_in(case, name, scope_of(case, part))) != 1:
            continue
        first = part.value.args[0]
        given = frozenset(each.id for each in ast.walk(first) if isinstance(each, ast.Name))
        if loop_of(case, name) is not None:
            paths = frozenset(paths_in(first))
            found.append(Optimizer(name, part.value, given, written_as(case, first), paths))
    return found


def paths_in(tree: ast.AST) -> Iterator[str]:
    """The modules and tensors that an expression takes parameters from: `net.head` of
    `net.head.parameters()`."""
    if isinstance(tree, ast.Call) and isinstance(tree.func, ast.Attribute):
        yield from paths_in(tree.func.value)
        yield from (path for each in (*tree.args, *tree.keywords) for path in paths_in(each))
    elif isinstance(tree, ast.Attribute | ast.Subscript | ast.Name):
        path = with_dots(ast.unparse(tree))
        if re.fullmatch(r"[\w.]+", path):
            yield path
        else:  # an index that is computed, a result of a call: of all that stands before it
            yield from (path for each in ast.iter_child_nodes(tree) for path in paths_in(each))
    else:
        yield from (path for each in ast.iter_child_nodes(tree) for path in paths_in(each))


def with_dots(name: str) -> str:
    """A path that names what an index chooses: `net.0.weight` of `net[0].weight`."""
    return re.sub(r"\[(\d+)\]", r".\1", name)


def returns_optimizer(case: Case, name: str) -> bool:
    """Whether the function of that name returns a new optimizer."""
    defined = [part for part in case.executed(ast.FunctionDef) if part.name == name]
    found = [part.value for each in defined for part in ast.walk(each) if isinstance(part, ast.Return)]
    return len(found) == 1 and isinstance(found[0], ast.Call) and last_name(found[0]) in CLASSES


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


def not_learning(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """What keeps the parameters of a cell from learning; nothing where a backward call failed."""
    calls = [started for started in scenes.index.started if started.kind == "backward"]
    if not calls or scenes.trace.error:
        return []
    last = calls[-1]
    case = Case(scenes, last.call, last.span, lang)
    found = [*root_is_leaf(case), *kept_gradients(case), *idle_optimizers(case)]
    if not found:
        found = [*unheld(case, optimizers_of(case)), *misspelled_flag_note(case), *loop_updates(case)]
    return [*found, *(list(out_of_reach(case)) or through_math(case))]


def learners(case: Case, call: int = 0) -> set[str]:
    """The leaves that got a gradient in the cell, or by one call, without those that were roots."""
    roots = {root for started in case.scene.index.started for root in started.roots}
    added = [*case.trace.of(GradAccumulated)]
    found = {event.tensor for event in added if call in (0, event.call)}
    if call:
        return found - roots
    return (found | {id for id, _ in case.trace.deposits}) - roots


def tensors_changed_by_writes(case: Case) -> set[str]:
    """The tensors whose values were changed by a write."""
    now: dict[str, Value | None] = {}
    found = set()
    for event in case.trace.events:
        match event:
            case TensorCreated(tensor=state):
                now[state.id] = state.value
            case InPlaceWrite(before=id, tensor=state):
                if now.get(id) != state.value:
                    found.add(id)
                now[id] = state.value
    return found


# ── a root that leads nowhere ───────────────────────────────────────────────────────────────────────────────


def root_is_leaf(case: Case) -> Iterator[Explanation]:
    """The root is itself a leaf that was made of numbers, and nothing else got a gradient."""
    assert case.started is not None
    roots = case.started.roots
    born = case.scene.index.births.get(roots[0]) if len(roots) == 1 else None
    others = {id for id in case.scene.at if case.scene.asks(id)} - {*roots}
    births = case.scene.index.births.items()
    others |= {id for id, event in births if any(state.requires_grad for state in event.made)}
    if not isinstance(born, TensorCreated) or born.span is None or not born.tensor.is_leaf:
        return
    if not others - {*roots} or learners(case, case.call):
        return
    values: Values = {"root": case.name(roots[0]), "made": born.span}
    yield case.note("root_leaf", cause=born.span, **values)


# ── gradients of earlier rounds ─────────────────────────────────────────────────────────────────────────────


def kept_gradients(case: Case) -> Iterator[Explanation]:
    """A gradient was added to that of an earlier round, although its tensor was updated in between and its
    gradient is never reset, and the sum updated the tensor."""
    reset = {event.tensor for event in case.trace.of(GradSet) if event.how != "empty"}
    updated: set[str] = set()
    added: dict[str, GradAccumulated] = {}  # but not used yet
    found: dict[str, GradAccumulated] = {}
    step: Span | None = None
    steps: dict[str, Span | None] = {}  # that used such a gradient
    time = 0
    for event, tensor in with_writes(case):
        match event:
            case OptimizerStepped():
                step = event.span
            case GradAccumulated(before=old) if not tensor and event.tensor not in reset:
                if event.tensor in updated and old is not None and not is_zero(old) and not old.special:
                    added[event.tensor] = event
                updated.discard(event.tensor)
        if tensor:
            updated.add(tensor)
            if tensor in added:
                found[tensor], time = added.pop(tensor), case.scene.index.times[id(event)]
                steps[tensor] = step if getattr(event, "op", "") == "step" else None
    if not found:
        return
    leaf, last = max(found.items(), key=lambda each: each[1].call)
    started, name = case.scene.index.calls[last.call].started, case.plain(leaf)
    assert last.before is not None
    numbers = {"before": last.before, "added": last.added, "after": last.after}
    values: Values = {key: one_line(value, 24) for key, value in numbers.items()}
    trained = stepping(steps[leaf])
    by_hand = reset_of(case, list(found))
    values["reset"] = f"{trained}.zero_grad()" if trained else by_hand
    span = None if started is None else started.span
    yield case.note("kept_gradient", cause=span, of_cell=True, time=time, name=name, call=span, **values)


def reset_of(case: Case, leaves: list[str]) -> str:
    """The statement that resets the gradients of leaves; "" where none is short."""
    names = list(dict.fromkeys(case.plain(id) for id in by_number(leaves)))
    bases = {base_of_name(name) for name in names}
    states = [case.state(id) for id in leaves]
    if all(state is not None and state.parameter for state in states) and len(bases) == 1 and len(names) > 1:
        (base,) = bases
        if all(name.startswith(f"{base}.") for name in names):
            return f"{base}.zero_grad()"
    if len(names) > 3 or any(isinstance(name, InventedName) for name in names):
        return ""
    return "".join(f"{name}.grad = " for name in names) + "None"


def stepping(span: Span | None) -> str | None:
    """The optimizer whose step is called at a place, as it is written there."""
    found = None if span is None else re.fullmatch(r"(.+)\.step\(.*\)", span.text, re.DOTALL)
    return None if found is None else found[1]


def with_writes(case: Case) -> Iterator[tuple[Event, str]]:
    """The events, each with the tensor that it wrote to, as often as it wrote to one; "" if to none."""
    written: dict[int, list[str]] = {}
    for event, tensor in writes(case.trace.events):
        written.setdefault(id(event), []).append(tensor)
    for event in case.trace.events:
        yield from ((event, tensor) for tensor in written.get(id(event), [""]))


# ── an optimizer that changes nothing ───────────────────────────────────────────────────────────────────────


def idle_optimizers(case: Case) -> Iterator[Explanation]:
    """The only optimizer of a cell takes steps, but no tensor that got a gradient was changed."""
    found, learning = optimizers_of(case, indirect=True), by_number(learners(case))
    if len(found) != 1 or not learning or set(learning) & tensors_changed_by_writes(case):
        return
    (opt,) = found
    names = [case.plain(id) for id in learning]
    bases = {base_of_name(name) for name in names}
    direct = last_name(opt.call) in CLASSES
    if not opt.given & bases and not stepped_parameters(case) & set(learning):
        if direct and steps_after_deposits(case, learning):
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


def stepped_parameters(case: Case) -> set[str]:
    """The tensors that optimizers held when they took steps, as far as they are known."""
    steps = [*case.trace.of(OptimizerStepped)]
    return {id for step in steps for id in (*step.idle, *(row.tensor for row in step.rows))}


def steps_after_deposits(case: Case, learning: Collection[str]) -> bool:
    """Whether an optimizer took a step when some of these tensors had got a gradient. An earlier step does
    not show what the optimizer holds."""
    deposits = [event for event in case.trace.of(GradAccumulated) if event.tensor in learning]
    times = case.scene.index.times
    steps = [times[id(step)] for step in case.trace.of(OptimizerStepped)]
    return bool(deposits and steps) and max(steps) > min(times[id(event)] for event in deposits)


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
    call = quote(ast.unparse(opt.call).replace(ast.unparse(opt.call.args[0]), given, 1)) or given
    values: Values = {"opt": opt.name, "given": opt.parameters, "line": span.line}
    values["names"] = case.names(learning)
    return case.note("other_parameters", cause=span, of_cell=True, call=call, **values)


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
    cut; and any leaf whose path went through a NumPy array."""
    optimizers = optimizers_of(case)
    learning, cuts = learners(case), dict[Span | None, list[str]]()
    trips = any(event.how == "numpy" for event in case.trace.of(NumbersReturned))
    found = lost_by(case) if (optimizers or trips) and is_complete(case) else {}

    def is_held(id: str) -> bool:
        return any(opt.holds(case.name(id)) for opt in optimizers)

    for id, lost in found.items():
        state = case.state(id)
        leaf = state is not None and state.is_leaf and state.requires_grad and id not in learning
        leaf = leaf and not case.scene.index.births[id].read  # no view of one
        held = lost.cut is not None and (lost.cut.how == "numpy" or is_held(id))
        if leaf and lost.cut is not None and not lost.leaf and held:
            cuts.setdefault(lost.cut.span, []).append(id)
    for ids in cuts.values():
        cut = found[ids[0]].cut
        assert cut is not None
        told, marks = cut.told(case), cut.marks(case, card=False)
        values: Values = {"names": case.names(ids), **told}
        why = "out_of_reach_why" if all(map(is_held, ids)) else "out_of_reach_leaf"
        yield case.note("out_of_reach", why, told["repair"], marks, cut.span, **values)


def through_math(case: Case) -> Iterator[Explanation]:
    """Functions of Python's `math` that took numbers of tensors which require gradients, on the way to the
    root: a part of their gradients is lost there."""
    assert case.started is not None
    found = dict[Span | None, PathCut]()
    for id, event in upstream(case.scene.index.births, case.started.roots):
        given = numbers_at(case, event)
        tree = expression_of_span(event.span) if given and event is not None else None
        if tree is not None and any(isinstance(p, ast.Call) and of_math(case, p) for p in ast.walk(tree)):
            cut = PathCut("item", id, given[0], event.span)  # type: ignore[union-attr]
            found[cut.span] = cut
    for cut in found.values():
        told, marks = cut.told(case), case.card(cut.tensor, CAUSE, case.words("mark_cut"))
        yield case.note("out_of_reach", told["ended"], told["repair"], marks, cut.span)


# ─── Notes about mistakes although nothing fails


# ── gradients that are all zero ─────────────────────────────────────────────────────────────────────────────

FLAT = ("round", "floor", "ceil", "trunc", "sign", "heaviside", "step")  # whose derivative is 0 everywhere
SATURATED = ("sigmoid", "tanh", "hardtanh", "hardsigmoid")
CUT_OFF = ("relu", "threshold", "relu6")
MANY = 4  # elements; that fewer are all cut off is no wonder


def dead_units(scenes: Scenes, lang: str | None = None) -> list[Explanation]:
    """The note, if all gradients of a leaf are zero in all calls that were kept, because an op passes nothing
    on."""
    deposits: dict[str, list[Value]] = {}
    for event in scenes.trace.of(GradAccumulated):
        deposits.setdefault(event.tensor, []).append(event.added)
    zero = [id for id, values in deposits.items() if all(map(is_zero, values))]
    calls = [call for call in scenes.index.calls.values() if call.started and call.ended]
    if not zero or not calls or scenes.trace.error or calls[-1].started is None:
        return []
    started = calls[-1].started
    case = Case(scenes, started.call, started.span, lang)
    for ran in calls[-1].ran.values():
        op = op_of(scenes.index.nodes[ran.node].name) if ran.node in scenes.index.nodes else ""
        stopped = op in TOLD and stops_gradient(ran)
        if stopped and (len(zero) == len(deposits) or received_size(ran) >= MANY):
            return [of_zeros(case, ran, op, zero)]
    return []


def stops_gradient(ran: NodeRan) -> bool:
    """Whether a node received something and passed on only zeros."""
    came = [value for value in ran.received if value is not None]
    sent = [value for value in ran.sent if value is not None]
    return bool(sent) and not all(map(is_zero, came)) and all(map(is_zero, sent))


def received_size(ran: NodeRan) -> int:
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
    """The notes, if the root of the last backward call comes from such differences."""
    calls = scenes.index.started
    if not calls or scenes.trace.error or calls[-1].span is None:
        return []
    case = Case(scenes, calls[-1].call, calls[-1].span, lang)
    pairs = [(event, column_and_row(case, event)) for event in comparisons_behind(case, calls[-1].roots)]
    found = {event.span: of_pair(case, event, *pair) for event, pair in pairs if pair is not None}
    return sorted(found.values(), key=lambda note: note.cause.line if note.cause is not None else 0)


def comparisons_behind(case: Case, roots: tuple[str, ...]) -> Iterator[Forward]:
    """The losses and the measured differences that the roots were computed from."""
    born = case.scene.index.births
    for event in of_kinds(
        (born[id] for root in roots for id in sources_of(born, root) if id in born), Forward
    ):
        if event.span is None or event.span.origin:
            continue
        if event.op in LOSSES:
            yield event
        elif event.op in MEASURES or (event.op == "mul" and len(set(event.read)) == 1):
            source = op_behind(born, event.read[0], "sub")
            if source is not None and source.span is not None:
                yield source


def column_and_row(case: Case, event: Forward) -> tuple[Operand, Operand] | None:
    """The two inputs of a comparison, if one is n×1, the other has n elements, and only one of them requires
    gradients."""
    given = [before_expansion(case, id) for id in event.inputs[:2] if id is not None]
    states = [state for id in given if (state := case.state(id) or case.made(id)) is not None and state.value]
    if len(states) != 2:
        return None
    short, long = sorted((state.value.shape for state in states if state.value is not None), key=len)
    if len(short) != 1 or short[0] < 2 or long != (short[0], 1):
        return None
    if case.scene.asks(states[0].id) == case.scene.asks(states[1].id):
        return None
    a, b = (Operand(case.name(s.id), s.value.shape, s.value.dtype, s) for s in states if s.value is not None)
    return a, b


def before_expansion(case: Case, tensor: str) -> str:
    """What a tensor was before the loss expanded it."""
    event = op_behind(case.scene.index.births, tensor, "expand")
    return event.read[0] if event is not None and event.read else tensor


def of_pair(case: Case, event: Forward, a: Operand, b: Operand) -> Explanation:
    """The note about one comparison."""
    span, failed = event.span, FailedCall(case)
    assert span is not None
    data = 1 if case.scene.asks(a.id) else 0
    code = with_target_shape(case, event, data, len((a, b)[data].shape))
    values: Values = {"size": max(a.shape), "source": quoted_span(span), "line": span.line, "code": code}
    why = failed.words("broadcast_loss_why", a=a, b=b, **values)
    marks = failed.mark_shapes(a, b, kind=CAUSE)
    return case.note("broadcast_loss", why, "broadcast_loss_fix", marks, span, **values)


def with_target_shape(case: Case, event: Forward, place: int, dims: int) -> str | None:
    """The statement with the data in the shape of the predictions."""
    node = node_at(case, event.span)
    trees = node.args if isinstance(node, ast.Call) else list(operands_in(node))
    if node is None or len(trees) < 2:
        return None
    method = ".unsqueeze(1)" if dims == 1 else ".squeeze(1)"
    return rewritten(case, node, {trees[place]: before_dot_source(ast.unparse(trees[place])) + method})


# ── a training loop ─────────────────────────────────────────────────────────────────────────────────────────

METHODS = ("backward", "step", "zero_grad")


def missing_steps(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
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
    steps = case.trace.of(OptimizerStepped)
    moved = any(event.op == "step" for event in case.trace.of(InPlaceWrite))
    if steps and steps[0].span is not None and not moved and not case.scene.index.started:
        yield case.note("no_backward", cause=steps[0].span, of_cell=True, step=steps[0].span)


def no_step(case: Case) -> Iterator[Explanation]:
    """An optimizer resets gradients that are computed again and again, and nothing takes a step."""
    learning = by_number(learners(case))
    if len(case.scene.index.started) < 2 or not learning or set(learning) & tensors_changed_by_writes(case):
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
