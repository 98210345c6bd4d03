"""PyTorch's errors for arguments of wrong types, and functions that show their signature.

PyTorch checks arguments before anything runs, by the signatures in `signatures.txt`. Here a function just
runs; if that fails, whatever the error is, its arguments are checked as PyTorch would have done first, and
its error is the one that is raised. So the check costs nothing where all goes well.

See `argument_errors`. A wrapped function costs a little more to call,
which is why the methods of which a training consists are left as they are.
"""

from __future__ import annotations

import functools
import inspect
import os
import re
from functools import partial
from types import FunctionType
from typing import Any, NamedTuple

import numpy as np

from ..core import devices, dtypes, public
from ..core.kernel_errors import is_foreign, translate_error
from ..core.public import ShownSignature, own_parameters
from ..core.tensor_state import TensorBase
from ..ops.arguments import NUMBERS, invalid_arguments, is_integer_like
from ..ops.generator import Generator

# ─── Arguments that no form of a function takes, in PyTorch's words


# Functions whose tensors may be numbers
WITH_NUMBERS = re.compile("(add|sub|subtract|mul|multiply|div|divide|true_divide|floor_divide|copy)_?")
CALLED = {
    "Scalar": "Number", "dtype": "torch.dtype", "Layout": "torch.layout", "Device": "torch.device",
    "MemoryFormat": "torch.memory_format", "Generator": "torch.Generator", "Tensor[]": "tuple of Tensors",
    "int[]": "tuple of ints", "float[]": "tuple of floats", "Scalar[]": "tuple of Scalars",
}  # fmt: skip
DEFAULTS = {bool: "bool", int: "Scalar", float: "Scalar", str: "str"}  # what a parameter is, by its default
PARAMETER = re.compile(r"(\w+)(\[(\d?)\])?(\?)? (\w+)(=.*)?")


class Parameter(NamedTuple):
    """One parameter of a signature; a list of `size` elements may be given as one."""

    name: str
    type: str
    size: int = 0
    optional: bool = False
    none: bool = False
    keyword: bool = False


Form = list[Parameter]  # one signature of a function


@functools.cache
def signatures() -> dict[str, list[str]]:
    """Return the texts of all signatures by name; a method's is `Tensor.` and its own."""
    found: dict[str, list[str]] = {}
    with open(os.path.join(os.path.dirname(__file__), "signatures.txt"), encoding="utf-8") as lines:
        for line in lines:
            name, _, rest = line.rstrip().partition("(")
            found.setdefault(name, []).append(rest)
    return found


@functools.cache
def forms(name: str) -> list[tuple[Form, bool]]:
    """Return the signatures of a function, or of a method, and whether an error may be about each: about none
    that is deprecated.
    """
    texts = [text.rpartition(")") for text in signatures().get(name, [])]
    if not texts:
        return [(form, True) for each in public.names for form in declared_signature(each, name)]
    return [(list(parameters(text)), not deprecated) for text, _, deprecated in texts]


def declared_signature(each: public.Name, name: str) -> list[Form]:
    """The signature of an op that PyTorch does not have, from its declaration, if its name is that of the
    function or method `name`.
    """
    title = last(name)
    op = getattr(each.function, "op", None)
    if op is None or each.name not in (title, title.removesuffix("_")):
        return []
    required = len(op.params) - len(op.defaults)
    form = []
    for own, default in zip(op.params, (*(public,) * required, *op.defaults)):  # a module is no default
        kind = "Tensor" if own in op.inputs else DEFAULTS.get(default.__class__, "")
        form.append(
            Parameter("input" if own == "self" else own, kind, 0, default is not public, default is None)
        )
    if each.out and title == each.name:
        form.append(Parameter("out", "Tensor", 0, True, True, True))
    return [form[1:] if name.startswith("Tensor.") else form]


def parameters(text: str) -> Any:
    """The parameters that the text of a signature names."""
    keyword = False
    for part in re.split(r", (?![^\[{]*[\]}])", text) if text else []:
        match = PARAMETER.fullmatch(part)
        if match is None:
            keyword = True  # all that follow "*"
            continue
        kind, listed, size, none, name, default = match.groups()
        kind += "[]" if listed else ""
        yield Parameter(name, kind, int(size or 0), bool(default), bool(none) or default == "=None", keyword)


