"""`Op`, the plan of an op, and `F`, all ops by name."""

from __future__ import annotations

from collections.abc import Iterator
from operator import attrgetter, itemgetter
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .dtypes import dtype, float32, float64
from .node import Node
from .storage import strides_of

# ─── What a vjp takes, and vjps whose gradients come from one function


def parameters(function: Any) -> tuple[str, ...]:
    """Return the names of the positional parameters of a function."""
    code = function.__code__
    return code.co_varnames[: code.co_argcount]


def arguments(vjp: Any) -> tuple[str, ...]:
    """Return the names that a vjp takes, without `g`. A vjp may be an op of `F`; then `g` is its first."""
    if hasattr(vjp, "op"):
        return vjp.op.params[1:]
    return vjp.names if hasattr(vjp, "names") else parameters(vjp)[1:]


class Part:
    """The vjp of one input of an op whose gradients come from one function, `together(g, wanted, …)`. That
    function returns all gradients; `wanted` says for each input whether its gradient is needed.
    """

    def __init__(self, together: Any, i: int, count: int) -> None:
        self.together, self.names, self.i = together, parameters(together)[2:], i
        self.wanted = tuple(i == k for k in range(count))

    def __call__(self, g: Any, *values: Any) -> Any:
        return self.together(g, self.wanted, *values)[self.i]


def jointly(function: Any, *inputs: str) -> dict[str, Any]:
    """Return the vjps of `inputs` whose gradients come from one function. See `Part`. On raw arrays the
    function is called once for all inputs.
    """
    return {name: Part(function, i, len(inputs)) for i, name in enumerate(inputs)}


# ─── `Op`, the plan of an op, and `F`, all ops by name


RAW = (np.ndarray, np.generic)
# What a vjp may take of a tensor input instead of its numbers: shape, strides (in elements), dtype, size.
DERIVE: dict[str, Any] = {
    "_sym_sizes": attrgetter("shape"),
    "_sym_numel": attrgetter("size"),
    "_sym_strides": strides_of,
    "_scalar_type": attrgetter("dtype"),
    "_info": attrgetter("shape"),  # its shape again, where PyTorch's node has an info that it does not show
}
DERIVED = tuple(DERIVE)
# Other names of parameters that PyTorch accepts too.
OTHER_NAMES = {"input": "self", "axis": "dim", "keepdims": "keepdim"}
# Parameters that promote although they may not be differentiable.
OPERANDS = ("self", "other", "exponent", "min", "max")


class Registry:
    """`F`: every declared op by name. It runs on arrays (the kernel), tensors (the op) and symbols.

    It is filled as ops are declared, so a vjp can use an op of a module that its own module cannot import.
    """


F: Any = Registry()
OPS: dict[str, Op] = {}  # by the name of its node in PyTorch 2


def composite(function: Any) -> Any:
    """Add a function to `F` that is not an op but made of ops. It distinguishes arrays, tensors and symbols
    itself.
    """
    setattr(F, function.__name__, function)
    function.kernel = function
    return function


def is_symbol(x: Any) -> bool:
    """Return whether a value is a symbol, on which a vjp writes its formula."""
    return hasattr(x.__class__, "__minigrad_symbol__")


def zeros(g: Any) -> Any:
    """The vjp of an input that an op reads but does not vary with, such as the mask of a gradient."""
    return F.zeros_like(g)


# What a saved value is: an input, a result, an argument that is not an input, or something derived from one.
INPUT, RESULT, ARGUMENT, DERIVED_FROM = "input", "result", "argument", "derived"
NUMBER_CLASSES = frozenset((int, float, complex, bool))
NO_CLASSES: frozenset[type] = frozenset()


class Keep(NamedTuple):
    """How a node saves one value.

    `slot` is where, `what` is the kind of value, `place` the number of the parameter (or result) it is about,
    `k` the number of that among the inputs. `user` is the input that must need a gradient for the value to be
    saved; None if it is always saved. `derive` is the function that derives the value, if it is derived.
    PyTorch saves a value in any case where there is only one input, where several vjps take the value, and
    for ops that are derivatives.
    """

    slot: str
    user: int | None
    what: str
    place: int
    k: int
    derive: Any


