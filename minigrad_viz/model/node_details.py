"""What a trace says about a node: its edges, the values that it saved, its source, its hooks.

Note [Which hooks are gone]
    A handle is not a tensor, so `handle.remove()` is not reported. What is known: the statement at the top
    level says so, on a variable to which an earlier one gave the handle. And a hook that ran with a node in
    an earlier call, but not in this one although the node ran and its tensor is still a variable, was removed
    meanwhile, perhaps by itself. Nothing else is believed.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from typing import Any, NamedTuple

from minigrad.observing import all_ops

from ..protocol import Value, op_of
from ..trace.events import Forward, NodeState, Statement
from ..trace.graph import Code, Hook, SavedChip
from ..trace.source_positions import Span
from ..trace.statements import evaluated_parts, parse_source
from .stations import Edge, Lookup, Place

# ─── What a trace tells of a node


def match(found: Lookup, given: list[str | None], edges: Sequence[Edge | None]) -> list[str | None]:
    """The op's input tensors, one per entry of `next_functions` and then the others.

    An op's arguments and its edges agree in order, but an argument without gradient may have no edge
    (`where`'s condition): an edge takes the next argument that leads to it. An argument that needs a
    gradient and has no edge here has one further back, inside an op that is made of several.
    """
    if not edges:
        return given
    result: list[str | None] = []
    rest = list(given)
    for n, edge in enumerate(edges):
        if edge is None:
            left = sum(e is not None for e in edges[n + 1 :])
            result.append(rest.pop(0) if len(rest) > left else None)
            continue
        k = next((k for k, id in enumerate(rest) if id is not None and leads(found, id, edge)), None)
        result.append(found.tensor_of(edge) if k is None else rest.pop(k))
    return result + [id for id in rest if id is None or not found.asks(id)]


def leads(found: Lookup, id: str, edge: Edge) -> bool:
    """Whether tensor `id` is what `edge` sends its gradient to."""
    if id not in found.at:
        return False
    place, i = found.at[id]
    if place.node is not None:
        return (place.node, i) == edge
    return found.nodes[edge[0]].variable == id if edge[0] in found.nodes else edge[0] == f"a{id}"


def node_of(found: Lookup, place: Place, users: Container[str]) -> NodeState | None:
    """The node below a station: the one that made it, or a leaf's AccumulateGrad."""
    state = place.states[0]
    if state.node is not None:
        known = found.nodes.get(state.node)
        return known or NodeState(state.node, state.grad_fn or "", (), guess(found, place), None, 0)
    known = found.nodes.get(found.accumulators.get(state.id, ""))
    if known is None and state.id in users:
        return NodeState(f"a{state.id}", "AccumulateGrad", (), (), state.id, 0)
    return known


def guess(found: Lookup, place: Place) -> tuple[Edge | None, ...]:
    """The edges of a node that was never looked at: to the tensors that the op was given."""
    edges: list[Edge | None] = []
    for id in place.inputs or ():
        if id is not None and found.asks(id):
            source, i = found.at[id]
            edges.append((source.node or f"a{id}", i))
        elif id is not None:
            edges.append(None)
    return tuple(edges)


TENSOR, NUMBER = "tensor", "number"


def code_of(node: NodeState) -> tuple[Code, ...]:
    """The methods of a custom Function as written in the source, `backward` last."""
    methods = [*node.methods, *([("backward", node.code)] if node.code is not None else [])]
    function = node.name.rstrip("0123456789").removesuffix("Backward")
    return tuple(
        Code(f"{function}.{name}", dedent_span(span), 0 if span.origin else span.line)
        for name, span in methods
    )


def dedent_span(span: Span) -> str:
    """The text of a span whose first line begins at its column, the others at the margin."""
    first, *others = span.text.split("\n")
    cut = (line[span.column :] if not line[: span.column].strip() else line.lstrip() for line in others)
    return "\n".join([first, *cut]).rstrip()


def kinds_of(node: NodeState, event: Forward | None) -> tuple[str, ...]:
    """Of each argument of the op that made a node, in the order of the expression, whether it was a tensor or
    a number; empty where one was neither, and where the op is made of several."""
    if event is None or len(event.outputs) != 1:
        return ()
    called, made = event.op.replace("_", ""), op_of(node.name)
    if not called.startswith((made, f"r{made}")):
        return ()
    kinds = [
        TENSOR if id is not None else NUMBER if is_number(said) else ""
        for id, said in zip(event.inputs, event.arguments, strict=True)
    ]
    if "" in kinds or "…" in event.inputs:
        return ()
    turned = called in ("rpow", "rsub", "rdiv")  # 2 ** x is recorded as x's method with the argument 2
    return tuple(reversed(kinds) if turned else kinds)


def is_number(said: str | None) -> bool:
    """Whether an argument's text is that of a number; True and False are none."""
    try:
        complex(said or "")
    except ValueError:
        return False
    return True


def tensor_saved_as(found: Lookup, node: NodeState, name: str) -> str | None:
    """The tensor that the node of an op saved as `name`; None where that is not certain."""
    place = found.by_node.get(node.id)
    if name == "result":
        return place.states[0].id if place is not None and len(place.states) == 1 else None
    op = all_ops().get(node.name) or all_ops().get(node.name + "0")
    if op is None or node.code is not None or name not in op.inputs or len(node.edges) != len(op.inputs):
        return None
    given = [] if place is None else list(place.inputs or ())  # of a call that may be made of several ops
    return match(found, given, node.edges)[op.inputs.index(name)]


def as_saved(
    found: Lookup, index: Lookup, node: NodeState, saved: tuple[SavedChip, ...]
) -> tuple[SavedChip, ...]:
    """What a node of `found` saved, with the values that were there before their memory was written to; those
    `index` has, which is of the whole trace."""
    if all(s.now is None or s.value is not None for s in saved):
        return saved
    known = {s.name: tensor_saved_as(found, node, s.name) for s in saved if s.now is not None}
    values = {name: value_at(index, id, version_of(saved, name)) for name, id in known.items() if id}
    values |= {s.name: of_function(found, index, node, s) for s in saved if s.name.startswith("saved[")}
    return tuple(s._replace(value=s.value or values.get(s.name)) for s in saved)


def of_function(found: Lookup, index: Lookup, node: NodeState, saved: SavedChip) -> Value | None:
    """What a custom Function saved before its memory was written to: what the only one of its inputs and
    outputs was then that has come from the one version to the other."""
    place = found.by_node.get(node.id)
    if place is None or saved.now is None:
        return None
    near = dict.fromkeys([*(id for id in place.inputs or () if id), *(state.id for state in place.states)])
    fits = [id for id in near if may_have_version(index, id, saved)]
    return value_at(index, fits[0], saved.version) if len(fits) == 1 else None


def may_have_version(index: Lookup, tensor: str, saved: SavedChip) -> bool:
    """Whether a tensor, or what a write in place made of it, may be at the version of a stale value."""
    if tensor not in index.at or value_at(index, tensor, saved.version) is None:
        return False
    later = [state.version for _, state in index.moments.of[tensor][1:]]
    born = [place.states[0].version for place in index.places if place.inputs and tensor in place.inputs[:1]]
    return saved.now in (*later, *born)


def version_of(saved: tuple[SavedChip, ...], name: str) -> int | None:
    """The version at which a value was saved."""
    return next(s.version for s in saved if s.name == name)


def value_at(index: Lookup, tensor: str, version: int | None) -> Value | None:
    """What a tensor was when its version was `version`; None if nobody looked then."""
    stood = index.moments.of.get(tensor, ())
    return next((state.value for _, state in stood if state.version == version), None)


def unpack_saved(node: NodeState, packed: Mapping[tuple[str, str], tuple[Value | None, str]]) -> NodeState:
    """A node with the recorded values of the saved tensors that hooks packed."""
    if not any((node.id, s.name) in packed for s in node.saved):
        return node
    saved = []
    for s in node.saved:
        value, kept = packed.get((node.id, s.name), (s.value, s.packed))
        saved.append(s._replace(value=s.value if value is None else value, packed=kept))
    return node._replace(saved=tuple(saved))


def remember(node: NodeState, before: NodeState | None) -> NodeState:
    """A node as a later call finds it, with the values that an earlier call saw before they were freed or
    changed."""
    if before is None:
        return node
    known = {s.name: s.value for s in before.saved}
    saved = tuple(
        s._replace(value=known.get(s.name)) if s.freed or s.now is not None else s for s in node.saved
    )
    return node._replace(saved=saved)


# ─── Which hooks a cell registered, and which of them are gone


HOOK_KINDS = {
    "register_hook": "tensor",
    "register_post_accumulate_grad_hook": "post_accumulate",
    "register_prehook": "pre",
}


class Handling(NamedTuple):
    """What a statement does with hooks: one of `kind` is registered on the `variable` or its `grad_fn`, and
    the handle goes to the variable `handle`; or, without a kind, the hook of that handle is removed, or
    (`other`) something else is assigned to that variable."""

    handle: str
    kind: str = ""
    variable: str = ""
    name: str = ""
    other: bool = False


class HookRegistration(NamedTuple):
    """A hook that the cell registered on a tensor, when it was registered, and removed (None: it was not)."""

    tensor: str
    kind: str
    name: str
    since: int
    until: int | None = None


@functools.lru_cache(maxsize=256)
def hook_statement(statement: str) -> tuple[Handling, ...]:
    """What a statement with this text does with hooks, and with the variables to which it assigns."""
    tree = parse_source(statement)
    return () if tree is None else tuple(found for part in tree.body for found in _handle_of(part))


def _handle_of(part: ast.stmt) -> Iterator[Handling]:
    targets = part.targets if isinstance(part, ast.Assign) else []
    names = [name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)]
    yield from (Handling(name, other=True) for name in names)
    whole = getattr(part, "value", None)
    for call in (node for node in evaluated_parts(part) if isinstance(node, ast.Call)):
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        if call is whole and isinstance(holder, ast.Name) and ast.unparse(call) == f"{holder.id}.remove()":
            yield Handling(holder.id)
        alone = call is whole and len(targets) == len(names) == 1
        yield from _registration(call, names[0] if alone else "")


