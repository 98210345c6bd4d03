"""Which hooks a cell registered, and which of them are gone: from its statements, and from what ran.

Note [Which hooks are gone]
    A handle is no tensor, so nobody tells of `handle.remove()`. What is known: the statement at the top level
    says so, on a variable to which an earlier one gave the handle. And a hook that ran with a node in an
    earlier call, but not in this one although the node ran and its tensor is still a variable, was removed
    meanwhile, maybe by itself. Nothing else is believed.
"""

from __future__ import annotations

import ast
import functools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any, NamedTuple

from ..trace.events import Statement
from ..trace.graph import Hook
from ..trace.statements import evaluated, parsed

KINDS = {
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


class Registered(NamedTuple):
    """A hook that the cell registered on a tensor, when it was registered, and removed (None: it was not)."""

    tensor: str
    kind: str
    name: str
    since: int
    until: int | None = None


@functools.lru_cache(maxsize=256)
def handling(statement: str) -> tuple[Handling, ...]:
    """What a statement with this text does with hooks, and with the variables to which it assigns."""
    tree = parsed(statement)
    return () if tree is None else tuple(found for part in tree.body for found in _of(part))


def _of(part: ast.stmt) -> Iterator[Handling]:
    targets = part.targets if isinstance(part, ast.Assign) else []
    names = [name.id for t in targets for name in ast.walk(t) if isinstance(name, ast.Name)]
    yield from (Handling(name, other=True) for name in names)
    whole = getattr(part, "value", None)
    for call in (node for node in evaluated(part) if isinstance(node, ast.Call)):
        holder = call.func.value if isinstance(call.func, ast.Attribute) else None
        if call is whole and isinstance(holder, ast.Name) and ast.unparse(call) == f"{holder.id}.remove()":
            yield Handling(holder.id)
        alone = call is whole and len(targets) == len(names) == 1
        yield from _registered(call, names[0] if alone else "")


def _registered(call: ast.Call, handle: str) -> Iterator[Handling]:
    func = call.func
    if not isinstance(func, ast.Attribute) or func.attr not in KINDS:
        return
    holder, on_node = func.value, False
    if isinstance(holder, ast.Attribute) and holder.attr == "grad_fn":
        holder, on_node = holder.value, True
    if isinstance(holder, ast.Name):
        hook = call.args[0] if call.args else None
        name = hook.id if isinstance(hook, ast.Name) else "<lambda>" if isinstance(hook, ast.Lambda) else ""
        kind = "post" if on_node and func.attr == "register_hook" else KINDS[func.attr]
        yield Handling(handle, kind, holder.id, name)


def registered(events: Iterable[Any], variable: Callable[[str, int], str | None]) -> list[Registered]:
    """The hooks that the cell's statements registered, in order; `variable` gives the tensor that a variable
    was at a time."""
    held: dict[str, int] = {}  # variable -> the hook whose handle it is
    found: list[Registered] = []
    for time, event in enumerate(events):
        if isinstance(event, Statement):
            said = event.span.text
            about = "register_" in said or any(handle in said for handle in held)
            for told in handling(said) if about else ():
                tensor = variable(told.variable, time) if told.kind else None
                if tensor is not None:
                    if told.handle:
                        held[told.handle] = len(found)
                    found.append(Registered(tensor, told.kind, told.name, time))
                elif (told.other or told.kind) and told.handle in held:
                    del held[told.handle]
                elif not told.kind and told.handle in held and found[held[told.handle]].until is None:
                    found[held[told.handle]] = found[held[told.handle]]._replace(until=time)
    return found


def gone(
    known: Iterable[Registered], before: Iterable[Any], now: Any, node_of: Callable[[str], str | None]
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
