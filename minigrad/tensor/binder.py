"""Arguments as PyTorch's signatures say: how a public function gets the ones that its user passed.

The signatures in `tables/signatures.txt` say what every parameter takes. A public function receives its
arguments converted accordingly: an integer that stands for a list is a tuple, a number of NumPy's is
Python's, a Python type is a dtype, NumPy's names of arguments are PyTorch's. No function converts by itself.

What has to be done depends on the classes of the arguments, so it is worked out once for each combination, as
a `Plan`, and looked up afterwards. Arguments that never need it, such as leading tensors, are passed on
without even that. If anything fails, whatever the error is, the arguments are checked as PyTorch would have
done first, and its error is the one that is raised.
"""

from __future__ import annotations

import functools
import inspect
import operator
import sys
from collections.abc import Callable
from functools import partial
from inspect import Parameter as OwnParameter
from itertools import zip_longest
from types import FunctionType, NoneType
from typing import Any, NamedTuple

import numpy as np

from ..core import devices, dtypes
from ..core.kernel_errors import is_foreign, translate_error
from ..core.public import ShownSignature, own_parameters
from ..core.tensor_state import TensorBase, numbers
from .signatures import WITH_NUMBERS, Form, Parameter, check_arguments, check_given, forms, last

# ─── Conversions, by the type of a parameter and the class of what is given for it


class Unfit(TypeError):
    """A value that its parameter does not take."""


def unfit(value: Any) -> Any:
    """The conversion of what cannot be converted."""
    raise Unfit


def as_given(value: Any) -> Any:
    """The conversion of a value that needs none."""
    return value


def as_integer(value: Any) -> int:
    """One integer, which may be NumPy's or a tensor's of one element, but no bool."""
    if isinstance(value, bool):
        raise Unfit
    return as_index(value)


def as_index(value: Any) -> int:
    """The same, or a bool."""
    try:
        return operator.index(value)
    except TypeError:
        raise Unfit from None


ONLY_INT = {int}


def as_integers(values: Any) -> tuple[int, ...]:
    """A list or tuple of integers; like PyTorch, only the first must not be a bool."""
    if {*map(type, values)} == ONLY_INT:
        return tuple(values)
    return (*map(as_integer, values[:1]), *map(as_index, values[1:]))


def as_number(value: TensorBase) -> Any:
    """The number in a tensor without dimensions that carries no history."""
    if value._data.ndim or value.requires_grad:
        raise Unfit
    return numbers(value).item()


def as_dtype(value: Any) -> dtypes.dtype:
    """The dtype that one of Python's types stands for."""
    kind = dtypes.as_dtype(value)
    if not isinstance(kind, dtypes.dtype):
        raise Unfit
    return kind


def repeat_integer(size: int, given: type) -> Callable[[Any], tuple[int, ...]]:
    """The conversion of one integer to a tuple of `size`."""
    if given is int:
        return (lambda value: (value,)) if size == 1 else lambda value: (value,) * size
    return lambda value: (as_integer(value),) * size


def is_whole(given: type) -> bool:
    """Whether objects of a class may be integers."""
    return issubclass(given, (int, np.integer, TensorBase)) and given is not bool


def number_of(given: type) -> Any:
    """The conversion of a number."""
    if issubclass(given, np.generic):
        return np.generic.item
    if issubclass(given, (int, float, complex)):
        return as_given
    return as_number if issubclass(given, TensorBase) else unfit


CONVERSIONS: dict[str, Callable[[type], Any]] = {
    "bool": lambda given: as_given if given is bool else unfit,
    "int": lambda given: as_given if given is int else as_integer if is_whole(given) else unfit,
    "int[]": lambda given: as_integers if issubclass(given, (list, tuple)) else unfit,
    "dtype": lambda given: (
        as_given if issubclass(given, dtypes.dtype) else as_dtype if given is type else unfit
    ),
    "Scalar": number_of,
    "float": lambda given: unfit if issubclass(given, (complex, np.complexfloating)) else number_of(given),
    "str": lambda given: as_given if issubclass(given, str) else unfit,
    "Tensor": lambda given: as_given if issubclass(given, TensorBase) else unfit,
    "Device": lambda given: as_given if issubclass(given, (str, int, devices.device)) else unfit,
    "Tensor[]": lambda given: as_given if issubclass(given, (list, tuple)) else unfit,
}
ALWAYS = frozenset(("bool", "int", "int[]", "dtype"))  # types of which a value may need a conversion
NUMBERS = frozenset(("Scalar", "float"))  # and these, unless a tensor may be given instead, as for an op


