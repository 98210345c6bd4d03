"""The calls of ops that are not elementwise, such as matrix products, sums and views, on float32 or float64
tensors in the normal modes.

They are written out per op as text and compiled on their first call, as those in `written_calls`: a layer of
a network consists of them, and worked out from the declaration each time they take three times as long.
What is not plain they hand to `calls.dispatch`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import modes
from ..dtypes import DIFFERENTIABLE, FAST_ARRAYS
from ..graph import sequence_numbers
from ..storage import View, strides_of
from ..tensor_base import TensorBase, Tensors, accumulator, attach, share, wrap
from .calls import casts, compute, dispatch, finish
from .keeping import constant, is_always_needed, late_versions
from .late import WAITING, late_function
from .registry import DERIVED, Op
from .replay import path_of
from .written_calls import is_plain, is_plain_op, late_call, write_observed

# what an argument may be that is no input
ARGUMENTS = frozenset((int, float, bool, tuple, list, str, type(None)))


def make_call(op: Op) -> Any:
    """The function that runs an op on tensors: written out if it is plain, else the general one."""
    if is_plain_op(op):
        op.observed = lambda *args: write_observed(op)(*args)
        return late_call(op)
    if is_writable(op):
        op.observed = lambda *args: write_observed_op(op)(*args)
        return late_function(WAITING[None], lambda scope: write_op(op, scope))

    def call(*args: Any, **kwargs: Any) -> Any:
        if modes.active:
            return dispatch(op, args, kwargs)
        return compute(op, op.bind(args, kwargs))

    return call


def is_writable(op: Op) -> bool:
    """Whether the call of an op can be written out as text here."""
    if op.listed or op.bit or not op.inputs or (op.several and (op.view or not op.is_named)):
        return False
    if op.elementwise:
        return op.check is None and len(op.inputs) == 1
    derived = [n for n, _ in op.saved if n.endswith(DERIVED)]
    return all(source(n) in op.inputs for n in derived)


def source(name: str) -> str:
    """The parameter that a derived name, such as `self_sym_sizes`, is about."""
    return name.removesuffix(next(s for s in DERIVED if name.endswith(s)))


CALL = """\
def call(*args, **kwargs):
    if kwargs or len(args) != {count}:
        args = op.bind(args, kwargs)
    off = {off}
    if off and {never}:
        return {general}
    {params}, = args
    try:
        {arrays}
        shared = {shared}
        usable = not shared or ({plain})
    except AttributeError:
        usable = False  # and not yet to the general way, whose errors would be chained to this one
    if not usable or {odd}:
        return {general}
    {share}
    try:
        {out} = enter(kernel, {raws})
    except Exception:
        {first} = None
    if {first} is None:
        return {general}  # where the error is raised, if the kernel raised one
    {scalar}
    if off:
        return {bare}
    {edges}
    if {needless}:
        return {unrecorded}
    if {first}.dtype not in ARRAYS:
        return finish(op, list(args), {whole})
    node = Node()
    node._next = ({targets},)
    node._nrs = None if {zero} else ({numbers},)
    node._check = None
    {keep}
    if shared:
        note_versions(node, {tensors})
    node._cast = {cast}
    node._storage = {storage}
    node._extra = None
    node._made = ({made},)
    node._seq = next(numbers)
    {results}
