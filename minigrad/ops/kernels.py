"""What declarations share: float16 computed in float32, masks, reductions of losses, functions of one
element, backward ops.
"""

from __future__ import annotations

import functools
import inspect
from typing import Any

import numpy as np

from ..core import F, calls, differentiable, itself, jointly, zeros
from ..core.op import arguments, parameters
from ..core.tensor_state import TensorBase

HALF = np.dtype(np.float16)
NONE, MEAN, SUM = 0, 1, 2  # how a loss is reduced, as PyTorch's nodes note it


def in_float32(kernel: Any) -> Any:
    """Return a kernel that computes float16 in float32 and rounds once, as PyTorch does."""

    @functools.wraps(kernel)
    def run(*args: Any) -> Any:
        if args[0].dtype is not HALF:
            return kernel(*args)
        return as_float16(kernel(*map(as_float32, args)))

    return run


def as_float32(x: Any) -> Any:
    """Return a float16 array as float32; anything else as it is."""
    return x.astype(np.float32) if getattr(x, "dtype", None) == np.float16 else x


def as_float16(x: Any) -> Any:
    """Results as float16, those that are float32."""
    if isinstance(x, tuple):
        return tuple(map(as_float16, x))
    return x.astype(np.float16) if x.dtype == np.float32 else x


WHOLE = {n: np.dtype(f"i{n}") for n in (2, 4, 8)}  # whole numbers, by size in bytes


def mask_gradient(g: Any, hidden: Any) -> Any:
    """`g`, with 0 where `hidden` holds: by a product of its bits as whole numbers, up to ten times as fast as
    `np.where`, and right for inf and NaN, unlike a product of floats.
    """
    if g.ndim == 0 == hidden.ndim:
        return g.dtype.type(0) if hidden else g[()]
    if g.__class__ is not np.ndarray or g.dtype.kind != "f" or g.shape != hidden.shape:
        return np.where(hidden, g.dtype.type(0), g)[()]
    whole = WHOLE[g.itemsize]
    bits = np.logical_not(hidden).astype(whole)
    np.multiply(bits, g.view(whole), bits)
    return bits.view(g.dtype)


def reduce_loss(loss: Any, reduction: int) -> Any:
    """All losses, their mean or their sum; those of float16 are added in float32."""
    if reduction == NONE:
        return loss
    total = np.add.reduce(loss, axis=None, dtype=np.float32 if loss.dtype == np.float16 else loss.dtype)
    if reduction == MEAN:
        total = total / total.dtype.type(np.size(loss))
    return total.astype(loss.dtype)


def reduced_in_place(name: str, x: Any, *args: Any) -> Any:
    """The op called `name` on `x`, which nobody else has: in place on a tensor, as in PyTorch's formulas,
    which shows in what the node saves.
    """
    return (
        F.in_place(getattr(F, name).op, x, *args) if isinstance(x, TensorBase) else getattr(F, name)(x, *args)
    )


def reduce(loss: Any, reduction: int) -> Any:
    """Return the same, by ops: of a tensor or a tangent."""
    if reduction == NONE:
        return loss
    return F.mean_all(loss) if reduction == MEAN else F.sum_all(loss)


# Declares an op that is linear in its inputs together, and one whose result is a view besides.
linear_op = functools.partial(differentiable, linear=True)
view_op = functools.partial(linear_op, view=True)
# Declares a function and method that takes some elements out of a tensor.
picking = functools.partial(linear_op, forms="function method", out="same")


def only_first(*results: str) -> dict[str, Any]:
    """What `differentiable` takes for an op with several results of which the others are constants."""
    return {"several": results, "constants": results[1:]}


def by_one_op(name: str, inputs: str, names: str) -> dict[str, Any]:
    """Return the vjps of `inputs` that one op gives, `F.name(g, …, wanted)`. It takes the values of `names`;
    `wanted` says for each input whether its gradient is needed.
    """

    def together(g: Any, wanted: Any, *values: Any) -> Any:
        return getattr(F, name)(g[0] if g.__class__ is list else g, *values, wanted)

    vjps = jointly(together, *inputs.split())
    for vjp in vjps.values():
        vjp.names = tuple(names.split())
    return vjps


def first_gradient(g: Any) -> Any:
    """Return a gradient; None also for that of a result that was not asked for."""
    return None if g is None or g.shape == (0,) else g


def declaring(wrap: Any, **own: Any) -> Any:
    """Return a declaration of elementwise ops whose kernels `wrap` changes, with the settings `own`.

    It can declare a function together with its derivatives, of which PyTorch has the first one as an op,
    `backward`. `slope(g, …)` is the kernel of that op: `g` times the first derivative, of the parameters of
    the function. `bend(g, …)` is `g` times the second derivative, written as a vjp; without it that is 0.
    """

    def declare(backward: str = "", slope: Any = None, bend: Any = None, **how: Any) -> Any:
        def decorate(kernel: Any) -> Any:
            if backward:
                names = parameters(inspect.unwrap(kernel))
                slope.params = ("grad_output", *names)
                twice = with_gradient(bend) if bend else zeros
                declare(name=backward, grad_output=itself, self=twice, linear=not bend)(slope)
                how["self"] = calls(backward, *names)
            return differentiable(**{"elementwise": True, "kernel": wrap(kernel)} | own | how)(kernel)

        return decorate

    return declare


def with_gradient(bend: Any) -> Any:
    """Return the vjp `bend(g * grad_output, …)` of a backward op."""

    def vjp(g: Any, grad_output: Any, *values: Any) -> Any:
        return bend(g * grad_output, *values)

    vjp.names = ("grad_output", *arguments(bend))  # type: ignore[attr-defined]
    return vjp


# Declares an elementwise op that users call under the name of a function around it, or not at all.
elementwise = declaring(lambda kernel: kernel, forms="")
# Declares a function of one element: integers become floats, float16 is computed in float32.
function = declaring(in_float32, floating=True)
# Declares an op that float16 is computed in float32 for, and that users call under another name.
activation = declaring(in_float32, forms="")


def complex_error(text: str, error: type[Exception] = RuntimeError) -> Any:
    """Return a vjp, or a jvp, that raises an error."""

    def refuse(*_: Any) -> Any:
        raise error(text)

    return refuse


def second_refusal(name: str) -> Any:
    """Return a vjp that raises the error of PyTorch for a derivative that cannot be differentiated itself."""
    return complex_error(f"the derivative for '{name}' is not implemented.", NotImplementedError)


def no_derivative(name: str, *inputs: str) -> dict[str, Any]:
    """What `differentiable` takes for an op without a derivative: its node, and what raises the errors."""
    vjp = complex_error(f"derivative for aten::{name} is not implemented")
    text = f"Trying to use forward AD with aten::{name} that does not support it."
    return {
        "node": "NotImplemented",
        "jvp": complex_error(text, NotImplementedError),
        **dict.fromkeys(inputs, vjp),
    }