def conversion(title: str, parameter: Parameter, given: type) -> Any:
    """What makes an object of the class `given` an argument for a parameter of the function `title`."""
    if given is NoneType and parameter.none:
        return as_given
    if parameter.type == "int[]" and parameter.size and is_whole(given):
        return repeat_integer(parameter.size, given)
    if parameter.type == "Tensor" and number_of(given) is not unfit and WITH_NUMBERS.fullmatch(title):
        return as_given
    return CONVERSIONS.get(parameter.type, lambda given: as_given)(given)


# ─── Plans: where each argument goes, and how it is converted


class Plan(NamedTuple):
    """What is done with arguments of some classes before a function runs: `arrange` makes of all their values
    those that it gets; without it they are as they should be. The last ones are passed by these `names`.
    """

    arrange: Callable[[tuple[Any, ...]], Any] | None
    names: tuple[str, ...]


Conversions = tuple[tuple[int, Callable[[Any], Any]], ...]  # with the index of what is converted


def arrangement(
    gathered: slice | None, order: tuple[int, ...] | None, conversions: Conversions
) -> Callable[[tuple[Any, ...]], Any] | None:
    """Return the function `arrange` of a plan. The arguments `gathered` are one list. `order` are then the
    indices of all in the order in which they are passed on, None if that is the same.
    """

    def arrange(values: tuple[Any, ...]) -> Any:
        found = list(values)
        if gathered is not None:
            found[gathered] = [values[gathered]]
        if order is not None:
            found = [found[i] for i in order]
        for i, convert in conversions:
            found[i] = convert(found[i])
        return found

    if gathered is None and order is None and not conversions:
        return None
    if gathered is None and order is None and len(conversions) == 1:  # as for `x.sum(0)`
        ((at, only),) = conversions

        def arrange_one(values: tuple[Any, ...]) -> Any:
            found = [*values]
            found[at] = only(found[at])
            return found

        return arrange_one
    if order is None and not conversions and gathered is not None:  # as for `x.view(2, 3)`
        first, last = gathered.start, gathered.stop
        return lambda values: (*values[:first], values[first:last], *values[last:])
    return arrange


NUMPYS = {  # names of arguments that PyTorch takes too; the last two are those of numbers in `isin`
    "axis": "dim", "keepdims": "keepdim", "self": "input",
    "element": "elements", "test_element": "test_elements",
}  # fmt: skip
MANY = 100  # so many plans of one function are kept