def _registration(call: ast.Call, handle: str) -> Iterator[Handling]:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in HOOK_KINDS:
        return
    holder, on_node = func.value, False
    if isinstance(holder, ast.Attribute) and holder.attr == "grad_fn":
        holder, on_node = holder.value, True
    if isinstance(holder, ast.Name):
        hook = call.args[0] if call.args else None
        name = hook.id if isinstance(hook, ast.Name) else "<lambda>" if isinstance(hook, ast.Lambda) else ""
        kind = "post" if on_node and func.attr == "register_hook" else HOOK_KINDS[func.attr]
        yield Handling(handle, kind, holder.id, name)


def hook_registrations(
    events: Iterable[Any], variable: Callable[[str, int], str | None]
) -> list[HookRegistration]:
    """The hooks that the cell's statements registered, in order; `variable` gives the tensor that a variable
    was at a time."""
    held: dict[str, int] = {}  # variable -> the hook whose handle it is
    found: list[HookRegistration] = []
    for time, event in enumerate(events):
        if isinstance(event, Statement):
            said = event.span.text
            about = "register_" in said or any(handle in said for handle in held)
            for told in hook_statement(said) if about else ():
                tensor = variable(told.variable, time) if told.kind else None
                if tensor is not None:
                    if told.handle:
                        held[told.handle] = len(found)
                    found.append(HookRegistration(tensor, told.kind, told.name, time))
                elif (told.other or told.kind) and told.handle in held:
                    del held[told.handle]
                elif not told.kind and told.handle in held and found[held[told.handle]].until is None:
                    found[held[told.handle]] = found[held[told.handle]]._replace(until=time)
    return found


def removed_hooks(
    known: Iterable[HookRegistration], before: Iterable[Any], now: Any, node_of: Callable[[str], str | None]
) -> dict[str, list[Hook]]:
    """The hooks of each node that were removed before the call `now`; `known` are those registered, `before`
    the earlier calls, and `node_of` gives the node at which a tensor's gradient arrives."""
    found: dict[str, Counter[tuple[str, str]]] = {}
    for hook in known:
        node = node_of(hook.tensor)
        if node is not None and hook.until is not None and hook.until < now.begin:
            found.setdefault(node, Counter())[hook.kind, hook.name] += 1
    arrived = {node for node, _ in now.arrived} & now.ran.keys()
    seen = {node for id in now.named if (node := node_of(id)) in arrived}
    for node, hooks in ((node, hooks) for call in before for node, hooks in call.hooks.items()):
        if node in seen:
            missing = Counter((hook.kind, hook.name) for hook in hooks if hook.name)
            missing.subtract((hook.kind, hook.name) for hook in now.hooks.get(node, ()))
            found[node] = Counter(found.get(node, Counter()) | +missing)
    return {
        node: [Hook(kind, name, (), (), removed=True) for kind, name in sorted(hooks.elements())]
        for node, hooks in found.items()
    }
