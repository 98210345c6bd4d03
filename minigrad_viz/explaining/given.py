"""A gradient that was given to a backward call: v, the Jacobian J, and vᵀJ, which arrives at the leaves.

J is not recorded. It is made of what the nodes on the way do to unit vectors: their own vjps run on the
numbers that they had saved, never the user's code. It is shown only where each of them gives what the node
really sent and vᵀJ comes out as recorded; else v and vᵀJ alone.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

import numpy as np

from ..model.place import BackwardCall
from ..model.scene import Scene, Scenes
from ..predicting.backward_pass import Pass
from ..protocol import Value
from ..snapshots import array_of, close
from ..trace.events import BackwardStarted
from ..trace.explained import Explanation, Matrices, Matrix
from ..words import clean, text
from .numerical import elements
from .syntax import expression, last_name, named

CALLS = 3  # the last ones, of a loop with many
WORK = 2000  # nodes times unit vectors
Place = tuple[str, int]  # an output of a node
KEYWORDS = ("gradient", "grad_tensors", "grad_outputs", "v")


def notes_of(scenes: Scenes, lang: str | None = None) -> Iterator[Explanation]:
    """A note for each of the last backward calls that a vector was given to."""
    calls = [call.number for call in scenes.index.calls.values() if is_given(call)]
    notes = (note_of(scenes.of(call), lang) for call in calls[-CALLS:])
    return filter(None, notes)


def is_given(call: BackwardCall) -> bool:
    """Whether a single vector of real numbers was given, how it was is known, and the call did not fail.
    Those that a function of the library makes for itself, as `jacobian` does, are not given by anybody."""
    event = call.started
    if event is None or call.error is not None or (event.span and given_in(event) is None):
        return False
    v = event.gradients[0] if len(event.gradients) == 1 else None
    real = v is not None and v.items is not None and not v.dtype.startswith("complex")
    return real and v is not None and v.size > 1 and not event.batched


def note_of(scene: Scene, lang: str | None) -> Explanation | None:
    """What v, J and vᵀJ are in one call; None if nothing arrived anywhere, or the root is a leaf."""
    event = scene.now.started
    assert event is not None
    v = event.gradients[0]
    root = event.roots[0]
    name = scene.named.get(root)
    targets = list(targets_of(scene, event))
    if name is None or scene.at[root][0].node is None or not targets or v is None:
        return None
    order = {state.id: k for k, place in enumerate(scene.places) for state in place.states}
    targets.sort(key=lambda target: order[target[0]])
    weight, jacobians = weight_of(event), jacobians_of(scene, event, v)
    shown = []
    for tensor, place, arrived in targets:
        jacobian = None if jacobians is None else jacobians.get(place)
        if jacobian is not None and not comes_out(v, jacobian, arrived):
            jacobian = None
        names = name, scene.named[tensor], weight
        shown.append(matrices(event.kind, names, (v, jacobian, arrived), lang))
    why = clean(text("given_gradient", lang, root=name, v=weight))
    return Explanation("given_gradient", "", why, call=event.call, span=event.span, matrices=tuple(shown))


def given_in(event: BackwardStarted) -> ast.expr | None:
    """The gradient in a call of `backward`, `grad` or `vjp` as the source has it; None where no such call
    stands there, or it gives none."""
    call = expression(event.span)
    if not isinstance(call, ast.Call) or last_name(call) not in ("backward", "grad", "vjp"):
        return None
    holder = call.func.value if isinstance(call.func, ast.Attribute) else None
    method = last_name(call) == "backward" and holder is not None and named(holder) != "autograd"
    place = 0 if method else 1 if last_name(call) == "backward" else 2  # y.backward(v)
    given = [k.value for k in call.keywords if k.arg in KEYWORDS] or call.args[place : place + 1]
    if len(given) == 1 and isinstance(given[0], ast.Tuple | ast.List) and len(given[0].elts) == 1:
        given = given[0].elts
    return given[0] if given else None


def weight_of(event: BackwardStarted) -> str:
    """What the source calls the gradient that was given; "v" where it has no name."""
    given = given_in(event)
    return ast.unparse(given) if isinstance(given, ast.Name | ast.Attribute) else "v"


def targets_of(scene: Scene, event: BackwardStarted) -> Iterator[tuple[str, Place, Value]]:
    """The tensors at which a gradient arrived that was asked for, with the place of each and the gradient."""
    if event.kind == "grad":
        for tensor, gradient in scene.captured.items():
            if gradient.items and tensor in scene.at and tensor in scene.named:
                place, nr = scene.at[tensor]
                node = scene.accumulators.get(tensor)
                yield tensor, ((place.node or "", nr) if node is None else (node, 0)), gradient
        return
    for id, ran in scene.now.ran.items():
        tensor = scene.nodes[id].variable or ""
        received = ran.received[0] if len(ran.received) == 1 else None
        if tensor in scene.named and received is not None and received.items:
            yield tensor, (id, 0), received


def comes_out(v: Value, jacobian: Any, arrived: Value) -> bool:
    """Whether vᵀJ is what was recorded."""
    vector, recorded = array_of(v).reshape(-1), array_of(arrived).reshape(-1)
    scale = np.abs(vector) @ np.abs(jacobian)
    return jacobian.shape[1] == recorded.size and close(vector @ jacobian, recorded, arrived.dtype, scale)


# ── J ───────────────────────────────────────────────────────────────────────────────────────────────────────


def jacobians_of(scene: Scene, event: BackwardStarted, v: Value) -> dict[Place, Any] | None:
    """The Jacobian of the root by what stands at each place that a gradient came to: a row per element of the
    root. None where it is not certain."""
    if len(scene.now.ran) * v.size > WORK:
        return None
    walk, (root, nr) = Pass(scene), scene.at[event.roots[0]]
    units = np.eye(v.size, dtype=array_of(v).dtype).reshape(v.size, *v.shape)
    rows = [pulled(walk, (root.node or "", nr), unit) for unit in units]
    if not all(rows):
        return None
    return {place: np.stack([row[place].reshape(-1) for row in rows]) for place in rows[0]}


def pulled(walk: Pass, start: Place, gradient: Any) -> dict[Place, Any]:
    """What arrives at each place when the root is given `gradient`; nothing where a node's own vjp does not
    give what the node really sent."""
    arrived = {start: gradient}
    for node in walk.scene.now.ran:
        edges = walk.nodes[node].edges if (node, 0) in arrived else ()
        for i, edge in enumerate(edges):
            if edge is not None and walk.expects(node, i):
                share = walk.sent(node, i, arrived[node, 0]) if walk.trusted(node, i) else None
                if share is None:
                    return {}
                arrived[edge] = arrived[edge] + share if edge in arrived else share
    return arrived


# ── what is shown ───────────────────────────────────────────────────────────────────────────────────────────


def matrices(
    kind: str, names: tuple[str, str, str], numbers: tuple[Value, Any, Value], lang: str | None
) -> Matrices:
    """vᵀ · J = vᵀJ for one tensor; v and vᵀJ where J is not known. `names` are those of the root, of the
    tensor and of v."""
    (root, name, weight), (v, jacobian, arrived) = names, numbers
    rows, columns = elements(root, v.size, v.shape), elements(name, arrived.size, arrived.shape)
    assert v.items is not None and arrived.items is not None
    shown = [Matrix("vᵀ" if weight == "v" else f"vᵀ = {weight}", (v.items,), v.dtype, (), rows)]
    if jacobian is not None:
        items = tuple(map(tuple, (jacobian + 0.0).tolist()))  # without −0
        shown.append(Matrix(f"J = ∂{root}/∂{name}", items, arrived.dtype, rows, columns, (), "·"))
    title = text("given_returned" if kind == "grad" else "given_arrives", lang, name=name)
    sign = "→" if jacobian is None else "="
    shown.append(Matrix(title, (arrived.items,), arrived.dtype, (), columns, (), sign))
    return Matrices("", tuple(shown))