"""

RESULT = """\
t = new(Tensor)
    t._data = out
    t._fn = node
    t._nr = 0
    t._acc = t._grad = None
    t._storage = {storage}
    t._view = {view}
    return t"""

REREAD = "if out.dtype != a0.dtype:\n        return {general}"


def is_size(value: Any) -> bool:
    """Whether it is a tuple of another class, such as a shape, but not of tensors."""
    return isinstance(value, tuple) and not isinstance(value, Tensors)


EDGE = """\
n{i} = {p}._fn
    if n{i} is None:
        acc = {p}._acc
        if acc is not None:
            n{i} = acc is not True and acc() or accumulator({p})"""

OPTIONAL_EDGE = """\
n{i} = None if {p} is None else {p}._fn
    if n{i} is None and {p} is not None:
        acc = {p}._acc
        if acc is not None:
            n{i} = acc is not True and acc() or accumulator({p})"""


def write_op(op: Op, scope: dict[str, Any], observed: bool = False) -> Any:
    """The call of an op, written out for its parameters and saved names; if `observed`, what `dispatch` calls
    while somebody looks on.
    """
    general = "compute(op, list(args))" if observed else "dispatch(op, args, NOTHING)"
    count = range(len(op.inputs))
    tensors = (*op.inputs, *op.beside)
    # the condition under which what is given for one of them is no tensor; None for what always is one
    bare = {p: f"{p} is None" if p in op.free else None for p in op.inputs}
    bare |= {p: f"{p}.__class__ in ARGUMENTS" for p in op.beside}
    raws = [f"a{tensors.index(p)}" if p in tensors else p for p in op.params]
    outs = [f"r{k}" for k in range(len(op.results))] if op.several else ["out"]
    edges = [(OPTIONAL_EDGE if bare[p] else EDGE).format(i=i, p=p) for i, p in enumerate(op.inputs)]
    wrapped = ", ".join(f"wrap({out})" for out in outs)
    text = CALL.format(
        count=len(op.params),
        general=general,
        off="not modes.state.grad_enabled" if observed else "modes.active",
        never="True" if op.view else "False" if observed else "(off != 1 or modes.state.grad_enabled)",
        params=", ".join(op.params),
        arrays="; ".join(f"a{i} = {unless(bare[p], p, f'{p}._data')}" for i, p in enumerate(tensors)),
        shared=" or ".join(f"({unless(bare[p], False, f'{p}._storage is not None')})" for p in tensors),
        plain=" and ".join(
            f"({unless(bare[p], True, f'{p}._storage is None or (is_plain({p}) and {p}._data.ndim)')})"
            for p in tensors
        ),
        odd=" or ".join(odd(op, bare)),
        share=f"storage = share({op.params[0]}); a0 = {op.params[0]}._data" if op.view else "pass",
        out=", ".join(outs),
        first=outs[0],
        whole=f"({', '.join(outs)})" if op.several else "out",
        raws=", ".join(raws),
        scalar=scalar_text(op, general),
        bare=wrapped,
        edges="\n    ".join(edges),
        needless=" and ".join(f"n{i} is None" for i in count),
        unrecorded=f"seen(op, {op.params[0]}, out)" if op.view else wrapped,
        targets=", ".join(f"n{i}" for i in count),
        zero="0 == " + " == ".join(f"({unless(bare[p], 0, f'{p}._nr')})" for p in op.inputs),
        numbers=", ".join(unless(bare[p], 0, f"{p}._nr") for p in op.inputs),
        keep="\n    ".join(keep_text(op, name, users) for name, users in op.saved) or "pass",
        tensors=", ".join(tensors),
        cast=cast_text(op, outs[0]),
        storage="storage" if op.view else "None",
        made=", ".join(f"({out}.shape, {out}.dtype)" for out in outs),
        results=results_text(op),
    )
    scope |= {
        "__name__": __name__,
        "modes": modes,
        "dispatch": dispatch,
        "compute": compute,
        "finish": finish,
        "casts": casts,
        "NOTHING": {},
        "op": op,
        "is_plain": is_plain,
        "note_versions": late_versions(op, tensors, scope),
        "ARRAYS": FAST_ARRAYS,
        "ARGUMENTS": ARGUMENTS,
        "DIFFERENTIABLE": DIFFERENTIABLE,
        "is_size": is_size,
        "Tensor": TensorBase.result_class,
        "ndarray": np.ndarray,
        "enter": modes.enter,
        "kernel": op.kernel,
        "wrap": wrap,
        "attach": attach,
        "share": share,
        "accumulator": accumulator,
        "Node": op.node,
        "numbers": sequence_numbers,
        "new": object.__new__,
        "constant": constant,
        "strides_of": strides_of,
        "view_of": view_of,
        "seen": seen,
    }
    exec(text, scope)
    return scope["call"]


def unless(bare: str | None, value: Any, text: str) -> str:
    """`text`, but `value` under the condition `bare` (of no tensor: what is given itself, by its name)."""
    return text if bare is None else f"{value} if {bare} else {text}"


def odd(op: Op, bare: dict[str, str | None]) -> list[str]:
    """The conditions under which the arguments are not for a written call."""
    found = [unless(bare[p], False, f"a{i}.dtype not in ARRAYS") for i, p in enumerate(op.inputs)]
    others = [p for p in op.params if p not in bare]
    found += [f"{p}.__class__ not in ARGUMENTS and not is_size({p})" for p in others]
    return [f"({condition})" for condition in found]


def scalar_text(op: Op, general: str) -> str:
    """What is done with the result of the kernel before it becomes a tensor's."""
    if op.several:
        return "pass"
    if op.view:
        return REREAD.format(general=general)
    return "if out.__class__ is ndarray and out.ndim == 0:\n        out = out[()]"


