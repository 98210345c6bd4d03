"""The names of tensors and derivatives.

Note [Names of gradients]
    ∂z/∂x is said only where it is one: backward started at one named tensor of one element, with 1, and no
    hook changed a gradient on the way. Elsewhere, and for arrays, a gradient is called by its tensor with a
    bar: x̄. The gradient of a gradient is ∂²z/∂x².
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..flow.backward_pass import flow_of, recorded_value, vjp_argument
from ..flow.symbols import NAME, NUMBER, Symbol, Unwritable, of_op
from ..model.naming import with_subscripts
from ..model.scene import Scene
from ..words import clean
from .formula_tree import (
    NUMBER as DIGITS,
)
from .formula_tree import (
    RAISED,
    SUPERSCRIPTS,
    Formula,
    brackets,
    fraction,
    plain_variant,
    row,
    sign,
)
from .typeset import UNNAMED, Typesetter, bracket_name, name_formula

# ─── What tensors and derivatives are called


def is_seed(scene: Scene, tensor: str) -> bool:
    """Whether a tensor is the gradient that a backward call began with, ∂z/∂z: a formula has its number."""
    call, target = scene.gradient_of.get(tensor, (0, ""))
    return call > 0 and scene.of.get(call) == target


LONGEST = 24  # columns of an unnamed tensor's expression in a formula
COPIES = ("copy", "clone", "copybackwards")


def root_tensor(scene: Scene, call: int, node: str | None = None) -> str | None:
    """The tensor that the gradients which reach a node (or all of a call) are derivatives of; None where they
    are not derivatives of one named number."""
    flow, root, known = flow_of(scene), scene.of.get(call, ""), scene.index.calls.get(call)
    started = None if known is None else known.started
    tainted = (call, node) in flow.tainted if node else any(c == call for c, _ in flow.tainted)
    if not root or started is None or tainted or tensor_label(scene, root) == UNNAMED:
        return None
    value, given = recorded_value(scene, root), started.gradients[0]
    if value is None or value.size != 1 or not (given is None or given.items in ((1.0,), (1,))):
        return None
    return root


def tensor_label(scene: Scene, tensor: str | None) -> str:
    """A tensor's name or letter; without one what made it, if that is short; else `…`. Where several tensors
    were made by one expression (`net(x)`) they are numbered: `net(x)₁`."""
    if tensor is None or tensor not in scene.at:
        return UNNAMED
    known: dict[str, str] = scene.derived.setdefault("labels", {})
    if not known:
        used = {id for place in scene.shown for id in place.inputs or ()}
        made = [
            s.id
            for place in scene.shown
            for i, s in enumerate(place.states)
            if not i or s.id in used or s.id in scene.named  # and not what an op computed for itself
        ]
        told = {id: clean(name_before_numbering(scene, id)) for id in made}
        count = Counter(name for name in told.values() if name != UNNAMED)
        shared = {id: name for id, name in told.items() if count[name] > 1}
        for id, name in told.items():
            own = inner_op_text(scene, id) if id in shared else None
            known[id] = own or name
        known.update(with_subscripts({id: bracket_name(known[id]) for id in shared if known[id] != UNNAMED}))
    if tensor not in known:
        known[tensor] = clean(name_before_numbering(scene, tensor))
    return known[tensor]


def inner_op_text(scene: Scene, tensor: str) -> str | None:
    """How an op that has no place of its own (inside `net(x)`) is written: `t(net.0.weight)`; None if that
    is long, or refers to others like it."""
    place, _ = scene.at[tensor]
    sources = [id for id in place.inputs or () if id is not None]
    if place.event is None or len(place.states) > 1 or any(id not in scene.named for id in sources):
        return None
    written = clean(scene.expression(place) or "")
    return written if 0 < len(written) <= LONGEST else None


def name_before_numbering(scene: Scene, tensor: str) -> str:
    """A tensor's name or what made it, before those that share one are numbered."""
    if tensor in scene.named:
        return scene.named[tensor]
    if tensor in scene.letters:
        return scene.letters[tensor]
    place, _ = scene.at[tensor]
    tree = formula(scene, tensor, 6)
    expr = Typesetter().formula(tree).plain if tree is not None else place.expr or scene.expression(place)
    expr = (expr or UNNAMED).replace(" · ", " ")  # `fc1 · addmm`, which is no product
    return expr if len(expr) <= LONGEST else UNNAMED


