"""What happens when an op is called on tensors.

`dispatch` runs any op on any arguments. Plain elementwise ops on float32 or float64 tensors, of which scalar
graphs consist, are written out per op as text (see Note [Written-out functions] in `nodes`); what is not
plain (modes, other dtypes, shared memory) they hand to `dispatch`. Where the only mode is that somebody
observes, `dispatch` runs the same text without the question for modes, and then tells.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import dtypes, modes
from ..dtypes import FAST_ARRAYS
from ..graph import Node, sequence_numbers
from ..modes import quiet
from ..tensor_base import TensorBase, accumulator, edge, share, wrap
from .registry import RAW, Op
from .saved import constant, keep


def make_call(op: Op) -> Any:
    """The function that runs an op on tensors: one written out for plain unary and binary ops, else the
    general one.
    """
    names = {n for n, _ in op.saved}
    plain = op.elementwise and not op.view and not op.defaults and names <= {*op.params, "result"}
    if plain and op.inputs == op.params[:1]:
        return write_call(op, UNARY)
    if plain and op.promoted == (0, 1) and op.inputs == op.params:
        return write_call(op, BINARY)

    def call(*args: Any, **kwargs: Any) -> Any:
        if modes.active:
            return dispatch(op, args, kwargs)
        return compute(op, op.bind(args, kwargs))

    return call


PLAIN = """\
    try:
        a = input._data
        if {asked}input._storage is not None:
            return {general}
    except AttributeError:
        return {general}
    kind = a.__class__
    if kind is not FLOAT32 and kind is not FLOAT64 and (kind is not ndarray or a.dtype not in ARRAYS):
        return {general}
"""

NODE = """\
    node = Node()
    node._next = {targets}
    node._nrs = None if {zero} else {numbers}
    node._check = None
    {keep}
    node._cast = {cast}
    node._storage = node._extra = None
    node._seq = tick()
    t = new(TensorBase.result_class)
    t._data = out
    t._fn = node
    t._nr = 0
    t._acc = t._grad = t._storage = t._view = None
    return t
