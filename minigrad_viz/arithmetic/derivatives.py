"""What tensors and derivatives are called.

Note [Names of gradients]
    ∂z/∂x is said only where it is one: backward started at one named tensor of one element, with 1, and no
    hook changed a gradient on the way. Elsewhere, and for arrays, a gradient is called by its tensor with a
    bar: x̄. The gradient of a gradient is ∂²z/∂x².
"""

from __future__ import annotations

from collections import Counter
from typing import Any

from ..model.naming import numbered
from ..model.scene import Scene
from ..words import clean
from .flow import flow_of, is_seed, raw, value_of
from .glyphs import UNNAMED, Both, held, latex_name
from .symbol_ops import of_op
from .symbols import NAME, NUMBER, Symbol, Unwritable
from .typeset import SUPERSCRIPTS, Typesetter

LONGEST = 24  # columns of an unnamed tensor's expression in a formula
COPIES = ("copy", "clone", "copybackwards")


def root_of(scene: Scene, call: int, node: str | None = None) -> str | None:
    """The tensor that the gradients which reach a node (or all of a call) are derivatives of; None where they
    are not derivatives of one named number."""
    flow, root, known = flow_of(scene), scene.of.get(call, ""), scene.index.calls.get(call)
    started = None if known is None else known.started
    tainted = (call, node) in flow.tainted if node else any(c == call for c, _ in flow.tainted)
    if not root or started is None or tainted or label(scene, root) == UNNAMED:
        return None
    value, given = value_of(scene, root), started.gradients[0]
    if value is None or value.size != 1 or not (given is None or given.items in ((1.0,), (1,))):
        return None
    return root


def label(scene: Scene, tensor: str | None) -> str:
    """A tensor's name or letter; without one what made it, if that is short; else `…`. Where several tensors
    were made by one expression (`net(x)`) they are numbered: `net(x)₁`."""
    if tensor is None or tensor not in scene.at:
        return UNNAMED
    known = flow_of(scene).labels
    if not known:
        made = [s.id for place in scene.shown for s in place.states]
        told = {id: clean(found(scene, id)) for id in made}
        count = Counter(name for name in told.values() if name != UNNAMED)
        shared = {id: name for id, name in told.items() if count[name] > 1}
        for id, name in told.items():
            own = inner(scene, id) if id in shared else None
            known[id] = own or name
        known.update(numbered({id: held(known[id]) for id in shared if known[id] != UNNAMED}))
    if tensor not in known:
        known[tensor] = clean(found(scene, tensor))
    return known[tensor]


def inner(scene: Scene, tensor: str) -> str | None:
    """How an op that stands nowhere by itself (inside `net(x)`) is written: `t(net.0.weight)`; None if that
    is long, or refers to others like it."""
    place, _ = scene.at[tensor]
    sources = [id for id in place.inputs or () if id is not None]
    if place.event is None or len(place.states) > 1 or any(id not in scene.named for id in sources):
        return None
    written = clean(scene.expression(place) or "")
    return written if 0 < len(written) <= LONGEST else None


def found(scene: Scene, tensor: str) -> str:
    """A tensor's name or what made it, before those that share one are numbered."""
    if tensor in scene.named:
        return scene.named[tensor]
    if tensor in scene.letters:
        return scene.letters[tensor]
    place, _ = scene.at[tensor]
    tree = formula(scene, tensor, 6)
    expr = Typesetter().text(tree) if tree is not None else place.expr or scene.expression(place)
    expr = expr or UNNAMED
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
        part = raw(told) if id is None else formula(scene, id, depth - 1) if id in scene.at else None
        if part is None or isinstance(part, str):
            return None
        parts.append(part)
    try:
        return of_op(event.op if event.op != "pow" else "pow_scalar", None, tuple(parts))
    except (Unwritable, TypeError, IndexError, ValueError, AttributeError):
        return None


def variables(scene: Scene, root: str) -> tuple[str, list[str]]:
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
        return label(scene, root), []
    call, target = scene.gradient_of[root]
    first = root_of(scene, call)
    if first is None or first == root:
        return label(scene, root), []
    base, before = variables(scene, first)
    return base, [*before, label(scene, target)]


def derivative(scene: Scene, root: str, tensor: str | None, mark: str = "") -> Both:
    """∂root/∂tensor; ∂²z/∂x² where the root is itself a gradient, and the tensor is none of its own graph.
    `mark` follows the tensor's name (`yᵢ`)."""
    name = label(scene, tensor) + mark
    base, by = variables(scene, root)
    place = scene.at[tensor][0] if tensor in scene.at else None
    if by and name == gradient_label(base, by):
        return quotient(label(scene, root), name)
    if by and (tensor in scene.gradient_of or (place and place.event and place.event.call)):
        return quotient(gradient_label(base, by), name)
    by = [name, *reversed(by)]
    order, below = len(by), list[Both]()
    while by:
        n = next((i for i, other in enumerate(by) if other != by[0]), len(by))
        power = f"^{{{n}}}" if n > 1 else ""
        below.append(Both(f"∂{held(by[0])}{superscript(n)}", rf"\partial {latex_held(by[0])}{power}"))
        by = by[n:]
    power = f"^{{{order}}}" if order > 1 else ""
    above = Both(f"∂{superscript(order)}{held(base)}", rf"\partial{power} {latex_held(base)}")
    return fraction(above, *below)


def is_root(scene: Scene, root: str, tensor: str | None) -> bool:
    """Whether a tensor is the root itself, or the gradient that the root is a copy of."""
    base, by = variables(scene, root)
    return tensor in scene.now.roots or bool(by and label(scene, tensor) == gradient_label(base, by))


def gradient_label(base: str, by: list[str]) -> str:
    """`∂z/∂x`, as what is derived once more; the root itself where that is no first derivative."""
    return f"∂{held(base)}/∂{held(by[0])}" if len(by) == 1 else f"∂{superscript(len(by))}{held(base)}/…"


def quotient(made: str, source: str) -> Both:
    """∂made/∂source."""
    above, below = (Both(f"∂{held(name)}", rf"\partial {latex_held(name)}") for name in (made, source))
    return fraction(above, below)


def fraction(above: Both, *below: Both) -> Both:
    """One part of a formula over others."""
    latex = rf"\frac{{{above.latex}}}{{{' '.join(part.latex for part in below)}}}"
    return Both(f"{above.plain}/{''.join(part.plain for part in below)}", latex)


def superscript(n: int) -> str:
    """`²` for 2, nothing for 1."""
    return str(n).translate(SUPERSCRIPTS) if n > 1 else ""


def latex_held(name: str) -> str:
    """A tensor's name as part of ∂…/∂… in LaTeX."""
    written = latex_name(name)
    return written if held(name) == name else rf"\left({written}\right)"
