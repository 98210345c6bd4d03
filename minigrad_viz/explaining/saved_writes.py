"""The error about a saved value that was written to before its node ran: what wrote, and what to do."""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any, NamedTuple

from ..model.execution import ModuleCall
from ..model.node_details import tensor_saved_as
from ..model.provenance import op_behind
from ..protocol import op_of
from ..trace.events import Forward, InPlaceWrite, Statement, TensorDetached, of_kinds
from ..trace.graph import CAUSE, Explanation, Mark
from ..trace.source_positions import Span
from .case import Case, Sentence, need, require, rule
from .edits import Shape, constructor, out_of_place, quote, replace_part
from .failed_call import layer_name
from .syntax import node_at, normal_source, statement_around, written_as

# ─── The error about a saved value that was written to


VIEWS = ("t", "transpose", "permute", "view", "expand", "slice", "select", "squeeze", "unsqueeze")


class Write(NamedTuple):
    """An op wrote into the memory of a tensor that was saved, through the tensor `through`."""

    event: InPlaceWrite
    through: str


@rule(
    "saved_modified",
    r"modified by an inplace operation: .*(?P<shape>\[[\d, ]*\])\].* version {now};.* version {then}",
)
def saved_modified(case: Case, shape: Shape, now: int, then: int) -> Explanation | None:
    """A node has to run that saved a tensor which was written to since."""
    found = require(case.started).nodes
    stale = {n.id: [s.name for s in n.saved if s.now == now and s.version == then] for n in found}
    nodes = [node for node, names in stale.items() if names]
    guilty = require(case.guilty or (nodes[0] if len(nodes) == 1 else None))
    need(guilty in nodes)
    tensor = the_saved(case, guilty, stale[guilty], then, shape)
    write = None if tensor is None else first_write(case, guilty, tensor, then, now)
    marks = case.stopped(guilty)
    marks += tuple(mark for name in stale[guilty] for mark in case.chip(guilty, name))
    marks += tensors_of_write(case, tensor, write)
    return write_explanation(case, tensor, write, marks, node=case.titled(guilty), then=then, now=now)


def the_saved(case: Case, node: str, names: list[str], version: int, shape: tuple[int, ...]) -> str | None:
    """The tensor that a node saved under one of `names`: the op says which; else the only one of its inputs
    and outputs with that version and shape."""
    state = case.scene.nodes[node]
    known = {id for name in names if (id := tensor_saved_as(case.scene, state, name)) is not None}
    place = case.scene.by_node.get(node)
    if not known and place is not None:
        near = [*(id for id in place.inputs or () if id is not None), *(s.id for s in place.states)]
        known = {id for id in near if case.scene.at.get(id)}
        known = {id for id in known if (s := case.made(id)) is not None and s.version <= version}
    fits = {id for id in known if (s := case.made(id)) is None or s.value is None or s.value.shape == shape}
    found = sorted((id for id in fits if writes(case, node, id)) if len(fits) > 1 else fits)
    one_memory = bool(found) and sharing(case, found[0]).issuperset(found)
    return found[0] if one_memory else None


def first_write(case: Case, node: str, tensor: str, then: int, now: int) -> Write | None:
    """The op that first wrote into a tensor's memory after `node` saved it; None where that is not known."""
    found = [w for w in writes(case, node, tensor) if then <= w.event.version < now]
    first = [w for w in found if w.event.version == then]
    return first[0] if len(first) == 1 else found[0] if len(found) == 1 and not first else None


def writes(case: Case, node: str, tensor: str) -> list[Write]:
    """The ops that wrote into the memory of a tensor after `node` saved it, in order."""
    place = case.scene.by_node.get(node)
    saved_at = 0 if place is None else place.time
    same = sharing(case, tensor)
    found = []
    born = case.scene.index.births
    for time, event in enumerate(case.before):
        if (
            time > saved_at
            and isinstance(event, InPlaceWrite)
            and event.span is not None
            and event.before in same
        ):
            view = op_behind(born, event.before)
            item = view is not None and bool(view.shares) and view.span == event.span  # `y[0] = 1.`
            found.append(Write(event, view.read[0] if item and view is not None else event.before))
    return found


def statement(case: Case, write: Write) -> Span | None:
    """Where an op wrote: the whole assignment, if the expression is its target."""
    part = write.event.span
    for event in of_kinds(case.before[: case.before.index(write.event)], Statement)[-1:]:
        whole = event.span
        if part is not None and whole.text.startswith(part.text) and whole.line == part.line:
            return whole
    return part