"""

UNARY = """\
def call(input{rest}):
{plain}
    try:
        out = enter(kernel, a{rest})
    except RuntimeError:
        out = quiet(kernel, a{rest})
    n0 = input._fn
    if n0 is None:
        acc = input._acc
        if acc is None:
            return wrap(out)
        n0 = acc is not True and acc() or accumulator(input)
{node}"""

BINARY = """\
def call(input, {other}):
{plain}
    cast = False
    n1 = None
    nr = 0
    if {other}.__class__ is float or {other}.__class__ is int:
        b = {other}
    else:
        try:
            b = {other}._data
            if {other}._storage is not None:
                return {general}
        except AttributeError:
            return {general}
        if kind is not b.__class__:
            return {general}
        if kind is ndarray:
            if a.dtype is not b.dtype:
                return {general}
            if a.shape != b.shape:
                check_broadcast(a.shape, b.shape)
                cast = True
        n1 = {other}._fn
        if n1 is not None:
            nr = {other}._nr
        else:
            acc = {other}._acc
            if acc is not None:
                n1 = acc is not True and acc() or accumulator({other})
    try:
        out = enter(kernel, a, b)
    except RuntimeError:
        out = quiet(kernel, a, b)
    n0 = input._fn
    if n0 is None:
        acc = input._acc
        if acc is not None:
            n0 = acc is not True and acc() or accumulator(input)
        elif n1 is None:
            return wrap(out)
{node}"""


def write_call(op: Op, template: str, observed: bool = False) -> Any:
    """The call of a plain elementwise op, written out for its parameters and saved names; if `observed`, what
    `dispatch` calls.
    """
    unary = len(op.inputs) == 1
    node = NODE.format(
        targets="(n0,)" if unary else "(n0, n1)",
        zero="input._nr == 0" if unary else "input._nr == 0 == nr",
        numbers="(input._nr,)" if unary else "(input._nr, nr)",
        cast="None" if unary else "casts((n0, n1), (a, b), out) if cast else None",
        keep="; ".join(keep_text(op, name, users) for name, users in op.saved) or "pass",
    )
    rest = "".join(", " + p for p in op.params[1:])
    general = f"compute(op, [input{rest}])" if observed else f"dispatch(op, (input{rest},), {{}})"
    how = {"rest": rest, "other": op.params[-1], "general": general}
    plain = PLAIN.format(asked="" if observed else "modes.active or ", **how)
    text = template.format(plain=plain, node=node, **how)
    scope = {
        "modes": modes,
        "TensorBase": TensorBase,
        "dispatch": dispatch,
        "compute": compute,
        "op": op,
        "FLOAT32": np.float32,
        "FLOAT64": np.float64,
        "ndarray": np.ndarray,
        "ARRAYS": FAST_ARRAYS,
        "enter": modes.enter,
        "quiet": quiet,
        "kernel": op.kernel,
        "wrap": wrap,
        "accumulator": accumulator,
        "new": object.__new__,
        "Node": op.node,
        "tick": sequence_numbers.__next__,
        "check_broadcast": check_broadcast,
        "casts": casts,
        "constant": constant,
    }
    exec(text, scope)
    if not observed:
        op.observed = lambda *args: write_observed(op, template)(*args)
    return scope["call"]


def write_observed(op: Op, template: str) -> Any:
    """Write `op.observed` on its first call."""
    op.observed = write_call(op, template, True)
    return op.observed


def keep_text(op: Op, name: str, users: tuple[int, ...]) -> str:
    """The statement that saves `name` where an input needs it."""
    slot = "node._raw_" + name
    if len(op.inputs) == 1:
        return f"{slot} = " + {"result": "out", op.params[0]: "a"}.get(name, name)
    needed = " or ".join(f"n{i} is not None" for i in users)
    if name == "result":
        return f"{slot} = out if {needed} else None"
    data, tensor, node = ("a", "input", "n0") if name == op.params[0] else ("b", name, "n1")
    kept = f"{data} if {node} is not None or {data} is {tensor} else constant(node, {tensor})"
    return f"{slot} = ({kept}) if {needed} else None"


def casts(targets: Any, raws: Any, out: Any) -> Any:
    """What `uncast` must undo per input of an elementwise op; None when nothing.

    Where dtypes were mixed, every gradient is brought to its input's dtype: NumPy promotes the saved values
    in a vjp by its own rules, in which a 0-dim float64 counts as much as an array.
    """
    mixed = any(r.dtype != out.dtype for r in raws)
    kinds = tuple(
        None if n is None or not (mixed or r.shape != out.shape) else (r.shape, r.dtype)
        for n, r in zip(targets, raws, strict=True)
    )
    return kinds if any(kinds) else None


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """RuntimeError with PyTorch's text unless the shapes broadcast."""
    n = max(len(a), len(b))
    for i in range(n - 1, -1, -1):
        x, y = (s[i - n + len(s)] if i - n + len(s) >= 0 else 1 for s in (a, b))
        if x != y and x != 1 and y != 1:
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton "
                f"dimension {i}"
            )


# ── the general way
# ─────────────────────────────────────────────────────────────────────────────────────────────────


