"""How an op is declared, and what happens when it is called.

    @differentiable(self=lambda g, self: g / self, elementwise=True)
    def log(self):
        '''Natural logarithm of each element.'''
        return np.log(self)

The decorated function is the kernel: NumPy data in, NumPy data out. Each keyword is an input that can be differentiated,
in PyTorch's argument name, with its vector-Jacobian product (vjp). A vjp receives the incoming gradient `g` and whatever
its other parameters name: an input, `result`, `<input>_sym_sizes` (its shape), or a non-tensor argument. Exactly those
are saved, only when that input needs a gradient, and can be read as `_saved_<name>` of the node.

Note [One text, three kinds]
    A vjp is written once, in operators, `.mT` and `F`, and runs on raw arrays (an ordinary backward), on tensors
    (`create_graph=True`: it leaves a graph, hence every higher derivative) and on symbols (a formula for the reader).
    Broadcasting and dtype promotion are undone afterwards, once, for all ops (`uncast`), so no vjp thinks of them.
    An operator with a Python number is Python's (`t * 2` is MulBackward0); `F.mul(t, 2)` is the overload that PyTorch's
    own formulas call (MulBackward1). Where PyTorch has a named backward, the vjp is a call of that op.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from . import dialect, dtypes, modes
from .dtypes import FAST_ARRAYS, FAST_SCALARS
from .graph import RELEASED, Node, sequence_numbers, sum_to
from .modes import quiet
from .tensor_base import TensorBase, accumulator, attach, edge, share, wrap

NUMBERS = (int, float)
DERIVED = ("_sym_sizes", "_scalar_type")  # `self_sym_sizes`: the shape of `self`; `self_scalar_type`: its dtype


class Registry:
    """`F`: every declared op by name, on arrays (its kernel), tensors (the op) and symbols.

    It fills as ops are declared, so that a vjp can use an op of a module that its own cannot import.
    """

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(f"no op is called {name!r}")


F: Any = Registry()
OPS: dict[str, Op] = {}  # by the name of its node in PyTorch 2
RAW = (np.ndarray, np.generic)


class Op:
    """An op as declared.

    `params` are its parameter names, `defaults` the values of the last of them, `inputs` the differentiable ones and
    `vjps` their vjps. `saved` lists (name, indices of the inputs whose vjp wants it). `elementwise` ops broadcast and
    promote; `linear` ones are linear in each input; `floating` ones make integers the default float first.
    """

    __slots__ = (
        "defaults", "elementwise", "floating", "inputs", "kernel", "linear", "name", "node", "params", "promoted", "saved", "tensors", "vjps", "view",
    )  # fmt: skip

    def __init__(self, name: str, kernel: Any, signature: Any, vjps: dict[str, Any], flags: dict[str, bool]) -> None:
        code = signature.__code__
        self.name = name
        self.kernel = kernel
        self.params = code.co_varnames[: code.co_argcount]
        self.defaults = signature.__defaults__ or ()
        self.inputs = tuple(vjps)
        self.vjps = vjps
        self.elementwise = flags.get("elementwise", False)
        self.linear = flags.get("linear", False)
        self.floating = flags.get("floating", False)
        self.view = flags.get("view", False)
        operands = (*self.inputs, "self", "other", "exponent")
        self.promoted = tuple(i for i, p in enumerate(self.params) if p in operands) if flags.get("promotes", True) and self.elementwise else ()
        self.saved = self._saved_names()
        self.tensors = frozenset(n for n, _ in self.saved if n in self.params or n == "result")
        self.node: type[Node] = Node

    def _saved_names(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        users: dict[str, list[int]] = {}
        for i, vjp in enumerate(self.vjps.values()):
            for name in arguments(vjp):
                if name not in self.params and name != "result" and not name.endswith(DERIVED):
                    raise TypeError(f"the vjp of {self.name} asks for {name!r}, which is neither a parameter nor 'result'")
                users.setdefault(name, []).append(i)
        return tuple((name, tuple(i)) for name, i in users.items())

    def node_setter(self, name: str) -> Any:
        """What puts a method in its place on the node class."""
        return lambda method: setattr(self.node, name, method)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """All arguments in the order of `params`; TypeError as Python gives it."""
        missing = len(self.params) - len(args)
        if not kwargs and missing == 0:
            return list(args)
        values = dict(zip(self.params, args, strict=False))
        if len(args) > len(self.params):
            raise TypeError(f"{self.name}() takes {len(self.params)} positional arguments but {len(args)} were given")
        for name, value in kwargs.items():
            name = "self" if name == "input" else name
            if name not in self.params:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
            if name in values:
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            values[name] = value
        defaults = dict(zip(self.params[len(self.params) - len(self.defaults) :], self.defaults, strict=True))
        try:
            return [values[n] if n in values else defaults[n] for n in self.params]
        except KeyError as error:
            raise TypeError(f"{self.name}() missing required argument {error}") from None


def arguments(vjp: Any) -> tuple[str, ...]:
    """The names that a vjp asks for, `g` left out."""
    return vjp.__code__.co_varnames[1 : vjp.__code__.co_argcount]


def camel(name: str) -> str:
    """`log_softmax` → `LogSoftmax`, as PyTorch names nodes."""
    return "".join(part[:1].upper() + part[1:] for part in name.split("_"))


def differentiable(*, node: str | None = None, kernel: Any = None, public: str | None = None, elementwise: bool = False,
                   linear: bool = False, floating: bool = False, view: bool = False, promotes: bool = True,
                   **vjps: Any) -> Callable[[Any], Any]:  # fmt: skip
    """Declare an op: see the module's docstring.

    `node` is the node's name where it is not `<Name>Backward0`; `kernel` replaces the decorated function's body (which
    then only documents); `public` is the name in `F`. `view=True`: the result shares memory with `self`; `promotes=False`:
    an elementwise op whose operands keep their dtypes.
    """

    def declare(function: Any) -> Any:
        name = public or function.__name__
        flags = {"elementwise": elementwise, "linear": linear, "floating": floating, "view": view, "promotes": promotes}
        op = Op(function.__name__, kernel or function, function, vjps, flags)
        op.node = make_node(op, node or camel(function.__name__) + "Backward0")
        OPS[op.node.__name__] = op
        call = make_call(op)
        call.__name__ = call.__qualname__ = name
        call.__doc__ = function.__doc__
        call.op = op
        setattr(F, name, make_polymorphic(op, call))
        return call

    return declare


def make_polymorphic(op: Op, call: Any) -> Any:
    """The op for `F`: on raw arrays the kernel, on tensors the op, on symbols what they make of it."""
    kernel = op.kernel

    def polymorphic(*args: Any) -> Any:
        for x in args:
            if isinstance(x, RAW):
                continue
            if isinstance(x, TensorBase):
                return call(*args)
            if hasattr(x, "__minigrad_symbol__"):
                return x.__minigrad_symbol__(op, args)
        return kernel(*args)

    polymorphic.__name__ = call.__name__
    polymorphic.op = op  # type: ignore[attr-defined]
    return polymorphic


# ── nodes ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_node(op: Op, name: str) -> type[Node]:
    """The Node class of an op: a slot per saved name, `_saved_<name>` properties, and how to apply it."""
    members: dict[str, Any] = {"__slots__": tuple("_raw_" + n for n, _ in op.saved), "op": op, "__module__": __name__}
    for n, _ in op.saved:
        members["_saved_" + n] = property(lambda node, n=n: saved(node, n), doc=f"The value saved as `{n}`.")
    members["apply"] = make_apply(op)
    members["apply_tensors"] = apply_tensors
    members["release"] = make_release(op)
    return type(name, (Node,), members)


APPLY = """\
def apply(node, g):
    {targets} = node._next
    if node._check is not None or {shared}:
        return apply_checked(node, g)
    if node._cast is not None:
        return uncast(node, [{gradients}])
    return ({gradients})