def sharing(case: Case, tensor: str) -> set[str]:
    """The tensors with the same memory and the same version: views, results of `detach()`, and what in-place
    operations made of them."""
    pairs = [pair for event in case.before for pair in pairs_of(event)]
    same, grown = {tensor, *base_tensor(case, tensor)}, True
    while grown:
        more = {id for pair in pairs if same & {*pair} for id in pair}
        grown = not more <= same
        same |= more
    return same


def base_tensor(case: Case, tensor: str) -> list[str]:
    """What a tensor is a view of, if nobody saw the op but its node says so."""
    where = case.scene.at.get(tensor)
    node = None if where is None or where[0].node is None else case.scene.nodes.get(where[0].node)
    if where is None or node is None or where[0].event is not None or op_of(node.name) not in VIEWS:
        return []
    return [state.id for place in case.scene.sources(where[0]) for state in place.states]


def pairs_of(event: object) -> Iterable[tuple[str, str]]:
    """Two tensors that an event left with one memory."""
    match event:
        case TensorDetached(span=Span(text=text)) if text.rstrip().endswith(".data"):
            return ()  # `.data` counts its versions for itself
        case TensorDetached():
            return ((event.source, event.tensor.id),)
        case InPlaceWrite():
            return ((event.before, event.tensor.id),)
        case Forward(shares=shared) if shared:
            return tuple((shared, state.id) for state in event.outputs)
    return ()


def write_explanation(
    case: Case, tensor: str | None, write: Write | None, marks: tuple[Mark, ...], **values: Any
) -> Explanation:
    """The explanation, as far as the tensor and what wrote to it are known."""
    if tensor is None:
        return case.explain("saved_modified_why_unknown", "saved_modified_fix_unknown", marks, **values)
    values["name"] = case.name(tensor)
    item = None if write is None else item_written(case, write)
    values["written"] = item or case.plain(tensor if write is None else write.through)
    written = str(values["written"])
    fix = "saved_modified_fix_copy" if item or written.isidentifier() else "saved_modified_fix_unknown"
    if write is None:
        return case.explain("saved_modified_why_unseen", fix, marks, **values)
    span = write.event.span
    values |= {"writer": statement(case, write), "through": case.name(write.through), "second": case.span}
    layer = layer_that_wrote(case, write)
    if write.event.op == "step":
        why = case.words("saved_modified_why", **values)
        fix = "saved_modified_fix_again" if call_before_step(case, span) else "saved_modified_fix_step"
        return case.explain(why, fix, marks, span, **values)
    if layer is not None:
        values["layer"] = layer_name(layer)
        why = case.words("saved_modified_why_layer", **values)
        return case.explain(why, without_inplace(case, layer), marks, span, **values)
    other = write.through not in (tensor, *in_place_results(case, tensor))
    why = case.words("saved_modified_why_through" if other else "saved_modified_why", **values)
    state, index = case.state(write.through), case.scene.index
    off = not index.switched("grad", index.times[id(write.event)], first=True)
    if state is not None and state.is_leaf and state.requires_grad and off:
        values["name"] = values["through"]
        return case.explain(why, "saved_modified_fix_update", marks, span, **values)
    own = own_read(case, span)
    if own is not None:
        return case.explain(why, "saved_modified_fix_read", marks, span, new=own, **values)
    born = case.scene.index.births.get(tensor)
    base, line = getattr(born, "name", None) or "", line_of_view(case, tensor, write)
    if other and base.isidentifier() and line is not None and is_read_after(case, tensor, base, write):
        code = f"{base} = {base}.clone()"
        told = case.words("saved_modified_fix_base", base=base, line=line, code=code)
        return case.explain(why, told, marks, span, **values)
    new = without_option(case, span) or out_of_place(case, span, str(values["written"]))
    fix = fix if new is None else "saved_modified_fix"
    return case.explain(why, fix, marks, span, new=new, **values)


def item_written(case: Case, write: Write) -> str | None:
    """The item of a list, or of a dictionary, that is the tensor to which a statement writes: `hs[1]` of
    `hs[1] += 1`. None where that is a part of a tensor, or no item."""
    tree, born = statement_around(case, write.event.span), case.scene.index.births
    target: ast.AST | None = None
    match tree:
        case ast.AugAssign(target=target):
            pass
        case ast.Assign(targets=[ast.Subscript(value=target)]):
            pass
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=target))):
            pass
    if not isinstance(target, ast.Subscript):
        return None
    text, tensor = ast.unparse(target), write.event.before
    while isinstance(made := born.get(tensor), Forward) and made.shares:
        if made.span is not None and normal_source(made.span.text) == text:
            return None
        tensor = made.shares
    return text


