"""Notes about models whose rounds of training show a mistake: layers that are created again, units that stay
equal, a model that is trained in evaluation mode."""

from __future__ import annotations

import ast
from collections import defaultdict
from collections.abc import Iterator

from ..model.execution import ModuleCall
from ..model.grad_ledger import is_zero
from ..model.provenance import by_number
from ..protocol import Value
from ..trace.events import (
    Forward,
    GradAccumulated,
    InPlaceWrite,
    ModuleCalled,
    ModuleReturned,
    OptimizerStepped,
    TensorCreated,
)
from ..trace.graph import Explanation
from ..trace.source_positions import Span
from .case import Case, Values
from .missed_updates import ROUNDS, written_tensors
from .syntax import last_name, node_at, scope_of, span_at

NORMS = ("batch_norm", "native_batch_norm", "cudnn_batch_norm")


# ── layers ──────────────────────────────────────────────────────────────────────────────────────────────────


def layers_made_anew(case: Case) -> Iterator[Explanation]:
    """A layer of each round has parameters of its own, which get one gradient and are never updated."""
    if len(case.trace.of(OptimizerStepped)) < ROUNDS:
        return
    changed = written_tensors(case)
    counts: dict[str, list[int]] = defaultdict(list)
    for added in case.trace.of(GradAccumulated):
        counts[added.tensor].append(added.call)
    groups: dict[tuple[str, Span | None], dict[int, ModuleCalled]] = defaultdict(dict)
    for event in case.trace.of(ModuleCalled):
        ids = [id for _, id in event.parameters]
        if not ids or event.span is None:
            continue
        if all(len(counts[id]) == 1 and id not in changed for id in ids):
            groups[event.kind, event.span][counts[ids[0]][0]] = event
    for (kind, span), calls in groups.items():
        if len(calls) >= ROUNDS and len(calls) >= len(case.scene.index.started):
            place = created_beside(case, kind, span)
            values: Values = {"kind": kind, "place": place, "n": len(calls)}
            yield case.note("layer_made_anew", cause=place, of_cell=True, **values)


def created_beside(case: Case, kind: str, span: Span | None) -> Span | None:
    """Where a layer is created that is called at a place: the call of its class in the same function, if that
    is the only one; else the place itself."""
    node = node_at(case, span)
    scope = None if node is None else scope_of(case, node)
    calls = [part for part in case.executed(ast.Call) if last_name(part) == kind]
    mine = [part for part in calls if scope is not None and scope_of(case, part) is scope]
    return span_at(case, mine[0]) if len(mine) == 1 else span


def equal_units(case: Case) -> Iterator[Explanation]:
    """All units of a layer had equal weights and gradients in every round, although they were updated."""
    values: dict[str, list[Value]] = defaultdict(list)
    gradients: dict[str, list[Value]] = defaultdict(list)
    updates: dict[str, int] = defaultdict(int)
    for event in case.trace.events:
        match event:
            case TensorCreated(tensor=state) if state.value is not None:
                values[state.id].append(state.value)
            case InPlaceWrite(tensor=state) if state.value is not None:
                values[event.before].append(state.value)
                updates[event.before] += bool(gradients.get(event.before))
            case GradAccumulated():
                gradients[event.tensor].append(event.added)
    outer: list[str] = []
    for id in by_number(gradients):
        first = next((each for each in values[id][-1 - updates[id] :]), None)
        if updates[id] < ROUNDS or first is None or len(first.shape) != 2:
            continue
        known = [first, *values[id][-updates[id] :], *gradients[id]]
        across = [
            axis for axis in (0, 1) if first.shape[axis] > 1 and all(equal_along(v, axis) for v in known)
        ]
        if len(across) == 1 or (across and all(map(is_zero, gradients[id]))):
            outer.append(id)
    if len(outer) < 2:  # of equal units both the weights into them and those out of them are equal
        return
    start = values[outer[0]][-1 - updates[outer[0]]]
    why = "equal_zero" if is_zero(start) else "equal_units"
    yield case.note("equal_units", why, of_cell=True, names=case.names(outer))


def equal_along(value: Value, axis: int) -> bool:
    """Whether all rows (axis 0) or columns of a matrix are equal."""
    if value.items is None or len(value.shape) != 2 or value.special:
        return False
    rows, columns = value.shape
    table = [value.items[k * columns : (k + 1) * columns] for k in range(rows)]
    lines = table if axis == 0 else list(zip(*table, strict=True))
    size = max(map(abs, value.items), default=0.0)
    return all(abs(a - b) <= 1e-6 * size for line in lines[1:] for a, b in zip(line, lines[0], strict=True))


# ── modes ───────────────────────────────────────────────────────────────────────────────────────────────────


def evaluation_mode(case: Case) -> Iterator[Explanation]:
    """From some round on every dropout layer passed its input on, or every batch norm used its stored
    statistics, after the model was put in evaluation mode, while all its parameters were updated."""
    index, changed = case.scene.index, written_tensors(case)
    calls, ends = (
        index.module_calls.calls,
        {each.number: each.outputs for each in case.trace.of(ModuleReturned)},
    )
    measured = {id(call) for call in calls if not is_learning(case, call)}
    dropped = [c for c in calls if c.event.kind.startswith("Dropout") and id(c) not in measured]
    modes = [(call, ends.get(call.event.number) == call.event.inputs != ()) for call in dropped]
    norms = [event for event in case.trace.of(Forward) if event.op in NORMS and event.grad_enabled]
    for event in norms:
        around = index.module_calls.at(index.times[id(event)])
        if around is not None and around.event.kind.startswith("BatchNorm"):
            modes.append((around, "True" not in event.arguments))
    modes.sort(key=lambda each: each[0].event.number)
    first = next((i for i, (_, idle) in enumerate(modes) if idle), len(modes))
    idle = [call for call, off in modes[first:] if off]
    if len(idle) < max(ROUNDS, len(modes) - first) or len(case.trace.of(OptimizerStepped)) < ROUNDS:
        return
    for part in case.executed(ast.Expr):
        call = part.value
        if not isinstance(call, ast.Call) or not is_switch_off(call):
            continue
        name = ast.unparse(call.func.value)  # type: ignore[attr-defined]
        inside = {id for each in calls if each.event.path.startswith(name) for _, id in each.event.parameters}
        if all(each.event.path.startswith(f"{name}.") for each in idle) and inside and inside <= changed:
            place = span_at(case, call)
            values: Values = {"name": name, "place": place, "layer": idle[0].event.path}
            why = "eval_left_on" if dropped else "eval_left_on_norm"
            fix = "eval_left_on_fix_loop" if first else "eval_left_on.fix"
            yield case.note("eval_left_on", why, fix, cause=place, of_cell=True, **values)
            return


def is_learning(case: Case, call: ModuleCall) -> bool:
    """Whether a layer was called with a graph being recorded: what is measured under no_grad() learns
    nothing."""
    states = [case.made(id) for id in call.event.inputs]
    results = next((e.outputs for e in case.trace.of(ModuleReturned) if e.number == call.event.number), ())
    return any(s is not None and s.requires_grad for s in (*states, *map(case.made, results)))


def is_switch_off(call: ast.Call) -> bool:
    """Whether a call puts a model in evaluation mode: `net.eval()`, `net.train(False)`."""
    if not isinstance(call.func, ast.Attribute):
        return False
    off = [each for each in call.args if isinstance(each, ast.Constant) and each.value is False]
    return call.func.attr == "eval" or (call.func.attr == "train" and bool(off))
