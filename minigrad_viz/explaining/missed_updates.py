"""Parameters that get gradients and are never updated, and assignments that change nothing."""

from __future__ import annotations

import ast
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, NamedTuple

import minigrad

from ..model.provenance import by_number, upstream
from ..trace.events import (
    Event,
    Forward,
    GradAccumulated,
    InPlaceWrite,
    ModuleCalled,
    OptimizerStepped,
    TensorCreated,
    TensorDetached,
)
from ..trace.graph import Explanation
from ..words import InventedName
from .case import Case, Fix, Sentence, Values
from .edits import quote, replace_part
from .lost_paths import as_in_place_write, reads
from .syntax import assigned_in, assignments, last_name, scope_of, span_at, written_as

MISSPELLED = re.compile(
    r"requires?d?_?grads?|requi(?:er|re|r)s?_g(?:ra|ar)d|requries_grad|requires_g(?:ar|r)d"
)


class Holder(NamedTuple):
    """A Python container of layers: its trees, the module that takes its place, and the words for it."""

    trees: tuple[type[ast.expr], ...]
    module: str
    unheld: str
    fix: str
    empty: str


HOLDERS = (
    Holder((ast.List, ast.ListComp), "ModuleList", "unheld_list", "module_list.fix", "module_list"),
    Holder((ast.Dict, ast.DictComp), "ModuleDict", "unheld_dict", "module_dict.fix", "module_dict"),
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
    if not names or any({*asleep} <= leaves for *_, leaves in computed_targets(case)):
        return
    values: Values = {"names": case.names(asleep), "step": steps[-1].span, "opt": ""}
    span, code = steps[-1].span, None
    if len(optimizers) == 1:
        (opt,) = optimizers
        span = span_at(case, opt.call)
        values |= {"opt": opt.name, "given": opt.parameters, "line": span.line}
        code = holding(case, opt, names)
    why: Sentence | str = "unheld_given" if values["opt"] else "unheld"
    whole = code is not None and code.count(".parameters()") == 1 and not code.count("*")
    fix: Sentence | str = "unheld_fix_whole" if whole else "unheld_fix_code" if code else "unheld.fix"
    lists = [] if code else [*layer_lists(case)]
    new = replaced_layer(case, optimizers, names)
    if new is not None:
        values |= {"layer": ast.unparse(new.targets[0]), "line": new.lineno}
        yield case.note("stale_optimizer", "stale_layer", "", (), span_at(case, new), True, **values)
        return
    if len(lists) == 1:
        (found,) = lists
        cause = case.words(found.holder.unheld, name=found.name, line=found.line)
        why = Sentence(f"{case.words(why, **values)} {cause}")
        fix = found.holder.fix if found.fix is None else found.fix.text
    last = next(event for event in reversed(added) if event.tensor in asleep)
    time = case.scene.index.times[id(last)]
    yield case.note("other_parameters", why, fix, (), span, True, time, code=code, **values)


class LayerList(NamedTuple):
    """A Python list (or a dictionary) of layers that is assigned to an attribute `name`, and what to do about
    it."""

    name: str
    part: ast.Assign
    fix: Fix | None
    holder: Holder

    @property
    def line(self) -> int:
        """The line of the assignment."""
        return self.part.lineno


def layer_lists(case: Case) -> Iterator[LayerList]:
    """The Python lists and dictionaries in which a model keeps layers, where a module does not find them."""
    for target, part in assignments(case):
        calls = [each for each in ast.walk(part.value) if isinstance(each, ast.Call)]
        layers = [each for each in calls if is_module(case, last_name(each))]
        holder = next((each for each in HOLDERS if isinstance(part.value, each.trees)), None)
        if target.startswith("self.") and holder and layers:
            path = ast.unparse(layers[0].func).removesuffix(last_name(layers[0])) or "torch.nn."
            code = f"{path}{holder.module}({written_as(case, part.value)})"
            yield LayerList(target, part, replace_part(case, part.value, {part.value: code}), holder)


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
    part = re.fullmatch(r"([A-Za-z_]\w*)\.[\w.]+\.parameters\(\)", opt.parameters)
    if part is not None and modules == [part[1]] == [*bases]:  # of the model only that part was given
        return quote(f"{opt.name} = " + ast.unparse(opt.call).replace(part[0], f"{part[1]}.parameters()", 1))
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


class Flag(NamedTuple):
    """An assignment that was to switch gradients on or off (`wanted`), and switches nothing: of tensors with
    a misspelled `requires_grad`, or of a module. `base` is how the tensors are called."""

    part: ast.Assign
    target: ast.Attribute
    base: str
    wanted: bool

    @property
    def of_module(self) -> bool:
        """Whether it is an attribute of a module that was set."""
        return self.target.attr == "requires_grad"


def idle_flags(case: Case) -> Iterator[Flag]:
    """The assignments that switch no gradients."""
    loops = [loop for loop in case.executed(ast.For) if ast.unparse(loop.iter).endswith("parameters()")]
    inside = [part for loop in loops for part in loop.body if isinstance(part, ast.Assign)]
    for part in dict.fromkeys([*case.executed(ast.Assign), *inside]):
        target, value = part.targets[0], part.value
        if not isinstance(target, ast.Attribute) or not isinstance(value, ast.Constant):
            continue
        base = base_of_tensors(target.value, loops, part)
        named = target.attr != "requires_grad" and MISSPELLED.fullmatch(target.attr)
        module = target.attr == "requires_grad" and is_called_module(case, base)
        if type(value.value) is bool and (named or module):
            yield Flag(part, target, base, value.value)


def misspelled_flag_note(case: Case) -> Iterator[Explanation]:
    """An assignment was to switch gradients, and the recording shows that it switched nothing: the tensor got
    a gradient although it should not, or none is recorded though it should."""
    for flag in idle_flags(case):
        time = ignored_at(case, flag.base, flag.wanted)
        if time:
            why, fix = words_of_flag(case, flag)
            yield case.note("misspelled_flag", why, fix, (), span_at(case, flag.part), True, time)


def words_of_flag(case: Case, flag: Flag) -> tuple[Sentence, Sentence]:
    """What is said of such an assignment, and what to write instead."""
    owner, place = ast.unparse(flag.target.value), span_at(case, flag.part)
    if flag.of_module:
        why = case.words("flag_of_module", place=place)
        code, text = quote(f"{owner}.requires_grad_({flag.wanted})"), ast.unparse(flag.part)
        return why, case.words("constructor_fix", line=flag.part.lineno, code=code, text=text)
    code = quote(f"{owner}.requires_grad = {flag.wanted}")
    why = case.words("misspelled_flag", place=place, name=flag.target.attr)
    return why, case.words("misspelled_flag.fix", code=code)


def is_called_module(case: Case, name: str) -> bool:
    """Whether a name is that of a module that the cell calls."""
    paths = {event.path for event in case.trace.of(ModuleCalled)}
    return any(path == name or path.startswith(f"{name}.") for path in paths)


def base_of_tensors(owner: ast.expr, loops: Sequence[ast.For], part: ast.Assign) -> str:
    """How the tensors are called that an expression stands for: of the variable of a loop over
    `net.parameters()` that is `net`."""
    for loop in loops:
        if part in loop.body and ast.unparse(loop.target) == ast.unparse(owner):
            return re.sub(r"\[(\d+)\]", r".\1", ast.unparse(loop.iter).rpartition(".")[0])
    return ast.unparse(owner)


def is_part_of(name: str, base: str) -> bool:
    """Whether a tensor of that name is what `base` names, or belongs to it."""
    return name == base or name.startswith((f"{base}.", f"{base}["))


def ignored_at(case: Case, base: str, wanted: bool) -> int:
    """The last event that shows the tensors of that name with the other value of `requires_grad`: they got
    gradients, or are leaves of a graph that require none. 0 if none does."""
    named = {*case.scene.index.seen_as.items(), *case.trace.names}
    ids = {id for id, name in named if is_part_of(name, base)}
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
            values: Values = {"place": place, "name": name, "over": ast.unparse(loop.iter)}
            values["code"] = quote(as_in_place_write(case, part, part.value, name))
            yield case.note("loop_update", cause=place, of_cell=True, **values)


# ── targets ─────────────────────────────────────────────────────────────────────────────────────────────────

MEASURES = ("pow", "pow_scalar", "square")
COMPARED = (
    "mse_loss", "l1_loss", "smooth_l1_loss", "huber_loss", "nll_loss", "cross_entropy",
    "binary_cross_entropy",
)  # fmt: skip


def comparisons(case: Case) -> Iterator[tuple[Forward, str, str]]:
    """The losses that compare a prediction with a target, with these two: loss functions, and differences
    that are squared."""
    born = case.scene.index.births
    for event in case.trace.of(Forward):
        measured = event.op in MEASURES and event.read
        source = born.get(event.read[0]) if measured else event
        if not isinstance(source, Forward) or (measured and source.op != "sub") or len(source.read) != 2:
            continue
        if measured or event.op in COMPARED or event.op.startswith("nll_loss"):
            yield event, *source.read


def computed_targets(case: Case) -> Iterator[tuple[Forward, str, set[str]]]:
    """The losses whose target was computed with gradients, with the target, and the leaves that got gradients
    through it in several rounds and otherwise play no part: nothing moves them, nothing reads their
    gradients, and the prediction does not come from them."""
    born, changed = case.scene.index.births, written_tensors(case)
    rounds = Counter(event.tensor for event in case.trace.of(GradAccumulated))
    used = {event.gradient_of for event in case.trace.of(TensorCreated) if event.gradient_of}
    if not changed & rounds.keys():
        return
    for event, prediction, target in comparisons(case):
        if target in rounds or not case.scene.asks(target) or not case.scene.asks(prediction):
            continue
        behind, own = (
            {id for id, _ in upstream(born, [each])} & rounds.keys() for each in (target, prediction)
        )
        idle = all(rounds[id] >= ROUNDS for id in behind) and not behind & (own | changed | used)
        if behind and own and idle:
            yield event, target, behind
