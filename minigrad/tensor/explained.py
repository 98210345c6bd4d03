"""Functions and methods that, when they fail, say first what PyTorch says about their arguments.

See `argument_errors`. A wrapped function costs a little more to call,
which is why the methods of which a training consists are left as they are.
"""

from __future__ import annotations

import inspect
from functools import partial
from types import FunctionType
from typing import Any

from ..core.kernel_errors import is_foreign, translated
from ..core.public import ShownSignature, own_parameters
from .argument_errors import check, check_given

# Not to be wrapped: what is called very often, or warns about the line that calls it, or is no user's, or is
# written in Python in PyTorch, too.
NOT_WRAPPED = """
tensor as_tensor asarray from_numpy meshgrid storage backward detach clone item
dim numpy tolist register_hook retain_grad t transpose
add sub mul div pow exp log tanh relu sigmoid to manual_seed
"""
PLAIN = frozenset(NOT_WRAPPED.split())
NUMPYS = {"axis": "dim", "keepdims": "keepdim", "self": "input"}  # names of arguments that PyTorch takes too


def renamed(kwargs: dict[str, Any]) -> dict[str, Any]:
    """Return named arguments under PyTorch's own names."""
    return {NUMPYS.get(name, name): value for name, value in kwargs.items()}


def placed(by_place: bool, star: str, args: Any, given: dict[str, Any]) -> Any:
    """Return the arguments by place, with those that PyTorch also takes by name and the function only by
    place: the `input` of a function that calls it otherwise, and the sizes or dimensions of its `star`. They
    are taken out of `given`, the arguments by name.
    """
    if by_place and "input" in given and not args:
        args = (given.pop("input"),)
    if star in given:
        args = (*args, given.pop(star))
    return args


def explained(
    function: Any, name: str, home: str = "minigrad", known: str = "", is_method: bool = False, *,
    fill: Any = None, why: Any = check,
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
            given = renamed(kwargs)
            values = placed(by_place, star, args, given)
            if fill is not None and "out" in given:
                return fill(function, name, given.pop("out"), values, given)
            return function(*values, **given)
        except Exception as error:
            why(known, args[counted], renamed(kwargs))
            if is_foreign(error, 1):
                raise translated(name, error, (*args, *kwargs.values())) from None
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
    return explained(function, name, "minigrad.tensor.tensor", "Tensor." + name, True)


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
        functions[name] = explained(functions[name], name, functions["__name__"], known, why=why)
    for name in UNCHECKED.split():
        functions[name] = explained(functions[name], name, functions["__name__"], why=lambda *_: None)


def attach_all(functions: dict[str, Any], prefix: str = "", names: Any = None) -> None:
    """Wrap functions of a module, whose names in PyTorch's signatures have a prefix."""
    for name in functions["__all__"] if names is None else names.split():
        function = functions.get(name)
        if isinstance(function, FunctionType):
            functions[name] = explained(function, name, functions["__name__"], prefix + name)


def attach_methods(kind: Any) -> None:
    """Wrap the public methods of a class of tensors, and of the classes that it is made of."""
    for part in kind.__mro__[:-1]:
        for name, method in vars(part).items():
            if name[0] == "_" or name in vars(kind) or not isinstance(method, FunctionType):
                continue
            method.__qualname__ = "Tensor." + name  # as Python's own errors call it
            setattr(kind, name, as_method(method, name))