class Op:
    """An op as declared.

    `params` are its parameter names, `defaults` the values of the last of them. `inputs` are the
    differentiable parameters, `places` their positions and `vjps` their vjps. `saved` lists (name, indices of
    the inputs whose vjp takes it), `names` these names; `tensors` are those that stand for tensors.

    What follows from this is computed once, here: `keeps` (see `Keep`); `plan`, the same in tuples, which are
    unpacked in a third of the time; `reads`, of each what reading takes; `values`, which reads several at
    once, and `checks`, those that may have been modified or freed; `pulls`, of each gradient to compute the
    number of the input, its vjp, and what picks the saved values that it takes; `complex_pulls`, the same for
    complex numbers with the numbers of the saved values, and whether these are conjugated; `is_single`,
    whether there is one input, one result and so one vjp; `kept_results`, the numbers and names of several
    results that are saved; `releases`, the slots of saved tensors; `runs_plainly`, whether `ordinary` may
    run the op; `kinds`, per parameter the classes that are accepted besides tensors (None: any); `passes`,
    the ordinary dtypes that `check` accepts.

    `elementwise` ops broadcast and promote; `promoted` are the positions of their operands, all but one of
    which may be a number if the op takes `numbers`, and all of them if it takes `lone_numbers`. Other ops may
    only be `broadcasts`. `linear` ops are linear in all inputs together but those whose vjp is `zeros`;
    `multilinear` ops are linear in each input.
    `jvp` is the formula of the tangent where these do not give it (see Note [Forward mode]). `floating` ops
    convert integers to the default float dtype first. The result of a `view` shares memory with its first
    argument. `check` is called with the dtypes of the operands, before promotion, and raises for those that
    the op refuses.

    The kernel of an op with `several` results returns a tuple, and its vjp takes a list of gradients, with
    None for results without a gradient. `several` may be their names, in `results`, by which vjps can take
    them. The gradients of an op that `casts` are converted back to the dtypes of its inputs. `constants` are
    the results through which no gradient flows back. The `free` parameters, whose default is None or a text,
    need be neither tensor nor number. The first parameter of a `listed` op is a list of tensors; its one vjp
    returns a list of gradients. `bit` is the bit of `TensorBase._bits` that a view op turns; its kernel then
    works only on raw arrays. For `complexes` see Note [Complex numbers] in `apply`. `rows` are vjps of
    gradients with rows (see `apply_rows`).
    """

    # What a declaration may say; these are the defaults.
    elementwise = broadcasts = linear = multilinear = floating = view = listed = False
    promotes = numbers = True
    lone_numbers = False
    several: Any = False  # or their names
    constants: tuple[str, ...] = ()
    bit = 0
    jvp: Any = None
    check: Any = None
    complexes: Any = MappingProxyType({})
    rows: Any = MappingProxyType({})

    def __init__(
        self, name: str, kernel: Any, signature: Any, vjps: dict[str, Any], flags: dict[str, Any]
    ) -> None:
        vars(self).update(flags)
        self.name = name
        self.kernel = kernel
        self.params = parameters(signature)
        self.defaults = signature.__defaults__ or ()
        self.inputs = tuple(sorted(vjps, key=self.params.index))
        self.places = tuple(self.params.index(n) for n in self.inputs)
        self.pick = picker(self.places)
        self.vjps = {name: vjps[name] for name in self.inputs}
        self.broadcasts = self.elementwise or self.broadcasts
        self.results = self.several if isinstance(self.several, tuple) else ("result",)
        self.several = bool(self.several)
        self.casts = not {"dtype", "reduction"}.isdisjoint(self.params)
        defaults = zip(reversed(self.params), reversed(self.defaults), strict=False)
        self.free = frozenset(n for n, value in defaults if value is None or isinstance(value, str))
        self.complex_node: type[Node] | None = None
        self.call: Any = None  # the function that runs the op, of plain arguments in short ways
        operands = (*self.inputs, *OPERANDS) if self.elementwise and self.promotes else ()
        self.promoted = tuple(i for i, p in enumerate(self.params) if p in operands)
        self.saved = self._saved_names()
        self.names = tuple(name for name, _ in self.saved)
        self.tensors = frozenset(n for n, _ in self.saved if n in self.params or n in self.results)
        kept = sorted(self.tensors & set(self.results)) if len(self.results) > 1 else ()
        self.kept_results = tuple((self.results.index(n), n) for n in kept)
        self.node: type[Node] = Node
        self.keeps = tuple(self._keep(name, users) for name, users in self.saved)
        self.plan = tuple(map(tuple, self.keeps))
        self.reads = tuple((k.slot, k.what, k.k) for k in self.keeps)
        self.values = attrgetter(*(k.slot for k in self.keeps)) if len(self.keeps) > 1 else None
        self.checks = tuple((n, k.what, k.k) for n, k in enumerate(self.keeps) if k.derive is None)
        self.releases = tuple((k.slot, k.what is ARGUMENT) for k in self.keeps if k.derive is None)
        self.kinds = tuple(map(self._kinds, self.params))
        self.passes = frozenset(d.numpy for d in (float32, float64) if self._takes(d))
        shared = {getattr(vjp, "together", None) for vjp in vjps.values()}
        self.together = shared.pop() if len(shared) == 1 else None
        self.fast = self._is_fast()
        required = self.params[: len(self.params) - len(self.defaults)]
        self.runs_plainly = bool(self.places) and not (self.bit or "dtype" in required)
        order = sorted(self.inputs)
        self.pulls = tuple((*pull, picker(names)) for *pull, names in self._taking(self.vjps, order))
        self.complex_pulls = tuple(
            (i, vjp, names, self.inputs[i] not in self.complexes)
            for i, vjp, names in self._taking({**self.vjps, **self.complexes}, order)
        )
        self.rows = tuple(self._taking(self.rows, list(self.rows)))
        self.is_ordinary = not (self.several or self.listed or self.together)
        self.is_single = len(self.pulls) == 1 and self.is_ordinary

    def _keep(self, name: str, users: tuple[int, ...]) -> Keep:
        always = self.listed or len(self.inputs) == 1 or len(users) > 1 or "backward" in self.name
        asked = None if always else users[0]
        if name in self.results:
            return Keep("_raw_" + name, asked, RESULT, self.results.index(name), 0, None)
        suffix = next((s for s in DERIVED if name.endswith(s)), "")
        place = self.params.index(name.removesuffix(suffix))
        if suffix:
            return Keep("_raw_" + name, asked, DERIVED_FROM, place, 0, DERIVE[suffix])
        k = self.inputs.index(name) if name in self.inputs else 0
        return Keep("_raw_" + name, asked, INPUT if name in self.inputs else ARGUMENT, place, k, None)

    def _taking(self, vjps: Any, inputs: list[str]) -> Iterator[tuple[int, Any, tuple[int, ...]]]:
        """Yield the number of each input, its vjp, and the numbers of the saved values that the vjp takes."""
        for name in inputs:
            yield self.inputs.index(name), vjps[name], tuple(map(self.names.index, arguments(vjps[name])))

    def _kinds(self, name: str) -> frozenset[type] | None:
        if self.elementwise and self.numbers:
            return NUMBER_CLASSES | {str, type(None)} if name in self.free else NUMBER_CLASSES
        is_operand = name in self.inputs or self.elementwise
        return NO_CLASSES if is_operand and name not in self.free else None

    def _takes(self, kind: dtype) -> bool:
        """Return whether `check` accepts operands of a dtype."""
        if self.check is None:
            return True
        try:
            self.check([kind] * len(self.promoted))
        except (RuntimeError, TypeError):
            return False
        return True

    def _is_fast(self) -> bool:
        """Return whether the op is plain elementwise: of one tensor, of two, or of a tensor and a number."""
        names = {n for n, _ in self.saved}
        plain = self.elementwise and self.numbers and not (self.view or self.defaults or self.several)
        if not plain or len(self.params) > 2 or self.params[0] != "self":
            return False
        if not names <= {*self.params, "result"}:
            return False
        return self.inputs == self.params[:1] or (self.promoted == (0, 1) and self.inputs == self.params)

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
        return tuple((name, tuple(users[name])) for name in sorted(users, key=self._reading_order))

    def _reading_order(self, name: str) -> tuple[bool, str]:
        """Return the key by which PyTorch sorts what a node saved: results last, else by name."""
        return name in self.results, name

    def written(self, values: Any) -> tuple[Any, ...]:
        """Return the arguments as a user would write them: without defaults at the end."""
        kept = list(values)
        defaults = list(self.defaults)
        while defaults and len(kept) == len(self.params) - len(self.defaults) + len(defaults):
            last = defaults.pop()
            if kept[-1] is not last:
                break
            kept.pop()
        return tuple(kept)

    def bind(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> list[Any]:
        """Return all arguments in the order of `params`; TypeError with Python's text."""
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
    """Return every op by the name of its node in PyTorch 2."""
    return OPS


def picker(places: tuple[int, ...]) -> Any:
    """Return a function that picks the items at these positions of a list or tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1)) if places else lambda values: ()