"""


def make_apply(op: Op) -> Any:
    """`Node.apply` for raw gradients, written out for this op's inputs and saved names (twice as fast as a loop)."""
    edges = [f"n{i}" for i in range(len(op.inputs))]
    shared = [f"({n} is not None and {n}._storage is not None)" for n in edges]
    if any(n == "result" for n, _ in op.saved):
        shared.append("node._storage is not None")
    gradients = [
        f"None if n{i} is None else vjp{i}(" + ", ".join(["g", *("node._raw_" + a for a in arguments(vjp))]) + ")"
        for i, vjp in enumerate(op.vjps.values())
    ]
    text = APPLY.format(targets=", ".join(edges) + ",", shared=" or ".join(shared), gradients=", ".join(gradients) + ",")
    scope = {f"vjp{i}": vjp for i, vjp in enumerate(op.vjps.values())}
    scope |= {"apply_checked": apply_checked, "uncast": uncast}

    return written(text, "apply", scope, op.node_setter("apply"))


RELEASE = """\
def release(node):
    if {kept}:
        {slots} = None
        node._check = RELEASED
"""


def make_release(op: Op) -> Any:
    """`Node.release`: forget the saved tensors; a node that saved none stays usable.

    The number of `x * 2` counts as one, as in PyTorch, where Python's operators wrap it in a tensor.
    """
    kept = [
        f"node._raw_{n} is not None" if n in op.inputs or n == "result" else f"isinstance(node._raw_{n}, TensorBase)"
        for n, _ in op.saved
        if n in op.tensors
    ]
    if not kept:
        return lambda node: None
    slots = " = ".join("node._raw_" + n for n, _ in op.saved if n in op.inputs or n == "result" or len(kept) == 1)
    scope = {"RELEASED": RELEASED, "TensorBase": TensorBase}
    return written(RELEASE.format(kept=" or ".join(kept), slots=slots), "release", scope, op.node_setter("release"))