def dispatch(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an op in general: any arguments, dtypes, modes and observers."""
    if not modes.active:
        return compute(op, op.bind(args, kwargs))
    watchers = modes.observers()
    if watchers and op.observed is not None and len(args) == len(op.params) and modes.state.grad_enabled:
        values: Any = args
        result = op.observed(*args)
    else:
        values = op.bind(args, kwargs)
        result = compute(op, values)
    for watcher in watchers:
        watcher.forward(op, values, result)
    return result


def compute(op: Op, values: list[Any]) -> Any:
    """Run an op on `values`, one for each parameter, and tell nobody."""
    check_tensor(op, values)
    raws = prepare(op, values)
    if op.view:
        share(values[0])
        raws[0] = values[0]._data
    out = quiet(op.kernel, *raws)
    if not op.view and isinstance(out, np.ndarray) and out.ndim == 0:
        out = out[()]
    node = record(op, values, out) if modes.is_grad_enabled() else None
    result = share_view(op, values, out) if op.view else wrap(out)
    if node is not None:
        result._fn = node
        if result._storage is not None:
            node._storage = result._storage
    return result


share_view: Any = None  # how the result of a view op is tied to its base


def connect_views(function: Any) -> None:
    """Let `inplace`, which stands above, say how the result of a view op is tied to its base."""
    global share_view
    share_view = function


def check_tensor(op: Op, values: list[Any]) -> None:
    """TypeError with PyTorch's text unless the operands are tensors, or numbers beside a tensor."""
    any_tensor = False
    for i, v in enumerate(values):
        if isinstance(v, TensorBase):
            any_tensor = True
        elif isinstance(v, np.generic):
            values[i] = v.item()
        elif op.elementwise and not isinstance(v, (int, float, complex)):
            raise TypeError(f"{op.name}(): argument '{op.params[i]}' must be Tensor, not {type(v).__name__}")
        elif not op.elementwise and op.params[i] in op.inputs:
            break
    else:
        if any_tensor:
            return
    wrong = next(i for i, v in enumerate(values) if not isinstance(v, TensorBase))
    name = "input" if wrong == 0 else op.params[wrong]
    raise TypeError(
        f"{op.name}(): argument '{name}' (position {wrong + 1}) must be Tensor, not "
        f"{type(values[wrong]).__name__}"
    )


def prepare(op: Op, values: list[Any]) -> list[Any]:
    """Raw arguments for the kernel: shapes checked, dtypes promoted."""
    raws = [v._data if isinstance(v, TensorBase) else v for v in values]
    if not op.promoted:
        return raws
    at = [i for i in op.promoted if isinstance(raws[i], RAW)]
    for i in at[1:]:
        check_broadcast(raws[at[0]].shape, raws[i].shape)
    if op.check is not None:
        op.check([dtypes.of(raws[i]) if i in at else dtypes.of_number(raws[i]) for i in op.promoted])
    dtype = dtypes.result_type(*(raws[i] for i in op.promoted))
    if op.floating:
        dtype = dtypes.floating(dtype)
    for i in op.promoted:
        if i in at:
            raws[i] = raws[i] if raws[i].dtype == dtype else raws[i].astype(dtype)
        elif dtype.kind not in "fc":
            raws[i] = dtype.type(raws[i])  # NumPy would take True + 1 for an int of its own size
    return raws


def record(op: Op, values: list[Any], out: Any) -> Node | None:
    """The node of an op that ran; None when no input needs a gradient."""
    inputs = [values[i] for i in op.places]
    targets = tuple(edge(t) if isinstance(t, TensorBase) else None for t in inputs)
    if not any(n is not None for n in targets) or out.dtype not in dtypes.DIFFERENTIABLE:
        return None
    node: Any = op.node()
    node._next = targets
    nrs = tuple(t._nr if n is not None else 0 for t, n in zip(inputs, targets, strict=True))
    node._nrs = nrs if any(nrs) else None
    node._seq = next(sequence_numbers)
    node._check = node._cast = node._storage = node._extra = None
    versions: list[int | None] = []
    plain = True
    for name, users in op.saved:
        value: Any = None
        version: int | None = None
        if any(targets[i] is not None for i in users):
            value, version = keep(op, name, values, targets, out)
            plain = plain and not version and not isinstance(value, TensorBase)
        setattr(node, "_raw_" + name, value)
        versions.append(version)
    if not plain:
        node._check = tuple(versions)
    if op.elementwise:
        node._cast = casts(targets, [t._data if isinstance(t, TensorBase) else out for t in inputs], out)
    return node
