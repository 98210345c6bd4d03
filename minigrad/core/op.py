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
    """Return the names of the positional parameters of a function, or its `params`, which are other names for
    them.
    """
    if hasattr(function, "params"):
        return function.params
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


class SavedValue(NamedTuple):
    """How a node saves one value, under `name`, for the vjps of the inputs with the numbers `users`.

    `slot` is where, `what` is the kind of value, `position` the number of the parameter (or result) it is
    about, `k` the number of that among the inputs. `user` is the input that must need a gradient for the
    value to be saved; None if it is always saved. `derive` is the function that derives the value, if it is
    derived. PyTorch saves a value in any case where there is only one input, where several vjps take the
    value, and for ops that are derivatives.
    """

    name: str
    users: tuple[int, ...]
    slot: str
    user: int | None
    what: str
    position: int
    k: int
    derive: Any


class Op:
    """An op as declared.

    `params` are its parameter names, `defaults` the values of the last of them. `inputs` are the
    differentiable parameters, `places` their positions and `vjps` their vjps.

    What follows from this is computed once, here. Of the values that a node saves there is one table,
    `saved` (see `SavedValue`), and four views of it: `plan`, its last six columns as plain tuples, which are
    unpacked in a third of the time; `fetch`, which reads the slots of all values at once; `checks`, what is
    asked of those that stand for tensors and may have been modified or freed; and `releases`, their slots.
    Of the vjps, `pulls` has for each gradient to compute the number of the input, its vjp, and what picks the
    saved values that it takes; `complex_pulls` the same for complex numbers, with the numbers of the saved
    values and whether these are conjugated. `kinds` are per parameter the classes that are accepted besides
    tensors (None: any); `passes` are the ordinary dtypes that `check` accepts.

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
        self.saved = tuple(self._saved_values())
        self.plan = tuple(tuple(s[2:]) for s in self.saved)
        self.fetch = fetcher([s.slot for s in self.saved])
        self.checks = tuple((n, s.what, s.k) for n, s in enumerate(self.saved) if s.derive is None)
        self.releases = tuple((s.slot, s.what is ARGUMENT) for s in self.saved if s.derive is None)
        self.node: type[Node] = Node
        self.kinds = tuple(map(self._kinds, self.params))
        self.passes = frozenset(d.numpy for d in (float32, float64) if self._takes(d))
        shared = {getattr(vjp, "together", None) for vjp in vjps.values()}
        self.together = shared.pop() if len(shared) == 1 else None
        order = sorted(self.inputs)
        self.pulls = tuple((*pull, picker(names)) for *pull, names in self._taking(self.vjps, order))
        self.complex_pulls = tuple(
            (i, vjp, names, self.inputs[i] not in self.complexes)
            for i, vjp, names in self._taking({**self.vjps, **self.complexes}, order)
        )
        self.rows = tuple(self._taking(self.rows, list(self.rows)))

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the saved values."""
        return tuple(s.name for s in self.saved)

    @property
    def tensors(self) -> frozenset[str]:
        """The names of the saved values that stand for tensors."""
        return frozenset(s.name for s in self.saved if s.derive is None)

    @property
    def is_single(self) -> bool:
        """Whether there is one input, one result and so one vjp."""
        return len(self.pulls) == 1 and not (self.several or self.listed or self.together)

    def _saved_values(self) -> Iterator[SavedValue]:
        for name, users in self._users():
            always = self.listed or len(self.inputs) == 1 or len(users) > 1 or "backward" in self.name
            slot, asked = "_raw_" + name, None if always else users[0]
            suffix = next((s for s in DERIVED if name.endswith(s)), "")
            if name in self.results:
                yield SavedValue(name, users, slot, asked, RESULT, self.results.index(name), 0, None)
                continue
            position = self.params.index(name.removesuffix(suffix))
            if suffix:
                yield SavedValue(name, users, slot, asked, DERIVED_FROM, position, 0, DERIVE[suffix])
            elif name in self.inputs:
                yield SavedValue(name, users, slot, asked, INPUT, position, self.inputs.index(name), None)
            else:
                yield SavedValue(name, users, slot, asked, ARGUMENT, position, 0, None)

    def _taking(self, vjps: Any, inputs: list[str]) -> Iterator[tuple[int, Any, tuple[int, ...]]]:
        """Yield the number of each input, its vjp, and the numbers of the saved values that the vjp takes."""
        names = self.names
        for name in inputs:
            yield self.inputs.index(name), vjps[name], tuple(map(names.index, arguments(vjps[name])))

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

    @property
    def is_plain_elementwise(self) -> bool:
        """Whether the op is plain elementwise: of one tensor, of two, or of a tensor and a number."""
        plain = self.elementwise and self.numbers and not (self.view or self.defaults or self.several)
        if not plain or len(self.params) > 2 or self.params[0] != "self":
            return False
        if not {*self.names} <= {*self.params, "result"}:
            return False
        return self.inputs == self.params[:1] or (self.promoted == (0, 1) and self.inputs == self.params)

    def _users(self) -> list[tuple[str, tuple[int, ...]]]:
        """Return the names that the vjps take, in the order in which PyTorch sorts what a node saved (results
        last, else by name), each with the numbers of the inputs whose vjp takes it.
        """
        users: dict[str, list[int]] = {}
        for i, vjp in enumerate(self.vjps.values()):
            for name in (*arguments(vjp), *arguments(self.complexes.get(self.inputs[i], vjp))):
                if name not in (*self.params, *self.results) and not name.endswith(DERIVED):
                    raise TypeError(
                        f"the vjp of {self.name} asks for {name!r}, which is neither a parameter nor 'result'"
                    )
                if i not in users.setdefault(name, []):
                    users[name].append(i)
        order = sorted(users, key=lambda name: (name in self.results, name))
        return [(name, tuple(users[name])) for name in order]

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


def fetcher(slots: list[str]) -> Any:
    """Return a function that reads these attributes of a node, as a list or tuple."""
    if len(slots) > 1:
        return attrgetter(*slots)
    return (lambda node: (getattr(node, slots[0]),)) if slots else lambda node: ()


def picker(places: tuple[int, ...]) -> Any:
    """Return a function that picks the items at these positions of a list or tuple."""
    if len(places) > 1:
        return itemgetter(*places)
    return itemgetter(slice(places[0], places[0] + 1)) if places else lambda values: ()