def written(text: str, name: str, scope: dict[str, Any], replace: Any) -> Any:
    """A function that, on its first call, is compiled from `text` and put in its own place."""

    def first(*args: Any) -> Any:
        exec(text, scope)
        replace(scope[name])
        return scope[name](*args)

    return first


def apply_checked(node: Any, g: Any) -> tuple[Any, ...]:
    """`apply` where memory is shared, a constant was saved, or saved values were released."""
    op = node.op
    values = {name: unpack(node, name)[0] for name, users in op.saved if any(node._next[i] is not None for i in users)}
    gradients = [
        None if node._next[i] is None else vjp(g, *(values[n] for n in arguments(vjp))) for i, vjp in enumerate(op.vjps.values())
    ]
    return tuple(gradients) if node._cast is None else uncast(node, gradients)


def apply_tensors(node: Any, g: TensorBase) -> tuple[Any, ...]:
    """Gradients as tensors, recorded. See Note [One text, three kinds]."""
    op = node.op
    before = modes.set_grad_mode(True)
    try:
        values = {n: saved(node, n, wrapped=False) for n, users in op.saved if any(node._next[i] is not None for i in users)}
        gradients = [
            None if node._next[i] is None else vjp(g, *(values[n] for n in arguments(vjp)))
            for i, vjp in enumerate(op.vjps.values())
        ]
        return tuple(gradients) if node._cast is None else uncast(node, gradients)
    finally:
        modes.set_grad_mode(before)


def uncast(node: Any, gradients: list[Any]) -> tuple[Any, ...]:
    """Bring gradients back to the shapes and dtypes of the inputs that were broadcast or promoted."""
    for i, kind in enumerate(node._cast):
        g = gradients[i]
        if kind is None or g is None:
            continue
        shape, dtype = kind
        if isinstance(g, TensorBase):
            if g._data.shape != shape:
                g = F.sum_to(g, shape)
            gradients[i] = g if g._data.dtype == dtype else F.to(g, dtype)
        else:
            if g.shape != shape:
                g = sum_to(g, shape)
            gradients[i] = g if g.dtype == dtype else g.astype(dtype)
    return tuple(gradients)


# ── saved values ────────────────────────────────────────────────────────────────────────────────────────────────────