def results_text(op: Op) -> str:
    """The statements that make and return the results of a node. See `calls.results`."""
    if not op.several:
        view = f"view_of(op, {op.params[0]}, out)" if op.view else "None"
        return RESULT.format(storage="storage" if op.view else "None", view=view)
    lines = [f"node._outputs = {len(op.results)}"]
    for k, name in enumerate(op.results):
        if name in op.constants:
            lines.append(f"t{k} = wrap(r{k})")
        else:
            lines.append(f"t{k} = attach(r{k}, node, {k}) if r{k}.dtype in DIFFERENTIABLE else wrap(r{k})")
        if name in op.tensors:
            lines.append(f"if t{k}._fn is None: node._raw_{name} = t{k}")
    lines.append(f"return {', '.join(f't{k}' for k in range(len(op.results)))},")
    return "\n    ".join(lines)


def write_observed_op(op: Op) -> Any:
    """Write `op.observed` on its first call."""
    op.observed = write_op(op, {}, observed=True)
    return op.observed


def cast_text(op: Op, out: str) -> str:
    """What `uncast` must undo: shapes where an op broadcasts; else only one with a dtype of its own may give
    another than its inputs have.
    """
    if op.broadcasts and not op.elementwise:
        count = range(len(op.inputs))
        raws = "".join(f"{out} if a{i} is None else a{i}, " for i in count)
        return f"casts(({''.join(f'n{i}, ' for i in count)}), ({raws}), {out})"
    if not op.casts:
        return "None"
    same = " and ".join(f"a{i}.dtype == {out}.dtype" for i in range(len(op.inputs)))
    return f"None if {same} else ({''.join(f'(a{i}.shape, a{i}.dtype), ' for i in range(len(op.inputs)))})"


def keep_text(op: Op, name: str, users: tuple[int, ...]) -> str:
    """The statement that saves `name` where an input needs it. See `saved.plan`."""
    value = name
    if name in op.results:
        value = f"r{op.results.index(name)}" if op.several else "out"
    elif name in op.beside:
        value = f"({name} if {name}.__class__ in ARGUMENTS else constant(node, {name}))"
    elif name in op.inputs:
        i = op.inputs.index(name)
        value = f"(a{i} if n{i} is not None else constant(node, {name}))"
        if name in op.free:
            value = f"(None if {name} is None else {value})"
    elif name.endswith(DERIVED):
        a = f"a{op.inputs.index(source(name))}"
        suffix = name.removeprefix(source(name))
        value = {
            "_sym_sizes": f"{a}.shape",
            "_sym_numel": f"{a}.size",
            "_sym_strides": f"strides_of({a})",
            "_scalar_type": f"{a}.dtype",
        }[suffix]
    if not is_always_needed(op, users):
        value += " if " + " or ".join(f"n{u} is not None" for u in users) + " else None"
    return f"node._raw_{name} = {value}"


def view_of(op: Op, tensor: TensorBase, out: np.ndarray) -> View:
    """What makes `out` a view of a plain tensor. See `views.share_view`."""
    parent, storage = tensor._view, tensor._storage
    assert storage is not None
    if parent is None:
        return View(tensor, storage.version)
    path = None if parent.path is None else path_of(op, tensor, out)
    return View(parent.base, storage.version, parent.creation, path)


def seen(op: Op, tensor: TensorBase, out: np.ndarray) -> Any:
    """A view of a plain tensor that needs no gradient."""
    t = wrap(out)
    t._storage, t._view = tensor._storage, view_of(op, tensor, out)
    return t