def formula(scene: Scene, tensor: str, depth: int) -> Symbol | None:
    """What an op inside backward computed, as a formula: `3x²`; None where it cannot be written."""
    place, i = scene.at[tensor]
    event, value = place.event, place.states[i].value
    if is_seed(scene, tensor) and value is not None and value.items == (1.0,):
        return Symbol(NUMBER, value=1)
    if tensor in scene.named:
        return Symbol(NAME, shape=(), text=scene.named[tensor])
    if place.inputs is None and value is not None and value.size == 1 and value.items:
        return Symbol(NUMBER, value=value.items[0])
    if event is None or not event.call or not depth:
        return None
    parts: list[Any] = []
    for id, told in zip(event.inputs, event.arguments, strict=True):
        part = vjp_argument(told) if id is None else formula(scene, id, depth - 1) if id in scene.at else None
        if part is None or isinstance(part, str):
            return None
        parts.append(part)
    try:
        return of_op(event.op if event.op != "pow" else "pow_scalar", None, tuple(parts))
    except (Unwritable, TypeError, IndexError, ValueError, AttributeError):
        return None


def derivative_variables(scene: Scene, root: str) -> tuple[str, list[str]]:
    """The tensor whose derivative a root is, and the tensors that it was differentiated with respect to.

    This is ("z", ["x"]) for the gradient of z with respect to x that `create_graph` made, and (root, []) for
    any other root."""
    place, _ = scene.at[root]
    event = place.event
    if root not in scene.gradient_of and event is not None and event.op in COPIES:
        inputs = [id for id in event.inputs if id is not None]
        if inputs and event.call and inputs[-1] in scene.gradient_of:
            root = inputs[-1]
    if root not in scene.gradient_of:
        return tensor_label(scene, root), []
    call, target = scene.gradient_of[root]
    first = root_tensor(scene, call)
    if first is None or first == root:
        return tensor_label(scene, root), []
    base, before = derivative_variables(scene, first)
    return base, [*before, tensor_label(scene, target)]


def derivative(scene: Scene, root: str, tensor: str | None, mark: str = "") -> Formula:
    """∂root/∂tensor; ∂²z/∂x² where the root is itself a gradient, and the tensor is none of its own graph.
    `mark` follows the tensor's name (`yᵢ`)."""
    name = tensor_label(scene, tensor) + mark
    base, by = derivative_variables(scene, root)
    place = scene.at[tensor][0] if tensor in scene.at else None
    if by and name == gradient_label(base, by):
        return quotient(tensor_label(scene, root), name)
    if by and (tensor in scene.gradient_of or (place and place.event and place.event.call)):
        return quotient(gradient_label(base, by), name)
    by = [name, *reversed(by)]
    order, below = len(by), list[Formula]()
    while by:
        n = next((i for i, other in enumerate(by) if other != by[0]), len(by))
        below += [differential(by[0]), *order_mark(n)]
        by = by[n:]
    return fraction(row(sign("∂"), *order_mark(order), tight_name(base)), row(*below))


def is_root(scene: Scene, root: str, tensor: str | None) -> bool:
    """Whether a tensor is the root itself, or the gradient that the root is a copy of."""
    base, by = derivative_variables(scene, root)
    return tensor in scene.now.roots or bool(by and tensor_label(scene, tensor) == gradient_label(base, by))


def gradient_label(base: str, by: list[str]) -> str:
    """`∂z/∂x`, as what is derived once more; the root itself where that is not a first derivative."""
    return (
        f"∂{bracket_name(base)}/∂{bracket_name(by[0])}"
        if len(by) == 1
        else f"∂{superscript(len(by))}{bracket_name(base)}/…"
    )


def quotient(made: str, source: str) -> Formula:
    """∂made/∂source."""
    return fraction(differential(made), differential(source))


def differential(name: str) -> Formula:
    """`∂x`."""
    return row(sign("∂"), tight_name(name))


def tight_name(name: str) -> Formula:
    """A tensor's name as part of ∂…/∂…."""
    return name_formula(name) if bracket_name(name) == name else brackets(name_formula(name))


def order_mark(n: int) -> list[Formula]:
    """The order of a derivative where it is more than 1."""
    return [plain_variant(superscript(n), Formula(RAISED, "", (Formula(DIGITS, str(n)),)))] if n > 1 else []


def superscript(n: int) -> str:
    """`²` for 2, nothing for 1."""
    return str(n).translate(SUPERSCRIPTS) if n > 1 else ""
