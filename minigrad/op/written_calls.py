"""The calls of plain elementwise ops on float32 or float64 tensors, of which scalar graphs consist.

They are written out per op as text, see Note [Written-out functions] in `nodes`; what is not plain they hand
to `calls.dispatch`.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import modes
from ..dtypes import FAST_ARRAYS
from ..graph import sequence_numbers
from ..modes import quiet
from ..storage import Storage
from ..tensor_base import TensorBase, accumulator, wrap
from .calls import casts, check_broadcast, compute, dispatch
from .keeping import constant, late_versions
from .late import WAITING, late_function
from .registry import Op


def is_plain_op(op: Op) -> bool:
    """Whether the call of an op can be written out here: unary and binary ones without defaults."""
    names = {n for n, _ in op.saved}
    if (
        not op.elementwise
        or op.view
        or op.defaults
        or len(op.params) > 3
        or not names <= {*op.params, "result"}
    ):
        return False
    return op.inputs == op.params[:1] or (op.promoted == (0, 1) and op.inputs == op.params)


def late_call(op: Op, method: Any = None) -> Any:
    """The call of a plain op, written when it is first needed."""
    return late_function(WAITING[len(op.params)], lambda scope: write_call(op, scope, method), op.params[1:])


def operator_of(call: Any) -> Any:
    """Decorate a method for an operator, such as `__mul__`, so that it runs the op of `call` itself where
    that is plain: a function call less, a sixth of a scalar multiplication.
    """

    def decorate(method: Any) -> Any:
        function = late_call(call.op, method)
        function.__name__, function.__qualname__ = method.__name__, method.__qualname__
        function.__doc__, function.__wrapped__ = method.__doc__, method
        return function

    return decorate


PLAIN = """\
    {off}
    try:
        a = input._data
        shared = input._storage
    except AttributeError:
        a = shared = None  # of no kind; errors of the general way would be chained to this one
    if shared is not None:
        if not is_plain(input):
            return {general}
        if not a.ndim:
            a = a[()]  # `note_versions` keeps the array
    kind = a.__class__
    if kind is not FLOAT32 and kind is not FLOAT64 and (kind is not ndarray or a.dtype not in ARRAYS):
        return {general}
"""

MODES = """\
off = modes.active
    if off and (off != 1 or modes.state.grad_enabled):  # but for `no_grad` in this thread alone
        return {away}
"""

# A method only says what to do with operands of other kinds; who looks on need not wait for its answer.
AWAY = "(dispatch if {other}.__class__ in OPERANDS else by_method)(op, (input, {other}), NOTHING)"

ARGUMENT = """\
    if {other}.__class__ is not int and {other}.__class__ is not float:
        return {general}
"""

NODE = """\
    node = Node()
    node._next = {targets}
    node._nrs = None if {zero} else {numbers}
    node._check = None
    {keep}
    if shared is not None:
        note_versions(node, {inputs})
    node._cast = {cast}
    node._storage = node._extra = None
    node._seq = next(numbers)
    t = new(Tensor)
    t._data = out
    t._fn = node
    t._nr = 0
    t._acc = t._grad = t._storage = t._view = None
    return t
"""

BARE = """\
        t = new(Tensor)
        t._data = out
        t._nr = 0
        t._fn = t._acc = t._grad = t._storage = t._view = None
        return t"""  # `wrap` would be 5 % of an op under `no_grad`

UNARY = """\
def call(input{rest}):
{plain}
    try:
        out = enter(kernel, a{rest})
    except RuntimeError:
        out = quiet(kernel, a{rest})
    if off:
{bare}
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
                if not is_plain({other}):
                    return {general}
                shared = True
                if not b.ndim:
                    b = b[()]
        except AttributeError:
            b = None
        if kind is not b.__class__:  # a number and an array?
            if b is None or (kind is not ndarray and b.__class__ is not ndarray) or a.dtype is not b.dtype:
                return {general}
            cast = True
        elif kind is ndarray:
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
    if off:
{bare}
    n0 = input._fn
    if n0 is None:
        acc = input._acc
        if acc is not None:
            n0 = acc is not True and acc() or accumulator(input)
        elif n1 is None:
            return wrap(out)
{node}"""


def write_call(op: Op, scope: dict[str, Any], method: Any = None, observed: bool = False) -> Any:
    """The call of a plain elementwise op, written out for its parameters and saved names, with the globals
    `scope`. What is not plain it hands to `method` if it stands for one (see `operator_of`); if `observed`,
    it is what `dispatch` calls.
    """
    unary = len(op.inputs) == 1
    node = NODE.format(
        targets="(n0,)" if unary else "(n0, n1)",
        zero="input._nr == 0" if unary else "input._nr == 0 == nr",
        numbers="(input._nr,)" if unary else "(input._nr, nr)",
        cast="None" if unary else "casts((n0, n1), (a, b), out) if cast else None",
        inputs="input" if unary else f"input, {op.params[1]}",
        keep="; ".join(keep_text(op, name, users) for name, users in op.saved) or "pass",
    )
    rest = "".join(", " + p for p in op.params[1:])
    how = {"rest": rest, "other": op.params[-1], "general": f"dispatch(op, (input{rest},), {{}})"}
    how["away"] = how["general"]
    if observed:
        how["general"] = f"compute(op, [input{rest}])"
    elif method is not None:
        how["general"] = f"method(input{rest})"
        how["away"] = AWAY.format(**how) if rest else how["general"]
    off = "off = not modes.state.grad_enabled" if observed else MODES.format(**how)
    plain = PLAIN.format(off=off, **how)
    if unary and rest and method is not None:
        plain += ARGUMENT.format(**how)
    text = (UNARY if unary else BINARY).format(plain=plain, node=node, bare=BARE, **how)
    scope |= {
        "__name__": __name__,
        "modes": modes,
        "Tensor": TensorBase.result_class,
        "dispatch": dispatch,
        "compute": compute,
        "method": method,
        "by_method": lambda op, args, kwargs: method(*args),
        "NOTHING": {},
        "OPERANDS": frozenset((int, float) if unary else (int, float, TensorBase.result_class)),
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
        "numbers": sequence_numbers,
        "check_broadcast": check_broadcast,
        "casts": casts,
        "constant": constant,
        "is_plain": is_plain,
        "note_versions": late_versions(op, op.inputs, scope),
    }
    exec(text, scope)
    return scope["call"]


def is_plain(tensor: TensorBase) -> bool:
    """Whether a tensor that shares memory or was written to can go through a written-out call: a parameter
    that an optimiser has changed, or a view whose history is up to date (see `views.regenerate`).
    """
    view = tensor._view
    storage: Any = tensor._storage
    if view is not None and (
        view.version != storage.version or (tensor._fn is None and view.base.requires_grad)
    ):
        return False
    return (
        storage.__class__ is Storage
        and not tensor._bits
        and not tensor._apart
        and tensor._data.__class__ is np.ndarray
    )


def write_observed(op: Op) -> Any:
    """Write `op.observed` on its first call."""
    op.observed = write_call(op, {}, observed=True)
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