def check_arguments(name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """Raise the error for arguments that PyTorch refuses before it runs the function `name`."""
    known = forms(name)
    found = [mistake(last(name), form, args, kwargs) for form, _ in known]
    if not known or not all(found):
        return
    count = len(args) + len(kwargs)
    plausible = [
        error
        for error, (form, shown) in zip(found, known)
        if shown and sum(not p.optional for p in form) <= count <= len(form)
    ]
    if len(known) == 1 or len(plausible) == 1:
        raise TypeError((plausible or found)[0]) from None
    raise invalid_arguments(last(name), *args, **kwargs) from None


def check_given(known: Any, only: str, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
    """The same for arguments whose names PyTorch's signature has, or for those in `only`, if a function of
    the parameters `known` takes them, whatever others there have to be.
    """
    given = dict(zip([p.name for p in known], args)) | kwargs
    if len(args) > len(known) or any(p.name not in given for p in known if p.default is p.empty):
        return
    for i, parameter in enumerate(forms(name)[0][0]):
        if parameter.name == "reduction":
            continue  # a text, which is handed on as a number
        if parameter.name in (only.split(",") if only else given) and parameter.name in given:
            wrong = misfit(name, i, parameter, given[parameter.name], f" (position {i + 1})")
            if wrong:
                raise TypeError(wrong) from None


def last(name: str) -> str:
    """Return a function's name without the class that it is in."""
    return name.rpartition(".")[2]


def mistake(title: str, form: Form, args: tuple[Any, ...], kwargs: dict[str, Any]) -> str:
    """What is wrong with arguments for one signature; empty if nothing is."""
    most = sum(not p.keyword for p in form)
    if most == 1 and form[0].type == "int[]" and not form[0].size and args and is_integer_like(args[0]):
        args = (args,)  # the integers of a list that comes first may be given one by one
    if len(args) > most:
        least = sum(not (p.optional or p.keyword) for p in form)
        takes = f"{most}" if least == most else f"from {least} to {most}"
        arguments = "argument" if least == most == 1 else "arguments"
        given = f"{len(args)} {'was' if len(args) == 1 else 'were'} given"
        return f"{title}() takes {takes} positional {arguments} but {given}"
    left = dict(kwargs)
    for i, parameter in enumerate(form):
        if i >= len(args) and parameter.name not in left:
            if not parameter.optional:
                names = [p.name for p in form[len(args) :] if not p.optional and p.name not in left]
                listed = ", ".join(f'"{n}"' for n in names)
                plural = "s" * (len(names) == 1)  # PyTorch has it the wrong way round
                return f"{title}() missing {len(names)} required positional argument{plural}: {listed}"
            continue
        value, where = (args[i], f" (position {i + 1})") if i < len(args) else (left.pop(parameter.name), "")
        wrong = misfit(title, i, parameter, value, where)
        if wrong:
            return wrong
    for key in left:
        what = "multiple values for" if key in [p.name for p in form] else "an unexpected keyword"
        return f"{title}() got {what} argument '{key}'"
    return ""


def misfit(title: str, i: int, parameter: Parameter, value: Any, where: str) -> str:
    """What is wrong with one argument; empty if nothing is."""
    about = f"{title}(): argument '{parameter.name}'"
    if (value is None and parameter.none) or fits(title, parameter, value):
        # PyTorch looks only at the first of several integers when it chooses a form
        for k, n in enumerate(
            value if parameter.type == "int[]" and isinstance(value, (list, tuple)) else ()
        ):
            if not is_integer_like(n):
                got = f"type must be tuple of ints,but got {dtypes.kind_name(n)}"
                return f'{about} failed to unpack the object at pos {k + 1} with error "{got}"'
        return ""
    if parameter.type == "Tensor[]" and isinstance(value, (list, tuple)):
        at = next(k for k, t in enumerate(value) if not isinstance(t, TensorBase))
        kind = dtypes.kind_name(value[at])
        return f"expected Tensor as element {at} in argument {i}, but got {kind}"
    wanted = CALLED.get(parameter.type, parameter.type)
    if where and parameter.type == "int[]" and isinstance(value, (list, tuple)):
        kind = dtypes.kind_name(value[0])
        return f"{about}{where} must be {wanted}, but found element of type {kind} at pos 0"
    return f"{about}{where} must be {wanted}, not {dtypes.kind_name(value)}"


def is_number(x: Any) -> bool:
    """Return whether `x` counts as a number."""
    return isinstance(x, NUMBERS) or (isinstance(x, TensorBase) and not x._data.ndim and not x.requires_grad)


def fits(title: str, parameter: Parameter, value: Any) -> bool:
    """Return whether an argument is of the type of its parameter."""
    kind = parameter.type.removesuffix("[]")
    one = FITS.get(kind, lambda x: True)
    if kind == parameter.type:
        is_number = kind == "Tensor" and isinstance(value, NUMBERS) and WITH_NUMBERS.fullmatch(title)
        return bool(one(value) or is_number)
    if isinstance(value, (list, tuple)):
        return all(map(one, value[:1] if kind == "int" else value))
    return parameter.size > 0 and kind != "Tensor" and one(value)


FITS: dict[str, Any] = {
    "Tensor": lambda x: isinstance(x, TensorBase),
    "int": is_integer_like,
    "float": lambda x: is_number(x) and not isinstance(x, (complex, np.complexfloating)),
    "Scalar": is_number,
    "bool": lambda x: isinstance(x, (bool, np.bool_)),
    "str": lambda x: isinstance(x, str),
    "dtype": lambda x: isinstance(dtypes.as_dtype(x), dtypes.dtype),
    "Layout": lambda x: isinstance(x, devices.layout),
    "Device": lambda x: isinstance(x, (str, int, devices.device)),
    "MemoryFormat": lambda x: isinstance(x, devices.memory_format),
    "Generator": lambda x: isinstance(x, Generator),
}


# ─── Functions and methods that, when they fail, say first what PyTorch says about their arguments


# Not to be wrapped: what is called very often, or warns about the line that calls it, or is no user's, or is
# written in Python in PyTorch, too.
NOT_WRAPPED = """
tensor as_tensor asarray from_numpy meshgrid storage backward detach clone item
dim numpy tolist register_hook retain_grad t transpose
add sub mul div pow exp log tanh relu sigmoid to manual_seed
"""
PLAIN = frozenset(NOT_WRAPPED.split())
NUMPYS = {  # names of arguments that PyTorch takes too; the last two are those of numbers in `isin`
    "axis": "dim", "keepdims": "keepdim", "self": "input",
    "element": "elements", "test_element": "test_elements",
}  # fmt: skip


def rename_keywords(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return named arguments under PyTorch's own names."""
    return {NUMPYS.get(name, name): value for name, value in kwargs.items()}


def arguments_by_position(by_place: bool, star: str, args: Any, given: dict[str, Any]) -> Any:
    """Return the arguments by place, with those that PyTorch also takes by name and the function only by
    place: the `input` of a function that calls it otherwise, and the sizes or dimensions of its `star`. They
    are taken out of `given`, the arguments by name.
    """
    if by_place and "input" in given and not args:
        args = (given.pop("input"),)
    if star in given:
        args = (*args, given.pop(star))
    return args


def with_explained_errors(
    function: Any, name: str, home: str = "minigrad", known: str = "", is_method: bool = False, *,
    fill: Any = None, why: Any = check_arguments,
) -> Any:  # fmt: skip
    """The function `name` of the module `home`; if it fails, `why` says first what PyTorch says.

    `known` is its name among PyTorch's signatures, if it is another; those of a method leave the tensor
    itself out. `fill` runs the function where an `out` is given.
    """
    known = known or name
    counted = slice(1, None) if is_method else slice(None)
    code = function.__code__
    count = code.co_argcount + code.co_kwonlyargcount
    star = code.co_varnames[count] if code.co_flags & inspect.CO_VARARGS else ""
    by_place = not is_method and code.co_argcount > 0 and "input" not in code.co_varnames[:count]

    def call(*args: Any, **kwargs: Any) -> Any:
        try:
            if not kwargs:
                return function(*args)
            given = rename_keywords(kwargs)
            values = arguments_by_position(by_place, star, args, given)
            if fill is not None and "out" in given:
                return fill(function, name, given.pop("out"), values, given)
            return function(*values, **given)
        except Exception as error:
            why(known, args[counted], rename_keywords(kwargs))
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


def as_method(function: Any, name: str) -> Any:
    """Return a function as the method `name`, which says first what PyTorch says, too."""
    if name in PLAIN or function.__class__ is not FunctionType:
        return function
    return with_explained_errors(function, name, "minigrad.tensor.tensor", "Tensor." + name, True)


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
        functions[name] = with_explained_errors(functions[name], name, functions["__name__"], known, why=why)
    for name in UNCHECKED.split():
        functions[name] = with_explained_errors(
            functions[name], name, functions["__name__"], why=lambda *_: None
        )


def attach_all(functions: dict[str, Any], prefix: str = "", names: Any = None) -> None:
    """Wrap functions of a module, whose names in PyTorch's signatures have a prefix."""
    for name in functions["__all__"] if names is None else names.split():
        function = functions.get(name)
        if isinstance(function, FunctionType):
            functions[name] = with_explained_errors(function, name, functions["__name__"], prefix + name)


def attach_methods(kind: Any) -> None:
    """Wrap the public methods of a class of tensors, and of the classes that it is made of."""
    for part in kind.__mro__[:-1]:
        for name, method in vars(part).items():
            if name[0] == "_" or name in vars(kind) or not isinstance(method, FunctionType):
                continue
            method.__qualname__ = "Tensor." + name  # as Python's own errors call it
            setattr(kind, name, as_method(method, name))
