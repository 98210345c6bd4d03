"""Parameters that get gradients and are never updated, and assignments that change nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import minigrad

from ..model.provenance import by_number
from ..trace.events import Event, Forward, GradAccumulated, InPlaceWrite, OptimizerStepped, TensorDetached
from ..trace.graph import Explanation
from ..words import InventedName
from .case import Case, Fix, Sentence, Values
from .edits import quote, replace_part
from .lost_paths import reads, update_of
from .syntax import assigned_in, assignments, before_dot_source, last_name, scope_of, span_at, written_as

MISSPELLED = re.compile(
    r"requires?d?_?grads?|requi(?:er|re|r)s?_g(?:ra|ar)d|requries_grad|requires_g(?:ar|r)d"
)
ROUNDS = 2  # in which a parameter gets a gradient before its update is missed


def writes(events: Iterable[Event]) -> Iterator[tuple[Event, str]]:
    """What wrote to a tensor, and to which: in place, through the result of `.data` or detach(), or as
    `p.data = …`, which counts where the new value was computed from the old one."""
    alias: dict[str, str] = {}
    for event in events:
        match event:
            case TensorDetached(source=source, tensor=state):
                alias[state.id] = alias.get(source, source)
            case InPlaceWrite(before=before):
                yield event, before
                if before in alias:
                    yield event, alias[before]
            case Forward(name=str(name)) if name.endswith(".data"):
                yield from ((event, alias[id]) for id in event.read if id in alias)


def written_tensors(case: Case) -> set[str]:
    """The tensors that something wrote to."""
    return {id for _, id in writes(case.trace.events)}


def unheld(case: Case, optimizers: Sequence[Any]) -> Iterator[Explanation]:
    """Parameters that get gradients in several rounds in which an optimizer updates others, and that nothing
    updates."""
    steps = [*case.trace.of(OptimizerStepped)]
    added = [*case.trace.of(GradAccumulated)]
    rounds = Counter(event.tensor for event in added)
    changed = written_tensors(case)
    if len(steps) < ROUNDS:
        return
    asleep = [
        id
        for id in by_number(rounds)
        if rounds[id] >= ROUNDS and id not in changed and (state := case.state(id)) and state.parameter
    ]
    names = [case.plain(id) for id in asleep]
    if not names:
        return
    values: Values = {"names": case.names(asleep), "step": steps[-1].span, "opt": ""}
    span, code = steps[-1].span, None
    if len(optimizers) == 1:
        (opt,) = optimizers
        span = span_at(case, opt.call)
        values |= {"opt": opt.name, "given": opt.parameters, "line": span.line}
        code = holding(case, opt, names)
    why: Sentence | str = "unheld_given" if values["opt"] else "unheld"
    fix: Sentence | str = "unheld_fix_code" if code else "unheld.fix"
    lists = [] if code else [*layer_lists(case)]
    new = replaced_layer(case, optimizers, names)
    if new is not None:
        values |= {"layer": ast.unparse(new.targets[0]), "line": new.lineno}
        yield case.note("stale_optimizer", "stale_layer", "", (), span_at(case, new), True, **values)
        return
    if len(lists) == 1:
        told = case.words("unheld_list", name=lists[0].name, line=lists[0].line)
        why, new_list = Sentence(f"{case.words(why, **values)} {told}"), lists[0].fix
        fix = "module_list.fix" if new_list is None else new_list.text
    last = next(event for event in reversed(added) if event.tensor in asleep)
    time = case.scene.index.times[id(last)]
    yield case.note("other_parameters", why, fix, (), span, True, time, code=code, **values)


class LayerList(NamedTuple):
    """A Python list of layers that is assigned to an attribute `name`, and what to do about it."""

    name: str
    part: ast.Assign
    fix: Fix | None

    @property
    def line(self) -> int:
        """The line of the assignment."""
        return self.part.lineno


def layer_lists(case: Case) -> Iterator[LayerList]:
    """The Python lists in which a model keeps layers, where a module does not find them."""
    for target, part in assignments(case):
        calls = [each for each in ast.walk(part.value) if isinstance(each, ast.Call)]
        layers = [each for each in calls if is_module(case, last_name(each))]
        if target.startswith("self.") and isinstance(part.value, ast.List | ast.ListComp) and layers:
            path = ast.unparse(layers[0].func).removesuffix(last_name(layers[0])) or "torch.nn."
            code = f"{path}ModuleList({written_as(case, part.value)})"
            yield LayerList(target, part, replace_part(case, part.value, {part.value: code}))


def is_module(case: Case, name: str) -> bool:
    """Whether that is the name of a class of modules: of `torch.nn`, or of the cell."""
    known = getattr(minigrad.nn, name, None)
    own = any(each.name == name for each in case.executed(ast.ClassDef))
    return own or (isinstance(known, type) and issubclass(known, minigrad.nn.Module))


def replaced_layer(case: Case, optimizers: Sequence[Any], names: Sequence[str]) -> ast.Assign | None:
    """The assignment that gave a model a new layer after the only optimizer got the parameters of the old
    one, if the parameters `names` are those of the new layer."""
    for target, part in assignments(case) if len(optimizers) == 1 else ():
        (opt,) = optimizers
        late = part.lineno > (opt.call.end_lineno or 0) and scope_of(case, part) is scope_of(case, opt.call)
        inside = re.sub(r"\[(\d+)\]", r".\1", target)
        mine = all(name.startswith(f"{inside}.") for name in names)
        if late and mine and base_of_name(target) in opt.given and base_of_name(target) != target:
            return part
    return None


def holding(case: Case, opt: Any, names: Sequence[str]) -> str | None:
    """The call that creates an optimizer with more parameters."""
    if any(isinstance(name, InventedName) for name in names):
        return None
    bases = dict.fromkeys(map(base_of_name, names))
    modules = [base for base in bases if base not in names]
    if any(base in opt.given for base in bases) or not bases.keys() <= usable(case, opt.call):
        return None
    more = [f"*{base}.parameters()" if base in modules else base for base in bases]
    old = ast.unparse(opt.call.args[0])
    items = old[1:-1] if old.startswith("[") and old.endswith("]") else f"*{old}"
    given = f"[{', '.join(filter(None, (items, *more)))}]"
    return quote(f"{opt.name} = " + ast.unparse(opt.call).replace(old, given, 1))


def base_of_name(name: str) -> str:
    """The variable in a name: `a` of `a.0.weight`."""
    return re.split(r"[.\[]", name, maxsplit=1)[0]


def usable(case: Case, call: ast.Call) -> set[str]:
    """The variables that can be in a call: those of its function, and of the namespace."""
    scope = scope_of(case, call)
    own = (name for name in case.variables if assigned_in(case, name, scope))
    return {*own, *(base_of_name(name) for _, name in case.trace.names)}


def misspelled_flag_note(case: Case) -> Iterator[Explanation]:
    """A misspelled `requires_grad` of a tensor was given a value, and the recording shows that it switched
    nothing: the tensor got a gradient although it should not, or none is recorded though it should."""
    loops = [loop for loop in case.executed(ast.For) if ast.unparse(loop.iter).endswith("parameters()")]
    inside = [part for loop in loops for part in loop.body if isinstance(part, ast.Assign)]
    for part in dict.fromkeys([*case.executed(ast.Assign), *inside]):
        target = part.targets[0]
        plain = isinstance(target, ast.Attribute) and isinstance(part.value, ast.Constant)
        if not plain or not isinstance(target, ast.Attribute) or type(part.value.value) is not bool:  # type: ignore[attr-defined]
            continue
        if target.attr == "requires_grad" or not MISSPELLED.fullmatch(target.attr):
            continue
        base = base_of_tensors(target.value, loops, part)
        time = ignored_at(case, base, bool(part.value.value))  # type: ignore[attr-defined]
        if not time:
            continue
        place = span_at(case, part)
        code = quote(f"{ast.unparse(target.value)}.requires_grad = {ast.unparse(part.value)}")
        values: Values = {"place": place, "name": target.attr, "code": code}
        yield case.note("misspelled_flag", cause=place, of_cell=True, time=time, **values)


def base_of_tensors(owner: ast.expr, loops: Sequence[ast.For], part: ast.Assign) -> str:
    """How the tensors are called that an expression stands for: of the variable of a loop over
    `net.parameters()` that is `net`."""
    for loop in loops:
        if part in loop.body and ast.unparse(loop.target) == ast.unparse(owner):
            return re.sub(r"\[(\d+)\]", r".\1", ast.unparse(loop.iter).rpartition(".")[0])
    return ast.unparse(owner)


def ignored_at(case: Case, base: str, wanted: bool) -> int:
    """The last event that shows the tensors of that name with the other value of `requires_grad`: they got
    gradients, or are leaves of a graph that require none. 0 if none does."""
    named = {*case.scene.index.seen_as.items(), *case.trace.names}
    ids = {id for id, name in named if name == base or name.startswith((f"{base}.", f"{base}["))}
    events = [*enumerate(case.trace.events)]
    if not wanted:
        return max((i for i, e in events if isinstance(e, GradAccumulated) and e.tensor in ids), default=0)
    used = {id: i for i, event in events if isinstance(event, Forward) for id in ids & {*event.read}}
    states = [state for id in used if (state := case.state(id) or case.made(id)) is not None]
    ignored = all(state.is_leaf and not state.requires_grad for state in states)
    return max(used.values()) if states and ignored else 0


def loop_updates(case: Case) -> Iterator[Explanation]:
    """`for p in net.parameters(): p = p - lr * p.grad` gives a loop variable a new tensor, and updates
    nothing."""
    changed = written_tensors(case)
    learning = [event.tensor for event in case.trace.of(GradAccumulated) if event.tensor not in changed]
    for loop in case.executed(ast.For) if learning else ():
        if not isinstance(loop.target, ast.Name):
            continue
        name = loop.target.id
        for part in loop.body:
            plain = isinstance(part, ast.Assign) and ast.unparse(part.targets[0]) == name and case.ran(part)
            if not plain or not isinstance(part, ast.Assign) or not reads(part.value, f"{name}.grad"):
                continue
            place = span_at(case, part)
            values: Values = {"place": place, "name": name, "over": before_dot_source(ast.unparse(loop.iter))}
            values["code"] = quote(update_of(case, part.value, name))
            yield case.note("loop_update", cause=place, of_cell=True, **values)