def unpack(node: Any, name: str) -> tuple[Any, Any]:
    """The raw value that `node` saved as `name`, checked, and its tensor if the node kept the tensor itself."""
    op = node.op
    if node._check is RELEASED and name in op.tensors and getattr(node, "_raw_" + name) is None:
        raise RuntimeError(dialect.second_backward_error())
    value = getattr(node, "_raw_" + name)
    if name not in op.tensors or not isinstance(value, (TensorBase, *RAW)):
        return value, None
    expected = 0
    if type(node._check) is tuple and node._check:
        expected = next(v for (n, _), v in zip(op.saved, node._check, strict=True) if n == name) or 0
    if isinstance(value, TensorBase):
        storage, carrier, nr = value._storage, value._fn, value._nr
        data = value._data
    else:
        carrier, nr = (node, 0) if name == "result" else node.next_functions[op.inputs.index(name)]
        variable = getattr(carrier, "variable", None)
        storage = carrier.storage(nr) if variable is None else variable._storage
        data = value if variable is None else variable._data
        if variable is None and storage is not None and storage.array is not None:
            data = storage.array
    if storage is not None and storage.version != expected:
        raise RuntimeError(modified(data, carrier, nr, storage.version, expected))
    return data, value if isinstance(value, TensorBase) else None


def modified(data: Any, carrier: Node | None, nr: int, version: int, expected: int) -> str:
    """PyTorch's text for a saved value that was written to."""
    kind = f"torch.{dtypes.of(data).title}Tensor {list(data.shape)}"
    origin = ""
    if carrier is not None and not hasattr(carrier, "variable"):
        origin = f", which is output {nr} of {carrier.name()},"
    return (
        "one of the variables needed for gradient computation has been modified by an inplace operation: "
        f"[{kind}]{origin} is at version {version}; expected version {expected} instead. Hint: enable anomaly detection to "
        "find the operation that failed to compute its gradient, with torch.autograd.set_detect_anomaly(True)."
    )


def saved(node: Any, name: str, wrapped: bool = True) -> Any:
    """The value that `node` saved as `name`, as a tensor of its graph or a plain Python value.

    A Python number in the place of a tensor is given as a tensor to readers (`wrapped`) and as a number to vjps.
    """
    op = node.op
    data, tensor = unpack(node, name)
    if tensor is not None:
        return tensor
    if name not in op.tensors or data is None:
        return data
    if not isinstance(data, RAW):
        return wrap(np.array(data)) if wrapped and name in op.inputs else data
    if name == "result":
        t = attach(data, node, 0)
        t._storage = node.storage(0)
        return t
    carrier, nr = node.next_functions[op.inputs.index(name)]
    variable = getattr(carrier, "variable", None)
    if variable is not None:
        return variable
    t = attach(data, carrier, nr)
    t._storage = carrier.storage(nr)
    return t


# ── calls ───────────────────────────────────────────────────────────────────────────────────────────────────────────


def make_call(op: Op) -> Any:
    """The function that runs an op on tensors: one written out for plain unary and binary ops, else the general one."""
    names = {n for n, _ in op.saved}
    plain = op.elementwise and not op.view and not op.defaults
    if plain and len(op.inputs) == 1 and op.inputs[0] == op.params[0] and names <= {*op.params, "result"}:
        return make_fast(op, UNARY)
    if plain and op.promoted == (0, 1) and len(op.inputs) == 2 and names <= {*op.params, "result"}:
        return make_fast(op, BINARY)

    def call(*args: Any, **kwargs: Any) -> Any:
        return dispatch(op, args, kwargs)

    return call


UNARY = """\
def call(input{rest}):
    if modes.active or not isinstance(input, TensorBase) or input._storage is not None:
        return dispatch(op, (input{rest},), {{}})
    a = input._data
    if a.__class__ not in SCALARS and a.dtype not in ARRAYS:
        return dispatch(op, (input{rest},), {{}})
    try:
        out = enter(kernel, a{rest})
    except RuntimeError:
        out = quiet(kernel, a{rest})
    n0 = input._fn
    if n0 is None:
        if input._acc is None:
            return wrap(out)
        n0 = accumulator(input)
    node = new(Node)
    node._next = (n0,)
    node._nrs = None if input._nr == 0 else (input._nr,)
    node._check = None
    {keep}
    node._cast = node._storage = node._extra = None
    node._seq = tick()
    return attach(out, node)
"""