def rename_keywords(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return named arguments under PyTorch's own names."""
    return {NUMPYS.get(name, name): value for name, value in kwargs.items()}


class Binder:
    """The parameters of a function and its signatures in PyTorch, from which its plans are made."""

    def __init__(self, function: Any, known: str, is_method: bool, signed: list[Form]) -> None:
        self.title = last(known)
        self.start = int(is_method)
        self.forms = signed
        self.is_listed = any(map(is_list_first, self.forms))
        own = inspect.signature(function).parameters.values()
        self.names = [p.name.rstrip("_") for p in own if p.kind in PLACED]
        self.star = next((p.name for p in own if p.kind is OwnParameter.VAR_POSITIONAL), "")
        if self.is_listed and self.star:
            self.names.append(self.star)
        if self.names and self.names[0] == "self":
            self.names[0] = "" if is_method else "input"
        self.plain = self.count_plain()
        self.with_integer = self.plain + 1 if any(map(self.takes_integer, self.forms)) else -1

    def count_plain(self) -> int:
        """How many arguments by position never need a conversion."""
        for i, parameters in enumerate(zip_longest(*self.forms), self.start):
            types = {p.type for p in parameters if p is not None and not p.keyword}
            if types & ALWAYS or (types & NUMBERS and "Tensor" not in types):
                return i
        return sys.maxsize

    def takes_integer(self, form: Form) -> bool:
        """Whether the first argument that may need a conversion needs none as the last one and an integer."""
        found = form[self.plain - self.start :]
        return len(found) > 0 and found[0].type == "int" and all(p.optional for p in found[1:])

    def plan(self, args: tuple[Any, ...], kwargs: dict[str, Any], check: Callable[[], None]) -> Plan:
        """Return the plan for arguments of the classes of these. `check` raises the error for what no form
        takes.
        """
        start, gathered = self.start, None
        if self.is_one_by_one(args):
            gathered = slice(start, len(args))
            args = (*args[:start], args[start:])
        keywords = [NUMPYS.get(name, name) for name in kwargs]
        given = [*map(type, args), *map(type, kwargs.values())]
        found = [self.fit(form, given, len(args), keywords) for form in self.forms]
        fitting = [conversions for conversions in found if conversions is not None]
        if self.forms and not fitting:
            check()
        conversions: dict[int, Any] = min(fitting, key=lambda each: len(each), default={})
        if gathered is not None and {*map(type, args[start])} == ONLY_INT:
            conversions.pop(start, None)  # the classes of these integers belong to the plan
        order, names = self.order(len(args), keywords)
        is_ordered = order == list(range(len(given)))
        converted = tuple((k, conversions[i]) for k, i in enumerate(order) if i in conversions)
        return Plan(arrangement(gathered, None if is_ordered else tuple(order), converted), names)

    def is_one_by_one(self, args: tuple[Any, ...]) -> bool:
        """Whether the integers of a list are given one by one; a single one may be what a form takes."""
        if not self.is_listed or len(args) <= self.start or not is_whole(type(args[self.start])):
            return False
        firsts = [form[0].type for form in self.forms if form]
        return len(args) > self.start + 1 or "int" not in firsts

    def fit(self, form: Form, given: list[type], count: int, keywords: list[str]) -> dict[int, Any] | None:
        """Return the conversions that one form needs for arguments of these classes, of which the first
        `count` are given by position; None if the form does not take them.
        """
        placed = [p for p in form if not p.keyword][: count - self.start]
        by_name = {NUMPYS.get(p.name, p.name): p for p in form}
        parameters: Any = [*placed, *(by_name.get(name) for name in keywords)]
        rest = {name for name, p in by_name.items() if not (p.optional or p in placed)}
        if None in parameters or len(placed) < count - self.start or not rest <= set(keywords):
            return None
        conversions = {}
        for i, (parameter, kind) in enumerate(zip(parameters, given[self.start :]), self.start):
            convert = conversion(self.title, parameter, kind)
            if convert is unfit:
                return None
            if convert is not as_given:
                conversions[i] = convert
        return conversions

    def order(self, count: int, keywords: list[str]) -> tuple[list[int], tuple[str, ...]]:
        """Return the indices of arguments, `count` of them given by position, in the order in which the
        function gets them, and the names of the last ones. What can be passed by position is.
        """
        names = self.names
        if not (count or self.start) and "input" in keywords and "input" not in names:
            names = ["input", *names[1:]]
        order = list(range(count))
        for name in (*names[count:], *([] if self.is_listed else [self.star])):
            if not name or name not in keywords:
                break
            order.append(count + keywords.index(name))
        rest = [i for i in range(count, count + len(keywords)) if i not in order]
        return order + rest, tuple(keywords[i - count] for i in rest)


PLACED = (OwnParameter.POSITIONAL_ONLY, OwnParameter.POSITIONAL_OR_KEYWORD)
# The old constructor takes data as well, which its signatures do not say; the other is called very often.
UNBOUND = ("Tensor.new", "Tensor.size")


def is_list_first(form: Form) -> bool:
    """Whether the only argument by position is a list of integers: they may be given one by one."""
    return sum(not p.keyword for p in form) == 1 and form[0].type == "int[]" and not form[0].size


# ─── Public functions and methods


# Not to be wrapped: what is called very often, or warns about the line that calls it, or is no user's, or is
# written in Python in PyTorch, too.
NOT_WRAPPED = """
tensor as_tensor asarray from_numpy meshgrid storage backward detach clone item
dim numpy tolist register_hook retain_grad t transpose
add sub mul div pow exp log tanh relu sigmoid to manual_seed
"""
PLAIN = frozenset(NOT_WRAPPED.split())


def with_bound_arguments(
    function: Any, name: str, home: str = "minigrad", known: str = "", is_method: bool = False, *,
    fill: Any = None, why: Any = check_arguments,
) -> Any:  # fmt: skip
    """The function `name` of the module `home`, which gets its arguments by PyTorch's signatures. If it
    fails, `why` says first what PyTorch says.

    `known` is its name among the signatures, if it is another; those of a method leave the tensor itself out.
    `fill` runs the function where an `out` is given. With a `why` of its own a function is written in Python
    in PyTorch too, and gets its arguments as they are. So does an op: it says itself what it does not take.
    """
    known = known or name
    counted = slice(1, None) if is_method else slice(None)
    plans: dict[tuple[Any, ...], Plan] = {}
    binder: Any = None
    # So many arguments by position, or so many of which the last is an integer, are passed on without a plan,
    # once that is known
    is_bound = why is check_arguments and known not in UNBOUND and not hasattr(function, "op")
    plain, with_integer = -1 if is_bound else sys.maxsize, -1

    def call(*args: Any, **kwargs: Any) -> Any:
        nonlocal binder, plain, with_integer
        try:
            if not kwargs:
                count = len(args)
                if count <= plain or (count == with_integer and args[-1].__class__ is int):
                    return function(*args)
            values = (*args, *kwargs.values()) if kwargs else args
            key: Any = tuple(map(type, values))
            if kwargs:
                key += tuple(kwargs)
            plan = plans.get(key)
            if plan is None:
                if binder is None:
                    signed = [form for form, _ in forms(known)] if is_bound else []
                    binder = Binder(function, known, is_method, signed)
                    plain, with_integer = binder.plain, binder.with_integer
                plan = binder.plan(args, kwargs, lambda: why(known, args[counted], rename_keywords(kwargs)))
                if len(plans) >= MANY:
                    plans.clear()
                plans[key] = plan
            arrange, names = plan
            if arrange is not None:
                values = arrange(values)
            if not names:
                return function(*values)
            count = len(values) - len(names)
            named = dict(zip(names, values[count:]))
            if fill is not None and "out" in named:
                return fill(function, name, named.pop("out"), values[:count], named)
            return function(*values[:count], **named)
        except Exception as error:
            why(known, args[counted], rename_keywords(kwargs))
            if error.__class__ is Unfit:
                return function(*args, **rename_keywords(kwargs))
            if is_foreign(error, 1):
                raise translate_error(name, error, (*args, *kwargs.values())) from None
            raise

    # by these names, and in the module where it is found, it can be pickled
    call.__module__, call.__name__, call.__qualname__ = home, name, known if is_method else name
    call.__doc__, call.__wrapped__ = function.__doc__, function  # type: ignore[attr-defined]
    call.__signature__ = ShownSignature(function, "self" if is_method else "input")  # type: ignore[attr-defined]
    if hasattr(function, "op"):
        call.op = function.op  # type: ignore[attr-defined]
    return call


@functools.cache
def public_form(function: Any) -> Any:
    """A published function as users call it, for code below the package that has their arguments."""
    return with_bound_arguments(function, function.__name__)


def as_method(function: Any, name: str) -> Any:
    """Return a function as the method `name`, which says first what PyTorch says, too."""
    if name in PLAIN or function.__class__ is not FunctionType:
        return function
    return with_bound_arguments(function, name, "minigrad.tensor.tensor", "Tensor." + name, True)


# Functions of `nn.functional` that PyTorch checks in this way; the others are written in Python there.
NETWORKS = """
adaptive_avg_pool1d avg_pool1d avg_pool2d avg_pool3d conv1d conv2d conv3d
conv_transpose1d conv_transpose2d conv_transpose3d cosine_similarity elu_ gelu hardshrink hardtanh_
leaky_relu_ one_hot pairwise_distance pixel_shuffle pixel_unshuffle prelu relu_
scaled_dot_product_attention selu_ softplus softshrink
"""

# Functions that hand some of their arguments to one of these names; after a colon, only those arguments.
IN_PYTHON = """
batch_norm binary_cross_entropy_with_logits:weight,pos_weight
cosine_embedding_loss cross_entropy=cross_entropy_loss dropout elu:alpha group_norm huber_loss:delta
instance_norm:momentum,eps kl_div layer_norm leaky_relu:negative_slope logsigmoid=log_sigmoid
margin_ranking_loss max_pool1d max_pool2d max_pool3d nll_loss=nll_loss_nd pad rms_norm selu
smooth_l1_loss:beta triplet_margin_loss
"""
# Functions that are wrapped only for what NumPy and Python say inside; the rest are called very often.
UNCHECKED = """
affine_grid embedding embedding_bag fold grid_sample gumbel_softmax hardtanh interpolate local_response_norm
normalize unfold
"""


def attach_networks(functions: dict[str, Any]) -> None:
    """Wrap the functions of `nn.functional`."""
    attach_all(functions, names=NETWORKS)
    for entry in IN_PYTHON.split():
        left, _, only = entry.partition(":")
        name, _, known = left.partition("=")
        why = partial(check_given, own_parameters(functions[name]), only)
        functions[name] = with_bound_arguments(functions[name], name, functions["__name__"], known, why=why)
    for name in UNCHECKED.split():
        functions[name] = with_bound_arguments(
            functions[name], name, functions["__name__"], why=lambda *_: None
        )


def attach_all(functions: dict[str, Any], prefix: str = "", names: Any = None) -> None:
    """Wrap functions of a module, whose names in PyTorch's signatures have a prefix."""
    for name in functions["__all__"] if names is None else names.split():
        function = functions.get(name)
        if isinstance(function, FunctionType):
            functions[name] = with_bound_arguments(function, name, functions["__name__"], prefix + name)


def attach_methods(kind: Any) -> None:
    """Wrap the public methods of a class of tensors, and of the classes that it is made of."""
    for part in kind.__mro__[:-1]:
        for name, method in vars(part).items():
            if name[0] == "_" or name in vars(kind) or not isinstance(method, FunctionType):
                continue
            method.__qualname__ = "Tensor." + name  # as Python's own errors call it
            setattr(kind, name, as_method(method, name))
