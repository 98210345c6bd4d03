"""`Op`, an op as declared, and `F`, all of them by name, whose modules are loaded when they are asked for."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..graph import Node

RAW = (np.ndarray, np.generic)
# What a vjp may ask of a tensor input instead of its numbers: shape, strides (in elements), dtype, count.
DERIVED = ("_sym_sizes", "_sym_strides", "_scalar_type", "_sym_numel")
# Names that PyTorch takes too.
OTHER_NAMES = {"input": "self", "axis": "dim", "keepdims": "keepdim"}
# Parameters that promote although they may not be differentiable.
OPERANDS = ("self", "other", "exponent", "min", "max")
# Parameters for which a tensor may be given although they are no inputs.
BESIDE = ("index", "indices", "target", "weight", "mask", "running_mean", "running_var")


class Registry:
    """`F`: every declared op by name, on arrays (its kernel), tensors (the op) and symbols.

    It fills as ops are declared, so that a vjp can use an op of a module that its own cannot import. An op
    that is not there yet is declared by loading its module.
    """

    def __getattr__(self, name: str) -> Any:
        if not name.startswith("__"):
            load_op(name)
        try:
            return vars(self)[name]
        except KeyError:
            raise AttributeError(f"no op is called {name!r}") from None


load_op: Any = None  # loads the module of an op,
load_all: Any = None  # all of them


def connect_modules(one: Any, all_of_them: Any) -> None:
    """Let `ops`, which stands above, say how the modules that declare ops are loaded."""
    global load_op, load_all
    load_op, load_all = one, all_of_them


F: Any = Registry()
KERNELS: Any = Registry()  # `F` for vjps on raw arrays and
CALLS: Any = Registry()  # on tensors, without asking what the arguments are: see Note [One text, three kinds]
OPS: dict[str, Op] = {}  # by the name of its node in PyTorch 2; only those that were loaded: see `all_ops`


class Op:
    """An op as declared.

    `params` are its parameter names, `defaults` the values of the last of them, `inputs` the
    differentiable ones, `places` their places among the parameters and `vjps` their vjps. `saved` lists
    (name, indices of the inputs whose vjp wants it); `tensors` are the saved names that stand for
    tensors, and `kept` and `looked` are for `saved`. `elementwise` ops broadcast and promote, `promoted`
    being the places of their operands (others may say that they only `broadcasts`); `linear` ones are linear
    in all inputs together,
    `multilinear` ones in each, `jvp` is the tangent's formula where these do not give it (see Note
    [Forward mode]);
    `floating` ones make integers the
    default float first; the result of a `view` shares memory with its first argument; `check` is called
    with the dtypes of the operands, before promotion, and raises for those that the op refuses. The
    kernel of an op with `several` results gives a tuple of them, and its vjp takes a list of gradients
    with None for those that nobody sent; `several` may be their names, in `results`, by which vjps ask for
    them (it then `is_named`). `beside` are the parameters for which tensors may be given that are no inputs.
    The gradients of an op that `casts` are brought back to the dtypes of its inputs.
    `constants` are the results that nothing comes back through; the `free` parameters, whose default is None
    or a text, need be neither tensor nor number. The first parameter of a `listed` op is a list of tensors;
    its one vjp gives a list of gradients. `bit` is the bit of `TensorBase._bits` that a view op turns, whose
    kernel then is for raw arrays only. For `complexes` see Note [Complex numbers] in `nodes`.
    """

    __slots__ = (
        "name",
        "kernel",
        "params",
        "defaults",
        "inputs",
        "places",
        "vjps",
        "saved",
        "kept",
        "looked",
        "tensors",
        "promoted",
        "elementwise",
        "broadcasts",
        "linear",
        "multilinear",
        "jvp",
        "floating",
        "view",
        "check",
        "several",
        "results",
        "casts",
        "is_named",
        "beside",
        "constants",
        "free",
        "listed",
        "bit",
        "complexes",
        "complex_node",
        "node",
        "observed",
    )

    def __init__(
        self, name: str, kernel: Any, signature: Any, vjps: dict[str, Any], flags: dict[str, Any]
    ) -> None:
        code = signature.__code__
        self.name = name
        self.kernel = kernel
        self.params = code.co_varnames[: code.co_argcount]
        self.defaults = signature.__defaults__ or ()
        self.inputs = tuple(vjps)
        self.places = tuple(self.params.index(n) for n in self.inputs)
        self.vjps = vjps
        self.elementwise, self.linear = flags["elementwise"], flags["linear"]
        self.multilinear, self.jvp = flags["multilinear"], flags["jvp"]
        self.broadcasts = self.elementwise or flags["broadcasts"]
        self.floating, self.view, self.check = flags["floating"], flags["view"], flags["check"]
        self.several, self.listed = bool(flags["several"]), flags["listed"]
        self.results = flags["several"] if isinstance(flags["several"], tuple) else ("result",)
        self.is_named = self.results != ("result",)
        self.beside = tuple(n for n in self.params if n in BESIDE and n not in vjps and not self.elementwise)
        self.casts = not {"dtype", "reduction"}.isdisjoint(self.params)
        self.constants = flags["constants"]
        defaults = zip(reversed(self.params), reversed(self.defaults), strict=False)
        self.free = frozenset(n for n, value in defaults if value is None or isinstance(value, str))
        self.bit, self.complexes = flags["bit"], flags["complexes"]
        self.complex_node: type[Node] | None = None
        promotes = self.elementwise and flags["promotes"]
        operands = (*self.inputs, *OPERANDS) if promotes else ()
        self.promoted = tuple(i for i, p in enumerate(self.params) if p in operands)
        self.saved = self._saved_names()
        self.kept: Any = None
        self.looked: Any = None
        self.tensors = frozenset(n for n, _ in self.saved if n in self.params or n in self.results)
        self.node: type[Node] = Node
        self.observed: Any = None  # a plain op as `dispatch` runs it while somebody observes

    def _saved_names(self) -> tuple[tuple[str, tuple[int, ...]], ...]:
        users: dict[str, list[int]] = {}
        for i, vjp in enumerate(self.vjps.values()):
            for name in (*arguments(vjp), *arguments(self.complexes.get(self.inputs[i], vjp))):
                if name not in (*self.params, *self.results) and not name.endswith(DERIVED):
                    raise TypeError(
                        f"the vjp of {self.name} asks for {name!r}, which is neither a parameter nor 'result'"
                    )
                if i not in users.setdefault(name, []):
                    users[name].append(i)
        return tuple((name, tuple(i)) for name, i in users.items())

    def written(self, values: Any) -> tuple[Any, ...]:
        """The arguments as somebody would write them: without those at the end that are the defaults."""
        kept = list(values)
        defaults = list(self.defaults)
        while defaults and len(kept) == len(self.params) - len(self.defaults) + len(defaults):
            last = defaults.pop()
            if kept[-1] is not last:
                break
            kept.pop()
        return tuple(kept)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """All arguments in the order of `params`; TypeError as Python gives it."""
        if not kwargs and len(self.params) == len(args):
            return list(args)
        if len(args) > len(self.params):
            raise TypeError(
                f"{self.name}() takes {len(self.params)} positional arguments but {len(args)} were given"
            )
        values = dict(zip(self.params, args, strict=False))
        for name, value in kwargs.items():
            name = OTHER_NAMES.get(name, name)
            if name not in self.params:
                raise TypeError(f"{self.name}() got an unexpected keyword argument '{name}'")
            if name in values:
                raise TypeError(f"{self.name}() got multiple values for argument '{name}'")
            values[name] = value
        optional = self.params[len(self.params) - len(self.defaults) :]
        defaults = dict(zip(optional, self.defaults, strict=True))
        try:
            return [values[n] if n in values else defaults[n] for n in self.params]
        except KeyError as error:
            raise TypeError(f"{self.name}() missing required argument {error}") from None


def all_ops() -> dict[str, Op]:
    """Every op by the name of its node in PyTorch 2; also fills `F`."""
    load_all()
    return OPS


def arguments(vjp: Any) -> tuple[str, ...]:
    """The names that a vjp asks for, `g` left out."""
    return vjp.__code__.co_varnames[1 : vjp.__code__.co_argcount]


def jointly(function: Any, *inputs: str) -> dict[str, Any]:
    """The vjps of `inputs` whose gradients come from one op: `function(g, wanted, …)` gives all of them, and
    `wanted` says of each whether it is asked for. On raw arrays it is called once for all.
    """
    names = ", ".join(arguments(function)[1:])
    vjps = {}
    for i, name in enumerate(inputs):
        scope: dict[str, Any] = {"function": function, "wanted": tuple(i == k for k in range(len(inputs)))}
        vjp = eval(f"lambda g, {names}: function(g, wanted, {names})[{i}]", scope)
        vjp.together = function
        vjps[name] = vjp
    return vjps