BINARY = """\
def call(input, {other}):
    if modes.active or not isinstance(input, TensorBase) or input._storage is not None:
        return dispatch(op, (input, {other}), {{}})
    a = input._data
    cast = n1 = None
    nr = 0
    if {other}.__class__ is float or {other}.__class__ is int:
        if a.__class__ not in SCALARS and a.dtype not in ARRAYS:
            return dispatch(op, (input, {other}), {{}})
        b = {other}
    elif not isinstance({other}, TensorBase) or {other}._storage is not None:
        return dispatch(op, (input, {other}), {{}})
    else:
        b = {other}._data
        if a.__class__ is not b.__class__ or a.__class__ not in SCALARS:
            if a.dtype is not b.dtype or a.dtype not in ARRAYS:
                return dispatch(op, (input, {other}), {{}})
            if a.shape != b.shape:
                check_broadcast(a.shape, b.shape)
                cast = True
        n1 = {other}._fn
        if n1 is None and {other}._acc is not None:
            n1 = accumulator({other})
        nr = {other}._nr
    try:
        out = enter(kernel, a, b)
    except RuntimeError:
        out = quiet(kernel, a, b)
    n0 = input._fn
    if n0 is None:
        if input._acc is not None:
            n0 = accumulator(input)
        elif n1 is None:
            return wrap(out)
    node = new(Node)
    node._next = (n0, n1)
    node._nrs = None if input._nr == 0 == nr else (input._nr, nr)
    node._check = None
    {keep}
    node._cast = casts((n0, n1), (a, b), out) if cast else None
    node._storage = node._extra = None
    node._seq = tick()
    return attach(out, node)
"""


def make_fast(op: Op, template: str) -> Any:
    """The call of a plain elementwise op on float32 or float64 tensors, written out for its inputs and saved names.

    Whatever is not plain (modes, other dtypes, shared memory) it hands to `dispatch`. Twice as fast as closures over
    flags, which is what a scalar graph's speed hangs on.
    """
    keep = "; ".join(keep_text(op, name, users) for name, users in op.saved) or "pass"
    text = template.format(rest="".join(", " + p for p in op.params[1:]), other=op.params[-1], keep=keep)
    scope = {
        "modes": modes, "TensorBase": TensorBase, "dispatch": dispatch, "op": op, "SCALARS": FAST_SCALARS, "ARRAYS": FAST_ARRAYS,
        "enter": modes.enter, "quiet": quiet, "kernel": op.kernel, "wrap": wrap, "accumulator": accumulator, "new": object.__new__,
        "Node": op.node, "tick": sequence_numbers.__next__, "attach": attach, "check_broadcast": check_broadcast, "casts": casts,
        "constant": constant,
    }  # fmt: skip
    exec(text, scope)
    return scope["call"]


def keep_text(op: Op, name: str, users: tuple[int, ...]) -> str:
    """The statement that saves `name` where an input needs it."""
    slot = "node._raw_" + name
    wanted = " or ".join(f"n{i} is not None" for i in users)
    if len(op.inputs) == 1:
        return f"{slot} = " + {"result": "out", op.params[0]: "a"}.get(name, name)
    if name == "result":
        return f"{slot} = out if {wanted} else None"
    data, tensor, node = (("a", "input", "n0") if name == op.params[0] else ("b", name, "n1"))
    kept = f"{data} if {node} is not None or {data} is {tensor} else constant(node, {tensor})"
    return f"{slot} = ({kept}) if {wanted} else None"


def constant(node: Any, tensor: TensorBase) -> TensorBase:
    """Save a tensor that belongs to no graph, as it is."""
    node._check = CONSTANTS
    return tensor


CONSTANTS: tuple[Any, ...] = ()  # in `Node._check`: constants were saved, all at version 0


def casts(targets: Any, raws: Any, out: Any) -> Any:
    """What `uncast` must undo per input of an elementwise op; None when nothing."""
    kinds = tuple(
        None if n is None or (r.shape == out.shape and r.dtype == out.dtype) else (r.shape, r.dtype)
        for n, r in zip(targets, raws, strict=True)
    )
    return kinds if any(kinds) else None