def line_of_view(case: Case, tensor: str, write: Write) -> int | None:
    """The line with the first view of a tensor on the way to what was written to; the write's, unless it has
    a line of its own."""
    line, view = case.line(write.event.span), write.through
    while view != tensor:
        born = case.scene.index.births.get(view)
        if not isinstance(born, Forward) or not born.shares:
            break
        line, view = case.line(born.span) or line, born.shares
    return line


def is_read_after(case: Case, tensor: str, name: str, write: Write) -> bool:
    """Whether the memory of a tensor, called `name`, was read otherwise after it was written to through a
    view."""
    same, own = sharing(case, tensor), in_place_results(case, write.through)
    later = case.before[case.scene.index.times[id(write.event)] + 1 :]
    read = {each for event in of_kinds(later, Forward) for each in event.read} - own
    return bool(same & read) or any(case.plain(each) == name for each in read)  # in a cell of its own


def call_before_step(case: Case, step: Span | None) -> bool:
    """Whether the failing call is above the step, as in a loop whose earlier iteration took it."""
    lines = case.line(step), case.line(case.span)
    return None not in lines and lines[1] <= lines[0]  # type: ignore[operator]


def layer_that_wrote(case: Case, write: Write) -> ModuleCall | None:
    """The layer of the library inside which an op wrote, as `ReLU(inplace=True)` does."""
    call = case.scene.index.module_calls.at(case.scene.index.times[id(write.event)])
    return call if call is not None and call.event.span == write.event.span else None


def without_inplace(case: Case, layer: ModuleCall) -> Sentence:
    """What to do: create the layer with `inplace=False`, as code where the call that created it is known."""
    made = constructor(case, layer.event.kind, layer.event.path, ())
    options = [] if made is None else [each for each in made.call.keywords if each.arg == "inplace"]
    if made is not None and options:
        fix = replace_part(case, made.call, {options[0].value: "False"})
        if fix is not None:
            return fix.text
    return case.words("saved_modified_fix_layer", layer=layer_name(layer))


def without_option(case: Case, span: Span | None) -> str | None:
    """The statement without `inplace=True` in the call at a place; None for any other."""
    call, around = node_at(case, span), statement_around(case, span)
    if not isinstance(call, ast.Call) or around is None:
        return None
    kept = [each for each in call.keywords if each.arg != "inplace"]
    if len(kept) == len(call.keywords):
        return None
    text, whole = written_as(case, call), written_as(case, around)
    new = ast.unparse(ast.Call(call.func, call.args, kept))
    if isinstance(around, ast.Expr) and around.value is call and call.args:
        return quote(f"{ast.unparse(call.args[0])} = {new}")
    return quote(whole.replace(text, new, 1))


def own_read(case: Case, span: Span | None) -> str | None:
    """An assignment to a part of a tensor whose value is computed from other parts of it, which the graph
    saves: with copies of these, `h[i] = h[i - 1].clone() * w`. None for any other statement."""
    tree = statement_around(case, span)
    if not isinstance(tree, ast.Assign) or not isinstance(tree.targets[0], ast.Subscript):
        return None
    name = ast.unparse(tree.targets[0].value)
    value = ast.parse(ast.unparse(tree.value), mode="eval").body
    changed = PartCloner(name).visit(value)
    if ast.unparse(changed) == ast.unparse(tree.value):
        return None
    return quote(f"{ast.unparse(tree.targets[0])} = {ast.unparse(changed)}")


class PartCloner(ast.NodeTransformer):
    """Copies the parts of a variable before they are used."""

    def __init__(self, name: str) -> None:
        self.name = name

    def visit_Subscript(self, node: ast.Subscript) -> ast.AST:
        """`h[i].clone()` for `h[i]`."""
        if ast.unparse(node.value) != self.name:
            return self.generic_visit(node)
        return ast.Call(ast.Attribute(node, "clone"), [], [])


def in_place_results(case: Case, tensor: str) -> set[str]:
    """What ops in place made of a tensor: the same variable with a new history."""
    found = {tensor}
    for event in case.earlier(InPlaceWrite):
        if event.before in found:
            found.add(event.tensor.id)
    return found


def tensors_of_write(case: Case, tensor: str | None, write: Write | None) -> tuple[Mark, ...]:
    """The tensor that was written to, and the one through which that was done."""
    if tensor is None:
        return ()
    label = case.words("mark_changed", line="" if write is None else case.line(write.event.span) or "")
    marks = case.card(tensor, CAUSE, label)
    if write is not None and write.event.tensor.id != tensor:
        marks += case.card(write.event.tensor.id, CAUSE, label)
    return marks