def check_broadcast(a: tuple[int, ...], b: tuple[int, ...]) -> None:
    """RuntimeError with PyTorch's text unless the shapes broadcast."""
    n = max(len(a), len(b))
    for i in range(n):
        x, y = (s[i - n + len(s)] if i - n + len(s) >= 0 else 1 for s in (a, b))
        if x != y and x != 1 and y != 1:
            raise RuntimeError(
                f"The size of tensor a ({x}) must match the size of tensor b ({y}) at non-singleton dimension {i}"
            )


def prepare(op: Op, values: list[Any]) -> list[Any]:
    """Raw arguments for the kernel: shapes checked, dtypes promoted."""
    raws = [v._data if isinstance(v, TensorBase) else v for v in values]
    if not op.promoted:
        return raws
    at = [i for i in op.promoted if isinstance(raws[i], RAW)]
    for i in at[1:]:
        check_broadcast(raws[at[0]].shape, raws[i].shape)
    dtype = dtypes.result_type(*(raws[i] for i in op.promoted))
    if op.floating:
        dtype = dtypes.floating(dtype)
    for i in at:
        raws[i] = raws[i] if raws[i].dtype == dtype else raws[i].astype(dtype)
    return raws


def dispatch(op: Op, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    """Run an op in general: any arguments, dtypes, modes and observers."""
    values = op.bind(args, kwargs)
    check_tensor(op, values)
    raws = prepare(op, values)
    if op.view:
        share(values[0])
        raws[0] = values[0]._data
    out = quiet(op.kernel, *raws)
    node = record(op, values, out) if modes.is_grad_enabled() else None
    result = share_view(op, values, out) if op.view else wrap(out)
    if node is not None:
        result._fn = node
        if result._storage is not None:
            node._storage = result._storage
    if modes.active:
        for observer in modes.observers():
            observer.forward(op, values, result)
    return result


share_view: Any = None  # set by `inplace`: how the result of a view op is tied to its base


class Unsupported(TypeError):
    """An operand that is neither a tensor nor a number; operators then leave it to the other side."""


def check_tensor(op: Op, values: list[Any]) -> None:
    """TypeError with PyTorch's text unless the operands are tensors, or numbers beside a tensor."""
    any_tensor = False
    for i, v in enumerate(values):
        if isinstance(v, np.generic):
            values[i] = v.item()
        elif isinstance(v, TensorBase):
            any_tensor = True
        elif op.elementwise and not isinstance(v, (int, float, complex)):
            raise Unsupported(f"{op.name}(): argument '{op.params[i]}' must be Tensor, not {type(v).__name__}")
    if not any_tensor:
        raise Unsupported(f"{op.name}(): argument 'input' (position 1) must be Tensor, not {type(values[0]).__name__}")


def record(op: Op, values: list[Any], out: Any) -> Node | None:
    """The node of an op that ran; None when no input needs a gradient."""
    inputs = [values[op.params.index(n)] for n in op.inputs]
    targets = tuple(edge(t) if isinstance(t, TensorBase) else None for t in inputs)
    if not any(n is not None for n in targets) or out.dtype not in dtypes.DIFFERENTIABLE:
        return None
    node: Any = object.__new__(op.node)
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
    if op.elementwise and len(op.inputs) > 1:
        node._cast = casts(targets, [t._data if isinstance(t, TensorBase) else out for t in inputs], out)
    elif op.elementwise and targets[0] is not None:
        node._cast = casts(targets, (inputs[0]._data,), out)
    return node


def keep(op: Op, name: str, values: list[Any], targets: tuple[Any, ...], out: Any) -> tuple[Any, int | None]:
    """What a node keeps of `name`, and its version. See Note [Saved values]."""
    if name == "result":
        return out, 0
    if name.endswith("_sym_sizes"):
        return values[op.params.index(name.removesuffix("_sym_sizes"))]._data.shape, None
    if name.endswith("_scalar_type"):
        return values[op.params.index(name.removesuffix("_scalar_type"))]._data.dtype, None
    value = values[op.params.index(name)]
    if not isinstance(value, TensorBase):
        return value, None
    if name in op.inputs and targets[op.inputs.index(name)] is not None:
        return value._data, value._version
    return value, value._version
